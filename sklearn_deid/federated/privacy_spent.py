"""Epsilon of randomised uploads, from the accountant of another library."""

from __future__ import annotations

from .._optional import import_optional
from .privacy_ledger import PrivacyLedger

__all__ = ["spent_epsilon"]


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
        accountant.compose(dp.GaussianDpEvent(multiplier / 2), count)
    return float(accountant.get_epsilon(delta)) + float(pure)
