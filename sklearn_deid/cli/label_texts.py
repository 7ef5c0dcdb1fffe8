"""Labels that contain text of the notes, such as a name that somebody typed as a label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..exceptions import DeidError
from ..surrogates.label_kinds import known_labels
from ..text import BINARY, I2B2_2014, MEDDOCAN, Document

_LABEL = re.compile(r"\w[\w./:-]{0,63}")
# Words of a label: "NAME_Alder", "nameAlder" and "NAME-ALDER" have the same two words.
_PART = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_SHORTEST_PART = 3  # of a label, and therefore of a name in a label
_MOST_WORDS = 4  # of a name that is written as one word


def check_labels(notes: Iterable[Document]) -> None:
    """Refuse labels that could contain text of the notes and would be published with notes, a model or a sign-off.

    A word of a label may occur in the text of a span in two cases: the word is a word of a known label, such as
    HOSPITAL, or the word occurs in lower case outside of spans.

    Parameters
    ----------
    notes : iterable of Document
        Annotated notes.

    Raises
    ------
    DeidError
        If a label of no known scheme is not a plain word of at most 64 characters, or contains text of a span.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> check_labels([Document("n", "Seen by Dr. Alder.", (Span(8, 17, "CLINICIAN"),))])
    """
    notes = list(notes)
    known = {*known_labels(), *I2B2_2014.labels, *MEDDOCAN.labels, *BINARY.labels}
    labels = {span.label: note.doc_id for note in notes for span in note.spans if span.label not in known}
    for label, doc_id in labels.items():
        if not _LABEL.fullmatch(label):
            raise _error(doc_id)
    usual = {part for label in known for part in _parts(label)}
    parts = {part: doc_id for label, doc_id in labels.items() for part in _parts(label) - usual}
    whole = {label.casefold(): doc_id for label, doc_id in labels.items()}
    texts = {note.text[span.start : span.end].casefold() for note in notes for span in note.spans if labels}
    inside = parts.keys() & {run for text in texts for run in _runs(text)}
    for name in [*(whole.keys() & texts), *(part for part in inside if not _is_ordinary(part, notes))]:
        raise _error(whole.get(name) or parts[name])


def _parts(label: str) -> set[str]:
    words = {part.casefold() for part in (*_PART.findall(label), *re.findall(r"[^\W_]+", label))}
    return {word for word in words if len(word) >= _SHORTEST_PART}


def _runs(text: str) -> set[str]:
    """Words of a text, and neighbouring words joined to one word."""
    words = re.findall(r"[^\W_]+", text)
    return {"".join(words[at : at + n]) for at in range(len(words)) for n in range(1, _MOST_WORDS + 1)}


def _is_ordinary(word: str, notes: Sequence[Document]) -> bool:
    """Whether a word occurs in lower case outside of the spans, unlike a name."""
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    return not word.isdecimal() and any(
        all(found.end() <= span.start or span.end <= found.start() for span in note.spans)
        for note in notes
        for found in pattern.finditer(note.text)
    )


def _error(doc_id: str) -> DeidError:
    return DeidError(
        "A label is not a plain word, or holds text of a span. Redacted notes, models and records contain the "
        "labels. Rename the label.",
        doc_id=doc_id,
    )
