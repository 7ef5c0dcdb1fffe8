"""Counting rules of the official i2b2 2014 and MEDDOCAN scripts, for one document at a time.

The rules compare sets of spans, so that a repeated span counts once. Typed rules compare labels and ignore categories:
every label has one category in a scheme, and predicted spans need not have a category.
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
    """Numbers of found, wrongly predicted and missed items.

    Parameters
    ----------
    tp : int, default=0
        Number of gold items that were found.
    fp : int, default=0
        Number of predicted items without a matching gold item.
    fn : int, default=0
        Number of gold items that were not found.
    n_predicted : int, default=0
        Number of predicted items. ``n_predicted`` equals ``tp + fp`` if items match one to one. ``n_predicted`` and
        ``tp + fp`` differ in two cases: in the relaxed rule, and in the counts of a binary rule by label
        (`compare_by_label`).

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
        """Number of gold items."""
        return self.tp + self.fn

    @property
    def precision(self) -> float:
        """Proportion of correct predicted items; 0 without predicted items, as in the official scripts."""
        # The numerator is not tp: with a tolerance, several predicted items may match a single gold item.
        return (self.n_predicted - self.fp) / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Proportion of gold items that were found; 0 without gold items, as in the official scripts."""
        return self.tp / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are 0."""
        return harmonic_mean(self.precision, self.recall)

    def as_dict(self) -> dict[str, float | None]:
        """Scores and counts by name: precision, recall, f1, support, tp, fp and fn.

        A score is None if its denominator is 0. The official scripts print 0 instead of None.

        Examples
        --------
        >>> Counts(fn=2).as_dict()
        {'precision': None, 'recall': 0.0, 'f1': 0.0, 'support': 2, 'tp': 0, 'fp': 0, 'fn': 2}
        """
        precision = self.precision if self.n_predicted else None
        recall = self.recall if self.support else None
        # A score of 0 makes F1 0, whatever the other score is. A binary rule also counts, for a label, what was found
        # under other labels: a score above 0 then has no counterpart.
        f1 = self.f1 if None not in (precision, recall) or 0.0 in (precision, recall) else None
        counts = {name: getattr(self, name) for name in ("support", "tp", "fp", "fn")}
        return {"precision": precision, "recall": recall, "f1": f1, **counts}


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 score for a precision and a recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def span_items(document: Document, spans: Iterable[Span]) -> set[Item]:
    """(label, start, end) of each span."""
    return {(s.label, s.start, s.end) for s in spans}


def token_items(document: Document, spans: Iterable[Span]) -> set[Item]:
    """(label, start, end) of each run of ASCII letters and digits; a span without ASCII letters and digits counts as an
    empty run."""
    items: set[Item] = set()
    for s in spans:
        runs = [(s.label, m.start(), m.end()) for m in _RUN.finditer(document.text, s.start, s.end)]
        # The empty run keeps a span without letters and digits in the counts.
        items.update(runs or [(s.label, s.end, s.end)])
    return items


