"""What a kind of note is: alternatives for its head, sections and foot."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("admission", "nursing", "radiology", "discharge", "letter", "message")
"""All kinds, in the order in which a stay leaves them behind."""


class Section(NamedTuple):
    """A part of a note under its own heading.

    Parameters
    ----------
    titles : tuple of str
        Ways to call it; an empty title leaves out the heading.
    bodies : tuple of str
        Templates, one of which is written.
    share : float, default=1.0
        Share of the notes that have it.
    """

    titles: tuple[str, ...]
    bodies: tuple[str, ...]
    share: float = 1.0


class Kind(NamedTuple):
    """A kind of note.

    Parameters
    ----------
    heads, feet : tuple of str
        Templates, one of which is written.
    sections : tuple of Section
        In their usual order.
    headed : float, default=1.0
        Share of the notes whose sections bear headings at all.
    """

    heads: tuple[str, ...]
    sections: tuple[Section, ...]
    feet: tuple[str, ...]
    headed: float = 1.0
