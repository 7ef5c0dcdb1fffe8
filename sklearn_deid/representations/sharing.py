"""Share private vectors with their tags, and open the vectors of other hospitals.

`SharedRepresentation` holds the content of an opened folder. Vectors are checked when they are saved and when they are
loaded: as far as the released vectors show it, their noise must be the noise that the provenance states.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from .. import __version__
from .._randomness import FINEST_STEP, KEYED, SEEDED, grid_step, is_grid, n_signed_zeros, on_grid, release_generator
from .._storage import (
    ARRAYS_FILE,
    check_bundle_target,
    check_nothing_else,
    plain_json,
    read_manifest,
    write_bundle,
)
from ..exceptions import BundleError, InsecureReleaseWarning, SequenceError
from ..sequences import NOISE_LAW, Provenance, RaggedArray, TokenSequences, TokenVectors, check_groups, check_tags
from ..text import BINARY, CASING_CLASSES, I2B2_2014, MEDDOCAN
from ..text.tags import sorted_tags, split_tag
from .mapped_arrays import map_arrays
from .public_tagger import TAGGER, public_tagger_from_state, public_tagger_to_state
from .released_classes import check_classes, holds_classes

_CLASS = "SharedRepresentation"
_FORMAT, _OLD_FORMAT = 2, 1  # since format 2, noise is drawn from a cipher and rounded to a grid
_TYPES = {"vectors": np.float32, "offsets": np.int64, "tags": np.uint16, "groups": np.int64}
# A manifest is published with the vectors: an entry that this library does not write could hold anything.
_ENTRIES = {"format", "class", "library_version", "representation", "arrays_sha256"}
_NOISE = {"kind", "mean_std", "smallest_std", "seeded", "generator", "law", "grid", "released_grid"}
_SIZES = ("mean_std", "smallest_std", "grid", "released_grid")
_CLASSES = {"kind", "law", "seeded", "class_size", "centroids"}
_WORD = re.compile(r"[A-Za-z0-9_.+-]{1,40}")
# Without the free text that a version of Python may end with ("0.2.0+name").
_VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,2}((a|b|rc)\d{1,2})?(\.dev\d{1,3})?")
_FINGERPRINT, _LONGEST_SETTINGS = re.compile(r"[0-9a-f]{1,32}"), 100
_COUNTS = ("n_sentences", "n_tokens", "d", "n_duplicates_removed", "n_groups")
_MOST = 2**63 - 1  # of a count
_STEPS_OF_NOISE = 2**5  # fewest steps of the grid in a standard deviation, see `grid_step`
_BLOCK = 2**16  # number of rows that are checked at once, so that a mapped file is never in memory as a whole


@dataclass(frozen=True, eq=False, repr=False)
class SharedRepresentation:
    """Vectors, tags and patient numbers that other hospitals released.

    Attributes
    ----------
    X : TokenVectors of n sentences
        Vectors with their origin. A single file is memory-mapped; the files of a pool are copied to memory.
    y : TokenSequences of n tag sequences
        Tags in IOB2 or BIOES, as the hospital wrote them.
    groups : ndarray of shape (n,), dtype int64, or None
        Number of the patient of each sentence. Sentences with equal numbers belong to the same patient.
    manifest : dict
        Counts, tag names, origin and audit of the file. For a pool, ``files`` holds the counts and the audit of each
        file.
    """

    X: TokenVectors
    y: TokenSequences
    groups: np.ndarray | None
    manifest: dict[str, Any]

    @property
    def origin(self) -> Provenance | None:
        """Description of the representer that made the vectors."""
        return self.X.origin

    @property
    def audit(self) -> Any:
        """Metrics of an audit, or None if the file has none."""
        return self.manifest.get("audit")

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        patients = "unknown" if self.groups is None else len(np.unique(self.groups))
        return f"SharedRepresentation(n={len(self)}, tokens={len(self.X.data)}, d={self.X.d}, patients={patients})"


def check_width(d: int, origin: Provenance) -> None:
    """Raise BundleError if the width of vectors is not the width in their provenance."""
    expected = origin.n_components + len(CASING_CLASSES) * origin.casing
    if d != expected:
        raise BundleError(f"The vectors have {d} columns, those of their representer {expected}.")


def holds_only_finite(data: np.ndarray) -> bool:
    """Whether an array contains neither NaN nor infinity; reads the array block by block.

    Examples
    --------
    >>> holds_only_finite(np.array([[1.0], [np.inf]]))
    False
    """
    return all(np.isfinite(data[start : start + _BLOCK]).all() for start in range(0, len(data), _BLOCK))


def row_digests(rows: Iterable[np.ndarray], tags: Iterable[np.ndarray]) -> list[bytes]:
    """Return a digest of 16 bytes for each sentence; equal bytes of vectors and tags have equal digests."""
    return [
        blake2b(np.ascontiguousarray(row).tobytes() + np.ascontiguousarray(tag).tobytes(), digest_size=16).digest()
        for row, tag in zip(rows, tags, strict=True)
    ]


def tag_scheme_of(tags: Iterable[str]) -> str | None:
    """Return "bioes" if E or S occur, and otherwise "iob2"; return None without PHI, which fits both schemes.

    Examples
    --------
    >>> tag_scheme_of(["O", "B-AGE"]), tag_scheme_of(["O", "S-AGE"]), tag_scheme_of(["O"])
    ('iob2', 'bioes', None)
    """
    prefixes = {split_tag(tag)[0] for tag in tags} - {"O"}
    return ("bioes" if prefixes & {"E", "S"} else "iob2") if prefixes else None


def label_scheme_of(tags: Iterable[str]) -> str | None:
    """Return the name of the first known label scheme that has all labels; None without such a scheme or any label.

    Examples
    --------
    >>> label_scheme_of(["O", "B-PATIENT"]), label_scheme_of(["B-NOMBRE_SUJETO_ASISTENCIA"]), label_scheme_of(["B-X"])
    ('i2b2-2014', 'meddocan', None)
    """
    labels = {split_tag(tag)[1] for tag in tags} - {None}
    known = (scheme.name for scheme in (I2B2_2014, MEDDOCAN, BINARY) if labels <= set(scheme.labels))
    return next(known, None) if labels else None


def description(X: TokenVectors, names: list[str], origin: Provenance, groups: np.ndarray | None) -> dict[str, Any]:
    """Return the part of a manifest that follows from the sentences, tag names, provenance and groups."""
    return {
        "n_sentences": len(X),
        "n_tokens": len(X.data),
        "d": X.d,
        "n_groups": None if groups is None else len(np.unique(groups)),
        "tags": names,
        "tag_scheme": tag_scheme_of(names),
        "label_scheme": label_scheme_of(names),
        "origin": origin.to_dict(),
    }


def tag_rows(names: Sequence[str], indices: np.ndarray, offsets: np.ndarray) -> TokenSequences:
    """Make tag sequences from indices into a list of tag names.

    Raises
    ------
    BundleError
        If an index is out of range, or if a name is not a valid tag or occurs twice.
    """
    try:
        if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
            raise BundleError("The manifest names a duplicate or invalid tag.")
        sorted_tags(names)
    except (SequenceError, TypeError):
        raise BundleError("The manifest names an invalid tag.") from None
    if len(indices) and int(indices.max()) >= len(names):
        raise BundleError("A tag has a number that the manifest does not name.")
    table = np.empty(len(names), dtype=object)
    table[:] = [intern(name) for name in names]
    return TokenSequences(table[indices], offsets)


def has_keyed_noise(origin: Provenance | None) -> bool:
    """Whether the noise was drawn from a cipher, as in all files since format 2."""
    return origin is not None and origin.noise.get("generator") == KEYED


def refuse_open_noise(origin: Provenance) -> None:
    """Raise BundleError if the vectors have no noise, or if an attacker can compute the noise."""
    if origin.noise.get("kind") == "none":
        raise BundleError("These vectors must not be shared: they carry no noise. Fit PrivateRepresenter with noise.")
    if origin.noise.get("seeded") or origin.noise.get("generator") == SEEDED:
        raise BundleError(
            "These vectors must not be shared: an attacker who knows the seed can remove their noise. Fit "
            "PrivateRepresenter with random_state=None."
        )
    if not has_keyed_noise(origin):
        raise BundleError(
            "These vectors must not be shared: an earlier version drew their noise from a generator whose seeds can be "
            "tried one by one. Transform the notes again with this version."
        )


def check_noise(data: np.ndarray, origin: Provenance) -> None:
    """Raise BundleError if the provenance names unknown noise, or if vectors are not on the grid of the provenance.

    Word classes have no noise; each vector must be the vector of a class whose digest is in the provenance. Columns of
    the casing must hold one class for each token.

    Parameters
    ----------
    data : ndarray of shape (n_tokens, d)
        Finite vectors. Columns beyond ``n_components`` hold the casing.
    origin : Provenance
        Origin of the vectors.
    """
    (check_classes if holds_classes(origin) else _check_drawn_noise)(data, origin)
    _check_casing(data[:, origin.n_components :])


def _check_drawn_noise(data: np.ndarray, origin: Provenance) -> None:
    noise = origin.noise
    if noise.get("kind") not in ("trainable", "fixed") or not _is_positive(noise.get("smallest_std", 1.0)):
        raise BundleError("The origin of the vectors states a dimension without noise.")
    if noise.get("seeded") is not False or not has_keyed_noise(origin) or noise.get("law") != NOISE_LAW:
        raise BundleError("The origin of the vectors states no noise that PrivateRepresenter draws.")
    if not is_grid(noise.get("grid")) or not is_grid(noise.get("released_grid")):
        raise BundleError("The origin of the vectors states an invalid grid.")
    # A finer grid than that of the noise would leave room for a message in the low bits.
    unit_norm = origin.settings.get("unit_norm")
    steps = [step for step, is_unit in ((FINEST_STEP, True), (noise["grid"], False)) if unit_norm in (is_unit, None)]
    if noise["released_grid"] not in steps:
        raise BundleError("The origin of the vectors states a released grid other than the grid of its noise.")
    _check_size_of_noise(noise)
    # The draw itself cannot be verified. But vectors off the grid were changed, or are noise-free, or have other noise.
    if not on_grid(data[:, : origin.n_components], noise["released_grid"]):
        raise BundleError("The vectors do not lie on the grid that their origin states: they were changed.")


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and value > 0.0


def _check_size_of_noise(noise: Mapping[str, Any]) -> None:
    """Raise BundleError if the noise is too small for its grid, or if the grid does not match the noise."""
    sizes = [noise.get(name, 1.0) for name in ("smallest_std", "mean_std")]
    # Both are rounded to float32 separately.
    if not all(map(_is_positive, sizes)) or ("mean_std" in noise and sizes[0] > 1.001 * sizes[1]):
        raise BundleError("The origin of the vectors states no possible size of the noise.")
    if "smallest_std" not in noise:
        return
    if sizes[0] < grid_step(0.0) * _STEPS_OF_NOISE:
        # Rounding then undoes the noise: all draws of a number are equal.
        raise BundleError("These vectors must not be shared: their noise is smaller than the finest grid allows.")
    if noise["grid"] != grid_step(sizes[0]):
        raise BundleError("The origin of the vectors states a grid that does not follow from the noise.")


def _check_casing(columns: np.ndarray) -> None:
    """Raise BundleError if the columns of the casing are not one-hot: other values have no noise."""
    for start in range(0, len(columns) if columns.shape[1] else 0, _BLOCK):
        some = columns[start : start + _BLOCK]
        # In blocks: a mapped file may be larger than the memory.
        # A zero with a minus sign equals zero, and its sign could be a bit of a note.
        if not np.isin(some, (0.0, 1.0)).all() or (some.sum(axis=1) != 1.0).any() or n_signed_zeros(some):
            raise BundleError("The columns of the casing hold something else than one class for each token.")


def warn_of_old_noise() -> None:
    """Warn that the noise of a release by an earlier version can be removed."""
    warnings.warn(
        "An earlier version drew the noise of this release from a generator with 2^32 seeds. An attacker with the "
        "release and the representer finds the seed in minutes and removes the noise: treat these vectors as readable "
        "as vectors without noise. Ask the sender for a new release, made with this version.",
        InsecureReleaseWarning,
        stacklevel=4,
    )


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

    The folder contains the vectors, the tags, the lengths of the sentences, the public tagger of the vectors (see
    `TokenVectors`), and a manifest with counts, tag names and the settings of the representer. The folder contains no
    token, no text and no document id. Folder and files have the time of the last midnight (UTC).

    Sentences are written in random order, since the order of the notes shows which sentences belong together. An
    attacker who can remove the noise can also restore order and content: vectors that version 0.1.0 released on a CPU
    are as readable as vectors without noise (``docs/security.md``). Sentences with equal vectors and tags are the same
    release and are written once. Release notes only once, since each further noise draw reveals more of the notes.

    Parameters
    ----------
    path : path
        Folder to make. The folder is written under a temporary name and then renamed, so a partial folder never appears
        at ``path``.
    R : TokenVectors of n sentences
        Vectors that `PrivateRepresenter.transform` made with public word vectors and without a random seed, or that
        `WordClassRepresenter.transform` made with public word vectors.
    y : sequence of n tag sequences
        Tags in IOB2 or BIOES.
    groups : array-like of shape (n,), default=None
        Patient of each sentence. Patient ids are never written; each patient has a consecutive number, and the patients
        are numbered in random order. The numbers still show which sentences belong to the same patient, and the
        information of several sentences about a patient adds up. Pass ``groups`` only if the recipient needs patient
        numbers for training, for example to keep patients apart in cross-validation. A sentence that occurs with
        several patients keeps the number of one of these patients.
    audit : mapping, default=None
        Metrics of an audit, as plain JSON values. The metrics are published without changes.
    shuffle : bool, default=True
        Whether sentences are written in random order. With False, the recipient learns which sentences follow each
        other.
    random_state : int or RandomState, default=None
        Random seed of the order, for tests. With None, the order is random from the operating system. An attacker who
        knows the seed can restore the order. An attacker who finds the seed of the noise can also restore the order,
        for sentences of equal length.
    overwrite : bool, default=False
        Whether a saved folder at ``path`` may be replaced.

    Raises
    ------
    BundleError
        If R was not made by a PrivateRepresenter, or ``path`` exists. If R must not be shared, for one of these
        reasons: its word vectors were trained on private notes; R has no noise; the noise comes from a seed or an
        earlier version; the vectors are not on the grid of their noise.
    SequenceError
        If y or groups do not fit R, if y contains values that are not tags, or if R contains NaN or infinity.

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
    # The same stream draws the order of sentences and the patient numbers.
    rng = release_generator(random_state)
    order = rng.permutation(len(R)) if shuffle else np.arange(len(R))
    kept = _first_releases(R, numbers, order)
    if shuffle:
        # The first of several copies is early in a random order: the order would tell which sentences were repeated.
        kept = rng.permutation(kept)
    released = R[kept]
    patients = None if patients is None else _random_numbers(patients[kept], rng)
    facts = {
        **description(released, names, origin, patients),
        "n_duplicates_removed": len(R) - len(kept),
        "shuffled": bool(shuffle),
        "audit": None if audit is None else plain_json(audit, "audit"),
    }
    # -0.0 becomes 0.0: earlier vectors can hold -0.0, whose sign reveals information on the mean.
    arrays = {"vectors": released.data + np.float32(0.0), "offsets": released.offsets, "tags": numbers[kept].data}
    if patients is not None:
        arrays["groups"] = patients
    manifest = {"format": _FORMAT, "class": _CLASS, "library_version": __version__, "representation": facts}
    if R.tagger is not None:
        manifest["tagger"], weights = public_tagger_to_state(R.tagger, R.d)
        arrays |= weights
    write_bundle(path, manifest, arrays, overwrite=overwrite, whole_day=True)


def load_representation(path: str | os.PathLike[str]) -> SharedRepresentation:
    """Open a folder that `save_representation` wrote; nothing in the folder is executed.

    The whole folder is read once, in blocks, to check that it is complete. After the check, the vectors stay in the
    file and are memory-mapped.

    Parameters
    ----------
    path : path
        Folder to open. Do not change the folder as long as you use the vectors.

    Returns
    -------
    SharedRepresentation
        ``X``, ``y``, ``groups`` (or None), ``manifest``, ``audit``, ``origin``.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete, of another format, or put together from several folders. If the folder
        holds content that `save_representation` does not write, such as another file, or vectors that are not on the
        grid of their noise.

    Warns
    -----
    InsecureReleaseWarning
        If the folder has format 1, since an attacker can remove its noise.

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
        check_nothing_else(path)
        facts, origin = _checked_facts(manifest.get("representation"))
        _check_entries(manifest, origin)
        arrays = map_arrays(Path(path) / ARRAYS_FILE)
        tagger = public_tagger_from_state(manifest["tagger"], arrays, facts["d"]) if "tagger" in manifest else None
        arrays = {name: array for name, array in arrays.items() if tagger is None or not name.startswith(TAGGER)}
        _check_arrays(arrays, facts)
        offsets = np.array(arrays["offsets"])
        y = tag_rows(facts["tags"], np.array(arrays["tags"]), offsets)
        if facts["tags"] != sorted_tags(y.data):
            raise BundleError("The manifest names tags that no token has, or in another order.")
        if facts["tag_scheme"] != tag_scheme_of(facts["tags"]):
            raise BundleError("The manifest names a tag scheme that is not that of its tags.")
        if facts["label_scheme"] not in (None, label_scheme_of(facts["tags"])):
            raise BundleError("The manifest names a label scheme that is not that of its tags.")
        X = TokenVectors(arrays["vectors"], offsets, origin, tagger)
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
            "Only representations that PrivateRepresenter.transform returned, and parts of them, can be saved for "
            "sharing. This representation does not state which representer made it, so that its privacy is unknown."
        )
    origin = R.origin
    if not origin.public_embeddings:
        raise BundleError(
            "These vectors must not be shared: their word vectors were trained on private notes. Fit "
            "PrivateRepresenter with public word vectors: pip install 'sklearn-deid[glove]' and "
            "embeddings='glove-6b-50d', or WordVectors of public text."
        )
    if not holds_classes(origin):
        refuse_open_noise(origin)
    check_width(R.d, origin)
    return origin


