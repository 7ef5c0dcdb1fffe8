"""Towns of one patient; for each form of postal code, the towns are in one country."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from .chance import Chance
from .folding import fold
from .locale_words import LocaleWords, Town, draw_other
from .patient_chance import PatientChance
from .place_parts import NUMBERED_TOWN

# Share of the patients whose places are those of another country.
_ABROAD_SHARE = 0.05
# Share of the towns that do not exist, in locales for which Faker has parts of such names.
_INVENTED_SHARE = 0.5
_ENOUGH_TOWNS = 5
# More words than a town has: a name with as many words is replaced by any town.
_MOST_WORDS = 8
# Signs in front of postal codes in international mail.
_VEHICLE_SIGNS = {"en": "US", "es": "E", "de": "D", "fr": "F", "nb": "N", "it": "I", "nl": "NL", "pt": "P"}
_SIGNS_OF_NEIGHBORS = {
    **dict.fromkeys(("\u00d6sterreich",), "A"),
    **dict.fromkeys(("Schweiz", "Suisse", "Svizzera"), "CH"),
    **dict.fromkeys(("Belgique", "Belgi\u00eb"), "B"),
}
_MAIN_CODE = re.compile(r"([A-Z]{1,2}-)?(\d{5}(?=\D|\d{4}$|$)|\d{4}(?=\D|$))(.*)", re.DOTALL)


class TownSurrogates:
    """Towns for one patient.

    If postal codes have five digits in the patient's country, towns next to codes of four digits are in a neighbouring
    country.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Towns of the locale.
    avoided : frozenset of str
        Folded words that are not allowed as surrogates.

    Attributes
    ----------
    home : str
        Country of the patient.
    towns : tuple of Town
        Towns of this country.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> towns = TownSurrogates(PatientChance(bytes(32), "p1"), locale_words("de"), frozenset())
    >>> towns.learn("8010", "Zyxburg")
    >>> towns.country_of("Zyxburg") == towns.of("Zyxburg").region != towns.home
    True
    """

    def __init__(self, chance: PatientChance, words: LocaleWords, avoided: frozenset[str]) -> None:
        self._chance, self._words, self._avoided = chance, words, avoided
        # Drawn once for a patient: all addresses with one form of postal code lie in one country.
        self.home, self.towns = self._country_and_towns()
        self._neighbor = self._towns_of_neighbor()
        # Towns that are written beside a code of four digits
        self._with_short_codes: set[str] = set()

    def learn(self, code: str, town: str) -> None:
        """Learn the town next to a postal code."""
        if self._is_short(code):
            self._with_short_codes.add(fold(_without_number(town)))

    def of(self, text: str) -> Town:
        """Surrogate of a town, without the number of a district or of a post office."""
        text = _without_number(text)
        chance = self._chance.again("town", fold(text))
        n_words = len(text.split())
        if fold(text) in self._with_short_codes:
            name = draw_other(chance, alike([town.name for town in self._neighbor], n_words), self._avoided)
            return next(town for town in self._neighbor if town.name == name)
        is_home = self.towns is self._words.towns
        # The tables stay few, whatever a note holds.
        n = min(n_words, _MOST_WORDS)
        names = _names(self._words, n) if is_home else alike([town.name for town in self.towns], n)
        name = draw_other(chance, names, self._avoided)
        # By name, since the draw chose among names: two towns of one name are one surrogate.
        town = _by_name(self._words)[name] if is_home else next(town for town in self.towns if town.name == name)
        # A tagger that is trained on surrogates would learn the listed towns by heart.
        invented = self._invented(chance, n_words) if chance.happens(_INVENTED_SHARE) else None
        return town if invented is None else town._replace(name=invented)

    def beside_code(self, code: str) -> tuple[Town, ...]:
        """Towns that may be next to a postal code of this form."""
        return self._neighbor if self._is_short(code) else self.towns

    def sign_of(self, code: str) -> str:
        """Sign of the country before the surrogate of a postal code."""
        return (
            _SIGNS_OF_NEIGHBORS[self._neighbor[0].region]
            if self._is_short(code)
            else _VEHICLE_SIGNS[self._words.locale]
        )

    def country_of(self, town: str | None) -> str | None:
        """Country of a town, as its postal code shows; None for other towns."""
        is_abroad = town is not None and fold(_without_number(town)) in self._with_short_codes
        return self._neighbor[0].region if is_abroad else None

    def _is_short(self, code: str) -> bool:
        """Whether a postal code has the form of a neighbouring country."""
        sign, main, rest = main_code(code)
        # Dutch codes have four digits, too, often without their letters: "B-9000" is not among them.
        may_be = len(sign) == len("B-") if self._words.locale == "nl" else True
        return bool(self._neighbor) and len(main) == 4 and main.isdecimal() and not rest and may_be

    def _towns_of_neighbor(self) -> tuple[Town, ...]:
        listed = [Town(*entry.split("=")) for entry in self._words.block("towns of short codes")]
        countries = tuple(dict.fromkeys(town.region for town in listed))
        country = self._chance.of("country of short codes").pick(countries) if countries else ""
        towns = [town for town in listed if town.region == country]
        left = tuple(town for town in towns if fold(town.name) not in self._avoided)
        return left if len(left) >= _ENOUGH_TOWNS else ()

    def _invented(self, chance: Chance, n_words: int) -> str | None:
        """Invented name of a town; None if the locale has no parts for a name with as many words."""
        starts, ends = self._words.town_starts, self._words.town_ends
        if self.towns is not self._words.towns or not ends or n_words > 1 + bool(starts):
            return None
        last = chance.pick(self._words.surnames) + chance.pick(ends)
        name = last if n_words == 1 else f"{chance.pick(starts)} {last}"
        is_refused = any(fold(n) in self._avoided or fold(n) in self._words.folded_towns for n in (name, last))
        return None if is_refused else name

    def _country_and_towns(self) -> tuple[str, tuple[Town, ...]]:
        """Country of the patient, and its towns outside of the corpus if there are enough; else the locale's towns."""
        chance = self._chance.of("country of the patient")
        country = chance.pick(tuple(self._words.abroad))
        left = self._words.abroad[country]
        if self._avoided:
            left = tuple(town for town in left if fold(town.name) not in self._avoided)
        is_abroad = chance.happens(_ABROAD_SHARE) and len(left) >= _ENOUGH_TOWNS and fold(country) not in self._avoided
        return (country, left) if is_abroad else (self._words.home_country, self._words.towns)


