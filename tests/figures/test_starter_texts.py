"""Texts that the starter is trained on and measured with: the grammar is whole, and what is held out stays out."""

import re
from pathlib import Path

import numpy as np
import pytest

import benchmarks.starter.texts as texts
from benchmarks.starter.diagnoses import _categories, diagnosis
from benchmarks.starter.measuring import names_of, new_sentences
from benchmarks.starter.names import given_names, names, origins, word_names
from benchmarks.starter.report import KINDS_PHI, KINDS_PLAIN
from benchmarks.starter.words import held_out_words, vocabulary
from sklearn_deid.surrogates import Chance, read_data_file

FOLDER = Path(texts.__file__).parent
READ = [block for name in texts.GRAMMAR for block in read_data_file(FOLDER / name).blocks]
BLOCKS = {block.name: block for block in READ}
FRAMES = [name for name, block in BLOCKS.items() if "frames" in block.settings]


def rules_in(entry):
    return set(re.findall(r"@([a-z]+(?:\.[a-z]+)*)", entry))


def test_every_rule_exists_once_and_none_leads_back_to_itself():
    assert len(READ) == len(BLOCKS)
    leads = {name: set().union(*(rules_in(e.text) for e in block.entries)) for name, block in BLOCKS.items()}
    assert set().union(*leads.values()) <= BLOCKS.keys()
    # In a twin, a rule may lead to the block without PHI.
    leads = {name: rules | {f"{rule}.none" for rule in rules} & BLOCKS.keys() for name, rules in leads.items()}
    assert not [name for name in leads if name in reachable(leads, name)], "a circular rule might not end"


def reachable(leads, start):
    seen, rest = set(), set(leads[start])
    while rest:
        name = rest.pop()
        seen.add(name)
        rest |= leads[name] - seen
    return seen


@pytest.mark.parametrize("name", FRAMES)
def test_a_wording_is_trained_on_or_held_out(name):
    trained, held = (set(texts.grammar(held_out)[name]) for held_out in (False, True))
    assert trained and held and not trained & held
    assert trained | held == {entry.text for entry in BLOCKS[name].entries}


def test_twins_hold_no_name():
    kinds = [kind for kind in texts.KINDS if kind.startswith("twin")]
    found = new_sentences(kinds, 300, 0)
    assert not [d.text for d in found if {"PATIENT", "DOCTOR"} & {span.label for span in d.spans}]
    assert all(kind.removeprefix("twin ") in texts.KINDS for kind in kinds)


def test_eponyms_that_set_the_bias_are_not_trained_on():
    known, held = (words_of_lists(words) for words in (vocabulary(), held_out_words()))
    written = "".join((FOLDER / name).read_text(encoding="utf-8") for name in (*texts.GRAMMAR, "texts.txt"))
    assert not [word for word in held - known if re.search(rf"\b{word}\b", written)]


def words_of_lists(lists):
    return {word for entries in lists.values() for entry in entries for word in re.findall(r"[A-Z][a-z]{3,}", entry)}


def test_names_that_are_measured_are_not_trained_on():
    trained = {name for origin in origins() for part in names(origin) for name in part} | set(word_names())
    measured = {name for origin in origins() for part in names(origin, True) for name in part}
    assert not trained & measured
    assert not {*given_names("female"), *given_names("male")} & trained
    assert not set(given_names("female")) & set(given_names("male"))


def test_texts_depend_on_the_seed_alone():
    first, again, other = ([d.text for d in texts.make_texts(40, seed)] for seed in (1, 1, 2))
    assert first == again != other


def test_new_sentences_hold_phi_or_none():
    assert sum(bool(d.spans) for d in new_sentences(KINDS_PHI, 60, 0)) > 50
    assert not [d.text for d in new_sentences(KINDS_PLAIN, 300, 0) if d.spans]


def test_contexts_are_the_same_for_every_origin_but_for_the_names():
    ours, theirs = (names_of(60, 3, origin=origin) for origin in ("japanese", "slavic"))
    assert {span.label for text in ours for span in text.spans} <= {"PATIENT", "DOCTOR"}
    assert ours[0].text != theirs[0].text


def test_diagnoses_are_trained_on_or_held_out_by_their_category():
    known, held = ({t for part in _categories(held_out) for of in part for t in of} for held_out in (False, True))
    # A handful of texts stand in two categories.
    assert len(known & held) < len(held) / 1000
    chance = Chance(np.random.SeedSequence(0))
    assert all(diagnosis(chance, held_out=True, form="full") in held for _ in range(100))
    written = [diagnosis(chance, held_out=False) for _ in range(500)]
    assert all(text.strip() == text != "" for text in written)
    assert not [text for text in written if re.search(r"\bNOS\b|(initial|subsequent) encounter|, sequela$", text)]
