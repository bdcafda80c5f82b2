"""`Store`: every replicate ever run, one row each, in one SQLite file to which rows are only ever added."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import TracebackType

from ..errors import StoreError
from .record import KEY, Record, TrialKey

__all__ = ["Store"]

_APPLICATION = 0x53434954  # "SCIT": marks the file as ours
_VERSION = 1  # of the table; raise it whenever a column changes, so that older programs leave the file alone
_COLUMNS = tuple(field.name for field in fields(Record))  # a record is a row
# If not exists: two runs may begin with the same new file at the same moment.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS trials (
    test TEXT NOT NULL, method TEXT NOT NULL, test_params TEXT NOT NULL,
    dataset TEXT NOT NULL, dataset_params TEXT NOT NULL,
    n INTEGER NOT NULL, dependent INTEGER NOT NULL,
    suite_seed INTEGER NOT NULL, replicate INTEGER NOT NULL, attempt INTEGER NOT NULL,
    seed INTEGER NOT NULL, pvalue REAL, statistic REAL, effect REAL, seconds REAL, peak_mb REAL,
    versions TEXT NOT NULL, error TEXT NOT NULL,
    UNIQUE ({", ".join(KEY)}, attempt)
);
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON trials
    BEGIN SELECT RAISE(ABORT, 'rows are never changed'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON trials
    BEGIN SELECT RAISE(ABORT, 'rows are never deleted'); END;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
"""


class Store:
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
        self.path = Path(path)
        if read_only and not self.path.exists():
            raise StoreError(f"{self.path}: there is no such store; running a suite makes it")
        with self._explained("opened"):
            self._connection = sqlite3.connect(
                self._uri(read_only), uri=True, timeout=60, isolation_level=None
            )
        try:
            with self._explained("opened"):
                self._prepare(read_only)
        except StoreError:
            self._connection.close()
            raise

    def _uri(self, read_only: bool) -> str:
        mode = "?mode=rwc"
        if read_only:
            # Write-ahead mode needs files beside the store. Where this process can make none, it may read
            # without them, unless another one has left rows there that are not yet in the store itself.
            waiting = self.path.with_name(self.path.name + "-wal")
            alone = not (waiting.exists() and waiting.stat().st_size)
            folder_is_open = os.access(self.path.absolute().parent, os.W_OK)
            mode = "?mode=ro&immutable=1" if alone and not folder_is_open else "?mode=ro"
        return self.path.absolute().as_uri() + mode

    def _prepare(self, read_only: bool) -> None:
        is_empty = not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if is_empty and not read_only:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(f"BEGIN EXCLUSIVE; {_SCHEMA} COMMIT;")
        elif self._pragma("application_id") != _APPLICATION:
            raise StoreError(
                f"{self.path}: a SQLite file, but not a store of benchmark results; left untouched"
            )
        elif self._pragma("user_version") != _VERSION:
            raise StoreError(
                f"{self.path}: a store of format {self._pragma('user_version')}; this version of spectralcit "
                f"reads and writes format {_VERSION}. The file was left untouched"
            )
        if not read_only:
            # Enough against a killed process; a power cut may cost the last rows, but never the file.
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

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
            found = self._connection.execute(
                f"SELECT {', '.join(_COLUMNS)} FROM trials ORDER BY {order}"
            ).fetchall()
        named = (dict(zip(_COLUMNS, row, strict=True)) for row in found)
        return (Record(**{**row, "dependent": bool(row["dependent"])}) for row in named)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._explained("written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have rolled it back already
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self, deed: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            hint = _HINTS.get(getattr(error, "sqlite_errorname", "").split("_IOERR")[0], "")
            raise StoreError(f"{self.path}: cannot be {deed}: {error}. {hint}".rstrip()) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# Ends the advice below wherever something was stored.
_KEPT = "What was stored before is kept; run the same command again and it goes on from there"
_HINTS = {  # what to do about an error, by the name that SQLite gives it
    "SQLITE_FULL": f"The disk is full: free some space. {_KEPT}",
    "SQLITE": f"The disk may be full or gone. {_KEPT}",
    "SQLITE_READONLY": "The file or its folder cannot be written: change the permissions, or choose another "
    "place for the store",
    "SQLITE_CANTOPEN": "Does the folder exist, and may you write there? Choose another place for the store",
    "SQLITE_NOTADB": "It is not a SQLite file; it was left untouched. Choose another place for the store",
    "SQLITE_BUSY": "Another program holds the file for more than a minute",
}
