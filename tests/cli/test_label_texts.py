"""Labels that hold text of a note: they would leave with redacted notes and models."""

from contextlib import nullcontext

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.cli.label_texts import check_labels
from sklearn_deid.exceptions import DeidError

NOTE = "Seen by Dr. Ann Zyxw-Quill 4711 at Roe Clinic, not in another clinic: see Hospital 7."
SPANS = ("Dr. Ann Zyxw-Quill 4711", "Roe Clinic", "Hospital 7")


@pytest.mark.parametrize(
    ("label", "is_refused"),
    [
        ("Zyxw", True),
        ("zyxw", True),
        ("ZYXW", True),
        ("DOCTOR_Zyxw", True),
        ("doctorZyxw", True),
        ("AnnZyxw", True),
        ("annzyxwquill", True),
        ("Zyxw.Quill", True),
        ("MRN:4711", True),
        ("Hospital", False),
        ("HOSPITAL_7", False),
        ("CLINIC", False),
        ("ClinicName", False),
        ("CLINICIAN", False),
        ("DR", False),
        ("Zy", False),
    ],
)
def test_a_label_with_a_part_of_a_span_is_refused(label, is_refused):
    """Only whole spans were compared: the name of a doctor with a title could be a label."""
    starts = [(NOTE.index(text), NOTE.index(text) + len(text)) for text in SPANS]
    notes = [Document("n1", NOTE, tuple(Span(*place, label) for place in starts)), Document("n2", "Fine.")]
    refused = pytest.raises(DeidError, match="holds text of a span.*document n1")
    with refused if is_refused else nullcontext():
        check_labels(iter(notes))
