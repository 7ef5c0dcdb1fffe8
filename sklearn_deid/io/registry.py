"""Which formats there are, which one a path is in, and which files of a folder belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..exceptions import CorpusFormatError, DataNotFoundError
from .brat import BRAT, partner_of
from .checking import SourceLocation
from .conll import CONLL
from .docbin import DOCBIN
from .files import read_bytes
from .formats import Format
from .i2b2 import I2B2
from .jsonl import JSONL
from .meddocan import MEDDOCAN_XML
from .mimic import MIMIC
from .plain_text import PLAIN_TEXT
from .safe_xml import root_name

__all__ = ["FORMATS", "get_format", "guess_format", "source_files"]

#: The formats by name.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {found.name: found for found in (I2B2, MEDDOCAN_XML, BRAT, CONLL, JSONL, PLAIN_TEXT, MIMIC, DOCBIN)}
)
_ROOTS = {"deIdi2b2": I2B2, "MEDDOCAN": MEDDOCAN_XML}


def get_format(name: str) -> Format:
    """The format of that name.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.

    Examples
    --------
    >>> get_format("brat").suffixes
    ('.txt', '.ann')
    """
    if name not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {_names()}. Got {name!r} instead.")
    return FORMATS[name]


def guess_format(path: Path) -> Format:
    """The format of a file or folder, by its suffixes and, for XML, its root element.

    Raises
    ------
    DataNotFoundError
        If nothing is there.
    CorpusFormatError
        If the files fit no format or more than one. Text files without annotations are never taken for brat, nor
        for raw notes: whether nobody annotated them or their annotations got lost has to be said.
    """
    files = _files(path)
    suffixes = {file.suffix.lower() for file in files}
    found = [fmt for fmt in (CONLL, JSONL, DOCBIN) if suffixes & set(fmt.suffixes)]
    if ".ann" in suffixes or (path.is_file() and ".txt" in suffixes and partner_of(path, ".ann")):
        found.append(BRAT)
    if ".xml" in suffixes:
        first = next(file for file in files if file.suffix.lower() == ".xml")
        root = root_name(SourceLocation(str(first)), read_bytes(SourceLocation(str(first)), first))
        found += [_ROOTS[root]] if root in _ROOTS else []
    if len(found) != 1:
        many = "They fit several formats" if found else "They fit no format"
        hint = " Notes without annotations are read with format='text'." if ".txt" in suffixes else ""
        raise CorpusFormatError(
            f"The format cannot be told from the files. {many}; pass one of {_names()} as format=.{hint}",
            path=str(path),
        )
    return found[0]


def source_files(path: Path, fmt: Format) -> list[Path]:
    """The files to read, sorted by name: the path itself, or the folder's files with the format's suffixes.

    Sub-folders, hidden files and files with other suffixes are left aside. A pair of brat files is one entry.
    """
    if not path.is_dir():
        return _files(path)
    chosen = [file for file in _files(path) if file.suffix.lower() in fmt.suffixes]
    if fmt.one_document:
        first = fmt.suffixes[0]
        stems = {file.stem for file in chosen if file.suffix.lower() == first}
        chosen = [file for file in chosen if file.suffix.lower() == first or file.stem not in stems]
    if not chosen:
        raise CorpusFormatError(f"The folder holds no file ending in {' or '.join(fmt.suffixes)}.", path=str(path))
    return sorted(chosen, key=lambda file: (file.stem, file.name))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise DataNotFoundError("There is no such file or folder.", path=str(path))
        return [path]
    return sorted(file for file in path.iterdir() if not file.name.startswith(".") and not file.is_dir())


def _names() -> str:
    return ", ".join(repr(name) for name in FORMATS)
