"""`list_real` and `load_real`: real tables, what may be asked of them, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import MissingExtraError, ParameterError, UnknownDatasetError, suggestion
from .packages import Package

__all__ = [
    "Columns",
    "Graph",
    "Question",
    "RealData",
    "RealInfo",
    "list_real",
    "load_real",
    "real_info",
    "real_table",
]

Columns = dict[str, np.ndarray]  # by name: numbers, with NaN for missing, or texts
Reader = Callable[[], Columns]
Graph = tuple[tuple[str, str], ...]  # arrows (cause, effect) between columns


@dataclass(frozen=True)
class Question:
    """One question that a table can be asked: whether X is independent of Y given Z.

    Parameters
    ----------
    x, z
        Names of columns.
    y
        Name of a column, or a time and its event for an outcome that may be censored.
    text
        The question in words.
    """

    x: tuple[str, ...]
    y: str | tuple[str, str]
    z: tuple[str, ...]
    text: str

    @property
    def arguments(self) -> dict[str, Any]:
        """Roles as `ci_test` takes them: ``ci_test(**question.arguments, data=frame)``."""
        return {"x": list(self.x), "y": self.y, "z": list(self.z)}

    @property
    def columns(self) -> list[str]:
        """All columns that play a role."""
        return [*self.x, *([self.y] if isinstance(self.y, str) else self.y), *self.z]


@dataclass(frozen=True)
class RealInfo:
    """What is known about a real table before it is read.

    Parameters
    ----------
    name
        For `load_real`.
    summary
        One line.
    rows
        How many there are.
    source
        Who measured it, and where it was published.
    licence
        Of the data, as far as it is stated.
    package
        What brings the file.
    questions
        Suggested roles, by name; the first is the usual one.
    notes
        What we derived or renamed, and what to beware of.
    read, read_graph
        Read the columns, and the arrows that the package has beside them.
    """

    name: str
    summary: str
    rows: int
    source: str
    licence: str
    package: Package = field(repr=False)
    questions: Mapping[str, Question] = field(repr=False)
    notes: str = field(default="", repr=False)
    read: Reader = field(default=dict, repr=False, compare=False)
    read_graph: Callable[[], Graph] = field(default=tuple, repr=False, compare=False)

    @property
    def installed(self) -> bool:
        """Whether the package that brings the file is installed."""
        return self.package.installed

    def question(self, name: str = "") -> Question:
        """One of the suggested questions; the first when no name is given."""
        if not name:
            return next(iter(self.questions.values()))
        if name not in self.questions:
            raise ParameterError(
                f"{self.name!r} has no question {name!r}.{suggestion(name, self.questions)} "
                f"It has: {', '.join(self.questions)}"
            )
        return self.questions[name]


@dataclass(frozen=True)
class RealData:
    """A real table.

    Parameters
    ----------
    info
        Name, source, licence, suggested questions.
    frame
        The data: numbers and texts, gaps where something was not measured.
    version
        Of the package the file came with.
    graph
        Arrows (cause, effect) between columns that the literature holds to be true, if the package has any.
    """

    info: RealInfo
    frame: Any = field(repr=False)
    version: str = ""
    graph: Graph = field(default=(), repr=False)

    @property
    def questions(self) -> Mapping[str, Question]:
        """Suggested roles, by name."""
        return self.info.questions

    def complete(self, question: str = "") -> Any:
        """The columns of a question, without rows that lack one of them."""
        import narwhals as nw

        chosen = nw.from_native(self.frame).select(self.info.question(question).columns)
        kept = chosen.filter(~nw.any_horizontal(nw.all().is_null(), ignore_nulls=False))
        numbers = [name for name, kind in kept.schema.items() if kind.is_float()]
        if numbers:  # gaps of NumPy's kind, which not every library counts as missing
            kept = kept.filter(~nw.any_horizontal(nw.col(*numbers).is_nan(), ignore_nulls=False))
        return kept.to_native()


_REAL: dict[str, RealInfo] = {}  # filled by `real_table`


def real_table(**about: Any) -> Callable[[Reader], Reader]:
    """Decorator: a function that reads columns joins the catalogue, with the fields of `RealInfo`."""

    def decorate(read: Reader) -> Reader:
        info = RealInfo(read=read, **about)
        _REAL[info.name] = info
        return read

    return decorate


def list_real() -> list[RealInfo]:
    """Return every real table, sorted by name, whether its package is installed or not.

    Examples
    --------
    >>> [info.name for info in list_real()]
    ['breast-cancer', 'cells', 'digits', 'light-chains', 'rotterdam', 'sachs', 'wdbc']
    """
    _read_rooms()
    return [_REAL[name] for name in sorted(_REAL)]


def load_real(name: str, *, backend: Any = "pandas") -> RealData:
    """Read a real table from the package that brings it.

    Parameters
    ----------
    name
        A name from `list_real`.
    backend
        Library of the frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

    Returns
    -------
    RealData
        The frame, suggested questions, source and licence.

    Raises
    ------
    MissingExtraError
        Says what to install.

    Examples
    --------
    >>> patients = load_real("wdbc", backend="polars")
    >>> patients.frame.shape
    (569, 31)
    >>> patients.info.licence
    'CC BY 4.0'
    """
    info = real_info(name)
    frame = _as_frame(info.read(), backend)
    return RealData(info, frame, info.package.version, info.read_graph())


def real_info(name: str) -> RealInfo:
    """What is known about a table, which is not read."""
    _read_rooms()
    if name not in _REAL:
        known = sorted(_REAL)
        raise UnknownDatasetError(
            f"no real table is called {name!r}.{suggestion(name, known)} Known tables: {', '.join(known)}"
        )
    return _REAL[name]


def _as_frame(columns: Columns, backend: Any) -> Any:
    import narwhals as nw

    # Texts as lists: NumPy's own texts are no column of any frame.
    plain = {
        name: values if values.dtype.kind in "if" else values.tolist() for name, values in columns.items()
    }
    try:
        return nw.from_dict(plain, backend=backend).to_native()
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{backend} is not installed: pip install {backend}") from error


def _read_rooms() -> None:
    """Import what registers tables; not above, for those modules import this one."""
    from . import measurements, patients  # noqa: F401
