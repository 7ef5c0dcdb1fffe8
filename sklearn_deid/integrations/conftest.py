"""Skip the docstring examples of modules whose extra is not installed."""

from importlib.util import find_spec

_NEEDS = {
    "hf_datasets.py": "datasets",
    "presidio.py": "presidio_analyzer",
    "presidio_operator.py": "presidio_anonymizer",
    "frames.py": "narwhals",
    "dask.py": "dask",
}
_SERVICE = ("app.py", "forms.py", "guard.py")

collect_ignore = [module for module, package in _NEEDS.items() if find_spec(package) is None]
if find_spec("fastapi") is None:
    collect_ignore += [f"service/{module}" for module in _SERVICE]
