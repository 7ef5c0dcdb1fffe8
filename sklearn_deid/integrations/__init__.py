"""Integrations with other tools: spaCy pipelines, Presidio, Hugging Face datasets, displaCy and notebooks, Dask, Spark.

Names are resolved on first use (PEP 562): spaCy imports the component whenever a pipeline is created, and this import
must not load torch. Import `presidio.DeidRecognizer` and `presidio_operator.SurrogateOperator` from their own modules,
because the classes need the extra ``presidio``.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "annotation_view": "AnnotationView displacy_input",
        "corpus_frames": "corpus_from_frame",
        "dask": "redact_dask",
        "frames": "annotate_frame redact_frame",
        "hf_datasets": "corpus_from_dataset corpus_to_dataset",
        "row_redactor": "RowRedactor",
        "spacy_component": "DeidComponent",
        "spacy_surrogates": "SurrogateComponent",
        "spark": "redact_spark",
        "surrogate_texts": "surrogate_doc surrogate_text",
    },
)
