"""Run of ``tag`` and ``redact``: notes are read, tagged and written one by one; notes with an error are withheld."""

from __future__ import annotations

import gc
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._lazy import quick_imports
from .._storage import bundle_digest
from ..exceptions import CorpusFormatError, DeidError, UnlikeNoteWarning, WithheldWarning
from ..tagging.tagger_failure import TaggerFailure
from ..text import TRANSFER_ENCODINGS, Document, Span, known_id
from .counting import counted
from .document_output import DocumentOutput
from .document_source import DocumentSource
from .failures import DONE, SOME_WITHHELD, one_line
from .note_output import NoteOutput
from .note_source import NoteSource
from .options import (
    add_encoding,
    add_machine_options,
    add_note_format,
    add_number,
    add_quiet,
    count,
    model_folder,
    output_path,
    set_machine,
)
from .recorded_output import NoteState

if TYPE_CHECKING:
    from .mapped_surrogates import MappedSurrogates

#: Function that makes the output of a note from the note and its spans: a document, or replacements for a file.
Result = Callable[[Document, tuple[Span, ...]], Any]


@dataclass
class Account:
    """Numbers of finished and skipped notes, and the reasons of withheld and of flagged notes."""

    done: int = 0
    skipped: int = 0
    withheld: list[CorpusFormatError | str] = field(default_factory=list)
    unlike: list[DeidError] = field(default_factory=list)

    @property
    def seen(self) -> int:
        """Number of notes that are finished, skipped or withheld."""
        return self.done + self.skipped + len(self.withheld)

    def lines(self, what: str, verb: str = "redacted") -> list[str]:
        """Lines of the report at the end of a run. ``what`` is the name of a finished unit, such as "note"."""
        skipped = f", {self.skipped} were finished before" if self.skipped else ""
        head = f"{counted(self.done, what)} {verb}, {len(self.withheld)} withheld{skipped}."
        withheld = [one_line(f"  withheld: {error}") for error in self.withheld]
        return [head, *withheld, *(one_line(f"  unlike the training notes: {error}") for error in self.unlike)]


def add_note_options(parser: ArgumentParser, *, model_required: bool = True) -> None:
    """Add the arguments that ``tag`` and ``redact`` share."""
    parser.add_argument("notes", metavar="NOTES", help="a file, a folder, or - for standard input (not on Windows)")
    parser.add_argument(
        "--model",
        required=model_required,
        metavar="MODEL",
        help="model folder that 'train' has written, or starter-en, a model for English that comes with the package",
    )
    parser.add_argument(
        "--output",
        type=output_path,
        required=True,
        metavar="OUT",
        help="folder or .jsonl file to write; see above",
    )
    add_note_format(parser, "; annotations are ignored")
    parser.add_argument(
        "--labels",
        choices=("all", "hipaa", "hipaa-wide"),
        help="PHI to mark: all that the model finds, or what the Safe Harbor rule of HIPAA removes, which leaves "
        "states, countries, professions, departments, bare years and ages under 90; with hipaa-wide, also states and "
        "the titles in front of names (default: as the model was saved; starter-en: hipaa)",
    )
    add_encoding(parser)
    _add_treatment(parser)
    add_machine_options(parser)
    add_number(
        parser,
        "--jobs",
        count,
        "processes that tag notes at the same time; the cores of --threads are divided among them, and each has "
        "one at least. Outputs do not depend on it (default: 1)",
        default=1,
    )
    add_quiet(parser)


def _add_treatment(parser: ArgumentParser) -> None:
    """Add the options for e-mails, for notes that are unlike the training notes, and for outputs of an earlier run."""
    parser.add_argument(
        "--transfer-encoding",
        choices=TRANSFER_ENCODINGS,
        help="encoding of mails in which the texts are written: they are decoded first, and outputs are plain text "
        "(default: none; such notes are withheld)",
    )
    parser.add_argument(
        "--on-unlike",
        choices=("withhold", "warn", "pass"),
        default="withhold",
        help="what to do with a note that is unlike the training notes, such as one in another language: withhold it, "
        "write it and list it at the end (warn), or write it (pass). At most 1 in 100 ordinary notes is unlike. Models "
        "of few notes or of earlier versions cannot detect unlike notes (default: withhold)",
    )
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--resume",
        action="store_true",
        help="go on where an earlier run was interrupted: notes whose output is complete are skipped. Another model, "
        "option or version is refused, and a note that has changed since is withheld",
    )
    before.add_argument("--overwrite", action="store_true", help="replace outputs of an earlier run")


