"""What an attack says of itself, so that an audit finds it, plans it and tells its result: `AuditAttack`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..protocol import AttackResult


@dataclass(frozen=True)
class AttackSettings:
    """Parameters of an audit that its attacks share.

    Parameters
    ----------
    n_epochs, n_candidates, n_releases, confidence
        See `AdversarialPrivacyAuditor`.
    seed : int
    quick : bool, default=False
    """

    n_epochs: int
    n_candidates: int
    n_releases: int
    confidence: float
    seed: int
    quick: bool = False

    @property
    def shared(self) -> dict[str, Any]:
        """Parameters of nearly every attack."""
        return {"confidence": self.confidence, "random_state": self.seed}


@dataclass(frozen=True)
class AttackPreset:
    """One way to run an attack, which can be asked for by its key.

    Attributes
    ----------
    key : str
        Unique among the presets of all attacks.
    title : str
        Short name for readers.
    strength : float
        How much the attack is expected to find, against others.
    seconds : float
        For 2,000 sentences on one core (measured on generated notes), and for each of ``n_rounds`` of the attack.
    options : mapping, default={}
        Parameters of the constructor.
    releases : tuple of str, default=()
        Kinds of release; by default those of the attack.
    repeated : bool, default=False
        Whether the attacker sees as many releases of each sentence as the audit says.
    quick : bool, default=False
        Whether the quick audit has it.
    anew : bool, default=False
        Whether what is attacked is trained anew several times: then the attack must be asked for.
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
    """Base of the attacks that an audit finds by itself: each class of them in a file of `sklearn_deid.audit.attacks`.

    A subclass declares the attributes below, has the constructor, ``name``, ``threat``, ``attacker``, ``measure``,
    ``fit`` and ``attack`` of the `Attack` protocol, and writes `run`. Nothing else has to be changed for a new attack.

    Attributes
    ----------
    key : str
        Which attack; results carry it.
    family : str
        Attacks of one family have one score in `AdversarialPrivacyAuditor.scores`: "privacy_" and the family.
    title : str
        Short name for readers.
    order : int
        Place in an audit and its report; equal places are sorted by key.
    releases : tuple of str
        Kinds of release that it can attack, as in `sklearn_deid.audit.released_step`.
    presets : tuple of AttackPreset
        At least one, with what each costs.
    phrase : str
        What the attacker does, with a gap ``{}`` for the share that succeeded; the verdict of a report begins with it.
    n_rounds : int
        What the seconds of a preset are multiplied by.
    """

    key: ClassVar[str]
    family: ClassVar[str]
    title: ClassVar[str]
    order: ClassVar[int]
    releases: ClassVar[tuple[str, ...]]
    presets: ClassVar[tuple[AttackPreset, ...]]

    @classmethod
    def make(cls, preset: AttackPreset, settings: AttackSettings, release: Any) -> Any:
        """The attack with the parameters of a preset and an audit."""
        return cls(**cls.options_of(preset, settings), **settings.shared)

    @classmethod
    def options_of(cls, preset: AttackPreset, settings: AttackSettings) -> dict[str, Any]:
        """Parameters of the constructor that belong to a preset."""
        repeated = {"n_releases": settings.n_releases} if preset.repeated else {}
        return {**preset.options, **repeated}

    @property
    def n_rounds(self) -> int:
        """One, where the time does not depend on a number of epochs."""
        return 1

    @property
    def declared(self) -> dict[str, Any]:
        """What a result says of its attack beside names and figures."""
        return {"key": self.key, "family": self.family, "phrase": getattr(self, "phrase", "")}

    def requires(self, release: Any) -> str | None:
        """Why the attack cannot be run on a release, in a sentence; None if it can.

        Presets such as "default" leave out an attack that cannot be run. One that was named is listed as skipped.
        """
        return None

    def run(self, release: Any) -> list[AttackResult]:
        """Results on a release, which the attack asks for what it needs."""
        raise NotImplementedError

    def skip(self: Any, reason: str) -> AttackResult:
        """The result if the attack is left out."""
        skipped = AttackResult.skipped(self.name, self.threat, self.attacker, self.measure, reason)
        return replace(skipped, **self.declared)
