"""The language model of a contextual attacker, against counts by hand and an enumeration of all sentences."""

import itertools

import numpy as np
import pytest

from sklearn_deid.audit.attacks.sentence_prior import Choices, SentencePrior

SENTENCES = [["a", "b", "c"], ["a", "b", "a"], ["b", "c"], ["A", "c", "b", "c"]]


@pytest.fixture(scope="module")
def prior():
    return SentencePrior(SENTENCES, ["d"])


def number(prior, *words):
    return prior.numbers(words).tolist()


def test_probabilities_are_those_of_witten_and_bell(prior):
    # Vocabulary: start, a, b, c, d and unknown. Counts of all words: a 4, b 4, c 4, 12 tokens of 3 types.
    a, b, c, d = number(prior, "a", "b", "c", "d")
    assert prior.n_words == 6 and number(prior, "B", "zebra") == [b, 5]
    lowest = {c: (4 + 3 / 6) / 15, d: (0 + 3 / 6) / 15}
    # After b: c three times, a once; the end of a sentence is no word.
    after_b = {c: (3 + 2 * lowest[c]) / 6, d: 2 * lowest[d] / 6}
    # After a b: c once, a once.
    after_ab = {c: (1 + 2 * after_b[c]) / 4, d: 2 * after_b[d] / 4}
    words = np.array([c, d])
    for context, expected in (((), lowest), ((b,), after_b), ((a, b), after_ab), ((c, b), None)):
        found = prior.probabilities(context, words)
        if expected is None:  # c b: c once, one type
            expected = {c: (1 + after_b[c]) / 2, d: after_b[d] / 2}
        assert found == pytest.approx([expected[c], expected[d]])
        assert prior.probability(tuple(context), c) == pytest.approx(expected[c])
    unseen = prior.probabilities((d, b), words)
    assert unseen == pytest.approx([after_b[c], after_b[d]])


@pytest.mark.parametrize("context", [(), (1,), (1, 2), (4, 4), (0, 0)])
def test_probabilities_sum_to_one(prior, context):
    assert prior.probabilities(context, np.arange(prior.n_words)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(12))
def test_decoding_is_that_of_an_enumeration(prior, seed):
    rng = np.random.default_rng(seed)
    time = int(rng.integers(1, 7))
    sentence = rng.integers(1, prior.n_words, size=time)
    unknown = np.sort(rng.permutation(time)[: int(rng.integers(1, min(time, 3) + 1))]).tolist()
    words = {p: rng.permutation(np.arange(1, prior.n_words))[: int(rng.integers(2, 5))] for p in unknown}
    bases = {p: rng.dirichlet(np.ones(len(w))) if seed % 2 else None for p, w in words.items()}
    choices = {p: Choices(w, np.log(rng.random(len(w))), bases[p]) for p, w in words.items()}

    def total(chosen):
        whole, score = sentence.copy(), 0.0
        for p, i in zip(unknown, chosen, strict=True):
            whole[p], score = words[p][i], score + choices[p].log_evidence[i]
        padded = [0, 0, *whole.tolist()]
        for i in range(time):
            context, p = tuple(padded[i : i + 2]), prior.probability(tuple(padded[i : i + 2]), padded[i + 2])
            if i in unknown:  # half the language model among the choices, half the base
                base = 1 / len(words[i]) if bases[i] is None else bases[i][chosen[unknown.index(i)]]
                p = 0.5 * p / prior.probabilities(context, words[i]).sum() + 0.5 * base
            score += np.log(p)
        return score

    best = max(itertools.product(*(range(len(words[p])) for p in unknown)), key=total)
    assert prior.decode(sentence, choices) == dict(zip(unknown, best, strict=True))


def test_impossible_words_are_never_decoded(prior):
    a, b, c = number(prior, "a", "b", "c")
    choices = {2: Choices(np.array([a, b, c]), np.array([-np.inf, 0.0, -np.inf]))}
    assert prior.decode(np.array([a, b, c]), choices) == {2: 1}
