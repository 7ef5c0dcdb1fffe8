"""What a server accepts and hands out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .selection import DOWNLOAD_SELECTIONS

__all__ = ["ServerLimits"]


@dataclass(frozen=True)
class ServerLimits:
    """What the server accepts, how it applies it, and what it hands out.

    Parameters
    ----------
    max_abs : float, default=inf
        Largest magnitude of a single value.
    max_norm : float, default=inf
        Largest Euclidean norm of an update (norm bound against a malicious worker).
    max_staleness : int, default=None
        How many updates may have been applied since the worker downloaded what its update starts from; None for any.
    step : float, default=1.0
        What updates are multiplied by when they are added. 1 is the papers'; with n workers that train at the same
        time 1/n adds their mean instead of their sum.
    download_selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        Which parameters a worker gets (`select_download`); the papers' are the most-updated ones. For "most-changed"
        the server keeps a vector for each worker: what it has handed out to it.
    """

    max_abs: float = math.inf
    max_norm: float = math.inf
    max_staleness: int | None = None
    step: float = 1.0
    download_selection: str = "most-updated"

    def __post_init__(self) -> None:
        for name in ("max_abs", "max_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"The '{name}' parameter must be a positive number. Got {getattr(self, name)!r}.")
        if self.max_staleness is not None and self.max_staleness < 0:
            raise ValueError(f"The 'max_staleness' parameter must not be negative. Got {self.max_staleness!r}.")
        if not 0.0 < self.step < math.inf:
            raise ValueError(f"The 'step' parameter must be a positive number. Got {self.step!r}.")
        if self.download_selection not in DOWNLOAD_SELECTIONS:
            allowed = ", ".join(DOWNLOAD_SELECTIONS)
            raise ValueError(
                f"The 'download_selection' parameter must be one of {allowed}. Got {self.download_selection!r}."
            )
