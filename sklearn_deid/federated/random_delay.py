"""`RandomDelay`: the settings of workers that do not wait for each other."""

from __future__ import annotations

from numbers import Real

from sklearn.base import BaseEstimator

from .._compat import Interval


class RandomDelay(BaseEstimator):
    """Workers that do not wait for each other, as the ``schedule`` of a `DSSGDEnsemble`.

    Workers differ in speed by up to a factor of three. Each upload arrives after a random delay, possibly after the
    next download of the same worker.

    Parameters
    ----------
    mean_delay : float, default=1.0
        Mean of the exponentially distributed delays, in epochs of a worker of average speed.

    Examples
    --------
    >>> from sklearn_deid import DSSGDEnsemble
    >>> from sklearn_deid.federated import RandomDelay
    >>> DSSGDEnsemble(schedule=RandomDelay(mean_delay=0.5))
    DSSGDEnsemble(schedule=RandomDelay(mean_delay=0.5))
    """

    _parameter_constraints: dict[str, list] = {"mean_delay": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, mean_delay: float = 1.0) -> None:
        self.mean_delay = mean_delay
