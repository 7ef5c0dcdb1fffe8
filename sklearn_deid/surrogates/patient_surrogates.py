"""All surrogates of one patient: one rule for each kind of PHI."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import NamedTuple
from unicodedata import category

from ..text.separated_letters import is_in_cells
from .age_surrogates import AgeSurrogates
from .date_surrogates import DateSurrogates, draw_shift
from .folding import fold
from .institution_surrogates import InstitutionSurrogates
from .locale_words import LocaleWords
from .name_parsing import CALLED, is_spelled
from .net_surrogates import NetSurrogates
from .number_surrogates import NumberSurrogates
from .patient_chance import PatientChance
from .person_surrogates import PersonSurrogates
from .place_parts import Part
from .place_surrogates import PlaceSurrogates
from .surrogate_settings import SurrogateSettings
from .titles import is_title

NAMES = ("person", "given name", "surname", CALLED)
PLACES = ("place", "region", "country", "postcode")
# Kind of weekdays that belong to no day of the patient, such as those of opening hours.
LISTED = "listed weekday"
# Characters before a date in which a word such as "born" makes it a birth date.
_BIRTH_WINDOW, _SHORT_BIRTH_WORD = 30, 2
# Labels up to this length are initials of words: DOB, D.O.B. and d/o/b. Words such as "am" may follow a label.
_INITIALS = 4
_BEHIND_LABEL = r"[\s.:=(]{0,4}(?:\b(?:am|den|el|le|il|em|en|op|in|on)\b[\s.:]{0,2})?$"
# Signs between a label and its date in tables and forms: "DN | 4/3/25", "**DN:** 4/3/25", "DN (jj/mm/aa): 4/3/25". No
# signs that end a sentence, and no single asterisk, which is a birth word.
_SIGNS = r"(?:_|[^\w.*!?%+)<&])"
_FILL = re.compile(
    rf"(?:{_SIGNS}|(?<!\.)\.{{3,}}(?!\.)|\*\*|&nbsp;|<[^<>]{{1,40}}>|\((?:[^\W\d_]|[/. -]){{2,20}}\))+\Z", re.IGNORECASE
)
_LONGEST_FILL = 200
# Years by which ages are shifted. 0 is excluded, because all ages of one patient in seven would then stay unchanged.
_OFFSETS = (-3, -2, -1, 1, 2, 3)


class Mention(NamedTuple):
    """Span with the context that the rules of surrogates need. The repr shows the kind only.

    Parameters
    ----------
    text : str
        Text of the span.
    kind : str
        Kind of surrogate, see `label_kinds`.
    before : str
        Text of the line between the previous span and this span.
    town : str or None
        For a postal code, text of the town or region next to it; for a region, text of the town next to it.
    until : str
        Text up to the end of the next date, if a sign of a range connects the two dates.
    sex : {"M", "F"} or None
        Sex that a title or a relative before a name shows.
    """

    text: str
    kind: str
    before: str = ""
    town: str | None = None
    until: str = ""
    sex: str | None = None

    def __repr__(self) -> str:
        return f"Mention({self.kind})"


class PatientSurrogates:
    """Surrogates for the PHI of one patient. Equal names, places and numbers have equal surrogates.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Words of the locale.
    settings : SurrogateSettings
        Choices of the user.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> patient = PatientSurrogates(PatientChance(bytes(32), "p1"), locale_words("en"), SurrogateSettings())
    >>> patient.surrogate(Mention("95", "age")), patient.surrogate(Mention("a lot", "identifier"))
    ('90+', None)
    """

    def __init__(self, chance: PatientChance, words: LocaleWords, settings: SurrogateSettings) -> None:
        avoided = settings.avoided
        self.chance = chance
        self.words, self._settings = words, settings
        self._people = PersonSurrogates(chance, words, settings.keep_gender, avoided)
        self._places = PlaceSurrogates(chance, words, avoided, lambda text: self._institutions.institution(text))
        self._institutions = InstitutionSurrogates(chance, words, avoided, self._places.town, settings.keep_gender)
        self._numbers = NumberSurrogates(chance, words.locale, settings.check_digits)
        self._net = NetSurrogates(chance, words, self._people.names_in, self._people.initial_of, avoided)
        years = chance.of_all_copies("years of age").pick(_OFFSETS) if settings.ages == "shift" else 0
        self._ages = AgeSurrogates(words, settings.ages, years)
        days = draw_shift(chance, settings.date_shift, settings.whole_weeks, settings.keep_seasons)
        # Birth dates have the same offset as the ages, so that both agree in the new note.
        self._dates = DateSurrogates(days, words, years)
        self._rules: dict[str, Callable[[Mention], str | None]] = {
            **dict.fromkeys(NAMES, self._name),
            "title": self._title,
            "username": lambda m: self._net.username(m.text),
            "sex": self._sex,
            "relative": self._relative,
            "street": lambda m: self._places.street(m.text),
            **dict.fromkeys(PLACES, lambda m: self._places.place(m.text, m.town, m.kind)),
            "hospital": lambda m: self._institutions.institution(m.text),
            "institution": lambda m: self._institutions.institution(m.text, is_firm=True),
            "department": lambda m: self._institutions.department(m.text),
            "profession": lambda m: self._institutions.profession(m.text),
            "age": lambda m: self._ages.surrogate(m.text),
            "date": lambda m: self._dates.surrogate(m.text, self._is_birth(m), m.until),
            # Not by the shift: weekdays that stay would reveal that the shift is a number of whole weeks.
            LISTED: lambda m: self._dates.surrogate(m.text) if settings.whole_weeks else None,
            "birth date": lambda m: self._dates.surrogate(m.text, is_birth=True),
            "phone": lambda m: self._numbers.phone(m.text),
            "email": lambda m: self._net.email(m.text),
            "url": lambda m: self._net.url(m.text),
            "ip": lambda m: self._numbers.ip(m.text),
            "identifier": lambda m: self._numbers.identifier(m.text),
        }

    def __repr__(self) -> str:  # nothing of the notes
        return f"PatientSurrogates({self.words.locale})"

    def place_parts(self, text: str) -> tuple[Part, ...]:
        """Parts of a place, as of `place_parts`."""
        return self._places.parts(text)

    def learn(self, mentions: list[Mention]) -> None:
        """Read the names and the dates of a note before any of them are replaced."""
        names = [m for m in mentions if m.kind in NAMES]
        self._people.learn([(m.text, m.kind) for m in names], [m.sex for m in names])
        for mention in mentions:
            if mention.kind == "profession":
                self._institutions.learn(mention.text, mention.before)
            elif mention.kind == "hospital":
                self.surrogate(mention)
            elif mention.kind in (*PLACES, "street"):
                self._places.learn(mention.text, mention.town, mention.kind, mention.before)
        is_birth = [m.kind == "birth date" or (m.kind == "date" and self._is_birth(m)) for m in mentions]
        dates = [m.text for m, birth in zip(mentions, is_birth, strict=True) if m.kind == "date" and not birth]
        self._dates.learn(dates, [m.text for m, birth in zip(mentions, is_birth, strict=True) if birth])

    def surrogate(self, mention: Mention) -> str | None:
        """Surrogate for a mention, or None if the form is unknown."""
        # Signs alone have no form that a rule could keep; the caller writes the label.
        if not any(map(str.isalnum, mention.text)):
            return None
        # Accents and vowel signs with a code point of their own would stay: the rules replace letters and digits.
        if not mention.text.isascii() and any(category(sign).startswith("M") for sign in mention.text):
            return None
        # A surrogate for each letter would reveal the number of the letters, and which of them are equal.
        return None if is_in_cells(mention.text) else self._rules[mention.kind](mention)

    def _name(self, mention: Mention) -> str | None:
        return None if is_spelled(mention.text, self.words) else self._people.surrogate(mention.text, mention.kind)

    def _title(self, mention: Mention) -> str | None:
        return mention.text if is_title(mention.text, self.words) else None

    def _sex(self, mention: Mention) -> str | None:
        sexes = self.words.numbered("sexes")
        folded = fold(mention.text)
        if folded not in sexes:
            return None
        if self._settings.keep_gender:
            return mention.text
        # F and M become letters, "female" and "male" become words.
        alike = [word for word in sexes if (len(word) == 1) == (len(folded) == 1)]
        drawn = self.chance.again("sex word", folded).pick(alike)
        return drawn.upper() if mention.text.isupper() else drawn.title() if mention.text[0].isupper() else drawn

    def _relative(self, mention: Mention) -> str | None:
        words = mention.text.split()
        relatives, modifiers = self.words.numbered("relatives"), self.words.bare("relative words")
        leading = list(takewhile(lambda word: fold(word) in modifiers or fold(word) in relatives, words))
        if not any(fold(word) in relatives for word in leading):
            leading = []
        rest = " ".join(words[len(leading) :])
        written = [self._drawn_relative(word) for word in leading]
        if rest:
            # "madre de 34 a\u00f1os", "hermana Mar\u00eda"
            new = self._ages.surrogate(rest) if any(map(str.isdigit, rest)) else self._name_of_relative(rest)
            if new is None:
                return None
            written.append(new)
        return " ".join(written)

    def _name_of_relative(self, text: str) -> str | None:
        # A capital at the start of any other relative is the start of a sentence.
        words = text.split()
        is_name = all(word[0].isupper() for word in words) and any(map(self.words.is_name, words))
        # "su hermano Juan": a single name of a relative is a given name, also where Juan is a surname, too.
        is_given = len(words) == 1 and self.words.may_be_given_name(words[0])
        return self._people.surrogate(text, "given name" if is_given else "person") if is_name else None

    def _drawn_relative(self, word: str) -> str:
        """Relative of the same number and, with ``keep_gender``, of the same gender, to fit the words around it."""
        classes = self.words.numbered("relatives")
        if fold(word) not in classes:
            return word
        mine = classes[fold(word)]
        entries = (entry.partition("=") for entry in self.words.block("relatives"))
        listed = [(name, other) for name, _, other in entries if len(other) == len(mine)]
        alike = [name for name, other in listed if other == mine or not self._settings.keep_gender]
        drawn = self.chance.again("relative", fold(word)).pick(alike)
        return drawn.capitalize() if word[0].isupper() else drawn

    def _is_birth(self, mention: Mention) -> bool:
        before = _without_fill(mention.before)[-_BIRTH_WINDOW - 1 :]
        # Not the end of a word that begins before the window: "esaminata" is not "nata".
        start = len(before) > _BIRTH_WINDOW and before[0].isalpha()
        return _birth_pattern(self.words).search(fold(before), int(start)) is not None


def _without_fill(before: str) -> str:
    """Text before a date without the signs of tables and forms at its end, of which a colon stays."""
    end = before[-_LONGEST_FILL:]
    found = _FILL.search(end)
    if found is None:
        return before
    has_colon = ":" in found[0] or "\uff1a" in found[0]
    return before[: len(before) - len(found[0])] + (":" if has_colon else " ")


@cache
def _birth_pattern(words: LocaleWords) -> re.Pattern[str]:
    """Pattern of whole words that make a date a birth date; short words stand directly before the date (b., *)."""
    listed = words.numbered("birth words")
    ends = (re.escape(word) + (r"$" if len(word) <= _SHORT_BIRTH_WORD else r"(?![^\W\d_])") for word in listed)
    labels = map(_birth_label, words.numbered("birth labels"))
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join((*ends, *labels))})")


def _birth_label(label: str) -> str:
    """Pattern of the label of a birth date, such as DN, directly before the date; some labels need their colon."""
    letters = label.rstrip(":")
    apart = r"[\s./]{0,2}".join(map(re.escape, letters)) if len(letters) <= _INITIALS else re.escape(letters)
    return apart + (_BEHIND_LABEL if letters == label else r"[\s.]{0,2}:$")
