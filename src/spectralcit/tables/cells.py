"""From the texts of one column to numbers, dates, booleans or categories, a chunk of rows at a time.

A column starts as a dictionary of the texts seen so far, with a code per row. When there are too many texts
for categories it becomes plain numbers, or, when some text is neither a number nor a date like the others, it
is given up with the place of that text. So memory is eight bytes a cell at most, whatever the length of the
texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..errors import SpectralCITError, TooManyCategoriesError, UnsupportedTypeError
from ..inputs import MAX_CATEGORIES
from ..inputs.columns import Column
from ..inputs.dates import DateLayout, layouts_of
from ..inputs.numerals import has_decimal_comma, number_in

__all__ = ["MISSING", "ColumnBuilder"]

# Texts that mean "no value", in any case: what pandas, R, SQL, UCI files and spreadsheets write.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a"})

# Texts of a column that are remembered: well above MAX_CATEGORIES, so that its error can say more than that.
_DICTIONARY_LIMIT = 1000
_FEWEST_NUMBERED = 20  # rows of a column that may be called row numbers; 1, 2, 3 are as well a scale


class ColumnBuilder:
    """Collects the texts of one column; `want` is ``"numeric"`` or ``"categorical"`` when the user insists.

    Examples
    --------
    >>> builder = ColumnBuilder("stage")
    >>> builder.add(["II", "NA", "I"], first_row=0)
    >>> column = builder.finish(np.array([2, 3, 4]))
    >>> column.levels, column.values.tolist()
    (('I', 'II'), [1, -1, 0])
    """

    def __init__(
        self, name: str, want: str | None = None, decimal: str = ".", max_levels: int = MAX_CATEGORIES
    ) -> None:
        self.name = name
        self.want = want
        self._decimal = decimal
        self._max_levels = max_levels
        self._limit = max(_DICTIONARY_LIMIT, max_levels)
        self._code_of: dict[str, int] | None = {}
        self._first_row: dict[str, int] = {}
        self._chunks: list[np.ndarray] = []
        self._layout: DateLayout | None = None  # of dates, when the column holds them
        self._stray: tuple[str, int] | None = None  # a text that is not like the others, and its row

    def add(self, cells: Sequence[str], first_row: int) -> None:
        """Take the texts of the next rows, of which the first has the index `first_row`."""
        if self._code_of is not None:
            self._add_codes(cells, first_row)
        elif self._stray is None:
            self._add_numbers(cells, first_row)

    def finish(self, lines: np.ndarray) -> Column | SpectralCITError:
        """The column, or the error that using it raises; `lines` has the line of the file of each row."""
        if self._stray is not None:
            return self._given_up(lines)
        values = np.concatenate(self._chunks) if self._chunks else np.empty(0)
        if self._code_of is None:
            if self.want == "categorical":
                return TooManyCategoriesError(
                    f"column {self.name!r} has more than {self._limit} different values, too many for "
                    "categories"
                )
            return self._column(values, lines)
        texts = list(self._code_of)
        if self.want == "categorical":
            return self._categories(values, texts, lines)
        numbers = self._numbers(texts)
        if None not in numbers:
            table = np.array(numbers, dtype=np.float64)
            return self._column(table[values] if texts else values, lines)
        stray = next(text for text in texts if self._number(text) is None)
        if self.want == "numeric":
            return self._not_a_number(stray, lines[self._first_row[stray]])
        return self._categories(values, texts, lines, *self._notes_about(stray, texts, lines))

    def _add_codes(self, cells: Sequence[str], first_row: int) -> None:
        code_of = self._code_of
        assert code_of is not None
        for row, cell in enumerate(cells) if set(cells) - code_of.keys() else ():
            if cell not in code_of:
                code_of[cell] = len(code_of)
                self._first_row[cell] = first_row + row
                if len(code_of) > self._limit:
                    break
        if len(code_of) <= self._limit:
            self._chunks.append(np.fromiter(map(code_of.__getitem__, cells), np.int32, len(cells)))
            return
        numbers = self._numbers(code_of)
        self._code_of = None
        if None in numbers:
            stray = next(text for text in code_of if self._number(text) is None)
            self._stray, self._chunks = (stray, self._first_row[stray]), []
            return
        table = np.array(numbers, dtype=np.float64)
        self._chunks = [table[chunk] for chunk in self._chunks]
        self._add_numbers(cells, first_row)

    def _add_numbers(self, cells: Sequence[str], first_row: int) -> None:
        try:  # nearly always they are all numbers, and then this is the quick way
            if self._layout is not None or self._decimal != "." or "_" in "".join(cells):
                raise ValueError
            self._chunks.append(np.fromiter(map(float, cells), np.float64, len(cells)))
        except ValueError:
            read = self._number if self._layout is None else _unless_missing(self._layout.days)
            numbers = [read(cell) for cell in cells]
            if None in numbers:
                row = numbers.index(None)
                self._stray, self._chunks = (cells[row], first_row + row), []
            else:
                self._chunks.append(np.array(numbers, dtype=np.float64))

    def _numbers(self, texts: Iterable[str]) -> list[float | None]:
        """The numbers that the texts are, or days when they are all dates; NaN for missing ones."""
        numbers = [self._number(text) for text in texts]
        if None not in numbers or self.want is not None:
            return numbers
        layouts = layouts_of(text for text in texts if not _is_missing(text))
        if len(layouts) != 1:
            return numbers
        self._layout = layouts[0]
        days = _unless_missing(self._layout.days)
        return [days(text) for text in texts]

    def _number(self, text: str) -> float | None:
        """The number that `text` is, NaN when it is missing, ``None`` when it is neither."""
        return float("nan") if _is_missing(text) else number_in(text, self._decimal)

    def _column(self, values: np.ndarray, lines: np.ndarray) -> Column:
        notes: tuple[str, ...] = ()
        if self._layout is not None:
            notes = (
                f"column {self.name!r} holds dates ({self._layout}); they are read as numbers, days since "
                f"1970; to have categories give categorical={self.name!r}",
            )
        elif _numbers_the_rows(values):
            notes = (
                f"column {self.name!r} numbers the rows, {values.min():.0f} to {values.max():.0f}: leave it "
                "out unless their order matters",
            )
        return Column(self.name, f"column {self.name!r}", values, lines=lines, notes=notes)

    def _categories(self, codes: np.ndarray, texts: list[str], lines: np.ndarray, *notes: str) -> Column:
        labels = [None if _is_missing(text) else text.strip() for text in texts]
        present = {label for label in labels if label is not None}
        if present and {label.lower() for label in present} <= {"true", "false"}:
            labels = [label if label is None else label.capitalize() for label in labels]
            present = {"False", "True"}
        levels = tuple(sorted(present))
        rank = {level: code for code, level in enumerate(levels)}
        table = np.array([-1 if label is None else rank[label] for label in labels], dtype=np.int64)
        where, most = f"column {self.name!r}", self._max_levels
        return Column(self.name, where, table[codes], levels, lines, notes=notes, max_levels=most)

    def _not_a_number(self, text: str, line: int) -> SpectralCITError:
        return UnsupportedTypeError(
            f"column {self.name!r} holds {_shown(text)} on line {line}, which is not a number"
            f"{self._decimal_hint(text)}"
        )

    def _given_up(self, lines: np.ndarray) -> SpectralCITError:
        assert self._stray is not None
        text, row = self._stray
        if self.want == "numeric":
            return self._not_a_number(text, lines[row])
        if self._layout is not None:
            return UnsupportedTypeError(
                f"column {self.name!r} holds dates ({self._layout}), but {_shown(text)} on line {lines[row]} "
                "is none; mend that value or write NA"
            )
        hint = self._decimal_hint(text) or _ambiguous_date_hint([text])
        hint = hint or (
            "; if it is a column of numbers, mend that value or write NA; "
            "if it is text, merge levels or leave it out"
        )
        return TooManyCategoriesError(
            f"column {self.name!r} is not all numbers ({_shown(text)} on line {lines[row]}) and has more "
            f"different values than categories may have ({self._max_levels}){hint}"
        )

    def _notes_about(self, stray: str, texts: Sequence[str], lines: np.ndarray) -> list[str]:
        """What to say about categories that might have been meant as something else."""
        numbers = [self._number(text) for text in texts]
        mixed = any(number is not None and not np.isnan(number) for number in numbers)
        filled = [text for text in texts if not _is_missing(text)]
        hint = self._decimal_hint(stray) or _ambiguous_date_hint(filled)
        if not mixed and not hint:
            return []
        what = "mixes numbers and text" if mixed else "is text"
        line = lines[self._first_row[stray]]
        where = f"({_shown(stray)} on line {line})"
        return [f"column {self.name!r} {what} {where}; it is read as categories{hint}"]

    def _decimal_hint(self, text: str) -> str:
        """Advice when `text` looks like a number with a decimal comma, else nothing."""
        looks = self._decimal == "." and has_decimal_comma(text)
        return "; for numbers with a decimal comma give decimal=','" if looks else ""


def _is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING


def _unless_missing(read: Callable[[str], float | None]) -> Callable[[str], float | None]:
    return lambda text: float("nan") if _is_missing(text) else read(text)


def _ambiguous_date_hint(texts: Sequence[str]) -> str:
    """Advice when the texts are dates of which nobody knows whether the day or the month comes first."""
    several = len(layouts_of(texts)) > 1
    return "; if these are dates, write them as year-month-day: 2020-12-31" if several else ""


def _numbers_the_rows(values: np.ndarray) -> bool:
    """Whether the values are consecutive whole numbers, each once, in any order: row numbers or ids."""
    if len(values) < _FEWEST_NUMBERED or not np.all(values == np.floor(values)):
        return False
    return bool(values.max() - values.min() == len(values) - 1 and len(np.unique(values)) == len(values))


def _shown(text: str, limit: int = 40) -> str:
    return repr(text if len(text) <= limit else text[:limit] + "...")
