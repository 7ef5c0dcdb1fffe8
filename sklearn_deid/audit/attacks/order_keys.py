"""Sort keys that are computed from the originals of a release, and tests of an order against a key.

A random order is independent of every key. An order by a digest appears random, but an attacker who knows a sentence
can compute its digest and find the position of the sentence. The tests cannot cover keys that depend on a secret.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

FEWEST = 20

# Written forms of a sentence whose digest could be taken.
_FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "words": " ".join,
    "words without blanks": "".join,
    "words in lines": "\n".join,
    "words in lower case": lambda row: " ".join(row).casefold(),
    "words as JSON": lambda row: json.dumps(list(row)),
    "words as a Python list": lambda row: str(list(row)),
}
_ENDS = (4, 8)  # bytes of a digest that is cut off to a number of 32 or 64 bits
_DIGESTS = tuple(sorted(name for name in hashlib.algorithms_guaranteed if not name.startswith("shake")))


def written_forms(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each written form, and the texts of all rows in this form; of equal forms only the first.

    Examples
    --------
    >>> [name for name, _ in written_forms([["a"], ["b"]])]
    ['words', 'words as JSON', 'words as a Python list']
    """
    seen = set()
    for name, write in _FORMS.items():
        texts = [write(row) for row in rows]
        if (key := tuple(texts)) not in seen:
            seen.add(key)
            yield name, texts


def digests_of(texts: Sequence[str]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the name of each digest, and the digests of all texts.

    Examples
    --------
    >>> dict(digests_of(["a"]))["md5"][0].hex()
    '0cc175b9c0f1b6a831c399e269772661'
    """
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    for name in _DIGESTS:
        yield name, [hashlib.new(name, one, usedforsecurity=False).digest() for one in data]
    for name, checksum in (("crc32", zlib.crc32), ("adler32", zlib.adler32)):
        yield name, [checksum(one).to_bytes(4, "big") for one in data]


def text_keys(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield keys that are computed from the words of sentences: the name of the key, and one number for each sentence.

    Parameters
    ----------
    rows : sequence of n sequences of str
        Words of each sentence.
    """
    for form, texts in written_forms(rows):
        yield f"their {form}", ranks_of(texts)
        for name, digests in digests_of(texts):
            yield f"the {name} digests of their {form}", ranks_of(digests)
            if len(digests[0]) > _ENDS[-1]:
                for size in _ENDS:
                    ends = [one[-size:] for one in digests]
                    yield f"the last {size} bytes of the {name} digests of their {form}", ranks_of(ends)
    yield "their words from the end", ranks_of([" ".join(row)[::-1] for row in rows])
    counts = Counter(word for row in rows for word in row)
    for name, of in {
        "their numbers of words": len,
        "their numbers of characters": lambda row: sum(map(len, row)),
        "their numbers of digits": lambda row: sum(map(str.isdigit, "".join(row))),
        "the frequencies of their words": lambda row: sum(counts[word] for word in row) / max(1, len(row)),
        "the frequencies of their first words": lambda row: counts[row[0]] if len(row) else 0,
    }.items():
        yield name, np.array([of(row) for row in rows], dtype=np.float64)


def ranks_of(keys: Sequence[Any]) -> np.ndarray:
    """Rank of each key among the distinct keys, shape (n,)."""
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys], dtype=np.float64)


def p_of_order(values: np.ndarray) -> tuple[float, float]:
    """Probabilities that keys in random order are at least as regular, by two measures: rank correlation with the
    position, and similarity of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Key of each item, in the order of the release.

    Notes
    -----
    Over all permutations, the rank correlation with the position has mean 0 and variance 1 / (n - 1), and lighter tails
    than the normal distribution. A perfect order of distinct keys has the exact probability 2 / n!. The serial
    correlation of neighbours has mean -1/(n-1) and a variance of about 1/n. The serial correlation also detects orders
    that consist of several ascending sequences.

    Examples
    --------
    >>> p_of_order(np.arange(40.0))[0] < 1e-9, min(p_of_order(np.arange(40) * 27 % 41)) > 0.01
    (True, True)
    """
    n = len(values)
    if n < 3 or values.min() == values.max():
        return 1.0, 1.0
    # Extreme values would dominate the sums, whose distribution would then be far from normal.
    ranks = rankdata(values)
    steps, place = np.diff(ranks), np.arange(n)
    along = float(2.0 * ndtr(-abs(np.corrcoef(ranks, place)[0, 1]) * np.sqrt(n - 1)))
    if (steps > 0).all() or (steps < 0).all():
        along = min(along, 2.0 / math.factorial(min(n, 150)))
    centred = ranks - ranks.mean()
    r = float((centred[1:] * centred[:-1]).sum() / np.square(centred).sum())
    return along, float(2.0 * ndtr(-abs(r + 1.0 / n) * np.sqrt(n)))
