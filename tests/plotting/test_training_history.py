"""Rows of a training as epochs on one axis."""

import numpy as np
import pytest

from sklearn_deid.plotting.training_history import TrainingHistory


def rows(*phases):
    return [{"phase": phase, "epoch": number, "loss": float(number)} for number, phase in enumerate(phases, 1)]


@pytest.mark.parametrize("seed", range(10))
def test_stretches_hold_every_epoch_once_and_change_at_their_ends(seed):
    drawn = np.random.default_rng(seed).choice(["P1", "P2", "P3a", "P3b", "probe"], size=30).tolist()
    history = TrainingHistory([*rows(*drawn), {"phase": "P1", "epoch": 31}])
    places = [place for one in history.stretches for place in range(one.first, one.last + 1)]
    assert places == list(range(1, len(history.epochs) + 1))
    names = [one.name for one in history.stretches]
    assert all(one != following for one, following in zip(names, names[1:], strict=False))


def test_curve_is_cut_between_phases():
    x, y = TrainingHistory(rows("P1", "P1", "P2")).curve("loss")
    assert np.array_equal(x, [1, 2, np.nan, 3], equal_nan=True)
    assert np.array_equal(y, [1, 2, np.nan, 3], equal_nan=True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"epoch": 1}, "Row 0 .* lacks phase"),
        ({"phase": "P1", "epoch": "one"}, "must hold numbers. Got str for 'epoch'"),
    ],
)
def test_rows_that_are_none_are_refused(row, message):
    with pytest.raises(ValueError, match=message):
        TrainingHistory([row])
