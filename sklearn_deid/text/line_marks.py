r"""Signs at the start and at the end of each line of a passage, such as ``>`` of a quoted mail and the bars of a box.

A name, a date or a number that goes on in the next line has such a sign in its middle, and each line reads as a
sentence of its own.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import NamedTuple

from .normalized_text import Edit

_BARS = "|\u00a6\u2502\u2503\u2551"
_FRAMES = '*#!"'
_QUOTING = rf"(?:[>{_BARS}]|&gt;)"
# ">", "> >" and ">|" of mails, bars of a box, a quote, and up to three of another sign.
_OPENING = re.compile(rf"[ \t]*({_QUOTING}(?:[ \t]?{_QUOTING})*|\"|([{_FRAMES}])\2{{0,2}})[ \t]*")
_FIRST = frozenset(f">&{_BARS}{_FRAMES}")
_LINE = re.compile(r"[^\r\n]+")
# Without one of these, no line is read: the second line of a quotation, or a line of a frame with the next sign.
_QUOTED_LINE = re.compile(rf"\n[ \t]*[>&{_BARS}]")
_FRAMED_LINE = re.compile(rf"\n[ \t]*([{_FRAMES}])[^\n]*\1,?[ \t\r]*\n[ \t]*\1")
# "> 90 mmHg" and ">= 5"
_MEASURE = re.compile("[0-9=.]")
_FEWEST_LINES, _FEWEST_IN_FRAME = 2, 4
# Items of lists and speeches of a dialogue also begin with these signs.
_NEED_EVIDENCE = (">", "&gt;", '"')
_FULL_SHARE = 0.5
# The signs of a passage between two of its lines, in a span that goes on in the next line.
_BREAK = r"[ \t]{0,8}(?P<%s>\r{0,2}\n|\r)[ \t]{0,8}"
_IN_SPAN = re.compile(
    rf"[ \t]{{0,200}}(?:[{_BARS}]?{_BREAK % 'quoted'}(?:{_QUOTING}[ \t]{{0,8}}){{1,8}}"
    rf"|(?P<sign>[{_FRAMES}]){_BREAK % 'framed'}(?P=sign)[ \t]{{0,8}})"
)


class _Line(NamedTuple):
    mark: str  # signs before the text, without blanks; empty without signs
    start: int
    first: int  # first character of the text
    end: int  # end of the text, without the sign behind the text and the blanks before the sign
    stop: int  # end of the line
    text: str


_UNMARKED = _Line("", 0, 0, 0, 0, "")


def line_marks(text: str) -> list[Edit]:
    r"""Edits that remove the signs of lines and the blanks beside them, from left to right.

    Two lines in a row with the same number of ``>`` or bars before them are a quotation or a box. With another sign,
    four lines are needed, and the sign before and behind each line. Behind one ``>``, and between quotes, an empty line
    is needed, or at least half of the lines must be full and not all may begin with a number: other lines are lists,
    measures and dialogues. Rows of tables stay.

    Examples
    --------
    >>> from sklearn_deid.text.normalized_text import edited
    >>> edited("> Seen by Ann\n> Alder.", line_marks("> Seen by Ann\n> Alder."))
    'Seen by Ann\nAlder.'
    >>> line_marks("> 90 mmHg\n> 60 bpm"), line_marks("* pain\n* cough\n* fever\n* edema")
    ([], [])
    """
    with_line_feeds = text if "\n" in text else text.replace("\r", "\n")
    if _QUOTED_LINE.search(with_line_feeds) is None and _FRAMED_LINE.search(with_line_feeds) is None:
        return []
    edits: list[Edit] = []
    for mark, lines in groupby(map(_line, _LINE.finditer(text)), lambda line: line.mark):
        passage = list(lines) if mark else []
        if len(passage) < (_FEWEST_IN_FRAME if mark[:1] in _FRAMES else _FEWEST_LINES):
            continue
        if not mark.endswith(_NEED_EVIDENCE) or _is_running_text(mark, [line.text for line in passage]):
            edits += [edit for line in passage for edit in (Edit(line.start, line.first), Edit(line.end, line.stop))]
    return [edit for edit in edits if edit.start < edit.end]


def _is_running_text(mark: str, lines: list[str]) -> bool:
    """Whether lines are an answer to an answer, have an empty line between them, or are wrapped.

    A list has no item without text. Of wrapped lines, most go on as far as the longest line allows.
    """
    if len(mark.replace("&gt;", ">")) > 1 or "" in lines[1:-1]:
        return True
    if all(line == "" or _MEASURE.match(line) is not None for line in lines):
        return False
    width = max(map(len, lines))
    pairs = [(line, following) for line, following in pairwise(lines) if line and following]
    n_full = sum(len(line) + 1 + len(following.split(None, 1)[0]) > width for line, following in pairs)
    return n_full >= _FULL_SHARE * len(pairs)


def _line(found: re.Match[str]) -> _Line:
    line = found[0]
    if line.lstrip(" \t")[:1] not in _FIRST:
        return _UNMARKED
    opening = _OPENING.match(line)
    if opening is None:
        return _UNMARKED
    mark, start, stop = "".join(opening[1].split()), *found.span()
    body = line[opening.end() :].rstrip()
    visible, sign = body, mark[-1]
    if sign not in ">;":  # neither ">" nor "&gt;"
        # A comma behind a quote is the end of a row that a program wrote.
        visible = (body[:-1] if body.endswith('",') else body).rstrip(sign)
        if sign in visible or (sign in _FRAMES and len(visible) == len(body)):
            return _UNMARKED  # a row of a table, or an item
        visible = visible.rstrip()
    first = start + opening.end()
    end = first + len(visible)
    # Blanks at the end of a line without a sign stay.
    return _Line(mark, start, first, end, end if len(visible) == len(body) else stop, visible)


def without_line_marks(span_text: str) -> str:
    r"""Text of a span without the signs between its lines. The line ends stay.

    Examples
    --------
    >>> without_line_marks("Ann  |\n| Alder"), without_line_marks("3 Elm Road\n#5")
    ('Ann\nAlder', '3 Elm Road\n#5')
    """
    return _IN_SPAN.sub(lambda found: found["quoted"] or found["framed"], span_text)
