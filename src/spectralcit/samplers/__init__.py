"""Models that draw X given Z: a user's own, fitted ones, and learned generators."""

from .model_x import ConditionalDensity, ConditionalSampler, GaussianSampler, LogisticSampler

__all__ = ["ConditionalDensity", "ConditionalSampler", "GaussianSampler", "LogisticSampler"]
