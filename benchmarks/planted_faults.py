"""Faults planted into releases, and intact releases: what the quick audit names, and how often it raises a false alarm.

    python -m benchmarks.planted_faults
    python -m benchmarks.planted_faults --notes 100 --faults replay half_noise --intact 0

Each fault is planted into the release of generated notes, and must be named by a blocking issue of ``attacks="quick"``.
Intact releases differ in noise, encoder, scaling, casing and form (estimator, saved folder, exchange), and must have no
blocking issue. Prints a table, and one JSON object with the seconds and the issues of each audit.

A fault is a function of a `Scene` and a folder: it returns what is audited and words that an issue must contain. To add
one, write the function and decorate it with ``@fault``.
"""

from __future__ import annotations

import argparse
import copy
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    DeidTagger,
    DSSGDEnsemble,
    NeighborPseudonymizer,
    PrivateRepresenter,
    make_clinical_notes,
    save_representation,
)
from sklearn_deid._randomness import release_generator, to_grid
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.federated.tagger_learner import tagger_layout
from sklearn_deid.representations.encoding import encode_sentences
from sklearn_deid.representations.pair_data import embedding_table
from sklearn_deid.representations.release_noise import noise_grid, released_grid
from sklearn_deid.representations.saving import origin_of
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.tagging.batching import LengthBucketSampler
from sklearn_deid.tagging.tagger_data import distinct_words
from sklearn_deid.text import casing_ids

from .environment import describe

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


class OneRow:
    """Stream of noise that is equal for all tokens of a batch."""

    def __init__(self) -> None:
        self._generator = release_generator()

    def standard_normal(self, shape: tuple[int, int]) -> np.ndarray:
        return np.repeat(self._generator.standard_normal((1, shape[1])), shape[0], axis=0)


@fault
def shared_noise(scene: Scene, folder: Path) -> Audited:
    """All tokens of a batch have the same noise."""
    planted = with_transform(scene.representer, lambda one, X: encoded(one, X, OneRow()))
    return Audited(planted, scene.notes, ("shared over tokens", "carry the same noise", "apart is not independent"))


@fault
def order_kept(scene: Scene, folder: Path) -> Audited:
    """The folder says that its sentences are shuffled; they are in the order of the notes."""
    save_representation(folder, scene.representer.transform(scene.X), scene.y, shuffle=False, overwrite=True)
    manifest, arrays = read_bundle(folder)
    manifest["representation"]["shuffled"] = True
    names = ("format", "class", "library_version", "representation", "tagger")
    plain = {name: manifest[name] for name in names}
    write_bundle(folder, plain, arrays, overwrite=True)
    return Audited(folder, scene.notes, ("order",), {"representer": scene.representer})


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
    return Audited(scene.ensemble, scene.notes, ("it was renamed",), patch=patch)


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
    return Audited(planted, scene.notes, ("more words unchanged",))


@fault
def casing(scene: Scene, folder: Path) -> Audited:
    """The release says that the casing stays; capitalised words move by half a standard deviation in one dimension."""

    def shifted(one: Any, X: TokenSequences) -> np.ndarray:
        vectors, grid = encoded(one, X, release_generator()), released_grid(one.network_)
        size = float(np.std(vectors[:, 0])) / 2.0
        vectors[:, 0] += np.rint(size / grid) * grid * np.isin(casing_ids(X.data.tolist()), (4, 5))
        return vectors

    return Audited(with_transform(scene.bare, shifted), scene.notes, ("encode the casing",))


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


def intact_release(number: int, scene: Scene, train: Any, options: dict[str, Any], folder: Path) -> Audited:
    """Release without a fault: of a representer of its kind, as an estimator or as a folder."""
    representer = PrivateRepresenter(**{**options, **KINDS[number % len(KINDS)]}).fit(*train)
    if number % 2 == 0:
        return Audited(representer, scene.notes)
    save_representation(folder, representer.transform(scene.X), scene.y, overwrite=True)
    return Audited(folder, scene.notes, options={"representer": representer})


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=100, help="generated notes that are released")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--intact", type=int, default=20, help="intact releases")
    parser.add_argument("--epochs", type=int, default=5, help="of each representer")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(1)
    rows = []
    own = make_clinical_notes(60, random_state=arguments.seed + 1).to_sentences()
    notes = make_clinical_notes(arguments.notes, random_state=arguments.seed).to_sentences()
    options = {"embeddings": "glove-6b-50d", "max_epochs": arguments.epochs, "device": "cpu"}
    train = (own.X, own.y, own.groups)
    representer = PrivateRepresenter(**options).fit(*train)
    ensemble = DSSGDEnsemble(DeidTagger(hidden_size=8), n_workers=3, n_epochs=2, keep_exchange=True)
    ensemble.fit(notes.X, notes.y, groups=notes.groups)
    bare = PrivateRepresenter(**options, casing=False).fit(*train)
    scene = Scene(representer, notes.X, notes.y, notes.groups, ensemble, bare)
    with tempfile.TemporaryDirectory() as name:
        for key in arguments.faults:
            planted = FAULTS[key](scene, Path(name) / "planted")
            report, seconds = audit(planted, arguments.seed)
            rows.append(_row(key, seconds, report, is_named(planted, report.blocking_issues)))
        for i in range(arguments.intact):
            one = intact_release(i, scene, train, options, Path(name) / "intact")
            report, seconds = audit(one, arguments.seed + i)
            rows.append(_row(f"intact {i}", seconds, report, None))
    alarms = sum(bool(row["issues"]) for row in rows if row["named"] is None)
    missed = [row["release"] for row in rows if row["named"] is False]
    print(
        json.dumps(
            {
                "benchmark": "planted faults",
                "settings": vars(arguments),
                "results": rows,
                "missed": missed,
                "false_alarms": alarms,
                "slowest_seconds": max(row["seconds"] for row in rows),
                "limit_seconds": LIMIT_SECONDS,
                **describe(),
            },
            indent=1,
        )
    )


def _row(name: str, seconds: float, report: Any, named: bool | None) -> dict[str, Any]:
    """One row of the result, which is also printed as a line of the table."""
    issues = list(report.blocking_issues)
    found = {None: "false alarm" if issues else "no alarm", True: "named", False: "MISSED"}[named]
    print(f"| {name} | {found} | {seconds:.0f} | {issues[0][:100] if issues else ''} |", flush=True)
    return {"release": name, "named": named, "seconds": round(seconds, 1), "score": report.score, "issues": issues}


if __name__ == "__main__":
    main()
