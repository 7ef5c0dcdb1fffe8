"""Split a note into tokens and sentences in one call."""

from __future__ import annotations

from typing import NamedTuple

from .sentences import split_sentences
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