def _without_number(town: str) -> str:
    """Town without the number of a district or of a post office: Paris 5e."""
    numbered = NUMBERED_TOWN.fullmatch(town)
    return town if numbered is None else numbered["town"]


@cache
def _names(words: LocaleWords, n_words: int) -> tuple[str, ...]:
    """Names of towns to draw from for a name with this number of words."""
    return alike([town.name for town in words.towns], n_words)


@cache
def _by_name(words: LocaleWords) -> dict[str, Town]:
    return {town.name: town for town in reversed(words.towns)}


def main_code(text: str) -> tuple[str, str, str]:
    """Sign of the country, first group of digits, and rest of a postal code; codes of other forms are a single group.

    Examples
    --------
    >>> main_code("CH-8001"), main_code("02115-1234")
    (('CH-', '8001', ''), ('', '02115', '-1234'))
    """
    found = _MAIN_CODE.fullmatch(text)
    return ("", text, "") if found is None else (found[1] or "", found[2], found[3])


def alike(names: Sequence[str], n_words: int) -> tuple[str, ...]:
    """Names with this number of words, if there are enough names to draw from; otherwise all names.

    Examples
    --------
    >>> alike(["Bad Orb", "Ulm"], 2)
    ('Bad Orb', 'Ulm')
    """
    some = tuple(name for name in names if name.count(" ") == n_words - 1)
    return some if len(some) >= _ENOUGH_TOWNS else tuple(names)
