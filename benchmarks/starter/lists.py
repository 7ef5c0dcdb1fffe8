"""Lists of words of this folder, and which of them the training does not have."""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

from sklearn_deid.surrogates.word_list import read_word_lists

_FOLDER = Path(__file__).parent
_CAPITAL = re.compile(r"[A-Z][a-z]{3,}")
_SHARE_HELD_OUT = 5  # one everyday word of five


@cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """Lists of vocabulary.txt, and common English words of Faker."""
    common = import_module("faker.providers.lorem.en_US").Provider.word_list
    return {**read_word_lists(_FOLDER / "vocabulary.txt"), "common": tuple(common)}


@cache
def held_out_words() -> dict[str, tuple[str, ...]]:
    """Words of medicine that the training does not have."""
    return read_word_lists(_FOLDER / "held_out_words.txt")


@cache
def held_out_terms() -> frozenset[str]:
    """Words with a capital that stand in the held-out lists of medicine alone, most of them names of terms."""
    written = [" ".join(e for entries in lists.values() for e in entries) for lists in (held_out_words(), vocabulary())]
    held, known = (set(_CAPITAL.findall(text)) for text in written)
    return frozenset(held - known)


@cache
def everyday(kind: str, held_out: bool) -> tuple[str, ...]:
    """Everyday words of a kind, for the training or held out."""
    digests = {w: blake2b(w.encode(), digest_size=4).digest()[0] for w in vocabulary()[f"everyday {kind}"]}
    return tuple(w for w, d in digests.items() if (d % _SHARE_HELD_OUT == 0) == held_out)


@cache
def only_held_out() -> frozenset[str]:
    """Single words, in lower case, that stand in the held-out lists alone."""
    kinds = [name.removeprefix("everyday ") for name in vocabulary() if name.startswith("everyday ")]
    known = {word for name, entries in vocabulary().items() if not name.startswith("everyday") for word in entries}
    known |= {word for kind in kinds for word in everyday(kind, False)}
    held = {word for entries in held_out_words().values() for word in entries}
    held |= {word for kind in kinds for word in everyday(kind, True)}
    return frozenset(_words(held) - _words(known))


def _words(entries: set[str]) -> set[str]:
    return {word for entry in entries for word in re.findall(r"[^\W\d_]+", entry.lower())}
