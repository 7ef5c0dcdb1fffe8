"""The template language, and that every template of the generator is written in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from sklearn_deid.datasets.notes.cases import ALL_CASES, CASE_RULES, MODALITIES, STAY_FACTS
from sklearn_deid.datasets.notes.grammar import Choice, Node, Number, Slot, compile_template
from sklearn_deid.datasets.notes.kinds import KIND_RULES, KINDS_BY_NAME
from sklearn_deid.datasets.notes.rules import CHILD_RULES, ELDER_RULES, SHARED_RULES
from sklearn_deid.datasets.notes.words import WORDS
from sklearn_deid.text import I2B2_2014


def slots_of(nodes: tuple[Node, ...]) -> Iterator[Slot]:
    for node in nodes:
        if isinstance(node, Slot):
            yield node
        elif isinstance(node, Choice):
            yield from chain.from_iterable(map(slots_of, node.options))


def all_templates() -> Iterator[str]:
    rules = [SHARED_RULES, KIND_RULES, CHILD_RULES, ELDER_RULES, *MODALITIES.values()]
    rules += [dict(case.rules) for case in ALL_CASES]
    yield from chain.from_iterable(chain.from_iterable(some.values()) for some in rules)
    for kind in KINDS_BY_NAME.values():
        yield from (*kind.heads, *kind.feet, *chain.from_iterable(section.bodies for section in kind.sections))


def test_a_template_of_all_constructs():
    nodes = compile_template("A{b}<c|{D:2-4:list}|>{E.F}{Gh}{#0.5-2}")

    assert nodes == (
        "A",
        Slot("b"),
        Choice((("c",), (Slot("d", "capital", 2, 4, "list"),), ())),
        Slot("e.f", "upper"),
        Slot("gh", "capital"),
        Number(0.5, 2.0, 1),
    )


@pytest.mark.parametrize("template", ["a|b", "<a|b", "a>b", "{a", "{a b}", "{a:1}", "{#1}", "{a:1-2:semicolon}"])
def test_what_is_no_template_is_refused(template):
    with pytest.raises(ValueError, match="in the template|not closed"):
        compile_template(template)


def test_every_slot_stands_for_something():
    known = {*WORDS, *SHARED_RULES, *KIND_RULES, *CASE_RULES, *chain.from_iterable(MODALITIES.values())}
    unknown = {slot.name for t in all_templates() for slot in slots_of(compile_template(t))} - known

    assert not unknown


def test_rules_of_the_kinds_do_not_hide_each_other():
    assert len(KIND_RULES) == sum(len(kind.rules) for kind in KINDS_BY_NAME.values())
    assert not set(KIND_RULES) & set(SHARED_RULES)
    assert not (set(WORDS) - set(STAY_FACTS)) & {*SHARED_RULES, *KIND_RULES, *CASE_RULES}


def test_what_replaces_a_rule_has_one_to_replace():
    assert {*CHILD_RULES, *ELDER_RULES} <= {*SHARED_RULES, *KIND_RULES}


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.name)
def test_every_case_answers_everything_asked_of_it(case):
    assert set(case.rules) == set(CASE_RULES)
    assert set(MODALITIES[case.modality]) == {"technique", "extra"}
    assert all(isinstance(value, tuple) and value for value in case.rules.values())


def test_every_patient_fits_a_case():
    assert all(any(case.fits(sex, age) for case in ALL_CASES) for sex in "MF" for age in range(2, 111))


def test_labels_are_those_of_the_scheme():
    assert {label for label, _ in WORDS.values() if label} <= set(I2B2_2014.labels)
