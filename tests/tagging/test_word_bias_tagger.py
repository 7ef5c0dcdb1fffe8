"""WordBiasTagger, WordSet and WordLevels: log odds move by the bias for listed words alone, once for each level."""

import weakref
from base64 import b85decode, b85encode

import numpy as np
import pytest
from scipy.special import logit

from sklearn_deid import RecallTunedTagger, TokenSequences
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.tagging import WordBiasTagger, WordLevels, WordSet
from sklearn_deid.tagging.marginals import TokenTagger, marginal_parts

X = [["Consent", "by", "Alder"], ["consent"], ["CONSENT", "Birch"]]
Y = [["O", "O", "B-PATIENT"], ["O"], ["O", "B-DOCTOR"]]


class Doubtful(TokenTagger):
    """Gives every word the same probabilities."""

    classes_ = np.array(["O", "B-DOCTOR", "B-PATIENT", "I-DOCTOR", "I-PATIENT"], dtype=object)

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict_proba(self, X):
        return np.array([np.tile([0.3, 0.4, 0.2, 0.1, 0.0], (len(row), 1)) for row in X] + [None], dtype=object)[:-1]


def biased(bias, words=("consent",)):
    return WordBiasTagger(Doubtful(), words=words, bias=bias).fit(X, Y)


@pytest.mark.parametrize("bias", [-3.0, -0.5, 0.0, 2.0])
def test_log_odds_of_listed_words_move_by_the_bias_and_no_others(bias):
    before = np.concatenate(Doubtful().predict_proba(X))
    after = np.concatenate(biased(bias).predict_proba(X))
    listed = np.array([word.lower() == "consent" for row in X for word in row])
    moved = logit(after[:, 1:].sum(1)) - logit(before[:, 1:].sum(1))
    np.testing.assert_allclose(moved, np.where(listed, bias, 0), atol=1e-5)
    np.testing.assert_allclose(after.sum(1), 1, atol=1e-6)
    # Which label a word has is not changed.
    np.testing.assert_allclose(after[:, 1:] * before[:, 1:2], before[:, 1:] * after[:, 1:2], atol=1e-6)


@pytest.mark.parametrize("wrapped", [dict, WordLevels.of])
@pytest.mark.parametrize(("bias", "moved"), [(-1.5, [-3.0, 0.0, -4.5]), (4.0, [8.0, 0.0, 12.0]), (-40, [-50, 0, -50])])
def test_a_word_of_a_higher_level_moves_more_and_at_most_by_50(wrapped, bias, moved):
    sentence = [["Consent", "by", "Alder"]]
    # The log odds of PHI are log(7 / 3) for each word.
    found = biased(bias, words=wrapped({"consent": 2, "by": 0, "alder": 3})).predict_proba(sentence)[0].astype(float)
    for shifted, (outside, *phi) in zip(moved, found, strict=True):
        # A probability of less than 1e-20 is a number of few digits in float32.
        assert np.log(sum(phi) / outside) == pytest.approx(np.log(7 / 3) + shifted, abs=1e-4)


def test_a_bias_that_became_no_number_is_refused():
    with pytest.raises(ValueError, match="The 'bias' parameter of WordBiasTagger"):
        biased(-1.0).set_params(bias=float("nan")).predict(X)


def test_a_strong_bias_keeps_listed_words_and_only_those():
    assert list(biased(-20.0).predict(X)) == [["O", "B-DOCTOR", "B-DOCTOR"], ["O"], ["O", "B-DOCTOR"]]
    assert list(biased(-20.0, words=WordSet.of(["BY"])).predict(X)[0]) == ["B-DOCTOR", "O", "B-DOCTOR"]


def test_a_larger_bias_of_all_words_never_tags_less():
    tagged = []
    for bias in (-2, 0, 1, 2, 4):
        tuned = RecallTunedTagger(biased(-2.0), decision_bias=bias, cv="prefit", min_precision=0).fit(X, Y)
        tagged.append([tag != "O" for row in tuned.predict(X) for tag in row])
    assert all(b >= a for less, more in zip(tagged, tagged[1:], strict=False) for a, b in zip(less, more, strict=True))
    assert sum(tagged[0]) < sum(tagged[-1]) == 6


def test_vectors_are_refused():
    vectors = TokenVectors.from_rows([np.zeros((2, 3), dtype=np.float32)])
    with pytest.raises(SequenceError, match="words"):
        biased(-1.0).predict(vectors)


