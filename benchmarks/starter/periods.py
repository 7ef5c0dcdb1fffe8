"""Abbreviations written with periods ("b.i.d.", "C.O.P.D.", "8 a.m."), which look like the initials of a person."""

from __future__ import annotations

import re
from functools import cache

from sklearn_deid import Document
from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.surrogates import Chance

from .lists import vocabulary

#: Words that an abbreviation with periods may replace.
_PHRASES = {
    "twice daily": "bid", "twice a day": "bid", "three times daily": "tid", "daily": "qd", "by mouth": "po",
    "as needed": "prn", "at bedtime": "hs", "overnight": "qhs", "such as": "eg", "for example": "eg", "that is": "ie",
    "history of": "ho", "year old": "yo", "US": "us", "USA": "usa", "nothing": "npo", "also": "aka", "regarding": "re",
}  # fmt: skip
_SMALL = "bid tid qid qd qod qhs prn po hs ac pc iv im sc sl yo ie eg".split()
#: Written in small letters more often than in capitals.
_MOSTLY_SMALL = {*_SMALL, "ho", "aka", "re"}
_ORDERS = {word.upper() for word in _SMALL}
_EACH = 0.8  # probability that an abbreviation of a text with periods has them
_NO_LAST, _OTHER_CASING = 0.08, 0.15
_CLOCK = re.compile(r"(?<=\d)((?::\d\d)?) ?([ap])m\b\.?", re.IGNORECASE)


@cache
def _abbreviations() -> re.Pattern[str]:
    listed = {word for word in vocabulary()["abbreviations"] if re.fullmatch("[A-Z]{2,5}", word)}
    words = sorted({*_PHRASES, *_SMALL, *_ORDERS, *listed}, key=len, reverse=True)
    # No part of a longer word or number, and not at the border of PHI.
    return re.compile(rf"(?<![\w./&-])(?:{'|'.join(map(re.escape, words))})(?=[\s,;:.)])\.?")


def with_periods(document: Document, chance: Chance) -> Document:
    """Write the abbreviations of a text with periods; its PHI stays as it is."""
    builder, position = NoteBuilder(), 0
    for span in document.spans:
        builder.text(_dotted(document.text[position : span.start], chance))
        builder.phi(document.text[span.start : span.end], span.label)
        position = span.end
    builder.text(_dotted(document.text[position:], chance))
    return builder.build(document.doc_id, patient_id=str(document.patient_id), meta=dict(document.meta))


def _dotted(text: str, chance: Chance) -> str:
    def written(found: re.Match[str]) -> str:
        word = found[0].removesuffix(".")
        word = _PHRASES.get(word, word)
        if not chance.happens(_EACH):
            return found[0]
        small = word.lower() in _MOSTLY_SMALL
        letters = word.lower() if small != chance.happens(_OTHER_CASING) else word.upper()
        return ".".join(letters) + "." * (not chance.happens(_NO_LAST))

    def clock(found: re.Match[str]) -> str:
        half = f"{found[2]}.m."
        minutes = found[1] if chance.happens(0.6) else ""
        return f"{minutes} {half.lower() if chance.happens(0.8) else half.upper()}"

    return _abbreviations().sub(written, _CLOCK.sub(clock, text))
