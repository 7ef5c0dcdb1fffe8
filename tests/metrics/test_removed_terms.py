"""Terms and tokens that redaction took away or left, counted by hand."""

import numpy as np
import pytest

from sklearn_deid.metrics.redacted_notes import original_notes
from sklearn_deid.metrics.removed_terms import find_terms, removed_terms, removed_tokens

NOTES = original_notes(["Ana has chest pain.", "No Chest pain; Pain gone."])
# tokens: Ana has chest pain . / No Chest pain ; Pain gone .
GOLD = [np.array([0, 1, 1, 1, 1], dtype=bool), np.ones(7, dtype=bool)]


def test_the_longest_term_counts_whatever_its_casing():
    found = find_terms(NOTES, ["pain", "chest pain"])
    assert [note.places for note in found] == [[("chest pain", 2, 4)], [("chest pain", 1, 3), ("pain", 4, 5)]]


def test_a_term_of_several_tokens_is_removed_if_one_is_gone():
    left = [np.array([1, 1, 1, 0, 1], dtype=bool), np.array([1, 1, 1, 1, 0, 1, 1], dtype=bool)]
    n_terms, n_removed, by_term = removed_terms(find_terms(NOTES, ["pain", "chest pain"]), GOLD, left)
    assert (n_terms.tolist(), n_removed.tolist()) == ([1, 2], [1, 1])
    assert by_term == {"chest pain": (2, 1), "pain": (1, 1)}


def test_terms_in_gold_phi_do_not_count():
    nothing = [np.zeros(5, dtype=bool), np.zeros(7, dtype=bool)]
    n_terms, n_removed, by_term = removed_terms(find_terms(NOTES, ["ana"]), GOLD, nothing)
    assert (n_terms.sum(), n_removed.sum(), by_term) == (0, 0, {})


def test_punctuation_is_no_token_to_lose():
    left = [np.array([1, 0, 1, 1, 0], dtype=bool), np.array([1, 1, 1, 0, 1, 1, 0], dtype=bool)]
    counts = removed_tokens(NOTES, GOLD, left)
    assert [part.tolist() for part in counts] == [[3, 5], [1, 0], [1, 0], [1, 0]]


def test_places_do_not_show_their_terms():
    assert repr(find_terms(NOTES, ["pain"])[0]) == "TermPlaces(1 places)"


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [("pain", TypeError, "a sequence of texts"), ([1], TypeError, "Number 0 is a int"), ([], ValueError, "is empty")],
)
def test_wrong_terms_are_refused(terms, error, message):
    with pytest.raises(error, match=message):
        find_terms(NOTES, terms)
