"""What a newcomer changes to add something: each worked example is carried out on a copy of the package.

A page of ``newcomer/`` holds one example, with three kinds of blocks: a Python block that begins with a path is a new
file; a diff block names a file and holds hunks, whose old lines must be in that file exactly once; the Python block
that begins with ``# try it`` must run on the changed copy. The test counts the files of the package that changed.
"""

import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_deid

PACKAGE = Path(sklearn_deid.__file__).parent
PAGES = Path(__file__).with_name("newcomer")
FILES_TOUCHED = {
    "format": 1,
    "encoder": 2,
    "attack": 1,
    "perturbation": 2,
    "report_section": 1,
    "option": 1,
    "command": 2,
}
# Rooms that do not find a new file by themselves yet; an example that works leaves this table.
NOT_YET = {
    "format": "formats have no folder of their own yet",
    "encoder": "the tagger is not in one file yet",
    "attack": "attacks are not found by themselves yet",
    "report_section": "reports have no list of sections yet",
}
EXAMPLES = [
    pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=NOT_YET[name]) if name in NOT_YET else ())
    for name in FILES_TOUCHED
]


def blocks_of(text):
    """Language and content of each code block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def hunks_of(block):
    """The file of a diff block, and for each hunk the text before and after; context is in both."""
    header, *lines = block.splitlines()
    assert header.startswith("--- "), "a diff block names its file"
    for hunk in "\n".join(lines).split("\n@@\n"):
        marks = [(line[:1], line[1:]) for line in hunk.splitlines()]
        assert {mark for mark, _ in marks} <= {"-", "+", " "}, hunk
        before, after = ("\n".join(text for mark, text in marks if mark in kept) for kept in (" -", " +"))
        yield header.removeprefix("--- "), before, after


def carry_out(page, folder):
    """Make the changes of a page in a folder; return what is to be tried."""
    trials = []
    for language, block in blocks_of(page.read_text(encoding="utf-8")):
        title, _, content = block.partition("\n")
        if language == "diff":
            for name, before, after in hunks_of(block):
                source = (folder / name).read_text(encoding="utf-8")
                assert source.count(f"\n{before}\n") == 1, f"{name} must hold these lines once:\n{before}"
                changed_source = source.replace(f"\n{before}\n", f"\n{after}\n")
                (folder / name).write_text(changed_source, encoding="utf-8")
        elif title == "# try it":
            trials.append(content)
        else:
            target = folder / title.removeprefix("# ")
            assert not target.exists(), title
            target.write_text(content, encoding="utf-8")
    return trials


def changed(folder):
    """Files of a copy of the package that the package does not have, or not like this."""
    files = [path.relative_to(folder) for path in folder.rglob("*.py")]
    return {path for path in files if not (PACKAGE / path).exists() or not filecmp.cmp(PACKAGE / path, folder / path)}


def test_every_page_has_a_number_of_files():
    assert {page.stem for page in PAGES.glob("*.md")} == set(FILES_TOUCHED)


def test_a_hunk_is_its_lines_before_and_after():
    block = "--- a.py\n x = 1\n-y = 2\n+y = 3\n@@\n+z = 4\n"
    assert list(hunks_of(block)) == [("a.py", "x = 1\ny = 2", "x = 1\ny = 3"), ("a.py", "", "z = 4")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_works_and_touches_so_many_files(name, tmp_path):
    copy = tmp_path / "sklearn_deid"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (trial,) = carry_out(PAGES / f"{name}.md", tmp_path)
    touched = changed(copy)
    assert len(touched) == FILES_TOUCHED[name], touched
    code = f"import sklearn_deid; assert sklearn_deid.__file__.startswith({str(tmp_path)!r})\n{trial}"
    (tmp_path / "work").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "work", env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
