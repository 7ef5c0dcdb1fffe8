"""Spans of a note with the surrounding text that the rules of surrogates need."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from html import unescape

from ..text import Span, normalize
from ..text.line_marks import without_line_marks
from ..text.marks_of_all_lines import marks_of_all_lines
from ..text.normalized_text import Edit, edited
from .date_parsing import is_range_sign
from .folding import fold
from .listed_weekdays import listed_weekdays
from .locale_words import LocaleWords
from .name_parsing import CALLED, is_spelled
from .patient_surrogates import LISTED, NAMES, PLACES, Mention
from .place_parts import KEPT, REGION, TOWN, Part, named_part, place_parts
from .public_dates import is_public_date
from .titles import sex_of_title

# Characters between a postal code or a region and its town, within one address.
_NEAR = 60
# Characters before a name in which a title such as "Frau Dr. med." shows the sex.
_TITLE_WINDOW = 30
_RELATIVE = re.compile(r"([^\W\d_]+)[\s,:(]*$")
_LAST_WORD = re.compile(r"([^\W\d_]+)\W*$")
_RELATIVE_BEHIND = re.compile(r"\s*\((?:[^\W\d_]+\s)?([^\W\d_]+)\)")
_START_OF_RANGE = re.compile(r"\d{1,2}\.?")
# Begin of a line in which nothing is before a date but the borders of cells.
_BEFORE_CELL = re.compile(r"(?:[\s|]|<[^<>]{1,40}>)*")
# Signs between two places, or a word such as "on" between a place and a date.
_FROM_PLACE = re.compile(r"[^\w\n]*(?:[^\W\d_]{1,3}[^\w\n]*)?")
# Codes of letters, tags, invisible characters, letters of full width, letters that may look like Latin letters, misread
# letters, and hyphens at ends of lines.
_CODED = re.compile(
    "[&%<\\\\\u00ad\u0251\u0261\u0370-\u058f\u200b-\u200f\u2060\ufeff\uff21-\uff5a]|[\u00c3-\u00c5][\u0080-\u00bf\u2013-\u2122]"
    r"|[-\u2010\u2011][ \t]*[\r\n]"
)
# A number behind such a word is that of a telephone, also under the label of another number.
_PHONE_WORD = re.compile(
    r"(?<![^\W\d_])(?:tel|telephone|phone|ph|fax|telefax|cell|mobile|pager|call|t\u00e9l|t\u00e9l\u00e9phone|tfno|tlfn?o?|tel\u00e9fono|m\u00f3vil"
    r"|telefon|telefonnummer|handy|mobil|telefono|cellulare|telefone|telem\u00f3vel|celular|telefoon|mobiel)"
    r"(?:\s?(?:no|nr|n\u00b0|number))?[\s.:#(]{0,4}\Z",
    re.IGNORECASE,
)
_PHONE_NUMBER = re.compile(r"\+?[\d\s()./-]{7,20}")
_WITH_NAMES = frozenset((*NAMES, *PLACES, "street", "hospital", "institution"))
_IN_ADDRESS = re.compile(r"\s*(?:,|\(|/|,\s*\()\s*| +")
_BEHIND_TOWN = re.compile(rf"\)?(?:{_IN_ADDRESS.pattern})")


class NoteMentions:
    """Reads the spans of a note with their context.

    Parameters
    ----------
    text : str
        Text of the note.
    spans : sequence of Span
        Spans in order, without overlaps.
    kinds : sequence of str or None
        Kind of surrogate of each span; None for labels without a rule.
    words : LocaleWords
        Words of the locale.
    parts_of : callable, optional
        `place_parts` for this locale, if a patient has it in memory.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> text, spans = "Nombre: Luz. Apellidos: Paz", (Span(8, 11, "NAME"), Span(24, 27, "NAME"))
    >>> NoteMentions(text, spans, ["person"] * 2, locale_words("es")).read()
    [Mention(given name), Mention(surname)]
    """

    def __init__(
        self,
        text: str,
        spans: Sequence[Span],
        kinds: Sequence[str | None],
        words: LocaleWords,
        parts_of: Callable[[str], tuple[Part, ...]] | None = None,
    ) -> None:
        self._text, self._spans, self._words = text, spans, words
        self._kinds = list(kinds)
        self._marks: list[Edit] | None = None
        parts_of = parts_of or partial(place_parts, words=words)
        parts = {i: parts_of(self._span_text(i)) for i, kind in enumerate(kinds) if kind == "place"}
        places = {i: _leading_kind(some) for i, some in parts.items()}
        # Names of towns and regions without the rest of their spans.
        self._names = {i: named_part(some, places[i]) for i, some in parts.items()}
        self._regions = [i for i, kind in places.items() if kind == "region"]
        self._codes = {i for i, kind in places.items() if kind == "postcode"}
        # "Getafe, Madrid" and "Getafe (Madrid)": the second name is the region of the first.
        self._towns: list[int] = []
        for i in (i for i, kind in places.items() if kind == "town"):
            if self._is_region_of_town(i):
                self._kinds[i] = "region"
            else:
                self._towns.append(i)
        self._read_fields()
        self._read_public_dates()

    def __repr__(self) -> str:  # nothing of the note
        return f"NoteMentions({len(self._spans)} spans)"

    def read(self) -> list[Mention | None]:
        """Return the `Mention` of each span; None for spans without a kind."""
        return [None if kind is None else self._mention(i, kind) for i, kind in enumerate(self._kinds)]

    def _mention(self, i: int, kind: str) -> Mention:
        # Text in front of the span in its own line: words such as "Dr" or "Calle" determine how the span is read.
        before = self._text[max(self._end_before(i), self._start_of_line(i)) : self._spans[i].start]
        if kind == "date" and _BEFORE_CELL.fullmatch(before) is not None:  # below "Date of birth"
            above = self._text[self._end_before(i) : self._spans[i].start - len(before)]
            before = above.rstrip().rpartition("\n")[2] + before.strip()
        elif kind == "date":
            before = self._before_places(i) + before
        is_part = kind in ("place", "region", "postcode") and not self._is_town(i)
        is_code = kind == "postcode" or i in self._codes
        near = (self._in_address(i, is_code) or self._nearest(i, self._towns)) if is_part else ""
        if not near and is_code:
            near = self._nearest(i, self._regions)
        until = self._rest_of_range(i) if kind == "date" else ""
        sex = self._sex_before(i) if kind in NAMES else None
        if kind == "person" and self._is_beside_relative(i):
            kind = CALLED
        elif kind == "identifier" and _PHONE_WORD.search(before[-_TITLE_WINDOW:]):
            kind = "phone" if _PHONE_NUMBER.fullmatch(self._span_text(i)) else kind
        # Composed letters: an accent of its own would end a word, and stay at its place.
        text = unicodedata.normalize("NFC", self._span_text(i))
        written = self._written(i)
        if kind in _WITH_NAMES and _CODED.search(written) and not is_spelled(written, self._words):
            read = unescape(normalize(written).text)
            text = _with_plain_digits(unicodedata.normalize("NFC", read)) or text
        return Mention(text, kind, before, near or None, until, sex)

    def _before_places(self, i: int) -> str:
        """Text of the line before the places directly before a date: "born in" of "born in Boston, MA on 3/4/1950"."""
        first = i
        while first and self._kinds[first - 1] in PLACES and _FROM_PLACE.fullmatch(self._between(first - 1, first)):
            first -= 1
        start = max(self._end_before(first), self._start_of_line(first))
        return self._text[start : self._spans[first].start] if first < i else ""

    def _span_text(self, i: int) -> str:
        return _with_plain_digits(self._written(i))

    def _written(self, i: int) -> str:
        """Text of a span as a reader sees it, without the marks of lines, such as ``>`` of a quoted mail."""
        start, end = self._spans[i].start, self._spans[i].end
        written = self._text[start:end]
        if "\n" not in written and "\r" not in written:
            return written
        if self._marks is None:
            self._marks = marks_of_all_lines(self._text)
        inside = [edit._replace(start=edit.start - start, end=edit.end - start) for edit in self._marks]
        return without_line_marks(
            edited(written, [edit for edit in inside if 0 < edit.start and edit.end < end - start])
        )

    def _end_before(self, i: int) -> int:
        return self._spans[i - 1].end if i else 0

    def _start_of_line(self, i: int) -> int:
        return self._text.rfind("\n", 0, self._spans[i].start) + 1

    def _between(self, i: int, j: int) -> str:
        return self._text[self._spans[i].end : self._spans[j].start]

    def _is_region_of_town(self, i: int) -> bool:
        is_behind_town = self._towns[-1:] == [i - 1] and _IN_ADDRESS.fullmatch(self._between(i - 1, i)) is not None
        return is_behind_town and fold(self._name(i)) in self._words.region_names

    def _name(self, i: int) -> str:
        """Name of the town or of the region in a span."""
        return self._names.get(i) or self._span_text(i)

    def _in_address(self, i: int, is_code: bool) -> str:
        """Town before a region or a postal code in one address; empty without such a town.

        In most languages, a postal code belongs to a town behind it, if there is only a blank between them.
        """
        is_before_town = is_code and self._is_town(i + 1) and self._between(i, i + 1) == " "
        if is_before_town and self._words.locale != "en":
            return self._name(i + 1)
        first = i
        while first and _BEHIND_TOWN.fullmatch(self._between(first - 1, first)):
            first -= 1
            if self._is_town(first):
                return self._name(first)
            if self._kinds[first] != "region" and first not in self._regions:
                break
        return ""

    def _is_town(self, i: int) -> bool:
        at = bisect_left(self._towns, i)
        return self._towns[at : at + 1] == [i]

    def _nearest(self, i: int, places: list[int]) -> str:
        """Text of the nearest place within 60 characters of a span; empty without such a place."""
        spans = self._spans

        def distance(j: int) -> int:
            return max(spans[j].start - spans[i].end, spans[i].start - spans[j].end)

        # The places are in order: the nearest is directly before or behind the span.
        behind = bisect_left(places, i)
        best = min(places[max(0, behind - 1) : behind + 1], key=distance, default=None)
        return self._name(best) if best is not None and distance(best) <= _NEAR else ""

    def _rest_of_range(self, i: int) -> str:
        """Text from the sign of a range to the end of the next date, if the span is only a number such as "03"."""
        if (
            i + 1 == len(self._spans)
            or self._kinds[i + 1] != "date"
            or not _START_OF_RANGE.fullmatch(self._span_text(i))
        ):
            return ""
        between = self._between(i, i + 1)
        return between + self._span_text(i + 1) if is_range_sign(between) else ""

    def _read_fields(self) -> None:
        """Assign roles to two names after "Nombre:" and "Apellidos:"; a field alone may hold a full name."""
        fields = [self._field(i) if kind == "person" else None for i, kind in enumerate(self._kinds)]
        for i in range(len(fields) - 1):
            if {fields[i], fields[i + 1]} == {"given name", "surname"}:
                self._kinds[i : i + 2] = fields[i : i + 2]

    def _read_public_dates(self) -> None:
        """Give weekdays of lists a kind of their own, and no kind to dates that everybody knows."""
        dates = [i for i, kind in enumerate(self._kinds) if kind == "date"]
        places = [(self._spans[i].start, self._spans[i].end) for i in dates]
        listed = listed_weekdays(self._text, places, self._words)
        for at, (i, place) in enumerate(zip(dates, places, strict=True)):
            if at in listed:
                self._kinds[i] = LISTED
            elif is_public_date(self._text, *place):
                self._kinds[i] = None

    def _field(self, i: int) -> str | None:
        before = self._text[max(self._end_before(i), self._start_of_line(i)) : self._spans[i].start]
        head = fold(before).rstrip()
        if not head.endswith(":"):
            return None
        head = head[:-1].rstrip()
        for name, kind in self._words.numbered("name fields").items():
            if head.endswith(name) and not head[: -len(name)][-1:].isalpha():
                return kind
        return None

    def _sex_before(self, i: int) -> str | None:
        """Sex that titles or a relative directly before a name show ("Mr.", "his daughter"), labelled or not."""
        start = self._spans[i].start
        line = self._text[max(self._start_of_line(i), start - _TITLE_WINDOW) : start]
        for word in reversed(re.findall(r"[^\W\d_]+", line)):
            if (sex := sex_of_title(word, self._words)) is not None:
                return sex
            if fold(word) not in self._words.titles:
                break
        # A full stop between them would begin another sentence.
        return self._close_person(_RELATIVE.search(line)) or None

    def _is_beside_relative(self, i: int) -> bool:
        """Whether a relative or a friend is directly before a name, or in brackets after it: Ann (daughter)."""
        start, end = self._spans[i].start, self._spans[i].end
        line = self._text[max(self._start_of_line(i), start - _TITLE_WINDOW) : start]
        title = _LAST_WORD.search(line)
        # "Sister Alder" is a nurse, and "Dr. Alder (father)" has a title.
        if title is not None and fold(title[1]) in self._words.titles:
            if title[1][0].isupper() or self._close_person(title) is None:
                return False
        found = (_RELATIVE.search(line), _RELATIVE_BEHIND.match(self._text, end))
        return any(self._close_person(one) is not None for one in found)

    def _close_person(self, found: re.Match[str] | None) -> str | None:
        """Sex of the relative or friend that the text names, "" if the word does not show it; else None."""
        word = fold(found[1]) if found else ""
        sex = self._words.numbered("relatives").get(word, self._words.numbered("friends").get(word))
        return sex if sex in ("M", "F", "") else None


def _leading_kind(parts: tuple[Part, ...]) -> str:
    """Kind of a place of several parts: a town, else a region, else the kind of the first part."""
    kinds = [kind for _, kind in parts if kind != KEPT]
    return next((kind for kind in (TOWN, REGION) if kind in kinds), kinds[0] if kinds else TOWN)


def _with_plain_digits(text: str) -> str:
    """Text with plain digits for raised, circled and Roman digits, and a blank between other numerals and a letter.

    The patterns for words and digits do not separate these signs from letters: "\u00b9Alder" would not be found as a
    name.
    """
    if text.isascii():
        return text
    out: list[str] = []
    for i, sign in enumerate(text):
        if sign.isnumeric() and not sign.isdecimal() and not sign.isalpha():
            plain = unicodedata.normalize("NFKC", sign)
            sign = (
                plain if plain.isalnum() and plain.isascii() else f"{sign} " if text[i + 1 : i + 2].isalpha() else sign
            )
        out.append(sign)
    return "".join(out)
