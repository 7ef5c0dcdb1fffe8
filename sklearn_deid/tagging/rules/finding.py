"""`find_phi`: match all rules on a text and resolve overlaps between their spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...surrogates.guessed_locale import guess_locale
from ...text import Span, normalize
from .ages import AGE_RULES
from .dates import DATE_RULES
from .national_numbers import NATIONAL_RULES
from .net_addresses import NET_RULES
from .old_ages import OLD_AGE_RULES
from .phones import PHONE_RULES
from .postal_codes import POSTAL_RULES
from .record_numbers import NUMBER_RULES
from .rule import LANGUAGES, Rule, compiled

RULES: tuple[Rule, ...] = (
    *NET_RULES,
    *PHONE_RULES,
    *NUMBER_RULES,
    *NATIONAL_RULES,
    *DATE_RULES,
    *AGE_RULES,
    *OLD_AGE_RULES,
    *POSTAL_RULES,
)
RECOGNIZERS = tuple(dict.fromkeys(rule.family for rule in RULES))
# "age" includes the ages over 89.
DEFAULT_RECOGNIZERS = tuple(family for family in RECOGNIZERS if family != "age-over-89")
# Rules of these languages are used if no language is named.
_USUAL = ("en", "es")
# Units behind short numbers that are no identifiers: "MR 500 mg", "x 2000 mL", "400-1200 mg".
_MEASURED = re.compile(
    r"(?:\d{3,5}|\d{3}[.-]\d{4})[ \x1f]?(?:m?mol|mcg|[µμumk]g|m\x1e?[lLm]|cm|m\x1e?Eq|mm\x1e?Hg|kcal|IU|units|bpm|cells"
    r"|copies|calories)(?![^\W_])"
)
# Blanks of other widths and without a line break, as word processors and French typography put into numbers.
_BLANKS = dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
# Words that underscores join, as in names of forms. Underscores of addresses are parts of them.
_JOINED = re.compile(r"[^ \t\n\r\x0b\x0c]+")
_OF_ADDRESS = re.compile(r"@|://|www\.|\.(?:com|org|net|edu|gov)\b")
_IDENTIFIERS = frozenset(("phone", "id", "ssn", "zip"))
_AROUND = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_AFTER = _AROUND + ".,;:"


@dataclass(frozen=True, slots=True)
class RuleSpan(Span):
    """Span with the name of the rule that found the span."""

    rule: str = ""


def select_rules(
    recognizers: Iterable[str] | None = None, language: str | Sequence[str] | None = None
) -> tuple[Rule, ...]:
    """Select rules by family and language.

    Parameters
    ----------
    recognizers : iterable of str, optional
        Names from `RECOGNIZERS`. By default all names except "age-over-89", which is a part of "age".
    language : str or sequence of str, optional
        Languages of the rules, from `LANGUAGES`. By default English and Spanish.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    ValueError
        If a family or a language is unknown.
    """
    if isinstance(recognizers, str):
        raise ValueError(f"'recognizers' must be a sequence of names. Pass ({recognizers!r},) for a single family.")
    chosen = DEFAULT_RECOGNIZERS if recognizers is None else tuple(recognizers)
    unknown = [family for family in chosen if family not in RECOGNIZERS]
    if unknown:
        raise ValueError(f"'recognizers' must hold names of {RECOGNIZERS}. Got {unknown[0]!r} instead.")
    asked = _USUAL if language is None else (language,) if isinstance(language, str) else tuple(language)
    strange = [name for name in asked if name not in LANGUAGES]
    if strange or not asked:
        got = repr(strange[0]) if strange else "none"
        raise ValueError(f"The 'language' parameter must be one of {LANGUAGES} or None. Got {got} instead.")
    return tuple(r for r in RULES if r.family in chosen and not set(asked).isdisjoint(r.languages))


def note_languages(text: str) -> tuple[str, ...]:
    """Languages whose rules are used for a note with ``language="auto"``.

    The function chooses the language whose articles, prepositions and pronouns occur most often in the note. Words that
    occur in several languages are not counted. If no counted word occurs, the function returns all `LANGUAGES`, because
    too many matches are better than too few.

    Parameters
    ----------
    text : str
        Note.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> note_languages("Der Patient wurde am Montag aufgenommen."), len(note_languages("Tel. 0461 708223"))
    (('de',), 8)
    """
    guessed = guess_locale(text, default="")
    return (guessed,) if guessed else LANGUAGES


def find_phi(
    text: str,
    *,
    recognizers: Iterable[str] | None = None,
    language: str | Sequence[str] | None = None,
    rules: tuple[Rule, ...] | None = None,
) -> list[RuleSpan]:
    """Find PHI in a text with rules.

    Rules find identifiers by their form or by a keyword. Rules find no names and no places: use rules together with a
    tagger, not alone, to de-identify notes. The running time is linear in the length of the text.

    Parameters
    ----------
    text : str
        Raw text, or a sentence rebuilt from tokens (`rebuild_sentence`).
    recognizers : iterable of str, optional
        Names from `RECOGNIZERS`: "email", "url", "ip", "phone" (includes fax), "id", "ssn", "date", "age",
        "age-over-89", "zip". By default all names except "age-over-89", which is a part of "age".
    language : {"en", "es", "de", "fr", "nb", "it", "pt", "nl", "auto"} or sequence of str, optional
        Languages of the rules. "auto" means the language of ``text`` (`note_languages`). By default English and
        Spanish.
    rules : tuple of Rule, optional
        Rules to use. With ``rules``, the function ignores ``recognizers`` and ``language``.

    Returns
    -------
    list of RuleSpan
        Spans, sorted and without overlap. ``label`` is the kind of PHI (`KINDS`), and ``rule`` is the name of the rule.
        If spans overlap, the function keeps the span with the highest priority. At equal priority the function keeps
        the longest span, and at equal length the first span.

    Raises
    ------
    TypeError
        If ``text`` is not a str.
    ValueError
        If a family or the language is unknown.

    Examples
    --------
    >>> text = "Seen on 12 May 2011, MRN 4408185, call (555) 010-0142."
    >>> [(span.label, text[span.start : span.end], span.rule) for span in find_phi(text, language="en")]
    [('DATE', '12 May 2011', 'date-day-month'), ('MEDICALRECORD', '4408185', 'medicalrecord-named-en'), \
('PHONE', '(555) 010-0142', 'phone-us')]
    """
    if not isinstance(text, str):
        raise TypeError(f"'text' must be a str. Got {type(text).__name__} instead.")
    chosen = rules
    if chosen is None:
        chosen = select_rules(recognizers, note_languages(text) if language == "auto" else language)
    # Dashes, digits and letters of any form are read as the usual ones. The layout is not normalised, because the
    # layout of a text that was rebuilt from tokens differs from the layout of the note.
    reading = normalize(text, layout=False)
    found = _found(reading.text, chosen)
    return [replace(s, start=a, end=b) for s in found for a, b in [reading.original(s.start, s.end)]]


def _found(text: str, chosen: tuple[Rule, ...]) -> list[RuleSpan]:
    """Spans of the rules in a normalised text."""
    text = _with_plain_blanks(text)
    # `needs` and `words` skip most rules without running their regular expressions.
    # Regular expressions that ignore case read the dotless i, and the capital I with a dot, as an i.
    characters, lowered = set(text), text.replace("\u0130", "i").casefold().replace("\u0131", "i")
    # Most rules need a digit: one answer for all of them.
    present = {needs for needs in {rule.needs for rule in chosen} if not characters.isdisjoint(needs)}
    found = [
        (-rule.priority, start - end, start, end, number)
        for number, rule in enumerate(chosen)
        if rule.needs in present
        if not rule.words or any(word in lowered for word in rule.words)
        for start, end in _matches(rule, text)
    ]
    # Sorted order: highest priority, then longest span, then first span. A span is dropped if a character is taken.
    taken = bytearray(len(text))
    spans = []
    for _, _, start, end, number in sorted(found):
        if not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            spans.append(RuleSpan(start, end, chosen[number].kind, rule=chosen[number].name))
    return sorted(spans, key=lambda span: span.start)


def _with_plain_blanks(text: str) -> str:
    """Text of the same length in which blanks of any width, and underscores between words, are spaces."""
    if not text.isascii():
        text = text.translate(_BLANKS)
    if "_" not in text:
        return text
    return _JOINED.sub(lambda run: run[0] if _OF_ADDRESS.search(run[0]) else run[0].replace("_", " "), text)


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """Spans of one rule, without surrounding spaces and without punctuation at the end."""
    first = max(0, text.index(rule.needs) - rule.lead) if rule.lead else 0
    for match in compiled(rule.pattern).finditer(text, first):
        start, end = match.span("phi" if "phi" in match.re.groupindex else 0)
        if rule.measure is not None:
            end = start + rule.measure(text[start:end])
        after = _AROUND if rule.keeps_stop else _AFTER
        while end > start and text[end - 1] in after:
            end -= 1
        while start < end and text[start] in _AROUND:
            start += 1
        if (
            start < end
            and not (rule.family in _IDENTIFIERS and _MEASURED.match(text, start))
            and rule.fits(text, start, end)
        ):
            yield start, end
