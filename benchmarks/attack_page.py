"""Page of the attack on the default test, from the p-values of two suites.

Fills the marked parts of ``docs/attack.md`` and the vector part of ``README.md``, so that no figure in them
is typed by hand. The rivals are the suite ``attack_rivals``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from calibration_page import Cells, above_bound, pair, pooled, valid, with_interval
from study import Study, read_study, warned

from spectralcit.benchmark import Record
from spectralcit.benchmark.reproduce import fill_page

ROOT = Path(__file__).parents[1]  # where README.md and docs/ are
LEVEL = 0.05  # of a rejection
# Rows of the README: label of the null, of the alternative, of both among the rivals, and words.
VECTOR_ROWS = (
    (
        "vector/20 × 20, hidden square",
        "power/square of a hidden direction 20 × 20, strength 1.0",
        "rivals/square of a hidden direction 20 × 20",
        "square of a hidden direction, 20 × 20 columns",
    ),
    (
        "vector/image grating",
        "power/image grating",
        "rivals/image grating",
        "12 × 12 images of gratings, × 1",
    ),
    ("vector/image bar", "power/image bar", "rivals/image bar", "12 × 12 images of bars, × 1"),
    (
        "vector/embedding 384 × 1",
        "power/embedding 384 × 1",
        "rivals/embedding 384 × 1",
        "embedding of 384 columns, × 1",
    ),
)
VECTOR_RIVALS = ("KCIT", "RCoT", "PCM", "published")  # as the suite calls them


def write(study: Study) -> None:
    """Fill the marked parts of the two pages and print the tables."""
    for (page, name), content in marked_parts(study, read_study("attack_rivals").cells).items():
        fill_page(page, name, content)
        print(content)


def marked_parts(study: Study, rivals: Cells) -> dict[tuple[Path, str], str]:
    """Return what stands between the marks of the two pages."""
    page = ROOT / "docs" / "attack.md"
    vectors = vector_table(study.cells, rivals)
    parts = {name: nulls_table(study, f"{name}/") for name in ("learned", "beyond", "vector")}
    parts |= {"power": power_table(study.cells), "rivals": vectors}
    return {(page, name): text for name, text in parts.items()} | {(ROOT / "README.md", "vectors"): vectors}


def nulls_table(study: Study, part: str) -> str:
    """Return one line a cell: rejections, bold above the bound, and warnings that Z is beyond reach."""
    cells = {row: cell for row, cell in study.cells.items() if row[0].startswith(part)}
    if not cells:
        return "Not run yet."
    rate, total = pooled(cells.values(), LEVEL)
    high = sum(above_bound(cell) for cell in cells.values())
    lines = [
        f"{len(cells)} cells, {total} data sets: {rate:.3f} rejected at level 0.05; {high} cells are above "
        "0.05 plus two Monte-Carlo errors (bold).",
        "",
        "| null | n | rejected | warned, of rejections | warned, of all |",
        "|---|---|---|---|---|",
    ]
    for row, cell in cells.items():
        text = with_interval(cell)
        told, told_of_all = warnings_of(study.records[row])
        rejected = f"**{text}**" if above_bound(cell) else text
        lines.append(f"| {row[0].removeprefix(part)} | {cell.n} | {rejected} | {told} | {told_of_all} |")
    told, told_of_all = warnings_of([record for row in cells for record in study.records[row]])
    return "\n".join([*lines, f"| **all** | | {rate:.3f} | {told} | {told_of_all} |"])


def warnings_of(records: Sequence[Record]) -> tuple[str, str]:
    """Return in how many rejections, and in how many data sets, the result was warned of."""
    done = [record for record in records if record.pvalue is not None]
    rejected = [record for record in done if record.pvalue <= LEVEL]
    return tuple(f"{sum(map(warned, some))} of {len(some)}" for some in (rejected, done))


def power_table(cells: Cells) -> str:
    found = {label: cell for (label, _, _), cell in cells.items() if label.startswith("power/")}
    if not found:
        return "Not run yet."
    lines = ["| alternative | n | rejected |", "|---|---|---|"]
    lines += [
        f"| {label.removeprefix('power/')} | {cell.n} | {with_interval(cell)} |"
        for label, cell in found.items()
    ]
    return "\n".join(lines)


def vector_table(cells: Cells, rivals: Cells) -> str:
    """Return type I error / power of the default and of rivals on samples of the same cells."""
    lines = [
        "| N = 1000, vectors, type I error / power | **default** | " + " | ".join(VECTOR_RIVALS) + " |",
        "|---" * (len(VECTOR_RIVALS) + 2) + "|",
    ]
    for null, alternative, rival, words in VECTOR_ROWS:
        own = [cells.get((null, "default", False)), cells.get((alternative, "default", True))]
        text = " / ".join("–" if cell is None else f"{cell.rate:.2f}" for cell in own)
        ours = text if own[0] is None or valid(own[0]) else f"~~{text}~~"
        lines.append(
            f"| {words} | {ours} | " + " | ".join(pair(rivals, rival, t) for t in VECTOR_RIVALS) + " |"
        )
    counts = ", ".join(f"{name} {number}" for name, number in replicates(cells, rivals).items())
    return "\n".join([*lines, "", f"Replicates a cell: {counts}."])


def replicates(cells: Cells, rivals: Cells) -> dict[str, str]:
    """Return the least and the largest number of replicates of each test in the rows above."""
    labels = {label for row in VECTOR_ROWS for label in row[:3]}
    found: dict[str, list[int]] = {}
    for (label, test, _), cell in {**cells, **rivals}.items():
        if label in labels and test in ("default", *VECTOR_RIVALS):
            found.setdefault(test, []).append(cell.replicates)
    return {
        test: str(min(counts)) if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"
        for test, counts in found.items()
    }
