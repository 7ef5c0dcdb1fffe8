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
        ({"subject": {"contained": [{"text": "Roe"}]}}, {"subject": {"contained": {0: {"text": TEXT}}}}),
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
        # Without blanks between the words; the unit is the one of a blood pressure.
        (
            {"code": {"coding": [{**LOINC, "remark": "\u738b\u5c0f\u660e"}]}},
            {"code": {"coding": {0: {"remark": TEXT}}}},
        ),
        ({"valueQuantity": {"value": 1, "unit": "\u6beb\u7c73\u6c5e\u67f1"}}, {}),
        ({"subject": {"div": "seen by Roe"}}, {"subject": {"div": TEXT}}),
        ({"code": {"text": {"div": "seen by Roe"}}}, {"code": {"text": {"div": TEXT}}}),
        ({"subject": {"attachment": {"note": "by Roe"}}}, {"subject": {"attachment": {"note": TEXT}}}),
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


@pytest.mark.parametrize(
    ("system", "is_read"),
    [
        ("http://snomed.info/sct", False),
        ("http://snomed.info/sct/900000000000207008", False),
        ("http://loinc.org", False),
        ("http://hl7.org/fhir/sid/icd-10-cm", False),
        ("http://terminology.hl7.org/CodeSystem/v3-ActCode", False),
        ("http://hl7.org/fhir/ValueSet/observation-codes|4.0.1", False),
        ("http://unitsofmeasure.org", False),
        ("http://www.nlm.nih.gov/research/umls/rxnorm", False),
        ("http://www.ama-assn.org/go/cpt", False),
        ("urn:oid:2.16.840.1.113883.6.96", False),
        ("urn:iso:std:iso:3166", False),
        ("http://hospital.example.org/codes", True),
        ("http://loinc.org.example.org", True),
        ("http://loinc.org@example.org", True),
        ("http://example.org/http://loinc.org", True),
        ("urn:oid:2.16.840.1.113883.3.1234", True),
        ("http://loinc.org said Roe", True),
        ("local", True),
        ("", True),
        (None, True),
        (["http://loinc.org"], True),
    ],
)
def test_displays_of_codes_are_copied_for_standard_terminologies_only(system, is_read):
    """The display of any coding with a code and a system was copied."""
    coding = {"system": system, "code": "1", "display": "clinic of Roe"}
    read = {"coding": {0: {"display": TEXT}}, "text": TEXT} if is_read else {}
    assert free_texts({"code": {"coding": [coding], "text": "Clinic of Roe"}}).get("code", {}) == read
    named = {"subject": {"reference": "Patient/1", **coding}}
    assert free_texts(named)["subject"]["display"] == "PATIENT", "a reference is no coding"


@pytest.mark.parametrize(
    ("url", "is_read"), [("http://hl7.org/fhir/StructureDefinition/x", False), ("http://x.org", True), (None, True)]
)
def test_codes_of_extensions_are_copied_for_standards_only(url, is_read):
    """A name of one word as a code was copied."""
    marks = {"extension": {0: {"valueCode": TEXT}}} if is_read else {}
    assert free_texts({"extension": [{"url": url, "valueCode": "Roe"}]}) == marks
    assert free_texts({"valueCode": "Roe"}) == {}
