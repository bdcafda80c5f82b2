"""Models that draw X given Z: a user's own, fitted ones, and learned generators."""

from .model_x import GaussianSampler, LogisticSampler
from .protocol import ConditionalDensity, ConditionalSampler

__all__ = ["ConditionalDensity", "ConditionalSampler", "GaussianSampler", "LogisticSampler"]
