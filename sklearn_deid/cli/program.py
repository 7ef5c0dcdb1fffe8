"""The program: one parser for all commands, and the handling of errors."""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from ..exceptions import DeidError
from . import audit, convert, demo, evaluate, federate, redact, review, serve, signoff, suggest, tag, train
from .failures import FATAL, INTERRUPTED, CrashReport, remember_interrupts, show_error, show_warning
from .lasting_stream import lasting_streams
from .options import add_command

_DESCRIPTION = """\
Find and redact protected health information (PHI: names, dates, places, ids, ...) in clinical notes.

Everything runs on this computer, and nothing is downloaded. Only 'redact --query', which reads and writes the
databases that you name, and 'serve', which answers other programs, use a network."""

_EPILOG = """\
first steps:
  sklearn-deid redact raw-notes/ --model starter-en --output redacted/
  sklearn-deid demo
  sklearn-deid train my-notes/ --format brat --model my-model --validation-fraction 0.2
  sklearn-deid redact raw-notes/ --model my-model --output redacted/

exit codes:
  0    everything was done
  1    done, but some notes were withheld or left out; they are listed at the end
  2    nothing could be done: wrong usage, a broken file, an existing output, an error
  130  interrupted (Ctrl-C or SIGTERM); tag and redact go on with --resume

No message shows text of a note. Messages do show note ids and file names as they are given,
which may be names of patients.

A model misses some PHI. Redacted notes need a check by a person before they leave.
'sklearn-deid COMMAND --help' explains a command and gives an example."""


def build_parser() -> argparse.ArgumentParser:
    """Create the parser of the program with all its commands."""
    parser = argparse.ArgumentParser(
        prog="sklearn-deid",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sklearn-deid {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (train, redact, tag, review, suggest, signoff, serve, evaluate, convert, audit, federate, demo):
        name = command.__name__.rpartition(".")[2]
        texts = {"summary": command.SUMMARY, "description": command.DESCRIPTION, "epilog": command.EPILOG}
        command.add_options(add_command(commands, command.run, name=name, **texts))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of ``sklearn-deid``, and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program. With None, the arguments of the process are used.

    Returns
    -------
    int
        Exit code: 0 for success, 1 if some notes were withheld or left out, 2 for a failure, 130 for an interruption.

    Raises
    ------
    SystemExit
        For ``--help``, ``--version``, wrong usage (exit code 2), and unexpected errors of the program (exit code 2).
    """
    with lasting_streams():
        return _run(build_parser().parse_args(argv))


def _run(arguments: argparse.Namespace) -> int:
    was_frozen = gc.get_freeze_count() > 0
    # The interpreter would search all modules for garbage when it ends: a quarter second and more.
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    # The contexts are nested: the crash report sees every error that the others let pass.
    with CrashReport(), remember_interrupts(), warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show_warning
        try:
            code: int = arguments.run(arguments)
            sys.stdout.flush()
            return code
        # These errors hold no note text, so that their messages are shown. All others go to the crash report.
        except (DeidError, OSError) as error:
            show_error(error)
            return FATAL
        except KeyboardInterrupt:
            print("sklearn-deid: interrupted; files that are finished are complete.", file=sys.stderr)
            return INTERRUPTED
        finally:
            if not was_frozen:
                gc.unfreeze()
