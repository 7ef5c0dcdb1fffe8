"""Elements, attributes and values of HTML that a redacted page may hold, and how a browser shows elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from .font_names import FONTS, is_font


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Elements that break no line, and elements that a browser does not show: a word continues behind such elements.
INLINE = _words(
    """a abbr acronym b base basefont bdi big cite code data del dfn em font i ins kbd label link mark meta nobr
    o:p output q rp rt ruby s samp script small span strike strong style sub sup time tt u var wbr"""
)
ELEMENTS = INLINE | _words(
    """address article aside blockquote body br button caption center col colgroup datalist dd details dialog dir
    div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html img input
    legend li main menu meter nav noscript ol optgroup option p pre progress section select summary table
    tbody td template textarea tfoot th thead title tr ul"""
)
# Elements whose content is not read, or has other rules.
REFUSED = _words(
    """applet audio bdo canvas embed frame frameset iframe isindex map math noembed noframes object picture plaintext
    svg video xml xmp"""
)
#: Elements without content.
VOID = _words("base basefont br col hr img input link meta wbr")
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
# Any other word of a style sheet could be a name, and is renamed. Parts of the names of properties, values, functions,
# pseudo-classes and queries, between hyphens.
_CSS_WORDS = (
    frozenset(
        """
    a above absolute accent action active adjust after alias aliceblue all allowed alpha alternate always anchor
    and animation antiquewhite any anywhere appearance aqua area areas around asian aspect at attachment attr auto
    avoid backdrop backface backwards balance bar baseline basis before behavior beige below bezier bidi black
    blend blink blue blur bold bolder both bottom box br break breaks brightness brown calc cap capitalize caps
    caption capture caret cells center ch chain change character charset check checked child chocolate circle
    clamp clear clip clone close cmyk coarse col collapse color cols column columns compact composite condensed
    conic contain container contents contextual contrast control coral cornflowerblue counter counters cover cqb
    cqh cqi cqmax cqmin cqw crimson crop cross crosshair css cubic current currentcolor cursor curve cyan cycle
    dark darkblue darkgray darkgreen darkgrey darkorange darkred dasharray dashed decimal decoration default deg
    delay dense descent details device diagonal dim dimgray dir direction disabled disc display dominant dotted
    double down dpcm dpi dppx drop duration dvh dvw e ease east effect element ellipse ellipsis em embed empty
    enabled end even events ew ex expanded export extra face fade fallback family fast feature fill filter fine
    firebrick first fit fixed flat flex flip float flow focus font footer format forwards fr fraction frames from
    fuchsia full fullscreen function gainsboro gap geometricprecision ghostwhite gold goldenrod grad gradient gray
    grayscale green grey grid groove group grow hand hanging has head heading height help hidden hide high
    highlight historical horizontal hotpink hover hsl hsla hue hyphenate hyphens hz icon ideograph idle ignore
    image import important in increment indent index indigo infinite inherit initial inline inner inset inside
    inter internal invalid invert ios is isolate isolation items iteration ivory javascript justify keep kerning
    key keyframes khaki khtml khz landscape lang large larger last lavender layer layout leading leave left legend
    length letter level lh ligatures light lightblue lighten lighter lightgray lightgreen lightgrey lightsteelblue
    lightyellow lime limit line linear linen lines lining link list listitem literal local locked loop lower
    lowercase ltr luminance luminosity lvh lvw macos magenta manual margin mark marker maroon mask masonry matches
    matrix max maximum media medium menu message middle min minmax mintcream mistyrose mix mode monospace more
    move moz ms mso multiply n name namespace narrow native navy no none normal north not nowrap ns nth number
    numeric nums o object oblique odd of off offset olive on one only opacity open optical optimize
    optimizelegibility optimizespeed optional or orange orchid ordinal orient orientation origin orphans os out
    outline outset outside over overflow overlay overline override overscroll padding page paged paint painted pan
    panel parent pattern paused perspective peru pinch pink pixelated place placeholder plum pointer polygon
    portrait position pre preferred prefers preserve pressed print progid progress property proportional proximity
    pt punctuation purple px q quotes r radial radio radius random range rate ratio read rect red reduce reduced
    region relative rem render rendering repeat repeating required reset resize resolution reverse revert rgb rgba
    ridge right rlh role root rotate rotatex rotatey round row rows royalblue rtl ruby rule rules run running s
    safe salmon sans saturate saturation scale scalex scaley scheme screen scroll scrollbar scrolling seagreen
    search select selection self separate sepia serif set settings shadow shape shift show shrink side sideways
    sienna silver size sizing skew skewx skewy skip skyblue slashed slateblue slategray slice slow small smaller
    smooth smoothing snap snow soft solid source south space spacing span speak speech speed spin spread square
    src stack start state static status steelblue step steps sticky stop stretch strict stroke strong style styles
    sub subpixel super supports svg svh svw swap symbols synthesis system tab table tabular tan tap target teal
    text thick thickness thin thistle through thumb timing to toggle tomato top touch track transform transition
    translate translate3d translatex translatey translatez transparent tt turn turquoise type ui under underline
    unicode unit unset up upper uppercase upright url use user valid value values var variable variant variation
    vendor vertical vh violet visibility visible visited vmax vmin vw w wait walk wavy webkit weight west wheat
    where white whitesmoke wide widows width will word words wrap writing x xl xs y yellow z zero zoom
    """.split()
    )
    | FORM_WORDS
    | ELEMENTS
    | frozenset(word for font in FONTS for word in re.split("[ -]", font))
)
_CSS_WORD = re.compile(r"#?[\w-]+")
# Number in front of a unit, or of the letters of a name that begins with digits.
_CSS_NUMBER = re.compile(r"[-\d]*(?:[eE][-\d]+)?")
_COLOR = re.compile(r"#(?:[0-9A-Fa-f]{3,4}){1,2}")
# No measure of a page has that many digits.
_LONG_NUMBER = re.compile(r"(?<=\.)\d{6,}|(?<![\d.])\d{6,}")
#: How a browser shows an element.
Kind = Literal["block", "inline", "hidden"]
# Deleted text, readings of signs, and elements that browsers do not show at their place.
_APART = frozenset("datalist del dialog noscript rp rt s strike template title".split())
_GAP = r"(?:\s|/\*[^*]*\*/)*"
_SET = rf"{_GAP}:{_GAP}"
_HIDING = re.compile(
    rf"(?<![\w-])(?:display{_SET}none|visibility{_SET}(?:hidden|collapse)|mso-hide|position{_SET}(?:absolute|fixed)"
    rf"|clip(?:-path)?{_GAP}:|text-indent{_SET}-|color{_SET}transparent"
    rf"|(?:font-size|opacity|(?:max-)?width|(?:max-)?height){_SET}0(?:\.0*)?(?![\d.]))"
)
_INLINE = re.compile(rf"(?<![\w-])display{_SET}(?:inline|contents)(?![\w-])")
_BLOCK = re.compile(rf"(?<![\w-])display{_SET}(?:block|table|flex|grid|list-item)(?![\w-])")
_ANY = re.compile(r":(?!:|root|host|before|after)")
# Conditions of a selector. Elements with a condition in ":not()" are those that are not selected.
_WITH_ATTRIBUTE, _NOT = re.compile(r"\[\s*([\w-]+)[^\[\]]*\]"), re.compile(r":not\([^()]*\)")
_SELECTED, _TAG, _SPACES = re.compile(r"[#.]([\w-]+)"), re.compile(r"[a-z][a-z0-9]*|\*"), re.compile(r"[\s>+~]+")


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


def is_css(word: str) -> bool:
    """Whether all parts of an identifier in a style sheet are words of CSS.

    Examples
    --------
    >>> is_css("border-top-width"), is_css("-webkit-box"), is_css("font-alder")
    (True, True, False)
    """
    return all(part.lower() in _CSS_WORDS for part in word.split("-") if part)


def without_names(css: str, rename: Callable[[str], str]) -> str:
    """Declarations of a style sheet in which other words are renamed and long numbers shortened.

    Examples
    --------
    >>> without_names("color: #fff; font-family: Alder, serif; z-index: 4711081542", lambda word: "n1")
    'color: #fff; font-family: n1, serif; z-index: 99999'
    """

    def new(found: re.Match[str]) -> str:
        word = found[0]
        if word.isdecimal():
            return word
        if word[0] == "#":
            return word if _COLOR.fullmatch(word) else f"#{rename(word[1:])}"
        number = _CSS_NUMBER.match(word)
        bare = word[number.end() if number else 0 :]
        return word if is_css(bare) else word.removesuffix(bare) + rename(bare)

    return _LONG_NUMBER.sub(_shorter, _CSS_WORD.sub(new, css))


def _shorter(number: re.Match[str]) -> str:
    is_fraction = number.string[number.start() - 1 : number.start()] == "."
    return number[0][:5] if is_fraction else "99999"


class Display:
    """Kind of each element of a page, from its name, its attributes and the style sheets of the page.

    If a style sheet hides an element in some cases, such as in print, the element counts as hidden.

    Parameters
    ----------
    source : str
        Source of the page.

    Examples
    --------
    >>> display = Display("<style>.x {display: none}</style>")
    >>> display.kind("b", {}), display.kind("p", {}), display.kind("b", {"class": "x y"})
    ('inline', 'block', 'hidden')
    """

    def __init__(self, source: str) -> None:
        self._kinds: dict[str, set[Kind]] = {}
        parts = source.lower().split("{") if "<style" in source.lower() else []
        for before, behind in zip(parts[:-1], parts[1:], strict=True):
            kind = _declared(behind.partition("}")[0])
            if kind is None:
                continue
            selectors = _WITH_ATTRIBUTE.sub(r"[\1]", _NOT.sub(":not", before))
            for selector in re.split("[}<>;]", selectors)[-1].split(","):
                for name in _selected(_SPACES.split(selector.strip())[-1], kind):
                    self._kinds.setdefault(name, set()).add(kind)

    def kind(self, element: str, attributes: Mapping[str, str]) -> Kind:
        """Kind of an element with these attributes, all in lower case."""
        own = _declared(attributes.get("style", ""))
        names = [*attributes.get("class", "").split(), attributes.get("id", ""), f"<{element}", "<*"]
        names += (f"[{name}" for name in attributes)
        found = set().union(*(self._kinds.get(name, ()) for name in names)) | ({own} if own else set())
        is_input = element == "input" and attributes.get("type") == "hidden"
        if "hidden" in found or "hidden" in attributes or element in _APART or is_input:
            return "hidden"
        usual: Kind = "inline" if element in INLINE else "block"
        return own or (found.pop() if len(found) == 1 else usual)


def _selected(last: str, kind: Kind) -> list[str]:
    """Classes and ids of the last part of a selector; without them, its tag, or an attribute ("[align"), or any tag."""
    if names := _SELECTED.findall(last):
        return names
    if tag := _TAG.match(last):
        return [f"<{tag[0]}"]
    if kind != "hidden":
        return []
    if attribute := re.match(r"\[[\w-]+", last):
        return [attribute[0]]
    # A pseudo-class alone, such as ":first-child", can select any element.
    return ["<*"] if _ANY.match(last) else []


def _declared(declarations: str) -> Kind | None:
    """Kind of element that the declarations of a style sheet set."""
    if _HIDING.search(declarations):
        return "hidden"
    return "inline" if _INLINE.search(declarations) else "block" if _BLOCK.search(declarations) else None
