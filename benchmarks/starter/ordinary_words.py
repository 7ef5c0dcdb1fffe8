"""Words that are rarely names: a tagger needs more evidence to take one of them for PHI."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from sklearn.neural_network import MLPClassifier

from sklearn_deid.embeddings import load_glove

from . import ages
from .addresses import foreign_towns
from .diagnoses import categories
from .lists import vocabulary
from .names import names, origins, word_names
from .open_words import drug_names, english_words, medicine_words

_WORD = re.compile(r"[^\W\d_]{3,}")
#: Lists of places and organizations.
_PLACES = ("cities", "regions", "hospitals", "companies")
#: Most frequent words of the vectors that get a level. All 400,000 need twice the bytes, and hide as many words.
_N_FREQUENT = 200_000
#: Largest level. With 6 instead of 4, the figures were the same.
TOP = 4


@cache
def word_levels(held_out: bool = False) -> dict[str, int]:
    """How ordinary a word is, from 1 to 4, in lower case. Names of the training and words of ages have no level, so
    that none of them needs more evidence.

    A classifier reads the public vectors of a word (GloVe 6B; public domain) and tells names of people and places from
    the words of `ordinary_words`. The level of a word is its log odds of being no name, rounded down. Ordinary words
    without a vector have level 1, and names of medicines the largest level. The classifier reads no word and no name
    that is held out for measurements, so that held-out ones meet its errors. With ``held_out``, the names that are held
    out have no level either.
    """
    glove, odds = load_glove(), _log_odds()
    levels = dict.fromkeys(ordinary_words(), 1)
    for word, level in zip(glove.words, np.floor(odds).clip(0, TOP).astype(int), strict=False):
        if _WORD.fullmatch(word) and word.isascii():
            levels[word] = int(level)
    # Of 26,000 such words, 28 are names in the lists. Many are too rare for the vectors, or look like names there.
    levels |= dict.fromkeys(medicine_words(), TOP)
    known = ages.WORDS | _names() | (_names(True) if held_out else set())
    return {word: level for word, level in levels.items() if level and word not in known}


@cache
def ordinary_words() -> frozenset[str]:
    """Words of English, diagnoses, drugs and our lists, in lower case, that the names of the training do not hold.

    Words and names that are held out for measurements are not read.
    """
    found = {word for kind in ("noun", "verb", "past", "adj", "adv") for word in english_words(kind)}
    found.update(drug_names())
    texts = [text for part in categories(False) for of in part for text in of]
    texts += [entry for name, entries in vocabulary().items() if name not in _PLACES for entry in entries]
    # Words with a capital are eponyms and brands, of which many are names elsewhere.
    found.update(word for text in texts for word in _WORD.findall(text) if word.islower())
    found.update(entry.lower() for name in ("brands", "drugs") for entry in vocabulary()[name])
    return frozenset(found - _names())


def _log_odds() -> np.ndarray:
    """Log odds of being no name, for the most frequent words with vectors."""
    glove = load_glove()
    rows = {word: row for row, word in enumerate(glove.words)}
    ordinary, proper = ordinary_words(), _names() | _place_words()
    both = ordinary & proper
    kinds = [sorted(word for word in words - both if word in rows) for words in (ordinary, proper)]
    vectors = np.asarray(glove.matrix())
    classifier = MLPClassifier((128,), batch_size=512, alpha=1e-3, early_stopping=True, random_state=0)
    classifier.fit(vectors[[rows[word] for words in kinds for word in words]], np.repeat([0, 1], [*map(len, kinds)]))
    outside, name = classifier.predict_proba(vectors[:_N_FREQUENT]).T
    return np.log(outside / name)


def _names(held_out: bool = False) -> set[str]:
    listed = [name for origin in origins() for part in names(origin, held_out) for name in part]
    return {word.lower() for name in (*listed, *word_names(held_out)) for word in name.split()}


def _place_words() -> set[str]:
    listed = [*foreign_towns(), *(entry for name in _PLACES for entry in vocabulary()[name])]
    return {word.lower() for name in listed for word in _WORD.findall(name)}
