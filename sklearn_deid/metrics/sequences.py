"""Scores of tag sequences, as estimators predict them: fast enough to run after each epoch.

What is compared are spans or single tokens of a sentence, not characters of a note: for the official numbers turn
the tags into documents and call `deid_report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences
from ..text import labels_of, split_tag
from .counting import Counts


def phi_f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Any:
    """F1 of tagged spans or tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of n tag sequences
        IOB2 or BIOES, as lists, object arrays or TokenSequences. Illegal sequences count as `labels_of` reads them.
    average : {"micro", "macro", None}, default="micro"
        Over all spans; the mean of the labels' scores; or a dict of the labels' scores.
    level : {"span", "token"}, default="span"
        Whether whole spans or single tokens are compared; a token has the label of its tag, whatever its prefix.
    binary : bool, default=False
        Leave the labels out of the comparison.
    labels : iterable of str, optional
        Labels that count on either side, such as the HIPAA ones; by default all.

    Returns
    -------
    float, or dict of str to float
        0 where there is neither a gold nor a predicted item. A label with neither is no part of a macro average.

    Raises
    ------
    SequenceError
        If the two do not have the same sentences with the same numbers of tokens, or hold something that is no tag.
    ValueError
        If 'average' or 'level' has none of the values above, or 'labels' is a single string.

    Examples
    --------
    >>> phi_f1_score([["B-AGE", "O"]], [["B-AGE", "B-CITY"]])
    0.6666666666666666
    >>> phi_f1_score([["B-AGE", "O"]], [["B-AGE", "B-CITY"]], average=None)
    {'AGE': 1.0, 'CITY': 0.0}
    """
    return score_tags("f1", y_true, y_pred, average, level, binary, labels)


def phi_precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Any:
    """Share of the predicted spans or tokens that are right; parameters and errors as in `phi_f1_score`.

    Examples
    --------
    >>> phi_precision_score([["B-AGE", "O"]], [["B-AGE", "B-CITY"]])
    0.5
    """
    return score_tags("precision", y_true, y_pred, average, level, binary, labels)


def phi_recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Any:
    """Share of the gold spans or tokens that were found; parameters and errors as in `phi_f1_score`.

    Examples
    --------
    >>> phi_recall_score([["B-AGE", "I-AGE"]], [["B-AGE", "O"]], level="token")
    0.5
    """
    return score_tags("recall", y_true, y_pred, average, level, binary, labels)


def check_options(average: str | None, level: str, labels: Iterable[str] | None) -> None:
    """Raise ValueError if an option has none of its values."""
    if level not in ("span", "token"):
        raise ValueError(f"The 'level' parameter must be 'span' or 'token'. Got {level!r} instead.")
    if average not in ("micro", "macro", None):
        raise ValueError(f"The 'average' parameter must be 'micro', 'macro' or None. Got {average!r} instead.")
    if isinstance(labels, str):  # its letters would be taken for labels, and every score be 0
        raise ValueError(f"The 'labels' parameter must be a collection of labels. Got the string {labels!r} instead.")


def score_tags(
    measure: str, y_true: Any, y_pred: Any, average: str | None, level: str, binary: bool, labels: Iterable[str] | None
) -> Any:
    """A measure of `Counts`, averaged."""
    check_options(average, level, labels)
    counts = _count(y_true, y_pred, level, binary, None if labels is None else frozenset(labels))
    if average == "micro":
        return getattr(sum(counts.values(), start=Counts()), measure)
    scores = {label: getattr(counts[label], measure) for label in sorted(counts)}
    if average is None:
        return scores
    return sum(scores.values()) / len(scores) if scores else 0.0


def _count(y_true: Any, y_pred: Any, level: str, binary: bool, labels: frozenset[str] | None) -> dict[str, Counts]:
    gold, predicted = _check_tags(y_true, "y_true"), _check_tags(y_pred, "y_pred")
    _check_same_shape(gold, predicted)
    found: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for a, b in zip(gold, predicted, strict=True):
        left, right = _items(a, level, binary, labels), _items(b, level, binary, labels)
        wanted.update(item[2] for item in left)
        given.update(item[2] for item in right)
        found.update(item[2] for item in left & right)
    return {
        label: Counts(found[label], given[label] - found[label], wanted[label] - found[label], given[label])
        for label in {*wanted, *given}
    }


def _check_tags(y: Any, name: str) -> TokenSequences:
    tags = check_sequences(y, name=name)
    if not isinstance(tags, TokenSequences):
        raise SequenceError(f"'{name}' must hold tag sequences. Got vectors instead.")
    return tags


def _check_same_shape(gold: TokenSequences, predicted: TokenSequences) -> None:
    if len(gold) != len(predicted):
        raise SequenceError(f"y_true has {len(gold)} sentences, y_pred has {len(predicted)}.")
    wrong = np.flatnonzero(gold.lengths != predicted.lengths)
    if wrong.size:
        i = int(wrong[0])
        raise SequenceError(
            f"{wrong.size} rows of y_pred have another length than in y_true; the first is row {i}: "
            f"{predicted.lengths[i]} instead of {gold.lengths[i]} tags."
        )


def _items(tags: Sequence[str], level: str, binary: bool, labels: frozenset[str] | None) -> set[tuple[int, int, str]]:
    if tags.count("O") == len(tags):  # most sentences of most notes
        return set()
    spans: Iterable[tuple[int, int, str]] = labels_of(tags) if level == "span" else _tokens(tags)
    return {(a, b, "PHI" if binary else label) for a, b, label in spans if labels is None or label in labels}


def _tokens(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    for position, tag in enumerate(tags):
        label = split_tag(tag)[1]
        if label is not None:
            yield position, position + 1, label
