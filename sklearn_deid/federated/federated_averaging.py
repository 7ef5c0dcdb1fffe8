"""`FederatedAveraging`: the settings of federated averaging."""

from __future__ import annotations

import math
from numbers import Integral, Real

from sklearn.base import BaseEstimator

from .._compat import Interval, StrOptions
from .masks import FixedPoint
from .robust import AGGREGATES
from .server_limits import LARGEST_PROXIMAL


class FederatedAveraging(BaseEstimator):
    """Federated averaging, as the ``strategy`` of a `DSSGDEnsemble`.

    In each round every worker starts from the global network, trains for one local epoch and sends its whole update.
    The server combines the updates and adds the result to the global network.

    Parameters
    ----------
    aggregation : {"mean", "median", "trimmed_mean"}, default="mean"
        Rule by which the updates of the workers are combined. The mean weights a worker by its number of sentences.
        Median and trimmed mean give each worker one vote, and bound the influence of a minority of malicious workers.
    n_trim : int, default=1
        Number of smallest and number of largest values that ``"trimmed_mean"`` leaves out of each coordinate. The
        trimmed mean tolerates up to ``n_trim`` malicious workers.
    max_norm : float or None, default=None
        Largest Euclidean norm of an update. Updates longer than ``max_norm`` are shrunk to this norm.
    max_ratio : float, default=5.0
        Largest norm of an update as a multiple of the median norm of the round. Longer updates are left out, so that
        one malicious worker cannot undo the training of the other workers; ``inf`` means no limit. The limit has no
        effect with masks, which hide single updates, and with fewer than three workers.
    screen : bool, default=True
        Whether updates that point against most other updates are left out, and unusually long updates are shrunk
        (`AgreementScreen`). The screen has no effect with masks, which hide single updates, and with fewer than three
        workers.
    divide_batches : bool, default=True
        Whether the ``batch_size`` of the tagger is divided by the number of workers. A round then has the same number
        of steps as an epoch on all notes in one place. The ``lr`` of the tagger is also multiplied by the square root
        of the number of workers, except with ``privacy``.
    rounds_per_epoch : int or "auto", default="auto"
        Number of rounds in a pass over the notes. Each worker divides its sentences into the same number of parts.
        "auto" gives rounds of about 20 batches in `DSSGDEnsemble.fit` and `fit_workers`, and one round in `partial_fit`
        and with ``privacy``.
    proximal : float in [0, 1e6], default=0.0
        mu of FedProx: while a worker trains, mu / 2 times the squared distance from the global network is added to the
        loss. Use the term for workers with very different notes; with similar notes, 0.01 already lowers F1. The term
        cannot be combined with `PatientPrivacy`.
    masks : FixedPoint or None, default=None
        Pairwise masks: the server learns the sum of the updates and no single update. Masks need at least three workers
        and the mean, and give every worker the same weight. ``history_`` counts the values beyond the bound of the
        masks as ``n_clipped``.

    References
    ----------
    McMahan et al. (2017), Communication-efficient learning of deep networks from decentralized data, AISTATS.
    Li et al. (2020), Federated optimization in heterogeneous networks, MLSys, for the proximal term.
    Yin et al. (2018), Byzantine-robust distributed learning, ICML, for the median and the trimmed mean.

    Examples
    --------
    >>> from sklearn_deid import DSSGDEnsemble
    >>> from sklearn_deid.federated import FederatedAveraging
    >>> DSSGDEnsemble(strategy=FederatedAveraging(aggregation="median"))
    DSSGDEnsemble(strategy=FederatedAveraging(aggregation='median'))
    >>> DSSGDEnsemble(strategy="fedavg").set_params(strategy__max_norm=0.5)
    DSSGDEnsemble(strategy=FederatedAveraging(max_norm=0.5))
    """

    _parameter_constraints: dict[str, list] = {
        "aggregation": [StrOptions(set(AGGREGATES))],
        "n_trim": [Interval(Integral, 0, None, closed="left")],
        "max_norm": [Interval(Real, 0, None, closed="neither"), None],
        "max_ratio": [Interval(Real, 1, math.inf, closed="both")],
        "screen": ["boolean"],
        "divide_batches": ["boolean"],
        "proximal": [Interval(Real, 0, LARGEST_PROXIMAL, closed="both")],
        "rounds_per_epoch": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "masks": [FixedPoint, None],
    }

    def __init__(
        self,
        aggregation: str = "mean",
        n_trim: int = 1,
        max_norm: float | None = None,
        masks: FixedPoint | None = None,
        max_ratio: float = 5.0,
        divide_batches: bool = True,
        rounds_per_epoch: int | str = "auto",
        proximal: float = 0.0,
        screen: bool = True,
    ) -> None:
        self.aggregation, self.n_trim, self.max_norm, self.masks = aggregation, n_trim, max_norm, masks
        self.max_ratio, self.divide_batches, self.rounds_per_epoch = max_ratio, divide_batches, rounds_per_epoch
        self.proximal, self.screen = proximal, screen
