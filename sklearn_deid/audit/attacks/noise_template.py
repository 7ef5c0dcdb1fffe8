"""Noise-free template of released vectors, which every owner of the published network can compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, repr=False)
class NoiseTemplate:
    """Vectors before the noise is added, and the stated distribution of the noise, from the published network.

    Attributes
    ----------
    mean : ndarray of shape (n_tokens, d)
        Vectors without noise, before they are scaled to length 1.
    std : ndarray of shape (d,)
        Stated standard deviation of the noise of each dimension.
    unit_norm : bool
        Whether noisy vectors are scaled to length 1.
    grid : float
        Step of the grid to which noisy vectors are rounded before the scaling.
    input_noise : bool
        Whether the network also adds noise to the word vectors. ``mean`` is then computed without this noise, and the
        released vectors differ from ``mean`` by more than ``std``.

    Examples
    --------
    >>> import numpy as np
    >>> template = NoiseTemplate(np.array([[3.0, 4.0]]), np.ones(2), True, 2.0**-5, False)
    >>> template.vectors.tolist()
    [[0.6, 0.8]]
    """

    mean: np.ndarray
    std: np.ndarray
    unit_norm: bool
    grid: float
    input_noise: bool

    def __post_init__(self) -> None:
        if self.mean.ndim != 2 or self.std.shape != self.mean.shape[1:]:
            raise ValueError("A template needs one standard deviation for each column of its means.")

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def vectors(self) -> np.ndarray:
        """Templates in the form of the release: scaled to length 1 if the release is scaled."""
        if not self.unit_norm:
            return self.mean
        length = np.linalg.norm(self.mean, axis=1, keepdims=True)
        return self.mean / np.where(length > 0.0, length, 1.0)
