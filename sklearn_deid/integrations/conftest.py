"""Skip the docstring examples of modules whose extra is not installed."""

from importlib.util import find_spec

_NEEDS = {"hf_datasets.py": "datasets", "presidio.py": "presidio_analyzer"}

collect_ignore = [module for module, package in _NEEDS.items() if find_spec(package) is None]
