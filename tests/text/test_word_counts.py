"""Words are counted by blanks, and by letters in scripts without spaces."""

import pytest

from sklearn_deid.text.word_counts import count_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" \n", 0),
        ("Seen\tby  Dr. Roe\r\n", 4),
        ("Caf\u00e9 \u041f\u0435\u0442\u0440\u043e\u0432\u0430 \u05e9\u05dc\u05d5\u05dd", 3),
        ("\uae40\ubbfc\uc218 \ud658\uc790", 2),
        ("\u738b", 1),
        ("\u738b\u5c0f\u660e", 2),
        ("\u738b\u3002\u3002", 1),
        ("\u738b \u5c0f\n\u660e \u738b", 2),
        ("\u30ab\u30eb\u30c6\uff1a\uff71\uff72", 3),
        ("\U00020000\U00020001\U00020002", 2),
        ("\u0e19\u0e32\u0e22\u0e2a\u0e21\u0e0a\u0e32\u0e22", 2),
        ("MRI\u691c\u67fb 12 mg", 4),
    ],
)
def test_words_are_counted(text, expected):
    assert count_words(text) == expected
