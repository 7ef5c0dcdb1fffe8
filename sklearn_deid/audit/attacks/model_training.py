"""Attacked models: training procedure, losses of sentences, and a model that only memorises its training set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from ...exceptions import AttackError, DeidError
from ...sequences import TokenSequences, check_sequences, check_tags
from ...tagging.splits import group_parameters
from ...text import convert_tags

LossFunction = Callable[[Any, Any], np.ndarray]
TrainingProcedure = Callable[..., LossFunction]

_SMALLEST = 1e-12
# Errors of estimators of other libraries: an error in one attack must not end the audit.
_FOREIGN_ERRORS = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def losses_of_probabilities(probabilities: Any, y: Any, classes: Any) -> np.ndarray:
    """Mean negative log probability of the tags of each sentence, from the result of ``predict_proba``.

    Parameters
    ----------
    probabilities : sequence of n arrays of shape (n_tokens, n_classes)
        Predicted probabilities.
    y : sequence of n tag sequences
        Tags whose probabilities are averaged.
    classes : sequence of str
        Tags of the columns. Other tags have probability 0.

    Returns
    -------
    ndarray of shape (n,)
        Losses; 0 for a sentence without tokens.

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
    """Return the training procedure of an estimator, for the attacks on models.

    Parameters
    ----------
    estimator : tagger or Pipeline
        Estimator with ``fit``, ``predict_proba`` and, when fitted, ``classes_``. Each training fits a clone, whose
        parameters named ``random_state`` (also in pipeline steps) are set to the seed.

    Returns
    -------
    callable
        Function ``train(X, y, seed, groups=None)`` that returns a function ``loss(X, y)``; see
        `losses_of_probabilities`. If ``fit`` accepts groups, ``fit`` receives the patient of each sentence. If ``fit``
        or ``predict_proba`` raises an error that is not an error of this library, such as a ValueError or a
        RuntimeError, the functions raise an `AttackError` without the message.
    """

    def train(X: Any, y: Any, seed: int, groups: Any = None) -> LossFunction:
        model = clone(estimator)
        # Without a fixed seed in every step, two trainings with one seed could differ.
        seeds = {name: seed for name in model.get_params() if name.split("__")[-1] == "random_state"}
        known = {} if groups is None else group_parameters(model, groups)
        with _message_withheld("fit"):
            model.set_params(**seeds).fit(X, y, **known)
        classes = list(model.classes_)
        # Taggers may use BIOES tags internally; then the tags of y need the same scheme.
        inside = "bioes" if any(str(tag).startswith(("S-", "E-")) for tag in classes) else "iob2"

        def loss(X: Any, y: Any) -> np.ndarray:
            tags = [convert_tags(list(row), "iob2", inside) for row in y]
            with _message_withheld("predict_proba"):
                probabilities = model.predict_proba(X)
            return losses_of_probabilities(probabilities, tags, classes)

        return loss

    return train


@contextmanager
def _message_withheld(method: str) -> Iterator[None]:
    """Replace an error of an attacked estimator by an error that contains no word of a note.

    The reason of a skipped attack enters the report. Estimators of other libraries quote their input, such as "could
    not convert string to float: 'Roe'" of scikit-learn. Errors of this library contain counts and parameters.
    """
    try:
        yield
    except DeidError:
        raise
    except _FOREIGN_ERRORS as error:
        raise AttackError(
            f"'{method}' of the attacked estimator raised a {type(error).__name__}. The report leaves out the message, "
            "because the message can contain words of notes."
        ) from error


def trained_on(train: TrainingProcedure, X: Any, y: Any, seed: int, groups: Any = None) -> LossFunction:
    """Train a model; the procedure receives the patient of each sentence, if known, as its parameter ``groups``."""
    known = {} if groups is None or "groups" not in signature(train).parameters else {"groups": groups}
    return train(X, y, seed, **known)


def losses_of(model: LossFunction, X: Any, y: Any) -> np.ndarray:
    """Compute and check the losses of sentences.

    Raises
    ------
    ValueError
        If the function does not return one finite number for each sentence.
    """
    losses = np.asarray(model(X, y), dtype=float)
    if losses.shape != (len(X),) or not np.isfinite(losses).all():
        raise ValueError(f"A loss function must give one finite number for each of {len(X)} sentences.")
    return losses


def row_keys(X: Any, y: Any) -> list[tuple]:
    """Keys of annotated sentences. Two sentences are equal exactly if their keys are equal."""
    X = check_sequences(X)
    words = isinstance(X, TokenSequences)
    rows = [tuple(row) if words else np.ascontiguousarray(row).tobytes() for row in X]
    return list(zip(rows, map(tuple, check_tags(y, X)), strict=True))


def memorise(X: Any, y: Any, seed: int) -> LossFunction:
    """Model that only memorises its training sentences: the positive control of attacks on models.

    The losses are about 0.05 for training sentences, and about 1 for other sentences.

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
        # The noise keeps the losses distinct: real losses have no ties, and thresholds would be arbitrary.
        level = np.array([0.05 if key in seen else 1.0 for key in keys])
        return level * rng.uniform(0.9, 1.1, size=len(keys))

    return loss
