"""Labels and the values that belong to them, in the layouts of exports and of texts of pages."""

import sys

import pytest

from sklearn_deid.tagging.forms import labelled_values
from sklearn_deid.tagging.note_sentences import cut_notes
from sklearn_deid.text import tokenize


def pairs(text):
    tokens = tokenize(text)
    words = tokens.texts
    return [
        f"{' '.join(words[label.start : label.stop])}: {' '.join(words[value.start : value.stop])}"
        for label, value in labelled_values(text, tokens)
    ]


@pytest.mark.parametrize(("text", "expected"), [
    ("Attending\nRoe\nLocation\nER", ["Attending: Roe"]),
    ("Nurse:\n\nRoe", ["Nurse: Roe"]),
    ("Patient Name (Last, First)\nRoe, Ann\nAge\n94", ["Patient Name ( Last , First ): Roe , Ann", "Age: 94"]),
    ("Collected By\nRoe\nSpecimen\nUrine", ["Collected By: Roe"]),
    ("Patient\nRoe\nAnn\nSex\nF", ["Patient: Roe", "Patient: Roe Ann"]),
    ("Care team\nRoe\nBirch\nElm\nProblems\nGout", ["Care team: Roe", "Care team: Birch", "Care team: Elm"]),
    ("Médico\nRoe\nEdad\n94", ["Médico: Roe", "Edad: 94"]),
    ("ÄRZTIN\nROE", ["ÄRZTIN: ROE"]),
    ("age:\n94\nage\n95", ["age: 94"]),
    ("NOK\nRoe\nCase mgr\nElm\n\nCounty\nBirch", ["NOK: Roe", "Case mgr: Elm", "County: Birch"]),
], ids=["line", "blank", "brackets", "by", "two lines", "list", "Spanish", "capitals", "small", "short"])  # fmt: skip
def test_values_below_their_labels(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("Name\nMRN\nNurse\nAnn Roe\n123\nBirch", ["Name: Ann Roe", "MRN: 123", "Nurse: Birch"]),
    ("Name\n\nMRN\n\nRoe\n\n123", ["Name: Roe", "MRN: 123"]),
    ("Patient\nDiet\nNurse\nRoe\nCardiac\nBirch", ["Patient: Roe", "Nurse: Birch"]),
    ("Patient\nMRN\nHair\nRoe\n123\nRed", ["Patient: Roe", "MRN: 123"]),
    ("Patient:\nSuite:\nRoe\n12", ["Patient: Roe", "Suite: 12"]),
    ("Contact\nName\nRoe\nRelationship\nSon", ["Name: Roe"]),
    ("Age\n" + "Bed\n" * 20 + "Nurse\n94" + "\n12" * 20 + "\nRoe", ["Age: 94", "Nurse: Roe"]),
    ("Nurse\nPatient\n" + "Age\n" * 12 + "94\n" * 12, ["Age: 94"] * 12),
], ids=["three", "blank", "other label", "unknown label", "colons", "heading", "many", "two headings"])  # fmt: skip
def test_as_many_values_below_several_labels(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("Name\tMRN\tNurse\nRoe\t12\tBirch\nElm\t13\tAsh", "Name: Roe|MRN: 12|Nurse: Birch|Name: Elm|MRN: 13|Nurse: Ash"),
    ("| Patient | Room | Surgeon |\n|---|---|---|\n| Roe | 12 | Birch |", "Patient: Roe|Surgeon: Birch"),
    ("Patient\tAge\tNurse\nRoe\t\tBirch", "Patient: Roe|Nurse: Birch"),
    ("Surname      Given name    Bed\nRoe          Ann           4", "Surname: Roe|Given name: Ann"),
    ("Seen by | On | Plan\nRoe | 3/4 | Rest", "Seen by: Roe"),
    ("Bed | Age (years) | Sex/Age | Age at visit\n7 | 94 | F/95 | ~96",
     "Age ( years ): 94|Sex / Age: F / 95|Age at visit: ~ 96"),
    ("Surname | Nurse\nWard | Roe", "Surname: Ward|Nurse: Roe"),
    ("Bed   Surgeon       Patient\n      Roe           Birch", "Surgeon: Roe|Patient: Birch"),
    ("Nurse    Patient\nAnn      Tom\nRoe      Birch", "Nurse: Ann|Patient: Tom|Nurse: Roe|Patient: Birch"),
    ("Roe           Birch\n-----         -----\nSurgeon       Assistant", "Surgeon: Roe|Assistant: Birch"),
], ids=[
    "tabs", "bars", "empty cell", "spaces", "unknown", "ages", "label word", "place", "name goes on", "below"
])  # fmt: skip
def test_values_in_the_column_of_their_label(text, expected):
    assert pairs(text) == expected.split("|")


