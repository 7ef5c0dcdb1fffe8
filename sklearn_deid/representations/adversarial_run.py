"""What the three-part training and the one with gradient reversal have in common.

Configuration and result of a run, P1 (representer and tagger), P2 (adversaries), and the choice of a round.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from .._randomness import own_torch_stream
from ..exceptions import UnsafeToShareWarning
from ..metrics import Estimate
from .adversary_training import (
    AdversarySettings,
    RunningMeans,
    check_pairs,
    fit_adversaries,
    frozen,
    measure_pairs,
    new_adversaries,
    step,
)
from .pair_adversaries import PairAdversaries
from .pair_batches import PairBatch, PairBatches
from .private_model import BestState, PrivateModel, TrainingLog, deid_scores, noise_aware_groups, noise_figures
from .probe import CONTROL_BAR, ProbeResult, pair_accuracy, train_probe

# A round that a fresh probe reads must not be chosen for its losses: one point of accuracy is more than any loss.
_READ = 1e4
_UNPROBED = 0.5  # as if a probe had been right every time
_ALLOWED = {
    "adversary": ("paper", "strong"),
    "deviation": ("sample", "batch"),
    "order": (("P3b", "P3a"), ("P3a", "P3b")),
    "stopping": ("paper", "robust"),
}


@dataclass(frozen=True)
class ThreePartSettings:
    """Schedule and losses of the three-part training.

    Parameters
    ----------
    n_epochs_tagger, n_epochs_adversary, n_rounds : int, default=20, 20, 40
        Epochs of P1 and P2, and rounds of P3, each of which is an epoch of P3b and one of P3a.
    patience : tuple of three int or None, default=(10, 10, 10)
        Epochs (rounds) without improvement on held-out patients, after which P1, P2, P3 end.
    lr : float, default=2e-3
        Of NAdam; every phase has an optimizer with state of its own.
    noise_lr : float, optional
        Of the noise in P1 and P3b; by default ``lr``, with which it can hardly grow within a training.
    adversary : {"paper", "strong"}, default="paper"
        With "strong", T1 and T2 are each trained and penalised by themselves.
    adversary_hidden_size : int, optional
    adversary_weight : float, default=1.0
        lambda.
    deviation : {"sample", "batch"}, default="sample"
        See `chance_deviation`.
    order : ("P3b", "P3a") or ("P3a", "P3b")
        The paper's text has (a) before (b), its code the reverse, which is the default.
    max_pairs : int, optional
        Sentences with PHI in an epoch of P2 and P3, drawn anew each time; P3 adds as many others. By default all.
    noise_restart : float, optional
        To where trainable noise is set before P3: P1 shrinks it to almost nothing.
    stopping : {"paper", "robust"}, default="paper"
        By which round is chosen. "paper": lowest ``l_deid + lambda |l_adv - ln 2|`` on held-out patients right after
        P3b, when the adversary has not yet seen what changed. "robust": the same after the adversary caught up, among
        the rounds in which a fresh probe is least better than chance.
    probe_every : int, default=5
        Rounds between two probes of "robust"; the last round is probed as well. Rounds without one are chosen only as
        long as there was none.
    probe : AdversarySettings
        By default a strong T2, 8 epochs.

    Raises
    ------
    ValueError
        If a value is not allowed.

    References
    ----------
    Friedrich et al. (2019), section 5.4 and table 1; epochs and patience from the authors' code.
    """

    n_epochs_tagger: int = 20
    n_epochs_adversary: int = 20
    n_rounds: int = 40
    patience: tuple[int | None, int | None, int | None] = (10, 10, 10)
    lr: float = 2e-3
    noise_lr: float | None = None
    adversary: str = "paper"
    adversary_hidden_size: int | None = None
    adversary_weight: float = 1.0
    deviation: str = "sample"
    order: tuple[str, str] = ("P3b", "P3a")
    max_pairs: int | None = None
    noise_restart: float | None = None
    stopping: str = "paper"
    probe_every: int = 5
    probe: AdversarySettings = AdversarySettings(tasks=("t2",), n_epochs=8)

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                shown = " or ".join(map(str, allowed))
                raise ValueError(f"The {name!r} parameter must be {shown}. Got {getattr(self, name)!r}.")
        if not self.adversary_weight >= 0.0:
            raise ValueError(f"The 'adversary_weight' parameter must not be negative. Got {self.adversary_weight!r}.")
        if self.probe_every < 1:
            raise ValueError(f"The 'probe_every' parameter must be at least 1. Got {self.probe_every!r}.")

    def of_adversaries(self) -> AdversarySettings:
        """Settings of P2."""
        return AdversarySettings(
            kind=self.adversary,
            hidden_size=self.adversary_hidden_size,
            n_epochs=self.n_epochs_adversary,
            patience=self.patience[1],
            lr=self.lr,
            max_pairs=self.max_pairs,
            select="loss",
        )


@dataclass(frozen=True, repr=False)
class ThreePartResult:
    """Result of a training against adversaries.

    Attributes
    ----------
    adversaries : PairAdversaries or None
        As they were in the selected round; None if interrupted before P2.
    selected_round : int
        Of P3, from 1. 0 if interrupted before a round was complete: representer and tagger are then as P1 left them,
        and nothing made them private.
    n_rounds : int
        Complete rounds.
    score : float
        Of the selected round by the stopping rule, lower is better: the combined loss, to which "robust" adds a large
        number for what a probe read. Infinite for round 0.
    control : dict of str to Estimate, or None
        How often the adversaries were right at the end of P2, where nothing was hidden yet; None if that was not
        measured.
    probe : ProbeResult or None
        Of the selected round, with the stopping rule "robust".
    interrupted : bool
        Whether training ended by KeyboardInterrupt.
    """

    adversaries: PairAdversaries | None
    selected_round: int
    n_rounds: int
    score: float
    control: dict[str, Estimate] | None
    probe: ProbeResult | None
    interrupted: bool

    @property
    def control_accuracy(self) -> float | None:
        """T2's accuracy at the end of P2."""
        return None if self.control is None else self.control["t2"].value

    @property
    def control_passed(self) -> bool | None:
        """Whether it was at least 0.90; if not, nothing that these adversaries fail at is thereby private."""
        return None if self.control_accuracy is None else self.control_accuracy >= CONTROL_BAR

    @property
    def robust(self) -> bool | None:
        """Whether no fresh adversary of the selected round's probe was better than chance; None without a probe."""
        return None if self.probe is None else all(found.low <= 0.5 for found in self.probe.accuracies.values())


