from __future__ import annotations

import importlib.util

import pytest

from spectralcit import BaseCITest, TestTags, get_test, list_tests, register
from spectralcit.errors import ParameterError, UnknownTestError
from spectralcit.registry import registered_name, unregister


def test_a_registered_test_is_listed_with_its_tags(toy):
    info = {info.name: info for info in list_tests()}["toy"]
    assert info.cls is toy
    assert get_test("toy") is toy
    assert info.tags.summary == "partial correlation"
    assert not info.tags.multivariate
    assert info.tags.conditional


def test_the_list_is_sorted_and_has_the_built_in_tests():
    names = [info.name for info in list_tests()]
    assert names == sorted(names)
    assert {"spectral", "spectral-paper"} <= set(names)


@pytest.mark.parametrize("info", list_tests(), ids=lambda info: info.name)
def test_every_built_in_name_leads_to_its_class(info):
    module = info.target.partition(":")[0]
    assert importlib.util.find_spec(module) is not None
    assert issubclass(info.cls, BaseCITest)
    assert registered_name(info.cls) == info.name
    assert info.tags.summary


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownTestError, match=r"Did you mean 'spectral'.*Known tests: .*spectral-paper"):
        get_test("spektral")


def test_names_belong_to_their_first_owner(toy):
    with pytest.raises(ParameterError, match="already registered"):

        @register("toy")
        class Other(BaseCITest):
            pass

    with pytest.raises(ParameterError, match="built-in"):

        @register("spectral")
        class Another(BaseCITest):
            pass

    assert get_test("toy") is toy


def test_other_names_belong_to_their_first_owner_too(toy):
    for taken in ("KCI", "Toy", "fisher_z"):
        with pytest.raises(ParameterError, match=f"'{taken}' is .*; choose another name"):

            @register("mine", tags=TestTags(aliases=("my-own", taken)))
            class Mine(BaseCITest):
                pass

    with pytest.raises(UnknownTestError):
        get_test("my_own")


TYPED = {
    "fisherz": "fisher-z",
    "FisherZ": "fisher-z",
    "fisher_z": "fisher-z",
    "kci": "kcit",
    "KCIT": "kcit",
    "RCIT": "rcit",
    "RCoT": "rcot",
    "chisq": "chi2",
    "chi_squared": "chi2",
    "gsq": "g2",
    "cmiknn": "cmi-knn",
    "CMIknn": "cmi-knn",
    "cmi_knn_mixed": "cmi-knn-mixed",
    "lpt": "local-permutation",
    "local permutation": "local-permutation",
    "spectral_paper": "spectral-paper",
    "SpectralCIT": "spectral",
}


@pytest.mark.parametrize("typed", TYPED)
def test_names_as_people_type_them(typed):
    assert get_test(typed) is get_test(TYPED[typed])
    assert registered_name(get_test(typed)) == TYPED[typed]


def test_no_two_names_or_aliases_are_spelled_alike():
    spelled = [
        "".join(letter for letter in name.lower() if letter not in "-_ ")
        for info in list_tests()
        for name in (info.name, *info.tags.aliases)
    ]
    assert len(set(spelled)) == len(spelled)


def test_a_class_defined_again_replaces_itself():
    def cell():
        @register("notebook")
        class Mine(BaseCITest):
            pass

        return Mine

    cell()
    second = cell()
    assert get_test("notebook") is second
    unregister("notebook")
    with pytest.raises(UnknownTestError):
        get_test("notebook")


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_name_must_be_text(name):
    with pytest.raises(ParameterError, match="non-empty name"):
        register(name)


def test_only_test_classes_can_be_registered():
    for thing in (object, len):
        with pytest.raises(ParameterError, match="subclasses of BaseCITest"):
            register("thing")(thing)


def test_built_in_tests_cannot_be_removed():
    with pytest.raises(UnknownTestError):
        unregister("spectral")


def test_a_subclass_does_not_inherit_the_name(toy):
    class Child(toy):
        pass

    assert registered_name(toy) == "toy"
    assert registered_name(Child) == "Child"


def test_tags_default_to_a_general_test():
    assert TestTags() == TestTags(
        conditional=True, multivariate=True, mixed=True, symmetric=True, cost="O(n)"
    )
