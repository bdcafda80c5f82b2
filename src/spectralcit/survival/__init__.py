"""Censored times: who is at risk when, the hazard given Z, and scores of features."""

from .hazard import Hazard, fit_hazard
from .risk import RiskSets
from .score import effect_sizes, removed_at_risk, score_rows

__all__ = ["Hazard", "RiskSets", "effect_sizes", "fit_hazard", "removed_at_risk", "score_rows"]
