"""``sklearn-deid redact``: write notes with redacted PHI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..io import FORMATS
from ..io.tables import DELIMITERS, Columns, Table, open_table
from ..io.tables.fhir import DATE_PATH
from ..io.tables.sql import SqlTable, connect
from ..surrogates import MODES, SURROGATE
from .annotating import add_note_options, annotate_notes, load_deidentifier, run_stamp
from .document_output import DocumentOutput
from .document_source import DocumentSource, is_document
from .note_output import NoteOutput, check_apart, check_no_work_file
from .note_source import NoteSource
from .numbering import OutputNumbers
from .reviewed_notes import ReviewedNotes
from .sql_output import SqlOutput
from .surrogate_options import PhiReplacements, add_surrogate_options
from .table_output import TableOutput
from .table_run import columns_of, fhir_fields, hl7_fields, redact_table

#: Text fields of FHIR resources and HL7 messages, where an option names them.
_Profiles = dict[str, dict[str, list[str]] | None]

SUMMARY = "write notes without their PHI"
DESCRIPTION = """\
Write notes without the PHI that a model finds in them.

OUT is a folder or a .jsonl file. In a folder, each note becomes a .txt file of the same name. In a .jsonl
file, each note is one line with its id (doc_id) and its redacted text, in the order of NOTES (a folder: of
file names). With --number-outputs, the lines are in the order of the random names. Nothing else of a note is
written: no annotations, no patient id, no meta data. For Word and HTML files, tables, FHIR exports, HL7
messages and databases, see the options at the end.

A note that cannot be read, processed or written is withheld. It has no output and is listed at the end
with the reason, and the exit code is 1. It is never written as if it were clean.

The file OUT.run beside the output is a record for --resume: the model, the options, and digests of the notes.
Do not hand it out with the outputs. A file in the output folder that is not in the record is an error.

A note keeps its name. Use --number-outputs if file names or ids are names of patients."""

#: Endings of tables that no format of notes has.
_TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".hl7", ".gz", ".zst")
_COMPRESSED_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".hl7")
EPILOG = """\
example: redact the .txt files in raw-notes/, and go on after an interruption
  sklearn-deid redact raw-notes/ --model my-model --output redacted/
  sklearn-deid redact raw-notes/ --model my-model --output redacted/ --resume

exit codes: 0 all notes redacted, 1 some withheld, a field of a profile without text, or reviewed notes that
  are not among NOTES, 2 failed, 130 interrupted

A model misses some PHI. Redacted notes need a check by a person before they leave."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_note_options(parser, model_required=False)
    parser.add_argument(
        "--reviewed",
        metavar="FILE",
        help="finished notes of the review page: they are redacted with the spans of the reader, and --model finds the "
        "PHI of all other notes. Without --model, other notes are withheld",
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="label",
        help="replacement of PHI: its label in brackets, such as [PATIENT], three asterisks, nothing, or invented PHI "
        "of the same kind and form (default: label)",
    )
    add_surrogate_options(parser)
    _add_table_options(parser)
    parser.add_argument(
        "--documents",
        action="store_true",
        help="NOTES is a folder of .docx, .html and .txt files, and OUT is a folder of the same files with their "
        "layout. A single .docx or .html file needs no such option",
    )
    parser.add_argument(
        "--number-outputs",
        metavar="KEY.csv",
        help="give outputs random names such as note-3f9c02a17be4, and write the list of names and notes to KEY.csv. "
        "Never hand out KEY.csv with the outputs. Messages still show the original ids",
    )


def run(arguments: argparse.Namespace) -> int:
    """Redact all notes."""
    columns, fhir, hl7 = columns_of(arguments), fhir_fields(arguments), hl7_fields(arguments)
    options = (columns, fhir, hl7, arguments.query, arguments.output_table)
    if any(option is not None for option in options):
        if arguments.documents:
            raise DeidError("--documents is not for tables.")
        return _run_table(arguments, columns, {"fhir": fhir, "hl7": hl7})
    if arguments.documents or is_document(arguments.notes):
        return _run_documents(arguments)
    if arguments.format is None and arguments.notes.lower().endswith(_TABLE_ENDINGS):
        raise DeidError(_needs(arguments.notes.lower()), path=arguments.notes)
    return _run_notes(arguments)


def _needs(name: str) -> str:
    """What a file needs whose name no format of notes has."""
    inner = name.removesuffix(".gz").removesuffix(".zst")
    if inner == name or inner.endswith(_COMPRESSED_TABLES):
        return "Tables need --text-column or --omop, and HL7 messages --hl7."
    return "Only tables, FHIR exports and HL7 messages may be compressed: unpack the notes first."


