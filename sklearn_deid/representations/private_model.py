"""Common parts of all trainings of private representations.

This file has the model of both networks, metrics of the tagger and of the noise, a log of epochs, and the best state so
far.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ..tagging.batching import SentenceBatch
from ..tagging.network import TaggerModule
from .network import Representer
from .pair_batches import PairBatch, PairBatches

# The size of the noise is shown in each epoch: a sample of the sentences is precise enough, and costs little.
_SENTENCES = 256
# Progress is shown for trainings that take longer than the first number of seconds, a line after the second number.
_SHORT_TRAINING, _SECONDS_BETWEEN_LINES = 60.0, 10.0


class PrivateModel(nn.Module):
    """A representer and the tagger that reads its released vectors.

    Parameters
    ----------
    representer : Representer
        Network that makes the vectors.
    tagger : TaggerModule
        Tagger of vectors as wide as the representation, plus the casing one-hot if the sentences have one. Tag 0 is
        "O".

    References
    ----------
    Friedrich et al. (2019), figure 2: the upper two of its three parts.
    """

    def __init__(self, representer: Representer, tagger: TaggerModule) -> None:
        super().__init__()
        self.representer, self.tagger = representer, tagger

    def emissions(self, r: Tensor, batch: PairBatch) -> Tensor:
        """Compute the emissions of the tagger for representations of shape (batch, time, d)."""
        # The casing is released beside the representation, without noise; shape: (batch, time, d + n_casing)
        vectors = r if batch.casing is None else torch.cat([r, batch.casing], 2)
        return self.tagger(SentenceBatch(lengths=batch.mask.sum(1), mask=batch.mask, vectors=vectors))

    def deid_loss(self, r: Tensor, batch: PairBatch) -> Tensor:
        """Compute l_deid, the tagger's loss on representations of the sentences of a batch."""
        return self.tagger.loss(self.emissions(r, batch), batch.tags, batch.mask)


@torch.no_grad()
def deid_scores(model: PrivateModel, batches: PairBatches, generator: torch.Generator) -> dict[str, float]:
    """Compute the loss per sentence and the F1 of "this token is PHI", with noise and without dropout.

    Parameters
    ----------
    model : PrivateModel
        Model to measure. The training mode of the model is restored afterwards.
    batches : PairBatches
        Sentences to tag.
    generator : torch.Generator
        Random stream of the noise, on the device of the batches.

    Returns
    -------
    dict
        "deid_loss" and "token_f1". The F1 is NaN if no token is PHI and no token is tagged as PHI.
    """
    was_training = model.training
    model.eval()
    n, counts = 0, torch.zeros(4, dtype=torch.float64, device=batches.device)
    for batch in batches.epoch(None, generator, moved=False):
        r = model.representer(batch.embeddings, batch.mask, generator=generator)  # shape: (batch, time, d)
        emissions = model.emissions(r, batch)
        # Tag 0 is "O", so every larger index is PHI; shape: (batch, time)
        found = (model.tagger.best_tags(emissions, batch.mask) > 0) & batch.mask
        gold = (batch.tags > 0) & batch.mask
        loss = model.tagger.loss(emissions, batch.tags, batch.mask) * len(batch.mask)
        counts += torch.stack([loss.double(), (found & gold).sum(), found.sum(), gold.sum()])
        n += len(batch.mask)
    model.train(was_training)
    loss, hits, n_found, n_gold = counts.tolist()
    f1 = 2 * hits / (n_found + n_gold) if n_found + n_gold else math.nan
    return {"deid_loss": loss / max(n, 1), "token_f1": f1}


def noise_aware_groups(model: PrivateModel, lr: float, noise_lr: float) -> list[dict[str, Any]]:
    """Make optimizer groups; the noise has a separate learning rate, since its weights are few and large."""
    noise = [*model.representer.input_noise.parameters(), *model.representer.output_noise.parameters()]
    ids = {id(p) for p in noise}
    others = [p for p in model.parameters() if id(p) not in ids]
    return [{"params": others, "lr": lr}] + ([{"params": noise, "lr": noise_lr}] if noise else [])


class BestState:
    """Keep the weights with the lowest score so far.

    Parameters
    ----------
    *modules : nn.Module
        Modules whose weights are kept.

    Attributes
    ----------
    score : float
        Lowest score so far; infinite before the first call of `offer`.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import BestState
    >>> layer = torch.nn.Linear(1, 1)
    >>> best = BestState(layer)
    >>> best.offer(1.0), best.offer(2.0), best.offer(float("nan")), best.score
    (True, False, False, 1.0)
    """

    def __init__(self, *modules: nn.Module) -> None:
        self.modules, self.score = modules, math.inf
        self._states: list[dict[str, Tensor]] | None = None

    def offer(self, score: float) -> bool:
        """Keep the current weights if the score is lower than all earlier scores; return whether they are kept."""
        if not score < self.score:
            return False
        self.score = score
        self._states = [{k: v.detach().clone() for k, v in m.state_dict().items()} for m in self.modules]
        return True

    def restore(self) -> None:
        """Load the best weights into the modules; change nothing if no weights were kept."""
        for module, state in zip(self.modules, self._states or [], strict=False):
            module.load_state_dict(state)


