"""`PatientLedger`: planned and spent (epsilon, delta) of each patient."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from .._atomic import write_file
from .._optional import import_optional
from ..exceptions import ExchangeError
from .privacy_ledger import epsilon_text
from .value_checks import is_number, is_whole

_KIND = "patient privacy ledger"
_PURPOSE = "the epsilon of each patient"
# Multipliers outside of this range are no sensible plan; the accountant would only return extreme epsilons.
_LEAST, _MOST = 0.05, 1e4
# Of any number in the file: whole numbers in JSON have no limit, and would overflow in the accountant.
_LARGEST = 1e18
# Every order gives a valid bound. The accountant's other fractional orders take most of its time, and orders below 2 do
# not converge for little noise.
_ORDERS = (*(n / 4 for n in range(8, 45)), *range(12, 64), 128, 256, 512, 1024)
_NUMBERS = ("epsilon", "delta", "sampling_rate", "noise_multiplier")
_COUNTS = ("n_planned", "n_spent")


@lru_cache(maxsize=256)
def epsilon_of_steps(noise_multiplier: float, sampling_rate: float, n_steps: int, delta: float) -> float:
    """Epsilon of some steps of `PatientPrivacy` by the Rényi accountant of dp-accounting.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise, divided by the clip.
    sampling_rate : float in (0, 1]
        Probability that a patient takes part in a step.
    n_steps : int
        Number of steps. A training without steps has an epsilon of 0.
    delta : float in (0, 1)
        delta of the guarantee.

    References
    ----------
    Mironov, Talwar & Zhang (2019), Rényi differential privacy of the sampled Gaussian mechanism.
    """
    if n_steps == 0:
        return 0.0
    with _quiet():
        accountant = _accountant()
        accountant.compose(_event(noise_multiplier, sampling_rate, n_steps))
        return float(accountant.get_epsilon(delta))


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings about orders that the accountant leaves out: near a sampling rate of 0.5, dozens of lines."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _accountant() -> Any:
    # The package first: an error must name the package, which the extra installs, and not its part.
    import_optional("dp_accounting", extra="privacy", purpose=_PURPOSE)
    return import_optional("dp_accounting.rdp", extra="privacy", purpose=_PURPOSE).RdpAccountant(_ORDERS)


def _event(noise_multiplier: float, sampling_rate: float, n_steps: int) -> Any:
    dp = import_optional("dp_accounting", extra="privacy", purpose=_PURPOSE)
    step = dp.GaussianDpEvent(noise_multiplier)
    # The accountant assumes that neighbouring data sets differ by one added or removed patient.
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(sampling_rate, step), n_steps)


@lru_cache(maxsize=256)
def _least_noise(epsilon: float, delta: float, sampling_rate: float, n_steps: int) -> float:
    """Smallest noise multiplier that keeps the steps within (epsilon, delta), from the accountant."""
    dp = import_optional("dp_accounting", extra="privacy", purpose=_PURPOSE)
    bracket = dp.ExplicitBracketInterval(_LEAST, _MOST)
    steps = partial(_event, sampling_rate=sampling_rate, n_steps=n_steps)
    with _quiet():
        return float(dp.calibrate_dp_mechanism(_accountant, steps, epsilon, delta, bracket, tol=1e-4))


@dataclass(eq=False)
class PatientLedger:
    """Planned and spent steps of a training with `PatientPrivacy`, and the epsilon of each patient.

    A site charges its steps before the training of these steps. After a crash the steps are therefore counted, even if
    no update was sent. A ledger with a file continues after a restart.

    Parameters
    ----------
    epsilon, delta : float
        Planned total of the whole training.
    sampling_rate, noise_multiplier : float
        Settings of every step.
    n_planned : int
        Steps of the whole training.
    n_spent : int, default=0
        Steps that were charged.
    path : path or None, default=None
        File of the ledger, which only its owner can read.

    Examples
    --------
    >>> ledger = PatientLedger(8.0, 1e-5, sampling_rate=0.25, noise_multiplier=2.0, n_planned=8)
    >>> ledger.charge(4)
    >>> ledger.n_left
    4
    >>> ledger.charge(5)
    Traceback (most recent call last):
        ...
    sklearn_deid.exceptions.ExchangeError: The privacy budget is spent: 4 of 8 steps are left, and 5 are needed.
    """

    epsilon: float
    delta: float
    _: KW_ONLY
    sampling_rate: float
    noise_multiplier: float
    n_planned: int
    n_spent: int = 0
    path: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            if not (is_number(getattr(self, name), 0.0, _LARGEST) and getattr(self, name)):
                raise ExchangeError(f"The ledger holds no positive number as {name!r}.", path=_text(self.path))
        for name in _COUNTS:
            if not is_whole(getattr(self, name), _LARGEST):
                raise ExchangeError(f"The ledger holds no whole number as {name!r}.", path=_text(self.path))
        if self.delta >= 1.0 or self.sampling_rate > 1.0 or self.n_spent > self.n_planned:
            raise ExchangeError("The ledger holds a plan that is impossible.", path=_text(self.path))

    @classmethod
    def planned(
        cls,
        *,
        epsilon: float,
        delta: float,
        sampling_rate: float,
        n_planned: int,
        path: str | os.PathLike[str] | None = None,
    ) -> PatientLedger:
        """Create a ledger with the smallest noise that keeps the planned steps within (epsilon, delta).

        Raises
        ------
        ExchangeError
            If no noise multiplier between 0.05 and 10,000 fits the plan.
        MissingDependencyError
            If dp-accounting is not installed.
        """
        if epsilon_of_steps(_MOST, sampling_rate, n_planned, delta) > epsilon:
            raise ExchangeError(f"No noise keeps {n_planned} steps within epsilon {epsilon:g} at delta {delta:g}.")
        noise = _LEAST
        if epsilon_of_steps(_LEAST, sampling_rate, n_planned, delta) > epsilon:
            noise = _least_noise(epsilon, delta, sampling_rate, n_planned)
        ledger = cls(
            epsilon, delta, sampling_rate=sampling_rate, noise_multiplier=noise, n_planned=n_planned, path=path
        )
        ledger._write()
        return ledger

    @property
    def n_left(self) -> int:
        """Number of steps that the plan still permits."""
        return self.n_planned - self.n_spent

    def spent_epsilon(self) -> float:
        """Epsilon of each patient after the charged steps, at the planned delta."""
        return epsilon_of_steps(self.noise_multiplier, self.sampling_rate, self.n_spent, self.delta)

    def charge(self, n_steps: int) -> None:
        """Count steps before the training of these steps. The file is on the disk when the method returns.

        Raises
        ------
        ExchangeError
            If the plan does not permit the steps, or if another training has charged the same file in the meantime.
            Nothing is charged in this case.
        """
        if not is_whole(n_steps) or n_steps < 1:
            raise ExchangeError("A whole number of steps, at least one, must be charged.")
        if n_steps > self.n_left:
            raise ExchangeError(
                f"The privacy budget is spent: {self.n_left} of {self.n_planned} steps are left, and {n_steps} are "
                "needed."
            )
        # The number of this object would replace the larger one of the file, and the steps of the other be forgotten.
        if self.path is not None and Path(self.path).exists() and _read(self.path)["n_spent"] != self.n_spent:
            raise ExchangeError("Another training has charged the privacy ledger.", path=_text(self.path))
        self.n_spent += n_steps
        try:
            self._write()
        except BaseException:
            # A step that is not on the disk must not be trained, so the caller receives the error.
            self.n_spent -= n_steps
            raise

    def check_charged(self, state: Mapping[str, Any], n_steps: int) -> None:
        """Refuse a ledger that counts fewer steps than a saved training has charged, and epochs without any charge.

        Parameters
        ----------
        state : dict
            State of the training (`learner_to_state`).
        n_steps : int
            Steps of a local epoch.

        Raises
        ------
        ExchangeError
            If the ledger does not belong to the training.
        """
        # States of earlier versions do not tell the charged steps, which are at least those of the epochs.
        least = state["n_epochs"] * n_steps
        charged = state.get("spent", least)
        if charged < least:
            raise ExchangeError(
                "Earlier epochs of the saved training had no noise for each patient: an epsilon would not cover them. "
                "Leave out 'patient_epsilon'."
            )
        if self.n_spent < charged:
            raise ExchangeError(
                f"The privacy ledger counts {self.n_spent} steps, but the saved training has charged {charged}. The "
                "ledger was deleted, edited or restored. Put the newest ledger back.",
                path=_text(self.path),
            )

    def line(self) -> str:
        """One line for the officer of the site: spent and planned epsilon, delta, steps and noise."""
        return (
            f"Each patient: epsilon {epsilon_text(self.spent_epsilon())} of {self.epsilon:g} spent at delta "
            f"{self.delta:g}, {self.n_spent} of {self.n_planned} steps, noise multiplier {self.noise_multiplier:.3f}, "
            f"sampling rate {self.sampling_rate:g}."
        )

    def _write(self) -> None:
        if self.path is None:
            return
        content = {"kind": _KIND, **{name: getattr(self, name) for name in (*_NUMBERS, *_COUNTS)}}
        # A new file would replace a link, and the file behind the link would still hold the old number of steps.
        path = Path(self.path).resolve()
        write_file(path, (json.dumps(content, indent=2) + "\n").encode("ascii"), private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PatientLedger:
        """Read the file of a ledger.

        Raises
        ------
        ExchangeError
            If the file cannot be read, is not a ledger, or holds too little noise for its epsilon.
        """
        content = _read(path)
        ledger = cls(**{name: content[name] for name in (*_NUMBERS, *_COUNTS)}, path=path)
        # The noise is the only number that no option repeats: an edited noise would break the promise.
        planned = epsilon_of_steps(ledger.noise_multiplier, ledger.sampling_rate, ledger.n_planned, ledger.delta)
        if planned > 1.001 * ledger.epsilon:
            raise ExchangeError("The ledger holds less noise than its epsilon needs. It was edited.", path=str(path))
        return ledger


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        content = json.loads(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError, RecursionError):
        raise ExchangeError("The privacy ledger cannot be read.", path=str(path)) from None
    if not isinstance(content, dict) or set(content) != {"kind", *_NUMBERS, *_COUNTS} or content["kind"] != _KIND:
        raise ExchangeError("The file is not a privacy ledger.", path=str(path))
    return content


def _text(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else str(path)
