"""The page of the breast-cancer study: tables and sentences, as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import html
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..benchmark.figure_style import save
from ..benchmark.page import PAGE_STYLE
from ..files import write_atomically
from .breast_cancer import DEFAULT, HITS, LEFT_OUT, BreastCancerStudy, run_breast_cancer
from .figures import broken, draw_genes, draw_tests

__all__ = ["WrittenStudy", "markdown", "write_study"]

FIGURES = {"tests": draw_tests, "genes": draw_genes}  # by the names of their files
_STEM = "breast-cancer-"  # of figures that stand among others
_NAMED = 10  # genes of the screen that are listed


@dataclass(frozen=True)
class WrittenStudy:
    """Where the study was written.

    Parameters
    ----------
    page
        One HTML file that needs nothing beside it; figures and ``page.md`` are in the same folder.
    parts
        What it says.
    """

    page: Path
    parts: tuple[Section, ...]

    def beside(self, other: Path) -> str:
        """The Markdown for another page, beside which figures are copied as ``breast-cancer-NAME.png``."""
        for name in FIGURES:
            shutil.copyfile(self.page.with_name(f"{name}.png"), other.with_name(f"{_STEM}{name}.png"))
        return markdown(self.parts, figures=_STEM)


@dataclass(frozen=True)
class Section:
    """A heading, what is said, a table, and a figure with words for those who do not see it."""

    title: str
    sentences: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    figure: str = ""
    alt: str = ""


# What no figure of the study shows; docs/breast-cancer.md says more.
CAUTIONS = Section(
    "What this cannot say",
    (
        "Given Z means given these columns: a finer grade or the hospital may hold the news of the genes.",
        "The 76 genes were chosen elsewhere because they foretell metastasis: no sample of all genes.",
        "There are 35 metastases: a gene that is not found is not shown to be silent.",
        "Treatments were not given at random, and nothing here is about causes.",
        "Y is redrawn from a fitted chance given Z, row by row: nature's law may be rougher, and an unknown "
        "hospital would tie rows that are independent here.",
    ),
)


def write_study(
    out: str | Path,
    *,
    redraws: int = 60,
    repeats: int = 10,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> WrittenStudy:
    """Run what is missing of the study and write its figures, ``page.md`` and ``index.html``.

    Parameters
    ----------
    out
        The folder; the study has its own folder in it.
    redraws, repeats, seed, say
        See `run_breast_cancer`.
    """
    folder = Path(out) / "breast-cancer"
    study = run_breast_cancer(folder, redraws=redraws, repeats=repeats, seed=seed, say=say)
    for name, draw in FIGURES.items():
        save(draw(study), folder / name)
    parts = tuple(sections(study))
    whole = (*parts, CAUTIONS)
    write_atomically(folder / "page.md", markdown(whole) + "\n")
    write_atomically(folder / "index.html", _as_html(whole, folder))
    return WrittenStudy(folder / "index.html", parts)


def sections(study: BreastCancerStudy) -> list[Section]:
    """What the results say, from top to bottom."""
    parts = study.parts
    ordered = parts["in order"]["pvalue"]
    hits = [gene for gene in parts["screen"] if gene["qvalue"] <= HITS]
    false_hits = ", ".join(map(str, parts["false hits"]))
    again = parts["recurrence"]
    return [
        Section(
            "All tests",
            (
                _verdict("Metagenes and metastasis within five years", parts, "metagenes"),
                _verdict("Receptors and death within five years", parts, "receptors"),
                f"Tests that learn generators are not among them ({', '.join(LEFT_OUT)}): slow, and "
                "made for thousands of rows.",
            ),
            figure="tests",
            alt="p-values of all tests and their type I errors on redrawn outcomes, for both tables",
        ),
        Section("Metagenes, 189 patients", table=_tests_table(parts, "metagenes")),
        Section("Receptors, 2,837 patients", table=_tests_table(parts, "receptors")),
        Section(
            "One column at a time",
            (
                "The default, one column of X and the others not in play; of the two receptors, each given "
                "the other too.",
                f"Receptors against recurrence within five years: {_p(again['pvalue'])}.",
                "The rows of the 189 patients are not in random order: neighbours are alike, perhaps because "
                "they come hospital by hospital, which the table does not say. With neighbours together "
                f"(`time=True`), metagenes and metastasis: {_p(ordered)}.",
            ),
            _table(
                ("x", "y", "p-value", "effect"),
                [(s["x"][0], s["y"], _number(s["pvalue"]), _effect(s)) for s in parts["singles"]],
            ),
        ),
        Section(
            "The whole time, with censoring",
            ("Nobody is left out who was followed for less than five years.",),
            _table(
                ("time, event", "patients", "test", "p-value"),
                [(", ".join(c["y"]), c["rows"], c["test"], _number(c["pvalue"])) for c in parts["censored"]],
            ),
        ),
        Section(
            "Does prediction improve?",
            (
                "Five-fold cross-validation on the same splits without X and with it, "
                f"{study.settings['repeats']} repetitions for metastasis and a fifth of them for death. ± is "
                "the standard deviation from one repetition to the next: how much the splits matter, not how "
                "much other patients would.",
            ),
            _gain_table(parts["prediction"]),
            "genes",
            "p-values of all genes against chance, and areas under the curve without X and with it",
        ),
        Section(
            "A screen over all 76 genes",
            (
                f"{len(hits)} of {len(parts['screen'])} genes have q ≤ {HITS:g} (Benjamini-Hochberg). "
                f"With the outcome redrawn given Z, where every hit is false, {len(parts['false hits'])} "
                f"screens have {false_hits} hits.",
            ),
            _table(
                ("gene", "p-value", "q-value", "effect", "kind"),
                [
                    (g["gene"], _number(g["pvalue"]), _number(g["qvalue"]), _effect(g), g["kind"])
                    for g in parts["screen"][:_NAMED]
                ],
            ),
        ),
        Section(
            "Data",
            table=_table(
                ("table", "source", "licence", "package"),
                [(t["name"], t["source"], t["licence"], t["package"]) for t in parts["tables"]],
            ),
        ),
    ]


def _verdict(what: str, parts: Mapping[str, Any], name: str) -> str:
    """One sentence: how many of the tests that hold their level here reject."""
    redrawn = parts[f"{name} redrawn"]
    holding = [
        a for a in parts[name] if a["pvalue"] is not None and not broken(redrawn.get(a["test"], (0, 0)))
    ]
    lost = [a["test"] for a in parts[name] if broken(redrawn.get(a["test"], (0, 0)))]
    rejecting = sum(a["pvalue"] <= 0.05 for a in holding)
    default = next(a for a in parts[name] if a["test"] == DEFAULT)
    broke = f"; not counted, for they reject redrawn outcomes too often: {', '.join(lost)}" if lost else ""
    rejected, redraws = redrawn[DEFAULT]
    return (
        f"{what}: {rejecting} of {len(holding)} tests that hold their level on these patients reject at 0.05"
        f"{broke}. The default: {_p(default['pvalue'])}; it rejects {rejected} of {redraws} redrawn outcomes."
    )


def _tests_table(parts: Mapping[str, Any], name: str) -> tuple[tuple[str, ...], ...]:
    rows = []
    for answer in parts[name]:
        counts = parts[f"{name} redrawn"].get(answer["test"], (0, 0))
        level = f"{counts[0]} of {counts[1]}" if counts[1] else "not run"
        pvalue = "cannot answer" if answer["pvalue"] is None else _number(answer["pvalue"])
        cells = [f"~~{cell}~~" if broken(counts) else cell for cell in (pvalue, level)]
        rows.append((answer["test"], *cells, f"{answer['seconds']:.2g}"))
    return _table(("test", "p-value", "rejects redrawn Y", "seconds"), rows)


def _gain_table(gains: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (
            {"metagenes": "metastasis", "receptors": "death"}[name],
            gain["model"],
            gain["measure"],
            f"{gain['without']:.3f}",
            f"{gain['with_x']:.3f}",
            f"{gain['with_x'] - gain['without']:+.3f} ± {gain['spread']:.3f}",
        )
        for name, own in gains.items()
        for gain in own
    ]
    return _table(("outcome", "model", "measure", "Z alone", "Z and X", "difference"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], ...]:
    return (tuple(heads), *(tuple(str(cell) for cell in row) for row in rows))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _p(value: float) -> str:
    return f"p = {_number(value)}"


def _effect(row: Mapping[str, Any]) -> str:
    return "–" if row["effect"] is None else f"{row['effect']:.2f}"


def markdown(parts: Sequence[Section], *, figures: str = "") -> str:
    """The sections in Markdown; names of figures begin with `figures`."""
    blocks = []
    for part in parts:
        blocks.append(f"### {part.title}")
        blocks.extend(part.sentences)
        if part.figure:
            blocks.append(f"![{part.alt}]({figures}{part.figure}.png)")
        if part.table:
            heads, *rows = part.table
            lines = [heads, ["---"] * len(heads), *rows]
            blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(blocks)


def _as_html(parts: Sequence[Section], folder: Path) -> str:
    """One file that needs nothing beside it."""
    title = "Breast cancer: what genes say that pathology does not"
    lines = [f"<h1>{title}</h1>"]
    for part in parts:
        lines.append(f"<h2>{html.escape(part.title)}</h2>")
        lines.extend(f"<p>{_inline(sentence)}</p>" for sentence in part.sentences)
        if part.figure:
            content = base64.b64encode((folder / f"{part.figure}.svg").read_bytes()).decode()
            alt = html.escape(part.alt)
            lines.append(f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{content}"></figure>')
        if part.table:
            heads, *rows = part.table
            head = "".join(f"<th>{_inline(cell)}</th>" for cell in heads)
            cells = ("".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in rows)
            body = "".join(f"<tr>{line}</tr>" for line in cells)
            table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            lines.append(f'<div class="scroll">{table}</div>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{PAGE_STYLE}</style></head>\n<body>\n"
        + "\n".join(lines)
        + "\n</body></html>\n"
    )


def _inline(text: str) -> str:
    """Text of a sentence or a cell: escaped, with what is struck out and what is code marked."""
    escaped = re.sub(r"~~(.+?)~~", r"<s>\1</s>", html.escape(text))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)
