"""Text files with word lists and note templates, in a format that people can edit.

=====================  ===========================================================================================
``# ...``              a comment; the ``#`` is the first character of the line
``[name]``             begins a block
``name: value``        a setting of the file (above all blocks) or of the block (above its entries)
``- ...``              an entry; a dash alone is an empty one
two spaces, ``...``    the next line of the entry
=====================  ===========================================================================================

Empty lines belong to an entry if the entry continues below them. Other lines raise an error, so that no line is
ignored.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..exceptions import CorpusFormatError

_NAME = re.compile(r"\[([a-z][a-z0-9_. ]*)\]")
_ENTRY = re.compile(r"-(?: \S.*)?")
_SETTING = re.compile(r"([a-z]+): (\S.*)")


class Entry(NamedTuple):
    """Text with the number of its first line, counted from 1."""

    line: int
    text: str


class Block(NamedTuple):
    """One block of a data file: the settings and entries below the line ``[name]``."""

    name: str
    line: int
    settings: dict[str, Entry]
    entries: list[Entry]


class DataFile(NamedTuple):
    """Settings and blocks of one file, in the order of the file."""

    path: Path
    settings: dict[str, Entry]
    blocks: list[Block]

    def error(self, message: str, line: int | None = None) -> CorpusFormatError:
        """Create an error that contains the file and the line."""
        return CorpusFormatError(message if line is None else f"Line {line}: {message}", path=str(self.path))

    def check_settings(self, allowed: tuple[str, ...], block: Block | None = None) -> None:
        """Raise an error for a setting of the file, or of a block, that is not allowed."""
        for name, setting in (self.settings if block is None else block.settings).items():
            if name not in allowed:
                expected = f"Allowed: {', '.join(allowed)}." if allowed else "None is allowed here."
                raise self.error(f"There is no setting '{name}'. {expected}", setting.line)


def read_data_file(path: Path) -> DataFile:
    """Read a data file: lists of words, or templates, in blocks.

    Parameters
    ----------
    path : Path
        File of UTF-8 text in the format of this module.

    Returns
    -------
    DataFile
        Settings and blocks of the file.

    Raises
    ------
    CorpusFormatError
        If a line does not follow the format. The error contains the file and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "colors.txt"
    ...     _ = path.write_text("# colors\\n[warm]\\n- red\\n- light\\n  orange\\n", encoding="utf-8")
    ...     [block] = read_data_file(path).blocks
    >>> block.name, [entry.text for entry in block.entries]
    ('warm', ['red', 'light\\norange'])
    """
    file = DataFile(path, {}, [])
    try:
        # Editors on Windows begin files with a byte order mark, which "utf-8-sig" removes.
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise file.error("The file is not UTF-8 text. Save it as UTF-8.") from None
    except FileNotFoundError:
        raise file.error("The file is missing.") from None
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line != line.rstrip():
            raise file.error("The line ends with white space, which cannot be seen. Remove it.", i + 1)
        if "\t" in line:
            raise file.error("The line holds a tab, which looks like spaces. Write {tab}.", i + 1)
        if line and not line.startswith("#"):
            # number of empty lines just above this line
            empty = next((k for k in range(i) if any(lines[i - k - 1 : i - k])), i)
            _take(file, i + 1, line, empty)
    return file


def _take(file: DataFile, number: int, line: str, empty: int) -> None:
    block = file.blocks[-1] if file.blocks else None
    if (name := _NAME.fullmatch(line)) is not None:
        file.blocks.append(Block(name[1], number, {}, []))
    elif block is not None and _ENTRY.fullmatch(line):
        block.entries.append(Entry(number, line[2:]))
    elif block is not None and block.entries and line.startswith("  "):
        # Empty lines become part of the entry here, when the entry continues; at the end of an entry they are dropped.
        first, text = block.entries[-1]
        block.entries[-1] = Entry(first, text + "\n" * (empty + 1) + line[2:])
    elif (setting := _SETTING.fullmatch(line)) is not None and not (block and block.entries):
        settings = file.settings if block is None else block.settings
        if setting[1] in settings:
            raise file.error(f"The setting '{setting[1]}' stands here twice.", number)
        settings[setting[1]] = Entry(number, setting[2])
    else:
        raise file.error(
            "The line is no comment ('# '), block ('[name]'), setting ('name: value', above the entries), entry of a "
            "block ('- ') or next line of an entry (two spaces in front).",
            number,
        )
