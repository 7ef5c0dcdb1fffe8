"""Settings objects of a `DeidTagger`, such as `CRFHead` for ``head``, and their short forms, such as "crf"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from .._compat import Interval, check_constraints
from .._storage import plain_value
from .pretrained_encoder import PretrainedEncoder
from .recall_weight import RecallWeight

_AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")


class SelfAttention(BaseEstimator):
    """Self-attention that is trained from scratch, as the ``encoder`` of a `DeidTagger`.

    Positions are encoded by rotary position embedding. Use a smaller learning rate than with the recurrent encoders,
    such as 5e-4.

    Parameters
    ----------
    n_heads : int, default=4
        Number of heads. Twice the ``hidden_size`` of the tagger must be a multiple of 2 * ``n_heads``.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.tagging import SelfAttention
    >>> DeidTagger(encoder=SelfAttention(n_heads=8), lr=5e-4)
    DeidTagger(encoder=SelfAttention(n_heads=8), lr=0.0005)
    """

    _parameter_constraints: dict[str, list] = {"n_heads": [_AT_LEAST_ONE]}

    def __init__(self, n_heads: int = 4) -> None:
        self.n_heads = n_heads


class CRFHead(BaseEstimator):
    """Conditional random field, as the ``head`` of a `DeidTagger`: tags of neighbouring tokens are decided together.

    Parameters
    ----------
    constrained : bool, default=True
        Whether illegal tag sequences have probability 0 and are never predicted. With False, the tagger repairs illegal
        sequences after decoding.
    projection_size : int or None, default=None
        Number of units of a tanh layer between the encoder and the scores of the tags. None means no such layer.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.tagging import CRFHead
    >>> DeidTagger(head=CRFHead(constrained=False))
    DeidTagger(head=CRFHead(constrained=False))
    """

    _parameter_constraints: dict[str, list] = {"constrained": ["boolean"], "projection_size": [_AT_LEAST_ONE, None]}

    def __init__(self, constrained: bool = True, projection_size: int | None = None) -> None:
        self.constrained, self.projection_size = constrained, projection_size


class SoftmaxHead(BaseEstimator):
    """Softmax over the tags, as the ``head`` of a `DeidTagger`: the tag of each token is decided separately.

    Parameters
    ----------
    projection_size : int or None, default=None
        Number of units of a tanh layer between the encoder and the scores of the tags. None means no such layer.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> DeidTagger(head="softmax").set_params(head__projection_size=100)
    DeidTagger(head=SoftmaxHead(projection_size=100))
    """

    _parameter_constraints: dict[str, list] = {"projection_size": [_AT_LEAST_ONE, None]}

    def __init__(self, projection_size: int | None = None) -> None:
        self.projection_size = projection_size


class Dropout(BaseEstimator):
    """Variational dropout of a `DeidTagger`: one mask for all tokens of a sentence.

    Parameters
    ----------
    input : float in [0, 1), default=0.25
        Probability of dropping a feature before the encoder.
    layer : float in [0, 1), default=0.25
        Probability of dropping a feature between the layers of the encoder.
    output : float in [0, 1), default=0.5
        Probability of dropping a feature after the encoder.

    References
    ----------
    Gal & Ghahramani (2016), A theoretically grounded application of dropout in recurrent neural networks, NeurIPS.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> DeidTagger().set_params(dropout__input=0.1)
    DeidTagger(dropout=Dropout(input=0.1))
    """

    _parameter_constraints: dict[str, list] = {
        name: [Interval(Real, 0, 1, closed="left")] for name in ("input", "layer", "output")
    }

    def __init__(self, input: float = 0.25, layer: float = 0.25, output: float = 0.5) -> None:
        self.input, self.layer, self.output = input, layer, output


class SpanSwap(BaseEstimator):
    """Replacement of PHI spans in training sentences, drawn anew in each epoch: ``span_swap`` of a `DeidTagger`.

    Parameters
    ----------
    share : float in [0, 1], default=0.5
        Probability that a span is replaced by a span of the same label.
    invented : int, default=250
        Number of invented spans, such as other names and places in the language of the sentences. Swaps draw from the
        invented spans and the spans of the sentences together. If the sentences have few spans, most drawn spans are
        invented. With 0, swaps draw only spans of the sentences. No spans are invented for labels without a rule, for
        vectors, or for sentences in languages that are not in `sklearn_deid.surrogates.LOCALES`. No spans are invented
        if an augmenter perturbs the sentences, or if the training starts from another tagger (except from a model of
        the package in another language).

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.tagging import SpanSwap
    >>> DeidTagger(span_swap=SpanSwap(invented=0))
    DeidTagger(span_swap=SpanSwap(invented=0))
    """

    _parameter_constraints: dict[str, list] = {
        "share": [Interval(Real, 0, 1, closed="both")],
        "invented": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, share: float = 0.5, invented: int = 250) -> None:
        self.share, self.invented = share, invented


class ContextWindow(BaseEstimator):
    """Neighbouring sentences that the encoder reads with each sentence, as the ``context`` of a `DeidTagger`.

    Parameters
    ----------
    size : int, default=2
        Number of sentences on either side.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.tagging import ContextWindow
    >>> DeidTagger(context=ContextWindow(size=1))
    DeidTagger(context=ContextWindow(size=1))
    """

    _parameter_constraints: dict[str, list] = {"size": [_AT_LEAST_ONE]}

    def __init__(self, size: int = 2) -> None:
        self.size = size


class ContextBlock(BaseEstimator):
    """Consecutive sentences that the encoder reads together, as the ``context`` of a `DeidTagger`.

    The encoder reads every token once, so that time and memory grow linearly with the length of a note.

    Parameters
    ----------
    size : int, default=64
        Largest number of tokens of a block. A longer sentence is a block of its own.
    random_borders : bool, default=False
        Whether each training epoch divides the documents into other blocks, so that a sentence is read together with
        other neighbours. By default, and always in tagging, all blocks of a document are as long as ``size`` allows. On
        half of MEDDOCAN, random borders improved a network of 128 units, but not a network of 192 units.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.tagging import ContextBlock
    >>> DeidTagger(context=ContextBlock(size=100))
    DeidTagger(context=ContextBlock(size=100))
    """

    _parameter_constraints: dict[str, list] = {"size": [_AT_LEAST_ONE], "random_borders": ["boolean"]}

    def __init__(self, size: int = 64, random_borders: bool = False) -> None:
        self.size, self.random_borders = size, random_borders


# Classes of the short forms that are names, and makers of the objects of short forms that are numbers.
_OF_NAMES: dict[str, dict[str, type]] = {
    "encoder": {"transformer": SelfAttention},
    "head": {"crf": CRFHead, "softmax": SoftmaxHead},
    "dropout": {"auto": Dropout},
    "context": {"window": ContextWindow, "block": ContextBlock},
    "span_swap": {},
    "recall_weight": {},
}
_OF_NUMBERS: dict[str, Callable[[float], Any]] = {
    # A single number is the rate of all three masks.
    "dropout": lambda rate: Dropout(rate, rate, rate),
    "span_swap": SpanSwap,
    "recall_weight": RecallWeight,
}
_NAMES = {kind: name for kinds in _OF_NAMES.values() for name, kind in kinds.items()}
# Settings that are the short form. The other nested parameters follow.
_NUMBERS = {RecallWeight: "weight", SpanSwap: "share"}


def strategy(name: str, value: Any) -> Any:
    """Settings object for a parameter value of `DeidTagger`, or the value itself if the value has no settings.

    Parameters
    ----------
    name : {"encoder", "head", "dropout", "context", "span_swap", "recall_weight"}
        Name of the parameter.
    value : object
        Value of the parameter, as a short form or as a settings object.

    Examples
    --------
    >>> strategy("dropout", 0.1), strategy("head", "crf"), strategy("encoder", "lstm")
    (Dropout(input=0.1, layer=0.1, output=0.1), CRFHead(), 'lstm')
    """
    if isinstance(value, Real) and name in _OF_NUMBERS:
        return _OF_NUMBERS[name](float(value))
    kind = _OF_NAMES[name].get(value) if isinstance(value, str) else None
    return value if kind is None else kind()


#: For ``set_params``: functions that return the object of a short form, and any other value unchanged.
LONG_FORMS: dict[str, Callable[[Any], Any]] = {name: partial(strategy, name) for name in _OF_NAMES}


def check_strategies(tagger: Any) -> None:
    """Raise scikit-learn's InvalidParameterError for the first setting that is out of range."""
    for name in LONG_FORMS:
        value = strategy(name, getattr(tagger, name))
        if isinstance(value, BaseEstimator):
            check_constraints(value)
    if tagger.patience is not None and tagger.validation_fraction is None:
        raise ValueError("The 'patience' parameter of DeidTagger needs 'validation_fraction', such as 0.1.")


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with short forms and nested parameters instead of settings objects, for ``set_params``.

    Examples
    --------
    >>> plain_parameters({"head": SoftmaxHead(5), "dropout": "auto", "hidden_size": 8})
    {'head': 'softmax', 'head__projection_size': 5, 'dropout': 'auto', 'hidden_size': 8}
    """
    plain: dict[str, Any] = {}
    for name, value in parameters.items():
        plain[name] = plain_value(value)
        kind = type(value)
        if kind in (PretrainedEncoder, *_NAMES, *_NUMBERS):
            # A pretrained encoder has no short form: only its nested parameters describe the encoder.
            plain[name] = getattr(value, _NUMBERS[kind]) if kind in _NUMBERS else _NAMES.get(kind)
            plain |= {f"{name}__{setting}": plain_value(given) for setting, given in value.get_params().items()}
    return plain
