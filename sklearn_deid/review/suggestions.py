"""Choice of the notes to review next: notes that differ from each other and on which the model is uncertain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DeidError
from ..tagging.note_sentences import cut_notes
from ..tagging.rearranged_notes import rearranged
from ..text import Document, unreadable_reason


def suggest_notes(deidentifier: Any, notes: Sequence[str | Document], n: int = 10) -> list[int]:
    """Return the positions of the notes whose annotation should improve the model most.

    Annotate the suggested notes, train again, and request the next batch among the remaining notes. The function
    prefers notes with many tokens whose tag is uncertain. Within a batch, notes with words and labels of already chosen
    notes count less, so that a batch does not consist of similar notes.

    Parameters
    ----------
    deidentifier : NoteDeidentifier
        Fitted model whose tagger returns probabilities.
    notes : sequence of str or Document
        Raw notes that are not annotated yet. Spans of documents are ignored.
    n : int, default=10
        Number of notes of the batch, at least 1. If there are fewer notes, all notes are returned.

    Returns
    -------
    list of int
        Positions of the chosen notes in ``notes``, the best note first. Equal notes are chosen in their order.

    Raises
    ------
    ValueError
        If ``n`` is not a whole number of at least 1.
    DeidError
        If the tagger returns no probabilities, or a note is not a text that the model can read.

    Notes
    -----
    The batch S is chosen greedily to maximise the sum over features f of ``log(1 + u_f(S))``. A feature is a word or a
    label. The value ``u_f`` is the sum of the error probabilities of all tokens of S that have the feature. The error
    probability of a token is one minus the probability of its tag. The sum is monotone and submodular, so that the
    greedy batch reaches at least 1 - 1/e of the largest possible value.

    References
    ----------
    Wei, Iyer & Bilmes (2015), Submodularity in data subset selection and active learning, ICML, section 4.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes
    >>> notes = make_clinical_notes(20, random_state=0)
    >>> tagger = DeidTagger(max_epochs=1, hidden_size=8, random_state=0)
    >>> deidentifier = NoteDeidentifier(tagger).fit(notes[:4])
    >>> len(suggest_notes(deidentifier, notes[4:], n=3))
    3
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"The 'n' parameter of suggest_notes must be an int of at least 1. Got {n!r} instead.")
    rows = _feature_rows(list(_unsure_tokens(deidentifier, notes)))
    chosen: list[int] = []
    covered = np.zeros(rows.shape[1])  # shape: (n_features,)
    note_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))  # shape: (n_entries,)
    while len(chosen) < min(int(n), rows.shape[0]):
        # log(1 + c + x) - log(1 + c) = log(1 + x / (1 + c)): what a note adds beyond what the chosen notes cover.
        # Shape: (n_entries,)
        gains = np.log1p(rows.data / (1 + covered[rows.indices]))
        by_note = np.bincount(note_of, weights=gains, minlength=rows.shape[0])  # shape: (n_notes,)
        # Gains are never negative, so that -1 excludes a note.
        by_note[chosen] = -1.0
        chosen.append(int(by_note.argmax()))
        covered += rows[chosen[-1]].toarray()[0]
    return chosen


def note_uncertainties(deidentifier: Any, notes: Sequence[str | Document]) -> np.ndarray:
    """Expected number of wrong tags in each note: the sum of one minus the probability of each tag.

    Parameters
    ----------
    deidentifier, notes
        Model and notes, as for `suggest_notes`.

    Returns
    -------
    ndarray of shape (n_notes,), dtype float64
        Expected number of wrong tags, at least 0. The number is as accurate as the probabilities of the tagger are
        calibrated.

    Raises
    ------
    DeidError
        If the tagger returns no probabilities, or a note is not a text that the model can read.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes
    >>> notes = make_clinical_notes(6, random_state=0)
    >>> tagger = DeidTagger(max_epochs=1, hidden_size=8, random_state=0)
    >>> note_uncertainties(NoteDeidentifier(tagger).fit(notes), ["Seen today.", ""])[1].item()
    0.0
    """
    return np.array([sum(unsure) for _, _, unsure in _unsure_tokens(deidentifier, notes)], dtype=float)


def _unsure_tokens(
    deidentifier: Any, notes: Sequence[str | Document]
) -> Iterator[tuple[list[str], list[str], list[float]]]:
    """Yield the words of each note, their tags, and the probability that each tag is wrong."""
    tagger = deidentifier.note_tagger()
    for first in range(0, len(notes), deidentifier.batch_size):
        batch = notes[first : first + deidentifier.batch_size]
        texts = [_checked_text(first + place, note) for place, note in enumerate(batch)]
        # As `redact` reads: otherwise, a name that only the second reading finds, without the prefix of its line or
        # behind the label of a form, would count as a certain O.
        readings = [(text, rearranged(text)) for text in texts]
        cut = cut_notes([text if reading is None else reading.text for text, reading in readings], tagger.segmenter)
        tags, confidences = tagger.read(cut)
        if confidences is None:
            if not tags:  # the tagger was not called for a note without tokens
                yield from (([], [], []) for _ in texts)
                continue
            raise DeidError("The tagger of this model returns no probabilities, so that no note is less certain.")
        words, position = cut.X.data.tolist(), 0
        for segmented in cut.segmented:
            stop = position + len(segmented.tokens.starts)
            unsure = [1.0 - confidence for confidence in confidences[position:stop]]
            yield words[position:stop], tags[position:stop], unsure
            position = stop


def _checked_text(number: int, note: Any) -> str:
    text = note.text if isinstance(note, Document) else note
    other = f"A note must be a str or a Document. Got {type(text).__name__} instead."
    reason = unreadable_reason(text) if isinstance(text, str) else other
    if reason is not None:
        raise DeidError(reason, doc_id=note.doc_id if isinstance(note, Document) else f"number {number}")
    return text


def _feature_rows(notes: list[tuple[list[str], list[str], list[float]]]) -> sparse.csr_matrix:
    """Matrix of the summed error probabilities of each word and each label (columns) in each note (rows)."""
    columns: dict[tuple[str, str], int] = {}
    rows, features, values = [], [], []
    for row, (words, tags, unsure) in enumerate(notes):
        for word, tag, value in zip(words, tags, unsure, strict=True):
            # Words vary the text of a batch. Labels vary the kinds of PHI.
            for feature in (("word", word.lower()), ("label", tag.rpartition("-")[2])):
                rows.append(row)
                features.append(columns.setdefault(feature, len(columns)))
                values.append(value)
    shape = (len(notes), max(1, len(columns)))
    # Entries of the same note and feature are added up.
    return sparse.csr_matrix((np.array(values, dtype=float), (rows, features)), shape=shape)
