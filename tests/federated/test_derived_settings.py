"""Defaults of averaging: what they are, and that selective SGD with full exchanges is averaging."""

import math

import numpy as np
import pytest

from sklearn_deid import DeidTagger, DSSGDEnsemble
from sklearn_deid.federated import FederatedAveraging, PatientPrivacy, SparseVectorUpload, make_learner
from sklearn_deid.federated.derived_settings import averaging_rate, averaging_step, divided_batch_size, shared_epochs
from sklearn_deid.federated.ensemble_plan import strategy_of

from ..tagging.conftest import make_sentences
from .small_ensembles import ALL, TINY, parts_of, weights

THREE = {"n_epochs": 2, "random_state": 0}


@pytest.fixture(scope="module")
def parts():
    return parts_of(make_sentences(48), 3)


@pytest.fixture(scope="module")
def default(parts):
    return DSSGDEnsemble(DeidTagger(**TINY), **THREE).fit_workers(parts)


def test_the_default_is_averaging_with_divided_batches(parts, default):
    lr = math.sqrt(3) * DeidTagger(**TINY).lr
    tagger = DeidTagger(**{**TINY, "batch_size": round(TINY["batch_size"] / 3), "lr": lr})
    plain = FederatedAveraging(divide_batches=False)
    by_hand = DSSGDEnsemble(tagger, strategy=plain, server_step=math.sqrt(3), **THREE).fit_workers(parts)
    np.testing.assert_array_equal(weights(default.global_estimator_), weights(by_hand.global_estimator_))
    assert [(tagger.batch_size, tagger.lr) for tagger in default.estimators_] == [(13, lr)] * 3


def test_noise_on_gradients_keeps_the_learning_rate_of_the_tagger(parts, monkeypatch):
    monkeypatch.setattr(
        "sklearn_deid.federated.patient_ledger.epsilon_of_steps", lambda noise, rate, n_steps, delta: 0.01 * n_steps
    )
    labels = sorted({tag[2:] for _, y, _ in parts for tags in y for tag in tags if tag != "O"})
    tagger = DeidTagger(**TINY, class_weight=None)
    private = DSSGDEnsemble(tagger, privacy=PatientPrivacy(8.0), labels=labels, **THREE).fit_workers(parts)
    assert {one.lr for one in private.estimators_} == {tagger.lr}


def test_full_exchanges_with_the_step_of_a_plan_are_averaging(parts, default):
    """What `federate plan` and `federate site` write: parts of the mean, added on arrival."""
    lr = averaging_rate(DeidTagger(**TINY).lr, 3)
    tagger = DeidTagger(**{**TINY, "batch_size": divided_batch_size(TINY["batch_size"], 3), "lr": lr})
    exchange = DSSGDEnsemble(tagger, strategy="dssgd", server_step=1 / 3, **ALL, **THREE).fit_workers(parts)
    mean = DSSGDEnsemble(DeidTagger(**TINY), server_step=1.0, **THREE).fit_workers(parts)
    np.testing.assert_allclose(
        weights(exchange.global_estimator_), weights(mean.global_estimator_), rtol=1e-4, atol=1e-5
    )
    assert averaging_step(3) == math.sqrt(3)


def test_the_last_round_adds_the_mean_itself(parts):
    """The moving average of the weights would otherwise be overshot."""
    start = DSSGDEnsemble(DeidTagger(**TINY), **{**THREE, "n_epochs": 1}, keep_exchange=True).fit_workers(parts)
    before = start.exchange_.downloads()[0].decode().dense()
    mean = np.mean([message.decode().dense() for message in start.exchange_.uploads()], axis=0)
    np.testing.assert_allclose(start._training.parameters - before, mean, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "strategy"),
    [
        ({}, "fedavg"),
        ({"server_step": 0.5}, "fedavg"),
        ({"upload_fraction": 0.1}, "dssgd"),
        ({"max_norm": 3.0}, "dssgd"),
        ({"schedule": "sequential"}, "dssgd"),
        ({"privacy": SparseVectorUpload(1.0)}, "dssgd"),
        ({"privacy": PatientPrivacy(8.0)}, "fedavg"),
        ({"strategy": "fedavg", "upload_fraction": 0.1}, "fedavg"),
    ],
)
def test_auto_never_sends_more_than_was_asked_for(changed, strategy):
    assert strategy_of(DSSGDEnsemble(**changed)) == strategy


