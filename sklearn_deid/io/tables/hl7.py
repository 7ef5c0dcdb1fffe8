"""HL7 version 2 messages: free text of the given fields changes, and all other bytes are unchanged.

The separators are read from each message. Existing libraries (python-hl7, hl7apy) rebuild messages and do not report
the position of a field in the bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from ...exceptions import CorpusFormatError
from ...text import Edit, known_id
from ...text.normalized_text import edited
from ...text.word_counts import count_words
from ..checking import SourceLocation
from .columns import Columns
from .compression import open_decompressed, write_compressed
from .hl7_escapes import EscapedText, Separators
from .hl7_values import CODED, CODES, NUMBERS, PEOPLE, SEGMENTS, text_parts
from .table import CHUNK_ROWS, Cell, TableChunk, place_of

#: Fields with free text. The list names the types in OBX-2 for which OBX-5 holds text; an empty list means all types.
HL7_FIELDS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "OBX-5": ("TX", "FT", "ST", *sorted(CODED | NUMBERS | CODES)),
        **dict.fromkeys("NTE-3 OBR-13 OBR-31 OBR-39 ORC-16 PV2-3 PV2-12 DG1-4 PR1-4 AL1-5 IAM-5 DSP-3".split(), ()),
        **dict.fromkeys("RXO-6 RXO-7 RXE-7 RXE-21 RXA-9 RXD-9 RXG-9".split(), ()),
        **dict.fromkeys("RF1-10 SCH-7 ARQ-7 SPM-14 VAR-6 ACC-8 MSA-3 ERR-7 ERR-8".split(), ()),
        **dict.fromkeys("TQ1-10 TQ1-11 FT1-8 FT1-9 GOL-17 CON-5 CON-6 CON-7 CON-8 CON-9".split(), ()),
        **dict.fromkeys("PEO-13 PEO-14 PEO-15 PEO-16 PEO-17 PES-7 PES-8".split(), ()),
    }
)
# Types of HL7 2 in OBX-2 whose values are no documents. A text of an unknown type, such as "tx", would be copied.
_TYPES = frozenset(
    """AD CE CF CK CN CNE CP CQ CWE CX DLN DR DT DTM EI FC FT GTS HD ID IS JCC MA MO NA NM NR PL PN PPN PT SI SN SNM SPD
    ST TM TN TS TX VR XAD XCN XON XPN XTN""".split()
)
# How fields of segments that HL7 does not define are read: components with a blank are texts.
_OWN = "ID"
# Types without a unit and a reference range, and types that may have them.
_UNITLESS, _TEXTS = ("TX", "FT"), ("TX", "FT", "ST")
# Codes of HL7: the status of a result (table 0085), and the type of a comment (table 0364).
_STATUS = frozenset("ABCDFINOPRSUVWX")
_COMMENT_TYPES = frozenset("PI AI GI 1R 2R RE DR".split())
_TIME = re.compile(r"[0-9]{4,14}(?:\.[0-9]{1,4})?(?:[-+][0-9]{4})?")
_SHIFTED = (
    "segment has other fields beside a text than HL7 has there. The text may hold an unescaped separator, and its rest "
    "would be copied."
)
# Header fields without which a line is a part of a text: time (7), type (9), processing (11), version (12).
_HEADER = {7: _TIME, 9: re.compile(r"[A-Z][A-Z0-9]{2}"), 11: re.compile("[DPT]"), 12: re.compile(r"2(\.[0-9])*")}
# Segments that begin with their number.
_NUMBERED = frozenset("PID NK1 PV1 OBR OBX NTE DG1 PR1 AL1 IN1 GT1 SPM FT1 TXA DSP".split())
_WORDS = re.compile(r"[^\W\d_]{2}")
_SEGMENT = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_NAME = re.compile(r"[A-Z][A-Z0-9]{2}")
# Signs around a segment: the frames of MLLP, and the byte order mark that some programs write in front of a file.
_FRAME = "\x0b\x1c\ufeff"
_FRAME_BYTES = _FRAME.encode()
# Segments of a batch, with the place of their comment.
_ENVELOPE = {"FHS": 9, "BHS": 9, "BTS": 2, "FTS": 2}
_CHARSETS = {"": "utf-8", "ASCII": "utf-8", "UNICODE UTF-8": "utf-8", "UTF-8": "utf-8", "8859/1": "iso8859-1"}
_CHARSETS |= {f"8859/{n}": f"iso8859-{n}" for n in (2, 5, 7, 9, 15)}
_NOT_WRITTEN = (
    "The new text cannot be written: a name reaches over two fields, or the character set lacks a letter of it."
)
_LARGEST_MESSAGE = 2**26


class _Group(NamedTuple):
    """Pieces that form one note."""

    path: str
    first: int
    stop: int
    patient: str | None


class _Message:
    """Message with the positions of its texts."""

    def __init__(self, data: bytes, fields: Mapping[str, Sequence[str]], encoding: str | None) -> None:
        self.fields = fields
        self.encoding = encoding or _charset(data)
        self.source = self._decoded(data)
        self.marks = self._separators()
        self.patient: str | None = None
        self.pieces: list[tuple[int, int]] = []
        self.groups: list[_Group] = []
        self._read()

    def texts(self) -> list[str]:
        """Text of each group of neighbouring fields: a line for each field and each repetition."""
        return ["\n".join(old.text for old in self._lines(group)) for group in self.groups]

    def written(self, texts: Sequence[str | None]) -> bytes | None:
        """Message with new texts; None if a text is missing, or has another number of lines than fields."""
        edits: list[Edit] = []
        for group, new in zip(self.groups, texts, strict=True):
            old = self._lines(group)
            lines = None if new is None else _split(new, len(old))
            if lines is None:
                return None
            places = self.pieces[group.first : group.stop]
            edits += [Edit(*at, before.changed(after)) for at, before, after in zip(places, old, lines, strict=True)]
        try:
            return edited(self.source, edits).encode(self.encoding)
        except UnicodeError:
            return None

    def _lines(self, group: _Group) -> list[EscapedText]:
        pieces = self.pieces[group.first : group.stop]
        return [EscapedText(self.source[start:stop], self.marks, self.encoding) for start, stop in pieces]

    def _decoded(self, data: bytes) -> str:
        try:
            text = data.decode(self.encoding)
        except UnicodeError:
            text = None
        # A text that does not encode to the same bytes could not be written back unchanged.
        if text is None or text.encode(self.encoding) != data:
            raise CorpusFormatError("The message is not in its character set (MSH-18). Pass --encoding.")
        return text

    def _separators(self) -> Separators:
        head = self.source.lstrip(_FRAME)
        marks = head[3:8]
        is_set = len(set(marks)) == 5 and not any(c.isalnum() or c.isspace() for c in marks)
        if not (head.startswith("MSH") and is_set and head[8:9] in (marks[0], "#", "\r", "\n", "")):
            raise CorpusFormatError("The message does not begin with MSH and five different separators.")
        if not _is_header(head.splitlines()[0].split(marks[0]), marks[1]):
            raise CorpusFormatError(
                "The segment MSH lacks the type of the message (MSH-9), or has another time, processing or version "
                "than HL7 2. A text with a line break in clear may go on here."
            )
        return Separators(*marks)

    def _read(self) -> None:
        for line in re.finditer(r"[^\r\n]+", self.source):
            rest = line[0].lstrip(_FRAME)
            if rest:
                self._segment(rest.rstrip(_FRAME), line.end() - len(rest))

    def _segment(self, line: str, start: int) -> None:
        fields = line.split(self.marks.field)
        name = fields[0]
        # If a plain line break has cut a text, a line of three capitals in the text is no segment, either.
        if not _NAME.fullmatch(name) or len(fields) == 1:
            raise CorpusFormatError("A segment has no name of three letters, or no field.")
        if name in _NUMBERED and _WORDS.search(fields[1]):
            raise CorpusFormatError(f"The segment {name} has a word where HL7 has its number. A text may go on here.")
        if name == "PID" and len(fields) > 3:
            ids = (one.split(self.marks.component)[0] for one in fields[3].split(self.marks.repetition))
            self.patient = fields[3] if any(map(known_id, ids)) else None
        if name == "OBX" and len(fields) > 5 and fields[5] and not self._is_typed(fields[2]):
            raise CorpusFormatError(
                "An OBX segment holds a document, data of a person, or a value without a known type, which is not "
                "read. A profile can name the type."
            )
        if name == "ADD":
            raise CorpusFormatError("An ADD segment goes on with the text of the segment before, and is not read.")
        if (name == "OBX" and self._is_shifted_result(fields)) or (name == "NTE" and self._is_shifted_note(fields)):
            raise CorpusFormatError(f"An {name} {_SHIFTED}")
        self._texts_of(name, fields, start)

    def _texts_of(self, name: str, fields: list[str], start: int) -> None:
        """Add the texts of a segment, from left to right; the order in the profile does not matter."""
        named = {int(number): path for path in self.fields for of, _, number in [path.partition("-")] if of == name}
        # MSH-1 is the separator itself, so that its fields are counted from another place. It is no field of text.
        for at, value in enumerate(fields if name != "MSH" else ()):
            path = named.get(at)
            types = self.fields[path] if path is not None else ()
            # Segments of a site's own hold anything. A component of them without a blank is read as a code.
            if at and value and (path is not None or name not in SEGMENTS):
                kind = _OWN if path is None else fields[2] if path == "OBX-5" else ""
                parts = self._parts(kind, value) if not types or fields[2:3] and fields[2] in types else ()
                self._field(path or f"{name}-{at}", start, parts)
            start += len(value) + 1

    def _is_typed(self, kind: str) -> bool:
        # A profile without OBX-5 copies all its values.
        is_known = kind in _TYPES and (kind not in PEOPLE or not self.fields.get("OBX-5", ()))
        return is_known or any(kind in types for types in self.fields.values())

    def _is_text(self, kind: str, value: str) -> bool:
        if kind in _TEXTS or kind in CODED:
            return True
        return kind in NUMBERS | CODES and bool(self._parts(kind, value))

    def _parts(self, kind: str, value: str) -> list[tuple[int, int]]:
        return text_parts(kind, value, self.marks.component, self.marks.repetition, self.marks.escape)

    def _is_shifted_result(self, fields: list[str]) -> bool:
        """Whether the fields after a text in OBX-5 cannot be unit, range, flags, status and time of an observation."""
        if len(fields) < 7 or not self._is_text(fields[2], fields[5]):
            return False
        unit, reference, flags, chance, nature, status, time = [*fields[6:13], *[""] * (13 - len(fields))]
        if (fields[2] in _UNITLESS and (unit or reference)) or (time and not _TIME.fullmatch(time)):
            return True
        # The status is required. Behind the rest of a text, it stands in another field.
        return status not in _STATUS if status else any((unit, reference, flags, chance, nature))

    def _is_shifted_note(self, fields: list[str]) -> bool:
        """Whether the fields around a text in NTE-3 cannot be codes (2, 4, 9), a person (5) and times (6 to 8)."""
        if len(fields) > 2 and count_words(fields[2]) > 1:
            return True
        named = {int(path.partition("-")[2]) for path in self.fields if path.startswith("NTE-")}
        after = {at: value for at, value in enumerate(fields) if at > 3 and value and at not in named}
        return any(
            not (_TIME.fullmatch(value) if 6 <= at <= 8 else self._is_coded(value) or value in _COMMENT_TYPES)
            for at, value in after.items()
        )

    def _is_coded(self, value: str) -> bool:
        """Whether a value has components and begins with a code or an identifier, which contains no blank."""
        first, component, _ = value.partition(self.marks.component)
        return bool(component) and not any(map(str.isspace, first))

    def _field(self, path: str, start: int, parts: Sequence[tuple[int, int]]) -> None:
        if not parts:
            return
        first = len(self.pieces)
        self.pieces += [(start + begin, start + end) for begin, end in parts]
        last = self.groups[-1] if self.groups else None
        # Lines of one report are in segments of their own, and a name may reach over two of them.
        if last is not None and (last.path, last.patient) == (path, self.patient):
            self.groups[-1] = last._replace(stop=len(self.pieces))
        else:
            self.groups.append(_Group(path, first, len(self.pieces), self.patient))


def _charset(data: bytes) -> str:
    head = data.lstrip(_FRAME_BYTES).splitlines()[0]
    fields = head.split(head[3:4]) if len(head) > 3 else []
    name = fields[17].decode("ascii", "replace").strip() if len(fields) > 17 else ""
    if name not in _CHARSETS:
        raise CorpusFormatError("The message is in a character set that is not read (MSH-18). Pass --encoding.")
    return _CHARSETS[name]


def _split(new: str, n: int) -> list[str] | None:
    """The n lines of a new text; None if the text has more or fewer lines, or cannot be written."""
    lines = new.split("\n")
    unsafe = any(c in "\r\x0b\x1c" or "\ud800" <= c <= "\udfff" for c in new)
    return None if len(lines) != n or unsafe else lines


class Hl7Messages:
    """File of HL7 version 2 messages, one after another, also in batches and with the frames of MLLP.

    Neighbouring texts form one note, with a line for each field and repetition. An example are the lines of a report,
    each in its own OBX segment. A message is left out and listed if it is malformed, if it contains an embedded
    document, if one of its texts cannot be redacted, or if a name spans two fields.

    Parameters
    ----------
    path, output : Path
        Input file, and output file of `assemble`, whose ending determines the compression.
    fields : mapping of str to sequence of str
        Fields with free text, such as `HL7_FIELDS`.
    encoding : str, optional
        Encoding of all messages. With None, the encoding is the character set in MSH-18, or UTF-8 if MSH-18 is empty.
    """

    def __init__(
        self, path: Path, output: Path, fields: Mapping[str, Sequence[str]], encoding: str | None = None
    ) -> None:
        self.path, self.output, self.fields, self.encoding = path, output, fields, encoding
        self.columns = Columns(())
        self._is_own = any(tuple(types) != HL7_FIELDS.get(field) for field, types in fields.items())

    def chunks(self) -> Iterator[TableChunk]:
        """Yield the messages."""
        block: list[bytes] = []
        number = 0
        with open_decompressed(self.path) as stream:
            for message in self._messages(stream):
                block.append(message)
                if len(block) == CHUNK_ROWS:
                    yield self._chunk(block, number)
                    number, block = number + len(block), []
        if block:
            yield self._chunk(block, number)

    def assemble(self, pieces: Iterable[tuple[int, Path]], stream: BinaryIO) -> None:
        """Join the pieces."""
        write_compressed(self.output, (path for _, path in pieces), stream)

    def _messages(self, stream: BinaryIO) -> Iterator[bytes]:
        """Bytes of each message, and of each envelope of a batch."""
        lines: list[bytes] = []
        size = 0
        for segment in _segments(stream):
            name = segment.lstrip(_FRAME_BYTES)[:3].decode("ascii", "replace")
            if lines and (name == "MSH" or name in _ENVELOPE):
                yield b"".join(lines)
                lines, size = [], 0
            # Counted while it is read: without a second MSH, a whole file is one message.
            size += len(segment)
            if size > _LARGEST_MESSAGE:
                raise SourceLocation(str(self.path)).error("A message is larger than 64 MiB.")
            lines.append(segment)
        if lines:
            yield b"".join(lines)

    def _chunk(self, block: Sequence[bytes], before: int) -> TableChunk:
        # For each message and envelope, the places of its texts among the cells, and the function that writes it.
        found: list[tuple[slice, Callable[[Sequence[str | None]], bytes | None]]] = []
        cells: list[Cell] = []
        problems = []
        for number, data in enumerate(block, start=before + 1):
            if not data.strip(b"\r\n " + _FRAME_BYTES) or _is_envelope(data):
                if _has_text(data):
                    problems.append((place_of(number), "The segment of a batch has a text, which is not read."))
                else:
                    found.append((slice(0), lambda texts, data=data: data))  # type: ignore[misc]
                continue
            try:
                message = _Message(data, self.fields, self.encoding)
                texts = message.texts()
            except CorpusFormatError as error:
                problems.append((place_of(number), error.message))
                continue
            found.append((slice(len(cells), len(cells) + len(texts)), message.written))
            cells += [
                Cell(number, f"{group.path}[{n}]", text, None, group.patient)
                for n, (group, text) in enumerate(zip(message.groups, texts, strict=True))
            ]
        digest = sha256(b"".join(block)).hexdigest()
        counts = Counter(cell.column.partition("[")[0] for cell in cells)
        return TableChunk(
            digest,
            cells,
            problems,
            lambda texts: b"".join(written(texts[place]) or b"" for place, written in found),
            check=lambda texts: [
                (place.start, _NOT_WRITTEN)
                for place, written in found
                if None not in texts[place] and written(texts[place]) is None
            ],
            # The fields of this library are spelt correctly: messages may lack some of these fields.
            field_counts={path: counts[path] for path in self.fields} if self._is_own else {},
            has_whole_rows=True,
        )


def _is_envelope(data: bytes) -> bool:
    """Whether the bytes are a single segment of a batch.

    Segments after this segment that belong to no message are not read.
    """
    segments = [line for line in re.split(rb"[\r\n]", data) if line.strip(_FRAME_BYTES)]
    return len(segments) == 1 and segments[0].lstrip(_FRAME_BYTES)[:3].decode("ascii", "replace") in _ENVELOPE


def _is_header(fields: Sequence[str], component: str) -> bool:
    """Whether the fields of a segment MSH are the fields that HL7 defines. MSH-1 is the separator itself."""
    values = {at: fields[at - 1].split(component)[0].strip() if at <= len(fields) else "" for at in _HEADER}
    return bool(values[9]) and all(not value or _HEADER[at].fullmatch(value) for at, value in values.items())


def _has_text(data: bytes) -> bool:
    """Whether a segment of a batch has a comment, or a text in the fields for its separators, time and numbers.

    An end segment uses the separator of its header segment.
    """
    data = data.strip(b"\r\n " + _FRAME_BYTES)
    if not data:
        return False
    name, mark = data[:3].decode("ascii", "replace"), data[3:4].decode("latin-1")
    fields = data.decode("latin-1").split(mark) if mark.strip() else [name]
    comment = _ENVELOPE[name]
    if any(field.strip() for field in fields[comment : comment + 1]):
        return True
    if comment == _ENVELOPE["BTS"]:
        return any(not re.fullmatch(r"[0-9]*", field) for field in fields[1:2])
    marks, time = [*fields[1:2], ""][0], [*fields[6:7], ""][0]
    return not marks or any(c.isalnum() or c.isspace() for c in marks) or bool(time and not _TIME.fullmatch(time))


def _segments(stream: BinaryIO) -> Iterator[bytes]:
    """Segments with their ends. A block may end within a segment."""
    rest = b""
    while block := stream.read(2**20):
        rest += block
        if len(rest) > 2 * _LARGEST_MESSAGE:
            break
        ends = [found.end() for found in re.finditer(rb"\r\n|\r(?!\Z)|\n", rest)]
        start = 0
        for end in ends:
            yield rest[start:end]
            start = end
        rest = rest[start:]
    yield from (found for found in _SEGMENT.findall(rest) if found)
