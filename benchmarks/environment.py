"""What a figure was measured with: versions, machine, threads."""

from __future__ import annotations

import os
import platform
import resource
from importlib.metadata import version

import torch

PACKAGES = ("sklearn-deid", "torch", "scikit-learn", "skorch", "pytorch-crf", "gensim", "spacy", "numpy")


def describe() -> dict:
    """Versions and machine, for the JSON object of a benchmark."""
    return {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        },
    }


def peak_memory_mib() -> float:
    """Largest resident memory of this process so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
