"""Registry of formats: guess the format of a path, and select the files of a folder."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from ..exceptions import CorpusFormatError, DataNotFoundError
from . import formats
from .format import Format


def _declared() -> Iterator[Format]:
    for module in pkgutil.iter_modules(formats.__path__):
        # A new file in the folder is a new format. No list has to be changed.
        yield import_module(f"{formats.__name__}.{module.name}").FORMAT


#: Formats by name, in alphabetical order. Each module of the folder ``formats`` declares a format.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {found.name: found for found in sorted(_declared(), key=attrgetter("name"))}
)


def get_format(name: str) -> Format:
    """Format by name.

    Raises
    ------
    ValueError
        If the name is unknown. The message lists the known formats.

    Examples
    --------
    >>> get_format("brat").suffixes
    ('.txt', '.ann')
    """
    if name not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {_names()}. Got {name!r} instead.")
    return FORMATS[name]


def guess_format(path: Path) -> Format:
    """Guess the format of a file or folder from the suffixes and, for XML, the root element.

    Text files without annotations are never read as brat or as raw notes. Select the format yourself, since only you
    know whether the notes have no annotations or whether their annotations are missing.

    Raises
    ------
    DataNotFoundError
        If the path does not exist.
    CorpusFormatError
        If there is no file, or if the files fit no format or more than one format.
    """
    # Exactly one format must fit. A wrong guess could read notes without their annotations. Looking at the first bytes
    # of a pipe would wait for ever. A pipe is reported when it is read.
    present = _files(path)
    if not present:
        raise CorpusFormatError(
            "The folder holds no file. Files in folders inside of this folder are not read.", path=str(path)
        )
    files = [file for file in present if file.is_file()]
    found = [fmt for fmt in FORMATS.values() if fmt.recognise is not None and fmt.recognise(files)]
    if len(found) != 1:
        many = "They fit several formats" if found else "They fit no format"
        hint = (
            " Notes without annotations are read with format='text'. No model can learn from them, or be compared with "
            "them."
            if any(file.suffix.lower() == ".txt" for file in files)
            else ""
        )
        raise CorpusFormatError(
            f"The format cannot be inferred from the files. {many}; pass one of {_names()} as format=.{hint}",
            path=str(path),
        )
    return found[0]


def source_files(path: Path, fmt: Format) -> list[Path]:
    """Files to read, sorted by name: the path itself, or the files of a folder with the suffixes of the format.

    The function skips sub-folders, hidden files and files with other suffixes. A pair of brat files is a single entry.
    """
    if not path.is_dir():
        return _files(path)
    # A suffix may have two parts, as .doccano.jsonl.
    endings = (*fmt.suffixes, *fmt.also_read)
    chosen = [file for file in _files(path) if file.name.lower().endswith(endings)]
    if fmt.one_document:
        # A pair of files is one document. Its first file represents the pair.
        alone = (fmt.suffixes[0], *fmt.also_read)
        stems = {file.stem for file in chosen if file.suffix.lower() == fmt.suffixes[0]}
        chosen = [file for file in chosen if file.suffix.lower() in alone or file.stem not in stems]
    if not chosen:
        raise CorpusFormatError(f"The folder holds no file ending in {' or '.join(endings)}.", path=str(path))
    return sorted(chosen, key=lambda file: (file.stem, file.name))


def unanswered_ids(path: str | PathLike[str], format: str | None = None, encoding: str | None = None) -> set[str]:
    """Ids of the documents of a corpus that nobody has annotated, if the format stores this information.

    Raises
    ------
    CorpusFormatError
        If the corpus is a pipe, such as standard input. After its documents were read, nothing is left to read, and all
        documents would look annotated.
    """
    fmt = guess_format(Path(path)) if format is None else get_format(format)
    found: set[str] = set()
    for file in source_files(Path(path), fmt) if fmt.unanswered is not None else ():
        if file == Path(path) and not file.is_file():
            raise CorpusFormatError(
                "Annotated notes are read twice, and a pipe only once. Copy them to a file.", path=str(path)
            )
        # The documents of a broken file are reported where they are read.
        with suppress(CorpusFormatError):
            found |= fmt.unanswered(file, encoding)  # type: ignore[misc]
    return found


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise DataNotFoundError("There is no such file or folder.", path=str(path))
        return [path]
    # Hidden files belong to other programs.
    return sorted(file for file in path.iterdir() if not file.name.startswith(".") and not file.is_dir())


def _names() -> str:
    return ", ".join(repr(name) for name in FORMATS)
