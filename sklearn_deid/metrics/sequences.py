"""Scores of predicted tag sequences. The functions are fast enough to run after each epoch.

The functions compare spans or tokens of sentences, not characters of notes. For the official scores, convert the tags
to documents and call `deid_report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
        Gold and predicted IOB2 or BIOES tags, as lists, object arrays or TokenSequences. `labels_of` defines how
        illegal sequences are read.
    average : {"micro", "macro", None}, default="micro"
        ``"micro"`` returns the score over all items. ``"macro"`` returns the mean of the labels' scores. None returns a
        dict with the score of each label.
    level : {"span", "token"}, default="span"
        Whether whole spans or single tokens are compared. At token level the prefixes of the tags are ignored.
    binary : bool, default=False
        Whether to ignore labels in the comparison.
    labels : iterable of str, optional
        Labels to include among gold and predicted items, such as the HIPAA labels. By default all labels.

    Returns
    -------
    float, or dict of str to float
        Score in [0, 1]; 0 if there is neither a gold nor a predicted item. A macro average includes only labels with a
        gold or predicted item.

    Raises
    ------
    SequenceError
        If ``y_true`` and ``y_pred`` differ in the number of sentences or tokens, or contain an invalid tag.
    ValueError
        If ``average`` or ``level`` has a value that is not listed above, or ``labels`` is a single string.

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
    """Proportion of correct spans or tokens among the predicted spans or tokens.

    Parameters and errors are the same as in `phi_f1_score`.

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
    """Proportion of gold spans or tokens that were found. Parameters and errors are the same as in `phi_f1_score`.

    Examples
    --------
    >>> phi_recall_score([["B-AGE", "I-AGE"]], [["B-AGE", "O"]], level="token")
    0.5
    """
    return score_tags("recall", y_true, y_pred, average, level, binary, labels)


def check_options(average: str | None, level: str, labels: Iterable[str] | None) -> None:
    """Raise ValueError if an option has an invalid value."""
    if level not in ("span", "token"):
        raise ValueError(f"The 'level' parameter must be 'span' or 'token'. Got {level!r} instead.")
    if average not in ("micro", "macro", None):
        raise ValueError(f"The 'average' parameter must be 'micro', 'macro' or None. Got {average!r} instead.")
    # The letters of a string would be read as labels, and every score would be 0.
    if isinstance(labels, str):
        raise ValueError(f"The 'labels' parameter must be a collection of labels. Got the string {labels!r} instead.")


def score_tags(
    measure: str, y_true: Any, y_pred: Any, average: str | None, level: str, binary: bool, labels: Iterable[str] | None
) -> Any:
    """Compute a measure of `Counts` from tags, with the requested average."""
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
    # Found items are in both sets: the rest of each side is wrong (predicted) or missed (gold).
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
    # The rows are compared by their lengths, which needs no loop over sentences.
    wrong = np.flatnonzero(gold.lengths != predicted.lengths)
    if wrong.size:
        i = int(wrong[0])
        raise SequenceError(
            f"{wrong.size} rows of y_pred have another length than in y_true; the first is row {i}: "
            f"{predicted.lengths[i]} instead of {gold.lengths[i]} tags."
        )


def _items(tags: Sequence[str], level: str, binary: bool, labels: frozenset[str] | None) -> set[tuple[int, int, str]]:
    # Most sentences of most notes have no PHI, so the early return saves most of the time.
    if tags.count("O") == len(tags):
        return set()
    spans = (
        labels_of(tags)
        if level == "span"
        else [(i, i + 1, label) for i, tag in enumerate(tags) if (label := split_tag(tag)[1]) is not None]
    )
    return {(a, b, "PHI" if binary else label) for a, b, label in spans if labels is None or label in labels}