def run_stamp(arguments: Namespace, **options: Any) -> dict[str, Any]:
    """All settings on which the outputs depend, except for the notes.

    ``--resume`` requires that the stamp has not changed.
    """
    model = None if arguments.model is None else bundle_digest(model_folder(arguments.model))
    names = {"input_format": "format", "encoding": "encoding", "transfer_encoding": "transfer_encoding"}
    names["on_unlike"] = "on_unlike"
    arguments.stamped_model = model
    given = {name: getattr(arguments, option) for name, option in names.items()}
    if arguments.labels is not None:
        given["labels"] = arguments.labels
    return {"version": __version__, "model": model, **given, **options}


def load_deidentifier(arguments: Namespace) -> Any:
    """Load the model of ``--model``; the model withholds notes that cannot be processed."""
    device = set_machine(arguments)
    with quick_imports():
        from ..tagging.note_deidentifier import NoteDeidentifier
        from ..tagging.safe_harbor import labels_to_rewrite
        from ..tagging.saving import load_tagger

        model = load_tagger(model_folder(arguments.model), device=device)
    # Until `main` returns, searches for garbage leave out the model and all modules: they took 4 % of the time.
    if not gc.get_freeze_count():
        gc.freeze()
    # The stamp of the run was made before: it must name the model that was loaded.
    stamped = getattr(arguments, "stamped_model", None)
    if stamped is not None and bundle_digest(model_folder(arguments.model)) != stamped:
        raise DeidError("The model was replaced while it was loaded. Start the run again.", path=str(arguments.model))
    deidentifier = model if isinstance(model, NoteDeidentifier) else NoteDeidentifier(model)
    if getattr(arguments, "labels", None) is not None:
        deidentifier.set_params(labels=arguments.labels)
    deidentifier.set_params(labels=labels_to_rewrite(deidentifier.labels, getattr(arguments, "mode", None)))
    # `evaluate --robustness` has no such option: altered notes are unlike on purpose.
    on_unlike = getattr(arguments, "on_unlike", "pass")
    return deidentifier.set_params(on_error="withhold", on_unlike=on_unlike, n_jobs=getattr(arguments, "jobs", 1))


def annotate_notes(
    source: NoteSource | DocumentSource,
    deidentifier: Any,
    output: NoteOutput | DocumentOutput,
    result: Result,
    *,
    verb: str,
    quiet: bool,
    learn: MappedSurrogates | None = None,
) -> int:
    """Tag all notes and write the result of each note.

    Ids and digests of the notes are held in memory, but no finished text.

    With ``learn``, finished notes of known patients are tagged again, because later results depend on these notes, and
    so are notes that the mapping lacks.

    Returns
    -------
    int
        Exit code: `DONE`, or `SOME_WITHHELD` if a note could not be read, processed or written, or if an expected note
        is missing.
    """
    from tqdm import tqdm

    account = Account()
    withhold = account.withheld.append
    documents = source.read(withhold)  # a wrong path or format is noticed before anything is written
    # The writer is opened before the first note is read: a refused output ends the command without any work, and
    # without an account of notes.
    with output:
        try:
            unit = f" {source.noun}s"
            with tqdm(total=source.size(), unit=unit, mininterval=0.5, disable=quiet, file=sys.stderr) as bar:
                again = None if learn is None else ReadAgain(learn)
                pending = _pending(documents, source.noun, output, account, again)
                for found, note in results_of(pending, deidentifier, result, withhold, account.unlike, again):
                    try:
                        output.write(found, note)
                        account.done += 1
                    # A note that the output format cannot hold is withheld like a note that cannot be read.
                    except CorpusFormatError as error:
                        withhold(error)
                    bar.update(account.seen - bar.n)
                bar.update(account.seen - bar.n)  # notes that were withheld after the last finished note
        finally:  # an interrupted run reports withheld notes like a finished run
            print(*account.lines(source.noun, verb), *source.aside(verb), sep="\n", file=sys.stderr)
    # Not after an interruption: the missing notes could still have come.
    _report_unread(output.n_unread)
    if source.expected:
        _report_missing(source.expected)
    return SOME_WITHHELD if account.withheld or source.expected else DONE