def _as_float32(R: TokenVectors) -> TokenVectors:
    """Return R with vectors of float32; a mapped file of float32 stays mapped."""
    if R.data.dtype.kind != "f":
        raise SequenceError("R must hold floating point numbers.")
    with np.errstate(over="ignore"):  # too large numbers become infinite, which the check below finds
        data = R.data.astype(np.float32, copy=False)
    if not holds_only_finite(data):
        raise SequenceError("R holds NaN or infinity.")
    return TokenVectors(data, R.offsets, R.origin, R.tagger)


def _tag_numbers(tags: TokenSequences, names: list[str]) -> RaggedArray:
    """Replace each tag by its index in ``names``."""
    if len(names) > np.iinfo(np.uint16).max:
        raise SequenceError("y holds more than 65,535 different tags.")
    number = {name: i for i, name in enumerate(names)}
    flat = np.fromiter(map(number.__getitem__, tags.data), dtype=np.uint16, count=len(tags.data))
    return RaggedArray(flat, tags.offsets)


def _first_releases(R: TokenVectors, numbers: RaggedArray, order: np.ndarray) -> np.ndarray:
    """Return the row numbers in this order; each distinct sentence (vectors and tags) occurs once."""
    # A sentence with equal vectors and tags was released twice with one draw: a second copy adds no data, and shows
    # that two notes agree.
    digests = row_digests(R, numbers)
    first: dict[bytes, int] = {}
    for row in order.tolist():
        first.setdefault(digests[row], row)
    return np.fromiter(first.values(), dtype=np.int64, count=len(first))


