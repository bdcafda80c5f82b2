"""Frames of any library, made from lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import MissingExtraError

__all__ = ["frame_of"]


def frame_of(columns: Mapping[str, list[Any]], types: Mapping[str, type], backend: Any) -> Any:
    """Columns as a frame of the library called `backend`; without a type (float or int) they are text.

    Examples
    --------
    >>> frame_of({"x": ["age"], "sign": [None]}, {"sign": int}, "polars").shape
    (1, 2)
    """
    import narwhals as nw

    # Integers of NumPy, which pandas uses, have no missing value.
    gaps = {name for name, values in columns.items() if None in values}
    schema: dict[str, Any] = {}
    for name in columns:
        kind = types.get(name, str)
        whole = kind is int and not (str(backend) == "pandas" and name in gaps)
        schema[name] = nw.Int64() if whole else nw.String() if kind is str else nw.Float64()
    try:
        return nw.from_dict(dict(columns), schema, backend=backend).to_native()
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{backend} is not installed: pip install {backend}") from error
