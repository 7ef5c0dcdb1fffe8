"""`PatientPrivacy`: training of a tagger with differential privacy for each patient."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exceptions import ExchangeError
from .patient_ledger import PatientLedger
from .privacy_ledger import LARGEST_EPSILON
from .value_checks import check_parameter, is_number, with_plain_numbers

# With other numbers the noise overflows, or the accountant is no longer exact: at sampling rates of 1e-8 and above, the
# epsilon of the ledger was measured to lie above that of the more exact accountant of privacy losses. A delta of 1 or
# more is no promise. A sampling rate of 1 is plain gradient descent.
_RANGES = {"epsilon": (1e-15, 1e15), "delta": (1e-100, 1.0), "clip": (1e-6, 1e6), "sampling_rate": (1e-6, 1.0)}

ONE_PLAN = "PatientPrivacy plans the noise for all epochs. Use fit or fit_workers, not partial_fit."


@dataclass(frozen=True)
class PatientPrivacy:
    """Differentially private SGD with the patient as the unit, as the ``privacy`` of a learner or a `DSSGDEnsemble`.

    In each step every patient takes part with the probability ``sampling_rate``, independently of the other patients
    (Poisson sampling). The gradient of a patient is the gradient of the mean loss of all sentences of the patient,
    shrunk to a Euclidean norm of at most ``clip``. The site adds normal noise with the standard deviation
    ``noise_multiplier * clip`` to the sum of the gradients. The noise multiplier is computed before the training from
    ``epsilon``, ``delta`` and the number of steps. Everything that a site computes from the noisy gradients has the
    guarantee: its uploads, its tagger and the global network.

    Parameters
    ----------
    epsilon : float
        Total epsilon of the whole training, positive.
    delta : float in (0, 1), default=1e-5
        Total delta. The value must be below 1 divided by the number of patients: a larger delta would permit the
        publication of all data of a patient.
    clip : float in [1e-6, 1e6], default=1.0
        Largest Euclidean norm of the gradient of a patient.
    sampling_rate : float in [1e-6, 1], default=0.25
        Probability that a patient takes part in a step. A local epoch has ``1 / sampling_rate`` steps, rounded up.
    ledger : path or None, default=None
        File of the `PatientLedger`, which survives restarts. None keeps the ledger in memory.
    layers : {"auto", "all", "last"}, default="auto"
        Layers that are trained. "last" trains only the emissions and the CRF, without dropout. Each trained parameter
        receives the same noise: with fewer trained parameters, the total noise is smaller. "auto" means "last" for a
        training that starts from another tagger (``warm_start_from``), and otherwise "all".

    Notes
    -----
    Neighbouring data sets differ by one patient with all sentences. The guarantee treats the number of patients as
    public, because the sum of the gradients is divided by the expected number of patients of a step. Span swapping is
    off, because the swapped name of one patient would influence the gradient of another patient. F1 and losses of the
    site have no noise and must stay at the site. The epsilon does not cover patients who are held out for validation.
    The tagger is never trained on the notes of these patients, but the notes decide which downloads a site refuses. The
    choice of the held-out patients counts as public, too: one more patient can change this choice.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy, CCS, algorithm 1.
    McMahan et al. (2018), Learning differentially private recurrent language models, ICLR, for persons as the unit.

    Examples
    --------
    >>> privacy = PatientPrivacy(epsilon=8.0, sampling_rate=0.2)
    >>> privacy.n_steps
    5
    >>> privacy.check(n_patients=200_000)
    Traceback (most recent call last):
        ...
    sklearn_deid.exceptions.ExchangeError: 'delta' is 1e-05, but must be below 1 / 200000, the number of patients.
    """

    epsilon: float
    delta: float = 1e-5
    clip: float = 1.0
    sampling_rate: float = 0.25
    ledger: str | os.PathLike[str] | None = None
    layers: str = "auto"

    def __post_init__(self) -> None:
        with_plain_numbers(self)
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            is_allowed = is_number(value, least, most) and not (name == "delta" and value == most)
            check_parameter("PatientPrivacy", name, value, is_allowed, f"a number from {least:g} to {most:g}")
        is_allowed = self.layers in ("auto", "all", "last")
        check_parameter("PatientPrivacy", "layers", self.layers, is_allowed, "auto, all or last")

    def trains_last_layers(self, is_started: bool) -> bool:
        """Whether only the last layers are trained; ``is_started`` for a training that starts from another tagger."""
        return self.layers == "last" or (self.layers == "auto" and is_started)

    @property
    def n_steps(self) -> int:
        """Number of steps of a local epoch."""
        return math.ceil(1.0 / self.sampling_rate - 1e-9)

    def check(self, n_patients: int) -> None:
        """Refuse settings without a meaningful guarantee for this number of patients.

        Raises
        ------
        ExchangeError
            If epsilon is above 100, or delta is not below 1 divided by the number of patients.
        """
        if self.epsilon > LARGEST_EPSILON:
            raise ExchangeError(
                f"'epsilon' is {self.epsilon:g}, which promises nothing. At most {LARGEST_EPSILON:g} is accepted."
            )
        if n_patients < 1 or self.delta * n_patients >= 1.0:
            raise ExchangeError(
                f"'delta' is {self.delta:g}, but must be below 1 / {n_patients}, the number of patients."
            )

    def open_ledger(self, n_patients: int, n_epochs: int) -> PatientLedger:
        """Plan a training, or continue the ledger of an interrupted training.

        Parameters
        ----------
        n_patients : int
            Number of patients on whom the site trains.
        n_epochs : int
            Local epochs of the whole training.

        Raises
        ------
        ExchangeError
            If the settings give no meaningful guarantee, or if the file is the ledger of another plan.
        MissingDependencyError
            If dp-accounting is not installed.
        """
        self.check(n_patients)
        asked: dict[str, Any] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "sampling_rate": self.sampling_rate,
            "n_planned": self.n_steps * n_epochs,
        }
        if self.ledger is None or not Path(self.ledger).exists():
            return PatientLedger.planned(path=self.ledger, **asked)
        kept = PatientLedger.load(self.ledger)
        other = [name for name, value in asked.items() if getattr(kept, name) != value]
        if other:
            raise ExchangeError(
                f"The ledger belongs to another plan: {', '.join(other)} differ. A new plan would spend a second "
                "budget on the same patients.",
                path=str(self.ledger),
            )
        return kept
