"""Bounded training: a private representation without an adversary.

If the noise cannot be predicted, the accuracy of the best possible attacker on one release is known in closed form
(`representations.pair_distance`), and it has a gradient. So representer and tagger are trained together on the tagger's
loss plus a price on the distance d' of moved pairs. The user asks for a bound, and the prices follow it: they rise
while it is not met and fall where there is room (dual ascent). At the end the noise is scaled so that the bound holds
on held-out pairs. Then only the tagger is fine-tuned, on a representation that no longer changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from ..tagging.callbacks import MovingAverage
from .adversary_training import frozen
from .bound import PrivacyBound, distance_of_accuracy, pair_distance, pair_distances, pair_slack, privacy_bound
from .pair_batches import PairBatch, PairBatches
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups

_FULL_RATE = 0.5  # share of the epochs at the full learning rate; then it falls to a fiftieth
_LARGEST_STEP = 1.0  # of a log price in one epoch, in units of the rate: one bad epoch must not decide
_LOG_PRICES = (math.log(1e-4), math.log(1e2))
_DRAWS = 4  # twins of each sentence that the noise is scaled for
_CONFIDENCE, _UPPER = 0.95, 1.645  # of one-sided limits, and the same as a quantile of the normal distribution
_LARGEST_QUANTILE = 0.98  # few sentences would ask for noise that suits the most extreme of them
_OUTSIDE = 1e3  # cost of missing the bound when the best epoch is chosen: more than any loss


@dataclass(frozen=True)
class BoundedSettings:
    """Configuration of a bounded training.

    Attributes
    ----------
    max_attack_accuracy : float, default=0.54
        Bound on the mean over pairs of the best attacker's accuracy.
    quantile_attack_accuracy : float or None, default=0.6
        Bound that all but ``1 - quantile`` of the pairs keep; None asks for the mean alone.
    quantile : float, default=0.95
    n_epochs : int, default=60
    n_finish_epochs : int, default=30
        Of the tagger alone, afterwards.
    lr, noise_lr : float, default=2e-3, 2e-2
    gradient_clip : float, default=1.0
    price : float, default=0.05
        lambda at the start, for both bounds.
    price_rate : float, default=0.4
        How fast prices follow: a distance e times too large multiplies its price by e to this power in an epoch.
    varied : float in [0, 1], default=0.5
        Share of the PHI sentences met with all movable tokens replaced by neighbours, so that the bound and the
        tags are learned for many more words than the notes hold.
    span_swap : float in [0, 1], default=0.5
        Share of the spans of PHI that change places with others of their label, anew in each epoch, as in `DeidTagger`.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of all weights, which is validated and kept; 0 takes the weights themselves.
    """

    max_attack_accuracy: float = 0.54
    quantile_attack_accuracy: float | None = 0.60
    quantile: float = 0.95
    n_epochs: int = 60
    n_finish_epochs: int = 30
    lr: float = 2e-3
    noise_lr: float = 2e-2
    gradient_clip: float = 1.0
    price: float = 0.05
    price_rate: float = 0.4
    varied: float = 0.5
    span_swap: float = 0.5
    weight_average: float = 0.998


@dataclass(frozen=True)
class BoundedResult:
    """Result of a bounded training.

    Attributes
    ----------
    bound : PrivacyBound or None
        On the held-out sentences, on which the noise was scaled; None without held-out pairs.
    noise_factor : float
        By which the noise was multiplied at the end.
    selected_epoch : int
        Whose weights were kept, from 1; without held-out sentences the last.
    interrupted : bool
    """

    bound: PrivacyBound | None
    noise_factor: float
    selected_epoch: int
    interrupted: bool


class DualVariables:
    """Prices (lambda) of the two bounds, in units of the distances that are allowed.

    Parameters
    ----------
    settings : BoundedSettings

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import DualVariables, BoundedSettings
    >>> duals = DualVariables(BoundedSettings(price=1.0))
    >>> duals.follow(torch.full((100,), 9.0))
    >>> duals.mean > 1.0 and duals.tail > 1.0
    True
    """

    def __init__(self, settings: BoundedSettings) -> None:
        self.settings = settings
        self.mean_allowed = distance_of_accuracy(settings.max_attack_accuracy)
        asked = settings.quantile_attack_accuracy
        self.tail_allowed = math.inf if asked is None else distance_of_accuracy(asked)
        self.mean, self.tail = settings.price, 0.0 if asked is None else settings.price

    def cost(self, distance: Tensor) -> Tensor:
        """Price of the distances of a batch: their mean, and how far they are beyond the quantile that is asked for."""
        cost = self.mean * distance.mean() / self.mean_allowed
        if self.tail:
            cost = cost + self.tail * torch.relu(distance - self.tail_allowed).mean() / self.tail_allowed
        return cost

    def follow(self, distances: Tensor) -> None:
        """Raise or lower the prices after an epoch with these distances."""
        self.mean = self._moved(self.mean, float(distances.mean()) / self.mean_allowed)
        if self.tail:
            beyond = float((distances > self.tail_allowed).float().mean())
            self.tail = self._moved(self.tail, beyond / (1.0 - self.settings.quantile))

    def excess(self, distances: Tensor, n_sentences: int | None = None) -> float:
        """By which factor the noise must grow for these distances to keep both bounds; 1 or less if they do.

        With ``n_sentences``, of which the distances are draws, mean and quantile are upper 95 % limits for other
        sentences of the same kind. The quantile's needs some 200 sentences to go as far as that.
        """
        mean, quantile = distances.mean(), self.settings.quantile
        if n_sentences:
            mean = mean + _UPPER * distances.std(correction=0) / math.sqrt(n_sentences)
            rank = (binom.ppf(_CONFIDENCE, n_sentences, quantile) + 1) / n_sentences
            quantile = max(quantile, min(rank, _LARGEST_QUANTILE))
        factor = float(mean) / self.mean_allowed
        if self.tail:
            factor = max(factor, float(torch.quantile(distances, quantile)) / self.tail_allowed)
        return factor

    def _moved(self, price: float, ratio: float) -> float:
        # In the logarithm, so that a price stays positive and rises as easily as it falls.
        step = min(max(math.log(max(ratio, 1e-6)), -_LARGEST_STEP), _LARGEST_STEP)
        low, high = _LOG_PRICES
        return math.exp(min(max(math.log(price) + self.settings.price_rate * step, low), high))


def train_bounded(
    model: PrivateModel,
    train: PairBatches,
    valid: PairBatches | None,
    *,
    settings: BoundedSettings,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog | None = None,
    notes: PairBatches | None = None,
) -> BoundedResult:
    """Train representer and tagger under a bound on the best attacker's accuracy on random pairs of held-out sentences.

    Parameters
    ----------
    model : PrivateModel
        Trained in place. Its representer needs output noise.
    train, valid : PairBatches
        Sentences of different patients; without ``valid`` prices follow the training pairs, the last epoch is kept and
        the noise is scaled on the training pairs.
    settings : BoundedSettings
    rng : numpy.random.Generator
        Order of the sentences.
    generator : torch.Generator
        Noise and twins; on the device of the batches.
    log : TrainingLog, optional
    notes : PairBatches, optional
        All sentences. At the end the tagger is fine-tuned on them, when nothing depends on ``valid`` any longer; by
        default ``train``.

    Returns
    -------
    BoundedResult

    Raises
    ------
    ValueError
        If the representer has no output noise, or no sentence has a token that can move.

    Notes
    -----
    Not part of Friedrich et al. (2019). Ctrl-C ends the training; the best epoch so far is kept and its noise scaled,
    and the tagger does not learn on.
    """
    _check(model, train)
    log = log or TrainingLog()
    duals, best, selected, interrupted = DualVariables(settings), BestState(model), 0, False
    optimizer = torch.optim.NAdam(noise_aware_groups(model, settings.lr, settings.noise_lr))
    average = MovingAverage(model, settings.weight_average)
    try:
        for epoch in range(settings.n_epochs):
            _set_rate(optimizer, settings, epoch)
            batches = train.swapped(settings.span_swap, rng).epoch(rng, generator, varied=settings.varied)
            numbers, distances = _run_epoch(model, batches, optimizer, average, duals, generator)
            with average.in_place(model):
                if valid is not None:
                    scores, distances = _validated(model, valid, generator, distances)
                    numbers.update(scores)
                    score = scores["valid_deid_loss"] + _OUTSIDE * max(0.0, duals.excess(distances) - 1.1)
                if valid is None or best.offer(score):
                    selected = epoch + 1
                log.record("bounded", **numbers, **_state(duals, distances, model))
            duals.follow(distances)
    except KeyboardInterrupt:
        interrupted = True
    average.keep(model)
    best.restore()  # if there is one
    pairs = valid if valid is not None and len(valid.pair_rows) else train
    factor = calibrate_noise(model, pairs, duals, generator)
    bound = None
    if pairs is valid:
        distances, slack = pair_distances(model.representer, pairs, generator), pair_slack(model.representer, pairs)
        bound = privacy_bound(distances, quantile=settings.quantile, slack=slack)
    if not interrupted:
        own = rng.spawn(1)[0]  # What is drawn after the training does not depend on how long the tagger learns.
        interrupted = fine_tune_tagger(model, notes or train, settings=settings, rng=own, generator=generator, log=log)
    return BoundedResult(bound, factor, selected, interrupted)


def calibrate_noise(
    model: PrivateModel, batches: PairBatches, duals: DualVariables, generator: torch.Generator
) -> float:
    """Raise the noise, where it is too small, so that sentences like these keep the bounds; returns the factor.

    What counts are upper 95 % limits: noise that just suits the given sentences is too small for others half of the
    time.

    d' is inversely proportional to the noise. Noise of a fixed size stays as it is, and the representation before it
    is made smaller: once all vectors have unit length, that is the same.
    """
    representer = model.representer
    distances = pair_distances(representer, batches, generator, n_draws=_DRAWS)
    factor = max(duals.excess(distances, len(batches.pair_rows)), 1.0)
    if representer.output_noise.kind == "trainable":
        representer.output_noise.scale(factor)
    else:
        with torch.no_grad():
            representer.project.weight.div_(factor)
            representer.project.bias.div_(factor)
    return factor


def _run_epoch(
    model: PrivateModel,
    batches: Iterable[PairBatch],
    optimizer: torch.optim.Optimizer,
    average: MovingAverage,
    duals: DualVariables,
    generator: torch.Generator,
) -> tuple[dict[str, float], Tensor]:
    """One pass; mean loss, and the distances of all pairs as they were met."""
    model.train()
    losses, distances = [], []
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss, distance = bounded_losses(model, batch, generator)
        # Per sentence of the batch, as the loss is: a batch with few pairs must not give each of them more weight.
        cost = duals.cost(distance) * (len(distance) / len(batch.mask)) if len(distance) else 0.0
        (loss + cost).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), duals.settings.gradient_clip)
        optimizer.step()
        average.update(model)
        losses.append(loss.detach())
        distances.append(distance.detach())
    return {"train_deid_loss": float(torch.stack(losses).mean())}, torch.cat(distances)


def bounded_losses(model: PrivateModel, batch: PairBatch, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Loss of the tagger on the sentences, and the distance d' of each pair, shape (n_pairs,)."""
    representer, n = model.representer, batch.n_pairs
    eps = representer.input_noise.draw(batch.embeddings, generator)
    mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)  # shape: (batch, time, d)
    loss = model.deid_loss(representer.release(mu, batch.mask, generator=generator), batch)
    if not n:
        return loss, loss.new_zeros(0)
    moved = representer.mean(batch.moved, batch.pair_mask, input_eps=eps[:n])
    return loss, pair_distance(mu[:n], moved, representer.output_std(), batch.pair_mask)


