"""Page for the review of notes in a browser: one HTML file that contains the notes, loads no other files and sends no
data.

The page is built from the files of the folder ``page``. The content security policy of the page allows only the script
and the style of this library, which are identified by their digests. Requests, images, frames, forms, and scripts in
the text of a note are forbidden.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from secrets import token_hex
from typing import Any

from .._atomic import write_file
from .._parameters import check_parameter
from ..surrogates import SurrogateEngine
from ..text import Document, Span

MODES = ("review", "signoff")
_TITLES = {"review": "Review of notes", "signoff": "Sign-off: mark what is still readable"}
_FILES = {"review": "reviewed.jsonl", "signoff": "read.jsonl"}
_FIELD = re.compile(r"\{\{([A-Z]+)\}\}")
# Inside a script element, "</script" and "<!--" would end or change the element. JSON may write any character escaped.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
_WIDE = re.compile("[\U00010000-\U0010ffff]")


def make_review_page(
    documents: Iterable[Document],
    labels: Mapping[str, str | None],
    *,
    mode: str = "review",
    surrogates: SurrogateEngine | None = None,
) -> str:
    """Return a page in which a reader corrects the spans of notes.

    The page shows the notes in the given order. The reader saves the finished notes, with the corrected spans, as a
    file in JSON Lines format. `read_corpus` reads this file.

    Parameters
    ----------
    documents : iterable of Document
        Notes with the spans to correct. The confidence of a span is shown.
    labels : mapping of str to str or None
        Labels that the reader can choose, with their categories. Labels of the spans are added.
    mode : {"review", "signoff"}, default="review"
        ``"review"`` shows a note next to its redacted version. ``"signoff"`` shows only the note, for notes that are
        redacted already.
    surrogates : SurrogateEngine, optional
        Engine that invents a surrogate for each span, and for the time zones beside dates. With ``surrogates``, the
        page also shows redacted notes with surrogates. By default, redacted notes contain labels only.

    Returns
    -------
    str
        The page as HTML.

    Raises
    ------
    ValueError
        If ``mode`` is unknown, two notes have the same id, there is no label to choose, or ``labels`` does not give
        each label a category or None. `read_corpus` would refuse the finished notes if a label were empty or no text.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> note = Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR", confidence=0.8),))
    >>> page = make_review_page([note], {"DOCTOR": "NAME"})
    >>> "default-src" in page, "http://" in page
    (True, False)
    """
    check_parameter("make_review_page", "mode", mode, mode in MODES, f"one of {MODES}")
    wanted = "a mapping of labels to their categories or None, such as {'PATIENT': 'NAME'}"
    check_parameter("make_review_page", "labels", labels, _are_labels(labels), wanted)
    notes = list(documents)
    if len({note.doc_id for note in notes}) < len(notes):
        raise ValueError("The ids of the notes must be distinct.")
    # Frequent labels first: the page has keys for the first nine.
    known = {**{span.label: span.category for note in notes for span in note.spans}, **labels}
    counts = Counter(span.label for note in notes for span in note.spans)
    known = {label: known[label] for label in sorted(known, key=lambda label: -counts[label])}
    if not known:
        raise ValueError("The 'labels' parameter must hold at least one label.")
    content: dict[str, Any] = {"mode": mode, "file": _FILES[mode], "labels": list(known.items())}
    content["notes"] = [_note(note, surrogates) for note in notes]
    # The browser stores the work under this key, where other pages can find it later. A digest of the notes as the key
    # would let a reader of the storage test guesses of the notes.
    content["key"] = token_hex(16)
    style, script = _part("review.css"), _part("review.js")
    fields = {
        "TITLE": _TITLES[mode],
        "MODE": mode,
        "POLICY": escape(_policy(script, style)),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": json.dumps(content, allow_nan=False).translate(_ESCAPED),
    }
    # One pass: inserted text is not searched for fields again.
    return _FIELD.sub(lambda field: fields[field[1]], _part("review.html"))


def write_review_page(path: str | os.PathLike[str], documents: Iterable[Document], *args: Any, **options: Any) -> None:
    """Write the page of `make_review_page` to a file that only its owner can read, and replace an existing file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn_deid import Document
    >>> path = pathlib.Path(tempfile.mkdtemp(), "review.html")
    >>> write_review_page(path, [Document("n1", "Seen today.")], {"DATE": "DATE"})
    >>> path.stat().st_size > 10_000
    True
    """
    page = make_review_page(documents, *args, **options)
    write_file(path, page.encode("utf-8"), private=True)


def _are_labels(labels: Any) -> bool:
    return isinstance(labels, Mapping) and all(
        isinstance(label, str) and label and isinstance(category, str | None) for label, category in labels.items()
    )


def _note(note: Document, surrogates: SurrogateEngine | None) -> dict[str, Any]:
    put, zones = ({}, []) if surrogates is None else _surrogates(note, surrogates)
    spans = [
        [_units(note.text, s.start), _units(note.text, s.end), s.label, s.category, s.confidence, put.get(s)]
        for s in note.spans
    ]
    # As text: JavaScript would round long numbers.
    meta = json.dumps(dict(note.meta), allow_nan=False) if note.meta else None
    places = [[_units(note.text, s.start), _units(note.text, s.end), s.label, text] for s, text in zones]
    return {
        "id": note.doc_id,
        "text": note.text,
        "patient": note.patient_id,
        "meta": meta,
        "spans": spans,
        "zones": places,
    }


def _surrogates(note: Document, engine: SurrogateEngine) -> tuple[dict[Span, str], list[tuple[Span, str]]]:
    """Surrogates of the spans of a note, and those of the time zones beside its spans."""
    # As `redact`: a zone that stayed in the view would be marked by the reader, or taken for a leak.
    wide = engine.with_time_zones(note)
    put = {found.span: found.surrogate for found in engine.replacements(wide)}
    own, zones = {(span.start, span.label): span for span in note.spans}, []
    for span in sorted({*wide.spans} - {*note.spans}, key=lambda span: span.start):
        date = own.get((span.start, span.label))
        if date is None:
            zones.append((span, put.get(span, f"[{span.label}]")))
        else:
            # The surrogate of a date contains the zone behind the date.
            put[date] = put.get(span, f"[{span.label}]")
            zones.append((replace(span, start=date.end), ""))
    return put, zones


def _units(text: str, offset: int) -> int:
    """Offset in UTF-16 units, which JavaScript counts. Characters outside of the basic plane are two units."""
    return offset + len(_WIDE.findall(text, 0, offset))


def _part(name: str) -> str:
    return files(__package__).joinpath(f"page/{name}").read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    digests = {kind: _digest(text) for kind, text in (("script", script), ("style", style))}
    rules = ["default-src 'none'", *(f"{kind}-src '{digest}'" for kind, digest in digests.items())]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"
