"""Notes that are XML, with or without a declaration: CDA documents, and records such as those of exports."""

from __future__ import annotations

import re

# Names and addresses stand between elements, or in attributes, and no words around them say what they are.
_XML_START = re.compile(r"\ufeff?\s{0,8}<\?xml\s(?![^<]{0,200}<(?:!doctype )?html\b)", re.IGNORECASE)
_CLINICAL_XML = re.compile(
    r"""<ClinicalDocument\b|\bxmlns(?::\w{1,20})?=["'](?:urn:hl7-org:|https?://hl7\.org/)""", re.IGNORECASE
)
# A record of XML without a declaration is an element that HTML does not have.
_FIRST_TAG, _LAST_TAG = re.compile(r"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>"), re.compile(r"</([A-Za-z_][\w.:-]*)\s*>\Z")
_FIELD = re.compile(r"<([A-Za-z_][\w.:-]*)(\s[^<>]*)?>(?:([^<>]+)</\1\s*>)?")
_HTML = frozenset(
    """a address article b big blockquote body br caption center code dd div dl dt em font footer form h1 h2 h3 h4 h5 h6
    head header hr html i img input label li link main meta nav ol p pre s section small span strike strong style sub
    sup table tbody td textarea tfoot th thead title tr tt u ul""".split()
)
_FEWEST_FIELDS, _LONGEST_TAG = 2, 200
# Rarer elements of HTML, some of which are the first element of XML, and those of Word, such as <o:p> and <st1:City>.
_RARER_HTML = frozenset(
    """abbr acronym aside audio base bdi bdo button canvas caption cite col colgroup data datalist del details dfn
    fieldset figcaption figure g iframe ins kbd legend map mark math menu meter noscript object optgroup option output
    param path picture progress q rp rt ruby samp script select source summary svg template time var video
    wbr""".split()
)
_OF_WORD = re.compile(r"(?:o|st\d|v|w|m):")
_TAG = re.compile(r"<[^<>]*>")


def is_xml(text: str) -> bool:
    """Whether a note is XML. HTML is not, and ordinary text with a few tags is not.

    Examples
    --------
    >>> is_xml("<visit><who>Alder</who><ward>B2</ward></visit>"), is_xml("<div><p>Seen by Alder.</p></div>")
    (True, False)
    """
    return "<" in text and bool(_XML_START.match(text) or _CLINICAL_XML.search(text) or _is_record(text))


def _is_record(text: str) -> bool:
    """Whether a note is an element of XML, or a row of them, with fields in elements or in attributes."""
    text = text.strip("\ufeff \t\r\n")
    first, last = _FIRST_TAG.match(text), _LAST_TAG.search(text, max(0, len(text) - _LONGEST_TAG))
    if first is None or last is None:
        return False
    fields = [field for field in _FIELD.findall(text) if field[0].lower() not in _HTML]
    if _HTML.isdisjoint((first[1].lower(), last[1].lower())):
        return _n_fields(fields) >= _FEWEST_FIELDS
    # XML can have elements with names of HTML, too. In HTML, text outside of other elements is most of the text.
    fields = [field for field in fields if field[0].lower() not in _RARER_HTML and not _OF_WORD.match(field[0].lower())]
    n_letters = sum(_n_letters(value) for _, _, value in fields)
    return _n_fields(fields) >= _FEWEST_FIELDS and 2 * n_letters >= _n_letters(_TAG.sub(" ", text))


def _n_fields(fields: list[tuple[str, str, str]]) -> int:
    return sum(bool(attributes.strip() or value.strip()) for _, attributes, value in fields)


def _n_letters(text: str) -> int:
    return sum(map(str.isalpha, text))
