"""What a declared parameter owes its users: one clear error for a wrong value, in every test."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

from spectralcit import BaseCITest, NullDistribution, Outcome, list_tests
from spectralcit.errors import ParameterError, SpectralCITError
from spectralcit.parameters import anything, choice, flag, integer, parameters_of, real

WRONG = {
    "wrong type": object(),
    "NaN": float("nan"),
    "infinite": float("inf"),
    "negative": -1,
    "zero": 0,
    "huge": 10**30,
    "string": "nonsense",
    "None": None,
    "list": [1],
    "bool": True,
}
# Few draws, steps and trees: a value that is allowed must run, not run well.
QUICK = {
    "n_bootstrap": 19,
    "n_permutations": 19,
    "n_draws": 100,
    "n_steps": 3,
    "n_samples": 3,
    "n_functions": 3,
    "n_splits": 1,
    "n_trees": 3,
    "n_epochs": 1,
    "n_warmup": 1,
    "output_dim": 2,
    "layer_size_u": 4,
    "layer_size_v": 4,
    "layer_size_w": 4,
    "n_sampling_steps": 3,
    "hidden": 4,
}
TESTS = [info for info in list_tests() if info.built_in]
PARAMETERS = [
    pytest.param(info, name, id=f"{info.name}-{name}") for info in TESTS for name in parameters_of(info.cls)
]


def quick(info, **given):
    known = parameters_of(info.cls)
    return info.cls(**{name: value for name, value in QUICK.items() if name in known} | given)


def rows(info, n=60):
    rng = np.random.default_rng(0)
    if info.tags.discrete:
        return tuple(rng.integers(0, 2, size=(3, n)))
    x, y, z = rng.normal(size=(3, n))
    return (x, y, z) if info.tags.conditional else (x, y)


@pytest.mark.parametrize("info", TESTS, ids=lambda info: info.name)
def test_every_parameter_of_the_signature_is_declared(info):
    declared = set(parameters_of(info.cls))
    assert set(inspect.signature(info.cls).parameters) == declared
    assert {each.name for each in fields(info.cls)} == declared
    test = quick(info)
    assert clone(test).get_params() == test.get_params()
    for name, (each, allowed) in parameters_of(info.cls).items():
        allowed.check(name, each.default)
        assert allowed.doc.endswith("."), f"{name}: {allowed.doc}"
        assert f"\n{name}\n" in info.cls.__doc__


@pytest.mark.parametrize(("info", "name"), PARAMETERS)
def test_a_wrong_value_is_our_error_and_an_allowed_one_runs(info, name):
    _, allowed = parameters_of(info.cls)[name]
    for kind, value in WRONG.items():
        test = quick(info, random_state=3) if name != "random_state" else quick(info)
        test.set_params(**{name: value})
        if allowed.accepts(value):
            try:
                result = test.test(*rows(info))
            except SpectralCITError:
                continue  # allowed on its own, but not with these rows or beside another parameter
            assert 0 < result.pvalue <= 1, kind
            continue
        with pytest.raises(ParameterError) as refused:
            test.test(*rows(info))
        assert str(refused.value).startswith(f"{name} must be {allowed.words}; got "), kind


@pytest.mark.parametrize(("info", "name"), PARAMETERS)
def test_numpy_scalars_are_welcome(info, name):
    each, allowed = parameters_of(info.cls)[name]
    kinds = {int: np.int64, float: np.float64, bool: np.bool_, str: np.str_}
    if type(each.default) in kinds:
        allowed.check(name, kinds[type(each.default)](each.default))


class Declared(BaseCITest):
    """A test with one parameter of each kind.

    Notes
    -----
    Only for these tests.
    """

    count: int = integer(3, "How many.", least=1, most=9, also=("auto", None))
    share: float = real(0.5, "How much.", above=0, most=1)
    way: str = choice("up", "Where to.", "up", "down", other="a function", accepts=callable)
    loud: bool = flag(False, "Whether to speak.")
    thing: object = anything(
        (), "What else.", words="a tuple", accepts=lambda value: isinstance(value, tuple)
    )

    def _run(self, data, seed):
        return Outcome(0.0, 0.5, NullDistribution("normal"), diagnostics={"count": self.count})


X, Y = np.random.default_rng(0).normal(size=(2, 30))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": 10}, "count must be an integer from 1 to 9, or 'auto' or None; got 10."),
        ({"count": True}, "count must be an integer from 1 to 9, or 'auto' or None; got True."),
        ({"count": 2.0}, "count must be an integer from 1 to 9, or 'auto' or None; got 2.0."),
        (
            {"count": "atuo"},
            "count must be an integer from 1 to 9, or 'auto' or None; got 'atuo'. Did you mean 'auto'?",
        ),
        ({"share": 0}, "share must be a finite number above 0 and of at most 1; got 0."),
        ({"share": np.nan}, "share must be a finite number above 0 and of at most 1; got nan."),
        ({"way": "dwon"}, "way must be 'up' or 'down' or a function; got 'dwon'. Did you mean 'down'?"),
        ({"way": ["up"]}, "way must be 'up' or 'down' or a function; got ['up']."),
        ({"loud": 1}, "loud must be True or False; got 1."),
        ({"thing": list(range(100))}, "thing must be a tuple; got [0, 1, 2, 3, 4, 5, ...]."),
        (
            {"random_state": 2**32},
            "random_state must be an integer from 0 to 4294967295, a numpy.random.Generator or None; got "
            "4294967296.",
        ),
        (
            {"missing": "impute it"},
            "missing must be 'raise', 'drop' or 'impute'; got 'impute it'. Did you mean 'impute'?",
        ),
    ],
)
def test_the_error_names_parameter_value_and_what_is_allowed(given, message):
    with pytest.raises(ParameterError) as refused:
        Declared(**given).test(X, Y)
    assert str(refused.value) == message


def test_values_are_stored_as_given_and_used():
    marker = object()
    assert Declared(thing=marker).thing is marker
    result = Declared(count=np.int64(4), share=np.float32(0.25), loud=np.bool_(True), way=len).test(X, Y)
    assert result.diagnostics["count"] == 4


def test_a_value_that_cannot_even_be_compared_is_refused():
    with pytest.raises(ParameterError, match="share must be"):
        Declared(share=np.array([0.1, 0.2])).test(X, Y)
    with pytest.raises(ParameterError, match="way must be"):
        Declared(way=np.array(["up", "down"])).test(X, Y)


def test_the_docstring_is_made_from_the_declarations():
    text = Declared.__doc__
    assert text.index("A test with one parameter") < text.index("Parameters") < text.index("Notes")
    assert text.index("\ncount\n") < text.index("\nrandom_state\n")
    assert "How much. It is a finite number above 0 and of at most 1; 0.5 unless given." in text


def test_bad_parameters_are_named_before_bad_data():
    with pytest.raises(ParameterError, match="count must be"):
        Declared(count=0).test([], [])
