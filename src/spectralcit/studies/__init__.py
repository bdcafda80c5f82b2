"""Real studies as programs: the breast-cancer question of the paper, on patients that packages bring."""

from .breast_cancer import BreastCancerStudy, run_breast_cancer
from .page import WrittenStudy, write_study
from .prediction import Gain, prediction_gain
from .redraw import chance_given, redrawn
from .side_by_side import Answer, ask, rejections_of_redrawn

__all__ = [
    "Answer",
    "BreastCancerStudy",
    "Gain",
    "WrittenStudy",
    "ask",
    "chance_given",
    "prediction_gain",
    "redrawn",
    "rejections_of_redrawn",
    "run_breast_cancer",
    "write_study",
]
