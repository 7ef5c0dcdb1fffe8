"""Faults planted into releases, and intact releases: what the quick audit names, and how often it raises a false alarm.

    python -m benchmarks.planted_faults
    python -m benchmarks.planted_faults --releases replay half_noise intact-3

Each fault is planted into the release of generated notes, and must be named by a blocking issue of ``attacks="quick"``.
Intact releases are those of representers, which differ in noise, encoder, scaling, casing and form (estimator, saved
folder), of pseudonymizers and of word classes (estimator, saved folder). They must have no blocking issue. Finished
audits are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Joined files of several machines
are one file of finished audits. Prints a table on standard error, and one JSON object with the seconds, the issues and
the machine of each audit.

A fault is a function of a `Scene` and a folder: it returns what is audited and words that an issue must contain. To add
one, write the function and decorate it with ``@fault``.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    CusTextPseudonymizer,
    DeidTagger,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    PrivateRepresenter,
    SurrogatePseudonymizer,
    make_clinical_notes,
    save_representation,
)
from sklearn_deid._randomness import release_generator, to_grid
from sklearn_deid._storage import ARRAYS_FILE, read_bundle, write_bundle
from sklearn_deid.federated.tagger_learner import tagger_layout
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.representations.encoding import encode_sentences
from sklearn_deid.representations.pair_data import embedding_table
from sklearn_deid.representations.release_noise import noise_grid, released_grid
from sklearn_deid.representations.saving import fingerprint_of, origin_of
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.tagging.batching import LengthBucketSampler
from sklearn_deid.tagging.tagger_data import distinct_words
from sklearn_deid.text import casing_ids

from .environment import describe
from .resumable import finish_runs

LIMIT_SECONDS = 180.0


@dataclass(frozen=True)
class Scene:
    """A representer without a seed, notes that it has not seen, an ensemble with its recorded exchange, and a
    representer that keeps the casing.
    """

    representer: PrivateRepresenter
    X: TokenSequences
    y: TokenSequences
    groups: Any
    ensemble: Any = None
    bare: PrivateRepresenter | None = None

    @property
    def notes(self) -> tuple[Any, Any, Any]:
        """Sentences, tags and patients."""
        return self.X, self.y, self.groups


@dataclass(frozen=True)
class Audited:
    """What is given to the auditor, and the words of which a blocking issue must contain one."""

    released: Any
    notes: tuple[Any, Any, Any]
    named: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    patch: Any = None


FAULTS: dict[str, Callable[[Scene, Path], Audited]] = {}


def fault(plant: Callable[[Scene, Path], Audited]) -> Callable[[Scene, Path], Audited]:
    """Enter a fault into the table under the name of its function."""
    FAULTS[plant.__name__] = plant
    return plant


def with_transform(representer: PrivateRepresenter, vectors: Callable[[Any, TokenSequences], np.ndarray]) -> Any:
    """Copy of a representer whose `transform` returns other vectors and states the same origin."""

    def transform(self: Any, X: Any) -> TokenVectors:
        X = self._words(X)
        return TokenVectors(vectors(self, X), X.offsets, origin_of(self))

    planted = copy.deepcopy(representer)
    planted.__class__ = type("PrivateRepresenter", (PrivateRepresenter,), {"transform": transform})
    return planted


def encoded(one: Any, X: TokenSequences, generator: Any, network: Any = None) -> np.ndarray:
    """Encode as `transform`, with another stream or another network."""
    return encode_sentences(network or one.network_, one._vectors, X, casing=one.casing, generator=generator)


@fault
def replay(scene: Scene, folder: Path) -> Audited:
    """Every call draws from the same stream."""
    planted = with_transform(scene.representer, lambda one, X: encoded(one, X, release_generator(7**20)))
    return Audited(planted, scene.notes, ("share noise",))


# Each process begins again at the first number.
_OF_MODULE = release_generator(7**21)


def from_module(one: Any, X: TokenSequences) -> np.ndarray:
    """Encode with the generator of this module."""
    return encoded(one, X, _OF_MODULE)


@fault
def module_generator(scene: Scene, folder: Path) -> Audited:
    """The module makes its generator with a fixed key: each process repeats the noise of the others."""
    return Audited(with_transform(scene.representer, from_module), scene.notes, ("new processes share noise",))


@fault
def forgotten_noise(scene: Scene, folder: Path) -> Audited:
    """`transform` rounds to the grid and forgets its noise."""

    def silent(one: Any, X: TokenSequences) -> np.ndarray:
        d, vectors = one.n_components, encoded(one, X, None)
        vectors[:, :d] = to_grid(vectors[:, :d], released_grid(one.network_))
        return vectors

    return Audited(with_transform(scene.representer, silent), scene.notes, ("no noise",))


@fault
def silent_layer(scene: Scene, folder: Path) -> Audited:
    """The noise layer has a standard deviation of 0, and card and fingerprint are still those of the trained layer."""
    planted = copy.deepcopy(scene.representer)
    with torch.no_grad():
        planted.network_.output_noise.weight.zero_()
        planted.network_.output_noise.floor.zero_()
    return Audited(planted, scene.notes, ("adds no noise",))


@fault
def half_noise(scene: Scene, folder: Path) -> Audited:
    """The noise is half as large as stated."""
    quiet = copy.deepcopy(scene.representer.network_)
    quiet.output_noise.scale(0.5)
    planted = with_transform(scene.representer, lambda one, X: encoded(one, X, release_generator(), quiet))
    return Audited(planted, scene.notes, ("another size than stated",))


@fault
def bound_of_more_noise(scene: Scene, folder: Path) -> Audited:
    """The noise is a fifth of the trained noise, as fingerprint and origin say; the bound is that of all the noise."""
    planted = copy.deepcopy(scene.representer)
    planted.network_.output_noise.scale(0.2)
    planted.fingerprint_ = fingerprint_of(planted)
    return Audited(planted, scene.notes, ("the representer states",))


class OneRow:
    """Stream of noise that is equal for all tokens of a batch."""

    def __init__(self) -> None:
        self._generator = release_generator()

    def standard_normal(self, shape: tuple[int, int]) -> np.ndarray:
        return np.repeat(self._generator.standard_normal((1, shape[1])), shape[0], axis=0)


class MovedDimensions(OneRow):
    """Stream in which each second row is the row before it, moved by one dimension."""

    def standard_normal(self, shape: tuple[int, int]) -> np.ndarray:
        noise = self._generator.standard_normal(shape)
        noise[1::2] = np.roll(noise[: len(noise) // 2 * 2 : 2], 1, axis=1)
        return noise


@fault
def shared_noise(scene: Scene, folder: Path) -> Audited:
    """All tokens of a batch have the same noise."""
    planted = with_transform(scene.representer, lambda one, X: encoded(one, X, OneRow()))
    return Audited(planted, scene.notes, ("shared over tokens", "carry the same noise", "apart is not independent"))


@fault
def order_kept(scene: Scene, folder: Path) -> Audited:
    """The folder says that its sentences are shuffled; they are in the order of the notes."""
    return in_order(scene, folder, np.arange(len(scene.X)))


def in_order(scene: Scene, folder: Path, order: np.ndarray) -> Audited:
    """Folder in a given order that says that it was shuffled."""
    one, rows = scene.representer, order.tolist()
    save_representation(folder, one.transform(scene.X[rows]), scene.y[rows], shuffle=False, overwrite=True)
    rewrite(folder, lambda manifest, arrays: manifest["representation"].update(shuffled=True))
    return Audited(folder, scene.notes, ("in the order",), {"representer": one})


def rewrite(folder: Path, change: Callable[[Any, Any], Any]) -> None:
    """Change the manifest or the arrays of a folder, and write it with new digests."""
    manifest, arrays = read_bundle(folder)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(manifest, arrays)
    names = ("format", "class", "library_version", "representation", "tagger")
    write_bundle(
        folder, {name: manifest[name] for name in names if name in manifest}, arrays, overwrite=True, whole_day=True
    )


@fault
def order_by_digest(scene: Scene, folder: Path) -> Audited:
    """The sentences are sorted by the SHA-256 digests of their words."""
    digests = [sha256(" ".join(row).encode()).hexdigest() for row in scene.X]
    return in_order(scene, folder, np.argsort(digests))


@fault
def order_of_a_seed(scene: Scene, folder: Path) -> Audited:
    """The sentences are in the order of a seeded generator, and the manifest says that they were shuffled."""
    save_representation(folder, scene.representer.transform(scene.X), scene.y, random_state=42, overwrite=True)
    return Audited(folder, scene.notes, ("tries the seeds",), {"representer": scene.representer})


@fault
def order_of_classes(scene: Scene, folder: Path) -> Audited:
    """Word classes in the order of the notes; the folder says that they were shuffled."""
    one = WordClassRepresenter(embeddings=scene.representer.embeddings).fit([])
    save_representation(folder, one.transform(scene.X), scene.y, shuffle=False, overwrite=True)
    rewrite(folder, lambda manifest, arrays: manifest["representation"].update(shuffled=True))
    return Audited(folder, scene.notes, ("in the order",), {"representer": one})


@fault
def numbers_in_order(scene: Scene, folder: Path) -> Audited:
    """The patients are numbered in the order of the notes."""
    number = {patient: i for i, patient in enumerate(dict.fromkeys(np.asarray(scene.groups).tolist()))}
    with mock.patch(
        "sklearn_deid.representations.sharing._random_numbers",
        lambda patients, rng: np.array([number[one] for one in patients.tolist()], dtype=np.int64),
    ):
        save_representation(folder, scene.representer.transform(scene.X), scene.y, scene.groups, overwrite=True)
    return Audited(folder, scene.notes, ("patient numbers are in the order",), {"representer": scene.representer})


@fault
def notes_in_manifest(scene: Scene, folder: Path) -> Audited:
    """A sentence with PHI stands among the metrics of an audit."""
    row = max(range(len(scene.X)), key=lambda i: sum(tag != "O" for tag in scene.y[i]))
    audit = {"worst": {"sentence": " ".join(scene.X[row]), "accuracy": 0.54}}
    save_representation(folder, scene.representer.transform(scene.X), scene.y, audit=audit, overwrite=True)
    return Audited(folder, scene.notes, ("words of the notes",), {"representer": scene.representer})


@fault
def blanks_in_manifest(scene: Scene, folder: Path) -> Audited:
    """Blanks and tabs behind the manifest are the bits of a sentence."""
    save_representation(folder, scene.representer.transform(scene.X), scene.y, overwrite=True)
    bits = "".join(f"{byte:08b}" for byte in " ".join(scene.X[0]).encode())
    with (folder / "manifest.json").open("ab") as stream:
        stream.write(bits.replace("0", " ").replace("1", "\t").encode())
    return Audited(folder, scene.notes, ("bytes hold more",), {"representer": scene.representer})


@fault
def file_times(scene: Scene, folder: Path) -> Audited:
    """The time of the arrays is the digest of a sentence."""
    save_representation(folder, scene.representer.transform(scene.X), scene.y, overwrite=True)
    seconds = int.from_bytes(sha256(" ".join(scene.X[0]).encode()).digest()[:4], "big") // 4
    os.utime(folder / ARRAYS_FILE, (seconds, seconds))
    return Audited(folder, scene.notes, ("times of the folder",), {"representer": scene.representer})


@fault
def labels_of_words(scene: Scene, folder: Path) -> Audited:
    """Each word of PHI that recurs has a label of its own."""
    tags = np.array([tag for row in scene.y for tag in row], dtype=object)
    phi = tags != "O"
    counts = Counter(scene.X.data[phi].tolist())
    number = {word: i for i, word in enumerate(word for word, n in counts.items() if n > 1)}
    for i in np.flatnonzero(phi).tolist():
        if scene.X.data[i] in number:
            tags[i] = f"B-NAME-{number[scene.X.data[i]]}"
    y = TokenSequences(tags, scene.X.offsets)
    save_representation(folder, scene.representer.transform(scene.X), y, overwrite=True)
    return Audited(folder, (scene.X, y, scene.groups), ("labels name words",), {"representer": scene.representer})


@fault
def labels_of_patients(scene: Scene, folder: Path) -> Audited:
    """The names of each patient have a label of their own; without the words, only the patients show it."""
    number = dict.fromkeys(np.asarray(scene.groups).tolist())
    number = {patient: i for i, patient in enumerate(number)}
    tags = [
        [tag.replace("PATIENT", f"PATIENT-{number[patient]}") for tag in row]
        for row, patient in zip(scene.y, np.asarray(scene.groups).tolist(), strict=True)
    ]
    y = TokenSequences.from_rows(tags)
    save_representation(folder, scene.representer.transform(scene.X), y, overwrite=True)
    return Audited(folder, (scene.X, y, scene.groups), ("labels name ",), {"representer": scene.representer})


@fault
def order_of_patients(scene: Scene, folder: Path) -> Audited:
    """The sentences of a patient stand together, patients and sentences in random order; no numbers are released."""
    rng = np.random.default_rng(0)
    patients = np.unique(scene.groups, return_inverse=True)[1].reshape(-1)
    planted = in_order(scene, folder, np.lexsort([rng.random(len(patients)), rng.permutation(len(patients))[patients]]))
    return replace(planted, named=("neighbours have equal patients",))


@fault
def seeded_release(scene: Scene, folder: Path) -> Audited:
    """The noise comes from the generator of version 0.1.0, and the manifest says that it has no seed."""
    one = scene.representer
    vectors = np.hstack([old_release(one, scene.X, 1234), encoded(one, scene.X, None)[:, one.n_components :]])
    R = TokenVectors(vectors.astype(np.float32), scene.X.offsets, origin_of(one))
    save_representation(folder, R, scene.y, overwrite=True)
    return Audited(folder, scene.notes, ("with seed 1234",), {"representer": one})


@fault
def renamed_attribute(scene: Scene, folder: Path) -> Audited:
    """A parameter of the tagger has another name than the one that attacks on updates know."""

    def renamed(tagger: Any) -> Any:
        layout = tagger_layout(tagger)
        return replace(layout, names=tuple(name.replace("words.shapes", "words.forms") for name in layout.names))

    patch = mock.patch("sklearn_deid.audit.releases.updates.tagger_layout", renamed)
    return Audited(scene.ensemble, scene.notes, ("The parameter was renamed",), patch=patch)


class Forgetful(NeighborPseudonymizer):
    """Pseudonymizer that puts every twentieth moved word back."""

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Release, and put words back."""
        released = super().sample(X, y, groups)
        words, own = released.data.copy(), self._words(X).data
        moved = np.flatnonzero(words != own)
        back = np.random.default_rng(0).choice(moved, len(moved) // 20, replace=False)
        words[back] = own[back]
        return TokenSequences(words, released.offsets)


@fault
def tokens_put_back(scene: Scene, folder: Path) -> Audited:
    """Five per cent of the pseudonymised words are the original words."""
    one = scene.representer
    planted = Forgetful(embeddings=one.embeddings, n_neighbors=max(20, one.n_neighbors)).fit(scene.X, scene.y)
    return Audited(planted, scene.notes, ("more unchanged words",))


class NamesElsewhere(SurrogatePseudonymizer):
    """Surrogates; the last word of a sentence, which is no PHI, is the first word of its PHI."""

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Release, and write originals."""
        released = super().sample(X, y, groups)
        words, own = released.data.copy(), self._words(X)
        for row, tags in enumerate(y):
            phi = [i for i, tag in enumerate(tags) if tag != "O"]
            if phi and tags[-1] == "O":
                words[own.offsets[row + 1] - 1] = own[row][phi[0]]
        return TokenSequences(words, released.offsets)


@fault
def names_elsewhere(scene: Scene, folder: Path) -> Audited:
    """Originals stand in words that are no PHI."""
    return Audited(NamesElsewhere(locale="en").fit(*scene.notes), scene.notes, ("outside of PHI differ",))


def left_over(name: str, where: Callable[[TokenSequences, Any], np.ndarray]) -> type[SurrogatePseudonymizer]:
    """Surrogates among which a tenth of the words of some tokens are the original words."""

    def sample(self: Any, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        released = SurrogatePseudonymizer.sample(self, X, y, groups)
        words, own = released.data.copy(), self._words(X).data
        moved = np.flatnonzero((words != own) & where(self._words(X), y))
        back = np.random.default_rng(0).choice(moved, len(moved) // 10, replace=False)
        words[back] = own[back]
        return TokenSequences(words, released.offsets)

    return type(name, (SurrogatePseudonymizer,), {"sample": sample})


@fault
def words_of_a_label(scene: Scene, folder: Path) -> Audited:
    """A tenth of the replaced words of hospitals are the original words; no other label is touched."""
    kind = left_over("OfALabel", lambda X, y: np.array([tag.endswith("-HOSPITAL") for row in y for tag in row]))
    return Audited(kind(locale="en").fit(*scene.notes), scene.notes, ("originals were left",))


@fault
def long_words(scene: Scene, folder: Path) -> Audited:
    """A tenth of the replaced words of nine or more letters are the original words."""
    kind = left_over("LongWords", lambda X, y: np.array([len(word) >= 9 for word in X.data]))
    return Audited(kind(locale="en").fit(*scene.notes), scene.notes, ("originals were left",))


@fault
def signed_zeros(scene: Scene, folder: Path) -> Audited:
    """Zeros have a minus sign in sentences with PHI."""
    phi = {tuple(row) for row, tags in zip(scene.X, scene.y, strict=True) if any(tag != "O" for tag in tags)}

    def signed(one: Any, X: TokenSequences) -> np.ndarray:
        vectors = encoded(one, X, release_generator())
        # The audit refuses such zeros in the columns of the casing.
        numbers = vectors[:, : one.n_components]
        numbers[np.repeat([tuple(row) in phi for row in X], X.lengths)[:, None] & (numbers == 0.0)] = -0.0
        return vectors

    return Audited(with_transform(scene.representer, signed), scene.notes, ("zeros have a minus sign",))


class NamesInLowBits(GaussianNoisePerturber):
    """Perturbed vectors of PHI; the last bits of all other vectors are the bits of the PHI words."""

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> TokenVectors:
        """Release, and write the bits."""
        released = super().sample(X, y, groups)
        dim, phi = self.mechanism_.policy.vectors.dim, np.array([tag != "O" for row in y for tag in row])
        bits = np.unpackbits(np.frombuffer(" ".join(self._words(X).data[phi]).encode(), dtype=np.uint8))
        numbers = released.data[:, :dim].view(np.int32)
        numbers[~phi] = (numbers[~phi] & ~1) | np.resize(bits, (int((~phi).sum()), dim))
        released.data[:, :dim] = numbers.view(np.float32)
        return released


@fault
def names_in_low_bits(scene: Scene, folder: Path) -> Audited:
    """Vectors outside of PHI, which carry no noise, carry the PHI in their last bits."""
    planted = NamesInLowBits(embeddings=scene.representer.embeddings, scale=0.5).fit(*scene.notes)
    return Audited(planted, scene.notes, ("another vector than their word",))


@fault
def signed_zeros_of_a_perturber(scene: Scene, folder: Path) -> Audited:
    """Zeros of noisy word vectors have a minus sign at rare words."""
    counts = Counter(scene.X.data.tolist())

    def sample(self: Any, X: Any, y: Any = None, groups: Any = None) -> TokenVectors:
        released = GaussianNoisePerturber.sample(self, X, y, groups)
        numbers = released.data[:, : self.mechanism_.policy.vectors.dim]
        numbers[np.array([counts[word] < 3 for word in self._words(X).data])[:, None] & (numbers == 0.0)] = -0.0
        return released

    kind = type("SignedZeros", (GaussianNoisePerturber,), {"sample": sample})
    planted = kind(embeddings=scene.representer.embeddings, scale=0.5).fit(*scene.notes)
    return Audited(planted, scene.notes, ("zeros have a minus sign", "another vector than their word"))


@fault
def coarse_grid(scene: Scene, folder: Path) -> Audited:
    """The noise lies on a grid twice as coarse as stated: the steps of a vector tell those of its template."""

    def coarse(one: Any, X: TokenSequences) -> np.ndarray:
        return equal_copies(X, noisy(one, X, coarser=2))

    return Audited(with_transform(scene.representer, coarse), scene.notes, ("low bits of the released numbers",))


@fault
def noise_cut_off(scene: Scene, folder: Path) -> Audited:
    """No number of the noise is beyond four standard deviations."""

    def short(one: Any, X: TokenSequences) -> np.ndarray:
        return equal_copies(X, noisy(one, X, largest=4.0))

    return Audited(with_transform(scene.representer, short), scene.notes, ("other tails",))


@fault
def casing(scene: Scene, folder: Path) -> Audited:
    """The release says that the casing stays; capitalised words move by half a standard deviation in one dimension."""

    def shifted(one: Any, X: TokenSequences) -> np.ndarray:
        vectors, grid = encoded(one, X, release_generator()), released_grid(one.network_)
        size = float(np.std(vectors[:, 0])) / 2.0
        vectors[:, 0] += np.rint(size / grid) * grid * np.isin(casing_ids(X.data.tolist()), (4, 5))
        return vectors

    return Audited(with_transform(scene.bare, shifted), scene.notes, ("encode the casing",))


def noisy(
    one: Any, X: TokenSequences, grid: bool = True, size: Any = 1.0, coarser: int = 1, largest: float = np.inf
) -> np.ndarray:
    """Release in which each sentence has a draw of its own, also a sentence that occurs before.

    ``size`` multiplies the noise of each token and dimension, ``coarser`` the step of the noise before it is added, and
    numbers beyond ``largest`` standard deviations are drawn again.
    """
    plain = copy.copy(one.network_)
    plain.unit_norm = False
    vectors, d = encoded(one, X, None, plain).astype(np.float64), one.n_components
    std = one.network_.output_std().detach().numpy().astype(np.float64)
    rng = release_generator()
    eps = rng.standard_normal((len(vectors), d))
    while (beyond := np.abs(eps) > largest).any():
        eps[beyond] = rng.standard_normal(beyond.sum())
    noise = size * std * eps
    if coarser > 1:
        noise = to_grid(noise, noise_grid(one.network_) * coarser)
    noise += vectors[:, :d]
    if grid:
        noise = to_grid(noise, noise_grid(one.network_))
    if one.network_.unit_norm:
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    vectors[:, :d] = to_grid(noise, released_grid(one.network_))
    return vectors.astype(np.float32)


def equal_copies(X: TokenSequences, vectors: np.ndarray) -> np.ndarray:
    """Give each copy of a sentence the vectors of the first one."""
    first: dict[tuple[str, ...], int] = {}
    rows = [first.setdefault(tuple(tokens), row) for row, tokens in enumerate(X)]
    return np.concatenate([vectors[X.offsets[row] : X.offsets[row + 1]] for row in rows])


def less_noise(one: Any, X: TokenSequences, quiet: np.ndarray) -> np.ndarray:
    """Release in which marked tokens, or dimensions of tokens, have half the noise."""
    size = np.where(quiet, 0.5, 1.0)
    return equal_copies(X, noisy(one, X, size=size if size.ndim == 2 else size[:, None]))


def positions(X: TokenSequences) -> np.ndarray:
    """Position of each token in its sentence, from 0."""
    return np.arange(len(X.data)) - np.repeat(X.offsets[:-1], X.lengths)


@fault
def late_tokens(scene: Scene, folder: Path) -> Audited:
    """Half the noise from the 30th token of each sentence on."""
    planted = with_transform(scene.representer, lambda one, X: less_noise(one, X, positions(X) >= 29))
    return Audited(planted, scene.notes, ("depends on the position", "less noise than stated"))


@fault
def rare_words(scene: Scene, folder: Path) -> Audited:
    """Half the noise at words that occur once in the notes."""
    counts = Counter(scene.X.data.tolist())

    def rare(one: Any, X: TokenSequences) -> np.ndarray:
        return less_noise(one, X, np.array([counts[word] == 1 for word in X.data.tolist()]))

    return Audited(with_transform(scene.representer, rare), scene.notes, ("less noise than stated", "another size"))


@fault
def long_words_with_less_noise(scene: Scene, folder: Path) -> Audited:
    """Half the noise at words of more than ten characters."""

    def long(one: Any, X: TokenSequences) -> np.ndarray:
        return less_noise(one, X, np.array([len(word) > 10 for word in X.data.tolist()]))

    return Audited(with_transform(scene.representer, long), scene.notes, ("less noise than stated", "another size"))


@fault
def first_sentences(scene: Scene, folder: Path) -> Audited:
    """Half the noise at the first four sentences of each call."""

    def first(one: Any, X: TokenSequences) -> np.ndarray:
        return less_noise(one, X, np.repeat(np.arange(len(X)) < 4, X.lengths))

    return Audited(with_transform(scene.representer, first), scene.notes, ("less noise than stated", "another size"))


@fault
def noise_in_other_dimensions(scene: Scene, folder: Path) -> Audited:
    """Each second token repeats the noise of the token before it, moved by one dimension."""
    planted = with_transform(scene.representer, lambda one, X: encoded(one, X, MovedDimensions()))
    return Audited(planted, scene.notes, ("in other dimensions",))


@fault
def some_calls(scene: Scene, folder: Path) -> Audited:
    """Half the noise in each fifth call of the process."""
    calls = itertools.count(1)
    quiet = lambda X: np.full(len(X.data), next(calls) % 5 == 0)  # noqa: E731
    planted = with_transform(scene.representer, lambda one, X: less_noise(one, X, quiet(X)))
    return Audited(planted, scene.notes, ("release is smaller than stated",))


@fault
def copies_drawn_anew(scene: Scene, folder: Path) -> Audited:
    """Equal sentences of a call have different noise, so that their mean tells more than one release."""
    return Audited(with_transform(scene.representer, noisy), scene.notes, ("Equal sentences",))


@fault
def unrounded(scene: Scene, folder: Path) -> Audited:
    """Noisy vectors are scaled to length 1 without being rounded to the grid before."""
    planted = with_transform(scene.representer, lambda one, X: equal_copies(X, noisy(one, X, grid=False)))
    return Audited(planted, scene.notes, ("low bits disclose more",))


@fault
def bits_of_words(scene: Scene, folder: Path) -> Audited:
    """The last bit of each number is a bit of a hash of the word."""

    def marked(one: Any, X: TokenSequences) -> np.ndarray:
        vectors, d = equal_copies(X, noisy(one, X)), one.n_components
        steps = np.rint(vectors[:, :d].astype(np.float64) * 2**20).astype(np.int64)
        hashes = np.array([list(sha256(word.encode()).digest()) for word in X.data.tolist()])
        vectors[:, :d] = ((steps & ~1) | (np.resize(hashes, steps.shape) & 1)) * 2.0**-20
        return vectors

    return Audited(with_transform(scene.representer, marked), scene.notes, ("low bits disclose more",))


def old_release(one: PrivateRepresenter, X: TokenSequences, seed: int) -> np.ndarray:
    """Release with the noise of version 0.1.0 under a seed, on the grid of the present version; without casing.

    Equal sentences are encoded once, as version 0.1.0 did.
    """
    number: dict[tuple[str, ...], int] = {}
    same = [number.setdefault(tuple(row), len(number)) for row in X]
    distinct = TokenSequences.from_rows([list(row) for row in number])
    vectors = np.split(old_vectors(one, distinct, seed), distinct.offsets[1:-1])
    return np.concatenate([vectors[i] for i in same])


@torch.no_grad()
def old_vectors(one: PrivateRepresenter, X: TokenSequences, seed: int) -> np.ndarray:
    """Vectors of distinct sentences, batch after batch."""
    network, generator = one.network_, torch.Generator().manual_seed(seed)
    words, distinct = distinct_words(X)
    table = torch.from_numpy(embedding_table(one._vectors, distinct))
    out = np.zeros((len(X.data), one.n_components))
    for rows in LengthBucketSampler(X.lengths, 4096, max_rows=4096):
        lengths = X.lengths[rows]
        position = np.arange(lengths.max())
        mask = position < lengths[:, None]  # shape: (batch, time)
        item = np.where(mask, X.offsets[rows][:, None] + position, 0)
        x, on = torch.nn.functional.embedding(torch.from_numpy(words[item]), table), torch.from_numpy(mask)
        mean = network.mean(x, on, generator=generator)
        noisy = (mean + network.output_std() * torch.randn(mean.shape, generator=generator))[on].double().numpy()
        out[item[mask]] = to_grid(noisy, noise_grid(network))
    if network.unit_norm:
        out /= np.linalg.norm(out, axis=1, keepdims=True)
    return to_grid(out, released_grid(network))


def audit(audited: Audited, seed: int = 0, attacks: Any = "quick") -> tuple[Any, float]:
    """Run the quick audit; return the report and its seconds."""
    since = time.perf_counter()
    auditor = AdversarialPrivacyAuditor(attacks, random_state=seed)
    with audited.patch or nullcontext():
        report = auditor.audit(audited.released, *audited.notes, **audited.options)
    return report, time.perf_counter() - since


def is_named(audited: Audited, issues: Any) -> bool:
    """Whether a blocking issue says what is wrong."""
    return any(words in issue for words in audited.named for issue in issues)


KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"unit_norm": False},
    {"casing": False},
    {"encoder": "dense"},
    {"noise": 0.5},
)


OTHER_KINDS: tuple[Callable[[str], Any], ...] = (
    lambda embeddings: NeighborPseudonymizer(embeddings=embeddings, n_neighbors=100),
    lambda embeddings: CusTextPseudonymizer(embeddings=embeddings),
    lambda embeddings: SurrogatePseudonymizer(locale="en"),
    lambda embeddings: SurrogatePseudonymizer(locale="en", ages="shift", keep_gender=False),
    lambda embeddings: WordClassRepresenter(embeddings=embeddings),
)
N_REPRESENTERS = 15
# The last one is a folder of word classes.
RELEASES = (*FAULTS, *(f"intact-{i}" for i in range(N_REPRESENTERS + len(OTHER_KINDS) + 1)))


def intact_release(number: int, scene: Scene, train: Any, options: dict[str, Any], folder: Path) -> Audited:
    """Release without a fault: of a representer of its kind, as an estimator or as a folder, or of another kind."""
    if number == N_REPRESENTERS + len(OTHER_KINDS):
        classes = WordClassRepresenter(embeddings=options["embeddings"]).fit([])
        save_representation(folder, classes.transform(scene.X), scene.y, scene.groups, overwrite=True)
        return Audited(folder, scene.notes, options={"representer": classes})
    if number >= N_REPRESENTERS:
        return Audited(OTHER_KINDS[number - N_REPRESENTERS](options["embeddings"]).fit(*train), scene.notes)
    representer = PrivateRepresenter(**{**options, **KINDS[number % len(KINDS)]}).fit(*train)
    if number % 2 == 0:
        return Audited(representer, scene.notes)
    save_representation(folder, representer.transform(scene.X), scene.y, overwrite=True)
    return Audited(folder, scene.notes, options={"representer": representer})


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=100, help="generated notes that are released")
    parser.add_argument("--releases", nargs="+", dest="arms", choices=RELEASES, default=list(RELEASES), metavar="NAME")
    parser.add_argument("--attacks", default="quick", help="preset, or names of attacks between commas")
    parser.add_argument("--epochs", type=int, default=5, help="of each representer")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", default="planted_faults.jsonl", help="file of finished audits")
    return parser.parse_args(argv)


@cache
def notes_of(notes: int, seed: int) -> tuple[Any, Any]:
    """Sentences of the representers, and sentences that are released."""
    own = make_clinical_notes(60, random_state=seed + 1).to_sentences()
    released = make_clinical_notes(notes, random_state=seed).to_sentences()
    return (own.X, own.y, own.groups), released


@cache
def representer_of(notes: int, epochs: int, seed: int, casing: bool = True) -> PrivateRepresenter:
    """Representer that faults are planted into."""
    train, _ = notes_of(notes, seed)
    return PrivateRepresenter(**options_of(epochs), casing=casing).fit(*train)


def scene_of(notes: int, epochs: int, seed: int, release: str) -> Scene:
    """What a fault is planted into; parts that only one fault needs are not made for the others."""
    _, released = notes_of(notes, seed)
    ensemble, bare = None, None
    if release == "renamed_attribute":
        ensemble = DSSGDEnsemble(
            DeidTagger(hidden_size=8), n_workers=3, strategy="dssgd", n_epochs=2, keep_exchange=True
        ).fit(released.X, released.y, groups=released.groups)
    if release == "casing":
        bare = representer_of(notes, epochs, seed, casing=False)
    one = representer_of(notes, epochs, seed)
    return Scene(one, released.X, released.y, released.groups, ensemble, bare)


def options_of(epochs: int) -> dict[str, Any]:
    """Parameters of all representers; without a random state, as for a release."""
    return {"embeddings": "glove-6b-50d", "max_epochs": epochs, "device": "cpu"}


def run(arguments: argparse.Namespace, release: str, seed: int) -> dict[str, Any]:
    """Audit one release."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "release"
        number = 0 if release in FAULTS else int(release.removeprefix("intact-"))
        if release in FAULTS:
            audited = FAULTS[release](scene_of(arguments.notes, arguments.epochs, seed, release), folder)
        else:
            train, released = notes_of(arguments.notes, seed)
            scene = Scene(None, released.X, released.y, released.groups)
            audited = intact_release(number, scene, train, options_of(arguments.epochs), folder)
        cpu = time.process_time()
        attacks = arguments.attacks.split(",") if "," in arguments.attacks else arguments.attacks
        report, seconds = audit(audited, seed + number, attacks)
        issues = list(report.blocking_issues)
    return {
        "arm": release,
        "seed": seed,
        "named": is_named(audited, issues) if release in FAULTS else None,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "score": report.score,
        "issues": issues,
        "machine": describe()["machine"],
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    rows = finish_runs(run, arguments, {name: getattr(arguments, name) for name in ("notes", "epochs", "attacks")})
    rows.sort(key=lambda row: (row["seed"], RELEASES.index(row["arm"])))
    for row in rows:
        found = {None: "false alarm" if row["issues"] else "no alarm", True: "named", False: "MISSED"}[row["named"]]
        print(
            f"| {row['arm']} | {found} | {row['seconds']:.0f} | {(row['issues'] or [''])[0][:100]} |", file=sys.stderr
        )
    result = {
        "benchmark": "planted_faults",
        "settings": vars(arguments),
        "missed": [row["arm"] for row in rows if row["named"] is False],
        "false_alarms": [row["arm"] for row in rows if row["named"] is None and row["issues"]],
        "slowest_seconds": max(row["seconds"] for row in rows),
        "slowest_cpu_seconds": max(row["cpu_seconds"] for row in rows),
        "limit_seconds": LIMIT_SECONDS,
        "results": rows,
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    # Processes of --jobs cannot import cached functions from __main__.
    from benchmarks import planted_faults

    planted_faults.main()
