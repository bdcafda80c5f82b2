"""Feature files: an npz archive of plain arrays, one of them a JSON text. Nothing in it is executed."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FeatureFileError, SpectralCITError
from ..files import replacing
from ..inputs import Standardizer
from ..learning.mlp import MLP
from ..numeric.whiten import Whitener
from .codebook import Codebook
from .config import PaperConfig

if TYPE_CHECKING:
    from .features import FeatureMap, LearnedFeatures

__all__ = ["load_features", "save_features"]

_FORMAT = "spectralcit-features"  # what tells such a file from any other archive
_VERSION = 1  # to be raised when an older release could not read the file
_ROLES = ("u", "v", "w")  # the maps, under the paper's names


def save_features(features: LearnedFeatures, path: str | os.PathLike[str]) -> None:
    """Write `features` to `path`; see `LearnedFeatures.save`."""
    maps = {role: getattr(features.maps, role) for role in _ROLES}
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "config": asdict(features.config),
        "seed": features.seed,
        "codebooks": {role: asdict(book) for role, book in features.codebooks.items()},
        "maps": {role: _map_header(each) for role, each in maps.items() if each is not None},
    }
    text = json.dumps(header, default=_plain_number)
    arrays: dict[str, Any] = {"header": np.array(text), "singular_values": features.singular_values}
    for role, each in maps.items():
        if each is not None:
            arrays |= {f"{role}.{name}": array for name, array in _map_arrays(each).items()}

    with replacing(Path(path)) as scratch, scratch.open("wb") as stream:
        np.savez(stream, **arrays)


def load_features(path: str | os.PathLike[str]) -> LearnedFeatures:
    """Read features from `path`; see `LearnedFeatures.load`."""
    from .features import LearnedFeatures, SpectralMaps

    try:
        # Reading every array here also checks the checksum of each.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != _FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if header["version"] != _VERSION:
            raise ValueError(f"it has version {header['version']!r}, this package reads version {_VERSION}")
        maps = {
            role: _read_map(role, arrays, header["maps"][role]) if role in header["maps"] else None
            for role in _ROLES
        }
        if maps["u"] is None or maps["v"] is None:
            raise ValueError("it has no map u or no map v")
        return LearnedFeatures(
            config=PaperConfig(**header["config"]),
            seed=int(header["seed"]),
            singular_values=arrays["singular_values"],
            maps=SpectralMaps(maps["u"], maps["v"], maps["w"]),
            codebooks={role: _read_codebook(entry) for role, entry in header["codebooks"].items()},
        )
    except FileNotFoundError:
        raise
    except (
        OSError,
        EOFError,
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        SpectralCITError,
    ) as error:
        raise FeatureFileError(
            f"{os.fspath(path)} is not a complete feature file written by LearnedFeatures.save ({error}); "
            "learn the features again, or copy the file anew"
        ) from error


def _map_header(each: FeatureMap) -> dict[str, Any]:
    return {
        "n_layers": len(each.network.weights),
        "output_tanh": each.network.output == "tanh",
        "condition_before": each.whitener.condition_before,
        "condition_after": each.whitener.condition_after,
    }


def _map_arrays(each: FeatureMap) -> dict[str, np.ndarray]:
    arrays = {
        "unit": each.standardizer.unit,
        "center": each.standardizer.center,
        "scale": each.standardizer.scale,
        "mean": each.whitener.mean,
        "inverse_root": each.whitener.inverse_root,
    }
    arrays |= {f"weight{k}": weight for k, weight in enumerate(each.network.weights)}
    arrays |= {f"bias{k}": bias for k, bias in enumerate(each.network.biases)}
    return arrays


def _read_map(role: str, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> FeatureMap:
    from .features import FeatureMap

    def get(name: str) -> np.ndarray:
        return arrays[f"{role}.{name}"]

    layers = range(header["n_layers"])
    result = FeatureMap(
        standardizer=Standardizer(get("unit"), get("center"), get("scale")),
        network=MLP(
            weights=tuple(get(f"weight{k}") for k in layers),
            biases=tuple(get(f"bias{k}") for k in layers),
            hidden="tanh",
            output="tanh" if header["output_tanh"] else "identity",
        ),
        whitener=Whitener(
            get("mean"), get("inverse_root"), header["condition_before"], header["condition_after"]
        ),
    )
    # Arrays that do not fit together fail here, not in the hands of the user.
    result(np.zeros((1, len(result.standardizer.center))))
    return result


def _read_codebook(entry: dict[str, Any]) -> Codebook:
    entries = tuple((int(source), level) for source, level in entry["entries"])
    return Codebook(entry["role"], int(entry["n_sources"]), entries)


def _plain_number(value: Any) -> Any:
    # A configuration may hold NumPy scalars.
    return value.item()
