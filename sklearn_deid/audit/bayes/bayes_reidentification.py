"""How often the best attacker names the original of a released token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from ...metrics import Estimate, normalised_prior
from .bayes_attack import Attack, Target, bracket_attack, monte_carlo_attack
from .bayes_exact import exact_attack, n_multisets
from .bayes_plug_in import plug_in_attack

_DELTA = 0.05
_METHODS = ("auto", "exact", "monte carlo", "bracket", "plug-in")
_NEEDS = {
    "exact": "with known probabilities",
    "monte carlo": "with known probabilities or densities",
    "bracket": "that names two which enclose it",
}


@dataclass(frozen=True)
class CategoryReidentification:
    """What is given away of the tokens of one category.

    Attributes
    ----------
    probability : Estimate
        Probability that the best attacker names the token; its interval has no width where it is exact.
    worst_case : float or None
        The same for the most exposed token. By Monte Carlo an estimate for the token that seemed most exposed in other
        draws, hence on average no more than the truth. None for "bracket" and "plug-in": their attacker is not the
        best one, so that what they attain on one token bounds nothing.
    prior_guess : float
        Probability of naming it without seeing the release: the share of the most frequent token.
    weight : float
        Share of the category among all tokens.
    n_tokens : int
        Distinct tokens.
    """

    probability: Estimate
    worst_case: float | None
    prior_guess: float
    weight: float
    n_tokens: int


@dataclass(frozen=True)
class Reidentification:
    """Result of `bayes_reidentification`; figures only, no word.

    Attributes
    ----------
    probability, worst_case, prior_guess
        As for a category: the mean over the categories by their weights, and the largest worst case, None where a
        category has none. By Monte Carlo that is the largest of one estimate a category, which may be a little large.
    by_category : mapping of str to CategoryReidentification
        One entry, "all", where the prior has no categories.
    n_releases : int
    method : {"exact", "monte carlo", "bracket", "plug-in"}
    n_samples : int
        Releases drawn for each category; 0 where the sum is exact.
    """

    probability: Estimate
    worst_case: float | None
    prior_guess: float
    by_category: Mapping[str, CategoryReidentification]
    n_releases: int
    method: str
    n_samples: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: each probability as ``probability``, ``lower`` and ``upper``."""
        by_category = {name: _flat(category) for name, category in self.by_category.items()}
        return {**_flat(self), "by_category": by_category}


def bayes_reidentification(
    mechanism: Any,
    prior: Mapping[str, Any],
    *,
    n_releases: int = 1,
    method: str = "auto",
    n_samples: int = 10_000,
    random_state: Any = None,
    max_combinations: int = 50_000,
    max_block_mib: float = 256,
) -> Reidentification:
    """Probability that the best attacker names the original of a released token.

    The attacker knows the mechanism (vectors, N, noise), how frequent each token is, and the category of the released
    one, since labels are shared. They see one release, or several independent releases of the same token (the overlap
    attack), and name the token with the largest posterior probability. No attacker who knows only this does better;
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
        "auto" takes the first that is possible, and "monte carlo" where there are too many combinations.
    n_samples : int, default=10,000
        Draws for each category.
    random_state : int or None, default=None
    max_combinations : int, default=50,000
        Most combinations (multisets) of several releases that "exact" sums over.
    max_block_mib : float, default=256
        Memory in MiB of the arrays that are made at once; what the mechanism needs to make them comes on top.

    Returns
    -------
    Reidentification
        Its intervals hold with a probability of at least 95 %, all categories and the mean at once, however many draws
        there are: empirical Bernstein bounds for Monte Carlo and for both ends of "bracket"; for "plug-in" Clopper and
        Pearson's below and McDiarmid's inequality above, which is 1 for several releases.

    Raises
    ------
    ValueError
        If the prior or a parameter is out of range, the method does not fit the mechanism, or what the mechanism gives
        are no probabilities. Tokens are never named.
    TypeError
        If releases are needed and the mechanism cannot draw them.

    References
    ----------
    Friedrich et al. (2019), section 9 (overlap attack). Smith (2009), On the foundations of quantitative information
    flow, FoSSaCS (Bayes vulnerability). Maurer & Pontil (2009), Empirical Bernstein bounds, COLT, theorem 4. McDiarmid
    (1989), On the method of bounded differences. Clopper & Pearson (1934), Biometrika 26(4).

    Examples
    --------
    Two names that move to each other's neighbours cannot be told apart; their frequency decides.

    >>> import numpy as np
    >>> class Mix:
    ...     def probabilities(self, tokens):
    ...         return np.array([[0.5, 0.5, 0.0] if token != "oak" else [0.0, 0.0, 1.0] for token in tokens])
    >>> found = bayes_reidentification(Mix(), {"alder": 2, "birch": 1, "oak": 1})
    >>> found.probability.value, found.worst_case, found.prior_guess, found.method
    (0.75, 1.0, 0.5, 'exact')
    """
    mechanism = getattr(mechanism, "mechanism_", mechanism)
    _check_numbers(n_releases=(n_releases, 1), n_samples=(n_samples, 100), max_combinations=(max_combinations, 1))
    if not isinstance(max_block_mib, Real) or not 0 < max_block_mib < np.inf:
        raise ValueError(f"The 'max_block_mib' parameter must be a number above 0. Got {max_block_mib!r} instead.")
    delta, max_bytes = _DELTA, int(max_block_mib * 2**20)
    categories = normalised_prior(prior)

    def target(name: str) -> Target:
        # All intervals hold at once, and with them their mean (Bonferroni).
        tokens, weights, _ = categories[name]
        return Target(mechanism, tokens, weights, int(n_releases), delta / len(categories), max_bytes)

    chosen = _method(method, mechanism, map(target, categories), int(n_releases), int(max_combinations))
    rng = np.random.default_rng(random_state)
    found: dict[str, CategoryReidentification] = {}
    for name, (tokens, weights, share) in categories.items():
        attack = _attack(chosen, target(name), int(n_samples), rng)
        found[name] = CategoryReidentification(*attack, float(weights.max()), share, len(tokens))
    return _total(found, int(n_releases), chosen, 0 if chosen == "exact" else int(n_samples))


