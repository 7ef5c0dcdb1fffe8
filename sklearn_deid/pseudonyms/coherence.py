"""Tokens that share a random draw, so that a person keeps the same surrogate name throughout a note."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

# Shorter words, and words with digits, are mostly different words when they are within one edit: 12 and 13, Ann and
# Dan.
_SHORTEST_MISSPELT = 4


def shared_draws(
    groups: np.ndarray | None, word_ids: np.ndarray, words: Sequence[str], replaceable: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Assign each token to a draw, and each draw to the word whose surrogate is drawn.

    Within a group, spellings that differ only in case share a draw. A word of at least four letters also shares the
    draw of a more frequent word that is within one edit (a letter changed, added or left out).

    Parameters
    ----------
    groups : ndarray of int, shape (n_tokens,), or None
        Group of each token; with None, each token has a separate draw.
    word_ids : ndarray of int, shape (n_tokens,)
        Index of each token in ``words``.
    words : sequence of str
        Distinct words.
    replaceable : ndarray of bool, shape (n_words,)
        Whether each word can be replaced through its vector. If possible, other words take the surrogate of a
        replaceable word, and never the reverse.

    Returns
    -------
    draws : ndarray of int, shape (n_tokens,)
        Draw of each token.
    drawn_words : ndarray of int, shape (n_draws,)
        Index of the word of each draw.
    """
    # Without groups each token has its own draw.
    if groups is None:
        return np.arange(len(word_ids)), word_ids
    number: dict[str, int] = {}
    folded = np.fromiter(
        (number.setdefault(word.casefold(), len(number)) for word in words), dtype=np.int64, count=len(words)
    )
    keys = list(number)
    draws = np.empty(len(word_ids), dtype=np.int64)
    drawn: list[int] = []
    for members in _by_group(groups):
        leader = _leaders(word_ids[members], folded, keys, replaceable)
        first: dict[int, int] = {}
        for member in members.tolist():
            word = leader[int(folded[word_ids[member]])]
            if word not in first:
                first[word] = len(drawn)
                drawn.append(word)
            draws[member] = first[word]
    return draws, np.asarray(drawn, dtype=np.int64)


def within_one_edit(word: str, other: str) -> bool:
    """Whether changing, adding or leaving out a single letter turns a word into the other.

    Examples
    --------
    >>> within_one_edit("alder", "aldar"), within_one_edit("alder", "aldr"), within_one_edit("alder", "adler")
    (True, True, False)
    """
    if abs(len(word) - len(other)) > 1:
        return False
    short, long = sorted((word, other), key=len)
    # Length of the common prefix. Behind the prefix, skip a letter of both words (changed) or of the longer word
    # (added).
    same = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[same + (len(short) == len(long)) :] == long[same + 1 :]


def _by_group(groups: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the members of each group, in order."""
    order = np.argsort(groups, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else ()


def _leaders(word_ids: np.ndarray, folded: np.ndarray, keys: list[str], replaceable: np.ndarray) -> dict[int, int]:
    """Map each case-folded word of a group to the word whose surrogate is drawn: itself, or its correct spelling."""
    counts = Counter(word_ids.tolist())
    spelling: dict[int, int] = {}
    # Spellings of one word in different casings share a draw. The replaceable, then the most frequent spelling leads.
    frequency: Counter[int] = Counter()
    for word, n in counts.items():
        key = int(folded[word])
        frequency[key] += n
        best = spelling.get(key)
        if best is None or (replaceable[word], n) > (replaceable[best], counts[best]):
            spelling[key] = word
    leader: dict[int, int] = {}
    near: dict[str, list[int]] = defaultdict(list)
    # Replaceable words lead before others, frequent words before rare words; ties keep the order of appearance.
    for key in sorted(spelling, key=lambda k: (not replaceable[spelling[k]], -frequency[k])):
        followed = _misspelling_of(keys[key], keys, near)
        leader[key] = spelling[key] if followed is None else spelling[followed]
        if followed is None and _may_be_misspelt(keys[key]):
            for form in _one_left_out(keys[key]):
                near[form].append(key)
    return leader


def _misspelling_of(word: str, keys: list[str], near: dict[str, list[int]]) -> int | None:
    """Return the first correctly spelled word within one edit, or None.

    If two words are within one edit, leaving out at most one letter of each word gives the same form. A table of these
    forms of all words therefore finds all candidates, without a comparison of every pair of words.
    """
    if not _may_be_misspelt(word):
        return None
    candidates = {key for form in _one_left_out(word) for key in near.get(form, ())}
    return next((key for key in sorted(candidates) if within_one_edit(word, keys[key])), None)


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= _SHORTEST_MISSPELT and word.isalpha()


# Two words within one edit have a common form after one letter is left out of each, so that a table of forms finds
# them.
def _one_left_out(word: str) -> Iterator[str]:
    yield word
    for i in range(len(word)):
        yield word[:i] + word[i + 1 :]