def _run_notes(arguments: argparse.Namespace) -> int:
    """Redact notes of a format of `io`."""
    source = NoteSource(arguments.notes, arguments.format, arguments.encoding, arguments.transfer_encoding)
    path = Path(arguments.output)
    reviewed_path = None if arguments.reviewed is None else Path(arguments.reviewed)
    if reviewed_path is None:
        _check_fit(arguments, (), "notes")
    numbers = _numbers(arguments, *filter(None, (source.path, reviewed_path)))
    moves_dates = arguments.mode == SURROGATE
    reviewed = None if reviewed_path is None else ReviewedNotes(arguments.reviewed, moves_dates=moves_dates)
    # The key and the output are opened before the model, whose loading takes seconds.
    replacements = PhiReplacements(arguments)
    named = {} if reviewed is None else {"reviewed": reviewed.digest}
    output = NoteOutput(
        path,
        FORMATS["jsonl" if path.suffix.lower() == ".jsonl" else "text"].for_unread(),
        **_handling(arguments),
        numbers=numbers,
        stamp=_stamp(arguments, "redact", replacements, **named),
    )
    with ExitStack() as stack:
        result, learn = replacements.result(stack)
        deidentifier = None if arguments.model is None else load_deidentifier(arguments)
        if reviewed is not None:
            deidentifier = reviewed.beside(deidentifier)
            source.expected = reviewed.doc_ids
        code = annotate_notes(source, deidentifier, output, result, verb="redacted", quiet=arguments.quiet, learn=learn)
    if reviewed is not None:
        reviewed.report()
    return code


def _handling(arguments: argparse.Namespace) -> dict[str, bool]:
    """How the output of an earlier run is handled."""
    return {"resume": arguments.resume, "overwrite": arguments.overwrite}


def _stamp(
    arguments: argparse.Namespace, command: str, replacements: PhiReplacements, **options: Any
) -> dict[str, Any]:
    return run_stamp(arguments, command=command, mode=arguments.mode, **options, **replacements.stamp())


def _run_documents(arguments: argparse.Namespace) -> int:
    """Redact Word, HTML and text files."""
    _check_fit(arguments, ("format", "encoding", "transfer_encoding", "reviewed"), "documents")
    source = DocumentSource(Path(arguments.notes))
    numbers = _numbers(arguments, Path(arguments.notes))
    replacements = PhiReplacements(arguments)
    output = DocumentOutput(
        Path(arguments.output),
        source.paths,
        **_handling(arguments),
        numbers=numbers,
        stamp=_stamp(arguments, "redact documents", replacements),
    )
    with ExitStack() as stack:
        result, learn = replacements.of_notes(stack)
        model = load_deidentifier(arguments)
        return annotate_notes(source, model, output, result, verb="redacted", quiet=arguments.quiet, learn=learn)


def _check_fit(arguments: argparse.Namespace, refused: Sequence[str], kind: str) -> None:
    """Raise DeidError if an option would be ignored or if the model is missing."""
    for option in refused:
        if getattr(arguments, option) is not None:
            raise DeidError(f"--{option.replace('_', '-')} is not for {kind}.")
    if arguments.model is None:
        raise DeidError("Name the --model that finds the PHI.")


def _numbers(arguments: argparse.Namespace, *sources: Path) -> OutputNumbers | None:
    """Random names of ``--number-outputs``. Check that the output and the list of names cannot overwrite the input."""
    output = Path(arguments.output)
    key = None if arguments.number_outputs is None else Path(arguments.number_outputs)
    for source in sources:
        check_apart(source, [output] if key is None else [output, key])
    if key is None:
        return None
    if key.resolve().is_relative_to(output.resolve()):
        raise DeidError("The key file must not be in the output, because it links outputs to notes.", path=str(key))
    check_no_work_file(key, output)
    return OutputNumbers(key)


def _run_table(arguments: argparse.Namespace, columns: Columns | None, profiles: _Profiles) -> int:
    """Redact the text columns of a table."""
    _check_fit(arguments, ("format", "transfer_encoding", "number_outputs", "reviewed"), "tables")
    is_sql = arguments.query is not None or arguments.output_table is not None
    table: Any = _sql_table(arguments, columns) if is_sql else _file_table(arguments, columns, profiles)
    replacements = PhiReplacements(arguments, has_files=not is_sql)
    # Lists and not tuples: a resumed run compares them with what it reads from JSON.
    named = None if columns is None else [[*columns.texts, *columns.optional], columns.id, columns.patient]
    options: dict[str, Any] = {"columns": named, "fhir": profiles["fhir"]}
    if profiles["hl7"] is not None:
        options["hl7"] = profiles["hl7"]
    if arguments.delimiter is not None:
        options["delimiter"] = arguments.delimiter
    if is_sql:
        # The record is in the database of the output, and a query can name a patient.
        options["query_sha256"] = sha256(arguments.query.encode("utf-8", "surrogatepass")).hexdigest()
    stamp = _stamp(arguments, "redact table", replacements, **options)
    if is_sql:
        engine = connect(arguments.output)
        source = table.engine.dialect.name
        output: Any = SqlOutput(engine, arguments.output_table, resume=arguments.resume, stamp=stamp, source=source)
    else:
        output = TableOutput(Path(arguments.output), **_handling(arguments), stamp=stamp)
    with ExitStack() as stack:
        result, learn = replacements.result(stack)
        return redact_table(table, output, load_deidentifier(arguments), result, quiet=arguments.quiet, learn=learn)


