from __future__ import annotations

import json
import subprocess
import sys

import pytest

import spectralcit

HEAVY = ["jax", "equinox", "optax", "matplotlib", "pandas", "polars", "sklearn", "scipy"]
PROBE = f"""
import json, sys
import spectralcit
names = [info.name for info in spectralcit.list_tests()]
print(json.dumps([[name for name in {HEAVY} if name in sys.modules], names]))
"""


def test_import_loads_nothing_heavy():
    """Heavy modules are what makes an import slow; seconds would tell of the machine."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    heavy, names = json.loads(done.stdout)
    assert heavy == []
    assert "spectral" in names


@pytest.mark.parametrize("name", spectralcit.__all__)
def test_every_public_name_exists_and_is_documented(name):
    value = getattr(spectralcit, name)
    assert name in dir(spectralcit)
    if callable(value):
        assert value.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spectralcit.nothing  # noqa: B018