class AdversarialRun(ABC):
    """State of one training: P1, P2, then rounds of which a subclass says what happens in them.

    Parameters
    ----------
    model : PrivateModel
        Trained in place.
    train, valid : PairBatches
        Without held-out patients the last state of each phase is kept.
    settings : ThreePartSettings
    rng, generator
        Order of sentences; twins and noise.
    log : TrainingLog
    """

    adversaries: PairAdversaries

    def __init__(
        self,
        model: PrivateModel,
        train: PairBatches,
        valid: PairBatches | None,
        settings: ThreePartSettings,
        rng: np.random.Generator,
        generator: torch.Generator,
        log: TrainingLog,
    ) -> None:
        check_pairs(train=train, valid=valid)
        self.model, self.representer, self.tagger = model, model.representer, model.tagger
        self.train, self.valid, self.settings = train, valid, settings
        self.rng, self.generator, self.log = rng, generator, log
        self.noise_lr = settings.lr if settings.noise_lr is None else settings.noise_lr
        self.after_p1, self.best = BestState(self.representer, self.tagger), BestState()
        self.has_adversaries, self.n_rounds, self.selected_round = False, 0, 0
        self.control: dict[str, Estimate] | None = None
        self.probe: ProbeResult | None = None

    def run(self) -> ThreePartResult:
        """Train until the end, or until interrupted; the model is left in its best state either way."""
        interrupted = False
        try:
            with own_torch_stream(self.rng, self.train.device):
                self.model.train()
                self.train_tagger()
                self.train_adversaries()
                self.start_rounds()
                while self.n_rounds < self.settings.n_rounds and not self._waited_too_long():
                    self.play_round(self.n_rounds + 1)
                    self.n_rounds += 1
        except KeyboardInterrupt:
            interrupted = True
        (self.best if self.selected_round else self.after_p1).restore()
        return ThreePartResult(
            self.adversaries if self.has_adversaries else None,
            self.selected_round,
            self.n_rounds,
            self.best.score,
            self.control,
            self.probe,
            interrupted,
        )

    @abstractmethod
    def start_rounds(self) -> None:
        """Make the optimizers of the rounds."""

    @abstractmethod
    def play_round(self, number: int) -> None:
        """Train one round, `score` it at the right moment, log it."""

    def train_tagger(self) -> None:
        """P1: representer and tagger together, no adversary."""
        optimizer = torch.optim.NAdam(noise_aware_groups(self.model, self.settings.lr, self.noise_lr))
        best_epoch, patience = 0, self.settings.patience[0]
        for epoch in range(1, self.settings.n_epochs_tagger + 1):
            means = RunningMeans()
            for batch in self.train.epoch(self.rng, self.generator, moved=False):
                r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
                loss = self.model.deid_loss(r, batch)
                step(optimizer, loss)
                means.add(len(batch.mask), deid_loss=loss)
            numbers = means.compute() | self._deid_scores()
            if self.after_p1.offer(numbers.get("valid_deid_loss", -epoch)):
                best_epoch = epoch
            self.log.record("P1", **numbers, **noise_figures(self.representer, self.train))
            if patience is not None and epoch - best_epoch >= patience:
                break
        self.after_p1.restore()

    def train_adversaries(self) -> None:
        """P2: fresh adversaries on the representer as P1 left it, and how well they do there: the positive control."""
        settings = self.settings.of_adversaries()
        with frozen(self.representer):
            self.adversaries = new_adversaries(settings, self.representer, self.train, self.generator)
            self.has_adversaries = True
            fit_adversaries(
                self.adversaries,
                self.representer,
                self.train,
                self.valid,
                settings=settings,
                rng=self.rng,
                generator=self.generator,
                record=lambda **numbers: self.log.record("P2", **numbers),
            )
        self._measure_control()
        self.best = BestState(self.representer, self.tagger, self.adversaries)

    def restart_noise(self) -> None:
        """Set trainable noise to where P3 should find it; after the control, which is of what P1 made."""
        for noise in (self.representer.input_noise, self.representer.output_noise):
            if self.settings.noise_restart is not None and noise.kind == "trainable":
                noise.restart(self.settings.noise_restart)

    def balanced_batches(self) -> Iterator[PairBatch]:
        """An epoch of P3: half sentences with PHI, half others."""
        return self.train.epoch(self.rng, self.generator, sentences="balanced", max_pairs=self.settings.max_pairs)

    def score(self, number: int) -> dict[str, float]:
        """Measure the state as it is on held-out patients, and keep it if it is the best."""
        if self.valid is None:
            numbers, score = {}, -float(number)
        else:
            numbers = self._deid_scores() | self._adversary_scores(self.valid)
            deviations = [numbers[f"valid_{judge}_deviation"] for judge in self.adversaries.judges]
            numbers["combined_loss"] = numbers["valid_deid_loss"] + self.settings.adversary_weight * sum(deviations)
            score = numbers["combined_loss"]
        probe = self._probe(number) if self.settings.stopping == "robust" else None
        if self.settings.stopping == "robust":
            accuracies = [] if probe is None else probe.accuracies.values()
            score += _READ * max((max(0.0, found.low - 0.5) for found in accuracies), default=_UNPROBED)
        if self.best.offer(score):
            self.selected_round, self.probe = number, probe
        return numbers

    def _deid_scores(self) -> dict[str, float]:
        scores = {} if self.valid is None else deid_scores(self.model, self.valid, self.generator)
        return {f"valid_{k}": v for k, v in scores.items()}

    def _adversary_scores(self, valid: PairBatches) -> dict[str, float]:
        scores = measure_pairs(self.adversaries, self.representer, valid, self.generator, self.settings.deviation)
        return {f"valid_{k}": v for k, v in scores.items()}

    def _probe(self, number: int) -> ProbeResult | None:
        if self.valid is None or (number % self.settings.probe_every and number != self.settings.n_rounds):
            return None
        result = train_probe(
            self.representer,
            self.train,
            self.valid,
            settings=self.settings.probe,
            rng=self.rng,
            generator=self.generator,
        )
        found = {f"{name}_accuracy": attack.value for name, attack in result.accuracies.items()}
        self.log.record("probe", round=number, **found)
        return result

    def _waited_too_long(self) -> bool:
        patience = self.settings.patience[2]
        return patience is not None and self.n_rounds - self.selected_round >= patience

    def _measure_control(self) -> None:
        if self.valid is None:
            warnings.warn(
                "Without held-out patients it is not known whether the adversaries can tell pairs apart at all, so "
                "their failure proves nothing. Give notes of more patients.",
                UnsafeToShareWarning,
                stacklevel=4,
            )
            return
        self.control = pair_accuracy(self.adversaries, self.representer, self.valid, self.generator)
        self.log.record("control", **{f"{k}_accuracy": v.value for k, v in self.control.items()})
        found = self.control["t2"].value
        if found < CONTROL_BAR:
            warnings.warn(
                f"Before anything was hidden, the adversary T2 told pairs apart in {found:.1%} of cases; under "
                f"{CONTROL_BAR:.0%}, its failure on the trained representation proves nothing. Train it longer, give "
                "it more notes or use strong adversaries; fixed noise, or noise with a floor, can hide pairs from the "
                "start.",
                UnsafeToShareWarning,
                stacklevel=4,
            )
