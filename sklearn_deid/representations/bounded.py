"""Bounded training: a private representation without an adversary.

If the noise cannot be predicted, the accuracy of the best possible attacker on one release is known in closed form
(`representations.pair_distance`), and this accuracy has a gradient. Representer and tagger are therefore trained
together. Their loss is the tagger's loss plus a weighted distance d' of moved pairs. The weights are dual variables.
You set the bound, and the dual variables follow it: they rise while the bound is missed and fall while the bound is
kept (dual ascent). At the end, the noise is scaled so that the bound holds on held-out pairs. Then only the tagger is
fine-tuned, on a representation that no longer changes.
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

_FULL_RATE = 0.5  # share of the epochs at the full learning rate; then the rate falls to a fiftieth
_LARGEST_STEP = 1.0  # largest step of a log dual variable in an epoch, in units of the rate, against single bad epochs
_LOG_PRICES = (math.log(1e-4), math.log(1e2))  # range of the log dual variables
_DRAWS = 4  # number of twins of each sentence for scaling the noise
_CONFIDENCE, _UPPER = 0.95, 1.645  # confidence of one-sided limits, and its quantile of the normal distribution
_LARGEST_QUANTILE = 0.98  # with few sentences, a larger quantile would fit the noise to the most extreme sentence
_OUTSIDE = 1e3  # cost of missing the bound when the best epoch is selected; larger than any loss


@dataclass(frozen=True)
class BoundedSettings:
    """Configuration of a bounded training.

    Attributes
    ----------
    max_attack_accuracy : float, default=0.54
        Bound on the mean over pairs of the best attacker's accuracy.
    quantile_attack_accuracy : float or None, default=0.6
        Bound on the best attacker's accuracy that all but ``1 - quantile`` of the pairs must keep. None bounds the mean
        alone.
    quantile : float, default=0.95
        Share of the pairs that must keep ``quantile_attack_accuracy``.
    n_epochs : int, default=60
        Number of epochs in which representer and tagger are trained together.
    n_finish_epochs : int, default=30
        Number of later epochs in which the tagger alone is fine-tuned.
    lr, noise_lr : float, default=2e-3, 2e-2
        Learning rates of the networks and of the noise.
    gradient_clip : float, default=1.0
        Largest length of the gradient.
    prices : tuple of two float, default=(0.05, 0.05)
        Initial values of lambda, the dual variables of the mean and of the quantile.
    price_rate : float, default=0.4
        Adaptation rate of the dual variables. A distance that is e times too large multiplies its dual variable by e to
        this power in an epoch.
    varied : float in [0, 1], default=0.5
        Share of the PHI sentences in which all movable tokens are replaced by neighbours. The bound and the tags are
        then learned for many more words than the notes hold.
    span_swap : float in [0, 1], default=0.5
        Share of the spans of PHI that are swapped with other spans of the same label, drawn anew in each epoch, as in
        `DeidTagger`.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of all weights. The averaged weights are validated and kept. 0 uses the last
        weights.
    """

    max_attack_accuracy: float = 0.54
    quantile_attack_accuracy: float | None = 0.60
    quantile: float = 0.95
    n_epochs: int = 60
    n_finish_epochs: int = 30
    lr: float = 2e-3
    noise_lr: float = 2e-2
    gradient_clip: float = 1.0
    prices: tuple[float, float] = (0.05, 0.05)
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
        Bound on the held-out sentences, which were also used to scale the noise. None without held-out pairs.
    noise_factor : float
        Factor by which the noise was multiplied at the end.
    selected_epoch : int
        Epoch whose weights were kept, counted from 1; the last epoch without held-out sentences.
    interrupted : bool
        Whether Ctrl-C ended the training.
    prices : tuple of two float
        Last dual variables of the mean and of the quantile.
    """

    bound: PrivacyBound | None
    noise_factor: float
    selected_epoch: int
    interrupted: bool
    prices: tuple[float, float]


