import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.pseudonyms import shared_draws, within_one_edit


def levenshtein(a, b):
    """The textbook table."""
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
        previous = row
    return previous[-1]


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_one_edit_is_levenshtein_of_at_most_one(a, b):
    assert within_one_edit(a, b) == (levenshtein(a, b) <= 1)


def draws_of(tokens, groups, replaceable=None):
    words = list(dict.fromkeys(tokens))
    ids = np.array([words.index(token) for token in tokens])
    known = np.ones(len(words), dtype=bool) if replaceable is None else np.array([w in replaceable for w in words])
    draws, drawn = shared_draws(None if groups is None else np.array(groups), ids, words, known)
    return draws.tolist(), [words[i] for i in drawn[draws]]


def test_without_groups_every_token_has_its_own_draw():
    assert draws_of(["alder", "alder", "birch"], None) == ([0, 1, 2], ["alder", "alder", "birch"])


def test_same_word_shares_a_draw_within_its_group_only():
    draws, _ = draws_of(["alder", "Alder", "birch", "ALDER", "alder"], [0, 0, 0, 0, 1])
    assert draws[0] == draws[1] == draws[3] != draws[4]
    assert draws[2] not in (draws[0], draws[4])


def test_misspelling_follows_the_more_frequent_word():
    draws, words = draws_of(["aldr", "alder", "Alder", "aldern", "albers"], [0] * 5)
    assert draws[0] == draws[1] == draws[2] == draws[3] != draws[4]
    assert words[0] == "alder"


def test_a_known_word_leads_an_unknown_one_that_is_more_frequent():
    _, words = draws_of(["aldr", "aldr", "alder"], [0] * 3, replaceable={"alder"})
    assert words == ["alder"] * 3


@pytest.mark.parametrize("pair", [("12", "13"), ("1984", "1985"), ("ann", "dan"), ("a1b2", "a1b3")])
def test_short_words_and_numbers_are_no_misspellings(pair):
    draws, _ = draws_of(list(pair), [0, 0])
    assert draws[0] != draws[1]


def test_no_chains():
    """Each follower is within one edit of its leader, not of another follower."""
    _, words = draws_of(["alder", "alder", "alders", "aalders"], [0] * 4)
    assert words[2] == "alder"
    assert words[3] == "aalders"


@given(
    st.lists(
        st.tuples(st.sampled_from(["alder", "aldar", "Alder", "birch", "Birch", "birches", "12"]), st.integers(0, 2))
    )
)
def test_laws(items):
    tokens, groups = [t for t, _ in items], [g for _, g in items]
    draws, words = draws_of(tokens, groups)
    for i in range(len(items)):
        for j in range(len(items)):
            same = tokens[i].casefold() == tokens[j].casefold() and groups[i] == groups[j]
            assert not same or draws[i] == draws[j]
            assert groups[i] == groups[j] or draws[i] != draws[j]
        assert within_one_edit(words[i].casefold(), tokens[i].casefold())
