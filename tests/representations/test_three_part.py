"""Training against adversaries: who learns in which phase and from which loss, gradient reversal, and what is kept."""

import math

import numpy as np
import pytest
import torch

from sklearn_deid.exceptions import UnsafeToShareWarning
from sklearn_deid.representations import (
    AdversarySettings,
    PairAdversaries,
    PairBatches,
    RunningMeans,
    ThreePartSettings,
    TrainingLog,
    deid_scores,
    measure_pairs,
    noise_figures,
    train_dann,
    train_three_part,
)
from sklearn_deid.representations.three_part import _Alternation, _Reversal

from .toy_models import D, chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import SIZE, toy_pairs

PARTS = ("representer", "tagger", "adversaries")
# A toy adversary in a few epochs is no control; where it matters, a test asks for the warning.
weak_control = pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.UnsafeToShareWarning")


def few_batches():
    return toy_batches(60, 40)


def short(**changes):
    options = {"n_epochs_tagger": 2, "n_epochs_adversary": 2, "n_rounds": 2, "adversary_hidden_size": 6, "lr": 5e-3}
    return ThreePartSettings(**{**options, **changes})


def train(model=None, data=None, log=None, seed=0, **changes):
    model, log = model or small_model(), log or TrainingLog()
    return model, train_three_part(model, *(data or few_batches()), settings=short(**changes), **chance(seed), log=log)


class Watched(_Alternation):
    """Notes which parts changed in each call."""

    def __init__(self, model, data, settings):
        super().__init__(model, *data, settings, *chance().values(), TrainingLog())
        self.changed = []

    def _watch(self, name, method):
        before = {k: weights(getattr(self, k)) for k in PARTS if hasattr(self, k)}
        result = method()
        after = {k: weights(getattr(self, k)) for k in PARTS if hasattr(self, k)}
        self.changed.append((name, {k for k in before if not same_weights(before[k], after[k])}))
        return result

    def train_tagger(self):
        self._watch("P1", super().train_tagger)

    def train_adversaries(self):
        self._watch("P2", super().train_adversaries)

    def fool(self):
        return self._watch("P3b", super().fool)

    def catch_up(self):
        return self._watch("P3a", super().catch_up)


@weak_control
@pytest.mark.parametrize("adversary", ["paper", "strong"])
def test_each_phase_trains_its_own_part(adversary):
    run = Watched(small_model(), few_batches(), short(adversary=adversary))
    run.run()
    assert run.changed == [
        ("P1", {"representer", "tagger"}),
        ("P2", set()),  # the adversaries are made in it
        *[("P3b", {"representer"}), ("P3a", {"tagger", "adversaries"})] * 2,
    ]
    assert all(p.requires_grad for p in (*run.model.parameters(), *run.adversaries.parameters()))


@weak_control
@pytest.mark.parametrize("stopping", ["paper", "robust"])
def test_log_holds_the_phases_in_order(stopping):
    log = TrainingLog()
    probe = AdversarySettings(tasks=("t2",), n_epochs=1, hidden_size=4)
    train(log=log, stopping=stopping, probe_every=2, n_rounds=3, probe=probe)
    phases = [row["phase"] for row in log.rows if row["phase"] != "probe"]
    assert phases == ["P1"] * 2 + ["P2"] * 2 + ["control"] + ["P3b", "P3a"] * 3
    rounds = [row["round"] for row in log.of_phase("probe")]
    assert rounds == ([2, 3] if stopping == "robust" else [])
    scored = "P3b" if stopping == "paper" else "P3a"
    for row in log.rows:
        assert ("combined_loss" in row) == (row["phase"] == scored)
        assert ("input_std" in row) == (row["phase"] in ("P1", "P3b"))
        assert ("t2_accuracy" in row) == (row["phase"] not in ("P1",))
        assert all(math.isfinite(v) for k, v in row.items() if k not in ("phase", "valid_token_f1"))


