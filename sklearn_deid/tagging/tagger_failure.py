"""`TaggerFailure`: context manager that catches every error of a tagger, so that the note is withheld."""

from __future__ import annotations

from types import TracebackType


class TaggerFailure:
    """Context manager that records an exception of its block and continues after the block.

    A tagger can be any object with ``predict`` and can raise any error. `MemoryError` is also recorded, so that a note
    that is too large does not stop the processing of later notes. `KeyboardInterrupt`, `SystemExit` and other
    exceptions that are not an `Exception` are not caught.

    Attributes
    ----------
    error : Exception or None
        Recorded exception, without traceback, cause and context. Local variables in the frames of a traceback, and
        messages of other exceptions, can contain note text.

    Examples
    --------
    >>> with TaggerFailure() as failure:
    ...     raise KeyError("Alder")
    >>> type(failure.error).__name__
    'KeyError'
    """

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> TaggerFailure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        # A traceback of an error that is raised from the recorded error would print the whole chain.
        error.__cause__ = error.__context__ = None
        self.error = error.with_traceback(None)
        return True

    def reason(self, done: str = "rewritten", what: str = "note") -> str:
        """Sentence with the type of the exception, without the message, which could contain text of the note or of its
        surrogates."""
        return f"The {what} cannot be {done}: {type(self.error).__name__}."
