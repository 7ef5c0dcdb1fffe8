"""Surrogates for logins, and for mail and web addresses, with domains that RFC 2606 and RFC 9476 reserve."""

from __future__ import annotations

import re
from collections.abc import Callable

from .folding import fold, plain_letters
from .keyed_chance import KeyedChance
from .locale_words import LocaleWords, draw_other
from .name_parsing import is_spelled
from .number_surrogates import random_of_form
from .own_names import new_word
from .patient_chance import PatientChance

_DOMAINS = ("example.org", "example.com", "example.net")
_LISTED_SHARE, _SURNAME_SHARE = 1 / 3, 0.5
# Several, so that a tagger that is trained on surrogates does not learn "example" as the mark of every address.
_TOP_LEVEL = ("example", "test", "invalid", "alt")
HOSTS = ("www", "my", "mail", "portal")
_PATHS = ("portal", "patients", "results", "info", "news", "contact", "about", "home", "index", "services")
# Signs behind an address belong to the text, as in "a@b.org; c@d.org".
_ADDRESS = re.compile(r"(?<![^\s<>,;(])(mailto:)?([^\s@<>,;]+)@([^\s@<>,;]*\w)", re.IGNORECASE)
_URL = re.compile(r"((?:https?|ftp)://)?([^\s/?#]+)(\S*)", re.IGNORECASE)
_LONGEST_CODE = 3
# The most characters of an address by RFC 3696. Each name in a login is replaced with the text around the name.
_LONGEST_ADDRESS = 320


class NetSurrogates:
    """Invented addresses for one patient.

    Names of the patient's notes in a mail address or a login are replaced by the surrogates of these names. The number
    of words, the number of digits, and the signs between words are kept. All domains are reserved, so that mail to
    these addresses reaches nobody.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    words : LocaleWords
        Names of the locale.
    names_in : callable
        Function from a folded text to the names of the notes in this text, with their surrogates.
    initial_of : callable
        Function from an initial and a surname to the initial of the surrogate.
    avoided : frozenset of str, default=frozenset()
        Folded words that are not allowed as surrogates.
    """

    def __init__(
        self,
        chance: PatientChance,
        words: LocaleWords,
        names_in: Callable[[str], dict[str, str]],
        initial_of: Callable[[str, str], str],
        avoided: frozenset[str] = frozenset(),
    ) -> None:
        self._chance, self._words, self._names_in, self._initial_of = chance, words, names_in, initial_of
        self._avoided = avoided

    def email(self, text: str) -> str | None:
        """Surrogates of the mail addresses in ``text``.

        None without addresses, with words between addresses, or with an address that is spelled or too long.
        """
        addresses = list(_ADDRESS.finditer(text))
        if not addresses or re.search(r"\w", _ADDRESS.sub("", text)):
            return None
        if is_spelled(text, self._words) or any(len(address[0]) > _LONGEST_ADDRESS for address in addresses):
            return None
        return _ADDRESS.sub(self._address, text)

    def url(self, text: str) -> str | None:
        """Surrogate of a web address; None if ``text`` is not a web address."""
        found = _URL.fullmatch(text.strip())
        if found is None or "." not in found[2]:
            return None
        chance = self._chance.of("url path", fold(found[3]))
        path = re.sub(r"[^\W_]+", lambda word: _path_word(word[0], chance), found[3])
        return (found[1] or "") + _case(self._domain(found[2]), found[2]) + _case(path, found[3])

    def username(self, text: str) -> str | None:
        """Login in the form of ``text``, made like the start of a mail address; None if it is spelled or too long.

        If each letter were replaced by one letter, the login would reveal the length of the surname.
        """
        return None if is_spelled(text, self._words) or len(text) > _LONGEST_ADDRESS else self._login(text)

    def _login(self, text: str) -> str:
        names = self._names_in(fold(text))
        # A letter apart is mostly an initial, as in "b.linden" and "linden_b".
        own = max(names, key=len, default=None)

        def other(word: re.Match[str]) -> str:
            is_initial = own is not None and len(word[0]) == 1 and word[0].isalpha()
            return self._initial_of(fold(word[0]), str(own)) if is_initial else self._word(word[0], names)

        return _case(re.sub(r"[^\W\d_]+|\d+", other, text), text)

    def _address(self, found: re.Match[str]) -> str:
        return f"{found[1] or ''}{self._login(found[2])}@{_case(self._domain(found[3]), found[3])}"

    def _word(self, word: str, names: dict[str, str]) -> str:
        chance = self._chance.of("word of an address", fold(word))
        return random_of_form(word, chance) if word.isdigit() else self._letters(fold(word), names, chance)

    def _letters(self, word: str, names: dict[str, str], chance: KeyedChance) -> str:
        own = max((name for name in names if name in word), key=len, default=None)
        if own is not None:
            ends = (
                self._initial_of(end, own) if len(end) == 1 else self._letters(end, names, chance)
                for end in (word[: word.index(own)], word[word.index(own) + len(own) :])
            )
            return _plain(names[own]).join(ends)
        if len(word) <= _LONGEST_CODE:
            return random_of_form(word, chance)
        # Longer words are mostly an initial and a surname.
        letter = random_of_form("a", chance) if chance.happens(0.5) else ""
        return letter + _plain(draw_other(chance, self._words.surnames, self._avoided))

    def _domain(self, domain: str) -> str:
        """Reserved domain with the original's number of labels and, if it is public, its first label (www)."""
        labels = domain.rstrip(".").split(".")
        chance = self._chance.of("domain", fold(domain))
        out = []
        for label in labels[:-2]:
            out.append(label.lower() if label.lower() in HOSTS else self._host(chance))
        if chance.happens(_LISTED_SHARE):
            return ".".join((*out, chance.pick(_DOMAINS)))
        return ".".join((*out, self._host(chance), chance.pick(_TOP_LEVEL)))

    def _host(self, chance: KeyedChance) -> str:
        """Surname, or a word that is in no list, like most names of providers."""
        if chance.happens(_SURNAME_SHARE):
            return _plain(draw_other(chance, self._words.surnames, self._avoided))
        return _plain(new_word(chance, self._words, self._avoided))


def _path_word(word: str, chance: KeyedChance) -> str:
    return random_of_form(word, chance) if any(map(str.isdigit, word)) else chance.pick(_PATHS)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", plain_letters(name)) or "name"


def _case(new: str, old: str) -> str:
    if old.isupper():
        return new.upper()
    return new.capitalize() if old[:1].isupper() and old[1:].islower() else new
