"""MEDDOCAN XML: root ``MEDDOCAN``, one file per clinical case, otherwise like i2b2 2014.

A document id implies no patient because the cases come from articles. `note_xml` lists the information that the format
does not store.

Source: Marimon et al. (2019), "Automatic De-identification of Medical Texts in Spanish: the MEDDOCAN Track, Corpus,
Guidelines, Methods and Evaluation of Results", IberLEF.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...text import MEDDOCAN, Document
from ..format import Format, Item
from ..note_xml import Dialect, has_root, parse_note, render_note, without_tags


def _no_patient(doc_id: str) -> None:
    return None


_DIALECT = Dialect("MEDDOCAN", MEDDOCAN.category, _no_patient)


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the document of a file. With ``encoding=None`` the declared encoding of the file is used."""
    yield parse_note(path, encoding, _DIALECT)


def unanswered(path: Path, encoding: str | None = None) -> set[str]:
    """Id of a note without the element TAGS, as in a test set whose annotations are stored separately."""
    return without_tags(path, encoding, _DIALECT)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Content of the XML file. Control characters that XML cannot hold raise an error unless ``lossy`` is set."""
    return {".xml": render_note(document, _DIALECT, lossy)}


FORMAT = Format("meddocan-xml", (".xml",), read, write, recognise=has_root(_DIALECT.root), unanswered=unanswered)
