"""Join the released files of several hospitals into a training set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..exceptions import BundleError
from ..sequences import Provenance, TokenSequences, TokenVectors
from .public_tagger import common_tagger
from .released_classes import holds_classes
from .sharing import (
    SharedRepresentation,
    description,
    has_keyed_noise,
    label_scheme_of,
    load_representation,
    row_digests,
    sorted_tags,
    tag_scheme_of,
    warn_of_old_noise,
)

_OF_FILE = ("n_sentences", "n_tokens", "n_groups", "n_duplicates_removed", "shuffled", "audit", "library_version")


def pool_representations(
    paths_or_loaded: Iterable[str | os.PathLike[str] | SharedRepresentation],
) -> SharedRepresentation:
    """Join the releases of several hospitals that used the same representer.

    Sentences stay in the order of the files. A patient number is valid only within its file, so patients of two files
    are never identical. If only some files have patient numbers, each file without patient numbers counts as a single
    patient. A split by patient therefore never separates the sentences of a file without patient numbers.

    Parameters
    ----------
    paths_or_loaded : sequence of paths or SharedRepresentation
        Folders or opened representations to join, at least one. A single release stays in its file; several releases
        are copied to memory.

    Returns
    -------
    SharedRepresentation
        ``groups`` is None if no file has patient numbers. ``manifest["files"]`` holds counts and audit of each file. X
        has the public tagger of the files if all files have the same tagger.

    Raises
    ------
    BundleError
        If a file is damaged. If two files come from different representers, differ in d, N, casing, tag scheme or label
        scheme, or hold the same release of noisy vectors (equal sentences of two hospitals have equal word classes).
        The message contains the position (from 1) and the path of the files.

    Warns
    -----
    InsecureReleaseWarning
        If a file has format 1, since an attacker can remove its noise. A pool with a file of format 1 cannot be saved
        again.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid import pool_representations, save_representation
    >>> from sklearn_deid.sequences import TokenVectors, Provenance
    >>> import tempfile
    >>> noise = {"kind": "trainable", "seeded": False, "generator": "chacha20-256"}
    >>> noise.update(law="Gaussian, rounded to the grid", grid=0.125, released_grid=0.125)
    >>> origin = Provenance("3f2a", 2, 100, noise, False, True, "0.1.0", {})
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name, vectors in [("a", np.eye(4, 2)), ("b", np.full((4, 2), 0.5))]:
    ...     R = TokenVectors(vectors, [0, 3, 4], origin)
    ...     save_representation(f"{folder.name}/{name}", R, [["O", "B-PATIENT", "O"], ["O"]], groups=["p1", "p2"])
    >>> pool_representations([f"{folder.name}/a", f"{folder.name}/b"])
    SharedRepresentation(n=4, tokens=8, d=2, patients=4)
    >>> folder.cleanup()
    """
    if isinstance(paths_or_loaded, (str, os.PathLike, SharedRepresentation)):
        raise BundleError("Several representations are needed: pass a list of paths, or of what was loaded.")
    given = list(paths_or_loaded)
    if not given:
        raise BundleError("There is nothing to pool: the list is empty.")
    files = [one if isinstance(one, SharedRepresentation) else load_representation(one) for one in given]
    names = [_name(number, one) for number, one in enumerate(given, start=1)]
    origin = _common_origin(files, names)
    classes = holds_classes(origin)
    if not classes and any(isinstance(one, SharedRepresentation) and not has_keyed_noise(one.origin) for one in given):
        warn_of_old_noise()  # for paths, `load_representation` has already warned
    if not classes:  # equal sentences of two hospitals have equal classes
        _check_releases_differ(files, names)
    X = files[0].X if len(files) == 1 else TokenVectors.concatenate([file.X for file in files])
    X = TokenVectors(X.data, X.offsets, origin, common_tagger([file.X.tagger for file in files]))
    y = TokenSequences(np.concatenate([file.y.data for file in files]), X.offsets)
    groups = _joined_groups(files)
    return SharedRepresentation(X, y, groups, _manifest(X, y, groups, files))


def _name(number: int, one: Any) -> str:
    return f"number {number}" if isinstance(one, SharedRepresentation) else f"number {number} ({os.fspath(one)})"


def _common_origin(files: Sequence[SharedRepresentation], names: Sequence[str]) -> Provenance:
    """Check that the files have compatible origins, and return the origin of the release with the weakest noise."""
    facts = [_comparable(file, name) for file, name in zip(files, names, strict=True)]
    # A file without PHI fits every scheme. The first file with a scheme therefore sets the scheme of the pool.
    for what in facts[0]:
        known = [(values[what], name) for values, name in zip(facts, names, strict=True) if values[what] is not None]
        for value, name in known[1:]:
            if value != known[0][0]:
                raise BundleError(
                    f"Representations can be pooled only if they have the same {what}: {known[0][1]} has "
                    f"{known[0][0]!r}, {name} has {value!r}."
                )
    # The weakest noise counts for the whole: a pool with old noise in it must not be saved as a new release.
    origin = min((file.origin for file in files), key=has_keyed_noise)
    assert origin is not None
    return origin


def _comparable(file: SharedRepresentation, name: str) -> dict[str, Any]:
    origin = file.origin
    if origin is None:
        raise BundleError(f"It is unknown which representer made {name}.")
    distinct = sorted_tags(file.y.data)
    return {
        "representer (fingerprint)": origin.fingerprint,
        "dimension d (n_components)": origin.n_components,
        "casing": origin.casing,
        "width of the vectors": file.X.d,
        "number of neighbours N": origin.n_neighbors,
        "kind of word vectors (public)": origin.public_embeddings,
        "tag scheme": tag_scheme_of(distinct),
        "label scheme": label_scheme_of(distinct),
        "grid of the noise": origin.noise.get("grid") if has_keyed_noise(origin) else None,
    }


def _check_releases_differ(files: Sequence[SharedRepresentation], names: Sequence[str]) -> None:
    """Raise BundleError if two files hold the same release.

    With new noise, every release of a sentence differs. Sentences with equal vectors are therefore the same release. If
    d is very small, single sentences may have equal vectors by chance. The error is therefore raised only if more than
    half of the sentences of the smaller file are equal.
    """
    seen: list[set[bytes]] = []
    for file, name in zip(files, names, strict=True):
        rows = [row for row in file.X if len(row)]
        # Digests of the vectors alone, without tags: the same release with other tags is the same release.
        own = set(row_digests(rows, [np.empty(0)] * len(rows)))
        for other, other_name in zip(seen, names, strict=False):
            n_common = len(own & other)
            # More than half, since vectors of few dimensions on a coarse grid can be equal by chance.
            if 2 * n_common > min(len(own), len(other)):
                raise BundleError(
                    f"{n_common} sentences of {name} are also in {other_name}: they hold the same release, which can "
                    "be pooled once only."
                )
        seen.append(own)


def _joined_groups(files: Sequence[SharedRepresentation]) -> np.ndarray | None:
    if all(file.groups is None for file in files):
        return None
    joined, next_number = [], 0
    for file in files:
        # A file without patient numbers is a single patient: the file does not show which of its sentences belong
        # together.
        groups = np.zeros(len(file), dtype=np.int64) if file.groups is None else file.groups
        own, consecutive = np.unique(groups, return_inverse=True)
        joined.append(consecutive.reshape(-1) + next_number)
        next_number += len(own)
    return np.concatenate(joined)


def _manifest(
    X: TokenVectors, y: TokenSequences, groups: np.ndarray | None, files: Sequence[SharedRepresentation]
) -> dict[str, Any]:
    assert X.origin is not None
    return {
        **description(X, sorted_tags(y.data), X.origin, groups),
        "n_duplicates_removed": sum(file.manifest.get("n_duplicates_removed", 0) for file in files),
        "shuffled": all(file.manifest.get("shuffled", False) for file in files),
        "files": [{key: file.manifest.get(key) for key in _OF_FILE} for file in files],
    }
