"""`DataTable`: named columns of one file, ready to be picked for the roles x, y and z."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import (
    DuplicateColumnError,
    MissingValuesError,
    SpectralCITError,
    UnknownColumnError,
    listing,
    suggestion,
    together,
)
from .columns import Column

__all__ = ["DataTable", "repeated"]


@dataclass(frozen=True, eq=False)
class DataTable:
    """Named columns of equal length, as `spectralcit.read_table` returns them.

    Give it to `ci_test` as ``data=table``, or pick columns first: ``ci_test(table.pick("gene"), ...)``.

    Parameters
    ----------
    source
        Where the table came from, for people.
    n
        Number of rows.
    columns
        The readable columns by name, in the order of the file.
    problems
        Columns that cannot be used (text with thousands of different values, dates, ...), each with the error
        that picking it raises. A file may hold such columns as long as nobody asks for them.
    order
        All names in the order of the file; needed when there are problems.
    beside
        All columns of the table that these were picked from.

    Examples
    --------
    >>> import numpy as np
    >>> table = DataTable("demo", 2, {"age": Column("age", "column 'age'", np.array([41.0, 52.0]))})
    >>> table.names, table.pick("age").n
    (('age',), 2)
    >>> table.pick("ages")
    Traceback (most recent call last):
    ...
    spectralcit.errors.UnknownColumnError: demo has no column 'ages'. Did you mean 'age'? ...
    """

    source: str
    n: int
    columns: Mapping[str, Column]
    problems: Mapping[str, SpectralCITError] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    beside: Mapping[str, Column] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, usable or not, in the order of the file."""
        return self.order or tuple(self.columns)

    @property
    def notes(self) -> dict[str, str]:
        """Remarks on how columns were read, by their names."""
        return {name: "; ".join(column.notes) for name, column in self.columns.items() if column.notes}

    def pick(self, names: str | Iterable[str]) -> DataTable:
        """Return the table of these columns, in this order.

        Parameters
        ----------
        names
            One name or several; patterns are the business of `spectralcit.tables.columns_matching`.
        """
        wanted = [names] if isinstance(names, str) else [str(name) for name in names]
        if problems := {name: error for name in wanted if (error := self._problem(name)) is not None}:
            raise together(problems)
        if twice := repeated(wanted):
            raise DuplicateColumnError(f"the column {twice[0]!r} is named more than once")
        picked = {name: self.columns[name] for name in wanted}
        return DataTable(self.source, self.n, picked, beside=self.beside or self.columns)

    def _problem(self, name: str) -> SpectralCITError | None:
        """Why a column cannot be used."""
        if name in self.problems:
            return self.problems[name]
        if name not in self.columns:
            return UnknownColumnError(
                f"{self.source} has no column {name!r}.{suggestion(name, self.names)} "
                f"Its columns are: {listing(self.names)}"
            )
        if self.n and self.columns[name].missing.all():
            return MissingValuesError(
                f"column {name!r} of {self.source} is empty: all {self.n} values are missing; leave it out"
            )
        return None


def repeated(names: Iterable[str]) -> list[str]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]
