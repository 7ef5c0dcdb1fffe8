"""How often the best attacker names the original of a released token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._sequences import TokenSequences, check_sequences, check_tags
from ..exceptions import SequenceError
from ..text import split_tag
from .bayes_attack import Attack, bracket_attack, exact_attack, monte_carlo_attack, n_multisets, plug_in_attack

__all__ = ["CategoryReidentification", "Reidentification", "bayes_reidentification", "phi_word_prior"]

_MOST_MULTISETS = 50_000
_METHODS = ("auto", "exact", "monte carlo", "bracket", "plug-in")


@dataclass(frozen=True)
class CategoryReidentification:
    """What is given away of the tokens of one category.

    Attributes
    ----------
    probability, lower, upper : float
        Probability that the best attacker names the token, and its 95 % interval (no width where it is exact).
    worst_case : float or None
        The same for the most exposed token; None where it cannot be estimated without bias.
    prior_guess : float
        Probability of naming it without seeing the release: the share of the most frequent token.
    weight : float
        Share of the category among all tokens.
    n_tokens : int
        Distinct tokens.
    """

    probability: float
    lower: float
    upper: float
    worst_case: float | None
    prior_guess: float
    weight: float
    n_tokens: int


@dataclass(frozen=True)
class Reidentification:
    """Result of `bayes_reidentification`; figures only, no word.

    Attributes
    ----------
    probability, lower, upper, worst_case, prior_guess
        As for a category: the mean over the categories by their weights, and the largest worst case.
    by_category : mapping of str to CategoryReidentification
        One entry, "all", where the prior has no categories.
    n_releases : int
    method : {"exact", "monte carlo", "bracket", "plug-in"}
    n_samples : int
        Releases drawn for each category; 0 where the sum is exact.
    """

    probability: float
    lower: float
    upper: float
    worst_case: float | None
    prior_guess: float
    by_category: Mapping[str, CategoryReidentification]
    n_releases: int
    method: str
    n_samples: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def bayes_reidentification(
    mechanism: Any,
    prior: Mapping[str, Any],
    *,
    n_releases: int = 1,
    method: str = "auto",
    n_samples: int = 10_000,
    random_state: Any = None,
) -> Reidentification:
    """Probability that the best attacker names the original of a released token.

    The attacker knows the mechanism (vectors, N, noise), how frequent each token is, and the category of the released
    one, since labels are shared. He sees one release, or several independent releases of the same token (the overlap
    attack), and names the token with the largest posterior probability. No attacker who knows only this does better;
    one who also reads the sentence may.

    Parameters
    ----------
    mechanism : fitted transformer with ``mechanism_``, or a mechanism
        A mechanism has ``sample(tokens, rng)`` and may have ``probabilities(tokens)``, shape (n_tokens, n_releases), or
        ``log_likelihood(tokens, releases)``, shape (n_tokens, n_given).
    prior : mapping
        Token to weight, or category to such a mapping. `phi_word_prior` makes one. Weights need not add up to 1.
    n_releases : int, default=1
        k. In a corpus without ``coherence``, each occurrence of a name is a release of it.
    method : {"auto", "exact", "monte carlo", "bracket", "plug-in"}, default="auto"
        "exact" sums over all releases; "monte carlo" draws releases and averages the largest posterior probability;
        "bracket" gives the hits of one attacker and, as upper end of the interval, the success of the best one on a
        release that tells more (MADLIB: the noisy vector itself); "plug-in" draws an attacker's knowledge too, where
        nothing but draws is known, and encloses the truth as well.
        "auto" takes the first that is possible, "exact" with several releases only where there are at most 50,000
        combinations.
    n_samples : int, default=10,000
        Draws for each category.
    random_state : int or None, default=None

    Returns
    -------
    Reidentification

    Raises
    ------
    ValueError
        If the prior or a parameter is out of range, or the method does not fit the mechanism. Tokens are never named.

    References
    ----------
    Friedrich et al. (2019), section 9 (overlap attack). Smith (2009), On the foundations of quantitative information
    flow, FoSSaCS (Bayes vulnerability). Maurer & Pontil (2009), Empirical Bernstein bounds, COLT, theorem 4.

    Examples
    --------
    Two names that move to each other's neighbours cannot be told apart; their frequency decides.

    >>> import numpy as np
    >>> class Mix:
    ...     def probabilities(self, tokens):
    ...         return np.array([[0.5, 0.5, 0.0] if token != "oak" else [0.0, 0.0, 1.0] for token in tokens])
    >>> found = bayes_reidentification(Mix(), {"alder": 2, "birch": 1, "oak": 1})
    >>> found.probability, found.worst_case, found.prior_guess, found.method
    (0.75, 1.0, 0.5, 'exact')
    """
    mechanism = getattr(mechanism, "mechanism_", mechanism)
    if not isinstance(n_releases, (int, np.integer)) or n_releases < 1:
        raise ValueError(f"The 'n_releases' parameter must be an int of at least 1. Got {n_releases!r} instead.")
    if not isinstance(n_samples, (int, np.integer)) or n_samples < 100:
        raise ValueError(f"The 'n_samples' parameter must be an int of at least 100. Got {n_samples!r} instead.")
    categories = _categories(prior)
    chosen = _method(method, mechanism, categories, int(n_releases))
    rng = np.random.default_rng(random_state)
    found: dict[str, CategoryReidentification] = {}
    for name, (tokens, weights, share) in categories.items():
        attack = _attack(chosen, mechanism, tokens, weights, int(n_releases), int(n_samples), rng)
        found[name] = CategoryReidentification(
            attack.probability,
            attack.lower,
            attack.upper,
            attack.worst_case,
            float(weights.max()),
            share,
            len(tokens),
        )
    return _total(found, int(n_releases), chosen, 0 if chosen == "exact" else int(n_samples))


def phi_word_prior(X: Any, y: Any, *, punctuation: bool = False) -> dict[str, dict[str, int]]:
    """How often each PHI token occurs, by label: what an attacker who knows the frequencies knows at most.

    The result holds words of the notes and must not be shared.

    Parameters
    ----------
    X : sequence of n sentences
    y : sequence of n tag sequences
        IOB2 or BIOES.
    punctuation : bool, default=False
        Whether tokens without letter and digit count. They identify nobody, stay as they are, and would make every
        mechanism look worse than it is.

    Returns
    -------
    dict of str to dict of str to int
        Label, token, number of occurrences.

    Examples
    --------
    >>> phi_word_prior([["Dr", "Alder", "saw", "Alder"]], [["O", "B-DOCTOR", "O", "B-PATIENT"]])
    {'DOCTOR': {'Alder': 1}, 'PATIENT': {'Alder': 1}}
    """
    X = check_sequences(X)
    tags = check_tags(y, X)
    if not isinstance(X, TokenSequences) and len(X.data):
        raise SequenceError("X must hold words; it holds vectors.")
    label_of = {tag: split_tag(tag)[1] for tag in set(tags.data)}
    out: dict[str, dict[str, int]] = {}
    for token, tag in zip(X.data, tags.data, strict=True):
        label = label_of[tag]
        if label is not None and (punctuation or any(map(str.isalnum, token))):
            counts = out.setdefault(label, {})
            counts[token] = counts.get(token, 0) + 1
    return dict(sorted(out.items()))


def _categories(prior: Any) -> dict[str, tuple[list[str], np.ndarray, float]]:
    """Tokens, probabilities and share of each category."""
    if not isinstance(prior, Mapping) or not prior:
        raise ValueError("The 'prior' parameter must map tokens to weights, or categories to such mappings.")
    nested = [isinstance(value, Mapping) for value in prior.values()]
    if any(nested) and not all(nested):
        raise ValueError("The 'prior' parameter mixes weights and mappings.")
    groups: Mapping[str, Any] = prior if all(nested) else {"all": prior}
    weights = {name: np.array(list(group.values()), dtype=np.float64) for name, group in groups.items()}
    for values in weights.values():
        if not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
            raise ValueError("Weights of the 'prior' must be finite, at least 0, and not all 0 in a category.")
    total = sum(values.sum() for values in weights.values())
    out = {}
    for name, group in groups.items():
        positive = weights[name] > 0
        tokens = [token for token, keep in zip(group, positive.tolist(), strict=True) if keep]
        values = weights[name][positive]
        out[name] = (tokens, values / values.sum(), float(values.sum() / total))
    return out


def _method(method: str, mechanism: Any, categories: dict, n_releases: int) -> str:
    if method not in _METHODS:
        raise ValueError(f"The 'method' parameter must be one of {_METHODS}. Got {method!r} instead.")
    exact, density = hasattr(mechanism, "probabilities"), hasattr(mechanism, "log_likelihood")
    if method == "exact" and not exact:
        raise ValueError("method='exact' needs a mechanism with known probabilities.")
    if method == "monte carlo" and not (exact or density):
        raise ValueError("method='monte carlo' needs a mechanism with known probabilities or densities.")
    if method == "bracket" and not hasattr(mechanism, "bracket"):
        raise ValueError("method='bracket' needs a mechanism that names two which enclose it.")
    if method != "auto":
        return method
    if not exact:
        return "monte carlo" if density else "bracket" if hasattr(mechanism, "bracket") else "plug-in"
    if n_releases == 1:
        return "exact"
    combinations = max(n_multisets(mechanism, tokens, n_releases) for tokens, _, _ in categories.values())
    return "exact" if combinations <= _MOST_MULTISETS else "monte carlo"


def _attack(
    method: str,
    mechanism: Any,
    tokens: Sequence[str],
    prior: np.ndarray,
    n_releases: int,
    n_samples: int,
    rng: np.random.Generator,
) -> Attack:
    if method == "exact":
        return exact_attack(mechanism, tokens, prior, n_releases)
    draw = {"monte carlo": monte_carlo_attack, "bracket": bracket_attack, "plug-in": plug_in_attack}
    return draw[method](mechanism, tokens, prior, n_releases, n_samples, rng)


def _total(
    found: dict[str, CategoryReidentification], n_releases: int, method: str, n_samples: int
) -> Reidentification:
    def mean(name: str) -> float:
        return float(sum(c.weight * getattr(c, name) for c in found.values()))

    worst = [c.worst_case for c in found.values() if c.worst_case is not None]
    return Reidentification(
        mean("probability"),
        mean("lower"),
        mean("upper"),
        max(worst) if len(worst) == len(found) else None,
        mean("prior_guess"),
        found,
        n_releases,
        method,
        n_samples,
    )
