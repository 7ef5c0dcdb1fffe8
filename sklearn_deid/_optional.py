"""Optional packages: one place that imports them and names the extra that brings them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .exceptions import MissingDependencyError


def import_optional(name: str, *, extra: str, purpose: str) -> ModuleType:
    """Import ``name`` or say which extra installs it.

    Parameters
    ----------
    name : str
        Module to import, such as ``"pandas"``.
    extra : str
        Extra of this package that installs it.
    purpose : str
        What it is needed for, as the end of "... is needed for".

    Raises
    ------
    MissingDependencyError
        If the package is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:  # the package is there, but one of its own needs is not
            raise
        raise MissingDependencyError(
            f"The package '{name}' is needed for {purpose}. Install it with: pip install 'sklearn-deid[{extra}]'"
        ) from None
