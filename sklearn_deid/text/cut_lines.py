"""Lines of one length that are cut inside of words, as databases and terminals print long texts."""

from __future__ import annotations

import re

from .rearranged_text import RearrangedText

_LINE = re.compile(r"[^\r\n]+|(?:\r\n|\r|\n)+")
_SHORTEST, _FEWEST_LINES = 20, 4
# Of lines that are wrapped between words, few are as long as the longest one. Lines of justified text and rows of
# tables hold more than one space in a row.
_NEARLY, _FULL_SHARE, _CUT_SHARE, _MOST_SPACED, _LEAST_WITH_BLANK = 15, 0.6, 0.3, 0.3, 0.8


def without_cuts(text: str) -> RearrangedText | None:
    r"""Text without the line ends behind its longest lines; None if these line ends are between words.

    Examples
    --------
    >>> written = "Seen in the clinic by Otis Alder for pain and rash of both hands since the third of May."
    >>> cut = "\n".join(written[i : i + 20] for i in range(0, len(written), 20))
    >>> without_cuts(cut).text == written, without_cuts(written)
    (True, None)
    """
    if text.count("\n") + text.count("\r") < _FEWEST_LINES:
        return None
    lengths = [*map(len, text.splitlines())]
    width = max(lengths)
    n_full = lengths.count(width)
    # The first test, which most notes do not pass.
    if n_full < _FEWEST_LINES or width < _SHORTEST:
        return None
    if n_full < _FULL_SHARE * sum(length >= width - _NEARLY for length in lengths) or not _is_cut(text, width):
        return None
    parts = [part.span() for part in _LINE.finditer(text)]
    # Without the line end behind a full line. Empty lines stay.
    kept = [
        (start, end)
        for n, (start, end) in enumerate(parts)
        if not (n and parts[n - 1][1] - parts[n - 1][0] == width and text[start:end] in ("\n", "\r\n", "\r"))
    ]
    return RearrangedText(text, kept, between="")


def _is_cut(text: str, width: int) -> bool:
    lines = text.splitlines()
    pairs = [(line, after) for line, after in zip(lines, lines[1:], strict=False) if len(line) == width and after]
    n_cut = sum(line[-1].isalpha() and after[0].isalpha() for line, after in pairs)
    n_spaced = sum("  " in line.strip() for line, _ in pairs)
    n_with_blank = sum(" " in line for line, _ in pairs)
    return (
        n_cut >= max(2, _CUT_SHARE * len(pairs))
        and n_spaced <= _MOST_SPACED * len(pairs)
        and n_with_blank >= _LEAST_WITH_BLANK * len(pairs)
    )
