"""Examples in the docstrings of a module whose extra is not installed are not run."""

from importlib.util import find_spec

_NEEDS = {"hf_datasets.py": "datasets", "presidio.py": "presidio_analyzer"}

collect_ignore = [module for module, package in _NEEDS.items() if find_spec(package) is None]