def _validated(
    model: PrivateModel, valid: PairBatches, generator: torch.Generator, otherwise: Tensor
) -> tuple[dict[str, float], Tensor]:
    scores = {f"valid_{k}": v for k, v in deid_scores(model, valid, generator).items()}
    distances = pair_distances(model.representer, valid, generator)
    return scores, distances if len(distances) else otherwise


def _state(duals: DualVariables, distances: Tensor, model: PrivateModel) -> dict[str, float]:
    bound = privacy_bound(distances, quantile=duals.settings.quantile)
    return {
        "mean_accuracy": bound.mean_accuracy.value,
        "quantile_accuracy": bound.quantile_accuracy.value,
        "price_mean": duals.mean,
        "price_tail": duals.tail,
        "noise_std": float(model.representer.output_std().detach().mean()),
    }


def _set_rate(optimizer: torch.optim.Optimizer, settings: BoundedSettings, epoch: int) -> None:
    factor = rate_factor(epoch, settings.n_epochs)
    for group, rate in zip(optimizer.param_groups, (settings.lr, settings.noise_lr), strict=False):
        group["lr"] = rate * factor


def _check(model: PrivateModel, train: PairBatches) -> None:
    if model.representer.output_noise.kind == "none":
        raise ValueError("Bounded training needs output noise: without it no attacker is bounded.")
    if not len(train.pair_rows):
        raise ValueError("No sentence has a token that can move, so there is nothing to bound.")


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

    While both learn, the representation changes at each step and the tagger lags behind; at the end the noise is
    scaled. Fine-tuning changes neither what the representer releases nor its bound. So the notes that the bound was
    measured on may be among those that the tagger learns from.

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
    catches up with a representer whose weights do not change. Ctrl-C ends it; the average of the weights so far is
    kept.
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