def _random_numbers(patients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace patient ids by consecutive numbers, assigned at random."""
    number: dict[Any, int] = {}
    consecutive = [number.setdefault(patient, len(number)) for patient in patients.tolist()]
    # The permutation hides the order in which the patients occur in the notes.
    return rng.permutation(len(number))[np.asarray(consecutive, dtype=np.int64)].astype(np.int64)


# ---- loading


def _checked_facts(facts: Any) -> tuple[dict[str, Any], Provenance]:
    """Check the manifest's description of the representation; no value is trusted."""
    kinds = {"shuffled": bool, "tags": list}
    if not isinstance(facts, dict) or not all(isinstance(facts.get(name), kind) for name, kind in kinds.items()):
        raise BundleError("The manifest does not describe a representation.")
    counts = [facts.get(name) for name in _COUNTS if name != "n_groups" or facts.get(name) is not None]
    if not all(type(count) is int and 0 <= count <= _MOST for count in counts) or not facts["d"]:
        raise BundleError("The manifest has an invalid count.")
    described = {*_COUNTS, "shuffled", "tags", "tag_scheme", "label_scheme", "origin", "audit"}
    # An unknown key could carry anything, and nobody would look.
    if facts.keys() != described:
        raise BundleError("The manifest describes something else than this version writes.")
    if facts["label_scheme"] not in (None, I2B2_2014.name, MEDDOCAN.name, BINARY.name):
        raise BundleError("The manifest names an invalid label scheme.")
    try:
        return facts, Provenance(**facts["origin"])
    except TypeError:  # the origin is no mapping, or has other keys
        raise BundleError("The manifest does not state which representer made the representation.") from None


def _check_entries(manifest: dict[str, Any], origin: Provenance) -> None:
    """Raise BundleError if a manifest contains an entry that `save_representation` does not write, or free text."""
    known = _ENTRIES | ({"tagger"} if "tagger" in manifest else set())
    noise = _CLASSES if holds_classes(origin) else _NOISE
    if manifest.keys() != known or (manifest["format"] == _FORMAT and not origin.noise.keys() <= noise):
        raise BundleError("The manifest describes something else than this version writes.")
    versions = manifest["library_version"], origin.library_version
    if not all(isinstance(version, str) and _VERSION.fullmatch(version) for version in versions):
        raise BundleError("The manifest names an invalid version.")
    settings = [*origin.settings, *origin.settings.values()]
    plain = all(_WORD.fullmatch(v) if isinstance(v, str) else _is_short(v) for v in settings)
    if not plain or len(origin.settings) > _LONGEST_SETTINGS or not _FINGERPRINT.fullmatch(origin.fingerprint):
        raise BundleError("The settings or the fingerprint in the manifest hold text that no representer has.")


def _is_short(value: Any) -> bool:
    return value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**63)


