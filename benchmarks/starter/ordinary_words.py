"""Words that are rarely names: a tagger needs more evidence to take one of them for PHI."""

from __future__ import annotations

import re
from functools import cache

from .diagnoses import categories
from .lists import vocabulary
from .names import names, origins, word_names
from .open_words import drug_names, english_words

_WORD = re.compile(r"[^\W\d_]{3,}")
#: Lists of places and organizations.
_PLACES = ("cities", "regions", "hospitals", "companies")


@cache
def ordinary_words() -> frozenset[str]:
    """Words of English, diagnoses, drugs and our lists, in lower case, that the names of the training do not hold.

    A word that is a name of the training in another casing is left out, so that no name that the training has needs
    more evidence. Words and names that are held out for measurements are not read.
    """
    found = {word for kind in ("noun", "verb", "past", "adj", "adv") for word in english_words(kind)}
    found.update(drug_names())
    texts = [text for part in categories(False) for of in part for text in of]
    texts += [entry for name, entries in vocabulary().items() if name not in _PLACES for entry in entries]
    # Words with a capital are eponyms and brands, of which many are names elsewhere.
    found.update(word for text in texts for word in _WORD.findall(text) if word.islower())
    found.update(entry.lower() for name in ("brands", "drugs") for entry in vocabulary()[name])
    return frozenset(found - _names())


def _names() -> set[str]:
    listed = [name for origin in origins() for part in names(origin) for name in part]
    return {word.lower() for name in (*listed, *word_names()) for word in name.split()}
