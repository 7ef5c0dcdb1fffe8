"""A fitted tagger as plain data: JSON values and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..embeddings import SubwordTable
from ..exceptions import BundleError
from .pretrained_encoder import PretrainedEncoder, as_pretrained
from .word_pieces import PretrainedFiles

if TYPE_CHECKING:
    from .tagger import DeidTagger

__all__ = ["tagger_from_state", "tagger_to_state"]

_PLAIN = (str, int, float, bool, type(None))
_NEW_NAMES = {"scheme": "tag_scheme"}  # of parameters that 0.1.0 saved


def tagger_to_state(tagger: DeidTagger) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `tagger_from_state` needs to tag as this tagger does.

    Callbacks, splitters, generators and the state of the optimizer are left behind: they are code or concern training.

    Raises
    ------
    BundleError
        If the tagger holds vectors of whole words, which may be words of its training notes.
    """
    tagger.check_is_fitted()
    state: dict[str, Any] = {
        "parameters": _plain_parameters(tagger),
        "classes": tagger.classes_.tolist(),
        "reads_words": tagger._reads_words,
        "n_features_in": getattr(tagger, "n_features_in_", None),
        "subwords": None,
        "pretrained": None if tagger._pretrained is None else tagger._pretrained.to_state(),
    }
    arrays = {f"module.{k}": v.detach().cpu().numpy() for k, v in tagger.module_.state_dict().items()}
    vectors = tagger._vectors
    if isinstance(vectors, SubwordTable):
        state["subwords"] = {k: getattr(vectors, k) for k in ("min_n", "max_n", "lower", "is_public")}
        arrays["subwords.table"] = np.asarray(vectors.table)
    elif vectors is not None:
        raise BundleError(
            "This tagger reads vectors of whole words, and a list of words can hold words of private notes. Train with "
            "embeddings='auto' (character n-grams, no words) or None to save the model, or pickle it for your own use."
        )
    return state, arrays


def tagger_from_state(cls: type[DeidTagger], state: dict[str, Any], arrays: dict[str, np.ndarray]) -> DeidTagger:
    """The tagger of `tagger_to_state`, fitted, on the device that its parameters ask for here.

    Raises
    ------
    BundleError
        If something is missing or does not fit together; nothing is guessed.
    """
    try:
        parameters = {_NEW_NAMES.get(k, k): v for k, v in state["parameters"].items()}
        optimizer = getattr(torch.optim, parameters.pop("optimizer"))
        if not issubclass(optimizer, torch.optim.Optimizer):
            raise BundleError("The saved tagger names an optimizer that is none.")
        pretrained = state.get("pretrained")
        if pretrained is not None:
            parameters["pretrained"] = PretrainedEncoder(**parameters["pretrained"])
        tagger = cls(**parameters, optimizer=optimizer)
        tagger._pretrained = None if pretrained is None else PretrainedFiles(**pretrained)
        tagger.classes_ = np.array(state["classes"], dtype=object)
        tagger._reads_words = state["reads_words"]
        if state["n_features_in"] is not None:
            tagger.n_features_in_ = state["n_features_in"]
        subwords = state["subwords"]
        tagger._vectors = None if subwords is None else SubwordTable(arrays["subwords.table"], **subwords)
        tagger.augmenter_ = None
        tagger._tag_weights, tagger._rng = None, np.random.default_rng()
        weights = {k.removeprefix("module."): torch.from_numpy(v) for k, v in arrays.items() if k.startswith("module.")}
        tagger.initialize()
        tagger.module_.load_state_dict(weights)
    except (KeyError, TypeError, AttributeError, RuntimeError, ValueError) as error:
        raise BundleError(f"The saved tagger does not fit together: {error}") from error
    return tagger


def _plain_parameters(tagger: DeidTagger) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        k: v for k, v in tagger.get_params(deep=False).items() if not k.startswith("callbacks")
    }
    optimizer: Any = parameters.pop("optimizer")
    name = str(getattr(optimizer, "__name__", ""))
    if getattr(torch.optim, name, None) is not optimizer:
        raise BundleError("Only optimizers of torch.optim can be named in a saved model; use one of them, or pickle.")
    weights = parameters["class_weight"]
    plain: dict[str, Any] = {k: v for k, v in parameters.items() if isinstance(v, _PLAIN)}
    if isinstance(weights, dict):
        plain["class_weight"] = {str(k): float(v) for k, v in weights.items()}
    if tagger._pretrained is not None:
        settings = as_pretrained(parameters["pretrained"]).get_params()
        plain["pretrained"] = {k: v for k, v in settings.items() if k != "model"}
    else:
        plain.pop("pretrained", None)
    # A path can name people or places, and vectors are saved by themselves.
    plain["embeddings"] = plain.get("embeddings") if plain.get("embeddings") in ("auto", "corpus", None) else "auto"
    return {**plain, "optimizer": name}
