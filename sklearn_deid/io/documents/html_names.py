"""Elements, attributes and values of HTML that a redacted page may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .font_names import is_font


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Elements that break no line, and elements that a browser does not show: a word continues behind such elements.
INLINE = _words(
    """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label link mark meta nobr o:p output q rp
    rt ruby s samp script small span strike strong style sub sup time tt u var wbr"""
)
ELEMENTS = INLINE | _words(
    """address article aside base basefont blockquote body br button caption center col colgroup datalist dd details
    dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html img
    input legend li main menu meter nav noscript ol optgroup option p pre progress section select summary table tbody
    td template textarea tfoot th thead title tr ul"""
)
# Elements whose content is not read, or has other rules.
REFUSED = _words(
    """applet audio canvas embed frame frameset iframe isindex map math noembed noframes object picture plaintext svg
    video xml xmp"""
)
#: Elements whose content holds no tags.
RAW = _words("script style textarea title")
#: Attributes that readers see.
TEXTS = _words("alt title placeholder value label summary abbr aria-label aria-description aria-roledescription")
FLAGS = _words("checked compact disabled hidden multiple noshade nowrap open readonly required reversed selected")
_FORM = _words(
    """align bgcolor border bordercolor cellpadding cellspacing clear color cols colspan dir face frame height hspace
    lang link alink vlink text noshade nowrap role rows rowspan rules scope size span start tabindex type valign
    vspace width xml:lang xmlns xmlns:v xmlns:o xmlns:w xmlns:m rel charset media http-equiv"""
)
_VALUES = _words(
    """left right center middle top bottom justify baseline char all none rows cols groups void above below hsides lhs
    rhs vsides box border ltr rtl auto yes no row col rowgroup colgroup text button checkbox radio submit reset
    hidden password email tel number date search disc circle square a i text/css stylesheet black silver gray white
    maroon red purple fuchsia green lime olive yellow navy blue teal aqua orange transparent screen print nowrap
    noshade presentation main table heading list listitem region content-type content-style-type content-language
    viewport refresh"""
)
_NUMBER = re.compile(
    r"[-+]?[0-9]{1,6}(\.[0-9]+)?(px|%|em|rem|pt|in|cm|mm|\*)?|#?[0-9a-f]{3}|#?[0-9a-f]{6}", re.IGNORECASE
)
# Languages of three letters have codes such as "lee", which are names, too.
_LANGUAGE = re.compile(r"[A-Za-z]{2}(-([A-Za-z]{4}|[A-Za-z]{2}|[0-9]{3})){0,2}")
#: Declaration of a style sheet. A word alone, and a property of the user, do not count as formatting.
CSS_RULE = re.compile(r"\s*(?!--)[A-Za-z-]+\s*:[^:]*|\s*")
#: Reference to a character with more digits than any character has. Browsers read any number, and `html.unescape`
#: raises an error for thousands of digits.
LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8}|[xX][0-9a-fA-F]{7})")
_SPACE = re.compile(
    r"http://www\.w3\.org/(1999/xhtml|TR/REC-html40)|urn:schemas-microsoft-com:(vml|office:(office|word))"
    r"|http://schemas\.microsoft\.com/office/2004/12/omml"
)
_PAGE = re.compile(r"(text/html|application/xhtml\+xml)\s*(;\s*charset=[a-z0-9-]+)?|text/css", re.IGNORECASE)
_SCREEN = (
    r"(width|height|(initial|minimum|maximum)-scale|user-scalable|shrink-to-fit|viewport-fit)\s*=\s*"
    r"([0-9.]{1,6}|device-(width|height)|yes|no|auto|cover|contain)"
)
_VIEWPORT = re.compile(rf"{_SCREEN}(\s*[,;]\s*{_SCREEN})*\s*")
#: Codecs of the encodings that a page may declare. Browsers read Latin-1 as Windows-1252.
CHARSETS = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("windows-1252", "cp1252", "iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"), "cp1252"),
    **{f"windows-{n}": f"cp{n}" for n in (1250, 1251, 1253, 1254, 1255, 1256, 1257)},
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 5, 7, 13, 15)},
}
#: Words of style sheets and page structure that are also words of addresses and institutions.
FORM_WORDS = _words(
    """align auto background black block body bold border bottom box center circle color content display end float font
    footer form green grid gray head header height hidden inline inner input italic justify left line link list main
    margin middle none normal note notes outer padding page position print relative right root row section size
    small solid space style table text title top underline vertical white width wrap"""
)


def is_form(name: str, value: str) -> bool:
    """Whether an attribute is known to contain formatting only.

    Examples
    --------
    >>> is_form("align", "CENTER"), is_form("align", "Alder"), is_form("data-note", "3")
    (True, False, False)
    """
    if name == "name":
        return value == "viewport"
    if name not in _FORM:
        return False
    if name == "face":
        return all(is_font(part.strip("\"' ")) for part in value.split(","))
    if name.startswith("xmlns"):
        return _SPACE.fullmatch(value) is not None
    if name in ("lang", "xml:lang"):
        return _LANGUAGE.fullmatch(value) is not None
    return value.lower() in _VALUES or _NUMBER.fullmatch(value) is not None or value.lower() in CHARSETS


def is_form_of_page(values: Mapping[str, str]) -> bool:
    """Whether the ``content`` of a ``meta`` element with these attributes holds no text."""
    content = values.get("content", "")
    if values.get("http-equiv") in ("content-type", "content-style-type"):
        return _PAGE.fullmatch(content) is not None
    return values.get("name") == "viewport" and _VIEWPORT.fullmatch(content) is not None


def is_css_word(written: str) -> bool:
    """Whether a string of a style sheet is the name of a common font."""
    return written[:1] in "\"'" and is_font(written[1:-1])


def emptied_css(written: str) -> str:
    """Replacement of a comment, a string or an address in a style sheet."""
    return '""' if written[0] == '"' else "''" if written[0] == "'" else "" if written[0] == "/" else "none"
