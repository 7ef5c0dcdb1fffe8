"""The only file that uses private names of skorch and torch.

`SkorchEstimator` is a `skorch.NeuralNet` that behaves like a scikit-learn estimator with named, flat parameters.
``get_params`` lists only the parameters of ``__init__`` and the dunder parameters that you set. ``get_params`` returns
``device="auto"`` unchanged, although skorch works with a real device. Importing torch and skorch takes two seconds.
Files without a network therefore import only `_compat`.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

import torch
from sklearn.base import BaseEstimator
from skorch import NeuralNet

# Prefixes of the dunder parameters that skorch handles. The estimator itself sets the module and the criterion.
_SKORCH_PREFIXES = ("optimizer", "callbacks", "iterator_train", "iterator_valid")
_AT_NEXT_FIT = ("iterator_train", "iterator_valid")
# Process that has computed with PyTorch; in a forked process, the parent.
_computes_in: int | None = None


def resolve_device(device: str | torch.device) -> torch.device:
    """Device for a name: ``"auto"`` selects CUDA if available, else the CPU; any other name is used unchanged.

    Raises
    ------
    ValueError
        If torch has no device of this name, or no CUDA device is available.
    """
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError:
        raise ValueError(
            f"The 'device' parameter must be 'auto', 'cpu', 'cuda' or another device of torch. Got {device!r} instead."
        ) from None
    if found.type == "cuda" and not torch.cuda.is_available():
        # Torch itself fails later, with an AssertionError.
        raise ValueError(f"The 'device' parameter is {str(found)!r}, but torch finds no CUDA device: pass 'auto'.")
    return found


def _use_one_thread_if_forked() -> None:
    """In a process that was forked after a computation, let PyTorch compute with one thread.

    A fork copies no threads. OpenMP would wait forever for the threads of the parent, for example in the workers of a
    server that loads a model before it forks.
    """
    global _computes_in
    process = os.getpid()
    if _computes_in not in (None, process):
        torch.set_num_threads(1)
    _computes_in = process


@contextmanager
def plain_torch() -> Iterator[None]:
    """Compute with gradients and in full precision inside a with block or a decorated function.

    A service may call a tagger inside of ``torch.inference_mode()``, although the marginals of a CRF are gradients.
    Inside of ``torch.autocast``, the numbers would have 16 bits, and the tags and the stated bounds would be others.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid._skorch import plain_torch
    >>> with torch.inference_mode(), plain_torch():
    ...     torch.ones(1, requires_grad=True).requires_grad
    True
    """
    _use_one_thread_if_forked()
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        for kind in ("cpu", "cuda"):
            # Only where a context is open: inside of a context, weights that torch has cast to 16 bits would stay in a
            # cache, and the training would read old weights.
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False, cache_enabled=False))
        yield


def check_bfloat16(device: torch.device) -> None:
    """Raise ValueError if the device cannot compute an LSTM in bfloat16: oneDNN needs a processor with AVX-512.

    Raises
    ------
    ValueError
        If the device is a processor without such instructions.
    """
    # Neither torch.backends nor torch.cpu reports the support. Builds of torch without oneDNN have no such limit.
    is_supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    if device.type == "cpu" and not is_supported():
        raise ValueError(
            "The 'mixed_precision' parameter is True, but this processor cannot compute an LSTM in bfloat16. Set it to "
            "'auto' or False."
        )


def is_fast_in_bfloat16(device: torch.device) -> bool:
    """Whether the processor computes an LSTM in bfloat16 with native instructions, not by conversion.

    Examples
    --------
    >>> is_fast_in_bfloat16(torch.device("meta"))
    False
    """
    onednn = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    if device.type != "cpu" or not torch.backends.mkldnn.is_available() or not onednn():
        return False
    # Earlier versions of torch have none of these functions. Processors without AVX-512 are slower than in float32.
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in names)


class SkorchEstimator(NeuralNet):
    """`skorch.NeuralNet` with the parameter conventions of scikit-learn.

    A subclass lists its parameters in ``__init__``, passes the parameters of skorch on to skorch, and declares the
    constraints of all parameters in ``_parameter_constraints``.
    """

    _parameter_constraints: dict[str, list] = {}
    #: Parameters of skorch that you may set although they are not in the signature, with their default values.
    _skorch_defaults: dict[str, Any] = {}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # The repr of skorch would show the module with all layers.
        return BaseEstimator.__repr__(self, N_CHAR_MAX)

    def _with_skorch_defaults(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the given parameters of skorch, completed by their defaults.

        Raises
        ------
        TypeError
            If a parameter is unknown. The message suggests a similar name.
        """
        for name in given:
            if not self._is_for_skorch(name):
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}.{self._guess(name)}")
        return {**self._skorch_defaults, **given}

    def _is_for_skorch(self, name: str) -> bool:
        prefix, dunder, _ = name.partition("__")
        return name in self._skorch_defaults or (bool(dunder) and prefix in _SKORCH_PREFIXES)

    def _guess(self, name: str) -> str:
        """Advice for the error message about an unknown parameter name."""
        known = [*self._named_parameters(), *self._skorch_defaults]
        before, dunder, rest = name.partition("__")
        close = difflib.get_close_matches(before, [*known, *(_SKORCH_PREFIXES if dunder else ())], n=1)
        if close == [before]:
            return f" Settings of {before!r} are set by set_params, or by an object as {before!r}."
        return f" Did you mean {close[0] + dunder + rest!r}?" if close else f" Parameters are {', '.join(known)}."

    @classmethod
    @lru_cache(maxsize=32)
    def _named_parameters(cls) -> tuple[str, ...]:
        parameters = inspect.signature(cls.__init__).parameters.items()
        return tuple(name for name, p in parameters if name != "self" and p.kind is not p.VAR_KEYWORD)

    def _get_param_names(self) -> list[str]:
        # skorch treats every public attribute as a parameter, including the callback context of scikit-learn and the
        # internal state of skorch. ``clone`` would copy both to the new estimator.
        defaults = self._skorch_defaults.items()
        changed = [name for name, default in defaults if getattr(self, name, default) is not default]
        # Parameters that the user set as dunder keywords, such as optimizer__weight_decay.
        dunder = sorted(key for key in vars(self) if "__" in key and not key.startswith("_"))
        return [*self._named_parameters(), *changed, *dunder]

    def get_params(self, deep: bool = True, **kwargs: Any) -> dict[str, Any]:
        """Parameters; with ``deep`` also parameters of nested objects, and skorch parameters with default values."""
        params = super().get_params(deep, **kwargs)
        return {**{name: getattr(self, name) for name in self._skorch_defaults}, **params} if deep else params

    @contextmanager
    def _real_device(self) -> Iterator[torch.device]:
        """Replace ``device="auto"`` by the real device while methods of skorch run."""
        asked = self.device
        self.__dict__["device"] = str(resolve_device(asked))
        try:
            yield resolve_device(asked)
        finally:
            self.__dict__["device"] = asked

    def initialize(self) -> SkorchEstimator:
        """Build module, criterion, optimizer, callbacks and history. ``fit`` calls this method."""
        with self._real_device():
            return super().initialize()

    def renew_callbacks(self) -> None:
        """Build the callbacks from the current parameters, which may have changed since the net was built."""
        self._initialize_callbacks()

    def load_params(self, *args: Any, **kwargs: Any) -> None:
        """Load weights that a callback has stored, such as `skorch.callbacks.Checkpoint` with ``load_best=True``."""
        with self._real_device():
            super().load_params(*args, **kwargs)

    def set_params(self, **params: Any) -> SkorchEstimator:
        """Set parameters. Parameters of the optimizer also apply to the next ``fit``."""
        # skorch would store `augmenter__n_neighbors` on the net instead of setting it on the augmenter.
        nested = {key: value for key, value in params.items() if self._belongs_to_an_estimator(key, params)}
        for key in params:
            if key not in (*nested, *self._named_parameters()) and not self._is_for_skorch(key):
                raise ValueError(f"{type(self).__name__} has no parameter {key!r}.{self._guess(key)}")
        # On a fitted net, skorch refuses settings of iterators, and a new optimizer, which the next `fit` uses.
        later = {key: value for key, value in params.items() if key.startswith(_AT_NEXT_FIT) or key == "optimizer"}
        self.__dict__.update(later)
        super().set_params(**{key: value for key, value in params.items() if key not in {**nested, **later}})
        for key, value in nested.items():
            name, _, rest = key.partition("__")
            getattr(self, name).set_params(**{rest: value})
        # On a fitted net, skorch changes only the running optimizer, and a new fit would use the old value again.
        self.__dict__.update({key: value for key, value in params.items() if key.startswith("optimizer__")})
        return self

    def _belongs_to_an_estimator(self, key: str, params: dict[str, Any]) -> bool:
        name, dunder, _ = key.partition("__")
        value = params.get(name, getattr(self, name, None))
        return bool(dunder) and name in self._get_param_names() and hasattr(value, "set_params")

    def __setstate__(self, state: dict) -> None:
        asked = state["device"]
        super().__setstate__({**state, "device": str(resolve_device(asked))})
        if asked == "auto":
            self.__dict__["device"] = asked
