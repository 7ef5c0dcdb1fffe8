"""Recall, precision and hidden text of a tagger at each decision bias, measured on held-out patients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import PriceCurve, recall_lower_bounds
from ..sequences import check_groups, check_sequences, check_tags
from ..text import split_tag
from .held_out import HeldOut, gold_items, labels_in, threshold_of
from .marginals import read_marginals

# 0 is the trained tagger without a bias. At 10, a token is tagged from a probability of 0.00005 on; a larger bias would
# hide nearly all text.
_BIASES = tuple(np.arange(0.0, 10.01, 0.5).tolist())


def recall_price(
    tagger: Any, X: Any, y: Any, *, groups: Any = None, level: str = "token", confidence: float = 0.95
) -> PriceCurve:
    """Measure recall, precision and hidden text at each bias, on patients that a fitted tagger was not trained on.

    Parameters
    ----------
    tagger : fitted tagger with ``predict_proba``
        Tagger that was trained on other patients.
    X, y : sequences of n sentences and n tag sequences
        Sentences of held-out patients, and their IOB2 tags.
    groups : array-like of shape (n,), optional
        Patient of each sentence. Without groups, every sentence counts as a patient of its own.
    level : {"token", "span"}, default="token"
        Unit of the recall.
    confidence : float in (0.5, 1), default=0.95
        Confidence level of the lower bound of the recall.

    Returns
    -------
    PriceCurve

    Raises
    ------
    ValueError
        If y contains no PHI, or the value of ``level`` or ``confidence`` is not allowed.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger, VotingTagger
    >>> X, y = [["Mail", "to", "a@b.de"]] * 9, [["O", "O", "B-EMAIL"]] * 9
    >>> curve = recall_price(VotingTagger([("rules", RuleTagger())]).fit(X, y), X, y)
    >>> curve.recall[0], curve.precision[0]
    (1.0, 1.0)
    """
    if level not in ("token", "span") or not 0.5 < confidence < 1:
        raise ValueError("The 'level' of recall_price is 'token' or 'span', and its 'confidence' between 0.5 and 1.")
    X = check_sequences(X)
    tags = check_tags(y, X)
    patients = check_groups(groups, len(X))
    marginals = read_marginals(tagger, X, labels_in(tagger.classes_, tags.data))
    held = HeldOut(marginals, tags, np.arange(len(X)) if patients is None else patients)
    return curve_of(held, gold_items(held, level, True), confidence)


def most_missed(held: HeldOut, bias: float) -> list[tuple[str, int, int]]:
    """At most three labels with the most PHI tokens below the threshold of a bias: label, missed tokens, all tokens."""
    missed = held.marginals.phi < threshold_of(bias)
    # shape: (n_tokens,)
    labels = np.array([split_tag(tag)[1] for tag in held.tags.data], dtype=object)
    here = {label: labels == label for label in labels_in(held.tags.data)}
    counts = [(label, int((missed & tokens).sum()), int(tokens.sum())) for label, tokens in here.items()]
    return sorted((row for row in counts if row[1]), key=lambda row: (-row[1], row[0]))[:3]


def curve_of(held: HeldOut, items: tuple[np.ndarray, np.ndarray], confidence: float) -> PriceCurve:
    """Price curve of held-out marginals; ``items`` are the scores and patients of the gold items."""
    scores, patients = items
    thresholds = np.array([threshold_of(bias) for bias in _BIASES])
    # Raises an error without PHI, because the recall is then undefined.
    reachable = recall_lower_bounds(scores, patients, thresholds, confidence)
    phi, gold = held.marginals.phi, held.tags.data != "O"
    # shape: (n_biases, n_tokens)
    tagged = phi >= thresholds[:, None]
    n_tagged = tagged.sum(1)
    with np.errstate(invalid="ignore"):
        precision = (tagged & gold).sum(1) / n_tagged
    return PriceCurve(
        _BIASES,
        tuple((scores >= thresholds[:, None]).mean(1).tolist()),
        tuple(reachable.tolist()),
        tuple(precision.tolist()),
        tuple((n_tagged / max(1, len(phi))).tolist()),
    )
