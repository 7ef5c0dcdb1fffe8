"""Models on disk without pickle: a folder with ``manifest.json`` and ``arrays.safetensors``."""

from .._bundle import check_bundle_target, read_bundle, write_bundle
from .models import load_model, save_model

__all__ = ["check_bundle_target", "load_model", "read_bundle", "save_model", "write_bundle"]
