"""Numbers in messages: "1 note", "2 notes"."""

from __future__ import annotations


def counted(n: int, one: str, more: str | None = None) -> str:
    """Number with its noun. ``more`` is the plural if it is not ``one`` with an s.

    Examples
    --------
    >>> counted(1, "note"), counted(0, "note"), counted(2, "note was", "notes were")
    ('1 note', '0 notes', '2 notes were')
    """
    return f"{n} {one if n == 1 else more or one + 's'}"
