"""Words of one locale: names, countries and professions of Faker, and the word lists of this package.

`listed_words` has the words of all locales of Faker by kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

from .chance import Chance
from .folding import fold
from .word_list import has_word_list, word_list

#: Locale of Faker for each supported language.
LOCALES = {
    "en": "en_US",
    "es": "es_ES",
    "de": "de_DE",
    "fr": "fr_FR",
    "nb": "no_NO",
    "it": "it_IT",
    "nl": "nl_NL",
    "pt": "pt_PT",
}
# Locales of Faker whose firms have legal forms that the supported locales lack, such as Corporation and AB; and legal
# forms that all of Faker's lists lack.
_OTHER_FIRMS, _OTHER_FORMS = ("en_PH", "da_DK", "sv_SE"), ("Co.", "Corp.", "SE")
#: Languages whose names have a genitive without an apostrophe.
WITH_GENITIVE = ("de", "nb")
_DRAWS = 10
_ONE_WORD = re.compile(r"[^\W\d_]{3,14}")
# Letters that the forms of a word for men and for women share.
_STEM = 4
_SHORT_TITLE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}")

#: Kinds of words of one language, and then of all languages of Faker.
LISTED_KINDS = (
    "given name, female",
    "given name",
    "surname",
    "town",
    "region",
    "profession",
    "given name, any language",
    "surname, any language",
    "place, any language",
)
# Lists in classes of Faker. Names of their attributes differ between languages; formats, prefixes, suffixes and codes
# hold no names.
_LISTS = {
    "given name, female": re.compile(r"first_names_female\w*"),
    "given name": re.compile(r"first_names(?!_female)\w*"),
    "surname": re.compile(r"last_names\w*"),
    "town": re.compile(r"cities|city_names|towns|municipalities|settlements|communes"),
    "region": re.compile(r"states|regions|provinces|departments|counties|cantons|countries|prefectures"),
}
# Blocks with words that stay in names and addresses.
_PUBLIC_BLOCKS = (
    *("particles", "short particles", "function words", "birth words", "married words", "maiden letters"),
    *("titles", "additions to titles", "degrees"),
)
_LISTED_WORD = re.compile(r"[^\W\d_]{3,}")


class Town(NamedTuple):
    """Town with the first digits of its postal codes, and with its region."""

    name: str
    prefix: str
    region: str


class LocaleWords:
    """Words of one locale. Lists are read, and Faker is imported, on first use.

    Parameters
    ----------
    locale : {"en", "es", "de", "fr", "nb", "it", "nl", "pt"}
        Language of the notes.

    Examples
    --------
    >>> words = locale_words("es")
    >>> words.sex_of("María"), "Dra" in words.titles, words.month_number("setiembre")
    ('F', False, 9)
    """

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._blocks: dict[str, tuple[str, ...]] = {}
        self._folded: dict[str, dict[str, str]] = {}
        self._bare: dict[str, frozenset[str]] = {}

    def block(self, name: str) -> tuple[str, ...]:
        """Words of a block in the file of the locale; empty if the file has no such block."""
        if name not in self._blocks:
            self._blocks[name] = word_list(self.locale, name) if has_word_list(self.locale, name) else ()
        return self._blocks[name]

    def numbered(self, name: str) -> dict[str, str]:
        """Entries ``word=value`` of a block, by folded word; the value is empty for entries without a value."""
        if name not in self._folded:
            entries = (entry.partition("=") for entry in self.block(name))
            self._folded[name] = {fold(word): value for word, _, value in entries}
        return self._folded[name]

    def bare(self, name: str) -> frozenset[str]:
        """Folded words of a block that have no full stop at the end."""
        if name not in self._bare:
            self._bare[name] = frozenset(fold(word).rstrip(".") for word in self.block(name))
        return self._bare[name]

    def uninflected(self, word: str) -> frozenset[str]:
        """Folded word and, in German, its form as an adjective of a title (Medizinischen, Medizinische)."""
        is_inflected = self.locale == "de" and len(word) > 5 and word[-2:] in ("en", "er", "es", "em")
        return frozenset((word, word[:-1])) if is_inflected else frozenset((word,))

    # ---- names

    @cached_property
    def given_names(self) -> dict[str, tuple[str, ...]]:
        """Given names for ``"M"`` and ``"F"``, each a single word."""
        person = self._provider("person")
        return {sex: _single(getattr(person, f"first_names_{word}")) for sex, word in (("M", "male"), ("F", "female"))}

    @cached_property
    def surnames(self) -> tuple[str, ...]:
        """Surnames, each a single word."""
        return _single(self._provider("person").last_names)

    @cached_property
    def _sexes(self) -> dict[str, str]:
        female, male = ({fold(name) for name in self.given_names[sex]} for sex in "FM")
        table = {**dict.fromkeys(female - male, "F"), **dict.fromkeys(male - female, "M")}
        if self.locale in ("es", "it", "pt"):
            # Women are called María José, and men José María: the lists of single words have both names twice.
            table |= {name: "F" if name[-1] == "a" else "M" for name in female & male if name[-1] in "aeo"}
        return table

    @cached_property
    def _both_sexes(self) -> frozenset[str]:
        return frozenset(fold(name) for names in self.given_names.values() for name in names)

    @cached_property
    def _folded_surnames(self) -> frozenset[str]:
        return frozenset(map(fold, self.surnames))

    def sex_of(self, name: str) -> str | None:
        """``"M"`` or ``"F"`` for a given name of one sex; None for other words."""
        return self._sexes.get(fold(name))

    def is_given_name(self, word: str) -> bool:
        """Whether the word is a given name and no surname of the locale."""
        folded = fold(word)
        return folded in self._both_sexes and folded not in self._folded_surnames

    def may_be_given_name(self, word: str) -> bool:
        """Whether the word is a given name of the locale."""
        return fold(word) in self._both_sexes

    def is_surname(self, word: str) -> bool:
        """Whether the word is a surname of the locale."""
        return fold(word) in self._folded_surnames

    def without_genitive(self, word: str) -> str:
        """Name without the s of a genitive that the language writes without an apostrophe (Annas, Hansens).

        The s is a genitive if the rest is a name of the locale and the whole word is not a name of any locale: Peters
        and Hans do not change. A name that is in no list does not change, either.
        """
        if self.locale not in WITH_GENITIVE or word[-1:] not in ("s", "S") or not self.is_name(word[:-1]):
            return word
        return word if any(locale_words(locale).is_name(word) for locale in LOCALES) else word[:-1]

    @cached_property
    def abbreviated_names(self) -> dict[str, str]:
        """Given names by their usual abbreviations, folded and without full stops (ma: Mar\u00eda)."""
        return {short.replace(".", ""): name for short, name in self.numbered("abbreviated names").items()}

    def is_name(self, word: str) -> bool:
        """Whether the word is a given name or a surname of the locale."""
        return self.may_be_given_name(word) or self.is_surname(word)

    @cached_property
    def titles(self) -> frozenset[str]:
        """Titles of people, folded and without full stops."""
        return frozenset(fold(title).replace(".", "") for title in self.block("titles"))

    @cached_property
    def particles(self) -> frozenset[str]:
        """Folded nobiliary and family particles."""
        return frozenset(map(fold, self.block("particles")))

    def has_listed_accents(self, word: str) -> bool:
        """Whether a word has no accents, or those of a public word: N\u00e9e, but not L\u00ea, which is a name."""
        return word.isascii() or not any(map(str.isalpha, word)) or word.casefold() in self._with_accents

    @cached_property
    def _with_accents(self) -> frozenset[str]:
        entries = (entry.casefold() for name in _PUBLIC_BLOCKS for entry in self.block(name))
        words = (word for entry in entries for word in re.findall(r"[^\W\d_]+", entry))
        return frozenset(word for word in words if not word.isascii()) | {"n\u00e9e", "n\u00e9"}

    @cached_property
    def maiden_words(self) -> frozenset[str]:
        """Folded words before a name at birth (née, geb.)."""
        entries = map(fold, self.block("birth words"))
        words = frozenset(word for entry in entries for word in re.findall(r"[^\W\d_]{2,}", entry)) - self.particles
        return words | {"nee"}  # also in other languages than French; as a birth word, it would be found in "knee"

    @cached_property
    def name_links(self) -> frozenset[str]:
        """Folded public words that stay between names if they are in lower case (and, née)."""
        words = self.bare("function words") | self.bare("married words")
        return frozenset(word for word in words if len(word) > 1) | self.maiden_words

    # ---- places and professions

    @cached_property
    def towns(self) -> tuple[Town, ...]:
        """Towns with postal codes and regions."""
        return tuple(Town(*entry.split("=")) for entry in self.block("towns"))

    @cached_property
    def abroad(self) -> dict[str, tuple[Town, ...]]:
        """Towns of other countries by country.

        The first town of a country is the region of all its towns abroad, and their postal codes are random.
        """
        named: dict[str, list[str]] = {}
        for name, _, country in (entry.partition("=") for entry in self.block("abroad")):
            named.setdefault(country, []).append(name)
        return {country: tuple(Town(name, "", names[0]) for name in names) for country, names in named.items()}

    @cached_property
    def town_starts(self) -> tuple[str, ...]:
        """Words before invented names of towns (North, New); empty without `town_ends`."""
        starts = getattr(self._provider("address"), "city_prefixes", None) or ()
        return tuple(sorted(set(starts))) if self.town_ends else ()

    @cached_property
    def town_ends(self) -> tuple[str, ...]:
        """Ends of invented one-word names of towns (ville, port); empty in locales where Faker has real towns."""
        address = self._provider("address")
        is_joined = any("}}{{city_suffix}}" in form for form in getattr(address, "city_formats", ()))
        ends = (getattr(address, "city_suffixes", None) or ()) if is_joined else ()
        return tuple(sorted({end for end in ends if end.isalpha() and end.islower()}))

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """Regions of the towns; for English, the abbreviations of the states."""
        return tuple(dict.fromkeys(town.region for town in self.towns))

    @cached_property
    def state_names(self) -> dict[str, str]:
        """Name of each state of the United States by its abbreviation; empty for other locales."""
        if self.locale != "en":
            return {}
        return {short: name for name, _, short in (entry.partition("=") for entry in word_list("places", "states"))}

    @cached_property
    def province_codes(self) -> dict[str, str]:
        """Two letters of each Italian province by its folded name; empty for other locales."""
        if self.locale != "it":
            return {}
        address = self._provider("address")
        return dict(zip(map(fold, address.states), address.states_abbr, strict=True))

    @cached_property
    def region_names(self) -> frozenset[str]:
        """Folded names and abbreviations of regions, to recognise them."""
        address = self._provider("address")
        of_faker = (*getattr(address, "states", ()), *getattr(address, "regions", ()))
        # Each French department with its number
        departments = [name for _, name in getattr(address, "departments", ())] if self.locale == "fr" else []
        given = [*(name for name in of_faker if isinstance(name, str)), *departments]
        return frozenset(map(fold, (*given, *self.regions, *self.state_names.values(), *self.block("other regions"))))

    @cached_property
    def countries(self) -> tuple[str, ...]:
        """Countries in the language of the locale."""
        return self.block("countries") or tuple(self._provider("address").countries)

    @cached_property
    def folded_countries(self) -> frozenset[str]:
        """Folded countries, to recognise them."""
        return frozenset(map(fold, (*self.countries, self.home_country)))

    @cached_property
    def folded_towns(self) -> frozenset[str]:
        """Folded towns, to recognise them."""
        return frozenset(fold(town.name) for town in self.towns)

    @cached_property
    def home_country(self) -> str:
        """Country of the locale in its language."""
        return _HOME[self.locale]

    @cached_property
    def professions(self) -> tuple[str, ...]:
        """Professions of at most three words in the language of the locale, for `listed_words`."""
        if own := self.block("professions"):
            return own
        return _short_titles(self._provider("job").jobs)

    @cached_property
    def professions_of(self) -> dict[str, tuple[str, ...]]:
        """Professions of men and women (``"M"``, ``"F"``) as notes write them: clinical psychologist."""
        if own := self.block("professions"):
            return {"M": own, "F": own}
        job = self._provider("job")
        male, female = tuple(job.jobs), tuple(getattr(job, "jobs_female", job.jobs))
        if self.locale == "de":
            # A word with a single form names no person ("Gerberei").
            more = import_module("faker.providers.job.de_AT").Provider
            pairs = [(m, f) for m, f in zip(more.jobs_male, more.jobs_female, strict=True) if m != f]
            male, female = (*male, *(m for m, _ in pairs)), tuple(f for _, f in pairs)
        return {sex: self._as_written(jobs) for sex, jobs in (("M", male), ("F", female))}

    def is_female_profession(self, text: str) -> bool:
        """Whether a profession is listed only in the form for women; in German, also by its end (Lehrerin)."""
        is_told = self.locale == "de" and re.fullmatch(r"\w*(?:in|frau)", fold(text)) is not None
        return is_told or fold(text) in self._female_professions

    @cached_property
    def _female_professions(self) -> frozenset[str]:
        male, female = (frozenset(map(fold, self.professions_of[sex])) for sex in "MF")
        return female - male

    def _as_written(self, jobs: Iterable[str]) -> tuple[str, ...]:
        """Short titles from a catalogue, without parentheses, alternatives and inversions."""
        without = (re.sub(r"\s*\([^)]*\)?", "", job) for job in jobs)
        # "film/video editor" is two professions.
        single = (" ".join(words) for job in without for words in product(*(word.split("/") for word in job.split())))
        return _short_titles(title for job in single for title in self._titles(job))

    def _titles(self, job: str) -> Iterator[str]:
        title, _, kind = job.partition(", ")
        words = title.split()
        # French lists have both genders, one after the other: "assistant maternel maternelle".
        stems = [word[:_STEM] if self.locale == "fr" else i for i, word in enumerate(words)]
        yield " ".join(word for i, word in enumerate(words) if i == 0 or stems[i] != stems[i - 1])
        if kind and self.locale == "en":
            yield f"{kind} {title[0].lower()}{title[1:]}"

    @cached_property
    def trades(self) -> tuple[str, ...]:
        """Words of firms, each a single word (Software, Network; in Spanish, also Industrias)."""
        company = self._provider("company")
        # The words of catch phrases are English in all locales, like the names of many firms.
        nouns = import_module("faker.providers.company").Provider.catch_phrase_words[-1]
        return _single(word.capitalize() for word in (*getattr(company, "company_types", ()), *nouns))

    # ---- calendar

    def month_number(self, word: str) -> int | None:
        """Number of a month from its name or an abbreviation of at least three letters; None for other words."""
        folded = fold(word).rstrip(".")
        if len(folded) < 3:
            return None
        return self._months.get(folded)

    @cached_property
    def _months(self) -> dict[str, int]:
        table: dict[str, int] = {}
        names = [fold(name) for name in self.block("months")]
        for number, name in enumerate(names, 1):
            for length in range(3, len(name) + 1):
                if sum(other.startswith(name[:length]) for other in names) == 1:
                    table[name[:length]] = number
        for number, name in enumerate(self.block("month abbreviations"), 1):
            table[fold(name)] = number
        return table | {name: int(number) for name, number in self.numbered("other months").items()}

    def _provider(self, kind: str) -> Any:
        # Faker's classes hold its lists; a Faker object would draw from the lists with a generator of its own.
        locale = LOCALES[self.locale]
        return import_module(f"faker.providers.{kind}.{locale}").Provider


_HOME = {
    "en": "United States",
    "es": "España",
    "de": "Deutschland",
    "fr": "France",
    "nb": "Norge",
    "it": "Italia",
    "nl": "Nederland",
    "pt": "Portugal",
}


@cache
def locale_words(locale: str) -> LocaleWords:
    """Words of a locale; the same object at each call.

    Raises
    ------
    ValueError
        If the locale is not supported.
    """
    if locale not in LOCALES:
        raise ValueError(f"The 'locale' parameter must be one of {sorted(LOCALES)} or 'auto'. Got {locale!r} instead.")
    return LocaleWords(locale)


@cache
def legal_forms() -> frozenset[str]:
    """Legal forms of firms in all languages, and words in their place (GmbH & Co. KG, S.A., and Sons).

    Examples
    --------
    >>> {"GmbH", "S.L.", "Ltd", "Corporation"} <= legal_forms()
    True
    """
    codes = (*LOCALES.values(), *_OTHER_FIRMS)
    providers = (import_module(f"faker.providers.company.{code}").Provider for code in codes)
    return frozenset(_OTHER_FORMS).union(*(provider.company_suffixes for provider in providers))


def draw_other(chance: Chance, items: Iterable[str], avoided: frozenset[str]) -> str:
    """Draw an item that is not among the avoided items (folded).

    Raises
    ------
    ValueError
        If all items are avoided.
    """
    listed = tuple(items)
    for _ in range(_DRAWS):
        if fold(drawn := chance.pick(listed)) not in avoided:
            return drawn
    left = [item for item in listed if fold(item) not in avoided]
    if not left:
        raise ValueError(f"The 'avoid' parameter must leave some of {len(listed)} names or places of the locale.")
    return chance.pick(left)


def _short_titles(jobs: Iterable[str]) -> tuple[str, ...]:
    return tuple(job for job in dict.fromkeys(jobs) if _SHORT_TITLE.fullmatch(job) and len(job) < 30)


def _single(names: Iterable[str]) -> tuple[str, ...]:
    # Sorted: some lists in Faker have the order of a set.
    return tuple(sorted({name for name in names if _ONE_WORD.fullmatch(name)}))


@cache
def listed_words(locale: str) -> dict[str, frozenset[str]]:
    """Folded words of at least three letters by kind (`LISTED_KINDS`), without function words of the language.

    Parameters
    ----------
    locale : str
        Language of the notes, a member of `LOCALES`. For any other value, the kinds that depend on the language have no
        words.

    Examples
    --------
    >>> words = listed_words("es")
    >>> "maria" in words["given name, female"], "garcia" in words["surname"], "zhang" in words["surname"]
    (True, True, False)
    >>> "zhang" in words["surname, any language"], "de" in words["surname"]
    (True, False)
    """
    everywhere = [_faker_words(code) for code in _faker_locales()]
    listed: dict[str, set[str]] = {kind: set() for kind in LISTED_KINDS}
    for words in everywhere:
        listed["given name, any language"] |= words["given name"] | words["given name, female"]
        listed["surname, any language"] |= words["surname"]
        listed["place, any language"] |= words["town"] | words["region"]
    function_words: frozenset[str] = frozenset()
    if locale in LOCALES:
        language = LOCALES[locale][:3]
        for code, words in zip(_faker_locales(), everywhere, strict=True):
            if code.startswith(language):
                for kind in _LISTS:
                    listed[kind] |= words[kind]
        own = locale_words(locale)
        listed["town"] |= _words_of(town.name for town in own.towns)
        listed["region"] |= _words_of((*own.region_names, *own.countries))
        listed["profession"] |= _words_of(own.professions)
        function_words = frozenset(map(fold, own.block("function words")))
    return {kind: frozenset(words - function_words) for kind, words in listed.items()}


@cache
def _faker_locales() -> tuple[str, ...]:
    # Imported on first use: importing Faker takes a third of a second.
    return tuple(import_module("faker.config").AVAILABLE_LOCALES)


@cache
def _faker_words(code: str) -> dict[str, frozenset[str]]:
    """Folded words of a locale of Faker by kind."""
    found: dict[str, set[str]] = {kind: set() for kind in _LISTS}
    for module in ("person", "address"):
        try:
            provider = import_module(f"faker.providers.{module}.{code}").Provider
        except ModuleNotFoundError:  # Faker has no such lists for the locale
            continue
        for attribute in dir(provider):
            kind = next((kind for kind, name in _LISTS.items() if name.fullmatch(attribute)), None)
            if kind is not None:
                found[kind] |= _words_of(_texts(getattr(provider, attribute)))
    return {kind: frozenset(words) for kind, words in found.items()}


def _words_of(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _LISTED_WORD.findall(fold(text))}


def _texts(listed: Any) -> Iterator[str]:
    """Names in a list of Faker: names with weights, single names, or rows of names and codes."""
    # Some locales compute a list from others, which the class has as well.
    for entry in listed if isinstance(listed, Collection) else ():
        yield from (entry,) if isinstance(entry, str) else (text for text in entry if isinstance(text, str))
