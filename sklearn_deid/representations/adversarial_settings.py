"""What a training against adversaries is asked for, and what it ends with."""

from __future__ import annotations

from dataclasses import dataclass

from ..metrics import Estimate
from .adversary_training import AdversarySettings
from .pair_adversaries import PairAdversaries
from .probe import CONTROL_BAR, ProbeResult

__all__ = ["ThreePartResult", "ThreePartSettings"]

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
    """What a training against adversaries ended with.

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
