"""XML from strangers: nothing is expanded, no file is opened, no address is asked.

A document type declaration is refused as soon as it begins. Without one there are no entities but the five of XML
itself, so that neither their expansion nor an external subset, external entity or parameter entity can do anything.
Bytes are decoded here and not by the XML parser: strictly, and in an encoding from a short list.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat

from .checking import SourceLocation
from .files import decode

__all__ = ["decode_xml", "parse_xml", "root_name"]

_DECLARED = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
# Python has codecs that a stranger's file has no business to choose: idna (quadratic), unicode_escape, ...
_ENCODINGS = re.compile(
    r"utf-?8|utf-?16(-?[bl]e)?|(us-)?ascii|latin-?1|iso-?8859-\d{1,2}|(windows-|cp)12\d\d", re.IGNORECASE
)
_HEAD_BYTES = 4096


def decode_xml(place: SourceLocation, data: bytes, encoding: str | None = None) -> str:
    """The text of an XML file, in ``encoding``, or in what the file declares, or else in UTF-8."""
    return decode(place, data, encoding or _declared_encoding(place, data))


def parse_xml(
    place: SourceLocation,
    text: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    characters: Callable[[str], None],
) -> None:
    """Hand the elements and characters of a document to three functions.

    Raises
    ------
    CorpusFormatError
        If the text is no well-formed XML or has a document type declaration.
    """
    parser = _parser(place)
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(text, True)  # a str overrides whatever encoding is declared
        return
    except expat.ExpatError as error:
        reason = f"{expat.ErrorString(error.code)}, line {error.lineno}, column {error.offset}"
    raise place.error(f"The file is no well-formed XML ({reason}).")


def root_name(place: SourceLocation, data: bytes) -> str | None:
    """Name of the root element, or None if the file does not begin like XML."""
    names: list[str] = []
    parser = _parser(place)
    parser.StartElementHandler = lambda name, attributes: names.append(name)
    head = data[:_HEAD_BYTES]
    try:
        parser.Parse(head.decode(_declared_encoding(place, head), "replace"), False)
    except expat.ExpatError:  # once the root is known, what comes after it does not matter here
        pass
    return names[0] if names else None


def _parser(place: SourceLocation) -> expat.XMLParserType:
    def refuse(*declaration: object) -> None:
        raise place.error("The file has a document type declaration. It is refused, because it could define entities.")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse  # cannot come without the former; a second lock costs nothing
    return parser


def _declared_encoding(place: SourceLocation, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    if not _ENCODINGS.fullmatch(name):
        raise place.error("The file declares an encoding that is not read unasked. Pass encoding=... if you trust it.")
    return name
