"""Errors and warnings of the library.

An error message states the location of a problem (document id, annotation id, character offsets) and never contains
note text. Each error also inherits from the matching built-in error, so that ``except ValueError`` also catches the
error.
"""

from __future__ import annotations

import functools

__all__ = [
    "AlignmentWarning",
    "AttackError",
    "BundleError",
    "CorpusFormatError",
    "DataNotFoundError",
    "DeidError",
    "EmbeddingsFormatError",
    "ExchangeError",
    "FewNotesWarning",
    "InsecureReleaseWarning",
    "LowPrecisionWarning",
    "MissingDependencyError",
    "PartlyAnnotatedWarning",
    "SequenceError",
    "SpanError",
    "TargetError",
    "TrainingDivergedError",
    "TrainingInterruptedWarning",
    "UnlikeNoteWarning",
    "UnsafeToShareWarning",
    "WithheldWarning",
]


class DeidError(Exception):
    """Base of all errors of the library.

    Parameters
    ----------
    message : str
        Description of the problem and of its solution, without note text.
    path, doc_id, annotation_id : str, optional
        File, document and annotation of the problem.
    start, end : int, optional
        Character offsets in the unchanged note.
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
        # The constructor of ImportError clears the attribute ``path``, so the path is set again.
        self.path = None if path is None else str(path)

    def _compose(self) -> str:
        places: list[tuple[str, str | int | None]] = [
            ("file", self.path),
            ("document", self.doc_id),
            ("annotation", self.annotation_id),
        ]
        if self.start is not None and self.end is not None:
            places.append(("characters", f"{self.start}-{self.end}"))
        else:
            places += [("from character", self.start), ("up to character", self.end)]
        where = ", ".join(f"{name} {value}" for name, value in places if value is not None)
        return f"{self.message} [{where}]" if where else self.message

    def __reduce__(self) -> tuple:
        # joblib workers exchange errors by pickling. The default pickling of exceptions loses keyword-only arguments.
        names = ("path", "doc_id", "annotation_id", "start", "end")
        return functools.partial(type(self), **{name: getattr(self, name) for name in names}), (self.message,)


class SpanError(DeidError, ValueError):
    """A span is invalid: outside of the text, empty, reversed, or overlapping where overlaps are not allowed."""


class SequenceError(DeidError, ValueError):
    """X or y is not a sequence of token or tag sequences, or X and y do not match."""


class TargetError(DeidError, ValueError):
    """The target recall cannot be shown on the held-out patients, or only at a precision below ``min_precision``."""


class TrainingDivergedError(DeidError, ValueError):
    """The parameters of a training became infinite or NaN.

    The tagger would then find no PHI. The message states the setting to change.
    """


class CorpusFormatError(DeidError, ValueError):
    """A corpus file or a file of note templates is invalid or ambiguous."""


class BundleError(DeidError, ValueError):
    """A saved model is incomplete, damaged, or of another version."""


class EmbeddingsFormatError(DeidError, ValueError):
    """A file of word vectors is invalid or ambiguous."""


class ExchangeError(DeidError, ValueError):
    """A message between workers is damaged, belongs to another model or version, or has values out of range."""


class AttackError(DeidError, ValueError):
    """An audit cannot run the requested attacks on the given data."""


class DataNotFoundError(DeidError, FileNotFoundError):
    """Data are not on this machine, and downloading them is impossible or not allowed."""


class MissingDependencyError(DeidError, ImportError):
    """An optional package is not installed. The message states the extra that installs the package."""


class AlignmentWarning(UserWarning):
    """Tokens cannot express the borders of some annotated spans exactly. The alignment report counts these spans."""


class PartlyAnnotatedWarning(UserWarning):
    """Some notes of a corpus were never annotated. A training would treat such notes as notes without PHI."""


class UnsafeToShareWarning(UserWarning):
    """A result that depends on private notes may be unsafe to share."""


class InsecureReleaseWarning(UserWarning):
    """An attacker can remove the noise of a release. The release then protects no better than vectors without noise."""


class FewNotesWarning(UserWarning):
    """A bound was requested with few notes: taggers of the vectors will find much less PHI than taggers of words."""


class UnlikeNoteWarning(UserWarning):
    """A note is unlike the training notes of the model (`NoteDeidentifier(on_unlike="warn")`).

    Attributes
    ----------
    error : DeidError or None
        Reason, with the id of the note.
    """

    def __init__(self, message: str = "", error: DeidError | None = None) -> None:
        super().__init__(message)
        self.error = error


class TrainingInterruptedWarning(UserWarning):
    """Ctrl-C interrupted a training. The tagger finds less PHI than after the whole training.

    If a filter makes this warning an error, KeyboardInterrupt is raised instead.
    """


class LowPrecisionWarning(UserWarning):
    """The target recall is reached only at a precision below ``min_precision``."""


class WithheldWarning(UserWarning):
    """A note could not be processed and was withheld from the output.

    Attributes
    ----------
    error : DeidError or None
        Reason, with the id of the note.
    """

    def __init__(self, message: str = "", error: DeidError | None = None) -> None:
        super().__init__(message)
        self.error = error
