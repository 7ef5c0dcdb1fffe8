"""Labels that hold text of the notes, such as a name that somebody typed as a label."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..exceptions import DeidError
from ..surrogates.label_kinds import known_labels
from ..text import BINARY, I2B2_2014, MEDDOCAN, Document

_LABEL = re.compile(r"\w[\w./:-]{0,63}")


def check_labels(notes: Iterable[Document]) -> None:
    """Refuse labels that leave with redacted notes, a model or the record of a sign-off and could hold text.

    Parameters
    ----------
    notes : iterable of Document
        Annotated notes.

    Raises
    ------
    DeidError
        If a label is in no known scheme, and is no plain word of at most 64 characters or is the text of a span.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> check_labels([Document("n", "Seen by Alder.", (Span(8, 13, "CLINICIAN"),))])
    """
    known = {*known_labels(), *I2B2_2014.labels, *MEDDOCAN.labels, *BINARY.labels}
    spans = [(note, span) for note in notes for span in note.spans]
    texts = {note.text[span.start : span.end].casefold() for note, span in spans}
    for note, span in spans:
        if span.label in known:
            continue
        if not _LABEL.fullmatch(span.label) or span.label.casefold() in texts:
            raise DeidError(
                "A label is no plain word, or is the text of a span. Labels leave with redacted notes, with models and "
                "with records.",
                doc_id=note.doc_id,
            )