def _check_noise_of_file(manifest: dict[str, Any], X: TokenVectors, origin: Provenance) -> None:
    if manifest["format"] == _FORMAT:
        check_noise(X.data, origin)
    elif has_keyed_noise(origin) or holds_classes(origin):
        raise BundleError("The manifest states a kind of noise that is newer than its format.")
    else:
        # Version 0.1.0 let a dimension lose its noise: the audit names such a folder.
        sizes = [origin.noise[name] for name in _SIZES if name in origin.noise]
        if not all(type(size) in (int, float) and size >= 0.0 for size in sizes):
            raise BundleError("The origin of the vectors states no possible size of the noise.")


def _check_arrays(arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
    """Raise BundleError if arrays differ from the manifest, or hold impossible values."""
    n, n_tokens, n_groups = facts["n_sentences"], facts["n_tokens"], facts["n_groups"]
    of_groups = {} if n_groups is None else {"groups": (n,)}
    shapes = {"vectors": (n_tokens, facts["d"]), "offsets": (n + 1,), "tags": (n_tokens,), **of_groups}
    if {name: array.shape for name, array in arrays.items()} != shapes:
        raise BundleError("The arrays are not those that the manifest describes.")
    if any(array.dtype != _TYPES[name] for name, array in arrays.items()):
        raise BundleError("The arrays are of other types than they should be.")
    offsets = arrays["offsets"]
    # Unchecked offsets would read tokens of other sentences, or beyond the file.
    if offsets[0] != 0 or offsets[-1] != n_tokens or (offsets[1:] < offsets[:-1]).any():
        raise BundleError("The borders of the sentences decrease, or do not fit the vectors.")
    if n_groups is not None and not np.array_equal(np.unique(arrays["groups"]), np.arange(n_groups)):
        raise BundleError("The numbers of the patients are not consecutive.")
    if not holds_only_finite(arrays["vectors"]):
        raise BundleError("The vectors hold NaN or infinity.")
