"""Conditional independence tests inside causal discovery and feature selection.

Every name is imported when it is first used: the adapters need the library they adapt to, and each of these
is an optional dependency.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .causal_learn import register_tests
    from .dowhy import DoWhyTest
    from .graph import DiscoveredGraph, FoundEdge
    from .pgmpy import PgmpyTest
    from .queries import QueryTester
    from .search import pc
    from .tigramite import TigramiteTest

__all__ = [
    "DiscoveredGraph",
    "DoWhyTest",
    "FoundEdge",
    "PgmpyTest",
    "QueryTester",
    "TigramiteTest",
    "pc",
    "register_tests",
]

# Where each public name lives.
_LAZY = {
    "DiscoveredGraph": ".graph",
    "DoWhyTest": ".dowhy",
    "FoundEdge": ".graph",
    "PgmpyTest": ".pgmpy",
    "QueryTester": ".queries",
    "TigramiteTest": ".tigramite",
    "pc": ".search",
    "register_tests": ".causal_learn",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
