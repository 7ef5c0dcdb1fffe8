"""Frequencies of PHI tokens, against counting one by one, and their normalisation."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import phi_word_prior
from sklearn_deid.metrics.token_prior import normalised_prior
from sklearn_deid.sequences import TokenVectors

TOKENS, TAGS = ["Alder", "alder", "B7", ".", "--"], ["O", "B-NAME", "I-NAME", "B-CITY"]
rows = st.lists(st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(TAGS)), max_size=6), min_size=1, max_size=8)


@given(rows, st.booleans())
def test_prior_counts_each_phi_token(pairs, punctuation):
    X, y = [[token for token, _ in row] for row in pairs], [[tag for _, tag in row] for row in pairs]
    kept = [(tag[2:], token) for row in pairs for token, tag in row if tag != "O"]
    kept = [(label, token) for label, token in kept if punctuation or token not in (".", "--")]
    by_label = phi_word_prior(X, y, punctuation=punctuation)
    assert {(label, token): n for label, counts in by_label.items() for token, n in counts.items()} == Counter(kept)
    total = phi_word_prior(X, y, punctuation=punctuation, by_category=False)
    assert total == Counter(token for _, token in kept)


def test_vectors_have_no_words():
    with pytest.raises(SequenceError, match="X must hold words"):
        phi_word_prior(TokenVectors.from_rows([np.ones((1, 2), np.float32)]), [["B-NAME"]])


weights = st.dictionaries(st.text("ab", min_size=1), st.floats(1e-3, 1e300), min_size=1, max_size=4)


@given(st.dictionaries(st.text("xy", min_size=1), weights, min_size=1, max_size=3))
def test_probabilities_are_the_weights_up_to_a_factor(prior):
    made = normalised_prior(prior)
    assert sum(share for _, _, share in made.values()) == pytest.approx(1.0)
    total = sum(weight / 1e300 for group in prior.values() for weight in group.values())
    for name, (tokens, probabilities, share) in made.items():
        own = [prior[name][token] / 1e300 for token in tokens]
        assert probabilities.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(probabilities * sum(own), own, rtol=1e-9)
        assert share * total == pytest.approx(sum(own), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    "prior",
    [{}, [("Quillwick", 1)], {"Quillwick": "many"}, {"Quillwick": -1}, {"Quillwick": float("nan")}, {"Quillwick": 0}]
    + [{"NAME": {"Quillwick": 1}, "Quillwick": 1}, {"NAME": {}}],
)
def test_wrong_priors_are_refused_without_their_tokens(prior):
    with pytest.raises(ValueError, match="'prior'") as refused:
        normalised_prior(prior)
    assert "Quillwick" not in str(refused.value)
