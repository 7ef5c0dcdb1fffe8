"""Split a note into tokens and sentences in one call."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any, NamedTuple

from ..exceptions import SequenceError
from .normalization import normalize
from .normalized_text import NormalizedText
from .other_scripts import words_of_other_scripts
from .sentences import in_order, split_sentences
from .tokens import Tokens, tokenize


class Segmentation(NamedTuple):
    """Tokens and sentences of a note.

    Parameters
    ----------
    tokens : Tokens
        Token texts and offsets.
    sentences : list of (int, int)
        Half-open token range of each sentence. The ranges cover all tokens in order, and no range is empty.
    """

    tokens: Tokens
    sentences: list[tuple[int, int]]

    # The repr shows counts only: the tokens are note text.
    def __repr__(self) -> str:
        return f"Segmentation({len(self.tokens.texts)} tokens, {len(self.sentences)} sentences)"

    def rows(self) -> list[list[str]]:
        """Token texts of each sentence.

        Examples
        --------
        >>> segment("Mr. Roe, 25yo").rows()
        [['Mr', '.', 'Roe', ',', '25', 'yo']]
        """
        texts = self.tokens.texts
        return [texts[start:end] for start, end in self.sentences]


def segment(text: str) -> Segmentation:
    """Split a note into tokens and sentences.

    Parameters
    ----------
    text : str
        Unchanged text of the note.

    Returns
    -------
    Segmentation
        Tokens and sentences of the note.

    Examples
    --------
    >>> segment("Afebrile. Home today.").sentences
    [(0, 2), (2, 5)]
    """
    tokens = tokenize(text)
    return Segmentation(tokens, split_sentences(text, tokens))


def segment_normalized(text: str, split: Callable[[str], Segmentation] | None = None) -> Segmentation:
    """Split the normalised text of a note, as taggers read it, with the offsets of the unchanged text.

    Names in other scripts are read in Latin letters (`words_of_other_scripts`).

    Parameters
    ----------
    text : str
        Unchanged text of the note.
    split : callable, optional
        Splits the normalised text. With None, `segment` is used, with sentences of at most 2,000 tokens.

    Examples
    --------
    >>> cut = segment_normalized("J&#111;hn left.")
    >>> cut.tokens.texts, cut.tokens.starts, cut.tokens.ends
    (['John', 'left', '.'], [0, 10, 14], [9, 14, 15])
    """
    return with_original_offsets(*read_normalized(text, split))


def read_normalized(text: str, split: Callable[[str], Segmentation] | None) -> tuple[NormalizedText, Segmentation]:
    """Normalised text of a note, and its tokens and sentences with the offsets of the normalised text.

    Examples
    --------
    >>> reading, cut = read_normalized("J&#111;hn left.", None)
    >>> reading.text, cut.tokens.starts
    ('John left.', [0, 5, 9])
    """
    reading = normalize(text)
    reading = reading.edited(words_of_other_scripts(reading.text))
    return reading, bounded(segment(reading.text)) if split is None else split(reading.text)


def with_original_offsets(reading: NormalizedText, cut: Segmentation) -> Segmentation:
    """Tokens and sentences of a normalised text with the offsets of the unchanged text.

    Examples
    --------
    >>> with_original_offsets(*read_normalized("J&#111;hn left.", None)).tokens.starts
    [0, 10, 14]
    """
    texts, starts, ends = cut.tokens
    return cut._replace(tokens=Tokens(texts, *reading.originals(starts, ends)))


# Text without the end of a sentence, such as a table without line breaks, would otherwise take a memory that grows
# with its length, and one sentence would pad all others.
_LONGEST_SENTENCE = 2000


def check_segmentation(text: str, cut: Any) -> Segmentation:
    """Check the result of a segmenter, since no tagger can find PHI in text that is in no token.

    Raises
    ------
    SequenceError
        If the result is not a `Segmentation`, if tokens overlap or are outside of the text, if a token is neither the
        text at its offsets nor this text with unescaped HTML entities, if a letter or digit is in no token, or if the
        sentences do not cover all tokens in order.
    """
    if not isinstance(cut, Segmentation):
        raise SequenceError(f"A segmenter must return a Segmentation. Got {type(cut).__name__} instead.")
    texts, starts, ends = cut.tokens
    if not len(texts) == len(starts) == len(ends):
        raise SequenceError("The segmenter returns texts, starts and ends of different lengths.")
    at = 0
    for start, end in zip([*starts, len(text)], [*ends, len(text)], strict=True):
        if not at <= start <= end <= len(text) or (start == end and start < len(text)):
            raise SequenceError("The segmenter returns tokens that overlap, are empty, or leave the text.")
        if any(map(str.isalnum, text[at:start])):
            raise SequenceError(f"The segmenter returns no token for the text from {at} to {start}.")
        at = end
    for token, start, end in zip(*cut.tokens, strict=True):
        if token != (written := text[start:end]) and ("&" not in written or token != unescape(written)):
            raise SequenceError(f"The segmenter returns a token that is not the text from {start} to {end}.")
    if not in_order(cut.sentences, len(texts)) or any(first == stop for first, stop in cut.sentences):
        raise SequenceError("The sentences of a segmenter must cover all tokens in order, and none may be empty.")
    return cut


def bounded(cut: Segmentation) -> Segmentation:
    """Cut sentences that are far longer than any written sentence into parts of 2,000 tokens."""
    if all(end - start <= _LONGEST_SENTENCE for start, end in cut.sentences):
        return cut
    parts = [
        (first, min(first + _LONGEST_SENTENCE, end))
        for start, end in cut.sentences
        for first in range(start, end, _LONGEST_SENTENCE)
    ]
    return cut._replace(sentences=parts)
