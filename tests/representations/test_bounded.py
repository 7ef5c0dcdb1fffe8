"""Bounded training: prices, losses, the scaling of the noise, what is kept, and the fine-tuning of the tagger."""

import copy
import dataclasses
import math

import numpy as np
import pytest
import torch

from sklearn_deid.representations import (
    BoundedSettings,
    DualVariables,
    PairBatches,
    TrainingLog,
    calibrate_noise,
    deid_scores,
    fine_tune_tagger,
    pair_distance,
    pair_distances,
    privacy_bound,
    rate_factor,
    train_bounded,
)
from sklearn_deid.representations.bounded import bounded_losses

from .toy_models import chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import toy_pairs

SHORT = BoundedSettings(n_epochs=3, n_finish_epochs=2, lr=1e-2)


def test_cost_is_a_price_times_the_distance_in_units_of_what_is_allowed():
    duals = DualVariables(BoundedSettings(max_attack_accuracy=0.6, quantile_attack_accuracy=0.7, prices=(2.0, 2.0)))
    a, q = duals.mean_allowed, duals.tail_allowed
    assert 0.5 * (1 + math.erf(a / 2 / math.sqrt(2))) == pytest.approx(0.6)
    distance = torch.tensor([0.0, q, 3 * q])
    assert float(duals.cost(distance)) == pytest.approx(2.0 * (4 * q / 3) / a + 2.0 * (2 * q / 3) / q, rel=1e-5)


def test_prices_rise_while_a_bound_is_missed_and_fall_where_there_is_room():
    for distances, rises in ((torch.full((100,), 5.0), True), (torch.zeros(100), False)):
        duals = DualVariables(BoundedSettings(prices=(1.0, 1.0)))
        duals.follow(distances)
        assert (duals.mean > 1.0) is rises and (duals.tail > 1.0) is rises
        # One epoch moves a price by at most its rate.
        assert abs(math.log(duals.mean)) <= 0.4 + 1e-9


def test_without_a_quantile_the_tail_costs_nothing():
    duals = DualVariables(BoundedSettings(quantile_attack_accuracy=None, prices=(1.0, 1.0)))
    tail = torch.tensor([100.0] + [0.0] * 99)
    duals.follow(tail)
    assert duals.tail == 0.0 and float(duals.cost(tail)) == pytest.approx(duals.mean / duals.mean_allowed, rel=1e-5)


def test_losses_are_those_of_sentence_and_twin():
    model, (train, _) = small_model(noise=0.3).eval(), toy_batches()
    batch = next(train.epoch(None, torch.Generator().manual_seed(0)))
    with torch.no_grad():
        loss, distance = bounded_losses(model, batch, torch.Generator().manual_seed(1))
        representer, generator = model.representer, torch.Generator().manual_seed(1)
        eps = representer.input_noise.draw(batch.embeddings, generator)
        mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)
        expected = model.deid_loss(representer.release(mu, batch.mask, generator=generator), batch)
        moved = representer.mean(batch.moved, batch.pair_mask, input_eps=eps[: batch.n_pairs])
    torch.testing.assert_close(loss, expected)
    n = batch.n_pairs
    torch.testing.assert_close(distance, pair_distance(mu[:n], moved, representer.output_std(), batch.pair_mask))


@pytest.mark.parametrize("kind", ["trainable", "fixed"])
def test_scaling_makes_held_out_pairs_keep_the_bound(kind):
    model, (_, valid) = small_model(noise=0.05, kind=kind), toy_batches()
    duals, generator = DualVariables(BoundedSettings()), torch.Generator().manual_seed(0)
    before, std = weights(model.representer), model.representer.output_std().clone()
    factor = calibrate_noise(model, valid, duals, generator)
    assert factor > 1.0
    bound = privacy_bound(pair_distances(model.representer, valid, generator, n_draws=8))
    assert bound.mean_accuracy.value <= 0.545 and bound.quantile_accuracy.value <= 0.61
    if kind == "fixed":
        assert torch.equal(model.representer.output_std(), std)
    else:
        torch.testing.assert_close(model.representer.output_std(), factor * std)
    # Where the bound is kept already, nothing changes.
    after = weights(model.representer)
    assert calibrate_noise(model, valid, DualVariables(BoundedSettings(0.9, None)), generator) == 1.0
    assert same_weights(after, weights(model.representer)) and not same_weights(after, before)


