"""`CutWords`: words that hidden or deleted text divides, so that readers see another word than the word in the note."""

from __future__ import annotations

# Signs inside of numbers, addresses and names.
_JOINING = frozenset("@._-'’/+\u00ad\u200b\u200c\u200d")


class CutWords:
    """Follow the text of a file, and find the passages that readers see differently or not at all.

    A note contains each text once. If hidden text begins or ends inside of a word, the note lacks either the visible
    word or the hidden word, and a tagger cannot find the missing word.

    Attributes
    ----------
    found : bool
        Whether a letter or digit directly precedes or follows a passage.

    Examples
    --------
    >>> words = CutWords()
    >>> words.add("Al"), words.begin(), words.add("x"), words.end(), words.add("der"), words.found
    (None, None, None, None, None, True)
    """

    def __init__(self) -> None:
        self.found = False
        self._n_events = 0
        # Whether a word ends at this place, with and without the passages before this place.
        self._in_word = self._around = False
        self._is_border = False
        self._open: list[tuple[int, bool]] = []

    def add(self, text: str) -> None:
        """Add a piece of text, at least one character."""
        self._n_events += 1
        if _joins(text[0]):
            self.found |= self._around or (self._is_border and self._in_word)
        self._in_word, self._around, self._is_border = _joins(text[-1]), False, False

    def separate(self) -> None:
        """Add the end of a line."""
        self._n_events += 1
        self._in_word = self._around = self._is_border = False

    def begin(self) -> None:
        """Begin a passage."""
        self._open.append((self._n_events, self._in_word or self._around))
        self._is_border = True

    def end(self) -> None:
        """End the last passage."""
        n_events, in_word = self._open.pop() if self._open else (self._n_events, False)
        # A passage without content cuts nothing.
        self._is_border = n_events < self._n_events
        if self._is_border:
            self._around = in_word


def _joins(character: str) -> bool:
    return character.isalnum() or character in _JOINING
