"""Files with a layout (Word, HTML, plain text): their text as one note, and the file with replaced PHI."""

from .document_file import DocumentFile
from .docx_file import DocxFile
from .html_file import HtmlFile
from .opening import DOCUMENT_SUFFIXES, open_document

__all__ = ["DOCUMENT_SUFFIXES", "DocumentFile", "DocxFile", "HtmlFile", "open_document"]