def test_a_pass_in_rounds_trains_on_every_sentence_once(parts, monkeypatch):
    """Against the number of sentences: each round trains on another part, and the last round ends the pass."""
    from sklearn_deid.federated import tagger_learner

    seen = []
    plain = tagger_learner.TaggerLearner._plain_epoch

    def watched(learner):
        parts, _ = learner._data
        seen.append((id(learner), len(parts[learner.n_epochs % len(parts)])))
        return plain(learner)

    monkeypatch.setattr(tagger_learner.TaggerLearner, "_plain_epoch", watched)
    strategy = FederatedAveraging(rounds_per_epoch=3)
    ensemble = DSSGDEnsemble(DeidTagger(**TINY), strategy=strategy, **THREE).fit_workers(parts)
    assert ensemble.history_.column("epoch")[-1] == 6
    for learner in {name for name, _ in seen}:
        sizes = [size for name, size in seen if name == learner]
        assert sum(sizes[:3]) == sum(sizes[3:]) == 16 and max(sizes) - min(sizes) <= 1


def test_epochs_follow_the_words_of_all_workers(parts, monkeypatch):
    from sklearn_deid.federated import tagger_learner

    # Epochs are counted, whatever the workers learn in them.
    monkeypatch.setattr(tagger_learner.TaggerLearner, "_plain_epoch", lambda learner: {"train_loss": 0.0})
    n_tokens = sum(len(sentence) for part in parts for sentence in part[0])
    ensemble = DSSGDEnsemble(DeidTagger(**{**TINY, "batch_size": n_tokens}), strategy="local", predict_with="vote")
    assert shared_epochs(n_tokens, n_tokens) == 100
    assert [shared_epochs(n, 900) for n in (45_000, 135_000, 136_000)] == [60, 20, 20]
    batch_size = -(-n_tokens // 100)
    ensemble.set_params(estimator__batch_size=batch_size, random_state=0).fit_workers(parts)
    assert ensemble.history_.column("epoch")[-1] == shared_epochs(n_tokens, batch_size) < 35
    assert shared_epochs(0, 900) == 100


def test_training_starts_from_a_model_of_the_package_without_a_look_at_the_notes():
    from sklearn_deid import load_model
    from sklearn_deid.surrogates.locale_words import LISTED_KINDS
    from sklearn_deid.tagging.warm_start import start_tagger

    tagger = DeidTagger(warm_start_from="starter-en", device="cpu", random_state=0)
    # Lists of the language of the notes would be other inputs at sites of several languages.
    learners = [
        make_learner(
            tagger, [[*words, name]], [[*["O"] * len(words), "B-PATIENT"]], None, ["PATIENT", "WARD"], n_epochs=1
        )
        for words, name in ((["Mr"], "Alder"), ("Se ve desde el lunes por la fiebre a".split(), "García"))
    ]
    first, second = (learner.get_flat() for learner in learners)
    np.testing.assert_array_equal(first, second)
    assert learners[0].layout.fingerprint == learners[1].layout.fingerprint
    source = start_tagger(load_model("starter-en"))
    own, other = learners[0].tagger.module_.encoder.state_dict(), source.module_.encoder.state_dict()
    # The marks of lists, which the starter does not read, have no weight at first.
    read = {name for name in other if own[name].shape == other[name].shape}
    assert all((own[name] == other[name]).all() for name in read)
    for name in other.keys() - read:
        added = own[name].shape[1] - other[name].shape[1]
        assert added == len(LISTED_KINDS)
        assert (own[name] == 0).all(dim=0).sum() == added + (other[name] == 0).all(dim=0).sum()
    assert learners[0].predict([["Mr", "Alder"]])[0] == ["O", "B-PATIENT"]


def test_models_of_somebody_are_no_start(tmp_path):
    with pytest.raises(ValueError, match="'warm_start_from' .* must be None or a model of the package: starter-en"):
        DSSGDEnsemble(DeidTagger(warm_start_from=str(tmp_path))).fit([["a"]], [["O"]], groups=[1])
