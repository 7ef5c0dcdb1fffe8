"""i2b2 2014 de-identification XML: root ``deIdi2b2``, one file per note.

File names have the form ``XXX-YY.xml`` with the numbers of patient and note. A document id of this form therefore
implies its patient id. Offsets count the characters of TEXT after XML parsing. `note_xml` lists the information that
the format does not store.

Source: Stubbs and Uzuner (2015), "Annotating longitudinal clinical narratives for de-identification: The 2014
i2b2/UTHealth corpus", J Biomed Inform 58:S20-S29.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...text import I2B2_2014, Document
from ..format import Format, Item
from ..note_xml import Dialect, has_root, parse_note, render_note, without_tags

_FILE_NAME = re.compile(r"([0-9]+)-[0-9]+")


def _patient_of(doc_id: str) -> str | None:
    match = _FILE_NAME.fullmatch(doc_id)
    return match[1] if match else None


_DIALECT = Dialect("deIdi2b2", I2B2_2014.category, _patient_of)


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the document of a file. With ``encoding=None`` the declared encoding of the file is used."""
    yield parse_note(path, encoding, _DIALECT)


def unanswered(path: Path, encoding: str | None = None) -> set[str]:
    """Id of a note without the element TAGS, as in a test set whose annotations are stored separately."""
    return without_tags(path, encoding, _DIALECT)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Content of the XML file. Control characters that XML cannot hold raise an error unless ``lossy`` is set."""
    return {".xml": render_note(document, _DIALECT, lossy)}


FORMAT = Format("i2b2", (".xml",), read, write, recognise=has_root(_DIALECT.root), unanswered=unanswered)
