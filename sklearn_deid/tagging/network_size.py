"""Size of the network of a tagger: the requested size, the size of the start model, or the default size."""

from __future__ import annotations

from typing import Any, NamedTuple

from .strategies import SelfAttention, strategy

#: Units of each direction by default.
DEFAULT_UNITS = 128
_RECURRENT_LAYERS, _ATTENTION_LAYERS = 1, 4


class NetworkSize(NamedTuple):
    """Number of units of each direction, and number of layers."""

    hidden_size: int
    n_layers: int


def network_size(tagger: Any) -> NetworkSize:
    """Size of the network of a `DeidTagger`. ``"auto"`` is replaced by the result of `chosen_size`.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> network_size(DeidTagger(encoder="transformer", hidden_size=64))
    NetworkSize(hidden_size=64, n_layers=4)
    """
    units, layers = tagger.hidden_size, tagger.n_layers
    if units == "auto":
        units = getattr(tagger, "hidden_size_", DEFAULT_UNITS)
    if layers == "auto":
        layers = getattr(tagger, "n_layers_", default_layers(tagger))
    return NetworkSize(int(units), int(layers))


def chosen_size(tagger: Any, start: Any = None) -> NetworkSize:
    """Size of the network that a `DeidTagger` will have if it starts from the fitted tagger ``start``."""
    auto = NetworkSize(DEFAULT_UNITS, default_layers(tagger)) if start is None else network_size(start)
    asked = (tagger.hidden_size, tagger.n_layers)
    return NetworkSize(*(found if own == "auto" else int(own) for own, found in zip(asked, auto, strict=True)))


def default_layers(tagger: Any) -> int:
    """Number of layers of a tagger that starts from random weights."""
    return _ATTENTION_LAYERS if isinstance(strategy("encoder", tagger.encoder), SelfAttention) else _RECURRENT_LAYERS