class ReadAgain:
    """Notes that an earlier run has finished, and that this run reads again.

    Later notes can depend on these notes, or the mapping lacks their originals.

    Some rules of surrogates use the earlier notes of a patient: the rules for initials, typing errors, orders of dates
    and languages. If a resumed run did not read these notes again, a person could have two surrogates.

    Parameters
    ----------
    learn : MappedSurrogates
        Reads a note with its spans.
    after : callable, optional
        Function that is called after each note that `take` has read.
    """

    def __init__(self, learn: MappedSurrogates, after: Callable[[], object] | None = None) -> None:
        self._learn, self._after = learn, after
        self._names: set[str] = set()

    def wants(self, document: Document) -> bool:
        """Whether this finished note must be read again. If so, `take` expects the note."""
        wanted = known_id(document.patient_id) is not None or self._learn.lacks(document)
        if wanted:
            self._names.add(document.doc_id)
        return wanted

    def take(self, document: Document, spans: tuple[Span, ...] | None) -> bool:
        """Read a note if it is expected; return whether the note was expected."""
        if document.doc_id not in self._names:
            return False
        self._names.remove(document.doc_id)
        if spans is not None:
            self.read(document, spans)
        if self._after is not None:
            self._after()
        return True

    def read(self, document: Document, spans: tuple[Span, ...]) -> None:
        """Read a note. Failures are ignored, because the earlier run has listed them, unless they end the run."""
        with TaggerFailure() as failure:
            self._learn.learn(document, spans)
        check_system(failure.error)


def _pending(
    documents: Iterator[Document],
    noun: str,
    output: NoteOutput | DocumentOutput,
    account: Account,
    again: ReadAgain | None,
) -> Iterator[Document]:
    """Yield the notes that no earlier run has finished, and the notes that are read again."""
    # The notes pass one by one, so that the memory holds no corpus.
    for document in documents:
        state = output.state(document)
        if state is NoteState.DONE:
            account.skipped += 1
            if again is not None and again.wants(document):
                yield document
        elif state is NoteState.CHANGED:
            # A note is never done twice in one run: the old output leaves with this run, the next run makes it anew.
            changed = (
                f"The {noun} has changed since its output was written, which is now removed. Run again with --resume."
            )
            account.withheld.append(CorpusFormatError(changed, doc_id=document.doc_id))
        else:
            yield document


def results_of(
    pending: Iterator[Document],
    deidentifier: Any,
    result: Result,
    withhold: Callable[[CorpusFormatError], None],
    unlike: list[DeidError],
    again: ReadAgain | None = None,
) -> Iterator[tuple[Any, Document]]:
    """Yield the result of each note, and the note. Notes that cannot be processed are withheld.

    Notes that are read again have no result.
    """
    with _collected_reasons(unlike) as reasons:
        for document, spans in deidentifier.iter_annotate(pending):
            if again is not None and again.take(document, spans):
                reasons.pop(document.doc_id, None)
                continue
            if spans is None:
                reason = reasons.pop(document.doc_id, "The note cannot be processed.")
                withhold(CorpusFormatError(reason, doc_id=document.doc_id))
                continue
            with TaggerFailure() as failure:
                rewritten = result(document, spans)
            check_system(failure.error)
            if failure.error is not None:
                withhold(CorpusFormatError(failure.reason(), doc_id=document.doc_id))
                continue
            yield rewritten, document


def check_system(error: Exception | None) -> None:
    """Raise a system error that is not the failure of a single note, such as a full disk under ``--mapping``."""
    if isinstance(error, OSError):
        raise error


@contextmanager
def _collected_reasons(unlike: list[DeidError]) -> Iterator[dict[str, str]]:
    """Collect the reasons why notes are withheld, by the ids of the notes.

    The report of the run shows the reasons; no warnings are raised.
    """
    reasons: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("always", WithheldWarning)
        warnings.simplefilter("always", UnlikeNoteWarning)
        show = warnings.showwarning

        def collect(message: Warning | str, category: type[Warning], *place: Any) -> None:
            error = getattr(message, "error", None)
            if error is None:
                show(message, category, *place)
            elif issubclass(category, UnlikeNoteWarning):
                unlike.append(error)
            else:
                reasons[error.doc_id] = error.message

        warnings.showwarning = collect  # type: ignore[assignment]
        yield reasons


def _report_unread(n: int) -> None:
    """Report the number of outputs of an earlier run whose notes no longer exist in the input."""
    if n:
        kept = counted(
            n, "output of the earlier run stays whose note is", "outputs of the earlier run stay whose notes are"
        )
        line = f"{kept} not there any more, or can no longer be read."
        print(f"{line} Use --overwrite to write the output anew without them.", file=sys.stderr)


def _report_missing(reviewed: set[str]) -> None:
    line = (
        f"{counted(len(reviewed), 'reviewed note was', 'reviewed notes were')} not among the notes, such as "
        f"{min(reviewed)!r}. If their ids or file "
        "names have changed, the notes did not get the spans of the reader."
    )
    print(one_line(line), file=sys.stderr)
