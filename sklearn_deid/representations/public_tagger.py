"""The provider's tagger as an estimator that is published with the representer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from .._randomness import own_torch_stream
from .._skorch import resolve_device
from ..exceptions import BundleError
from ..tagging.encoders import BidirectionalRecurrent
from ..tagging.network import TaggerModule
from ..tagging.network_size import chosen_size
from ..tagging.network_state import tagger_from_state, tagger_to_state
from ..tagging.strategies import Dropout
from ..tagging.tagger import DeidTagger

#: Prefix of the arrays of the tagger in a file.
TAGGER = "tagger."
# Dropout of the tagger that is trained together with the network: the noise of the vectors is a regulariser already.
_INPUT_DROPOUT, _OUTPUT_DROPOUT = 0.1, 0.5
_NAME = re.compile(r"[A-Za-z0-9_:]{1,20}")
_DEVICE = re.compile(r"auto|(cpu|cuda|mps|xpu)(:\d{1,3})?")


def vector_tagger(n_classes: int, width: int, hidden_size: int) -> TaggerModule:
    """Make the network of a tagger that is trained together with a representer; it reads vectors of this width."""
    encoder = BidirectionalRecurrent(width, hidden_size)
    return TaggerModule(n_classes, None, encoder, input_dropout=_INPUT_DROPOUT, output_dropout=_OUTPUT_DROPOUT)


def public_tagger(module: TaggerModule, classes: np.ndarray, width: int, **parameters: Any) -> DeidTagger:
    """Make a fitted `DeidTagger` of token vectors from a trained network.

    The tagger decodes legal tag sequences only, although the network was trained without this constraint.

    Parameters
    ----------
    module : TaggerModule
        Trained network with a bidirectional LSTM of one layer and a CRF. The fitted tagger has a copy of the weights of
        the network.
    classes : ndarray of shape (n_classes,)
        Tags of the network; the first is "O".
    width : int
        Width of the token vectors.
    **parameters
        Parameters of `DeidTagger`, such as ``hidden_size`` and ``device``.
    """
    tagger = DeidTagger(embeddings=None, dropout=Dropout(input=_INPUT_DROPOUT, output=_OUTPUT_DROPOUT), **parameters)
    # A width that follows from a number of numpy is one, too, and no state of a tagger may hold such a number.
    tagger.classes_, tagger.n_features_in_, tagger._reads_words = classes, int(width), False
    tagger._vectors = tagger._tag_weights = tagger.augmenter_ = None
    tagger.hidden_size_, tagger.n_layers_ = chosen_size(tagger)
    tagger._rng = np.random.default_rng(0)
    with own_torch_stream(tagger._rng, resolve_device(tagger.device)):
        tagger.initialize()
    tagger.module_.load_state_dict(module.state_dict())
    tagger.module_.eval()
    return tagger


def public_tagger_to_state(tagger: DeidTagger, width: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return JSON values and arrays of a public tagger; the names of the arrays begin with "tagger.".

    Raises
    ------
    BundleError
        If the tagger does not read vectors of this width, or was trained again.
    """
    _check_reads_vectors(tagger, width)
    # A published tagger has no history; the notes of a later training are not those of the representer.
    if tagger.history:
        raise BundleError(
            "This tagger was trained further than the representer trained it, so that its weights can reveal other "
            "notes. Load or fit the representer again, or save vectors.with_tagger(None)."
        )
    state, arrays = tagger_to_state(tagger)
    _check_values(state)
    return state, {f"{TAGGER}{name}": array for name, array in arrays.items()}


def public_tagger_from_state(state: Any, arrays: dict[str, np.ndarray], width: int) -> DeidTagger:
    """Make the public tagger from the result of `public_tagger_to_state`; other arrays are ignored.

    Raises
    ------
    BundleError
        If the state does not fit the arrays or has further entries, or if the tagger does not read vectors of this
        width.
    """
    if not isinstance(state, dict) or not isinstance(state.get("parameters"), dict):
        raise BundleError("The manifest has no state of a tagger.")
    _check_values(state)
    # Copies, since arrays of a mapped file are read-only, which PyTorch does not support.
    own = {name.removeprefix(TAGGER): np.array(array) for name, array in arrays.items() if name.startswith(TAGGER)}
    with own_torch_stream(np.random.default_rng(0), resolve_device("auto")):
        tagger = tagger_from_state({**state, "parameters": {**state["parameters"], "device": "auto"}}, own)
    _check_reads_vectors(tagger, width)
    tagger.module_.eval()
    again, its_own = tagger_to_state(tagger)
    # Nothing else may be handed out with a tagger: no further array or entry, in which nobody would look.
    if its_own.keys() != own.keys() or not _has_entries_of(again, state):
        raise BundleError("The public tagger comes with arrays or entries that this version does not write.")
    return tagger


def _check_values(state: Mapping[str, Any]) -> None:
    """Raise BundleError if a state has values that no public tagger has, such as text; the tags are not checked."""
    values = [value for name, value in state.items() if name not in ("classes", "parameters")]
    # A public tagger has no vectors, no memory of notes and no weights of single labels.
    plain = all(value is None or type(value) in (bool, int) for value in values)
    parameters = dict(state["parameters"])
    # Taggers on other devices are equal, so that audits do not compare the device.
    device = parameters.pop("device", "auto")
    on_device = isinstance(device, str) and _DEVICE.fullmatch(device)
    if not plain or not on_device or not all(map(_is_setting, parameters.values())):
        raise BundleError("The state of the public tagger holds text or parts that no public tagger has.")


def _is_setting(value: Any) -> bool:
    return bool(_NAME.fullmatch(value)) if isinstance(value, str) else value is None or isinstance(value, (int, float))


def _has_entries_of(own: Any, stated: Any) -> bool:
    """Whether a mapping has only keys, at any depth, that another mapping also has."""
    if not isinstance(stated, dict):
        return True
    return isinstance(own, dict) and all(k in own and _has_entries_of(own[k], v) for k, v in stated.items())


def _check_reads_vectors(tagger: DeidTagger, width: int) -> None:
    if not isinstance(tagger, DeidTagger) or tagger._reads_words or tagger.n_features_in_ != width:
        raise BundleError(f"The public tagger of these vectors must be a DeidTagger of vectors of {width} columns.")


def common_tagger(taggers: Sequence[DeidTagger | None]) -> DeidTagger | None:
    """Return the first tagger if all taggers have the same tags, weights and parameters, and None otherwise.

    The device may differ.

    Examples
    --------
    >>> common_tagger([None, None]) is None
    True
    """
    first = taggers[0]
    if first is None or any(tagger is None for tagger in taggers):
        return None
    return first if len({_digest(tagger) for tagger in taggers if tagger is not None}) == 1 else None


def _digest(tagger: DeidTagger) -> bytes:
    state, arrays = tagger_to_state(tagger)
    state["parameters"] = {**state["parameters"], "device": None}
    digest = blake2b(json.dumps(state, sort_keys=True).encode(), digest_size=16)
    for name, value in sorted(arrays.items()):
        digest.update(name.encode() + np.ascontiguousarray(value).tobytes())
    return digest.digest()
