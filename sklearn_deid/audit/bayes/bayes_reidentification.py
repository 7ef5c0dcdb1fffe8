"""Probability that the best attacker names the original of a released token."""

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
    """Re-identification of the tokens of one category.

    Attributes
    ----------
    probability : Estimate
        Probability that the best attacker names the token. If the result is exact, the interval has zero width.
    worst_case : float or None
        Probability that the best attacker names the most exposed token. With "monte carlo" the most exposed token is
        chosen on some draws and estimated on others, so that the estimate is on average no larger than the truth. With
        "bracket" and "plug-in" the value is None: their attackers are not the best ones, and the success of a weaker
        attacker on one token bounds nothing.
    prior_guess : float
        Probability that a guess without the release is right. This is the proportion of the most frequent token.
    weight : float
        Proportion of the category among all tokens.
    n_tokens : int
        Number of distinct tokens.
    """

    probability: Estimate
    worst_case: float | None
    prior_guess: float
    weight: float
    n_tokens: int


@dataclass(frozen=True)
class Reidentification:
    """Result of `bayes_reidentification`: numbers only, without any word.

    Attributes
    ----------
    probability, prior_guess
        Mean over the categories, weighted by the proportions of the categories.
    worst_case
        Largest worst case of the categories; None if a category has none. With "monte carlo" this value is the largest
        of one estimate per category, and may be slightly too large.
    by_category : mapping of str to CategoryReidentification
        Result of each category. If the prior has no categories, the only entry is "all".
    n_releases : int
        Number of releases of each token.
    method : {"exact", "monte carlo", "bracket", "plug-in"}
        Method of the computation.
    n_samples : int
        Number of drawn releases for each category; 0 with "exact".
    """

    probability: Estimate
    worst_case: float | None
    prior_guess: float
    by_category: Mapping[str, CategoryReidentification]
    n_releases: int
    method: str
    n_samples: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON. Each probability becomes ``probability``, ``lower`` and ``upper``."""
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

    The attacker knows the mechanism (vectors, N, noise), the frequency of each token, and the category of the released
    token, because labels are shared. They see one release, or several independent releases of the same token (the
    overlap attack). They name the token with the largest posterior probability. No attacker with the same knowledge
    succeeds more often. An attacker who also reads the sentence may succeed more often.

    Parameters
    ----------
    mechanism : fitted transformer with ``mechanism_``, or a mechanism
        A mechanism has ``sample(tokens, rng)``. A mechanism may also have ``probabilities(tokens)``, shape
        (n_tokens, n_releases), or ``log_likelihood(tokens, releases)``, shape (n_tokens, n_given).
    prior : mapping
        Mapping of tokens to weights, or of categories to such mappings. Use `phi_word_prior` to build the mapping. The
        weights need not add up to 1.
    n_releases : int, default=1
        Number k of releases of each token. In a corpus without ``coherence``, each occurrence of a name is one release.
    method : {"auto", "exact", "monte carlo", "bracket", "plug-in"}, default="auto"
        Method of the computation. "exact" sums over all releases. "monte carlo" draws releases and averages the largest
        posterior probability. "bracket" returns the success of one attacker; the upper end of the interval comes from
        the best attacker on a more informative release (for MADLIB the noisy vector itself). "plug-in" is for
        mechanisms from which you can only draw: an attacker learns the mechanism from draws, and the interval also
        contains the success of the best attacker. "auto" takes the first possible method in this order, and "monte
        carlo" if "exact" would sum over too many combinations.
    n_samples : int, default=10,000
        Number of draws for each category.
    random_state : int or None, default=None
        Random seed of the draws.
    max_combinations : int, default=50,000
        Largest number of combinations (multisets) of several releases over which "exact" sums.
    max_block_mib : float, default=256
        Memory in MiB of the arrays in one step. The mechanism's own memory is additional.

    Returns
    -------
    Reidentification
        Result with intervals. All intervals, those of the categories and of the mean, hold together with a probability
        of at least 95 %, for any number of draws. "monte carlo" and both ends of "bracket" use empirical Bernstein
        bounds. "plug-in" uses Clopper and Pearson's bound below and McDiarmid's inequality above; the upper bound is 1
        for several releases.

    Raises
    ------
    ValueError
        If the prior or a parameter is out of range, the method does not fit the mechanism, or the mechanism returns
        invalid probabilities. The message never contains a token.
    TypeError
        If the method needs draws and the mechanism cannot draw releases.

    References
    ----------
    Friedrich et al. (2019), section 9 (overlap attack). Smith (2009), On the foundations of quantitative information
    flow, FoSSaCS (Bayes vulnerability). Maurer & Pontil (2009), Empirical Bernstein bounds, COLT, theorem 4. McDiarmid
    (1989), On the method of bounded differences. Clopper & Pearson (1934), Biometrika 26(4).

    Examples
    --------
    Two names that are replaced by each other's neighbours cannot be told apart; the attacker names the more frequent.

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
        # Each category takes an equal part of delta, so that all intervals and their mean hold together (Bonferroni).
        tokens, weights, _ = categories[name]
        return Target(mechanism, tokens, weights, int(n_releases), delta / len(categories), max_bytes)

    chosen = _method(method, mechanism, map(target, categories), int(n_releases), int(max_combinations))
    rng = np.random.default_rng(random_state)
    found: dict[str, CategoryReidentification] = {}
    for name, (tokens, weights, share) in categories.items():
        # All categories draw from one random stream; each category has a Target of its own, which keeps its own table.
        attack = _attack(chosen, target(name), int(n_samples), rng)
        found[name] = CategoryReidentification(*attack, float(weights.max()), share, len(tokens))
    return _total(found, int(n_releases), chosen, 0 if chosen == "exact" else int(n_samples))


def _check_numbers(**parameters: tuple[Any, int]) -> None:
    """Check that each parameter is an int of at least a smallest value."""
    for name, (value, least) in parameters.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ValueError(f"The '{name}' parameter must be an int of at least {least}. Got {value!r} instead.")


def _method(method: str, mechanism: Any, targets: Iterable[Target], n_releases: int, max_combinations: int) -> str:
    """Choose the method, and check that the mechanism supports this method."""
    if method not in _METHODS:
        raise ValueError(f"The 'method' parameter must be one of {_METHODS}. Got {method!r} instead.")
    exact, density = hasattr(mechanism, "probabilities"), hasattr(mechanism, "log_likelihood")
    needed = {"exact": exact, "monte carlo": exact or density, "bracket": hasattr(mechanism, "bracket")}
    for name, what in _NEEDS.items():
        if method == name and not needed[name]:
            raise ValueError(f"method='{name}' needs a mechanism {what}.")
    # The order of ``needed`` is the order of preference: exact sums before draws, draws before an enclosure.
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
    """Run the attack of a method."""
    if method == "exact":
        return exact_attack(target)
    draw = {"monte carlo": monte_carlo_attack, "bracket": bracket_attack, "plug-in": plug_in_attack}
    return draw[method](target, n_samples, rng)


def _total(
    found: dict[str, CategoryReidentification], n_releases: int, method: str, n_samples: int
) -> Reidentification:
    """Combine the categories by their weights."""
    # A worst case over the categories exists only if every category has one.
    worst = [c.worst_case for c in found.values() if c.worst_case is not None]
    ends = ("value", "low", "high")
    value, low, high = (float(sum(c.weight * getattr(c.probability, end) for c in found.values())) for end in ends)
    return Reidentification(
        # Rounding of the sums must not put the mean outside its interval.
        Estimate(value, min(low, value), max(high, value), n_samples),
        max(worst) if len(worst) == len(found) else None,
        float(sum(c.weight * c.prior_guess for c in found.values())),
        found,
        n_releases,
        method,
        n_samples,
    )


def _flat(found: Any) -> dict[str, Any]:
    """Return the fields by name, with the probability as three numbers."""
    of, names = found.probability, [f.name for f in fields(found) if f.name != "probability"]
    rest = {name: getattr(found, name) for name in names}
    return {"probability": of.value, "lower": of.low, "upper": of.high, **rest}
