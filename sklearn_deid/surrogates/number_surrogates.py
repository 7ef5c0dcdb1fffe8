"""Surrogates for identifiers, telephone numbers and IP addresses."""

from __future__ import annotations

import re
from functools import cache
from unicodedata import category

from .chance import Chance
from .check_digits import with_check_digits
from .folding import fold
from .patient_chance import PatientChance
from .word_list import word_list

# Words up to this length may be initials, flats or doors, whose surrogates have as many letters.
SHORT = 3
# Numerals of floors, clinics and popes ("Med. Klinik II", "Hospital Juan XXIII"), and those that replace them.
ROMAN = re.compile(r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})")
NUMERALS = ("I", "II", "III", "IV")
_CAPITALS = "ABCDEFGHJKLMNPRSTUVWXYZ"
# Hardware addresses (00:1A:2B:3C:4D:5E, 001a.2b3c.4d5e) and UUIDs.
_HEX_LETTERS = "ABCDEF"
_HEXADECIMAL = re.compile(
    r"[\da-f]{2}(?:([:-])[\da-f]{2})(?:\1[\da-f]{2}){4}(?:(?:\1[\da-f]{2}){2})?|(?:[\da-f]{4}\.){2}[\da-f]{4}"
    r"|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}",
    re.IGNORECASE,
)
_SSN = re.compile(r"\d{3}(\D?)\d{2}\1\d{4}")
_NIE = re.compile(r"[A-Z]\W?\d{7}\W?[A-Z]", re.IGNORECASE)
# Extension behind at least seven digits, as in "617-555-0123 x45".
_EXTENSION = re.compile(r"((?:\D*\d){7,})([\s,;(]*(?:/|([^\W\d_]+)\.?)\s*-?)(\d{1,5}\)?)")
# Between several numbers in one span; also words such as "(cell)", which may need other letters.
_OR = ("or", "and", "oder", "und", "ou", "o", "y", "e", "og", "eller", "en", "of", "et")
_BETWEEN = re.compile(rf"(\s*[,;|\n]\s*|\s+(?:/|{'|'.join(_OR)})\s+)", re.IGNORECASE)
_WORDS_BETWEEN = re.compile(r"(?<=[\d)])(/|[^\w+]*[^\W\d_]+(?:[^\w+]+[^\W\d_]+)*[^\w+(]*)(?=[+(]?\d)")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD_IN_FRONT = re.compile(r"([^\W\d_]+)[^\w]*")
_COUNTRY_CODES = {"en": "1", "es": "34", "de": "49", "fr": "33", "nb": "47", "it": "39", "nl": "31", "pt": "351"}
_FIRST_DIGITS = {"es": "69", "de": "0", "fr": "0", "nb": "24679", "it": "03", "nl": "0", "pt": "29"}
# National plans in which a number of full length shows whether it is mobile: lengths of numbers, first digits of mobile
# numbers, and first digits of other surrogates.
_MOBILE = {
    "es": ((9,), ("6", "7"), ("9",)),
    "fr": ((10,), ("06", "07"), ()),
    "nb": ((8,), ("4", "9"), ("2", "3", "5", "6", "7")),
    "it": ((9, 10), ("3",), ("0",)),
    "nl": ((10,), ("06",), ("01", "02", "03", "04", "05", "07")),
    "pt": ((9,), ("9",), ("2",)),
}
# Numbers that the regulators reserve for fiction: North America 555-01xx, France (Arcep), Germany (Bundesnetzagentur).
_RESERVED = {
    ("fr", 10): ("019900####", "026191####", "035301####", "046571####", "053649####", "063998####"),
    ("de", 11): ("03023125###", "08999998###", "04066969###", "06990009###"),
    ("en", 7): ("55501##",),
    ("en", 10): ("2##55501##", "3##55501##", "4##55501##", "5##55501##", "6##55501##", "7##55501##", "8##55501##"),
}


