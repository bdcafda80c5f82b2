"""The tables of the pages about rows and cells as users have them, from the committed files of their studies.

``python benchmarks/rows_pages.py`` fills the marked places of docs/my-rows.md, noticed-rows.md,
missing-values.md, censored-outcomes.md and sequential.md; a test compares both.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import censored
import missing_rows
import noticed_rows
import real_rows
from appended import rows_of

import sequential
from spectralcit.benchmark.reproduce import fill_page

DOCS = Path(__file__).parents[1] / "docs"
LEVEL = 0.05


def marked_parts() -> dict[tuple[Path, str], str]:
    """Return what belongs into each marked place of each page."""
    return {
        (DOCS / "my-rows.md", "real_rows"): f"{real_rows.table('spectral')}\n\n{_of_all_rows()}",
        (DOCS / "noticed-rows.md", "noticed_rows"): _noticed(),
        (DOCS / "missing-values.md", "missing_rows"): f"{missing_rows.table()}\n\n{_of_all_missing()}",
        (DOCS / "censored-outcomes.md", "censored"): f"{censored.table()}\n\n{_of_all_censored()}",
        (DOCS / "sequential.md", "sequential"): f"{sequential.table()}\n\n{_of_all_looks()}",
    }


def _of_all_rows() -> str:
    known = real_rows.read()
    nulls = [p for (test, kind, _), found in known.items() for p in found.values() if kind == "level"]
    return f"All true nulls with the argument: {_share(nulls)}."


def _of_all_missing() -> str:
    rows = rows_of(missing_rows.RESULTS)
    nulls, ties = ([row for row in rows if (float(row["tie"]) != 0.0) is tied] for tied in (False, True))

    def found(chosen: list[dict[str, str]], name: str) -> int:
        return sum(float(row[name]) <= LEVEL for row in chosen if row[name])

    dropped = sum(bool(row["drop"]) for row in nulls)
    return (
        f"All cells: `drop` rejects {found(nulls, 'drop')} of {dropped} nulls, `impute` "
        f"{found(nulls, 'impute')} of {len(nulls)}; of {len(ties)} ties the complete data show "
        f"{found(ties, 'complete')}, "
        f"`drop` {found(ties, 'drop')}, `impute` {found(ties, 'impute')}."
    )


def _of_all_censored() -> str:
    names = {design.name for design in (*censored.ACCEPTED, *censored.NULLS, *censored.GROUPED)}
    nulls = [
        float(row["pvalue"])
        for row in rows_of(censored.STORE)
        if row["method"] == "spectral" and row["design"] in names
    ]
    return f"All true nulls, the default: {_share(nulls)}."


def _of_all_looks() -> str:
    rejected: dict[tuple[bool, str], list[bool]] = defaultdict(list)
    dependent = {design.name: bool(design.effect) for design in sequential.DESIGNS}
    for row in rows_of(sequential.STORE):
        rejected[dependent[row["design"]], row["method"]].append(float(row["pvalue"]) <= LEVEL)
    nulls, looks, once = (
        f"{sum(found)} of {len(found)}"
        for found in (rejected[False, "sequential"], rejected[True, "sequential"], rejected[True, "fixed"])
    )
    return (
        f"{nulls} true nulls were rejected at any of {sequential.LOOKS} looks. With dependence, "
        f"`SequentialCI` had twice the rows of the default: {looks} against {once}."
    )


def _noticed() -> str:
    """Return designs, what was warned of, and the level of the default that is not told where measured."""
    rows = {row["design"]: row for row in rows_of(noticed_rows.RESULTS)}
    harmless = [row for row in rows.values() if row["independent"] == "1"]
    warned, total = (sum(int(row[name]) for row in harmless) for name in ("warned", "data_sets"))
    lines = ["| rows | warned of | shuffled, with a label | level without a word |", "|---|---|---|---|"]
    lines.append(f"| independent, {len(harmless)} designs | {warned} of {total} | | |")
    known = real_rows.read()
    untold: dict[str, list[float]] = defaultdict(list)
    for row in rows_of(noticed_rows.LEVELS):
        untold[row["design"]].append(float(row["pvalue"]))
    for name, row in rows.items():
        if row["independent"] == "1" or name.endswith(noticed_rows.LABELLED):
            continue
        labelled = rows.get(name.removesuffix(", sorted") + noticed_rows.LABELLED)
        shown = name.removesuffix(", sorted")
        level = _rate(untold[name])
        if name.startswith("cell: "):
            shown = f"{name.removeprefix('cell: ')}, X, Y and Z"
            level = _rate(list(known["spectral", "ignored", name.removeprefix("cell: ")].values()))
        counts = ["" if one is None else f"{one['warned']} of {one['data_sets']}" for one in (row, labelled)]
        lines.append(f"| {shown} | {counts[0]} | {counts[1]} | {level} |")
    return "\n".join(lines)


def _rate(pvalues: list[float]) -> str:
    return f"{sum(p <= LEVEL for p in pvalues) / len(pvalues):.2f} ({len(pvalues)})" if pvalues else "–"


def _share(pvalues: list[float]) -> str:
    rejected = sum(p <= LEVEL for p in pvalues)
    return f"{rejected} of {len(pvalues)} rejected ({rejected / len(pvalues):.3f})"


if __name__ == "__main__":
    for (page, name), content in marked_parts().items():
        fill_page(page, name, content)
