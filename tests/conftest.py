"""Settings of all tests."""

import gc
import linecache
import logging
import os
from functools import cache
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import settings

# Sums of several threads round differently from those of the single thread of a process of joblib.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What tests load and keep, modules and themselves at first, is no garbage, and searched a tenth as often.
gc.set_threshold(*gc.get_threshold()[:2], 100)

# The same examples in every run, and no test that fails because the machine was busy.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_finish(session):
    """Leave the modules and the tests themselves out of all garbage collections, which are many times as fast, and let
    the fifty loggers of PyTorch pass their records on.

    A run of few tests gains nothing, and hypothesis 6.100 calls a test of the oldest versions flaky then.
    """
    # Each doctest looks whether any of these files was changed since the collection read it.
    linecache.clearcache()
    if len(session.items) > 2000:
        gc.collect()
        gc.freeze()
        # For each test, pytest puts a handler three times on each logger that keeps its records to itself.
        for name, logger in logging.root.manager.loggerDict.items():
            if name.startswith("torch") and isinstance(logger, logging.Logger):
                logger.propagate = True
        # Counting walks along all that is frozen, for a tenth of a second, and each command of a test wants to know.
        gc.get_freeze_count = cache(gc.get_freeze_count)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Set the global generators, which a test would otherwise find as the tests before it left them.

    ``torch.manual_seed`` would keep a list of all its calls for a CUDA device that is not there.
    """
    torch.default_generator.manual_seed(0)
    np.random.seed(0)


@pytest.fixture
def known_keys(monkeypatch, request):
    """Keys and seeds from the name of the test, where it sets none.

    Statistical checks raise false alarms, at most once in 1,000, and a random surrogate can be its original.
    """
    draw_known_keys(monkeypatch, request.node.name)


def draw_known_keys(monkeypatch, name):
    """Draw keys from a name instead of the operating system, and seeds where nobody sets one."""
    unseeded, seeds = np.random.default_rng, Random(f"seeds of {name}")
    monkeypatch.setattr("secrets.randbits", Random(name).getrandbits)
    monkeypatch.setattr("secrets.token_bytes", Random(f"bytes of {name}").randbytes)
    monkeypatch.setattr(
        "numpy.random.default_rng", lambda seed=None: unseeded(seeds.getrandbits(128) if seed is None else seed)
    )


@pytest.fixture(scope="session")
def kept():
    """Two new processes that audits of several modules share."""
    from tests.audit.kept_processes import Kept

    pools = Kept()
    yield pools
    pools.close()


@pytest.fixture
def kept_processes(kept, monkeypatch):
    """Audits ask the shared processes; `test_new_processes` tells what these are."""
    monkeypatch.setattr("sklearn_deid.audit.releases.new_processes.ProcessPoolExecutor", kept.pool)


@pytest.fixture(scope="session")
def sentences():
    """Small annotated sentences, for all rooms."""
    from tests.tagging.conftest import make_sentences

    return make_sentences(120)


@pytest.fixture(scope="session")
def fitted(sentences):
    """A tagger trained on them once, for all rooms. Do not fit or change it."""
    from sklearn_deid import DeidTagger
    from tests.tagging.conftest import SMALL

    X, y, groups = sentences
    return DeidTagger(**SMALL).fit(X, y, groups=groups)