class NumberSurrogates:
    """Invented numbers for one patient, in the form of the originals: digits for digits, letters for letters.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    locale : str
        Locale, for check digits and reserved ranges.
    check_digits : {"invalid", "valid"}
        Whether the check digits of national numbers are invalid, so that nobody has the number, or valid, so that
        programs accept the number.
    """

    def __init__(self, chance: PatientChance, locale: str, check_digits: str) -> None:
        self._chance, self._locale, self._valid = chance, locale, check_digits == "valid"

    def identifier(self, text: str) -> str | None:
        """Identifier in the form of ``text``; None if ``text`` has no digits, since words are not identifiers.

        Public words before the number, such as "Site ID", are kept.
        """
        if not any(map(str.isdigit, text)):
            return None
        start = end_of_words(text, self._locale)
        if start:
            return f"{text[:start]}{self.identifier(text[start:])}"
        chance = self._chance.of("identifier", _bare(text))
        drawn = _with_equal_groups(
            text, random_of_form(text, chance, _HEX_LETTERS if is_hexadecimal(text) else _CAPITALS)
        )
        if self._locale == "en" and _SSN.fullmatch(text):
            # Areas that are never issued.
            area = chance.pick(("000", "666", str(chance.number(900, 999))))
            return area + drawn[3:]
        if self._locale == "es" and _NIE.fullmatch(text):
            # A number of a foreigner begins with one of three letters. Any number of this form becomes such a number:
            # if only X, Y and Z were kept, the surrogate would reveal these letters.
            letter = chance.pick("XYZ")
            drawn = (letter if text[0].isupper() else letter.lower()) + drawn[1:]
        return with_check_digits(drawn, self._locale, self._valid, chance)

    def phone(self, text: str) -> str | None:
        """Telephone number in the form of ``text``, from a reserved range if the country has a reserved range.

        Several numbers have the same surrogates as each number alone.
        """
        for pattern in (_BETWEEN, _WORDS_BETWEEN):
            numbers = pattern.split(text)
            if len(numbers) > 1 and all(sum(map(str.isdigit, number)) > 6 for number in numbers[::2]):
                numbers[::2] = [str(self.phone(number)) for number in numbers[::2]]
                if pattern is _WORDS_BETWEEN:
                    chance = self._chance.of("words between numbers", fold("".join(numbers[1::2])))
                    numbers[1::2] = [_with_public_words(words, chance) for words in numbers[1::2]]
                return "".join(numbers)
        if (found := _with_extension(text)) is not None:
            # The same number without an extension has the same surrogate.
            main = self.phone(found[1])
            extension = random_of_form(found[4], self._chance.of("extension", found[4]))
            return None if main is None else main + found[2] + extension
        digits = [i for i, sign in enumerate(text) if sign.isdigit()]
        if len(digits) < 3:
            return None
        out = list(text)
        # The country code and the subscriber number are drawn separately: with and without its code, a number has one
        # surrogate.
        n_code = code_length(text, [text[i] for i in digits], self._locale)
        # Behind its country code, a number lacks the 0 of its area code: "+49 761 ..." is 0761 ...
        new = self._subscriber(national_digits(text, self._locale))[n_code - len(digits) :]
        for i, digit in zip(digits[n_code:], new, strict=True):
            out[i] = digit
        code = _COUNTRY_CODES[self._locale]
        chance = self._chance.of("country code", "".join(text[i] for i in digits[:n_code]))
        drawn = [str(chance.number(1, 9)) for _ in range(n_code)]
        for i, digit in zip(digits[:n_code][-len(code) :], code.rjust(len(code)), strict=False):
            drawn[digits.index(i)] = digit
        if n_code > len(code):  # the code is written with 00, which a short number can begin with, too
            drawn[:2] = ["0", "0"]
        for i, digit in zip(digits[:n_code], drawn, strict=True):
            out[i] = digit
        return _with_public_words("".join(out), chance)

    def ip(self, text: str) -> str | None:
        """IP address from a block that is reserved for documentation (RFC 5737, RFC 3849); None for other text."""
        chance = self._chance.of("ip", fold(text))
        if re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}(:\d+)?", text):
            block = chance.pick(("192.0.2", "198.51.100", "203.0.113"))
            return f"{block}.{chance.number(1, 254)}"
        if re.fullmatch(r"[0-9a-fA-F:]{2,45}", text) and text.count(":") > 1:
            return "2001:db8:" + ":".join(f"{chance.number(1, 65535):x}" for _ in range(6))
        return None

    def _subscriber(self, digits: str) -> str:
        n = len(digits)
        # The last seven digits are the entity: a number with and without its area code keeps them in common.
        chance = self._chance.of("phone", digits[-7:])
        tail = "".join(str(chance.number(0, 9)) for _ in range(min(n, 7)))
        forms = _RESERVED.get((self._locale, n))
        _, mobile, others = _MOBILE.get(self._locale, ((), (), ()))
        is_mobile = mobile_kind(digits, self._locale)
        if forms is not None:
            alike = [form for form in forms if is_mobile is None or form.startswith(mobile) == is_mobile]
            form = self._chance.of("area code", digits).pick(alike)
            return _filled(form, tail, self._chance.of("area digits", digits))
        area = self._chance.of("area digits", digits)
        new = "".join(str(area.number(0, 9)) for _ in range(n - len(tail))) + tail
        if is_mobile is not None:
            start = area.pick(mobile if is_mobile else others)
            # The digit behind a prefix must not form a longer prefix: 0800 and 090 are no numbers of people.
            return start + str(area.number(1, 7)) + new[len(start) + 1 :]
        if n > 6 and self._locale in _FIRST_DIGITS:
            return area.pick(_FIRST_DIGITS[self._locale]) + str(area.number(1, 9)) + new[2:]
        return str(area.number(1, 9)) + new[1:] if n > 4 else new


