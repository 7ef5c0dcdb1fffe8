"""The tagger learns on from a representation that stands still."""

import dataclasses

import numpy as np
import pytest
import torch

from sklearn_deid.representations import (
    BoundedSettings,
    PairBatches,
    TrainingLog,
    deid_scores,
    fine_tune_tagger,
    rate_factor,
    train_bounded,
)

from .toy_models import chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import toy_pairs

SETTINGS = BoundedSettings(n_epochs=4, n_finish_epochs=10, lr=1e-2)


def finished(model, notes, settings=SETTINGS, log=None, seed=0):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return fine_tune_tagger(model, notes, settings=settings, log=log or TrainingLog(), **chance(seed))


def test_only_the_tagger_changes_and_it_learns():
    """A tagger that knows nothing learns to read a representer that was trained with another."""
    model, (train, valid) = small_model(noise=0.5), toy_batches(300)
    loose = dataclasses.replace(SETTINGS, n_epochs=20, n_finish_epochs=0, max_attack_accuracy=0.56)
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        train_bounded(model, train, valid, settings=loose, **chance())
    model.tagger = small_model(seed=1).tagger
    representer, tagger = weights(model.representer), weights(model.tagger)
    assert deid_scores(model, valid, torch.Generator().manual_seed(0))["token_f1"] < 0.5
    log = TrainingLog()
    assert not finished(model, train, dataclasses.replace(SETTINGS, n_finish_epochs=20), log)
    assert deid_scores(model, valid, torch.Generator().manual_seed(0))["token_f1"] > 0.9
    assert same_weights(representer, weights(model.representer)) and not same_weights(tagger, weights(model.tagger))
    assert [row["phase"] for row in log.rows] == ["finish"] * 20
    # The representer can be trained again.
    assert all(p.requires_grad for p in model.representer.parameters())


def test_noise_is_drawn_anew_in_each_epoch():
    """With the noise of one epoch in all of them the losses of two epochs without learning would be equal."""
    model, (train, _) = small_model(noise=1.0), toy_batches()
    model.tagger.output_dropout.p = 0.0
    log = TrainingLog()
    finished(model, train, dataclasses.replace(SETTINGS, n_finish_epochs=2, lr=1e-12, span_swap=0.0), log)
    first, second = (row["train_deid_loss"] for row in log.rows)
    assert first != second and first == pytest.approx(second, rel=0.2)


def test_after_bounded_training_it_reads_all_notes_and_leaves_bound_and_streams_alone():
    train, valid = toy_batches()
    every = PairBatches(toy_pairs(200, seed=2))
    models, results, next_numbers = [], [], []
    for n_epochs, notes in ((0, None), (2, None), (2, every)):
        model, streams = small_model(), chance()
        with torch.random.fork_rng([]):
            torch.manual_seed(0)
            settings = dataclasses.replace(SETTINGS, n_finish_epochs=n_epochs)
            results.append(train_bounded(model, train, valid, settings=settings, notes=notes, **streams))
        models.append(model)
        next_numbers.append(streams["rng"].random())
    bounds, representers, taggers = (
        [r.bound for r in results],
        [weights(m.representer) for m in models],
        [weights(m.tagger) for m in models],
    )
    assert bounds[0] == bounds[1] == bounds[2] and len(set(next_numbers)) == 1
    assert same_weights(representers[0], representers[1]) and same_weights(representers[0], representers[2])
    assert not same_weights(taggers[0], taggers[1]) and not same_weights(taggers[1], taggers[2])


def test_interruption_keeps_what_was_learnt():
    class Stopping(TrainingLog):
        def record(self, phase, **numbers):
            super().record(phase, **numbers)
            raise KeyboardInterrupt

    model, (train, _) = small_model(), toy_batches()
    before = weights(model.tagger)
    assert finished(model, train, log=Stopping())
    assert not same_weights(before, weights(model.tagger))
    assert all(torch.isfinite(v).all() for v in weights(model.tagger).values())
    assert all(p.requires_grad for p in model.representer.parameters())


def test_rate_falls_in_the_second_half():
    rates = [rate_factor(epoch, 10) for epoch in range(10)]
    assert rates[:6] == [1.0] * 6 and (np.diff(rates[5:]) < 0).all() and rates[-1] == pytest.approx(0.2)