def _check_numbers(**parameters: tuple[Any, int]) -> None:
    for name, (value, least) in parameters.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ValueError(f"The '{name}' parameter must be an int of at least {least}. Got {value!r} instead.")


def _method(method: str, mechanism: Any, targets: Iterable[Target], n_releases: int, max_combinations: int) -> str:
    if method not in _METHODS:
        raise ValueError(f"The 'method' parameter must be one of {_METHODS}. Got {method!r} instead.")
    exact, density = hasattr(mechanism, "probabilities"), hasattr(mechanism, "log_likelihood")
    needed = {"exact": exact, "monte carlo": exact or density, "bracket": hasattr(mechanism, "bracket")}
    for name, what in _NEEDS.items():
        if method == name and not needed[name]:
            raise ValueError(f"method='{name}' needs a mechanism {what}.")
    chosen = method if method != "auto" else next((name for name, fits in needed.items() if fits), "plug-in")
    if chosen == "exact" and n_releases > 1:
        combinations = max(n_multisets(target, max_combinations) for target in targets)
        if combinations > max_combinations and method == "exact":
            raise ValueError(
                f"method='exact' sums over more than the {max_combinations} combinations of {n_releases} releases that "
                "'max_combinations' allows. Use method='monte carlo', or a larger 'max_combinations'."
            )
        chosen = "exact" if combinations <= max_combinations else "monte carlo"
    if chosen != "exact" and not hasattr(mechanism, "sample"):
        raise TypeError(
            "The 'mechanism' parameter must be a fitted transformer with 'mechanism_', or a mechanism with 'sample' "
            f"unless its sum is exact. Got {type(mechanism).__name__} instead."
        )
    return chosen


def _attack(method: str, target: Target, n_samples: int, rng: np.random.Generator) -> Attack:
    if method == "exact":
        return exact_attack(target)
    draw = {"monte carlo": monte_carlo_attack, "bracket": bracket_attack, "plug-in": plug_in_attack}
    return draw[method](target, n_samples, rng)


def _total(
    found: dict[str, CategoryReidentification], n_releases: int, method: str, n_samples: int
) -> Reidentification:
    worst = [c.worst_case for c in found.values() if c.worst_case is not None]
    ends = ("value", "low", "high")
    value, low, high = (float(sum(c.weight * getattr(c.probability, end) for c in found.values())) for end in ends)
    return Reidentification(
        # rounding of the sums must not put the mean outside
        Estimate(value, min(low, value), max(high, value), n_samples),
        max(worst) if len(worst) == len(found) else None,
        float(sum(c.weight * c.prior_guess for c in found.values())),
        found,
        n_releases,
        method,
        n_samples,
    )


def _flat(found: Any) -> dict[str, Any]:
    """Fields by name, the probability as three numbers."""
    of, names = found.probability, [f.name for f in fields(found) if f.name != "probability"]
    rest = {name: getattr(found, name) for name in names}
    return {"probability": of.value, "lower": of.low, "upper": of.high, **rest}
