"""Invented towns, streets, hospitals and employers, and real states and countries."""

from __future__ import annotations

from .chance import Chance
from .names import given_name, surname
from .word_list import word_list

_HOSPITAL_TYPES = (
    ("{} Hospital", 3),
    ("{} General Hospital", 3),
    ("{} Medical Center", 3),
    ("{} Memorial Hospital", 2),
    ("{} Regional Medical Center", 2),
    ("{} Community Hospital", 1),
    ("{} Valley Health", 1),
    ("{} VA Medical Center", 1),
    ("University of {} Hospital", 1),
    ("Mercy {}", 1),
)


def _places(block: str) -> tuple[str, ...]:
    return word_list("places", block)


def state(chance: Chance) -> tuple[str, str]:
    """Draw a state of the United States and its abbreviation.

    Examples
    --------
    >>> len(state(Chance(0))[1])
    2
    """
    name, _, abbreviation = chance.pick(_places("states")).partition("=")
    return name, abbreviation


def country(chance: Chance) -> str:
    """Draw a country."""
    return chance.pick(_places("countries"))


def town(chance: Chance) -> str:
    """Draw an invented town, or a town whose name is also an ordinary word.

    Examples
    --------
    >>> isinstance(town(Chance(0)), str)
    True
    """
    kind = chance.uniform()
    if kind < 0.22:
        return chance.pick(_places("word towns"))
    made = chance.pick(_places("town starts")) + chance.pick(_places("town ends"))
    if kind < 0.4:
        return f"{chance.pick(_places('town prefixes'))} {made}"
    return f"{made} {chance.pick(_places('town suffixes'))}" if kind < 0.5 else made


def street(chance: Chance) -> str:
    """House number and street, sometimes with an apartment, or a post office box."""
    if chance.happens(0.07):
        return f"{chance.pick(('PO Box', 'P.O. Box', 'Box'))} {chance.number(11, 9800)}"
    name = chance.pick(_places("street words")) if chance.happens(0.4) else surname(chance)
    where = f"{chance.number(1, 2999)} {name} {chance.pick(_places('street types'))}"
    if chance.happens(0.25):
        where += chance.pick((", Apt {}", " Apt. {}B", ", Unit {}", " #{}")).format(chance.number(1, 48))
    return where


def hospital_name(chance: Chance) -> str:
    """Name of a hospital, after a town, a saint or a benefactor."""
    kind = chance.uniform()
    if kind < 0.2:
        saint = f"St. {chance.pick(_places('saints'))}"
        return saint + chance.pick(("'s Hospital", "'s", " Medical Center", "'s Health Center", " Hospital"))
    if kind < 0.3:
        return f"{given_name(chance, chance.pick('MF'))} {surname(chance)} Hospital"
    base = surname(chance) if kind < 0.55 else town(chance)
    return chance.weighted(_HOSPITAL_TYPES).format(base)


def employer(chance: Chance) -> str:
    """Name of a firm, school or office."""
    base = surname(chance) if chance.happens(0.5) else town(chance)
    return chance.pick(_places("employers")).format(base)


def named_after(chance: Chance, kind: str) -> str:
    """Name of an institution, after a town or a person.

    Parameters
    ----------
    chance : Chance
        Random draws.
    kind : {"practices", "nursing homes", "schools", "suppliers"}
        Kind of institution.
    """
    base = surname(chance) if chance.happens(0.3) else town(chance)
    return f"{base} {chance.pick(_places(kind))}"
