"""Taggers made of rules or of other taggers, as plain data: their own state, and the taggers inside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._storage import plain_json
from ..exceptions import BundleError
from ..metrics import Estimate
from .decision_report import DecisionReport
from .hybrid_tagger import HybridTagger
from .note_deidentifier import NoteDeidentifier
from .recall_tuned_tagger import RecallTunedTagger
from .rule_tagger import RuleTagger
from .temperature_scaled_tagger import TemperatureScaledTagger
from .voting_tagger import VotingTagger

__all__ = ["COMPOSITES", "OLD_CLASSES", "Composite", "unwrapped"]


class Composite(NamedTuple):
    """How one class is taken apart and put together again.

    Parameters
    ----------
    kind : type
    apart : callable
        ``apart(model)`` gives JSON values and the fitted taggers inside.
    together : callable
        ``together(state, taggers)`` gives the fitted model; it may raise KeyError, TypeError, ValueError or
        AttributeError if something is missing.
    """

    kind: type
    apart: Callable[[Any], tuple[dict[str, Any], list[Any]]]
    together: Callable[[Mapping[str, Any], list[Any]], Any]


def unwrapped(model: Any) -> Any:
    """The estimator inside scikit-learn's `FrozenEstimator`, which adds nothing to a saved model."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    return model


def _note_deidentifier_apart(model: NoteDeidentifier) -> tuple[dict[str, Any], list[Any]]:
    state = {
        "batch_size": model.batch_size,
        "on_error": model.on_error,
        "categories": getattr(model, "categories_", {}),
    }
    return state, [model.fitted_estimator()]


def _note_deidentifier_together(state: Mapping[str, Any], taggers: list[Any]) -> NoteDeidentifier:
    model = NoteDeidentifier(batch_size=state["batch_size"], on_error=state["on_error"])
    (model.estimator_,) = taggers
    model.categories_ = dict(state["categories"])
    return model


def _rule_tagger_apart(model: RuleTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model)
    recognizers = None if model.recognizers is None else sorted(model.recognizers)
    scheme = model.label_scheme if isinstance(model.label_scheme, str) else dict(model.label_scheme)
    return {"recognizers": recognizers, "language": model.language, "scheme": scheme, "labels": model.label_map_}, []


def _rule_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> RuleTagger:
    # "auto" has chosen its labels; they are given as a mapping, and the parameter put back
    model = RuleTagger(
        _renamed(state, "recognizers"), language=state["language"], label_scheme=dict(state["labels"])
    ).fit([])
    return model.set_params(label_scheme=state["scheme"])


def _hybrid_tagger_apart(model: HybridTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model)
    return {"on_conflict": model.on_conflict, "precision": model.rules_precision_}, [model.rules_, model.tagger_]


def _hybrid_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> HybridTagger:
    rules, tagger = taggers
    model = HybridTagger(rules, tagger, on_conflict=_renamed(state, "on_conflict"))
    model.rules_, model.tagger_, model.rules_precision_ = rules, tagger, _probability(state["precision"])
    return model


def _voting_tagger_apart(model: VotingTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model, "estimators_")
    state = {
        "names": list(model.named_estimators_),
        "weights": None if model.weights is None else model._weights().tolist(),
        "labels": model._labels,
    }
    return state, list(model.estimators_)


def _voting_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> VotingTagger:
    pairs = list(zip(state["names"], taggers, strict=True))
    model = VotingTagger(pairs, weights=state["weights"])
    model._kept()
    model.estimators_, model.named_estimators_ = taggers, Bunch(**dict(pairs))
    return _with_labels(model, state["labels"])


def _recall_tuned_tagger_apart(model: RecallTunedTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model)
    direct = model.direct_labels
    state = {
        **{name: getattr(model, name) for name in _AIMS},
        "direct_labels": direct if direct is None or isinstance(direct, str) else sorted(direct),
        "bias": model.decision_bias_,
        "labels": model._labels,
        "report": None if model.report_ is None else {k: _plain_figure(v) for k, v in vars(model.report_).items()},
    }
    return state, [model.estimator_]


def _recall_tuned_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> RecallTunedTagger:
    (tagger,) = taggers
    aims = {name: state[name] for name in (*_AIMS, "direct_labels")}
    model = RecallTunedTagger(tagger, **aims)
    model.estimator_, model.decision_bias_ = tagger, float(state["bias"])
    model.threshold_ = _probability(1 / (1 + np.exp(model.decision_bias_)))
    report = state["report"]
    model.report_ = None if report is None else DecisionReport(**{name: _figure(v) for name, v in report.items()})
    return _with_labels(model, state["labels"])


def _temperature_scaled_tagger_apart(model: TemperatureScaledTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model)
    return {"temperature": model.temperature_, "labels": model._labels}, [model.estimator_]


def _temperature_scaled_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> TemperatureScaledTagger:
    (tagger,) = taggers
    model = TemperatureScaledTagger(tagger)
    model.estimator_, model.temperature_ = tagger, float(state["temperature"])
    if not 0 < model.temperature_ < np.inf:
        raise BundleError("The saved temperature is no positive number.")
    return _with_labels(model, state["labels"])


_AIMS = ("target_recall", "max_missed_patients", "decision_bias", "confidence", "level", "binary")

# What 0.1.0 called them: classes and entries of models that it saved.
OLD_CLASSES = {"UnitedTagger": "HybridTagger"}
_OLD_ENTRIES = {"recognizers": "families", "on_conflict": "unite"}

#: By the name in the manifest.
COMPOSITES: dict[str, Composite] = {
    composite.kind.__name__: composite
    for composite in (
        Composite(NoteDeidentifier, _note_deidentifier_apart, _note_deidentifier_together),
        Composite(RuleTagger, _rule_tagger_apart, _rule_tagger_together),
        Composite(HybridTagger, _hybrid_tagger_apart, _hybrid_tagger_together),
        Composite(VotingTagger, _voting_tagger_apart, _voting_tagger_together),
        Composite(RecallTunedTagger, _recall_tuned_tagger_apart, _recall_tuned_tagger_together),
        Composite(TemperatureScaledTagger, _temperature_scaled_tagger_apart, _temperature_scaled_tagger_together),
    )
}


def _renamed(state: Mapping[str, Any], name: str) -> Any:
    """An entry, under its name or the one of 0.1.0."""
    return state[name] if name in state else state[_OLD_ENTRIES[name]]


def _with_labels(model: Any, labels: Any) -> Any:
    """Set what a tagger knows of its labels."""
    if not (isinstance(labels, list) and all(isinstance(label, str) for label in labels)):
        raise BundleError("The labels of a saved tagger are no list of names.")
    model._labels = plain_json(labels, "labels")
    model.classes_ = np.array(["O", *(f"{prefix}-{label}" for prefix in "BI" for label in labels)], dtype=object)
    return model


def _plain_figure(value: Any) -> Any:
    """An estimate as a list of its attributes, with None for NaN, which JSON does not have."""
    return list(value.to_dict().values()) if isinstance(value, Estimate) else value


def _figure(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    share, low, high = (math.nan if number is None else number for number in value[:3])
    return Estimate(share, low, high, *value[3:])  # version 0.1.0 saved the first three alone


def _probability(value: Any) -> float:
    if not 0 <= float(value) <= 1:
        raise BundleError("A saved probability is none.")
    return float(value)
