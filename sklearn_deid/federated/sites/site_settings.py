"""Settings of one site, in a file that stays at the site: `SiteSettings`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...exceptions import ExchangeError
from ..noise import GaussianUpload, SparseVectorUpload
from ..worker import WorkerSettings


@dataclass(frozen=True)
class SiteSettings:
    """Settings of one site. The file stays at the site, and no message holds it.

    The sizes of messages reveal how many parameters a site fetches and sends. They do not reveal ``clip``,
    ``threshold`` and the other settings.

    Parameters
    ----------
    corpus : str
        File or folder with annotated notes.
    state : str
        Folder for the worker's state, its log and its model. It holds more than the site shares.
    random_state : int or None, default=None
        Random seed of training, and of the selection of sent parameters without noise. Uploads with noise do not use
        it: each is drawn under a new key.
    format, encoding : str or None, default=None
        As for `read_corpus`.
    upload_fraction, download_fraction, clip, threshold, selection, upload_dtype, error_feedback
        theta_u, theta_d, gamma, tau and so on, as for `federated.WorkerSettings`.
    epsilon : float or None, default=None
        Sparse-vector noise (`federated.SparseVectorUpload`): privacy loss of each epoch.
    noise_multiplier, norm_bound : float or None, default=None
        Gaussian noise (`federated.GaussianUpload`); both or none.
    validation_fraction : float or None, default=None
        Share of the patients held out to measure F1, for the site's own log.
    device : str, default="cpu"
    threads : int, default=1

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
    validation_fraction: float | None = None
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        try:
            self.worker_settings().check_privacy(self.privacy())
        except ValueError as error:
            raise ExchangeError(str(error)) from None
        if self.validation_fraction is not None and not 0 < self.validation_fraction < 1:
            raise ExchangeError("'validation_fraction' must be between 0 and 1.")
        for name in ("random_state", "threads"):
            value = getattr(self, name)
            if name == "random_state" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ExchangeError(f"'{name}' must be a whole number.")

    def worker_settings(self) -> WorkerSettings:
        """The settings of the `federated.Worker`."""
        return WorkerSettings.of(self)

    def privacy(self) -> Any:
        """The noise of uploads, or None."""
        noise, bound = self.noise_multiplier, self.norm_bound
        if (noise is None) != (bound is None):
            raise ExchangeError("'noise_multiplier' and 'norm_bound' belong together.")
        if noise is not None and bound is not None:
            if self.epsilon is not None:
                raise ExchangeError("Choose either 'epsilon' or 'noise_multiplier' with 'norm_bound'.")
            return GaussianUpload(noise, bound)
        return None if self.epsilon is None else SparseVectorUpload(self.epsilon)
