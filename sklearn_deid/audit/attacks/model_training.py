"""Taggers as attackers meet them: how one is trained, the losses that it shows, and one that only remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from ...sequences import TokenSequences, check_sequences, check_tags
from ...text import convert_tags

LossFunction = Callable[[Any, Any], np.ndarray]
TrainingProcedure = Callable[[Any, Any, int], LossFunction]

_SMALLEST = 1e-12


def losses_of_probabilities(probabilities: Any, y: Any, classes: Any) -> np.ndarray:
    """Mean negative log probability of the tags of each sentence: the loss of what ``predict_proba`` gives.

    Parameters
    ----------
    probabilities : sequence of n arrays of shape (n_tokens, n_classes)
    y : sequence of n tag sequences
    classes : sequence of str
        Columns of the arrays. Tags that are not among them count as having no probability.

    Returns
    -------
    ndarray of shape (n,)
        0 for a sentence without tokens.

    Examples
    --------
    >>> losses_of_probabilities([[[0.5, 0.5], [1.0, 0.0]]], [["O", "O"]], ["O", "B-NAME"]).round(3)
    array([0.347])
    """
    column = {tag: i for i, tag in enumerate(classes)}
    out = []
    for rows, tags in zip(probabilities, y, strict=True):
        chances = [float(row[column[tag]]) if tag in column else 0.0 for row, tag in zip(rows, tags, strict=True)]
        out.append(-np.log(np.maximum(chances, _SMALLEST)).mean() if chances else 0.0)
    return np.array(out)


def training_of(estimator: Any) -> TrainingProcedure:
    """How an estimator is trained, for the attacks on models.

    Parameters
    ----------
    estimator : tagger or Pipeline
        With ``fit``, ``predict_proba`` and, when fitted, ``classes_``. Each training takes a clone, whose parameters
        named ``random_state`` (those of steps too) are set to the seed.

    Returns
    -------
    callable
        ``train(X, y, seed)``, which gives ``loss(X, y)``: see `losses_of_probabilities`.
    """

    def train(X: Any, y: Any, seed: int) -> LossFunction:
        model = clone(estimator)
        seeds = {name: seed for name in model.get_params() if name.split("__")[-1] == "random_state"}
        model.set_params(**seeds).fit(X, y)
        classes = list(model.classes_)
        inside = "bioes" if any(str(tag).startswith(("S-", "E-")) for tag in classes) else "iob2"

        def loss(X: Any, y: Any) -> np.ndarray:
            tags = [convert_tags(list(row), "iob2", inside) for row in y]
            return losses_of_probabilities(model.predict_proba(X), tags, classes)

        return loss

    return train


def losses_of(model: LossFunction, X: Any, y: Any) -> np.ndarray:
    """Losses of sentences, checked.

    Raises
    ------
    ValueError
        If there is not one finite number for each sentence.
    """
    losses = np.asarray(model(X, y), dtype=float)
    if losses.shape != (len(X),) or not np.isfinite(losses).all():
        raise ValueError(f"A loss function must give one finite number for each of {len(X)} sentences.")
    return losses


def row_keys(X: Any, y: Any) -> list[tuple]:
    """What makes two annotated sentences the same."""
    X = check_sequences(X)
    words = isinstance(X, TokenSequences)
    rows = [tuple(row) if words else np.ascontiguousarray(row).tobytes() for row in X]
    return list(zip(rows, map(tuple, check_tags(y, X)), strict=True))


def memorise(X: Any, y: Any, seed: int) -> LossFunction:
    """A model that fits its training sentences and nothing else: the positive control of attacks on models.

    Its losses are about 0.05 for sentences that it was trained on, and about 1 for others.

    Examples
    --------
    >>> model = memorise([["Dr", "Alder"]], [["O", "B-DOCTOR"]], 0)
    >>> losses = model([["Dr", "Alder"], ["Dr", "Birch"]], [["O", "B-DOCTOR"], ["O", "B-DOCTOR"]])
    >>> bool(losses[0] < 0.2 < 0.8 < losses[1])
    True
    """
    seen = set(row_keys(X, y))
    rng = np.random.default_rng(seed)

    def loss(X: Any, y: Any) -> np.ndarray:
        keys = row_keys(X, y)
        level = np.array([0.05 if key in seen else 1.0 for key in keys])
        return level * rng.uniform(0.9, 1.1, size=len(keys))

    return loss
