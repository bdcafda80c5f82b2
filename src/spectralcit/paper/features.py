"""The learned features as a product: maps from data to white features, to use, to keep and to share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ..errors import ParameterError
from ..inputs import Standardizer, prepare
from ..learning.mlp import MLP
from ..numeric.streams import resolve_seed
from ..numeric.whiten import FloatArray, Whitener
from ..progress import Report, progress_reports
from .bilevel import TrainedModel, train
from .codebook import Codebook
from .config import PaperConfig
from .problem import Blocks, canonical_order, joined, training_problem
from .statistic import partial_cross_covariance

__all__ = ["FeatureMap", "LearnedFeatures", "SpectralMaps", "learn_features"]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """One feature map in float64: standardise, apply the network, whiten; all learned from training rows."""

    standardizer: Standardizer
    network: MLP
    whitener: Whitener

    @classmethod
    def fit(cls, network: MLP, train_rows: FloatArray) -> FeatureMap:
        """Complete a network with what the rows it was trained on say, before they were standardised."""
        standardizer, exact = Standardizer.fit(train_rows), network.in_float64()
        return cls(standardizer, exact, Whitener.fit(exact(standardizer.transform(train_rows))))

    def __call__(self, rows: FloatArray) -> FloatArray:
        return self.whitener.transform(self.network(self.standardizer.transform(rows)))


@dataclass(frozen=True, eq=False)
class SpectralMaps:
    """The maps ``u``, ``v`` and ``w`` on encoded arrays; ``w`` is ``None`` without ``z``."""

    u: FeatureMap
    v: FeatureMap
    w: FeatureMap | None

    @classmethod
    def fit(cls, model: TrainedModel, x: FloatArray, y: FloatArray, z: FloatArray | None) -> SpectralMaps:
        """Complete the networks of `model` with standardisation and whitening from its training rows."""
        return cls(
            u=FeatureMap.fit(model.outer.u, x),
            v=FeatureMap.fit(model.outer.v, joined(y, z)),
            w=None if model.inner is None or z is None else FeatureMap.fit(model.inner.w, z),
        )

    def __call__(self, x: FloatArray, y: FloatArray, z: FloatArray | None) -> Blocks:
        w = None if self.w is None or z is None else self.w(z)
        return self.u(x), self.v(joined(y, z)), w


@dataclass(frozen=True, eq=False)
class LearnedFeatures:
    """Spectral features of the dependence between X and Y given Z; made by `learn_features`.

    Parameters
    ----------
    config
        The hyper-parameters in use.
    seed
        The seed in use.
    singular_values
        Singular values of the partial cross-covariance of the features on the rows they were learned from,
        decreasing. They estimate those of the partial covariance operator; being in-sample they lean upward
        when rows are few.
    maps
        The maps on encoded arrays.
    codebooks
        How the columns of ``x``, ``y`` and ``z`` are encoded.
    """

    config: PaperConfig
    seed: int
    singular_values: FloatArray
    maps: SpectralMaps
    codebooks: dict[str, Codebook]

    def u(self, x: Any) -> FloatArray:
        """Features of X: float64 of shape (n, d), white on the training rows.

        Parameters
        ----------
        x
            Rows with the columns that were given as ``x`` when learning.
        """
        return self.maps.u(self.codebooks["x"].encode(x))

    def v(self, y: Any, z: Any = None) -> FloatArray:
        """Features of (Y, Z): float64 of shape (n, d), white on the training rows.

        Parameters
        ----------
        y, z
            Rows with the columns given when learning; no ``z`` if there was none.
        """
        y_rows = self.codebooks["y"].encode(y)
        if (z is None) == self.conditional:
            problem = "was learned with z and needs it" if z is None else "was learned without z"
            raise ParameterError(f"v {problem}")
        z_rows = None if z is None else self.codebooks["z"].encode(z)
        if z_rows is not None and len(z_rows) != len(y_rows):
            raise ParameterError(f"y has {len(y_rows)} rows and z has {len(z_rows)}")
        return self.maps.v(joined(y_rows, z_rows))

    def w(self, z: Any) -> FloatArray:
        """Features of Z: float64 of shape (n, 2 d), white on the training rows.

        Parameters
        ----------
        z
            Rows with the columns that were given as ``z`` when learning.
        """
        if self.maps.w is None:
            raise ParameterError("the features were learned without z, so there is no w")
        return self.maps.w(self.codebooks["z"].encode(z))

    @property
    def conditional(self) -> bool:
        """Whether the features were learned with ``z``."""
        return self.maps.w is not None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the features to one file: NumPy's npz with JSON inside, no pickle.

        Parameters
        ----------
        path
            Exactly this file is written; it appears complete or not at all.
        """
        from .feature_file import save_features

        save_features(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> LearnedFeatures:
        """Read features written by `save`.

        Parameters
        ----------
        path
            The file. One that is not a complete feature file raises `FeatureFileError`.
        """
        from .feature_file import load_features

        return load_features(path)


def learn_features(
    x: Any,
    y: Any,
    z: Any = None,
    config: PaperConfig | None = None,
    *,
    random_state: int | np.random.Generator | None = None,
    progress: bool | Report = False,
) -> LearnedFeatures:
    """Learn the leading singular functions of the partial covariance operator of X and (Y, Z) given Z.

    All rows are used for learning; for a test, which must keep rows back, use `PaperSpectralCIT`.

    Parameters
    ----------
    x, y, z
        As for a test; ``z=None`` learns the singular functions of the covariance operator of X and Y.
    config
        Hyper-parameters; the paper's when not given.
    random_state
        Seed of weights and mini-batches.
    progress
        Whether to show a bar on a terminal, or a function that is called with the number of steps done and
        the number in total.

    Returns
    -------
    LearnedFeatures
        With methods ``u(x)``, ``v(y, z)``, ``w(z)``, ``save(path)``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y = x + rng.normal(size=200)
    >>> small = PaperConfig(output_dim=2, n_epochs=5, layer_size_u=8, layer_size_v=8)
    >>> features = learn_features(x, y, config=small, random_state=0)
    >>> features.u(x).shape, features.singular_values.shape
    ((200, 2), (2,))

    References
    ----------
    Fröhlich et al. (2026), "Toward Scalable and Valid Conditional Independence Testing with Spectral
    Representations", section 3.
    """
    config = PaperConfig() if config is None else config
    seed = resolve_seed(random_state)
    data = prepare(x, y, z)
    books = {"x": Codebook.of(x, data.x, "x"), "y": Codebook.of(y, data.y, "y")}
    if data.z is not None:
        books["z"] = Codebook.of(z, data.z, "z")
    blocks = (data.x.values, data.y.values, None if data.z is None else data.z.values)
    order = canonical_order(*blocks)
    blocks = (blocks[0][order], blocks[1][order], None if blocks[2] is None else blocks[2][order])
    problem = training_problem(*blocks, np.random.SeedSequence(seed))
    with progress_reports(progress, "learning features") as report:
        model = train([problem], config, report)[0]
    maps = SpectralMaps.fit(model, *blocks)
    singular_values = scipy.linalg.svdvals(partial_cross_covariance(*maps(*blocks)))
    return LearnedFeatures(config, seed, singular_values, maps, books)