@pytest.mark.parametrize(("text", "expected"), [
    ("Attending | Roe\nService | Medicine", ["Attending: Roe"]),
    ("Name    ROE ANN    Sex M", ["Name: ROE ANN"]),
    ("Name ........ Roe\nNurse . . . . . Birch\nSurgeon____Elm", ["Name: Roe", "Nurse: Birch", "Surgeon: Elm"]),
    ("Surgeon - Roe\nNurse => Birch\npatient=Elm", ["Surgeon: Roe", "Nurse: Birch", "patient: Elm"]),
    ("Stable.\n\nAnn Roe\nAttending Physician", ["Attending Physician: Ann Roe"]),
    ("Seen today.\nRoe\n______\nPhysician Signature", ["Physician Signature: Roe"]),
], ids=["bar", "spaces", "leaders", "signs", "above", "rule"])  # fmt: skip
def test_values_in_the_next_cell_behind_a_sign_and_above(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize("text", [
    "Attending: Roe\nNurse:    Birch",
    "The patient\nRoe",
    "Patient in bed\nRoe",
    "Patient\nresting in bed",
    "Patient\nStable overnight.",
    "Patient\nWalks With Cane",
    "Nurse-led clinic\nSurgeon\nNone",
    "Assessment\nStable\nPlan\nHome",
    "Age\nElderly\nMRN\nUnknown",
    "Name\tDose\tRoute\nWarfarin\t5 mg\tPO",
    "Test\nName\nRange\nSodium\nPotassium\n3",
    "Sodium    140    Potassium    4.1",
    "Diet\nRegular\nSex\nMale",
    "Mother - healthy\nFather - 62",
    "",
    "---",
])  # fmt: skip
def test_ordinary_text_tables_of_drugs_and_other_labels_have_no_pairs(text):
    assert pairs(text) == []


@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028", "<br>", " [CRLF] "])
def test_line_ends_of_all_kinds_and_bars_of_a_box(end):
    note = end.join(["Attending", "Roe", "Location", "ER", ""])
    cut = cut_notes([note, "│ Attending │\n│ Roe       │\n│ Diet      │\n│ Regular   │"])
    for segmented, values in zip(cut.segmented, cut.values, strict=True):
        assert [[segmented.tokens.texts[i] for i in part] for pair in values for part in pair][1::2] == [["Roe"]]


@pytest.mark.parametrize("part", [
    "Name\n", "Name\t", "Name\tAge\n", "Name\nRoe\n", "Roe\n", "----\nNurse\n", "Nurse\n----\n", "Name\tAge\n----\n",
    "Name   Age   Sex\nRoe  9\n", "Nurses\nRoe\nElm\nAsh\n", "Bed:\n", "Nurse, nurse, ",
])  # fmt: skip
def test_the_number_of_steps_grows_with_the_length_of_the_note(part):
    def n_steps(n_parts):
        tokens = tokenize(text := part * n_parts)
        calls = 0

        def count(*_):
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            labelled_values(text, tokens)
        finally:
            sys.setprofile(None)
        return calls

    assert n_steps(80) < 4.5 * n_steps(20)
