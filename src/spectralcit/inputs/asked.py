"""A question as users ask it: arrays, names of columns together with a frame, or a formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ParameterError
from .formula import is_formula, parse_formula
from .read import select_columns

__all__ = ["asked_of"]


def asked_of(x: Any, y: Any, z: Any, data: Any, rows: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `BaseCITest.prepare`, what `rows` says about rows among them."""
    if is_formula(x) and y is None:
        if data is None:
            raise ParameterError(f"the formula {x!r} names columns: give the data frame as data=")
        if z is not None:
            raise ParameterError(f"the formula {x!r} says what is given: leave z= out, or name x, y and z")
        x, y, z = parse_formula(x)
    said = dict(rows)
    if data is not None:
        said = {k: select_columns(data, v, v, None)[0] if _names_column(k, v) else v for k, v in said.items()}
        x, y, z = select_columns(data, x, y, z)
    for role, given in (("x", x), ("y", y)):
        if given is None:
            raise ParameterError(f"{role} is missing: give an array, or a column name together with data=")
    return {"x": x, "y": y, "z": z, **said}


def _names_column(argument: str, value: Any) -> bool:
    return isinstance(value, str) and argument != "weight_kind"
