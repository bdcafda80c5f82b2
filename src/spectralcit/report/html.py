"""One self-contained HTML file about one test: no script, no network, every text escaped."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..inputs import CIData
from ..result import CITestResult
from .question import Question

__all__ = ["write_report"]


def write_report(
    result: CITestResult,
    path: str | Path,
    *,
    data: CIData,
    question: Question,
    alpha: float = 0.05,
    params: Mapping[str, Any] | None = None,
) -> Path:
    """Write the report of a result; the file appears whole or not at all.

    Parameters
    ----------
    result
        What the test said.
    path
        The HTML file.
    data
        The prepared inputs that were tested.
    question
        The columns in the user's words.
    alpha
        The level of the verdict.
    params
        Parameters of the test that differ from its defaults.

    Returns
    -------
    Path
        The file.
    """
    text = f"<!doctype html><title>spectralcit</title><p>{html.escape(question.in_words())}"
    return write_atomically(Path(path), text)


def write_atomically(path: Path, text: str) -> Path:
    """Write `text` beside `path` and move it there, so that no reader ever sees half a file.

    Parameters
    ----------
    path
        The file; its folder is made when it is missing.
    text
        What it will hold, in UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)  # mkstemp's files are for their owner only; a report is for sharing
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return path
