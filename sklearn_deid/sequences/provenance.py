"""Provenance of private vectors. Pooling and sharing use the provenance to refuse incompatible or unsafe vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np

from .._storage import plain_json
from ..exceptions import BundleError

NOISE_LAW = "Gaussian, rounded to the grid"  # of `PrivateRepresenter`, in manifests
CLASS_LAW = "none, k-anonymous classes"  # of `WordClassRepresenter`, in manifests

# For each type of a field: the test of a value, its description in an error message, and the type of plain values.
_TYPES: dict[str, tuple[Callable[[Any], bool], str, Callable[[Any], Any]]] = {
    "str": (lambda value: isinstance(value, str) and value != "", "a non-empty string", str),
    # bool is a subclass of int: without the first test True would be a valid count.
    "int": (
        lambda value: not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1,
        "a whole number of at least 1",
        int,
    ),
    "bool": (lambda value: isinstance(value, (bool, np.bool_)), "True or False", bool),
    "Mapping[str, Any]": (lambda value: isinstance(value, Mapping), "a mapping", dict),
}


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
        Whether a one-hot encoding of the token's casing follows each vector. The encoding has no noise, unless
        ``settings`` contain randomised casing.
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
        for field in fields(self):
            # With postponed evaluation of annotations, ``field.type`` is a string.
            fits, kind, convert = _TYPES[str(field.type)]
            value = getattr(self, field.name)
            if not fits(value):
                raise BundleError(f"The '{field.name}' of an origin must be {kind}.")
            object.__setattr__(self, field.name, plain_json(convert(value), field.name))

    def to_dict(self) -> dict[str, Any]:
        """Copy of the record as plain values, for JSON."""
        return plain_json({field.name: getattr(self, field.name) for field in fields(self)}, "origin")
