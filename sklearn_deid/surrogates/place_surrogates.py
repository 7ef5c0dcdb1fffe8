"""Surrogates for streets, towns, postal codes, regions and countries."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby, pairwise, takewhile
from operator import itemgetter

from .chance import Chance
from .country_surrogates import CountrySurrogates
from .dates import ordinal_ending
from .folding import fold
from .locale_words import LocaleWords
from .number_surrogates import NUMERALS, random_of_form
from .own_names import STREET, OwnNames, with_case
from .patient_chance import PatientChance
from .place_parts import (
    COUNTRY,
    HOSPITAL,
    NUMBERED_TOWN,
    POSTCODE,
    REGION,
    SUFFIXED,
    TOWN,
    Part,
    Rule,
    is_region_code,
    is_whole_address,
    kind_of_place,
    named_part,
    place_parts,
    rewritten_place,
)
from .place_parts import STREET as STREET_PART
from .street_dates import StreetDate
from .street_pieces import (
    COMPASS,
    COMPASS_WORDS,
    before_apostrophe,
    compass_point,
    end_of_name,
    is_before_number,
    is_floor,
    is_ordinal_ending,
    is_word_for_number,
    words_with_dots,
    written_length,
)
from .town_surrogates import TownSurrogates, main_code

_LONGEST_DOOR = 3
_SHORTEST_SURNAME = 3
_SHORTEST_TAIL = 4
# First letters in which a type and its abbreviations agree: str., stra\u00dfe.
_SHORT_TYPE = 3
_PIECES = re.compile(r"\d+|[^\W\d_\u00ba\u00aa]+\.?[\u00ba\u00aa]?|[\W_\u00ba\u00aa]")
# A word that is neither the s of a genitive nor a letter in front of an apostrophe.
_WORD = r"(?!(?<=['\u2019])s\b|[^\W\d_]['\u2019][^\W\d_]{2})[^\W\d_]+"
# An abbreviation, or words with one space between them that are no abbreviations.
_NAME_RUN = re.compile(rf"{_WORD}\.|{_WORD}(?![\w.])(?: {_WORD}(?![\w.]))*|{_WORD}", re.IGNORECASE)
_BEFORE_ELIDED = re.compile(r"(?: [^\W\d_])?['\u2019]")
_CARE_OF = re.compile(r"(.*?)(\bc/o\s+)([^,;\n\d]*[^\s,;\n\d])([\s,;]*)(.*)", re.IGNORECASE | re.DOTALL)


class PlaceSurrogates:
    """Invented addresses for one patient. A town, its postal code and its region fit together.

    Towns are real towns of the locale, or invented towns with postal codes and region of a real town. Streets have
    invented names. A street keeps its type (Calle, Ave, -straße), the number of digits of its numbers, and words such
    as Apt. `CountrySurrogates` writes countries. For 5 % of the patients, the surrogates of the country of the locale
    and its towns are another country and its towns.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Places of the locale.
    avoided : frozenset of str
        Folded words that are not allowed as surrogates.
    hospital : callable, optional
        Surrogate of a hospital that is a part of a place; a town by default.
    """

    def __init__(
        self,
        chance: PatientChance,
        words: LocaleWords,
        avoided: frozenset[str],
        hospital: Callable[[str], str] | None = None,
    ) -> None:
        self._chance, self._words, self._avoided = chance, words, avoided
        self._names = OwnNames(chance, words, avoided)
        self._rules: dict[str, Rule] = {
            TOWN: lambda text, near: self.town(text),
            POSTCODE: self.postcode,
            REGION: self.region,
            COUNTRY: lambda text, near: self._countries.of(text, near),
            STREET_PART: lambda text, near: self._names.with_de_elided(self._street(text)),
            HOSPITAL: lambda text, near: self.town(text) if hospital is None else hospital(text),
        }
        self._towns = TownSurrogates(chance, words, avoided)
        self._countries = CountrySurrogates(chance, words, avoided, self._towns)
        self._parts: dict[tuple[str, str], tuple[Part, ...]] = {}
        # Postal code -> town that is written next to it
        self._beside: dict[str, str] = {}
        self._types = words.bare("street types")
        self._tail = words.bare("street tail words")
        self._dotted, self._letter_types = words_with_dots(words)

    def place(self, text: str, near: str | None = None, label_kind: str = "place") -> str:
        """Surrogate of a place, part by part; region and postal code fit the town of the place or the town ``near``."""
        return rewritten_place(self.parts(text, label_kind), self._rules, near)

    def parts(self, text: str, label_kind: str = "place") -> tuple[Part, ...]:
        """Parts of a place, as of `place_parts`."""
        # A place is read before and after the other places of the note are known, and once for each mention.
        if (text, label_kind) not in self._parts:
            self._parts[text, label_kind] = place_parts(text, self._words, label_kind)
        return self._parts[text, label_kind]

    def learn(self, text: str, near: str | None, label_kind: str, before: str = "") -> None:
        """Learn the town next to a postal code, for places with this code alone, and the word before a country."""
        is_street = label_kind == STREET_PART
        parts = self.parts(text, "place" if is_street else label_kind)
        if is_street and not is_whole_address(parts):
            return
        if parts[:1] == ((text, COUNTRY),):
            self._countries.learn(text, before)
        code, town = named_part(parts, POSTCODE), named_part(parts, TOWN) or near
        if code is not None and town is not None:
            self._beside.setdefault(main_code(code)[1], town)
            self._towns.learn(code, town)

    def town(self, text: str) -> str:
        """Surrogate of a town; the number of a district or of a post office is replaced by another number."""
        numbered = NUMBERED_TOWN.fullmatch(text)
        if numbered is None:
            return with_case(self._towns.of(text).name, text)
        chance = self._chance.again("number of a town", fold(text))
        rest = re.sub(r"\d+", lambda number: random_of_form(number[0], chance), numbered["rest"])
        return with_case(self._towns.of(numbered["town"]).name, numbered["town"]) + rest

    def region(self, text: str, town: str | None = None) -> str:
        """Surrogate of a region: the region of the surrogate of ``town``; without a town, a random region."""
        own = None if town is None else self._towns.of(town).region
        region = own or self._region(text)
        is_short = len(text) <= 2 and text.isupper()
        if is_region_code(text, self._words) and "." in text:
            return "".join(f"{letter}." for letter in _region_code(region))
        if is_short and (codes := self._words.province_codes):
            name = "" if town is None else fold(self._towns.of(town).name)
            alike = [code for province, code in codes.items() if province.startswith(name)]
            code = self._chance.again("region", fold(text)).pick(alike or list(codes.values()))
            return code[: len(text)]
        if is_short:
            return _region_code(region)[: len(text)]
        return with_case(self._words.state_names.get(region, region), text)

    def postcode(self, text: str, town: str | None = None) -> str:
        """Postal code in the form of ``text``, with the first digits of the surrogate of ``town`` or of a region."""
        sign, main, rest = main_code(text)
        chance = self._chance.again("postcode", fold(main))
        # The first digits show the region, and must agree with the town of the surrogate. The others are drawn.
        prefix = self._prefix(text, town or self._beside.get(main), chance)
        digits = [i for i, one in enumerate(main) if one.isdigit()]
        out = list(random_of_form(main, chance))
        # A code without room for the prefix is written in a form of another country.
        if len(digits) >= len(prefix):
            for i, digit in zip(digits, prefix, strict=False):
                out[i] = digit
        if sign:
            sign = f"{self._towns.sign_of(text)}-"
        return sign + "".join(out) + random_of_form(rest, self._chance.again("rest of postcode", fold(main + rest)))

    def _prefix(self, code: str, near: str | None, chance: Chance) -> str:
        towns = self._towns.beside_code(code)
        if near is not None and kind_of_place(near, self._words) != REGION:
            return self._towns.of(near).prefix
        # No region of the lists has towns with codes of another country.
        region = None if near is None else self._region(near)
        return chance.pick([town for town in towns if region in (None, town.region)] or towns).prefix

    def _region(self, text: str) -> str:
        regions = tuple(dict.fromkeys(town.region for town in self._towns.towns))
        return self._chance.again("region", fold(text)).pick(regions)

    def street(self, text: str) -> str:
        """Surrogate of a street, in the form of ``text``, which may be a whole address."""
        parts = self.parts(text)
        return rewritten_place(parts if is_whole_address(parts) else ((text, STREET_PART),), self._rules, None)

    def _street(self, text: str) -> str:
        if (found := _CARE_OF.fullmatch(text)) is not None:
            before, sign, name, signs, behind = found.groups()
            return f"{self._street(before)}{sign}{self._street_name(name)}{signs}{self._street(behind)}"
        pieces = _PIECES.findall(text)
        kept = self._kept(pieces)
        chance = self._chance.again("street", fold(text))
        # The numbers of a house are drawn first: "12 Elm St" and "12 Elm Street, Apt 3" are one house.
        numbers = self._numbers(pieces, kept)
        if self._words.locale in SUFFIXED and (suffixed := self._suffixed(pieces, kept, numbers, chance)) is not None:
            return suffixed
        out: list[str] = []
        is_named = False
        i = 0
        while i < len(pieces):
            single = numbers.get(i) or self._beside_names(pieces, kept, i, out, chance)
            if single is not None:
                out.append(single)
                i += 1
                continue
            stop = end_of_name(pieces, kept, i)
            name = "".join(pieces[i:stop])
            is_door = self._is_door(pieces, i, stop, is_named)
            out.append(random_of_form(name, chance) if is_door else self._street_name(name))
            is_named, i = is_named or not is_door, stop
        return "".join(out)

    def _numbers(self, pieces: list[str], kept: list[bool]) -> dict[int, str]:
        """Surrogates of the numbers of an address, by position, as for the same number and the same street."""
        named_after = StreetDate(pieces, self._words)
        own = self._own_name(pieces, kept) or named_after.name or fold("".join(pieces))
        drawn = named_after.drawn(self._chance)
        for i, piece in enumerate(pieces):
            if piece[0].isdigit() and i not in drawn:
                # Equal numbers of one address have surrogates of their own.
                n_before = str(pieces[:i].count(piece))
                drawn[i] = random_of_form(piece, self._chance.again("number of a street", own, piece, n_before))
        return drawn

    def _own_name(self, pieces: list[str], kept: list[bool]) -> str:
        """First folded word of the name of a street, without its type; empty without a name."""
        words = (i for i, piece in enumerate(pieces) if len(piece) > 1 and piece[0].isalpha() and not kept[i])
        names = (i for i in words if not (self._names.is_connector(pieces[i]) or self._names.is_particle(pieces[i])))
        named = next((pieces[i] for i in names if self._point(pieces, kept, i) is None), None)
        return "" if named is None else self._stem(named)[0]

    def _point(self, pieces: list[str], kept: list[bool], i: int) -> str | None:
        """Letters of a point of the compass before the name of a street or behind its type, as in 12 North Main St."""
        point = compass_point(pieces[i], self._words.locale)
        if point is None or len(pieces[i].rstrip(".")) == len(point):
            # "350 W 3rd Street", "S. Elm St"
            is_told = self._words.locale == "en" or end_of_name(pieces, kept, i) == i + 1
            return point if is_told else None
        behind = next((k for k in range(i + 1, len(pieces)) if pieces[k][0].isalnum()), i)
        is_name = pieces[behind].isdigit() or not kept[behind]  # "350 West 3rd Street"
        is_before_name = behind > i and is_name and "".join(pieces[i + 1 : behind]) == " "
        before = next((piece for piece in reversed(pieces[:i]) if piece[0].isalpha()), "")
        return point if is_before_name or fold(before) in self._types else None

    def _stem(self, piece: str) -> tuple[str, str]:
        """Folded name of a street and its type at the end, in languages that join both; the type is empty elsewhere."""
        stem = fold(piece).rstrip(".")
        suffixes = (s for s in self._types if s.islower() and len(s) > 2 and self._words.locale in SUFFIXED)
        found = [s for s in suffixes if stem.endswith(s) and len(stem) > len(s)]
        suffix = max(found, key=lambda one: (len(one), one), default="")
        return stem.removesuffix(suffix), suffix

    def _beside_names(self, pieces: list[str], kept: list[bool], i: int, out: list[str], chance: Chance) -> str | None:
        """Surrogate of a number, a floor, a point of the compass or a public word; None for a word of the name."""
        piece = pieces[i]
        if is_floor(pieces, i):
            return chance.pick(NUMERALS)
        # "14B Elm Ct", "123-A Elm", "5th Avenue", "5-th Avenue": the letters belong to the number.
        is_behind_number = "".join(pieces[max(i - 2, 0) : i]).removesuffix("-")[-1:].isdigit() and piece.isalpha()
        if is_ordinal_ending(pieces, i):
            return with_case(ordinal_ending(int(out[-1] if out[-1].isdigit() else out[-2])), piece)
        if is_behind_number and len(piece) == 1:
            return random_of_form(piece, chance)
        if kept[i]:
            return piece
        if (point := self._point(pieces, kept, i)) is None:
            return None
        # "N", "N." and "North" are one point, and have one surrogate in all forms of an address.
        chance = self._chance.again("point of the compass", self._own_name(pieces, kept), point)
        other = chance.pick([k for k, letters in enumerate(COMPASS) if len(letters) == len(point)])
        is_word = len(piece.rstrip(".")) > len(point)
        return with_case(COMPASS_WORDS[other], piece) if is_word else COMPASS[other] + piece[len(point) :]

    def _is_door(self, pieces: list[str], start: int, stop: int, is_named: bool) -> bool:
        """Whether words that are in no list are a flat or a door, and no name.

        The first words are the name of the street; later short words are flats and doors. A single letter after a word
        such as "Unit" names a flat as well.
        """
        name = pieces[start:stop]
        if len(name) == 1 == len(name[0]):
            is_behind_tail = start > 1 and pieces[start - 1] == " " and self._is_tail(pieces[start - 2])
            # "12 d rue Fauvel"
            is_behind_number = start > 1 and pieces[start - 1] == " " and pieces[start - 2].isdigit()
            return is_named or is_behind_tail or is_behind_number or is_before_number(pieces, start)
        # "Flat 2, 12 Elm Rd"
        behind = fold("".join(pieces[stop + 1 : stop + 2])).rstrip(".")
        is_typed = self._words.locale == "en" and pieces[stop : stop + 1] == [" "] and behind in self._types
        return is_named and max(map(len, name)) <= _LONGEST_DOOR and not is_typed

    def _kept(self, pieces: list[str]) -> list[bool]:
        """Whether each piece is kept; only punctuation and public words are kept.

        If all words are public, one of these words is read as the name.
        """
        folded = [fold(piece) for piece in pieces]
        kept = [self._is_kept(pieces, folded, i) for i in range(len(pieces))]
        types = [i for i, piece in enumerate(folded) if piece.rstrip(".") in self._types]
        for i in (*self._types_in_names(pieces, types), *self._tails_in_names(pieces)):
            kept[i] = False
        own = [p for p, is_kept in zip(pieces, kept, strict=True) if p[0].isalpha() and len(p) > 1 and not is_kept]
        # "RR 3", "Highway 12": the number is the name.
        is_numbered = self._words.locale == "en" and types[:1] == [0] and "".join(pieces[1:3]).strip().isdigit()
        if types and not is_numbered and all(map(self._names.is_connector, own)):
            kept[types[0 if self._words.locale == "en" else -1]] = False
        for i in StreetDate(pieces, self._words).places:
            kept[i] = True  # a date is no name
        return kept

    def _types_in_names(self, pieces: list[str], types: list[int]) -> list[int]:
        """Words such as Camino that are usually types of streets, but here part of a name: "Calle Juan Camino"."""
        if self._words.locale in SUFFIXED:
            return []
        last = self._words.locale == "en"  # the type is the last word there, and the first one elsewhere
        pairs = [(a, b) for a, b in pairwise(types) if all(p.rstrip(".").isalpha() or p in " -" for p in pieces[a:b])]
        found = [pair[0] if last else pair[1] for pair in pairs]
        # Abbreviations, as in "St. Charles Street", are no surnames.
        return [i for i in found if pieces[i].isalpha() and len(pieces[i]) >= _SHORTEST_SURNAME]

    def _tails_in_names(self, pieces: list[str]) -> list[int]:
        """Words such as Torre that usually are a part of a building, but here of a name: "Calle Juan de la Torre".

        If the type is the first word of a street, such a word follows a word of the name, without a number or a comma
        between the words. In English, a word instead of a number follows such a word ("12 Suite Road", "Box Elder St").
        """
        found = []
        for i, piece in enumerate(pieces):
            # Abbreviations are no names.
            if not (piece[0].isupper() and piece.isalpha() and self._is_tail(piece)):
                continue
            if self._words.locale == "en":
                near = pieces[i + 2] if i + 2 < len(pieces) and pieces[i + 1] == " " else ""
            else:
                signs = takewhile(lambda sign: sign in " -/", reversed(pieces[:i]))
                at = i - 1 - sum(1 for _ in signs)
                near = pieces[at] if 0 <= at < i - 1 and len(piece) >= _SHORTEST_TAIL else ""
            is_letter = len(near) == 1 and self._words.locale == "en"  # "Unit B"
            if near[:1].isalpha() and not is_letter and not self._is_tail(near):
                found.append(i)
        return found

    def _is_tail(self, piece: str) -> bool:
        return fold(piece).rstrip(".") in self._tail

    def _is_kept(self, pieces: list[str], folded: list[str], i: int) -> bool:
        piece = folded[i].rstrip(".")
        if not piece or not piece[0].isalpha() or pieces[i] in "\u00ba\u00aa":
            return True
        if ["s", "/", "n"] in (folded[i : i + 3], folded[max(i - 2, 0) : i + 1]):
            return True
        if any("".join(folded[max(at, 0) : at + 2]) in self._dotted for at in (i - 1, i)):
            return True
        # "R. Augusta", "5, r. du Four"
        is_letter_type = folded[i] in self._letter_types and not any(other[0].isalpha() for other in pieces[:i])
        # "12 N 3rd St", and the block "N 7" of Mannheim
        is_letter = piece == "n" and len(pieces[i]) == 1 and self._words.locale in ("en", *SUFFIXED)
        if is_word_for_number(pieces, i) and not is_letter:
            return True
        is_type = piece in self._types and (len(piece) > 1 or is_letter_type or "".join(pieces[i + 1 : i + 2]) == "/")
        return is_type or piece in self._tail

    def _suffixed(self, pieces: list[str], kept: list[bool], numbers: dict[int, str], chance: Chance) -> str | None:
        """Street whose type is the end of its name (Gartenweg 3); None for streets of another form."""
        for i, piece in enumerate(pieces):
            own, suffix = self._stem(piece)
            if kept[i] or not suffix:
                continue
            # "ß" folds to "ss": the written end is cut by its own length.
            length = written_length(piece, suffix, len(suffix) + piece.endswith("."))
            if length is None:
                continue
            # "Hauptstr." is Hauptstra\u00dfe, and not Hauptweg.
            drawn = self._chance.again("street name", own + suffix[:_SHORT_TYPE])
            name = drawn.pick(self._words.block("street names"))
            behind = range(i + 1, len(pieces))
            rest = [numbers.get(k) or self._behind_name(pieces, kept, k, chance) for k in behind]
            return "".join((with_case(name, piece), piece[-length:], *rest))
        return None

    def _behind_name(self, pieces: list[str], kept: list[bool], i: int, chance: Chance) -> str:
        """Number, flat or public word after the name of a street; any other long word is replaced by another name."""
        piece = pieces[i]
        if kept[i]:
            return piece
        if is_floor(pieces, i):
            return chance.pick(NUMERALS)
        is_name = piece.isalpha() and len(piece) > _LONGEST_DOOR
        return self._street_name(piece) if is_name else random_of_form(piece, chance)

    def _street_name(self, text: str) -> str:
        """Name with the same number of words; public words and punctuation between the words are kept."""
        return _NAME_RUN.sub(self._run, self._names.with_elided(text))

    def _run(self, found: re.Match[str]) -> str:
        """Name for words with single spaces between them; public words and titles stay, abbreviations are letters."""
        run, text = found[0], found.string
        if run[-1] == ".":
            is_title = fold(run).rstrip(".") in self._words.titles
            return run if is_title else self._names.of_form(run, self._chance.again("abbreviation", fold(run)))
        words = run.split(" ")
        public = [self._names.is_connector(word) or self._names.is_particle(word) for word in words[:-1]]
        # "RUE DE L'ORME", "D'Orme"
        is_elided = _BEFORE_ELIDED.match(text, found.end()) is not None and self._names.is_particle(words[-1])
        public.append(is_elided or self._names.is_connector(words[-1]))
        elided = before_apostrophe(text[: found.start()])
        out: list[str] = []
        for is_public, some in groupby(zip(words, public, strict=True), itemgetter(1)):
            own = " ".join(word for word, _ in some)
            before = out[-1].split(" ")[-1] if out else elided
            drawn = own if is_public else self._names.drawn(STREET, own, own.count(" ") + 1, before)
            out.append(with_case(drawn, own))
        return " ".join(out)


def _region_code(region: str) -> str:
    """Two letters for a region: the first letters of its first and last capitalised words, or of its only word."""
    named = [word for word in re.findall(r"[^\W\d_]+", region) if word[0].isupper()] or [region]
    return (named[0][0] + named[-1][0] if len(named) > 1 else region[:2]).upper()
