"""Models and shared representations on disk without pickle: a folder with a manifest and safetensors arrays."""

from .pooling import pool_representations
from .representations import load_representation, save_representation
from .shared import SharedRepresentation

__all__ = [
    "SharedRepresentation",
    "load_representation",
    "pool_representations",
    "save_representation",
]
