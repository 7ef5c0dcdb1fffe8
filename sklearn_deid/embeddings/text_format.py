"""Reader for text files of word vectors: GloVe (no header), word2vec text and fastText .vec (with a header)."""

from __future__ import annotations

from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from .vector_files import RawVectors, VectorFile, parse_header, without_duplicates

_BYTES_AT_ONCE = 1 << 24
# A binary file has no line ends: without a limit, its first line would be the whole file.
_LONGEST_LINE = 1 << 20
_LARGEST = float(np.finfo(np.float32).max)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_text(file: VectorFile) -> RawVectors:
    """Read word vectors from lines with a word and its numbers, separated by single spaces.

    A header consists of two whole numbers in the first line: the number of words and the dimension. The content of the
    file must agree with its header. Without a header, the first line determines the dimension. A word may contain
    spaces (as in GloVe 840B) unless a part of the word is a number. Blank lines are skipped.

    Parameters
    ----------
    file : VectorFile
        File to read.

    Returns
    -------
    RawVectors
        Words and vectors of the file.

    Raises
    ------
    EmbeddingsFormatError
        If a line has no word, a wrong count of numbers, an invalid number, NaN or infinity, or a word that cannot be
        decoded. The message contains the number of the line. Also if the number of words differs from the header.
    """
    words: list[str] = []
    blocks: list[np.ndarray] = []
    with file.open() as stream:
        start = _read_start(file, stream)
        number, wanted = start.line, file.wanted(start.n_words)
        for lines in chain([start.lines], iter(lambda: stream.readlines(_BYTES_AT_ONCE), [])):
            block_words, block = _parse(file, lines, number, start.dim)
            words.extend(block_words)
            blocks.append(block)
            number += len(lines)
            if file.max_words is not None and len(words) >= file.max_words:
                break
    if wanted is not None and file.max_words is not None:
        words = words[:wanted]
    elif start.n_words is not None and len(words) != start.n_words:
        raise file.error(f"The header announces {start.n_words} words, but there are {len(words)}.")
    return without_duplicates(words, np.concatenate(blocks)[: len(words)])


class _Start(NamedTuple):
    lines: list[bytes]  # lines read so far that hold vectors
    line: int  # number of the first of them
    n_words: int | None
    dim: int


def _read_start(file: VectorFile, stream: BinaryIO) -> _Start:
    first = stream.readline(_LONGEST_LINE)
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise file.error("The file is UTF-16. Convert it to UTF-8 first.")
    first = first.removeprefix(_BYTE_ORDER_MARK)
    if len(first) == _LONGEST_LINE:
        raise file.error("Line 1 is too long for a text file of word vectors.")
    header = parse_header(first)
    if header is not None:
        if header[1] < 1:
            raise file.error("The header announces vectors without numbers.")
        return _Start([], 2, *header)
    # Without a header, the dimension is the number of numbers at the end of line 1.
    fields = first.rstrip(b" \r\n").split(b" ")
    n_numbers = next((i for i, field in enumerate(reversed(fields)) if not _is_number(field)), len(fields) - 1)
    # The first field is always the word, even if the word is a number.
    dim = min(n_numbers, len(fields) - 1)
    if dim < 1:
        raise file.error("Line 1 is neither a header nor a word with its numbers.")
    return _Start([first], 1, None, dim)


def _parse(file: VectorFile, lines: list[bytes], first: int, dim: int) -> tuple[list[str], np.ndarray]:
    """Words and numbers of a block of lines. ``first`` is the number of the first line."""
    stripped = [line.rstrip(b" \r\n") for line in lines]
    words, rests = [], []
    for number, line in enumerate(stripped, first):
        if not line:
            continue
        word, _, rest = line.partition(b" ")
        if rest.count(b" ") != dim - 1 or not word or not rest:
            word, rest = _split_line(file, line, number, dim)
        words.append(word)
        rests.append(rest)
    if not words:
        return [], np.empty((0, dim), dtype=np.float32)
    try:
        block = np.loadtxt(rests, dtype=np.float32, delimiter=" ", comments=None, ndmin=2, encoding="latin-1")
        if block.shape != (len(words), dim) or not np.isfinite(block).all():
            raise ValueError
    except ValueError:
        # np.loadtxt does not name the wrong field. A second, slower pass finds its line and position.
        raise _first_garbled(file, stripped, first, dim) from None
    # Blank lines have a number, but no word.
    return file.decode(words, "line", (number for number, line in enumerate(stripped, first) if line)), block


def _split_line(file: VectorFile, line: bytes, number: int, dim: int) -> tuple[bytes, bytes]:
    """Split a line whose word contains spaces; raise an error for any other wrong number of fields."""
    word, *numbers = line.rsplit(b" ", dim)
    parts = word.split(b" ")
    if len(numbers) != dim or not parts[0] or any(not part or _is_number(part) for part in parts[1:]):
        n_numbers = sum(map(_is_number, line.split(b" ")[1:]))
        raise file.error(f"Line {number} must hold a word and {dim} numbers. Got {n_numbers} numbers.")
    return word, b" ".join(numbers)


def _first_garbled(file: VectorFile, stripped: list[bytes], first: int, dim: int) -> Exception:
    for number, line in enumerate(stripped, first):
        for position, field in enumerate(line.rsplit(b" ", dim)[1:], 1):
            if not _is_number(field) or not abs(float(field)) <= _LARGEST:  # also NaN
                return file.error(f"Number {position} in line {number} is not a finite number.")
    return file.error(f"A field in lines {first} to {first + len(stripped) - 1} is not a number.")


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field  # which Python takes within a number