@pytest.mark.parametrize(("adversary", "judges"), [("paper", ["average"]), ("strong", ["t1", "t2"])])
def test_fooling_loss_is_the_literal_one(adversary, judges):
    model, (data, _) = small_model(), few_batches()
    model.eval()  # no dropout
    settings = short(adversary=adversary, adversary_weight=0.7)
    run = _Alternation(model, data, None, settings, *chance().values(), TrainingLog())
    run.adversaries = PairAdversaries(SIZE, D, kind=adversary, hidden_size=5)
    batch = next(data.epoch(**chance(), sentences="balanced"))
    state = run.generator.get_state()
    loss = run.fooling_loss(batch, RunningMeans()).item()

    run.generator.set_state(state)
    r = model.representer(batch.embeddings, batch.mask, generator=run.generator)
    n = batch.n_pairs
    assert 0 < n < len(batch.mask)
    # Four releases with noise of their own: real first, fake first, real second, fake second.
    x, moved, mask = batch.embeddings[:n], batch.moved, batch.pair_mask
    a, b, c, d = model.representer(torch.cat([x, x, x, moved]), torch.cat([mask] * 4), generator=run.generator).split(n)
    expected = model.deid_loss(r, batch).item()
    t1, t2 = run.adversaries.members["t1"], run.adversaries.members["t2"]
    sigmoids = {
        "t1": (t1(x, c, mask).sigmoid(), t1(x, d, mask).sigmoid()),
        "t2": (t2(a, c, mask).sigmoid(), t2(b, d, mask).sigmoid()),
    }
    sigmoids["average"] = tuple((p + q) / 2 for p, q in zip(sigmoids["t1"], sigmoids["t2"], strict=True))
    for judge in judges:
        real, fake = sigmoids[judge]
        entropies = [-math.log(p) for p in real.tolist()] + [-math.log(1 - p) for p in fake.tolist()]
        excess = np.array(entropies) - math.log(2)
        expected += 0.7 * np.abs(excess).mean()
    assert loss == pytest.approx(expected, rel=1e-4)


@weak_control
def test_score_is_the_combined_loss_and_the_best_round_is_restored():
    log = TrainingLog()
    model, result = train(log=log, n_rounds=4, adversary_weight=0.5, stopping="paper")
    rows = list(log.of_phase("P3b"))
    for row in rows:
        assert row["combined_loss"] == pytest.approx(row["valid_deid_loss"] + 0.5 * row["valid_average_deviation"])
    best = min(rows, key=lambda row: row["combined_loss"])
    assert (result.selected_round, result.score) == (best["epoch"], best["combined_loss"])
    # What the weights do now is what was measured then, up to the draws of noise.
    now = deid_scores(model, few_batches()[1], torch.Generator().manual_seed(5))
    assert now["deid_loss"] == pytest.approx(best["valid_deid_loss"], abs=0.15)


@weak_control
def test_weights_are_those_of_the_selected_round(monkeypatch):
    """Here the third of five rounds is best: the last would be selected by the losses of so few steps."""
    states, real = [], _Alternation.score

    def third_is_best(self, number):
        monkeypatch.setattr(self, "_deid_scores", lambda: {"valid_deid_loss": 5.0 + abs(number - 3)})
        return real(self, number)

    monkeypatch.setattr(_Alternation, "score", third_is_best)

    class Noting(TrainingLog):
        def record(self, phase, **numbers):
            super().record(phase, **numbers)
            if phase == "P3b":
                states.append(weights(model))

    model = small_model()
    _, result = train(model, log=Noting(), n_rounds=5)
    assert result.selected_round == 3
    assert same_weights(weights(model), states[2]) and not same_weights(weights(model), states[4])


@weak_control
def test_robust_rule_prefers_what_a_probe_cannot_read(monkeypatch):
    """However good its losses: the first round is read by the probe, the second not."""
    lows = iter([0.8, 0.45, 0.6])
    real = _Alternation._probe

    def fixed(self, number):
        result = real(self, number)
        low = next(lows)
        for name, found in result.accuracies.items():
            result.accuracies[name] = type(found)(low + 0.05, low, low + 0.1, found.n)
        return result

    monkeypatch.setattr(_Alternation, "_probe", fixed)
    probe = AdversarySettings(tasks=("t2",), n_epochs=1, hidden_size=4)
    _, result = train(stopping="robust", probe_every=1, n_rounds=3, probe=probe)
    assert result.selected_round == 2 and result.probe.accuracies["t2"].low == 0.45


