"""`Store`: every replicate ever run, one row each, in one SQLite file to which rows are only ever added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path

from ..database import SqliteFile
from ..errors import StoreError
from .record import KEY, Record, TrialKey

__all__ = ["Store"]

_APPLICATION = 0x53434954  # "SCIT": marks the file as ours
_VERSION = 2  # of the table; raise it whenever a column changes, so that older programs leave the file alone
_COLUMNS = tuple(field.name for field in fields(Record))  # a record is a row
_WARNINGS = "warnings TEXT NOT NULL DEFAULT ''"  # what format 2 added
# If not exists: two runs may begin with the same new file at the same moment.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS trials (
    test TEXT NOT NULL, method TEXT NOT NULL, test_params TEXT NOT NULL,
    dataset TEXT NOT NULL, dataset_params TEXT NOT NULL,
    n INTEGER NOT NULL, dependent INTEGER NOT NULL,
    suite_seed INTEGER NOT NULL, replicate INTEGER NOT NULL, attempt INTEGER NOT NULL,
    seed INTEGER NOT NULL, pvalue REAL, statistic REAL, effect REAL, seconds REAL, peak_mb REAL,
    versions TEXT NOT NULL, error TEXT NOT NULL, {_WARNINGS},
    UNIQUE ({", ".join(KEY)}, attempt)
);
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON trials
    BEGIN SELECT RAISE(ABORT, 'rows are never changed'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON trials
    BEGIN SELECT RAISE(ABORT, 'rows are never deleted'); END;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""


class Store(SqliteFile):
    """A file of results. Rows are added, never changed; a row that is there already is left alone.

    The file is in SQLite's write-ahead mode: a process that is killed at any moment leaves every row that was
    added, whole, and several processes may add at once.

    Parameters
    ----------
    path
        The file; it is made when missing.
    read_only
        Only read; the file must exist.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "new.sqlite") as store:
    ...     len(store.records())
    0
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        if read_only and not Path(path).exists():
            raise StoreError(f"{Path(path)}: there is no such store; running a suite makes it")
        super().__init__(path, read_only=read_only)

    def _prepare(self, read_only: bool) -> None:
        if self._is_empty() and not read_only:
            self._create(_SCHEMA)
        elif self._pragma("application_id") != _APPLICATION:
            raise StoreError(
                f"{self.path}: a SQLite file, but not a store of benchmark results; left untouched"
            )
        elif self._pragma("user_version") == 1 and not read_only:
            self._connection.executescript(
                f"BEGIN EXCLUSIVE; ALTER TABLE trials ADD COLUMN {_WARNINGS}; "
                f"PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        elif self._pragma("user_version") not in (1, _VERSION):
            raise StoreError(
                f"{self.path}: a store of format {self._pragma('user_version')}; this version of spectralcit "
                f"reads and writes format {_VERSION}. The file was left untouched"
            )
        if not read_only:
            self._survive_kills()

    def add(self, records: Iterable[Record]) -> int:
        """Add rows, all of them or none, skip those that are stored already, and return how many are new."""
        marks = ", ".join("?" * len(_COLUMNS))
        rows = [tuple(getattr(record, name) for name in _COLUMNS) for record in records]
        with self._transaction():
            before = self._connection.total_changes
            self._connection.executemany(
                f"INSERT OR IGNORE INTO trials ({', '.join(_COLUMNS)}) VALUES ({marks})", rows
            )
            return self._connection.total_changes - before

    def merge(self, other: str | Path | Store) -> int:
        """Add the rows of another store, which is only read, and return how many are new.

        A success there counts where this one has failures only.
        """
        if not isinstance(other, Store):
            with Store(other, read_only=True) as opened:
                return self.merge(opened)
        mine = self.attempts()
        rows = []
        for record in other._all():
            last, has_failed = mine.get(record.key, (-1, True))
            if has_failed and not record.error and record.attempt <= last:
                record = replace(record, attempt=last + 1)  # under its own number it would be skipped
            rows.append(record)
        return self.add(rows)

    def attempts(self) -> dict[TrialKey, tuple[int, bool]]:
        """For each replicate the number of its last attempt, and whether all of them failed."""
        found: dict[TrialKey, tuple[int, bool]] = {}
        for record in self._all():  # sorted by attempt
            _, failed_before = found.get(record.key, (-1, True))
            found[record.key] = (record.attempt, failed_before and bool(record.error))
        return found

    def records(self) -> list[Record]:
        """The first success of every replicate, or else its last failure, in an order of their own."""
        chosen: dict[TrialKey, Record] = {}
        for record in self._all():  # sorted by attempt
            if record.key not in chosen or chosen[record.key].error:
                chosen[record.key] = record
        return list(chosen.values())

    def _all(self) -> Iterator[Record]:
        order = ", ".join((*KEY, "attempt"))
        with self._explained("read"):
            # A store of format 1 that may only be read has fewer columns.
            present = {row[1] for row in self._connection.execute("PRAGMA table_info(trials)")}
            columns = [name for name in _COLUMNS if name in present]
            found = self._connection.execute(
                f"SELECT {', '.join(columns)} FROM trials ORDER BY {order}"
            ).fetchall()
        named = (dict(zip(columns, row, strict=True)) for row in found)
        return (Record(**{**row, "dependent": bool(row["dependent"])}) for row in named)
