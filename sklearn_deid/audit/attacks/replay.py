"""Replay: check whether the same noise occurs again in another call, in a copy of the estimator, or in another
sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from ...metrics import Estimate
from ..protocol import AttackResult
from ..released_step import REPRESENTATION, VECTORS
from .check_results import REPLAY_LEVEL, check_result
from .declaration import AttackPreset, timed
from .noise_by_property import property_checks
from .noise_checks import best_pairs, p_of_cosine, p_of_moved_dimensions
from .noise_residuals import noise_size, released_with, standardised
from .noise_template import NoiseTemplate
from .repeated_numbers import p_of_repeated_numbers, repeated_numbers
from .untrained import UntrainedAttack

# Of this many calls, two share one of 2^16 keys with probability .976 (of 2^20 keys, .21).
N_CALLS = 700
_SHIFTS = range(-8, 9)
_POOL = "Successive calls take their noise again from the same numbers."
_MOST_PAIRED = 2048
_SMALLEST = 1e-3


@dataclass(frozen=True, repr=False)
class RepeatedReleases:
    """Several releases of the same sentences, and pairs of releases whose noise must be independent.

    Attributes
    ----------
    releases : mapping of str to ndarray of shape (n_tokens, d)
        Vectors without casing columns, by the way in which each release was made, such as "second call".
    pairs : tuple of (str, str, str)
        Names of two releases, and the message if both releases have the same noise.
    has_size : bool
        Whether the noise of each release must be as large as stated.
    short : ndarray of shape (n_calls, n_numbers), optional
        Vectors of one short sentence in many calls, one row for each call.
    successive : tuple of str
        Names of releases of one process, in the order in which they were made.
    """

    releases: Mapping[str, np.ndarray]
    pairs: tuple[tuple[str, str, str], ...] = field(default=())
    has_size: bool = False
    short: np.ndarray | None = None
    successive: tuple[str, ...] = ()


class ReplayAttack(UntrainedAttack):
    """Compare the noise of releases that must not share noise.

    The audit releases the same sentences twice in each of four ways. The first three ways are two calls, two copies of
    the estimator, and two new processes that receive the pickled estimator. The fourth way is two calls with the random
    generators of Python, NumPy and PyTorch in the same state. Equal states represent forked processes, whose memory is
    equal at the start. If two releases have equal noise, an attacker who has both releases can remove the noise.

    The audit also releases one short sentence in many calls. If the noise is drawn from few possible seeds, such as
    2^16 seeds or the time of a clock, two of the calls have the same noise.

    Each comparison tests the correlation of the residuals at shifts of up to 8 tokens, in the same dimensions and
    between all pairs of dimensions. The comparison also searches all pairs of tokens for the two most similar
    residuals, and numbers of the noise that agree at any distance, also over four successive releases. The noise of
    each release must also be as large as stated. All tests together raise a false alarm with probability .0005; half of
    this probability is assigned to the tests of size. ``fit`` takes the `NoiseTemplate` of the sentences.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the drawn lengths of vectors of length 1, and of the control.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import NoiseTemplate, RepeatedReleases, ReplayAttack
    >>> rng, std = np.random.default_rng(0), np.full(4, 0.5)
    >>> template = NoiseTemplate(np.zeros((300, 4)), std, False, 2.0**-6, False)
    >>> one, two = 0.5 * rng.normal(size=(2, 300, 4))
    >>> attack = ReplayAttack(random_state=0).fit(template)
    >>> attack.attack(RepeatedReleases({"a": one, "b": two}, (("a", "b", "Shared."),))).faults
    ()
    >>> attack.attack(RepeatedReleases({"a": one, "b": one}, (("a", "b", "Shared."),))).faults
    ('Shared.',)
    """

    key = "replay"
    family = "replay"
    title = "Replayed noise"
    order = 12
    releases = (REPRESENTATION, VECTORS)
    presets = (AttackPreset("replay", "Replayed noise", 50.0, 6.0, quick=True),)
    name = "replayed noise"
    attacker = "A recipient of two releases of the same sentences, or of a copy of the estimator in the same state."
    measure = "share of comparisons in which two releases share noise"
    phrase = "An attacker who compares two releases of the same sentences finds shared noise in {} of comparisons"

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def requires(self, release: Any) -> str | None:
        """Return the reason why there is nothing to compare: no noise is stated, or the release cannot be repeated."""
        if not release.is_bounded:
            return "The release states no noise."
        return None if release.can_repeat else "A saved release cannot be made again."

    def run(self, release: Any) -> list[AttackResult]:
        """Release the measured sentences several times, and compare the releases."""
        template, releases = release.template_of_repeated("test"), release.repeated_releases("test")
        return [self.fit(template).attack(replace(releases, short=release.short_calls(N_CALLS)))]

    @timed
    def attack(self, released: RepeatedReleases) -> AttackResult:
        """Compare the releases of each pair.

        Raises
        ------
        ValueError
            If ``fit`` was not called, or the tokens of a release differ from those of the template.
        """
        template = self._knowledge
        if template is None or any(len(one) != len(template) for one in released.releases.values()):
            raise ValueError("The comparison needs the template of the released tokens.")
        rng = np.random.default_rng(self.random_state)
        level = REPLAY_LEVEL / 2.0 / max(1, len(released.pairs) + bool(released.successive))
        # Without any stated noise, only equal vectors can be found.
        known = bool((template.std > 0.0).all()) and not template.input_noise
        rest = dict(released.releases)
        if known:
            rest = {k: standardised(v, _resized(template, v), rng) for k, v in rest.items()}
        faults = [
            fault
            for one, other, fault in released.pairs
            if _equal_rows(released.releases[one], released.releases[other], template)
            or (known and p_of_shared(rest[one], rest[other]) < level)
        ]
        if not faults and known and released.successive:
            # A pool of numbers can be longer than two calls, so that pairs of calls share nothing.
            together = np.concatenate([rest[name] for name in released.successive])
            faults += [_POOL] * (repeated_numbers(together).p < level)
        if _has_equal_calls(released.short, template):
            faults.append(
                "Some of many calls have the same noise: the noise has so few keys that anyone can try all keys."
            )
        control = None
        if known:
            small = [_p_of_less(standardised(v, template, rng), template) for v in released.releases.values()]
            if released.has_size and min(small) < REPLAY_LEVEL / 2.0 / len(small):
                faults.append("The noise of a further release is smaller than stated.")
            eps = rng.standard_normal(template.mean.shape)
            first, second = (standardised(released_with(template, eps), template, rng) for _ in range(2))
            control = Estimate.exact(float(p_of_shared(first, second) < level))
        return check_result(
            self,
            faults,
            len(released.pairs)
            + bool(released.successive)
            + len(released.releases) * released.has_size
            + (released.short is not None),
            positive_control=control,
            min_positive_control=None if control is None else 1.0,
            settings={"level": REPLAY_LEVEL},
            details={"releases": len(released.releases), "tokens": len(template)},
        )


def _p_of_less(z: np.ndarray, template: NoiseTemplate) -> float:
    """Probability of noise that is as small as observed. `NoiseAttack` tests only three calls, and the noise of other
    calls may be smaller."""
    whole = {"release": np.zeros(len(z), dtype=np.int64)}
    found = [check.p for check in property_checks(z, whole, {}, template.mean / template.std)]
    return min(1.0, len(found) * min(found))


def _resized(template: NoiseTemplate, vectors: np.ndarray) -> NoiseTemplate:
    """Template with the actual size of the noise, so that noise of a wrong size is not reported as a replay."""
    size = noise_size(vectors, template)
    return template if 0.8 < size < 1.25 else replace(template, std=template.std * max(size, _SMALLEST))


def p_of_shared(one: np.ndarray, other: np.ndarray) -> float:
    """Upper bound of the probability that residuals are as similar as observed, if both releases have independent
    noise.

    Parameters
    ----------
    one, other : ndarray of shape (n_tokens, d)
        Standard normal residuals of two releases.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = np.random.default_rng(0).standard_normal((2, 500, 6))
    >>> p_of_shared(one, other) > 0.01, p_of_shared(one, np.roll(-one, 3, axis=0)) < 1e-12
    (True, True)
    >>> p_of_shared(one, one[:, ::-1]) < 1e-12
    True
    """
    n, found = len(one), []
    for shift in (k for k in _SHIFTS if abs(k) < n):
        first, second = one[max(0, -shift) : n - max(0, shift)], other[max(0, shift) : n - max(0, -shift)]
        # Given the first factor, the sum of products is Gaussian with the sum of squares as its variance.
        total = float((first * second).sum() / np.sqrt(np.square(first).sum() + 1e-300))
        found += [float(2.0 * ndtr(-abs(total))), p_of_moved_dimensions(first, second)]
    # Tokens are drawn at random. If every k-th token were taken, noise that moved by a distance that k does not divide
    # would not be found.
    some = np.random.default_rng(0).permutation(n)[:_MOST_PAIRED]
    cosine, n_pairs = best_pairs(one[some], other[some])
    found += [p_of_cosine(cosine, n_pairs, one.shape[1]), p_of_repeated_numbers(one, other)]
    return min(1.0, len(found) * min(found))


def _equal_rows(one: np.ndarray, other: np.ndarray, template: NoiseTemplate) -> bool:
    """Whether tokens have equal vectors in both releases more often than rounding to the grid explains."""
    equal = int((one == other).all(axis=1).sum())
    return equal > 0 and len(one) * _p_of_equal(template) < 1e-6


def _p_of_equal(template: NoiseTemplate) -> float:
    """Upper bound of the probability that independent noise gives a token equal vectors in two releases."""
    # Both hit the same cell of the grid with probability grid / (2 sqrt(pi) std) in each dimension.
    rare = np.sort(np.minimum(1.0, template.grid / np.maximum(3.5 * template.std, 1e-300)))
    # Scaling to length 1 hides one dimension: vectors of one number are 1 or -1.
    return float(rare[1:].prod() if template.unit_norm else rare.prod())


def _has_equal_calls(short: np.ndarray | None, template: NoiseTemplate) -> bool:
    """Whether two calls have equal vectors that rounding to the grid does not explain."""
    if short is None or not (template.std > 0.0).all():
        return False
    rare = _p_of_equal(template) ** (short.shape[1] / len(template.std))
    return len(np.unique(short, axis=0)) < len(short) and len(short) ** 2 / 2.0 * rare < 1e-6
