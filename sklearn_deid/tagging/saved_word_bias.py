"""A `WordBiasTagger` as plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._compat import check_constraints
from .saved_labels import with_labels
from .word_bias_tagger import WordBiasTagger
from .word_set import WordSet


def word_bias_apart(model: WordBiasTagger) -> tuple[dict[str, Any], list[Any]]:
    """State of a fitted tagger, and the tagger inside."""
    check_is_fitted(model)
    return {"bias": model.bias, "words": model.word_set_.to_state(), "labels": model._labels}, [model.estimator_]


def word_bias_together(state: Mapping[str, Any], taggers: list[Any]) -> WordBiasTagger:
    """Build the fitted tagger. The loader turns errors of missing or wrong entries into a `BundleError`."""
    (tagger,) = taggers
    words = WordSet.from_state(state["words"])
    model = WordBiasTagger(tagger, words=words, bias=state["bias"])
    model.estimator_, model.word_set_ = tagger, words
    check_constraints(model)
    return with_labels(model, state["labels"])
