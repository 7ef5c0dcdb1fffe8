"""Which updates of a round point against those of most other workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

# Updates of honest workers have cosines above -.05 even at the end of a training, when they are mostly noise. An update
# multiplied by a negative number has cosines of -.9 at the beginning.
_AGAINST_NOW, _AGAINST_LATELY = -0.15, -0.04
OPPOSED = "The update points against those of most other workers, in this round or in the last ones."
_N_ROUNDS, _FEWEST_ROUNDS = 5, 3

# For each worker, the cosines of its update with those of the others
Cosines = Mapping[str, Mapping[str, float]]


class AgreementScreen:
    """Cosines of the updates in the last rounds, and the workers whose updates point against most others.

    Two workers are against each other if the cosine of their updates is below -0.15 in this round, or below -0.04 in
    the mean of their last three to five rounds. A worker is *opposed* if it is against more workers than half of the
    round. As long as fewer than half of the workers of a round are hostile, they cannot have an honest worker opposed
    that is against no other honest worker.

    The object is never changed: `with_round` returns a new one.

    Parameters
    ----------
    rounds : sequence of mapping, default=()
        Cosines of the last rounds, the newest last.

    Examples
    --------
    >>> honest = np.ones(4, np.float32)
    >>> screen = AgreementScreen().with_round({"a": honest, "b": honest, "c": -honest})
    >>> screen.opposed()
    ['c']
    """

    def __init__(self, rounds: Sequence[Cosines] = ()) -> None:
        self.rounds = tuple(rounds)[-_N_ROUNDS:]

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
        return AgreementScreen((*self.rounds, told))

    def opposed(self) -> list[str]:
        """Workers of the last round whose updates point against more workers than half of the round."""
        if not self.rounds:
            return []
        last = self.rounds[-1]
        return [name for name, row in last.items() if 2 * sum(self._is_against(name, b) for b in row) > len(last)]

    def _is_against(self, one: str, other: str) -> bool:
        known = [row[one][other] for row in self.rounds if other in row.get(one, ())]
        return known[-1] < _AGAINST_NOW or (len(known) >= _FEWEST_ROUNDS and float(np.mean(known)) < _AGAINST_LATELY)
