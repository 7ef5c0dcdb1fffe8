"""Other people's tools: spaCy pipelines, Presidio, Hugging Face datasets, displaCy and notebooks.

Names are resolved on first use (PEP 562): spaCy asks for the component whenever a pipeline is made, and must not load
torch for that. `presidio.DeidRecognizer` is imported from its own module, because it needs the extra ``presidio``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "AnnotationView": "annotation_view",
    "corpus_from_dataset": "hf_datasets",
    "corpus_to_dataset": "hf_datasets",
    "DeidComponent": "spacy_component",
    "displacy_input": "annotation_view",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
