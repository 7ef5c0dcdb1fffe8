"""A small template language, in which all generated notes are written.

======================  ==========================================================================================
``{name}``              what ``name`` stands for: a word of the context, PHI, or one alternative of a phrase
``{Name}``, ``{NAME}``  the same, with a capital, or in capitals
``{name:2-4}``          two to four different alternatives of a phrase, with a space between
``{name:2-4:list}``     the same, joined as ``list`` (bullets), ``line``, ``comma`` or ``and``
``{#3-18}``             a number from 3 to 18; ``{#0.4-2.9}`` with as many decimals as the first bound has
``<a|b|c>``             one of the alternatives, which may be empty and may be nested
======================  ==========================================================================================

All other characters are literal text. A template must not contain ``<`` or ``{`` as literal text; the word ``{lt}``
writes ``<``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Slot(NamedTuple):
    """Name that is replaced; ``low`` to ``high`` alternatives are drawn and joined by ``joiner``."""

    name: str
    case: str = "as is"
    low: int = 1
    high: int = 1
    joiner: str = "space"


class Number(NamedTuple):
    """A number between two bounds, printed with ``places`` decimals."""

    low: float
    high: float
    places: int


class Choice(NamedTuple):
    """One of several sequences of nodes."""

    options: tuple[tuple[Node, ...], ...]


Node = str | Slot | Number | Choice

_TOKEN = re.compile(r"\{[^{}]*\}|[<>|]|[^{}<>|]+")
_NUMBER = re.compile(r"#(\d+(?:\.(\d+))?)-(\d+(?:\.\d+)?)$")
_SLOT = re.compile(r"([A-Za-z][A-Za-z0-9_.]*)(?::(\d+)-(\d+)(?::(space|list|line|comma|and))?)?$")


@cache
def compile_template(template: str) -> tuple[Node, ...]:
    """Parse a template.

    Parameters
    ----------
    template : str
        Text in the template language of this module.

    Returns
    -------
    tuple of nodes
        Literal text, slots, numbers and choices, in order.

    Raises
    ------
    ValueError
        If a bracket is not closed, or if a slot is not written as in the table of this module.

    Examples
    --------
    >>> compile_template("Na {#128-148}<|, stable>")
    ('Na ', Number(low=128.0, high=148.0, places=0), Choice(options=((), (', stable',))))
    """
    tokens = _TOKEN.findall(template)
    # findall skips text that matches no alternative. The comparison finds such text, an unbalanced brace.
    if "".join(tokens) != template:
        raise ValueError("A brace of the template is not opened or not closed.")
    nodes, used = _parse(tokens, 0, nested=False)
    assert used == len(tokens)
    return nodes


def _parse(tokens: list[str], position: int, *, nested: bool) -> tuple[tuple[Node, ...], int]:
    nodes: list[Node] = []
    while position < len(tokens):
        token = tokens[position]
        # The caller reads the border, since only the caller knows whether another option follows.
        if nested and token in "|>":
            return tuple(nodes), position
        if token == "<":
            choice, position = _parse_choice(tokens, position + 1)
            nodes.append(choice)
            continue
        if token in ("|", ">"):
            raise ValueError(f"The template has {token!r} outside of a choice.")
        nodes.append(_parse_slot(token[1:-1]) if token.startswith("{") else token)
        position += 1
    if nested:
        raise ValueError("A choice of the template is not closed.")
    return tuple(nodes), position


def _parse_choice(tokens: list[str], position: int) -> tuple[Choice, int]:
    options = []
    while True:
        option, position = _parse(tokens, position, nested=True)
        options.append(option)
        # The token before the new position is "|" (another option follows) or ">" (the end).
        position += 1
        if tokens[position - 1] == ">":
            return Choice(tuple(options)), position


def _parse_slot(body: str) -> Slot | Number:
    number = _NUMBER.match(body)
    if number:
        if float(number[1]) >= float(number[3]):
            raise ValueError(f"The first bound must be the lower in the slot {body!r}.")
        return Number(float(number[1]), float(number[3]), len(number[2] or ""))
    slot = _SLOT.match(body)
    if not slot:
        raise ValueError(f"{body!r} is not a slot of a template.")
    # The casing of the name in the slot is the casing of the text.
    name = slot[1]
    if len(name) > 1 and name == name.upper():
        case = "upper"
    else:
        case = "capital" if name[0].isupper() else "as is"
    low, high = int(slot[2] or 1), int(slot[3] or 1)
    if not 1 <= low <= high:
        raise ValueError(f"The numbers must be at least 1 and ascend in the slot {body!r}.")
    return Slot(name.lower(), case, low, high, slot[4] or "space")