class Interrupting(TrainingLog):
    """Raises KeyboardInterrupt, as a user does, at a row."""

    def __init__(self, phase, epoch):
        super().__init__()
        self.at = (phase, epoch)

    def record(self, phase, **numbers):
        super().record(phase, **numbers)
        if (phase, self.rows[-1]["epoch"]) == self.at:
            raise KeyboardInterrupt


@weak_control
@pytest.mark.parametrize(
    ("phase", "epoch", "selected"), [("P1", 1, 0), ("P2", 1, 0), ("control", 1, 0), ("P3b", 1, 1), ("P3a", 2, None)]
)
def test_interruption_leaves_the_best_state_so_far(phase, epoch, selected):
    model, result = train(log=Interrupting(phase, epoch), n_rounds=4)
    assert result.interrupted
    assert selected is None or result.selected_round == selected
    assert (result.adversaries is None) == (phase == "P1")
    assert all(v.isfinite().all() for v in weights(model).values())
    assert all(p.requires_grad for p in model.parameters())


@weak_control
def test_interruption_inside_the_first_round_goes_back_to_the_end_of_p1():
    class Stopping(_Alternation):
        def play_round(self, number):
            self.fool()
            raise KeyboardInterrupt

    log, p1 = TrainingLog(), {}

    class Noting(TrainingLog):
        def record(self, phase, **numbers):
            if phase == "P2" and not p1:
                p1.update(weights(model))

    model, log = small_model(), Noting()
    settings = short(noise_restart=0.5)
    result = Stopping(model, *few_batches(), settings, *chance().values(), log).run()
    assert result.interrupted and result.selected_round == 0
    assert same_weights(p1, weights(model))


@weak_control
def test_same_seeds_same_weights_whatever_ran_before():
    def final(seed):
        probe = AdversarySettings(n_epochs=1, hidden_size=4)
        model, result = train(seed=seed, stopping="robust", probe_every=1, probe=probe)
        return {**weights(model), **weights(result.adversaries)}

    first = final(0)
    torch.rand(5)
    assert same_weights(first, final(0)) and not same_weights(first, final(1))


def test_control_passes_where_the_adversary_is_strong_and_nothing_is_hidden():
    model = small_model(kind="none", noise=0.0, hidden=16)
    log = TrainingLog()
    _, result = train(
        model,
        toy_batches(300, batch_size=64),
        log,
        adversary="strong",
        adversary_hidden_size=16,
        lr=2e-2,
        n_epochs_tagger=1,
        n_epochs_adversary=12,
        n_rounds=1,
    )
    assert result.control_accuracy >= 0.9
    assert next(log.of_phase("control"))["t2_accuracy"] == result.control_accuracy


def test_control_that_fails_warns():
    with pytest.warns(UnsafeToShareWarning, match="was right on .*the failure of T2 on the trained"):
        _, result = train()
    assert result.control_accuracy < 0.9


def test_without_held_out_patients_the_last_state_is_kept_and_nobody_knows():
    data = (few_batches()[0], None)
    with pytest.warns(UnsafeToShareWarning, match="Without held-out patients"):
        _, result = train(data=data, n_rounds=3)
    assert result.selected_round == result.n_rounds == 3 and result.control is None and result.control_accuracy is None


@weak_control
def test_noise_restarts_after_p1_and_learns_at_its_own_rate():
    log = TrainingLog()
    _, result = train(log=log, noise_restart=0.6, noise_lr=0.0)
    p1, p3 = list(log.of_phase("P1")), list(log.of_phase("P3b"))
    assert all(row["output_std"] == pytest.approx(0.1) for row in p1)
    assert all(row[k] == pytest.approx(0.6) for row in p3 for k in ("input_std", "output_std"))
    log = TrainingLog()
    train(log=log, noise_lr=0.05)
    assert next(log.of_phase("P1"))["output_std"] != pytest.approx(0.1, abs=1e-3)


@weak_control
def test_patience_ends_each_phase():
    log = TrainingLog()
    settings = {"n_epochs_tagger": 30, "n_epochs_adversary": 30, "n_rounds": 30}
    _, result = train(log=log, patience=(1, 1, 1), lr=1e-7, **settings)
    assert len(log.rows) < 60 and result.n_rounds < 30


@pytest.mark.parametrize("which", [0, 1])
def test_data_without_pairs_are_refused(which):
    data = list(few_batches())
    data[which] = PairBatches(toy_pairs(20, phi_share=0.0))
    with pytest.raises(ValueError, match="hold no sentence with a token of PHI that can move"):
        train(data=data)


