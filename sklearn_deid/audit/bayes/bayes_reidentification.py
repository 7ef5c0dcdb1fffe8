"""Probability that the best attacker guesses the original of a released token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import combinations, islice
from math import comb, log, sqrt
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import gammaln

from ...metrics import Estimate, normalised_prior
from ...metrics.intervals import exact_interval
from .bayes_attack import LOG_TIE, Attack, Target, bracket_attack, monte_carlo_attack

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
        Probability that the best attacker guesses the token. If the result is exact, the interval has zero width.
    worst_case : float or None
        Probability that the best attacker guesses the most exposed token. With "monte carlo", some draws choose the
        most exposed token, and other draws estimate its probability. The estimate is therefore, on average, not larger
        than the true value. With "bracket" and "plug-in" the value is None, because the success of a weaker attacker on
        one token is no bound.
    prior_guess : float
        Probability that a guess without the release is right. This probability is the proportion of the most frequent
        token.
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
        Largest worst case of the categories; None if the worst case of a category is None. With "monte carlo" this
        value is the maximum of one estimate per category, and may be slightly too large.
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
    """Probability that the best attacker guesses the original of a released token.

    The attacker knows the mechanism (vectors, N, noise), the frequency of each token, and the category of the released
    token, because labels are shared. The attacker sees one release, or several independent releases of the same token
    (the overlap attack), and guesses the token with the largest posterior probability. No attacker with the same
    knowledge succeeds more often. An attacker who also reads the sentence may succeed more often.

    Parameters
    ----------
    mechanism : fitted transformer with ``mechanism_``, or a mechanism
        A mechanism has ``sample(tokens, rng)``. A mechanism may also have ``probabilities(tokens)``, shape
        (n_tokens, n_releases), or ``log_likelihood(tokens, releases)``, shape (n_tokens, n_given).
    prior : mapping
        Mapping of tokens to weights, or mapping of categories to mappings of tokens to weights. Use `phi_word_prior` to
        build the mapping. The weights need not add up to 1.
    n_releases : int, default=1
        Number k of releases of each token. In a corpus without ``coherence``, each occurrence of a name is one release.
    method : {"auto", "exact", "monte carlo", "bracket", "plug-in"}, default="auto"
        Method of the computation. "exact" sums over all releases. "monte carlo" draws releases and averages the largest
        posterior probability. "bracket" returns the success of one attacker; the upper end of the interval comes from
        the best attacker on a more informative release (for MADLIB the noisy vector itself). "plug-in" is for
        mechanisms from which you can only draw: an attacker learns the mechanism from draws, and the interval also
        contains the success of the best attacker. "auto" takes the first possible method in the order of this list, but
        "monte carlo" instead of "exact" if "exact" would sum over too many combinations.
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
        Result with intervals. All intervals, of the categories and of the mean, hold together with a probability of at
        least 95 %, for any number of draws. "monte carlo" and both ends of "bracket" use empirical Bernstein bounds.
        "plug-in" uses the Clopper-Pearson interval for the lower bound and McDiarmid's inequality for the upper bound;
        the upper bound is 1 for several releases.

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
    Two names that are neighbours and replace each other; the attacker guesses the more frequent name.

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
    """Check that each parameter is an int and not below its smallest value."""
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


_TIE = 1e-12
_MULTISETS_AT_ONCE = 4096


def n_multisets(target: Target, enough: int) -> int:
    """Number of multisets of releases. The count stops as soon as the number exceeds ``enough``."""
    columns: set[int] = set()
    found = 0
    for _, block in target.blocks:
        columns.update(np.unique(block.indices).tolist())
        found = comb(len(columns) + target.n_releases - 1, target.n_releases)
        if found > enough:
            break
    return found


def exact_attack(target: Target) -> Attack:
    """Sum the largest joint probability over all releases, ``sum_r max_w prior(w) P(r | w)``."""
    value, worst = _exact_several(target) if target.n_releases > 1 else _exact_one(target)
    return Attack(Estimate.exact(min(1.0, value)), min(1.0, worst))


def _exact_one(target: Target) -> tuple[float, float]:
    """Success over all tokens and on the most exposed token.

    The function reads the table three times: for the largest joint probability of each release, for the number of ties,
    and for the proportion of each tied token.
    """
    prior, blocks = target.prior, target.blocks
    best = np.zeros(0)
    for part, block in blocks:
        best = best if len(best) else np.zeros(block.shape[1])
        np.maximum.at(best, block.indices, block.data * prior[part][_row_of(block)])
    ties = np.zeros(len(best))
    for part, block in blocks:
        ties += np.bincount(block.indices[_is_best(block, prior[part], best)], minlength=len(best))
    worst = 0.0
    for part, block in blocks:
        hit = _is_best(block, prior[part], best)
        share = block.data[hit] / ties[block.indices[hit]]
        worst = max(worst, float(np.bincount(_row_of(block)[hit], weights=share, minlength=1).max()))
    return float(best.sum()), worst


def _row_of(block: csr_array) -> np.ndarray:
    """Row of each stored entry."""
    return np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))


