"""What a note is: documents, spans, tokens with offsets, sentences, tags, label schemes, rewriting."""

from .documents import Document, Span

__all__ = ["Document", "Span"]
