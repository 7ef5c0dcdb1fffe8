"""Adversaries read what is open, and their controls say whether they could have."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit.attacks import PairAttack, PairRelease
from tests.representations.toy_pairs import toy_pairs

from .toy_released import blind, knowledge, raw, release

SMALL = {"hidden_size": 16, "lr": 5e-3, "n_epochs": 15, "random_state": 0}


@pytest.mark.parametrize("template", ["noisy", "noise_free"])
def test_almost_no_noise_is_read(template):
    attack = PairAttack(template=template, control=None, **SMALL).fit(knowledge(raw(0.01), 300))
    found = attack.attack(release())
    assert found.attack.low > 0.9 and found.advantage > 0.9 and found.status == "ok"
    assert ("noise-free" in found.name) == (template == "noise_free")


def test_raw_vectors_are_read_by_strong_t1_and_t2():
    for task, n_epochs in (("t1", 25), ("t2", 15)):
        found = PairAttack(task=task, control=None, **SMALL | {"n_epochs": n_epochs}).fit(knowledge(raw(), 300))
        assert found.attack(release()).attack.value > 0.95


def test_all_three_arms():
    found = PairAttack(**SMALL).fit(knowledge(blind(), 300)).attack(release(n_patients=25))
    assert found.status == "ok" and found.attack.low <= 0.5 and found.advantage < 0.1
    assert found.positive_control.value > 0.95 and found.min_positive_control == 0.9
    assert found.negative_control.covers(0.5) and found.negative_control.confidence > 0.99
    assert found.attack.n == found.positive_control.n and found.seconds > 0


def test_paper_adversary_tells_of_each_of_its_two():
    attack = PairAttack(adversary="paper", task="average", control=None, **SMALL | {"n_epochs": 3}).fit(
        knowledge(raw(0.01))
    )
    found = attack.attack(release())
    assert {"t1", "t2"} <= set(found.details) and found.details["epoch"] == attack.probe_.epochs["average"]


def test_weak_adversary_is_no_pass():
    found = PairAttack(hidden_size=2, n_epochs=0, random_state=0).fit(knowledge(blind())).attack(release())
    assert found.status == "invalid" and "positive control" in found.failures[0]


def test_continued_starts_where_the_given_adversary_stood():
    first = PairAttack(control=None, **SMALL).fit(knowledge(raw(0.01), 300))
    given = knowledge(raw(0.01), adversaries=first.probe_.adversaries)
    again = PairAttack(start="continued", control=None, **SMALL | {"n_epochs": 0}).fit(given)
    assert again.attack(release()).attack.value > 0.9
    assert "continued" in again.name


def test_continued_needs_an_adversary_of_the_task():
    with pytest.raises(ValueError, match="needs trained adversaries that answer the task 't2'"):
        PairAttack(start="continued").fit(knowledge(raw()))


def test_same_seed_same_figures_whatever_the_tags():
    results = []
    for seed in (0, 0, 1):
        attack = PairAttack(control=None, **SMALL | {"n_epochs": 2, "random_state": seed}).fit(knowledge(raw(1.0)))
        shown = release()
        if seed == 0 and results:
            shown = replace(shown, data=replace(shown.data, tags=np.zeros_like(shown.data.tags)))
        results.append(attack.attack(shown).attack)
    assert results[0] == results[1] != results[2]


def test_draws_of_one_sentence_are_one_group():
    attack = PairAttack(control=None, n_draws=20, **SMALL | {"n_epochs": 1}).fit(knowledge(raw(1.0)))
    found = attack.attack(release(30)).attack
    independent = found.confidence and (found.value * (1 - found.value) / found.n) ** 0.5 * 3.92
    assert found.n == 40 * len(set(np.searchsorted(toy_pairs(30, 2).offsets, toy_pairs(30, 2).eligible, "right")))
    assert found.high - found.low >= 0.99 * independent


def test_nothing_that_can_move_is_refused():
    attack = PairAttack(control=None, **SMALL | {"n_epochs": 1}).fit(knowledge(raw()))
    with pytest.raises(ValueError, match="there are no pairs"):
        attack.attack(PairRelease(toy_pairs(10, phi_share=0.0)))
    with pytest.raises(ValueError, match="Call 'fit' first"):
        PairAttack().attack(release())


@pytest.mark.parametrize(
    "options", [{"adversary": "weak"}, {"task": "average"}, {"task": "t3"}, {"start": "new"}, {"control": "none"}]
)
def test_unknown_options_are_refused(options):
    with pytest.raises(ValueError, match="must be"):
        PairAttack(**options)
