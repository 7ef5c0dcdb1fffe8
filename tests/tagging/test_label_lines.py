"""Labels on the line before a value."""

import pytest

from sklearn_deid import RuleTagger
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.tagging.label_lines import below_label, labels_before


def test_a_label_belongs_to_its_own_note():
    rows = TokenSequences.from_rows([["Age", ":"], ["94"]])
    tagger = RuleTagger(language="en").fit([])
    assert tagger.predict(rows.with_documents([0, 0]))[1] == ["B-AGE"]
    assert tagger.predict(rows.with_documents([0, 1]))[1] == ["O"]
    assert tagger.predict(rows)[1] == ["O"]


@pytest.mark.parametrize("rows", [
    [["Age"], ["not", "known", ",", "94"]],
    [["-", ":"], ["94"]],
    [["BP", "120"], ["94"]],
    [["He", "came", "to", "us", "at", "the", "age", "of", "Ann"], ["94"]],
])  # fmt: skip
def test_what_is_no_label(rows):
    sentences = TokenSequences.from_rows(rows).with_documents([0, 0])
    assert list(labels_before(sentences)) == [[], []]


def test_the_label_belongs_to_the_start_of_a_sentence():
    text = below_label(["MRN"], ["1234567"] * 30)
    assert text.text == "MRN\n" + " ".join(["1234567"] * 24)
    assert len(text.starts) == len(text.ends) == 30
