"""`.ci/minimum` checks the versions that pyproject.toml promises, and no others."""

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
# Their oldest versions are not checked: torch is too large, and the tests of the main environment lack the others.
NOT_CHECKED = {"torch", "dp-accounting", "nvflare", "datasets", "presidio-analyzer"}
NOT_CHECKED |= {"lxml", "dask", "pyspark", "presidio-anonymizer"}
FOR_DEVELOPERS = {"benchmarks", "lint", "docs", "test"}


def promised():
    """Lower bound of each package that the package itself or one of its extras asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(one for name in set(extras) - FOR_DEVELOPERS for one in extras[name])]
    return dict(re.match(r"([\w-]+)>=([\d.]+)", requirement).groups() for requirement in asked)


def pinned():
    lines = (ROOT / ".ci" / "constraints-minimum.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def short(version):
    """1.6.0 and 1.6 are one version."""
    return re.sub(r"(\.0)+$", "", version)


def test_promised_versions_are_those_that_are_checked():
    pins, bounds = pinned(), promised()
    assert set(bounds) >= {"numpy", "scikit-learn", "spacy", "pandas", "tokenizers", *NOT_CHECKED}
    checked = {name: short(version) for name, version in bounds.items() if name not in NOT_CHECKED}
    assert checked == {name: short(pins[name]) for name in checked}
