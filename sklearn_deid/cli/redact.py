"""``sklearn-deid redact``: write notes with redacted PHI."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..surrogates import (
    LOCALES,
    MODES,
    SURROGATE,
    MappingFile,
    SurrogateEngine,
    note_rewriter,
    read_or_make_key,
    rewritten,
)
from ..text import Document, Span
from .annotating import add_note_options, annotate_notes, load_deidentifier, run_stamp
from .note_output import NoteOutput, check_apart
from .note_source import NoteSource
from .numbering import OutputNumbers
from .options import add_command as add
from .options import count

_DESCRIPTION = """\
Write notes without the PHI that a model finds in them.

OUT is a folder or a .jsonl file. In a folder, each note becomes a .txt file of the same name. In a .jsonl
file, each note is one line with its id (doc_id) and its redacted text, in the order of NOTES (a folder: of
file names). With --number-outputs, the lines are in the order of the random names. Nothing else of a note is
written: no annotations, no patient id, no meta data.

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
        choices=MODES,
        default="label",
        help="replacement of PHI: its label in brackets, such as [PATIENT], three asterisks, nothing, or invented PHI "
        "of the same kind and form (default: label)",
    )
    _add_surrogate_options(parser)
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
    _check_surrogate_options(arguments)
    secret = None if arguments.key_file is None else _key(arguments)
    output = NoteOutput(
        path,
        format,
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        numbers=None if key is None else OutputNumbers(key),
        stamp=run_stamp(arguments, command="redact", mode=arguments.mode, **_surrogate_stamp(arguments, secret)),
    )

    with ExitStack() as stack:
        result = _result(arguments, secret, stack)
        deidentifier = load_deidentifier(arguments)
        return annotate_notes(source, deidentifier, output, result, verb="redacted", quiet=arguments.quiet)


def _add_surrogate_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --mode surrogate")
    group.add_argument(
        "--key-file",
        metavar="KEY",
        help="secret key: the same one gives the same surrogates in every run. The file is made if it is missing. "
        "Without it, each run has other surrogates",
    )
    group.add_argument(
        "--locale", choices=("auto", *LOCALES), help="language of the surrogates (default: auto, from each note)"
    )
    group.add_argument(
        "--date-shift", type=count, metavar="DAYS", help="largest shift of the dates of a patient (default: 3650)"
    )
    group.add_argument(
        "--mapping",
        metavar="FILE",
        help="write the originals of all surrogates to this encrypted file. Needs --key-file, which decrypts it",
    )


def _check_surrogate_options(arguments: argparse.Namespace) -> None:
    given = {"--key-file": arguments.key_file, "--locale": arguments.locale, "--mapping": arguments.mapping}
    given["--date-shift"] = arguments.date_shift
    wrong = [name for name, value in given.items() if value is not None]
    if arguments.mode != SURROGATE and wrong:
        raise DeidError(f"{wrong[0]} needs --mode surrogate.")
    if arguments.mode == SURROGATE and arguments.key_file is None and (arguments.mapping or arguments.resume):
        raise DeidError(f"{'--mapping' if arguments.mapping else '--resume'} needs --key-file with --mode surrogate.")


def _surrogate_stamp(arguments: argparse.Namespace, key: bytes | None) -> dict[str, Any]:
    """Options of surrogates in the stamp of a run, with a digest of the key, which tells nothing about 256 bits."""
    if arguments.mode != SURROGATE:
        return {}
    digest = None if key is None else sha256(key).hexdigest()
    return {"locale": arguments.locale, "date_shift": arguments.date_shift, "key_sha256": digest}


def _result(
    arguments: argparse.Namespace, key: bytes | None, stack: ExitStack
) -> Callable[[Document, tuple[Span, ...]], Document]:
    """Function that redacts a note; what it writes beside is closed with the stack."""
    if arguments.mode != SURROGATE:
        rewrite = note_rewriter(arguments.mode)
        return lambda document, spans: _bare(rewrite(replace(document, spans=spans)))
    settings = {"locale": arguments.locale, "date_shift": arguments.date_shift}
    engine = SurrogateEngine(key=key, **{name: value for name, value in settings.items() if value is not None})
    mapping = None
    if arguments.mapping is not None and key is not None:
        mapping = stack.enter_context(MappingFile(Path(arguments.mapping), key))

    def result(document: Document, spans: tuple[Span, ...]) -> Document:
        annotated = replace(document, spans=spans)
        replacements = engine.replacements(annotated)
        if mapping is not None:
            mapping.write(annotated, replacements)
        return _bare(rewritten(annotated, replacements))

    return result


def _key(arguments: argparse.Namespace) -> bytes:
    secret = [Path(name) for name in (arguments.key_file, arguments.mapping) if name is not None]
    check_apart(NoteSource(arguments.notes, arguments.format, arguments.encoding).path, secret)
    for path in secret:
        if path.resolve().is_relative_to(Path(arguments.output).resolve()):
            raise DeidError("The key and the mapping must not be in the output: they undo it.", path=str(path))
    return read_or_make_key(Path(arguments.key_file))


def _bare(document: Document) -> Document:
    """Note without annotations and patient id."""
    return Document(document.doc_id, document.text)
