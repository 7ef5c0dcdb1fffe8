"""brat standoff: the unchanged note in ``NAME.txt``, its annotations in ``NAME.ann``.

Spans are the lines of the ``.ann`` file that begin with T: ``T1<TAB>LABEL start end<TAB>covered text``. The reader
ignores relations, events, attributes and notes, and refuses other lines, which may be damaged spans. brat divides a
span at line breaks and tabs into fragments (``T1<TAB>LABEL 4 8;9 14<TAB>Ann Roe``), and so does the writer. The reader
joins fragments with only white space between them, and refuses other fragments. The ``.txt`` file is decoded and not
changed.
Offsets count its code points, including a byte order mark. If the offsets of a corpus do not count the mark, read the
corpus with ``encoding="utf-8-sig"``.

brat has no field for patient ids, metadata and confidences. The writer stores patient and metadata as JSON in note
lines without an annotation (``#1<TAB>PatientId DOCUMENT<TAB>"p1"``), and the confidence of a span in a note of the span
(``#3<TAB>Confidence T1<TAB>0.87 (DOCTOR 8 15)``). The confidence is valid as long as label and offsets are unchanged.
brat and other tools show or ignore these lines. The format does not store the category of a span; ``label_scheme=``
restores the category from the label. Notes of annotators (``AnnotatorNotes``) are not read: they can quote the text.

Source: Stenetorp et al. (2012), "brat: a Web-based Tool for NLP-Assisted Text Annotation", EACL demonstrations. The
format is described in brat's manual under "standoff format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ...exceptions import CorpusFormatError
from ...text import Document, Span
from ..checking import SourceLocation, check_covered, check_label, flatten, parse_offset
from ..files import decode, read_lines, read_note
from ..format import Format, Item
from ..strict_json import dump_line, dump_meta, parse_meta, parse_patient

# Far more than any note has.
_MOST_LINES = 200_000
# The label and the offsets in brackets are those of the span as it was written.
_CONFIDENCE = re.compile(
    r"#[0-9]{1,9}\tConfidence (T[0-9]{1,9})\t([0-9](?:\.[0-9]{1,20})?(?:e-[0-9]{1,3})?) \((.*)\)\r?"
)
_SPAN_ID = re.compile(r"T[0-9]{1,9}[A-Za-z]?")
_GAP = re.compile(r"\s+")
# Relations, events, attributes, modifications, normalizations, equivalences and notes.
_NO_SPAN = tuple("REAMN*#")


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the document of a pair of files. ``path`` is one of the two files."""
    note, annotations = _partner_of(path, ".txt"), _partner_of(path, ".ann")
    place = SourceLocation(str(path), path.stem)
    if note is None:
        raise place.error("There is no .txt beside this .ann.")
    if annotations is None:
        raise place.error(
            "There is no .ann beside this .txt. A note without PHI has an empty .ann; "
            "notes that nobody has annotated are read with format='text'."
        )
    # The place changes with the file that is read, so that an error names the right file of the pair.
    place = place._replace(path=str(note))
    text = decode(place, read_note(place, note), encoding or "utf-8")
    yield _parse(place._replace(path=str(annotations)), text, annotations, encoding or "utf-8")


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Content of the two files: the unchanged note, and a T line for each span."""
    place, lines = SourceLocation(None, document.doc_id), []
    notes: list[str] = []
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"T{number}", span.label, spaces=False)
        if ";" in span.label:
            raise place.error("brat takes a semicolon for the border of two fragments. Rename the label.", f"T{number}")
        fragments = _fragments(document.text, span.start, span.end)
        offsets = ";".join(f"{start} {end}" for start, end in fragments)
        covered = flatten(" ".join(document.text[start:end] for start, end in fragments))
        lines.append(f"T{number}\t{span.label} {offsets}\t{covered}\n")
        if span.confidence is not None:
            # The first two notes are those of the document.
            written = f"{span.label} {span.start} {span.end}"
            notes.append(f"#{len(notes) + 3}\tConfidence T{number}\t{span.confidence} ({written})\n")
    if document.patient_id is not None:
        # brat keeps notes (#) of annotators. Patient and metadata are written in this form, because brat has no fields
        # for them.
        lines.append(f"#1\tPatientId DOCUMENT\t{dump_line(document.patient_id)}\n")
    if document.meta:
        lines.append(f"#2\tMeta DOCUMENT\t{dump_meta(document)}\n")
    return {".txt": document.text, ".ann": "".join([*lines, *notes])}


def _partner_of(path: Path, suffix: str) -> Path | None:
    """File with the same name and the given suffix in lower or upper case; None if there is no such file."""
    if path.suffix.lower() == suffix:
        return path
    return next((p for p in (path.with_suffix(suffix), path.with_suffix(suffix.upper())) if p.exists()), None)


def _has_annotations(files: Sequence[Path]) -> bool:
    """Whether the files are in the brat format.

    Text files alone are not accepted, since their annotations may have been lost.
    """
    return any(file.suffix.lower() in FORMAT.suffixes and _partner_of(file, ".ann") for file in files)


def _parse(place: SourceLocation, text: str, path: Path, encoding: str) -> Document:
    spans: dict[str, Span] = {}
    confidences: dict[tuple[str, str], float] = {}
    patient, meta = None, {}
    for number, line in read_lines(path, encoding):
        if isinstance(line, CorpusFormatError):
            raise line
        if number > _MOST_LINES:
            raise place.error(f"The annotations have more than {_MOST_LINES} lines. Split the file into notes.")
        if line.startswith("T"):
            annotation_id, span = _parse_span(place, text, line, number)
            if annotation_id in spans:
                raise place.error("The annotation id occurs twice.", annotation_id, span.start, span.end)
            spans[annotation_id] = span
        elif line.startswith("#1\tPatientId DOCUMENT\t"):
            patient = parse_patient(place, line.split("\t", 2)[2])
        elif line.startswith("#2\tMeta DOCUMENT\t"):
            meta = parse_meta(place, line.split("\t", 2)[2])
        elif (note := _CONFIDENCE.fullmatch(line)) and float(note[2]) <= 1:
            confidences[note[1], note[3]] = float(note[2])
        # A span behind a blank, a quotation mark or a byte order mark would be missing from the note.
        elif line.strip() and not line.startswith(_NO_SPAN):
            raise place.error(f"Line {number} is no annotation of brat.")
    found = [
        replace(span, confidence=confidences.get((annotation_id, f"{span.label} {span.start} {span.end}")))
        for annotation_id, span in spans.items()
    ]
    return Document(path.stem, text, tuple(found), patient, meta)


def _parse_span(place: SourceLocation, text: str, line: str, number: int) -> tuple[str, Span]:
    annotation_id, *columns = line.removesuffix("\r").split("\t", 2)
    if not _SPAN_ID.fullmatch(annotation_id):
        raise place.error(f"Line {number} begins with T but not with an annotation id and a tab.")
    if len(columns) < 2:
        raise place.error(f"Line {number} must be: id, tab, label and offsets, tab, covered text.", annotation_id)
    label, *fragments = columns[0].replace(" ", ";", 1).split(";")
    pairs = [fragment.split(" ") for fragment in fragments]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise place.error(f"Line {number} needs a label and two offsets, separated by single spaces.", annotation_id)
    check_label(place, annotation_id, label)
    offsets = [tuple(parse_offset(place, annotation_id, written) for written in pair) for pair in pairs]
    if len(offsets) == 1:
        ((start, end),) = offsets
        check_covered(place, annotation_id, text, start, end, columns[1])
        return annotation_id, Span(start, end, label)
    for start, end in offsets:
        check_covered(place, annotation_id, text, start, end)
    if any(end > start or text[end:start].strip() for (_, end), (start, _) in pairwise(offsets)):
        raise place.error(
            f"Line {number} is a discontinuous span, which no span with one start and one end can express. "
            "Split it into one annotation for each fragment.",
            annotation_id,
        )
    start, end = offsets[0][0], offsets[-1][1]
    if flatten(columns[1]) != flatten(" ".join(text[first:last] for first, last in offsets)):
        raise place.error(
            "The repeated text of the annotation differs from the text at its offsets.", annotation_id, start, end
        )
    return annotation_id, Span(start, end, label)


def _fragments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Offsets of the parts of a span between line breaks and tabs: brat does not show a span with a break inside."""
    gaps = [gap for gap in _GAP.finditer(text, start, end) if flatten(gap[0]) != gap[0]]
    if any(gap.start() == start or gap.end() == end for gap in gaps):
        return [(start, end)]  # the joined fragments would have other borders
    borders = [start, *(border for gap in gaps for border in gap.span()), end]
    return list(zip(borders[::2], borders[1::2], strict=True))


FORMAT = Format("brat", (".txt", ".ann"), read, write, recognise=_has_annotations)
