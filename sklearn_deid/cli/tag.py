"""``sklearn-deid tag``: write notes with annotated PHI."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ..io import FORMATS
from ..text import Document, Span
from .annotating import add_note_options, annotate_notes, load_deidentifier, run_stamp
from .note_output import NoteOutput, check_apart
from .note_source import NoteSource
from .options import ANNOTATED
from .reading import warn_of_predictions

SUMMARY = "write notes with their PHI annotated"
DESCRIPTION = """\
Write notes in which the PHI that a model finds is annotated. Use them to measure a model with 'evaluate',
or correct them to annotate new notes faster.

OUT holds the whole text of the notes. It is not redacted: OUT is as confidential as NOTES.

OUT is a folder (brat, i2b2, meddocan-xml, uima for INCEpTION: files for each note) or one file (jsonl, conll,
docbin for spaCy, labelstudio, doccano, prodigy). Offsets count characters of the untouched note. jsonl, docbin
and the formats of annotation tools also hold the confidence of each span, from 0 to 1: the smallest probability
of its tokens. A span of a rule has the precision of the rule in the training notes, or 1 if the model is rules
alone. Patient ids and meta data are kept where the format has a place for them.

A note that cannot be read, processed or written is withheld. It has no output and is listed at the end
with the reason, and the exit code is 1."""

EPILOG = """\
example: annotate the PHI in the .txt files in raw-notes/, for correction in brat
  sklearn-deid tag raw-notes/ --model my-model --output tagged/

exit codes: 0 all notes tagged, 1 some withheld, 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_note_options(parser)
    parser.add_argument(
        "--output-format",
        choices=tuple(name for name in ANNOTATED if name != "mimic"),  # placeholders are only read
        help="format of OUT (default: by the ending of OUT; .json is labelstudio, and a folder is brat)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Tag all notes."""
    source = NoteSource(arguments.notes, arguments.format, arguments.encoding, arguments.transfer_encoding)
    path = Path(arguments.output)
    # An output in the folder of the notes could be read as notes by the next run.
    check_apart(source.path, [path])
    by_ending = {".jsonl": "jsonl", ".conll": "conll", ".spacy": "docbin", ".json": "labelstudio"}.get(
        path.suffix.lower(), "brat"
    )
    output = NoteOutput(
        path,
        FORMATS[arguments.output_format or by_ending].for_predicted(),
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        stamp=run_stamp(arguments, command="tag"),
    )

    def result(document: Document, spans: tuple[Span, ...]) -> Document:
        # Without a confidence, annotation tools would show the spans like spans of an annotator, and `train` would use
        # them.
        sure = (replace(s, confidence=1.0) if s.confidence is None else s for s in spans)
        return replace(document, spans=tuple(sure))

    model = load_deidentifier(arguments)
    code = annotate_notes(source, model, output, result, verb="tagged", quiet=arguments.quiet)
    warn_of_predictions(output.format.name)
    return code
