"""New words of names: not listed, and spoken like the names of the language."""

from itertools import chain

import pytest

from sklearn_deid.surrogates.keyed_chance import KeyedChance
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.own_names import new_word

N = 300


@pytest.mark.parametrize("locale", LOCALES)
def test_new_words_are_in_no_list_and_hold_no_letters_that_names_do_not_hold(locale):
    words = locale_words(locale)
    made = [new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset()) for i in range(N)]
    # Where no pair of halves can be spoken, the word is a listed surname.
    new = [word for word in made if not words.is_name(word)]
    assert len(new) >= 0.97 * N
    listed = [f" {name.lower()} " for name in chain(words.surnames, *words.given_names.values())]
    text = "|".join(listed)
    for word in new:
        whole = f" {word.lower()} "
        assert all(whole[i : i + 3] in text for i in range(len(word))), "three letters that no name has"
    assert len(set(new)) > N / 5


def test_new_words_avoid_the_names_of_the_corpus():
    words = locale_words("en")
    first = {new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset()) for i in range(20)}
    again = {
        new_word(KeyedChance(b"k" * 32, str(i)), words, frozenset(word.lower() for word in first)) for i in range(20)
    }
    assert not first & again
