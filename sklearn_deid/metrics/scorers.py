"""Scorers of tag sequences for ``scoring=``. The scorers of scikit-learn do not accept ragged y.

scikit-learn accepts its own scorers by name and all other scorers as objects: ``scoring=get_scorer("phi_f1")``.
scikit-learn has no public way to register a name. An entry in scikit-learn's private table of scorers has no effect,
because `GridSearchCV` and `cross_val_score` fix the list of accepted names at import (version 1.9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.metrics import make_scorer

from .._parameters import check_parameter
from .sequences import check_options, phi_f1_score, phi_precision_score, phi_recall_score

_FUNCTIONS = {"f1": phi_f1_score, "precision": phi_precision_score, "recall": phi_recall_score}


def make_phi_scorer(
    measure: str = "f1",
    *,
    average: str = "micro",
    level: str = "span",
    binary: bool = False,
    labels: Iterable[str] | None = None,
) -> Callable[..., float]:
    """Make a scorer for ``GridSearchCV(scoring=...)``, ``cross_validate`` and similar functions.

    Parameters
    ----------
    measure : {"f1", "precision", "recall"}, default="f1"
        Score to compute.
    average : {"micro", "macro"}, default="micro"
    level : {"span", "token"}, default="span"
    binary : bool, default=False
    labels : iterable of str, optional
        The parameters ``average``, ``level``, ``binary`` and ``labels`` have the same meaning as in `phi_f1_score`.

    Returns
    -------
    callable
        Scorer with the signature ``scorer(estimator, X, y) -> float``. The scorer can be pickled, so that ``n_jobs``
        works.

    Raises
    ------
    ValueError
        If a parameter has a value that is not listed above. The check runs when you make the scorer, because an error
        inside a grid search would only appear as a score of NaN, possibly after hours.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_deid import DeidTagger
    >>> search = GridSearchCV(DeidTagger(), {"lr": [1e-3, 3e-3]}, scoring=make_phi_scorer("recall", binary=True))
    """
    check_parameter("make_phi_scorer", "measure", measure, measure in _FUNCTIONS, f"one of {sorted(_FUNCTIONS)}")
    if average is None:
        raise ValueError(
            "The 'average' parameter of make_phi_scorer must be 'micro' or 'macro'. Got None instead. A scorer returns "
            "one number."
        )
    check_options(average, level, labels)
    options: dict[str, Any] = {"average": average, "level": level, "binary": binary}
    # An iterator would be exhausted after the first call of the scorer, so the labels are copied.
    return make_scorer(_FUNCTIONS[measure], **options, labels=None if labels is None else frozenset(labels))


_VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "macro_": {"average": "macro"},
    "binary_": {"binary": True},
    "token_": {"level": "token"},
    "binary_token_": {"level": "token", "binary": True},
}

PHI_SCORERS: dict[str, Callable[..., float]] = {
    f"phi_{prefix}{measure}": make_phi_scorer(measure, **options)
    for prefix, options in _VARIANTS.items()
    for measure in _FUNCTIONS
}
"""Ready scorers by name, such as ``PHI_SCORERS["phi_binary_token_recall"]``."""


def get_scorer(name: str) -> Callable[..., float]:
    """Predefined scorer by name, for ``scoring=``.

    Parameters
    ----------
    name : str
        Key of `PHI_SCORERS`. A name consists of ``phi_``, an optional variant (``macro_``, ``binary_``, ``token_`` or
        ``binary_token_``) and ``f1``, ``precision`` or ``recall``.

    Returns
    -------
    callable
        Scorer with the signature ``scorer(estimator, X, y) -> float``.

    Raises
    ------
    ValueError
        If there is no scorer of this name; the message lists the names.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn_deid import DeidTagger
    >>> from sklearn_deid.metrics import get_scorer
    >>> search = GridSearchCV(DeidTagger(), {"lr": [1e-3, 3e-3]}, scoring=get_scorer("phi_binary_token_recall"))
    """
    check_parameter("get_scorer", "name", name, name in PHI_SCORERS, f"one of {sorted(PHI_SCORERS)}")
    return PHI_SCORERS[name]
