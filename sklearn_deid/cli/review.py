"""``sklearn-deid review``: a page on which a reader corrects the spans that a model finds."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import CorpusFormatError, DeidError
from ..io import FORMATS
from ..io.checking import SourceLocation, check_strings
from ..text import Document, Span, get_label_scheme, unreadable_reason
from .annotating import load_deidentifier, results_of
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .note_output import check_apart, check_new
from .note_source import NoteSource
from .options import add_encoding, add_label_scheme, add_machine_options, add_note_format
from .reading import show_left_out

_PAGE = "review.html"
SUMMARY = "correct the PHI that a model finds, in a browser"
DESCRIPTION = """\
Write one page, WORK/review.html, in which you correct the PHI that a model finds. Open the page in a browser.
The page works from the file: it needs no server and no network, and its policy forbids all requests.

The notes with the least certain spans come first. You accept spans, correct borders and labels with the
mouse or with keys, and add missed PHI by selecting it. The browser remembers the work. "Save file" writes the
finished notes to reviewed.jsonl in your downloads folder. 'train' and 'redact --reviewed' read this file.

Without --model, the page shows the annotations of NOTES, such as those of another tool or of 'suggest'.

The page and reviewed.jsonl hold the whole text of the notes. They are as confidential as NOTES."""

EPILOG = """\
example: review notes, train on the corrections, and redact
  sklearn-deid review raw-notes/ --model my-model --output work/
  sklearn-deid train reviewed.jsonl --model my-next-model
  sklearn-deid redact raw-notes/ --model my-next-model --reviewed reviewed.jsonl --output redacted/

exit codes: 0 all notes are in the page, 1 some withheld, 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("notes", metavar="NOTES", help="a file or a folder")
    parser.add_argument(
        "--model", metavar="MODEL", help="model folder, or starter-en (default: show the annotations of NOTES)"
    )
    parser.add_argument("--output", required=True, metavar="WORK", help="folder for review.html")
    add_note_format(parser)
    add_encoding(parser)
    add_label_scheme(parser)
    parser.add_argument(
        "--surrogates", action="store_true", help="also show the notes with surrogates, from a random key"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing review.html")
    add_machine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tag the notes and write the page."""
    path = Path(arguments.output, _PAGE)
    source = NoteSource(arguments.notes, _format(arguments), arguments.encoding)
    check_apart(source.path, [path])
    check_new(arguments.overwrite, path)
    from ..review import write_review_page
    from ..surrogates import SurrogateEngine

    withheld: list[CorpusFormatError] = []
    notes = list(named(source.read(withheld.append), withheld))
    labels = _labels(arguments)
    if arguments.model is None:
        notes = readable(notes, withheld)
    else:
        deidentifier = load_deidentifier(arguments)
        notes = least_certain_first(deidentifier, tagged(deidentifier, notes, withheld))
        labels.update(_labels_of(deidentifier, labels))
    if not notes:
        show_left_out(withheld)
        raise DeidError("There is no note to review.", path=arguments.notes)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Another run may have written its page while the notes were tagged.
    check_new(arguments.overwrite, path)
    engine = SurrogateEngine() if arguments.surrogates else None
    write_review_page(path, notes, labels, surrogates=engine)
    shown = counted(len(notes), "note is", "notes are")
    print(f"{shown} in {path}, {len(withheld)} withheld. Open the page in a browser.")
    show_left_out(withheld)
    return SOME_WITHHELD if withheld else DONE


def _format(arguments: argparse.Namespace) -> str | None:
    """Format of the notes. Without a model, files of brat beside the texts hold the annotations to show."""
    path = Path(arguments.notes)
    if arguments.format is not None or arguments.model is not None:
        return arguments.format
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    is_brat = FORMATS["brat"].recognise
    return "brat" if is_brat is not None and is_brat(files) else None


def named(notes: Iterable[Document], withheld: list[CorpusFormatError]) -> Iterator[Document]:
    """Yield the notes whose ids a file can hold, unlike file names that are not UTF-8; add others to ``withheld``."""
    for note in notes:
        try:
            check_strings(SourceLocation(None, note.doc_id), note.doc_id)
        except CorpusFormatError as error:
            withheld.append(error)
        else:
            yield note


def readable(notes: list[Document], withheld: list[CorpusFormatError]) -> list[Document]:
    """Notes whose text a browser can show. Other notes, such as base64, are left out and added to ``withheld``."""
    reasons = {note.doc_id: unreadable_reason(note.text) for note in notes}
    withheld += [CorpusFormatError(reason, doc_id=name) for name, reason in reasons.items() if reason is not None]
    return [note for note in notes if reasons[note.doc_id] is None]


def tagged(deidentifier: Any, notes: list[Document], withheld: list[CorpusFormatError]) -> list[Document]:
    """Notes with the spans of the model. Notes that cannot be processed are left out and added to ``withheld``."""
    results = results_of(iter(notes), deidentifier, _annotated, withheld.append, [])
    return [note for note, _ in results]


def _annotated(note: Document, spans: tuple[Span, ...]) -> Document:
    return replace(note, spans=spans)


def least_certain_first(deidentifier: Any, notes: list[Document]) -> list[Document]:
    """Notes sorted by the expected number of wrong tags; in input order if the tagger has no probabilities."""
    from ..review import note_uncertainties
    from ..tagging.note_sentences import cut_notes
    from ..tagging.note_tagger import flat_tags

    if flat_tags(deidentifier.fitted_estimator(), cut_notes(["A word."]).X)[1] is None:
        return notes
    order = np.argsort(-note_uncertainties(deidentifier, notes), kind="stable")
    return [notes[number] for number in order]


def _labels_of(deidentifier: Any, known: Mapping[str, str | None]) -> dict[str, str | None]:
    """Labels that the model can give, also those without a span in these notes: the reader must mark what it missed."""
    tags = getattr(deidentifier.fitted_estimator(), "classes_", ())
    categories = {**getattr(deidentifier, "categories_", {}), **known}
    return {
        label: categories.get(label) for label in (*categories, *(str(tag).partition("-")[2] for tag in tags)) if label
    }


def _labels(arguments: argparse.Namespace) -> dict[str, str | None]:
    return dict(get_label_scheme(arguments.label_scheme or "i2b2-2014").categories)
