import pytest

from spectralcit.discovery.store import PValueStore
from spectralcit.errors import ParameterError

RESULTS = [((0, 1, ()), 0.1 + 0.2), ((0, 2, (1, 3)), 5e-324), ((1, 2, ()), 1.0)]


def test_what_was_stored_is_read_again_exactly(tmp_path):
    path = tmp_path / "p.jsonl"
    PValueStore(path, "k").add(RESULTS[:2])
    PValueStore(path, "k").add(RESULTS[2:])
    assert PValueStore(path, "k").known == dict(RESULTS)
    assert PValueStore(path, "other data").known == {}


@pytest.mark.parametrize("cut", [2, 10, 40])
def test_a_torn_last_line_is_ignored_and_the_file_stays_usable(tmp_path, cut):
    path = tmp_path / "p.jsonl"
    PValueStore(path, "k").add(RESULTS)
    path.write_bytes(path.read_bytes()[:-cut])
    store = PValueStore(path, "k")
    assert store.known == dict(RESULTS[:2])
    store.add(RESULTS[2:])
    assert PValueStore(path, "k").known == dict(RESULTS)


def test_a_torn_first_line(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"ke')
    PValueStore(path, "k").add(RESULTS)
    assert PValueStore(path, "k").known == dict(RESULTS)


def test_a_file_of_another_kind_is_not_touched(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="another kind"):
        PValueStore(path, "k")
    assert path.read_text() == "a,b\n1,2\n"
