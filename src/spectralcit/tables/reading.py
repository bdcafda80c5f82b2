"""How a file is read, in one bundle."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..errors import ParameterError
from .select import columns_matching

__all__ = ["DELIMITERS", "FORMATS", "Reading"]

# What people call them; the words are those of the command line too.
FORMATS = ("csv", "tsv", "excel", "parquet", "feather")
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " "}
_DECIMAL_MARKS = ("auto", ".", ",")
MAX_LEVELS = 50  # `inputs.MAX_CATEGORIES`, whose import would keep --help waiting
_MOST_LEVELS = 10_000  # one column of numbers for each: more would fill the memory, not inform


@dataclass(frozen=True)
class Reading:
    """The options of `read_table`, checked."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "auto"
    sheet: str = ""
    categorical: str = ""
    numeric: str = ""
    ordinal: str = ""
    max_levels: int = MAX_LEVELS

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(f"format must be one of {FORMATS}, got {self.format!r}")
        if self.decimal not in _DECIMAL_MARKS:
            raise ParameterError(f"decimal must be '.', ',' or 'auto', got {self.decimal!r}")
        if type(self.max_levels) is not int or not 2 <= self.max_levels <= _MOST_LEVELS:
            raise ParameterError(
                f"max_levels must be a whole number from 2 to {_MOST_LEVELS}, got {self.max_levels!r}"
            )
        if self.delimiter is not None and (len(self.mark) != 1 or self.mark in '"\r\n'):
            known = ", ".join(DELIMITERS)
            raise ParameterError(
                f"delimiter must be one character, or one of {known}; got {self.delimiter!r}"
            )

    @property
    def mark(self) -> str:
        """The character that separates values; empty when the header has to tell."""
        given = self.delimiter or ""
        return DELIMITERS.get(given.lower(), "\t" if given == "\\t" else given)

    def wanted(self, names: list[str]) -> dict[str, str]:
        """Columns that the user insists to have read as ``"categorical"`` or ``"numeric"``."""
        from .scales import scales_wanted  # brings what reads tables; the options alone do not need it

        as_category = columns_matching(self.categorical, names) if self.categorical else ()
        as_number = columns_matching(self.numeric, names) if self.numeric else ()
        both = sorted({*as_category} & {*as_number})
        if both:
            raise ParameterError(f"the column {both[0]!r} cannot be both numeric and categorical")
        # Labels such as 1<2<3 are looked up among the texts of the file.
        labelled = [name for name, labels in scales_wanted(self.ordinal, names).items() if labels]
        as_category = (*as_category, *labelled)
        return dict.fromkeys(as_category, "categorical") | dict.fromkeys(as_number, "numeric")

    def given(self) -> dict[str, str | int]:
        """Options that are not their defaults; whoever repeats a test needs them."""
        values = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: value for name, (value, default) in values.items() if value and value != default}
