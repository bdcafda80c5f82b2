"""A SQLite file in write-ahead mode: killed at any moment, it holds whole rows; errors say what to do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from .errors import StoreError

__all__ = ["SqliteFile"]


class SqliteFile:
    """A store in one file. A process that is killed leaves every row that was added; several may add at once.

    Parameters
    ----------
    path
        The file; it is made when missing.
    read_only
        Only read; the file must exist.
    any_thread
        Whether threads other than this one may use it, one at a time.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False, any_thread: bool = False) -> None:
        self.path = Path(path)
        with self._explained("opened"):
            self._connection = sqlite3.connect(
                self._uri(read_only),
                uri=True,
                timeout=60,
                isolation_level=None,
                check_same_thread=not any_thread,
            )
        try:
            with self._explained("opened"):
                self._prepare(read_only)
        except StoreError:
            self._connection.close()
            raise

    def _prepare(self, read_only: bool) -> None:
        """Make the tables, or check that they are ours."""
        raise NotImplementedError

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

    def _is_empty(self) -> bool:
        return not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def _create(self, schema: str) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.executescript(f"BEGIN EXCLUSIVE; {schema} COMMIT;")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _survive_kills(self) -> None:
        # Enough against a killed process; a power cut may cost the last rows, but never the file.
        self._connection.execute("PRAGMA synchronous = NORMAL")

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

    def __enter__(self) -> Self:
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
