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
    - The separator after a full stop that follows a capitalised word (``Madrid.ana``) is ``\x1d``. The separator
      before a plus sign behind a lower case letter (``ann+news@example.org``) is ``\x1f``.
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
    return _joined(tokens, [_gap_before(tokens, i) for i in range(len(tokens))])


def sentence_readings(tokens: Sequence[str]) -> list[SentenceText]:
    r"""Texts that a sentence may have had, if spaces stood around its signs.

    In the first reading, no sign has a space (`rebuild_sentence`). The other readings have more and more spaces: first
    behind the sign or the number of a list item, and behind full stops after words; then around hyphens that follow no
    digit; then also around slashes, and around signs between a digit and a letter. The separator at these places is
    ``\x1f``. Equal readings are left out.

    Parameters
    ----------
    tokens : sequence of str
        Tokens of one sentence.

    Returns
    -------
    list of SentenceText

    Examples
    --------
    >>> [reading.text for reading in sentence_readings(["-", "91", "yo", "-", "smoker"])]
    ['-91\x1fyo-smoker', '-\x1f91\x1fyo-smoker', '-\x1f91\x1fyo\x1f-\x1fsmoker']
    """
    gaps = [_gap_before(tokens, i) for i in range(len(tokens))]
    readings = [_joined(tokens, gaps)]
    for places in _places_of_spaces(tokens):
        apart = ["\x1f" if i in places else gap for i, gap in enumerate(gaps)]
        if apart != gaps:
            readings.append(_joined(tokens, apart))
            gaps = apart
    return readings


def _places_of_spaces(tokens: Sequence[str]) -> tuple[set[int], set[int], set[int]]:
    """Tokens before which a space may have stood, in the second, the third and the fourth reading."""
    second, third, fourth = set(), set(), set()
    for i, sign in enumerate(tokens[:-1]):
        if sign == "." and i and tokens[i + 1][:1].isalnum() and _ends_before(tokens, i):
            second.add(i + 1)
        if sign not in ("-", "/"):
            continue
        before, after = (tokens[i - 1] if i else "")[-1:], tokens[i + 1][:1]
        if not i:
            second.add(1)
        elif sign == "-" and not before.isdigit():
            third |= {i, i + 1}
        elif not (before.isdigit() and after.isdigit()):
            fourth |= {i, i + 1}
    return second, third, fourth


def _ends_before(tokens: Sequence[str], stop: int) -> bool:
    """Whether a full stop may end a word or the number of a list item, and is no part of a number or an address."""
    before, after = tokens[stop - 1], tokens[stop + 1]
    if before.isdigit():
        # "1. 03/04/2019" and "1. 91 yo", but not "03.04.2019" and "1.25 M".
        return stop == 1 and len(before) < 3 and tokens[stop + 2 : stop + 3] not in (["."], ["F"], ["M"])
    return before[:1].isupper() or ((before.isalpha() or before == ".") and after[:1].isdigit())


def _joined(tokens: Sequence[str], gaps: Sequence[str]) -> SentenceText:
    parts: list[str] = []
    starts, ends = [], []
    position = 0
    for gap, token in zip(gaps, tokens, strict=True):
        parts += [gap, token]
        starts.append(position + len(gap))
        position += len(gap) + len(token)
        ends.append(position)
    return SentenceText("".join(parts), starts, ends)


def _gap_before(tokens: Sequence[str], i: int) -> str:
    return _gap(tokens[i - 2] if i > 1 else "", tokens[i - 1], tokens[i]) if i else ""


def _gap(before_left: str, left: str, right: str) -> str:
    """Separator between the tokens ``left`` and ``right``; ``before_left`` is the token before ``left``."""
    if left == "." and right[:1].islower() and not before_left[:1].islower() and not before_left.isupper():
        return "" if before_left[:1].isdigit() else "\x1d" if before_left[:1].isupper() else " "
    if right == "+" and left[-1:].islower():
        return "\x1f"  # "ann_roe+news@example.org"
    if left in _BOTH or right in _BOTH or left in _TO_RIGHT or right in _TO_LEFT:
        return ""
    before, after = left[-1:], right[:1]
    if (before.isalpha() and after.isdigit()) or (before.isdigit() and after.isalpha()):
        return "\x1f"
    return "\x1e" if before.islower() and after.isupper() else " "
