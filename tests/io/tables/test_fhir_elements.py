"""Elements of FHIR are known where texts are read, and no other spelling of them is."""

import pytest

from sklearn_deid.io.tables import FHIR_FIELDS
from sklearn_deid.io.tables.fhir_elements import ELEMENTS, has_misplaced_text, has_other_spelling, has_unknown_element


def nested(place, content):
    """The object of a place in its resource."""
    kind, *names = place.split(".")
    for name in reversed(names):
        content = {name: [content]}
    return {"resourceType": kind, **content}


@pytest.mark.parametrize("place", ELEMENTS)
def test_each_element_is_known_in_its_own_spelling_alone(place):
    for name in ELEMENTS[place]:
        kind = place.partition(".")[0]
        assert not has_unknown_element(nested(place, {name: None, f"_{name}": {"id": "b"}}), kind)
        for other in (name.upper(), f" {name}", f"{name}s", f"__{name}", name[1:] + name[0]):
            if other.removeprefix("_") not in ELEMENTS[place]:
                assert has_unknown_element(nested(place, {other: "a"}), kind)


def test_all_paths_of_the_profile_lead_through_known_elements():
    for kind, paths in FHIR_FIELDS.items():
        for path in paths:
            parts = [part.removesuffix("*") for part in path.split(".") if part]
            for n, part in enumerate(parts):
                place = ".".join([kind, *parts[:n]])
                assert part in ELEMENTS.get(place, {part})
                assert n == len(parts) - 1 or f"{place}.{part}" in ELEMENTS


def test_sections_are_known_at_any_depth():
    section = {"title": "a"}
    for _ in range(5):
        section = {"section": [section]}
    assert not has_unknown_element(section, "Composition")
    inner = section
    while "section" in inner:
        inner = inner["section"][0]
    inner["heading"] = "b"
    assert has_unknown_element(section, "Composition")


@pytest.mark.parametrize("text", ["seen by Roe", "\u738b\u5c0f\u660e\u4eca\u65e5"])
def test_texts_in_elements_of_codes_are_seen_also_without_blanks(text):
    assert has_misplaced_text({"status": text}, "Observation")
    assert has_misplaced_text({"note": [{text: "a"}]}, "Observation")
    assert has_misplaced_text({"_status": {"id": text}}, "Observation")
    assert not has_misplaced_text({"status": "final", "note": [{"text": text}]}, "Observation")


@pytest.mark.parametrize("written", ["{}", ["{}"], [[None, "{}"]]])
def test_an_attachment_is_no_string(written):
    """Its base64 was taken for the text, so that nobody decoded it."""
    assert has_unknown_element({"resourceType": "DiagnosticReport", "presentedForm": written}, "DiagnosticReport")
    assert has_unknown_element({"content": [{"attachment": written}]}, "DocumentReference")
    assert not has_unknown_element({"content": [{"attachment": {"data": "YQ=="}}]}, "DocumentReference")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"note": [{"text": "a"}]}, False),
        ({"note": [{"text": "a", "_text": {}}], "_note": [{}], "notes": 1, "annotation": 2}, False),
        ({"NOTE": [{"text": "a"}]}, True),
        ({"note": [{"text": "a"}, {"te_xt": "b"}]}, True),
        ({"note": {"note": {"TEXT": "a"}}}, False),
    ],
)
def test_other_spellings_of_a_path(content, expected):
    assert has_other_spelling(content, ["note", "text"]) == expected
