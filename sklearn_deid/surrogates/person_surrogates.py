"""Surrogates for names of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from ..text import apply_casing, casing_pattern
from .folding import fold
from .keyed_chance import KeyedChance
from .known_names import PLURALS, KnownNames
from .locale_words import WITH_GENITIVE, LocaleWords, draw_other
from .name_parsing import (
    CALLED,
    DIGITS,
    ELIDED,
    GIVEN,
    INITIAL,
    INITIALS,
    KEPT,
    RAISED,
    SURNAME,
    NamePart,
    RoleOf,
    fixed_parts,
    parse_name,
    persons,
    whole_name,
)
from .name_particles import APOSTROPHES
from .own_names import new_word, with_case, with_vowel
from .patient_chance import PatientChance
from .titles import sex_of_title

_LETTERS = "ABCDEFGHIJKLMNOPRSTUVW"
# A tagger that is trained on surrogates must know that names can be words, and that no list has all names.
_WORD_SHARE, _NEW_SHARE = 0.1, 0.25
# Draws until a name is that of no other name of the patient.
_MOST_DRAWS = 21


class PersonSurrogates:
    """Invented names for the people in one patient's notes, in the written form of the names of the notes.

    Each given name and each surname of the patient's notes has one surrogate. Titles, particles, commas, casing, and
    the number and order of the words are kept. In English, a quarter of the surnames are in no list, and a tenth of all
    names are also ordinary words (Day, Long, April). With ``keep_gender``, the surrogate of a given name has the same
    sex. If the locale does not know the name, or both sexes have the name, the sex is drawn at random.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Names of the locale.
    keep_gender : bool
        Whether a surrogate has the sex of the replaced given name.
    avoided : frozenset of str
        Folded words that are not allowed as surrogates.
    """

    def __init__(self, chance: PatientChance, words: LocaleWords, keep_gender: bool, avoided: frozenset[str]) -> None:
        self._chance, self._words, self._keep_gender, self._avoided = chance, words, keep_gender, avoided
        self.known = KnownNames(words)
        # surrogate -> its name or initials, so that two names of a patient do not share a surrogate
        self._owners: dict[tuple[str, str], str] = {}
        self._sexes: dict[str, str] = {}
        self._fixed: dict[str, tuple[NamePart, ...]] = {}
        # Parts of a name, and the roles that words of other names had when it was parsed.
        self._parsed: dict[tuple[str, str], tuple[dict[str, str | None], tuple[NamePart, ...]]] = {}
        # surname -> sexes that titles before it show (Mr. Alder)
        self._titled: dict[str, set[str]] = {}
        # Letters that the language elides, and surnames behind elisions, which begin with a vowel (d'Estaing), with the
        # word before.
        self._elided_letters = [letter for letter in "dl" if letter in words.particles]
        self._behind_elided: dict[str, str] = {}

    def learn(self, texts: list[tuple[str, str]], sexes: Sequence[str | None] = ()) -> None:
        """Learn the names of a note before any of them are replaced.

        Parameters
        ----------
        texts : list of (str, str)
            Text and kind of each name.
        sexes : sequence of str or None, default=()
            Sex of each name, if a title or a relative ("his daughter") before the name shows the sex.
        """
        mentioned = list(dict.fromkeys(zip_longest(texts, sexes)))  # a note repeats its names
        parsed = [(text, kind, self._parse(text, kind)) for (text, kind), _ in mentioned]
        # One after the other: "Rey John" has the roles of "Rey, John", else of a longer or earlier name.
        for text, kind, parts in sorted(parsed, key=lambda one: (not _is_told(one[2]), -len(_names(one[2])))):
            if len(_names(parts)) > 1:
                self.known.learn(_each(self._parse(text, kind)))
        # Parsed again: the longer names may tell the role of a single word.
        alone = [(text, kind, _names(parts)[0].text) for text, kind, parts in parsed if len(_names(parts)) == 1]
        # "The Alders" and "the Joneses" may be in front of "Mr. Alder" and "Mr. Jones".
        alone.sort(key=lambda one: len(one[2]) if one[2].lower().endswith(PLURALS) else 0)
        for is_called in (True, False):  # "his sister Ann" tells the role in "Ann called"
            self.known.learn([self._parse(text, kind) for text, kind, _ in alone if (kind == CALLED) is is_called])
        for text, kind, _ in parsed:
            self._learn_elided(self._parse(text, kind))
        for (text, kind, _), (_, sex) in zip(parsed, mentioned, strict=True):
            self._learn_sex(self._parse(text, kind), sex)

    def _learn_sex(self, parts: tuple[NamePart, ...], before: str | None) -> None:
        """Learn the sex of a name from its titles, or from words before its first person."""
        for i, person in enumerate(persons(parts)):
            # The last title first: "Dott.ssa" begins with a title of men.
            told = (sex_of_title(part.text, self._words) for part in reversed(person) if part.role == KEPT)
            sex = (before if i == 0 else None) or next(filter(None, told), None)
            # Relatives share a surname: it has no sex if there is a given name.
            role = GIVEN if any(part.role == GIVEN for part in person) else SURNAME
            for part in person if sex else ():
                if part.role == role:
                    self._titled.setdefault(self.known.canonical(role, part.text), set()).add(str(sex))

    def _learn_elided(self, parts: tuple[NamePart, ...]) -> None:
        for i, part in enumerate(parts[:-2]):
            # Also behind "Dell'", which is a particle, and behind letters of other languages: D'Angelo in Spanish.
            if part.text.isalpha() and parts[i + 1].text in APOSTROPHES and parts[i + 2].role == SURNAME:
                self._behind_elided[self.known.canonical(SURNAME, parts[i + 2].text)] = fold(part.text)

    def surrogate(self, text: str, kind: str) -> str:
        """Invented name in the form of ``text``."""
        parts = self._parse(text, kind)
        surnames = self._surnames(parts)
        written: list[str] = []
        for person in persons(parts):
            # "Ben and Ann Linden" share a surname, but not a sex.
            sex, own = self._sex(person), self._surnames(person) or surnames
            written += [self._written(part, sex, own) for part in person]
        for i, letter in (self._bare_initials(parts) | self._last_initials(parts)).items():
            written[i] = _like(parts[i].text, letter)
        self._write_short_names(parts, written)
        for i, part in enumerate(parts):
            if part.role == ELIDED:
                # Not as a surname in all cases: the word would have this role from here on.
                name = "".join(self._folded(one) for one in parts[i + 2 : i + 3])
                written[i] = _like(part.text, self._elided(part.text, name))
        return "".join(written)

    def names_in(self, text: str) -> dict[str, str]:
        """Surrogate of each known name in a folded text, such as the names in a mail address."""
        found = {}
        for role in (GIVEN, SURNAME):
            for spelling, canonical in self.known.in_address(role, text):
                found[spelling] = self._name(role, canonical, self._sexes.get(canonical))
                letter = self._behind_elided.get(canonical, "") if role == SURNAME else ""
                if len(letter) == 1 and letter + spelling in text:  # "odonnell" of O'Donnell
                    found[letter + spelling] = self._elided(letter, canonical) + found[spelling]
        return found

    def initial_of(self, letter: str, surname: str) -> str:
        """Surrogate of the initial of a person with a known surname, as in the mail address "jalder"."""
        is_elided = self._behind_elided.get(surname[1:]) == surname[:1]
        return self._initial(letter, (surname[1:] if is_elided else surname,)).lower()

    def _parse(self, text: str, kind: str) -> tuple[NamePart, ...]:
        # A name is parsed before and after the other names of the note are known, and once for each mention.
        if text not in self._fixed:
            self._fixed[text] = fixed_parts(text, self._words)
        roles, parts = self._parsed.get((text, kind), ({}, ()))
        # The parts depend on these roles, and on nothing else that changes.
        if not parts or any(self.known.role_of(word) != role for word, role in roles.items()):
            roles = {}
            parts = parse_name(text, self._words, kind, self._noted(roles), self._fixed[text])
            self._parsed[text, kind] = roles, parts
        return parts

    def _noted(self, roles: dict[str, str | None]) -> RoleOf:
        """Function that returns the role of a word in other names, and writes this role into ``roles``."""

        def role_of(word: str) -> str | None:
            roles[word] = self.known.role_of(word)
            return roles[word]

        return role_of

    def _written(self, part: NamePart, sex: str, surnames: tuple[str, ...]) -> str:
        if part.role in (KEPT, ELIDED):
            return part.text
        if part.role == DIGITS:
            chance = self._chance.of("digits of a name", part.text)
            return "".join(str(chance.number(0, 9)) for _ in part.text)
        if part.role == INITIAL:
            return _like(part.text, self._initial(part.text, surnames))
        if part.role == INITIALS and surnames:  # "JM Linden" is J. M. Linden
            return _like(part.text, "".join(self._initial(letter, surnames) for letter in part.text))
        if part.role == INITIALS:
            return _like(part.text, self._initials(part.text))
        canonical = self.known.canonical(part.role, part.text)
        name = self._name(part.role, canonical, sex)
        if self._words.locale in WITH_GENITIVE and fold(part.text) == f"{canonical}s":
            name += "'" if name[-1] in "sxz\u00df" else "s"
        elif self._words.locale == "en" and fold(part.text) in {canonical + end for end in PLURALS}:
            name += "es" if name.endswith(("s", "x", "z", "ch", "sh")) else "s"
        return apply_casing(name, casing_pattern(part.text))

    def _elided(self, letter: str, name: str) -> str:
        """Letter before an apostrophe; letters that the language elides (d'Estaing) are kept."""
        letters = self._elided_letters or ["d", "o"]
        is_public = fold(letter) in self._elided_letters
        return letter if is_public else self._chance.of("elided letter", name).pick(letters)

    def _folded(self, part: NamePart) -> str:
        return self.known.canonical(part.role, part.text) if part.role in (GIVEN, SURNAME) else fold(part.text)

    def _surnames(self, parts: tuple[NamePart, ...]) -> tuple[str, ...]:
        return tuple(self.known.canonical(SURNAME, part.text) for part in parts if part.role == SURNAME)

    def _sex(self, parts: tuple[NamePart, ...]) -> str:
        """Sex for all given names of a written name: the sex of the first given name whose sex is known."""
        given = [self.known.canonical(GIVEN, part.text) for part in parts if part.role == GIVEN]
        if not given:
            return self._chance.of("sex", "").pick("MF")
        told = next((sex for name in given if (sex := self._words.sex_of(name))), None) or self._titled_sex(parts)
        sex = self._sexes.get(given[0]) or (told if self._keep_gender and told else None)
        sex = sex or self._chance.of("sex", given[0]).pick("MF")
        for name in given:
            self._sexes.setdefault(name, sex)
        return sex

    def _titled_sex(self, parts: tuple[NamePart, ...]) -> str | None:
        """Sex that the titles before these names show, titles of given names first; None if titles show both sexes."""
        for role in (GIVEN, SURNAME):
            names = [self.known.canonical(role, part.text) for part in parts if part.role == role]
            told = {sex for name in names for sex in self._titled.get(name, ())}
            if told:
                return told.pop() if len(told) == 1 else None
        return None

    def _name(self, role: str, canonical: str, sex: str | None) -> str:
        if role == GIVEN:
            # An initial or a mail address in front of the whole name does not show the sex; the name does.
            told = self._words.sex_of(canonical) if self._keep_gender else None
            sex = self._sexes.setdefault(canonical, sex or told or self._chance.of("sex", canonical).pick("MF"))
        items = self._words.surnames if role == SURNAME else self._words.given_names[str(sex)]
        chance: KeyedChance = self._chance.of(role, canonical)
        elided = with_vowel(items) if role == SURNAME and canonical in self._behind_elided else ()

        def draw() -> str:
            return draw_other(chance, elided, self._avoided) if elided else self._drawn(chance, role, sex, items)

        return self._free(role, canonical, draw)

    def _free(self, kind: str, name: str, draw: Callable[[], str]) -> str:
        """Surrogate that no other name, or no other initials, of this kind has."""
        for _ in range(_MOST_DRAWS):
            drawn = draw()
            if self._owners.setdefault((kind, drawn), name) == name:
                break
        return drawn

    def _drawn(self, chance: KeyedChance, role: str, sex: str | None, items: tuple[str, ...]) -> str:
        """Name from the lists, name that is also an ordinary word, or surname that is in no list.

        The probabilities of these kinds do not depend on the original, so the kind of a surrogate reveals nothing.
        """
        block = "surnames" if role == SURNAME else "male names" if sex == "M" else "female names"
        listed = self._words.block(f"{block} that are words")
        words = tuple(name for name in listed if fold(name) not in self._avoided) if self._avoided else listed
        # A locale without such names draws from its lists alone.
        share = chance.uniform() if words else 1.0
        if share < _WORD_SHARE:
            return chance.pick(words)
        if role == SURNAME and share < _WORD_SHARE + _NEW_SHARE:
            return new_word(chance, self._words, self._avoided)
        return draw_other(chance, items, self._avoided)

    def _initial(self, letter: str, surnames: tuple[str, ...]) -> str:
        letter = letter.casefold()
        given = self.known.given_of(letter, *surnames)
        # The first surname alone: "J. Linden" is also "J. Linden-Voss".
        surnames = surnames[:1]
        kind = "\n".join(("initial", *surnames))
        if given is not None:
            drawn = self._name(GIVEN, given, self._sexes.get(given))[0]
            self._owners.setdefault((kind, drawn), letter)
            return drawn
        chance = self._chance.of("initial", letter, *surnames)
        return self._free(kind, letter, lambda: chance.pick(_LETTERS))

    def _initials(self, letters: str) -> str:
        found = self.known.with_initials(letters)
        if found is None:
            chance = self._chance.of("initials", letters.casefold())
            return self._free("initials", letters.casefold(), lambda: "".join(chance.pick(_LETTERS) for _ in letters))
        names, family = found
        return "".join(
            self._initial(name, family) if role == INITIAL else self._name(role, name, self._sexes.get(name))[0]
            for role, name in names
        )

    def _write_short_names(self, parts: tuple[NamePart, ...], written: list[str]) -> None:
        """Replace abbreviations of public names by the letter of the name's surrogate, or by the surrogate for Mª.

        A raised letter is the end of a certain name: after another letter, the raised letter would abbreviate no name.
        """
        texts = [part.text for part in parts]
        for i, part in enumerate(parts):
            if part.role != INITIAL or (short := whole_name(texts, i, self._words)) is None:
                continue
            name = self._name(GIVEN, self.known.canonical(GIVEN, short), self._words.sex_of(short))
            written[i] = _like(texts[i], name[0])
            raised = next((k for k in (i + 1, i + 2) if texts[k : k + 1] and texts[k][0] in RAISED), None)
            if raised is not None and "".join(texts[i + 1 : raised]) in ("", "."):
                written[i : raised + 1] = with_case(name, texts[i]) if len(texts[i]) > 1 else name, *[""] * (raised - i)

    def _bare_initials(self, parts: tuple[NamePart, ...]) -> dict[int, str]:
        """Letters for initials with full stops and without a name (J.Q.A.), by position, as for JQA."""
        places = [i for i, part in enumerate(parts) if part.role == INITIAL]
        if len(places) < 2 or _names(parts) or any(len(parts[i].text) > 1 for i in places):
            return {}
        return dict(zip(places, self._initials("".join(parts[i].text for i in places)), strict=True))

    def _last_initials(self, parts: tuple[NamePart, ...]) -> dict[int, str]:
        """Letters for the initials of surnames behind a given name (John A.), by position."""
        given = [self.known.canonical(GIVEN, part.text) for part in parts if part.role == GIVEN]
        initials = [i for i, part in enumerate(parts) if part.role == INITIAL]
        if not given or len(initials) != 1 or self._surnames(parts):
            return {}
        surname = self.known.surname_of(given[0], parts[initials[0]].text)
        return {} if surname is None else {initials[0]: self._name(SURNAME, surname, None)[0]}


def _each(parts: tuple[NamePart, ...]) -> list[tuple[NamePart, ...]]:
    """Each person of a name; Ben in "Ben and Ann Linden" has the surname of the next person."""
    found: list[tuple[NamePart, ...]] = []
    family: list[NamePart] = []
    for person in reversed(persons(parts)):
        own = [part for part in person if part.role == SURNAME]
        found.append(person if own else (*person, *family))
        family = own or family
    return found[::-1]


def _names(parts: tuple[NamePart, ...]) -> list[NamePart]:
    return [part for part in parts if part.role in (GIVEN, SURNAME)]


def _is_told(parts: tuple[NamePart, ...]) -> bool:
    """Whether a comma, or a caret of HL7, between a surname and a given name shows their roles."""
    signs = (i for i, part in enumerate(parts) if part.role == KEPT and ("," in part.text or "^" in part.text))
    at = next(signs, len(parts))
    return any(part.role == SURNAME for part in parts[:at]) and any(part.role == GIVEN for part in parts[at:])


def _like(text: str, letters: str) -> str:
    return letters.lower() if text.islower() else letters.upper()
