"""What tests of the hosts share: answers, each computed once, and p-values that causal-learn looks up."""

from __future__ import annotations

import pytest

from spectralcit.discovery.queries import QueryTester

_ANSWERS: dict = {}


@pytest.fixture
def remembered(monkeypatch):
    """Answers are kept across tests under the fingerprint of tester and data."""
    compute = QueryTester._compute

    def remember(self, query):
        key = self.fingerprint, query
        if key not in _ANSWERS:
            _ANSWERS[key] = compute(self, query)
        return _ANSWERS[key]

    monkeypatch.setattr(QueryTester, "_compute", remember)


@pytest.fixture(scope="session")
def from_table():
    """A test of causal-learn, under the name "from-table", that looks up p-values in its ``table``."""
    pytest.importorskip("causallearn")
    from causallearn.utils.cit import CIT_Base, register_ci_test

    class FromTable(CIT_Base):
        table: dict = {}

        def __init__(self, data, **kwargs):
            super().__init__(data, **kwargs)
            self.method = "from-table"

        def __call__(self, x, y, given=None):
            i, j = sorted((int(x), int(y)))
            return self.table[i, j, tuple(sorted(int(k) for k in given or ()))]

    register_ci_test("from-table", FromTable)
    return FromTable
