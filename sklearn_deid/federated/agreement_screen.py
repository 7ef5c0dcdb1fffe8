"""Screen of the updates of a round: updates that point against most other updates, and the largest allowed norm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from statistics import median_high

import numpy as np

from .robust import FEWEST_UPDATES

# An update multiplied by a negative number has cosines of -.9 at the beginning. At the end, updates are mostly noise:
# updates of honest workers have cosines above -.05, and above -.12 if the notes of one of them are in another language.
_AGAINST_NOW, _AGAINST_LATELY = -0.2, -0.1
OPPOSED = "The update points against the updates of most other workers, in this round or in the last rounds."
_N_ROUNDS, _FEWEST_ROUNDS = 5, 3
# Bound of the length of an update, as a multiple of the median norm of its round. Workers with as many notes have .9 to
# 1.2 times the median norm, workers with twice as many notes 1.2 to 1.7, and 2.2 in the first round.
_LONGEST, _LONGEST_NOISE = 1.5, 1.0
# Number by which numbers are divided if an update has the norm 0.
_NO_UPDATE = 1e-30

# For each worker, the cosines of its update with the other updates
Cosines = Mapping[str, Mapping[str, float]]


class AgreementScreen:
    """Cosines of the updates in the last rounds, and the workers whose updates point against most others.

    A worker is against another worker if the cosine of their updates is below -0.2 in this round, or below -0.1 in the
    mean of their last three to five rounds. A worker is *opposed* if it is against more than half of the workers of the
    round. An opposed worker stays against another worker until their mean cosine is positive. A worker that misses a
    round stays opposed, also if the round has only two workers. If fewer than half of the workers of a round are
    hostile, an honest worker that is against no other honest worker is never opposed.

    Some hostile updates do not point against the other updates, such as updates of a worker that is honest in most
    rounds. ``longest`` therefore bounds the norm of each update by 1.5 times the median norm of the round. For workers
    that add noise although most other workers add none, the bound is the median norm, because the direction of a noisy
    update cannot reveal an attack. For an even number of norms, the median is the larger of the two middle norms. If
    fewer than half of the workers are hostile, at least one honest update then has this norm or a larger norm.

    The object is immutable: `with_round` returns a new object.

    Parameters
    ----------
    rounds : sequence of mapping, default=()
        Cosines of the last rounds, the newest last.
    opposed : sequence of str, default=()
        Opposed workers of the last round, and workers that were opposed in their own last round.

    Attributes
    ----------
    longest : dict of str to float
        Largest norm of each worker's update in the last round. Infinite in rounds of fewer than three workers.

    Examples
    --------
    >>> honest = np.ones(4, np.float32)
    >>> screen = AgreementScreen().with_round({"a": honest, "b": honest, "c": -honest})
    >>> screen.opposed
    ('c',)
    """

    def __init__(self, rounds: Sequence[Cosines] = (), opposed: Sequence[str] = ()) -> None:
        self.rounds, self.opposed = tuple(rounds)[-_N_ROUNDS:], tuple(opposed)
        self.longest = dict[str, float]()

    def with_round(self, updates: Mapping[str, np.ndarray], noisy: Collection[str] = ()) -> AgreementScreen:
        """Return the screen with one more round, from the update of each worker, shape (n,) each.

        ``noisy`` contains the workers that add noise although most other workers add none.
        """
        names = list(updates)
        products = np.array(
            # The sum is in float64, because squares of finite float32 numbers can overflow.
            [[np.einsum("i,i->", updates[a], updates[b], dtype=np.float64) for b in names] for a in names]
        )  # shape: (n_workers, n_workers)
        norms = np.sqrt(np.diag(products)).clip(_NO_UPDATE)
        cosines = (products / np.outer(norms, norms)).round(4).tolist()
        told = {a: {b: cosines[i][j] for j, b in enumerate(names) if b != a} for i, a in enumerate(names)}
        rounds = (*self.rounds, told)[-_N_ROUNDS:]
        # A worker that misses a round, or is in a round that is too small for a majority, stays opposed.
        opposed = [one for one in self.opposed if one not in updates or len(names) < FEWEST_UPDATES]
        opposed += [one for one in names if self._n_against(one, rounds) * 2 > len(names)]
        screen, usual = AgreementScreen(rounds, opposed), median_high(norms.tolist())
        # Workers that learned nothing set no limit.
        is_bounded = len(names) >= FEWEST_UPDATES and usual > _NO_UPDATE
        bounds = {one: usual * (_LONGEST_NOISE if one in noisy else _LONGEST) for one in names}
        screen.longest = bounds if is_bounded else dict.fromkeys(names, inf)
        return screen

    def _n_against(self, one: str, rounds: Sequence[Cosines]) -> int:
        """Number of workers of the last round that a worker is against."""
        # An opposed worker returns only by agreeing: at the end of a training, cosines near 0 are usual.
        bound, fewest = (0.0, 1) if one in self.opposed else (_AGAINST_LATELY, _FEWEST_ROUNDS)
        known = [[row[one][other] for row in rounds if other in row.get(one, ())] for other in rounds[-1][one]]
        return sum(own[-1] < _AGAINST_NOW or (len(own) >= fewest and float(np.mean(own)) < bound) for own in known)
