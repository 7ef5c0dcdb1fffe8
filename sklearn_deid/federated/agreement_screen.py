"""Which updates of a round point against those of most other workers, and how long the others may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

# An update multiplied by a negative number has cosines of -.9 at the beginning. At the end, updates are mostly noise:
# those of honest workers have cosines above -.05, and above -.12 if the notes of one of them are in another language.
_AGAINST_NOW, _AGAINST_LATELY = -0.2, -0.1
OPPOSED = "The update points against those of most other workers, in this round or in the last ones."
_N_ROUNDS, _FEWEST_ROUNDS = 5, 3
# Screened updates are shrunk to this multiple of the (upper) median norm: the screen does not see every hostile one.
# Workers with as many notes have .9 to 1.2 times the median norm, and with twice as many 1.1 to 1.6, but for the first
# round.
SCREENED_RATIO = 1.5

# For each worker, the cosines of its update with those of the others
Cosines = Mapping[str, Mapping[str, float]]


class AgreementScreen:
    """Cosines of the updates in the last rounds, and the workers whose updates point against most others.

    A worker is against another one if the cosine of their updates is below -0.2 in this round, or below -0.1 in the
    mean of their last three to five rounds. A worker is *opposed* if it is against more workers than half of the
    round. It then stays against each worker until the mean cosine is positive. As long as fewer than half of the
    workers of a round are hostile, they cannot have an honest worker opposed that is against no other honest worker.

    The object is never changed: `with_round` returns a new one.

    Parameters
    ----------
    rounds : sequence of mapping, default=()
        Cosines of the last rounds, the newest last.
    opposed : sequence of str, default=()
        Opposed workers of the last round.

    Examples
    --------
    >>> honest = np.ones(4, np.float32)
    >>> screen = AgreementScreen().with_round({"a": honest, "b": honest, "c": -honest})
    >>> screen.opposed
    ('c',)
    """

    def __init__(self, rounds: Sequence[Cosines] = (), opposed: Sequence[str] = ()) -> None:
        self.rounds, self.opposed = tuple(rounds)[-_N_ROUNDS:], tuple(opposed)

    def with_round(self, updates: Mapping[str, np.ndarray]) -> AgreementScreen:
        """Return the screen with one more round, from the update of each worker, shape (n,) each."""
        names = list(updates)
        products = np.array(
            # The sum is in float64, because squares of finite float32 numbers can overflow.
            [[np.einsum("i,i->", updates[a], updates[b], dtype=np.float64) for b in names] for a in names]
        )  # shape: (n_workers, n_workers)
        norms = np.sqrt(np.diag(products).clip(1e-60))
        cosines = (products / np.outer(norms, norms)).round(4).tolist()
        told = {a: {b: cosines[i][j] for j, b in enumerate(names) if b != a} for i, a in enumerate(names)}
        rounds = (*self.rounds, told)[-_N_ROUNDS:]
        return AgreementScreen(rounds, [one for one in names if self._n_against(one, rounds) * 2 > len(names)])

    def _n_against(self, one: str, rounds: Sequence[Cosines]) -> int:
        """Number of workers of the last round that a worker is against."""
        # Who was opposed comes back by agreeing: at the end of a training, cosines near 0 are usual.
        bound, fewest = (0.0, 1) if one in self.opposed else (_AGAINST_LATELY, _FEWEST_ROUNDS)
        known = [[row[one][other] for row in rounds if other in row.get(one, ())] for other in rounds[-1][one]]
        return sum(own[-1] < _AGAINST_NOW or (len(own) >= fewest and float(np.mean(own)) < bound) for own in known)
