"""A training from a model of the package leans to PHI. In another language it is longer, with invented spans."""

import numpy as np
import pytest

from sklearn_deid import DeidTagger, load, load_model, save
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.tagging import tagger as tagger_file
from sklearn_deid.tagging import training_loop
from sklearn_deid.tagging.warm_start import is_in_another_language

GERMAN = [["Herr", "Möller", "wurde", "am", "Montag", "in", "der", "Klinik", "aufgenommen", "."]] * 4
ENGLISH = [["Mr", "Alder", "was", "seen", "in", "the", "clinic", "on", "Monday", "."]] * 4
TAGS = [["O", "B-PATIENT", *["O"] * 8]] * 4
STARTER = {"warm_start_from": "starter-en", "random_state": 0, "device": "cpu", "augmenter": None}


@pytest.fixture
def begun(monkeypatch):
    """Trains for one epoch; returns the tagger, its planned epochs, and the numbers of spans to be invented."""

    def begin(rows, lean=None, **settings):
        numbers, epochs = [], []
        plan = DeidTagger._planned_epochs
        monkeypatch.setattr(tagger_file, "invent_spans", lambda *a: numbers.append(a[3]))
        monkeypatch.setattr(DeidTagger, "_planned_epochs", lambda self, train: epochs.append(plan(self, train)) or 1)
        if lean is not None:
            monkeypatch.setattr(tagger_file, "STARTER_BIAS", lean)
        tagger = DeidTagger(**STARTER, **settings).fit(rows, TAGS)
        monkeypatch.undo()
        return tagger, epochs, numbers

    return begin


def test_in_another_language(begun):
    tagger, epochs, numbers = begun(GERMAN)
    assert tagger.starts_from_tagger_ and tagger.learns_another_language_
    assert numbers == [250]
    assert set(epochs) == {100}, "a batch an epoch: the largest number of epochs"


@pytest.mark.parametrize("rows", [GERMAN, ENGLISH])
def test_leans_to_phi(begun, rows):
    tagger, plain = begun(rows)[0], begun(rows, lean=0.0)[0]
    change = (tagger.module_.emit.bias - plain.module_.emit.bias).detach().numpy()
    assert np.allclose(change, [-1.0, *[0.0] * (len(change) - 1)], atol=1e-6)
    assert np.array_equal(tagger.module_.emit.weight.detach(), plain.module_.emit.weight.detach())


def test_in_its_own_language(begun, monkeypatch):
    monkeypatch.setattr(training_loop, "_FEWEST_FROM_MODEL", 30)
    tagger, epochs, numbers = begun(ENGLISH)
    assert tagger.starts_from_tagger_ and not tagger.learns_another_language_
    assert (numbers, set(epochs)) == ([], {30})


def test_nobody_knows_the_language_of_a_model_of_the_user(tmp_path):
    save(load_model("starter-en"), tmp_path / "own")
    tagger = DeidTagger(**{**STARTER, "warm_start_from": tmp_path / "own"}, max_epochs=1).fit(GERMAN, TAGS)
    assert tagger.starts_from_tagger_ and not tagger.learns_another_language_
    # Whether such a model leans is a choice of the user, too.
    named = DeidTagger(**STARTER, max_epochs=1).fit(ENGLISH, TAGS)
    own = DeidTagger(**{**STARTER, "warm_start_from": tmp_path / "own"}, max_epochs=1).fit(ENGLISH, TAGS)
    change = (named.module_.emit.bias - own.module_.emit.bias).detach()
    assert np.allclose(change, [-1.0, *[0.0] * (len(change) - 1)], atol=1e-6)


def test_saved_trained_further_and_fitted_anew(begun, tmp_path):
    tagger, _, _ = begun(GERMAN, warm_start=True, lr=1e-9)
    save(tagger, tmp_path / "model")
    rows = zip(load(tmp_path / "model").predict_proba(GERMAN), tagger.predict_proba(GERMAN), strict=True)
    assert all(np.allclose(a, b, atol=1e-6) for a, b in rows)
    leaning = tagger.module_.emit.bias.detach().clone()
    tagger.set_params(max_epochs=1).fit(GERMAN, TAGS)
    assert np.allclose(tagger.module_.emit.bias.detach(), leaning, atol=1e-4), "it leans no further"
    tagger.set_params(warm_start=False, warm_start_from=None, hidden_size=4).fit(GERMAN, TAGS)
    assert not tagger.learns_another_language_


@pytest.mark.parametrize("start", [None, "some/folder", 3])
def test_other_starts_have_no_known_language(start):
    assert not is_in_another_language(start, TokenSequences.from_rows(GERMAN))
