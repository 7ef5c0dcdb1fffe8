"""Order of a saved release: any regular order is named, a random one is not."""

import numpy as np
import pytest

from sklearn_deid.audit.attacks import FileCheck, SavedSentences

N = 210


def faults(original):
    vectors = np.random.default_rng(0).normal(size=(N, 6))
    released = SavedSentences(
        vectors, np.arange(N + 1), np.zeros(N, bool), None, True, 0.5, 2.0**-6, original=np.asarray(original)
    )
    return FileCheck().attack(released).faults


@pytest.mark.parametrize(
    "original",
    [
        np.arange(N),
        np.arange(N)[::-1],
        np.roll(np.arange(N), 90),
        np.arange(N).reshape(7, 30).T.ravel(),  # dealt out: the first sentence of each of seven parts, the second, ...
        np.arange(N) * 101 % N,
    ],
)
def test_regular_orders_are_named(original):
    assert any("in the order of the notes" in fault for fault in faults(original))


def test_random_orders_are_not_named():
    rng = np.random.default_rng(0)
    assert [fault for _ in range(200) for fault in faults(rng.permutation(N))] == []


def test_numbers_that_are_not_finite_are_named():
    vectors = np.random.default_rng(0).normal(size=(120, 6))
    vectors[5, 2] = np.inf
    none = np.zeros(120, dtype=bool)
    kept = SavedSentences(vectors, np.arange(0, 121, 2), none, None, False, 0.5, 2.0**-6)
    assert FileCheck().attack(kept).faults == ("Some released numbers are not finite.",)
