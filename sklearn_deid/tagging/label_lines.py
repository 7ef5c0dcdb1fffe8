"""Values whose label is on the line before, as in forms: "MRN:" above "123456", and "Attending:" above a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from ..sequences import TokenSequences
from .rules import SentenceText, rebuild_sentence

# Tokens of a line with a label, tokens of a value and of the unit behind it, and tokens before the first digit.
_LONGEST_LABEL, _LONGEST_VALUE, _BEFORE_DIGIT = 8, 24, 3
_SIGNS_BEHIND_LABELS = frozenset(":.#=)-")
# Tokens of a label with a colon, and signs inside of it.
_LONGEST_WITH_COLON, _SIGNS_IN_LABELS = 7, frozenset("/.'-&#()")


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
    for before, row in _with_lines_before(sentences):
        has_number = any(any(map(str.isdigit, token)) for token in row[:_BEFORE_DIGIT])
        yield before if has_number and _may_be_label(before) else []


def labels_above(sentences: TokenSequences) -> Iterator[list[str]]:
    """For each sentence, the tokens of the line before, if it begins with a capital and ends in a colon.

    A line that itself ends in a colon is the next label. Without the documents of the sentences, and for all other
    sentences, the list is empty.

    Examples
    --------
    >>> rows = TokenSequences.from_rows([["Seen", "by", ":"], ["Roe"], ["Well"]]).with_documents([0, 0, 0])
    >>> list(labels_above(rows))
    [[], ['Seen', 'by', ':'], []]
    """
    for before, row in _with_lines_before(sentences):
        yield before if row and row[-1] != ":" and _ends_in_colon(before) else []


def _with_lines_before(sentences: TokenSequences) -> Iterator[tuple[list[str], list[str]]]:
    """Line before each sentence in its document, empty without one, and the sentence."""
    before: list[str] = []
    last = None
    documents = repeat(None, len(sentences)) if sentences.documents is None else sentences.documents
    for document, row in zip(documents, sentences, strict=True):
        yield before if document is not None and document == last else [], row
        before, last = row, document


def _ends_in_colon(row: Sequence[str]) -> bool:
    if not 1 < len(row) <= _LONGEST_WITH_COLON or row[-1] != ":" or not row[0][:1].isupper():
        return False
    return all(token.isalpha() or token in _SIGNS_IN_LABELS for token in row[:-1])


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
