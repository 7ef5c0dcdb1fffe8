"""``sklearn-deid redact``: write notes with redacted PHI."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..text import REDACTION_MODES, Document, Span, redact
from .annotating import add_note_options, annotate_notes, load_deidentifier, run_stamp
from .note_output import NoteOutput, check_apart
from .note_source import NoteSource
from .numbering import OutputNumbers
from .options import add_command as add

_DESCRIPTION = """\
Write notes without the PHI that a model finds in them.

OUT is a folder or a .jsonl file. In a folder, each note becomes a .txt file of the same name. In a .jsonl
file, each note is one line with its id (doc_id) and its redacted text. Nothing else of a note is written:
no annotations, no patient id, no meta data.

A note that cannot be read, processed or written is withheld. It has no output and is listed at the end
with the reason, and the exit code is 1. It is never written as if it were clean.

The file OUT.run beside the output is a record for --resume: the model, the options, and digests of the notes.
Do not hand it out with the outputs. A file in the output folder that is not in the record is an error.

A note keeps its name. Use --number-outputs if file names or ids are names of patients."""

_EPILOG = """\
example: redact the .txt files in raw-notes/, and go on after an interruption
  sklearn-deid redact raw-notes/ --model my-model --output redacted/
  sklearn-deid redact raw-notes/ --model my-model --output redacted/ --resume

exit codes: 0 all notes redacted, 1 some withheld, 2 failed, 130 interrupted

A model misses some PHI. Redacted notes need a check by a person before they leave."""


def add_command(commands: Any) -> None:
    """Add the parser of this command."""
    parser = add(
        commands, "redact", run, summary="write notes without their PHI", description=_DESCRIPTION, epilog=_EPILOG
    )
    add_note_options(parser)
    parser.add_argument(
        "--mode",
        choices=REDACTION_MODES,
        default="label",
        help="replacement of PHI: its label in brackets, such as [PATIENT], three asterisks, or nothing "
        "(default: label)",
    )
    parser.add_argument(
        "--number-outputs",
        metavar="KEY.csv",
        help="give outputs random names such as note-3f9c02a17be4, and write the list of names and notes to KEY.csv. "
        "Never hand out KEY.csv with the outputs. Messages still show the original ids",
    )


def run(arguments: argparse.Namespace) -> int:
    """Redact all notes."""
    source = NoteSource(arguments.notes, arguments.format, arguments.encoding, arguments.transfer_encoding)
    path = Path(arguments.output)
    format = "jsonl" if path.suffix.lower() == ".jsonl" else "text"
    key = None if arguments.number_outputs is None else Path(arguments.number_outputs)
    check_apart(source.path, [path] if key is None else [path, key])
    if key is not None and key.resolve().is_relative_to(path.resolve()):
        raise DeidError("The key file must not be in the output, because it links outputs to notes.", path=str(key))
    output = NoteOutput(
        path,
        format,
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        numbers=None if key is None else OutputNumbers(key),
        stamp=run_stamp(arguments, command="redact", mode=arguments.mode),
    )

    def result(document: Document, spans: tuple[Span, ...]) -> Document:
        return Document(document.doc_id, redact(document.text, spans, arguments.mode))

    return annotate_notes(source, load_deidentifier(arguments), output, result, verb="redacted", quiet=arguments.quiet)
