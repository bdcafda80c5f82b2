"""Conditional independence tests inside causal discovery and feature selection.

Every name is imported when it is first used: the adapters need the library they adapt to, and each of these
is an optional dependency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .causal_learn import register_tests
    from .dowhy import DoWhyTest
    from .graph import DiscoveredGraph, FoundEdge
    from .knowledge import Knowledge
    from .pgmpy import PgmpyTest
    from .queries import QueryTester
    from .search import pc
    from .tigramite import TigramiteTest

__all__ = [
    "DiscoveredGraph",
    "DoWhyTest",
    "FoundEdge",
    "Knowledge",
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
    "Knowledge": ".knowledge",
    "PgmpyTest": ".pgmpy",
    "QueryTester": ".queries",
    "TigramiteTest": ".tigramite",
    "pc": ".search",
    "register_tests": ".causal_learn",
}

__getattr__, __dir__ = lazy_names(__name__, _LAZY)