def _with_extension(text: str) -> re.Match[str] | None:
    """Parts of a telephone number with an extension; None for a number without extension."""
    found = _EXTENSION.fullmatch(text)
    if found is None:
        return None
    # "617-234-5678 or -5679"; a letter directly behind a digit is no word.
    is_or = found[2][0].isspace() and (found[3] or "").lower() in _OR
    return found if is_or or found[2].strip(" ,;(.-") == "/" or is_phone_word(found[3] or "") else None


def _with_public_words(text: str, chance: Chance) -> str:
    """Text in which random letters replace all words but public words next to telephone numbers."""
    return _LETTERS.sub(lambda word: word[0] if is_phone_word(word[0]) else random_of_form(word[0], chance), text)


def code_length(text: str, digits: list[str], locale: str) -> int:
    """Number of digits of the country code at the beginning of a telephone number.

    Examples
    --------
    >>> [code_length(text, [sign for sign in text if sign.isdigit()], "es") for text in ("+34 912345678", "912345678")]
    [2, 0]
    """
    code = _COUNTRY_CODES[locale]
    start = text[next((i for i, sign in enumerate(text) if sign.isdigit() or sign == "+"), 0) :]
    if start.startswith("00") and len(digits) > 9:
        return 2 + len(code)
    if start.startswith("+") and len(digits) > 7:
        return len(code)
    return 1 if locale == "en" and len(digits) == 11 and digits[0] == "1" else 0


def mobile_kind(digits: str, locale: str) -> bool | None:
    """Whether a number in its national form is mobile; None if its length or its locale does not show this.

    Examples
    --------
    >>> mobile_kind("0612345678", "nl"), mobile_kind("0201234567", "nl"), mobile_kind("12345", "nl")
    (True, False, None)
    """
    lengths, mobile, _ = _MOBILE.get(locale, ((), (), ()))
    return digits.startswith(mobile) if len(digits) in lengths else None


