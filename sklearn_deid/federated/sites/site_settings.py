"""Settings of one site, in a file that stays at the site: `SiteSettings`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...exceptions import ExchangeError
from ..noise import GaussianUpload, SparseVectorUpload
from ..patient_privacy import PatientPrivacy
from ..privacy_ledger import PrivacyLedger, check_promise
from ..rotating_patients import ROTATING
from ..worker import WorkerSettings
from .json_file import check_kinds

# As in scikit-learn
LARGEST_SEED = 2**32 - 1
_MOST_THREADS = 4096
PATIENT_LEDGER = "patient-privacy.json"


@dataclass(frozen=True)
class SiteSettings:
    """Settings of one site. The file stays at the site, and its content is not sent.

    The sizes of messages reveal how many parameters a site fetches and sends. In common rounds, a site also states
    whether its updates have noise. Messages do not reveal ``clip``, ``threshold`` and the other settings.

    Parameters
    ----------
    corpus : str
        File or folder with annotated notes.
    state : str
        Folder for the worker's state, its log and its model. The folder reveals more than the site shares.
    random_state : int or None, default=None
        Random seed of training, and of the selection of sent parameters without noise. Uploads with noise do not use
        the seed, because each upload has a new key.
    format, encoding : str or None, default=None
        Parameters of `read_corpus`.
    upload_fraction, download_fraction, clip, threshold, selection, upload_dtype, error_feedback
        Parameters of `federated.WorkerSettings`, such as theta_u, theta_d, gamma and tau.
    epsilon : float or None, default=None
        Privacy loss of each epoch with sparse-vector noise (`federated.SparseVectorUpload`).
    noise_multiplier, norm_bound : float or None, default=None
        Parameters of Gaussian noise (`federated.GaussianUpload`). Set both parameters or neither parameter.
    validation_fraction : float, "rotating" or None, default="rotating"
        Patients on whom the site tests every download. With "rotating", each pass holds out another tenth of the
        patients, at least one (`federated.RotatingPatients`). With a number, this fraction of the patients is held out
        of the whole training (`federated.HeldOutGuard`), and the site's own log contains F1 on these patients. With
        None, no download is tested.
    patient_epsilon : float or None, default=None
        Total epsilon of each patient over all sessions (`federated.PatientPrivacy`). None trains without patient-level
        noise.
    patient_delta, patient_clip, patient_sampling_rate : float, default=1e-5, 1.0, 0.25
        Parameters of `federated.PatientPrivacy`. Used only with ``patient_epsilon``.
    notes_are_patients : bool, default=False
        Whether each note without a patient id counts as a patient of its own. Without ``notes_are_patients``,
        ``patient_epsilon`` needs the patient of every note: two notes of one patient would otherwise have the full
        epsilon each.
    report_f1 : bool, default=False
        Whether the site reports its last F1 on held-out patients to the server at the end of a session. Needs
        ``validation_fraction``.
    mask_key : str or None, default=None
        File with the site's private key for masks (`make_mask_key`). Used only if the agreement has ``mask_keys``.
    device : str, default="cpu"
        Device of the training.
    threads : int, default=1
        Number of threads of the training.

    Examples
    --------
    >>> SiteSettings("/data/notes", "/data/federation", random_state=1, clip=0.5).worker_settings().clip
    0.5
    """

    corpus: str
    state: str
    random_state: int | None = None
    format: str | None = None
    encoding: str | None = None
    upload_fraction: float = 0.5
    download_fraction: float = 0.1
    clip: float = 10.0
    threshold: float = 1e-4
    selection: str = "random"
    upload_dtype: str = "float32"
    error_feedback: bool = False
    epsilon: float | None = None
    noise_multiplier: float | None = None
    norm_bound: float | None = None
    validation_fraction: float | str | None = ROTATING
    patient_epsilon: float | None = None
    patient_delta: float = 1e-5
    patient_clip: float = 1.0
    patient_sampling_rate: float = 0.25
    notes_are_patients: bool = False
    report_f1: bool = False
    mask_key: str | None = None
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        check_kinds(self)
        try:
            self.worker_settings().check_privacy(self.privacy())
            self.patient_privacy()
        except (TypeError, ValueError) as error:
            raise ExchangeError(str(error)) from None
        fraction = self.validation_fraction
        is_fraction = isinstance(fraction, (int, float)) and 0 < fraction < 1
        if fraction not in (None, ROTATING) and not is_fraction:
            raise ExchangeError(f"'validation_fraction' must be between 0 and 1, or {ROTATING!r}.")
        if self.report_f1 and not is_fraction:
            # Patients who take turns are also in the training, so their F1 would be too high.
            raise ExchangeError("'report_f1' needs held-out patients: set 'validation_fraction' to a number.")
        for name, most in (("random_state", LARGEST_SEED), ("threads", _MOST_THREADS)):
            if not 0 <= (getattr(self, name) or 0) <= most:
                raise ExchangeError(f"'{name}' must be a whole number from 0 to {most}.")

    @property
    def has_noise(self) -> bool:
        """Whether updates have noise, on their gradients or on their values; the server learns this property."""
        return self.patient_epsilon is not None or self.privacy() is not None

    @property
    def shares_all(self) -> bool:
        """Whether the site sends and fetches all parameters, as required by common rounds and masks."""
        fractions = (self.upload_fraction, self.download_fraction)
        return fractions == (1.0, 1.0) and self.threshold == 0 and not self.error_feedback

    def worker_settings(self) -> WorkerSettings:
        """Create the settings of the `federated.Worker`."""
        return WorkerSettings.of(self)

    def patient_privacy(self) -> PatientPrivacy | None:
        """Create a `PatientPrivacy` with its ledger in the state folder; None without ``patient_epsilon``."""
        if self.patient_epsilon is None:
            return None
        ledger = Path(self.state, PATIENT_LEDGER)
        return PatientPrivacy(
            self.patient_epsilon, self.patient_delta, self.patient_clip, self.patient_sampling_rate, ledger
        )

    def privacy(self) -> Any:
        """Create the noise of uploads; None without noise."""
        noise, bound = self.noise_multiplier, self.norm_bound
        # Three settings exclude each other: no noise, Gaussian noise (two fields together), and the sparse vector
        # technique.
        if (noise is None) != (bound is None):
            raise ExchangeError("'noise_multiplier' and 'norm_bound' belong together.")
        if noise is not None and bound is not None:
            if self.epsilon is not None:
                raise ExchangeError("Choose either 'epsilon' or 'noise_multiplier' with 'norm_bound'.")
            return GaussianUpload(noise, bound)
        return None if self.epsilon is None else SparseVectorUpload(self.epsilon)

    def promise(self, n_epochs: int, spent: PrivacyLedger | None = None) -> PrivacyLedger | None:
        """Ledger of the uploads of ``spent`` and of the planned epochs; None without noise on uploads.

        Raises
        ------
        ExchangeError
            If the noise of the uploads gives no meaningful guarantee (`federated.check_promise`).
        """
        privacy = self.privacy()
        try:
            return None if privacy is None else check_promise(privacy.event(), n_epochs, spent=spent)
        except ValueError as error:
            raise ExchangeError(str(error)) from None
