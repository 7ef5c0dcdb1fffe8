"""Options that several commands share, with the checks of their values."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..io import FORMATS

LABEL_SCHEMES = ("i2b2-2014", "meddocan", "binary")
ANNOTATED = tuple(name for name, known in FORMATS.items() if known.annotated)


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], *, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Add the parser of one command. ``run`` takes the parsed arguments and returns the exit code."""
    parser = commands.add_parser(
        name,
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
    parser.add_argument(
        "--threads",
        type=count,
        default=1,
        metavar="N",
        help="processor cores to use (default: 1; more can be much slower when other programs are running)",
    )


def add_quiet(parser: argparse._ActionsContainer) -> None:
    """Add ``--quiet``: no progress on standard error."""
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``: the random seed. The same seed gives the same result."""
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="random seed; the same seed gives the same result (default: 0)",
    )


def set_machine(arguments: argparse.Namespace) -> str:
    """Set threads and memory, and return the device.

    Raises
    ------
    DeidError
        If the device is not available.
    """
    # oneDNN keeps what it compiled for each shape of a batch: 100 MiB after 10,000 notes, and no time saved.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    with quick_imports():
        import torch

    torch.set_num_threads(arguments.threads)
    # torch would report an unknown device late and in its own words.
    kind, _, number = arguments.device.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (number and not (kind == "cuda" and number.isdecimal())):
        raise DeidError(f"--device must be auto, cpu, cuda or cuda:N. Got {arguments.device!r} instead.")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise DeidError(f"There is no device {arguments.device} on this computer. Use --device auto.")
    return arguments.device


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import without garbage collection: objects of modules stay, and searching them takes a sixth of the start."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def model_folder(written: str) -> Path:
    """Folder of a model: a path, or the name of a model that comes with the package.

    Raises
    ------
    DeidError
        If there is a folder with the name of such a model.
    """
    with quick_imports():
        from ..tagging.warm_start import STARTERS, starter_folder

    if written not in STARTERS:
        return Path(written)
    # Neither of the two may be taken for the other.
    if Path(written).exists():
        raise DeidError(f"{written} is a model of the package, and a folder here. Write ./{written} for the folder.")
    return starter_folder(written)


def count(written: str) -> int:
    """Parse a whole number of at least 1."""
    # isdecimal also accepts digits of other scripts, so that ASCII is required first.
    if not written.isascii() or not written.isdecimal() or int(written) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {written!r}")
    return int(written)


def seed(written: str) -> int:
    """Parse a whole number from 0 to 2**32 - 1."""
    if not written.isascii() or not written.isdecimal() or int(written) >= 2**32:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 4294967295, not {written!r}")
    return int(written)


def share(written: str) -> float:
    """Parse a number between 0 and 1, both excluded."""
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, such as 0.2, not {written!r}")
    return value


def _encoding(written: str) -> str:
    try:
        b"  ".decode(written, "replace")  # codecs.lookup also knows codecs that are no text encodings
        return written
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(f"is not an encoding of Python: {written!r}") from None


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return -1.0


def positive(written: str) -> float:
    """Number above 0."""
    value = _number(written)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, not {written!r}")
    return value


def not_negative(written: str) -> float:
    """Number of at least 0."""
    value = _number(written)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, not {written!r}")
    return value


def fraction(written: str) -> float:
    """Number from 0 to 1."""
    value = _number(written)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {written!r}")
    return value
