"""`HeldOutGuard`: a worker tests every download on held-out patients and keeps its last good model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# A legitimate download can be worse than the worker's own network for some epochs, so that the bound is not tight. The
# loss, unlike F1, also distinguishes networks that find nothing yet.
_WORST, _TOLERATED_F1 = 2.0, 0.01
# A vector of equal huge weights has no worse loss than first weights, but cannot be trained any more.
LARGEST = 10.0


class HeldOutGuard:
    """Test of downloads on the held-out patients of a worker.

    The guard refuses a download in three cases:

    - The loss of the download on held-out patients is more than twice the smallest loss that this worker has measured.
    - The loss is above the loss of the first download.
    - A parameter of the download is more than ten times as large as the largest parameter of the worker, and above 10.

    After a refused download, the worker continues to train with its own parameters. At the end, the worker returns to
    the parameters with the best F1 on held-out patients, if F1 of the last parameters is lower by more than 0.01.

    The guard limits the harm that other workers can do to the worker's own network. The guard does not repair the
    global network.

    Attributes
    ----------
    n_refused : int
        Number of refused downloads.
    first_loss, least_loss : float
        Loss of the first download on held-out patients, and the smallest loss so far.
    best_f1 : float
        Best F1 (typed spans) after a local epoch; -1 before the first epoch.
    good : ndarray of shape (n,) or None
        Parameters with the best F1.

    Examples
    --------
    >>> import numpy as np
    >>> class Learner:
    ...     loss = 1.0
    ...     def held_out(self): return self.loss, 0.5
    ...     def get_flat(self): return np.zeros(2, dtype=np.float32)
    >>> guard, learner = HeldOutGuard(), Learner()
    >>> guard.accepts(learner, before=learner.get_flat())
    True
    >>> learner.loss = 2.5
    >>> guard.accepts(learner, before=learner.get_flat()), guard.n_refused
    (False, 1)
    """

    def __init__(self) -> None:
        self.n_refused = 0
        self.first_loss = self.least_loss = math.inf
        self.best_f1 = -1.0
        self.good: np.ndarray | None = None

    def accepts(self, learner: Any, before: np.ndarray) -> bool:
        """Whether the current parameters of the learner, which were just downloaded, may be kept.

        Parameters
        ----------
        learner : Learner with ``held_out()``
            Learner with the downloaded parameters.
        before : ndarray of shape (n,)
            Parameters before the download.
        """
        bound = LARGEST * max(float(np.abs(before).max(initial=0.0)), 1.0)
        # The size first: the score of a network with huge parameters can be an error instead of a number.
        if float(np.abs(learner.get_flat()).max(initial=0.0)) > bound:
            self.n_refused += 1
            return False
        measured = learner.held_out()
        if measured is None:
            return True
        loss = measured[0]
        if not math.isfinite(loss) or loss > min(_WORST * self.least_loss, self.first_loss):
            self.n_refused += 1
            return False
        if self.first_loss == math.inf:
            self.first_loss = loss
        self.least_loss = min(self.least_loss, loss)
        return True

    def after_epoch(self, learner: Any) -> None:
        """Measure the parameters after a local epoch, and keep them if they are the best so far."""
        measured = learner.held_out()
        if measured is None or not math.isfinite(measured[0]):
            return
        self.least_loss = min(self.least_loss, measured[0])
        # Of equally good parameters, the later parameters were trained longer.
        if measured[1] >= self.best_f1:
            self.best_f1, self.good = measured[1], np.array(learner.get_flat(), dtype=np.float32)

    def settle(self, learner: Any) -> bool:
        """Return to the best parameters if the current parameters are worse. Returns whether the parameters changed."""
        measured = None if self.good is None else learner.held_out()
        if measured is None or measured[1] >= self.best_f1 - _TOLERATED_F1:
            return False
        learner.set_flat(self.good)
        return True
