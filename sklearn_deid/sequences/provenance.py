"""Where a representation comes from: what travels with private vectors, so that they are pooled and shared rightly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np

from .._storage import plain_json
from ..exceptions import BundleError

NOISE_LAW = "Gaussian, rounded to the grid"  # of `PrivateRepresenter`, in manifests


@dataclass(frozen=True)
class Provenance:
    """The representer that made the vectors of a `TokenVectors`, in plain values.

    All of it is written into files that are shared: it must hold no token, no document id and no path.

    Parameters
    ----------
    fingerprint : str
        Of the fitted representer; equal ones mean that vectors may be pooled.
    n_components : int
        d, dimension of the private vectors, without the casing one-hot.
    n_neighbors : int
        N: among how many neighbours a PHI token hides.
    noise : mapping of plain JSON values
        Kind and size of the noise, the generator it was drawn from, its law, and the steps of the grids: ``grid`` that
        of the noisy vectors, ``released_grid`` that on which all released numbers lie.
    casing : bool
        Whether each vector is followed by the one-hot of the token's casing, which carries no noise.
    public_embeddings : bool
        Whether the word vectors behind it were trained on public text; otherwise sharing is unsafe.
    library_version : str
        Version that made the representation.
    settings : mapping of plain JSON values
        Other settings worth knowing.

    Raises
    ------
    BundleError
        If a value is of another type.

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
        for field in fields(self):  # annotations are strings here
            value = checks[str(field.type)](getattr(self, field.name), field.name)
            object.__setattr__(self, field.name, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a copy."""
        return plain_json({field.name: getattr(self, field.name) for field in fields(self)}, "origin")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise BundleError(f"The '{name}' of an origin must be a string that is not empty.")
    return str(value)


def _count(value: Any, name: str) -> int:
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
