"""Word lists as people edit them, and those of the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.surrogates import word_list
from sklearn_deid.surrogates.word_list import read_word_lists

FOLDER = Path(sklearn_deid.__file__).parent / "surrogates" / "words"
LISTS = {
    (path.stem, block): words for path in sorted(FOLDER.glob("*.txt")) for block, words in read_word_lists(path).items()
}


def read(tmp_path, text):
    path = tmp_path / "words.txt"
    path.write_text(text, encoding="utf-8")
    return read_word_lists(path)


def test_words_may_hold_blanks_and_stand_in_several_lines(tmp_path):
    assert read(tmp_path, "# x\n\n[a]\n- Van Horn, O'Brien,\n  St.\n[b c]\n- d\n") == {
        "a": ("Van Horn", "O'Brien", "St."),
        "b c": ("d",),
    }


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[a]\n- b,\n  c\n  d\n", 3, "A comma is missing at the end of the line"),
        ("[a]\n- b,, c\n", 2, "A word is missing before or after a comma"),
        ("[a]\n- b,\n", 2, "A word is missing before or after a comma"),
        ("[a]\n-\n", 2, "A word is missing before or after a comma"),
        ("[a]\n[b]\n- c\n", 1, r"\[a\] must appear once and hold one entry"),
        ("[a]\n- b\n- c\n", 1, r"\[a\] must appear once and hold one entry"),
        ("[a]\n- b\n[a]\n- c\n", 3, r"\[a\] must appear once"),
        ("[a]\nx: y\n- b\n", 2, "There is no setting 'x'. None is allowed here"),
        ("x: y\n[a]\n- b\n", 1, "There is no setting 'x'"),
        ("a, b\n", 1, "The line is no comment"),
    ],
)
def test_a_mistake_is_refused_with_file_and_line(tmp_path, text, line, message):
    with pytest.raises(CorpusFormatError, match=f"^Line {line}: {message}") as caught:
        read(tmp_path, text)
    assert caught.value.path == str(tmp_path / "words.txt")


@pytest.mark.parametrize("name", LISTS, ids=" ".join)
def test_lists_of_the_package_are_clean(name):
    words = LISTS[name]

    assert words == word_list(*name)
    assert len(words) == len(set(words))
    # A list of letters is short by nature; another one with so few words has lost some.
    assert len(words) >= 4 or all(len(word) == 1 for word in words)
    assert not [word for word in words if re.search(r"[<>|_]|\s\s", word)]


def test_states_have_an_abbreviation_and_employers_a_place_for_the_name():
    assert len(LISTS["places", "states"]) == 50
    assert all(re.fullmatch(r"[A-Z][A-Za-z ]+=[A-Z]{2}", state) for state in LISTS["places", "states"])
    assert all(form.count("{}") == 1 for form in LISTS["places", "employers"])
