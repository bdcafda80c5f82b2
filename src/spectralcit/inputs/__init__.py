"""From what users have (arrays, lists, data frames) to checked, encoded blocks of numbers."""

from ..numeric.standardize import Standardizer
from .asked import asked_of
from .data import Block, CIData, Kind
from .design import RowArguments, RowDesign
from .encode import MAX_CATEGORIES
from .prepare import prepare
from .read import CensoredTimes, select_columns
from .split import halves, train_test_rows
from .table import DataTable

__all__ = [
    "MAX_CATEGORIES",
    "Block",
    "CIData",
    "CensoredTimes",
    "DataTable",
    "Kind",
    "RowArguments",
    "RowDesign",
    "Standardizer",
    "asked_of",
    "halves",
    "prepare",
    "select_columns",
    "train_test_rows",
]
