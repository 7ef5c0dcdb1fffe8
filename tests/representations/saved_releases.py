"""Releases to save, and what a forger would do to them."""

import json

import numpy as np
from safetensors.numpy import save

from sklearn_deid import _storage as bundle_module
from sklearn_deid import (
    save_representation,
)
from sklearn_deid._randomness import to_grid
from sklearn_deid.sequences import Provenance, TokenVectors

MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"
ORIGIN = Provenance(
    fingerprint="3f2a",
    n_components=3,
    n_neighbors=100,
    noise={
        "kind": "trainable",
        "mean_std": 1.25,
        "seeded": False,
        "generator": "chacha20-256",
        "law": "Gaussian, rounded to the grid",
        "grid": 2.0**-5,
        "released_grid": 2.0**-20,
    },
    casing=False,
    public_embeddings=True,
    library_version="0.1.0",
    settings={"training": "bounded"},
)
LENGTHS = [3, 0, 1, 4, 2, 1]
TAGS = [["O", "B-PATIENT", "I-PATIENT"], [], ["B-DATE"], ["O"] * 4, ["O", "B-CITY"], ["O"]]
PATIENTS = ["Alder-77", "Alder-77", "Birch-12", "Alder-77", "Maple-90", "Birch-12"]


def represented(seed=0, lengths=LENGTHS, origin=ORIGIN):
    data = to_grid(np.random.default_rng(seed).normal(size=(sum(lengths), 3)), 2.0**-20).astype(np.float32)
    return TokenVectors(data, np.cumsum([0, *lengths]), origin)


def saved(path, seed=0, y=TAGS, groups=None, origin=ORIGIN, **options):
    save_representation(path, represented(seed, [len(row) for row in y], origin), y, groups, **options)
    return path


def content(X, y, groups=None):
    """What each sentence says, whatever their order."""
    groups = [None] * len(X) if groups is None else groups
    return sorted((row.tobytes(), tuple(tags), group) for row, tags, group in zip(X, y, groups, strict=True))


def manifest_of(folder):
    return json.loads((folder / MANIFEST).read_bytes())


def forge(folder, change_manifest=None, arrays=None, header=None):
    """Change a folder as one could who knows how digests are made."""
    manifest = manifest_of(folder)
    if change_manifest is not None:
        change_manifest(manifest["representation"])
    if arrays is not None:
        (folder / ARRAYS).write_bytes(arrays if isinstance(arrays, bytes) else save(arrays))
    if header is not None:
        data = (folder / ARRAYS).read_bytes()
        length = int.from_bytes(data[:8], "little")
        entries = json.loads(data[8 : 8 + length])
        text = json.dumps(header(entries) or entries).encode()
        text += b" " * (-len(text) % 8)
        (folder / ARRAYS).write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    manifest["arrays_sha256"] = bundle_module.file_digest(folder / ARRAYS)
    del manifest["manifest_sha256"]
    manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
