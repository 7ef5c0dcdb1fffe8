"""Kinds of notes: alternatives for head, sections and foot."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("admission", "nursing", "radiology", "discharge", "letter", "message")
"""All kinds, in the order in which a stay leaves them behind."""


class Section(NamedTuple):
    """Part of a note under a heading.

    Parameters
    ----------
    titles : tuple of str
        Alternative headings. With an empty title, the section has no heading.
    bodies : tuple of str
        Alternative templates of the text.
    share : float, default=1.0
        Fraction of the notes that have this section.
    """

    titles: tuple[str, ...]
    bodies: tuple[str, ...]
    share: float = 1.0


class Kind(NamedTuple):
    """Kind of note, such as a discharge summary: the templates of its parts.

    Parameters
    ----------
    heads, feet : tuple of str
        Alternative templates of the head and of the foot.
    sections : tuple of Section
        Sections in their usual order.
    headed : float, default=1.0
        Fraction of the notes whose sections have headings.
    """

    heads: tuple[str, ...]
    sections: tuple[Section, ...]
    feet: tuple[str, ...]
    headed: float = 1.0
