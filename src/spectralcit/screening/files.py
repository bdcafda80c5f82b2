"""The table of a screen in a file, whose name says the format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from ..errors import MissingExtraError, ParameterError
from ..files import replacing, write_atomically
from .frame import ScreenResult

__all__ = ["check_output", "write_table"]


def check_output(path: Path) -> None:
    """Complain before hours of tests, not after."""
    if path.suffix.lower() not in _WRITERS:
        raise ParameterError(f"{path}: the name must end in {', '.join(_WRITERS)}")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}")


def write_table(found: ScreenResult, path: Path) -> None:
    """Write the sorted table: the file is there whole or not at all."""
    check_output(path)
    _WRITERS[path.suffix.lower()](found, path)


def _csv(found: ScreenResult, path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", lineterminator="\n")
    columns = found.columns()
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_atomically(path, text.getvalue())


def _json(found: ScreenResult, path: Path) -> None:
    columns = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    settings = {name: getattr(found, name) for name in ("z", "fdr", "mode", "method", "seed")}
    if found.events:
        settings["events"] = dict(found.events)
    write_atomically(path, json.dumps({**settings, "rows": rows}, indent=1, ensure_ascii=False))


def _parquet(found: ScreenResult, path: Path) -> None:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'spectralcit[files]'") from error
    with replacing(path) as scratch:
        parquet.write_table(found.to_frame("pyarrow"), scratch)
        scratch.chmod(0o644)  # scratch files are for their owner only; this one is for sharing


# By the ending of the name.
_WRITERS: dict[str, Callable[[ScreenResult, Path], None]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".parquet": _parquet,
}
