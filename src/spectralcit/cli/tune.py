"""``spectralcit tune``: search the paper's grid of a test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Backend, Jobs
from .shell import console

if TYPE_CHECKING:
    from ..tuning import Trial

__all__ = ["tune"]


def tune(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="spectral-paper, rcit, gcit or dgcit.")],
    trials: Annotated[int, typer.Option(help="Configurations to try.")] = 30,
    storage: Annotated[Path, typer.Option(help="SQLite file of the study; it resumes from it.")] = Path(
        "tune.db"
    ),
    out: Annotated[Path, typer.Option(help="JSON file of the best configuration.")] = Path("best.json"),
    jobs: Jobs = 1,
    backend: Backend = "joblib",
    replicates: Annotated[int, typer.Option(help="Samples per dimension and hypothesis.")] = 20,
    n: Annotated[int, typer.Option("--n", help="Rows of a sample.")] = 1000,
    d_z: Annotated[
        list[int] | None, typer.Option(help="Dimension of Z; may be repeated. 50 to 300 if not given.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="Data set to tune on.")] = "post-nonlinear",
) -> None:
    """Find the parameters with the least type I error minus power; stopped, it goes on from there."""
    from ..benchmark import Runner
    from ..benchmark.progress import live_progress
    from ..tuning import Task, tune

    _quiet_optuna()
    dimensions = tuple(d_z) if d_z else Task.d_z
    task = Task(dataset=dataset, d_z=dimensions, n=n, replicates=replicates)
    screen = console(stderr=True)

    def say(trial: Trial) -> None:
        what = f"score {trial.score:.3f}" if trial.score is not None else f"failed: {trial.reason}"
        screen.print(f"trial {trial.number} of {trials}: {what}", highlight=False, markup=False)

    with live_progress(screen) as progress:
        runner = Runner(backend=backend, n_jobs=jobs, progress=progress)
        found = tune(method, storage, trials=trials, task=task, on_trial=say, runner=runner)
    found.save(out)
    failed = sum(trial.score is None for trial in found.trials)
    typer.echo(f"best score {found.score:.3f} of {len(found.trials)} trials, {failed} of them failed: {out}")


def _quiet_optuna() -> None:
    try:
        import optuna
    except ImportError:
        return  # `tune` says what to install
    optuna.logging.set_verbosity(optuna.logging.WARNING)
