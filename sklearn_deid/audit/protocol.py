"""Interface of the attacks on released data, and their result: `Attack`, `AttackResult`, `Estimate`.

An attack has three arms: the attack itself, the baseline and the controls. The baseline is the success of the same
attacker without the release. The controls show whether the attack works at all. In the positive control nothing is
hidden, so that the attack must succeed. In the negative control the data contain no information, so that the attack
must fail. A result with a failed control is invalid. An audit never counts an invalid result as a pass.
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

# A negative control fails only outside an interval of this confidence level. With the usual 95 %, one sound control
# in twenty would fail, and with ten attacks nearly every second audit.
CONTROL_CONFIDENCE = 0.999


@dataclass(frozen=True)
class AttackResult:
    """Result of an attack: numbers and fixed sentences, without any word of a note.

    Attributes
    ----------
    name : str
        Name of the attack, for example "lookup by cosine, noise-free template".
    threat : {"representation", "pseudonymised text", "model", "updates"}
        Kind of release that was attacked.
    attacker : str
        One plain sentence about the attackers and their knowledge.
    measure : str
        Meaning of the numbers, for example "share of sentences whose original is ranked first of 101".
    attack : Estimate or None
        Success of the attack; None if the attack was skipped.
    baseline : Estimate, float or None
        Success of a guess without the release. A number is converted with `Estimate.exact`.
    positive_control : Estimate or None
        Success of the same attack if nothing is hidden. The control fails if its value is below
        ``min_positive_control``.
    min_positive_control : float or None
        Smallest valid value of the positive control.
    negative_control : Estimate or None
        Success of the same attack on data without information. The control fails if its interval does not contain
        ``chance``. Measure this control with ``confidence=CONTROL_CONFIDENCE``.
    chance : float or None
        Expected value of the negative control. None means the value of the baseline.
    seconds : float
        Duration of the attack in seconds.
    settings : mapping
        Parameters of the attack: numbers, booleans, None, short names, or tuples of these.
    details : mapping of str to number
        Further numbers. A value may also be None or another mapping.
    best : float, default=1.0
        Value of a perfect attack, from which `advantage` is computed.
    reason : str
        Reason why the attack was skipped.
    errors : tuple of str
        Reasons, other than the controls, why the result is invalid (see `with_error`).
    faults : tuple of str
        Findings of a check: differences between the release and its statements, one sentence each. A fault makes the
        result invalid.
    blocks : bool
        Whether this result prevents a pass, because an attack that the release requires did not run or is not
        sufficient. ``reason`` states the reason.
    key, family : str
        Key of the attack, and the family whose attacks share one score. Both are empty if the attack does not declare
        them.
    phrase : str
        Action of the attacker, with a gap ``{}`` for the proportion of successful attempts. If the phrase is empty, the
        report builds its verdict from ``attacker`` and ``measure``.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult
    >>> from sklearn_deid.metrics import Estimate
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
    faults: tuple[str, ...] = ()
    blocks: bool = False
    key: str = ""
    family: str = ""
    phrase: str = ""

    def __post_init__(self) -> None:
        if self.threat not in THREATS:
            raise ValueError(f"The 'threat' must be one of {', '.join(THREATS)}. Got {self.threat!r}.")
        if self.baseline is not None and not isinstance(self.baseline, Estimate):
            object.__setattr__(self, "baseline", Estimate.exact(self.baseline))
        if self.attack is None and not self.reason:
            raise ValueError("A result without figures needs a reason for skipping the attack.")
        if self.attack is not None and self.baseline is None:
            raise ValueError("An attack needs a baseline: the result of guessing without the release.")
        arms = () if self.attack is None else (self.attack, self._baseline)
        # A comparison with NaN is false: an attack without an interval would have no advantage, and would pass.
        if not all(map(math.isfinite, (self.best, *(end for arm in arms for end in (arm.low, arm.high))))):
            raise ValueError("An attack and its baseline need finite figures with an interval.")
        # Above 'best' there is no room for an advantage: the attack would have none, and would pass.
        if any(arm.value > self.best + 1e-9 for arm in arms):
            raise ValueError("'best' is the value of a perfect attack. The attack or its baseline is above it.")
        if (self.positive_control is None) != (self.min_positive_control is None):
            raise ValueError("A positive control needs a bar that the control must reach, and a bar needs a control.")
        # Every control reaches a bar of minus infinity, also a control in which the attack failed.
        if self.min_positive_control is not None and math.isinf(self.min_positive_control):
            raise ValueError("The bar of a positive control must be a finite number.")
        _check_figures(self.details)

    @classmethod
    def skipped(cls, name: str, threat: str, attacker: str, measure: str, reason: str) -> AttackResult:
        """Result of an attack that was not run."""
        return cls(name, threat, attacker, measure, None, None, reason=reason)

    @property
    def status(self) -> str:
        """ "ok", "invalid" (see `failures`; an invalid result is never a pass) or "skipped" (see ``reason``)."""
        if self.attack is None:
            return "skipped"
        return "invalid" if self.failures else "ok"

    @property
    def failures(self) -> tuple[str, ...]:
        """Reasons why the result is invalid: one sentence for each fault, each failed control and each error."""
        found = []
        if self.positive_control is not None and self.min_positive_control is not None:
            if not self.positive_control.value >= self.min_positive_control:  # NaN fails
                # Rounded down: 0.8997 is below 0.9.
                reached = np.floor(1000.0 * self.positive_control.value + 1e-9) / 1000.0
                found.append(
                    f"The positive control reached {reached:.3f} where nothing is hidden; at least "
                    f"{self.min_positive_control:.3f} is needed."
                )
        if self.negative_control is not None and not _at_chance(self.negative_control, self._chance):
            found.append(
                f"The negative control found {self.negative_control.value:.3f} where nothing can be learnt; chance is "
                f"{self._chance:.3f}."
            )
        return (*self.faults, *found, *self.errors)

    @property
    def advantage(self) -> float:
        """Position between the baseline (0) and a perfect attack (1); NaN if the attack was skipped."""
        return math.nan if self.attack is None else self._scaled(self.attack.value, self._baseline.value)

    @property
    def advantage_interval(self) -> tuple[float, float]:
        """Interval of `advantage`.

        The lower end compares the attack with the upper end of the baseline's interval, and the upper end compares the
        attack with the lower end.
        """
        if self.attack is None:
            return math.nan, math.nan
        return self._scaled(self.attack.low, self._baseline.high), self._scaled(self.attack.high, self._baseline.low)

    def with_error(self, error: str) -> AttackResult:
        """Return a copy of the result with a further reason why the result is invalid."""
        return replace(self, errors=(*self.errors, error))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: all attributes, "status", "failures", "advantage" and its interval."""
        low, high = self.advantage_interval
        derived = {"advantage": self.advantage, "advantage_low": low, "advantage_high": high}
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain_values({**own, "status": self.status, "failures": self.failures, **derived})

    @property
    def _baseline(self) -> Estimate:
        # Only a skipped result has no baseline.
        assert isinstance(self.baseline, Estimate)
        return self.baseline

    @property
    def _chance(self) -> float:
        return self._baseline.value if self.chance is None else self.chance

    def _scaled(self, value: float, baseline: float) -> float:
        """Position of a value between a baseline (0) and a perfect attack (1)."""
        room = self.best - baseline
        # A perfect baseline leaves no room for the attack.
        if room == 0.0:
            return 0.0
        return min(1.0, max(0.0, (value - baseline) / room))


@runtime_checkable
class Attack(Protocol):
    """Interface of an attack on data. You pass parameters to the constructor, and data to the methods.

    An audit instead calls ``run(release)``, see `sklearn_deid.audit.attacks.AuditAttack`.

    Each attack documents the arguments of ``fit`` and ``attack``. Both methods draw all random numbers from the
    attack's ``random_state``, so that equal calls return equal numbers. If an attack cannot run on its data, the attack
    raises ValueError. `skip` returns the result of an attack that was left out.
    """

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        ...

    @property
    def threat(self) -> str:
        """Kind of release, from `THREATS`."""
        ...

    @property
    def attacker(self) -> str:
        """Description of the attackers and their knowledge."""
        ...

    def fit(self, knowledge: Any) -> Any:
        """Train the attack on the attacker's knowledge before the release; return self."""
        ...

    def attack(self, released: Any) -> AttackResult:
        """Attack the released data and run the controls."""
        ...

    def skip(self, reason: str) -> AttackResult:
        """Return the result of an attack that was left out."""
        ...


