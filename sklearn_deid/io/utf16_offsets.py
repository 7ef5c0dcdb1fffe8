"""Offsets of tools written in JavaScript, which count UTF-16 units: characters beyond U+FFFF count twice."""

from __future__ import annotations


def units_before(text: str, offset: int) -> int:
    """UTF-16 units before an offset in code points.

    Examples
    --------
    >>> units_before("\\U0001f469 Ann", 2)
    3
    """
    return len(text[:offset].encode("utf-16-le")) // 2


def code_points_before(text: str, units: int) -> int | None:
    """Code points before an offset in UTF-16 units; None beyond the text or inside a character.

    Examples
    --------
    >>> code_points_before("\\U0001f469 Ann", 3), code_points_before("\\U0001f469 Ann", 1)
    (2, None)
    """
    encoded = text.encode("utf-16-le")
    if not 0 <= units <= len(encoded) // 2:
        return None
    try:
        return len(encoded[: 2 * units].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None
