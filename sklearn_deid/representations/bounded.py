"""Bounded training: private representations without an adversary.

If the noise cannot be predicted, the accuracy of the best possible attacker on one release is known in closed form
(`representations.pair_distance`), and this accuracy has a gradient. Representer and tagger are therefore trained
together. The loss of representer and tagger is the tagger's loss plus a weighted distance d' of pairs with a replaced
token. The weights are dual variables. You set the bounds, and the dual variables adapt: they rise while the bounds are
violated and fall while the bounds hold (dual ascent). At the end, the noise is scaled so that the bound holds on
held-out pairs. At the end, only the tagger is fine-tuned, on a representation that no longer changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..exceptions import TrainingDivergedError
from ..tagging.callbacks import MovingAverage
from .adversary_training import frozen, step
from .bound import PrivacyBound, pair_distance, pairs_bound, privacy_bound
from .bounded_settings import BoundedSettings
from .dual_variables import DualVariables
from .pair_batches import PairBatch, PairBatches
from .patient_dual_variables import PatientDualVariables
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups

_FULL_RATE = 0.5  # share of the epochs at the full learning rate; then the rate falls to a fiftieth
_OUTSIDE = 1e3  # cost of missing the bound when the best epoch is selected; larger than any loss


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
        Model that is trained in place. The representer of the model needs output noise.
    train, valid : PairBatches
        Sentences of different patients. Without ``valid``, the dual variables adapt to the training pairs, the last
        epoch is kept, and the noise is scaled on the training pairs.
    settings : BoundedSettings
        Configuration of the training.
    rng : numpy.random.Generator
        Random stream for the order of the sentences.
    generator : torch.Generator
        Random stream for noise and counterfactuals, on the device of the batches.
    log : TrainingLog, optional
        Log that receives a row for each epoch.
    notes : PairBatches, optional
        All sentences; by default ``train``. At the end, the tagger is fine-tuned on all sentences: by then, no decision
        depends on ``valid`` any longer.

    Returns
    -------
    BoundedResult

    Raises
    ------
    ValueError
        If the representer has no output noise, or if no sentence has a token that can be replaced. Also if a bound on
        patients is requested, and only one patient with such a token is held out.
    TrainingDivergedError
        If the trained weights are not finite.

    Notes
    -----
    Bounded training is not part of Friedrich et al. (2019). Ctrl-C ends the training. After Ctrl-C, the best epoch up
    to that moment is kept, its noise is scaled, and the tagger is not fine-tuned.
    """
    _check(model, train, valid, settings)
    log = log or TrainingLog()
    duals = PatientDualVariables(settings, train) if settings.unit == "patient" else DualVariables(settings)
    best, selected, interrupted = BestState(model), 0, False
    optimizer = torch.optim.NAdam(noise_aware_groups(model, settings.lr, settings.noise_lr))
    average = MovingAverage(model, settings.weight_average)
    try:
        for epoch in range(settings.n_epochs):
            _set_rate(optimizer, settings, epoch)
            batches = train.swapped(settings.span_swap, rng).epoch(
                rng, generator, varied=settings.varied, twins=duals.twins
            )
            numbers, distances = _run_epoch(model, batches, optimizer, average, duals, generator)
            # The training returns the averaged weights: the bound and the score must belong to these weights, not to
            # the weights of the last step.
            with average.in_place(model):
                if valid is not None:
                    numbers |= {f"valid_{k}": v for k, v in deid_scores(model, valid, generator).items()}
                distances = duals.measured(model.representer, valid, generator, distances)
                if valid is not None:
                    # An epoch may miss the bound by 10 %, since the noise is scaled at the end anyway.
                    score = numbers["valid_deid_loss"] + _OUTSIDE * max(0.0, duals.excess(distances) - 1.1)
                if valid is None or best.offer(score):
                    selected = epoch + 1
                log.record("bounded", **numbers, **_state(duals, distances, model))
            # The dual variables change once in an epoch. Single batches have too few pairs for a quantile.
            duals.follow(distances)
    except KeyboardInterrupt:
        interrupted = True
    average.keep(model)
    best.restore()  # no effect without a best epoch
    pairs = valid if valid is not None and len(valid.pair_rows) else train
    factor = calibrate_noise(model, pairs, duals, generator)
    bound = None
    if pairs is valid:
        bound = pairs_bound(model.representer, pairs, generator, quantile=settings.quantile)
    if not interrupted:
        own = rng.spawn(1)[0]  # an own stream: later draws of ``rng`` do not depend on the length of the fine-tuning
        interrupted = fine_tune_tagger(model, notes or train, settings=settings, rng=own, generator=generator, log=log)
    return BoundedResult(bound, factor, selected, interrupted, (duals.mean, duals.tail))


