"""From what users have (arrays, lists, data frames) to checked, encoded blocks of numbers."""

from ..numeric.standardize import Standardizer
from .data import Block, CIData, Kind
from .encode import MAX_CATEGORIES
from .prepare import prepare
from .read import select_columns
from .split import halves, train_test_rows
from .table import DataTable

__all__ = [
    "MAX_CATEGORIES",
    "Block",
    "CIData",
    "DataTable",
    "Kind",
    "Standardizer",
    "halves",
    "prepare",
    "select_columns",
    "train_test_rows",
]
