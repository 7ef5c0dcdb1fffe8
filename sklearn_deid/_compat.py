"""The only file that uses private names of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.metaestimators import _BaseComposition

__all__ = [
    "BaseSearchCV",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "NamedEstimators",
    "StrOptions",
    "check_constraints",
    "unfitted_if_failed",
]


def check_constraints(estimator: Any) -> None:
    """Raise scikit-learn's InvalidParameterError for the first parameter that violates ``_parameter_constraints``."""
    constraints = estimator._parameter_constraints
    values = {name: getattr(estimator, name) for name in constraints}
    validate_parameter_constraints(constraints, values, caller_name=type(estimator).__name__)


@contextmanager
def unfitted_if_failed(estimator: Any) -> Iterator[None]:
    """Delete the fitted attributes if the block raises: the attributes would otherwise come from two different fits.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> estimator = SimpleNamespace(threshold_=0.5, bias=1.0)
    >>> try:
    ...     with unfitted_if_failed(estimator):
    ...         raise ValueError
    ... except ValueError:
    ...     print(estimator)
    namespace(bias=1.0)
    """
    has_ended = False
    try:
        yield
        has_ended = True
    finally:
        if not has_ended:
            for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
                delattr(estimator, name)


def with_objects(
    estimator: Any, parameters: Mapping[str, Any], long_forms: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any]:
    """Return parameters for ``set_params``; if a nested parameter is set, a short form becomes a settings object.

    For example, ``dropout__input=0.1`` needs a `Dropout` object, even if the tagger has ``dropout="auto"``.

    Parameters
    ----------
    estimator : estimator
        Estimator whose current values are used for all parameters that ``parameters`` does not set.
    parameters : mapping of str to object
        Parameters to set.
    long_forms : mapping of str to callable
        For each parameter that accepts settings objects: function that returns the object of a short form, and any
        other value unchanged.

    Raises
    ------
    ValueError
        If a nested parameter belongs to a value without settings.
    """
    out = dict(parameters)
    for key in parameters:
        name, dunder, setting = key.partition("__")
        if not dunder or name not in long_forms:
            continue
        value = out.get(name, getattr(estimator, name))
        long_form = long_forms[name](value)
        if not hasattr(long_form, "set_params"):
            raise ValueError(
                f"The '{name}' parameter of {type(estimator).__name__} has no setting {setting!r}. Got {value!r}. "
                f"Set '{name}' to an object with this setting."
            )
        # scikit-learn changes objects of the user in place. A short form becomes a new object of this estimator.
        if long_form is not value:
            out[name] = long_form
    return out


class NamedEstimators(_BaseComposition):
    """Estimator with a list of named estimators in ``estimators``. Their parameters can be set as ``name__parameter``.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger, VotingTagger
    >>> VotingTagger([("rules", RuleTagger())]).get_params()["rules__language"] is None
    True
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator; with ``deep`` also the named estimators and their parameters."""
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> NamedEstimators:
        """Set parameters of the estimator, whole estimators by name, and their parameters as ``name__parameter``."""
        self._set_params("estimators", **params)
        return self
