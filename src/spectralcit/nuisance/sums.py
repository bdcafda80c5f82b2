"""Sums of two maps, and products with features that need not be made for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .maps import FeatureMap, GaussianFeatures

__all__ = ["SumOfMaps", "feature_combinations", "feature_products"]


@dataclass(frozen=True, eq=False)
class SumOfMaps:
    """Two maps side by side, each scaled to the same total size: the kernel is the sum of their kernels."""

    first: FeatureMap
    second: FeatureMap
    scales: tuple[float, float]
    split: int

    @classmethod
    def fit(cls, first: FeatureMap, second: FeatureMap, parts: tuple[np.ndarray, np.ndarray]) -> SumOfMaps:
        """Scale both maps to unit mean square, judged by their features on some rows."""
        sizes = [float(np.sqrt(np.square(part).sum() / len(part))) or 1.0 for part in parts]
        return cls(first, second, (1.0 / sizes[0], 1.0 / sizes[1]), parts[0].shape[1])

    def favouring_second(self, times: float) -> SumOfMaps:
        """Return the sum with the second map so many times as large: a penalty shrinks it less."""
        return replace(self, scales=(self.scales[0], times * self.scales[1]))

    def join(self, parts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the scaled features of both maps from their unscaled ones."""
        return np.hstack([scale * part for scale, part in zip(self.scales, parts, strict=True)])

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the scaled features of both maps."""
        return self.join((self.first(z), self.second(z)))

    def products(self, z: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the features' products with columns; see `feature_products`."""
        maps = zip(self.scales, (self.first, self.second), strict=True)
        return np.vstack([scale * feature_products(each, z, columns) for scale, each in maps])

    def combinations(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return combinations of the features; see `feature_combinations`."""
        first = feature_combinations(self.first, z, self.scales[0] * weights[: self.split])
        return first + feature_combinations(self.second, z, self.scales[1] * weights[self.split :])

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the sum of both maps' relevance."""
        a = self.first.relevance(z, self.scales[0] * coefficients[: self.split])
        return a + self.second.relevance(z, self.scales[1] * coefficients[self.split :])


def feature_products(feature_map: FeatureMap, z: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``feature_map(z)' columns``: for few columns a kernel need not be turned into features."""
    if isinstance(feature_map, GaussianFeatures | SumOfMaps):
        return feature_map.products(z, columns)
    return feature_map(z).T @ columns


def feature_combinations(feature_map: FeatureMap, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``feature_map(z) weights``, likewise."""
    if isinstance(feature_map, GaussianFeatures | SumOfMaps):
        return feature_map.combinations(z, weights)
    return feature_map(z) @ weights
