"""The bound as a row, and the check against it."""

from dataclasses import replace

import pytest
import torch
from scipy.stats import norm

from sklearn_deid.audit.attacks import CertifiedBound, LookupAttack, LookupKnowledge, PairAttack, exceeds
from sklearn_deid.audit.report_score import checked_against_bounds
from sklearn_deid.metrics import Estimate
from sklearn_deid.representations.part_bound import published_numbers
from tests.representations.toy_pairs import N_PHI

from .toy_released import Constant, knowledge, raw, release


def certified(representer, n=300, **options):
    return CertifiedBound(random_state=0, **options).fit(knowledge(representer)).attack(release(n))


@pytest.mark.parametrize("n_releases", [1, 9])
def test_row_is_the_mean_over_all_moves(n_releases):
    """For a representer that copies, d' is the distance of the two words: the mean over all pairs is known."""
    row = certified(raw(2.0), 400, n_draws=20, n_releases=n_releases)
    words = release(400).data.table[:N_PHI]
    distances = torch.cdist(words, words)[~torch.eye(N_PHI, dtype=torch.bool)]
    assert row.attack.value == pytest.approx(norm.cdf(n_releases**0.5 * distances / 4).mean(), abs=0.01)
    assert row.attack.low < row.attack.value < row.attack.high and row.settings["n_releases"] == n_releases
    assert row.details["quantile_accuracy"] >= row.attack.value
    # All digits of the largest accuracy named a sentence, and those of the slack its length, as in a saved representer.
    assert row.details["largest_accuracy"] == round(row.details["largest_accuracy"], 2)
    assert row.details == published_numbers(row.details)


def test_no_attack_exceeds_it():
    representer = raw(2.0)
    row = certified(representer)
    for template in ("noisy", "noise_free"):
        attack = PairAttack(template=template, hidden_size=16, n_epochs=15, lr=5e-3, control=None, random_state=0)
        found = attack.fit(knowledge(representer, 300)).attack(release(300))
        assert not exceeds(found, row) and checked_against_bounds([found, row], None)[0].status == "ok"
    found = LookupAttack(controls=False, random_state=0).fit(LookupKnowledge(representer)).attack_all(release(300))
    assert not exceeds(found["pairwise"], row)


def test_attack_beyond_it_is_an_error():
    lookup = LookupAttack(controls=False, random_state=0, measure="pairwise")
    found = lookup.fit(LookupKnowledge(raw(0.5))).attack(release())
    wrong = certified(Constant(6, 1.0))
    assert wrong.attack.value == pytest.approx(0.5, abs=1e-9) and exceeds(found, wrong)
    assert wrong.attack.value > 0.5  # the noise is not exactly Gaussian
    assert checked_against_bounds([found, wrong], None)[0].status == "invalid"
    assert not exceeds(replace(found, attack=Estimate(0.52, 0.49, 0.55, 100)), wrong)


def test_bound_of_too_few_releases_or_other_questions_says_nothing():
    row = certified(raw(2.0))
    results = LookupAttack(n_releases=2, controls=False, random_state=0).fit(LookupKnowledge(raw(2.0)))
    found = results.attack_all(release())
    with pytest.raises(ValueError, match="holds for 1 releases, the attack saw more"):
        exceeds(found["pairwise"], row)
    assert not exceeds(found["pairwise"], certified(raw(2.0), n_releases=2))
    with pytest.raises(ValueError, match="this attack is of another kind"):
        exceeds(found["top1"], row)
    with pytest.raises(ValueError, match="does not cover the casing"):
        exceeds(replace(found["pairwise"], settings={**found["pairwise"].settings, "casing": True}), row)
    with pytest.raises(ValueError, match="must be the result of CertifiedBound"):
        exceeds(found["pairwise"], found["pairwise"])


def test_without_noise_there_is_no_bound():
    with pytest.raises(ValueError, match="Without noise at the output, no attacker has a bound"):
        certified(raw())
