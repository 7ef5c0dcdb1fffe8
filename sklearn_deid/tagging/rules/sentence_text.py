"""Text of a sentence, rebuilt from its tokens, with the offsets of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# Punctuation without space on either side in dates, phone numbers and internet addresses.
_BOTH = frozenset("-/.@_:=&?%~'")
# Punctuation without space before it, and punctuation without space after it.
_TO_LEFT = frozenset(",;!)]")
_TO_RIGHT = frozenset("([#+")


class SentenceText(NamedTuple):
    """Rebuilt text of a sentence. Token i is ``text[starts[i]:ends[i]]``."""

    text: str
    starts: list[int]
    ends: list[int]

    # Counts only: the text is note text and must not appear in logs.
    def __repr__(self) -> str:
        return f"SentenceText({len(self.text)} characters, {len(self.starts)} tokens)"


def rebuild_sentence(tokens: Sequence[str]) -> SentenceText:
    r"""Join tokens to a text on which rules can match.

    The tokenizer splits ``12/03/2019`` into five tokens, and tokens do not show the positions of the spaces. The
    function joins tokens in this way:

    - ``- / . @ _ : = & ? % ~ '`` have no space on either side, ``, ; ! ) ]`` no space before them, and ``( [ # +`` no
      space after them.
    - The tokenizer also splits words between a letter and a digit (``white97``), and between a lower and an upper case
      letter (``JohnSmith``). The separator is ``\x1f`` in the first case and ``\x1e`` in the second case.
    - The separator after a full stop that follows a capitalised word (``Madrid.ana``) is ``\x1d``.
    - All other tokens are separated by a space.

    The rebuilt text differs from raw text in three ways. Line ends and runs of spaces are lost. The space after a full
    stop or around a dash is lost: ``a@b.org. tel`` becomes ``a@b.org.tel``, and ``12 - 3/4/2019`` becomes
    ``12-3/4/2019``. The space between a letter and a digit, as in ``Smith 97``, is lost.

    Parameters
    ----------
    tokens : sequence of str
        Tokens of one sentence.

    Returns
    -------
    SentenceText

    Examples
    --------
    >>> rebuild_sentence(["Tel", ".", "(", "555", ")", "010", "-", "0142", ",", "12", "/", "3"]).text
    'Tel.(555) 010-0142, 12/3'
    """
    parts: list[str] = []
    starts, ends = [], []
    position = 0
    for i, token in enumerate(tokens):
        gap = _gap(tokens[i - 2] if i > 1 else "", tokens[i - 1], token) if i else ""
        parts += [gap, token]
        starts.append(position + len(gap))
        position += len(gap) + len(token)
        ends.append(position)
    return SentenceText("".join(parts), starts, ends)


def _gap(before_left: str, left: str, right: str) -> str:
    """Separator between the tokens ``left`` and ``right``; ``before_left`` is the token before ``left``."""
    if left == "." and right[:1].islower() and not before_left[:1].islower() and not before_left.isupper():
        return "" if before_left[:1].isdigit() else "\x1d" if before_left[:1].isupper() else " "
    if left in _BOTH or right in _BOTH or left in _TO_RIGHT or right in _TO_LEFT:
        return ""
    before, after = left[-1:], right[:1]
    if (before.isalpha() and after.isdigit()) or (before.isdigit() and after.isalpha()):
        return "\x1f"
    return "\x1e" if before.islower() and after.isupper() else " "