def _at_chance(control: Estimate, chance: float) -> bool:
    """Whether a negative control is consistent with chance, by its interval or by the exact binomial distribution.

    Wilson's interval is too strict for rare events. For example, if the attacker guesses one of ten thousand words a
    thousand times, a single correct guess puts chance outside the interval, although one correct guess is not unusual.
    """
    if control.covers(chance) or not control.n:
        return control.covers(chance)
    # A two-sided interval leaves half of the error probability on each side.
    hits, unlikely = control.value * control.n, 0.5 * (1.0 - control.confidence)
    # Half-counted ties give fractional hits; rounding towards chance only makes the test milder.
    if control.value > chance:
        return bool(binom.sf(math.floor(hits) - 1, control.n, chance) >= unlikely)
    return bool(binom.cdf(math.ceil(hits), control.n, chance) >= unlikely)


def plain_values(value: Any) -> Any:
    """Convert a value into plain values for JSON; numbers that JSON does not support become None."""
    if isinstance(value, Estimate):
        return plain_values(asdict(value))
    if isinstance(value, Mapping):
        return {str(k): plain_values(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain_values(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _check_figures(details: Mapping[str, Any]) -> None:
    """Accept only numbers, so that no word of a note enters a report by mistake."""
    for key, value in details.items():
        if isinstance(value, Mapping):
            _check_figures(value)
        elif value is not None and not isinstance(value, (bool, int, float, np.number, np.bool_)):
            raise ValueError(f"Details are numbers. {key!r} is a {type(value).__name__}.")
