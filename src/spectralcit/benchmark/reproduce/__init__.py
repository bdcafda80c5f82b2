"""The experiments of the paper, one target each: run, draw the paper's figure, write the tables."""

from .experiment import Experiment, Plan, expected_seconds
from .experiments import EXPERIMENTS, get_experiment
from .labels import AUTHORS, DEFAULT, PUBLISHED, TUNED
from .run import Reproduction, has_results, read_tuned, reproduce
from .tables import check_page, fill_page, markdown_table

__all__ = [
    "AUTHORS",
    "DEFAULT",
    "EXPERIMENTS",
    "PUBLISHED",
    "TUNED",
    "Experiment",
    "Plan",
    "Reproduction",
    "check_page",
    "expected_seconds",
    "fill_page",
    "get_experiment",
    "has_results",
    "markdown_table",
    "read_tuned",
    "reproduce",
]
