"""Names of common fonts.

Names of common fonts; other font names are removed from files, because they could be any text.
"""

from __future__ import annotations

FONTS = frozenset(
    " ".join(name.split())
    for name in """
    aptos, aptos display, arial, arial black, arial narrow, arial unicode ms, bahnschrift, batang, bell mt,
    book antiqua, bookman old style, bradley hand itc, calibri, calibri light, cambria, cambria math, candara, century,
    century gothic, century schoolbook, comic sans ms, consolas, constantia, corbel, courier, courier new, cursive,
    dejavu sans, dejavu sans mono, dejavu serif, ebrima, fantasy, franklin gothic book, franklin gothic medium,
    futura, gabriola, garamond, geneva, georgia, gill sans, gill sans mt, gulim, helvetica, helvetica neue, impact,
    ink free, inter, lato, liberation mono, liberation sans, liberation serif, lucida console, lucida grande,
    lucida sans, lucida sans unicode, malgun gothic, meiryo, menlo, microsoft sans serif, microsoft yahei, mingliu,
    monaco, monospace, montserrat, ms gothic, ms mincho, ms sans serif, ms shell dlg, noto sans, noto serif, open sans,
    optima, palatino, palatino linotype, perpetua, pmingliu, roboto, rockwell, sans-serif, segoe print, segoe script,
    segoe ui, segoe ui emoji, segoe ui symbol, serif, simhei, simsun, source sans pro, sylfaen, symbol, system-ui,
    tahoma, times, times new roman, trebuchet ms, tw cen mt, ubuntu, verdana, webdings, wingdings, wingdings 2,
    wingdings 3
    """.split(",")
)


def is_font(name: str) -> bool:
    """Whether a name is the name of a common font.

    Examples
    --------
    >>> is_font("Times New Roman"), is_font("Alder")
    (True, False)
    """
    return name.strip().lower() in FONTS
