"""Common base of the three-part training and of the training with gradient reversal.

P1 trains representer and tagger, P2 trains the adversaries, and P3 trains both sides against each other in rounds. This
file has the configuration and the result of a run, P1, P2, and the selection of a round of P3.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

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

# Weight of a probe's accuracy above chance. A round in which a fresh probe succeeds must not be selected for its
# losses: one point of accuracy weighs more than any loss.
_PROBE_WEIGHT = 1e4
_UNPROBED = 0.5  # excess accuracy of a round without a probe, as if a probe had always been right
_ALLOWED = {
    "adversary": ("paper", "strong"),
    "stopping": ("paper", "robust"),
}


@dataclass(frozen=True)
class ThreePartSettings:
    """Schedule and losses of the three-part training.

    Parameters
    ----------
    n_epochs_tagger, n_epochs_adversary, n_rounds : int, default=20, 20, 40
        Number of epochs of P1 (representer and tagger) and of P2 (adversaries), and number of rounds of P3 (both sides
        in turn). A round is an epoch of P3b, followed by an epoch of P3a, as in the paper's code. In the paper's text,
        P3a comes before P3b.
    patience : tuple of three int or None, default=(10, 10, 10)
        Number of epochs (rounds) without improvement on held-out patients after which P1, P2 and P3 end.
    lr : float, default=2e-3
        Learning rate of NAdam; every phase has its own optimizer state.
    noise_lr : float, optional
        Learning rate of the noise in P1 and P3b. The default is ``lr``, at which the noise can hardly grow within a
        training.
    adversary : {"paper", "strong"}, default="paper"
        Kind of the adversaries. With "strong", T1 and T2 have separate losses and separate penalties.
    adversary_hidden_size : int, optional
        Hidden size of the adversaries; see `PairAdversaries` for the default.
    adversary_weight : float, default=1.0
        lambda, weight of the adversaries' deviation from chance.
    max_pairs : int, optional
        Number of sentences with PHI in an epoch of P2 and P3, drawn anew each time. P3 adds the same number of other
        sentences. By default all sentences are used.
    noise_restart : float, optional
        Value to which trainable noise is set before P3, since P1 shrinks the noise to almost nothing.
    stopping : {"paper", "robust"}, default="paper"
        Rule that selects the round. "paper" selects the round with the lowest ``l_deid + lambda |l_adv - ln 2|`` on
        held-out patients right after P3b, when the adversary has not yet adapted. "robust" measures the loss after the
        adversary has adapted to the representer. Among the rounds, "robust" first minimises the accuracy above chance
        of a probe (a newly trained adversary), and then the loss.
    probe_every : int, default=5
        Number of rounds between two probes of "robust"; the last round is probed as well. A round without a probe can
        be selected only if no round was probed.
    probe : AdversarySettings
        Adversaries and schedule of a probe; by default a strong T2, 8 epochs.

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
    max_pairs: int | None = None
    noise_restart: float | None = None
    stopping: str = "paper"
    probe_every: int = 5
    probe: AdversarySettings = AdversarySettings(tasks=("t2",), n_epochs=8)

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"The {name!r} parameter must be {' or '.join(allowed)}. Got {getattr(self, name)!r}.")
        if not self.adversary_weight >= 0.0:
            raise ValueError(f"The 'adversary_weight' parameter must not be negative. Got {self.adversary_weight!r}.")
        if self.probe_every < 1:
            raise ValueError(f"The 'probe_every' parameter must be at least 1. Got {self.probe_every!r}.")

    def of_adversaries(self) -> AdversarySettings:
        """Return the settings of the adversaries in P2."""
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
        Adversaries with the weights of the selected round; None if the training was interrupted before P2.
    selected_round : int
        Selected round of P3, counted from 1. 0 if the training was interrupted before a round was complete. If the
        training was interrupted before a round was complete, representer and tagger are the result of P1, and the
        representer is not private.
    n_rounds : int
        Number of complete rounds.
    score : float
        Score of the selected round by the stopping rule; lower is better. The score is the combined loss. "robust" adds
        a large number if a probe was better than chance. The score is infinite for round 0.
    control : dict of str to Estimate, or None
        Accuracy of the adversaries at the end of P2, when the representer hides nothing yet; None if the accuracy was
        not measured.
    probe : ProbeResult or None
        Probe of the selected round, for the stopping rule "robust"; None for another stopping rule.
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
        """Accuracy of T2 at the end of P2."""
        return None if self.control is None else self.control["t2"].value


