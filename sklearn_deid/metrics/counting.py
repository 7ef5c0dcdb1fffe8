"""What counts as found: the rules of the official i2b2 2014 and MEDDOCAN scripts, one document at a time.

Spans are compared as sets, so a span given twice counts once. Typed rules compare labels and leave categories out,
since a label has one category in every scheme and predicted spans need not carry any.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..text import Document, Span

# ASCII only, as in the i2b2 script: an accented letter separates two items.
_RUN = re.compile(r"[a-zA-Z0-9]+")

Item = tuple[str, int, int]
"""Label, start, end."""


@dataclass(frozen=True)
class Counts:
    """Found, invented and missed items.

    Parameters
    ----------
    tp : int, default=0
        Gold items that were found.
    fp : int, default=0
        Predicted items that match no gold one.
    fn : int, default=0
        Gold items that were not found.
    n_predicted : int, default=0
        Predicted items. ``tp + fp`` wherever items match one to one, as they do unless ends may differ or labels are
        left out of a comparison by label.

    Examples
    --------
    >>> both = Counts(tp=3, fp=1, fn=0, n_predicted=4) + Counts(fn=3)
    >>> both.precision, both.recall, both.f1
    (0.75, 0.5, 0.6)
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
        """Share of the gold items that were found; 0 where there is no gold item, as in the official scripts."""
        return self.tp / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are."""
        return harmonic_mean(self.precision, self.recall)

    def as_dict(self) -> dict[str, float]:
        """Scores and counts by name: precision, recall, f1, support, tp, fp and fn."""
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


@dataclass(frozen=True)
class Rule:
    """One way of counting: what an item is, whether labels must agree, and by how many characters ends may differ."""

    items: Callable[[Document, Iterable[Span]], set[Item]]
    typed: bool = True
    end_slack: int = 0


RULES: dict[str, Rule] = {
    "strict": Rule(span_items),
    "relaxed": Rule(span_items, end_slack=2),
    "token": Rule(token_items),
    "binary_strict": Rule(span_items, typed=False),
    "binary_token": Rule(token_items, typed=False),
}


def compare(rule: str, document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of one document under one rule.

    Parameters
    ----------
    rule : {"strict", "relaxed", "token", "binary_strict", "binary_token"}
        Typed spans; the same with ends up to 2 characters apart; typed tokens, which are runs of ASCII letters and
        digits within a span; and spans and tokens without their labels.
    document : Document
        Gives the text.
    gold, predicted : iterable of Span

    Returns
    -------
    Counts

    Raises
    ------
    ValueError
        If there is no such rule.

    Notes
    -----
    Where spans of one label and start differ in their ends, what the official script counts as relaxed depends on the
    order of a hash table. Here every gold span counts as found, and every predicted one as right, that has a match.

    References
    ----------
    Stubbs, Kotfila and Uzuner (2015), "Automated systems for the de-identification of longitudinal clinical
    narratives", section on evaluation.

    Examples
    --------
    >>> note = Document("n", "software engineering")
    >>> compare("token", note, [Span(0, 20, "PROFESSION")], [Span(0, 8, "PROFESSION")])
    Counts(tp=1, fp=0, fn=1, n_predicted=1)
    """
    how = _get_rule(rule)
    wanted, given = how.items(document, gold), how.items(document, predicted)
    if not how.typed:  # before counting: two labels of one span are one item then
        wanted, given = ({("", start, end) for _, start, end in items} for items in (wanted, given))
    missed, invented = _unmatched(wanted, given, how), _unmatched(given, wanted, how)
    return Counts(len(wanted) - len(missed), len(invented), len(missed), len(given))


def compare_by_label(
    rule: str, document: Document, gold: Iterable[Span], predicted: Iterable[Span]
) -> dict[str, Counts]:
    """Counts of one document under one rule, for each label of either side.

    Under a typed rule the labels' counts add up to those of `compare`. Under a binary rule, a gold item of a label is
    found if it was predicted under whatever label, and a predicted item of a label is right if it is gold under
    whatever label: how well each kind of PHI is hidden, rather than named.

    Examples
    --------
    >>> note = Document("n", "software engineering")
    >>> compare_by_label("binary_strict", note, [Span(0, 8, "PROFESSION")], [Span(0, 8, "CITY")])["PROFESSION"]
    Counts(tp=1, fp=0, fn=0, n_predicted=0)
    """
    how = _get_rule(rule)
    wanted, given = how.items(document, gold), how.items(document, predicted)
    sides = (wanted, given, _unmatched(wanted, given, how), _unmatched(given, wanted, how))
    n_wanted, n_given, missed, invented = (Counter(item[0] for item in items) for items in sides)
    return {
        label: Counts(n_wanted[label] - missed[label], invented[label], missed[label], n_given[label])
        for label in {*n_wanted, *n_given}
    }


def merged_counts(document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of MEDDOCAN's second sub-track with neighbouring spans merged; labels play no part.

    Spans whose gap holds no letter or digit are joined on both sides. Right is what agrees before or after joining; a
    missed or invented span that lies within something right is forgiven. So the support is the number of spans that
    are right, joined ones too, and of those that were missed; it is not the number of gold spans.

    References
    ----------
    Marimon et al. (2019), "Automatic de-identification of medical texts in Spanish: the MEDDOCAN track", section on
    evaluation metrics.

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


def _get_rule(rule: str) -> Rule:
    if rule not in RULES:
        raise ValueError(f"The 'rule' parameter must be one of {list(RULES)}. Got {rule!r} instead.")
    return RULES[rule]


def _unmatched(items: set[Item], others: set[Item], rule: Rule) -> set[Item]:
    """Items without a counterpart on the other side."""
    if rule.end_slack:
        return {item for item in items if not _near(item, others, rule.end_slack)}
    if rule.typed:
        return items - others
    places = {(start, end) for _, start, end in others}
    return {item for item in items if item[1:] not in places}


def _near(item: Item, others: set[Item], slack: int) -> bool:
    label, start, end = item
    return any((label, start, end + shift) in others for shift in range(-slack, slack + 1))


def _joined(text: str, spans: set[tuple[int, int]]) -> set[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and not any(c.isalnum() for c in text[joined[-1][1] : start]):
            # The end of the later span, even if it lies within the earlier one: the official script does so.
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return set(joined)
