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


@pytest.mark.parametrize(
    ("resource", "marks"),
    [
        ({"identifier": [{"value": "A 17 20", "note": "seen by Roe"}]}, {"identifier": {0: {"note": TEXT}}}),
        ({"code": {"coding": [{**LOINC, "remark": "seen by Roe"}]}}, {"code": {"coding": {0: {"remark": TEXT}}}}),
        ({"subject": {"reference": "Patient/1", "name": "Ann Roe"}}, {"subject": {"name": TEXT}}),
        ({"effectiveTiming": {"event": ["2020", "seen by Roe"]}}, {"effectiveTiming": {"event": {1: TEXT}}}),
        ({"extension": [{"url": "u", "valueExpression": {"description": "by Roe"}}]}, "description"),
        ({"valueQuantity": {"value": 1, "unit": "as Roe said"}}, {"valueQuantity": {"unit": TEXT}}),
        ({"valueQuantity": {"value": 1, "unit": "mm Hg"}}, {}),
        ({"valueQuantity": {"value": 1, "unit": "milliliter per minute per 1.73 m2"}}, {}),
        ({"valueSampledData": {"origin": {"value": 0}, "data": "1 2 E L 3"}}, {}),
        # Where FHIR's elements are known, texts are read by their paths, or the line is left out.
        ({"valueString": "seen by Roe", "text": {"status": "generated", "div": "<div>seen by Roe</div>"}}, {}),
        ({"valueAttachment": {"title": "seen by Roe", "contentType": "text/plain; charset=utf-8"}}, {}),
    ],
)
def test_texts_in_data_types_are_marked_in_known_resources(resource, marks):
    """They were copied: only elements of the resource itself were compared with those of FHIR."""
    found = free_texts(resource, place="Observation")
    assert repr(marks) in repr(found) if isinstance(marks, str) else found == marks
    assert free_texts(resource) == {}, "the elements of other resources are not known"
