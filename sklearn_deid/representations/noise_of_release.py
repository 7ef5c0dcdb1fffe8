"""Whether the noise of a release is what its origin says, as far as the release itself can tell."""

from __future__ import annotations

import warnings

import numpy as np

from .._randomness import KEYED, SEEDED, is_grid, on_grid
from ..exceptions import BundleError, InsecureReleaseWarning
from ..sequences import NOISE_LAW, Provenance

__all__ = ["check_noise", "has_keyed_noise", "refuse_open_noise", "warn_of_old_noise"]


def has_keyed_noise(origin: Provenance | None) -> bool:
    """Whether the noise was drawn from a cipher, as since format 2 of the files."""
    return origin is not None and origin.noise.get("generator") == KEYED


def refuse_open_noise(origin: Provenance) -> None:
    """Raise BundleError where there is no noise, or somebody can compute it."""
    if origin.noise.get("kind") == "none":
        raise BundleError("These vectors must not be shared: they carry no noise. Fit PrivateRepresenter with noise.")
    if origin.noise.get("seeded") or origin.noise.get("generator") == SEEDED:
        raise BundleError(
            "These vectors must not be shared: who knows the seed can remove their noise. Fit PrivateRepresenter with "
            "random_state=None."
        )
    if not has_keyed_noise(origin):
        raise BundleError(
            "These vectors must not be shared: an earlier version drew their noise from a generator whose seeds can be "
            "tried one by one. Transform the notes again with this version."
        )


def check_noise(data: np.ndarray, origin: Provenance) -> None:
    """Raise BundleError where the origin names no known noise, or vectors do not lie on the grid that it names.

    Parameters
    ----------
    data : ndarray of shape (n_tokens, d)
        Finite; columns beyond ``n_components`` are casing.
    origin : Provenance
    """
    noise = origin.noise
    if noise.get("seeded") is not False or not has_keyed_noise(origin) or noise.get("law") != NOISE_LAW:
        raise BundleError("The origin of the vectors names no noise that PrivateRepresenter draws.")
    if not is_grid(noise.get("grid")) or not is_grid(noise.get("released_grid")):
        raise BundleError("The origin of the vectors names a grid that is none.")
    if not on_grid(data[:, : origin.n_components], noise["released_grid"]):
        raise BundleError(
            "The vectors do not lie on the grid that their origin names: they are not as PrivateRepresenter.transform "
            "returned them."
        )


def warn_of_old_noise(stacklevel: int = 3) -> None:
    """Say what a release is worth whose noise an earlier version drew."""
    warnings.warn(
        "An earlier version drew the noise of this release from a generator with 2^32 seeds. Whoever has the release "
        "and the representer finds the seed in minutes and takes the noise off: treat these vectors as readable as "
        "vectors without noise. Ask the sender for a new release, made with this version.",
        InsecureReleaseWarning,
        stacklevel=stacklevel + 1,
    )
