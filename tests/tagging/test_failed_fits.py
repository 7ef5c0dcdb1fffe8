"""Trainings that fail or are interrupted leave no tagger of first weights, and none of two fits."""

import warnings

import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold
from skorch.callbacks import Callback

from sklearn_deid import (
    DeidTagger,
    HybridTagger,
    NoteDeidentifier,
    RecallTunedTagger,
    RuleTagger,
    TemperatureScaledTagger,
    VotingTagger,
    make_clinical_notes,
)
from sklearn_deid.exceptions import SequenceError, TrainingInterruptedWarning
from sklearn_deid.tagging import SelfTraining

from .conftest import SMALL, make_sentences


class Breaks(Callback):
    """Raise an error at a batch, or after an epoch, of a certain epoch."""

    def __init__(self, error, epoch=1, after=False):
        self.error, self.epoch, self.after = error, epoch, after

    def on_batch_end(self, net, **kwargs):
        if len(net.history) == self.epoch and not self.after:
            raise self.error

    def on_epoch_end(self, net, **kwargs):
        if len(net.history) == self.epoch and self.after:
            raise self.error


@pytest.fixture(scope="module")
def data():
    return make_sentences(24)


def tagger(**parameters):
    return DeidTagger(**{**SMALL, "max_epochs": 3, **parameters})


@pytest.fixture(scope="module")
def expected(data):
    """Tags of a tagger whose training did not fail."""
    X, y, _ = data
    return tagger().fit(X, y).predict(X).tolist()


def is_unfitted(estimator, X):
    with pytest.raises((ValueError, AttributeError), match=r"not (fitted|initialized) yet"):
        estimator.predict(X)
    return True


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("was_fitted", [False, True])
def test_a_training_that_ends_in_its_first_epoch_leaves_no_network(data, expected, error, was_fitted):
    X, y, _ = data
    broken = tagger()
    if was_fitted:
        broken.fit(X, y)
    broken.set_params(callbacks=[Breaks(error)])
    with pytest.raises(type(error)):
        broken.fit(X, y)
    assert is_unfitted(broken, X)
    with pytest.raises(ValueError, match="not fitted yet"):
        NoteDeidentifier(broken).redact(["Seen today."])
    assert broken.set_params(callbacks=None).fit(X, y).predict(X).tolist() == expected


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_a_first_partial_fit_that_fails_leaves_no_network(data, error):
    """The tagger kept its initial weights, and the notes that it redacted came back almost as they were."""
    X, y, _ = data
    broken = tagger(callbacks=[Breaks(error)])
    with pytest.raises(type(error)):
        broken.partial_fit(X, y)
    assert is_unfitted(broken, X)
    tags = broken.set_params(callbacks=None).partial_fit(X, y).predict(X).tolist()
    assert tags == tagger().partial_fit(X, y).predict(X).tolist()
    later = tagger(callbacks=[Breaks(error, epoch=2)]).partial_fit(X, y)
    with pytest.raises(type(error)):
        later.partial_fit(X, y)
    assert len(later.predict(X)) == len(X), "a trained network stays"


def test_an_interrupted_training_warns(data):
    X, y, _ = data
    stopped = tagger(callbacks=[Breaks(KeyboardInterrupt(), epoch=3)])
    with pytest.warns(TrainingInterruptedWarning, match="after 2 of 3 epochs"):
        stopped.fit(X, y)
    assert len(stopped.predict(X)) == len(X)


@pytest.mark.parametrize(
    "several",
    [
        lambda one: RecallTunedTagger(one, target_recall=0.1, cv=2),
        lambda one: TemperatureScaledTagger(one, cv=2, refit=True),
        lambda one: VotingTagger([("a", one), ("b", one)]),
        lambda one: VotingTagger([("a", GridSearchCV(one, {"lr": [1e-3, 2e-3]}, cv=GroupKFold(2)))]),
    ],
)
def test_an_interruption_ends_several_trainings(data, several):
    """The final tagger, trained for an epoch, had the threshold and the stated recall of folds with all epochs."""
    X, y, groups = data
    stopped = several(tagger(callbacks=[Breaks(KeyboardInterrupt(), epoch=2)]))
    with pytest.raises(KeyboardInterrupt, match="after 1 of 3 epochs"):
        stopped.fit(X, y, groups=groups)
    assert is_unfitted(stopped, X)


