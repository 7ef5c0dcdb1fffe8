"""Gradient reversal: one step for all, with the sign turned on the way to the representer."""

import pytest
import torch

from sklearn_deid.exceptions import UnsafeToShareWarning
from sklearn_deid.representations import PairAdversaries, RunningMeans, ThreePartSettings, TrainingLog, train_dann
from sklearn_deid.representations.three_part import _Reversal

from .test_three_part import Interrupting, short, weak_control
from .toy_models import D, chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import SIZE


@pytest.mark.parametrize("adversary", ["paper", "strong"])
def test_gradients_are_those_of_two_losses_with_the_sign_turned(monkeypatch, adversary):
    """Without reversal: adversaries get the gradient of l_adv, the representer that of l_deid - lambda * l_adv."""
    model, (data, _) = small_model(), toy_batches()
    model.eval()  # no dropout
    settings = short(adversary=adversary, adversary_weight=0.3)
    run = _Reversal(model, data, None, settings, *chance().values(), TrainingLog())
    run.adversaries = PairAdversaries(SIZE, D, kind=adversary, hidden_size=5)
    run.start_rounds()
    monkeypatch.setattr(run.modelling, "step", lambda: None)
    monkeypatch.setattr(run.judging, "apply", lambda: None)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: None)
    batch = next(data.epoch(**chance(), sentences="balanced"))
    state = run.generator.get_state()
    run.learn(batch, RunningMeans())

    run.generator.set_state(state)
    deid = model.deid_loss(model.representer(batch.embeddings, batch.mask, generator=run.generator), batch)
    judgement = run.adversaries(run.adversaries.draw(model.representer, batch, run.generator))
    judged = run.judging.learning_loss(judgement)
    own = list(run.adversaries.parameters())
    for p, expected in zip(own, torch.autograd.grad(judged, own, retain_graph=True), strict=True):
        torch.testing.assert_close(p.grad, expected)
    own = list(model.representer.parameters())
    for p, expected in zip(own, torch.autograd.grad(deid - 0.3 * judged, own), strict=True):
        torch.testing.assert_close(p.grad, expected, rtol=1e-4, atol=1e-6)


@weak_control
def test_phases_seeds_and_what_is_selected():
    def final(seed):
        model, log = small_model(), TrainingLog()
        result = train_dann(model, *toy_batches(), settings=short(n_rounds=3), **chance(seed), log=log)
        return weights(model), log, result

    first, log, result = final(0)
    assert [row["phase"] for row in log.rows] == ["P1"] * 2 + ["P2"] * 2 + ["control"] + ["DANN"] * 3
    scores = [row["combined_loss"] for row in log.of_phase("DANN")]
    assert result.score == min(scores) and result.selected_round == 1 + scores.index(min(scores))
    assert same_weights(first, final(0)[0]) and not same_weights(first, final(1)[0])


@weak_control
@pytest.mark.parametrize(("phase", "selected"), [("P2", 0), ("DANN", 1)])
def test_interruption_leaves_the_best_state_so_far(phase, selected):
    model = small_model()
    result = train_dann(model, *toy_batches(), settings=short(), **chance(), log=Interrupting(phase, 1))
    assert result.interrupted and result.selected_round == selected
    assert all(v.isfinite().all() for v in weights(model).values())


def test_unknown_settings_are_refused():
    with pytest.raises(ValueError, match="'adversary' parameter"):
        ThreePartSettings(adversary="none")


def test_training_together_from_the_start_has_no_control():
    log, settings = TrainingLog(), short(n_epochs_tagger=0, n_epochs_adversary=0)
    with pytest.warns(UnsafeToShareWarning, match="told pairs apart"):
        result = train_dann(small_model(), *toy_batches(), settings=settings, **chance(), log=log)
    assert [row["phase"] for row in log.rows] == ["control", "DANN", "DANN"] and result.control_passed is False
