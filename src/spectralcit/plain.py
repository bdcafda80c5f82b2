"""Values as plain JSON types, exactly: arrays as lists, and infinities, which JSON lacks, under a tag."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .errors import ParameterError

__all__ = ["finite", "plain", "tag_infinities", "untag_infinities"]

# JSON has no infinities. In `to_dict` they become {"__float__": "inf"}; the key is reserved for that.
_FLOAT_TAG = "__float__"


def finite(value: Any, name: str) -> float:
    """`value` as a float, or an error that calls it `name`."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be a number, got {value!r}") from error
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    return number


def plain(value: Any, where: str) -> Any:
    """Turn `value` into plain JSON types (and infinities), so that equality and storage are exact."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value) is int:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for key, item in value.items():
            text = str(key)
            if text == _FLOAT_TAG or text in out:
                raise ParameterError(f"{where} has a reserved or repeated key {text!r}")
            out[text] = plain(item, f"{where}[{text!r}]")
        return out
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    # Arrays and scalars of NumPy, JAX or PyTorch all know `tolist`, which yields Python numbers.
    if hasattr(value, "tolist"):
        return plain(value.tolist(), where)
    raise ParameterError(f"{where} holds a {type(value).__name__}, which cannot be stored as JSON")


def tag_infinities(value: Any) -> Any:
    """`value` with tags in place of infinities."""
    if isinstance(value, float) and math.isinf(value):
        return {_FLOAT_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: tag_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [tag_infinities(item) for item in value]
    return value


def untag_infinities(value: Any) -> Any:
    """The inverse of `tag_infinities`."""
    if isinstance(value, Mapping):
        if set(value) == {_FLOAT_TAG}:
            return float(value[_FLOAT_TAG])
        return {key: untag_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [untag_infinities(item) for item in value]
    return value
