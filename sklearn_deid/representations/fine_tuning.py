"""The last part of bounded training: the tagger learns on, from a representation that no longer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from ..tagging.callbacks import MovingAverage
from .adversary_steps import frozen
from .pair_batches import PairBatches
from .private_model import PrivateModel, TrainingLog

if TYPE_CHECKING:
    from .bounded import BoundedSettings

__all__ = ["fine_tune_tagger", "rate_factor"]

_FULL_RATE = 0.5  # share of the epochs at the full learning rate; then it falls to a fiftieth


def rate_factor(epoch: int, n_epochs: int) -> float:
    """Learning rate of an epoch, counted from 0, as a share of the full one.

    Examples
    --------
    >>> from sklearn_deid.representations import rate_factor
    >>> [round(rate_factor(epoch, 4), 2) for epoch in range(5)]
    [1.0, 1.0, 1.0, 0.5, 0.02]
    """
    return min(1.0, max(0.02, (1.0 - epoch / n_epochs) / (1.0 - _FULL_RATE)))


def fine_tune_tagger(
    model: PrivateModel,
    notes: PairBatches,
    *,
    settings: BoundedSettings,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog,
) -> bool:
    """Train the tagger alone, on fresh noise in every epoch; returns whether it was interrupted.

    While both learn, the tagger runs after a representation that changes at each step, and at the end the noise is
    scaled. What the representer releases is not touched here, and neither is its bound; the notes on which that
    was measured may therefore be among those that the tagger learns from.

    Parameters
    ----------
    model : PrivateModel
        Only its tagger is trained, in place.
    notes : PairBatches
    settings : BoundedSettings
        ``n_finish_epochs``, and what the training before it had: rate, clipping, averaging and swapping.
    rng : numpy.random.Generator
        Order of the sentences, and swapped spans.
    generator : torch.Generator
        Noise; on the device of the batches.
    log : TrainingLog
        Gets a row of phase "finish" for each epoch.

    Notes
    -----
    Part P3a of the three-part training (Friedrich et al. 2019, section 5.4) without its adversary: there too the tagger
    catches up with a representer that stands still. Ctrl-C ends it, and the average of the weights so far is kept.
    """
    tagger = model.tagger
    optimizer = torch.optim.NAdam(tagger.parameters(), lr=settings.lr)
    average, interrupted = MovingAverage(tagger, settings.weight_average), False
    model.train()
    try:
        with frozen(model.representer):
            for epoch in range(settings.n_finish_epochs):
                optimizer.param_groups[0]["lr"] = settings.lr * rate_factor(epoch, settings.n_finish_epochs)
                batches, losses = notes.swapped(settings.span_swap, rng), []
                for batch in batches.epoch(rng, generator, moved=False):
                    optimizer.zero_grad(set_to_none=True)
                    r = model.representer(batch.embeddings, batch.mask, generator=generator)
                    loss = model.deid_loss(r, batch)
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(tagger.parameters(), settings.gradient_clip)
                    optimizer.step()
                    average.update(tagger)
                    losses.append(loss.detach())
                log.record("finish", train_deid_loss=float(torch.stack(losses).mean()))
    except KeyboardInterrupt:
        interrupted = True
    average.keep(tagger)
    return interrupted
