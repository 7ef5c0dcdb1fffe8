"""The operator inside of Presidio's own anonymizer."""

import re
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.exceptions import DeidError, MissingDependencyError
from sklearn_deid.integrations import surrogate_text
from sklearn_deid.surrogates import SurrogateEngine

TEXT = "Ann Roe, 95, of Utica 13501, seen 3/5/2011 and 13/5/2011. Ann Roe left."
ENTITIES = [("PERSON", "Ann Roe"), ("AGE", "95"), ("LOCATION", "Utica"), ("ZIP", "13501"), ("DATE_TIME", "3/5/2011")]
ENTITIES += [("DATE_TIME", "13/5/2011")]


@pytest.fixture(scope="module")
def presidio():
    return pytest.importorskip("presidio_anonymizer", reason="the extra 'presidio' is not installed")


@pytest.fixture(scope="module")
def operator(presidio):
    from sklearn_deid.integrations import presidio_operator

    return presidio_operator


@pytest.fixture(scope="module")
def anonymizer(presidio, operator):
    engine = presidio.AnonymizerEngine()
    engine.add_anonymizer(operator.SurrogateOperator)
    return engine


def engine():
    return SurrogateEngine(key=bytes(range(32)), locale="en")


def result(entity, start, end, score=1.0, label=None):
    metadata = None if label is None else {"label": label}
    return SimpleNamespace(entity_type=entity, start=start, end=end, score=score, recognition_metadata=metadata)


def results():
    return [result(e, found.start(), found.end()) for e, word in ENTITIES for found in re.finditer(rf"\b{word}", TEXT)]


def test_the_anonymizer_writes_the_surrogates_of_the_whole_note(anonymizer, operator):
    found, operators = operator.surrogate_operators(TEXT, results(), engine(), patient_id="p")
    made = anonymizer.anonymize(TEXT, found, operators)
    expected = surrogate_text(TEXT, results(), engine(), patient_id="p")
    assert made.text == expected.text != TEXT
    assert {item.operator for item in made.items} == {"surrogate"}
    assert sorted((i.start, i.end, i.entity_type) for i in made.items) == [
        (span.start, span.end, span.label) for span in expected.spans
    ]
    # the same operators write the same text once more
    assert anonymizer.anonymize(TEXT, found, operators).text == expected.text


def test_the_anonymizer_writes_no_zone_of_the_summer(anonymizer, operator):
    text = "Seen 3/5/2011 14:30 EDT, 15:00 EDT"
    for end in (13, 19):
        found = [result("DATE_TIME", 5, end)]
        made = anonymizer.anonymize(text, *operator.surrogate_operators(text, found, engine(), patient_id="p"))
        assert made.text == surrogate_text(text, found, engine(), patient_id="p").text
        assert made.text.endswith(" 14:30 EST, 15:00 EST")


def test_a_text_without_a_patient_has_the_surrogates_of_surrogate_text(anonymizer, operator):
    found, operators = operator.surrogate_operators(TEXT, results(), engine())
    assert anonymizer.anonymize(TEXT, found, operators).text == surrogate_text(TEXT, results(), engine()).text


def test_results_without_bare_years_are_refused(operator):
    found = [result("DATE_TIME", 0, 3)]
    found[0].recognition_metadata = {"label": "DATE", "labels": "hipaa"}
    with pytest.raises(DeidError, match="labels='hipaa-surrogate'"):
        operator.surrogate_operators(TEXT, found, engine())


def test_labels_of_the_recogniser_have_priority(anonymizer, operator):
    text = "Bed 12 of Mercy"
    labelled = [result("ID", 4, 6, label="ROOM"), result("ORGANIZATION", 10, 15, label="HOSPITAL")]
    found, operators = operator.surrogate_operators(text, labelled, engine(), patient_id="p")
    assert [each.entity_type for each in found] == ["ID", "ORGANIZATION"]
    assert (
        anonymizer.anonymize(text, found, operators).text
        == surrogate_text(text, labelled, engine(), patient_id="p").text
    )


_SPANS = st.lists(
    st.builds(
        lambda start, length, entity, score: result(entity, start, min(start + length, 24), score),
        st.integers(0, 23),
        st.integers(1, 12),
        st.sampled_from(["PERSON", "LOCATION", "PET"]),
        st.sampled_from([0.2, 0.5, 1.0]),
    ),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(st.text("Ab1 \n", min_size=24, max_size=24), _SPANS)
def test_whatever_the_analyzer_finds_no_character_of_it_is_left_out(presidio, anonymizer, operator, text, spans):
    found, operators = operator.surrogate_operators(text, spans, engine(), patient_id="p")
    inside = {i for span in spans for i in range(span.start, span.end)}
    assert inside <= {i for each in found for i in range(each.start, each.end)}
    for strategy in presidio.ConflictResolutionStrategy:
        made = anonymizer.anonymize(text, found, operators, conflict_resolution=strategy)
        assert len(made.items) == len(found)  # the anonymizer had nothing to join or to leave out


@pytest.mark.parametrize("between", [" ", "  ", " \n", "\n", " \n ", "\t", "\r\n", " \r\n", "\u00a0"])
def test_neighbours_are_joined_where_the_anonymizer_joins_them(anonymizer, operator, between):
    """It joins also over spaces before a line feed, and the operator then raised an error."""
    text = f"Ann{between}Roe left"
    spans = [result("PERSON", 0, 3), result("PERSON", 3 + len(between), 6 + len(between))]
    found, operators = operator.surrogate_operators(text, spans, engine(), patient_id="p")
    assert "Roe" not in anonymizer.anonymize(text, found, operators).text


def test_another_text_or_other_results_are_refused_without_showing_them(presidio, anonymizer, operator):
    found, operators = operator.surrogate_operators(TEXT, results(), engine(), patient_id="p")
    with pytest.raises(presidio.InvalidParamError, match="text of surrogate_operators") as caught:
        anonymizer.anonymize(TEXT.replace("Ann", "Zoe"), found, operators)
    assert "Zoe" not in str(caught.value) and "Ann" not in str(caught.value)
    for wrong in (results()[:2], [], [*found[:1], *found[2:]]):
        _, operators = operator.surrogate_operators(TEXT, wrong, engine(), patient_id="p")
        with pytest.raises(presidio.InvalidParamError, match="text of surrogate_operators"):
            anonymizer.anonymize(TEXT, found, operators)
    assert "Ann" not in repr(operators["DEFAULT"])


def test_operators_that_nobody_made_for_the_text_are_refused(presidio, anonymizer):
    config = presidio.OperatorConfig("surrogate", {"key": "x"})
    with pytest.raises(presidio.InvalidParamError, match="surrogate_operators"):
        anonymizer.anonymize("Ann", [presidio.RecognizerResult("PERSON", 0, 3, 1.0)], {"DEFAULT": config})


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "presidio_anonymizer", None)
    monkeypatch.delitem(sys.modules, "sklearn_deid.integrations.presidio_operator", raising=False)
    with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[presidio\]"):
        import sklearn_deid.integrations.presidio_operator  # noqa: F401
