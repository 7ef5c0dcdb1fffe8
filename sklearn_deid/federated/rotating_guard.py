"""`RotatingGuard`: a worker tests downloads on patients who take turns, and keeps its model if a download is bad."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .held_out_guard import LARGEST, HeldOutGuard
from .rotating_patients import ROTATING

# Measured in trainings without an attack: the loss of a download is at most 3.6 times the loss of the worker's own
# network in the third round, 4.3 times when the steps of the server overshoot, 1.1 times at the end of the training,
# and 4.6 times its smallest loss so far. The slack is a part of the loss of the first weights: losses near zero have
# large ratios.
_WORST, _WORST_AT_END, _WORST_EVER, _SLACK = 6.0, 2.0, 15.0, 0.02


class RotatingGuard:
    """Test of downloads on patients who take turns (`RotatingPatients`), and who were left out of the last pass.

    The guard computes the losses of the worker's own network and of the download on the same patients. The guard
    refuses a download in three cases:

    - The loss of the download is more than six times the loss of the worker's own network.
    - The loss of the download is more than 15 times the smallest loss of the worker's own network so far. Many slightly
      worse downloads in a row therefore cannot make the network much worse.
    - A parameter of the download is more than ten times as large as the largest parameter of the worker, and above 10.

    After a refused download, the worker continues to train with its own parameters. At the end, the worker returns to
    its own parameters before the last download if the loss of its last network is more than twice the loss of these
    parameters.

    Attributes
    ----------
    n_refused : int
        Number of refused downloads.
    first_loss, least_loss : float
        Loss of the worker's own network at the first test, and smallest loss of this network so far.
    good : ndarray of shape (n,) or None
        Parameters of the worker's own network at the last test.

    Examples
    --------
    >>> import numpy as np
    >>> class Learner:
    ...     vector = np.zeros(1, dtype=np.float32)
    ...     def held_out_loss(self): return 1.0 + float(self.vector[0])
    ...     def get_flat(self): return self.vector
    ...     def set_flat(self, vector): self.vector = vector
    >>> guard, learner = RotatingGuard(), Learner()
    >>> def test(loss):
    ...     learner.vector = np.array([loss - 1.0], dtype=np.float32)
    ...     return guard.accepts(learner, before=np.zeros(1, dtype=np.float32))
    >>> test(1.0), test(6.0), test(6.1), guard.n_refused
    (True, True, False, 1)
    """

    def __init__(self) -> None:
        self.n_refused = 0
        self.first_loss = self.least_loss = math.inf
        self.good: np.ndarray | None = None

    def accepts(self, learner: Any, before: np.ndarray) -> bool:
        """Whether the current parameters of the learner, which were just downloaded, may be kept.

        Parameters
        ----------
        learner : Learner with ``held_out_loss()``
            Learner with the downloaded parameters.
        before : ndarray of shape (n,)
            Parameters before the download.
        """
        self.good = np.array(before, dtype=np.float32)
        accepted = self._is_sound(learner, _WORST)
        self.n_refused += not accepted
        return accepted

    def _is_sound(self, learner: Any, worst: float) -> bool:
        """Compare the current parameters of the learner with ``good``."""
        assert self.good is not None
        current = np.array(learner.get_flat(), dtype=np.float32)
        if float(np.abs(current).max(initial=0.0)) > LARGEST * max(float(np.abs(self.good).max(initial=0.0)), 1.0):
            return False
        loss = learner.held_out_loss()
        if loss is None:
            return True
        if not math.isfinite(loss):
            return False
        learner.set_flat(self.good)
        own = learner.held_out_loss()
        learner.set_flat(current)
        if self.first_loss == math.inf:
            self.first_loss = own
        self.least_loss = min(self.least_loss, own)
        return bool(loss <= min(worst * own, _WORST_EVER * self.least_loss) + _SLACK * self.first_loss)

    def after_epoch(self, learner: Any) -> None:
        """Do nothing: the worker's own network is tested together with the next download."""

    def settle(self, learner: Any) -> bool:
        """Return to ``good`` if the current parameters are worse. Returns whether the parameters changed."""
        if self.good is None or self._is_sound(learner, _WORST_AT_END):
            return False
        learner.set_flat(self.good)
        return True


def guard_of(validation_fraction: float | str | None) -> HeldOutGuard | RotatingGuard | None:
    """Test of downloads on held-out patients, or on patients who take turns; None without tests."""
    if not validation_fraction:
        return None
    return RotatingGuard() if validation_fraction == ROTATING else HeldOutGuard()
