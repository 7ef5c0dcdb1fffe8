"""TOML files, also on Python 3.10 (package tomli of the extra ``benchmarks``)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return toml.loads(path.read_text(encoding="utf-8"))