class AdversarialRun(ABC):
    """State of one training: P1, P2, and then the rounds of P3, which a subclass defines.

    Parameters
    ----------
    model : PrivateModel
        Model that is trained in place.
    train, valid : PairBatches
        Sentences of different patients. Without held-out patients, the last state of each phase is kept.
    settings : ThreePartSettings
        Schedule and losses.
    rng, generator
        Random streams: ``rng`` for the order of sentences, ``generator`` for counterfactuals and noise.
    log : TrainingLog
        Log that receives a row for each epoch.
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
        # Until P2 has made adversaries, an interrupt leaves the best state of P1.
        self.after_p1, self.best = BestState(self.representer, self.tagger), BestState()
        self.has_adversaries, self.n_rounds, self.selected_round = False, 0, 0
        self.control: dict[str, Estimate] | None = None
        self.probe: ProbeResult | None = None

    def run(self) -> ThreePartResult:
        """Train until the end or until an interrupt; in either case, the model is left in its best state."""
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
        """Train one round, measure the round with `score`, and log the round."""

    def train_tagger(self) -> None:
        """P1: train representer and tagger together, without an adversary."""
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
            # Without held-out patients, the score falls with each epoch, so the last epoch is kept.
            if self.after_p1.offer(numbers.get("valid_deid_loss", -epoch)):
                best_epoch = epoch
            self.log.record("P1", **numbers, **noise_figures(self.representer, self.train))
            if patience is not None and epoch - best_epoch >= patience:
                break
        self.after_p1.restore()

    def train_adversaries(self) -> None:
        """P2: train fresh adversaries on the representer of P1, and measure their accuracy as the positive control."""
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
                record=partial(self.log.record, "P2"),
            )
        self._measure_control()
        self.best = BestState(self.representer, self.tagger, self.adversaries)

    def restart_noise(self) -> None:
        """Set trainable noise to its initial value for P3.

        Call this method after the positive control, which needs the noise of P1.
        """
        for noise in (self.representer.input_noise, self.representer.output_noise):
            if self.settings.noise_restart is not None and noise.kind == "trainable":
                noise.restart(self.settings.noise_restart)

    def balanced_batches(self) -> Iterator[PairBatch]:
        """Yield the batches of an epoch of P3: half of the sentences with PHI, half without."""
        return self.train.epoch(self.rng, self.generator, sentences="balanced", max_pairs=self.settings.max_pairs)

    def score(self, number: int) -> dict[str, float]:
        """Measure the current state on held-out patients, and keep the state if it is the best so far."""
        if self.valid is None:
            numbers, score = {}, -float(number)
        else:
            numbers = self._deid_scores() | self._adversary_scores(self.valid)
            # The rule of the paper: l_deid + lambda |l_adv - ln 2|, on held-out patients, summed over the judges.
            deviations = [numbers[f"valid_{judge}_deviation"] for judge in self.adversaries.judges]
            numbers["combined_loss"] = numbers["valid_deid_loss"] + self.settings.adversary_weight * sum(deviations)
            score = numbers["combined_loss"]
        probe = None
        if self.settings.stopping == "robust":
            probe = self._probe(number)
            accuracies = [] if probe is None else probe.accuracies.values()
            # The lower limit of the interval counts: only accuracy that is surely above chance is penalised.
            score += _PROBE_WEIGHT * max((max(0.0, found.low - 0.5) for found in accuracies), default=_UNPROBED)
        if self.best.offer(score):
            self.selected_round, self.probe = number, probe
        return numbers

    def _deid_scores(self) -> dict[str, float]:
        scores = {} if self.valid is None else deid_scores(self.model, self.valid, self.generator)
        return {f"valid_{k}": v for k, v in scores.items()}

    def _adversary_scores(self, valid: PairBatches) -> dict[str, float]:
        scores = measure_pairs(self.adversaries, self.representer, valid, self.generator)
        return {f"valid_{k}": v for k, v in scores.items()}

    def _probe(self, number: int) -> ProbeResult | None:
        # A probe trains adversaries from scratch, for several epochs: probes run only every few rounds, and at the end.
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
                "Without held-out patients, nobody can measure whether the adversaries are able to distinguish "
                "pairs. Their failure therefore proves nothing. Give notes of more patients.",
                UnsafeToShareWarning,
                stacklevel=4,
            )
            return
        self.control = pair_accuracy(self.adversaries, self.representer, self.valid, self.generator)
        self.log.record("control", **{f"{k}_accuracy": v.value for k, v in self.control.items()})
        # T2 is the control because both members of its pairs are representations, as in the bound. T1 also sees
        # embeddings.
        found = self.control["t2"].value
        if found < CONTROL_BAR:
            warnings.warn(
                f"Before anything was hidden, the adversary T2 was right on {found:.1%} of pairs. Under "
                f"{CONTROL_BAR:.0%}, the failure of T2 on the trained representation proves nothing. Train T2 longer, "
                "give more notes or use strong adversaries. Fixed noise, or noise with a floor, can hide pairs from "
                "the start.",
                UnsafeToShareWarning,
                stacklevel=4,
            )