def national_digits(text: str, locale: str) -> str:
    """Digits of a telephone number in national form: with the 0 that the country code replaces, without extension.

    Examples
    --------
    >>> national_digits("+31 6 12345678 ext. 12", "nl")
    '0612345678'
    """
    if (found := _with_extension(text)) is not None:
        return national_digits(found[1], locale)
    digits = [sign for sign in text if sign.isdigit()]
    n_code = code_length(text, digits, locale)
    subscriber = "".join(digits[n_code:])
    lacks_zero = n_code > 0 and _FIRST_DIGITS.get(locale) == "0" and not subscriber.startswith("0")
    return f"0{subscriber}" if lacks_zero else subscriber


def end_of_words(text: str, locale: str) -> int:
    """Number of characters of the public words before an identifier, with the signs after them.

    Examples
    --------
    >>> end_of_words("Site ID: AB-123", "en"), end_of_words("AB-123", "en")
    (9, 0)
    """
    known = _public_words(locale)
    end = 0
    while (word := _WORD_IN_FRONT.match(text, end)) and fold(word[1].rstrip("\u00ba\u00aa")) in known:
        end = word.end()
    return end


def is_phone_word(word: str) -> bool:
    """Whether a word is a public word next to telephone numbers (Tel, ext, x).

    Examples
    --------
    >>> is_phone_word("Ext"), is_phone_word("flowers")
    (True, False)
    """
    return fold(word) in _public_words("phones")


def may_stay(word: str) -> bool:
    """Whether a word next to telephone numbers is public, or may be a word between two numbers.

    Examples
    --------
    >>> may_stay("or"), may_stay("Ext"), may_stay("flowers")
    (True, True, False)
    """
    return is_phone_word(word) or word.lower() in _OR


@cache
def _public_words(locale: str) -> frozenset[str]:
    return frozenset(map(fold, word_list("identifiers", locale)))


def is_hexadecimal(text: str) -> bool:
    """Whether an identifier is a hardware address or a UUID, whose letters are from A to F.

    Examples
    --------
    >>> is_hexadecimal("00:1A:2B:3C:4D:5E"), is_hexadecimal("AB-12")
    (True, False)
    """
    return _HEXADECIMAL.fullmatch(text) is not None


def random_of_form(text: str, chance: Chance, letters: str = _CAPITALS) -> str:
    """Random digits for digits and random letters for letters; the first digit of a number is not 0.

    Examples
    --------
    >>> drawn = random_of_form("Ab-12", Chance(0))
    >>> drawn[0].isupper(), drawn[1].islower(), drawn[2], drawn[3:].isdigit()
    (True, True, '-', True)
    """
    out = []
    is_first = True
    for sign in text:
        if sign.isnumeric() and not sign.isalpha():  # also fractions and Roman numerals of one sign
            out.append(str(chance.number(1 if is_first else 0, 9)))
            is_first = False
        elif (sign.isalpha() and sign not in "\u00ba\u00aa") or category(sign).startswith("M"):
            letter = chance.pick(letters)
            out.append(letter.lower() if sign.islower() or not sign.isalpha() else letter)
        else:
            out.append(sign)
    return "".join(out)


def _with_equal_groups(text: str, drawn: str) -> str:
    """Surrogate that repeats groups of digits wherever the original repeats groups of digits, as in 28 28 57412."""
    first: dict[str, str] = {}
    for group in re.finditer(r"\d{2,}", text):
        # A repeated group shows that two numbers are one, which a reader of the note may need.
        new = first.setdefault(group[0], drawn[group.start() : group.end()])
        drawn = drawn[: group.start()] + new + drawn[group.end() :]
    return drawn


def _filled(form: str, tail: str, chance: Chance) -> str:
    """Fill a form: its last places with the digits of the tail, all other places with random digits."""
    out = list(form)
    for back in range(1, len(form) + 1):
        if form[-back] == "#":
            out[-back] = tail[-back] if back <= len(tail) else str(chance.number(0, 9))
    return "".join(out)


def _bare(text: str) -> str:
    return "".join(sign for sign in fold(text) if sign.isalnum())
