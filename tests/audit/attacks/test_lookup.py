"""Lookup against what the bound says exactly, with ties, casing and several releases."""

import numpy as np
import pytest
import torch

from sklearn_deid.audit.attacks import LookupAttack, LookupKnowledge, PairRelease
from sklearn_deid.audit.attacks.candidates import one_token_candidates, unrelated_candidates
from sklearn_deid.representations import (
    GaussianNoise,
    PairBatches,
    PairData,
    Representer,
    pair_distances,
    privacy_bound,
)
from tests.representations.toy_pairs import N_PHI, toy_pairs

from .toy_released import Constant, blind, raw, release


def look_up(representer, shown=None, measure=None, **options):
    options = {"random_state": 0, "controls": False} | options
    attack = LookupAttack(**options).fit(LookupKnowledge(representer))
    return attack.attack_all(shown or release())[measure or "top1"]


@pytest.mark.parametrize("score", ["likelihood", "cosine"])
@pytest.mark.parametrize("template", ["noise_free", 5])
@pytest.mark.parametrize("candidates", ["one_token", "unrelated"])
def test_almost_no_noise_is_read(score, template, candidates):
    found = look_up(raw(0.01), score=score, template=template, candidates=candidates)
    assert found.attack.value > 0.98 > 10 * found.baseline.value - 0.2
    assert look_up(raw(0.01), score=score, template=template, measure="pairwise").attack.value > 0.98


@pytest.mark.parametrize("score", ["likelihood", "cosine"])
def test_constant_vectors_are_at_chance_exactly(score):
    found = look_up(Constant(6), score=score)
    assert found.attack.value == pytest.approx(found.baseline.value) and found.baseline.value == 1 / N_PHI
    assert look_up(Constant(6), score=score, measure="pairwise").attack.value == 0.5


def test_unit_vectors_are_looked_up_by_their_direction():
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        none, little = GaussianNoise(6, kind="none"), GaussianNoise(4, kind="fixed", init=0.01)
        representer = Representer(6, 4, hidden_size=8, input_noise=none, output_noise=little)
    found = look_up(representer)
    assert found.attack.low > 0.5
    representer.output_noise = GaussianNoise(4, kind="fixed", init=100.0)
    assert look_up(representer).attack.covers(1 / N_PHI)


@pytest.mark.parametrize("n_releases", [1, 4])
def test_likelihood_of_gaussian_vectors_reaches_the_bound_and_no_more(n_releases):
    """Without input noise the likelihood is the best test there is: its accuracy is the mean of Phi(sqrt(r) d'/2)."""
    representer, shown = raw(2.0), release(1000)
    distances = pair_distances(representer, PairBatches(shown.data), torch.Generator().manual_seed(0), n_draws=5)
    bound = privacy_bound(distances, n_releases=n_releases).mean_accuracy.value
    best = look_up(representer, shown, "pairwise", n_releases=n_releases, n_sentences=None).attack
    assert 0.6 < bound < 0.95 and best.value == pytest.approx(bound, abs=0.03)
    cosine = look_up(representer, shown, "pairwise", score="cosine", n_releases=n_releases, n_sentences=None).attack
    assert cosine.value < bound + 0.01


def test_more_releases_and_better_templates_tell_more():
    by_releases = [look_up(raw(2.0), release(300), n_releases=r).attack.value for r in (1, 4, 16)]
    assert by_releases == sorted(by_releases) and by_releases[-1] > 2 * by_releases[0]
    by_template = [look_up(raw(1.0), release(300), "pairwise", score="cosine", template=k) for k in (1, "noise_free")]
    assert by_template[0].attack.value < by_template[1].attack.value


def test_controls_change_nothing_and_need_no_seed():
    settings = {"score": "cosine", "template": 2}
    plain, controlled = (look_up(raw(1.0), release(120), controls=on, **settings) for on in (False, True))
    assert plain.attack == controlled.attack and controlled.positive_control.value > 0.9
    # A generator with a key has no seed from which others could be made.
    keyed = look_up(raw(1.0), release(120), controls=True, random_state=np.random.Generator(np.random.Philox(key=1)))
    assert keyed.negative_control.value < 0.3


def test_casing_rules_candidates_out():
    """Sixteen sentences of one word in two casings: nothing is read, but half of the candidates are out."""
    words = np.arange(16)
    pairs = {"eligible": words[:1], "alternatives": words[None, :2]}
    data = PairData(toy_pairs(1).table, words, np.arange(17), words % 2, **pairs, casing=words % 2)
    attack = {
        casing: LookupAttack(candidates="unrelated", casing=casing, controls=False, random_state=0)
        .fit(LookupKnowledge(blind()))
        .attack(PairRelease(data))
        for casing in (False, True)
    }
    assert attack[False].attack.value == pytest.approx(1 / 16)
    assert attack[True].attack.value == pytest.approx(1 / 8)
    assert attack[True].details["mean_candidates_of_that_casing"] == 8
    assert attack[True].settings["casing"] and "with its casing" in attack[True].attacker


def test_all_three_arms():
    found = look_up(blind(), release(200, n_patients=40), controls=True)
    assert found.status == "ok" and found.positive_control.value > 0.98 and found.advantage == 0.0
    assert found.negative_control.covers(found.chance)


def test_limits_of_candidates_and_sentences():
    found = look_up(raw(), n_candidates=4, n_sentences=10)
    assert (found.attack.n, found.baseline.value, found.details["mean_candidates"]) == (10, 0.25, 4)


def test_candidates_of_one_token_are_the_twins_of_the_pairs():
    data, seen = toy_pairs(50), []
    for some in one_token_candidates(data, 100, np.random.default_rng(0)):
        original = data.words[data.offsets[some.row] : data.offsets[some.row + 1]]
        differ = some.words != original
        assert (differ.sum(1) == (np.arange(len(some.words)) != some.truth)).all()
        assert (differ.any(0).sum() == 1) and (some.words[:, differ.any(0)] < N_PHI).all()
        assert len(np.unique(some.words, axis=0)) == len(some.words) == N_PHI
        seen.append(some.truth)
    assert len(seen) == len(PairBatches(data).pair_rows) and len(set(seen)) > 5


def test_unrelated_candidates_have_equal_length_and_are_distinct():
    data, n = toy_pairs(80), 0
    for some in unrelated_candidates(data, 7, np.random.default_rng(0)):
        original = data.words[data.offsets[some.row] : data.offsets[some.row + 1]]
        assert (some.words[some.truth] == original).all() and len(some.words) <= 7
        assert len(np.unique(some.words, axis=0)) == len(some.words)
        assert (some.casing == some.words % 7).all()
        n += 1
    assert n == 80


def test_nothing_to_look_up_is_refused():
    with pytest.raises(ValueError, match="there is nothing to look up"):
        look_up(raw(), PairRelease(toy_pairs(10, phi_share=0.0)))


@pytest.mark.parametrize(
    "options",
    [{"candidates": "all"}, {"score": "best"}, {"measure": "top3"}, {"template": 0}, {"n_candidates": 1}],
)
def test_unknown_options_are_refused(options):
    with pytest.raises(ValueError, match="must be"):
        LookupAttack(**options)
