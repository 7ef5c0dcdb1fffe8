"""Save and load fitted taggers and note de-identifiers."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._compat import check_constraints
from .._storage import array_stand_ins, plain_json, read_arrays, read_manifest, write_bundle
from ..exceptions import BundleError
from ..metrics import Estimate
from ..saving import instead_of
from ..text import LearnedSegmenter
from . import compact_arrays
from .canary import canary, canary_problem
from .held_out import DecisionReport
from .hybrid_tagger import HybridTagger
from .label_line_tagger import LabelLineTagger
from .marginals import tag_columns
from .note_deidentifier import NoteDeidentifier
from .note_likeness import NoteLikeness
from .note_prior_tagger import NotePriorTagger, note_prior_built, note_prior_state
from .note_segmenter import NoteSegmenter
from .proven_rules import ProvenRules
from .recall_tuned_tagger import RecallTunedTagger
from .rule_tagger import RuleTagger
from .tagger_failure import TaggerFailure
from .temperature_scaled_tagger import TemperatureScaledTagger
from .voting_tagger import VotingTagger
from .weight_checks import misfit
from .word_bias_tagger import WordBiasTagger, word_bias_built, word_bias_state


def _with_labels(model: Any, labels: Any) -> Any:
    """Set the labels and the tags of a tagger.

    Raises
    ------
    BundleError
        If the saved labels are not a list of names.
    """
    if not (isinstance(labels, list) and all(isinstance(label, str) for label in labels)):
        raise BundleError("The labels of a saved tagger are not a list of names.")
    model._labels = plain_json(labels, "labels")
    model.classes_ = tag_columns(labels)
    return model


class Composite(NamedTuple):
    """Functions that convert one class of models to a state and back.

    Parameters
    ----------
    kind : type
        Class of the model.
    apart : callable
        ``apart(model)`` returns JSON values and the fitted taggers inside the model.
    together : callable
        ``together(state, taggers)`` returns the fitted model. The function may raise KeyError, TypeError, ValueError,
        AttributeError or OverflowError if an entry is missing or wrong.
    """

    kind: type
    apart: Callable[[Any], tuple[dict[str, Any], list[Any]]]
    together: Callable[[Mapping[str, Any], list[Any]], Any]


def _note_deidentifier_apart(model: NoteDeidentifier) -> tuple[dict[str, Any], list[Any]]:
    likeness, rules = getattr(model, "likeness_", None), getattr(model, "rules_", None)
    state = {
        **{name: getattr(model, name) for name in ("batch_size", "labels", "on_error", "on_unlike")},
        "categories": _categories(getattr(model, "categories_", {})),
        "segmenter": model.segmenter if isinstance(model.segmenter, str) else "learned",
        "sentence_counts": _segmenter_state(model),
        "borders": {label: list(counts) for label, counts in getattr(model, "border_counts_", {}).items()},
        "likeness": None if likeness is None else likeness.to_state(),
        # With rules=None, a training of the loaded model must not learn rules, either.
        "rules": rules.labels if rules is not None else None if getattr(model, "rules", "proven") is None else {},
    }
    return state, [model.fitted_estimator()]


def _categories(found: Mapping[Any, Any]) -> dict[str, str]:
    """Check that labels and categories are printable names, because tables and files contain them."""
    if not all(isinstance(name, str) and name.isprintable() for name in (*found, *found.values())):
        raise BundleError("A category, or the label of a category, is not a name of printable characters.")
    return dict(found)


def _segmenter_state(model: NoteDeidentifier) -> dict[str, Any] | None:
    """Counts of a learned segmenter; None for the rules."""
    segmenter = getattr(model, "segmenter_", None if isinstance(model.segmenter, str) else model.segmenter)
    if segmenter is None or isinstance(segmenter, NoteSegmenter):
        return None
    if type(segmenter) is not LearnedSegmenter:
        raise BundleError(
            "A segmenter of your own is code and cannot be saved. Train with segmenter='learned' to save the model, "
            "or pickle it for your own use."
        )
    return segmenter.to_state()


def _note_deidentifier_together(state: Mapping[str, Any], taggers: list[Any]) -> NoteDeidentifier:
    (tagger,) = taggers
    # Models of earlier versions hold no statistics of their training notes, no rules, and no ``labels``: such models
    # return all PHI.
    on_unlike, labels, likeness = state.get("on_unlike", "warn"), state.get("labels", "all"), state.get("likeness")
    model = NoteDeidentifier(tagger, batch_size=state["batch_size"], labels=labels, on_error=state["on_error"])
    model.estimator_, model.categories_ = tagger, _categories(state["categories"])
    # Models of version 0.1.0 have no entry: they were trained on the sentences of the rules.
    counts = state.get("sentence_counts")
    model.on_unlike, model.segmenter = on_unlike, str(state.get("segmenter", "rules"))
    model.segmenter_ = NoteSegmenter() if counts is None else LearnedSegmenter.from_state(counts)
    model.border_counts_ = {str(k): (int(a), int(b)) for k, (a, b) in dict(state.get("borders", {})).items()}
    model.likeness_ = None if likeness is None else NoteLikeness.from_state(likeness)
    rules = state.get("rules", {})
    model.rules, model.rules_ = ("proven", ProvenRules(dict(rules))) if rules is not None else (None, None)
    return model


def _rule_tagger_apart(model: RuleTagger) -> tuple[dict[str, Any], list[Any]]:
    check_is_fitted(model)
    recognizers = None if model.recognizers is None else sorted(model.recognizers)
    scheme = model.label_scheme if isinstance(model.label_scheme, str) else dict(model.label_scheme)
    return {"recognizers": recognizers, "language": model.language, "scheme": scheme, "labels": model.label_map_}, []


def _rule_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> RuleTagger:
    # `fit` has no y here, from which "auto" could choose the labels. The saved mapping replaces "auto" during `fit`.
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
    taggers = model._voters()
    weights = None if model.weights is None else model._weights().tolist()
    return {"names": list(taggers), "weights": weights, "labels": model._labels}, list(taggers.values())


def _voting_tagger_together(state: Mapping[str, Any], taggers: list[Any]) -> VotingTagger:
    pairs = list(zip(state["names"], taggers, strict=True))
    model = VotingTagger(pairs, weights=state["weights"])
    model._kept()
    model.estimators_, model.named_estimators_ = taggers, Bunch(**dict(pairs))
    return _with_labels(model, state["labels"])


def _around_a_tagger(kind: type, state_of: Callable[[Any], dict[str, Any]], built: Callable[..., Any]) -> Composite:
    """Return the `Composite` of a class with labels and one fitted tagger (``estimator_``).

    ``state_of(model)`` returns further JSON values, and ``built(tagger, state)`` builds a model from the tagger and
    these values.
    """

    def apart(model: Any) -> tuple[dict[str, Any], list[Any]]:
        check_is_fitted(model)
        return {**state_of(model), "labels": model._labels}, [model.estimator_]

    def together(state: Mapping[str, Any], taggers: list[Any]) -> Any:
        (tagger,) = taggers
        model = built(tagger, state)
        model.estimator_ = tagger
        return _with_labels(model, state["labels"])

    return Composite(kind, apart, together)


def _recall_tuned_state(model: RecallTunedTagger) -> dict[str, Any]:
    direct = model.direct_labels
    return {
        **{name: getattr(model, name) for name in _AIMS},
        "direct_labels": direct if direct is None or isinstance(direct, str) else sorted(direct),
        "min_precision": model.min_precision,
        "on_low_precision": model.on_low_precision,
        "bias": model.decision_bias_,
        "report": None if model.report_ is None else {k: _plain_figure(v) for k, v in vars(model.report_).items()},
    }


def _recall_tuned_built(tagger: Any, state: Mapping[str, Any]) -> RecallTunedTagger:
    aims = {name: state[name] for name in (*_AIMS, "direct_labels")}
    # Models of version 0.1.0 have no ``min_precision``, and earlier models of this version only warn.
    bar = {"min_precision": state.get("min_precision", 0.0), "on_low_precision": state.get("on_low_precision", "warn")}
    model = RecallTunedTagger(tagger, **bar, **aims)
    model.price_curve_ = None
    model.decision_bias_ = float(state["bias"])
    model.threshold_ = _probability(1 / (1 + np.exp(model.decision_bias_)))
    report = state["report"]
    model.report_ = None if report is None else DecisionReport(**{name: _figure(name, v) for name, v in report.items()})
    return model


def _temperature_scaled_built(tagger: Any, state: Mapping[str, Any]) -> TemperatureScaledTagger:
    model = TemperatureScaledTagger(tagger)
    model.temperature_ = float(state["temperature"])
    if not 0 < model.temperature_ < np.inf:
        raise BundleError("The saved temperature is not a positive number.")
    return model


# Figures of a `DecisionReport` without an interval.
_NUMBERS = ("n_patients", "n_tokens", "decision_bias")
_AIMS = ("target_recall", "max_missed_patients", "decision_bias", "confidence", "level", "binary")

# Old names of classes, and new and old names of entries, in models saved by version 0.1.0.
OLD_CLASSES = {"UnitedTagger": "HybridTagger"}
_OLD_ENTRIES = {"recognizers": "families", "on_conflict": "unite"}

#: Conversion functions of each class, by the name of the class in the manifest.
COMPOSITES: dict[str, Composite] = {
    composite.kind.__name__: composite
    for composite in (
        Composite(NoteDeidentifier, _note_deidentifier_apart, _note_deidentifier_together),
        Composite(RuleTagger, _rule_tagger_apart, _rule_tagger_together),
        Composite(HybridTagger, _hybrid_tagger_apart, _hybrid_tagger_together),
        Composite(VotingTagger, _voting_tagger_apart, _voting_tagger_together),
        _around_a_tagger(RecallTunedTagger, _recall_tuned_state, _recall_tuned_built),
        _around_a_tagger(
            TemperatureScaledTagger, lambda model: {"temperature": model.temperature_}, _temperature_scaled_built
        ),
        _around_a_tagger(WordBiasTagger, word_bias_state, word_bias_built),
        _around_a_tagger(NotePriorTagger, note_prior_state, note_prior_built),
        _around_a_tagger(LabelLineTagger, lambda model: {}, lambda tagger, state: LabelLineTagger(tagger)),
    )
}


def _renamed(state: Mapping[str, Any], name: str) -> Any:
    """Entry of a state, under its current name or under its name in version 0.1.0."""
    return state[name] if name in state else state[_OLD_ENTRIES[name]]


def _plain_figure(value: Any) -> Any:
    """Convert an estimate to a list of its attributes, with None for NaN because JSON has no NaN."""
    return list(value.to_dict().values()) if isinstance(value, Estimate) else value


def _figure(name: str, value: Any) -> Any:
    is_estimate = name not in _NUMBERS
    numbers = value if is_estimate and isinstance(value, list) else [value]
    # Text of a forged report could act in a terminal, and a whole number above all floats cannot be printed.
    if not all(number is None and is_estimate or _is_figure(number) for number in numbers):
        raise BundleError("A figure of the saved report is not a number.")
    if not is_estimate:
        return value
    share, low, high = (math.nan if number is None else number for number in value[:3])
    # Version 0.1.0 saved only the first three attributes.
    return Estimate(share, low, high, *value[3:])


def _is_figure(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= sys.float_info.max


def _probability(value: Any) -> float:
    """Check that a saved number is between 0 and 1."""
    if not 0 <= float(value) <= 1:
        raise BundleError("A saved probability is not between 0 and 1.")
    return float(value)


def save_tagger(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False, compact: bool = False) -> None:
    """Save a fitted tagger or `NoteDeidentifier`. `saving.save` is the public function and lists the saved content.

    The folder also holds the tags that the model predicts for a built-in invented note (`canary`). `load_tagger` tags
    the same note and compares the tags.

    Parameters
    ----------
    model : estimator
        Fitted tagger or `NoteDeidentifier`.
    path : path
        Folder to create.
    overwrite : bool, default=False
        Whether a saved object at ``path`` may be replaced.
    compact : bool, default=False
        Whether weights are rounded to 16 bits and the table of n-grams to 8 bits. The folder then has a third of the
        size. The loaded model computes with the rounded numbers.

    Raises
    ------
    BundleError
        If the class of the model is not supported, the model stores words, or ``path`` exists. Also if `load_tagger`
        could not load the saved model, for example because a parameter of the network was changed after `fit`, or
        because the rounded model tags the built-in note differently.
    """
    manifest, arrays = _to_state(model)
    written = json.loads(json.dumps(manifest))
    try:
        _check_state(written, arrays)
        tagger = model.fitted_estimator() if isinstance(model, NoteDeidentifier) else model
        content = {"library_version": __version__, **manifest, "canary": canary(tagger, _width(manifest))}
        if compact:
            arrays = compact_arrays.compact(arrays)
        # A model that `load` would refuse is lost with this process. With ``overwrite``, the earlier model is lost,
        # too.
        _check_canary(_from_state(written, compact_arrays.expanded(arrays), None), content, path)
    except BundleError as error:
        raise BundleError(
            f"The saved model could not be loaded. Was a parameter changed after the fit? {error}"
        ) from None
    write_bundle(path, content, arrays, overwrite=overwrite)


def load_tagger(path: str | os.PathLike[str], *, device: str | None = None) -> Any:
    """Load a tagger or `NoteDeidentifier`. Other saved objects of the library are refused.

    Parameters
    ----------
    path : path
        Folder of the saved model.
    device : str, optional
        Torch device of the loaded model. None means the ``device`` parameter of the saved model.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete or too large, or if its format or class is not supported. Also if the
        loaded model and the saved model tag the built-in note differently (see `canary`). Models saved by version 0.1.0
        contain no tags of the built-in note, so that this check is skipped.
    """
    manifest = read_manifest(path, largest_arrays=_LARGEST_ARRAYS)
    # Stand-ins have shapes and types and no memory. Contradictory content is refused before it is read.
    stand_ins = compact_arrays.expanded_stand_ins(array_stand_ins(path))
    unused = set(stand_ins) - _check_state(manifest, stand_ins)
    if unused:
        raise BundleError(f"Nothing uses the array {min(unused)!r}. The model is not as it was saved.", path=str(path))
    model = _from_state(manifest, compact_arrays.expanded(read_arrays(path)), device)
    _check_canary(model, manifest, path)
    return model


_LARGEST_ARRAYS = 2**31
_MOST_TAGGERS = 100
# The version whose models hold no canary.
_WITHOUT_CANARY = "0.1.0"


def _check_state(manifest: Any, arrays: Mapping[str, np.ndarray], prefix: str = "", depth: int = 0) -> set[str]:
    """Check shapes and types of all arrays of a model and of the taggers inside; return the names of used arrays."""
    content = manifest if isinstance(manifest, dict) else {}
    kind, state, inside = _kind(content), content.get("state"), content.get("taggers", [])
    if kind == "DeidTagger":
        from .network_state import used_arrays

        return {f"{prefix}{name}" for name in used_arrays(state, _part(arrays, prefix))}
    if not isinstance(inside, list) or len(inside) > _MOST_TAGGERS or depth > _DEEPEST:
        raise BundleError("The taggers inside a saved model are no list, too many, or too deeply nested.")
    found = (_check_state(one, arrays, f"{prefix}{n}/", depth + 1) for n, one in enumerate(inside))
    return set().union(*found)


_DEEPEST = 6


def _width(manifest: Mapping[str, Any]) -> int | None:
    """Width of the vectors that a saved model reads; None if the model reads words."""
    if manifest["class"] == "DeidTagger":
        return None if manifest["state"]["reads_words"] else int(manifest["state"]["n_features_in"])
    widths = [_width(inside) for inside in manifest["taggers"]]
    return next((width for width in widths if width is not None), None)


def _check_canary(model: Any, manifest: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Compare the results of a loaded model on the built-in note with the results of the saved model."""
    saved = manifest.get("canary")
    if saved is None and manifest.get("library_version") == _WITHOUT_CANARY:
        return
    tagger = model.fitted_estimator() if isinstance(model, NoteDeidentifier) else model
    found: dict[str, Any] = {"tags": [], "confidence": None}
    with TaggerFailure() as failure:
        found = canary(tagger, _width(manifest))
    problem = "The loaded model cannot tag the built-in note." if failure.error else canary_problem(saved, found)
    if problem is not None:
        raise BundleError(f"{problem} Do not use it: copy the model anew, or train it anew.", path=str(path))


