"""`run_breast_cancer`: what genes and receptors say about metastasis and death that pathology does not."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.real import RealData, load_real
from ..errors import ResultWarning
from ..files import write_atomically
from ..registry import list_tests
from ..screening import screen
from .prediction import prediction_gain
from .redraw import chance_given, redrawn
from .side_by_side import ask, rejections_of_redrawn

__all__ = ["BreastCancerStudy", "run_breast_cancer"]

DEFAULT = "spectral"  # the test whose p-values the conclusions rest on
CENSORED = ("spectral", "gcm", "wgcm")  # tests that take times
# Quick enough for 2,837 rows; the others need n-by-n matrices or minutes.
FOR_MANY_ROWS = ("spectral", "gcm", "wgcm", "pcm", "rcot", "rcit", "fisher-z", "spearman-z")
LINEAR = ("fisher-z", "spearman-z")  # not made for 0 and 1, and what many would take
# Generators and diffusion models: minutes each, and published for thousands of rows.
LEFT_OUT = ("cdcit", "gcit", "dgcit", "dr-generative", "nnlscit")
SLOW_SECONDS = 1.5  # by hand: above, a test is given fewer redraws
SLOW_SHARE = 6  # times fewer
SCREENS_REDRAWN = 5  # screens of a redrawn outcome, each 76 questions
HITS = 0.1  # false discovery rate of the screen


@dataclass
class BreastCancerStudy:
    """Everything that was computed, as plain values: what the page and the figures are made of.

    Parameters
    ----------
    settings
        Seed and numbers of redraws; parts of another run with the same are used again.
    parts
        By name: answers, rejections, gains, genes.
    """

    settings: dict[str, Any]
    parts: dict[str, Any] = field(default_factory=dict)


def run_breast_cancer(
    folder: str | Path,
    *,
    redraws: int = 60,
    repeats: int = 10,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> BreastCancerStudy:
    """Run the study, or what is missing of it; parts that are done are in ``results.json`` of the folder.

    Parameters
    ----------
    folder
        Where results are kept.
    redraws
        Outcomes drawn anew for each quick test, on the 189 patients and on the 2,837; a sixth for slow tests.
    repeats
        Repetitions of cross-validation; a fifth of them on the 2,837.
    seed
        Of everything.
    say
        Told what is being done.
    """
    path = Path(folder) / "results.json"
    settings = {"redraws": redraws, "repeats": repeats, "seed": seed}
    study = BreastCancerStudy(settings)
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored.get("settings") == settings:
            study = BreastCancerStudy(**stored)
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, words, work in _plan(study, redraws, repeats, seed):
        if name not in study.parts:
            say(words)
            study.parts[name] = work()
            write_atomically(path, json.dumps(asdict(study), indent=1) + "\n")
    return study


def suitable_tests() -> list[str]:
    """Tests for a vector X, a Y of 0 and 1 and a mixed Z, and the two linear ones."""
    fitting = [
        info.name
        for info in list_tests()
        if info.tags.conditional and info.tags.mixed and info.tags.multivariate and info.name not in LEFT_OUT
    ]
    return [DEFAULT, *(name for name in [*fitting, *LINEAR] if name != DEFAULT)]


def _plan(study: BreastCancerStudy, redraws: int, repeats: int, seed: int) -> list[tuple[str, str, Any]]:
    """The parts in order: name, what is being done, and the function that does it."""
    genes, clinic = load_real("breast-cancer"), load_real("rotterdam")
    metagenes, receptors = _question(genes, "metagenes"), _question(clinic, "receptors")
    patients, many = genes.complete("metagenes"), clinic.complete("receptors")
    with_genes = genes.frame.dropna(subset=[metagenes["y"]])
    again = {**receptors, "y": "recurrence_5y"}
    recurring = clinic.frame.dropna(subset=["recurrence_5y"])

    def level(data: Any, question: dict[str, Any], answers: str, most: int) -> dict[str, tuple[int, int]]:
        wanted = {
            answer["test"]: max(most // (SLOW_SHARE if _is_slow(answer) else 1), 1)
            for answer in study.parts[answers]
            if answer["pvalue"] is not None
        }
        return rejections_of_redrawn(data, question, wanted, seed=seed)

    return [
        ("tables", "reading the tables", lambda: [_described(genes), _described(clinic)]),
        (
            "metagenes",
            "metagenes against metastasis, all tests",
            lambda: [asdict(ask(patients, metagenes, test, seed=seed)) for test in suitable_tests()],
        ),
        (
            "receptors",
            "receptors against death, quick tests",
            lambda: [asdict(ask(many, receptors, test, seed=seed)) for test in FOR_MANY_ROWS],
        ),
        ("singles", "one column at a time", lambda: _singles(genes, clinic, seed)),
        (
            "recurrence",
            "receptors against recurrence",
            lambda: asdict(ask(recurring, again, DEFAULT, seed=seed)),
        ),
        (
            "in order",
            "rows in the order of the file",
            lambda: asdict(ask(patients, metagenes, DEFAULT, seed=seed, time=True)),
        ),
        ("censored", "times with censoring", lambda: _censored(genes, clinic, seed)),
        (
            "prediction",
            "prediction with and without",
            lambda: {
                "metagenes": _gains(patients, metagenes, repeats, seed),
                "receptors": _gains(many, receptors, max(repeats // 5, 2), seed),
            },
        ),
        ("screen", "all 76 genes", lambda: _screened(with_genes, metagenes, seed)),
        (
            "false hits",
            "all genes against redrawn outcomes",
            lambda: _screens_of_redrawn(with_genes, metagenes, seed),
        ),
        (
            "metagenes redrawn",
            "type I errors on the 189 patients",
            lambda: level(patients, metagenes, "metagenes", redraws),
        ),
        (
            "receptors redrawn",
            "type I errors on the 2,837 patients",
            lambda: level(many, receptors, "receptors", redraws),
        ),
    ]


def _is_slow(answer: dict[str, Any]) -> bool:
    """Whether a test is given fewer redraws; never the default, on which the conclusions rest."""
    return answer["test"] != DEFAULT and answer["seconds"] > SLOW_SECONDS


def _question(data: RealData, name: str) -> dict[str, Any]:
    return data.info.question(name).arguments


def _described(data: RealData) -> dict[str, str]:
    info = data.info
    package = f"{info.package.name} {data.version}"
    return {"name": info.name, "source": info.source, "licence": info.licence, "package": package}


def _singles(genes: RealData, clinic: RealData, seed: int) -> list[dict[str, Any]]:
    """The default on one column of X at a time; of the two receptors, each given the other too."""
    joint, pair = _question(genes, "metagenes"), _question(clinic, "receptors")
    questions = [(genes.complete("metagenes"), {**joint, "x": [name]}) for name in joint["x"]]
    many = clinic.complete("receptors")
    for name in pair["x"]:
        others = [other for other in pair["x"] if other != name]
        questions.append((many, {**pair, "x": [name], "z": [*pair["z"], *others]}))
    return [{**question, **asdict(ask(frame, question, DEFAULT, seed=seed))} for frame, question in questions]


def _censored(genes: RealData, clinic: RealData, seed: int) -> list[dict[str, Any]]:
    questions = [
        (genes, _question(genes, "censored"), CENSORED),
        (clinic, _question(clinic, "censored"), ("spectral",)),
    ]
    return [
        {
            "y": list(question["y"]),
            "rows": len(data.frame),
            **asdict(ask(data.frame, question, test, seed=seed)),
        }
        for data, question, tests in questions
        for test in tests
    ]


def _gains(frame: Any, question: dict[str, Any], repeats: int, seed: int) -> list[dict[str, Any]]:
    gains = prediction_gain(frame, question["x"], question["y"], question["z"], repeats=repeats, seed=seed)
    return [asdict(gain) for gain in gains]


def _genes(frame: Any) -> list[str]:
    """Probes of the chip, which the table calls by an X and their number."""
    return [name for name in frame.columns if name[:1] == "X" and name[1:2].isdigit()]


def _screened(patients: Any, question: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)
        found = screen(
            patients,
            x=_genes(patients),
            y=question["y"],
            z=question["z"],
            fdr="bh",
            random_state=seed,
            progress=False,
        )
    frame = found.to_pandas()
    return [
        {
            "gene": row.x,
            "pvalue": row.pvalue,
            "qvalue": row.qvalue,
            "effect": row.effect,
            "kind": row.kind or "",
        }
        for row in frame.itertuples()
    ]


def _screens_of_redrawn(patients: Any, question: dict[str, Any], seed: int) -> list[int]:
    """Hits of screens in which every hit is false."""
    chance = chance_given(patients, question["y"], question["z"])
    hits = []
    for k in range(SCREENS_REDRAWN):
        copy = redrawn(patients, question["y"], chance, np.random.default_rng([seed, 1000 + k]))
        rows = _screened(copy, question, seed)
        hits.append(sum(row["qvalue"] is not None and row["qvalue"] <= HITS for row in rows))
    return hits
