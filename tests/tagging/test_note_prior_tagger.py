"""NotePriorTagger: what a note has elsewhere moves a doubtful sentence, and nothing else does."""

import numpy as np
import pytest
from scipy.optimize import brentq

from sklearn_deid import NotePriorTagger, RecallTunedTagger, TokenSequences
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.tagging.marginals import TokenTagger
from sklearn_deid.tagging.note_prior_tagger import prior_factors

#: Probability of PHI of each word.
PHI = {"sure": 0.999, "doubtful": 0.3, "likely": 0.6, "plain": 0.001}
Y = [["B-PATIENT"], ["O"]]


class Known(TokenTagger):
    """Gives each word its probability of PHI, two thirds of it for PATIENT and B."""

    classes_ = np.array(["O", "B-DOCTOR", "B-PATIENT", "I-DOCTOR", "I-PATIENT"], dtype=object)

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict_proba(self, X):
        rows = [np.array([[1 - PHI[w], PHI[w] / 3, 2 * PHI[w] / 3, 0, 0] for w in row]).reshape(-1, 5) for row in X]
        return np.array([*rows, None], dtype=object)[:-1]


def phi_of(*notes, **parameters):
    """Probabilities of PHI of the words of notes, each a list of sentences."""
    rows = [sentence.split() for note in notes for sentence in note]
    documents = np.repeat(np.arange(len(notes)), [len(note) for note in notes])
    model = NotePriorTagger(Known(), **({"share": 0.4} | parameters)).fit([["sure"], ["plain"]], Y)
    found = model.predict_proba(TokenSequences.from_rows(rows).with_documents(documents))
    np.testing.assert_allclose(np.concatenate(found).sum(1), 1, atol=1e-6)
    return [row[:, 1:].sum(1).tolist() for row in found]


def test_a_doubtful_word_counts_less_the_less_phi_its_note_has_elsewhere():
    found = [phi_of(["doubtful", *["sure"] * n, *["plain"] * (20 - n)])[0][0] for n in (20, 10, 5, 2, 1, 0)]
    assert found[0] == pytest.approx(0.3, abs=1e-6)
    assert all(a > b for a, b in zip(found[1:], found[2:], strict=False))
    assert found[-1] < 0.06


def test_words_of_a_sentence_that_surely_has_phi_stay_and_so_do_sure_ones():
    (alone,), *_ = phi_of(["doubtful", *["plain"] * 30])
    (beside, sure), *_ = phi_of(["doubtful sure", *["plain"] * 30])
    assert sure > 0.98 and beside > 0.29 and alone < 0.06


@pytest.mark.parametrize("word", PHI)
def test_a_note_of_one_sentence_stays_whatever_other_notes_have(word):
    ((found,), *_) = phi_of([word], ["plain"] * 9, ["sure"] * 9)
    assert found == pytest.approx(PHI[word], abs=1e-6)


