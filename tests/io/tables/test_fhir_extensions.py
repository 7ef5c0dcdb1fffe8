"""Texts in extensions: wherever one stands beside the field, it is seen, and nowhere else."""

from __future__ import annotations

import pytest

from sklearn_deid.io.tables.fhir_extensions import text_in_extensions, unread_in_extensions


@pytest.mark.parametrize(
    "extension",
    [
        {"url": "u", "valueString": "Birch"},
        {"url": "u", "valueMarkdown": "Birch"},
        {"url": "u", "extension": [{"url": "v", "valueString": "Birch"}]},
        {"url": "u", "valueAnnotation": {"text": "Birch"}},
        {"url": "u", "valueAnnotation": "Birch"},
        {"url": "u", "valueCode": ["Birch"]},
        {"url": "u", "valueStrin": "Birch"},
        {"url": "u", "_valueCode": "Birch"},
        {"url": {"text": "Birch"}},
        {"url": "u", "valueHumanName": {"family": "Birch"}},
        {"url": "u", "valueCodeableConcept": {"coding": [{"display": "Birch"}]}},
    ],
)
def test_texts_are_seen(extension):
    resource = {"section": [{"title": "Findings", "_title": {"extension": [extension]}}]}
    assert text_in_extensions(resource, ["section", "title"])
    assert not text_in_extensions(resource, ["section", "code"])


@pytest.mark.parametrize(
    "extension",
    [
        {"url": "u", "valueCode": "unknown"},
        {"url": "u", "valueBoolean": True},
        {"url": "u", "valueString": ""},
        {"url": "u", "valueCoding": {"system": "s", "code": "c"}},
    ],
)
def test_codes_are_no_texts(extension):
    assert not text_in_extensions({"_title": {"extension": [extension]}, "title": "Findings"}, ["title"])


@pytest.mark.parametrize("text", ["seen by Roe", "\u738b\u5c0f\u660e\u4eca\u65e5"])
def test_a_text_in_place_of_a_code_is_seen_also_without_blanks(text):
    for key in ("url", "id", "valueCode"):
        extension = {"url": "u", "id": "a", "valueCode": "b"}
        assert not unread_in_extensions({"extension": [extension]})
        assert unread_in_extensions({"extension": [{**extension, key: text}]})


def test_a_path_with_a_star_is_followed_to_any_depth():
    beside = {"title": "b", "_title": {"extension": [{"url": "u", "valueString": "Birch"}]}}
    nested = {"section": [{"title": "a", "section": [beside]}]}
    assert text_in_extensions(nested, ["section*", "title"])
    assert not text_in_extensions(nested, ["section", "title"])


@pytest.mark.parametrize(
    "beside", ["Birch", ["Birch"], {"value": "Birch"}, {"extension": "Birch"}, {"extension": ["Birch"]}]
)
def test_a_name_with_an_underscore_holds_extensions_alone(beside):
    """`"_data": "..."` beside a Binary, and `"_div": "..."` in a narrative, were copied."""
    assert text_in_extensions({"title": "Findings", "_title": beside}, ["title"])
    assert text_in_extensions({"title": "Findings", "_title": [None, beside]}, ["title"])
    assert text_in_extensions({"text": {"_div": beside}}, ["text"]) and text_in_extensions({"_data": beside}, [])
    assert not text_in_extensions({"title": "Findings", "_title": [None, {"id": "a", "extension": []}]}, ["title"])


@pytest.mark.parametrize("value", [None, 3, "text", [], {}])
def test_other_json_holds_no_extension(value):
    assert not text_in_extensions(value, ["title"])
