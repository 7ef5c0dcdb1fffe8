"""The attacks of an audit by name, and from what is handed to an audit to the attacks on it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import joblib
import numpy as np

from ..embeddings import resolve_embeddings
from ..exceptions import SequenceError, UnsafeToShareWarning
from ..sequences import TokenVectors, check_sequences
from ..text import CASING_CLASSES
from .attacks import attack_classes
from .attacks.declaration import AttackPreset, AttackSettings, AuditAttack
from .audit_data import AuditData
from .protocol import AttackResult
from .released_step import MODEL, REPRESENTATION, UPDATES, VECTORS, WORDS, AuditedStep
from .releases.text import ReleasedText
from .releases.updates import ReleasedExchange
from .releases.vectors import ReleasedRepresenter, ReleasedVectors
from .schedule import PlannedAttack

PRESETS = ("default", "quick", "all")
_NOT_OF_THE_RELEASE = ("embeddings", "random_state", "n_jobs", "verbose", "cache_dir")
_SENTENCES = 2000  # for which the seconds of presets hold


class NamedAttack(NamedTuple):
    """An attack that can be asked for by name: its class, and how it is run."""

    attack: type[AuditAttack]
    preset: AttackPreset

    @property
    def kinds(self) -> tuple[str, ...]:
        """Releases that it can attack."""
        return self.preset.releases or self.attack.releases


ATTACKS: dict[str, NamedAttack] = {
    preset.key: NamedAttack(attack, preset) for attack in attack_classes() for preset in attack.presets
}


def named_attacks(attacks: str | Sequence[Any], kinds: Sequence[str]) -> list[tuple[str, Any]]:
    """Names of the attacks to run, in order, each with None; attacks that were given as objects with their type's name.

    Parameters
    ----------
    attacks : {"default", "quick", "all"} or sequence of names and attacks
    kinds : sequence of str
        What is there to attack. "default" and "quick" leave out attacks that train anew, unless there are no others.

    Raises
    ------
    ValueError
        If a name is unknown, or asks for an attack on something else than what is there.

    Examples
    --------
    >>> [name for name, _ in named_attacks("quick", ["words"])]
    ['linkage', 'reidentification', 'overlap']
    """
    if isinstance(attacks, str):
        if attacks not in PRESETS:
            attacks = [attacks]
        else:
            fitting = [name for name, one in ATTACKS.items() if set(one.kinds) & set(kinds)]
            found = [name for name in fitting if attacks == "all" or not ATTACKS[name].preset.anew] or fitting
            return [(name, None) for name in found if attacks != "quick" or ATTACKS[name].preset.quick]
    out: list[tuple[str, Any]] = []
    for one in attacks:
        if not isinstance(one, str):
            out.append((type(one).__name__, one))
        elif one not in ATTACKS:
            raise ValueError(f"There is no attack {one!r}; there are {', '.join(ATTACKS)}.")
        elif not set(ATTACKS[one].kinds) & set(kinds):
            raise ValueError(f"The attack {one!r} is on {' or '.join(ATTACKS[one].kinds)}, and here is {kinds}.")
        else:
            out.append((one, None))
    return out


def release_of_step(step: AuditedStep, data: AuditData) -> Any:
    """What a step releases of the sentences, with what attackers know of it."""
    if step.kind == REPRESENTATION:
        return ReleasedRepresenter(step.estimator, data)
    if step.kind == UPDATES:
        return ReleasedExchange(step.estimator, data)
    # A draw of the audit's own, which leaves the random numbers of the step alone.
    drawing = copy.copy(step.estimator)
    drawing.random_state = data.seed
    released = drawing.sample(data.X, data.y, data.groups)
    if step.kind == WORDS:
        return ReleasedText(released, data, step.estimator)
    public = step.estimator.mechanism_.policy.vectors
    return ReleasedVectors(np.asarray(released.data)[:, : public.dim], public, data)


def release_of_data(released: Any, data: AuditData) -> tuple[str, Any]:
    """Kind of given sentences that were released, and what attackers know of them.

    Raises
    ------
    SequenceError
        If they are not those of X.
    """
    released = check_sequences(released, name="released data")[data.rows]
    if not np.array_equal(released.offsets, data.X.offsets):
        raise SequenceError("The released sentences must be those of X, token by token.")
    if not isinstance(released, TokenVectors):
        return WORDS, ReleasedText(released, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsafeToShareWarning)  # they stay here
        public = resolve_embeddings("auto", data.X, random_state=data.seed)
    return VECTORS, ReleasedVectors(_without_casing(released), public, data)


def plan_attacks(attacks: Any, releases: Mapping[str, Any], settings: AttackSettings) -> list[PlannedAttack]:
    """The attacks of an audit; of a preset those that can be carried out.

    Parameters
    ----------
    attacks : as for `AdversarialPrivacyAuditor`
    releases : mapping of kind to release
    settings : AttackSettings

    Raises
    ------
    ValueError
        If a name is unknown or does not fit.
    """
    planned = []
    for name, given in named_attacks(attacks, list(releases)):
        if given is not None:
            release = _release_for(given, releases)
            planned.append(PlannedAttack(name, copy.deepcopy(given), partial(_run, release)))
            continue
        named = ATTACKS[name]
        release = releases[next(kind for kind in releases if kind in named.kinds)]
        attack = named.attack.make(named.preset, settings, release)
        if isinstance(attacks, str) and attacks != name and attack.requires(release) is not None:
            continue
        seconds = named.preset.seconds * attack.n_rounds * len(release.data.X) / _SENTENCES
        planned.append(PlannedAttack(name, attack, partial(_run, release), named.preset.strength, seconds))
    return planned


def fingerprint_of_step(step: AuditedStep) -> str:
    """Hash of what makes a release."""
    own = getattr(step.estimator, "fingerprint_", None)
    if own is not None:
        return str(own)
    if step.kind == UPDATES:
        return str(joblib.hash([(m.worker, m.epoch, m.data) for m in step.estimator.exchange_]))
    parameters = step.estimator.get_params(deep=False)
    plain = {k: v for k, v in parameters.items() if k not in _NOT_OF_THE_RELEASE}
    checksum = step.estimator.mechanism_.policy.vectors.checksum
    return str(joblib.hash((type(step.estimator).__qualname__, sorted(plain.items(), key=lambda kv: kv[0]), checksum)))


def _release_for(attack: Any, releases: Mapping[str, Any]) -> Any:
    """What an attack that was given as an object is about; of a class that does not say it, the model or the rest."""
    if not callable(getattr(attack, "run", None)):
        raise TypeError(
            f"An attack of an audit must have 'run', which asks a release for what it needs. {type(attack).__name__} "
            "has none. Derive it from sklearn_deid.audit.attacks.AuditAttack."
        )
    is_about_the_model = getattr(attack, "threat", None) == MODEL
    rest = [MODEL] if is_about_the_model else [kind for kind in releases if kind != MODEL]
    found = [kind for kind in getattr(attack, "releases", rest) if kind in releases]
    if not found:
        raise ValueError(f"A {type(attack).__name__} cannot attack {' or '.join(releases)}.")
    return releases[found[0]]


def _run(release: Any, attack: Any) -> list[AttackResult]:
    """Results on a release; an attack that says that it cannot be run there is skipped with its reason."""
    reason = attack.requires(release) if isinstance(attack, AuditAttack) else None
    return attack.run(release) if reason is None else [attack.skip(reason)]


def _without_casing(released: TokenVectors) -> np.ndarray:
    """The columns that are no casing."""
    data, n = np.asarray(released.data), len(CASING_CLASSES)
    if released.origin is not None:
        return data[:, : released.origin.n_components]
    last = data[:, -n:]
    is_casing = data.shape[1] > n and bool(np.isin(last, (0.0, 1.0)).all() and (last.sum(axis=1) == 1.0).all())
    return data[:, :-n] if is_casing else data
