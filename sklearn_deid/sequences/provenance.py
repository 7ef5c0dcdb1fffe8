"""Provenance of private vectors. Pooling and sharing use the provenance to refuse incompatible or unsafe vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np

from .._storage import plain_json
from ..exceptions import BundleError

NOISE_LAW = "Gaussian, rounded to the grid"  # of `PrivateRepresenter`, in manifests
CLASS_LAW = "none, k-anonymous classes"  # of `WordClassRepresenter`, in manifests


@dataclass(frozen=True)
class Provenance:
    """Record of the representer that produced the vectors of a `TokenVectors`, in plain values.

    Shared files contain the whole record. The record must not contain tokens, document ids or paths.

    Parameters
    ----------
    fingerprint : str
        Fingerprint of the fitted representer. Vectors with equal fingerprints may be pooled.
    n_components : int
        Dimension d of the private vectors, without the one-hot encoding of the casing.
    n_neighbors : int
        Number N of neighbours among which a PHI token is hidden. For word classes, smallest size of a class.
    noise : mapping of plain JSON values
        Kind and size of the noise, its random generator, its distribution, and the steps of two grids. ``grid`` is the
        step of the noisy vectors. ``released_grid`` is the step of all released numbers. Word classes have no noise:
        ``class_size`` is the size of the smallest class, and ``centroids`` holds digests of the class vectors.
    casing : bool
        Whether a one-hot encoding of the token's casing follows each vector. The encoding has no noise,
        unless ``settings`` name randomised casing.
    public_embeddings : bool
        Whether the underlying word vectors were trained on public text. If the word vectors were trained on private
        text, sharing the vectors is unsafe.
    library_version : str
        Version of this library that produced the representation.
    settings : mapping of plain JSON values
        Further settings of the representer.

    Raises
    ------
    BundleError
        If a value has the wrong type.

    Examples
    --------
    >>> origin = Provenance("3f2a", 50, 100, {"kind": "trainable"}, True, True, "0.1.0", {"training": "dann"})
    >>> origin.n_neighbors, Provenance(**origin.to_dict()) == origin
    (100, True)
    """

    fingerprint: str
    n_components: int
    n_neighbors: int
    noise: Mapping[str, Any]
    casing: bool
    public_embeddings: bool
    library_version: str
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        checks = {"str": _text, "int": _count, "bool": _flag, "Mapping[str, Any]": _mapping}
        # With postponed evaluation of annotations, ``field.type`` is a string.
        for field in fields(self):
            value = checks[str(field.type)](getattr(self, field.name), field.name)
            object.__setattr__(self, field.name, value)

    def to_dict(self) -> dict[str, Any]:
        """Copy of the record as plain values, for JSON."""
        return plain_json({field.name: getattr(self, field.name) for field in fields(self)}, "origin")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise BundleError(f"The '{name}' of an origin must be a non-empty string.")
    return str(value)


def _count(value: Any, name: str) -> int:
    # bool is a subclass of int: without the first test True would be a valid count.
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < 1:
        raise BundleError(f"The '{name}' of an origin must be a whole number of at least 1.")
    return int(value)


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise BundleError(f"The '{name}' of an origin must be True or False.")
    return bool(value)


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BundleError(f"The '{name}' of an origin must be a mapping.")
    return plain_json(dict(value), name)
