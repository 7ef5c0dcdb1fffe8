"""Surrogates for countries, which fit the article or the preposition before them."""

from __future__ import annotations

import re

from .chance import Chance
from .folding import fold
from .locale_words import LocaleWords, draw_other
from .own_names import with_case
from .patient_chance import PatientChance
from .town_surrogates import TownSurrogates, alike

_HOME_SHARE = 0.95
_LAST_WORD = re.compile(r"([^\W\d_]+)['\u2019\s]\s*$")


class CountrySurrogates:
    """Countries of one patient: with a probability of 0.95 the patient's country, else another one.

    After a word such as "au", "der" or "nel", only countries are drawn that this word can precede. The first note that
    names a country determines the surrogate of this country in all notes ("du Maroc", "Maroc").

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Countries of the locale.
    avoided : frozenset of str
        Folded words that are not allowed as surrogates.
    towns : TownSurrogates
        Towns of the patient, which determine the patient's country.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> words, chance = locale_words("de"), PatientChance(bytes(32), "p1")
    >>> countries = CountrySurrogates(chance, words, frozenset(), TownSurrogates(chance, words, frozenset()))
    >>> countries.learn("Zyxland", "lebte in der ")
    >>> countries.of("Zyxland")
    'Mongolei'
    """

    def __init__(
        self, chance: PatientChance, words: LocaleWords, avoided: frozenset[str], towns: TownSurrogates
    ) -> None:
        self._chance, self._words, self._avoided, self._towns = chance, words, avoided, towns
        # Classes of the words before each country
        self._classes: dict[str, str] = {}

    def learn(self, text: str, before: str) -> None:
        """Learn from the word before a country which countries fit. The first such word of the notes counts."""
        found = _LAST_WORD.search(before)
        classes = self._words.numbered("articles of countries").get(fold(found[1])) if found else None
        if classes is not None:
            self._classes.setdefault(fold(text), classes)

    def of(self, text: str, town: str | None = None) -> str:
        """Surrogate of a country: the country that the code of ``town`` shows, else usually that of the patient."""
        if (country := self._towns.country_of(town)) is not None:
            return with_case(country, text)
        chance = self._chance.again("country", fold(text))
        if (initials := self._initials(text, chance)) is not None:
            return initials
        fitting = self._fitting(text)
        is_home = chance.happens(_HOME_SHARE)
        if fitting and (not is_home or self._towns.home not in fitting):
            return with_case(draw_other(chance, alike(fitting, len(text.split())), self._avoided), text)
        if is_home:
            return with_case(self._towns.home, text)
        # Countries that notes name often, and any other one. A corpus may name all of the first kind.
        often = tuple(self._words.abroad)
        if self._avoided:
            often = tuple(country for country in often if fold(country) not in self._avoided)
        listed = often if chance.happens(0.5) and often else self._words.countries
        return with_case(draw_other(chance, alike(listed, len(text.split())), self._avoided), text)

    def _fitting(self, text: str) -> tuple[str, ...]:
        """Countries that fit the word before this country in the notes; empty without such a word."""
        # A country that was written without such a word keeps its surrogate in later notes.
        classes = self._classes.setdefault(fold(text), "")
        listed = (entry.partition("=") for entry in self._words.block("countries by article"))
        return tuple(name for name, _, own in listed if own in classes and fold(name) not in self._avoided)

    def _initials(self, text: str, chance: Chance) -> str | None:
        """Initials that replace the initials of a country (US, U.S.A.); None for other forms or without such initials.

        Among initials of equal length, the initials of the locale's country are the first in the list.
        """
        letters = [c for c in text if c.isalpha()]
        alike = [one for one in self._words.block("country initials") if len(one) == len(letters)]
        if not alike or not text.isupper() or not set(text) <= {*letters, "."}:
            return None
        others = [one for one in alike[1:] if fold(one) not in self._avoided] or alike[:1]
        drawn = alike[0] if chance.happens(_HOME_SHARE) else chance.pick(others)
        return "".join(f"{c}." for c in drawn)[: None if text[-1] == "." else -1] if "." in text else drawn
