"""Checks of surrogate notes for broken forms, and of the rules that decide which names are one person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations
from typing import Any

from sklearn_deid.surrogates import Replacement, label_kinds
from sklearn_deid.surrogates.check_digits import has_valid_check_digits
from sklearn_deid.surrogates.date_parsing import parse_dates
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.guessed_locale import guess_locale
from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.text import Corpus, Document, patient_of

from .surrogate_agreement import disagreements

_KINDS = label_kinds()
_NAMES = ("person", "given name", "surname")
_NEAR = 60
# RFC 2606: three domains, and a top-level domain.
_RESERVED = r"@(?:(?:[\w.]+\.)?example\.(?:org|com|net)|[\w.]+\.(?:example|test|invalid|alt))(?![\w.])"


def broken_forms(document: Document, made: Sequence[Replacement]) -> Iterator[str]:
    """Names of the breaks of form in a note, one for each break.

    The checks: a town, its postal code and its region fit together; a name has no digit, no empty word and as many
    capitals in front as the original; an address for mail or the web has a reserved domain; an age is from 0 to 89 or
    90+; a date is a date of the calendar and in the form of the original; numbers keep their digits and signs; national
    numbers have wrong check digits; no surrogate is empty or has white space at its ends. `disagreements` checks what
    is next to each other.
    """
    words = locale_words(guess_locale(document.text))
    yield from disagreements(document, made, words)
    for i, (span, surrogate, has_rule) in enumerate(made):
        kind = _KINDS.get(span.label)
        original = document.text[span.start : span.end]
        if not has_rule:
            continue
        if surrogate != surrogate.strip() and original == original.strip():
            yield "white space"
        if kind in _NAMES:
            yield from _broken_name(original, surrogate)
        elif kind in ("phone", "identifier") and _shape(original) != _shape(surrogate):
            yield "form of a number"
        elif kind == "identifier" and has_valid_check_digits(surrogate, words.locale):
            yield "valid check digits"
        elif kind == "email" and not re.search(_RESERVED, surrogate, re.IGNORECASE):
            yield "domain"
        elif kind == "age" and any(int(n) > 90 for n in re.findall(r"\d+", surrogate)) and "mes" not in surrogate:
            yield "age"
        elif kind in ("date", "birth date") and not _is_date(surrogate, words):
            yield "date"
        elif kind == "place":
            yield from _broken_address(document, made, i, words)


def one_person_one_surrogate(corpus: Corpus, replacements: Sequence[Sequence[Replacement]]) -> dict[str, Any]:
    """Shares of names whose rules went wrong, judged by the gold names of each patient.

    Two gold names of a patient and a label are one person if they are equal without case, accents, titles and the order
    around a comma, or if the words of one are among the words of the other. "one_person" is the share of such pairs
    whose surrogates are one in the same sense. "shared" is the share of pairs of full names without a common word whose
    surrogates are equal.
    """
    people: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for document, made in zip(corpus, replacements, strict=True):
        for span, surrogate, _ in made:
            if _KINDS.get(span.label) in _NAMES:
                original = document.text[span.start : span.end]
                people[patient_of(document), span.label].setdefault(original, surrogate)
    counts: Counter = Counter()
    by_label: dict[str, Counter] = defaultdict(Counter)
    for (_, label), names in people.items():
        for (a, new_a), (b, new_b) in combinations(names.items(), 2):
            one, other = _words(a), _words(b)
            if one and other and (one <= other or other <= one):
                new_one, new_other = _words(new_a), _words(new_b)
                counts["same"] += 1
                is_kept = new_one <= new_other or new_other <= new_one
                counts["kept"] += is_kept
                by_label[label].update({"pairs": 1, "kept": int(is_kept)})
            elif not one & other and min(len(one), len(other)) > 0:
                counts["others"] += 1
                counts["shared"] += _words(new_a) == _words(new_b)
    return {
        "pairs_of_one_person": counts["same"],
        "one_person": round(counts["kept"] / max(counts["same"], 1), 5),
        "one_person_by_label": {
            label: {"pairs": c["pairs"], "share": round(c["kept"] / c["pairs"], 5)} for label, c in by_label.items()
        },
        "pairs_of_two_persons": counts["others"],
        "shared": round(counts["shared"] / max(counts["others"], 1), 5),
    }


def _broken_name(original: str, surrogate: str) -> Iterator[str]:
    if re.search(r"\d", surrogate) and not re.search(r"\d", original):
        yield "digit in a name"
    if original[:1].isupper() != surrogate[:1].isupper():
        yield "casing of a name"
    if len(re.findall(r"[^\W\d_]+", original)) != len(re.findall(r"[^\W\d_]+", surrogate)):
        yield "words of a name"


def _broken_address(document: Document, made: Sequence[Replacement], i: int, words: object) -> Iterator[str]:
    """A postal code whose town is next to it has the first digits of the town."""
    span, surrogate, _ = made[i]
    if not surrogate.isdigit():
        return
    prefixes = defaultdict(set)
    for town in words.towns:  # type: ignore[attr-defined]
        prefixes[fold(town.name)].add(town.prefix)
    near = [
        fold(other.surrogate)
        for other in made
        if other.span.label == span.label
        and max(other.span.start - span.end, span.start - other.span.end) <= _NEAR
        and fold(other.surrogate) in prefixes
    ]
    if near and not any(surrogate.startswith(prefix) for town in near for prefix in prefixes[town]):
        yield "town and postal code"


def _is_date(surrogate: str, words: object) -> bool:
    text = surrogate.replace(" ", "") if re.fullmatch(r"\d(?: \d){7}", surrogate) else surrogate
    found = [parse_dates(text, words, day_first) for day_first in (True, False)]  # type: ignore[arg-type]
    return any(dates is not None and all(map(_exists, dates)) for dates in found)


def _exists(one: object) -> bool:
    if not one.is_full:  # type: ignore[attr-defined]
        return True
    try:
        date(one.year, one.month, one.day)  # type: ignore[attr-defined]
    except ValueError:
        return False
    return True


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))


def _words(name: str) -> frozenset[str]:
    """Folded words of a name without titles, which have a full stop, and initials."""
    return frozenset(
        word for word in re.findall(r"[^\W\d_]+", fold(re.sub(r"\b\w{1,4}\.", " ", name))) if len(word) > 2
    )
