"""The only file that touches private names of scikit-learn and skorch.

`SkorchEstimator` is a `skorch.NeuralNet` that behaves like a scikit-learn estimator with named, flat parameters:
``get_params`` lists the parameters of ``__init__`` and the dunder ones that the user gave, and nothing else;
``device="auto"`` is a value that stays in ``get_params`` while skorch sees a real device.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.metaestimators import _BaseComposition
from skorch import NeuralNet

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "NamedEstimators",
    "SkorchEstimator",
    "StrOptions",
    "check_constraints",
    "resolve_device",
]

# Dunder parameters of skorch; those of the module and the criterion are the estimator's own affair.
_SKORCH_PREFIXES = ("optimizer", "callbacks", "iterator_train", "iterator_valid")


def resolve_device(device: str | torch.device) -> torch.device:
    """``"auto"`` is CUDA where there is one, else the CPU; everything else is taken at its word."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def check_constraints(estimator: Any) -> None:
    """Raise scikit-learn's InvalidParameterError for the first parameter outside ``_parameter_constraints``."""
    constraints = estimator._parameter_constraints
    values = {name: getattr(estimator, name) for name in constraints}
    validate_parameter_constraints(constraints, values, caller_name=type(estimator).__name__)


class NamedEstimators(_BaseComposition):
    """An estimator with a list of named ones in ``estimators``, each of whose parameters can be set by name.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger, VotingTagger
    >>> VotingTagger([("rules", RuleTagger())]).get_params()["rules__language"] is None
    True
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with ``deep`` also the estimators and their parameters, by name."""
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> NamedEstimators:
        """Set parameters, estimators by their name, and their parameters as ``name__parameter``."""
        self._set_params("estimators", **params)
        return self


class SkorchEstimator(NeuralNet):
    """`skorch.NeuralNet` with scikit-learn's idea of parameters.

    A subclass declares its parameters in ``__init__`` by name, passes skorch's own on, and states the constraints of
    all of them in ``_parameter_constraints``.
    """

    _parameter_constraints: dict[str, list] = {}
    #: Parameters of skorch that users may set though they are not in the signature, and their values by default.
    _skorch_defaults: dict[str, Any] = {}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # skorch shows its module instead, with all layers.
        return BaseEstimator.__repr__(self, N_CHAR_MAX)

    def _with_skorch_defaults(self, given: dict[str, Any]) -> dict[str, Any]:
        """Parameters for skorch.

        Raises
        ------
        TypeError
            If there is no such parameter, with the name that was probably meant.
        """
        for name in given:
            if not self._is_for_skorch(name):
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}.{self._guess(name)}")
        return {**self._skorch_defaults, **given}

    def _is_for_skorch(self, name: str) -> bool:
        prefix, dunder, _ = name.partition("__")
        return name in self._skorch_defaults or (bool(dunder) and prefix in _SKORCH_PREFIXES)

    def _guess(self, name: str) -> str:
        """The way out after a name that is not known."""
        known = [*self._named_parameters(), *self._skorch_defaults]
        before, dunder, rest = name.partition("__")
        close = difflib.get_close_matches(before, [*known, *(_SKORCH_PREFIXES if dunder else ())], n=1)
        if close == [before]:
            return f" Settings of {before!r} are set by set_params, or by an object as {before!r}."
        return f" Did you mean {close[0] + dunder + rest!r}?" if close else f" Parameters are {', '.join(known)}."

    @classmethod
    def _named_parameters(cls) -> list[str]:
        parameters = inspect.signature(cls.__init__).parameters.items()
        return [name for name, p in parameters if name != "self" and p.kind is not p.VAR_KEYWORD]

    def _get_param_names(self) -> list[str]:
        # skorch takes every public attribute for a parameter, scikit-learn's callback context and its own
        # bookkeeping among them; both would be passed on by clone.
        defaults = self._skorch_defaults.items()
        changed = [name for name, default in defaults if getattr(self, name, default) is not default]
        # What the user gave as a dunder keyword, such as optimizer__weight_decay.
        dunder = sorted(key for key in vars(self) if "__" in key and not key.startswith("_"))
        return [*self._named_parameters(), *changed, *dunder]

    def get_params(self, deep: bool = True, **kwargs: Any) -> dict[str, Any]:
        """Parameters; with ``deep`` also settings of objects, and parameters of skorch at their defaults."""
        params = super().get_params(deep, **kwargs)
        return {**{name: getattr(self, name) for name in self._skorch_defaults}, **params} if deep else params

    @contextmanager
    def _real_device(self) -> Iterator[torch.device]:
        """Let skorch's own methods see the device that ``"auto"`` stands for."""
        asked = self.device
        self.__dict__["device"] = str(resolve_device(asked))
        try:
            yield resolve_device(asked)
        finally:
            self.__dict__["device"] = asked

    def initialize(self) -> SkorchEstimator:
        """Build module, criterion, optimizer, callbacks and history; called by ``fit``."""
        with self._real_device():
            return super().initialize()

    def set_params(self, **params: Any) -> SkorchEstimator:
        """Set parameters; those of the optimizer are also kept for the next ``fit``."""
        # skorch would keep `augmenter__n_neighbors` as a parameter of its own instead of handing it on.
        nested = {key: value for key, value in params.items() if self._belongs_to_an_estimator(key, params)}
        for key in params:
            if key not in (*nested, *self._named_parameters()) and not self._is_for_skorch(key):
                raise ValueError(f"{type(self).__name__} has no parameter {key!r}.{self._guess(key)}")
        super().set_params(**{key: value for key, value in params.items() if key not in nested})
        for key, value in nested.items():
            name, _, rest = key.partition("__")
            getattr(self, name).set_params(**{rest: value})
        # On a fitted net skorch only writes into the running optimizer, and a refit would fall back to the old value.
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
