"""Too few notes for the bound asked: a warning before the training; progress of long trainings."""

import warnings

import numpy as np
import pytest

from sklearn_deid import PrivateRepresenter
from sklearn_deid.exceptions import FewNotesWarning
from sklearn_deid.representations import Bounded, TrainingLog
from sklearn_deid.representations import private_model as module
from sklearn_deid.representations.few_notes import ALONE, FROM_PUBLIC, expected_loss, warn_of_few_notes

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY


@pytest.mark.parametrize(("table", "public"), [(ALONE, False), (FROM_PUBLIC, True)])
def test_loss_is_the_measured_one_or_between_two_measured_ones(table, public):
    for tokens, loss in table:
        assert expected_loss(tokens, public) == pytest.approx(loss)
    for n in (1, 100, 2_000, 10_000, 50_000, 10**7):
        place = np.searchsorted([row[0] for row in table], n)
        low, high = (np.clip(place + i, 0, len(table) - 1) for i in (-1, 0))
        ends = sorted((table[low][1], table[high][1]))
        assert ends[0] - 1e-9 <= expected_loss(n, public) <= ends[1] + 1e-9
        assert expected_loss(n, True) <= expected_loss(n, False)


def test_warning_names_tokens_and_loss():
    with pytest.warns(FewNotesWarning, match=r"X has 1,500 PHI tokens that can move.*points below") as caught:
        warn_of_few_notes(1_500, Bounded(), False)
    assert f"about {expected_loss(1_500, False):.0f} points" in str(caught[0].message)
    with pytest.warns(FewNotesWarning, match=r"F1 0 \(notes like the public ones\) to 22 points below"):
        warn_of_few_notes(3_800, Bounded(), True)


@pytest.mark.parametrize(("n", "training"), [(10**8, Bounded()), (10, Bounded(max_attack_accuracy=0.7))])
def test_no_warning_where_the_loss_is_small_or_unknown(n, training):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_few_notes(n, training, False)


def test_warning_comes_before_the_training(monkeypatch):
    X, y, groups = make_sentences(20)
    monkeypatch.setattr(Bounded, "train", lambda *_: pytest.fail("trained"))
    with warnings.catch_warnings(), pytest.raises(FewNotesWarning):
        warnings.simplefilter("error", FewNotesWarning)
        PrivateRepresenter(**TINY).fit(X, y, np.array(groups))


# ---- progress


@pytest.mark.parametrize(
    ("verbose", "seconds", "shown"), [(0, 11.0, True), (0, 0.01, False), (-1, 11.0, False), (1, 11.0, False)]
)
def test_progress_of_long_trainings(monkeypatch, capsys, verbose, seconds, shown):
    now = iter(seconds * i for i in range(10))
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(now))
    log = TrainingLog(verbose, n_epochs=20)
    for _ in range(3):
        log.record("bounded", loss=1.0)
    out, err = capsys.readouterr()
    assert (err.count("epoch") == 3) == shown and bool(out) == (verbose == 1)
    if shown:
        assert "epoch 3 of at most 20, about 3.1 minutes left" in err
