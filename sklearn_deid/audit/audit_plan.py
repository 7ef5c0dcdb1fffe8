"""From what is handed to an audit to the attacks on it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import joblib
import numpy as np

from ..embeddings import resolve_embeddings
from ..exceptions import SequenceError, UnsafeToShareWarning
from ..sequences import TokenVectors, check_sequences
from ..text import CASING_CLASSES
from .attacks.linkage import LinkageAttack
from .audit_data import AuditData
from .protocol import THREATS
from .registry import ATTACKS, MODEL, AttackSettings, named_attacks
from .released_step import REPRESENTATION, UPDATES, VECTORS, WORDS, AuditedStep
from .releases.text import ReleasedText
from .releases.updates import ReleasedExchange
from .releases.vectors import ReleasedRepresenter, ReleasedVectors
from .schedule import PlannedAttack

__all__ = ["fingerprint_of_step", "plan_attacks", "release_of_data", "release_of_step"]

_NOT_OF_THE_RELEASE = ("embeddings", "random_state", "n_jobs", "verbose", "cache_dir")
_SENTENCES = 2000  # for which the seconds of the catalogue hold


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
            planned.append(PlannedAttack(name, copy.deepcopy(given), _runner_for(given, releases)))
            continue
        named = ATTACKS[name]
        kind = next(kind for kind in releases if kind in named.kinds)
        if isinstance(attacks, str) and attacks != name and not _can_be_carried_out(name, releases[kind]):
            continue
        attack = named.make(settings)
        if isinstance(attack, LinkageAttack) and kind != WORDS:
            attack.threat = THREATS[0]  # also where it is skipped
        run = releases[kind].run_overlap if name == "overlap" else releases[kind].run
        n_epochs = attack.n_epochs if name.startswith("pairs") else 1
        seconds = named.seconds * n_epochs * len(releases[kind].data.X) / _SENTENCES
        planned.append(PlannedAttack(name, attack, run, named.strength, seconds))
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


def _runner_for(attack: Any, releases: Mapping[str, Any]) -> Callable[[Any], list]:
    """Where an attack that was given as an object belongs: the model, or what is released."""
    is_about_the_model = getattr(attack, "threat", None) == MODEL
    kinds = [kind for kind in releases if (kind == MODEL) == is_about_the_model]
    if is_about_the_model and not kinds:  # what a representer remembers
        kinds = [kind for kind in releases if kind == REPRESENTATION]
    if not kinds:
        raise ValueError(f"A {type(attack).__name__} cannot attack {' or '.join(releases)}.")
    return releases[kinds[0]].run


def _can_be_carried_out(name: str, release: Any) -> bool:
    if name.startswith("bound"):
        return bool(release.is_bounded)
    if name == "pairs_continued":
        return getattr(release.representer, "adversaries_", None) is not None
    if name == "lookup_casing":
        return bool(release.representer.casing)
    if name.startswith("linkage"):
        return release.data.groups is not None
    if name == "overlap" or name.startswith("reidentification"):
        return release.pseudonymizer is not None
    return True


def _without_casing(released: TokenVectors) -> np.ndarray:
    """The columns that are no casing."""
    data, n = np.asarray(released.data), len(CASING_CLASSES)
    if released.origin is not None:
        return data[:, : released.origin.n_components]
    last = data[:, -n:]
    is_casing = data.shape[1] > n and bool(np.isin(last, (0.0, 1.0)).all() and (last.sum(axis=1) == 1.0).all())
    return data[:, :-n] if is_casing else data
