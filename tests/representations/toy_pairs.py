"""A toy language of numbers: words of PHI have a sign, others not; what may move is known."""

import numpy as np
import torch

from sklearn_deid.representations import PairData

N_PHI, N_OTHER = 16, 16
SIZE = 6


def toy_pairs(n_sentences=120, seed=0, phi_share=0.6):
    """Words 0-15 are PHI (tag 1), 16-31 are not (tag 0); each PHI word may become any PHI word, itself included.

    The first number of an embedding says PHI or not, so tags can be learned from it alone; the others tell words apart.
    """
    rng = np.random.default_rng(seed)
    table = torch.from_numpy(np.random.default_rng(7).normal(size=(N_PHI + N_OTHER, SIZE)).astype(np.float32))
    table[:, 0] = torch.where(torch.arange(N_PHI + N_OTHER) < N_PHI, 2.0, -2.0)
    lengths = rng.integers(1, 8, n_sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(N_PHI, N_PHI + N_OTHER, offsets[-1])
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        if rng.random() < phi_share:
            words[rng.integers(start, stop, size=rng.integers(1, 3))] = rng.integers(0, N_PHI)
    eligible = np.flatnonzero(words < N_PHI)
    return PairData(
        table,
        words,
        offsets,
        (words < N_PHI).astype(np.int64),
        eligible,
        np.tile(np.arange(N_PHI), (len(eligible), 1)),
        casing=words % 7,
    )
