"""Finished batches of a screen in one SQLite file, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from ..database import SqliteFile
from ..errors import StoreError
from .rows import ScreenRow

__all__ = ["ScreenStore"]

_APPLICATION = 0x53434953  # "SCIS": marks the file as ours
_VERSION = 1  # of the table; raise it whenever a row's content changes
# If not exists: two runs may begin with the same new file at the same moment.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS batches (key TEXT PRIMARY KEY, rows TEXT NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""


class ScreenStore:
    """Rows of finished batches by the digest of all that decides them; without a path, nothing is kept.

    A batch is there whole or not at all. One file may serve several screens: another outcome, Z, seed or
    setting, or changed data, has other digests.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, ScreenStore(pathlib.Path(folder) / "s.sqlite") as store:
    ...     store.add("digest", [ScreenRow("a", "y", 0.5)])
    ...     store.get("digest")[0].pvalue, store.get("another")
    (0.5, None)
    """

    def __init__(self, path: Path | None) -> None:
        # Where there are workers, what is next is asked for by threads that hand it to them.
        self._file = None if path is None else _File(path, any_thread=True)
        self._turn = threading.Lock()

    def get(self, key: str) -> list[ScreenRow] | None:
        """Return the rows of a batch, or None when it is not finished."""
        with self._turn:
            text = None if self._file is None else self._file.get(key)
        return None if text is None else [ScreenRow.from_dict(one) for one in json.loads(text)]

    def add(self, key: str, rows: Sequence[ScreenRow]) -> None:
        """Keep the rows of a batch; they survive a kill when this returns."""
        if self._file is not None:
            text = json.dumps([row.to_dict() for row in rows])
            with self._turn:
                self._file.add(key, text)

    def __enter__(self) -> ScreenStore:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


class _File(SqliteFile):
    def _prepare(self, read_only: bool) -> None:
        if self._is_empty():
            self._create(_SCHEMA)
        elif (self._pragma("application_id"), self._pragma("user_version")) != (_APPLICATION, _VERSION):
            raise StoreError(f"{self.path}: a SQLite file, but not a store of this screen; left untouched")
        self._survive_kills()

    def get(self, key: str) -> str | None:
        with self._explained("read"):
            found = self._connection.execute("SELECT rows FROM batches WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def add(self, key: str, rows: str) -> None:
        with self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO batches VALUES (?, ?)", (key, rows))
