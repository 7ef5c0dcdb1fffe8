"""Run of ``redact`` on a table: its texts are tagged in a stream, and its rows are written chunk by chunk."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .._strict_json import load_strict
from ..exceptions import CorpusFormatError, DeidError
from ..io.tables import FHIR_FIELDS, HL7_FIELDS, Columns, Table, TableChunk
from ..io.tables.sql import SqlTable
from ..tagging.tagger_failure import TaggerFailure
from ..text import Document, Span
from ..text.characters import LONE_SURROGATE, has_surrogate
from .annotating import Account, ReadAgain, Result, check_system, results_of
from .failures import DONE, SOME_WITHHELD
from .mapped_surrogates import MappedSurrogates
from .sql_output import SqlOutput
from .table_output import TableOutput

_OMOP = Columns(("note_text",), "note_id", "person_id", ("note_title",))
_PATH = re.compile(r"(date:)?(\.|\w+\*?(\.\w+\*?)*)")
_FIELD = re.compile(r"(?!MSH)[A-Z][A-Z0-9]{2}-[1-9][0-9]?")
_TYPE = re.compile(r"[A-Z][A-Z0-9]*")
_NO_TEXT = "The cell holds no text."


def columns_of(arguments: Namespace) -> Columns | None:
    """Columns that the options select; None if the options select no columns.

    Raises
    ------
    DeidError
        If an option needs ``--text-column``, or cannot be combined with ``--text-column``.
    """
    profiles = (arguments.fhir_profile, arguments.hl7_profile)
    if arguments.text_column and (arguments.omop or arguments.fhir or arguments.hl7 or any(profiles)):
        raise DeidError("--text-column does not go with --omop, --fhir, --hl7 and profiles, which name the texts.")
    if arguments.text_column:
        # Messages and warnings show ids.
        if {arguments.id_column, arguments.patient_column} & set(arguments.text_column):
            raise DeidError("--id-column and --patient-column must not name a column of texts.")
        return Columns(tuple(dict.fromkeys(arguments.text_column)), arguments.id_column, arguments.patient_column)
    for option, value in (("--id-column", arguments.id_column), ("--patient-column", arguments.patient_column)):
        if value is not None:
            raise DeidError(f"{option} needs --text-column.")
    if arguments.delimiter is not None and not arguments.omop:
        raise DeidError("--delimiter needs --text-column or --omop.")
    return _OMOP if arguments.omop else None


def fhir_fields(arguments: Namespace) -> dict[str, list[str]] | None:
    """Text fields of FHIR resources that the options select; None without ``--fhir``.

    Raises
    ------
    DeidError
        If the profile is not a JSON object of lists of paths.
    """
    reason = "A profile is a JSON object: types of resources, each with a list of paths such as note.text."
    return _fields(arguments.fhir_profile, FHIR_FIELDS if arguments.fhir else None, reason, _PATH)


def hl7_fields(arguments: Namespace) -> dict[str, list[str]] | None:
    """Text fields of HL7 messages that the options select; None without ``--hl7``.

    Raises
    ------
    DeidError
        If the profile is not a JSON object of fields, such as OBX-5, and lists of types in capitals.
    """
    reason = "A profile is a JSON object: fields such as OBX-5, each with a list of the types in the second field."
    # A type in small letters would be found in no message, and the texts would be copied.
    profile = _fields(arguments.hl7_profile, HL7_FIELDS if arguments.hl7 else None, reason, _TYPE)
    if profile is not None and not (profile and all(map(_FIELD.fullmatch, profile))):
        raise DeidError(reason, path=arguments.hl7_profile)
    return profile


def _fields(
    written: str | None, usual: Mapping[str, Sequence[str]] | None, reason: str, pattern: re.Pattern[str]
) -> dict[str, list[str]] | None:
    """Fields of the profile in a file, whose values match a pattern; without a file, the default fields."""
    if written is None:
        return None if usual is None else {name: list(values) for name, values in usual.items()}
    try:
        # Of a key that is there twice, the second list could leave texts unredacted.
        profile = load_strict(Path(written).read_bytes())
    except (ValueError, RecursionError):
        profile = None
    if not isinstance(profile, dict) or not all(
        isinstance(values, list) and all(isinstance(name, str) and pattern.fullmatch(name) for name in values)
        for values in profile.values()
    ):
        raise DeidError(reason, path=written)
    return profile


def redact_table(
    table: Table | SqlTable,
    output: TableOutput | SqlOutput,
    deidentifier: Any,
    result: Result,
    *,
    quiet: bool,
    learn: MappedSurrogates | None = None,
) -> int:
    """Redact the texts of a table.

    With ``learn``, finished texts of known patients are tagged again, because later results depend on these texts, and
    so are texts that the mapping lacks.

    Returns
    -------
    int
        Exit code: `DONE`, or `SOME_WITHHELD` if a row or a cell is withheld, or a field of a profile has no text.
    """
    from tqdm import tqdm

    run = _TableRun(table, output, result, learn)
    try:
        with output, tqdm(unit=" texts", mininterval=0.5, disable=quiet, file=sys.stderr) as bar:
            for rewritten, document in results_of(
                run.documents(), deidentifier, result, run.withhold, run.account.unlike, run.again
            ):
                run.fill(document, rewritten.text)
                bar.update(1)
            run.write_finished()
            output.finish(table, run.unused_fields())  # type: ignore[arg-type]
            run.is_complete = True
    finally:
        run.report()
    return SOME_WITHHELD if run.account.withheld or run.unused_fields() else DONE


class _Work:
    """Chunk whose texts have no results yet."""

    def __init__(self, number: int, chunk: TableChunk) -> None:
        self.number, self.chunk = number, chunk
        self.texts: list[str | None] = [None] * len(chunk.cells)
        self.reasons: dict[int, str] = {
            n: _NO_TEXT for n, cell in enumerate(chunk.cells) if not isinstance(cell.text, str)
        }
        self.n_waiting = len(chunk.cells) - len(self.reasons)


class _TableRun:
    def __init__(
        self, table: Table | SqlTable, output: TableOutput | SqlOutput, result: Result, learn: MappedSurrogates | None
    ) -> None:
        self.table, self.output, self.result = table, output, result
        self.again = None if learn is None else ReadAgain(learn, self._go_on)
        # Texts without a result (None), and functions that rewrite the structured values between them. Surrogates
        # depend on the order, which must not depend on the number of texts that are read ahead.
        self.turns: deque[Callable[[], object] | None] = deque()
        self.works: deque[_Work] = deque()
        self.places: dict[str, tuple[_Work, int]] = {}
        self.n_without = self.n_blank = 0
        self.field_counts: Counter[str] = Counter()
        self.is_complete = False
        self.account = Account()

    def documents(self) -> Iterator[Document]:
        """Yield the texts of the chunks that no earlier run has finished."""
        for number, chunk in enumerate(self.table.chunks()):
            for name, n in chunk.field_counts.items():
                self.field_counts[name] += n
            self.n_without += chunk.n_without
            self.n_blank += chunk.n_blank
            earlier = self.output.finished(number, chunk)
            if earlier is not None:
                self.account.skipped += chunk.n_written(n for n, _ in earlier)
                self._list(chunk, earlier)
                yield from self._read_again(chunk)
                continue
            work = _Work(number, chunk)
            self.works.append(work)
            for n, cell in enumerate(chunk.cells):
                if n in work.reasons:
                    continue
                self.places[cell.place] = work, n
                document = Document(cell.place, cell.text, (), cell.patient_id)
                if cell.label is None:
                    self.turns.append(None)
                    yield document
                else:
                    self._in_turn(partial(self._rewrite, document, _whole(document, cell.label)))
            # Results are used when the next text is asked for. Chunks without texts wait for those before them.
            self.write_finished()

    def _read_again(self, chunk: TableChunk) -> Iterator[Document]:
        """Yield the texts of a finished chunk on which later texts can depend."""
        for cell in chunk.cells if self.again is not None else ():
            if not isinstance(cell.text, str):
                continue
            document = Document(cell.place, cell.text, (), cell.patient_id)
            if cell.label is not None:
                self._in_turn(partial(self.again.read, document, _whole(document, cell.label)))  # type: ignore[union-attr]
            elif self.again.wants(document):  # type: ignore[union-attr]
                self.turns.append(None)
                yield document

    def _in_turn(self, function: Callable[[], object]) -> None:
        """Call a function when all texts before it have a result."""
        if self.turns:
            self.turns.append(function)
        else:
            function()

    def _go_on(self) -> None:
        """Call the functions behind the first text that had no result, and now has one."""
        self.turns.popleft()
        while self.turns and (function := self.turns[0]) is not None:
            self.turns.popleft()
            function()

    def _rewrite(self, document: Document, spans: tuple[Span, ...]) -> None:
        """Rewrite a structured value, for which no model is needed."""
        text = None
        with TaggerFailure() as failure:
            text = self.result(document, spans).text
        check_system(failure.error)
        self._store(document.doc_id, text, failure.reason(what="value") if text is None else None)

    def fill(self, document: Document, text: str) -> None:
        """Store the result of a text."""
        self._store(document.doc_id, text, None)
        self._go_on()

    def withhold(self, error: CorpusFormatError) -> None:
        """Store the failure of a text."""
        self._store(str(error.doc_id), None, error.message)
        self._go_on()

    def _store(self, place: str, text: str | None, reason: str | None) -> None:
        work, n = self.places.pop(place)
        work.n_waiting -= 1
        if text is None or has_surrogate(text):
            work.reasons[n] = reason or LONE_SURROGATE
        else:
            work.texts[n] = text
        self.write_finished()

    def write_finished(self) -> None:
        """Write the chunks in which each text has a result."""
        while self.works and not self.works[0].n_waiting:
            work = self.works.popleft()
            for n, reason in work.chunk.check(work.texts) if work.chunk.check else ():
                work.reasons[n], work.texts[n] = reason, None
            failed = sorted(work.reasons.items())
            self.output.write(work.number, work.chunk, work.chunk.render(work.texts), failed)
            self.account.done += work.chunk.n_written(work.reasons)
            self._list(work.chunk, failed)

    def unused_fields(self) -> list[str]:
        """Fields of the profile that contain no text in the whole table."""
        return [name for name, n in self.field_counts.items() if not n]

    def report(self) -> None:
        """Print the report of the run."""
        lines = self.account.lines("text")
        if self.is_complete:
            lines += [
                f"  no text in the field {name} of the profile. A text elsewhere was copied: check the spelling."
                for name in self.unused_fields()
            ]
            if self.n_without:
                # Exports leave out nulls, so that this is no failure.
                lines.append(f"{self.n_without} times a line lacks a text column. The rest of the line was copied.")
            if self.n_blank:
                lines.append(f"Blank lines that were left out: {self.n_blank}.")
            lines.append("All other columns, fields and metadata were copied unchanged. They are not de-identified.")
        else:
            lines.append("The run has ended early, and the table is not complete.")
        print(*lines, sep="\n", file=sys.stderr)

    def _list(self, chunk: TableChunk, failed: list[tuple[int, str]]) -> None:
        withheld = [*chunk.problems, *((chunk.cells[n].place, reason) for n, reason in failed)]
        self.account.withheld += [f"{reason} [{place}]" for place, reason in withheld]


def _whole(document: Document, label: str) -> tuple[Span, ...]:
    """A span over the whole value."""
    return (Span(0, len(document.text), label),)
