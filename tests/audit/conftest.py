"""What the tests here have from others."""

import pytest


@pytest.fixture(autouse=True)
def _known_keys(known_keys):
    """Each audit of an intact release may alarm by chance."""


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch):
    """Many calls of a short sentence are the slowest part of an audit of toys."""
    monkeypatch.setattr("sklearn_deid.audit.attacks.replay.N_CALLS", 40)
