"""Ledger of randomised uploads, and their total epsilon."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from .._optional import import_optional
from .value_checks import is_number, is_whole

# Largest epsilon of a guarantee. An attacker who sees the uploads can become more certain of a guess by a factor of e
# to this power. A larger epsilon promises nothing.
LARGEST_EPSILON = 100.0
# Of the uploads of a site, which has no setting of its own.
SITE_DELTA = 1e-5
# Of the cost of an event. Sums and squares of such numbers are float64 numbers above 0.
_LEAST, _MOST = 1e-100, 1e100


@dataclass(frozen=True)
class PrivacyEvent:
    """Noise of one randomised upload, as an entry of a `PrivacyLedger`.

    Parameters
    ----------
    mechanism : {"gaussian", "sparse-vector"}
        Mechanism that added the noise.
    noise_multiplier : float or None
        Standard deviation divided by the norm bound (Gaussian mechanism). The norm bound is the sensitivity to adding
        or removing all data of a worker. For *replaced* data (a note, a patient) the sensitivity is twice the bound:
        use half the multiplier.
    epsilon : float or None
        Pure differential privacy (delta = 0) for any change of the worker's data (sparse vector technique).
    """

    mechanism: str
    noise_multiplier: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        # An event without a cost, or with one that is not a number, would make any promise true.
        costs = [cost for cost in (self.noise_multiplier, self.epsilon) if cost is not None]
        if len(costs) != 1 or not is_number(costs[0], _LEAST, _MOST):
            raise ValueError("A PrivacyEvent needs one positive number: 'noise_multiplier' or 'epsilon'.")


class PrivacyLedger:
    """Record of all randomised uploads of one worker.

    Every worker takes part in each of its rounds. There is therefore no amplification by sampling: a privacy accountant
    must assume a sampling probability of 1. Workers have disjoint data, and each worker has its own ledger.

    Examples
    --------
    >>> ledger = PrivacyLedger()
    >>> for _ in range(3):
    ...     ledger.add(PrivacyEvent("sparse-vector", epsilon=0.5))
    >>> spent_epsilon(ledger, delta=1e-5)
    1.5
    >>> ledger.counts()
    [(PrivacyEvent(mechanism='sparse-vector', noise_multiplier=None, epsilon=0.5), 3)]
    """

    def __init__(self) -> None:
        self._events: Counter[PrivacyEvent] = Counter()

    def __len__(self) -> int:
        return sum(self._events.values())

    def add(self, event: PrivacyEvent, count: int = 1) -> None:
        """Add an event that happened ``count`` times."""
        if not is_whole(count):
            raise ValueError(f"An event happens a whole number of times. Got {count!r:.40} instead.")
        if count:
            self._events[event] += count

    def counts(self) -> list[tuple[PrivacyEvent, int]]:
        """Each kind of event with its count. The pairs are the input of a privacy accountant."""
        return list(self._events.items())

    def to_list(self) -> list[dict[str, Any]]:
        """Convert the ledger to JSON values."""
        return [{**asdict(event), "count": count} for event, count in self._events.items()]

    @classmethod
    def from_list(cls, events: list[dict[str, Any]]) -> PrivacyLedger:
        """Create a ledger from the values of `to_list`."""
        ledger = cls()
        for event in events:
            fields = {key: value for key, value in event.items() if key != "count"}
            ledger.add(PrivacyEvent(**fields), event["count"])
        return ledger


def spent_epsilon(ledger: PrivacyLedger, delta: float) -> float:
    """Total epsilon of all uploads of a worker, for any change of this worker's data.

    The epsilon of Gaussian noise comes from the Rényi accountant of dp-accounting (Mironov 2017). The accountant uses
    half the noise multiplier, because another update may differ by up to twice the norm bound. There is no
    amplification by sampling, because every worker takes part in every round. The epsilons of sparse vector uploads are
    added to the result.

    Parameters
    ----------
    ledger : PrivacyLedger
        Uploads of the worker.
    delta : float
        delta of approximate differential privacy. Without Gaussian noise the parameter is ignored.

    Returns
    -------
    float
        Total epsilon.

    Raises
    ------
    MissingDependencyError
        If an upload has Gaussian noise and dp-accounting is not installed.
    """
    # Basic composition: the epsilon of the pure part and the epsilon of the Gaussian part add up.
    pure, gaussian = _costs(ledger)
    if not gaussian:
        return pure
    dp = import_optional("dp_accounting", extra="privacy", purpose="the epsilon of Gaussian noise")
    rdp = import_optional("dp_accounting.rdp", extra="privacy", purpose="the epsilon of Gaussian noise")
    accountant = rdp.RdpAccountant()
    for multiplier, count in gaussian:
        # Replacing a worker's data moves its update by up to twice the norm bound. The accountant assumes a
        # sensitivity of one norm bound, and half the multiplier corrects for the factor.
        accountant.compose(dp.GaussianDpEvent(multiplier / 2), count)
    return float(accountant.get_epsilon(delta)) + pure


def epsilon_text(epsilon: float) -> str:
    """Write an epsilon with three decimals, rounded up: an epsilon that is rounded down is not guaranteed.

    Examples
    --------
    >>> from sklearn_deid.federated.privacy_ledger import epsilon_text
    >>> epsilon_text(1.3562), epsilon_text(7.5), epsilon_text(math.inf)
    ('1.357', '7.500', 'inf')
    """
    steps = round(1000 * epsilon, 6)  # a product such as 0.57 * 1000 can lie just above a whole number
    return f"{math.ceil(steps) / 1000:.3f}" if math.isfinite(epsilon) else str(epsilon)


def bounded_epsilon(ledger: PrivacyLedger, delta: float) -> float:
    """Total epsilon as in `spent_epsilon`, by a bound in closed form.

    The bound uses zero-concentrated differential privacy (Bun & Steinke 2016, proposition 1.3) with half the noise
    multiplier. From an epsilon of 0.01 to 100, the bound is larger than the epsilon of the accountant, by a few percent
    for large values. Beyond this range, the accountant has no suitable order, and its epsilon can be larger.

    Examples
    --------
    >>> ledger = PrivacyLedger()
    >>> ledger.add(PrivacyEvent("gaussian", noise_multiplier=0.001), count=25)
    >>> f"{bounded_epsilon(ledger, 1e-5):.3g}"
    '5e+07'
    """
    pure, gaussian = _costs(ledger)
    rho = sum(count * 2.0 / multiplier**2 for multiplier, count in gaussian)
    return pure + rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


def _costs(ledger: PrivacyLedger) -> tuple[float, list[tuple[float, int]]]:
    """Total epsilon of the sparse vector uploads, and noise multiplier and count of each kind of Gaussian upload."""
    counts = ledger.counts()
    pure = sum(count * event.epsilon for event, count in counts if event.epsilon is not None)
    return float(pure), [(e.noise_multiplier, count) for e, count in counts if e.noise_multiplier is not None]


def check_promise(
    event: PrivacyEvent, n_uploads: int, delta: float = SITE_DELTA, spent: PrivacyLedger | None = None
) -> PrivacyLedger:
    """Refuse noise without a meaningful guarantee over all planned uploads.

    Parameters
    ----------
    event : PrivacyEvent
        Privacy cost of one upload (`GaussianUpload.event`).
    n_uploads : int
        Planned uploads of the worker.
    delta : float, default=1e-5
        delta of approximate differential privacy.
    spent : PrivacyLedger, default=None
        Uploads that the worker has already sent. None means no uploads.

    Returns
    -------
    PrivacyLedger
        Ledger of the sent and the planned uploads.

    Raises
    ------
    ValueError
        If the epsilon of the sent and the planned uploads is above 100.
    """
    ledger = PrivacyLedger.from_list([] if spent is None else spent.to_list())
    ledger.add(event, n_uploads)
    epsilon = bounded_epsilon(ledger, delta)
    # A sum of many equal parts of 100 is rounded. An epsilon that is not a number promises nothing either.
    if not epsilon <= LARGEST_EPSILON * (1 + 1e-9):
        sent = f"{len(spent)} sent and " if spent else ""
        raise ValueError(
            f"This noise means epsilon {epsilon:.6g} at delta {delta:g} for the {sent}{n_uploads} planned uploads. "
            f"An epsilon of this size promises nothing. At most {LARGEST_EPSILON:g} is accepted: choose more noise, "
            "fewer epochs, or no noise."
        )
    return ledger
