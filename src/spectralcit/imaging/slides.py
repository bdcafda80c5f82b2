"""`tile_table`: from the images of many patients to one table of features, a row per tile or per patient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    EmptyInputError,
    EncoderError,
    LengthMismatchError,
    MissingValuesError,
    ParameterError,
    UnknownColumnError,
)
from ..frames import frame_of
from .encoders import Encoder, encode_tiles
from .pictures import LIGHT, checked_image, read_image
from .stains import REFERENCE_STAINS, Stains, fit_stains, normalise_stains
from .tiles import TILE_SIZE, cut_tiles

__all__ = ["TileTable", "tile_table"]


@dataclass(frozen=True)
class TileTable:
    """Features of tiles, and whose tile each is.

    Parameters
    ----------
    features
        One row per tile.
    patients
        The patient of each tile, as given: what tests want as ``groups=``.
    images
        The position of each tile's image among those given.
    tops, lefts
        Where in its image each tile begins, in pixels.
    """

    features: NDArray[np.float64]
    patients: NDArray[Any]
    images: NDArray[np.int64]
    tops: NDArray[np.int64]
    lefts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.features)

    @property
    def patient_names(self) -> list[Any]:
        """Each patient once, in the order in which they were given."""
        return list(dict.fromkeys(self.patients.tolist()))

    def means(self) -> NDArray[np.float64]:
        """The mean over each patient's tiles, one row per patient, in the order of `patient_names`."""
        places = {name: k for k, name in enumerate(self.patient_names)}
        codes = np.array([places[name] for name in self.patients.tolist()])
        sums = np.zeros((len(places), self.features.shape[1]))
        np.add.at(sums, codes, self.features)
        return sums / np.bincount(codes)[:, np.newaxis]

    def for_tiles(self, of_patients: Mapping[Any, Any]) -> NDArray[Any]:
        """What is known of each patient, repeated for each of the patient's tiles.

        Parameters
        ----------
        of_patients
            Patient to value, or to a row of values; a pandas series or the dict of one will do.
        """
        lacking = [name for name in self.patient_names if name not in of_patients]
        if lacking:
            raise UnknownColumnError(
                f"nothing is known of patient {lacking[0]!r}, who has tiles ({len(lacking)} in all)"
            )
        return np.array([of_patients[name] for name in self.patients.tolist()])

    def nearest(self, most: int) -> TileTable:
        """Keep of each image the `most` tiles whose features are nearest to their mean: its typical ones.

        Parameters
        ----------
        most
            Tiles of an image; those that have fewer keep all.
        """
        kept = []
        for image in np.unique(self.images):
            own = np.flatnonzero(self.images == image)
            away = np.linalg.norm(self.features[own] - self.features[own].mean(axis=0), axis=1)
            kept.append(np.sort(own[np.argsort(away, kind="stable")[:most]]))
        rows = np.concatenate(kept)
        return TileTable(
            self.features[rows], self.patients[rows], self.images[rows], self.tops[rows], self.lefts[rows]
        )

    def to_frame(self, backend: Any = "pandas") -> Any:
        """The table as a frame: patient, image, top, left, then ``feature_0`` and so on.

        Parameters
        ----------
        backend
            ``"pandas"``, ``"polars"`` or another library that narwhals knows.
        """
        whole = {"image": self.images, "top": self.tops, "left": self.lefts}
        columns: dict[str, list[Any]] = {"patient": [str(name) for name in self.patients.tolist()]}
        columns |= {name: values.tolist() for name, values in whole.items()}
        numbers = {f"feature_{k}": values.tolist() for k, values in enumerate(self.features.T)}
        types = {**dict.fromkeys(whole, int), **dict.fromkeys(numbers, float)}
        return frame_of(columns | numbers, types, backend)


