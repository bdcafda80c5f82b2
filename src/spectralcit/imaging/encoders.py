"""From tiles to features: any function, an ONNX file of the user, or random features to try a path with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EncoderError, MissingExtraError, no_such_file

__all__ = ["Encoder", "OnnxEncoder", "RandomEncoder", "encode_tiles"]

Encoder = Callable[[NDArray[np.uint8]], Any]
"""Tiles (number by size by size by three, 8 bits) in, features (number by columns) out."""

BATCH = 64  # by hand: tiles of 224 pixels as 4-byte floats take 40 MB


def encode_tiles(tiles: NDArray[np.uint8], encoder: Encoder, *, batch: int = BATCH) -> NDArray[np.float64]:
    """Encode tiles a batch at a time, and check what comes back.

    Parameters
    ----------
    tiles
        Number by size by size by three, 8 bits.
    encoder
        Any function that takes such an array and returns an array with one row of features per tile.
    batch
        Tiles at once.

    Raises
    ------
    EncoderError
        If the features do not have one row per tile, are ragged, are not finite numbers, or have other
        columns in one batch than in another.

    Examples
    --------
    >>> tiles = np.zeros((5, 8, 8, 3), np.uint8)
    >>> encode_tiles(tiles, lambda batch: batch.mean(axis=(1, 2)), batch=2).shape
    (5, 3)
    """
    found = [
        _checked_features(encoder(tiles[k : k + batch]), len(tiles[k : k + batch]))
        for k in range(0, len(tiles), batch)
    ]
    widths = {features.shape[1] for features in found}
    if len(widths) > 1:
        raise EncoderError(
            f"the encoder gave {min(widths)} features for some tiles and {max(widths)} for others; it must "
            "give every tile the same ones"
        )
    return np.concatenate(found)


def _checked_features(output: Any, count: int) -> NDArray[np.float64]:
    try:
        features = np.asarray(output, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EncoderError(
            f"the encoder's output is no array of numbers, or its rows differ in length: {error}"
        ) from error
    if features.ndim != 2 or len(features) != count or features.shape[1] == 0:
        raise EncoderError(
            f"the encoder gave an array of shape {features.shape} for {count} tiles; it must give one row of "
            f"features per tile, ({count}, number of features)"
        )
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise EncoderError(
            f"feature {column} of the encoder is {features[row, column]} for tile {row} of a batch; "
            "features must be finite numbers"
        )
    return features


class RandomEncoder:
    """Random features of a tile's colours and coarse structure: to try a path with, not to learn from.

    Mean and standard deviation of each colour in a grid of four by four cells, then ``tanh`` of random
    combinations of them.

    Parameters
    ----------
    n_features
        Columns.
    seed
        Of the combinations.

    Examples
    --------
    >>> RandomEncoder(8)(np.zeros((3, 32, 32, 3), np.uint8)).shape
    (3, 8)
    """

    _CELLS = 4

    def __init__(self, n_features: int = 16, *, seed: int = 0) -> None:
        self.n_features = n_features
        self.seed = seed
        inputs = self._CELLS**2 * 6
        rng = np.random.default_rng(seed)
        self._mixing = rng.standard_normal((inputs, n_features)) / np.sqrt(inputs)
        self._shift = rng.uniform(-1.0, 1.0, n_features)

    def __call__(self, tiles: NDArray[np.uint8]) -> NDArray[np.float64]:
        count, size = tiles.shape[:2]
        if size < self._CELLS:
            raise EncoderError(f"the random encoder needs tiles of at least {self._CELLS} pixels, not {size}")
        side = size // self._CELLS
        whole = tiles[:, : side * self._CELLS, : side * self._CELLS] / 255.0
        cells = whole.reshape(count, self._CELLS, side, self._CELLS, side, 3)
        summaries = np.stack([cells.mean(axis=(2, 4)), cells.std(axis=(2, 4))], axis=-1).reshape(count, -1)
        # By hand: pixels are between 0 and 1 and vary by a tenth or so; times six, the tanh bends.
        return np.tanh(6.0 * (summaries - 0.5) @ self._mixing + self._shift)


class OnnxEncoder:
    """An encoder in an ONNX file, such as a foundation model of histology that you have, with onnxruntime.

    Parameters
    ----------
    path
        The file. Its first input takes images as (number, 3, height, width) or (number, height, width, 3),
        of 8 bits or as floats, which are pixels / 255, less `mean`, over `deviation`.
    mean, deviation
        One per colour, as the encoder was trained; on ImageNet these are (0.485, 0.456, 0.406) and
        (0.229, 0.224, 0.225).
    output
        The name of the output to use; the first when not given.
    threads
        Of onnxruntime.

    Raises
    ------
    EncoderError
        If the file cannot be read, does not take images, or takes tiles of another size.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        mean: Sequence[float] = (0.0, 0.0, 0.0),
        deviation: Sequence[float] = (1.0, 1.0, 1.0),
        output: str | None = None,
        threads: int = 1,
    ) -> None:
        self.path = Path(path)
        self.mean = np.asarray(mean, np.float32)
        self.deviation = np.asarray(deviation, np.float32)
        self._session = _session(self.path, threads)
        taken = self._session.get_inputs()[0]
        self._input, self._shape, self._type = taken.name, list(taken.shape), taken.type
        if len(self._shape) != 4 or 3 not in (self._shape[1], self._shape[3]):
            raise EncoderError(
                f"{self.path} takes arrays of shape {self._shape}, not images of three colours, "
                "(number, 3, height, width) or (number, height, width, 3)"
            )
        self._colours_first = self._shape[1] == 3
        names = [each.name for each in self._session.get_outputs()]
        if output is not None and output not in names:
            raise EncoderError(f"{self.path} has no output {output!r}; its outputs: {', '.join(names)}")
        self._output = names[0] if output is None else output

    def __call__(self, tiles: NDArray[np.uint8]) -> NDArray[np.float64]:
        self._check_size(tiles.shape[1:3])
        images: NDArray[Any] = tiles
        if self._type != "tensor(uint8)":
            kind = np.float16 if self._type == "tensor(float16)" else np.float32
            images = ((tiles.astype(np.float32) / 255.0 - self.mean) / self.deviation).astype(kind)
        if self._colours_first:
            images = images.transpose(0, 3, 1, 2)
        # Some files were exported for a fixed number of images at once; the last batch is filled up.
        at_once = self._shape[0] if isinstance(self._shape[0], int) else len(images)
        found = [self._run(images[k : k + at_once], at_once) for k in range(0, len(images), at_once)]
        return np.concatenate(found)

    def _run(self, images: NDArray[Any], at_once: int) -> NDArray[np.float64]:
        missing = at_once - len(images)
        filled = np.concatenate([images, np.repeat(images[-1:], missing, axis=0)]) if missing else images
        (features,) = self._session.run([self._output], {self._input: np.ascontiguousarray(filled)})
        kept = np.asarray(features)[: len(images)]
        # Pooled maps come as (number, columns, 1, 1).
        return kept.reshape(kept.shape[:2]) if kept.ndim > 2 and set(kept.shape[2:]) == {1} else kept

    def _check_size(self, size: tuple[int, ...]) -> None:
        wanted = self._shape[2:] if self._colours_first else self._shape[1:3]
        fits = all(not isinstance(side, int) or side == have for side, have in zip(wanted, size, strict=True))
        if not fits:
            raise EncoderError(
                f"{self.path} takes tiles of {' × '.join(map(str, wanted))} pixels, these have "
                f"{' × '.join(map(str, size))}; cut them with size={wanted[0]}"
            )


def _session(path: Path, threads: int) -> Any:
    if not path.is_file():
        raise EncoderError(str(no_such_file(path)))
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("ONNX files need onnxruntime: pip install 'spectralcit[imaging]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors derive from nothing narrower
        first = str(error).splitlines()[0]
        raise EncoderError(f"{path} cannot be read as an ONNX file: {first}") from error
