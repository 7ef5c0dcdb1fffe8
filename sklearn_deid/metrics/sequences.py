"""Scores of tag sequences, and scorers for scikit-learn's model selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sklearn.metrics import make_scorer

from .._sequences import check_sequences
from ..exceptions import SequenceError
from ..text import labels_of, split_tag
from .counting import Counts

__all__ = ["PHI_SCORERS", "make_phi_scorer", "phi_f1_score", "phi_precision_score", "phi_recall_score"]


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
        IOB2 or BIOES.
    average : {"micro", "macro", None}, default="micro"
        Over all spans; the mean of the labels' scores; or a dict of them.
    level : {"span", "token"}, default="span"
        Whether whole spans or single tokens are compared.
    binary : bool, default=False
        Leave the labels out of the comparison.
    labels : iterable of str, optional
        Labels that count; default all of either side.

    Returns
    -------
    float, or dict of str to float
        0 where there is neither a gold nor a predicted span.

    Raises
    ------
    SequenceError
        If the two do not have the same number of sentences and tokens.

    Examples
    --------
    >>> phi_f1_score([["B-AGE", "O"]], [["B-AGE", "B-CITY"]])
    0.6666666666666666
    """
    return _score("f1", y_true, y_pred, average, level, binary, labels)


def phi_precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Any:
    """Share of the predicted spans or tokens that are right; parameters as in `phi_f1_score`."""
    return _score("precision", y_true, y_pred, average, level, binary, labels)


def phi_recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Any:
    """Share of the gold spans or tokens that were found; parameters as in `phi_f1_score`."""
    return _score("recall", y_true, y_pred, average, level, binary, labels)


def make_phi_scorer(measure: str = "f1", **options: Any) -> Callable[..., float]:
    """A scorer for ``scoring=``, since scikit-learn's own do not take ragged y.

    Parameters
    ----------
    measure : {"f1", "precision", "recall"}, default="f1"
    **options
        As in `phi_f1_score`, such as ``level="token"``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_deid import DeidTagger
    >>> search = GridSearchCV(DeidTagger(), {"lr": [1e-3, 3e-3]}, scoring=make_phi_scorer("recall"))
    """
    functions = {"f1": phi_f1_score, "precision": phi_precision_score, "recall": phi_recall_score}
    if measure not in functions:
        raise ValueError(f"The 'measure' parameter must be one of {sorted(functions)}. Got {measure!r} instead.")
    return make_scorer(functions[measure], **options)


_VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "binary_": {"binary": True},
    "token_": {"level": "token"},
    "binary_token_": {"level": "token", "binary": True},
}

PHI_SCORERS: dict[str, Callable[..., float]] = {
    f"phi_{prefix}{measure}": make_phi_scorer(measure, **options)
    for prefix, options in _VARIANTS.items()
    for measure in ("f1", "precision", "recall")
}
"""Ready scorers, such as ``PHI_SCORERS["phi_binary_token_recall"]``."""


def _score(
    measure: str, y_true: Any, y_pred: Any, average: str | None, level: str, binary: bool, labels: Iterable[str] | None
) -> Any:
    if level not in ("span", "token"):
        raise ValueError(f"The 'level' parameter must be 'span' or 'token'. Got {level!r} instead.")
    if average not in ("micro", "macro", None):
        raise ValueError(f"The 'average' parameter must be 'micro', 'macro' or None. Got {average!r} instead.")
    counts = _count(y_true, y_pred, level, binary, None if labels is None else frozenset(labels))
    if average == "micro":
        return getattr(sum(counts.values(), start=Counts()), measure)
    scores = {label: getattr(counts[label], measure) for label in sorted(counts)}
    if average is None:
        return scores
    return sum(scores.values()) / len(scores) if scores else 0.0


def _count(y_true: Any, y_pred: Any, level: str, binary: bool, labels: frozenset[str] | None) -> dict[str, Counts]:
    gold, predicted = check_sequences(y_true, name="y_true"), check_sequences(y_pred, name="y_pred")
    if gold.offsets.tolist() != predicted.offsets.tolist():
        raise SequenceError("y_true and y_pred must have the same sentences with the same numbers of tokens.")
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
