"""Surrogates for hospitals, wards, institutions and professions."""

from __future__ import annotations

import re
from functools import cache

from .folding import fold
from .keyed_chance import KeyedChance
from .locale_words import LocaleWords, draw_other
from .number_surrogates import random_of_form
from .patient_chance import PatientChance
from .place_surrogates import with_case

_WORDS = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"[A-Z0-9]{2,8}(?:[-/ ]?[A-Z0-9]{1,6})?")
_SAINTS = ("saint", "sankt", "sint", "st", "san", "sao")
_LEAST_HEAD = 3


class InstitutionSurrogates:
    """Invented institutions for one patient.

    A name keeps the public words that tell the kind of institution (Hospital, Clinic, Universidad), as far as the word
    lists know them. Its own part becomes a town or a surname. The same name with and without such words has the same
    own part.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Forms of institutions, wards and professions.
    avoided : frozenset of str
        Folded words that no surrogate may be.
    """

    def __init__(self, chance: PatientChance, words: LocaleWords, avoided: frozenset[str]) -> None:
        self._chance, self._words, self._avoided = chance, words, avoided

    def institution(self, text: str, block: str) -> str:
        """Institution for an institution; ``block`` is ``"hospitals"`` or ``"institutions"``."""
        if _CODE.fullmatch(text) and " " not in text.strip():
            return random_of_form(text, self._chance.again("institution code", text))
        forms = self._words.block(block)
        heads = _all_heads(forms)
        spoken = frozenset(map(fold, _WORDS.findall(text)))
        own = " ".join(word for word in map(fold, _WORDS.findall(text)) if not any(word in head for head in heads))
        scores = [len(head & spoken) for head in heads]
        best = max(scores)
        base = own or fold(text)
        if not best:
            return with_case(self._name(base, ""), text)
        likely = [form for form, score in zip(forms, scores, strict=True) if score == best]
        form = self._chance.again("form of institution", base).pick(likely)
        return with_case(form.format(self._name(base, form)), text)

    def department(self, text: str) -> str:
        """Ward for a ward; a code such as 7B for a code."""
        chance = self._chance.again("department", fold(text))
        if any(map(str.isdigit, text)):
            words = [fold(word) for word in _WORDS.findall(text)]
            is_public = all(word in self._ward_words() for word in words)
            return _digits_only(text, chance) if words and is_public else random_of_form(text, chance)
        return with_case(chance.pick(self._words.block("departments")), text)

    def profession(self, text: str) -> str:
        """Profession for a profession, with as many words if there are such."""
        chance = self._chance.again("profession", fold(text))
        listed = self._words.professions
        alike = [job for job in listed if len(job.split()) == len(text.split())]
        job = draw_other(chance, alike if len(alike) >= 10 else listed, self._avoided)
        return job.upper() if text.isupper() else _lower(job) if text[0].islower() else job

    def _name(self, own: str, form: str) -> str:
        """Own part of a name: a town behind "of", a given name behind "Saint", else a town or a surname."""
        words = self._words
        chance: KeyedChance = self._chance.again("own name of institution", own)
        before = fold(form.partition("{}")[0]).replace(".", " ").replace("-", " ").split()
        if before and before[-1] in _SAINTS:
            return chance.pick(words.given_names["F" if words.locale in ("en", "de") else "M"])
        if before and before[-1] == "virgen":
            return f"de {draw_other(chance, [town.name for town in words.towns], self._avoided)}"
        is_town = chance.happens(0.6)
        if is_town or (before and before[-1] in ("de", "of", "di", "i")):
            return draw_other(chance, [town.name for town in words.towns], self._avoided)
        return draw_other(chance, words.surnames, self._avoided)

    def _ward_words(self) -> frozenset[str]:
        wards = (*self._words.block("departments"), "Ward", "Unit", "Floor", "Station", "Planta", "Zimmer")
        return frozenset(fold(word) for ward in wards for word in _WORDS.findall(ward))


@cache
def _all_heads(forms: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """`_heads` of public forms; no word of a note is kept."""
    return tuple(map(_heads, forms))


def _heads(form: str) -> frozenset[str]:
    """Folded words of a form that tell the kind of institution."""
    own = fold(form.replace("{}", " ")).replace("&", " ")
    return frozenset(
        word for word in _WORDS.findall(own) if len(word) >= _LEAST_HEAD or word in ("ch", "st", "ag", "bv")
    )


def _lower(job: str) -> str:
    """Profession with a small first letter, unless it begins with an abbreviation."""
    return job[0].lower() + job[1:] if job[1:2].islower() else job


def _digits_only(text: str, chance: KeyedChance) -> str:
    return "".join(str(chance.number(1, 9)) if sign.isdigit() else sign for sign in text)
