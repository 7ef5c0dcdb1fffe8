"""Names and texts beside codes and references: which are marked, and with which label."""

import pytest

from sklearn_deid.io.tables.fhir_free_texts import TEXT, free_texts

LOINC = {"system": "http://loinc.org", "code": "1", "display": "Heart rate"}


@pytest.mark.parametrize(
    ("resource", "marks"),
    [
        ({"code": {"coding": [LOINC], "text": "HEART RATE"}}, {}),
        ({"code": {"coding": [LOINC], "text": "heart rate of Roe"}}, {"code": {"text": TEXT}}),
        ({"code": {"coding": [{"display": "Roe"}]}}, {"code": {"coding": {0: {"display": TEXT}}}}),
        ({"code": {"coding": [{"code": "x", "display": "Roe"}]}}, {"code": {"coding": {0: {"display": TEXT}}}}),
        ({"performer": [{}, {"display": "Roe"}]}, {"performer": {1: {"display": "DOCTOR"}}}),
        ({"performer": {"reference": "Organization/1", "display": "X"}}, {"performer": {"display": "HOSPITAL"}}),
        ({"device": {"reference": "Device/1", "display": "X"}}, {"device": {"display": TEXT}}),
        ({"note": [{"authorString": "Roe", "text": ""}]}, {"note": {0: {"authorString": "DOCTOR"}}}),
        ({"valueString": "Roe", "extension": [{"valueString": "Roe"}]}, {"extension": {0: {"valueString": TEXT}}}),
        ({"contained": [{"code": {"text": "Roe"}}], "text": {"div": "<div>Roe</div>"}}, {}),
    ],
)
def test_marks(resource, marks):
    assert free_texts(resource) == marks
