"""Spellings of the given names or of the surnames of one patient, found without a comparison of all names."""

from __future__ import annotations

from collections.abc import Iterator

from .folding import plain_letters, within_one_slip

# Short names that differ in a letter are often two names (Ann and Anna, Lee and Leo).
_LEAST_LETTERS = 5
# Longer words are no names. With this limit, the time for a note is linear in its length.
_MOST_LETTERS = 40
_LEAST_IN_ADDRESSES = 3


class NameSpellings:
    """First spellings of names, as folded words, in the order in which the notes mention them.

    Examples
    --------
    >>> spellings = NameSpellings()
    >>> spellings.add("quillwick")
    >>> list(spellings.slips("quilwick")), spellings.in_text("j.quillwick")
    (['quillwick'], [('quillwick', 'quillwick')])
    """

    def __init__(self) -> None:
        self._firsts: dict[str, int] = {}
        # Word without one of its letters, or whole -> first spellings
        self._without_letter: dict[str, list[str]] = {}
        # Spelling in the letters of mail addresses -> place in the order, and first spelling
        self._plain: dict[str, tuple[int, str]] = {}
        # "mueller" -> "muller"
        self._transcribed: dict[str, tuple[int, str]] = {}

    def __repr__(self) -> str:  # counts only: the words are note text
        return f"NameSpellings({len(self._firsts)})"

    def add(self, first: str) -> None:
        """Add a first spelling."""
        at = self._firsts[first] = len(self._firsts)
        plain = plain_letters(first)
        self._plain[plain] = self._plain.get(plain, (at, first))[0], first
        for variant in _variants(first):
            self._without_letter.setdefault(variant, []).append(first)

    def add_transcribed(self, spelled: str, first: str) -> None:
        """Add a spelling with two letters for one letter."""
        self._transcribed.setdefault(spelled, (len(self._transcribed), first))

    def slips(self, word: str) -> Iterator[str]:
        """First spellings that one typing error turns into a word, in their order; the first letter is the same."""
        found = {first for variant in _variants(word) for first in self._without_letter.get(variant, ())}
        for first in sorted(found, key=self._firsts.__getitem__):
            if first[0] == word[0] and within_one_slip(word, first):
                yield first

    def in_text(self, text: str) -> list[tuple[str, str]]:
        """Spellings of three or more letters in a folded text, each with the first spelling of its name."""
        found = {
            text[start:end]
            for start in range(len(text))
            for end in range(start + _LEAST_IN_ADDRESSES, min(len(text), start + _MOST_LETTERS) + 1)
        }
        known = [one for one in found if one in self._plain or one in self._firsts or one in self._transcribed]
        return [(one, self._first_of(one)) for one in sorted(known, key=self._place)]

    def _first_of(self, spelling: str) -> str:
        if spelling in self._transcribed:
            return self._transcribed[spelling][1]
        return spelling if spelling in self._firsts else self._plain[spelling][1]

    def _place(self, spelling: str) -> tuple[int, int]:
        if spelling in self._plain:
            return 0, self._plain[spelling][0]
        return (1, self._firsts[spelling]) if spelling in self._firsts else (2, self._transcribed[spelling][0])


def _variants(word: str) -> set[str]:
    """The word, and the word without one of its letters after the first; empty for words that are too short or long.

    Words that one slip turns into each other share a variant.
    """
    if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS:
        return set()
    return {word, *(word[:i] + word[i + 1 :] for i in range(1, len(word)))}
