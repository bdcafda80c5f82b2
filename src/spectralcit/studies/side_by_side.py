"""All tests on one question, and on the same rows with Y redrawn given Z, where every rejection is false."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api import ci_test
from ..errors import ResultWarning, SpectralCITError
from .redraw import chance_given, redrawn

__all__ = ["Answer", "ask", "rejections_of_redrawn"]


@dataclass(frozen=True)
class Answer:
    """What a test said.

    Parameters
    ----------
    test
        Its name.
    pvalue
        ``None`` if it cannot answer.
    seconds
        Processor time.
    effect
        The effect size, if the test has one.
    notes
        Its warnings, or why it cannot answer.
    """

    test: str
    pvalue: float | None
    seconds: float
    effect: float | None = None
    notes: tuple[str, ...] = ()


def ask(frame: Any, question: Mapping[str, Any], test: str, *, seed: int = 0, **how: Any) -> Answer:
    """Ask one test one question.

    Parameters
    ----------
    frame
        The data.
    question
        ``x``, ``y`` and ``z`` as `ci_test` takes them.
    test
        Its name.
    seed
        Of the test.
    how
        Other arguments of `ci_test`, such as ``time=True``.
    """
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)  # they are in the result
            result = ci_test(**question, data=frame, method=test, random_state=seed, **how)
    except SpectralCITError as error:
        return Answer(test, None, time.process_time() - start, None, (str(error),))
    return Answer(
        test, result.pvalue, time.process_time() - start, result.effect_size, tuple(result.warnings)
    )


def rejections_of_redrawn(
    frame: Any,
    question: Mapping[str, Any],
    tests: Mapping[str, int],
    *,
    level: float = 0.05,
    seed: int = 0,
    progress: Any = None,
) -> dict[str, tuple[int, int]]:
    """How often each test rejects when Y is redrawn given Z: (rejections, redraws).

    Parameters
    ----------
    frame
        A pandas frame without gaps.
    question
        ``x``, ``y`` (the name of a column of 0 and 1) and ``z``.
    tests
        How many redraws each test is given; all see the same first ones.
    level
        At which they reject.
    seed
        Of the redraws; redraw k is seeded by it and k.
    progress
        Called without arguments after each redraw.
    """
    y: str = question["y"]
    z: Sequence[str] = question["z"]
    chance = chance_given(frame, y, z)
    counts = dict.fromkeys(tests, (0, 0))
    for k in range(max(tests.values(), default=0)):
        copy = redrawn(frame, y, chance, np.random.default_rng([seed, k]))
        for test, wanted in tests.items():
            if k >= wanted:
                continue
            answer = ask(copy, question, test, seed=k)
            if answer.pvalue is not None:
                rejected, done = counts[test]
                counts[test] = (rejected + (answer.pvalue <= level), done + 1)
        if progress is not None:
            progress()
    return counts
