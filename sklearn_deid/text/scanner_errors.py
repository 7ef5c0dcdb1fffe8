"""Digits in words and letters in numbers that a scanner (OCR) has confused, with the correct characters.

A tokenizer separates letters from digits. "M00dy" and "20l8" become three tokens each, and no token looks like a part
of a name or of a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .normalized_text import Edit

# Runs of letters and digits with both, and the digits at which a run changes from one to the other.
_CHANGE = re.compile(r"\d(?:(?<=[^\W\d_]\d)|(?=[^\W\d_]))")
_MIXED = re.compile(r"(?<![^\W_])(?<!\d[.,/:-])(?=\d*[^\W\d_])(?=[^\W\d_]*\d)[^\W_]+")
_NUMERAL = "0-9OoIlSZBb"  # digits, and letters that are read instead of them
_DIGITS = str.maketrans("OoIlSZBb", "00115286")
# A number between digits may hold one of these; at its ends, letters mean something ("B12", "18G", "50s").
_NUMBER = re.compile(rf"[0-9][{_NUMERAL}]*[0-9]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONG_NUMBER = re.compile(rf"[Ool0-9][{_NUMERAL}]{{3,}}[Ool0-9]")
_ZERO_OR_ONE = re.compile("[0-9Ool]")
_AGE = re.compile(rf"[{_NUMERAL}]{{2}}")
# Text behind an age.
_YEARS = re.compile(r"[ -]?y(?:\.?o\b|/o\b|rs?\b|ears?\b)", re.IGNORECASE)
_AGE_AND_SEX = re.compile(r"(?:[1-9][Ol]|l[0-9])(?=[MF]$)")
# Numbers with signs between, of any of these forms: dates, times, phone numbers, other identifiers.
_WITH_SIGNS = re.compile(
    rf"(?<![^\W_])(?:\([{_NUMERAL}]{{3}}\) ?[{_NUMERAL}]{{3}}[-. ][{_NUMERAL}]{{4}}"
    rf"|[{_NUMERAL}]{{1,7}}(?:[-/.:][{_NUMERAL}]{{1,7}}){{1,4}})(?![^\W_])"
)
_MONTH, _DAY = r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_FORM = re.compile(
    rf"(?P<date>(?:{_MONTH}(?P<a>[-/.]){_DAY}|{_DAY}(?P<b>[-/.]){_MONTH})(?:(?(a)(?P=a)|(?P=b))(?:\d\d|\d{{4}}))"
    rf"|(?:19|20)\d\d(?P<c>[-/.]){_MONTH}(?P=c){_DAY}|{_MONTH}/(?:19|20)\d\d)"
    rf"|(?P<short>{_MONTH}/{_DAY}|{_DAY}/{_MONTH})|(?P<time>(?:[01]?\d|2[0-3]):[0-5]\d)"
    r"|(?P<phone>\(\d{3}\) ?\d{3}[-. ]\d{4}|(?:1-)?\d{3}[-.]\d{3}[-.]\d{4})|\d{3}[-.]\d{4}|\d{2,7}(?:-\d{2,7})+"
    r"|0[1-9](?:\.\d\d){4}"
)
# Letters that are meant by a digit in a word, in lower case and in capitals.
_LOWER, _UPPER = str.maketrans("0156", "olsb"), str.maketrans("01568", "OISGB")
_FIRST = str.maketrans("012568", "OIZSGB")
_INNER = re.compile(r"[^\W\d_]+(?:(?:00|[01568])[^\W\d_]+)+")
# The last letter of "Hospital" and "Diego". In lower case, a number behind a word is a number: of a user or a footnote.
_LAST = re.compile(r"(?P<word>[^\W\d_a-z]+[^\W\d_A-Z]+[aeioul])1|(?P<o>[^\W\d_a-z]+[^\W\d_A-Z]{3,})0")
_LEADING = re.compile(r"0[^\W\d_]{2,}|[12568](?![xX])[^\W\d_]{3,}")
_CASED = re.compile(r"[^\W\d_][^\W\d_A-Z]+|[^\W\d_a-z]{5,}")
# Words of measures, which follow a number without a space, and words before a number.
_MEASURES = re.compile(
    r"(?:(?:d[ai\u00ed]as?|days?|w[ek]{1,3}s?|mon?(?:th)?s?|mes(?:es)?|y(?:ea)?rs?|a\u00f1os?|h(?:ou)?rs?|horas?|min|secs?|"
    r"segs?|fr|mmol|mmhg|meq|mcg|bpm|amp|hiaa|fold|time?s|veces|semanas?|tagen?|wochen?|monaten?|jahren?|stunden?|jours?|"
    r"mois|ans|heures?|feet|foot|inch(?:es)?|lbs|mols?)\b"
    r"|(?:tab|cap|comp|puff|unit|unid|drop|gram|lit[re]|french|view|part|minut))",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?:type|stage|grade|phase|page|line|lane|cycle|case|zone|suite|date|dose|code|axe?|para|gravida)"
)
_FREQUENCY = re.compile(r"[qQxX]\d")
# A Canadian postal code, "K1A 0B1", is no number.
_POSTAL_CODE = re.compile(r"[A-Z]\d[A-Z][ -]\d[A-Z]\d\Z")
# A small "l" in a word of capitals.
_L_BEFORE_CAPITAL = re.compile("l[A-Z]")
_SMALL_L = re.compile(r"(?<![^\W_])(?=[A-Zl]{4,}(?![^\W_]))(?=l*[A-Z]{2}|[A-Z]l+[A-Z])(?:l*[A-Z])*l+[A-Z]+")


def scanner_repairs(text: str) -> list[Edit]:
    """Characters of words and numbers that a scanner has confused, each with the correct character.

    Examples
    --------
    >>> text = "M00dy, 7l yo, seen O3/l4/2019 at Hospita1"
    >>> for edit in reversed(scanner_repairs(text)):
    ...     text = text[: edit.start] + edit.replacement + text[edit.end :]
    >>> text
    'Moody, 71 yo, seen 03/14/2019 at Hospital'
    """
    changes: dict[int, str] = {}
    for found in _WITH_SIGNS.finditer(text):
        if not found[0].replace("-", "").isdigit():
            _change(changes, found.start(), found[0], _formed(found[0]))
    for found in _mixed_runs(text):
        if _POSTAL_CODE.match(text, max(0, found.start() - 4), found.end()):
            continue
        if found.start() not in changes and found.end() - 1 not in changes:
            _change(changes, found.start(), found[0], _meant(found[0], text[found.end() : found.end() + 7]))
    if _L_BEFORE_CAPITAL.search(text):
        for found in _SMALL_L.finditer(text):
            _change(changes, found.start(), found[0], found[0].replace("l", "I"))
    return [Edit(at, at + 1, sign) for at, sign in sorted(changes.items())]


def _mixed_runs(text: str) -> Iterator[re.Match[str]]:
    """The matches of ``_MIXED``. The pattern is not tried at each word, since most words have no digit."""
    end = 0
    for change in _CHANGE.finditer(text):
        if change.start() < end:
            continue
        start = change.start()
        while start > end and text[start - 1].isalnum():
            start -= 1
        end = change.end()
        while end < len(text) and text[end].isalnum():
            end += 1
        if found := _MIXED.match(text, start):
            yield found


def _change(changes: dict[int, str], start: int, written: str, meant: str) -> None:
    changes.update({start + i: b for i, (a, b) in enumerate(zip(written, meant, strict=True)) if a != b})


def _formed(written: str) -> str:
    """A number with signs between digits, if most characters are digits and it looks like a date, time or number."""
    read = written.translate(_DIGITS)
    found = None if read == written else _FORM.fullmatch(read)
    if found is None:
        return written
    digits, letters = sum(map(str.isdigit, written)), sum(map(str.isalpha, written))
    if found.lastgroup is None and not (_ZERO_OR_ONE.match(written) and _ZERO_OR_ONE.match(written[-1])):
        return written  # identifiers begin and end with a letter, too
    # Vertebrae and stages have as short forms ("l4/5").
    fewest = 3 if found["short"] else 2 if found["time"] else 4
    return read if digits >= max(fewest, letters + 1) else written


def _meant(written: str, behind: str) -> str:
    """A run of letters and digits with the correct characters."""
    letters = sum(map(str.isalpha, written))
    read = written.translate(_DIGITS)
    if read.isdigit():
        is_number = _NUMBER.fullmatch(written) is not None and 2 * letters <= len(written)
        is_year = letters <= 2 and _YEAR.fullmatch(read) is not None
        is_long = len(written) >= letters + 4 and _LONG_NUMBER.fullmatch(written) is not None
        is_age = _AGE.fullmatch(written) is not None and _YEARS.match(behind) is not None
        return read if is_number or is_year or is_long or is_age else written
    if age := _AGE_AND_SEX.match(written):
        return age[0].translate(_DIGITS) + written[age.end() :]
    if (years := _YEARS.match(written, 2)) and _AGE.fullmatch(written, 0, 2) and not written[:2].isalpha():
        return read[:2] + written[years.start() :]
    if written[0] in "xX" and written[1:].translate(_DIGITS).isdigit():
        return written[0] + _meant(written[1:], behind)  # an extension
    if _FREQUENCY.match(written):
        return written
    return _word(written, letters)


def _word(written: str, letters: int) -> str:
    """A word with digits, with the correct characters."""
    if (found := _LAST.fullmatch(written)) and not _COUNTED.fullmatch(written[:-1].lower()):
        read = found["word"] + "l" if found["word"] else found["o"] + "o"
        return read if _CASED.fullmatch(read) and not read.isupper() else written
    first = written
    if _LEADING.fullmatch(written) or (written[0] in "08" and _INNER.fullmatch(written[1:])):
        if _MEASURES.match(written, 1):
            return written
        first = written[0].translate(_FIRST) + written[1:]
    elif not _INNER.fullmatch(written) or letters < 3:
        return written
    read = first.translate(_UPPER if sum(map(str.isupper, written)) * 2 > letters else _LOWER)
    return read if _CASED.fullmatch(read) else written
