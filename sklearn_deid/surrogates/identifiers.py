"""Invented identifiers. Identifiers come from a reserved range, if there is one.

Social security numbers have areas that are never issued (000, 666, 900-999). Telephone numbers have the line 555-01xx.
Mail and web addresses use the names that RFC 2606 reserves. IP addresses come from the blocks that RFC 5737 reserves.
"""

from __future__ import annotations

import re

from .chance import Chance

_DOMAINS = ("example.org", "example.com", "example.net")
_CAPITALS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def letters(chance: Chance, length: int) -> str:
    """Draw capital letters without I, O and Q."""
    return "".join(chance.pick(_CAPITALS) for _ in range(length))


def mrn(chance: Chance) -> str:
    """Draw a medical record number in one of the forms that hospitals use.

    Examples
    --------
    >>> mrn(Chance(0)).replace("-", "").isdigit()
    True
    """
    # No letter in front: in a note "MRN" may touch the number, and a span must begin at the start of a token.
    form = chance.pick(("######", "#######", "########", "###-##-##", "##-##-##", "#####", "###-####", "#######-#"))
    return _fill(form, chance)


def account(chance: Chance) -> str:
    """Draw the number of a billing account of one stay."""
    return _fill(chance.pick(("##########", "@#########", "#######-####", "####-####-##", "@@######")), chance)


def health_plan(chance: Chance) -> str:
    """Draw the member number of a health plan."""
    return _fill(chance.pick(("@@@#########", "###-##-####@", "@########-##", "#########", "@#@#@@#@@##")), chance)


def study_number(chance: Chance) -> str:
    """Draw an accession, specimen or dictation number."""
    return _fill(
        chance.pick(("##-#####", "@##-####", "########", "@@#######", "#-#######", "@@-##-####", "#####")), chance
    )


def license_number(chance: Chance) -> str:
    """Draw the number of a driver's licence or a professional licence."""
    return _fill(chance.pick(("@########", "@@######", "##-####-###", "@##-##-####", "######")), chance)


def device(chance: Chance) -> str:
    """Draw the serial number of an implant."""
    return _fill(chance.pick(("@@@######", "@######@", "SN####-###", "##@@####", "@@#-######")), chance)


def plate(chance: Chance) -> str:
    """Draw the number plate of a car."""
    return _fill(chance.pick(("#@@@###", "@@@-####", "@## @@#", "###-@@@", "@@-#####")), chance)


def ssn(chance: Chance) -> str:
    """Draw a social security number with an area number that is never issued."""
    area = chance.pick(("000", "666", str(chance.number(900, 999))))
    return f"{area}-{chance.number(10, 99)}-{chance.number(1000, 9999)}"


def phone(chance: Chance) -> str:
    """Draw a telephone number with area code, such as ``"617-555-0142"``."""
    # 555-0100 to 555-0199 are reserved for fiction in every area.
    return f"{chance.number(201, 989)}-555-01{chance.number(0, 99):02d}"


def phone_forms(number: str) -> tuple[str, ...]:
    """Return the written forms of one telephone number; the last form leaves out the area code."""
    area, line = number[:3], number[4:]
    return (
        f"({area}) {line}",
        number,
        f"{area}.{line.replace('-', '.')}",
        f"({area}){line}",
        f"{area} {line}",
        f"1-{number}",
        line,
    )


def pager(chance: Chance) -> str:
    """Draw the pager number or the extension of a clinician."""
    return str(chance.number(10000, 99999) if chance.happens(0.6) else chance.number(2000, 9999))


def user_name(given: str, family: str, chance: Chance) -> str:
    """Draw a login such as ``"jsm42"``."""
    family, given = _plain(family), _plain(given)
    return chance.pick(
        (
            f"{given[0]}{family[:2]}{chance.number(1, 99)}",
            f"{given[0]}{family[:7]}",
            f"{given[:2]}{chance.number(100, 999)}",
            f"{family[:5]}{given[0]}{chance.number(1, 9)}",
            f"{given[0]}{given[-1]}{family[0]}{chance.number(10, 99)}",
        )
    )


def email(given: str, family: str, chance: Chance, domain: str | None = None) -> str:
    """Draw a mail address at ``domain``, or at a reserved domain."""
    given, family = _plain(given), _plain(family)
    local = chance.pick(
        (
            f"{given}.{family}",
            f"{given[0]}{family}",
            f"{family}{chance.number(1, 99)}",
            f"{given}_{family}{chance.number(40, 99)}",
        )
    )
    return f"{local}@{domain or chance.pick(_DOMAINS)}"


def web_domain(name: str, chance: Chance) -> str:
    """Draw the domain of a hospital, below a reserved domain."""
    return f"{_plain(name)[:14]}.{chance.pick(_DOMAINS)}"


def url(domain: str, chance: Chance) -> str:
    """Draw the web address of a patient portal."""
    return chance.pick(
        ("http://www.{}", "https://{}/portal", "www.{}", "https://my.{}/results", "www.{}/patients", "http://{}/pacs")
    ).format(domain)


def ip_address(chance: Chance) -> str:
    """Draw an IP address from the blocks that are reserved for documentation."""
    return f"{chance.pick(('192.0.2', '198.51.100', '203.0.113'))}.{chance.number(1, 254)}"


def room(chance: Chance) -> str:
    """Draw a room or bed of a ward."""
    form = chance.pick(("###", "#@", "##@", "###-#", "###@", "#-##", "##-##"))
    return _fill(form, chance)


def _fill(form: str, chance: Chance) -> str:
    # "#" is a digit and "@" a letter. The first digit is not 0: a number that another program prints without leading
    # zeros then stays the same number.
    out = []
    for i, sign in enumerate(form):
        if sign == "#":
            out.append(str(chance.number(1 if i == 0 else 0, 9)))
        else:
            out.append(chance.pick(_CAPITALS) if sign == "@" else sign)
    return "".join(out)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
