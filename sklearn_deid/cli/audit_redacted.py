"""``sklearn-deid audit --redacted``: what PHI attackers still find in redacted notes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .._atomic import write_file
from ..exceptions import DataNotFoundError, DeidError
from ..io import FORMATS
from .annotating import load_deidentifier
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .note_source import NoteSource
from .notes_table import notes_table

_WRITTEN = FORMATS["text"].suffixes + FORMATS["jsonl"].suffixes


def add_redacted_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--redacted`` and the options that belong to it."""
    group = parser.add_argument_group("redacted notes")
    group.add_argument(
        "--redacted",
        metavar="NOTES",
        help="folder or .jsonl file of redacted notes: what do rules, --model and the --names of an attacker still "
        "find, and how many patients share the ages, dates, places and professions that remain?",
    )
    group.add_argument("--model", metavar="FOLDER", help="model of the attacker")
    group.add_argument("--names", metavar="FILE", help="names that the attacker knows, one a line")
    group.add_argument("--table", metavar="FILE.csv", help="columns doc_id and patient_id")


def run_redacted(arguments: argparse.Namespace) -> int:
    """Attack the notes of ``--redacted``; exit code 1 if anything was found."""
    outputs = [path for path in arguments.output if path.suffix == ".json"]
    if outputs != arguments.output or arguments.representer or arguments.release or arguments.corpus:
        raise DeidError("--redacted takes no CORPUS, --representer or --release, and writes .json only.")
    if arguments.verify is not None or arguments.fail_under is not None:
        # Exit code 0 would otherwise seem to say that the report fits, or that a score reaches --fail-under.
        raise DeidError("--redacted computes no score and compares no report: leave out --fail-under and --verify.")
    source = NoteSource(arguments.redacted, None, arguments.encoding)
    check_release(source)
    from ..audit import audit_redacted_text

    notes = list(source.read())
    table = notes_table(arguments.table, [note.doc_id for note in notes])
    if arguments.table is not None and "patient_id" not in table:
        raise DeidError("The table needs a column patient_id: the audit counts patients.", path=arguments.table)
    report = audit_redacted_text(
        notes,
        deidentifier=None if arguments.model is None else load_deidentifier(arguments),
        names=None if arguments.names is None else _names(Path(arguments.names)),
        patients=table.get("patient_id"),
    )
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json.dumps(report.to_dict(), indent=1).encode(), private=True)
    for attacker in report.attackers:
        labels = ", ".join(f"{label} {n}" for label, n in report.counts(attacker).items()) or "nothing"
        print(f"{attacker}: found in {report.notes_with(attacker)} of {report.n_notes} notes: {labels}")
    if report.n_named_ids:
        print(f"names: in the ids or file names of {counted(report.n_named_ids, 'note')}. Use redact --number-outputs.")
    if report.n_unknown:
        print(
            f"{report.n_unknown} of {counted(report.n_notes, 'note')} have no patient id (--table) and count as a "
            "patient each: if patients have several notes, groups are smaller than stated."
        )
    for kind, found in report.anonymity.items():
        if kind in report.unsearched:
            # "Readable for 0 patients" would say that an attacker has searched.
            print(f"{kind}: {'only postal codes were' if kind == 'place' else 'not'} searched, use --model")
            if not found.n_passages:
                continue
        smallest = "-" if found.k is None else found.k
        print(
            f"{kind}: readable for {found.n_patients} of {report.n_patients} patients, smallest group {smallest}, "
            f"{counted(found.n_below, 'patient')} in groups of fewer than {report.least_k}"
        )
    return SOME_WITHHELD if report.found or report.n_named_ids else DONE


def check_release(source: NoteSource) -> None:
    """Refuse a release of another format or with other files, annotations, patients or metadata, which nobody reads.

    Raises
    ------
    DeidError
        If the release has another format than `redact` writes, contains other files, annotations, patients or metadata,
        or if a note cannot be read.
    """
    if not source.path.is_file() and not source.path.is_dir():
        # Its notes would be empty the second time, and a reader would find no PHI.
        raise DeidError("A release is read several times, and a pipe only once. Name a file.", path=str(source.path))
    if source.path.is_file() and source.path.suffix.lower() not in _WRITTEN:
        # Such as the fields of a task of Label Studio beside the text.
        raise DeidError(
            "A release is a folder of .txt files or a .jsonl file, as redact writes it. Other formats have fields that "
            "would leave unread.",
            path=str(source.path),
        )
    if source.left_aside():
        raise DeidError(
            "The folder holds other files or sub-folders, which nobody would read, or hidden files, such as copies of "
            "an editor. A release is a folder of .txt files only.",
            path=str(source.path),
        )
    if any(note.spans or note.meta or note.patient_id is not None for note in source.read()):
        raise DeidError(
            "The release holds annotations, patient ids or meta data, which would leave unread. A release is what "
            "redact writes: ids and texts.",
            path=str(source.path),
        )


def _names(path: Path) -> list[str]:
    if not path.is_file():
        raise DataNotFoundError("There is no such file.", path=str(path))
    try:
        names = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DeidError("The list of names is not in the encoding utf-8.", path=str(path)) from None
    if not any(map(str.strip, names)):
        raise DeidError("The list of names is empty, so that the attacker would know no name.", path=str(path))
    return names
