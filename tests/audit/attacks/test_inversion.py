"""Decoders read raw vectors, nothing from noise, and no more than the surroundings say from surroundings."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit.attacks import InversionAttack, InversionKnowledge
from sklearn_deid.audit.attacks.released_tokens import Ranks, expected_hits, frequency_hits
from tests.representations.toy_pairs import N_PHI

from .toy_released import Constant, raw, tokens, toy_table

SMALL = {"hidden_size": 8, "n_epochs": 3, "random_state": 0}


def invert(representer, hidden=(), vocabulary=None, measure="top1", **options):
    own = [tokens(representer, seed=seed, hidden=hidden) for seed in (0, 1)]
    attack = InversionAttack(**SMALL | {"controls": False} | options)
    attack.fit(InversionKnowledge(toy_table(), *own, vocabulary=vocabulary))
    return attack.attack_all(tokens(representer, n=400, seed=2))[measure]


@pytest.mark.parametrize("decoder", ["token", "sequence"])
def test_raw_vectors_are_recovered_seen_or_not(decoder):
    found = invert(raw(), hidden=(0, 1, 2), decoder=decoder)
    assert found.attack.value > 0.99
    assert found.details["seen"]["value"] > 0.99 and found.details["unseen"]["value"] > 0.99
    assert found.details["seen"]["n"] + found.details["unseen"]["n"] == found.attack.n
    assert found.details["unseen"]["n"] > 10


def _tiny(vectors, rng):
    return 1e-30 * vectors


def _beside_large_numbers(vectors, rng):
    return np.hstack([1e5 * rng.normal(size=(len(vectors), 3)), vectors])


def _turned(vectors, rng):
    wide = _beside_large_numbers(vectors, rng)
    return wide @ np.linalg.qr(np.random.default_rng(9).normal(size=2 * (wide.shape[1],)))[0]


@pytest.mark.parametrize("form", [_tiny, _beside_large_numbers, _turned])
def test_no_linear_form_hides_raw_vectors(form):
    """Tiny numbers, or large ones beside them, were a valid attack that found nothing."""
    rng, seeds = np.random.default_rng(0), {0: 150, 1: 150, 2: 400}
    train, valid, test = (tokens(raw(), n=n, seed=seed) for seed, n in seeds.items())
    train, valid, test = (replace(t, vectors=form(t.vectors, rng)) for t in (train, valid, test))
    attack = InversionAttack(controls=False, **SMALL).fit(InversionKnowledge(toy_table(), train, valid))
    assert attack.attack(test).attack.value > 0.9


@pytest.mark.parametrize("measure", ["top1", "top5"])
def test_constant_vectors_tell_no_more_than_a_guess(measure):
    k, vocabulary = {"top1": 1, "top5": 5}[measure], np.arange(N_PHI)
    found = invert(Constant(6), vocabulary=vocabulary, measure=measure)
    assert found.attack.covers(k / N_PHI) and found.advantage < 0.1


def test_a_little_noise_is_learnt_away():
    """The decoder is trained: it does better than the nearest word to a rotated, noisy vector."""
    found = invert(raw(0.2), hidden=(0,))
    assert found.attack.low > 0.9 and found.details["unseen"]["value"] > 0.8
    assert found.baseline.value < 0.3


@pytest.mark.parametrize("decoder", ["token", "sequence"])
def test_all_three_arms(decoder):
    found = invert(None, decoder=decoder, controls=True, vocabulary=np.arange(N_PHI))
    assert found.status == "ok" and found.attack.covers(1 / N_PHI)
    assert found.positive_control.value > 0.99 and found.min_positive_control == 0.99
    assert found.negative_control.covers(1 / N_PHI) and found.chance == 1 / N_PHI


def test_labels_and_casing_give_away_what_they_hold():
    """Casing is the word modulo 7: with it a guess among 16 words is one among 2 or 3."""
    options = {"n_epochs": 40, "lr": 1e-2, "decoder": "token", "vocabulary": np.arange(N_PHI)}
    without, with_casing = invert(None, **options), invert(None, **options, casing=True, labels=True)
    assert with_casing.attack.value > without.attack.value + 0.15
    assert with_casing.details["frequency"]["value"] > 0.3
    assert with_casing.name.endswith("with casing and labels")


def test_surroundings_alone_are_the_baseline_where_they_tell_all():
    """Each PHI word's vector stands at its neighbour: the sequence decoder needs no PHI vector."""

    def betrayed(seed):
        found = tokens(raw(), n=300, seed=seed)
        start = np.isin(np.arange(len(found.words)), found.offsets)
        shifted = np.roll(found.vectors, 1, axis=0)
        return replace(found, vectors=np.where(start[:, None], 0.0, shifted), phi=found.phi & ~np.roll(start, -1))

    own = InversionKnowledge(toy_table(), betrayed(0), betrayed(1), np.arange(N_PHI))
    options = SMALL | {"n_epochs": 15, "hidden_size": 16, "lr": 1e-2, "controls": False, "patience": None}
    found = InversionAttack(decoder="sequence", **options).fit(own).attack(betrayed(2))
    assert found.details["context"]["value"] > 0.6 and found.baseline.value == found.details["context"]["value"]
    blotted = replace(own, train=_without_context(own.train), valid=_without_context(own.valid))
    again = InversionAttack(decoder="sequence", **options).fit(blotted).attack(_without_context(betrayed(2)))
    assert again.details["context"]["value"] < 0.3 and again.advantage > found.advantage + 0.2


