"""Tables of JSON lines: an object in each line, with texts under named keys."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ...exceptions import CorpusFormatError
from ...text.column_names import INSIDE, REPEATED, has_words, is_alike, names_inside, repeats
from ...text.row_copies import RowCopies
from ..checking import SourceLocation
from ..strict_json import parse_json
from .columns import Columns
from .compression import open_decompressed, write_compressed
from .json_text import JsonPlace, find_member, replace_values
from .left_out_texts import of_line
from .table import CHUNK_ROWS, Cell, TableChunk, place_of

_NOT_WRITTEN = (
    "The new text cannot be written: a name reaches over a tag or is in one, the encoding lacks a letter of it, or it "
    "is no date."
)
_UNREAD = (
    "The line has no text in a text column, and has one under a key that no line with such a text has. If the key is "
    "misspelt, correct it; if its texts are to be redacted, name it by --text-column, too."
)


# A file of a single JSON value, such as a list of all rows, has one line.
_LONGEST_LINE = 2**26


class TextField(NamedTuple):
    """Text in a line, and the function that writes another text in its place.

    Parameters
    ----------
    cell : Cell
        The text.
    written : callable
        ``written(text)`` returns places and new values. If the function returns None instead of a list, the whole line
        is left out.
    """

    cell: Cell
    written: Callable[[str | None], list[tuple[JsonPlace, Any]] | None]


class JsonLinesTable:
    """File with a JSON object in each line. Only the values of the text columns change, byte by byte.

    A line that is not a valid JSON object is left out and listed. A value of a text column that is not a string becomes
    null.

    Parameters
    ----------
    path, output : Path
        Input file, and output file of `assemble`, whose ending determines the compression.
    columns : Columns
        Keys of texts and identifiers.
    encoding : str, optional
        Encoding of the file. None means UTF-8. The output is UTF-8.
    """

    def __init__(self, path: Path, output: Path, columns: Columns, encoding: str | None = None) -> None:
        self.path, self.output, self.columns, self.encoding = path, output, columns, encoding or "utf-8"
        self._n_without = 0
        # For each text column: keys of the lines that have it. Then lines that lack a column.
        self._known_keys: dict[str, set[str]] = {name: {*columns.texts, *columns.optional} for name in columns.texts}
        self._lacking: list[tuple[int, str, dict[str, Any]]] = []
        self._contents: dict[int, dict[str, Any]] = {}  # of the lines of a chunk
        self._copies = RowCopies()

    def chunks(self) -> Iterator[TableChunk]:
        """Yield the lines.

        Raises
        ------
        CorpusFormatError
            If no line has one of the columns: if a name were wrong, all texts would be copied unchanged, or each text
            would count as a separate patient. Also if a line is larger than 64 MiB, or if a copied value is a whole
            text of twelve words or more of another line.
        """
        self._check_columns()
        self._copies = RowCopies()
        with open_decompressed(self.path) as stream:
            number = 0
            rows = self._rows(stream)
            while lines := list(islice(rows, CHUNK_ROWS)):
                yield self._chunk(lines, number)
                number += len(lines)

    def assemble(self, pieces: Iterable[tuple[int, Path]], stream: BinaryIO) -> None:
        """Join the pieces."""
        write_compressed(self.output, (path for _, path in pieces), stream)

    def fields(self, line: str, number: int, content: dict[str, Any]) -> list[TextField]:
        """Texts of a line.

        Raises
        ------
        CorpusFormatError
            If the line must be left out.
        """
        self._contents[number] = content
        row_id, patient_id = self.columns.identifiers(content)
        for name in self.columns.keys():
            if name not in content:
                self._check_alike(name, content)
        found, copied = [], self._copied(content)
        for name in (*self.columns.texts, *self.columns.optional):
            place = find_member(line, name)
            self._check_alike(name, content)
            others = [value for key, value in content.items() if key not in self._named()]
            if any(is_alike(key, name) for key in names_inside(others)):
                raise SourceLocation(str(self.path)).error(INSIDE.format(name))
            if repeats(content.get(name), copied):
                raise SourceLocation(str(self.path)).error(REPEATED.format(name))
            if place is None or place.value in (None, ""):
                if name in self.columns.texts:
                    self._n_without += place is None
                    self._lacking.append((number, name, content))
                continue
            if name in self._known_keys:
                self._known_keys[name].update(content)
            # A list or a number under the key is no text: the cell is withheld.
            cell = Cell(number, name, place.value, row_id, patient_id)
            found.append(TextField(cell, lambda text, place=place: [(place, text)]))  # type: ignore[misc]
        return found

    def _copied(self, content: dict[str, Any]) -> list[Any]:
        """Keys and values that nobody has named, and identifiers, which messages show, too."""
        unnamed = {key: value for key, value in content.items() if key not in self._named()}
        return [*unnamed, *unnamed.values(), *(content.get(key) for key in self.columns.keys())]

    def _rows(self, stream: BinaryIO) -> Iterator[bytes]:
        while line := stream.readline(_LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                raise SourceLocation(str(self.path)).error(
                    "A line is larger than 64 MiB. The file must have one JSON object in each line."
                )
            yield line

    def _check_columns(self) -> None:
        """Read lines until each column has occurred; usually the first line has all columns."""
        missing, number = [*self.columns.texts, *self.columns.keys()], 0
        with open_decompressed(self.path) as stream:
            for number, line in enumerate(self._rows(stream), start=1):
                if not missing:
                    return
                with suppress(CorpusFormatError):
                    content = self._content(line, number)[1]
                    missing = [name for name in missing if name not in content]
        if number and missing:
            raise SourceLocation(str(self.path)).error(f"No line of the table has the key {missing[0]!r}.")

    def _check_alike(self, name: str, content: dict[str, Any]) -> None:
        """Refuse a line with a key similar to a column name, since the text of this key would be copied unchanged.

        A line may lack a key, because exports leave out nulls.
        """
        if any(is_alike(key, name) and key not in self._named() for key in content):
            has = "a key" if name in content else f"no key {name!r}, but one"
            other = repr(name) if name in content else "it"
            raise SourceLocation(str(self.path)).error(
                f"The line has {has} that differs from {other} in case or spaces, or in letters that look alike."
            )

    def _named(self) -> tuple[str, ...]:
        return (*self.columns.texts, *self.columns.optional, *self.columns.keys())

    def _chunk(self, lines: list[bytes], before: int) -> TableChunk:
        parsed: dict[int, tuple[str, list[TextField]]] = {}
        problems = []
        self._n_without = 0
        self._lacking.clear()
        self._contents.clear()
        for number, line in enumerate(lines, start=before + 1):
            problem = None
            try:
                parsed[number] = self._parsed(line, number)
            except CorpusFormatError as error:
                problem = error.message
            except RecursionError:
                problem = f"Line {number} is nested too deeply."
            if problem is not None:
                problems.append((place_of(number), problem))
        unread = self._unread()
        problems += [(place_of(number), _UNREAD) for number in unread]
        self._add_left_out(lines, before, unread)
        self._check_copies(parsed.keys() - unread)
        kept = [found for number, found in parsed.items() if number not in unread]
        cells = [field.cell for _, fields in kept for field in fields]
        digest = sha256(b"".join([*lines, repr(unread).encode() if unread else b""])).hexdigest()
        written = [field.written for _, fields in kept for field in fields]
        return TableChunk(
            digest,
            cells,
            problems,
            lambda texts: _render(kept, texts),
            check=lambda texts: [
                (n, _NOT_WRITTEN)
                for n, (write, text) in enumerate(zip(written, texts, strict=True))
                if text is not None and write(text) is None
            ],
            n_without=self._n_without,
        )

    def _add_left_out(self, lines: list[bytes], before: int, unread: Container[int]) -> None:
        """Add the texts of lines that are no valid objects, or that have their text under another key."""
        names = (*self.columns.texts, *self.columns.optional)
        for number, line in enumerate(lines, start=before + 1) if names else ():
            if number not in self._contents:
                text = self._decoded(line)
                # A line in another encoding than the others was written by a program that knew this one.
                text = line.decode("cp1252", "replace") if text is None else text
                for name in names:
                    self._copies.add(name, of_line(text, name))
        for number, name, content in self._lacking:
            if number in unread:
                known = self._known_keys[name]
                self._copies.add(name, (value for key, value in content.items() if key not in known))

    def _check_copies(self, kept: Container[int]) -> None:
        """Compare what is copied from the lines that are written with the texts of all lines, also of those that are
        left out.
        """
        for number, content in self._contents.items():
            for name in (*self.columns.texts, *self.columns.optional):
                self._copies.add(name, [content.get(name)])
            self._copies.add_copied(self._copied(content) if number in kept else ())
        self.columns.check_copies(self._copies, str(self.path))

    def _unread(self) -> list[int]:
        """Lines that lack a text column but have a text under another key, which may be misspelt."""
        return sorted(
            {
                number
                for number, name, content in self._lacking
                if any(key not in self._known_keys[name] and has_words(value) for key, value in content.items())
            }
        )

    def _parsed(self, line: bytes, number: int) -> tuple[str, list[TextField]]:
        text, content = self._content(line, number)
        return text, self.fields(text, number, content) if text.strip() else []

    def _content(self, line: bytes, number: int) -> tuple[str, dict[str, Any]]:
        """Text and object of a line; a blank line has an empty object."""
        place, text = SourceLocation(str(self.path)), self._decoded(line)
        if text is None:
            raise place.error(f"The line is not in the encoding {self.encoding}.")
        if not text.strip():
            return text, {}
        content = parse_json(place, text.removeprefix("\ufeff"), f"Line {number}")
        if not isinstance(content, dict):
            raise place.error("The line is no JSON object.")
        return text, content

    def _decoded(self, line: bytes) -> str | None:
        try:
            return line.decode(self.encoding)
        except UnicodeError:
            return None


def _render(parsed: Sequence[tuple[str, list[TextField]]], texts: Sequence[str | None]) -> bytes:
    given, out = iter(texts), []
    for line, fields in parsed:
        # All texts of the line are taken, also if the first one leaves it out.
        changes = [field.written(next(given)) for field in fields]
        known = [change for change in changes if change is not None]
        if len(known) == len(changes):
            out.append(replace_values(line, [pair for change in known for pair in change]))
    return "".join(out).encode("utf-8")
