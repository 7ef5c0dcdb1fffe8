"""Numbers with check digits, and numbers that a tagger splits, computed by hand."""

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.rules import find_phi


@pytest.mark.parametrize(("language", "text", "redacted"), [
    ("en", "SSN 123 45 6789 and", "SSN [SSN] and"),
    ("en", "SSN 123\u00a045\u00a06789 and", "SSN [SSN] and"),
    ("en", "SSN: xxx-xx-6789", "SSN: xxx-xx-[SSN]"),
    ("en", "DL# A1234567, MA", "DL# [LICENSE], MA"),
    ("en", "DL: A123-4567-8901", "DL: [LICENSE]"),
    ("en", "scan of 2019-03 and 2019/03", "scan of [DATE] and [DATE]"),
    ("pt", "doente 529.982.247-25", "doente [IDNUM]"),
    ("pt", "doente 52998224725", "doente [IDNUM]"),
])  # fmt: skip
def test_tokens_of_numbers(language, text, redacted):
    assert NoteDeidentifier(RuleTagger(language=language).fit([]), segmenter="rules").redact([text]) == [redacted]


def test_check_digits_of_a_cpf():
    """5*10 + 2*9 + 9*8 + 9*7 + 8*6 + 2*5 + 2*4 + 4*3 + 7*2 = 295, 2950 mod 11 = 2; the second sum is 347: 5."""
    assert len(find_phi("52998224725", language="pt")) == 1
    assert find_phi("52998224726 52998224735", language="pt") == []
    # With its signs, the number needs no check digits.
    assert len(find_phi("529.982.247-26", language="pt")) == 1


def test_check_digit_of_a_card():
    assert [span.label for span in find_phi("4111 1111 1111 1111", language="de")] == ["ACCOUNT"]
    assert len(find_phi("4111\u00a01111\u00a01111\u00a01111, SSN 123\u202f45\u202f6789", language="en")) == 2
    assert find_phi("4111 1111 1111 1112", language="de") == []
    # Cards of 15 digits: the check digit of 37828224631000 is 5.
    assert len(find_phi("378282246310005, 3782-822463-10005", language="de")) == 2
    assert find_phi("378282246310006, 3782 822463 10004", language="de") == []
