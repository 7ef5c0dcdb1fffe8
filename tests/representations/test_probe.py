"""A probe finds what is there, finds nothing where nothing is, and leaves the representer alone."""

import pytest
import torch

from sklearn_deid.representations import (
    AdversarySettings,
    PairAdversaries,
    PairBatches,
    TrainingLog,
    fit_adversaries,
    pair_accuracy,
    positive_control,
    train_probe,
)

from .toy_models import Copying, D, NoisyCopy, PureNoise, chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import SIZE, toy_pairs


def probe(representer, train_and_valid, seed=0, **options):
    settings = AdversarySettings(hidden_size=16, lr=1e-2, **options)
    return train_probe(representer, *train_and_valid, settings=settings, **chance(seed))


@pytest.mark.parametrize("template", ["noisy", "noise_free"])
def test_strong_probe_reads_a_representer_that_copies(template):
    result = probe(Copying(), toy_batches(300, batch_size=64), n_epochs=20, template=template)
    assert result.accuracies["t2"].value > 0.97
    assert result.accuracies["t1"].value > 0.9
    assert result.strongest.n == 2 * len(toy_batches(300)[1].pair_rows)


def test_paper_probe_reads_a_representer_that_copies():
    result = probe(Copying(), toy_batches(300, batch_size=64), kind="paper", n_epochs=30)
    assert set(result.accuracies) == {"t1", "t2", "average"}
    assert result.accuracies["average"].value > 0.9
    assert len(set(result.epochs.values())) == 1 and set(result.epochs) == set(result.accuracies)


@pytest.mark.parametrize("kind", ["paper", "strong"])
def test_probe_of_pure_noise_is_at_chance(kind):
    result = probe(PureNoise(), toy_batches(200, 300), kind=kind, n_epochs=6)
    for found in result.accuracies.values():
        assert found.covers(0.5)
        assert found.low < found.value < found.high


def test_noise_free_template_reads_what_a_noisy_one_cannot():
    """Where noise hides half, an attacker without noise of his own sees more."""
    data = toy_batches(300, 300, batch_size=64)
    seen = {
        template: probe(NoisyCopy(0.7), data, n_epochs=15, template=template, tasks=("t2",)).strongest
        for template in ("noisy", "noise_free")
    }
    assert seen["noise_free"].value > seen["noisy"].value > 0.5


def test_representer_and_adversaries_to_continue_from_stay_as_they_are():
    representer, data = small_model(kind="none").representer, toy_batches()
    before = weights(representer)
    first = probe(representer, data, n_epochs=2, select="loss")
    kept = weights(first.adversaries)
    second = train_probe(
        representer, *data, settings=AdversarySettings(n_epochs=9), continue_from=first.adversaries, **chance(1)
    )
    assert same_weights(before, weights(representer)) and same_weights(kept, weights(first.adversaries))
    assert all(p.requires_grad for p in representer.parameters())
    assert all(p.grad is None for p in representer.parameters())
    assert (first.continued, second.continued) == (False, True)
    assert not same_weights(kept, weights(second.adversaries))


@pytest.fixture(scope="module")
def found():
    """Probe that tells pairs apart where nothing is hidden."""
    return probe(Copying(), toy_batches(300, batch_size=64), n_epochs=20, tasks=("t2",))


def test_continuing_keeps_what_was_found(found):
    data = toy_batches(300)
    again = train_probe(
        Copying(), *data, settings=AdversarySettings(n_epochs=0), continue_from=found.adversaries, **chance(1)
    )
    assert again.accuracies["t2"].value > 0.95 and again.epochs["t2"] == 0


@pytest.mark.parametrize("select", ["accuracy", "loss"])
def test_each_judge_is_left_at_its_best_epoch(select):
    """Where there is nothing to learn, the best epoch is some epoch, and another one for each."""
    torch.manual_seed(0)
    adversaries = PairAdversaries(SIZE, D, hidden_size=16)

    def now(**numbers):
        states.append({judge: weights(adversaries.members[judge]) for judge in adversaries.judges})
        rows.append(numbers)

    states, rows = [], []
    now()
    settings = AdversarySettings(n_epochs=8, lr=2e-2, select=select)
    best = fit_adversaries(adversaries, PureNoise(), *toy_batches(), settings=settings, **chance(), record=now)
    assert min(best.values()) < 8
    for judge, epoch in best.items():
        assert same_weights(weights(adversaries.members[judge]), states[epoch][judge])
        scores = [row[f"valid_{judge}_{select}"] for row in rows[1:]]
        assert epoch == 0 or scores[epoch - 1] == (max if select == "accuracy" else min)(scores)


def test_same_seeds_same_probe_whatever_ran_before():
    data, results = toy_batches(), []
    for seed in (0, 0, 1):
        torch.rand(3)
        results.append(weights(probe(small_model().representer, data, seed, n_epochs=2).adversaries))
    assert same_weights(results[0], results[1]) and not same_weights(results[0], results[2])


def test_log_has_a_row_for_each_epoch_and_patience_ends_them():
    log, settings = TrainingLog(), AdversarySettings(hidden_size=8, n_epochs=30, patience=2, lr=1e-6)
    train_probe(PureNoise(), *toy_batches(), settings=settings, **chance(), log=log)
    assert 2 <= len(log.rows) < 30
    assert {"t1_loss", "t2_accuracy", "valid_t2_accuracy", "valid_t1_loss"} <= set(log.rows[0])
    assert all(row["phase"] == "probe" for row in log.rows)


def test_control_reads_what_noise_hides():
    data = toy_batches(300, batch_size=64)
    settings = AdversarySettings(hidden_size=16, lr=1e-2, n_epochs=20, tasks=("t2",))
    noisy = small_model(noise=30.0, hidden=16).representer
    result = train_probe(noisy, *data, settings=settings, **chance())
    assert positive_control(noisy, *data, settings=settings, **chance()).accuracies["t2"].value > 0.97
    assert result.accuracies["t2"].value < 0.7
    assert noisy.output_noise.kind == "trainable"


def test_measuring_on_other_sentences(found):
    others = PairBatches(toy_pairs(100, seed=5))
    measured = pair_accuracy(found.adversaries, Copying(), others, torch.Generator().manual_seed(0))
    assert measured["t2"].value > 0.95 and measured["t2"].n == 2 * len(others.pair_rows)


@pytest.mark.parametrize("which", ["train", "valid"])
def test_data_without_pairs_are_refused(which):
    data = toy_batches()
    empty = PairBatches(toy_pairs(20, phi_share=0.0))
    parts = (empty, data[1]) if which == "train" else (data[0], empty)
    with pytest.raises(ValueError, match=f"The {which} data hold no sentence with a token of PHI that can move"):
        train_probe(small_model().representer, *parts, **chance())


def test_unknown_selection_is_refused():
    with pytest.raises(ValueError, match="'select' parameter must be accuracy or loss"):
        AdversarySettings(select="f1")
