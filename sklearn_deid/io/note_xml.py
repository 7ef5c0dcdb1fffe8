"""XML format of i2b2 2014 and MEDDOCAN: the note in ``TEXT`` (CDATA), its spans as empty elements in ``TAGS``.

The name of a span element is the category of the span. The attributes of the element are id, start, end, text, TYPE
(the label) and comment. The writer numbers the ids anew and drops the confidence of spans; the reader drops comments of
annotators. A span without a category is written with the category of its label in the scheme of the corpus. The format
has no field for some patient ids and metadata. The writer stores these values in the attributes ``patient_id`` and
``meta`` (JSON) of the root element; tools that read only TEXT and TAGS ignore these attributes.

XML parsers convert CRLF and CR to LF, and XML cannot represent most control characters. The writer ends the CDATA
section at each CR and writes ``&#13;``, so that the reader restores the same text. The writer refuses characters that
XML 1.0 cannot represent.

Files from untrusted sources are safe to read: the reader expands no entity, opens no other file and contacts no network
address. The reader refuses a document type declaration at its first character. Without a document type declaration, a
file has only the five entities of XML itself. Attacks with entity expansion, external subsets, external entities or
parameter entities are therefore impossible. The reader decodes the bytes strictly, in an encoding from a short list;
the XML parser decodes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from ..text import Document, Span
from .checking import SourceLocation, check_covered, check_label, known_id, parse_offset
from .files import decode, read_bytes, read_note
from .format import Format, Item
from .strict_json import dump_meta, parse_meta

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_ATTRIBUTE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
# Element name for a span without a category whose label is not in the scheme.
_NO_CATEGORY = "TAG"


@dataclass(frozen=True)
class Dialect:
    """Differences between the corpora that use the XML format of i2b2 2014.

    Parameters
    ----------
    root : str
        Name of the root element.
    category_of : callable
        Function from a label to its category in the scheme of the corpus, or to None.
    patient_of : callable
        Function from a document id to the implied patient id, or to None.
    """

    root: str
    category_of: Callable[[str], str | None]
    patient_of: Callable[[str], str | None]


def xml_format(name: str, dialect: Dialect) -> Format:
    """Format of a corpus with one XML file for each note.

    With ``encoding=None``, the encoding is read from the file.
    """

    def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
        yield _parse_note(path, encoding, dialect)

    def write(document: Document, lossy: bool = False) -> dict[str, str]:
        return {".xml": _render_note(document, dialect, lossy)}

    def write_text(document: Document, lossy: bool = False) -> dict[str, str]:
        return {".xml": _render_note(document, dialect, lossy, has_tags=False)}

    def recognise(files: Sequence[Path]) -> bool:
        first = next((file for file in files if file.suffix.lower() == ".xml"), None)
        # Only the first file is parsed: the check must stay fast for folders with many notes.
        return first is not None and _root_name(SourceLocation(str(first)), first) == dialect.root

    def unanswered(path: Path, encoding: str | None = None) -> set[str]:
        # A note without the element TAGS, as in a test set whose annotations are stored separately.
        found = _read(SourceLocation(str(path), path.stem), path, encoding, dialect)
        return set() if found.has_tags else {path.stem}

    return Format(name, (".xml",), read, write, recognise=recognise, unanswered=unanswered, write_text=write_text)


class _Elements:
    """Handler that collects text and spans of a file and refuses all other elements."""

    def __init__(self, place: SourceLocation, root: str) -> None:
        self.place, self.root = place, root
        self.attributes: dict[str, str] = {}
        self.text: list[str] | None = None
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.has_tags = False
        self._open: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self._open)
        if depth == 0:
            if name != self.root:
                raise self.place.error(f"The root element must be {self.root}.")
            self.attributes = attributes
        elif depth == 1 and name == "TEXT" and self.text is None:
            self.text = []
        elif depth == 2 and self._open[1] == "TAGS":
            self.tags.append((name, attributes))
        elif depth == 1 and name == "TAGS":
            self.has_tags = True
        else:
            raise self.place.error(
                "The root element may hold only one TEXT, and TAGS with spans. There is another element."
            )
        self._open.append(name)

    def end(self, name: str) -> None:
        # Expat guarantees that elements are closed in the right order.
        self._open.pop()

    def characters(self, data: str) -> None:
        if self._open[1:] == ["TEXT"] and self.text is not None:
            self.text.append(data)
        elif data.strip():
            raise self.place.error("There is text outside of the TEXT element.")


def _parse_note(path: Path, encoding: str | None, dialect: Dialect) -> Document:
    """Read a file. A broken file raises a CorpusFormatError with the problem and its location."""
    place = SourceLocation(str(path), path.stem)
    found = _read(place, path, encoding, dialect)
    if found.text is None:
        raise place.error("There is no TEXT element.")
    text = "".join(found.text)
    # All ids are checked before the first span, because two equal ids make every message about them ambiguous.
    _check_ids(place, found.tags)
    spans = [_parse_span(place, text, number, *tag) for number, tag in enumerate(found.tags, start=1)]
    patient = found.attributes.get("patient_id", dialect.patient_of(path.stem))
    meta = parse_meta(place, found.attributes["meta"]) if "meta" in found.attributes else {}
    return Document(path.stem, text, tuple(spans), patient or None, meta)


def _read(place: SourceLocation, path: Path, encoding: str | None, dialect: Dialect) -> _Elements:
    found = _Elements(place, dialect.root)
    parse_xml(place, decode_xml(place, read_note(place, path), encoding), found.start, found.end, found.characters)
    return found


def _render_note(document: Document, dialect: Dialect, lossy: bool, *, has_tags: bool = True) -> str:
    """Content of a document's file. With ``lossy``, each character that XML cannot represent is replaced by a space.

    Without TAGS, the file shows that nobody has annotated the note.
    """
    place = SourceLocation(None, document.doc_id)
    text = writable_xml(place, document.text, lossy)
    root = dialect.root + _root_attributes(place, document, dialect)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<{root}>", f"<TEXT>{_cdata(text)}</TEXT>"]
    spans = [_render_span(place, text, f"T{number}", span, dialect) for number, span in enumerate(document.spans, 1)]
    tags = ["<TAGS>", *spans, "</TAGS>"] if has_tags else []
    return "\n".join([*lines, *tags, f"</{dialect.root}>", ""])


def _check_ids(place: SourceLocation, tags: list[tuple[str, dict[str, str]]]) -> None:
    seen: set[str] = set()
    for number, (_, attributes) in enumerate(tags, start=1):
        written = attributes.get("id")
        if written is not None and written in seen:
            raise place.error("The annotation id occurs twice.", known_id(written, number))
        seen.add(written or "")


def _parse_span(place: SourceLocation, text: str, number: int, category: str, attributes: dict[str, str]) -> Span:
    annotation_id = known_id(attributes.get("id"), number)
    if not {"start", "end", "TYPE"} <= attributes.keys():
        raise place.error("The annotation needs the attributes start, end and TYPE.", annotation_id)
    start, end = (parse_offset(place, annotation_id, attributes[name]) for name in ("start", "end"))
    check_covered(place, annotation_id, text, start, end, attributes.get("text"))
    check_label(place, annotation_id, attributes["TYPE"])
    return Span(start, end, attributes["TYPE"], None if category == _NO_CATEGORY else category)


def _root_attributes(place: SourceLocation, document: Document, dialect: Dialect) -> str:
    attributes = ""
    if document.patient_id == "":
        raise place.error("The patient id is empty. Use None for an unknown patient.")
    if document.patient_id != dialect.patient_of(document.doc_id):
        patient = writable_xml(place, document.patient_id or "")
        attributes += f' patient_id="{patient.translate(_ATTRIBUTE)}"'
    if document.meta:
        attributes += f' meta="{writable_xml(place, dump_meta(document)).translate(_ATTRIBUTE)}"'
    return attributes


def _render_span(place: SourceLocation, text: str, annotation_id: str, span: Span, dialect: Dialect) -> str:
    check_label(place, annotation_id, span.label)
    category = span.category or dialect.category_of(span.label) or _NO_CATEGORY
    if not _NAME.fullmatch(category) or span.category == _NO_CATEGORY:
        raise place.error(
            "XML needs a category that can be the name of an element: ASCII letters, digits, '_', '.' and '-'.",
            annotation_id,
            span.start,
            span.end,
        )
    covered = text[span.start : span.end].translate(_ATTRIBUTE)
    label = writable_xml(place, span.label, annotation_id=annotation_id).translate(_ATTRIBUTE)
    offsets = f'start="{span.start}" end="{span.end}"'
    return f'<{category} id="{annotation_id}" {offsets} text="{covered}" TYPE="{label}" comment=""/>'


def writable_xml(place: SourceLocation, text: str, lossy: bool = False, annotation_id: str | None = None) -> str:
    """Text that XML can represent; with ``lossy``, a space replaces each character that XML cannot represent."""
    found = _FORBIDDEN.search(text)
    if found and not lossy:
        raise place.error(
            f"XML cannot hold the control character U+{ord(found[0]):04X}. Use format='jsonl', or convert the "
            "notes with lossy=True, which writes a space in its place (offsets stay the same).",
            annotation_id,
            # The offsets of a label would be taken for those of the text.
            *(found.span() if annotation_id is None else ()),
        )
    return _FORBIDDEN.sub(" ", text)


def _cdata(text: str) -> str:
    # CDATA ends at "]]>", and parsers turn a carriage return into a line feed. Both are moved out of the section.
    inside = text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    return f"<![CDATA[{inside}]]>"


_DECLARED = re.compile(rb"""(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
# Allowed encodings. A file from an untrusted source must not choose other codecs of Python: idna needs quadratic time,
# and unicode_escape interprets escapes.
_ENCODINGS = re.compile(
    r"utf-?8|utf-?16(-?[bl]e)?|(us-)?ascii|latin-?1|iso-?8859-\d{1,2}|(windows-|cp)12\d\d", re.IGNORECASE
)
_HEAD_BYTES = 4096


def decode_xml(place: SourceLocation, data: bytes, encoding: str | None = None) -> str:
    """Decode an XML file with ``encoding``; without ``encoding``, with the declared encoding or UTF-8."""
    return decode(place, data, encoding or _declared_encoding(place, data))


def parse_xml(
    place: SourceLocation,
    text: str,
    start: Callable[[str, dict[str, str]], None] | None = None,
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
) -> None:
    """Check a document, and pass its elements and characters to the given functions.

    Raises
    ------
    CorpusFormatError
        If the text is not well-formed XML or has a document type declaration.
    """
    parser = _parser(place)
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        # For a str, the parser ignores the declared encoding.
        parser.Parse(text, True)
        return
    except expat.ExpatError as error:
        reason = f"{expat.ErrorString(error.code)}, line {error.lineno}, column {error.offset}"
    raise place.error(f"The file is not well-formed XML ({reason}).")


def _root_name(place: SourceLocation, path: Path) -> str | None:
    """Name of the root element, or None if the start of the file is not XML."""
    names: list[str] = []
    parser = _parser(place)
    parser.StartElementHandler = lambda name, attributes: names.append(name)
    # A character cut in half at the end of the head becomes a replacement character.
    head = read_bytes(place, path, _HEAD_BYTES)
    try:
        parser.Parse(head.decode(_declared_encoding(place, head), "replace"), False)
    # Only the root element matters here; errors after the root element are found when the file is read.
    except expat.ExpatError:
        pass
    return names[0] if names else None


def _parser(place: SourceLocation) -> expat.XMLParserType:
    def refuse(*declaration: object) -> None:
        raise place.error(
            "The file has a document type declaration, which is refused because it could define entities."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    # An entity declaration needs a document type declaration, so this handler is a second line of defence.
    parser.EntityDeclHandler = refuse
    return parser


def _declared_encoding(place: SourceLocation, data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    if not _ENCODINGS.fullmatch(name):
        raise place.error(
            "The file declares an encoding that is not read by default. Pass encoding=... if you trust it."
        )
    return name
