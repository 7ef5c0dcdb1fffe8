"""What a format is to the rest of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..exceptions import CorpusFormatError
from ..text import Document

# Readers hand on what is wrong with one document as a value, so that one bad line does not hide those after it.
Item = Document | CorpusFormatError


@dataclass(frozen=True)
class Format:
    """One corpus format: how it is called, which files it lives in, and its two functions.

    Parameters
    ----------
    name : str
        The value of ``format=``.
    suffixes : tuple of str
        Endings of its files, lower case; a writer uses the first one (brat: all of them).
    read : callable
        ``read(path, encoding)`` yields the documents of one file, and a CorpusFormatError in the place of each one
        that is broken; it may also raise one, which ends the file. ``encoding=None`` is UTF-8, or what the file
        itself declares.
    write : callable
        ``write(document, lossy)`` gives the content for each suffix. It raises CorpusFormatError if the format cannot
        hold the document, unless ``lossy`` allows to leave something out.
    one_document : bool, default=True
        Whether each document has its own files, named by its id; else all documents stand in one file.
    resumable : bool, default=True
        Whether a finished document can be told from an unfinished one after an interruption.
    pack : callable, optional
        ``pack(path)`` makes the content of the final file of a file with what ``write`` gave, for a format that can
        only be written when the last document is there.
    seeded : callable, optional
        ``seeded(path, encoding, seed)`` reads as ``read`` does, where reading draws random numbers.
    recognise : callable, optional
        ``recognise(files)`` says whether the files of a folder, or a single one, are of this format; None for a format
        that is never guessed.
    annotated : bool, default=True
        Whether the files hold spans.
    writable : bool, default=True
        Whether documents can be written; else ``write`` raises.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, str | None], Iterator[Item]]
    write: Callable[[Document, bool], Mapping[str, str]]
    one_document: bool = True
    resumable: bool = True
    pack: Callable[[Path], bytes] | None = None
    seeded: Callable[[Path, str | None, int], Iterator[Item]] | None = None
    recognise: Callable[[Sequence[Path]], bool] | None = None
    annotated: bool = True
    writable: bool = True


def has_suffix(*suffixes: str) -> Callable[[Sequence[Path]], bool]:
    """For ``recognise``: whether any of the files has one of these endings."""
    return lambda files: any(file.suffix.lower() in suffixes for file in files)