class DualVariables:
    """Dual variables (lambda) of the two bounds, also called prices.

    A dual variable weights a distance that is given in units of the allowed distance.

    Parameters
    ----------
    settings : BoundedSettings
        Bounds, initial values and adaptation rate.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import DualVariables, BoundedSettings
    >>> duals = DualVariables(BoundedSettings(prices=(1.0, 1.0)))
    >>> duals.follow(torch.full((100,), 9.0))
    >>> duals.mean > 1.0 and duals.tail > 1.0
    True
    """

    def __init__(self, settings: BoundedSettings) -> None:
        self.settings = settings
        self.mean_allowed = distance_of_accuracy(settings.max_attack_accuracy)
        asked = settings.quantile_attack_accuracy
        self.tail_allowed = math.inf if asked is None else distance_of_accuracy(asked)
        self.mean, self.tail = settings.prices[0], 0.0 if asked is None else settings.prices[1]

    def cost(self, distance: Tensor) -> Tensor:
        """Compute the penalty of a batch: its mean distance, and its excess over the distance allowed at the quantile.

        The tail term is a hinge, since a quantile itself has no useful gradient.
        """
        cost = self.mean * distance.mean() / self.mean_allowed
        if self.tail:
            cost = cost + self.tail * torch.relu(distance - self.tail_allowed).mean() / self.tail_allowed
        return cost

    def follow(self, distances: Tensor) -> None:
        """Raise or lower the dual variables after an epoch with these distances."""
        self.mean = self._moved(self.mean, float(distances.mean()) / self.mean_allowed)
        if self.tail:
            beyond = float((distances > self.tail_allowed).float().mean())
            self.tail = self._moved(self.tail, beyond / (1.0 - self.settings.quantile))

    def excess(self, distances: Tensor, n_sentences: int | None = None) -> float:
        """Compute the factor by which the noise must grow for both bounds to hold; 1 or less if they hold already.

        ``n_sentences`` is the number of sentences behind the distances. With ``n_sentences``, mean and quantile are
        upper 95 % limits for other sentences of the same kind. The limit of the quantile needs about 200 sentences to
        reach 95 %.
        """
        mean, quantile = distances.mean(), self.settings.quantile
        if n_sentences:
            # The draws of a sentence are dependent, so the standard error counts sentences, not draws. The rank is the
            # order statistic that exceeds the true quantile with 95 % confidence (binomial distribution).
            mean = mean + _UPPER * distances.std(correction=0) / math.sqrt(n_sentences)
            rank = (binom.ppf(_CONFIDENCE, n_sentences, quantile) + 1) / n_sentences
            quantile = max(quantile, min(rank, _LARGEST_QUANTILE))
        factor = float(mean) / self.mean_allowed
        if self.tail:
            factor = max(factor, float(torch.quantile(distances, quantile)) / self.tail_allowed)
        return factor

    def _moved(self, price: float, ratio: float) -> float:
        # A step of the logarithm keeps the dual variable positive, and rises and falls are symmetric.
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
        Model that is trained in place. Its representer needs output noise.
    train, valid : PairBatches
        Sentences of different patients. Without ``valid``, the dual variables follow the training pairs, the last epoch
        is kept, and the noise is scaled on the training pairs.
    settings : BoundedSettings
        Configuration of the training.
    rng : numpy.random.Generator
        Random stream for the order of the sentences.
    generator : torch.Generator
        Random stream for noise and twins, on the device of the batches.
    log : TrainingLog, optional
        Log that receives a row for each epoch.
    notes : PairBatches, optional
        All sentences, by default ``train``. The tagger is fine-tuned on them at the end, when nothing depends on
        ``valid`` any longer.

    Returns
    -------
    BoundedResult

    Raises
    ------
    ValueError
        If the representer has no output noise, or if no sentence has a token that can move.

    Notes
    -----
    Bounded training is not part of Friedrich et al. (2019). Ctrl-C ends the training. The best epoch up to that
    moment is kept, its noise is scaled, and the tagger is not fine-tuned.
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
                    # An epoch may miss the bound by 10 %, since the noise is scaled at the end anyway.
                    score = scores["valid_deid_loss"] + _OUTSIDE * max(0.0, duals.excess(distances) - 1.1)
                if valid is None or best.offer(score):
                    selected = epoch + 1
                log.record("bounded", **numbers, **_state(duals, distances, model))
            duals.follow(distances)
    except KeyboardInterrupt:
        interrupted = True
    average.keep(model)
    best.restore()  # no effect without a best epoch
    pairs = valid if valid is not None and len(valid.pair_rows) else train
    factor = calibrate_noise(model, pairs, duals, generator)
    bound = None
    if pairs is valid:
        distances, slack = pair_distances(model.representer, pairs, generator), pair_slack(model.representer, pairs)
        bound = privacy_bound(distances, quantile=settings.quantile, slack=slack)
    if not interrupted:
        own = rng.spawn(1)[0]  # an own stream: later draws of ``rng`` do not depend on the length of the fine-tuning
        interrupted = fine_tune_tagger(model, notes or train, settings=settings, rng=own, generator=generator, log=log)
    return BoundedResult(bound, factor, selected, interrupted, (duals.mean, duals.tail))


