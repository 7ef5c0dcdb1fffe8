"""Checks whether the surrogates of a note agree with each other and with the words around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from sklearn_deid.surrogates import Replacement, label_kinds
from sklearn_deid.surrogates.date_parsing import parse_dates
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.locale_words import LocaleWords
from sklearn_deid.surrogates.written_date import YEAR
from sklearn_deid.text import Document

_KINDS = label_kinds()
_NAMES = ("person", "given name", "surname")
_OWN_NAMES = ("street", "hospital", "institution")
_OLDEST_DAYS = 89 * 365
_WORD = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(r"\b(?:de (la|los|las)|(del|du|des|della|dei|delle|da|do|das|dos)) ([^\W\d_]+)", re.IGNORECASE)
_MALE, _FEMALE = ("mr", "sr", "don", "herr", "herrn", "monsieur"), ("mrs", "ms", "miss", "sra", "srta", "frau", "mme")


def disagreements(document: Document, made: Sequence[Replacement], words: LocaleWords) -> Iterator[str]:
    """Names of the breaks of agreement in a note, one for each break.

    The checks: full dates move by one number of days under one order of day and month; the first number of a range of
    months is a month; a region behind a town is its region; relatives keep gender and number; no name of a person or
    town is behind an article; a profession fits "a" or "an"; a given name agrees with a title such as "Mrs." directly
    in front of it; and no surname alone is behind "Nombre:" if "Apellidos:" follows.
    """
    yield from _changed_intervals(document, made, words)
    for one, behind in pairwise(made):
        between = document.text[one.span.end : behind.span.start]
        if one.has_rule and behind.has_rule:
            yield from _pair(document, one, behind, between, words)
    for one in made:
        if one.has_rule:
            yield from _alone(document, one, words)


def _pair(document: Document, one: Replacement, behind: Replacement, between: str, words: LocaleWords) -> Iterator[str]:
    kinds = [_KINDS.get(each.span.label) for each in (one, behind)]
    is_range = between.strip() in ("-", "\u2013") and re.fullmatch(r"\d\d?/\d{4}", behind.surrogate)
    if kinds == ["date", "date"] and is_range and one.surrogate.isdigit() and int(one.surrogate) > 12:
        yield "range of months"
    regions = {fold(town.name): fold(town.region) for town in words.towns}
    original = fold(document.text[behind.span.start : behind.span.end])
    if kinds == ["place", "place"] and re.fullmatch(r" +|\s*[,(]\s*", between) and original in words.region_names:
        if regions.get(fold(one.surrogate), fold(behind.surrogate)) != fold(behind.surrogate):
            yield "town and region"
    is_field = re.search(r"\bnombre\s*:\s*$", document.text[: one.span.start], re.IGNORECASE)
    if is_field and re.fullmatch(r"\W*apellidos\s*:\s*", between, re.IGNORECASE):
        if not any(map(words.may_be_given_name, _WORD.findall(one.surrogate))):
            yield "surname in the field of a given name"


def _alone(document: Document, one: Replacement, words: LocaleWords) -> Iterator[str]:
    kind = _KINDS.get(one.span.label)
    original = document.text[one.span.start : one.span.end]
    if kind == "relative":
        classes = words.numbered("relatives")
        old, new = (
            [classes[fold(word)] for word in text.split() if fold(word) in classes]
            for text in (original, one.surrogate)
        )
        if old != new:
            yield "gender or number of a relative"
    if kind in _OWN_NAMES and words.locale in ("es", "fr", "it", "pt"):
        nouns = {fold(name.split()[-1]) for name in words.block("street names") if name[0].islower()}
        for found in _ARTICLE.finditer(one.surrogate):
            is_own = fold(found[3]) not in fold(original)
            if (
                is_own
                and fold(found[3]) not in nouns
                and (words.is_name(found[3]) or fold(found[3]) in words.folded_towns)
            ):
                yield "name behind an article"
    article = re.search(r"\b(an?) $", document.text[: one.span.start], re.IGNORECASE)
    if kind == "profession" and article and (one.surrogate[0].lower() in "aeiou") != (article[1].lower() == "an"):
        yield "a or an"
    if kind in _NAMES and len(given := _WORD.findall(one.surrogate.rpartition(",")[2])) > 1:
        title = fold("".join(_WORD.findall(document.text[: one.span.start])[-1:]))
        told = "M" if title in _MALE else "F" if title in _FEMALE else None
        if None not in (told, words.sex_of(given[0])) and told != words.sex_of(given[0]):
            yield "title and given name"


def _changed_intervals(document: Document, made: Sequence[Replacement], words: LocaleWords) -> Iterator[str]:
    """One break for each full date whose shift is not that of most dates, under the better order of day and month."""
    dates = [one for one in made if one.has_rule and _KINDS.get(one.span.label) in ("date", "birth date")]
    counts = []
    for day_first in (True, False):
        shifts = [
            (old, (new - old).days)
            for one in dates
            if (old := _day(document.text[one.span.start : one.span.end], words, day_first)) is not None
            and (new := _day(one.surrogate, words, day_first, old)) is not None
        ]
        # A birth date of a patient over 89 moves to the age of 90.
        latest = max((old for old, _ in shifts), default=date.min)
        usual = Counter(shift for old, shift in shifts if (latest - old).days < _OLDEST_DAYS)
        counts.append(sum(usual.values()) - max(usual.values(), default=0))
    yield from ["interval between dates"] * min(counts)


def _day(text: str, words: LocaleWords, day_first: bool, original: date | None = None) -> date | None:
    # Six digits have several readings.
    found = None if text.isdigit() else parse_dates(text, words, day_first)
    if found is None or len(found) != 1 or not found[0].is_full or not found[0].year:
        return None
    # Two digits do not say the century: "33" after a shift of six years is the 2033 of "27", not 1933.
    is_short = any(role == YEAR and len(piece) == 2 for piece, role in found[0].pieces)
    years = (found[0].year + more for more in ((-100, 0, 100) if original is not None and is_short else (0,)))
    days = [day for year in years if (day := _of_calendar(year, found[0].month or 1, found[0].day or 1)) is not None]
    return min(days, key=lambda day: 0 if original is None else abs((day - original).days), default=None)


def _of_calendar(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # no day of the calendar, which another check counts
        return None
