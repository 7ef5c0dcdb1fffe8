"""Public names of a package, whose files are imported on first use (PEP 562)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def lazy_names(room: str, files: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    room : str
        ``__name__`` of the package.
    files : mapping of str to str
        Public names of each file of the package, separated by spaces.

    Returns
    -------
    names, getter, lister : list of str, callable, callable
        Values for ``__all__``, ``__getattr__`` and ``__dir__`` of the package.

    Examples
    --------
    >>> names, getter, lister = lazy_names("sklearn_deid.text", {"tags": "split_tag"})
    >>> names, getter("split_tag")("B-DATE")
    (['split_tag'], ('B', 'DATE'))
    """
    home = {name: file for file, names in files.items() for name in names.split()}

    def getter(name: str) -> Any:
        # Nothing is stored in the package: a later access calls this function again and finds the same object.
        if name in home:
            with quick_imports():
                return getattr(import_module(f"{room}.{home[name]}"), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    def lister() -> list[str]:
        return sorted({*vars(sys.modules[room]), *home})

    return sorted(home), getter, lister


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import without garbage collection, since searching module objects takes a sixth of the start-up time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
