"""The text of a sentence, rebuilt from its tokens, with the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# Punctuation that is written without space on both sides where rules look: dates, phones, addresses of the net.
_BOTH = frozenset("-/.@_:=&?%~'")
_TO_LEFT = frozenset(",;!)]")
_TO_RIGHT = frozenset("([#+")


class SentenceText(NamedTuple):
    """A rebuilt text; token i is ``text[starts[i]:ends[i]]``."""

    text: str
    starts: list[int]
    ends: list[int]

    def __repr__(self) -> str:  # counts only: the text is note text
        return f"SentenceText({len(self.text)} characters, {len(self.starts)} tokens)"


def rebuild_sentence(tokens: Sequence[str]) -> SentenceText:
    r"""Join tokens to a text on which rules can match.

    The tokenizer cuts ``12/03/2019`` into five tokens, and nobody knows from the tokens where spaces were. Here
    ``- / . @ _ : = & ? % ~ '`` join both neighbours, ``, ; ! ) ]`` the left and ``( [ # +`` the right one. Between a
    letter and a digit (``white97``) stands ``\x1f``, between a lower and an upper case letter (``JohnSmith``) ``\x1e``:
    there the tokenizer cuts words too. After a full stop behind a capitalised word (``Madrid.ana``) stands ``\x1d``.
    Everything else gets a space.

    What is lost against raw text: line ends and runs of spaces; the space after a full stop or around a dash, so that
    ``a@b.org. tel`` reads as ``a@b.org.tel`` and ``12 - 3/4/2019`` as ``12-3/4/2019``; the space in ``Smith 97``.

    Parameters
    ----------
    tokens : sequence of str

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
    if left == "." and right[:1].islower() and not before_left[:1].islower() and not before_left.isupper():
        return "" if before_left[:1].isdigit() else "\x1d" if before_left[:1].isupper() else " "
    if left in _BOTH or right in _BOTH or left in _TO_RIGHT or right in _TO_LEFT:
        return ""
    before, after = left[-1:], right[:1]
    if (before.isalpha() and after.isdigit()) or (before.isdigit() and after.isalpha()):
        return "\x1f"
    return "\x1e" if before.islower() and after.isupper() else " "
