"""Annotated corpora for ``train``, ``evaluate`` and ``convert``."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError
from ..io import ReadResult, read_corpus, read_gold
from .failures import one_line
from .options import ANNOTATED, add_encoding, add_label_scheme

# Spans in these formats have no confidence.
_WITHOUT_CONFIDENCE = frozenset(("conll", "i2b2", "meddocan-xml"))
# What browsers append to the name of a file that is in the downloads folder already: "reviewed (1)", "reviewed(1)", and
# Safari "reviewed-1".
_SAVED_AGAIN = re.compile(r" ?\(\d+\)$|-\d{1,2}$")


def warn_of_predictions(format: str) -> None:
    """Print that spans of a model look like annotations of a person, if the format that was written is such a format.

    Commands for annotated notes recognise the spans of a model by their confidences.
    """
    if format in _WITHOUT_CONFIDENCE:
        print(
            f"The format {format} holds no confidences: 'train' would take the spans of the model for annotations of a "
            "person.",
            file=sys.stderr,
        )


def warn_of_later_save(path: str | os.PathLike[str]) -> None:
    """Print that a later save of the same file is beside it.

    A browser does not replace reviewed.jsonl: what the reader has marked since is in the file "reviewed (1).jsonl".
    """
    file = Path(path)
    # A folder whose names cannot be listed shows no later save; whether the file can be read is checked elsewhere.
    with suppress(OSError):
        later = max(_saves(file), key=_time, default=file) if file.is_file() else file
        if _time(later) > _time(file):
            line = (
                f"{later.name} is beside {file.name}, and is newer. A browser gives such a name to a file that is "
                "saved again. If it holds the latest reading, name it instead."
            )
            print(one_line(line), file=sys.stderr)


def _saves(file: Path) -> Iterator[Path]:
    """Files beside ``file`` whose names differ from its name by the number of a browser."""
    name = _SAVED_AGAIN.sub("", file.stem)
    # "batch-1" and "batch-2" without a "batch" are names that a person gave.
    if file.stem[-1:].isdigit() and not file.with_stem(name or file.stem).exists():
        name = file.stem
    for other in file.parent.iterdir():
        if other.suffix == file.suffix and _SAVED_AGAIN.sub("", other.stem) == name and other.is_file():
            yield other


def _time(file: Path) -> int:
    return file.stat().st_mtime_ns


def add_corpus_options(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add CORPUS and the options that `read_annotated` needs; with ``optional``, CORPUS may be left out."""
    how_many = "?" if optional else None
    parser.add_argument("corpus", nargs=how_many, metavar="CORPUS", help="file or folder with annotated notes")
    parser.add_argument(
        "--format", choices=ANNOTATED, help="format of CORPUS (default: the format of its file endings)"
    )
    add_encoding(parser)
    add_label_scheme(parser)
    add_skip_broken(parser)


def add_skip_broken(parser: argparse.ArgumentParser) -> None:
    """Add ``--skip-broken``: continue without broken notes."""
    parser.add_argument(
        "--skip-broken",
        action="store_true",
        help="leave out notes that cannot be read, list them, and end with exit code 1 (default: stop at the first "
        "broken note)",
    )


def read_annotated(arguments: argparse.Namespace, *, gold: bool = True) -> ReadResult:
    """Read the corpus of a command. Returns the corpus and the errors of notes that could not be read.

    Without ``gold``, notes in which nobody has marked spans are read as notes without spans.

    Raises
    ------
    CorpusFormatError
        If a note is broken and ``--skip-broken`` is not set.
    DataNotFoundError
        If the path does not exist.
    """
    warn_of_later_save(arguments.corpus)
    options = {"encoding": arguments.encoding, "label_scheme": arguments.label_scheme}
    # Collecting errors is never the default: a model must not be trained on a part of the notes unnoticed.
    read: Any = read_gold if gold else read_corpus
    if arguments.skip_broken:
        return read(arguments.corpus, arguments.format, on_error="collect", **options)
    return ReadResult(read(arguments.corpus, arguments.format, **options), [])


def show_left_out(errors: Iterable[CorpusFormatError]) -> None:
    """Print the notes that were left out, with the reasons."""
    for error in errors:
        print(one_line(f"  left out: {error}"), file=sys.stderr)


@contextmanager
def left_out_shown() -> Iterator[list[CorpusFormatError]]:
    """Errors of notes that are left out, printed at the end of the block, also if the block fails."""
    errors: list[CorpusFormatError] = []
    try:
        yield errors
    finally:
        show_left_out(errors)
