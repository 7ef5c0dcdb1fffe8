r"""Line ends that an export wrote as codes, such as ``[CRLF]``, and ``&nbsp`` without its semicolon.

Without the ends of its lines, a header or a list reads as one sentence, and a tagger misses several times as many
names. Blanks that were lost join words.
"""

from __future__ import annotations

import re

from .normalized_text import Edit

# Codes in brackets, also as entities; formatting codes of HL7; RTF without its header; signs of word processors.
_CODE = re.compile(
    r"(?i:\[(?:cr|lf|crlf|cr/lf|br|nl|newline)\]|<(?:cr|lf|crlf|nl|newline)>|\{(?:cr|lf|crlf|nl|newline)\}"
    r"|&lt;(?:br|/?p) ?/?&gt;|\\\.(?:br|sp|ce|fi|nf)[+-]?\d{0,3}\\)|\\(?:par|line)(?![A-Za-z])[ ]?|[\u00b6\u21b5\u2424]"
)
_SIGNS_OF_CODES = ("[", "<", "{", "&lt;", "\\", "\u00b6", "\u21b5", "\u2424")
# As JSON and programs write them.
_ESCAPED = re.compile(r"\\(?:r\\n|n|r)")
# "C:\new\record", "\\nas\record"
_START_OF_PATH, _LONGEST_PATH = re.compile(r"(?<!\w)[A-Za-z]:\Z|(?<!\w)(?:[A-Za-z]:\\[^\s\\]|\\\\)|\\\Z"), 200
# "CLINIC\nolan", the name of a user behind a domain, or a line that ends in an abbreviation: "Seen in ED\npain"
_DOMAIN, _LONGEST_DOMAIN, _USER = re.compile(r"(?<![\w\\])[A-Z][A-Z\d-]+\Z"), 16, re.compile(r"\\[nr][a-z]")
_FEWEST_ESCAPED = 2
_LINE_END = re.compile("[\r\n]")
_BLANK = re.compile("&nbsp(?!;)")


def coded_line_ends(text: str) -> list[Edit]:
    r"""Edits that read codes of line ends as line ends, and ``&nbsp`` as a space, from left to right.

    ``\\n`` counts only in a text that has at least two of them and no line end between its words: elsewhere it may be a
    part of a path. Names of users behind a domain are no evidence of such codes.

    Examples
    --------
    >>> coded_line_ends("Seen.[CRLF]Ann")
    [Edit(start=5, end=11, replacement='\n')]
    >>> [edit.replacement for edit in coded_line_ends(r"Seen.\nAnn Roe\r\n")], coded_line_ends(r"C:\new\notes")
    (['\n', '\n'], [])
    """
    edits = []
    if any(sign in text for sign in _SIGNS_OF_CODES):
        edits += [Edit(*found.span(), "\n") for found in _CODE.finditer(text)]
    # Most files end in a line end, also those whose text is a single line.
    if "\\" in text and _LINE_END.search(text.strip()) is None:
        escaped = [
            Edit(*found.span(), "\n") for found in _ESCAPED.finditer(text) if not _is_in_path(text, found.start())
        ]
        are_users = all(_may_be_user(text, edit.start) for edit in escaped)
        edits += escaped if len(escaped) >= _FEWEST_ESCAPED and not are_users else []
    if "&nbsp" in text:
        edits += [Edit(*found.span(), " ") for found in _BLANK.finditer(text)]
    edits.sort()
    # Behind "\\.br\\", the n of "nurse" is no code.
    ends = [0, *(edit.end for edit in edits)]
    return [edit for end, edit in zip(ends, edits, strict=False) if end <= edit.start]


def _is_in_path(text: str, start: int) -> bool:
    """Whether the characters without a space before a backslash are those of the name of a file."""
    before = text[max(0, start - _LONGEST_PATH) : start]
    return _START_OF_PATH.search(before, max(map(before.rfind, " \t")) + 1) is not None


def _may_be_user(text: str, start: int) -> bool:
    """Whether a backslash may stand between a domain and the name of a user."""
    before = text[max(0, start - _LONGEST_DOMAIN) : start]
    return _USER.match(text, start) is not None and _DOMAIN.search(before) is not None
