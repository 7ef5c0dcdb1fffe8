"""Read and write corpora: i2b2 2014 XML, MEDDOCAN XML, brat, CoNLL columns, JSON lines, DocBin and raw text.

Files of annotation tools: Label Studio, doccano, Prodigy, and UIMA CAS.
"""

from .reading import ReadResult, iter_documents, read_corpus
from .registry import FORMATS
from .writing import DocumentWriter, completed_ids, write_corpus

__all__ = [
    "FORMATS",
    "DocumentWriter",
    "ReadResult",
    "completed_ids",
    "iter_documents",
    "read_corpus",
    "write_corpus",
]
