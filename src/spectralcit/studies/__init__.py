"""Real studies as programs: the breast-cancer question of the paper, on patients that packages bring."""

from .breast_cancer import BreastCancerStudy, breast_cancer
from .page import write_study
from .prediction import Gain, prediction_gain
from .redraw import chance_given, redrawn
from .side_by_side import Answer, ask, rejections_of_redrawn

__all__ = [
    "Answer",
    "BreastCancerStudy",
    "Gain",
    "ask",
    "breast_cancer",
    "chance_given",
    "prediction_gain",
    "redrawn",
    "rejections_of_redrawn",
    "write_study",
]
