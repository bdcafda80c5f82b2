"""P-values on disk, one JSON line per finished test, so that a killed search goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from .queries import Query

__all__ = ["PValueStore"]

_OPENING = b'{"key": '  # how every line of `_line` starts; a first line without it is a file of another kind


class PValueStore:
    """P-values of queries, in memory and, with a path, in a file that only grows.

    A line names the data and settings it belongs to (`key`), so one file may serve several searches, and a
    change of the data never meets old p-values. The last line of a killed process may be torn; it is
    ignored, and its test repeated.
    """

    def __init__(self, path: str | os.PathLike[str] | None, key: str) -> None:
        self.path = None if path is None else Path(path)
        self.key = key
        self.known: dict[Query, float] = {}
        if self.path is not None and (self.path.is_dir() or not self.path.parent.is_dir()):
            raise ParameterError(
                f"store={str(path)!r} cannot be a file: it is a folder, or its folder is missing"
            )
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines):
                if number == 0 and not (raw.startswith(_OPENING) or _OPENING.startswith(raw.rstrip())):
                    raise ParameterError(
                        f"store={str(path)!r} is a file of another kind; give the path of a new file"
                    )
                self._read_line(raw)

    def _read_line(self, raw: bytes) -> None:
        try:
            line = json.loads(raw)
            if line["key"] == self.key:
                self.known[int(line["x"]), int(line["y"]), tuple(line["given"])] = float(line["p"])
        except (ValueError, KeyError, TypeError):
            return  # torn by a kill

    def add(self, results: Iterable[tuple[Query, float]]) -> None:
        """Record finished tests; they are on their way to the disk when this returns."""
        fresh = list(results)
        self.known.update(fresh)
        if self.path is None or not fresh:
            return
        text = "".join(self._line(query, pvalue) for query, pvalue in fresh)
        torn = self.path.exists() and self.path.stat().st_size > 0 and not _ends_with_newline(self.path)
        with self.path.open("ab") as file:  # one write, so that two processes do not mix their lines
            file.write((("\n" if torn else "") + text).encode())

    def _line(self, query: Query, pvalue: float) -> str:
        x, y, given = query
        content: dict[str, Any] = {"key": self.key, "x": x, "y": y, "given": list(given), "p": pvalue}
        return json.dumps(content) + "\n"


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
