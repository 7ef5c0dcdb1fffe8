"""What counts as found: the rules of the official i2b2 2014 and MEDDOCAN scripts, one document at a time.

Spans are compared as sets, so a span given twice counts once. A label says its category in every scheme, so the label
is what typed rules compare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..text import Document, Span

__all__ = ["RULES", "Counts", "compare", "merged_counts"]

_RUN = re.compile(r"[a-zA-Z0-9]+")
_END_SLACK = 2

Item = tuple


@dataclass(frozen=True)
class Counts:
    """Found, invented and missed items.

    Attributes
    ----------
    tp : int
        Gold items that were found.
    fp : int
        Predicted items that are no gold ones.
    fn : int
        Gold items that were not found.
    n_predicted : int
        Predicted items.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    n_predicted: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.n_predicted + other.n_predicted)

    @property
    def support(self) -> int:
        """Gold items."""
        return self.tp + self.fn

    @property
    def precision(self) -> float:
        """Share of the predicted items that are right; 0 where nothing was predicted, as in the official scripts."""
        return (self.n_predicted - self.fp) / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold items that were found; 0 where there is no gold item."""
        return self.tp / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are."""
        return harmonic_mean(self.precision, self.recall)

    def as_dict(self) -> dict[str, float]:
        """Counts and scores by name."""
        names = ("precision", "recall", "f1", "support", "tp", "fp", "fn")
        return {name: getattr(self, name) for name in names}


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def span_items(document: Document, spans: Iterable[Span]) -> set[Item]:
    """(label, start, end) of each span."""
    return {(s.label, s.start, s.end) for s in spans}


def token_items(document: Document, spans: Iterable[Span]) -> set[Item]:
    """(label, start, end) of each run of ASCII letters and digits; a span without any is one empty run at its end."""
    items: set[Item] = set()
    for s in spans:
        runs = [(s.label, m.start(), m.end()) for m in _RUN.finditer(document.text, s.start, s.end)]
        items.update(runs or [(s.label, s.end, s.end)])
    return items


def _without_label(rule: Callable[[Document, Iterable[Span]], set[Item]]) -> Callable[..., set[Item]]:
    return lambda document, spans: {("", *item[1:]) for item in rule(document, spans)}


RULES: dict[str, Callable[[Document, Iterable[Span]], set[Item]]] = {
    "strict": span_items,
    "relaxed": span_items,
    "token": token_items,
    "binary_strict": _without_label(span_items),
    "binary_token": _without_label(token_items),
}


def compare(rule: str, document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of one document under one rule.

    Parameters
    ----------
    rule : {"strict", "relaxed", "token", "binary_strict", "binary_token"}
        Typed spans; the same with ends up to 2 characters apart; typed tokens; and the two without labels.
    document : Document
        Gives the text.
    gold, predicted : iterable of Span

    Examples
    --------
    >>> note = Document("n", "software engineering")
    >>> compare("token", note, [Span(0, 20, "PROFESSION")], [Span(0, 8, "PROFESSION")])
    Counts(tp=1, fp=0, fn=1, n_predicted=1)
    """
    wanted, given = RULES[rule](document, gold), RULES[rule](document, predicted)
    if rule != "relaxed":
        found = len(wanted & given)
        return Counts(found, len(given) - found, len(wanted) - found, len(given))
    missed = sum(not _near(item, given) for item in wanted)
    invented = sum(not _near(item, wanted) for item in given)
    return Counts(len(wanted) - missed, invented, missed, len(given))


def _near(item: Item, others: set[Item]) -> bool:
    label, start, end = item
    return any((label, start, end + shift) in others for shift in range(-_END_SLACK, _END_SLACK + 1))


def merged_counts(document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of MEDDOCAN's second sub-track with neighbouring spans merged.

    Spans whose gap holds no letter or digit are joined on both sides. Right is what agrees before or after joining; a
    missed or invented span that lies within something right is forgiven.

    Examples
    --------
    >>> note = Document("n", "Ana Mar")
    >>> merged_counts(note, [Span(0, 7, "NAME")], [Span(0, 3, "NAME"), Span(4, 7, "NAME")])
    Counts(tp=1, fp=0, fn=0, n_predicted=1)
    """
    wanted, given = {(s.start, s.end) for s in gold}, {(s.start, s.end) for s in predicted}
    right = (wanted & given) | (_joined(document.text, wanted) & _joined(document.text, given))

    def outside(items: set[tuple[int, int]]) -> int:
        return sum(not any(a <= s and e <= b for a, b in right) for s, e in items - right)

    fp, fn = outside(given), outside(wanted)
    return Counts(len(right), fp, fn, len(right) + fp)


def _joined(text: str, spans: set[tuple[int, int]]) -> set[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and not any(c.isalnum() for c in text[joined[-1][1] : start]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return set(joined)