def test_set_knows_every_member_and_takes_few_others_for_members():
    rng = np.random.default_rng(0)
    words = ["".join(chr(c) for c in row) for row in rng.integers(97, 123, size=(6000, 8))]
    members, others = words[:3000], words[3000:]
    known = WordSet.of(members)
    assert all(word in known and word.upper() in known for word in members)
    # Expected: 0.8 % of 3,000, with a standard deviation of 5.
    assert 10 < sum(word in known for word in others) < 45
    assert 5 not in known and "a" not in WordSet.of([])
    again = WordSet.from_state(known.to_state())
    assert [word in again for word in words] == [word in known for word in words]


def test_levels_are_never_less_than_given_and_come_back_from_their_state():
    rng = np.random.default_rng(1)
    words = ["".join(chr(c) for c in row) for row in rng.integers(97, 123, size=(4000, 8))]
    given = {word: int(level) for word, level in zip(words, rng.integers(0, 5, size=4000), strict=True)}
    levels = WordLevels.of(given)
    more = np.array([levels[word.upper()] - level for word, level in given.items()])
    assert more.min() == 0
    # Expected: 0.8 % of the 3,200 words below level 4, with a standard deviation of 5.
    assert 10 < (more > 0).sum() < 48
    again = WordLevels.from_state(levels.to_state())
    assert [again[word] for word in words] == [levels[word] for word in words]
    assert WordLevels.of({})["a"] == 0


@pytest.mark.parametrize("level", [-1, 9, 1.5, "2", None])
def test_a_level_that_is_no_small_whole_number_is_refused(level):
    with pytest.raises(ValueError, match="whole number from 0 to 8"):
        biased(-1.0, words={"consent": level})


@pytest.mark.parametrize("words", [["rod", None], ["rod", float("nan")], [b"rod"], {"rod": 1, None: 2}])
def test_words_that_are_no_strings_are_refused(words):
    """pandas reads the word "null" of a list as an empty cell, and fit ended in an AttributeError."""
    with pytest.raises(ValueError, match="must be strings"):
        WordBiasTagger(words=words).fit([["a"]], [["B-AGE"]])


@pytest.mark.parametrize("state", [{}, {"bits": 5}, {"bits": "xyz"}, {"bits": ""}, {"bits": "ff" * 40}])
def test_a_hostile_set_is_refused(state):
    with pytest.raises(BundleError):
        WordSet.from_state(state)


@pytest.mark.parametrize(
    "text", ["0000,", "00 00", "000\u00e9", "\n0000", '000"0', "~~~~~", "|NsC1", "00000~~", 5, b"00000", None]
)
def test_a_set_that_is_not_in_base_85_is_refused(text):
    """The characters of another base, and five characters whose number has more than four bytes."""
    with pytest.raises(BundleError, match="base 85"):
        WordSet.from_state({"base85": text})


@pytest.mark.parametrize("n", range(1, 12))
def test_sets_of_any_length_are_read_as_they_were_written(n):
    rng = np.random.default_rng(n)
    for bits in (np.zeros(n, np.uint8), rng.integers(0, 256, n, dtype=np.uint8) & 0x6F, np.full(n, 0xB7, np.uint8)):
        assert b85decode(WordSet(bits).to_state()["base85"]) == bits.tobytes()
        again = WordSet.from_state({"base85": b85encode(bits.tobytes()).decode()})
        assert again.to_state() == WordSet(bits).to_state()


def test_tokens_are_looked_up_once_however_they_are_given():
    rows = TokenSequences.from_rows(X)
    for a, b in zip(biased(-1.0).predict_proba(rows), biased(-1.0).predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sentences_of_a_long_note_keep_their_words():
    many = biased(-1.0).predict_proba(X * 2000)
    expected = biased(-1.0).predict_proba(X)
    for number in (0, 1, 2999, 5998, 5999):
        np.testing.assert_array_equal(many[number], expected[number % 3])


def test_marginals_of_a_long_note_are_forgotten_once_they_are_read():
    sentences = TokenSequences.from_rows([["consent"] * 3_000] * 4)
    held = []

    class Watched(Doubtful):
        def predict_proba(self, X):
            rows = super().predict_proba(X)
            held.extend(map(weakref.ref, rows))
            return rows

    parts = marginal_parts(Watched(), sentences, ["DOCTOR", "PATIENT"])
    first = next(parts)
    assert len(first.data) == 6_000
    assert [row() is None for row in held] == [True, True, False, False]
