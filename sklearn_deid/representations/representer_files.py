"""A fitted representer on disk: a bundle of JSON and arrays, and a page for the privacy officer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._atomic import write_file
from .._storage import read_bundle, write_bundle
from ..exceptions import BundleError
from .card import privacy_card
from .saving import origin_of, representer_from_state, representer_to_state

if TYPE_CHECKING:
    from .private_representer import PrivateRepresenter

__all__ = ["load_representer", "save_representer"]

_CLASS, _CARD = "PrivateRepresenter", "README.md"


def save_representer(representer: PrivateRepresenter, path: Any, *, overwrite: bool, audit: Any) -> None:
    """Write the bundle, and the card beside it."""
    state, arrays = representer_to_state(representer)
    bound = representer.bound_
    card = privacy_card(
        origin_of(representer),
        training=representer.training_counts_,
        bound=None if bound is None else bound.to_dict(),
        audit=audit,
    )
    manifest = {"class": _CLASS, "library_version": __version__, "state": state}
    write_bundle(path, manifest, arrays, overwrite=overwrite)
    write_file(Path(path) / _CARD, card.encode("utf-8"))


def load_representer(representer_class: type[PrivateRepresenter], path: Any, embeddings: Any) -> PrivateRepresenter:
    """Read and check the bundle."""
    manifest, arrays = read_bundle(path)
    state = manifest.get("state")
    if manifest.get("class") != _CLASS or not isinstance(state, dict):
        raise BundleError("There is another kind of saved object, not a PrivateRepresenter.", path=str(path))
    return representer_from_state(representer_class, state, arrays, embeddings)