def calibrate_noise(
    model: PrivateModel, batches: PairBatches, duals: DualVariables, generator: torch.Generator
) -> float:
    """Raise noise that is too small until sentences like the given ones keep the bounds; return the factor.

    The bounds must hold for upper 95 % limits. Noise that just suits the given sentences would be too small for other
    sentences half of the time.

    d' is inversely proportional to the noise. Noise of a fixed size is not changed. Instead, the representation before
    the noise is made smaller, which has the same effect once all vectors have unit length.
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
    """Train for one epoch; return the mean loss, and the distances of all pairs at the time of their batch."""
    model.train()
    losses, distances = [], []
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss, distance = bounded_losses(model, batch, generator)
        # The loss is a mean over the sentences of the batch, so the penalty is scaled to the same mean. Otherwise each
        # pair of a batch with few pairs would have more weight.
        cost = duals.cost(distance) * (len(distance) / len(batch.mask)) if len(distance) else 0.0
        (loss + cost).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), duals.settings.gradient_clip)
        optimizer.step()
        average.update(model)
        losses.append(loss.detach())
        distances.append(distance.detach())
    return {"train_deid_loss": float(torch.stack(losses).mean())}, torch.cat(distances)


def bounded_losses(model: PrivateModel, batch: PairBatch, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Compute the tagger's loss on the sentences, and the distance d' of each pair, shape (n_pairs,)."""
    representer, n = model.representer, batch.n_pairs
    eps = representer.input_noise.draw(batch.embeddings, generator)
    mu = representer.mean(batch.embeddings, batch.mask, input_eps=eps)  # shape: (batch, time, d)
    loss = model.deid_loss(representer.release(mu, batch.mask, generator=generator), batch)
    if not n:
        return loss, loss.new_zeros(0)
    # A twin shares the input noise of its sentence; shape: (n_pairs, time, d)
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
    """Compute the learning rate of an epoch, counted from 0, as a share of the full learning rate.

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
    """Train the tagger alone, on new noise in every epoch; return whether the training was interrupted.

    While representer and tagger are trained together, the representation changes at each step, and the tagger lags
    behind. At the end, the noise is scaled as well. Fine-tuning the tagger changes neither the released vectors nor
    their bound. Therefore the tagger may also learn from the notes on which the bound was measured.

    Parameters
    ----------
    model : PrivateModel
        Model whose tagger is trained in place; the representer does not change.
    notes : PairBatches
        Sentences to train on.
    settings : BoundedSettings
        Number of epochs (``n_finish_epochs``); learning rate, clipping, averaging and swapping are those of the
        training before.
    rng : numpy.random.Generator
        Random stream for the order of the sentences and for swapped spans.
    generator : torch.Generator
        Random stream for the noise, on the device of the batches.
    log : TrainingLog
        Log that receives a row of phase "finish" for each epoch.

    Returns
    -------
    bool
        Whether Ctrl-C ended the fine-tuning.

    Notes
    -----
    This is part P3a of the three-part training (Friedrich et al. 2019, section 5.4) without its adversary: in P3a too,
    the tagger catches up with a representer whose weights do not change. Ctrl-C ends the fine-tuning, and the average
    of the weights up to that moment is kept.
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
