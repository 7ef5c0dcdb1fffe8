"""State of a `DeidTagger` for a saved model: its parameters as JSON values, and its weights.

This module is separate from `saving`, because models without a network also import `saving`, and the import of torch
takes two seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from .._skorch import plain_torch
from ..embeddings import SubwordTable
from ..exceptions import BundleError
from .listed_vectors import ListedVectors, loaded_vectors, saved_vectors
from .network_shapes import network_shapes
from .network_size import chosen_size, default_layers, network_size
from .note_memory import NoteMemory
from .old_parameters import current_parameters
from .pretrained_encoder import PretrainedEncoder, PretrainedFiles
from .strategies import plain_parameters
from .tagger import DeidTagger
from .weight_checks import class_problem, misfit, weight_problem

_PLAIN = (str, int, float, bool, type(None))


def tagger_to_state(tagger: DeidTagger) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """State of a fitted tagger, from which `tagger_from_state` builds a tagger with the same predictions.

    The state excludes callbacks, splitters, random generators and the state of the optimizer, because these objects are
    code or are needed only for training.

    Parameters
    ----------
    tagger : DeidTagger
        Fitted tagger.

    Returns
    -------
    state : dict
        JSON values.
    arrays : dict of str to ndarray
        Weights of the network and table of n-gram vectors.

    Raises
    ------
    BundleError
        If the tagger stores vectors of whole words, because the words may come from the training notes. Also if the
        classes of the tagger contain no tag of PHI, or if its weights are not finite, too large, or zero.
    """
    tagger.check_is_fitted()
    state: dict[str, Any] = {
        "parameters": _plain_parameters(tagger),
        "classes": tagger.classes_.tolist(),
        "reads_words": tagger._reads_words,
        "lowers_uniform_casing": tagger.lowers_uniform_casing_,
        "marks_uniform_casing": tagger.marks_uniform_casing_,
        "continues_spans": tagger.continues_spans_,
        "note_memory": None if tagger.note_memory_ is None else tagger.note_memory_.to_state(),
        "n_features_in": getattr(tagger, "n_features_in_", None),
        "vectors_from": tagger._vectors_from,
        "pretrained": None if tagger._pretrained is None else tagger._pretrained.to_state(),
    }
    # The names of the weights are part of the file format: a renamed layer needs a table of old names here.
    arrays = {f"module.{k}": v.detach().cpu().numpy() for k, v in tagger.module_.state_dict().items()}
    vectors = tagger._vectors
    if vectors is not None and not isinstance(vectors, (SubwordTable, ListedVectors)):
        raise BundleError(
            "This tagger reads vectors of whole words, and a list of words can hold words of private notes. Train with "
            "embeddings='auto' (character n-grams, no words) or None to save the model, or pickle it for your own use."
        )
    vector_state, vector_arrays = saved_vectors(vectors)
    state, arrays = state | vector_state, arrays | vector_arrays
    problem = class_problem(state["classes"]) or weight_problem(arrays)
    if problem is not None:
        raise BundleError(f"{problem} Such a tagger is not saved: train it anew.")
    return state, arrays


@plain_torch()
def tagger_from_state(state: dict[str, Any], arrays: dict[str, np.ndarray]) -> DeidTagger:
    """Build a fitted tagger from the result of `tagger_to_state`, on the device in its parameters.

    Raises
    ------
    BundleError
        If a required entry is missing or entries contradict each other: no entry is guessed. Also if names, shapes or
        types of the arrays do not fit the network, or if `tagger_to_state` would refuse the classes or weights.
    """
    try:
        tagger = _without_network(state, arrays)
        weights = {k.removeprefix("module."): v for k, v in arrays.items() if k.startswith("module.")}
        _check_network(tagger, weights)
        problem = weight_problem(arrays)
        if problem is not None:
            raise BundleError(f"{problem} The saved tagger would find nothing reliably: train it anew.")
        # The first training builds the optimizer: torch then imports its compiler, which takes two seconds.
        tagger.builds_optimizer = False
        tagger.initialize()
        del tagger.builds_optimizer
        tagger.module_.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    except _MISFITS as error:
        raise misfit("tagger", error) from None
    return tagger


_MISFITS = (KeyError, TypeError, AttributeError, RuntimeError, ValueError, OverflowError)
# More layers than any tagger has: building them would take minutes.
_MOST_LAYERS = 200


def tagger_on(device: str | None, state: Any, arrays: dict[str, np.ndarray]) -> DeidTagger:
    """Build a fitted tagger like `tagger_from_state`, but on a device; None means the device in the parameters."""
    _check_is_state(state)
    asked = str(device or state["parameters"].get("device"))
    if asked.startswith("cuda") and not torch.cuda.is_available():
        raise BundleError(f"The model asks for the device {asked}, which is not on this machine. Pass device='auto'.")
    if device is not None:
        state = {**state, "parameters": {**state["parameters"], "device": device}}
    return tagger_from_state(state, arrays)


def used_arrays(state: Any, arrays: Mapping[str, np.ndarray]) -> set[str]:
    """Check shapes and types of all arrays of a tagger before an array is read, and return the names of the used
    arrays."""
    _check_is_state(state)
    try:
        weights = {k.removeprefix("module."): v for k, v in arrays.items() if k.startswith("module.")}
        # Shapes do not depend on the device, which another machine may lack; `tagger_on` checks the one that is used.
        here = {**state, "parameters": {**state["parameters"], "device": "cpu"}}
        _check_network(_without_network(here, arrays), weights)
    except _MISFITS as error:
        raise misfit("tagger", error) from None
    _, vectors = loaded_vectors(state, arrays)
    return {name for name in arrays if name.startswith("module.") or name in vectors}


def _check_is_state(state: Any) -> None:
    if not isinstance(state, dict) or not isinstance(state.get("parameters"), dict):
        raise BundleError("The manifest has no state of a tagger.")


def _without_network(state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> DeidTagger:
    """Tagger with the parameters and inputs of a state, whose network is not built yet."""
    parameters = current_parameters(state["parameters"])
    parameters["optimizer"] = getattr(torch.optim, parameters["optimizer"])
    if not issubclass(parameters["optimizer"], torch.optim.Optimizer):
        raise BundleError("The saved tagger names an optimizer that torch.optim does not have.")
    pretrained = state.get("pretrained")
    if pretrained is not None:
        parameters["encoder"] = PretrainedEncoder()
    tagger = DeidTagger().set_params(**parameters)
    tagger.check_parameters()
    problem = class_problem(state["classes"])
    if problem is not None:
        raise BundleError(f"{problem} Train the tagger with annotated PHI.")
    tagger._pretrained = None if pretrained is None else PretrainedFiles(**pretrained)
    tagger.hidden_size_, tagger.n_layers_ = chosen_size(tagger)
    tagger.classes_ = np.array(state["classes"], dtype=object)
    tagger._reads_words = state["reads_words"]
    # Taggers of earlier versions were not trained on lower case in place of capitals.
    tagger.lowers_uniform_casing_ = bool(state.get("lowers_uniform_casing", False))
    tagger.marks_uniform_casing_ = bool(state.get("marks_uniform_casing", False))
    tagger.continues_spans_ = bool(state.get("continues_spans", False))
    tagger.note_memory_ = NoteMemory.from_state(state.get("note_memory"), state["classes"])
    if state["n_features_in"] is not None:
        tagger.n_features_in_ = state["n_features_in"]
    tagger._vectors_from = state.get("vectors_from")
    tagger._vectors, _ = loaded_vectors(state, arrays)
    tagger.augmenter_ = None
    tagger._tag_weights, tagger._rng = None, np.random.default_rng()
    return tagger


def _check_network(tagger: DeidTagger, weights: Mapping[str, np.ndarray]) -> None:
    """Compare names, shapes and types of saved weights with the network, before memory is allocated for the network."""
    layers = {"n_layers": tagger.n_layers} if tagger._pretrained is None else tagger._pretrained.config
    if any("layers" in name and isinstance(n, int) and n > _MOST_LAYERS for name, n in layers.items()):
        raise BundleError(f"The saved network has more than {_MOST_LAYERS} layers.")
    expected = network_shapes(tagger)
    unknown = sorted(set(weights) ^ set(expected))
    if unknown:
        raise BundleError(f"The weights {unknown[0]!r} are missing, or the network has no use for them.")
    for name, tensor in expected.items():
        array = weights[name]
        if tuple(tensor.shape) != array.shape or str(tensor.dtype) != f"torch.{array.dtype}":
            raise BundleError(
                f"The weights {name!r} must be {tuple(tensor.shape)} of {tensor.dtype}. "
                f"Got {array.shape} of {array.dtype} instead."
            )


def _plain_parameters(tagger: DeidTagger) -> dict[str, Any]:
    """Parameters of a tagger as JSON values, without callbacks and without paths."""
    given = tagger.get_params(deep=False)
    parameters = {k: v for k, v in given.items() if not k.startswith("callbacks") and k != "optimizer"}
    optimizer: Any = tagger.optimizer
    name = str(getattr(optimizer, "__name__", ""))
    if getattr(torch.optim, name, None) is not optimizer:
        raise BundleError("Only optimizers of torch.optim can be named in a saved model; use one of them, or pickle.")
    settings = plain_parameters(parameters)
    plain: dict[str, Any] = {k: v for k, v in settings.items() if isinstance(v, _PLAIN)}
    if isinstance(parameters["class_weight"], dict):
        plain["class_weight"] = {str(k): float(v) for k, v in parameters["class_weight"].items()}
    # A path can contain names of people or places.
    plain.pop("encoder__model", None)
    plain.pop("warm_start_from", None)
    # Without the start model, "auto" would mean another size. Earlier versions accept "auto" only for the layers.
    plain["hidden_size"] = network_size(tagger).hidden_size
    if tagger._pretrained is None and network_size(tagger).n_layers != default_layers(tagger):
        plain["n_layers"] = network_size(tagger).n_layers
    # The path of the word vectors is dropped for the same reason. The vectors are saved as an array.
    plain["embeddings"] = plain.get("embeddings") if plain.get("embeddings") in ("auto", "corpus", None) else "auto"
    return {**plain, "optimizer": name}
