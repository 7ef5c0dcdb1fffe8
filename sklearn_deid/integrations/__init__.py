"""Other people's tools: spaCy pipelines, Presidio, Hugging Face datasets, displaCy and notebooks.

Names are resolved on first use (PEP 562): spaCy asks for the component whenever a pipeline is made, and must not load
torch for that. `presidio.DeidRecognizer` is imported from its own module, because it needs the extra ``presidio``.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "annotation_view": "AnnotationView displacy_input",
        "hf_datasets": "corpus_from_dataset corpus_to_dataset",
        "spacy_component": "DeidComponent",
    },
)
