"""Exit codes and error messages: a line or a traceback, and never text of a note."""

from __future__ import annotations

import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

DONE, SOME_WITHHELD, FATAL, INTERRUPTED = 0, 1, 2, 130
# Errors of the library name parameters of functions; here the same things are options.
_PARAMETER = re.compile(
    r"\b(encoding|format|lossy|min_precision|missing|overwrite|resume|target_recall)="
    r"('[\w-]+'|True|\.\.\.|\d+(?:\.\d+)?)?"
)
_OPTIONS = {"min_precision": "precision-at-least", "target_recall": "target-recall"}


def show_error(error: Exception) -> None:
    """Print an error as one line on standard error.

    Use this function only for errors of the library and of the system, whose messages contain no text of notes.
    """
    message = str(error)
    # The text of an OSError repeats its number. The reason and the file are sufficient.
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.strerror}." if error.filename is None else f"{error.strerror}. [file {error.filename}]"
    print(f"sklearn-deid: error: {one_line(message)}", file=sys.stderr)


def one_line(message: str) -> str:
    """Rewrite a message for the terminal: with options in place of parameters, without line breaks and control codes.

    Examples
    --------
    >>> one_line("Pass lossy=True or use format='text' [file a\\nb]")
    'Pass --lossy or use the format text [file a b]'
    """
    # Messages can repeat names from files. Control codes in such names could rewrite the terminal.
    options = _PARAMETER.sub(lambda found: f"{_option(found[1])} {_value(found[2])}".rstrip(), message)
    return "".join(c if c.isprintable() else " " for c in options)


def _option(parameter: str) -> str:
    # The option of the format has another name for each command and for outputs: --format, --from, --to, ...
    return "the format" if parameter == "format" else f"--{_OPTIONS.get(parameter, parameter)}"


def _value(written: str | None) -> str:
    return "" if written in (None, "True") else written.strip("'") if written != "..." else "NAME"


def show_warning(message: Warning | str, *place: Any, **named: Any) -> None:
    """Print a warning like `warnings.showwarning`, without the line of code that raised the warning."""
    print(f"sklearn-deid: warning: {one_line(str(message))}", file=sys.stderr)


class CrashReport:
    """Context that reports an unexpected exception as a traceback without messages, with exit code 2.

    The message and the local variables of an unexpected exception can hold text of a note. File names, line numbers and
    the types of exceptions cannot contain text of a note. Python's own exit code for an unexpected exception is 1,
    which has another meaning here.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # SystemExit and KeyboardInterrupt pass unchanged.
        if not isinstance(error, Exception):
            return
        # Only places in the code are printed. The last line of a usual traceback is the message and could quote a note.
        lines = traceback.format_tb(trace)
        print("Traceback (most recent call last):", *(line.rstrip() for line in lines), sep="\n", file=sys.stderr)
        print(
            f"sklearn-deid: error: {type(error).__name__}. Its message is not shown, because it could hold text of a "
            "note. Please report the lines above.",
            file=sys.stderr,
        )
        raise SystemExit(FATAL) from None


@contextmanager
def remember_interrupts() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt on Ctrl-C and SIGTERM, and record the received signals.

    Training loops end on KeyboardInterrupt and return as after a complete training. The recorded signals show that the
    training was interrupted.

    Yields
    ------
    list of int
        Numbers of the received signals. The list is empty without an interruption.
    """
    seen: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # where Python allows no handlers
        yield seen
        return
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        # The handlers of the caller return, for programs that call `main` themselves.
        for number, handler in before.items():
            signal.signal(number, handler)
