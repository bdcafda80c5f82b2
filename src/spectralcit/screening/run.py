"""`screen`: which of many columns still speak about an outcome once Z is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import ParameterError, SpectralCITError
from ..inputs import RowArguments
from ..inputs.columns import Column
from ..inputs.design import said_of_rows
from ..making import Method, chosen_method, make_test
from ..numeric.streams import resolve_seed
from ..parameters import check_parameters
from ..progress import Report, progress_reports
from ..registry import registered_name
from ..tables.reading import Reading
from ..workers import check_backend, done
from .about_rows import digest_of_rows, found_in, in_recipe
from .again import LookAgain
from .batch import WORTH_A_LOOK, Question, check_question, forget, question_key
from .discoveries import FDR
from .engine import Batch, evaluated
from .frame import ScreenResult
from .plan import Plan, plan_of, plan_of_pairs
from .rows import ScreenRow
from .sources import Source, open_source
from .store import ScreenStore

if TYPE_CHECKING:
    import numpy as np

    from ..base import BaseCITest

__all__ = ["MODES", "screen"]

MODES = ("two-stage", "full")  # the words of `mode`, the default first
# By hand: of null columns, this share and that of alarms get the whole test, which is most of what a screen
# costs. The quick look may find a column less surprising than the whole test; hence a margin to usual levels.
_THRESHOLD = 0.08
# Cells of a batch and its bounds in columns; a batch is what is read, held, run and stored at once.
_BATCH_CELLS = 250_000
_BATCH_COLUMNS = (4, 64)


def screen(
    data: Any,
    x: str | Sequence[str] | None = None,
    y: str | Sequence[str] | None = None,
    z: str | Sequence[str] | None = None,
    *,
    pairs: str | Sequence[str] | None = None,
    fdr: str | None = "bh",
    mode: str = "two-stage",
    threshold: float = _THRESHOLD,
    test: Method | None = None,
    method: Method | None = None,
    n_jobs: int = 1,
    backend: str = "joblib",
    address: str | None = None,
    random_state: int | np.random.Generator | None = 0,
    missing: str | None = None,
    progress: bool | Report = False,
    store: str | os.PathLike[str] | None = None,
    reading: Reading | None = None,
    **params: Any,
) -> ScreenResult:
    """Test many columns, one by one, against an outcome given the same Z.

    Z is decomposed and the outcome expanded once. In two stages every column first gets a quick look; those
    whose quick p-value is at most `threshold`, or of which some part alone is surprising, get the whole test,
    whose p-value counts, and the others keep the quick one. A p-value up to the threshold is therefore always
    one of the whole test: at any level below it, two stages reject nothing that the whole test would not.

    Parameters
    ----------
    data
        A data frame, eager or lazy (pandas, polars, pyarrow, Dask, ...), a table of `read_table`, or the path
        of a file. Lazy frames, Parquet and Feather are read a few columns at a time.
    x
        Names of the columns to test, or a selection such as ``"gene_*"``, also in a list beside names; all
        others when not given. Each is a question of its own.
    y
        The outcome; of several, in a list, each is tested against every column. A *tuple* of two names is
        one censored outcome, time and event (1, or 0 where the time is censored), as in `ci_test`; every
        column then gets the whole test.
    z
        Names of the columns to condition on, or a selection; none when not given.
    pairs
        In place of `x` and `y`: columns of which every pair is tested once.
    fdr
        How q-values are made of p-values: ``"bh"`` (Benjamini-Hochberg), ``"by"`` (Benjamini-Yekutieli, for
        any dependence between columns) or None.
    mode
        ``"two-stage"``, or ``"full"`` to give every column the whole test.
    threshold
        P-value of the quick look up to which a column gets the whole test.
    test, method
        Two names of one argument: the name of a test, its class or an instance; ``"spectral"`` when not
        given. A test that cannot share a Z runs column by column.
    n_jobs
        How many processes to use; -1 for one per core. The answers are the same.
    backend
        Where batches run: ``"joblib"`` on this machine, or on a cluster of ``"dask"``, ``"ray"`` or
        ``"spark"``, of which one with `n_jobs` workers is started here when there is none.
    address
        Of a running Dask scheduler, Ray head or Spark master.
    random_state
        Seed of every test: a row of the stage "full" is ``ci_test(x, y, z, random_state=seed)``.
    missing
        ``"raise"``: a column with missing values gets no p-value. ``"drop"``: each question uses the rows
        that are complete in its own columns.
    progress
        Whether to show a bar on a terminal, or a function that is called with (done, total).
    store
        A file that takes every finished batch: a run that was killed and is started again goes on there.
    reading
        How a file is read, when `data` is a path.
    **params
        ``groups``, ``time``, ``weights`` and their like as in `ci_test`: names of columns of `data`, which
        are then not tested, or one value per row. Every column then gets the whole test. And parameters of
        the test.

    Returns
    -------
    ScreenResult
        One row a column, sorted by p-value. A column that cannot be tested has a row that says why.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> age, effect, noise = rng.normal(size=(3, 300))
    >>> table = pa.table(
    ...     {
    ...         "age": age,
    ...         "a": effect + age,
    ...         "b": noise + age,
    ...         "c": np.ones(300),
    ...         "relapse": age + effect + rng.normal(size=300),
    ...     }
    ... )
    >>> found = screen(table, x=["a", "b", "c"], y="relapse", z="age")
    >>> [(row.x, row.kind) for row in found.hits()], found.rows[-1].reason
    ([('a', 'linear')], "column 'c' of x is constant (every row is 1, up to rounding); leave it out")
    """
    if fdr is not None and fdr not in FDR:
        raise ParameterError(f"fdr must be one of {FDR} or None, got {fdr!r}")
    if mode not in MODES:
        raise ParameterError(f"mode must be one of {MODES}, got {mode!r}")
    if not 0.0 < threshold < 1.0:
        raise ParameterError(f"threshold must be strictly between 0 and 1, got {threshold!r}")
    check_backend(backend, address)
    said, params = said_of_rows(params)
    chosen = make_test(
        chosen_method(test, method), **({} if missing is None else {"missing": missing}), **params
    )
    check_parameters(chosen)
    seed = resolve_seed(chosen.random_state if random_state is None else random_state)
    source = open_source(data, reading)
    rows, apart = found_in(source, said)
    plan = plan_of(x, y, z, source, apart) if pairs is None else plan_of_pairs(x, y, pairs, z, source, apart)
    questions = _questions(chosen, source, plan, seed, threshold if mode == "two-stage" else None, rows)
    with ScreenStore(None if store is None else Path(store)) as kept:
        engine = partial(done, evaluated, n_jobs=n_jobs, backend=backend, address=address)
        try:
            answers, n_computed = _run(questions, plan, source, kept, engine, progress)
        finally:
            forget()
    name = registered_name(type(chosen))
    again = LookAgain(source, {question.y.name: question for question in questions})
    told, events = in_recipe(said), dict(plan.events)
    return ScreenResult(tuple(answers), plan.z, fdr, mode, name, seed, n_computed, told, again, events)


def _questions(
    test: BaseCITest,
    source: Source,
    plan: Plan,
    seed: int,
    threshold: float | None,
    rows: RowArguments,
) -> list[Question]:
    read = source.read(plan.read_once)
    for column in read.values():
        if isinstance(column, SpectralCITError):
            raise column
    columns: dict[str, Column] = {name: one for name, one in read.items() if isinstance(one, Column)}
    given = tuple(columns[name] for name in plan.z)
    settings = {k: v for k, v in test.get_params().items() if k not in ("random_state", "progress")}
    told = digest_of_rows(rows, len(columns[next(iter(plan.tested))].values))
    parts = (__version__, registered_name(type(test)), sorted(settings.items()), seed, threshold, told)
    questions = []
    for name in plan.tested:
        outcome, event = columns[name], columns.get(plan.events.get(name, ""))
        # Said apart: a column among the outcomes' means something else than the same one in Z.
        roles = parts if event is None else (*parts, ("event", event.name))
        key = question_key(*roles, columns=(outcome, *([] if event is None else [event]), *given))
        few = len(plan.tested[name]) < WORTH_A_LOOK
        question = Question(test, outcome, given, seed, None if few else threshold, rows, key, event)
        check_question(question)
        questions.append(question)
    return questions


def _run(
    questions: Sequence[Question],
    plan: Plan,
    source: Source,
    store: ScreenStore,
    engine: Callable[[Iterator[Batch]], Iterator[tuple[Batch, list[ScreenRow]]]],
    progress: bool | Report,
) -> tuple[list[ScreenRow], int]:
    n = len(questions[0].y.values)
    least, most = _BATCH_COLUMNS
    size = min(max(_BATCH_CELLS // n, least), most)
    rows: dict[tuple[int, int], list[ScreenRow]] = {}
    total, n_computed = sum(map(len, plan.tested.values())), 0

    def waiting() -> Iterator[Batch]:
        # Outcomes outside: what a process has prepared for one of them serves all its batches.
        for k, question in enumerate(questions):
            tested = plan.tested[question.y.name]
            for start in range(0, len(tested), size):
                batch = Batch((k, start), question, source.read(tested[start : start + size]))
                known = store.get(batch.key)
                if known is None:
                    yield batch
                else:
                    rows[batch.place] = known

    with progress_reports(progress, "Screening") as report:
        for batch, found in engine(waiting()):
            if all(row.is_final for row in found):
                store.add(batch.key, found)
            rows[batch.place] = found
            n_computed += len(found)
            report(sum(map(len, list(rows.values()))), total)  # a copy: other threads find known ones
        report(total, total)
    return [row for place in sorted(rows) for row in rows[place]], n_computed
