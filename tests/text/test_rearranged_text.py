"""Ranges of a rearranged text have their parts in the unchanged text."""

from sklearn_deid.text.rearranged_text import RearrangedText


def test_each_range_has_its_parts_in_the_unchanged_text():
    text = "abcdefghij"
    passages = [(6, 10), (2, 2), (0, 3)]
    read = RearrangedText(text, passages)
    assert read.text == "ghij\n\nabc"
    assert str(read) == "RearrangedText(9 characters)"
    for start in range(9):
        for end in range(start + 1, 10):
            parts = list(read.originals(start, end))
            assert "".join(text[a:b] for a, b in parts) == read.text[start:end].replace("\n", "")


def test_passages_side_by_side_are_one_part():
    assert list(RearrangedText("Ann Roe", [(0, 3), (3, 7)]).originals(0, 8)) == [(0, 3), (3, 7)]
    assert RearrangedText("Ann", []).text == ""
