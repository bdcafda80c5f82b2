"""The hosts ask much the same questions about the same data; each is answered once."""

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
