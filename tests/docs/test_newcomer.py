"""The worked examples of docs/contributing.md: each is carried out on a copy of the package, and its files are counted.

A section "Add ..." holds one example, with three kinds of blocks: a ``py`` block that begins with a path is a new file;
a ``diff`` block names a file and holds hunks, whose old lines must be in that file exactly once; the ``py`` block that
begins with ``# try it`` must run on the changed copy.
"""

import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import sklearn_deid

from .pages import ROOT

PACKAGE = Path(sklearn_deid.__file__).parent
FILES_TOUCHED = {
    "a format": 1,
    "an encoder": 2,
    "an attack": 1,
    "a perturbation": 2,
    "a section to the audit report": 1,
    "an option to a command": 1,
    "a command": 2,
}


def sections():
    """Examples of the page by the end of their heading."""
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^## Add (.+?)\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL))


def hunks_of(block):
    """The file of a diff block, and for each hunk the text before and after; context is in both."""
    header, *lines = block.splitlines()
    assert header.startswith("--- "), "a diff block names its file"
    for hunk in "\n".join(lines).split("\n@@\n"):
        marks = [(line[:1], line[1:]) for line in hunk.splitlines()]
        assert {mark for mark, _ in marks} <= {"-", "+", " "}, hunk
        before, after = ("\n".join(text for mark, text in marks if mark in kept) for kept in (" -", " +"))
        yield header.removeprefix("--- "), before, after


def carry_out(section, folder):
    """Make the changes of a section in a folder; return what is to be tried."""
    trials = []
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        title, _, content = block.partition("\n")
        if language == "diff":
            for name, before, after in hunks_of(block):
                source = (folder / name).read_text(encoding="utf-8")
                assert source.count(f"\n{before}\n") == 1, f"{name} must hold these lines once:\n{before}"
                (folder / name).write_text(source.replace(f"\n{before}\n", f"\n{after}\n"), encoding="utf-8")
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


def test_every_section_has_a_number_of_files():
    assert set(sections()) == set(FILES_TOUCHED)


def test_a_hunk_is_its_lines_before_and_after():
    block = "--- a.py\n x = 1\n-y = 2\n+y = 3\n@@\n+z = 4\n"
    assert list(hunks_of(block)) == [("a.py", "x = 1\ny = 2", "x = 1\ny = 3"), ("a.py", "", "z = 4")]


# A process that imports the packages of others once, and becomes one process for each folder: PyTorch takes seconds,
# and so does the search for garbage at the end of Python.
TRY_ALL = """
import gc, os, sys
import scipy.stats, sklearn.pipeline, skorch, spacy, torch._dynamo

gc.freeze()
for folder in sys.argv[1:]:
    if not (child := os.fork()):
        sys.path.insert(0, folder)
        os.chdir(os.path.join(folder, "work"))
        for printed in (1, 2):
            os.dup2(os.open("../printed", os.O_WRONLY | os.O_CREAT | os.O_APPEND), printed)
        import sklearn_deid
        assert sklearn_deid.__file__.startswith(folder)
        exec(compile(open("../trial.py").read(), "trial.py", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_examples_work_and_touch_so_many_files(tmp_path):
    # All in one test: two processes that share the tests would otherwise each try all examples.
    folders, touched = {name: tmp_path / str(number) for number, name in enumerate(FILES_TOUCHED)}, {}
    for name, folder in folders.items():
        shutil.copytree(PACKAGE, folder / "sklearn_deid")  # with what is compiled already
        (trial,) = carry_out(sections()[name], folder)
        touched[name] = changed(folder / "sklearn_deid")
        (folder / "trial.py").write_text(trial, encoding="utf-8")
        (folder / "work").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", TRY_ALL, *map(str, folders.values())],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    ends = dict(zip(folders, map(int, done.stdout.split()), strict=True))
    assert {name: len(files) for name, files in touched.items()} == FILES_TOUCHED, touched
    assert not {name: (folders[name] / "printed").read_text() for name, end in ends.items() if end != 0}
