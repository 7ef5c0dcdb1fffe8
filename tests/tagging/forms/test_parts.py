"""Cells, labels and values, each by itself."""

import pytest

from sklearn_deid.tagging.forms.cell_labels import cell_label, unknown_label
from sklearn_deid.tagging.forms.head_columns import HeadColumns
from sklearn_deid.tagging.forms.label_words import label_kind
from sklearn_deid.tagging.forms.line_pairs import pairs_of_lines
from sklearn_deid.tagging.forms.note_cells import note_lines, passages
from sklearn_deid.tagging.forms.note_form import NoteForm
from sklearn_deid.tagging.forms.table_pairs import pairs_of_row
from sklearn_deid.tagging.forms.value_forms import fitting
from sklearn_deid.text import tokenize


def form_of(text):
    tokens = tokenize(text)
    parts = passages(text, tokens)
    labels = [cell_label(tokens, first, stop) for first, stop, _, _ in parts if stop > first]
    return NoteForm(tokens, note_lines(text, tokens, parts), [label for label in labels if label is not None])


@pytest.mark.parametrize(("label", "kind"), [
    ("Attending Physician", "person"),
    ("Consultant Rheumatologist", "person"),
    ("Patient's Name", "person"),
    ("Reviewed by", "person"),
    ("Patient ID", "number"),
    ("Case No", "number"),
    ("Date of birth of the patient", "date"),
    ("Mother's Age", "age"),
    ("Current age in years", "age"),
    ("Patient in bed", None),
    ("Home Phone", "phone"),
    ("Hospital Address", "place"),
    ("Room", "other"),
    ("Drug Name", "thing"),
    ("Nearby", None),
    ("First aid", None),
    ("Checklist", None),
    ("Lindqvist", None),
    ("-", None),
])  # fmt: skip
def test_kinds_of_labels(label, kind):
    assert label_kind(tokenize(label).texts) == kind


@pytest.mark.parametrize(("kind", "value", "found"), [
    ("person", "Dr. Ann Roe, MD", "Dr . Ann Roe , MD"),
    ("person", "O'Neil-Roe, A. 45 M", "O ' Neil - Roe , A ."),
    ("person", "Roe (daughter)", "Roe"),
    ("person", "van der Berg", None),
    ("person", "陈 伟", "陈 伟"),
    ("person", "Stable.", None),
    ("person", "Roe: well", None),
    ("person", "Well healed wound", None),
    ("person", "Not assigned", None),
    ("person", "Walks With Cane", None),
    ("number", "AB 123", "AB 123"),
    ("number", "pending", None),
    ("age", "94 y", "94 y"),
    ("age", "over 9", None),
    ("age", "Female, about 94", "Female , about 94"),
    ("age", "Ninety-four", "Ninety - four"),
    ("age", "F / unknown", None),
    ("phone", "555-0123", "555 - 0123"),
    ("phone", "12345", None),
    ("place", "9 Elm Road", "9 Elm Road"),
    ("place", "Seen there.", None),
    ("date", "May 3", "May 3"),
    ("date", "unknown", None),
    ("any", "12", "12"),
    ("any", "Roe", "Roe"),
    ("other", "Roe", None),
    ("person", "", None),
    ("number", "1 " * 25, None),
])  # fmt: skip
def test_values_that_fit(kind, value, found):
    words = tokenize(value).texts
    fits = fitting(kind, words, 0, len(words))
    assert (fits and " ".join(words[i] for i in fits)) == found


def test_a_hyphen_divides_a_label_from_its_value_only_between_spaces():
    tokens = tokenize("Surgeon - Roe")
    assert cell_label(tokens, 0, 3).rest == 2
    assert cell_label(tokenize("Surgeon-Roe"), 0, 3) is cell_label(tokenize("Surgeon- Roe"), 0, 3) is None


def test_unknown_labels_have_a_colon_and_a_capital():
    assert unknown_label(tokenize("Overseen in part:"), 0, 4).kind == "any"
    assert [unknown_label(tokenize(text), 0, 2) for text in ("overseen:", "Overseen", ": :")] == [None] * 3


def test_cells_of_lines():
    text = "a..b ... c | d\n\n  e   f__g\th"
    lines = note_lines(text, tokenize(text), passages(text, tokenize(text)))
    assert [[cell.first for cell in line.cells] for line in lines] == [[0, 7, 9], [10, 11, 14, 15]]
    assert [[cell.left for cell in line.cells] for line in lines] == [[0, 9, 13], [2, 6, 9, 11]]
    assert [(line.after_blank, line.is_divided) for line in lines] == [(False, True), (True, True)]


def test_columns_by_tabs_by_order_and_by_place():
    head, tabs, two, one = form_of("Name  Age\tSex\nRoe\t\tF\nRoe  9  F\n              F").lines
    assert HeadColumns(head).numbers(tabs) == [0, 2]
    assert HeadColumns(head).numbers(two) == [0, 1, 2]
    assert HeadColumns(head).numbers(one) == [None]


def test_pairs_of_lines_and_of_rows():
    form = form_of("Nurse\nRoe\nAge | 94 | Bed | 3")
    assert [(label.first, value) for label, value in pairs_of_lines(form, 0, 1)] == [(0, range(1, 2))]
    assert [(label.first, value) for label, value in pairs_of_row(form, 2)] == [(2, range(4, 5))]