class TrainingLog:
    """Log with a row of numbers for each epoch of each phase.

    Parameters
    ----------
    verbose : int, default=0
        1 prints a line for each epoch to standard output. 0 prints a line about every 10 seconds to standard error if
        the training will take more than a minute. -1 prints nothing.
    n_epochs : int, optional
        Largest number of epochs of all phases. Without ``n_epochs``, the log cannot estimate the duration of the
        training.

    Attributes
    ----------
    rows : list of dict
        Rows with "phase", "epoch" (counted from 1 in each phase), "seconds", and the numbers of the epoch.
    """

    def __init__(self, verbose: int = 0, n_epochs: int | None = None) -> None:
        self.verbose, self.n_epochs = verbose, n_epochs
        self.rows: list[dict[str, Any]] = []
        self._since = self._began = self._shown = time.perf_counter()

    def record(self, phase: str, **numbers: float) -> None:
        """Add the row of an epoch."""
        now = time.perf_counter()
        epoch = 1 + sum(row["phase"] == phase for row in self.rows)
        self.rows.append({"phase": phase, "epoch": epoch, "seconds": now - self._since, **numbers})
        self._since = now
        if self.verbose == 0:
            self._show_progress(now)
        if self.verbose > 0:
            shown = "  ".join(f"{k} {v:.4g}" for k, v in numbers.items())
            print(f"{phase:>10} {epoch:>4}  {shown}  ({self.rows[-1]['seconds']:.1f} s)", file=sys.stdout, flush=True)

    def _show_progress(self, now: float) -> None:
        if self.n_epochs is None or now - self._shown < _SECONDS_BETWEEN_LINES:
            return
        passed = now - self._began
        expected = passed / len(self.rows) * self.n_epochs
        if expected > _SHORT_TRAINING:
            self._shown = now
            left = max(0.0, expected - passed) / 60
            text = f"training: epoch {len(self.rows)} of at most {self.n_epochs}, about {left:.1f} minutes left"
            print(text, file=sys.stderr, flush=True)

    def of_phase(self, phase: str) -> Iterator[dict[str, Any]]:
        """Return the rows of a phase."""
        return (row for row in self.rows if row["phase"] == phase)


@torch.no_grad()
def noise_figures(representer: Representer, batches: PairBatches) -> dict[str, float]:
    """Measure the size of the noise and the size of the vectors without noise, on some sentences with PHI.

    Parameters
    ----------
    representer : Representer
        Representer to measure.
    batches : PairBatches
        Sentences; at most 256 sentences with PHI are read.

    Returns
    -------
    dict
        "input_std" and "output_std" are the mean standard deviations of the noise over its dimensions.
        "signal_to_noise" is the spread over tokens of the representation without any noise, in units of the output
        noise (root mean squares over dimensions; infinite without noise). "output_norm" is the mean length of a token's
        vector before noise and unit length. A representer can compensate its noise by larger outputs, so read these
        numbers together.

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
    # No counterfactuals are made and no noise is added, so nothing is drawn from this generator.
    unused = torch.Generator(device)
    for batch in batches.epoch(None, unused, sentences="pairs", max_pairs=_SENTENCES, moved=False):
        # shape: (batch, time, d), zero at padded positions
        mu = representer.mean(batch.embeddings, batch.mask, noise=False).double()
        sums += torch.stack([mu.sum((0, 1)), mu.square().sum((0, 1))])
        norm_and_count += torch.stack([mu.norm(dim=2).sum(), batch.mask.sum()])
    norm, n = norm_and_count / norm_and_count[1].clamp_min(1.0), norm_and_count[1].clamp_min(1.0)
    # Var = E[mu^2] - E[mu]^2 for each dimension, shape (d,); rounding could make the difference slightly negative.
    variance = (sums[1] / n - (sums[0] / n).square()).clamp_min(0.0)
    into, out = representer.input_noise.std(), representer.output_std()
    ratio = (variance.mean() / out.double().square().mean()).sqrt()
    numbers = torch.stack([into.mean().double(), out.mean().double(), ratio, norm[0]]).tolist()
    return dict(zip(("input_std", "output_std", "signal_to_noise", "output_norm"), numbers, strict=True))
