"""Noise of a release: drawn on the host from a single stream, in double precision, and rounded to a public grid."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._randomness import FINEST_STEP, MOST_STEPS, grid_step, to_grid
from .network import Representer


class ReleaseNoise:
    """Input noise and output noise of a representer, for the tokens of one release.

    The noise is drawn on the host for every device, for two reasons: PyTorch's generators are not cryptographic, and
    the CPU generator keeps only 32 bits of its seed. A thread draws the numbers of the next batch while the network
    computes. Use the object in a ``with`` statement. For each batch, call `input_eps` once, and then `released` once.

    Parameters
    ----------
    representer : Representer
        Representer whose noise is drawn.
    generator : numpy Generator
        Random stream from `release_generator`. Delete the stream after the release.
    n_tokens : sequence of int
        Number of tokens of each batch.
    """

    def __init__(self, representer: Representer, generator: np.random.Generator, n_tokens: Sequence[int]) -> None:
        self._generator, self._unit_norm = generator, representer.unit_norm
        self._std = representer.output_std().detach().cpu().numpy().astype(np.float64)
        self._grid = noise_grid(representer)
        has_input_noise = representer.input_noise.kind != "none"
        self._widths = (representer.input_noise.size * has_input_noise, representer.output_noise.size)
        self._left = iter(n_tokens)
        self._thread = ThreadPoolExecutor(1)
        self._ahead = self._draw_next()
        self._eps: np.ndarray | None = None

    def __enter__(self) -> ReleaseNoise:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._thread.shutdown()

    def _draw_next(self) -> Future:
        # shape of the drawn arrays: (n_tokens, width), without padding
        n = next(self._left, 0)
        return self._thread.submit(lambda: [self._generator.standard_normal((n, width)) for width in self._widths])

    def input_eps(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Return standard normal numbers in the shape of the embeddings, for `Representer.mean`; zero at padding."""
        drawn, self._eps = self._ahead.result()
        self._ahead = self._draw_next()
        eps = torch.zeros_like(embeddings)
        if drawn.shape[1]:
            eps[mask] = torch.from_numpy(drawn).to(eps)
        return eps

    def released(self, mean: np.ndarray) -> np.ndarray:
        """Make the released vectors from means of shape (n_tokens, d): float32 numbers on the released grid.

        The mean is split into whole grid steps and a remainder, both exact. The noise is added to the remainder alone.
        The rounding error of double precision then does not depend on the size of the mean. The slack of the bound
        assumes this independence.
        """
        mean = mean.astype(np.float64)
        whole = np.rint(mean / self._grid)
        assert self._eps is not None
        # All steps work in place on ``noisy``, shape (n_tokens, d). The draw is dropped, so it cannot be used twice.
        noisy, self._eps = self._eps, None
        noisy *= self._std
        mean -= whole * self._grid
        noisy += mean
        noisy /= self._grid
        np.rint(noisy, out=noisy)
        noisy += whole
        noisy += 0.0  # -0.0 becomes 0.0: the sign would reveal that the mean itself was rounded up to zero
        values = np.clip(noisy, -MOST_STEPS, MOST_STEPS, out=noisy)
        values *= self._grid
        # Unit length is a function of the noisy vectors alone, so it cannot raise an attacker's accuracy.
        if self._unit_norm:
            length = np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
            values /= np.where(length > 0.0, length, 1.0)
            values = to_grid(values, FINEST_STEP)
        return values.astype(np.float32)


def noise_grid(representer: Representer) -> float:
    """Return the step of the grid to which noisy vectors are rounded before unit length."""
    return grid_step(representer.output_std().detach().cpu().numpy())


def released_grid(representer: Representer) -> float:
    """Return the step of the grid on which all released numbers of a representer lie, except for the casing."""
    return FINEST_STEP if representer.unit_norm else noise_grid(representer)


def agree_in_float32(told: float, value: float) -> bool:
    """Whether a stated number is a float32, and equals the computed number up to rounding.

    Examples
    --------
    >>> agree_in_float32(0.5, 0.5 + 1e-8), agree_in_float32(0.5 + 1e-8, 0.5)
    (True, False)
    """
    return told == float(np.float32(told)) and bool(np.isclose(told, value, rtol=1e-6, atol=0.0))