@weak_control
def test_batches_without_pairs_or_without_others_are_fine():
    data = (PairBatches(toy_pairs(30, phi_share=0.1), 2), PairBatches(toy_pairs(12, phi_share=1.0), 2))
    model, _ = train(data=data, max_pairs=3)
    assert all(v.isfinite().all() for v in weights(model).values())


@weak_control
def test_noise_figures_and_measures_do_not_change_anything():
    model, (data, _) = small_model(), few_batches()
    before = weights(model)
    figures = noise_figures(model.representer, data)
    assert figures["input_std"] == pytest.approx(0.1) == figures["output_std"]
    adversaries = PairAdversaries(SIZE, D, hidden_size=4)
    numbers = measure_pairs(adversaries, model.representer, data, torch.Generator().manual_seed(0))
    assert numbers["t2_loss"] == pytest.approx(math.log(2), abs=0.1)
    assert same_weights(before, weights(model))


def test_noise_figures_by_hand():
    representer, (data, _) = small_model().representer, toy_batches(50)
    with torch.no_grad():
        representer.output_noise.weight.copy_(torch.tensor([0.1, -0.2, 0.3, 0.4]))
        mu = torch.cat(
            [
                representer.mean(b.embeddings, b.mask, noise=False)[b.mask]
                for b in data.epoch(None, torch.Generator(), sentences="pairs")
            ]
        )
    figures = noise_figures(representer, data)
    assert figures["output_std"] == pytest.approx(0.25)
    assert figures["output_norm"] == pytest.approx(mu.norm(dim=1).mean().item(), rel=1e-5)
    spread = mu.var(0, correction=0).mean().sqrt().item()
    assert figures["signal_to_noise"] == pytest.approx(spread / math.sqrt(0.3 / 4), rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adversary": "weak"}, "'adversary' parameter must be paper or strong"),
        ({"stopping": "early"}, "'stopping' parameter must be paper or robust"),
        ({"adversary_weight": -1.0}, "'adversary_weight' parameter must not be negative"),
        ({"probe_every": 0}, "'probe_every' parameter must be at least 1"),
    ],
)
def test_settings_that_are_not_allowed(changes, message):
    with pytest.raises(ValueError, match=message):
        ThreePartSettings(**changes)


@pytest.mark.parametrize("adversary", ["paper", "strong"])
def test_gradients_are_those_of_two_losses_with_the_sign_turned(monkeypatch, adversary):
    """Without reversal: adversaries get the gradient of l_adv, the representer that of l_deid - lambda * l_adv."""
    model, (data, _) = small_model(), few_batches()
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
        result = train_dann(model, *few_batches(), settings=short(n_rounds=3), **chance(seed), log=log)
        return weights(model), log, result

    first, log, result = final(0)
    assert [row["phase"] for row in log.rows] == ["P1"] * 2 + ["P2"] * 2 + ["control"] + ["DANN"] * 3
    scores = [row["combined_loss"] for row in log.of_phase("DANN")]
    assert result.score == min(scores) and result.selected_round == 1 + scores.index(min(scores))
    assert same_weights(first, final(0)[0]) and not same_weights(first, final(1)[0])


@weak_control
@pytest.mark.parametrize(("phase", "selected"), [("P2", 0), ("DANN", 1)])
def test_interrupted_reversal_leaves_the_best_state_so_far(phase, selected):
    model = small_model()
    result = train_dann(model, *few_batches(), settings=short(), **chance(), log=Interrupting(phase, 1))
    assert result.interrupted and result.selected_round == selected
    assert all(v.isfinite().all() for v in weights(model).values())


def test_unknown_settings_are_refused():
    with pytest.raises(ValueError, match="'adversary' parameter"):
        ThreePartSettings(adversary="none")


def test_training_together_from_the_start_has_no_control():
    log, settings = TrainingLog(), short(n_epochs_tagger=0, n_epochs_adversary=0)
    with pytest.warns(UnsafeToShareWarning, match="was right on"):
        result = train_dann(small_model(), *few_batches(), settings=settings, **chance(), log=log)
    assert [row["phase"] for row in log.rows] == ["control", "DANN", "DANN"] and result.control_accuracy < 0.9