def _without_context(data):
    return replace(data, context_vectors=np.zeros_like(data.vectors))


def test_words_without_vector_and_beyond_the_vocabulary_are_not_asked_for():
    table = toy_table()
    table[3] = 0.0
    own = [tokens(raw(), seed=seed) for seed in (0, 1, 2)]
    knowledge = InversionKnowledge(table, *own[:2], vocabulary=np.arange(8))
    found = InversionAttack(controls=False, **SMALL).fit(knowledge).attack(own[2])
    assert found.attack.n == int((own[2].phi & (own[2].words < 8) & (own[2].words != 3)).sum())
    assert found.details["n_words"] == 7


def test_words_with_equal_vectors_count_as_one():
    table = np.concatenate([toy_table(), toy_table()])
    own = [tokens(raw(), seed=seed) for seed in (0, 1, 2)]
    twice = replace(own[2], words=own[2].words + 32 * (np.arange(len(own[2].words)) % 2))
    found = InversionAttack(controls=False, **SMALL).fit(InversionKnowledge(table, *own[:2])).attack(twice)
    assert found.attack.value > 0.99 and found.details["n_words"] == 32


def test_where_vectors_say_nothing_the_decoder_guesses_by_frequency():
    def skewed(seed):
        found = tokens(None, n=400, seed=seed)
        often = found.phi & (np.random.default_rng(seed).random(len(found.phi)) < 0.6)
        return replace(found, words=np.where(often, 4, found.words))

    options = SMALL | {"n_epochs": 15, "lr": 2e-2, "controls": False, "patience": None}
    own = InversionKnowledge(toy_table(), skewed(0), skewed(1))
    found = InversionAttack(decoder="token", **options).fit(own).attack(skewed(2))
    assert found.attack.value > 0.5 and found.baseline.value > 0.5 and found.advantage < 0.1


def test_same_seed_same_figures():
    first, second, other = (invert(raw(1.0), random_state=seed).attack for seed in (0, 0, 1))
    assert first == second != other


def test_ties_count_by_their_expectation():
    ranks = Ranks(np.array([0, 4, 4, 5]), np.array([1, 1, 2, 1]))
    assert expected_hits(ranks, 5).tolist() == [1.0, 1.0, 0.5, 0.0]


def test_frequency_guesses_within_what_is_seen():
    known, keys = np.array([1, 1, 1, 2, 2, 3]), np.array([0, 0, 0, 1, 1, 1])
    words = np.array([1, 2, 3, 1])
    assert frequency_hits(known, words, 1, keys, np.array([0, 1, 1, 1])).tolist() == [1, 1, 0, 0]
    assert frequency_hits(known, words, 1, keys, np.array([5, 5, 5, 5])).tolist() == [1, 0, 0, 1]


def test_what_is_missing_is_refused():
    bare = [replace(tokens(raw(), seed=seed), casing=None) for seed in (0, 1)]
    with pytest.raises(ValueError, match="to use casing, but none are given"):
        InversionAttack(casing=True, **SMALL).fit(InversionKnowledge(toy_table(), *bare))
    nothing = replace(bare[0], phi=np.zeros_like(bare[0].phi))
    with pytest.raises(ValueError, match="there is nothing to recover"):
        InversionAttack(**SMALL).fit(InversionKnowledge(toy_table(), nothing, bare[1]))
    with pytest.raises(ValueError, match="Call 'fit' first"):
        InversionAttack().attack(bare[0])
    with pytest.raises(ValueError, match="one row for each of the"):
        replace(bare[0], phi=bare[0].phi[:-1])
    with pytest.raises(ValueError, match="must be"):
        InversionAttack(decoder="dense")
