"""Standard output and standard error of a command: a reader that goes away does not end the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TextIO


class LastingStream:
    """Stream that drops its text after the reader has closed the pipe, as in ``sklearn-deid ... | head``.

    Otherwise, a closed log would end a training of hours, or a run with an exit code that means something else.

    Parameters
    ----------
    stream : text stream
        Stream that takes the text.
    lost : type of OSError, default=BrokenPipeError
        Errors after which the text is dropped.
    """

    def __init__(self, stream: TextIO, lost: type[OSError] = BrokenPipeError) -> None:
        self._stream, self._lost = stream, lost

    def write(self, text: str) -> int:
        """Write a text, or drop the text if nobody reads it."""
        try:
            return self._stream.write(text)
        except self._lost:
            self._drop()
            return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        try:
            self._stream.flush()
        except self._lost:
            self._drop()

    def leave(self) -> None:
        """Flush the stream at the end of a command, which has reported all errors."""
        try:
            self.flush()
        except OSError:
            self._drop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _drop(self) -> None:
        # The buffer still holds text, which the interpreter writes at its end.
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), self._stream.fileno())


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Replace the standard streams by streams that outlast their readers, and that take every character.

    A program without a console has no streams. Where output is redirected, some systems use an encoding that lacks
    letters of ids: these letters are written as codes.
    """
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    with ExitStack() as stack:
        for name, stream in before.items():
            stack.callback(setattr, sys, name, stream)
            if stream is None:
                stream = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            elif hasattr(stream, "reconfigure"):
                stack.callback(stream.reconfigure, errors=stream.errors)
                stream.reconfigure(errors="backslashreplace")
            # Results that a full disk cannot hold are an error of the command. A log is not.
            lasting = LastingStream(stream, BrokenPipeError if name == "stdout" else OSError)
            setattr(sys, name, lasting)
            stack.callback(lasting.leave)
        yield