def _to_state(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Convert a model and the taggers inside the model to a manifest and arrays."""
    # A FrozenEstimator has no state of its own.
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    kind = type(model).__name__
    if kind not in COMPOSITES or type(model) is not COMPOSITES[kind].kind:
        from .network_state import tagger_to_state
        from .tagger import DeidTagger

        if not isinstance(model, DeidTagger):
            raise BundleError(f"A {kind} cannot be saved{instead_of(model)}")
        state, arrays = tagger_to_state(model)
        return {"class": "DeidTagger", "state": state}, arrays
    own, taggers = COMPOSITES[kind].apart(model)
    # The arrays of the n-th inner tagger have the prefix "n/", at every level of nesting.
    inside, arrays = [], {}
    for number, tagger in enumerate(taggers):
        content, own_arrays = _to_state(tagger)
        inside.append(content)
        arrays.update({f"{number}/{name}": array for name, array in own_arrays.items()})
    return {"class": kind, "state": plain_json(own, f"state of the {kind}"), "taggers": inside}, arrays


def _from_state(manifest: Any, arrays: dict[str, np.ndarray], device: str | None) -> Any:
    """Build a model and the taggers inside the model from a manifest and arrays."""
    content = manifest if isinstance(manifest, dict) else {}
    kind, state, inside = _kind(content), content.get("state"), content.get("taggers")
    if kind == "DeidTagger":
        from .network_state import tagger_on

        return tagger_on(device, state, arrays)
    if not isinstance(state, dict) or not isinstance(inside, list):
        raise BundleError(f"The manifest has no state of a {kind}.")
    taggers = [_from_state(content, _part(arrays, f"{n}/"), device) for n, content in enumerate(inside)]
    try:
        model = COMPOSITES[kind].together(state, taggers)
        check_constraints(model)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise misfit(kind, error) from None
    return model


def _kind(manifest: Mapping[str, Any]) -> str:
    """Class of a saved model."""
    kind = manifest.get("class")
    kind = OLD_CLASSES.get(kind, kind) if isinstance(kind, str) else kind
    if kind != "DeidTagger" and not (isinstance(kind, str) and kind in COMPOSITES):
        raise BundleError(f"The manifest names a class that is no tagger of this version: {kind!r}.")
    return kind


def _part(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
