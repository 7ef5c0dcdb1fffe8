"""``sklearn-deid suggest``: which notes to review next."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..exceptions import CorpusFormatError, DeidError
from ..io import FORMATS, read_corpus, write_corpus
from ..io.files import part_of
from ..io.registry import unanswered_ids
from .annotating import load_deidentifier
from .failures import DONE, SOME_WITHHELD
from .note_output import check_apart, check_new
from .note_source import NoteSource
from .options import add_encoding, add_machine_options, add_note_format, add_number, count, output_path
from .reading import show_left_out, warn_of_later_save
from .review import named, tagged

SUMMARY = "choose the notes to review next"
DESCRIPTION = """\
Choose the notes whose review should teach a model most: notes with many uncertain words, unlike each other.

OUT is a .jsonl file with these notes, the best one first, and the PHI that the model finds in them. 'review' shows it.
OUT holds the whole text of the notes, and only you can read it.

Review the notes, train on all reviewed notes, and choose the next notes with --exclude."""

EPILOG = """\
example: review 20 notes, train, and choose 20 more
  sklearn-deid suggest raw-notes/ --model my-model --notes 20 --output next.jsonl
  sklearn-deid review next.jsonl --output work/
  sklearn-deid train reviewed.jsonl --model my-next-model
  sklearn-deid suggest raw-notes/ --model my-next-model --exclude reviewed.jsonl --output more.jsonl

exit codes: 0 chosen, 1 chosen, but some notes cannot be processed, 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("raw", metavar="NOTES", help="a file or a folder of notes that are not annotated yet")
    parser.add_argument("--model", required=True, metavar="MODEL", help="model folder, or starter-en")
    parser.add_argument("--output", type=output_path, required=True, metavar="OUT", help=".jsonl file to write")
    add_number(parser, "--notes", count, "number of notes (default: 20)", default=20)
    parser.add_argument("--exclude", metavar="FILE", help="annotated notes, which are not chosen again")
    add_note_format(parser)
    add_encoding(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace an existing OUT")
    add_machine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tag the notes, choose, and write."""
    path = Path(arguments.output)
    source = NoteSource(arguments.raw, arguments.format, arguments.encoding)
    check_apart(source.path, [path])
    if arguments.exclude is not None:
        # With --overwrite, the work of the reader would be lost.
        check_apart(Path(arguments.exclude), [path])
        warn_of_later_save(arguments.exclude)
    if path.suffix.lower() != ".jsonl":
        raise DeidError("OUT must end in .jsonl.", path=str(path))
    # Half a file of a killed run is refused now, and not after all notes were tagged.
    check_new(arguments.overwrite, path, part_of(path))
    from ..review import suggest_notes

    known: set[str] = set()
    if arguments.exclude is not None:
        # Tasks that nobody has answered are still to be reviewed.
        known = {note.doc_id for note in read_corpus(arguments.exclude)} - unanswered_ids(arguments.exclude)
    withheld: list[CorpusFormatError] = []
    notes = [note for note in named(source.read(withheld.append), withheld) if note.doc_id not in known]
    if known and not notes and not withheld:
        raise DeidError("All notes are in the file of --exclude: no note is left to choose.")
    deidentifier = load_deidentifier(arguments)
    notes = tagged(deidentifier, notes, withheld)
    if not notes:
        show_left_out(withheld)
        raise DeidError("There is no note to choose.", path=arguments.raw)
    chosen = suggest_notes(deidentifier, notes, arguments.notes)
    # As the review page: only the owner can read the file, from the first byte on.
    mask = os.umask(0o077)
    try:
        form = FORMATS["jsonl"].for_predicted()
        write_corpus([notes[place] for place in chosen], path, form, overwrite=arguments.overwrite)
    finally:
        os.umask(mask)
    print(f"{len(chosen)} of {len(notes)} notes are in {path}, {len(withheld)} withheld.")
    show_left_out(withheld)
    return SOME_WITHHELD if withheld else DONE
