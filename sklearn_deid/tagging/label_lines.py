"""Values whose label is on the line before, as in forms: "MRN:" above "123456"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from ..sequences import TokenSequences
from .rules import SentenceText, rebuild_sentence

# Tokens of a line with a label, tokens of a value and of the unit behind it, and tokens before the first digit.
_LONGEST_LABEL, _LONGEST_VALUE, _BEFORE_DIGIT = 8, 24, 3
_SIGNS_BEHIND_LABELS = frozenset(":.#=)-")


def labels_before(sentences: TokenSequences) -> Iterator[list[str]]:
    """For each sentence, the tokens of the line before, if it may be the label of the value at the sentence's start.

    Only short lines that end in a word, and sentences that begin with a number, count. Without the documents of the
    sentences, and for all other sentences, the list is empty.

    Examples
    --------
    >>> rows = TokenSequences.from_rows([["Age", ":"], ["94", "F"], ["No", "pain"]]).with_documents([0, 0, 0])
    >>> list(labels_before(rows))
    [[], ['Age', ':'], []]
    """
    if sentences.documents is None:
        yield from repeat([], len(sentences))
        return
    before: list[str] = []
    last = None
    for document, row in zip(sentences.documents, sentences, strict=True):
        has_number = any(any(map(str.isdigit, token)) for token in row[:_BEFORE_DIGIT])
        yield before if document == last and has_number and _may_be_label(before) else []
        before, last = row, document


def _may_be_label(row: Sequence[str]) -> bool:
    if not 0 < len(row) <= _LONGEST_LABEL:
        return False
    words = [token for token in row if token not in _SIGNS_BEHIND_LABELS]
    return bool(words) and words[-1].isalpha()


def below_label(label: Sequence[str], tokens: Sequence[str]) -> SentenceText:
    r"""Text of a label and of the sentence on the next line, with the offsets of the tokens of the sentence.

    Examples
    --------
    >>> text = below_label(["Age", ":"], ["94", "F"])
    >>> text.text, text.starts
    ('Age:\n94\x1fF', [5, 8])
    """
    head = rebuild_sentence(tokens)
    before = rebuild_sentence(label).text + "\n"
    # The label belongs to the value at the start. The rest of the sentence is read without the label.
    end = head.ends[min(len(tokens), _LONGEST_VALUE) - 1]
    starts, ends = ([len(before) + place for place in places] for places in (head.starts, head.ends))
    return SentenceText(before + head.text[:end], starts, ends)
