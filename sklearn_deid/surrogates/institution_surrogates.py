"""Surrogates for hospitals, wards, institutions and professions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .folding import fold
from .keyed_chance import KeyedChance
from .locale_words import LocaleWords, draw_other
from .number_surrogates import NUMERALS, ROMAN, random_of_form
from .own_names import ELIDED, FIRM, INSTITUTION, OwnNames, connectors, with_case, with_vowel, without_legal_form
from .patient_chance import PatientChance

_WORDS = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"[A-Z0-9]{2,8}(?:[-/ ]?[A-Z0-9]{1,6})?")
# The genitive of "St. Mary's" is a part by itself: as an own word, its "s" would become the name of a town.
_PARTS = re.compile(r"(?<=[^\W\d_])['\u2019] ?s\b|[^\W_]+\.?|[\W_]", re.IGNORECASE)
_ENGLISH_ARTICLE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)
_SAINTS = ("saint", "sankt", "sint", "st", "san", "sao", "santa", "sant", "sainte")
LONGEST_CODE = 5
# Languages that write a name and a kind of institution as one word, as in Marienkrankenhaus.
_COMPOUNDING, _SHORTEST_HEAD = ("de", "nl", "nb"), 5


class InstitutionSurrogates:
    """Invented institutions for one patient.

    These words of a name are kept: words such as "of", legal forms at the end (GmbH, S.A.) and, if the word lists
    contain them, the public words for the kind of institution (Hospital, Clinic, Universidad). In names of hospitals,
    words of departments and words before the number of a ward are also public. A department without a number is
    replaced by another department. The other words are replaced by towns, names of people or new words, of the same
    number and casing. In institutions that are not hospitals, they are replaced by names of firms and, after words such
    as "of", also by fields of medicine. A town is replaced by the patient's surrogate of this town. If two names differ
    only in public words that are not after "of", their other words have the same surrogate.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Forms of institutions, wards and professions.
    avoided : frozenset of str
        Folded words that are not allowed as surrogates.
    town : callable
        Surrogate of a town.
    keeps_gender : bool, default=True
        Whether a profession in the form for women is replaced by a form for women, if the lists have such a form.
    """

    def __init__(
        self,
        chance: PatientChance,
        words: LocaleWords,
        avoided: frozenset[str],
        town: Callable[[str], str],
        keeps_gender: bool = True,
    ) -> None:
        self._chance, self._words, self._avoided, self._town = chance, words, avoided, town
        self._keeps_gender = keeps_gender
        self._names = OwnNames(chance, words, avoided)
        # Own names of hospitals of the notes. A hospital keeps its name where its label is that of an organization.
        self._of_hospitals: set[str] = set()
        # folded profession -> "a" or "an"
        self._articles: dict[str, str] = {}

    def learn(self, text: str, before: str) -> None:
        """Read, from the text before a profession, the article that the surrogates of this profession must fit."""
        if (found := _ENGLISH_ARTICLE.search(before)) is not None and self._words.locale == "en":
            self._articles.setdefault(fold(text), found[1].lower())

    def institution(self, text: str, is_firm: bool = False) -> str:
        """Surrogate of an institution: of a hospital or, if it is no hospital, possibly of a firm."""
        text, legal_form = without_legal_form(text)
        return self._without_legal_form(text, FIRM if is_firm else INSTITUTION) + legal_form

    def _without_legal_form(self, text: str, kind: str) -> str:
        if kind == INSTITUTION and is_ward(text, self._words):
            return self.department(text)
        if is_code(text):
            return random_of_form(text, self._chance.again("institution code", text))
        wards = self._words.bare("wards") if kind == INSTITUTION else frozenset()
        heads = _public_heads(self._words, kind)
        parts = _PARTS.findall(self._names.with_elided(text))
        # If a longer word is in capitals, a short word in capitals is no code.
        may_be_code = not any(part.isupper() and len(part) > LONGEST_CODE for part in parts)
        kept = [self._is_kept(parts, i, heads) or _is_numbered(parts, i, wards) for i in range(len(parts))]
        if all(kept):
            return self._all_public(text, parts, kind)
        single = [_is_single(part, may_be_code and not text.isupper()) for part in parts]
        out: list[str] = []
        i = 0
        while i < len(parts):
            stop = _end_of_run(kept, single, parts, i)
            if stop == i:
                out.append(parts[i])
                i += 1
                continue
            # "Diakonissenkrankenhaus Berlin": a compound with a public head ends the run.
            stop = next((k + 1 for k in range(i, stop) if self._head_of_compound(parts[k], heads)), stop)
            head = self._head_of_compound(parts[stop - 1], heads)
            run = [*parts[i : stop - 1], parts[stop - 1].removesuffix(head)]
            out.append(self._own_name(run, _word_before(out), may_be_code, kind) + head)
            i = stop
        return self._names.with_de_elided("".join(out))

    def department(self, text: str) -> str:
        """Surrogate of a ward, or of a code such as 7B."""
        chance = self._chance.again("department", fold(text))
        if any(map(str.isdigit, text)):
            words = [fold(word) for word in _WORDS.findall(text) if len(word) > 1]
            is_public = ward_words(self._words) | _heads(self._words, "hospitals") >= set(words)
            return _numbers_only(text, chance) if words and is_public else self._names.of_form(text, chance)
        return with_case(chance.pick(self._words.block("departments")), text)

    def profession(self, text: str) -> str:
        """Surrogate of a profession, with the same number of words if possible."""
        chance = self._chance.again("profession", fold(text))
        listed = self._words.professions_of[
            "F" if self._keeps_gender and self._words.is_female_profession(text) else "M"
        ]
        if self._words.locale == "en":
            # The first note that names a profession determines its surrogate for all notes. Without an article there,
            # the surrogate fits "a", which later notes will use more often than "an".
            has_vowel = self._articles.setdefault(fold(text), "a") == "an"
            listed = tuple(job for job in listed if (job[0].lower() in "aeiou") == has_vowel)
        # With fewer than ten, the number of words would nearly determine the surrogate.
        alike = [job for job in listed if len(job.split()) == len(text.split())]
        job = draw_other(chance, alike if len(alike) >= 10 else listed, self._avoided)
        return job.upper() if text.isupper() else _lower(job) if text[0].islower() else job[0].upper() + job[1:]

    def _is_kept(self, parts: list[str], i: int, heads: frozenset[str]) -> bool:
        """Whether a part is kept: a sign, a public word, or a letter before an apostrophe that is already replaced."""
        is_elided = ELIDED.match("".join(parts[i : i + 3])) is not None
        has_words_behind = parts[i + 1 : i + 2] == [" "] and "".join(parts[i + 2 : i + 3]).isalpha()
        # "LA County Hospital", but HOSPITAL DE LA PAZ
        is_code = parts[i].isupper() and not "".join(parts[i + 2 : i + 3]).isupper()
        is_particle = has_words_behind and not is_code and self._names.is_particle(parts[i])
        return not parts[i][0].isalnum() or is_elided or is_particle or self._is_public(parts[i], heads)

    def _is_public(self, part: str, heads: frozenset[str]) -> bool:
        bare = fold(part).rstrip(".")
        return (
            bool(self._words.uninflected(bare) & heads)
            or self._names.is_connector(part)
            or (part[-1] == "." and bare in self._words.titles)
        )

    def _head_of_compound(self, part: str, heads: frozenset[str]) -> str:
        """Public word at the end of a word: "krankenhaus" of Marienkrankenhaus; empty if there is none."""
        if self._words.locale not in _COMPOUNDING:
            return ""
        tails = (part[start:] for start in range(2, len(part) - _SHORTEST_HEAD + 1))
        return next((tail for tail in tails if fold(tail) in heads), "")

    def _own_name(self, run: list[str], before: str, may_be_code: bool, kind: str) -> str:
        """Name for a run of words: a given name after "Saint", letters for a code, a town, or a name of people."""
        text = "".join(run)
        if text[-1] == ".":
            return self._names.of_form(text, self._chance.again("abbreviation", fold(text)))
        # "ST. MARY'S": a name behind a saint is no code.
        if ROMAN.fullmatch(text) and before:
            return self._chance.again("numeral", text).pick(NUMERALS)
        is_short_code = (
            may_be_code
            and before not in _SAINTS
            and len(run) == 1
            and len(text) <= LONGEST_CODE
            and _CODE.fullmatch(text)
        )
        if is_short_code or len(text) == 1:
            return random_of_form(text, self._chance.again("institution code", text))
        if _has_digit(text):
            return self._names.of_form(text, self._chance.again("institution code", text))
        if fold(text) in self._words.folded_towns:
            return with_case(self._town(text), text)
        chance: KeyedChance = self._chance.again("own name of institution", fold(text))
        if before in _SAINTS and len(run) == 1:
            is_female = before in ("santa", "sainte") or self._words.locale in ("en", "de")
            names = self._words.given_names["F" if is_female else "M"]
            return with_case(draw_other(chance, with_vowel(names) if before == "sant" else names, self._avoided), text)
        if kind == INSTITUTION:
            self._of_hospitals.add(fold(text))
        words = text.split()
        kind = INSTITUTION if fold(text) in self._of_hospitals else kind
        drawn = self._names.drawn(kind, text, len(words), before).split()
        return " ".join(map(with_case, drawn, words))

    def _all_public(self, text: str, parts: list[str], kind: str) -> str:
        """Surrogate of a name that consists of public words: one word that is not a connector is replaced."""
        words = [i for i, part in enumerate(parts) if part[0].isalnum()]
        # Valley Hospital, but Instituto de Medicina Legal
        ordered = words if self._words.locale == "en" else words[::-1]
        i = next((i for i in ordered if not self._names.is_connector(parts[i])), ordered[0])
        drawn = self._names.drawn(kind, text, 1, _word_before(parts[:i]))
        return "".join((*parts[:i], with_case(drawn, parts[i]), *parts[i + 1 :]))


def is_code(text: str) -> bool:
    """Whether a whole name is a code, such as UCLA, and no name in capitals.

    Examples
    --------
    >>> is_code("UCLA"), is_code("AB12-345"), is_code("FLORENCE"), is_code("DANA-FARBER")
    (True, True, False, False)
    """
    is_name = not _has_digit(text) and any(len(word) > LONGEST_CODE for word in _WORDS.findall(text))
    return _CODE.fullmatch(text) is not None and " " not in text.strip() and not is_name


def is_ward(text: str, words: LocaleWords) -> bool:
    """Whether a text without a number consists of public words of departments and wards, such as Intensive Care Unit.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> [is_ward(text, locale_words("en")) for text in ("ICU", "Surgical Ward", "Ward 3", "Alder Ward")]
    [True, True, False, False]
    """
    named = set(map(fold, _WORDS.findall(text)))
    own = named - connectors(words)
    return bool(own) and not _has_digit(text) and own <= ward_words(words)


@cache
def ward_words(words: LocaleWords) -> frozenset[str]:
    """Folded public words of departments, and public words for wards and rooms before numbers."""
    return _heads(words, "departments", "department words", "wards")


@cache
def _heads(words: LocaleWords, *blocks: str) -> frozenset[str]:
    """Folded words of public forms; the set contains no word of a note."""
    forms = (form for block in blocks for form in words.block(block))
    # Not the "s" of Children's: the letter of "Ward S" is replaced.
    return frozenset(fold(word) for form in forms for word in _WORDS.findall(form) if len(word) > 1)


@cache
def _public_heads(words: LocaleWords, kind: str) -> frozenset[str]:
    """Folded public words of names of institutions; those of hospitals also have words of departments."""
    heads = _heads(words, "hospitals", "institutions") | words.bare("institution abbreviations")
    return heads | (ward_words(words) - words.bare("wards")) if kind == INSTITUTION else heads


def _is_numbered(parts: list[str], i: int, wards: frozenset[str]) -> bool:
    """Whether a word for wards precedes a number or a letter. Without them, Ward and Zimmer may be surnames."""
    behind = "".join(parts[i + 2 : i + 3]) if parts[i + 1 : i + 2] == [" "] else ""
    return fold(parts[i]) in wards and (_has_digit(behind) or (len(behind) == 1 and behind.isalpha()))


def _end_of_run(kept: list[bool], single: list[bool], parts: list[str], start: int) -> int:
    """End of the run of words of the name that starts here, with single spaces between the words."""
    if not kept[start] and single[start]:
        return start + 1
    stop = i = start
    while i < len(parts) and ((not kept[i] and not single[i]) or (i > start and parts[i] == " ")):
        if not kept[i]:
            stop = i + 1
        i += 1
    return stop


def _is_single(part: str, may_be_code: bool) -> bool:
    """Whether a word is a run by itself: a number ("Alder Ward 11"), an abbreviation, or a code ("VA Boston")."""
    is_code = may_be_code and part.isupper() and 1 < len(part) <= LONGEST_CODE
    return part[-1] == "." or _has_digit(part) or is_code or ROMAN.fullmatch(part) is not None


def _has_digit(part: str) -> bool:
    return any(map(str.isdigit, part))


def _word_before(out: list[str]) -> str:
    """Last word of the name so far, folded and without a full stop."""
    return next((fold(part).rstrip(".") for part in reversed(out) if part[0].isalnum()), "")


def _lower(job: str) -> str:
    """Profession with a small first letter, unless it begins with an abbreviation."""
    return job[0].lower() + job[1:] if job[1:2].islower() else job


def _numbers_only(text: str, chance: KeyedChance) -> str:
    """Text with other digits and other single letters: Ward 12B."""

    def other(part: str) -> str:
        if len(part) > 1:
            return part
        return str(chance.number(1, 9)) if part.isdigit() else random_of_form(part, chance)

    return "".join(map(other, re.findall(r"[^\W\d_]+|[\W\d_]", text)))
