"""Attacks of an audit by name, and the conversion of the user's input into releases that attacks accept."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..embeddings import resolve_embeddings
from ..exceptions import AttackError, SequenceError, UnsafeToShareWarning
from ..representations.released_classes import holds_classes
from ..sequences import TokenVectors
from ..text import CASING_CLASSES
from .attacks import attack_classes
from .attacks.declaration import UNKNOWN_MECHANISM, AttackPreset, AttackSettings, AuditAttack
from .audit_data import AuditData
from .protocol import AttackResult
from .released_step import (
    CLASS_FILE,
    CLASSES,
    MODEL,
    RELEASE_FILE,
    REPRESENTATION,
    SURROGATES,
    UPDATES,
    VECTORS,
    WORDS,
    AuditedStep,
)
from .releases.classes import MatchedClasses, ReleasedClasses, ReleasedClassFolder
from .releases.file import ReleasedFile
from .releases.matched_file import MatchedFile
from .releases.representer import ReleasedRepresenter
from .releases.surrogates import ReleasedSurrogates
from .releases.text import ReleasedText
from .releases.updates import ReleasedExchange
from .releases.vector_release import check_columns
from .releases.vectors import ReleasedVectors
from .schedule import PlannedAttack

PRESETS = ("default", "quick", "all")
# The seconds of the presets hold for this number of sentences.
_SENTENCES = 2000
# Kinds of folders, and the kind of the same release if the notes are known.
_BEHIND = {RELEASE_FILE: REPRESENTATION, CLASS_FILE: CLASSES}
_CAN_BE_ORIGINALS = (
    f"{UNKNOWN_MECHANISM} The text can hold the originals, but this attack does not search for originals. Audit the "
    "pseudonymizer."
)


class NamedAttack(NamedTuple):
    """An attack that a user can request by name: its class, and the configuration to run."""

    attack: type[AuditAttack]
    preset: AttackPreset

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of release that the attack accepts."""
        return self.preset.releases or self.attack.releases


ATTACKS: dict[str, NamedAttack] = {
    preset.key: NamedAttack(attack, preset) for attack in attack_classes() for preset in attack.presets
}


