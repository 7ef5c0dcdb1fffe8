"""Read and write corpora: i2b2 2014 XML, MEDDOCAN XML, brat, CoNLL columns, JSON lines, DocBin and raw text.

Files of annotation tools: Label Studio, doccano, Prodigy, and UIMA CAS. Word, HTML and text files are redacted and keep
their layout (`open_document`).
"""

from .documents import DOCUMENT_SUFFIXES, DocumentFile, open_document
from .reading import ReadResult, iter_documents, read_corpus, read_gold
from .registry import FORMATS
from .writing import DocumentWriter, completed_ids, write_corpus

__all__ = [
    "DOCUMENT_SUFFIXES",
    "FORMATS",
    "DocumentFile",
    "DocumentWriter",
    "ReadResult",
    "completed_ids",
    "iter_documents",
    "open_document",
    "read_corpus",
    "read_gold",
    "write_corpus",
]
