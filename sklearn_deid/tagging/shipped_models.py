"""Models that the package ships: their names and folders."""

from __future__ import annotations

from pathlib import Path

#: Names of the models, and the language of their training texts.
STARTERS = {"starter-en": "en"}


def starter_folder(name: str) -> Path:
    """Folder of a model that the package ships.

    Raises
    ------
    ValueError
        If there is no such model.

    Examples
    --------
    >>> starter_folder("starter-en").name
    'starter_en'
    """
    if name not in STARTERS:
        raise ValueError(f"The package ships the models {', '.join(STARTERS)}. Got {name!r} instead.")
    return Path(__file__).parent / name.replace("-", "_")
