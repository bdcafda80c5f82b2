"""Tables from files: CSV and TSV with the core alone, Parquet and Feather with pyarrow.

Names are imported when they are first used: how files are read can be said, and a wrong path noticed, without
what reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .read import read_table
    from .reading import FORMATS
    from .select import columns_matching

__all__ = ["FORMATS", "columns_matching", "read_table"]

# Where each public name lives.
_LAZY = {"FORMATS": ".reading", "columns_matching": ".select", "read_table": ".read"}

__getattr__, __dir__ = lazy_names(__name__, _LAZY)
