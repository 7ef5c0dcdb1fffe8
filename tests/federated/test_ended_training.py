"""The end of a training of an ensemble, without any training."""

import warnings
from types import SimpleNamespace

import pytest

from sklearn_deid.exceptions import TrainingInterruptedWarning
from sklearn_deid.federated.ended_training import ended_taggers, tell_interruption
from sklearn_deid.federated.history import EpochRecord, History

WORKERS = [SimpleNamespace(name=name) for name in ("a", "b")]


def history_of(*names, interrupted=True):
    history = History()
    for name in names:
        history.add(EpochRecord(name, 1))
    history.interrupted = interrupted
    return history


def test_only_an_interruption_is_told():
    tell_interruption(history_of(interrupted=False), WORKERS)
    with pytest.warns(TrainingInterruptedWarning, match="after 1 complete local epochs of each worker"):
        tell_interruption(history_of("a", "b", "a"), WORKERS)


@pytest.mark.parametrize("names", [(), ("a", "a")])
def test_first_weights_of_a_worker_are_no_result(names):
    with pytest.raises(KeyboardInterrupt):
        tell_interruption(history_of(*names), WORKERS)


def test_a_search_ends_as_well():
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt, match="was interrupted"):
        warnings.simplefilter("error")
        tell_interruption(history_of("a", "b"), WORKERS)


@pytest.mark.parametrize("keeps_seeds", [False, True])
def test_learners_end_before_their_tagger_is_kept(keeps_seeds):
    calls, params = [], []
    tagger = SimpleNamespace(set_params=lambda **changed: params.append(changed) or tagger)
    steps = {name: (lambda name=name: calls.append(name)) for name in ("stop", "settle", "finish")}
    learner = SimpleNamespace(tagger=tagger, stop=steps["stop"], finish=steps["finish"])
    worker = SimpleNamespace(learner=learner, settle=steps["settle"])
    assert ended_taggers([worker], keeps_seeds=keeps_seeds) == [tagger]
    assert calls == ["stop", "settle", "finish"] and params == ([] if keeps_seeds else [{"random_state": None}])
