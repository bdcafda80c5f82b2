"""Memory that the machine says is there."""

from spectralcit.numeric import memory


def test_available_memory_is_a_sensible_number():
    assert 2**26 < memory.available_memory() < 2**50
