"""Vectors of character n-grams, with the kinds of public lists that contain the word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ..embeddings import KnownWordTable, SubwordTable
from ..exceptions import BundleError
from ..surrogates.folding import fold
from ..surrogates.guessed_locale import guess_locale
from ..surrogates.locale_words import LISTED_KINDS, listed_words

_SHOWN = 200_000  # tokens that show the language of sentences
_TABLE, _HASHES, _KINDS = "subwords.table", "listed.hashes", "listed.kinds"
_KNOWN = ("known.hashes", "known.codes", "known.centroids")
# Longer n-grams than any tagger has: looking up a word would take minutes.
_LONGEST_NGRAM = 20


class ListedVectors:
    """Vectors of character n-grams, followed by a 1 for each kind of public list that contains the word, and a 0 for
    others.

    A tagger that was trained on twelve notes has read only the names in these notes. Lists of names, places and
    professions in many languages show the tagger other possible names. The lists are public. Of the notes, only the
    language determines which lists are used. The words are stored as hashes of 32 bits, so that a saved tagger uses the
    same lists with every version of Faker. About one of 50,000 words that are in no list is wrongly treated as listed.

    Parameters
    ----------
    ngrams : SubwordTable
        Vectors of n-grams.
    hashes : ndarray of uint32, shape (n_listed,)
        Hashes of the listed words, in ascending order.
    kinds : ndarray of uint16, shape (n_listed,)
        Kinds of each listed word: bit k is set if list k of `LISTED_KINDS` contains the word.

    Examples
    --------
    >>> ngrams = SubwordTable(np.zeros((10, 4), dtype=np.float32))
    >>> vectors = ListedVectors.in_language(ngrams, "es")
    >>> name, disease = vectors.vectors_for(["García", "fiebre"])[:, ngrams.dim :] > 0
    >>> [kind for kind, is_listed in zip(LISTED_KINDS, name) if is_listed], bool(disease.any())
    (['surname', 'surname, any language', 'place, any language'], False)
    """

    def __init__(self, ngrams: SubwordTable, hashes: np.ndarray, kinds: np.ndarray) -> None:
        self.ngrams, self.hashes, self.kinds = ngrams, hashes, kinds

    @classmethod
    def in_language(cls, ngrams: SubwordTable, locale: str) -> ListedVectors:
        """Vectors with the lists of a language and the lists of all languages together.

        Parameters
        ----------
        locale : str
            One of `sklearn_deid.surrogates.LOCALES`. For any other value, only the lists for all languages together
            contain words.
        """
        return cls(ngrams, *_table(locale))

    def after(self, ngrams: SubwordTable) -> ListedVectors:
        """The same lists, combined with other vectors of n-grams."""
        return ListedVectors(ngrams, self.hashes, self.kinds)

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self.ngrams.dim + len(LISTED_KINDS)

    @property
    def is_public(self) -> bool:
        """Whether the vectors of n-grams are marked as public. The lists are always public."""
        return self.ngrams.is_public

    @property
    def checksum(self) -> str:
        """Checksum of vectors and lists, 32 hexadecimal digits."""
        return _checksum(self.ngrams.checksum.encode(), self.hashes, self.kinds)

    @property
    def lists_checksum(self) -> str:
        """Checksum of the lists alone, which depends on the version of Faker, 32 hexadecimal digits."""
        return _checksum(b"", self.hashes, self.kinds)

    def vectors_for(self, words: Sequence[str]) -> np.ndarray:
        """Vectors of words, float32 of shape (n_words, dim)."""
        wanted = _hashes(words)
        places = np.minimum(np.searchsorted(self.hashes, wanted), max(len(self.hashes) - 1, 0))
        bits = np.arange(len(LISTED_KINDS), dtype=np.uint16)
        # shape: (n_words,)
        kinds = np.zeros(len(wanted), dtype=np.uint16)
        if len(self.hashes):
            kinds = np.where(self.hashes[places] == wanted, self.kinds[places], kinds)
        # shape: (n_words, dim)
        return np.concatenate([self.ngrams.vectors_for(words), (kinds[:, None] >> bits & 1).astype(np.float32)], axis=1)

    def __deepcopy__(self, memo: dict[int, Any]) -> ListedVectors:
        # The object never changes, so copies share it.
        return self

    def __repr__(self) -> str:
        return f"ListedVectors({self.ngrams!r}, {len(self.hashes)} listed words)"


def _checksum(begin: bytes, hashes: np.ndarray, kinds: np.ndarray) -> str:
    # One byte order, so that the checksum is the same on all machines.
    written = begin + hashes.astype("<u4").tobytes() + kinds.astype("<u2").tobytes()
    return blake2b(written, digest_size=16).hexdigest()


def locale_of(tokens: np.ndarray) -> str:
    """Return the locale of the language of the sentences; "" if the language is not among `surrogates.LOCALES`.

    Examples
    --------
    >>> locale_of(np.array("Der Patient wurde am Montag in die Klinik aufgenommen .".split(), dtype=object))
    'de'
    """
    return guess_locale(" ".join(map(str, tokens[:_SHOWN])), default="")


def saved_vectors(vectors: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """JSON values and arrays for `loaded_vectors`. Vectors of other classes have no arrays."""
    state: dict[str, Any] = {"subwords": None}
    arrays: dict[str, np.ndarray] = {}
    if isinstance(vectors, ListedVectors):
        state["listed_words"] = True
        arrays |= {_HASHES: vectors.hashes, _KINDS: vectors.kinds}
        vectors = vectors.ngrams
    if isinstance(vectors, SubwordTable):
        state["subwords"] = {k: getattr(vectors, k) for k in ("min_n", "max_n", "lower", "is_public")}
        arrays[_TABLE] = np.asarray(vectors.table)
    if isinstance(vectors, KnownWordTable):
        state["known_words"] = True
        arrays |= zip(_KNOWN, (vectors.hashes, vectors.codes, vectors.centroids), strict=True)
    return state, arrays


def loaded_vectors(
    state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[SubwordTable | ListedVectors | None, set[str]]:
    """Vectors of a saved tagger, and the names of their arrays.

    Raises
    ------
    BundleError
        If n-grams are too long, or the arrays of listed words do not contain a hash and a number for each word.
    ValueError
        If the arrays of known words do not fit together.
    """
    subwords = state["subwords"]
    if subwords is None:
        return None, set()
    if subwords["max_n"] > _LONGEST_NGRAM:
        raise BundleError(f"The saved n-grams are longer than {_LONGEST_NGRAM} characters.")
    ngrams, names = SubwordTable(arrays[_TABLE], **subwords), {_TABLE}
    if state.get("known_words", False):
        ngrams, names = KnownWordTable(ngrams, *(arrays[name] for name in _KNOWN)), {_TABLE, *_KNOWN}
    # Taggers of earlier versions, and the starter, know no lists.
    if not state.get("listed_words", False):
        return ngrams, names
    hashes, kinds = arrays[_HASHES], arrays[_KINDS]
    if (hashes.dtype, kinds.dtype, hashes.ndim, kinds.shape) != (np.uint32, np.uint16, 1, hashes.shape):
        raise BundleError("The listed words of a saved tagger are no hashes with a number of kinds each.")
    return ListedVectors(ngrams, hashes, kinds), {*names, _HASHES, _KINDS}


@cache
def _table(locale: str) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of the listed words in ascending order, and the kinds of each word."""
    kinds: dict[str, int] = {}
    for bit, kind in enumerate(LISTED_KINDS):
        for word in listed_words(locale)[kind]:
            kinds[word] = kinds.get(word, 0) | 1 << bit
    hashes, first = np.unique(_hashes(kinds), return_inverse=True)
    joined = np.zeros(len(hashes), dtype=np.uint16)
    # Words with equal hashes have the kinds of both words.
    np.bitwise_or.at(joined, first, np.fromiter(kinds.values(), dtype=np.uint16, count=len(kinds)))
    hashes.flags.writeable = joined.flags.writeable = False
    return hashes, joined


def _hashes(words: Iterable[str]) -> np.ndarray:
    """Hashes of folded words, shape (n_words,)."""
    digests = [blake2b(fold(word).encode("utf-8", "surrogatepass"), digest_size=4).digest() for word in words]
    return np.frombuffer(b"".join(digests), dtype="<u4").astype(np.uint32)
