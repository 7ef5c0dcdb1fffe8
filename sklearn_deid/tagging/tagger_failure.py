"""`TaggerFailure`: context that catches every error of a tagger, so that a note is withheld and not passed on."""

from __future__ import annotations

from types import TracebackType


class TaggerFailure:
    """Context that records an exception of its block and continues after the block.

    A tagger can be any object with ``predict``, so its errors cannot be listed. `MemoryError` is recorded, too: a note
    that is too large must not end the run of the notes after it. Exceptions that are not an `Exception`, such as
    `KeyboardInterrupt` and `SystemExit`, end the process and pass through.

    Attributes
    ----------
    error : Exception or None
        Recorded exception, without its traceback, cause and context: the local variables in their frames, and the
        messages of other exceptions, can hold note text.

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
        """Sentence with the type of the exception, whose message could hold text of the note or of its surrogates."""
        return f"The {what} cannot be {done}: {type(self.error).__name__}."