def _is_best(block: csr_array, prior: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Whether each stored entry is the largest of its column, ties included."""
    joint = block.data * prior[_row_of(block)]
    return (joint > 0) & (joint >= best[block.indices] * (1 - _TIE))


def _exact_several(target: Target) -> tuple[float, float]:
    """Success over all tokens and on the most exposed token, for several releases.

    The order of the releases contains no information. The function therefore counts each multiset of releases once, and
    multiplies its probability by the number of its orders.
    """
    whole = [block for _, block in target.blocks]
    columns = np.unique(np.concatenate([block.indices for block in whole]))
    # shape: (n_tokens, n_columns)
    table = np.concatenate([block[:, columns].toarray() for block in whole])
    # A separate mask for zero probabilities, because 0 * log(0) would be NaN in the products below.
    impossible = (table == 0).astype(np.float64)
    logs = np.log(np.where(table > 0, table, 1.0))
    with np.errstate(divide="ignore"):
        log_prior = np.log(target.prior)[:, None]
    total, success = 0.0, np.zeros(len(table))
    for counts in _multisets(len(columns), target.n_releases, target.rows_of(5 * len(table) + 3 * len(columns))):
        # Multinomial coefficient: number of orders of a multiset. shape: (n_multisets,)
        orders = gammaln(target.n_releases + 1) - gammaln(counts + 1.0).sum(axis=1)
        # In logarithms, because products of many probabilities underflow and numbers of orders overflow.
        # shape: (n_tokens, n_multisets)
        likelihood = np.where(impossible @ counts.T > 0, -np.inf, logs @ counts.T + orders)
        joint = likelihood + log_prior
        largest = joint.max(axis=0)
        named = np.isfinite(joint) & (joint >= largest - LOG_TIE)
        total += float(np.exp(largest).sum())
        # Tied tokens are named equally often.
        success += (np.where(named, np.exp(likelihood), 0.0) / np.maximum(named.sum(axis=0), 1)).sum(axis=1)
    return total, float(success.max())


def _multisets(n_columns: int, n_releases: int, at_once: int) -> Iterator[np.ndarray]:
    """Counts of each column in all multisets, a batch at a time; shape (n_multisets, n_columns)."""
    # Stars and bars: n_columns - 1 bars among the releases cut them into the counts.
    n_places = n_releases + n_columns - 1
    bars = combinations(range(n_places), n_columns - 1)
    at_once = min(at_once, _MULTISETS_AT_ONCE)
    while chosen := list(islice(bars, at_once)):
        cuts = np.array(chosen, dtype=np.int64).reshape(len(chosen), n_columns - 1)
        ends = np.full((len(chosen), 1), n_places)
        yield (np.diff(np.hstack([np.full_like(ends, -1), cuts, ends]), axis=1) - 1).astype(np.float64)


_SAMPLES_AT_ONCE = 20_000


def plug_in_attack(target: Target, n_samples: int, rng: np.random.Generator) -> Attack:
    """Success of an attacker who learns the mechanism from draws, and an upper bound for every attacker.

    The success of this attacker on new draws is a lower bound for the best attacker (interval of Clopper and Pearson).
    The success of this attacker on the training draws is too large on average, because the mean of a maximum is at
    least the maximum of the means. For one release, McDiarmid's inequality turns this success into an upper bound. For
    several releases the upper bound is 1.
    """
    prior, guess = target.prior, float(target.prior.max())
    learned = max(20, n_samples // 10)
    table = _estimated(target, learned, rng)
    truth = rng.choice(len(target.tokens), size=n_samples, p=prior)
    hits = 0
    at_once = min(_SAMPLES_AT_ONCE, target.rows_of(4 * len(target.tokens)))
    for start in range(0, n_samples, at_once):
        part = truth[start : start + at_once]
        hits += int((_guesses(target, table, part, rng) == part).sum())
    low, _ = exact_interval(hits, n_samples, 1 - target.delta)
    upper = 1.0
    if target.n_releases == 1:
        # Replacing one draw of a token with prior p changes the sum by at most p / learned (McDiarmid's condition).
        resubstituted = float(table.multiply(prior[:, None]).tocsr().max(axis=0).sum())
        upper = resubstituted + sqrt(log(2 / target.delta) / 2 * float((prior**2).sum()) / learned)
    # A guess without the release is right with the largest prior, and the best attacker is no worse.
    value = max(guess, hits / n_samples)
    return Attack(Estimate(value, max(guess, low), min(1.0, max(upper, value)), n_samples), None)


def _draw(target: Target, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw releases, and check that the mechanism numbers its releases."""
    drawn = np.asarray(target.draw(truth, rng))
    if drawn.ndim != 1 or drawn.dtype.kind not in "iu" or (drawn < 0).any():
        raise ValueError(
            "method='plug-in' needs a mechanism whose releases are numbers of at least 0. For vectors, give the "
            "mechanism a 'log_likelihood' and use method='monte carlo'."
        )
    return drawn


def _estimated(target: Target, each: int, rng: np.random.Generator) -> csr_array:
    """Proportion of each release among ``each`` draws of each token."""
    rows, columns = [], []
    n_tokens, at_once = len(target.tokens), max(1, _SAMPLES_AT_ONCE // each)
    for start in range(0, n_tokens, at_once):
        truth = np.repeat(np.arange(start, min(start + at_once, n_tokens)), each)
        rows.append(truth)
        columns.append(_draw(target, truth, rng))
    row, column = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.full(len(row), 1 / each), (row, column)), shape=(n_tokens, int(column.max()) + 1)).tocsr()


def _guesses(target: Target, table: csr_array, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the most likely token under the learned table. A release that was never drawn is ignored."""
    # shape: (n_tokens, n_samples)
    score = np.tile(np.log(np.maximum(target.prior, 1e-300))[:, None], len(truth))
    by_column = table.tocsc()
    floor = 0.01 * table.data.min()
    for _ in range(target.n_releases):
        drawn = _draw(target, truth, rng)
        known = np.flatnonzero(drawn < table.shape[1])
        score[:, known] += np.log(by_column[:, drawn[known]].toarray() + floor)
    return score.argmax(axis=0)
