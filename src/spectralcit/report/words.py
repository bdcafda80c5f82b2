"""What an answer means and does not mean, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from ..result import CITestResult
from .question import Question, enumerated

__all__ = ["Answer", "answer", "pvalue_text"]


@dataclass(frozen=True)
class Answer:
    """A verdict with what follows from it and what does not."""

    dependent: bool
    headline: str
    means: tuple[str, ...]
    does_not_mean: tuple[str, ...]


def answer(result: CITestResult, question: Question, alpha: float) -> Answer:
    """Put the result into words.

    Parameters
    ----------
    result, question, alpha
        As in `write_report`.

    Examples
    --------
    >>> from spectralcit import NullDistribution
    >>> result = CITestResult(1.0, 0.5, "toy", 100, NullDistribution("normal"))
    >>> answer(result, Question(("gene",), ("outcome",), ("age",)), 0.05).headline
    'No evidence that gene and outcome depend on each other once age is known.'
    """
    x, y, z = enumerated(question.x), enumerated(question.y), enumerated(question.z) if question.z else ""
    given = f" once {z} {'is' if len(question.z) == 1 else 'are'} known" if z else ""
    verb = "do" if len(question.z) > 1 else "does"
    p, level = pvalue_text(result.pvalue), f"{alpha:g}"
    if result.reject(alpha):
        means: tuple[str, ...] = (
            f"If they were independent{given}, data that speak against it as strongly as these would turn up "
            f"with probability {p}. That is at most the level {level}, so independence is rejected.",
            f"{x} and {y} are tied in a way that {z or 'chance'} {verb} not explain.",
        )
        not_means: tuple[str, ...] = (
            f"That one causes the other. Something that is not among the columns{' of Z' if z else ''} may "
            "drive both.",
            "That the tie is strong or useful: with many rows a tiny one is found too. See the effect size.",
            "That it is certain: at this level a valid test errs in up to "
            f"{alpha:.3g} of the data sets without a tie.",
        )
        return Answer(True, f"{x} and {y} depend on each other{given}.", means, not_means)
    means = (
        f"If they were independent{given}, data like these would be nothing unusual: the p-value {p} is "
        f"above the level {level}.",
        f"What is seen of a tie between {x} and {y} {f'is explained by {z} or ' if z else ''}is within "
        "chance.",
    )
    not_means = (
        "That they are independent. The tie may be too weak for this many rows, or of a kind that this test "
        "does not see.",
        f"That the p-value is the probability of independence: {p} is computed as if independence held.",
    )
    return Answer(False, f"No evidence that {x} and {y} depend on each other{given}.", means, not_means)


def pvalue_text(pvalue: float) -> str:
    """Return a p-value for reading.

    Parameters
    ----------
    pvalue
        In (0, 1].

    Examples
    --------
    >>> pvalue_text(0.0312), pvalue_text(3.2e-9), pvalue_text(2.3e-308)
    ('0.031', '3.2e-09', 'below 1e-300')
    """
    return "below 1e-300" if pvalue < 1e-300 else f"{pvalue:.2g}"