def calibrate_noise(
    model: PrivateModel, batches: PairBatches, duals: DualVariables, generator: torch.Generator
) -> float:
    """Increase noise that is too small until sentences like the given sentences keep the bounds; return the factor.

    The upper 95 % confidence limits must keep the bounds. If the noise were just large enough for the given sentences,
    the noise would be too small for other sentences half of the time.

    d' is inversely proportional to the noise. Noise of a fixed size is not changed. Instead, the representation before
    the noise is made smaller, which has an equal effect after all vectors are scaled to unit length.

    Raises
    ------
    TrainingDivergedError
        If a weight or a distance is NaN or infinite: then no noise bounds an attacker.
    """
    representer = model.representer
    with np.errstate(invalid="ignore"):
        # The noise is never reduced, even if a training ended below its bound.
        factor = max(duals.noise_factor(representer, batches, generator), 1.0)
    if not (math.isfinite(factor) and all(bool(weight.isfinite().all()) for weight in model.parameters())):
        raise TrainingDivergedError("The training diverged: no noise can bound an attacker. Lower the 'lr' parameter.")
    if representer.output_noise.kind == "trainable":
        representer.output_noise.scale(factor)
    else:
        with torch.no_grad():
            # Fixed noise keeps its size, so that the means shrink instead: only their ratio enters d'.
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
    """Train for one epoch; return the mean loss, and the distances of all pairs, measured with their batch."""
    model.train()
    losses, distances = [], []
    for batch in batches:
        optimizer.zero_grad(set_to_none=True)
        loss, distance = bounded_losses(model, batch, generator)
        # The loss is a mean over the sentences of the batch, so the penalty is scaled to the same mean. Otherwise each
        # pair of a batch with few pairs would have more weight.
        # len(distance) is the number of pairs, len(batch.mask) the number of sentences.
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
    # A counterfactual shares the input noise of its sentence; shape: (n_pairs, time, d)
    moved = representer.mean(batch.moved, batch.pair_mask, input_eps=eps[:n])
    return loss, pair_distance(mu[:n], moved, representer.output_std(), batch.pair_mask)


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


def _check(model: PrivateModel, train: PairBatches, valid: PairBatches | None, settings: BoundedSettings) -> None:
    if model.representer.output_noise.kind == "none":
        raise ValueError("Bounded training needs output noise: without noise, no attacker has a bound.")
    if not len(train.pair_rows):
        raise ValueError("No sentence has a token that can move, so there is nothing to bound.")
    if settings.unit == "patient" and valid is not None and len(np.unique(valid.patients[valid.pair_rows])) == 1:
        raise ValueError(
            "A bound on patients needs at least two held-out patients with PHI that can move. Got one patient. Pass "
            "more patients, or a larger validation_fraction."
        )


def rate_factor(epoch: int, n_epochs: int) -> float:
    """Compute the learning rate of an epoch, counted from 0, as a share of the full learning rate.

    Examples
    --------
    >>> from sklearn_deid.representations import rate_factor
    >>> [round(rate_factor(epoch, 4), 2) for epoch in range(5)]
    [1.0, 1.0, 1.0, 0.5, 0.02]
    """
    # Constant, then linear. The last rates are a fiftieth, so that the average is over weights that hardly change.
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
    """Train the tagger alone, with new noise in every epoch; return whether the training was interrupted.

    While representer and tagger are trained together, the representation changes at each step, and the tagger adapts
    with a delay. At the end of this training, the noise is also scaled. The fine-tuning adapts the tagger to the final
    representation and noise. Fine-tuning the tagger changes neither the released vectors nor their bound. Therefore the
    tagger may also be trained on the notes on which the bound was measured.

    Parameters
    ----------
    model : PrivateModel
        Model whose tagger is trained in place; the representer does not change.
    notes : PairBatches
        Sentences to train on.
    settings : BoundedSettings
        Number of epochs (``n_finish_epochs``); learning rate, clipping, averaging and swapping are the same as in the
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
    The fine-tuning is part P3a of the three-part training (Friedrich et al. 2019, section 5.4) without the adversary:
    in P3a, the tagger also adapts to a representer whose weights do not change. After Ctrl-C, the average of the
    weights up to that moment is kept.
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
                    r = model.representer(batch.embeddings, batch.mask, generator=generator)
                    loss = model.deid_loss(r, batch)
                    step(optimizer, loss, settings.gradient_clip)
                    average.update(tagger)
                    losses.append(loss.detach())
                log.record("finish", train_deid_loss=float(torch.stack(losses).mean()))
    except KeyboardInterrupt:
        interrupted = True
    average.keep(tagger)
    return interrupted
