"""Result of `utility_report`, and its conversion to a dict, a DataFrame or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .._optional import import_optional
from ..text.markdown import markdown_table
from .estimate import Estimate
from .rounding import rounded

_TITLES = {
    "bleu": "BLEU",
    "topics": "Topic words found again",
    "classification": "Text classification",
    "tokens": "Tokens removed and left",
    "terms": "Clinical terms",
}
_COLUMNS = ("value", "low", "high")


class UtilityFigure(NamedTuple):
    """One measured value of a utility report.

    Attributes
    ----------
    part : {"bleu", "topics", "classification", "tokens", "terms"}
        Part of the report.
    system : str
        Version of the notes: ``"original"``, ``"gold"``, ``"redacted"``, ``"baseline"``, or, for topics,
        ``"original, another seed"``.
    measure : str
        Name of the measure, such as ``"bleu-1"``.
    estimate : Estimate
        Measured value. The interval is NaN for measures without a confidence interval, such as BLEU and counts.
    """

    part: str
    system: str
    measure: str
    estimate: Estimate


@dataclass(frozen=True, repr=False)
class UtilityReport:
    """Result of `utility_report`: how useful notes are after redaction.

    Attributes
    ----------
    figures : tuple of UtilityFigure
        All measured values.
    n_notes, n_patients : int
        Numbers of notes and of patients.
    n_withheld : int
        Number of notes of ``redacted`` that were withheld. All tokens of a withheld note count as removed.
    n_topics : int or None
        Number of topics that you set or that the function chose. None if the topic model was omitted.
    confidence : float
        Confidence level of the intervals.
    by_term : mapping of str to mapping of str to (int, int)
        Two counts for each system and each term of ``clinical_terms``: occurrences outside of gold PHI, and removed
        occurrences among them. The methods ``to_dict``, ``to_frame`` and ``to_markdown`` omit these counts.

    Examples
    --------
    >>> report = UtilityReport((UtilityFigure("bleu", "gold", "bleu-1", Estimate(0.9)),), 2, 1)
    >>> report.value("bleu", "gold", "bleu-1")
    0.9
    >>> report
    UtilityReport(2 notes of 1 patients, 1 figures)
    """

    figures: tuple[UtilityFigure, ...]
    n_notes: int
    n_patients: int
    n_withheld: int = 0
    n_topics: int | None = None
    confidence: float = 0.95
    by_term: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"UtilityReport({self.n_notes} notes of {self.n_patients} patients, {len(self.figures)} figures)"

    def __str__(self) -> str:
        return self.to_markdown()

    def value(self, part: str, system: str, measure: str) -> float:
        """Value of one measure of one system, without its interval.

        Raises
        ------
        KeyError
            If the report does not contain this value.
        """
        for figure in self.figures:
            if figure[:3] == (part, system, measure):
                return figure.estimate.value
        raise KeyError(f"There is no figure {(part, system, measure)}; the attribute 'figures' lists all figures.")

    def to_dict(self) -> dict[str, Any]:
        """Nested dict that can be saved as JSON.

        The levels are part, system and measure. Each entry contains value, low and high. The top level also contains
        the numbers of notes, patients, withheld notes and topics, and the confidence level.
        """
        nested: dict[str, Any] = {
            "n_notes": self.n_notes,
            "n_patients": self.n_patients,
            "n_withheld": self.n_withheld,
            "n_topics": self.n_topics,
            "confidence": self.confidence,
        }
        for part, system, measure, estimate in self.figures:
            # Each system is a dict below its part, so that the order of parts and systems is that of the figures.
            systems, plain = nested.setdefault(part, {}), estimate.to_dict()
            systems.setdefault(system, {})[measure] = {key: plain[key] for key in _COLUMNS}
        return nested

    def to_frame(self) -> Any:
        """DataFrame (extra ``frames``) with one row for each figure, index levels part, system and measure."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        keys = ["part", "system", "measure"]
        rows = [(*figure[:3], *(getattr(figure.estimate, column) for column in _COLUMNS)) for figure in self.figures]
        frame = pandas.DataFrame(rows, columns=[*keys, *_COLUMNS])
        return frame.astype(dict.fromkeys(_COLUMNS, "float64")).set_index(keys)

    def to_markdown(self) -> str:
        """Markdown text with one table for each part and one column for each version; intervals are in brackets."""
        withheld = f", {self.n_withheld} withheld" if self.n_withheld else ""
        head = f"{self.n_notes} notes of {self.n_patients} patients{withheld}; {100 * self.confidence:g}% intervals."
        return "\n".join([head, *self._tables()])

    def _tables(self) -> Iterator[str]:
        for part in dict.fromkeys(figure.part for figure in self.figures):
            rows = [figure for figure in self.figures if figure.part == part]
            systems = list(dict.fromkeys(figure.system for figure in rows))
            cells = {(figure.measure, figure.system): _cell(figure) for figure in rows}
            # dict.fromkeys removes repetitions and keeps the order of the figures.
            measures = dict.fromkeys(figure.measure for figure in rows)
            body = [[measure, *(cells.get((measure, system), "") for system in systems)] for measure in measures]
            yield "\n" + markdown_table([_TITLES[part], *systems], body)


def _cell(figure: UtilityFigure) -> str:
    found = figure.estimate
    if figure.measure.startswith("n "):
        return f"{found.value:.0f}"
    return rounded(found.value) + (f" [{rounded(found.low)}, {rounded(found.high)}]" if found.has_interval else "")
