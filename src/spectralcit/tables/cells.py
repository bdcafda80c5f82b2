"""From the texts of one column to numbers, booleans or categories, a chunk of rows at a time.

A column starts as a dictionary of the texts seen so far, with a code per row. When there are too many texts
for categories it becomes plain numbers, or, when some text is not a number, it is given up with the place of
that text. So memory is eight bytes a cell at most, whatever the length of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import SpectralCITError, TooManyCategoriesError, UnsupportedTypeError
from ..inputs import MAX_CATEGORIES
from ..inputs.columns import Column

__all__ = ["MISSING", "ColumnBuilder"]

# Texts that mean "no value", in any case: what pandas, R, SQL, UCI files and spreadsheets write.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a"})

# Texts of a column that are remembered: well above MAX_CATEGORIES, so that its error can say more than that.
_DICTIONARY_LIMIT = 1000
_NOTHING = float("nan")


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

    def __init__(self, name: str, want: str | None = None, decimal: str = ".") -> None:
        self.name = name
        self.want = want
        self.note: str | None = None
        self._decimal = decimal
        self._code_of: dict[str, int] | None = {}
        self._first_row: dict[str, int] = {}
        self._chunks: list[np.ndarray] = []
        self._stray: tuple[str, int] | None = None  # a text that is not a number, and its row

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
        where = f"column {self.name!r}"
        if self._code_of is None:
            if self.want == "categorical":
                return TooManyCategoriesError(
                    f"{where} has more than {_DICTIONARY_LIMIT} different values, too many for categories"
                )
            return Column(self.name, where, values, lines=lines)
        texts = list(self._code_of)
        if self.want != "categorical":
            numbers = [self._number(text) for text in texts]
            if None not in numbers:
                table = np.array(numbers, dtype=np.float64)
                return Column(self.name, where, table[values] if texts else values, lines=lines)
            stray = next(text for text, number in zip(texts, numbers, strict=True) if number is None)
            if self.want == "numeric":
                return self._not_a_number(stray, lines[self._first_row[stray]])
            self._note_mixture(stray, numbers, lines)
        return _categories(self.name, where, values, texts, lines)

    def _add_codes(self, cells: Sequence[str], first_row: int) -> None:
        code_of = self._code_of
        assert code_of is not None
        for row, cell in enumerate(cells) if set(cells) - code_of.keys() else ():
            if cell not in code_of:
                code_of[cell] = len(code_of)
                self._first_row[cell] = first_row + row
                if len(code_of) > _DICTIONARY_LIMIT:
                    break
        if len(code_of) <= _DICTIONARY_LIMIT:
            self._chunks.append(np.fromiter(map(code_of.__getitem__, cells), np.int32, len(cells)))
            return
        numbers = {text: self._number(text) for text in code_of}
        stray = next((text for text, number in numbers.items() if number is None), None)
        self._code_of = None
        if stray is not None:
            self._stray, self._chunks = (stray, self._first_row[stray]), []
            return
        table = np.array(list(numbers.values()), dtype=np.float64)
        self._chunks = [table[chunk] for chunk in self._chunks]
        self._add_numbers(cells, first_row)

    def _add_numbers(self, cells: Sequence[str], first_row: int) -> None:
        try:  # nearly always they are all numbers, and then this is the quick way
            if self._decimal != "." or "_" in "".join(cells):
                raise ValueError
            self._chunks.append(np.fromiter(map(float, cells), np.float64, len(cells)))
        except ValueError:
            numbers = [self._number(cell) for cell in cells]
            if None in numbers:
                row = numbers.index(None)
                self._stray, self._chunks = (cells[row], first_row + row), []
            else:
                self._chunks.append(np.array(numbers, dtype=np.float64))

    def _number(self, text: str) -> float | None:
        """The number that `text` is, NaN when it is missing, ``None`` when it is neither."""
        if text.strip().lower() in MISSING:
            return _NOTHING
        if self._decimal == ",":
            text = text.replace(".", "_").replace(",", ".")  # 1.000,5 has a thousands mark: not a number
        try:
            return None if "_" in text else float(text)
        except ValueError:
            return None

    def _not_a_number(self, text: str, line: int) -> SpectralCITError:
        return UnsupportedTypeError(
            f"column {self.name!r} holds {_shown(text)} on line {line}, which is not a number"
            f"{decimal_hint(text) if self._decimal == '.' else ''}"
        )

    def _given_up(self, lines: np.ndarray) -> SpectralCITError:
        assert self._stray is not None
        text, row = self._stray
        if self.want == "numeric":
            return self._not_a_number(text, lines[row])
        hint = decimal_hint(text) or (
            "; if it is a column of numbers, mend that value or write NA; "
            "if it is text, merge levels or leave it out"
        )
        return TooManyCategoriesError(
            f"column {self.name!r} is not all numbers ({_shown(text)} on line {lines[row]}) and has more "
            f"different values than categories may have ({MAX_CATEGORIES}){hint}"
        )

    def _note_mixture(self, stray: str, numbers: Iterable[float | None], lines: np.ndarray) -> None:
        mixed = any(number is not None and not np.isnan(number) for number in numbers)
        hint = decimal_hint(stray) if self._decimal == "." else ""
        if mixed or hint:
            what = "mixes numbers and text" if mixed else "is text"
            line = lines[self._first_row[stray]]
            self.note = (
                f"column {self.name!r} {what} ({_shown(stray)} on line {line}); "
                f"it is read as categories{hint}"
            )


def _categories(name: str, where: str, codes: np.ndarray, texts: list[str], lines: np.ndarray) -> Column:
    labels = [None if text.strip().lower() in MISSING else text.strip() for text in texts]
    present = {label for label in labels if label is not None}
    if present and {label.lower() for label in present} <= {"true", "false"}:
        labels = [label if label is None else label.capitalize() for label in labels]
        present = {"False", "True"}
    levels = tuple(sorted(present))
    rank = {level: code for code, level in enumerate(levels)}
    table = np.array([-1 if label is None else rank[label] for label in labels], dtype=np.int64)
    return Column(name, where, table[codes], levels, lines)


def decimal_hint(text: str) -> str:
    """Advice when `text` looks like a number with a decimal comma, else nothing."""
    whole, comma, fraction = text.strip().lstrip("+-").partition(",")
    looks = comma and whole.isdigit() and fraction.isdigit()
    return "; for numbers with a decimal comma give decimal=','" if looks else ""


def _shown(text: str, limit: int = 40) -> str:
    return repr(text if len(text) <= limit else text[:limit] + "...")
