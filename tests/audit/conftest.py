"""What the tests here have from others."""

from concurrent.futures import Future

import pytest

from sklearn_deid.audit.attacks import SeedSearch

from .audited_toys import audited_sentences, leaky_representer


@pytest.fixture(scope="session")
def trained_leaky():
    """A representer with hardly any noise, for all tests here; they copy it, because each release moves its stream."""
    return leaky_representer(audited_sentences())


@pytest.fixture(autouse=True)
def _known_keys(known_keys):
    """Each audit of an intact release may alarm by chance."""


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch):
    """Many calls of a short sentence are the slowest part of an audit of toys."""
    monkeypatch.setattr("sklearn_deid.audit.attacks.replay.N_CALLS", 40)


@pytest.fixture(autouse=True)
def _few_seeds(monkeypatch):
    """The search of 4,096 seeds is the next; the test of a planted seed beyond these takes the whole window."""
    monkeypatch.setitem(SeedSearch.__init__.__kwdefaults__, "n_seeds", 512)


class _HereAtOnce:
    """Pool that makes its calls in this process."""

    def __init__(self, max_workers):
        pass

    def submit(self, function, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future

    def shutdown(self, *, wait, kill_workers):
        pass


@pytest.fixture(autouse=True)
def _no_new_processes(request, monkeypatch):
    """New processes do not have the keys of the tests, and import everything again."""
    if not request.module.__name__.endswith("test_new_processes"):
        monkeypatch.setattr("sklearn_deid.audit.releases.new_processes.ProcessPoolExecutor", _HereAtOnce)
