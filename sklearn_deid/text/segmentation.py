"""One call from a note to its sentences of tokens."""

from __future__ import annotations

from typing import NamedTuple

from .sentences import split_sentences
from .tokens import Tokens, tokenize


class Segmentation(NamedTuple):
    """Tokens of a note and the sentences they form.

    Parameters
    ----------
    tokens : Tokens
        Token texts and offsets.
    sentences : list of (int, int)
        Half-open token ranges; together they cover all tokens in order, and none is empty.
    """

    tokens: Tokens
    sentences: list[tuple[int, int]]

    def __repr__(self) -> str:  # counts only: the tokens are note text
        return f"Segmentation({len(self.tokens.texts)} tokens, {len(self.sentences)} sentences)"

    def rows(self) -> list[list[str]]:
        """Token texts, one list per sentence.

        Examples
        --------
        >>> segment("Mr. Roe, 25yo").rows()
        [['Mr', '.', 'Roe', ',', '25', 'yo']]
        """
        texts = self.tokens.texts
        return [texts[start:end] for start, end in self.sentences]


def segment(text: str) -> Segmentation:
    """Cut a note into tokens and sentences.

    Parameters
    ----------
    text : str
        The untouched note.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> segment("Afebrile. Home today.").sentences
    [(0, 2), (2, 5)]
    """
    tokens = tokenize(text)
    return Segmentation(tokens, split_sentences(text, tokens))
