"""Tables from files: CSV and TSV with the core alone, Parquet and Feather with pyarrow."""

from .read import read_table
from .reading import FORMATS
from .select import columns_matching

__all__ = ["FORMATS", "columns_matching", "read_table"]