@pytest.mark.parametrize("n_patients", [6, 30])
def test_noise_is_scaled_for_other_patients_too(n_patients):
    """Of many draws of patients, other patients keep both bounds as often as the limits say."""
    duals, rng = DualVariables(BoundedSettings()), np.random.default_rng(0)

    def pairs(n):
        patients = np.repeat(np.arange(n), 20)
        own = rng.gamma(8.0, size=n)[patients] * rng.gamma(2.0, size=20 * n)  # patients and their sentences differ
        return own * rng.gamma(0.5, size=(16, 20 * n)) / 100, patients

    truth, _ = pairs(10_000)
    mean, tail = truth.mean(), np.quantile(truth, 0.95)
    mean_alone = DualVariables(BoundedSettings(quantile_attack_accuracy=None))
    found = [pairs(n_patients) for _ in range(150)]
    for variables, exact in ((mean_alone, mean / duals.mean_allowed), (duals, tail / duals.tail_allowed)):
        factors = np.array([variables.factor_for_others(*pair) for pair in found])
        assert 0.88 <= (factors >= exact).mean() <= 1.0
        assert np.median(factors) / exact < (1.6 if n_patients == 6 else 1.25)


def test_limits_need_several_patients_and_sentences():
    duals, rng = DualVariables(BoundedSettings()), np.random.default_rng(0)
    distances, one = rng.exponential(size=(16, 200)), np.zeros(200, dtype=int)
    several = duals.factor_for_others(distances, np.arange(200))
    # The sentences of the only patient count as patients; two patients say less about others than 200.
    assert duals.factor_for_others(distances, one) == several
    assert duals.factor_for_others(distances, np.arange(200) // 100) > several
    plain = duals.excess(torch.from_numpy(distances).flatten())
    assert plain < several
    single = duals.factor_for_others(distances[:, :1], one[:1])
    assert single >= duals.excess(torch.from_numpy(distances[:, 0]))


@pytest.fixture(scope="module")
def trained():
    """A model, its log and its result. Do not change the model."""
    model, (train, valid), log = small_model(noise=0.5), toy_batches(300, batch_size=64), TrainingLog()
    settings = BoundedSettings(
        n_epochs=15, n_finish_epochs=15, lr=2e-2, max_attack_accuracy=0.56, quantile_attack_accuracy=0.65
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return model, log, train_bounded(model, train, valid, settings=settings, **chance(), log=log)


def test_training_learns_the_tags_and_keeps_the_bound(trained):
    """PHI and other words differ in one number that no move changes, so both are possible at once."""
    _, log, result = trained
    rows = list(log.of_phase("bounded"))
    assert len(rows) == len(list(log.of_phase("finish"))) == 15 and not result.interrupted
    assert rows[-1]["valid_deid_loss"] < 0.5 * rows[0]["valid_deid_loss"]
    assert rows[-1]["valid_token_f1"] > 0.9
    assert result.bound.mean_accuracy.value <= 0.56 and result.bound.quantile_accuracy.value <= 0.65


def test_equal_seeds_give_equal_weights():
    (train, valid), models = toy_batches(60, 40), [small_model() for _ in range(3)]
    for model, seed in zip(models, (0, 0, 1), strict=True):
        with torch.random.fork_rng([]):
            torch.manual_seed(seed)
            train_bounded(model, train, valid, settings=SHORT, **chance(seed))
    assert same_weights(weights(models[0]), weights(models[1]))
    assert not same_weights(weights(models[0]), weights(models[2]))


def test_interruption_restores_the_best_epoch_and_scales_its_noise():
    class Stopping(TrainingLog):
        def record(self, phase, **numbers):
            super().record(phase, **numbers)
            if len(self.rows) == 3:
                raise KeyboardInterrupt

    model, (train, valid) = small_model(), toy_batches()
    result = train_bounded(model, train, valid, settings=SHORT, **chance(), log=Stopping())
    assert result.interrupted and result.bound.mean_accuracy.value < 0.56
    assert all(torch.isfinite(v).all() for v in weights(model).values())


def test_without_held_out_sentences_or_pairs_there_is_no_bound_to_report():
    train, _ = toy_batches()
    lonely = PairBatches(toy_pairs(20, seed=3, phi_share=0.0))
    for valid in (None, lonely):
        result = train_bounded(small_model(), train, valid, settings=SHORT, **chance())
        assert result.bound is None


def test_errors():
    train, valid = toy_batches()
    with pytest.raises(ValueError, match="needs output noise"):
        train_bounded(small_model(kind="none"), train, valid, settings=SHORT, **chance())
    lonely = PairBatches(toy_pairs(20, phi_share=0.0))
    with pytest.raises(ValueError, match="nothing to bound"):
        train_bounded(small_model(), lonely, valid, settings=SHORT, **chance())
    with pytest.raises(ValueError, match="no pair"):
        privacy_bound(torch.zeros(0))


def test_bound_of_known_distances():
    distances = torch.linspace(0, 2, 1001, dtype=torch.float64)
    bound = privacy_bound(distances, n_releases=4, quantile=0.9)
    accuracy = torch.special.ndtr(distances)  # r = 4 doubles the distance
    assert bound.mean_accuracy.value == pytest.approx(float(accuracy.mean()))
    assert bound.quantile_accuracy.value == pytest.approx(float(accuracy[900]), abs=1e-3)
    assert bound.quantile_accuracy.low <= bound.quantile_accuracy.value <= bound.quantile_accuracy.high
    assert bound.mean_accuracy.low < bound.mean_accuracy.value < bound.mean_accuracy.high
    assert bound.largest_accuracy == pytest.approx(float(accuracy[-1])) and bound.mean_distance == pytest.approx(1.0)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    truth = 0.5 * (1 + math.erf(1 / 2 / math.sqrt(2) * -math.log(0.05)))  # 95 % quantile of an exponential distance
    covered = 0
    for _ in range(200):
        bound = privacy_bound(torch.from_numpy(rng.exponential(size=200)))
        covered += bound.quantile_accuracy.low <= truth <= bound.quantile_accuracy.high
    assert 180 <= covered <= 200


def test_distances_are_of_twins_drawn_anew():
    model, (train, _) = small_model(), toy_batches()
    twice = pair_distances(model.representer, train, torch.Generator().manual_seed(0), n_draws=2)
    n = len(train.pair_rows)
    assert len(twice) == 2 * n and not torch.equal(twice[:n], twice[n:])
    same = copy.deepcopy(model)
    assert torch.equal(twice, pair_distances(same.representer, train, torch.Generator().manual_seed(0), n_draws=2))


SETTINGS = BoundedSettings(n_epochs=4, n_finish_epochs=10, lr=1e-2)


def finished(model, notes, settings=SETTINGS, log=None, seed=0):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return fine_tune_tagger(model, notes, settings=settings, log=log or TrainingLog(), **chance(seed))


def test_only_the_tagger_changes_and_it_learns(trained):
    """A tagger that knows nothing learns to read a representer that was trained with another."""
    model, (train, valid) = copy.deepcopy(trained[0]), toy_batches(300, batch_size=64)
    model.tagger = small_model(seed=1).tagger
    representer, tagger = weights(model.representer), weights(model.tagger)
    assert deid_scores(model, valid, torch.Generator().manual_seed(0))["token_f1"] < 0.5
    log = TrainingLog()
    assert not finished(model, train, dataclasses.replace(SETTINGS, n_finish_epochs=12, lr=3e-2), log)
    assert deid_scores(model, valid, torch.Generator().manual_seed(0))["token_f1"] > 0.9
    assert same_weights(representer, weights(model.representer)) and not same_weights(tagger, weights(model.tagger))
    assert [row["phase"] for row in log.rows] == ["finish"] * 12
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
    train, valid = toy_batches(60, 40)
    every = PairBatches(toy_pairs(100, seed=2))
    models, results, next_numbers = [], [], []
    for n_epochs, notes in ((0, None), (2, None), (2, every)):
        model, streams = small_model(), chance()
        with torch.random.fork_rng([]):
            torch.manual_seed(0)
            settings = dataclasses.replace(SETTINGS, n_epochs=2, n_finish_epochs=n_epochs)
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
