"""``sklearn-deid convert``: convert annotated notes to another format."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..exceptions import CorpusFormatError, DeidError
from ..io import FORMATS, completed_ids, iter_documents, write_corpus
from ..io.reading import is_predicted, warn_of_unmarked
from ..io.registry import unanswered_ids
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .note_output import NoteOutput, check_apart
from .options import add_encoding, add_label_scheme, output_path
from .reading import add_skip_broken, left_out_shown, read_annotated, warn_of_predictions

SUMMARY = "change the file format of annotated notes"
DESCRIPTION = """\
Change the file format of annotated notes. Texts and offsets stay exactly as they are.

formats:
  i2b2          a folder of XML files of the i2b2 2014 challenge
  meddocan-xml  a folder of XML files of MEDDOCAN
  brat          a folder of .txt and .ann files
  conll         one file: a token a line with its offsets and its tag
  jsonl         one file: a note a line; holds everything
  docbin        one .spacy file for spaCy; holds everything
  labelstudio   one .json file of tasks for Label Studio
  doccano       one .jsonl file for doccano; holds everything
  prodigy       one .jsonl file for Prodigy; holds everything
  uima          a folder of .xmi files (UIMA CAS) for INCEpTION; needs the extra uima. Also reads .json files
                (UIMA CAS JSON 0.4)
  text          a folder of .txt files: the notes without annotations

Some formats cannot hold everything: text holds no annotations, conll no overlapping ones. The command then
stops, unless --lossy allows the loss. Broken files stop the command before anything is written, unless
--skip-broken leaves them out. So do notes that nobody has annotated among notes that a person has annotated:
they would look like notes without PHI."""

EPILOG = """\
example: i2b2 XML files as brat files
  sklearn-deid convert i2b2-notes/ brat-notes/ --from i2b2 --to brat

exit codes: 0 all notes converted, 1 some left out (--skip-broken), 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("corpus", metavar="SRC", help="file or folder to read")
    parser.add_argument("target", type=output_path, metavar="DST", help="file or folder to write")
    parser.add_argument(
        "--from",
        dest="format",
        choices=tuple(FORMATS),
        help="format of SRC (default: the format of its file endings)",
    )
    written = tuple(name for name, known in FORMATS.items() if known.writable)
    parser.add_argument("--to", required=True, choices=written, help="format of DST")
    parser.add_argument("--lossy", action="store_true", help="leave out information that the format cannot hold")
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    add_encoding(parser)
    add_label_scheme(parser)
    add_skip_broken(parser)


def _annotated(arguments: argparse.Namespace) -> tuple[set[bool], bool]:
    """Who has annotated notes, as far as the format of SRC shows it: a model (True), a person (False); and whether
    there are other notes, too.
    """
    if arguments.format is not None and not FORMATS[arguments.format].annotated:
        return set(), True
    unanswered = unanswered_ids(arguments.corpus, arguments.format, arguments.encoding)
    if not unanswered:
        return {False}, False  # or a model: all notes are written in the same way
    found = iter_documents(arguments.corpus, arguments.format, on_error=_skip, encoding=arguments.encoding)
    return {is_predicted(note) for note in found if note.doc_id not in unanswered}, True


def _skip(error: CorpusFormatError) -> None:
    """Skip a broken note, which is reported when the notes are read again."""


def run(arguments: argparse.Namespace) -> int:
    """Read and check all notes, then write them."""
    with left_out_shown() as errors:
        return _convert(arguments, errors)


def _convert(arguments: argparse.Namespace, errors: list[CorpusFormatError]) -> int:
    target = Path(arguments.target)
    check_apart(Path(arguments.corpus), [target])
    output = NoteOutput(target, arguments.to, overwrite=True)  # refuses a folder for a file, and the reverse
    if output.is_used() and not arguments.overwrite:
        raise DeidError("DST exists already. Use --overwrite to replace it, or another DST.", path=str(target))
    # All notes are read and checked before the first one is written.
    annotators, are_others = _annotated(arguments)
    form = FORMATS[arguments.to]
    # Of partly annotated notes, the others would look like notes without PHI. A model may find nothing in a note.
    result = read_annotated(arguments, gold=form.annotated and are_others and False in annotators)
    errors += result.errors
    if form.annotated and False in annotators:
        # In another format, these notes can count as notes in which somebody has found no PHI.
        warn_of_unmarked(result.corpus, arguments.corpus, arguments.format)
    if False not in annotators:
        form = form.for_predicted() if annotators else form.for_unread()
    write_corpus(result.corpus, target, form, lossy=arguments.lossy, overwrite=arguments.overwrite)
    print(f"{counted(len(result.corpus), 'note')} converted, {len(errors)} left out.")
    if form.annotated and False not in annotators and form.unanswered is None:
        print(
            f"The format {form.name} does not show that nobody has read the notes: 'train' would take those that stay "
            "without a span for notes without PHI. Leave them out of the training.",
            file=sys.stderr,
        )
    if any(map(is_predicted, result.corpus)):
        warn_of_predictions(arguments.to)
    if FORMATS[arguments.to].one_document:
        before = completed_ids(target, arguments.to) - {note.doc_id for note in result.corpus}
        if before:  # a later command reads them as notes of this corpus
            kept = counted(len(before), "note that was in DST before stays", "notes that were in DST before stay")
            print(f"{kept} there beside them.", file=sys.stderr)
    return SOME_WITHHELD if errors else DONE
