"""Import of optional packages, with an error that states the extra to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from .exceptions import MissingDependencyError


def import_optional(name: str, *, extra: str, purpose: str) -> ModuleType:
    """Import the optional module ``name``, or raise an error that states the extra to install.

    Parameters
    ----------
    name : str
        Module to import, such as ``"pandas"``.
    extra : str
        Extra of this library that installs the package.
    purpose : str
        Purpose of the package. Noun that completes the message "... is needed for".

    Raises
    ------
    MissingDependencyError
        If the package is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # Another missing module means that the package is installed but one of its own dependencies is not.
        if error.name != name.partition(".")[0]:
            raise
        raise MissingDependencyError(
            f"The package '{name}' is needed for {purpose}. Install it with: pip install 'sklearn-deid[{extra}]'"
        ) from None
