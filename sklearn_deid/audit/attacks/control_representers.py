"""Representers for controls: `RawVectors` hides almost nothing, and `BlindRepresenter` hides everything.

If an attack fails on `RawVectors`, failure of the attack on a release is no evidence of privacy. If an attack succeeds
on `BlindRepresenter`, the attack measures something other than the release.
"""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from ...representations.network import Representer
from ...representations.noise import GaussianNoise

# Without any noise, two releases of a sentence would be equal, and every comparison would find this equality.
_LITTLE = 0.1


class RawVectors(Representer):
    """Control that hides little: word vectors, unchanged or with a little noise, and not scaled to unit length.

    Parameters
    ----------
    size : int
        Width of the word vectors.
    std : float, default=0.0
        Standard deviation of the noise.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks import RawVectors
    >>> x, mask = torch.tensor([[[3.0, 4.0]]]), torch.tensor([[True]])
    >>> RawVectors(2)(x, mask).tolist()
    [[[3.0, 4.0]]]
    """

    def __init__(self, size: int, std: float = 0.0) -> None:
        noise = GaussianNoise(size, kind="none") if std == 0.0 else GaussianNoise(size, kind="fixed", init=std)
        nothing = GaussianNoise(size, kind="none")
        super().__init__(size, size, kind="dense", input_noise=nothing, output_noise=noise, unit_norm=False)

    def mean(self, x: Tensor, mask: Tensor, **options: Any) -> Tensor:
        """Return the word vectors, with zeros at padded positions."""
        return x.masked_fill(~mask.unsqueeze(2), 0.0)


class BlindRepresenter(Representer):
    """Control that reveals nothing: each token has a random direction, independent of the sentence.

    Parameters
    ----------
    size, n_components : int
        Width of the word vectors, which are ignored, and width of the representation.
    unit_norm : bool, default=True
        Whether the vectors are scaled to unit length.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks import BlindRepresenter
    >>> x, mask = torch.ones(1, 2, 4), torch.tensor([[True, False]])
    >>> BlindRepresenter(4, 3)(x, mask).norm(dim=2).round().tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, size: int, n_components: int, unit_norm: bool = True) -> None:
        noise = GaussianNoise(n_components, kind="fixed", init=1.0)
        nothing = GaussianNoise(size, kind="none")
        super().__init__(size, n_components, kind="dense", input_noise=nothing, output_noise=noise, unit_norm=unit_norm)

    def mean(self, x: Tensor, mask: Tensor, **options: Any) -> Tensor:
        """Return zeros for every sentence."""
        # The added noise is then the whole output. shape: (batch, time, n_components)
        return x.new_zeros(*x.shape[:2], self.output_noise.size)


def slightly_noisy(table: Tensor) -> RawVectors:
    """Return `RawVectors` whose noise is a tenth of the numbers in the word vectors (root mean square).

    Parameters
    ----------
    table : Tensor of shape (n_words, e)
        Word vectors.
    """
    size = float(table.double().square().mean().sqrt())
    std = _LITTLE * size if math.isfinite(size) else 0.0
    return RawVectors(table.shape[1], std).to(table.device)
