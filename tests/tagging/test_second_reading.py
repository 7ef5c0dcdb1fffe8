"""Values are read again behind their labels, and only tags are added."""

import pytest

from sklearn_deid import HybridTagger, NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.note_sentences import cut_notes
from sklearn_deid.tagging.second_reading import with_labelled_values

CUT = cut_notes(["Patient\nAnn\nRoe\n\nWell.", "Nurse\nElm"])


def read_with(tags, found, sure=None, new_sure=None):
    rows = []

    def read(X):
        rows.extend(" ".join(row) for row in X)
        assert X.documents.tolist() == [*range(len(X))]
        return tags[: len(X.data)], new_sure

    return with_labelled_values(read, CUT, (found, sure)), rows


def test_values_without_tags_are_read_behind_their_labels():
    tags = ["O", "O", "B-A", *"OO", "B-A", "I-A", *"OO", "B-B"]
    (found, sure), rows = read_with(tags, ["O"] * 7, [0.5] * 7, [i / 10 for i in range(10)])
    assert rows == ["Patient : Ann", "Patient : Ann Roe", "Nurse : Elm"]
    # A tag does not go on in the next line, and the first reading of a value counts.
    assert found == ["O", "B-A", "B-A", "O", "O", "O", "B-B"]
    assert sure == [0.5, 0.2, 0.6, 0.5, 0.5, 0.5, 0.9]


def test_tags_of_the_first_reading_stay_and_found_values_are_not_read_again():
    first = ["B-C", "B-A", "O", "O", "O", "O", "B-D"]
    (found, sure), rows = read_with(["O", "O", "B-B", "I-B"], first)
    assert rows == ["Patient : Ann Roe"]
    assert (found, sure) == (["B-C", "B-A", "B-B", "O", "O", "O", "B-D"], None)
    assert first == ["B-C", "B-A", "O", "O", "O", "O", "B-D"]


def test_parts_of_one_name_become_one_span():
    cut = cut_notes(["Nurse | Ann Roe Elm"])
    found = with_labelled_values(
        lambda X: (["O", "O", "B-A", "I-A", "I-A"], None), cut, (["O", "O", "O", "B-A", "O"], None)
    )
    assert found == (["O", "O", "B-A", "I-A", "I-A"], None)


def test_labels_themselves_get_no_tags():
    (found, _), _ = read_with(["B-A", "I-A", "I-A", "O", "O", "O", "O", "B-B", "I-B", "O"], ["O"] * 7)
    assert found == ["O", "B-A", "O", "O", "O", "O", "O"]


@pytest.mark.parametrize("note", [
    "Patient\nMRN\nAge\nRoe\n4471234\n94",
    "Patient\tMRN\tAge\nRoe\t4471234\t94",
    "MRN | 4471234\nAge | 94",
    "MRN ....... 4471234\nAge ....... 94",
])  # fmt: skip
def test_rules_find_numbers_and_ages(note):
    for tagger in (RuleTagger(), HybridTagger(tagger=RuleTagger(recognizers=["email"]))):
        model = NoteDeidentifier(tagger.fit([["a"]], [["O"]]))
        (text,) = model.redact([note])
        assert "4471234" not in text
        assert "94" not in text
