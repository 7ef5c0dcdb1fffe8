"""Options that several commands share, with the checks of their values."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .._lazy import quick_imports
from ..exceptions import DataNotFoundError, DeidError
from ..io import FORMATS
from ..tagging.threads import use_threads

LABEL_SCHEMES = ("i2b2-2014", "meddocan", "hipaa-types", "grascco", "eds-pseudo", "binary")
ANNOTATED = tuple(name for name, known in FORMATS.items() if known.annotated)


def add_command(
    commands: Any,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    epilog: str,
    name: str = "",
) -> argparse.ArgumentParser:
    """Add the parser of one command. ``run`` takes the parsed arguments and returns the exit code.

    Without ``name``, the command has the name of the function.
    """
    parser = commands.add_parser(
        name or run.__name__,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add ``--encoding``: the encoding of the input files."""
    parser.add_argument(
        "--encoding",
        type=_encoding,
        metavar="NAME",
        help="encoding of the input files, such as latin-1 or cp1252 (default: UTF-8, or what an XML file declares)",
    )


def add_note_format(parser: argparse.ArgumentParser, remark: str = "") -> None:
    """Add ``--format``: the format of raw notes."""
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help=f"format of NOTES{remark} (default: text, one note in each .txt file; for another file the format of its "
        "ending)",
    )


def add_label_scheme(parser: argparse.ArgumentParser) -> None:
    """Add ``--label-scheme``: the label set of the notes."""
    parser.add_argument(
        "--label-scheme",
        choices=LABEL_SCHEMES,
        help="label set of the notes: gives the category of each label and the labels that HIPAA counts "
        "(default: the first scheme that contains all labels of the notes)",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--device`` and ``--threads``."""
    parser.add_argument(
        "--device", default="auto", help="auto, cpu or cuda (default: auto: cuda if there is a GPU, else cpu)"
    )
    add_number(
        parser,
        "--threads",
        count,
        "processor cores to use (default: 1; more can be much slower when other programs are running)",
        default=1,
    )


def add_quiet(parser: argparse._ActionsContainer) -> None:
    """Add ``--quiet``: no progress on standard error."""
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``: the random seed. Equal seeds give equal results."""
    add_number(parser, "--seed", seed, "random seed; the same seed gives the same result (default: 0)", default=0)


def set_machine(arguments: argparse.Namespace) -> str:
    """Set threads and memory, and return the device.

    Raises
    ------
    DeidError
        If the device is not available.
    """
    # oneDNN keeps what it compiled for each shape of a batch: 100 MiB after 10,000 notes, and no time saved.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    use_threads(arguments.threads)
    return checked_device(arguments.device)


def checked_device(device: str) -> str:
    """Return the device; raise DeidError if this computer has no such device."""
    # torch would report an unknown device late and in its own words.
    kind, _, number = device.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (number and not (kind == "cuda" and number.isdecimal())):
        raise DeidError(f"--device must be auto, cpu, cuda or cuda:N. Got {device!r} instead.")
    if kind == "cuda" and int(number or 0) >= _n_cuda_devices():
        raise DeidError(f"There is no device {device} on this computer. Use --device auto.")
    return device


def _n_cuda_devices() -> int:
    with quick_imports():
        import torch

    return torch.cuda.device_count()


def model_folder(written: str) -> Path:
    """Folder of a model: a path, or the name of a model that is a part of the package.

    Raises
    ------
    DeidError
        If a folder has the name of such a model, or if there is no folder and such a model has a similar name.
    """
    with quick_imports():
        from ..tagging.shipped_models import STARTERS, starter_folder

    if written not in STARTERS:
        similar = get_close_matches(written, STARTERS, n=1)
        if similar and not Path(written).exists():
            raise DataNotFoundError(f"There is no such folder. Did you mean the model {similar[0]}?", path=written)
        return Path(written)
    # A folder and a shipped model of the same name must not be confused.
    if Path(written).exists():
        raise DeidError(f"{written} is a model of the package, and a folder here. Write ./{written} for the folder.")
    return starter_folder(written)


def output_path(written: str) -> str:
    """Path to write, for ``type=``. "-" raises an error, since the command cannot write to standard output.

    The root of a drive also raises an error: files of a run lie beside its output.
    """
    if written == "-":
        raise argparse.ArgumentTypeError("must be a folder or a file. Nothing is written to standard output")
    if not Path(written).resolve().name:
        raise argparse.ArgumentTypeError("must not be the root of a drive. Name a folder or a file in it")
    return written


def _number(is_allowed: Callable[[float], bool], wanted: str) -> Callable[[str], float]:
    """Return a parser of numbers for ``type=``. NaN is never allowed, since all comparisons with NaN are false."""

    def parsed(written: str) -> float:
        try:
            value = float(written)
        except ValueError:
            value = math.nan
        if not is_allowed(value):
            raise argparse.ArgumentTypeError(f"must be {wanted}, not {written!r}")
        return value

    return parsed


def _whole_number(least: int, most: float, wanted: str) -> Callable[[str], int]:
    """Return a parser of whole numbers for ``type=``."""

    def parsed(written: str) -> int:
        # isdecimal also accepts digits of other scripts, so that ASCII is required first.
        if not written.isascii() or not written.isdecimal() or not least <= int(written) <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number {wanted}, not {written!r}")
        return int(written)

    return parsed


count = _whole_number(1, math.inf, "of at least 1")
three_or_more = _whole_number(3, math.inf, "of at least 3")
port = _whole_number(1, 65535, "from 1 to 65535")
days = _whole_number(1, 36_500, "of days from 1 to 36500")  # the shifts that `SurrogateSettings` allows
seed = _whole_number(0, 2**32 - 1, "from 0 to 4294967295")
share = _number(lambda value: 0 < value < 1, "a number between 0 and 1, such as 0.2")
level = _number(lambda value: 0.5 <= value < 1, "a number of at least 0.5 and below 1, such as 0.95")
score = _number(lambda value: 0 < value <= 1, "a number above 0 and at most 1, such as 0.9")
fraction = _number(lambda value: 0 <= value <= 1, "a number from 0 to 1")
positive = _number(lambda value: 0 < value < math.inf, "a positive number")
not_negative = _number(lambda value: 0 <= value < math.inf, "a number of at least 0")


_LETTERS = {share: "SHARE", fraction: "X", positive: "X", not_negative: "X"}


def add_number(
    parser: argparse._ActionsContainer, name: str, kind: Callable[[str], float], help: str, *, default: Any = None
) -> None:
    """Add an option with a number. The help shows a letter in place of the number: N for whole numbers."""
    parser.add_argument(name, type=kind, default=default, metavar=_LETTERS.get(kind, "N"), help=help)


def named_value(wanted: str) -> Callable[[str], tuple[str, str]]:
    """Return a parser for ``type=`` of a name and a value with "=" between them; ``wanted`` describes the form."""

    def parsed(written: str) -> tuple[str, str]:
        name, equals, value = written.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"must be {wanted}, not {written!r}")
        return name, value

    return parsed


def settings_of(arguments: argparse.Namespace, kind: type) -> dict[str, Any]:
    """Values of the options whose names are fields of a dataclass."""
    given = vars(arguments)
    return {field.name: given[field.name] for field in fields(kind) if field.name in given}


def _encoding(written: str) -> str:
    try:
        b"  ".decode(written, "replace")  # codecs.lookup also knows codecs that are no text encodings
        return written
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(f"is not an encoding of Python: {written!r}") from None
