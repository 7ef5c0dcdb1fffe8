"""Names of invented people, drawn from lists or assembled from syllables.

About a third of the surnames are also words in clinical English (eponyms, ordinary words). About a quarter of the
surnames come from lists of surnames. The other surnames are assembled from syllables. The surnames of patients who are
not in the training notes are therefore often not in the training notes, either.
"""

from __future__ import annotations

from .chance import Chance
from .word_list import word_list

_SEXES = {"M": "male", "F": "female"}


def _names(block: str) -> tuple[str, ...]:
    return word_list("names", block)


def surname(chance: Chance) -> str:
    """Draw an invented surname.

    Examples
    --------
    >>> isinstance(surname(Chance(0)), str)
    True
    """
    kind = chance.uniform()
    # Notes also use these words with their other meaning, most often the first twenty of each list. Half of the draws
    # therefore come from the first twenty.
    if kind < 0.32:
        names = _names("eponyms" if kind < 0.15 else "word surnames")
        return chance.pick(names[:20] if chance.happens(0.5) else names)
    if kind < 0.55:
        return chance.pick(_names("common surnames"))
    if kind < 0.58:
        return chance.pick(_names("asian surnames"))
    if kind < 0.74:
        return chance.pick(_names("foreign stems")) + chance.pick(_names("foreign ends"))
    made = chance.pick(_names("surname stems")) + chance.pick(_names("surname ends"))
    if kind < 0.95:
        return made
    return f"{made}-{chance.pick(_names('common surnames'))}"


def given_name(chance: Chance, sex: str) -> str:
    """Draw an invented given name for the ``sex`` ``"M"`` or ``"F"``."""
    kind = chance.uniform()
    if kind < 0.2:
        return chance.pick(_names(f"{_SEXES[sex]} words"))
    if kind < 0.75:
        return chance.pick(_names(f"{_SEXES[sex]} given names"))
    return chance.pick(_names(f"{_SEXES[sex]} stems")) + chance.pick(_names(f"{_SEXES[sex]} ends"))


def misspell_name(name: str, chance: Chance) -> str:
    """Double or drop an inner letter of ``name``, or swap two; names of under five letters are unchanged."""
    if len(name) < 5:
        return name
    i = chance.number(1, len(name) - 3)
    if not name[i : i + 2].isalpha():
        return name
    return chance.pick(
        (
            name[:i] + name[i] + name[i:],
            name[:i] + name[i + 1 :],
            name[:i] + name[i + 1] + name[i] + name[i + 2 :],
        )
    )


def initials_of(*names: str) -> str:
    """Initials of the names as capital letters, such as ``"JMS"``."""
    return "".join(name[0] for name in names if name).upper()
