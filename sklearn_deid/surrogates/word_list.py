"""Word lists of surrogates: names, places, professions and holidays, kept in text files that you can edit."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .data_file import DataFile, read_data_file

_FOLDER = Path(__file__).parent / "words"


def read_word_lists(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of word lists. Each block holds one entry: words separated by commas.

    Parameters
    ----------
    path : Path
        File in the format of ``data_file``.

    Returns
    -------
    dict of str to tuple of str
        Words of each block, in the order of the file.

    Raises
    ------
    CorpusFormatError
        If a list is empty or appears twice, or if a comma is missing or superfluous. The error names the file and the
        line.
    """
    file = read_data_file(path)
    file.check_settings(())
    lists: dict[str, tuple[str, ...]] = {}
    for block in file.blocks:
        file.check_settings((), block)
        if block.name in lists or len(block.entries) != 1:
            raise file.error(f"[{block.name}] must appear once and hold one entry ('- ').", block.line)
        lists[block.name] = _words(file, block.entries[0].line, block.entries[0].text)
    return lists


def _words(file: DataFile, first_line: int, text: str) -> tuple[str, ...]:
    # Every line but the last must end with a comma: otherwise the last word of a line and the first word of the next
    # would silently become one entry.
    lines = text.split("\n")
    for i, line in enumerate(lines):
        is_last = i == len(lines) - 1
        if not is_last and not line.endswith(","):
            raise file.error("A comma is missing at the end of the line.", first_line + i)
        if not all(word.strip() for word in (line if is_last else line[:-1]).split(",")):
            raise file.error("A word is missing before or after a comma.", first_line + i)
    return tuple(word.strip() for word in " ".join(lines).split(","))


_read_once = cache(read_word_lists)


@cache
def word_list(file: str, block: str) -> tuple[str, ...]:
    """Words of one block in a file of this package. The file is read on first use.

    Examples
    --------
    >>> word_list("holidays", "holidays")[:2]
    ('Christmas', 'Thanksgiving')
    """
    return _read_once(_FOLDER / f"{file}.txt")[block]


def has_word_list(file: str, block: str) -> bool:
    """Whether a file of this package has the block.

    Examples
    --------
    >>> has_word_list("es", "months"), has_word_list("es", "planets")
    (True, False)
    """
    return block in _read_once(_FOLDER / f"{file}.txt")
