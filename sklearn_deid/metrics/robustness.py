"""`robustness_table`: recall of a de-identifier on altered notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from ..text import Document, Span
from ..text.markdown import markdown_table
from .alterations import ALTERATIONS, Alteration
from .rounding import rounded

_TOKEN = re.compile(r"[^\W_]+")
# Labels of names in i2b2 2014 and MEDDOCAN, and the category of both.
_NAMES = frozenset(("NAME", "PATIENT", "DOCTOR", "USERNAME", "NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"))


class Annotator(Protocol):
    """Object that finds spans in notes, such as a `NoteDeidentifier` with ``on_error="withhold"``."""

    def annotate(self, texts: Iterable[str]) -> Sequence[Sequence[Span] | None]:
        """Spans of each note; None for a withheld note."""


@dataclass(frozen=True)
class RobustnessRow:
    """Result on the notes with one alteration. Tokens are runs of letters and digits of the unchanged notes.

    Attributes
    ----------
    name : str
        Name of the alteration.
    evasive : bool
        Whether the alteration hides text from filters.
    recall, name_recall : float
        Proportion of the PHI tokens, and of the tokens of names, whose altered characters are all covered. Tokens of
        withheld notes are not counted. NaN if there are no tokens to count.
    precision : float
        Proportion of the covered tokens that are PHI; NaN without covered tokens.
    false_alarms : float
        Proportion of the tokens outside of PHI that are covered.
    withheld : float
        Proportion of the notes that were withheld.
    """

    name: str
    evasive: bool
    recall: float
    name_recall: float
    precision: float
    false_alarms: float
    withheld: float


@dataclass(frozen=True)
class RobustnessTable:
    """Rows of `robustness_table`.

    Attributes
    ----------
    rows : tuple of RobustnessRow
        A row for each alteration.
    n_notes : int
        Number of notes.
    """

    rows: tuple[RobustnessRow, ...]
    n_notes: int

    def to_dict(self) -> dict[str, Any]:
        """Values for a JSON file; None for NaN."""
        rows = [{k: None if v != v else v for k, v in asdict(row).items()} for row in self.rows]
        return {"n_notes": self.n_notes, "rows": rows}

    def __str__(self) -> str:
        head = ("alteration", "recall", "names", "precision", "false alarms", "withheld")
        shares = [(row.recall, row.name_recall, row.precision, row.false_alarms, row.withheld) for row in self.rows]
        cells = [[row.name, *(rounded(v, 1, 100) for v in of)] for row, of in zip(self.rows, shares, strict=True)]
        return markdown_table(head, cells)


def robustness_table(
    deidentifier: Annotator,
    notes: Iterable[Document],
    alterations: Sequence[Alteration] = ALTERATIONS,
    *,
    random_state: int = 0,
) -> RobustnessTable:
    """Measure how many PHI tokens a de-identifier finds when the notes are altered.

    Compute the table before you use a model on notes that differ from its training notes, such as notes in capital
    letters, scanned notes, or notes with unusual characters.

    Parameters
    ----------
    deidentifier : object with ``annotate``
        Fitted `NoteDeidentifier`. With ``on_error="withhold"``, a note that the de-identifier refuses counts as
        withheld; otherwise, a refused note raises an error.
    notes : iterable of Document
        Notes with gold spans, of patients outside the training data of the model.
    alterations : sequence of Alteration, default=ALTERATIONS
        Changes to apply, one at a time.
    random_state : int, default=0
        Random seed of the alterations.

    Returns
    -------
    RobustnessTable

    Raises
    ------
    ValueError
        If there are no notes.

    Examples
    --------
    >>> from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span
    >>> note = Document("n1", "Mail to roe@example.org", (Span(8, 23, "EMAIL"),))
    >>> table = robustness_table(NoteDeidentifier(RuleTagger().fit([])), [note], ALTERATIONS[:3])
    >>> [(row.name, row.recall) for row in table.rows]
    [('unchanged', 1.0), ('lower case', 1.0), ('capitals', 1.0)]
    """
    documents = list(notes)
    if not documents:
        raise ValueError("The 'notes' parameter holds no note. Pass at least one note with gold spans.")
    rows = []
    for number, alteration in enumerate(alterations):
        altered = [
            # One generator for each alteration and note: leaving out an alteration does not change the others.
            alteration.altered(d, np.random.default_rng([random_state, number, i]))
            for i, d in enumerate(documents)
        ]
        found = deidentifier.annotate([note.text for note in altered])
        counts = np.zeros((3, 2), dtype=np.int64)
        for document, note, spans in zip(documents, altered, found, strict=True):
            if spans is not None:
                counts += _counts(document, note.text, note.places, spans)
        withheld = sum(spans is None for spans in found) / len(documents)
        rows.append(_row(alteration, counts.tolist(), withheld))
    return RobustnessTable(tuple(rows), len(documents))


def _counts(document: Document, text: str, places: Sequence[int], spans: Iterable[Span]) -> np.ndarray:
    """Counts of tokens. Rows: other tokens, PHI without names, and names. Columns: all tokens, and covered tokens."""
    # shape: (characters of the altered note + 1,)
    hidden = np.zeros(len(text) + 1, dtype=bool)
    for span in spans:
        hidden[span.start : span.end] = True
    # Only letters and digits must be covered: characters between them are invisible or reveal nothing.
    open_before = np.concatenate([[0], np.cumsum([c.isalnum() and not h for c, h in zip(text, hidden, strict=False)])])
    kind = np.zeros(len(document.text) + 1, dtype=np.int64)
    for span in document.spans:
        kind[span.start : span.end] = 2 if span.label in _NAMES or span.category in _NAMES else 1
    counts = np.zeros((3, 2), dtype=np.int64)
    for token in _TOKEN.finditer(document.text):
        start, end = places[token.start()], places[token.end()]
        # A cumulative sum of open characters: a token is covered if the sum does not grow over the token.
        covered = bool(open_before[start] == open_before[end]) and bool(hidden[start:end].any())
        counts[kind[token.start() : token.end()].max()] += (1, covered)
    return counts


def _row(alteration: Alteration, counts: list[list[int]], withheld: float) -> RobustnessRow:
    (others, alarms), (rest, found_rest), (names, named) = counts
    phi, found = rest + names, found_rest + named
    return RobustnessRow(
        alteration.name,
        alteration.evasive,
        _share(found, phi),
        _share(named, names),
        _share(found, found + alarms),
        _share(alarms, others),
        withheld,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
