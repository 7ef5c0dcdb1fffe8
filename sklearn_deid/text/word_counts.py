"""Number of words of a text, also of a text whose words have no spaces between them."""

from __future__ import annotations

import re

# Ideographs, kana and bopomofo, and then the punctuation beside them.
_IDEOGRAPHS = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00016fe0-\U00018cff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_SIGNS = "\u3001-\u3004\u3008-\u3020\u3030-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
# Thai, Lao, Burmese and Khmer, whose vowels are characters of their own.
_ALPHABETS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_IDEOGRAPH, _LETTER = re.compile(f"[{_IDEOGRAPHS}]"), re.compile(f"[{_ALPHABETS}]")
_UNSPACED = re.compile(f"[{_IDEOGRAPHS}{_SIGNS}{_ALPHABETS}]+")
_IDEOGRAPHS_OF_A_WORD, _LETTERS_OF_A_WORD = 2, 4


def count_words(text: str) -> int:
    r"""Count the words of a text.

    In scripts without spaces between words, two ideographs or kana, and four letters of Thai, Lao, Burmese and Khmer,
    count as a word.

    Examples
    --------
    >>> count_words("Seen by Dr. Alder"), count_words("\u738b\u5c0f\u660e\u3001\u65e0\u53d1\u70ed\u3002")
    (4, 3)
    """
    if text.isascii() or _UNSPACED.search(text) is None:
        return len(text.split())
    n_ideographs, n_letters = len(_IDEOGRAPH.findall(text)), len(_LETTER.findall(text))
    n_spaced = len(_UNSPACED.sub(" ", text).split())
    return n_spaced - (-n_ideographs // _IDEOGRAPHS_OF_A_WORD) - (-n_letters // _LETTERS_OF_A_WORD)
