"""Files that are no Python are in the wheel: the package data declared in pyproject.toml name them all."""

from __future__ import annotations

import sys
from pathlib import Path

import sklearn_deid

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(sklearn_deid.__file__).parent
ROOT = Path(__file__).parents[2]


def test_every_file_of_the_package_is_declared():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["sklearn_deid"]
    declared = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    others = {path for path in PACKAGE.rglob("*.*") if path.is_file() and path.suffix not in (".py", ".pyc")}

    assert all(any(PACKAGE.glob(pattern)) for pattern in patterns)
    assert others == declared
