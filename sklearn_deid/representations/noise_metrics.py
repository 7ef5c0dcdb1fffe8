"""How much noise a representer has, beside what it says."""

from __future__ import annotations

import torch

from .network import Representer
from .pair_batches import PairBatches

__all__ = ["noise_figures"]

_SENTENCES = 256


@torch.no_grad()
def noise_figures(representer: Representer, batches: PairBatches) -> dict[str, float]:
    """Size of the noise, and of the signal that it hides, on some sentences with PHI.

    Parameters
    ----------
    representer : Representer
    batches : PairBatches

    Returns
    -------
    dict
        "input_std" and "output_std", mean standard deviation of the noise over its dimensions; "signal_to_noise", the
        spread over tokens of the representation without any noise, in units of the output noise (root mean squares
        over dimensions; infinite without noise); "output_norm", mean length of a token's vector before noise and unit
        length. A representer can undo its noise by larger outputs, so none of them says much alone.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import GaussianNoise, Representer
    >>> from sklearn_deid.representations import PairBatches, PairData, noise_figures
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> representer = Representer(4, 3, output_noise=GaussianNoise(3, init=0.5))
    >>> figures = noise_figures(representer, PairBatches(data))
    >>> figures["output_std"], figures["signal_to_noise"] < 1.0
    (0.5, True)
    """
    device = batches.device
    sums = torch.zeros(2, representer.output_noise.size, dtype=torch.float64, device=device)
    norm_and_count = torch.zeros(2, dtype=torch.float64, device=device)
    # Without twins nothing is drawn from this.
    unused = torch.Generator(device)
    for batch in batches.epoch(None, unused, sentences="pairs", max_pairs=_SENTENCES, moved=False):
        # shape: (batch, time, d), zero at padded positions
        mu = representer.mean(batch.embeddings, batch.mask, noise=False).double()
        sums += torch.stack([mu.sum((0, 1)), mu.square().sum((0, 1))])
        norm_and_count += torch.stack([mu.norm(dim=2).sum(), batch.mask.sum()])
    norm, n = norm_and_count / norm_and_count[1].clamp_min(1.0), norm_and_count[1].clamp_min(1.0)
    variance = (sums[1] / n - (sums[0] / n).square()).clamp_min(0.0)
    into, out = representer.input_noise.std(), representer.output_std()
    ratio = (variance.mean() / out.double().square().mean()).sqrt()
    numbers = torch.stack([into.mean().double(), out.mean().double(), ratio, norm[0]]).tolist()
    return dict(zip(("input_std", "output_std", "signal_to_noise", "output_norm"), numbers, strict=True))
