"""Models and shared representations on disk without pickle: a folder with a manifest and safetensors arrays."""

from .models import load_model, save_model
from .pooling import pool_representations
from .representations import load_representation, save_representation
from .shared import SharedRepresentation

__all__ = [
    "SharedRepresentation",
    "load_model",
    "load_representation",
    "pool_representations",
    "save_model",
    "save_representation",
]