def test_an_interruption_of_a_teacher_ends_self_training(data):
    X, y, groups = data
    stopped = tagger(callbacks=[Breaks(KeyboardInterrupt(), epoch=2)])
    with pytest.raises(KeyboardInterrupt, match="after 1 of 3 epochs"):
        SelfTraining().fit_student(stopped, X, y, groups, X, groups)


def test_an_interruption_of_the_only_training_keeps_its_weights(data):
    X, y, groups = data
    stopped = RecallTunedTagger(
        tagger(callbacks=[Breaks(KeyboardInterrupt(), epoch=2)]), target_recall=0.1, min_precision=0, cv=0.5
    )
    with pytest.warns(TrainingInterruptedWarning, match="after 1 of 3 epochs"):
        stopped.fit(X, y, groups=groups)
    assert stopped.report_.n_patients


def test_a_callback_that_stops_after_an_epoch_does_not_warn(data):
    X, y, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = tagger(callbacks=[Breaks(KeyboardInterrupt(), after=True)]).fit(X, y)
    assert len(stopped.history) == 1


def broken(*args, **kwargs):
    raise MemoryError


def test_a_failed_continuation_keeps_the_network(data, monkeypatch):
    X, y, _ = data
    known = tagger(warm_start=True).fit(X, y)
    monkeypatch.setattr(DeidTagger, "fit_loop", broken)
    with pytest.raises(MemoryError):
        known.fit(X, y)
    assert len(known.predict(X)) == len(X)


def test_a_failed_fit_of_notes_leaves_no_deidentifier():
    notes = make_clinical_notes(4, random_state=0)
    deidentifier = NoteDeidentifier(tagger(max_epochs=1)).fit(notes)
    with pytest.raises(SequenceError, match="No class is a tag of PHI"):
        deidentifier.fit([type(note)(note.doc_id, note.text) for note in notes])
    assert not [name for name in vars(deidentifier) if name.endswith("_")]
    with pytest.raises(ValueError, match="not fitted yet"):
        deidentifier.redact(["Seen today."])


def test_a_fit_without_raw_notes_tells_of_none():
    notes = make_clinical_notes(4, random_state=0)
    deidentifier = NoteDeidentifier(RuleTagger())
    deidentifier.raw_notes_ = {"read": 7}
    assert not hasattr(deidentifier.fit(notes), "raw_notes_")


@pytest.mark.parametrize(
    "estimator",
    [
        RecallTunedTagger(tagger(max_epochs=1), target_recall=0.5, confidence=None, cv=2, random_state=0),
        TemperatureScaledTagger(tagger(max_epochs=1), random_state=0),
        HybridTagger(RuleTagger(), tagger(max_epochs=1)),
        VotingTagger([("tagger", tagger(max_epochs=1))]),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:The precision on the held-out patients")
def test_a_failed_fit_leaves_no_mixture_of_two_fits(data, estimator, monkeypatch):
    X, y, groups = data
    estimator.fit(X, y, groups=groups)

    # The last steps of the four fits.
    monkeypatch.setattr("sklearn_deid.tagging.recall_tuned_tagger.threshold_of", broken)
    monkeypatch.setattr("sklearn_deid.tagging.temperature_scaled_tagger._best_temperature", broken)
    monkeypatch.setattr(VotingTagger, "_know_labels", broken)
    monkeypatch.setattr(RuleTagger, "predict", broken)
    with pytest.raises(MemoryError):
        estimator.fit(X, y, groups=groups)
    assert is_unfitted(estimator, X)
