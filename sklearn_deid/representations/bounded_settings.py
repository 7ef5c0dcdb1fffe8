"""Configuration of a bounded training."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoundedSettings:
    """Configuration of a bounded training.

    Attributes
    ----------
    max_attack_accuracy : float, default=0.54
        Bound on the mean of the best attacker's accuracy, over pairs or over patients.
    unit : {"token", "patient"}, default="token"
        "token" bounds the mean over random pairs that differ in one token. "patient" bounds the mean over patients; all
        replaceable PHI tokens of a patient are replaced at once.
    quantile_attack_accuracy : float or None, default=0.6
        Bound on the best attacker's accuracy. At least the share ``quantile`` of the pairs must keep this bound. With
        None, only the mean is bounded. With either value of ``unit``, these pairs differ in one token.
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
        Adaptation rate of the dual variables. In each epoch, a dual variable is multiplied by (measured value / allowed
        value) to the power of this rate; the ratio is clipped to between 1/e and e.
    varied : float in [0, 1], default=0.5
        Share of the PHI sentences in which all replaceable tokens are replaced by neighbours. The network then learns
        bound and tags for many more words than the words of the notes.
    span_swap : float in [0, 1], default=0.5
        Share of the PHI spans that are swapped with other spans of the same label, drawn anew in each epoch, as in
        `DeidTagger`.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of all weights. The averaged weights are validated and kept. With 0, the last
        weights are used.
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
    unit: str = "token"
