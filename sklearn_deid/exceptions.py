"""Errors and warnings of the library.

Every error says *where* (document id, annotation id, character offsets), never *what*: no note text reaches a message.
Each one also inherits the built-in error that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "AlignmentWarning",
    "BundleError",
    "CorpusFormatError",
    "DataNotFoundError",
    "DeidError",
    "EmbeddingsFormatError",
    "ExchangeError",
    "InsecureReleaseWarning",
    "MissingDependencyError",
    "SequenceError",
    "SpanError",
    "UnsafeToShareWarning",
    "WithheldWarning",
]


class DeidError(Exception):
    """Base of all errors of the library.

    Parameters
    ----------
    message : str
        What is wrong and what to do about it, without note text.
    path, doc_id, annotation_id : str, optional
        The file, document and annotation concerned.
    start, end : int, optional
        Character offsets in the untouched note.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        doc_id: str | None = None,
        annotation_id: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.doc_id = doc_id
        self.annotation_id = annotation_id
        self.start = start
        self.end = end
        super().__init__(self._compose())
        self.path = None if path is None else str(path)  # ImportError has a path of its own and clears it

    def _compose(self) -> str:
        where = [
            f"{name} {value}"
            for name, value in (
                ("file", self.path),
                ("document", self.doc_id),
                ("annotation", self.annotation_id),
            )
            if value is not None
        ]
        if self.start is not None and self.end is not None:
            where.append(f"characters {self.start}-{self.end}")
        elif self.start is not None:
            where.append(f"from character {self.start}")
        elif self.end is not None:
            where.append(f"up to character {self.end}")
        return f"{self.message} [{', '.join(where)}]" if where else self.message

    def __reduce__(self) -> tuple:
        # Keyword-only arguments are lost by the default reduction, and errors travel between joblib workers.
        return (_rebuild_error, (type(self), self.message, self._context()))

    def _context(self) -> dict:
        names = ("path", "doc_id", "annotation_id", "start", "end")
        return {name: getattr(self, name) for name in names}


def _rebuild_error(cls: type[DeidError], message: str, context: dict) -> DeidError:
    return cls(message, **context)


class SpanError(DeidError, ValueError):
    """A span that does not fit its note: outside the text, empty, reversed, or overlapping where that is refused."""


class SequenceError(DeidError, ValueError):
    """X or y is not a sequence of token or tag sequences, or the two do not match."""


class CorpusFormatError(DeidError, ValueError):
    """A corpus file, or a file of note templates, that cannot be read without guessing."""


class BundleError(DeidError, ValueError):
    """A saved model that is incomplete, damaged, or of another version."""


class EmbeddingsFormatError(DeidError, ValueError):
    """A file of word vectors that cannot be read without guessing."""


class ExchangeError(DeidError, ValueError):
    """What workers exchange is damaged, of another model or version, or out of bounds."""


class DataNotFoundError(DeidError, FileNotFoundError):
    """Data that are not on this machine and may not or cannot be downloaded."""


class MissingDependencyError(DeidError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


class AlignmentWarning(UserWarning):
    """Annotated spans that tokens cannot express exactly; counted in the alignment report."""


class UnsafeToShareWarning(UserWarning):
    """Something learned from private notes is about to be used where only public things are safe to share."""


class InsecureReleaseWarning(UserWarning):
    """A release whose noise can be taken off: it is worth as much as the same vectors without noise."""


class WithheldWarning(UserWarning):
    """A note could not be processed and is not passed on."""
