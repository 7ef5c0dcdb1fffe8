"""Copies of a note belong to one patient."""

from sklearn_deid import Document
from sklearn_deid.text.note_copies import copies_together


def owners(*notes):
    return [note.patient_id for note in copies_together([Document(name, text, (), who) for name, text, who in notes])]


def test_copies_have_the_patient_that_one_of_them_names():
    assert owners(("a", "Seen.", None), ("b", "Seen.\r\n", "p1"), ("c", " Seen.", "NULL")) == ["p1", "p1", "p1"]


def test_given_patients_stay():
    assert owners(("a", "Seen.", "p1"), ("b", "Seen.", "p2"), ("c", "Seen.", None)) == ["p1", "p2", "p1"]


def test_a_copy_is_no_note_of_the_patient_whose_id_its_note_has():
    named = owners(("7", "Seen.", None), ("8", "Seen.", None), ("9", "Well.", "7"))
    assert named == ["7 (note)", "7 (note)", "7"]


def test_notes_without_a_word_are_no_copies():
    assert owners(("a", "", None), ("b", "\n", None), ("c", "Well.", None)) == [None, None, None]
