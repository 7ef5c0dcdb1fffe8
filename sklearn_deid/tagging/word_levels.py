"""Levels (small whole numbers) of many words, stored in few bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from ..exceptions import BundleError
from .word_set import WordSet

#: Largest level of a word.
MOST = 8


class WordLevels:
    """Levels of words from 0 to 8. Casing is ignored. For each level, a `WordSet` contains the words of at least this
    level.

    The level of a listed word is never too low. About one of 120 words that are not listed has level 1, and about one
    of 14,000 has a higher level. Anyone with the levels can test whether a word is listed: build the levels from public
    lists, never from notes.

    Parameters
    ----------
    sets : sequence of WordSet
        Words of at least level 1, of at least level 2, and so on.

    Examples
    --------
    >>> levels = WordLevels.of({"rod": 1, "consent": 3})
    >>> levels["Consent"], levels["rod"], levels["Okafor"]
    (3, 1, 0)
    >>> levels
    WordLevels(3 levels)
    """

    def __init__(self, sets: Sequence[WordSet]) -> None:
        self.sets = tuple(sets)

    def __repr__(self) -> str:
        return f"WordLevels({len(self.sets)} levels)"

    @classmethod
    def of(cls, levels: Mapping[str, int]) -> WordLevels:
        """Store the level of each word.

        Raises
        ------
        ValueError
            If a level is not a whole number from 0 to 8.
        """
        if not all(isinstance(level, Integral) and 0 <= level <= MOST for level in levels.values()):
            raise ValueError(f"The level of a word must be a whole number from 0 to {MOST}.")
        top = max(levels.values(), default=0)
        return cls([WordSet.of(w for w, level in levels.items() if level >= k) for k in range(1, top + 1)])

    def __getitem__(self, word: str) -> int:
        return next((level for level, words in enumerate(self.sets) if word not in words), len(self.sets))

    def to_state(self) -> dict[str, Any]:
        """JSON values from which `from_state` builds the same levels."""
        return {"sets": [words.to_state() for words in self.sets]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WordLevels:
        """Build levels from the result of `to_state`.

        Raises
        ------
        BundleError
            If the sets are missing, if there are more than 8 sets, or if a set is not valid.
        """
        if set(state) != {"sets"} or not isinstance(state["sets"], list) or len(state["sets"]) > MOST:
            raise BundleError("The levels of words of a saved tagger are missing, damaged or too many.")
        return cls([WordSet.from_state(words) for words in state["sets"]])
