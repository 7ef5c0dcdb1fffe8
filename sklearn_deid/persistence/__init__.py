"""Models on disk without pickle: a folder with ``manifest.json`` and ``arrays.safetensors``."""

from .bundle import read_bundle, write_bundle
from .models import load_model, save_model

__all__ = ["load_model", "read_bundle", "save_model", "write_bundle"]
