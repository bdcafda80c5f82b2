"""`reproduce`: run one experiment of the paper and write its figure and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ParameterError, StoreError
from ...files import write_atomically
from ..figure_style import save
from ..metrics import of_suite, summarise
from ..page import write_report
from ..run import Summary, run_suite
from ..runner import Runner
from ..store import Store
from ..suite import Suite, canonical
from .experiment import Experiment
from .experiments import get_experiment
from .figure import draw_experiment
from .labels import PUBLISHED_METHOD, TUNED
from .tables import markdown_table

__all__ = ["Reproduction", "has_results", "read_tuned", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """What became of an experiment.

    Parameters
    ----------
    experiment
        Which one.
    summary
        What was run; ``None`` when only the report was asked for.
    folder
        Where the figure (``figure.png``, ``figure.svg``), the tables (``table.md``, ``rates.csv``,
        ``times.csv``) and the page ``index.html`` are.
    table
        The content of ``table.md``.
    """

    experiment: Experiment
    summary: Summary | None
    folder: Path
    table: str


def reproduce(
    name: str,
    out: str | Path,
    *,
    scale: str = "quick",
    tuned: str | Path | None = None,
    methods: Sequence[str] | None = None,
    replicates: int | None = None,
    run: bool = True,
    runner: Runner | None = None,
    **options: Any,
) -> Reproduction:
    """Run what is missing of an experiment, then write its figure and tables.

    All results are in ``results.sqlite`` of the folder: stopped at any moment, the same call goes on from
    there, and the full scale takes over what the quick one did.

    Parameters
    ----------
    name
        A key of `EXPERIMENTS`.
    out
        The folder; each experiment has its own folder in it.
    scale
        ``"quick"`` or ``"full"``.
    tuned
        Run the published test also with the parameters in this file of `spectralcit.tuning.Tuned.save`.
    methods, replicates
        Run these tests only, and so many replicates of each cell; see `Experiment.suite`.
    run
        ``False`` reports what is there and runs nothing.
    runner, **options
        Where and how replicates run (``n_jobs``, ``backend``, ``progress``, ...), as in `run_suite`. An
        experiment that measures time uses one worker, whatever is asked for.

    Raises
    ------
    KeyboardInterrupt
        When stopped from the keyboard; what is done is stored.
    """
    experiment = get_experiment(name)
    params = None if tuned is None else read_tuned(tuned)
    suite = experiment.suite(scale, tuned=params, methods=methods, replicates=replicates)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "results.sqlite"
    summary = None
    if run:
        alone = {"n_jobs": 1, "batches": False} if experiment.alone else {}
        summary = run_suite(suite, store, runner, **{**options, **alone})
        if summary.interrupted:
            raise KeyboardInterrupt
    command = _command(name, scale, methods, replicates, tuned)
    table = _report(experiment, suite, command, store, folder / name)
    return Reproduction(experiment, summary, folder / name, table)


def has_results(name: str, out: str | Path) -> bool:
    """Whether anything of an experiment was run into a folder.

    Parameters
    ----------
    name, out
        As in `reproduce`.
    """
    store = Path(out) / "results.sqlite"
    if not store.exists():
        return False
    seed = get_experiment(name).seed
    with Store(store, read_only=True) as opened:
        return any(record.suite_seed == seed for record in opened.records())


def read_tuned(path: str | Path) -> dict[str, Any]:
    """Read the parameters of the published test that tuning found.

    Parameters
    ----------
    path
        The JSON file that `spectralcit.tuning.Tuned.save` wrote.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        method, params = content["method"], dict(content["params"])
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError(f"{path}: not a file of tuned parameters of {PUBLISHED_METHOD!r}") from error
    if method != PUBLISHED_METHOD:
        raise ParameterError(f"{path}: holds parameters of {method!r}, not of {PUBLISHED_METHOD!r}")
    return params


def _command(
    name: str,
    scale: str,
    methods: Sequence[str] | None,
    replicates: int | None,
    tuned: str | Path | None,
) -> str:
    """Return the command that makes these results."""
    chosen = "" if methods is None else f" --methods {','.join(methods)}"
    count = "" if replicates is None else f" --replicates {replicates}"
    also = "" if tuned is None else f" --tuned {tuned}"
    return f"spectralcit reproduce {name} --scale {scale}{count}{chosen}{also}"


def _report(experiment: Experiment, suite: Suite, command: str, path: Path, folder: Path) -> str:
    with Store(path, read_only=True) as store:
        records = of_suite(store.records(), suite)
        if not records:
            raise StoreError(f"{path}: no results of {experiment.name} yet; run it first")
        write_report(store, folder, suite=suite)
    summaries = summarise(records)
    save(draw_experiment(experiment, summaries, suite.tests), folder / "figure")
    versions = " / ".join(sorted({record.versions for record in records}))
    note = f"`{command}`: {len(records)} of {suite.size} replicates ({versions}). Brackets: 95 % intervals."
    tuned = next((cell.test_params for cell in suite.cells if cell.test == TUNED), None)
    if tuned is not None:
        note += f" Parameters of {TUNED}: `{canonical(tuned)}`."
    table = markdown_table(experiment, summaries, suite.tests, note=note)
    write_atomically(folder / "table.md", table + "\n")
    return table
