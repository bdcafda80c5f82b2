"""One batch of columns against one outcome: what a worker of a screen does.

Columns with the same complete rows share one Z. In two stages each of them first gets a quick look, and the
whole test only if that or one of its parts is at all surprising; the p-value of the whole test then counts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..abilities import require_censored
from ..base import BaseCITest
from ..errors import CensoredTimesError, SpectralCITError
from ..inputs import CensoredTimes, CIData, DataTable, RowArguments, RowDesign
from ..inputs.columns import Column
from ..numeric.digest import column_digest, digest
from ..numeric.streams import generator
from ..result import CITestResult
from ..sharing import QuickAnswer, SharedConditioning
from .rows import OUT_OF_MEMORY, ScreenRow, from_quick, from_result, without_pvalue

__all__ = ["WORTH_A_LOOK", "Question", "check_question", "evaluate", "forget", "question_key"]

WORTH_A_LOOK = 8  # by hand: fewer columns are sooner tested than the quick look is prepared for their rows
_MOST_FILLED = 0.2  # by hand: share of a column's values that may be filled for a quick look
_KEPT = 2  # decompositions that a process keeps: that of all complete rows, and one more


class _Decomposed(threading.local):
    """What this thread has decomposed, by question and rows; workers get questions by value, many times."""

    def __init__(self) -> None:
        self.sets: dict[bytes, SharedConditioning | None] = {}


_DECOMPOSED = _Decomposed()  # one Z serves many batches


@dataclass(frozen=True, eq=False)
class Question:
    """Everything that decides the answers but the columns themselves: test, outcome, Z and seed."""

    test: BaseCITest
    y: Column
    z: tuple[Column, ...]
    seed: int
    threshold: float | None  # see `screen`; without one every column gets the whole test
    rows: RowArguments = field(default_factory=RowArguments)  # groups, times and weights of the rows
    key: bytes = field(default=b"")  # digest of all of this
    event: Column | None = None  # 1 where the time in y ends with the event, 0 where it is censored

    @property
    def looks_quickly(self) -> bool:
        """Whether a quick look will do: it takes rows to be independent, to count alike, and y as it is."""
        return self.threshold is not None and not self.rows and self.event is None

    def prepare(self, column: Column) -> CIData:
        """Read and check a column together with outcome and Z, as a test on its own does."""
        z, time = _table(self.z) if self.z else None, _table([self.y])
        y = time if self.event is None else CensoredTimes(time, _table([self.event]))
        return self.test.prepare(_table([column]), y, z, **self.rows)


def evaluate(question: Question, columns: Mapping[str, Column | SpectralCITError]) -> list[ScreenRow]:
    """Return the rows of a batch, in its order; a column that cannot be tested gets its reason."""
    rows: dict[str, ScreenRow] = {}
    groups: dict[bytes, dict[str, CIData]] = {}
    for name, column in columns.items():
        try:
            if isinstance(column, SpectralCITError):
                raise column
            data = question.prepare(column)
            same = digest(_complete_rows(question, column), _design_key(data.design))
            groups.setdefault(same, {})[name] = data
        except SpectralCITError as error:
            rows[name] = without_pvalue(name, question.y.name, str(error))
    dull = _dull(question, groups, columns) if question.looks_quickly else {}
    for complete, members in groups.items():
        for name, data in members.items():
            if name in dull:
                rows[name] = from_quick(name, question.y.name, dull[name], data.n, data.notes)
            else:
                rows[name] = _whole(question, name, data, complete if len(members) > 1 else None)
    return [rows[name] for name in columns]


def _dull(
    question: Question,
    groups: Mapping[bytes, Mapping[str, CIData]],
    columns: Mapping[str, Column | SpectralCITError],
) -> dict[str, QuickAnswer]:
    """Return what the quick look says of the columns that need no whole test.

    Columns whose gaps hardly any other column shares are looked at with their gaps filled, in the rows of
    all others; only the whole test, if they get one, leaves these rows out.
    """
    looked = {complete: dict(members) for complete, members in groups.items()}
    everywhere = digest(_complete_rows(question, question.y), _design_key(None))
    for complete, members in groups.items():
        if complete == everywhere or len(members) >= WORTH_A_LOOK:
            continue
        for name in members:
            column = columns[name]
            if isinstance(column, Column) and column.missing.mean() <= _MOST_FILLED and column.levels is None:
                filled = np.where(column.missing, np.nanmedian(column.values), column.values)
                data = question.prepare(replace(column, values=filled))
                looked.setdefault(everywhere, {})[name] = data
                del looked[complete][name]
    dull: dict[str, QuickAnswer] = {}
    for complete, members in looked.items():
        # What is prepared for complete rows serves other batches too: those of long tables are small.
        if not members or (complete != everywhere and len(members) < WORTH_A_LOOK):
            continue
        answers: Sequence[QuickAnswer | None] = [None] * len(members)
        with suppress(MemoryError):  # the whole test needs less of it at once
            shared = _shared(question, complete, next(iter(members.values())))
            if shared is not None:
                answers = shared.quick([data.x for data in members.values()], "y")
        for name, answer in zip(members, answers, strict=True):
            if answer is not None and not answer.alarming and answer.pvalue > (question.threshold or 0.0):
                dull[name] = answer
    return dull


def _whole(question: Question, name: str, data: CIData, complete: bytes | None) -> ScreenRow:
    """Give a column the whole test; `complete` names the rows that it has in common with others."""
    try:
        result = _in_common(question, data, complete)
        if result is None:
            result = question.test.run(data, question.seed)
    except CensoredTimesError:
        raise  # settings of the test that no column can be tested with
    except Exception as error:  # one column of thousands must not end the run
        if isinstance(error, MemoryError) and not isinstance(error, SpectralCITError):
            return without_pvalue(name, question.y.name, OUT_OF_MEMORY)
        return without_pvalue(name, question.y.name, f"the test failed: {type(error).__name__}: {error}")
    return from_result(name, question.y.name, result)


def _in_common(question: Question, data: CIData, complete: bytes | None) -> CITestResult | None:
    """Run the test on what these rows have in common; ``None`` without that, and where memory is short of it.

    The test on its own says the same, and needs less memory.
    """
    try:
        shared = None if complete is None else _shared(question, complete, data)
        return None if shared is None else shared.result(data.x, "y", data.notes)
    except MemoryError:
        forget()
        return None


def _shared(question: Question, complete: bytes, data: CIData) -> SharedConditioning | None:
    if data.y.event is not None:
        return None  # a hazard is fitted for each column; where no time is censored, there is none
    key = digest(question.key, complete)
    sets = _DECOMPOSED.sets
    if key not in sets:
        while len(sets) >= _KEPT:
            del sets[next(iter(sets))]
        sets[key] = question.test.share({"y": data.y}, data.z, seed=question.seed, design=data.design)
    sets[key] = sets.pop(key)  # the one used last is forgotten last
    return sets[key]


def forget() -> None:
    """Drop what this process has decomposed: a screen is over, and memory is dear."""
    _DECOMPOSED.sets.clear()


def _complete_rows(question: Question, column: Column) -> bytes:
    """Tell groups of rows apart: those without a missing value in the column, the outcome and Z."""
    always = [question.y, *question.z, *([] if question.event is None else [question.event])]
    missing = np.logical_or.reduce([one.missing for one in (column, *always)])
    return column_digest(np.flatnonzero(missing))


def _design_key(design: RowDesign | None) -> bytes:
    """Tell designs of rows apart: blocks of time may be as long as each column asks for."""
    if design is None:
        return b""
    parts = (design.clusters, design.weights)
    settings = repr((design.inflation, design.given, sorted(design.facts.items()))).encode()
    return digest(settings, *(b"" if part is None else column_digest(part) for part in parts))


def _table(columns: Sequence[Column]) -> DataTable:
    return DataTable("data", len(columns[0].values), {column.name: column for column in columns})


def question_key(*parts: Any, columns: Sequence[Column]) -> bytes:
    """Digest of settings and columns: answers stored under it may be used again."""
    return digest(
        repr(parts).encode(),
        *(digest(one.name.encode(), column_digest(one.values, one.levels)) for one in columns),
    )


def check_question(question: Question) -> None:
    """Raise what is wrong with outcome and Z now, and not once for every column."""
    noise = generator(question.seed, "a column of noise").standard_normal(len(question.y.values))
    data = question.prepare(Column("noise", "a column of noise", noise))
    if data.y.event is not None:
        require_censored(type(question.test), () if data.design is None else data.design.given)
