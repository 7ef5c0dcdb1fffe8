"""Random draws of one text: names of people, days, and whether names keep their accents."""

from __future__ import annotations

from datetime import date, timedelta
from unicodedata import normalize

from sklearn_deid.surrogates import Chance
from sklearn_deid.surrogates.names import given_name, surname

from .names import given_names, invented_name, is_held_out, names, new_name, origins, without_accents, word_names
from .open_words import english_words

_FIRST_DAY = date(1990, 1, 1)
# Origins whose names an earlier model missed most often are drawn more often than the others.
_OFTEN = ("vietnamese", "vietnamese", "french", "german_dutch", "hebrew")
_PARTICLES = "van |van der |de |von |O'|Mc|Mac|de la |El |bin |St. |Le |Di |da ".split("|")


class Scene:
    """Random draws of one text, with the origins of the names of its people."""

    #: Probability that a word of medicine of a held-out text is held out as well.
    new_words = 0.5
    #: Probability that a place, a company or a date has a form that the texts of the first stages lack.
    new_forms = 0.0

    def __init__(
        self, chance: Chance, *, held_out: bool = False, origin: str | None = None, gender: str | None = None
    ) -> None:
        self.chance, self.held_out, self.origin, self.gender = chance, held_out, origin, gender
        self.accents = chance.happens(0.5)

    def name(self, part: int) -> str:
        """First (0) or family (1) name of a list, or a new one made of two of them."""
        chance = self.chance
        listed = self.origin is None and not self.held_out
        if listed and chance.happens(0.1):
            # Short ones are the hardest to tell from words, so that there are more of them.
            return invented_name(chance, 1 if chance.happens(0.25) else 3)
        if listed and chance.happens(0.07):
            return _word_as_name(chance)
        if listed and chance.happens(0.12):
            return given_name(chance, chance.pick("MF")) if part == 0 else surname(chance)
        origin = self.origin or ("english" if chance.happens(0.2) else chance.pick((*origins(), *_OFTEN)))
        parts = names(origin, self.held_out)[part] if part or self.gender is None else given_names(self.gender)
        word = new_name(chance, parts) if not self.held_out and chance.happens(0.25) else chance.pick(parts)
        if not self.held_out and chance.happens(0.05):
            word = f"{word}{chance.pick('- ')}{chance.pick(parts)}" if part else f"{word}-{chance.pick(parts)}"
        if part == 1 and not self.held_out and chance.happens(0.03):
            word = chance.pick(_PARTICLES) + word
        return normalize("NFC", word) if self.accents else without_accents(word) or word

    def day(self) -> date:
        """A day of the last decades."""
        return _FIRST_DAY + timedelta(days=self.chance.number(0, 13_500))


def _word_as_name(chance: Chance) -> str:
    """A name that is a word elsewhere: a well-known one, or any noun or adjective."""
    if chance.happens(0.75):
        return chance.pick(word_names())
    word = chance.pick(english_words(chance.pick(("noun", "noun", "adj"))))
    return word.capitalize() if len(word) < 10 and not is_held_out(word) else chance.pick(word_names())
