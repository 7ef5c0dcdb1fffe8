"""Release of a saved folder of vectors: the attacker knows the bytes and may know the published representer."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from ..._randomness import n_signed_zeros
from ..._storage import bundle_text, has_possible_times
from ..._strict_json import load_strict
from ...exceptions import BundleError
from ...representations.private_representer import PrivateRepresenter
from ...representations.public_tagger import common_tagger
from ...representations.released_classes import holds_classes
from ...representations.sharing import SharedRepresentation, has_keyed_noise, row_digests
from ...representations.word_class_representer import WordClassRepresenter
from ...sequences import RaggedArray, TokenSequences
from ...text import CASING_CLASSES, split_tag
from ..attacks.manifest_checks import FolderText, format_faults, manifest_faults
from ..attacks.saved_sentences import KnownNotes, SavedSentences
from ..attacks.seed_search import SeedTarget
from ..audit_data import AuditData
from ..released_step import RELEASE_FILE
from .vector_release import items_of

_MANY_LABELS, _MOST_LABELS = 20, 100
_FEWEST_LABELS, _FEWEST_PATIENTS = 5, 10
_OTHER_TIMES = (
    "The times of the folder are before this library, or in the future. A wrong time can carry a message, or the "
    "date of a note."
)


class ReleasedFile:
    """Vectors and tags of a saved folder.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : PrivateRepresenter, optional
        Published representer that made the vectors.
    original : ndarray of shape (n_sentences,), optional
        Row of each sentence in the notes, -1 for an unknown row.
    notes : KnownNotes, optional
        Original notes of the vectors.
    path : path, optional
        Folder whose bytes are read.

    Raises
    ------
    BundleError
        If another representer made the vectors.
    """

    kind = RELEASE_FILE
    is_bounded = True  # a folder that states no noise cannot be opened

    def __init__(
        self,
        shared: SharedRepresentation,
        representer: Any = None,
        original: np.ndarray | None = None,
        notes: KnownNotes | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        if shared.origin is None:
            raise BundleError("The folder does not state which estimator made its vectors.")
        self.shared, self.origin, self.representer, self._original = shared, shared.origin, representer, original
        self._notes, self._path = notes, path
        check_same_representer(shared, representer)
        rows = np.arange(len(shared))
        # The words are not known, and no attack on a folder reads words. The tags have the same sentences.
        none = np.zeros(0, dtype=np.int64)
        self.data = AuditData(shared.y, shared.y, shared.groups, none, none, rows, rows, 0)

    def digest(self) -> None:
        """Return None: checks of a folder are quick, and a folder may change."""

    @property
    def vectors(self) -> np.ndarray:
        """Vectors of all tokens, without casing columns."""
        return np.asarray(self.shared.X.data[:, : self.origin.n_components])

    @property
    def saved_sentences(self) -> SavedSentences:
        """Content of the folder in its order."""
        shared, noise = self.shared, self.origin.noise
        return SavedSentences(
            self.vectors,
            shared.X.offsets,
            np.array([tag != "O" for tag in shared.y.data], dtype=bool),
            shared.groups,
            bool(shared.manifest["shuffled"]),
            float(noise.get("smallest_std", 0.0)),
            float(noise.get("grid", 1.0)),
            self._original,
            self._notes,
            (*self._wrong_statements(), *self._wrong_copies(), *self._wrong_bytes()),
        )

    @property
    def seed_target(self) -> SeedTarget:
        """Sentences whose order in the call of ``transform`` is unknown."""
        in_order = not self.shared.manifest["shuffled"]
        return SeedTarget(self.vectors, self.shared.X.lengths, self._input_width, in_order)

    @property
    def _input_width(self) -> int:
        if self.representer is None:
            return 0  # bounded training, the default, has no noise at the input
        noise = self.representer.network_.input_noise
        return noise.size if noise.kind != "none" else 0

    def _wrong_statements(self) -> list[str]:
        """Statements of the manifest that are wrong without any test."""
        found, vectors, noise = [], self.vectors.astype(np.float64), self.origin.noise
        if not has_keyed_noise(self.origin):
            found.append(
                "The folder has format 1: its noise comes from a generator with 2^32 seeds, and anyone can remove "
                "the noise."
            )
        if not noise.get("smallest_std", 0.0) > 0.0:
            found.append("The manifest states a dimension without noise.")
        if self.origin.settings.get("unit_norm"):
            length = np.linalg.norm(vectors, axis=1)
            # Rounding of d numbers to the grid moves the length by at most sqrt(d) / 2 steps.
            if (np.abs(length - 1.0) > np.sqrt(vectors.shape[1]) * 2.0**-19).any():
                found.append("The settings say that vectors have length 1; some have another length.")
        return [*found, *self._wrong_parts()]

    def _wrong_parts(self) -> list[str]:
        """Faults of the parts that are saved with the vectors: the public tagger, and the casing."""
        found = []
        own, told = getattr(self.representer, "tagger_", None), self.shared.X.tagger
        # Weights that differ in their last bits work equally well, and can hide text. So can parameters of a training
        # that nobody repeats.
        if self.representer is not None and told is not None and common_tagger([own, told]) is None:
            found.append("The public tagger of the folder is not the tagger of the published representer.")
        found += self._wrong_labels()
        if self.origin.casing:
            columns = np.asarray(self.shared.X.data[:, self.origin.n_components :])
            one_hot = np.isin(columns, (0.0, 1.0)).all() and (columns.sum(axis=1) == 1.0).all()
            if columns.shape[1] != len(CASING_CLASSES) or not one_hot or n_signed_zeros(columns):
                found.append("The casing columns hold something else than one casing class for each token.")
        return found

    def _wrong_labels(self) -> list[str]:
        """Faults of labels that identify tokens, words or patients instead of kinds of PHI."""
        y, notes, patients = self.shared.y, self._notes, self.shared.groups
        # What is not known counts as different.
        words, unknown = -1 - np.arange(len(y.data)), -1 - np.arange(len(y))
        if notes is not None and self._original is not None:
            rows = np.flatnonzero(self._original >= 0)
            there = self._original[rows]
            folded = np.array([str(word).casefold() for word in notes.X.data], dtype=str)
            words[items_of(y, rows)] = _numbers(folded)[items_of(notes.X, there)]
            if patients is None and notes.patients is not None:
                patients = unknown.copy()
                patients[rows] = _numbers(notes.patients)[there]
        return label_faults(y, words, unknown if patients is None else patients)

    def _wrong_copies(self) -> list[str]:
        """Faults of repeated sentences: a folder must contain each distinct sentence once, and state the number of
        removed copies."""
        found, shared = [], self.shared
        tags = RaggedArray(np.unique(shared.y.data.astype(str), return_inverse=True)[1].reshape(-1), shared.y.offsets)
        n_copies = len(shared) - len(set(row_digests(shared.X, tags)))
        if n_copies:
            found.append(f"{n_copies} sentences occur twice: readers see that notes share these sentences.")
        n_draws = 0 if self._notes is None else self._notes.n_further_draws
        if n_draws:
            found.append(
                f"{n_draws} sentences of the notes are in the folder once more, with other noise: each further draw of "
                "the noise discloses more about a sentence. (Or X lacks sentences of the folder.)"
            )
        stated = shared.manifest["n_duplicates_removed"]
        if self._notes is not None and stated != len(self._notes.X) - len(shared):
            found.append("The manifest states another number of removed copies than the notes have.")
        return found

    def _wrong_bytes(self) -> list[str]:
        """Faults of the JSON and of the times of the folder."""
        if self._path is None:
            return []
        found = [] if has_possible_times(self._path) else [_OTHER_TIMES]
        text = FolderText(*bundle_text(self._path))
        counts = {"sentence": len(self.shared), "token": len(self.shared.X.data)}
        if self.shared.groups is not None:
            counts["patient"] = int(self.shared.manifest["n_groups"])
        elif self._notes is not None and self._notes.patients is not None:
            counts["patient"] = len(np.unique(self._notes.patients))
        return [*found, *format_faults(text), *manifest_faults(load_strict(text.manifest), self._notes, counts)]


def label_faults(y: TokenSequences, words: np.ndarray, patients: np.ndarray) -> list[str]:
    """Return a message for each fault of labels that identify tokens, words or patients instead of kinds of PHI.

    Parameters
    ----------
    y : TokenSequences of n tag sequences
        Tags of a release.
    words : ndarray of int, shape (n_tokens,)
        Number of each token's word; tokens whose words are not known have different numbers.
    patients : ndarray of int, shape (n,)
        Number of each sentence's patient; sentences of unknown patients have different numbers.

    Examples
    --------
    >>> y = TokenSequences.from_rows([[f"B-P{i % 6}"] for i in range(30)])
    >>> label_faults(y, np.arange(30) % 6, np.arange(30))
    ['6 labels stand for one word each: labels name words, and not kinds of PHI.']
    >>> label_faults(y, np.arange(30), np.arange(30))
    []
    """
    labels = [split_tag(tag)[1] for tag in y.data]
    sentence = np.repeat(np.arange(len(y)), y.lengths)
    values = {"sentence": sentence, "word": words, "patient": patients[sentence]}
    # Number of different sentences, words and patients of each label.
    found = {
        name: Counter(label for label, _ in set(zip(labels, of_tokens.tolist(), strict=True)) if label is not None)
        for name, of_tokens in values.items()
    }
    n_labels, n_rare = len(found["sentence"]), sum(n == 1 for n in found["sentence"].values())
    faults = []
    if n_labels > _MOST_LABELS:
        faults.append(f"There are {n_labels} labels: labels name words or patients, and not kinds of PHI.")
    if n_labels >= _MANY_LABELS and 2 * n_rare > n_labels and len(y) >= 5 * n_labels:
        faults.append("Most labels occur in one sentence only: labels name single tokens, and not kinds of PHI.")
    # A rare kind of PHI can occur in one word. Few patients share no rare kind of PHI.
    fewest = {"word": 2, "patient": 3 if len(np.unique(patients)) >= _FEWEST_PATIENTS else len(y) + 1}
    for name, least in fewest.items():
        several = [label for label, n in found["sentence"].items() if n >= least]
        n_single = sum(found[name][label] == 1 for label in several)
        if n_single >= _FEWEST_LABELS and 4 * n_single > len(several):
            faults.append(f"{n_single} labels stand for one {name} each: labels name {name}s, and not kinds of PHI.")
    return faults


def _numbers(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def check_same_representer(shared: SharedRepresentation, representer: Any) -> None:
    """Raise BundleError if a folder was not made by this representer, or states another distribution of the noise than
    the representer."""
    origin = shared.origin
    kind = WordClassRepresenter if holds_classes(origin) else PrivateRepresenter
    if representer is not None and not isinstance(representer, kind):
        raise BundleError(f"The release states that a {kind.__name__} made it. The given object is of another type.")
    if representer is not None and origin is not None and origin.fingerprint != representer.fingerprint_:
        raise BundleError("The release was made by another representer, and not by the given representer.")
