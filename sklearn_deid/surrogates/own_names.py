"""Invented names of streets and institutions, with the same number of words as the originals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from .folding import fold
from .keyed_chance import KeyedChance
from .locale_words import LOCALES, LocaleWords, draw_other, legal_forms, locale_words
from .number_surrogates import SHORT, random_of_form
from .patient_chance import PatientChance

STREET, INSTITUTION, FIRM = "street name", "own name of institution", "own name of firm"
# The letter of names such as O'Hara and D'Amico, and of l'Estrange.
ELIDED = re.compile(r"(?<![^\W_])[^\W\d_](?=['\u2019][^\W\d_]{2})")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_APART = re.compile(r"[^\W\d_]+|[\W\d_]+")
# Letters of a long abbreviation, however many the original has.
_ABBREVIATION = 4
_ELIDED_WORDS = frozenset(("d", "l", "dell", "dall", "all", "sant"))
_VOWELS = "aeiou"
_DE_BEFORE_VOWEL = re.compile(r"\bde (?=[AEIOU\u00c2\u00c9\u00c8\u00ca\u00ce\u00d4])")
_WHOLE_OF_ELIDED = {"fr": "de", "it": "di"}
_ELIDED_BEFORE_CONSONANT = re.compile(r"\b([dD])['\u2019](?=[b-df-gj-np-tv-xzB-DF-GJ-NP-TV-XZ])")
_LISTED_SHARE = 0.6
_ENOUGH_NOUNS = 5
# Most pairs of halves cannot be pronounced, such as "Colrns", the start of Collins and the end of Burns. In Norwegian,
# the rarest case, one pair of seven can.
_WORD_DRAWS = 40
# Shares among the names of hospitals: towns, and names of people. The other names are neither.
_TOWN_SHARE, _PEOPLE_SHARE = 0.4, 0.3
# Shares among the names of firms: names like those of hospitals; and behind "de" and "of", fields of medicine.
_USUAL_SHARE, _FIELD_SHARE = 0.25, 0.4
# Shares among the words of firms: towns at the start of longer names, words of trade behind it, and new words among the
# others.
_TOWN_IN_FRONT, _TRADE_SHARE, _NEW_SHARE = 0.3, 0.5, 0.6


class OwnNames:
    """Names that streets and institutions of one patient have: listed names, towns, names of people, and new words.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Names of the locale.
    avoided : frozenset of str
        Folded words that are not allowed as names.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> names = OwnNames(PatientChance(bytes(32), "p1"), locale_words("es"), frozenset())
    >>> [len(names.drawn(STREET, "zyx" * n, n).split()) for n in (1, 2, 3)]
    [1, 2, 3]
    """

    def __init__(self, chance: PatientChance, words: LocaleWords, avoided: frozenset[str]) -> None:
        self._chance, self._words, self._avoided = chance, words, avoided
        self._connectors = connectors(words)

    def is_connector(self, word: str) -> bool:
        """Whether a word is a public word between names, such as "de" and "of"."""
        return word.islower() and fold(word) in self._connectors and self._words.has_listed_accents(word)

    def is_particle(self, word: str) -> bool:
        """Whether a word is a particle such as "De" or "LA", which is not a connector if it is the last word."""
        return len(word) > 1 and fold(word) in self._words.particles and self._words.has_listed_accents(word)

    def with_elided(self, text: str) -> str:
        """Text with other letters before apostrophes; letters that the language elides are kept."""

        def other(letter: re.Match[str]) -> str:
            name = _WORD.findall(letter.string, letter.end())[0]
            drawn = self._chance.again("elided letter", fold(name)).pick(letters)
            is_public = self.is_connector(letter[0].lower() if text.isupper() else letter[0])
            return letter[0] if is_public else drawn.upper() if letter[0].isupper() else drawn

        letters = [letter for letter in "dl" if self.is_connector(letter)] or ["d", "o"]
        return ELIDED.sub(other, text)

    def with_de_elided(self, text: str) -> str:
        """Text with d' for a French "de" before a vowel (CHU d'Amiens), and "de" or "di" for d' before a consonant.

        In languages other than French and Italian, the text is unchanged.
        """
        if (whole := _WHOLE_OF_ELIDED.get(self._words.locale)) is None:
            return text
        text = _ELIDED_BEFORE_CONSONANT.sub(lambda found: with_case(whole, found[1] * 2) + " ", text)
        return _DE_BEFORE_VOWEL.sub("d'", text)

    def drawn(self, kind: str, own: str, n_words: int, before: str = "") -> str:
        """Name of ``n_words`` words for a name of a street or institution; equal names have equal draws.

        After an article, the first word is a noun that fits the article: de la Paz, del Sol, and not de la Goya. After
        "de" alone, only nouns without an article are drawn.
        """
        chance = self._chance.again(INSTITUTION if kind == FIRM else kind, fold(own))
        if self._elides(before):
            first, *behind = [draw_other(chance, self._words.surnames, self._avoided) for _ in range(n_words)]
            first = draw_other(chance, with_vowel(self._words.surnames), self._avoided)
            return " ".join((first, *behind))
        if nouns := self._behind_article(fold(before)):
            behind = [draw_other(chance, self._words.surnames, self._avoided) for _ in range(n_words - 1)]
            return " ".join((draw_other(chance, nouns, self._avoided), *behind))
        if kind == FIRM and (firm := self._firm(own, n_words, self.is_connector(before))):
            return firm
        listed = self._left(_listed_names(self._words, kind).get(n_words, []))
        if fold(before) == "de":
            with_article = {noun for nouns in _nouns(self._words).values() for noun in nouns}
            listed = [name for name in listed if name not in with_article]
        share = chance.uniform()
        if listed and share < (_LISTED_SHARE if kind == STREET else _TOWN_SHARE):
            return draw_other(chance, listed, self._avoided)
        if kind != STREET and share > _TOWN_SHARE + _PEOPLE_SHARE:
            return " ".join(new_word(chance, self._words, self._avoided) for _ in range(n_words))
        given = draw_other(chance, self._words.given_names[chance.pick("MF")], self._avoided)
        surnames = [draw_other(chance, self._words.surnames, self._avoided) for _ in range(n_words)]
        return " ".join([given, *surnames[1:]] if n_words > 1 else surnames)

    def of_form(self, text: str, chance: KeyedChance) -> str:
        """Random characters of the same form; a new word if `written_form` does not contain the length of the word."""

        def other(part: str) -> str:
            if len(part) <= SHORT or not part[0].isalpha():
                return random_of_form(part, chance)
            new = new_word(chance, self._words, self._avoided)
            return with_case(new[:_ABBREVIATION] if text[-1] == "." else new, part)

        return "".join(map(other, _LETTERS_APART.findall(text)))

    def _firm(self, own: str, n_words: int, is_behind_de: bool) -> str:
        """Name of a firm or, after "de" and "of", a field of medicine; empty for a name like the names of hospitals."""
        chance = self._chance.again(FIRM, fold(own))
        if not is_behind_de:
            return "" if chance.happens(_USUAL_SHARE) else " ".join(self._firm_words(chance, n_words))
        # Fields of several words are few: the number of words would nearly reveal the name.
        fields = self._left([name for name in self._words.block("departments") if " " not in name])
        is_field = n_words == 1 and chance.happens(_FIELD_SHARE) and bool(fields)
        return draw_other(chance, fields, self._avoided) if is_field else ""

    def _firm_words(self, chance: KeyedChance, n_words: int) -> Iterator[str]:
        """New words and names of any language; longer names begin with a town and contain words such as Software."""
        for i in range(n_words):
            language = locale_words(chance.pick(tuple(LOCALES)))
            if n_words > 1 and chance.happens(_TRADE_SHARE if i else _TOWN_IN_FRONT):
                towns = _listed_names(self._words, INSTITUTION)[1]
                yield draw_other(chance, self._words.trades if i else towns, self._avoided)
            elif chance.happens(_NEW_SHARE):
                yield new_word(chance, language, self._avoided)
            else:
                yield draw_other(chance, language.surnames, self._avoided)

    def _elides(self, before: str) -> bool:
        """Whether a vowel must follow the word before the apostrophe (dell'Olmo, Sant'Anna, l'Orme)."""
        return fold(before) in _ELIDED_WORDS & self._words.particles

    def _behind_article(self, article: str) -> list[str]:
        """Nouns that follow this article in the listed names of streets; empty for other words."""
        nouns = self._left(_nouns(self._words).get(article, []))
        return nouns if len(nouns) >= _ENOUGH_NOUNS else []

    def _left(self, names: list[str]) -> list[str]:
        """Names that are not avoided; in short lists, none may be left."""
        return [name for name in names if fold(name) not in self._avoided] if self._avoided else names


def without_legal_form(text: str) -> tuple[str, str]:
    """Name of a firm without the legal forms at its end, and the legal forms with the signs before them.

    Examples
    --------
    >>> without_legal_form("Alder GmbH & Co. KG"), without_legal_form("S.A."), without_legal_form("Alder, SA")
    (('Alder', ' GmbH & Co. KG'), ('S.A.', ''), ('Alder', ', SA'))
    """
    found = _legal_end().search(text)
    return (text, "") if found is None else (text[: found.start()], found[0])


def with_case(name: str, text: str) -> str:
    """Name in capitals or in lower case if the text is written in capitals or in lower case; otherwise unchanged."""
    if text.isupper() and len(text) > 1:
        return name.upper()
    return name.lower() if text.islower() else name


def with_vowel(names: Iterable[str]) -> list[str]:
    """Names that begin with a vowel.

    Examples
    --------
    >>> with_vowel(["Alder", "\u00c9lise", "Birch"])
    ['Alder', '\u00c9lise']
    """
    return [name for name in names if fold(name)[0] in _VOWELS]


# Of public words, so that the caches hold no word of a note.
@cache
def _legal_end() -> re.Pattern[str]:
    forms = "|".join(map(_spelled, sorted(legal_forms(), key=len, reverse=True)))
    return re.compile(rf"(?<=[^\W_])(?:,? (?:{forms})\.?)+$")


def _spelled(form: str) -> str:
    """Pattern of a legal form with or without full stops; forms of two letters match only in the casing of the list."""
    letters = (
        form if form.isalpha() and form.isupper() else form.replace(".", " ").split() if " " not in form else [form]
    )
    pattern = r"(?:\.\ ?)?".join(map(re.escape, letters))
    return f"(?i:{pattern})" if sum(map(str.isalpha, form)) > 2 else pattern


@cache
def connectors(words: LocaleWords) -> frozenset[str]:
    """Folded public words between names, such as "de" and "of"."""
    return frozenset(map(fold, words.block("function words"))) | words.particles


def _is_connector(word: str, words: LocaleWords) -> bool:
    return word.islower() and fold(word) in connectors(words)


@cache
def _nouns(words: LocaleWords) -> dict[str, list[str]]:
    """Nouns of the listed names of streets by their article."""
    by_article: dict[str, list[str]] = {}
    for name in words.block("street names"):
        *links, noun = name.split()
        if links and all(_is_connector(link, words) for link in links) and fold(links[-1]) != "de":
            by_article.setdefault(fold(links[-1]), []).append(noun)
    return by_article


@cache
def _listed_names(words: LocaleWords, kind: str) -> dict[int, list[str]]:
    """Listed names by their number of words, without connectors at the start."""
    names = words.block("street names") if kind == STREET else [town.name for town in words.towns]
    by_length: dict[int, list[str]] = {}
    for name in names:
        parts = name.split()
        while len(parts) > 1 and _is_connector(parts[0], words):
            parts = parts[1:]
        if not any(_is_connector(part, words) for part in parts):
            by_length.setdefault(len(parts), []).append(" ".join(parts))
    return by_length


def new_word(chance: KeyedChance, words: LocaleWords, avoided: frozenset[str]) -> str:
    """Word that sounds like the language: the start of a surname and the end of another surname."""
    for _ in range(_WORD_DRAWS):
        start, end = (chance.pick(words.surnames) for _ in range(2))
        word = start[: max(2, len(start) // 2)] + end[len(end) // 2 :].lower()
        if fold(word) not in avoided and not words.is_name(word) and _threes(word) <= _listed_threes(words):
            return word
    return draw_other(chance, words.surnames, avoided)


def _threes(name: str) -> frozenset[str]:
    """All sequences of three letters; a blank is added at the start and at the end."""
    whole = f" {name.lower()} "
    return frozenset(whole[i : i + 3] for i in range(len(name)))


@cache
def _listed_threes(words: LocaleWords) -> frozenset[str]:
    # Given names, too: some locales list 100 surnames, which have few of the letters that can follow each other.
    return frozenset().union(*map(_threes, (*words.surnames, *chain(*words.given_names.values()))))
