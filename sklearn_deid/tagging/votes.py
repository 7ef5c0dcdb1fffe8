"""Several taggers, one answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..sequences import RaggedArray, TokenSequences
from ..text import repair_tags

__all__ = ["majority_tags"]


def majority_tags(
    answers: Sequence[np.ndarray], confidences: Sequence[np.ndarray] | None = None
) -> tuple[list[list[str]], RaggedArray]:
    """At each token the tag that most taggers chose, made legal.

    Of tags with equally many votes "O" loses, so that in doubt a token is hidden; among others the first in
    alphabetical order wins.

    Parameters
    ----------
    answers : sequence of ndarray of shape (n,)
        Of each tagger: one list of IOB2 tags for each sentence.
    confidences : sequence of ndarray of shape (n,), optional
        Of each tagger: the probabilities of its tags.

    Returns
    -------
    tags : list of list of str
    confidence : RaggedArray
        Summed confidence of those who voted for the tag, divided by the number of taggers; their share without
        ``confidences``.

    Examples
    --------
    >>> answers = [[["B-AGE", "O"]], [["O", "O"]], [["B-AGE", "B-AGE"]]]
    >>> tags, confidence = majority_tags(answers)
    >>> tags, confidence[0].round(2).tolist()
    ([['B-AGE', 'O']], [0.67, 0.67])
    """
    rows = [TokenSequences.from_rows(answer) for answer in answers]
    names = sorted(set().union(*(row.data for row in rows)), key=lambda tag: (tag == "O", tag))
    number = {tag: i for i, tag in enumerate(names)}
    offsets = rows[0].offsets
    places = np.arange(int(offsets[-1]))
    votes = np.zeros((len(places), max(1, len(names))))
    sure = np.zeros_like(votes)
    for i, row in enumerate(rows):
        chosen = np.array([number[tag] for tag in row.data], dtype=np.intp)
        votes[places, chosen] += 1
        # one weight a token; concatenated lists, since rows may be empty
        weight = 1.0 if confidences is None else np.concatenate([np.zeros(0), *confidences[i]])
        sure[places, chosen] += weight
    best = votes.argmax(1)
    tags = TokenSequences(np.array([names[i] for i in best], dtype=object), offsets)
    return [repair_tags(row) for row in tags], RaggedArray(sure[places, best] / len(answers), offsets)
