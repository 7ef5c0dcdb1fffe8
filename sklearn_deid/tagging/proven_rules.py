"""`ProvenRules`: rules whose matches in the training notes are nearly always PHI, for PHI that a tagger misses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..text import Document, Span
from .rules import LANGUAGES, Rule, find_phi, note_languages, select_rules
from .weight_checks import class_problem

# A rule needs 18 matches without a mistake, 38 matches with one mistake, and so on.
_LEAST_PRECISION = 0.95
_MOST_CHARACTERS = 300_000  # of notes, to guess their language
_BEYOND_LATIN = "\u0100"


class ProvenRules:
    """Add the matches of rules to the spans of a tagger at places where the tagger has found nothing.

    A tagger can miss a date or a telephone number in an unusual sentence, although the form of the number is clear.
    `learn` chooses the rules whose matches in annotated notes are nearly always spans of one label. The chosen rules
    are applied to other notes.

    Parameters
    ----------
    labels : mapping of str to pair of str and float
        Label and precision of each rule, by the name of the rule (`rules.RULES`).

    Raises
    ------
    ValueError
        If a rule is unknown, a precision is not between 0 and 1, or a label holds control characters or markup.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> notes = [Document(f"n{day}", f"Seen on {day}/05/2011.", (Span(8, 18, "DATE"),)) for day in range(11, 30)]
    >>> rules = ProvenRules.learn(notes)
    >>> rules.labels
    {'date-numeric': ('DATE', 0.95)}
    >>> [(span.start, span.end) for span in rules.with_missed("- Removed 24/09/10", ())]
    [(10, 18)]
    """

    def __init__(self, labels: Mapping[str, tuple[str, float]]) -> None:
        self.labels = {str(name): (str(label), float(precision)) for name, (label, precision) in labels.items()}
        self._rules = tuple(rule for rule in select_rules(language=LANGUAGES) if rule.name in self.labels)
        if len(self._rules) < len(self.labels) or not all(0 < p < 1 for _, p in self.labels.values()):
            raise ValueError("A rule is unknown to this version, or its precision is not between 0 and 1.")
        # The labels appear in redacted notes, like the labels of a tagger.
        problem = class_problem({"B-" + label for label, _ in labels.values()})
        if self.labels and problem is not None:
            raise ValueError(f"A rule has a label that cannot be used. {problem}")

    @classmethod
    def learn(cls, notes: Iterable[Document]) -> ProvenRules:
        """Choose the rules of which at most one match in 20 is not a span of the rule's label.

        One right match and one wrong match are added to the counts, so that a rule needs at least 18 matches. Only
        rules for the language of the notes are considered.

        Parameters
        ----------
        notes : iterable of Document
            Annotated notes.
        """
        notes = list(notes)
        rules = select_rules(language=note_languages(" ".join(note.text for note in notes)[:_MOST_CHARACTERS]))
        while True:
            labels = _proven(notes, rules)
            # Without the other rules, a rule has more matches: the other rules no longer take characters from it.
            if len(labels) == len(rules):
                return cls(labels)
            rules = tuple(rule for rule in rules if rule.name in labels)

    def with_missed(
        self,
        text: str,
        spans: Sequence[Span],
        categories: Mapping[str, str] | None = None,
        has_confidences: bool = True,
    ) -> list[Span]:
        """Spans of a tagger, and the matches of the rules that touch none of these spans.

        Parameters
        ----------
        text : str
            Note.
        spans : sequence of Span
            Spans of the tagger, sorted and without overlap.
        categories : mapping of str to str, optional
            Category of each label.
        has_confidences : bool, default=True
            Whether the confidence of a match is the precision of its rule. If False, the confidence of a match is None.

        Returns
        -------
        list of Span
            Sorted and without overlap.
        """
        if not self._rules:
            return list(spans)
        left = _outside(text, spans)
        # Most rules need a character, such as the @ of an address. Without this character outside of the spans of the
        # tagger, a rule is skipped. Characters beyond Latin-1 may be other forms of digits and letters.
        is_plain = max(left, default="") < _BEYOND_LATIN
        rules = tuple(r for r in self._rules if not is_plain or any(c in left for c in r.needs))
        taken = bytearray(len(text))
        for span in spans:
            taken[span.start : span.end] = b"\x01" * (span.end - span.start)
        added = [
            Span(find.start, find.end, label, (categories or {}).get(label), precision if has_confidences else None)
            for find in (find_phi(text, rules=rules) if rules else ())
            if not any(taken[find.start : find.end])
            for label, precision in [self.labels[find.rule]]
        ]
        return sorted([*spans, *added], key=lambda span: span.start)


def _proven(notes: Sequence[Document], rules: tuple[Rule, ...]) -> dict[str, tuple[str, float]]:
    """Label and precision of the rules that are precise enough on the notes if all rules are used together."""
    # For each rule: number of finds by the label of the span with the same borders, "" without one.
    counts = {rule.name: Counter[str]() for rule in rules}
    for note in notes if rules else ():
        gold = {(span.start, span.end): span.label for span in note.spans}
        for find in find_phi(note.text, rules=rules):
            counts[find.rule][gold.get((find.start, find.end), "")] += 1
    labels = {}
    for name, found in counts.items():
        label, n_right = max(found.items(), key=lambda one: one[1], default=("", 0))
        precision = (n_right + 1) / (found.total() + 2)
        if label and precision >= _LEAST_PRECISION:
            # Two digits: exact counts would reveal more about the training notes than users need.
            labels[name] = label, math.floor(100 * precision) / 100
    return labels


def _outside(text: str, spans: Sequence[Span]) -> str:
    """Parts of a text outside of the spans of a tagger."""
    borders = [0, *(border for span in spans for border in (span.start, span.end)), len(text)]
    return " ".join(text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True))
