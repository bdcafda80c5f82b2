"""Files of results to which long studies append a row at a time."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return all rows of a file with a header; none if there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append_row(path: Path, row: Mapping[str, object]) -> None:
    """Append a row, after a header if it is the first."""
    fresh = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow(row)
