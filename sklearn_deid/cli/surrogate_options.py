"""Options of ``redact`` for the replacement of PHI: surrogates, their key, and the mapping to the originals."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from ..surrogates import (
    LOCALES,
    RULES,
    SURROGATE,
    MappingFile,
    Replacement,
    SurrogateEngine,
    note_replacements,
    read_or_make_key,
    rewritten,
)
from ..text import Document, Span
from .annotating import Result
from .mapped_surrogates import MappedSurrogates
from .note_output import check_apart, check_no_work_file
from .options import days


def add_surrogate_options(parser: ArgumentParser) -> None:
    """Add the options for surrogates."""
    group = parser.add_argument_group("with --mode surrogate")
    group.add_argument(
        "--key-file",
        metavar="KEY",
        help="file with a secret key: an equal key gives equal surrogates in every run. A missing file is made. "
        "Without a key file, each run has other surrogates",
    )
    group.add_argument(
        "--locale",
        choices=("auto", *LOCALES),
        help="language of the surrogates (default: auto, from the first note of each patient)",
    )
    group.add_argument(
        "--date-shift",
        type=days,
        metavar="DAYS",
        help="largest shift of the dates of a patient, at most 36500 (default: 3650). Each file in a folder of text "
        "files counts as a patient of its own",
    )
    group.add_argument(
        "--mapping",
        metavar="FILE",
        help="write the originals of all surrogates to this encrypted file. Needs --key-file, which decrypts it",
    )


class PhiReplacements:
    """Replacements of PHI that the options select.

    Parameters
    ----------
    arguments : Namespace
        Options of ``redact``.
    has_files : bool, default=True
        Whether notes and outputs are files. The key and the mapping must then be outside of the notes and the outputs.

    Raises
    ------
    DeidError
        If options contradict each other, or if the key or the mapping is inside of the notes or the outputs.
    """

    def __init__(self, arguments: Namespace, *, has_files: bool = True) -> None:
        _check_options(arguments)
        self.arguments, self.key = arguments, None
        if arguments.key_file is not None:
            if has_files:
                _check_files(arguments)
            is_new = not Path(arguments.key_file).exists()
            self.key = read_or_make_key(Path(arguments.key_file))
            if is_new:
                # A misspelt name gives the patients of an earlier run other names and other dates.
                print(
                    f"There was no key file {arguments.key_file}. The file now has a new key, which gives other "
                    "surrogates than the keys of other runs.",
                    file=sys.stderr,
                )

    def stamp(self) -> dict[str, Any]:
        """Options for the stamp of a run, with a digest of the key; the digest does not reveal a key of 256 bits."""
        if self.arguments.mode != SURROGATE:
            return {}
        digest = None if self.key is None else sha256(self.key).hexdigest()
        given = {"locale": self.arguments.locale, "date_shift": self.arguments.date_shift, "key_sha256": digest}
        if self.arguments.mapping is not None:
            # A mapping that begins in the middle of a run, or ends there, lacks originals.
            given["mapping"] = True
        # The lists of Faker are drawn from: other lists give other surrogates for the same key.
        return {**given, "rules": RULES, "faker": version("faker")}

    def result(self, stack: ExitStack) -> tuple[Result, MappedSurrogates | None]:
        """Function that redacts a note, and for surrogates, their maker; the stack closes further outputs."""
        replacements, learn = self.of_notes(stack)

        def redacted(document: Document, spans: tuple[Span, ...]) -> Document:
            # A note without annotations and patient id.
            return Document(document.doc_id, rewritten(document, replacements(document, spans)).text)

        return redacted, learn

    def of_notes(
        self, stack: ExitStack
    ) -> tuple[Callable[[Document, tuple[Span, ...]], list[Replacement]], MappedSurrogates | None]:
        """Function from a note and its spans to replacements, and for surrogates, their maker."""
        if self.arguments.mode != SURROGATE:
            replacements = note_replacements(self.arguments.mode)
            return lambda document, spans: replacements(replace(document, spans=spans)), None
        settings = {"locale": self.arguments.locale, "date_shift": self.arguments.date_shift}
        engine = SurrogateEngine(key=self.key, **{name: given for name, given in settings.items() if given is not None})
        mapping = None
        if self.arguments.mapping is not None and self.key is not None:
            mapping = stack.enter_context(MappingFile(Path(self.arguments.mapping), self.key))
        surrogates = MappedSurrogates(engine, mapping, self.key)
        return surrogates.replacements, surrogates


def _check_options(arguments: Namespace) -> None:
    names = [name for name in ("key_file", "locale", "mapping", "date_shift") if getattr(arguments, name) is not None]
    if arguments.mode != SURROGATE and names:
        raise DeidError(f"--{names[0].replace('_', '-')} needs --mode surrogate.")
    # Without a key, a resumed run would draw other surrogates for a patient, and nothing could decrypt a mapping.
    if arguments.mode == SURROGATE and arguments.key_file is None and (arguments.mapping or arguments.resume):
        raise DeidError(f"{'--mapping' if arguments.mapping else '--resume'} needs --key-file with --mode surrogate.")


def _check_files(arguments: Namespace) -> None:
    output = Path(arguments.output)
    secret = [Path(name) for name in (arguments.key_file, arguments.mapping) if name is not None]
    check_apart(Path(arguments.notes), secret)
    for path in secret:
        if path.resolve().is_relative_to(output.resolve()):
            raise DeidError(
                "The key and the mapping must not be in the output: they restore the originals.", path=str(path)
            )
        check_no_work_file(path, output)