def named_attacks(attacks: str | Sequence[Any], kinds: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the attacks to run, in order, as pairs of a name and an attack object.

    An attack requested by name is paired with None. An attack object is paired with the name of its type.

    Parameters
    ----------
    attacks : {"default", "quick", "all"}, name, or sequence of names and attacks
        Attacks that the user requests.
    kinds : sequence of str
        Kinds of the available releases. "default" and "quick" leave out attacks that train the attacked model again,
        unless no other attack accepts the releases.

    Raises
    ------
    ValueError
        If a name is unknown.
    AttackError
        If a requested attack does not accept the available releases.

    Examples
    --------
    >>> [name for name, _ in named_attacks("quick", ["words"])]
    ['linkage', 'reidentification', 'overlap', 'kept_tokens', 'drawn_words']
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
            raise ValueError(f"There is no attack {one!r}. The attacks are {', '.join(ATTACKS)}.")
        elif not set(ATTACKS[one].kinds) & set(kinds):
            here = " and ".join(kinds)
            raise AttackError(
                f"The attack {one!r} is on {' or '.join(ATTACKS[one].kinds)}, but this audit is on {here}."
            )
        else:
            out.append((one, None))
    if not out:
        raise ValueError("The 'attacks' parameter must name at least one attack. Got an empty list instead.")
    return out


def release_of_step(step: AuditedStep, data: AuditData) -> Any:
    """Return the release of the sentences by a step, together with the attackers' knowledge."""
    if step.kind == REPRESENTATION:
        return ReleasedRepresenter(step.estimator, data)
    if step.kind == CLASSES:
        return ReleasedClasses(step.estimator, data)
    if step.kind == UPDATES:
        return ReleasedExchange(step.estimator, data)
    drawing = copy.copy(step.estimator)
    if drawing.random_state is not None:
        # A seeded step draws from the audit's seed, so that its own random state does not advance. A step without a
        # seed is attacked as it releases, from the system's randomness.
        drawing.random_state = data.seed
    released = drawing.sample(data.X, data.y, data.groups)
    if not np.array_equal(released.offsets, data.X.offsets):
        raise SequenceError("The estimator under attack released other sentences, or other tokens, than it was given.")
    if step.kind == WORDS:
        return ReleasedText(released, data, step.estimator)
    if step.kind == SURROGATES:
        return ReleasedSurrogates(released, data, step.estimator)
    public = step.estimator.mechanism_.policy.vectors
    check_columns(released, data.X, public.dim, bool(step.estimator.casing))
    return ReleasedVectors(np.asarray(released.data)[:, : public.dim], public, data, step.estimator)


def releases_of_folder(
    shared: Any, representer: Any, data: AuditData | None, notes: Any, path: Any = None
) -> dict[str, Any]:
    """Return the releases of a saved folder by kind: the bytes of the folder and, if the notes are known, the vectors
    with the notes.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : PrivateRepresenter, WordClassRepresenter or None
        Published representer.
    data : AuditData or None
        Sentences of the notes; None if the notes are unknown.
    notes : MatchedNotes or None
        Original notes of the folder, with their rows.
    path : path, optional
        Folder whose bytes are read.
    """
    is_classes = holds_classes(shared.origin)
    read, matched = (ReleasedClassFolder, MatchedClasses) if is_classes else (ReleasedFile, MatchedFile)
    if data is None or notes is None:
        return {read.kind: read(shared, representer, path=path)}
    position = np.full(len(shared), -1, dtype=np.int64)
    known = np.flatnonzero(notes.rows >= 0)[::-1]  # the first one of equal sentences counts
    position[notes.rows[known]] = known
    file = read(shared, representer, position, notes.known, path)
    if representer is None:
        return {read.kind: file}
    # Attacks that accept both kinds attack the first kind, about which more is known.
    return {matched.kind: matched(shared, representer, data, notes), read.kind: file}


def release_of_data(released: Any, data: AuditData) -> tuple[str, Any]:
    """Return the kind of the released sentences, and the release together with the attackers' knowledge."""
    released = released[data.rows]
    if not isinstance(released, TokenVectors):
        return WORDS, ReleasedText(released, data)
    with warnings.catch_warnings():
        # The vectors stay inside the audit, so that the warning about sharing them does not apply.
        warnings.simplefilter("ignore", UnsafeToShareWarning)
        public = resolve_embeddings("auto", data.X, random_state=data.seed)
    return VECTORS, ReleasedVectors(_without_casing(released), public, data)


def plan_attacks(attacks: Any, releases: Mapping[str, Any], settings: AttackSettings) -> list[PlannedAttack]:
    """Plan the attacks of an audit. Presets leave out attacks that cannot run on the releases.

    If the mechanism of a text is unknown, quick attacks that need the mechanism are skipped, and the audit fails.

    Parameters
    ----------
    attacks : str or sequence of names and attacks
        Same as in `AdversarialPrivacyAuditor`.
    releases : mapping of kind to release
        Available releases.
    settings : AttackSettings
        Parameters of the audit for its attacks.

    Raises
    ------
    ValueError
        If a name is unknown, or an attack does not accept the releases.
    """
    planned = []
    is_preset = isinstance(attacks, str) and attacks in PRESETS
    for name, given in named_attacks(attacks, list(releases)):
        if given is not None:
            release = _release_for(given, releases)
            planned.append(PlannedAttack(name, copy.deepcopy(given), partial(_run, release)))
            continue
        named = ATTACKS[name]
        # The first kind of release that the attack accepts decides: an attack runs once, not once per release.
        release = releases[next(kind for kind in releases if kind in named.kinds)]
        attack = named.attack.make(named.preset, settings, release)
        reason = attack.requires(release) if is_preset else None
        # If the mechanism is unknown, the released words can be the originals, and linkage alone would not show this.
        if reason is not None and not (reason == UNKNOWN_MECHANISM and named.preset.quick):
            continue
        # An attack that only gives its reason takes no time.
        seconds = 1e-3 if reason else named.preset.seconds * attack.n_rounds * len(release.data.X) / _SENTENCES
        run = partial(_run, release, is_named=not is_preset)
        called_for = named.preset.quick or not is_preset
        planned.append(PlannedAttack(name, attack, run, named.preset.strength, seconds, called_for))
    return [*planned, *_without_originals(attacks, releases, settings)]


def _without_originals(attacks: Any, releases: Mapping[str, Any], settings: AttackSettings) -> Iterator[PlannedAttack]:
    """Plan attacks that a folder requires but that cannot run without the notes. These attacks are skipped, and the
    audit fails."""
    kind = next((kind for kind in releases if kind in _BEHIND), "")
    if not kind or _BEHIND[kind] in releases or attacks not in list(PRESETS):
        return
    for name, named in ATTACKS.items():
        if _BEHIND[kind] in named.kinds and kind not in named.kinds and named.preset.quick:
            attack = named.attack.make(named.preset, settings, releases[kind])
            if name != "replay":  # of estimators alone
                yield PlannedAttack(name, attack, _without_notes, seconds=1e-3)


def _without_notes(attack: Any) -> list[AttackResult]:
    raise AttackError("This attack needs the notes behind the folder and the published representer.")


def _release_for(attack: Any, releases: Mapping[str, Any]) -> Any:
    """Find the release for an attack object by the ``releases`` of its class or, without this attribute, by its
    ``threat``."""
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


def _run(release: Any, attack: Any, *, is_named: bool = True) -> list[AttackResult]:
    """Return the results on a release. An attack whose requirements are not met is skipped with its reason.

    The audit fails if attacks that were requested by name are skipped. The audit also fails if these attacks run on a
    text of unknown mechanism, because this text can contain the originals. A preset instead lists the attacks that
    could not run on such a text. With attacks on text, the audit fails if the parameters of the pseudonymizer leave PHI
    tokens unchanged, or if tokens outside of PHI were changed. With attacks by name, the audit also fails if the
    mechanism cannot have made the text, because only the checks of a preset detect such a text.
    """
    reason = attack.requires(release) if isinstance(attack, AuditAttack) else None
    if reason is not None:
        raise AttackError(reason)  # the attack is then left out
    results = attack.run(release)
    if isinstance(release, ReleasedVectors):
        return _blocked(results, release.in_clear)
    if not isinstance(release, ReleasedText):
        return results
    is_unknown = is_named and release.pseudonymizer is None
    other = is_named and release.is_other_text
    reason = _CAN_BE_ORIGINALS if is_unknown else release.in_clear or _changed_elsewhere(release) or other or None
    return _blocked(results, reason)


def _changed_elsewhere(release: ReleasedText) -> str | None:
    """Statement about changed tokens outside of PHI; None if all these tokens are unchanged.

    Pseudonymizers change only PHI. Any other changed token can contain originals, and no attack reads these tokens.
    """
    data, released = release.data, release.released
    n = 0 if release.pseudonymizer is None else int((released.data != data.X.data)[~data.phi].sum())
    return f"{n:,} tokens outside of PHI differ from the notes. They can hold originals." if n else None


def _blocked(results: list[AttackResult], reason: str | None) -> list[AttackResult]:
    return [replace(result, blocks=True, reason=reason) for result in results] if reason else results


def _without_casing(released: TokenVectors) -> np.ndarray:
    """Remove the casing columns from released vectors."""
    data, n = np.asarray(released.data), len(CASING_CLASSES)
    if released.origin is not None:
        return data[:, : released.origin.n_components]
    last = data[:, -n:]
    is_casing = data.shape[1] > n and bool(np.isin(last, (0.0, 1.0)).all() and (last.sum(axis=1) == 1.0).all())
    return data[:, :-n] if is_casing else data
