"""Texts in values of HL7 version 2: offsets against a reading by hand of the standard's components."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.io.tables.hl7_values import CODED, CODES, NUMBERS, PEOPLE, text_parts

TEXT = st.text("ab 1^~", max_size=30)


@given(TEXT, st.sampled_from(["TX", "ST", "FT", "unknown"]))
def test_everything_but_the_separator_of_repetitions_is_text(value, kind):
    shown = "~".join(value[start:end] for start, end in text_parts(kind, value, "^", "~"))
    assert shown == value


@given(TEXT, st.sampled_from(sorted(CODED | CODES)))
def test_each_text_of_a_code_is_one_component_and_none_with_a_blank_is_left(value, kind):
    parts = text_parts(kind, value, "^", "~")
    components = {value[start:end] for start, end in parts}
    assert all("^" not in one and "~" not in one for one in components)
    assert {one for one in value.replace("~", "^").split("^") if " " in one} <= components


@pytest.mark.parametrize("kind", sorted(NUMBERS))
def test_a_number_with_a_word_is_text(kind):
    assert text_parts(kind, "12.5", "^", "~") == []
    assert text_parts(kind, "12.5~see Birch", "^", "~") == [(5, 14)]


@pytest.mark.parametrize("component", [1, 4, 8, 10])
def test_components_of_text_are_found_by_their_number(component):
    value = "^".join("text" if number == component else "I10" for number in range(12))
    assert [value[start:end] for start, end in text_parts("CWE", value, "^", "~") if value[start:end] == "text"]


@pytest.mark.parametrize("kind", sorted(CODES))
def test_codes_without_a_blank_are_no_texts(kind):
    assert text_parts(kind, "A1^B2~C3", "^", "~") == []
    # An escape sequence can stand for a blank.
    assert text_parts(kind, "A1^by\\X20\\Birch~C3", "^", "~") == [(3, 15)]
    assert text_parts("CWE", "by!.sp!Birch^A1", "^", "~", "!") == [(0, 12), (13, 15)]


def test_no_type_has_two_rules():
    kinds = [CODED, CODES, NUMBERS, PEOPLE]
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