def _file_table(arguments: argparse.Namespace, columns: Columns | None, profiles: _Profiles) -> Table:
    path, target = Path(arguments.notes), Path(arguments.output)
    if not path.is_file():
        raise DeidError("There is no such file. A table is one file.", path=str(path))
    dates = [path for paths in (profiles["fhir"] or {}).values() for path in paths if path.startswith(DATE_PATH)]
    if dates and arguments.mode != SURROGATE:
        raise DeidError("Dates of resources (date: in the profile) are shifted with --mode surrogate only.")
    if target.resolve() == path.resolve():
        raise DeidError("The output must not be the table itself.", path=str(target))
    check_no_work_file(path, target)
    return open_table(path, target, columns, **profiles, encoding=arguments.encoding, delimiter=arguments.delimiter)


def _sql_table(arguments: argparse.Namespace, columns: Columns | None) -> SqlTable:
    if arguments.query is None or arguments.output_table is None or columns is None:
        raise DeidError("A database needs --query, --output-table, and --text-column or --omop.")
    for option in ("encoding", "delimiter"):
        if getattr(arguments, option) is not None:
            raise DeidError(f"--{option} is not for databases.")
    if arguments.overwrite:
        raise DeidError("--overwrite is not for databases. Empty the output table and its record yourself.")
    return SqlTable(connect(arguments.notes), arguments.query, columns)


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "tables (.csv, .tsv, .jsonl, .ndjson, .parquet, .hl7; all but .parquet also with .gz or .zst)"
    )
    group.add_argument(
        "--text-column",
        action="append",
        metavar="NAME",
        help="NOTES is a table, and this column holds texts; may be repeated. OUT is a table of the same kind, with "
        "all other columns unchanged. A text that fails becomes NULL, in .csv and .tsv an empty cell",
    )
    group.add_argument("--id-column", metavar="NAME", help="column that names a row in the list of withheld rows")
    group.add_argument(
        "--patient-column",
        metavar="NAME",
        help="column of the patient, for --mode surrogate (default: the id, or each text by itself)",
    )
    group.add_argument(
        "--delimiter",
        choices=DELIMITERS,
        metavar="CHARACTER",
        help="character between the cells of a .csv file: , or ; or | (default: ,); write it in quotes",
    )
    group.add_argument(
        "--query",
        metavar="SELECT",
        help="NOTES and OUT are SQLAlchemy URLs of databases, such as sqlite:///notes.db, and this statement selects "
        "the rows. --id-column is their key: unique and not NULL",
    )
    group.add_argument(
        "--output-table", metavar="NAME", help="existing, empty table in OUT with the columns of the query"
    )
    _add_kinds(group.add_mutually_exclusive_group())


def _add_kinds(kinds: Any) -> None:
    """Add the options that select the texts of known kinds of tables."""
    kinds.add_argument(
        "--omop",
        action="store_true",
        help="NOTES is a NOTE table of OMOP: the columns note_text, note_id, person_id and, if there, note_title",
    )
    kinds.add_argument(
        "--fhir",
        action="store_true",
        help="NOTES holds a FHIR resource in each line: the narrative and text fields of DocumentReference, "
        "DiagnosticReport, Composition, Observation and Binary. Lines that fail and other resources are left out",
    )
    kinds.add_argument(
        "--fhir-profile",
        metavar="FILE",
        help='as --fhir, with fields from a JSON file such as {"Observation": ["note.text"], "Location": []}. '
        "Resources with an empty list are copied unchanged. With --mode surrogate, paths such as date:birthDate name "
        "dates that move with those in the texts of the patient",
    )
    kinds.add_argument(
        "--hl7",
        action="store_true",
        help="NOTES is an .hl7 file with messages of version 2: texts in OBX-5, and NTE-3. Messages that fail are left "
        "out",
    )
    kinds.add_argument(
        "--hl7-profile",
        metavar="FILE",
        help='as --hl7, with fields from a JSON file such as {"OBX-5": ["TX"], "NTE-3": []}. The list names the types '
        "in the second field; an empty list stands for all",
    )
