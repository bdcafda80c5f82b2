from __future__ import annotations

import pytest

from spectralcit import errors

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and value.__module__ == errors.__name__
]


@pytest.mark.parametrize("cls", [c for c in CLASSES if not issubclass(c, Warning)])
def test_every_error_has_the_common_root_and_a_built_in_parent(cls):
    assert issubclass(cls, errors.SpectralCITError)
    if cls is not errors.SpectralCITError:
        assert issubclass(cls, (ValueError, RuntimeError, ImportError, MemoryError))
    assert cls.__doc__
    assert cls.__name__ in errors.__all__


def test_input_errors_can_be_caught_together():
    names = {c.__name__ for c in errors.InputError.__subclasses__()}
    assert names == {
        "EmptyInputError",
        "LengthMismatchError",
        "CensoredTimesError",
        "TooFewRowsError",
        "ConstantColumnError",
        "MissingValuesError",
        "InfiniteValuesError",
        "UnsupportedTypeError",
        "DuplicateColumnError",
        "OverlappingColumnsError",
        "TooManyCategoriesError",
        "UnknownColumnError",
    }


def test_suggestion_ignores_case_and_is_silent_when_nothing_is_near():
    assert errors.suggestion("AGE", ["age", "stage", "gene"]).startswith(" Did you mean 'age'")
    assert errors.suggestion("qqq", ["age"]) == ""
    assert errors.suggestion("x", []) == ""