def test_sentences_whose_note_is_not_known_stay():
    X = [["doubtful"], *[["plain"]] * 30]
    model = NotePriorTagger(Known(), share=0.4).fit([["sure"], ["plain"]], Y)
    for a, b in zip(model.predict_proba(X), Known().predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_nothing_rises_and_the_label_stays():
    rng = np.random.default_rng(0)
    rows = [[str(w) for w in rng.choice([*PHI], size=rng.integers(0, 4))] for _ in range(200)]
    X = TokenSequences.from_rows(rows).with_documents(rng.integers(0, 12, size=200))
    model = NotePriorTagger(Known(), share=0.9).fit([["sure"], ["plain"]], Y)
    before, after = (np.concatenate([*tagger.predict_proba(X)]).astype(float) for tagger in (Known(), model))
    assert (after[:, 1:] <= before[:, 1:] + 1e-7).all()
    assert (after[:, 1:] < before[:, 1:] - 1e-3).any()
    np.testing.assert_allclose(after[:, 1:] * before[:, 2:3], before[:, 1:] * after[:, 2:3], atol=1e-7)


def test_a_note_is_read_alike_alone_among_others_and_in_any_order_of_its_sentences():
    note = ["doubtful", "sure plain", "likely", *["plain"] * 12, "doubtful doubtful"]
    alone = phi_of(note)
    assert phi_of(["sure"] * 5, note, ["plain"])[5:-1] == alone
    np.testing.assert_allclose(
        [p for r in phi_of(note[::-1])[::-1] for p in r], [p for r in alone for p in r], atol=1e-6
    )


def test_factors_solve_the_equation_of_the_prior():
    """Two equal doubtful sentences among clean ones: one unknown, whose equation is solved by bisection."""
    q, n, share, strength = 0.4, 10, 0.3, 2.0
    likely = np.array([q, q, *[0.0] * (n - 2)])

    def gap(now):
        found = (strength * share + now) / (strength + n - 1)
        odds = q / (1 - q) * found / (1 - found) * (1 - share) / share
        return odds / (1 + odds) - now

    factors = prior_factors(likely, np.zeros(n), share, strength, 1e-9)
    assert factors[0] * q == pytest.approx(brentq(gap, 1e-6, q), abs=1e-6)


def test_no_length_of_a_note_makes_a_doubtful_word_less_likely_than_the_lowest_share():
    found = [phi_of(["likely", *["plain"] * n], lowest=0.05)[0][0] for n in (10, 60, 2000)]
    odds = 0.6 / 0.4 * (0.05 / 0.95) / (0.4 / 0.6)
    assert found[0] > found[1] >= found[2] == pytest.approx(odds / (1 + odds), abs=1e-6)


def test_share_is_that_of_the_training_sentences_and_never_none_or_all():
    rows = [["sure"], ["plain"], ["plain"], ["plain"]]
    for tags, share in (("BOOO", 0.25), ("OOOO", 0.01), ("BBBB", 0.99)):
        y = [["B-PATIENT" if tag == "B" else "O"] for tag in tags]
        assert NotePriorTagger(Known()).fit(rows, y).share_ == share


def test_a_larger_bias_of_all_words_never_tags_less():
    X = TokenSequences.from_rows([["doubtful", "plain"], ["likely"], ["sure"], *[["plain"]] * 20])
    X = X.with_documents(np.zeros(len(X), dtype=int))
    tagged = []
    for bias in (-4, 0, 2, 4, 8):
        inner = NotePriorTagger(Known(), share=0.4).fit([["sure"], ["plain"]], Y)
        tuned = RecallTunedTagger(inner, decision_bias=bias, cv="prefit", min_precision=0).fit([["sure"], ["plain"]], Y)
        tagged.append([tag != "O" for row in tuned.predict(X) for tag in row])
    assert all(b >= a for less, more in zip(tagged, tagged[1:], strict=False) for a, b in zip(less, more, strict=True))
    assert sum(tagged[0]) == 1 < sum(tagged[-1])


@pytest.mark.parametrize("parameter", ["strength", "lowest"])
def test_parameters_that_became_no_numbers_are_refused(parameter):
    """All tags were "O" without an error."""
    model = NotePriorTagger(Known(), share=0.4).fit([["sure"], ["plain"]], Y)
    model.set_params(**{parameter: float("nan")})
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of NotePriorTagger"):
        model.predict(TokenSequences.from_rows([["sure"], ["likely"]]).with_documents([0, 0]))


def test_an_empty_input_has_no_rows():
    empty = TokenSequences.from_rows([]).with_documents(np.zeros(0, dtype=int))
    assert len(NotePriorTagger(Known()).fit([["sure"], ["plain"]], Y).predict_proba(empty)) == 0


def test_no_sentence_shows_no_share():
    """A share of NaN would turn all tags into "O"."""
    with pytest.raises(SequenceError, match="give 'share'"):
        NotePriorTagger(Known()).fit([], [])
    model = NotePriorTagger(Known(), share=0.5).fit([], [])
    assert model.predict(TokenSequences.from_rows([["sure"]]).with_documents([0]))[0] == ["B-PATIENT"]
