"""Which spans the Safe Harbor rule of HIPAA removes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..surrogates import SURROGATE, SurrogateEngine
from ..text import I2B2_2014, MEDDOCAN, Document, Span, label_map, names_of_i2b2
from .titled_names import with_titles

#: Labels that the rule keeps: states and larger areas, professions, and departments, which are no places.
STAYING = frozenset({"STATE", "COUNTRY", "PROFESSION", "DEPARTMENT"})
# Labels of spans that must fit the surrogates: a bare year beside shifted dates would reveal the shift, and a state
# beside an invented town would contradict its postal code.
_FITTED = frozenset({"DATE", "STATE"})
LABELS = ("all", "hipaa", "hipaa-wide", "hipaa-surrogate")
# Labels that are returned although the rule keeps some of their spans, by the value of ``labels``.
_ALSO = {"hipaa-surrogate": _FITTED, "hipaa-wide": frozenset({"STATE"})}
_AS_I2B2 = label_map(MEDDOCAN, I2B2_2014)
_YEAR = r"(?:19|20)\d\d"
_YEARS = re.compile(
    rf"(?:the )?{_YEAR}(?:'?s)?(?: ?(?:[-\u2013/]|to|and) ?{_YEAR})?|(?:last|this|next|past) year", re.I
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty teens twenties thirties forties fifties sixties "
    "seventies eighties sexagenarian septuagenarian octogenarian".split()
)
# In English, Spanish, German and French. A word that is in neither list, such as "ninety", is a case of doubt.
_UNITS = frozenset(
    "year years month months week weeks day days old of age y yo yr yrs m mo mos w wk d f s st nd rd th mid early late "
    "año años mes meses semana semanas día días de edad jahr jahre jahren monat monate monaten alt an ans mois".split()
)
_OLDEST = 90  # years; ages from here on are removed
# Annotation by the rule: fewest spans that the rule keeps, and largest share of these spans that annotated spans
# overlap.
_ENOUGH, _FEW = 5, 0.1
# A number from 90 on in words, of which the span may be one word: "one hundred and [two]", "[one] hundred".
# "six" is also French: "nonante-[six]", "cent [six]".
_JOINERS = r"[\s\u00ad\u2010-\u2015\u2212-]{1,3}"
_HIGH_BEFORE = re.compile(rf"\b(?:ninety|hundred|nonante|cent)(?:{_JOINERS}(?:and|et|&))?{_JOINERS}\Z", re.I)
_HIGH_AFTER = re.compile(rf"{_JOINERS}hundred\b", re.I)
_AGE_WORD = re.compile(r"\d+|[^\W\d_]+")


def is_safe_harbor(span: Span, text: str) -> bool:
    """Whether the Safe Harbor rule removes a span.

    The rule removes names, places smaller than a state, all parts of dates except the year, ages of 90 and more,
    contacts, and identifying numbers. States, countries, professions, departments, bare years and ages under 90 stay. A
    span is also removed if its label is in neither the i2b2 2014 nor the MEDDOCAN scheme, or if the number of an age
    cannot be read.

    Parameters
    ----------
    span : Span
        Span with a label of the i2b2 2014 or the MEDDOCAN scheme.
    text : str
        Text of the note.

    Returns
    -------
    bool
        True if the span is to be hidden.

    Notes
    -----
    The labels that the i2b2 2014 challenge counts as HIPAA (`LabelScheme.hipaa`) are different and do not include
    doctors and hospitals. The Safe Harbor rule also removes a year that reveals an age of 90 or more, such as a year of
    birth. This function keeps every bare year, because the text of the span does not show whether the year reveals an
    age.

    References
    ----------
    45 CFR 164.514(b)(2), Other requirements relating to uses and disclosures of protected health information.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> text = "Age 34, seen by Alder in 2019 and on 3 May in Ohio, as was her mother of 91"
    >>> spans = Span(4, 6, "AGE"), Span(16, 21, "DOCTOR"), Span(25, 29, "DATE"), Span(37, 42, "DATE")
    >>> [is_safe_harbor(span, text) for span in (*spans, Span(46, 50, "STATE"), Span(73, 75, "AGE"))]
    [False, True, False, True, False, True]
    """
    label = _AS_I2B2.get(span.label, span.label)
    words = text[span.start : span.end]
    if label == "AGE":
        beside = text[max(0, span.start - 1) : span.start] + text[span.end : span.end + 1]
        # A digit beside the span belongs to a longer number, and so may a word: "ninety-" before "five".
        is_part = any(map(str.isdecimal, beside)) or _HIGH_AFTER.match(text, span.end) is not None
        is_part = is_part or _HIGH_BEFORE.search(text, max(0, span.start - 30), span.start) is not None
        return is_part or not _is_young(words)
    if label == "DATE":
        return not is_bare_year(words)
    return label not in STAYING


def _is_young(words: str) -> bool:
    """Whether every number of an age can be read and is below 90."""
    parts = [part.lower() for part in _AGE_WORD.findall(words)]
    digits = [part for part in parts if part.isascii() and part.isdecimal()]
    rest = [part for part in parts if part not in digits]
    # "70-80" is a range of two ages; "9 4" could be one age, written apart.
    apart = len(digits) > 1 and any(len(part) < 2 for part in digits)
    readable = bool(parts) and not apart and all(part in _NUMBER_WORDS or part in _UNITS for part in rest)
    return readable and bool(digits or _NUMBER_WORDS.intersection(rest)) and all(int(part) < _OLDEST for part in digits)


def with_staying(notes: Iterable[Document], finder: Any) -> list[Document]:
    """Return training notes with added spans: PHI that a model finds and the rule keeps, at places without annotation.

    In notes that are annotated by the rule, bare years and ages under 90 are not annotated. A tagger that is trained on
    these notes finds full dates and higher ages less well. With the added spans, the tagger learns to tag all years and
    ages. `asked_spans` then selects the spans that the rule removes.

    Parameters
    ----------
    notes : iterable of Document
        Annotated notes.
    finder : object
        Object with a method ``annotate(texts)``, which finds PHI under labels of i2b2 2014.

    Returns
    -------
    list of Document
        The notes, with added spans. If all labels of the notes are in a known scheme, the labels of the added spans are
        in this scheme.
    """
    notes = list(notes)
    names = names_of_i2b2(span.label for note in notes for span in note.spans)
    result = []
    for note, staying in zip(notes, _staying(notes, finder), strict=True):
        new = [_named(span, names, note.text) for span, is_marked in staying if not is_marked]
        result.append(replace(note, spans=tuple(sorted((*note.spans, *new), key=lambda s: s.start))))
    return result


def is_marked_by_rule(notes: Iterable[Document], finder: Any) -> bool:
    """Whether notes seem annotated by the rule, because hardly any PHI that the rule keeps is annotated.

    Parameters
    ----------
    notes : iterable of Document
        Annotated notes.
    finder : object
        Object with a method ``annotate(texts)``, which finds PHI under labels of i2b2 2014.
    """
    marked = [is_marked for staying in _staying(list(notes), finder) for _, is_marked in staying]
    return len(marked) >= _ENOUGH and sum(marked) <= _FEW * len(marked)


def _staying(notes: Sequence[Document], finder: Any) -> Iterator[list[tuple[Span, bool]]]:
    """For each note, spans that a model finds and the rule keeps, and whether annotated spans overlap each span."""
    for note, found in zip(notes, finder.annotate([note.text for note in notes]), strict=True):
        yield [
            (span, any(span.start < own.end and own.start < span.end for own in note.spans))
            for span in found or ()
            if not is_safe_harbor(span, note.text)
        ]


def _named(span: Span, names: Mapping[str, str], text: str) -> Span:
    """Return the span with the name of its label in a scheme, if the rule also keeps spans with this name."""
    named = replace(span, label=names.get(span.label, span.label), confidence=None)
    return replace(span, confidence=None) if is_safe_harbor(named, text) else named


def asked_spans(spans: Iterable[Span], text: str, labels: str) -> tuple[Span, ...]:
    """Spans of a text that the parameter ``labels`` of a `NoteDeidentifier` selects."""
    also = _ALSO.get(labels, frozenset())
    asked = tuple(
        span
        for span in spans
        if labels == "all" or is_safe_harbor(span, text) or _AS_I2B2.get(span.label, span.label) in also
    )
    return with_titles(asked, text) if labels == "hipaa-wide" else asked


def is_bare_year(words: str) -> bool:
    """Whether words are a year, years, or a decade alone, which the rule keeps.

    Examples
    --------
    >>> is_bare_year("2011"), is_bare_year("May 2011")
    (True, False)
    """
    return _YEARS.fullmatch(words) is not None


def fitted_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Spans of bare years and of states: the rule keeps them, and with surrogates they must change, too."""
    fitted = (span for span in spans if _AS_I2B2.get(span.label, span.label) in _FITTED)
    return [span for span in fitted if not is_safe_harbor(span, text)]


def is_never_asked(label: str, labels: str) -> bool:
    """Whether `asked_spans` leaves out all spans of a label.

    Examples
    --------
    >>> [is_never_asked("STATE", labels) for labels in LABELS]
    [False, True, False, False]
    """
    name = _AS_I2B2.get(label, label)
    return labels != "all" and name in STAYING and name not in _ALSO.get(labels, ())


def labels_to_rewrite(labels: str, mode: str | SurrogateEngine | None) -> str:
    """Return the value of ``labels`` for rewriting notes in a mode.

    Examples
    --------
    >>> labels_to_rewrite("hipaa", "label"), labels_to_rewrite("hipaa", "surrogate"), labels_to_rewrite("all", "mask")
    ('hipaa', 'hipaa-surrogate', 'all')
    """
    surrogates = mode == SURROGATE or isinstance(mode, SurrogateEngine)
    # Invented names fit the titles that stay, so that "hipaa-wide" would add nothing.
    return "hipaa-surrogate" if surrogates and labels.startswith("hipaa") else labels
