"""Notes of a page that was turned by 90 degrees, and other notes whose letters are in no order.

In words of European languages, vowels and consonants alternate far more often than in a row of random letters. Each
line of a turned page holds the letters of one column, and its words are found in the columns.
"""

from __future__ import annotations

import math
from itertools import zip_longest

#: Frequent words of several languages, with at least three letters: shorter ones appear in any text by chance.
FREQUENT = frozenset(
    """
    the and with for was were has had her his she not from that this are who
    del los las una que con por para der die das und mit von den ist nicht les des est une pour dans avec sur
    della per non con che nel het een van met voor niet som til med ikke uma dos das com
    """.split()
)
# Of the words of ordinary notes, more are frequent. The letters of other notes are counted.
_LEAST_SHARE = 0.03
_VOWELS = "aeiouy\u00e0\u00e1\u00e2\u00e3\u00e4\u00e5\u00e6\u00e8\u00e9\u00ea\u00eb\u00ec\u00ed\u00ee\u00ef\u0153"
_VOWELS += "\u00f2\u00f3\u00f4\u00f5\u00f6\u00f8\u00f9\u00fa\u00fb\u00fc\u00fd\u00ff"


class _Kinds(dict[int, str]):
    """Vowel, consonant, or a blank for all other characters, also for those of other scripts."""

    def __missing__(self, character: int) -> str:
        return " "


_KINDS = _Kinds({i: "v" if chr(i).lower() in _VOWELS else "c" for i in range(0x250) if chr(i).isalpha()})
# Vowels of Vietnamese, and accents that follow their letters.
_KINDS.update(dict.fromkeys(range(0x1EA0, 0x1EFA), "v") | dict.fromkeys(range(0x300, 0x370), ""))
# Standard deviations from the number of alternations of random letters. Ordinary notes have at least 3 in long words,
# and 200 pairs of letters of Chinese in Latin letters 1.4.
_RANDOM, _MOST_IN_LINES, _WORDS, _TIMES_AS_MUCH = 1.0, 1.5, 3.0, 3
_LONG_WORD, _FEWEST_PAIRS, _FEWEST_PAIRS_IN_LINES = 5, 300, 30
_FEWEST_LINES = 8
# A page filled with blanks is hardly larger than its text. A page of long lines is larger.
_MOST_FILLED = 16


def is_rotated(text: str) -> bool:
    r"""Whether the letters of a text are in no order, or form words only in its columns.

    Examples
    --------
    >>> page = ["The patient was seen with", "her mother and is not ill", "for the pain that she had"] * 4
    >>> is_rotated("\n".join(page)), is_rotated("\n".join(map("".join, zip(*page))))
    (False, True)
    """
    words = text.lower().split()
    if sum(map(FREQUENT.__contains__, words)) > _LEAST_SHARE * len(words):
        return False
    kinds = text.translate(_KINDS)
    in_long, n_long = alternation(kinds, _LONG_WORD)
    if n_long >= _FEWEST_PAIRS and in_long < _RANDOM:
        return True
    lines = text.splitlines()
    if len(lines) < _FEWEST_LINES or max(map(len, lines)) * len(lines) > _MOST_FILLED * len(text):
        return False
    in_lines, n_pairs = alternation(kinds, 2)
    if n_pairs < _FEWEST_PAIRS_IN_LINES or in_lines >= _WORDS:
        return False
    columns = "\n".join(map("".join, zip_longest(*lines, fillvalue=" ")))
    in_columns, n_pairs = alternation(columns.translate(_KINDS), _LONG_WORD)
    if n_pairs < _FEWEST_PAIRS_IN_LINES:
        return False
    return _WORDS <= in_columns < math.inf and in_lines < max(_MOST_IN_LINES, in_columns / _TIMES_AS_MUCH)


def alternation(kinds: str, shortest: int) -> tuple[float, int]:
    """Compare how often vowels and consonants alternate in words with random letters.

    Parameters
    ----------
    kinds : str
        Text with "v" for a vowel, "c" for a consonant, and a blank for other characters.
    shortest : int
        Smallest number of letters of the words.

    Returns
    -------
    float
        Difference in standard deviations. Infinite without both kinds.
    int
        Number of pairs of letters.

    Examples
    --------
    >>> z, n_pairs = alternation("cvcvc vcvc", 4)
    >>> round(z, 2), n_pairs
    (2.68, 7)
    """
    words = [word for word in kinds.split() if len(word) >= shortest]
    joined, n_letters = " ".join(words), sum(map(len, words))
    n_pairs, share = n_letters - len(words), joined.count("v") / max(1, n_letters)
    expected = 2 * share * (1 - share)
    if not expected or not n_pairs:
        return math.inf, n_pairs
    n_alternating = joined.count("cv") + joined.count("vc")
    return (n_alternating - expected * n_pairs) / math.sqrt(n_pairs * expected * (1 - expected)), n_pairs
