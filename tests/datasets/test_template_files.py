"""Template files as people edit them: an added template is used, and a mistake is refused with file and line."""

# ruff: noqa: E501 - one mistake a line, however long

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid.datasets.notes.template_files import read_library
from sklearn_deid.datasets.notes.words import WORDS
from sklearn_deid.datasets.notes.writing import write_notes
from sklearn_deid.exceptions import CorpusFormatError

SHIPPED = Path(sklearn_deid.__file__).parent / "datasets" / "notes" / "templates"
PAGE = Path(__file__).parents[2] / "docs" / "notes.md"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(SHIPPED, tmp_path / "templates"))


def change(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text that the file must hold."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def notes_of(folder, n_notes=300):
    return list(write_notes(n_notes, n_notes // 3, 0, read_library(folder, WORDS)))


# ---- what is added is used


def example_of_the_page() -> str:
    [example] = re.findall(r"^```text\n(- Keeps bees.+)\n```", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return example


def test_a_phrase_is_added_as_the_documentation_says(folder):
    change(folder / "phrases" / "history.txt", "[social]\n", f"[social]\n{example_of_the_page()}\n")

    written = [d for d in notes_of(folder) if re.search(r"keeps bees with", d.text, re.IGNORECASE)]
    assert len(written) > 3
    for document in written:
        start = document.text.lower().index("keeps bees with")
        labels = [span.label for span in document.spans if start < span.start][:2]
        assert labels == ["PATIENT", "CITY"]


def test_a_case_is_added_as_the_documentation_says(folder):
    text = (folder / "cases" / "stroke.txt").read_text(encoding="utf-8").replace("ages: 40-110", "sex: F\nages: 18-110")
    (folder / "cases" / "sinus_thrombosis.txt").write_text(text, encoding="utf-8")
    with (folder / "cases" / "order.txt").open("a", encoding="utf-8") as file:
        file.write("- sinus thrombosis\n")

    cases = {d.meta["case"] for d in notes_of(folder)}
    assert "sinus thrombosis" in cases
    assert read_library(folder, WORDS).cases[-1].sex == "F"


def test_files_of_other_editors_give_the_same_library(folder):
    """A byte order mark and the line ends of Windows change nothing."""
    expected = read_library(folder, WORDS)
    for path in folder.rglob("*.txt"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert read_library(folder, WORDS) == expected


def test_lines_tabs_and_empty_alternatives_are_kept(folder):
    change(folder / "phrases" / "history.txt", "[aged]\n", "[spread]\n- a\n\n\n  b{tab}c\n    d\n\n-\n\n[aged]\n")

    assert read_library(folder, WORDS).phrases["spread"] == ("a\n\n\nb\tc\n  d", "")


def test_the_documentation_lists_every_word():
    listed = set(re.findall(r"`([a-z0-9.]+)`", PAGE.read_text(encoding="utf-8")))
    listed |= set(re.findall(r"`\{([a-z]+)\}`", PAGE.read_text(encoding="utf-8")))
    listed |= {"problem.2", "drug.2"}  # "problem.1 to problem.3"
    missing = {
        word
        for word in WORDS
        if word not in listed and not {word.partition(".")[0], f".{word.partition('.')[2]}"} <= listed
    }

    assert not missing


# ---- what does not fit is refused

# file, text, the text in its place, how the line named by the error begins, and the error
# fmt: off
MISTAKES = {
    "unknown slot": ("phrases/history.txt", "{He} lives in {city}", "{He} lives in {cty}", "- {He} lives in {cty} wi", r"\{cty\} is neither a word nor a phrase"),
    "unknown slot of a case": ("cases/stroke.txt", "{time} by {his}", "{time} by {whose}", "- {He} was last seen wel", r"\{whose\} is neither a word"),
    "unknown slot of a kind": ("kinds/letter.txt", "{letterhead}\n", "{letterheads}\n", "- {letterheads}", r"\{letterheads\} is neither"),
    "unknown slot in a choice": ("kinds/nursing.txt", "<here|admitted>", "<here|in {ward4}>", "- {age}{sex} <here|in {w", r"\{ward4\} is neither"),
    "open brace": ("phrases/fields.txt", "- {PT.HEADER}\n", "- {PT.HEADER\n", "- {PT.HEADER", "A brace of the template is not opened or not"),
    "open choice": ("kinds/nursing.txt", "lungs <clear|coarse>.", "lungs <clear|coarse.", "- RESP: {#1-4}L NC, sat ", "A choice of the template is not closed"),
    "bounds": ("phrases/examination.txt", "{#24-38}", "{#38-24}", "- INR {#0.9-1.6}, PTT {#", "The first bound must be the lower"),
    "repeated word": ("kinds/message.txt", "{rn.full}, {rn.cred}\n", "{rn.full:1-2}\n", "- {date} {time}", r"\{rn.full\} is a word. Only phrases"),
    "PHI in a fact": ("cases/stroke.txt", "- TIA\n", "- TIA on {date}\n", "- TIA on {date}", r"\[dx\] is the same in all notes of a stay"),
    "circle": ("phrases/history.txt", "[home]\n", "[home]\n- At home: {social}\n", "[social]", "A phrase must not contain itself: .*home"),
    "name of a word": ("phrases/history.txt", "[home]\n", "[dob]\n", "[dob]", "'dob' is a word or a phrase of cases"),
    "name of a part of cases": ("phrases/history.txt", "[home]\n", "[story]\n", "[story]", "'story' is a word or a phrase of cases"),
    "name twice": ("kinds/letter.txt", "[bye]\n", "[home]\n", "[home]", r"\[home\] also occurs in .*\.txt"),
    "replaces nothing": ("phrases/elders.txt", "[calling]\n", "[callings]\n", "[callings]", r"\[callings\] replaces no phrase"),
    "replaces twice": ("phrases/elders.txt", "[work]\n", "[calling]\n", "[calling]", r"\[calling\] occurs twice"),
    "two heads": ("kinds/letter.txt", "[foot]\n", "[head]\n", "[head]", r"\[head\] occurs twice"),
    "unknown block of a case": ("cases/stroke.txt", "[dx]\n", "[diagnosis]\n", "[diagnosis]", r"\[diagnosis\] is unknown"),
    "block of a case twice": ("cases/stroke.txt", "[also]\n", "[dx]\n", "[dx]", r"\[dx\] occurs twice"),
    "empty block": ("phrases/history.txt", "[home]\n", "[house]\n\n[home]\n", "[house]", r"\[house\] has no entry"),
    "includes nothing": ("phrases/traps.txt", "with: trap.home, trap.reasoning", "with: x", "with: x", r"\[x\] must be another block of this"),
    "share": ("kinds/letter.txt", "share: 60 %", "share: 0.6", "share: 0.6", "A share is a whole number from 1 to 100"),
    "share over all": ("kinds/letter.txt", "headed: 25 %", "headed: 101 %", "headed: 101 %", "A share is a whole number"),
    "setting of a section": ("kinds/letter.txt", "titles: ", "title: ", "title: Past history | PM", "There is no setting 'title'. Allowed: titles, sh"),
    "setting of a block": ("phrases/history.txt", "[home]\n", "[home]\nshare: 5 %\n", "share: 5 %", "There is no setting 'share'. Allowed"),
    "setting of a file": ("cases/stroke.txt", "ages: ", "age: ", "age: 40-110", "There is no setting 'age'"),
    "setting twice": ("cases/stroke.txt", "ages: ", "ages: 1-2\nages: ", "ages: 40-110", "The setting 'ages' stands here twice"),
    "modality": ("cases/stroke.txt", "head CT\n", "brain CT\n", "modality: brain CT", "There is no modality 'brain CT', only MRI"),
    "ages": ("cases/stroke.txt", "40-110", "110-40", "ages: 110-40", "Ages are written as 18-110"),
    "sex": ("cases/birth.txt", "sex: F", "sex: female", "sex: female", "The sex is M or F"),
    "no bullet": ("phrases/history.txt", "- Brother has", "Brother has", "Brother has Crohn's.", "The line is no comment"),
    "no blank after the dash": ("phrases/history.txt", "- Brother has", "-Brother has", "-Brother has Crohn's.", "The line is no comment"),
    "two blanks after the dash": ("phrases/history.txt", "- Brother has", "-  Brother has", "-  Brother has Crohn's.", "The line is no comment"),
    "one blank in front": ("kinds/letter.txt", "  {date}\n", " {date}\n", " {date}", "The line is no comment"),
    "above the first block": ("kinds/letter.txt", "[head]\n", "- {date}\n[head]\n", "- {date}", "The line is no comment"),
    "setting below entries": ("kinds/letter.txt", "\n[bye]", "share: 5 %\n[bye]", "share: 5 %", "The line is no comment"),
    "blank at the end": ("phrases/history.txt", "Crohn's.\n", "Crohn's. \n", "- Brother has Crohn's. ", "ends with white space, which cannot be"),
    "tab": ("phrases/history.txt", "Crohn's.\n", "Crohn's\tdisease.\n", "- Brother has Crohn's\tdi", "The line holds a tab"),
    "case listed twice": ("cases/order.txt", "- thyroid\n", "- stroke\n", "- stroke", "The case 'stroke' is listed twice"),
    "no pair": ("patients.txt", "gout | allo", "gout, allo", "- gout, allopurinol 100 ", r"An entry is two texts with ' \| ' between"),
    "slot in a pair": ("patients.txt", "- gout | allo", "- {gout} | allo", "- {gout} | allopurinol 1", "An entry is two texts .* without braces"),
    "unknown block of pairs": ("patients.txt", "[allergies]", "[allergy]", "[allergy]", r"Each of \[problems\], .* appears once"),
}
# fmt: on


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_with_file_and_line(folder, mistake):
    name, old, new, start, message = MISTAKES[mistake]
    path = folder / name
    change(path, old, new)

    with pytest.raises(CorpusFormatError, match=message) as caught:
        read_library(folder, WORDS)
    assert str(caught.value).endswith(f"[file {path}]")
    line = int(re.match(r"Line (\d+): ", str(caught.value))[1])
    assert path.read_text(encoding="utf-8").split("\n")[line - 1].startswith(start)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kinds/letter.txt", "The file is missing"),
        ("cases/stroke.txt", "The file is missing"),
        ("cases/order.txt", "The file is missing"),
        ("phrases/elders.txt", "The file is missing"),
        ("phrases/traps.txt", "neither a word nor a phrase|replaces no phrase"),
        ("modalities/MRI.txt", "There is no modality 'MRI'"),
        ("patients.txt", "The file is missing"),
    ],
)
def test_a_missing_file_is_refused(folder, name, message):
    (folder / name).unlink()

    with pytest.raises(CorpusFormatError, match=message):
        read_library(folder, WORDS)


@pytest.mark.parametrize(
    ("name", "block", "message"),
    [
        ("cases/stroke.txt", "dx", r"The block \[dx\] is missing"),
        ("modalities/MRI.txt", "extra", r"The block \[extra\] is missing"),
        ("kinds/letter.txt", "foot", r"The block \[foot\] is missing"),
        ("patients.txt", "allergies", r"Each of \[problems\], \[child problems\], \[allergies\] appears once"),
    ],
)
def test_a_missing_block_is_refused(folder, name, block, message):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf"^\[{block}\]\n(?:(?!\[).*\n)*", "", text, flags=re.MULTILINE), encoding="utf-8")

    with pytest.raises(CorpusFormatError, match=message) as caught:
        read_library(folder, WORDS)
    assert caught.value.path == str(path)


def test_a_missing_setting_is_refused(folder):
    change(folder / "cases" / "stroke.txt", "modality: head CT\n", "")

    with pytest.raises(CorpusFormatError, match="The setting 'modality: ...' above the blocks is missing"):
        read_library(folder, WORDS)


def test_a_case_that_is_not_listed_is_refused(folder):
    shutil.copy(folder / "cases" / "stroke.txt", folder / "cases" / "tremor.txt")

    with pytest.raises(CorpusFormatError, match=r"tremor\.txt is in the folder, but not in this list"):
        read_library(folder, WORDS)


def test_patients_without_a_case_are_refused(folder):
    for path in (folder / "cases").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"^ages: .*$", "ages: 18-110", text, flags=re.MULTILINE), encoding="utf-8")

    with pytest.raises(CorpusFormatError, match="No case fits a patient of sex M and age 2"):
        read_library(folder, WORDS)


def test_other_encodings_are_refused(folder):
    path = folder / "phrases" / "history.txt"
    path.write_bytes(path.read_bytes() + "- Ménière\n".encode("latin-1"))

    with pytest.raises(CorpusFormatError, match="The file is not UTF-8 text"):
        read_library(folder, WORDS)
