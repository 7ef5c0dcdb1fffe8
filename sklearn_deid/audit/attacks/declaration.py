"""`AuditAttack`: the declarations by which an audit finds an attack, schedules the attack and reports the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, ClassVar, ParamSpec, TypeVar

from ..protocol import AttackResult
from ..released_step import MODEL, SURROGATES, UPDATES, WORDS

_Arguments = ParamSpec("_Arguments")
_Results = TypeVar("_Results", AttackResult, dict[str, AttackResult])
# Threats by the kind of release; all other kinds hold vectors.
_THREATS = {WORDS: "pseudonymised text", SURROGATES: "pseudonymised text", MODEL: "model", UPDATES: "updates"}

#: Reason why attacks that compare a text with its mechanism cannot run. Without such an attack, originals would pass.
UNKNOWN_MECHANISM = "The mechanism that made the text is not known."


def check_least(least: int, **values: int) -> None:
    """Raise ValueError if a parameter is smaller than its smallest possible value."""
    for name, value in values.items():
        if value < least:
            raise ValueError(f"The '{name}' parameter must be at least {least}. Got {value} instead.")


def timed(attack: Callable[_Arguments, _Results]) -> Callable[_Arguments, _Results]:
    """Decorate the method ``attack``: its results contain the duration of ``fit`` and ``attack`` together, in
    seconds."""

    @wraps(attack)
    def run(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Results:
        since = perf_counter()
        found = attack(*arguments, **options)
        seconds = perf_counter() - since + getattr(arguments[0], "_seconds", 0.0)
        if isinstance(found, AttackResult):
            return replace(found, seconds=seconds)
        return {name: replace(one, seconds=seconds) for name, one in found.items()}

    return run


@dataclass(frozen=True)
class AttackSettings:
    """Parameters of an audit that its attacks share.

    Parameters
    ----------
    n_epochs, n_candidates, n_releases, confidence
        Same as in `AdversarialPrivacyAuditor`.
    seed : int
        Random seed of the attacks.
    quick : bool, default=False
        Whether the user requested the "quick" attacks.
    """

    n_epochs: int
    n_candidates: int
    n_releases: int
    confidence: float
    seed: int
    quick: bool = False

    def shared(self, attack: type) -> dict[str, Any]:
        """Shared audit parameters that the constructor of an attack accepts."""
        given = {"n_candidates": self.n_candidates, "confidence": self.confidence, "random_state": self.seed}
        accepted = signature(attack).parameters
        return {name: value for name, value in given.items() if name in accepted}


@dataclass(frozen=True)
class AttackPreset:
    """One configuration of an attack, with the key by which a user requests this configuration.

    Attributes
    ----------
    key : str
        Key of the preset, unique among the presets of all attacks.
    title : str
        Short name for readers of a report.
    strength : float
        Expected success of the attack relative to the other attacks.
    seconds : float
        Expected seconds for 2,000 sentences on one core (measured on generated notes), for each of the ``n_rounds`` of
        the attack.
    options : mapping, default={}
        Constructor parameters of the attack.
    releases : tuple of str, default=()
        Kinds of release that the preset can attack. An empty tuple means all kinds that the attack accepts.
    repeated : bool, default=False
        Whether the attacker sees several releases of each sentence. The audit sets the number of releases.
    quick : bool, default=False
        Whether the "quick" audit runs the preset.
    anew : bool, default=False
        Whether the attack trains the attacked model again several times. "default" and "quick" leave out a preset with
        ``anew=True``, unless no other attack fits the release.
    """

    key: str
    title: str
    strength: float
    seconds: float
    options: Mapping[str, Any] = field(default_factory=dict)
    releases: tuple[str, ...] = ()
    repeated: bool = False
    quick: bool = False
    anew: bool = False


class AuditAttack:
    """Base class of the attacks in an audit.

    An audit finds every subclass in the files of `sklearn_deid.audit.attacks`. A subclass declares the attributes
    below. A subclass also has the constructor, ``name``, ``threat``, ``attacker``, ``measure``, ``fit`` and ``attack``
    of the `Attack` protocol, and implements `run`. A new attack needs no changes in other files.

    Attributes
    ----------
    key : str
        Identifier of the attack, which every result contains.
    family : str
        Family of the attack. `AdversarialPrivacyAuditor.scores` returns one score per family, under ``"privacy_"``
        followed by the family.
    title : str
        Short name for readers of a report.
    order : int
        Position in an audit and its report. Attacks with equal positions are sorted by key.
    releases : tuple of str
        Kinds of release that the attack accepts, with the names from ``audit.released_step``.
    presets : tuple of AttackPreset
        At least one configuration of the attack, with the expected time of each configuration.
    phrase : str
        Action of the attacker, with a gap ``{}`` for the proportion of successful attempts. The verdict of a report
        begins with this phrase.
    n_rounds : int
        Factor by which an audit multiplies the seconds of a preset.
    threat : str
        Threat of the results, from `sklearn_deid.audit.THREATS`. By default, the kind of the attacked release
        determines the threat.
    """

    key: ClassVar[str]
    family: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    releases: ClassVar[tuple[str, ...]]
    presets: ClassVar[tuple[AttackPreset, ...]]
    _kind: str = ""
    _knowledge: Any = None
    _seconds: float = 0.0

    @classmethod
    def make(cls, preset: AttackPreset, settings: AttackSettings, release: Any) -> Any:
        """Build the attack with the parameters of a preset and the audit parameters that its constructor accepts."""
        attack = cls(**cls.options_of(preset, settings), **settings.shared(cls))
        attack._kind = release.kind
        return attack

    @classmethod
    def options_of(cls, preset: AttackPreset, settings: AttackSettings) -> dict[str, Any]:
        """Constructor parameters that a preset sets."""
        repeated = {"n_releases": settings.n_releases} if preset.repeated else {}
        return {**preset.options, **repeated}

    @property
    def threat(self) -> str:
        """Threat of the kind of release that the audit attacks, or of the first kind that the attack accepts."""
        return _THREATS.get(self._kind or self.releases[0], "representation")

    @property
    def n_rounds(self) -> int:
        """Number of rounds; 1 if the duration of the attack does not depend on a number of epochs."""
        return 1

    @property
    def declared(self) -> dict[str, Any]:
        """Declarations that a result contains in addition to its names and numbers."""
        return {"key": self.key, "family": self.family, "phrase": getattr(self, "phrase", "")}

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run on a release, as a sentence; None if the attack can run.

        An audit with "default", "quick" or "all" leaves out an attack that cannot run. The audit lists such an attack
        as skipped in two cases: the user requested the attack by name, or the attack is quick and the reason is
        `UNKNOWN_MECHANISM`.
        """
        return None

    def run(self, release: Any) -> list[AttackResult]:
        """Attack a release and return the results. The attack reads all required data from ``release``."""
        raise NotImplementedError

    def result(self: Any, *figures: Any, **other: Any) -> AttackResult:
        """Return an `AttackResult` with the declarations of the attack.

        Parameters
        ----------
        *figures
            Arguments of `AttackResult` after ``measure``.
        **other
            Further arguments of `AttackResult`. A given name, threat, attacker or measure replaces the attribute of the
            attack.
        """
        names = [other.pop(part, getattr(self, part)) for part in ("name", "threat", "attacker", "measure")]
        return AttackResult(*names, *figures, **self.declared | other)

    def skip(self: Any, reason: str) -> AttackResult:
        """Return the result of an attack that was left out."""
        skipped = AttackResult.skipped(self.name, self.threat, self.attacker, self.measure, reason)
        return replace(skipped, **self.declared)
