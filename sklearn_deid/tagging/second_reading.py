"""Second reading of values whose labels stand elsewhere in forms and tables: the values behind their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..text import labels_of, split_tag
from .note_sentences import CutNotes

#: Tags of all tokens, and their probabilities or None.
FlatTags = tuple[list[str], list[float] | None]


class _Row(NamedTuple):
    """Tokens of a label, of a colon and of a value, and the places of the tokens of the value among all tokens."""

    tokens: list[str]
    places: range


def with_labelled_values(read: Callable[[TokenSequences], FlatTags], cut: CutNotes, found: FlatTags) -> FlatTags:
    """Tags of notes, and the tags that values have behind their labels, where the tagger has found nothing.

    The tagger reads each label and value as a note of its own. Values of which each word has a tag are not read again.

    Parameters
    ----------
    read : callable
        Returns the tags of sentences, and their probabilities or None.
    cut : CutNotes
        Sentences of the notes, and their labels and values.
    found : tuple of list of str and list of float or None
        Tags of all tokens of these sentences.

    Returns
    -------
    tuple of list of str and list of float or None

    Examples
    --------
    >>> from sklearn_deid.tagging.note_sentences import cut_notes
    >>> cut = cut_notes(["Nurse\\nRoe"])
    >>> with_labelled_values(lambda X: (["O", "O", "B-DOCTOR"], None), cut, (["O", "O"], None))[0]
    ['O', 'B-DOCTOR']
    """
    rows = _rows(cut, found[0])
    if not rows:
        return found
    X = TokenSequences.from_rows(row.tokens for row in rows).with_documents(np.arange(len(rows)))
    new_tags, new_sure = read(X)
    tags, sure = list(found[0]), None if found[1] is None else list(found[1])
    starts, position = set(cut.X.offsets.tolist()), 0
    for tokens, places in rows:
        n_before = len(tokens) - len(places)
        stop = position + len(tokens)
        for start, end, label in labels_of(new_tags[position:stop]):
            inside = [places[i - n_before] for i in range(max(start, n_before), end)]
            for place in _added(tags, inside, label, starts):
                if sure is not None and new_sure is not None:
                    sure[place] = new_sure[position + n_before + place - places.start]
        position = stop
    return tags, sure


def _rows(cut: CutNotes, tags: Sequence[str]) -> list[_Row]:
    """Labels and values, of which a word of the value has no tag."""
    rows, position = [], 0
    for segmented, pairs in zip(cut.segmented, cut.values, strict=True):
        words = segmented.tokens.texts
        for label, value in pairs:
            if any(tags[position + i] == "O" and words[i].isalnum() for i in value):
                tokens = [*words[label.start : label.stop], ":", *words[value.start : value.stop]]
                rows.append(_Row(tokens, range(position + value.start, position + value.stop)))
        position += len(words)
    return rows


def _added(tags: list[str], places: Sequence[int], label: str, starts: Set[int]) -> list[int]:
    """Give a span the tokens without a tag, and join it with the parts that have its label; return these tokens.

    A tag never goes on from one sentence to the next.
    """
    added = [place for place in places if tags[place] == "O"]
    for place in added:
        tags[place] = f"B-{label}"
    for place in places[1:] if added else ():
        if place not in starts and tags[place] == f"B-{label}" and split_tag(tags[place - 1])[1] == label:
            tags[place] = f"I-{label}"
    return added