def tile_table(
    images: Iterable[Any],
    patients: Sequence[Any],
    encoder: Encoder,
    *,
    masks: Sequence[Any] | None = None,
    size: int = TILE_SIZE,
    stride: int | None = None,
    least_tissue: float = 0.5,
    normalise: bool = True,
    reference: Stains = REFERENCE_STAINS,
    light: float = LIGHT,
) -> TileTable:
    """Cut the images of many patients into tiles, make their stains alike, and encode them.

    Paths are read one at a time, and only features are kept.

    Parameters
    ----------
    images
        Paths, or arrays of RGB pixels of 8 bits; several may belong to one patient.
    patients
        Whose each image is.
    encoder
        Any function from tiles (number by size by size by three, 8 bits) to features (number by columns), or
        an `OnnxEncoder`.
    masks
        A mask per image, or ``None`` for all of it; see `cut_tiles`.
    size, stride, least_tissue
        See `cut_tiles`.
    normalise
        Whether stains are made alike; their colours are found once per image, inside its mask.
    reference, light
        See `normalise_stains`.

    Raises
    ------
    ImageError, EncoderError
        With the image that is at fault.

    Examples
    --------
    >>> from spectralcit.imaging import RandomEncoder, simulate_region
    >>> rng = np.random.default_rng(0)
    >>> regions = [simulate_region(rng, height=64, width=96) for _ in range(3)]
    >>> table = tile_table(regions, ["a", "a", "b"], RandomEncoder(5), size=32)
    >>> table.features.shape, table.means().shape, table.patient_names
    ((18, 5), (2, 5), ['a', 'b'])
    """
    if isinstance(images, str | Path | np.ndarray) and np.ndim(images) != 4:
        raise ParameterError("images must be a list, of paths or of arrays; for one image, a list of one")
    if not callable(encoder):
        raise EncoderError(f"encoder must be a function from tiles to features, got {encoder!r}")
    pictures = list(images)
    if not pictures:
        raise EmptyInputError("there are no images")
    if len(patients) != len(pictures) or (masks is not None and len(masks) != len(pictures)):
        told = "" if masks is None else f" and {len(masks)} masks"
        raise LengthMismatchError(
            f"there are {len(pictures)} images, {len(patients)} patients{told}: one each is needed"
        )
    for k, patient in enumerate(patients):
        if patient is None or patient != patient:  # a number that is none differs from itself
            raise MissingValuesError(f"image {k} has no patient; say whose each image is, or leave it out")
    parts = []
    for k, (picture, patient) in enumerate(zip(pictures, patients, strict=True)):
        name = str(picture) if isinstance(picture, str | Path) else f"image {k} (patient {patient!r})"
        pixels = read_image(picture) if isinstance(picture, str | Path) else checked_image(picture, name)
        mask = None if masks is None else masks[k]
        cut = cut_tiles(
            pixels, size=size, stride=stride, mask=mask, least_tissue=least_tissue, light=light, name=name
        )
        tiles = cut.pixels
        if normalise:
            stains = fit_stains(pixels, mask=mask, light=light, name=name)
            tiles = np.stack(
                [normalise_stains(tile, stains, reference=reference, light=light) for tile in tiles]
            )
        try:
            features = encode_tiles(tiles, encoder)
        except EncoderError as error:
            raise EncoderError(f"{name}: {error}") from error
        parts.append((features, np.full(len(cut), k), cut.tops, cut.lefts))
    widths = [features.shape[1] for features, *_ in parts]
    odd = next((k for k, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        raise EncoderError(
            f"the encoder gave {widths[0]} features for the tiles of image 0 and {widths[odd]} for those of "
            f"image {odd}"
        )
    features, which, tops, lefts = (np.concatenate(part) for part in zip(*parts, strict=True))
    # Labels of any kind, also of several kinds at once, stay what they are.
    labels = np.empty(len(pictures), dtype=object)
    labels[:] = list(patients)
    return TileTable(features, _plain(labels[which]), which, tops, lefts)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that are all text, or all numbers, as an array of that kind, which every test takes."""
    kinds = {type(label) for label in labels.tolist()}
    if len(kinds) > 1:
        return labels
    same = np.array(labels.tolist())
    return same if same.ndim == 1 else labels  # pairs, such as hospital and number, stay pairs
