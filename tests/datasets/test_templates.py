"""The template language, and that every template of the generator is written in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid.datasets.notes.case import CASE_PHRASES, MODALITY_PHRASES, STAY_FACTS
from sklearn_deid.datasets.notes.grammar import Choice, Number, Slot, compile_template
from sklearn_deid.datasets.notes.kind import KINDS
from sklearn_deid.datasets.notes.template_files import read_library, slots_of, template_of
from sklearn_deid.datasets.notes.words import WORDS
from sklearn_deid.datasets.notes.writing import shipped_library
from sklearn_deid.surrogates import read_data_file
from sklearn_deid.text import I2B2_2014

PACKAGE = Path(sklearn_deid.__file__).parent
FOLDER = PACKAGE / "datasets" / "notes" / "templates"
LIBRARY = read_library(FOLDER, WORDS)
NO_TEMPLATES = {"patients.txt", "order.txt"}
FILES = {
    path.relative_to(FOLDER).as_posix(): read_data_file(path)
    for path in sorted(FOLDER.rglob("*.txt"))
    if path.name not in NO_TEMPLATES
}


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


@pytest.mark.parametrize(
    "template",
    ["a|b", "<a|b", "a>b", "{a", "a}", "{a b}", "{a:1}", "{#1}", "{#3-2}", "{a:1-2:semicolon}", "{a:3-2}", "{a:0-2}"],
)
def test_what_is_no_template_is_refused(template):
    with pytest.raises(ValueError, match="slot of a template|[Tt]he template|in the slot"):
        compile_template(template)


@pytest.mark.parametrize("name", FILES)
def test_every_template_compiles_and_its_slots_stand_for_something(name):
    file = FILES[name]
    known = {*WORDS, *LIBRARY.phrases, *CASE_PHRASES, *MODALITY_PHRASES}
    templates = [template_of(file, entry) for block in file.blocks for entry in block.entries]

    assert templates
    assert {slot.name for template in templates for slot in slots_of(compile_template(template))} <= known


def test_every_template_file_reaches_the_library():
    listed = {f"kinds/{kind}.txt" for kind in KINDS}
    listed |= {f"cases/{case.name.replace(' ', '_')}.txt" for case in LIBRARY.cases}
    others = [FILES[name] for name in set(FILES) - listed if not name.startswith("modalities/")]

    assert listed <= set(FILES)
    assert {block.name for file in others for block in file.blocks} <= set(LIBRARY.phrases)
    assert all(FILES[name].path.parent.name in ("phrases", "modalities") for name in set(FILES) - listed)


def test_the_library_holds_every_entry_once():
    """Nothing is lost between file and library: entries of the files and templates of the library are as many."""
    n_entries = sum(len(block.entries) for file in FILES.values() for block in file.blocks)
    included = sum(len(LIBRARY.phrases[name]) for name in ("trap.home", "trap.reasoning"))
    changed = sum(
        len(templates)
        for phrases in (LIBRARY.child_phrases, LIBRARY.elder_phrases)
        for name, templates in phrases.items()
        if templates is not LIBRARY.phrases[name]
    )
    n_kinds = sum(
        len(kind.heads) + len(kind.feet) + sum(len(section.bodies) for section in kind.sections)
        for kind in LIBRARY.kinds.values()
    )
    n_cases = sum(len(case.phrases[name]) for case in LIBRARY.cases for name in CASE_PHRASES)
    n_modalities = sum(
        len(b.entries) for name, file in FILES.items() if name.startswith("modalities/") for b in file.blocks
    )
    n_phrases = sum(map(len, LIBRARY.phrases.values())) - 2 * included  # [trap] and [trap.out] repeat them

    assert n_entries == n_kinds + n_cases + n_modalities + n_phrases + changed


@pytest.mark.parametrize("case", LIBRARY.cases, ids=lambda case: case.name)
def test_every_case_answers_everything_asked_of_it(case):
    assert set(case.phrases) == {*CASE_PHRASES, *MODALITY_PHRASES}
    assert all(isinstance(value, tuple) and value for value in case.phrases.values())
    for name in STAY_FACTS:
        slots = {slot.name for t in case.phrases[name] for slot in slots_of(compile_template(t))}
        assert slots <= {"side", "other.side"}


def test_every_patient_fits_a_case():
    assert all(any(case.fits(sex, age) for case in LIBRARY.cases) for sex in "MF" for age in range(2, 111))


def test_labels_are_those_of_the_scheme():
    assert {label for label, _ in WORDS.values() if label} <= set(I2B2_2014.labels)


def test_phrases_by_age():
    children, adults, elders = (LIBRARY.phrases_for(age) for age in (17, 18, 67))

    assert LIBRARY.phrases_for(66) == adults == LIBRARY.phrases
    assert children["calling"] == ("{noun}",)
    assert elders["calling"][0] == "retired {profession}"
    assert children.keys() == adults.keys() == elders.keys()


def test_the_shipped_templates_are_read_once():
    assert shipped_library() is shipped_library()
    assert shipped_library() == LIBRARY


def test_an_import_reads_no_file():
    code = (
        "import pathlib; read, opened = pathlib.Path.read_text, []\n"
        "pathlib.Path.read_text = lambda self, *a, **k: opened.append(self.name) or read(self, *a, **k)\n"
        "from sklearn_deid.datasets import iter_clinical_notes; notes = iter_clinical_notes(1, random_state=0)\n"
        "import sklearn_deid.surrogates; print('order.txt' in opened or 'names.txt' in opened)\n"
        "next(notes); print(opened.count('order.txt'), opened.count('names.txt'))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "1", "1"]
