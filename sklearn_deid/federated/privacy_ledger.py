"""Ledger of randomised uploads, and the epsilon that they add up to."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from .._optional import import_optional


@dataclass(frozen=True)
class PrivacyEvent:
    """One randomised upload.

    Parameters
    ----------
    mechanism : {"gaussian", "sparse-vector"}
    noise_multiplier : float or None
        Gaussian mechanism: standard deviation divided by the norm bound. The norm bound is the sensitivity to adding or
        removing all data of a worker. For *replaced* data (a note, a patient) the sensitivity is twice the bound:
        account with half the multiplier.
    epsilon : float or None
        Sparse-vector mechanism: pure differential privacy (delta = 0) for any change of the worker's data.
    """

    mechanism: str
    noise_multiplier: float | None = None
    epsilon: float | None = None


class PrivacyLedger:
    """All randomised uploads of one worker.

    Every worker takes part in each of its rounds. No amplification by sampling can therefore be claimed, and an
    accountant must assume a sampling probability of 1. Workers have disjoint data, and each has its own ledger.

    Examples
    --------
    >>> ledger = PrivacyLedger()
    >>> for _ in range(3):
    ...     ledger.add(PrivacyEvent("sparse-vector", epsilon=0.5))
    >>> ledger.pure_epsilon()
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
        self._events[event] += count

    def counts(self) -> list[tuple[PrivacyEvent, int]]:
        """Each kind of event with its number: the composition for an accountant."""
        return list(self._events.items())

    def pure_epsilon(self) -> float | None:
        """Epsilon of all uploads together by adding up (basic composition); None if there is Gaussian noise.

        Adding up is exact as an upper bound for pure differential privacy with delta = 0, also where later uploads
        depend on earlier ones. Gaussian noise has no finite epsilon without a delta and needs an accountant.
        """
        total = 0.0
        for event, count in self._events.items():
            if event.epsilon is None:
                return None
            total += count * event.epsilon
        return total

    def to_list(self) -> list[dict[str, Any]]:
        """JSON values."""
        return [{**asdict(event), "count": count} for event, count in self._events.items()]

    @classmethod
    def from_list(cls, events: list[dict[str, Any]]) -> PrivacyLedger:
        """The ledger of which `to_list` made these values."""
        ledger = cls()
        for event in events:
            fields = {key: value for key, value in event.items() if key != "count"}
            ledger.add(PrivacyEvent(**fields), event["count"])
        return ledger


def spent_epsilon(ledger: PrivacyLedger, delta: float) -> float:
    """Epsilon of all uploads of a worker together, for any change of this worker's data.

    Parameters
    ----------
    ledger : PrivacyLedger
    delta : float
        Of approximate differential privacy; not used where there is no Gaussian noise.

    Returns
    -------
    float
        Gaussian noise: by Rényi accounting of dp-accounting (Mironov 2017), with half the noise multiplier, since an
        update that is replaced by another one moves by up to twice its norm bound, and without amplification by
        sampling, since every worker takes part in every round. Sparse vectors add up, and are added to it.

    Raises
    ------
    MissingDependencyError
        If there is Gaussian noise and dp-accounting is not installed.
    """
    pure = sum(count * event.epsilon for event, count in ledger.counts() if event.epsilon is not None)
    gaussian = [(event.noise_multiplier, n) for event, n in ledger.counts() if event.noise_multiplier is not None]
    if not gaussian:
        return float(pure)
    dp = import_optional("dp_accounting", extra="privacy", purpose="the epsilon of Gaussian noise")
    rdp = import_optional("dp_accounting.rdp", extra="privacy", purpose="the epsilon of Gaussian noise")
    accountant = rdp.RdpAccountant()
    for multiplier, count in gaussian:
        # Replacing a worker's data moves its update by up to twice the norm bound; the accountant assumes once.
        accountant.compose(dp.GaussianDpEvent(multiplier / 2), count)
    return float(accountant.get_epsilon(delta)) + float(pure)