def other_letters(document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of the letters and digits outside of ASCII in gold spans, which `token_items` leaves out.

    A letter counts as found if a span with any label covers the letter. Predicted letters are not counted.

    Examples
    --------
    >>> note = Document("n", "\u042f. Roe")
    >>> other_letters(note, [Span(0, 6, "PATIENT")], [Span(3, 6, "PATIENT")])
    Counts(tp=0, fp=0, fn=1, n_predicted=0)
    """
    if document.text.isascii():
        return Counts()
    wanted, covered = (_places(spans) for spans in (gold, predicted))
    telling = {i for i in wanted if not document.text[i].isascii() and document.text[i].isalnum()}
    return Counts(tp=len(telling & covered), fn=len(telling - covered))


def _places(spans: Iterable[Span]) -> set[int]:
    return {i for span in spans for i in range(span.start, span.end)}


@dataclass(frozen=True)
class Rule:
    """Counting rule: kind of item, whether labels must agree, and how many characters the ends may differ."""

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
        Counting rule. ``"strict"`` compares typed spans. ``"relaxed"`` also accepts ends that are up to 2 characters
        apart. ``"token"`` compares typed tokens; a token is a run of ASCII letters and digits within a span.
        ``"binary_strict"`` and ``"binary_token"`` compare spans and tokens without their labels.
    document : Document
        Document with the text to which the spans refer.
    gold, predicted : iterable of Span
        Gold and predicted spans of the document.

    Returns
    -------
    Counts
        Counts of the document.

    Raises
    ------
    ValueError
        If the rule is unknown.

    Notes
    -----
    The official script has an ambiguity in the relaxed rule. If several spans have the same label and start but
    different ends, the count of the script depends on the order of a hash table. This function counts every gold span
    with a match as found, and every predicted span with a match as correct.

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
    if not how.typed:
        # Labels are removed before counting: two labels of one span are then a single item.
        wanted, given = ({("", start, end) for _, start, end in items} for items in (wanted, given))
    missed, invented = _unmatched(wanted, given, how), _unmatched(given, wanted, how)
    return Counts(len(wanted) - len(missed), len(invented), len(missed), len(given))


def compare_by_label(
    rule: str, document: Document, gold: Iterable[Span], predicted: Iterable[Span]
) -> dict[str, Counts]:
    """Counts of one document under one rule, for each gold or predicted label.

    Under a typed rule the counts of the labels add up to the counts of `compare`. Under a binary rule, a gold item
    counts as found if the item was predicted with any label. A predicted item counts as correct if the item is gold
    with any label. The binary counts therefore show how well each type of PHI is hidden, not how well the types are
    distinguished.

    Examples
    --------
    >>> note = Document("n", "software engineering")
    >>> compare_by_label("binary_strict", note, [Span(0, 8, "PROFESSION")], [Span(0, 8, "CITY")])["PROFESSION"]
    Counts(tp=1, fp=0, fn=0, n_predicted=0)
    """
    how = _get_rule(rule)
    wanted, given = how.items(document, gold), how.items(document, predicted)
    # Labels are counted separately on both sides: a wrong label is a missed item of one label and an invented item of
    # the other label.
    sides = (wanted, given, _unmatched(wanted, given, how), _unmatched(given, wanted, how))
    n_wanted, n_given, missed, invented = (Counter(item[0] for item in items) for items in sides)
    return {
        label: Counts(n_wanted[label] - missed[label], invented[label], missed[label], n_given[label])
        for label in {*n_wanted, *n_given}
    }


def merged_counts(document: Document, gold: Iterable[Span], predicted: Iterable[Span]) -> Counts:
    """Counts of MEDDOCAN's second sub-track with neighbouring spans merged, without labels.

    Neighbouring spans are joined if the text between them has no letter or digit. The function joins gold spans and
    predicted spans. A span is correct if gold and prediction agree before or after joining. A missed or wrongly
    predicted span inside a correct span is not counted as an error. The support is therefore the number of correct
    spans (joined spans included) plus the number of missed spans. The support differs from the number of gold spans.

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
    # Exact spans count as right, and also joined spans that are equal on both sides.
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
    """Items without a matching item among ``others``."""
    if rule.end_slack:
        return {item for item in items if not _near(item, others, rule.end_slack)}
    if rule.typed:
        return items - others
    places = {(start, end) for _, start, end in others}
    return {item for item in items if item[1:] not in places}


def _near(item: Item, others: set[Item], slack: int) -> bool:
    label, start, end = item
    # All ends within the tolerance are looked up in the set, which needs no loop over the other items.
    return any((label, start, end + shift) in others for shift in range(-slack, slack + 1))


def _joined(text: str, spans: set[tuple[int, int]]) -> set[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and not any(c.isalnum() for c in text[joined[-1][1] : start]):
            # The joined span ends where the later span ends, even if the earlier span is longer: the official script
            # has this rule, and the scores must agree with the script.
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return set(joined)
