"""Spans of surrogate text with their originals, in the form that attacks on surrogates read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exceptions import SequenceError
from ...metrics import Estimate
from ...sequences import TokenSequences
from ...surrogates import label_kinds, written_form
from ...surrogates.guessed_locale import guess_locale
from ...surrogates.patient_surrogates import NAMES
from ...surrogates.surrogate_engine import joined_overlaps
from ...surrogates.token_surrogates import joined
from ...text import Document, labels_of
from ...text.corpus import patients_of

DATES = ("date", "birth date")


@dataclass(frozen=True, repr=False)
class SurrogateSpans:
    """Spans of notes: original, surrogates, label and written form. The object contains PHI and must not be shared.

    Attributes
    ----------
    originals : list of str, length n
        Original text of each span, for the measurement and as candidates.
    surrogates : list of tuple of str, length n
        Surrogate of each span in each of r releases.
    labels, kinds : ndarray of str, shape (n,)
        Label of each span, and kind of the label in `sklearn_deid.surrogates.label_kinds`. The kind is empty for a
        label without a rule.
    forms : ndarray of str, shape (n,)
        Written form of each original, see `sklearn_deid.surrogates.written_form`.
    notes : ndarray of shape (n,)
        Note of each span.
    groups : ndarray of shape (n,)
        Patient of each span.
    """

    originals: list[str]
    surrogates: list[tuple[str, ...]]
    labels: np.ndarray
    kinds: np.ndarray
    forms: np.ndarray
    notes: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.originals)

    @property
    def pairs(self) -> list[tuple[str, tuple[str, ...]]]:
        """Original and surrogates of each span."""
        return list(zip(self.originals, self.surrogates, strict=True))

    def __repr__(self) -> str:
        return f"SurrogateSpans(n={len(self)})"


def hits_by_label(
    hits: np.ndarray, labels: np.ndarray, groups: np.ndarray, confidence: float, unit: str
) -> dict[str, dict[str, float]]:
    """Proportion of hits of each label with its interval over patients, and the number of trials with the key
    ``unit``."""
    out = {}
    for label in np.unique(labels).tolist():
        found = Estimate.from_hits(hits[labels == label], groups[labels == label], confidence)
        out[label] = {"value": found.value, "low": found.low, "high": found.high, unit: found.n}
    return out


def spans_of_sentences(
    original: TokenSequences,
    releases: Sequence[TokenSequences],
    tags: TokenSequences,
    groups: Any,
    *,
    locale: str = "auto",
    kinds: Any = None,
) -> SurrogateSpans:
    """Collect the spans of sentences whose surrogates have as many tokens as the originals.

    Parameters
    ----------
    original, tags : TokenSequences of n sentences
        Original words and their tags.
    releases : sequence of TokenSequences
        One or several versions with surrogates.
    groups : ndarray of shape (n,) or None
        Patient of each sentence. None means that each document is a patient.
    locale, kinds
        Same as in `SurrogatePseudonymizer`.

    Raises
    ------
    SequenceError
        If a release differs from the original in its number of tokens, or there is no span.
    """
    if any(not np.array_equal(one.offsets, original.offsets) for one in releases):
        raise SequenceError("The sentences with surrogates must have the lengths of the original ones.")
    notes = np.arange(len(original)) if original.documents is None else np.asarray(original.documents)
    groups = notes if groups is None else np.asarray(groups)
    locales = _locales(original, groups, locale)
    rows: list[tuple[Any, ...]] = []
    for row in range(len(original)):
        for first, stop, label in labels_of(list(tags[row])):
            text, *new = (joined(list(map(str, one[row][first:stop]))) for one in (original, *releases))
            rows.append((text, tuple(new), label, locales[groups[row]], notes[row], groups[row]))
    return _collected(rows, kinds)


def spans_of_notes(
    original: Iterable[Document], releases: Sequence[Iterable[Document]], *, locale: str = "auto", kinds: Any = None
) -> SurrogateSpans:
    """Collect the spans of notes and of their versions with surrogates, span by span.

    Parameters
    ----------
    original : iterable of Document
        Notes. Overlapping spans are joined, as in the engine.
    releases : sequence of iterables of Document
        Results of `SurrogateEngine.rewrite` for the same notes, one or several versions.
    locale, kinds
        Same as in `SurrogateEngine`.

    Raises
    ------
    SequenceError
        If a note and its versions differ in the number of spans, or there is no span.
    """
    rows: list[tuple[Any, ...]] = []
    listed = list(original)
    for note, patient, *versions in zip(listed, patients_of(listed), *releases, strict=True):
        spans = joined_overlaps(note.spans)
        if any(len(version.spans) != len(spans) for version in versions):
            raise SequenceError("A note and its versions with surrogates must have equally many spans.")
        language = guess_locale(note.text) if locale == "auto" else locale
        for i, span in enumerate(spans):
            new = tuple(version.text[version.spans[i].start : version.spans[i].end] for version in versions)
            rows.append((note.text[span.start : span.end], new, span.label, language, note.doc_id, patient))
    return _collected(rows, kinds)


def _collected(rows: list[tuple[Any, ...]], kinds: Any) -> SurrogateSpans:
    if not rows:
        raise SequenceError("There is no span: no PHI was replaced.")
    table = label_kinds(kinds)
    names = _names(rows, table)
    forms = [written_form(text, label, language, table, names[group]) for text, _, label, language, _, group in rows]
    labels, notes, groups = (np.array([row[i] for row in rows]) for i in (2, 4, 5))
    of_labels = np.array([table.get(label, "") for label in labels.tolist()])
    originals, surrogates = [row[0] for row in rows], [row[1] for row in rows]
    return SurrogateSpans(originals, surrogates, labels, of_labels, np.array(forms), notes, groups)


def _names(rows: list[tuple[Any, ...]], table: dict[str, str]) -> dict[Any, set[str]]:
    """Words of the names of each patient."""
    names: dict[Any, set[str]] = defaultdict(set)
    for text, _, label, _, _, group in rows:
        if table.get(label) in NAMES:
            names[group] |= set(re.findall(r"[^\W\d_]+", text))
    return names


def _locales(X: TokenSequences, groups: np.ndarray, locale: str) -> dict[Any, str]:
    """Language of each patient."""
    if locale != "auto":
        return dict.fromkeys(groups.tolist(), locale)
    texts: dict[Any, list[str]] = defaultdict(list)
    for row, group in enumerate(groups.tolist()):
        texts[group] += map(str, X[row])
    return {group: guess_locale(" ".join(words)) for group, words in texts.items()}
