"""What every attack on released data looks like, and what it finds: `Attack`, `AttackResult`, `Estimate`.

An attack has three arms. The *attack* itself; the *baseline*, what the same attacker would guess without the release;
and *controls*, without which a failed attack proves nothing: a positive one, where it must succeed because nothing is
hidden, and a negative one, where it must fail because there is nothing to learn. A result whose control failed is
invalid, which is never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.stats import binom

from ..metrics import Estimate

THREATS = ("representation", "pseudonymised text", "model", "updates")

# A negative control is held for failed only outside an interval this wide: at 95 %, one sound control in twenty would
# fail, and with ten attacks nearly every second audit.
CONTROL_CONFIDENCE = 0.999


@dataclass(frozen=True)
class AttackResult:
    """What an attack found; figures and fixed sentences, no word of any note.

    Attributes
    ----------
    name : str
        Which attack, for example "lookup by cosine, noise-free template".
    threat : {"representation", "pseudonymised text", "model", "updates"}
        What was released.
    attacker : str
        One plain sentence: who the attackers are and what they hold.
    measure : str
        What the figures mean, for example "share of sentences whose original is ranked first of 101".
    attack : Estimate or None
        How well the attack did; None if it was skipped.
    baseline : Estimate, float or None
        The same for a guess without the release; numbers become `Estimate.exact`.
    positive_control : Estimate or None
        The same attack where nothing is hidden, and ``min_positive_control``, what its value must reach.
    negative_control : Estimate or None
        The same attack where nothing can be learnt, and ``chance``, which its interval must hold. Measure it with
        ``confidence=CONTROL_CONFIDENCE``. ``chance`` is by default the baseline.
    seconds : float
    settings : mapping
        Parameters of the attack: numbers, booleans, None, short names, or tuples of these.
    details : mapping of str to number
        Further figures; a value may be None or again a mapping.
    best : float, default=1.0
        Value of a perfect attack, for `advantage`.
    reason : str
        Why it was skipped.
    errors : tuple of str
        What makes the result invalid beside the controls (`with_error`).
    key, family : str
        Which attack was run, and the family by which attacks have one score; empty where the attack does not say it.
    phrase : str
        What the attacker does, with a gap ``{}`` for the share that succeeded; without it a verdict is made of
        ``attacker`` and ``measure``.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult, Estimate
    >>> result = AttackResult("pairs", "representation", "A recipient of the vectors.", "share of pairs told apart",
    ...                       Estimate.from_counts(62, 100), 0.5, Estimate.from_counts(97, 100), 0.9)
    >>> result.status, round(result.advantage, 2)
    ('ok', 0.24)
    >>> AttackResult.skipped("pairs", "representation", "A recipient.", "share", "no time was left").status
    'skipped'
    """

    name: str
    threat: str
    attacker: str
    measure: str
    attack: Estimate | None
    baseline: Estimate | float | None
    positive_control: Estimate | None = None
    min_positive_control: float | None = None
    negative_control: Estimate | None = None
    chance: float | None = None
    seconds: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    best: float = 1.0
    reason: str = ""
    errors: tuple[str, ...] = ()
    key: str = ""
    family: str = ""
    phrase: str = ""

    def __post_init__(self) -> None:
        if self.threat not in THREATS:
            raise ValueError(f"The 'threat' must be one of {', '.join(THREATS)}. Got {self.threat!r}.")
        if self.baseline is not None and not isinstance(self.baseline, Estimate):
            object.__setattr__(self, "baseline", Estimate.exact(self.baseline))
        if self.attack is None and not self.reason:
            raise ValueError("A result without figures needs the reason why it was skipped.")
        if self.attack is not None and self.baseline is None:
            raise ValueError("An attack needs a baseline: what is guessed without the release.")
        if (self.positive_control is None) != (self.min_positive_control is None):
            raise ValueError("A positive control needs the bar that it must reach, and the bar a control.")
        _check_figures(self.details)

    @classmethod
    def skipped(cls, name: str, threat: str, attacker: str, measure: str, reason: str) -> AttackResult:
        """The result of an attack that was not carried out."""
        return cls(name, threat, attacker, measure, None, None, reason=reason)

    @property
    def status(self) -> str:
        """ "ok", "invalid" (see `failures`; never a pass) or "skipped" (see ``reason``)."""
        if self.attack is None:
            return "skipped"
        return "invalid" if self.failures else "ok"

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the result is invalid: one sentence for each failed control and each error."""
        found = []
        if self.positive_control is not None and self.min_positive_control is not None:
            if self.positive_control.value < self.min_positive_control:
                found.append(
                    f"The positive control reached {self.positive_control.value:.3f} where nothing is hidden; at least "
                    f"{self.min_positive_control:.3f} is needed."
                )
        if self.negative_control is not None and not _at_chance(self.negative_control, self._chance):
            found.append(
                f"The negative control found {self.negative_control.value:.3f} where nothing can be learnt; chance is "
                f"{self._chance:.3f}."
            )
        return (*found, *self.errors)

    @property
    def advantage(self) -> float:
        """How far the attack gets from the baseline to a perfect attack, from 0 (no better) to 1; NaN if skipped."""
        return math.nan if self.attack is None else self._scaled(self.attack.value, self._baseline.value)

    @property
    def advantage_interval(self) -> tuple[float, float]:
        """The same for the ends of the interval of the attack, each against the less favourable end of the baseline."""
        if self.attack is None:
            return math.nan, math.nan
        return self._scaled(self.attack.low, self._baseline.high), self._scaled(self.attack.high, self._baseline.low)

    def with_error(self, error: str) -> AttackResult:
        """The same result, invalid for one more reason."""
        return replace(self, errors=(*self.errors, error))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: all attributes, "status", "failures", "advantage" and its interval."""
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        low, high = self.advantage_interval
        derived = {"advantage": self.advantage, "advantage_low": low, "advantage_high": high}
        return {
            **plain,
            "status": self.status,
            "failures": list(self.failures),
            **{k: None if math.isnan(v) else v for k, v in derived.items()},
        }

    @property
    def _baseline(self) -> Estimate:
        assert isinstance(self.baseline, Estimate)  # of every result that was not skipped
        return self.baseline

    @property
    def _chance(self) -> float:
        return self._baseline.value if self.chance is None else self.chance

    def _scaled(self, value: float, baseline: float) -> float:
        room = self.best - baseline
        if room == 0.0:  # the guess is perfect: nothing can be gained
            return 0.0
        return min(1.0, max(0.0, (value - baseline) / room))


@runtime_checkable
class Attack(Protocol):
    """An attack on data that you hand to it. Parameters are given to the constructor, data to the methods.

    An audit calls ``run(release)`` instead, see `sklearn_deid.audit.attacks.AuditAttack`.

    ``fit`` and ``attack`` say for each attack what they take; both draw all randomness from the attack's
    ``random_state``, so that the same calls give the same figures. An attack that cannot be carried out on its data
    raises ValueError; whoever leaves it out asks it for `skip`.
    """

    @property
    def name(self) -> str:
        """Which attack, in words."""
        ...

    @property
    def threat(self) -> str:
        """One of `THREATS`."""
        ...

    @property
    def attacker(self) -> str:
        """Who attacks, and what they hold."""
        ...

    def fit(self, knowledge: Any) -> Any:
        """Learn from what the attacker holds before anything is released; returns self."""
        ...

    def attack(self, released: Any) -> AttackResult:
        """Attack what is released, and run the controls."""
        ...

    def skip(self, reason: str) -> AttackResult:
        """The result if it is left out."""
        ...


def _at_chance(control: Estimate, chance: float) -> bool:
    """Whether a control found no more and no less than chance, by its interval or by the exact binomial distribution.

    Of a word among ten thousands a single lucky hit in a thousand trials lies outside of Wilson's interval, and is
    nothing unusual.
    """
    if control.covers(chance) or not control.n:
        return control.covers(chance)
    hits, unlikely = control.value * control.n, 0.5 * (1.0 - control.confidence)
    if control.value > chance:
        return bool(binom.sf(math.floor(hits) - 1, control.n, chance) >= unlikely)
    return bool(binom.cdf(math.ceil(hits), control.n, chance) >= unlikely)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


def _check_figures(details: Mapping[str, Any]) -> None:
    """Only numbers, so that no word of a note gets into a report by mistake."""
    for key, value in details.items():
        if isinstance(value, Mapping):
            _check_figures(value)
        elif value is not None and not isinstance(value, (bool, int, float, np.number, np.bool_)):
            raise ValueError(f"Details are numbers. {key!r} is a {type(value).__name__}.")
