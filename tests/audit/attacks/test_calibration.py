"""Where nothing can be learnt, each attack's interval covers chance: at least 93 % of small runs."""

from functools import cache

import numpy as np
import pytest
import torch

from sklearn_deid.audit.attacks import (
    InversionAttack,
    InversionKnowledge,
    LookupAttack,
    LookupKnowledge,
    PairAttack,
    PairKnowledge,
    PairRelease,
    RawVectors,
)
from tests.representations.toy_pairs import N_PHI, SIZE, toy_pairs

from .toy_released import blind, tokens, toy_table

# With half as many runs, 4 of 100 draws are below the bar for an interval that covers chance in 96 % of runs.
N_RUNS, ENOUGH = 200, 186
# Releases are drawn anew for each run, so that the runs of one trained attacker are independent, whatever it learnt.
N_RELEASES = 10


class Unlinked(RawVectors):
    """Templates tell candidates apart, but what is released has nothing to do with them."""

    def release(self, mu, mask, *, noise=True, generator=None):
        return torch.randn(mu.shape, generator=generator) if noise else mu

    def output_std(self):
        return torch.ones(SIZE)


toys = cache(toy_pairs)  # several of the attacks read the same sentences


@cache
def trained_pairs(adversary, task, seed):
    own = PairKnowledge(blind(), toys(20, seed=seed), toys(20, seed=seed + 1000))
    options = {"hidden_size": 4, "n_epochs": 1, "control": None, "random_state": seed}
    return PairAttack(adversary=adversary, task=task, **options).fit(own)


def pairs(adversary, task, seed):
    attack = trained_pairs(adversary, task, seed // N_RELEASES)
    return attack.attack(PairRelease(toys(100, seed=seed + 2000))), 0.5


@cache
def looked_up(score, seed):
    """Results of all measures, which one run finds together."""
    attack = LookupAttack(score=score, controls=False, random_state=seed)
    return attack.fit(LookupKnowledge(Unlinked(SIZE))).attack_all(PairRelease(toys(70, seed=seed)))


def lookup(score, measure, seed):
    return looked_up(score, seed)[measure], {"top1": 1 / N_PHI, "top5": 5 / N_PHI, "pairwise": 0.5}[measure]


@cache
def trained_inversion(decoder, measure, seed):
    own = [tokens(None, n=30, seed=seed + i) for i in (1000, 2000)]
    attack = InversionAttack(
        decoder=decoder, measure=measure, hidden_size=4, n_epochs=1, controls=False, random_state=seed
    )
    return attack.fit(InversionKnowledge(toy_table(), *own, vocabulary=np.arange(N_PHI)))


def inversion(decoder, measure, seed):
    attack = trained_inversion(decoder, measure, seed // N_RELEASES)
    return attack.attack(tokens(None, n=70, seed=seed)), {"top1": 1, "top5": 5}[measure] / N_PHI


@pytest.mark.parametrize(
    ("run", "which"),
    [
        (pairs, ("strong", "t1")),
        (pairs, ("strong", "t2")),
        (pairs, ("paper", "average")),
        (lookup, ("likelihood", "top1")),
        (lookup, ("cosine", "top5")),
        (lookup, ("likelihood", "pairwise")),
        (inversion, ("token", "top1")),
        (inversion, ("sequence", "top5")),
    ],
)
def test_interval_covers_chance(run, which):
    results = [run(*which, seed) for seed in range(N_RUNS)]
    assert sum(found.attack.covers(chance) for found, chance in results) >= ENOUGH
    # And it is an interval, not a blanket.
    assert np.median([found.attack.high - found.attack.low for found, _ in results]) < 0.35
