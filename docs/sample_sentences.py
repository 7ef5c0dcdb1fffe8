"""Print random sentences of README, pages and docstrings, for a check by reading: does each need one reading only?

    python docs/sample_sentences.py --seed 0
    python docs/sample_sentences.py --seed 0 --from docs

Code, tables, formulas, headings and the report of measured tables are left out; docs/contributing.md has the rules of
style. Sentences of docstrings come with the name of their object.
"""

import argparse
import ast
import random
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ("_build", "auto_examples", "generated", "results")
# a sentence ends with a full stop, a blank, and a capital or a backtick; not after abbreviations and initials
END = re.compile(r"(?<=[.?!])(?<!et al\.)(?<!e\.g\.)(?<!i\.e\.)(?<!Dr\.)(?<!Fig\.)(?<!\b[A-Z]\.)\s+(?=[A-Z`\"*])")
BLOCK_START = re.compile(r"^\s*([-*]|\d+\.)\s+")
NO_PROSE = ("|", "#", "<", "![", "$$", ":::", ">>>", "...", "[", "..")
FEWEST_WORDS = 5


def sentences(text):
    """Sentences of paragraphs and list items."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        lines = [BLOCK_START.sub("", line).strip() for line in paragraph.splitlines()]
        lines = [line for line in lines if line]
        if not lines or any(line.startswith(NO_PROSE) for line in lines):
            continue
        for sentence in END.split(" ".join(lines)):
            if len(sentence.split()) >= FEWEST_WORDS and sentence.rstrip("*").endswith((".", "?", "!")):
                yield sentence


def page_sentences(page):
    """Sentences of a Markdown page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    yield from sentences(re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL))


def docstring_sentences(path):
    """Name of the object and sentence, of each docstring of a module; entries of sections without their names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if text is None:
            continue
        prose = re.sub(r"^(\w.*)\n-{3,}\n", "\n", text, flags=re.MULTILINE)  # heads of sections
        prose = re.sub(r"^\S.* : .*$", "\n", prose, flags=re.MULTILINE)  # names and types of parameters
        prose = re.sub(r"^\S.*\n(?= {4}\S)", "\n", prose, flags=re.MULTILINE)  # types of results and errors
        prose = re.sub(r"^>>>.*?(?=\n\n|\Z)", "", prose, flags=re.MULTILINE | re.DOTALL)
        for sentence in sentences(prose):
            yield getattr(node, "name", "module"), sentence


def all_sentences(source="all"):
    """Place and sentence, in a fixed order."""
    found = []
    if source in ("all", "docs"):
        docs = sorted(path for path in (ROOT / "docs").rglob("*.md") if not set(BUILT) & set(path.parts))
        for page in (ROOT / "README.md", *docs):
            found += [(page.relative_to(ROOT).as_posix(), sentence) for sentence in page_sentences(page)]
    if source in ("all", "docstrings"):
        for path in sorted((ROOT / "sklearn_deid").rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            found += [(f"{place}, {name}", sentence) for name, sentence in docstring_sentences(path)]
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--from", dest="source", choices=("all", "docs", "docstrings"), default="all")
    options = parser.parse_args(argv)
    found = all_sentences(options.source)
    for place, sentence in random.Random(options.seed).sample(found, options.count):
        print(f"{place}\n    {sentence}\n")


if __name__ == "__main__":
    main()
