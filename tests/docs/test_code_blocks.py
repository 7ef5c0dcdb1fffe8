"""Every Python block of the README and the documentation runs, in order, in one namespace a file."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


BLOCKS = {path.name: BLOCK.findall(path.read_text(encoding="utf-8")) for path in FILES}


@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks])
def test_python_blocks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in BLOCKS[name]:
        exec(compile(block, name, "exec"), namespace)


def test_commands_of_the_readme_exist(capsys):
    from sklearn_deid.cli import main

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"sklearn-deid ([a-z]+)", text))
    assert {"demo", "train", "redact", "evaluate"} <= commands
    for command in commands:
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0


def test_links_lead_somewhere():
    for path in FILES:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
