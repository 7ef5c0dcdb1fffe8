"""Words of the pages: attackers are "they", and sentences can be drawn for a check by reading."""

import re
import runpy
from functools import cache

import pytest

from .pages import PAGES, ROOT, name_of

# the pages of measured tables quote claims of the papers
PROSE = [page for page in PAGES if "results" not in page.parts]


def without_blocks(page):
    """Text of a page without code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_people_are_they(page):
    assert not re.findall(
        r"\b(?:he|she|his|him|himself|her)\b", re.sub(r"`[^`]*`", "", without_blocks(page)), re.IGNORECASE
    )


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_lines_of_prose_fit(page):
    lines = [line for line in without_blocks(page).splitlines() if not line.lstrip().startswith(("|", "![", "$$"))]
    assert [line for line in lines if len(line) > 120] == []


def test_twenty_sentences_of_a_seed_are_always_the_same(capsys):
    script = runpy.run_path(str(ROOT / "docs" / "sample_sentences.py"))
    # Every page and module is read once, in sorted order; what is drawn from them is drawn twice.
    script["main"].__globals__["all_sentences"] = cache(script["all_sentences"])
    printed = []
    for _ in range(2):
        script["main"](["--seed", "3"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    places = re.findall(r"^\S[^,\n]*", printed[0], re.MULTILINE)
    assert len(places) == 20
    assert all((ROOT / place).exists() for place in places)


def test_code_and_tables_give_no_sentences(tmp_path):
    script = runpy.run_path(str(ROOT / "docs" / "sample_sentences.py"))
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading that is long enough to count.\n\nYou train a tagger on notes. The attacker sees one\nrelease.\n\n"
        "| a cell that is long enough to count. | b |\n\n```python\nx = 'A line of code that is long enough.'\n```\n",
        encoding="utf-8",
    )
    assert list(script["page_sentences"](page)) == ["You train a tagger on notes.", "The attacker sees one release."]
