"""Check digits of national numbers: valid or deliberately invalid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .chance import Chance

_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
# Values of signs in odd places of a codice fiscale; digits have the values of the first ten letters.
_ODD_VALUES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ODD = dict(zip(_LETTERS, _ODD_VALUES, strict=True)) | dict(zip("0123456789", _ODD_VALUES, strict=False))
# Months of a codice fiscale.
_MONTHS = "ABCDEHLMPRST"
_TRIES = 200
_Check = Callable[[str], str | None]


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def dni(body: str) -> str | None:
    """Check letter of a Spanish DNI (8 digits) or NIE (X, Y or Z and 7 digits).

    Examples
    --------
    >>> dni("12345678"), dni("X1234567")
    ('Z', 'L')
    """
    # The first letter of a NIE counts as its place in X, Y, Z.
    return _DNI[int(body.replace("X", "0").replace("Y", "1").replace("Z", "2")) % 23]


def nuss(body: str) -> str | None:
    """Two check digits of a Spanish social security number: the number with its province, modulo 97."""
    # By the rule, a number below ten million is joined to its province without its leading zero.
    province, number = int(body[:2]), int(body[2:])
    whole = number + province * 10_000_000 if number < 10_000_000 else int(body)
    return f"{whole % 97:02d}"


def nir(body: str) -> str | None:
    """Two check digits of a French NIR of 13 digits.

    Examples
    --------
    >>> nir("1841276451089")
    '46'
    """
    if body[6].isalpha():  # the departments 2A and 2B of Corsica count as 19 and 18
        body = f"{body[:5]}{19 if body[6] == 'A' else 18}{body[7:]}"
    # Number and key add up to a multiple of 97, so that the key runs from 01 to 97.
    return f"{97 - int(body) % 97:02d}"


def codice_fiscale(body: str) -> str | None:
    """Check letter at the end of an Italian codice fiscale.

    Examples
    --------
    >>> codice_fiscale("RSSMRA85T10A562")
    'S'
    """
    # Signs in even places count as their place in the alphabet, signs in odd places by the table above.
    even = sum(int(sign) if sign.isdigit() else _LETTERS.index(sign) for sign in body[1::2])
    return _LETTERS[(sum(_ODD[sign] for sign in body[::2]) + even) % 26]


def bsn(body: str) -> str | None:
    """Check digit at the end of a Dutch BSN; None if no digit fits.

    Examples
    --------
    >>> bsn("11122233")
    '3'
    """
    digit = _weighted(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    # A remainder of 10 has no digit. Such numbers are never issued.
    return None if digit == 10 else str(digit)


def fodselsnummer(body: str) -> str | None:
    """Two check digits of a Norwegian birth number; None if no digits fit.

    Examples
    --------
    >>> fodselsnummer("010107501")
    '60'
    """
    # Each check digit makes its weighted sum a multiple of 11.
    first = -_weighted(body, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    if first == 10:
        return None
    second = -_weighted(f"{body}{first}", (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return None if second == 10 else f"{first}{second}"


def nif(body: str) -> str | None:
    """Check digit at the end of a Portuguese NIF.

    Examples
    --------
    >>> nif("12345678")
    '9'
    """
    digit = -_weighted(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    # In contrast, Portugal issues such numbers with the check digit 0.
    return str(digit if digit < 10 else 0)


def steuer_id(body: str) -> str | None:
    """Check digit at the end of a German tax number of 11 digits (ISO 7064, MOD 11,10).

    Examples
    --------
    >>> steuer_id("8609574271")
    '9'
    """
    product = 10
    for digit in body:
        # ISO 7064, hybrid system: a sum of 0 counts as 10.
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return str((11 - product) % 10)


def luhn(body: str) -> str | None:
    """Check digit at the end of a card number (Luhn).

    Examples
    --------
    >>> luhn("7992739871")
    '3'
    """
    # The check digit will follow the body, so that doubling begins with the last digit of the body.
    doubled = [int(digit) * (2 - i % 2) for i, digit in enumerate(reversed(body))]
    # Subtracting 9 from a number of two digits gives the sum of its digits.
    return str(-sum(number - 9 * (number > 9) for number in doubled) % 10)


# Form of the letters and digits (the check digits in the second group), and the function of the first group.
_FORMS: dict[str, tuple[tuple[re.Pattern[str], _Check], ...]] = {
    "es": (
        (re.compile(r"(\d{8}|[XYZ]\d{7})([A-Z])"), dni),
        (re.compile(r"(\d{10})(\d{2})"), nuss),
    ),
    "fr": ((re.compile(r"(\d{6}[A-Z\d]\d{6})(\d{2})"), nir),),
    "it": ((re.compile(r"([A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3})([A-Z])"), codice_fiscale),),
    "nl": ((re.compile(r"(\d{8})(\d)"), bsn),),
    "nb": ((re.compile(r"(\d{9})(\d{2})"), fodselsnummer),),
    "pt": ((re.compile(r"(\d{8})(\d)"), nif),),
    "de": ((re.compile(r"(\d{10})(\d)"), steuer_id),),
    "en": (),
}
_CARD = ((re.compile(r"(\d{15})(\d)"), luhn),)


def with_check_digits(text: str, locale: str, valid: bool, chance: Chance) -> str:
    """Return a number with valid or invalid check digits, or unchanged if its form has no check digits.

    Parameters
    ----------
    text : str
        Number. Characters other than letters and digits do not change.
    locale : str
        Locale, which determines the forms of national numbers.
    valid : bool
        Whether the check digits are valid.
    chance : Chance
        Random draws, for invalid check digits and for numbers that cannot have valid check digits.

    Examples
    --------
    >>> with_check_digits("12.345.678-A", "es", True, Chance(0))
    '12.345.678-Z'
    """
    for body, _, check in _readings(text, locale):
        body = _with_possible_date(body, check, chance) if valid else body
        return _put(text, _checked(body, check, valid, chance))
    return text


def has_valid_check_digits(text: str, locale: str) -> bool | None:
    """Whether the check digits are valid; None if the form has no check digits."""
    return next((check(body) == digits for body, digits, check in _readings(text, locale)), None)


def _readings(text: str, locale: str) -> Iterator[tuple[str, str, _Check]]:
    """Number without check digits, its check digits, and their rule, for each form that the number can have."""
    bare = "".join(sign for sign in text if sign.isalnum()).upper()
    for form, check in (*_FORMS[locale], *_CARD):
        if (found := form.fullmatch(bare)) is not None:
            yield found[1], found[2], check


def _with_possible_date(body: str, check: _Check, chance: Chance) -> str:
    """Number with a valid date in place of the date of birth, so that programs accept the number; others unchanged.

    The date is drawn. The date is drawn at random and is not the date of birth in the notes.
    """
    if check not in (nir, fodselsnummer, codice_fiscale):
        return body
    day, month, year = chance.number(1, 28), chance.number(1, 12), chance.number(30, 99)
    if check is nir:  # sex, year, month, department
        department = chance.pick(("2A", "2B")) if body[6].isalpha() else f"{chance.number(1, 95):02d}"
        return f"{chance.number(1, 2)}{year}{month:02d}{department}{body[7:]}"
    if check is fodselsnummer:
        return f"{day:02d}{month:02d}{year}{chance.number(0, 499):03d}"  # 000 to 499 belong to 1900 to 1999
    # Women have 40 more days.
    return f"{body[:6]}{year}{_MONTHS[month - 1]}{day + 40 * chance.number(0, 1):02d}{body[11:]}"


def _checked(body: str, check: _Check, valid: bool, chance: Chance) -> str:
    right = check(body)
    for _ in range(_TRIES):
        if right is not None:
            break
        # The first digits of a valid Norwegian number are a date.
        is_last = chance.happens(0.5) or (valid and check is fodselsnummer)
        body = body[:-1] + str(chance.number(0, 9)) if is_last else str(chance.number(1, 9)) + body[1:]
        right = check(body)
    assert right is not None  # nine of ten bodies have check digits
    if valid:
        return body + right
    last = right[-1]
    # Only the last sign is wrong: the form stays, and the result is no valid number of a person.
    others = [sign for sign in (_LETTERS if last.isalpha() else "0123456789") if sign != last]
    return body + right[:-1] + chance.pick(others)


def _put(text: str, new: str) -> str:
    """Write the new letters and digits into the places of the old letters and digits."""
    signs = iter(new)
    out = []
    for sign in text:
        if sign.isalnum():
            drawn = next(signs)
            out.append(drawn.lower() if sign.islower() else drawn)
        else:
            out.append(sign)
    return "".join(out)
