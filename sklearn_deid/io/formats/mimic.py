"""Notes de-identified like the notes of MIMIC-II and III: identifiers are placeholders such as ``[**Hospital 12**]``.

The reader replaces each placeholder by an invented name, place, date or identifier of the same kind. The replacement is
a gold span of the i2b2 2014 scheme. Equal placeholders of a note are replaced by equal text. Each note has its own
random generator, whose seed is computed from the random seed and the document id. The order and number of notes
therefore do not affect the invented text.

A ``.txt`` file is a single note. A ``.csv`` file is a table with the columns of NOTEEVENTS. The columns TEXT and ROW_ID
are required, and SUBJECT_ID is the patient.

Source: Neamatullah et al. (2008), "Automated de-identification of free-text medical records", BMC Med Inform Decis Mak
8:32; Johnson et al. (2016), "MIMIC-III, a freely accessible critical care database", Sci Data 3:160035.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from hashlib import sha256
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from ...surrogates import Chance, PlaceholderFiller, is_name_label
from ...text import I2B2_2014, Document, Span
from ..checking import SourceLocation, check_text
from ..files import decode, open_regular, read_note, wrong_encoding
from ..format import Format, Item, document_or_error

_PLACEHOLDER = re.compile(r"\[\*\*([^\[\]]{0,160}?)\*\*\]")
_REMAINS = re.compile(r"\[\*\*|\*\*\]")
_BEFORE_DOCTOR = re.compile(
    r"\b(dr|drs|doctor|attending|pcp|md|dictated by|signed by|np|rn|pa)\b[.:,]*\s*$", re.IGNORECASE
)
_AFTER_DOCTOR = re.compile(r",?\s*(m\.?d\b|r\.?n\b|n\.?p\b|d\.?o\b|p\.?a\b|ph\.?d\b)", re.IGNORECASE)
_LARGEST_CELL = 2**24
# Far more placeholders than any note has. Each placeholder costs a draw of invented text.
_MOST_PLACEHOLDERS = 20_000


def read(path: Path, encoding: str | None = None, seed: int = 0) -> Iterator[Item]:
    """Yield the notes of a file. Their placeholders are replaced by invented text."""
    if path.suffix.lower() == ".csv":
        yield from _read_table(path, encoding or "utf-8-sig", seed)  # spreadsheets write a byte order mark
        return
    place = SourceLocation(str(path), path.stem)
    yield _note(place, decode(place, read_note(place, path), encoding or "utf-8"), None, seed)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Always raise: the positions and kinds of the placeholders are lost after reading."""
    raise SourceLocation(None, document.doc_id).error(
        "Notes cannot be written with placeholders of MIMIC. Use another format, such as 'jsonl'."
    )


def _read_table(path: Path, encoding: str, seed: int) -> Iterator[Item]:
    place = SourceLocation(str(path))
    # The limit of the csv module holds for the whole process. The limit is only raised, never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    failure = None
    try:
        with TextIOWrapper(open_regular(place, path), encoding=encoding, newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            names = [name.upper() for name in reader.fieldnames or ()]
            if len(set(names)) < len(names):
                raise place.error("The table has two columns of the same name.")
            reader.fieldnames = names
            for number, cells in enumerate(reader, start=1):
                doc_id, text = cells.get("ROW_ID"), cells.get("TEXT")
                # A text with a comma and without quotes goes on in cells that have no name.
                if not doc_id or text is None or None in cells:
                    yield place.error(f"Row {number} needs a ROW_ID and a TEXT, and no more cells than the header.")
                else:
                    place_of_note, patient = SourceLocation(str(path), doc_id), cells.get("SUBJECT_ID") or None
                    yield document_or_error(_note, place_of_note, text, patient, seed)
        return
    except OSError as error:
        failure = place.error(f"The file cannot be read: {error.strerror}.")
    except UnicodeError:
        failure = wrong_encoding(place, encoding, "after the last row that could be read")
    except csv.Error:
        failure = place.error("The file is not a table of comma-separated values, or a cell is too large.")
    raise failure


def _note(place: SourceLocation, text: str, patient_id: str | None, seed: int) -> Document:
    """One note in which the placeholders are replaced.

    Raises
    ------
    CorpusFormatError
        If a placeholder has no known kind or no end (the message contains its offsets in the file's text), or if there
        are more than 20,000 placeholders.
    """
    assert place.doc_id is not None
    check_text(place, text)
    # The random numbers depend on the id of the note, so that a note has the same surrogates in every file and order.
    digest = int.from_bytes(sha256(place.doc_id.encode()).digest()[:8], "big")
    if text.count("[**") > _MOST_PLACEHOLDERS:
        raise place.error(f"The note has more than {_MOST_PLACEHOLDERS} placeholders. Split the file into notes.")
    filler = PlaceholderFiller(Chance(np.random.SeedSequence([seed, digest])))
    pieces: list[str] = []
    spans: list[Span] = []
    length = position = 0
    for found in _PLACEHOLDER.finditer(text):
        between = _checked(place, text, position, found.start())
        pieces.append(between)
        length += len(between)
        # Two name placeholders with a space between them are first name and last name of one person.
        last = spans[-1] if spans and spans[-1].end == length - len(between) else None
        goes_on = last is not None and is_name_label(last.label) and between.strip(" ") == "" and len(between) < 3
        is_doctor = last.label == "DOCTOR" if goes_on and last else _is_doctor(text, found.start(), found.end())
        parts = filler.fill(found[1], is_doctor)
        if parts is None:
            raise place.error("The kind of the placeholder is unknown.", None, found.start(), found.end())
        for piece, label in parts:
            start = length
            pieces.append(piece)
            length += len(piece)
            if label is None:
                continue
            if goes_on and last is not None and label == last.label:
                start = spans.pop().start  # first name and last name are one span
            spans.append(Span(start, length, label, I2B2_2014.category(label)))
        position = found.end()
    pieces.append(_checked(place, text, position, len(text)))
    return Document(place.doc_id, "".join(pieces), tuple(spans), patient_id)


def _checked(place: SourceLocation, text: str, start: int, end: int) -> str:
    """Text between placeholders. Raise an error for an incomplete placeholder in this text."""
    half = _REMAINS.search(text, start, end)
    if half is not None:
        raise place.error("A placeholder is incomplete.", None, half.start(), half.end())
    return text[start:end]


def _is_doctor(text: str, start: int, end: int) -> bool:
    """Whether a title precedes a placeholder for a name, or a degree follows it, possibly after further names."""
    if _BEFORE_DOCTOR.search(text, max(0, start - 30), start):
        return True
    # The loop skips placeholders that follow directly, such as the last name behind the first name.
    while (following := _PLACEHOLDER.match(text, end + (text[end : end + 1] == " "))) is not None:
        end = following.end()
    return _AFTER_DOCTOR.match(text, end) is not None


FORMAT = Format("mimic", (".txt",), read, write, also_read=(".csv",), seeded=read, writable=False)
