"""The pages of the documentation, without what is built of them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ("_build", "auto_examples", "generated")
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if not set(BUILT) & set(path.parts)),
]


def name_of(page):
    """Path from the root of the repository, for the names of tests."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page, language="python"):
    """Code blocks of a language, in order."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return pattern.findall(page.read_text(encoding="utf-8"))
