"""What the site needs and what a build with Sphinx would find only later: links, tables of contents, public names."""

import argparse
import re
from functools import cache

import pytest

import sklearn_deid

from .pages import PAGES, ROOT, name_of

DOCS = ROOT / "docs"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or path.suffix != ".md" or anchor in anchors(path), f"{target}#{anchor}"


@cache
def anchors(page):
    """Anchors of the headings of a page, as MyST and code hosts make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"[`*]|\]\([^)]*\)", "", title) for title in re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def test_decisions_are_short_and_their_tables_elsewhere():
    """The page on architecture is read as a whole: tables of variants and long reports are in docs/measurements."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    decisions = re.findall(r"^- \*\*.*?(?=^- \*\*|^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(decisions) > 100
    assert [decision for decision in decisions if len(decision) > 900] == []
    large = [page.name for page in (DOCS / "measurements").glob("*.md") if page.stat().st_size > 25_000]
    assert large == [], "divide the page by subject"


def toctree_entries(page):
    """Pages that the toctrees of a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [re.sub(r".*<(.+)>", r"\1", line.strip()) for block in blocks for line in block.splitlines()]
    return {(page.parent / line).relative_to(DOCS).as_posix() for line in lines if line and not line.startswith(":")}


def test_every_page_is_in_a_table_of_contents():
    pages = [page for page in PAGES if page.is_relative_to(DOCS)]
    listed = set().union(*map(toctree_entries, pages)) | {"index", "api/command_line"}  # the latter in api/index.rst
    assert {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages} <= listed


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    assert set(sklearn_deid.__all__) <= listed


def test_every_room_is_in_the_reference():
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "sklearn_deid").glob("*/__init__.py")}
    # the names of `estimators` are those of the package, and the command line has a page of its own
    assert rooms - {"estimators", "cli"} <= set(re.findall(r"^   (\w+)$", text, re.MULTILINE))


def test_every_estimator_is_in_the_user_guide():
    from sklearn.base import BaseEstimator

    guide = (DOCS / "user_guide.md").read_text(encoding="utf-8")
    public = [getattr(sklearn_deid, name) for name in sklearn_deid.__all__]
    estimators = [one.__name__ for one in public if isinstance(one, type) and issubclass(one, BaseEstimator)]
    assert len(estimators) > 10
    assert not [name for name in estimators if f"`{name}`" not in guide]


def test_every_command_is_in_the_reference():
    from sklearn_deid.cli.program import build_parser

    text = (DOCS / "api" / "command_line.md").read_text(encoding="utf-8")
    commands = _commands(build_parser())
    assert {*commands} <= {*re.findall(r"^```\{command-help\} (.+)$", text, re.MULTILINE)}


def _commands(parser):
    """Names of the commands of a program, and of their own commands ("federate plan")."""
    found = next((action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)), {})
    return [*found, *(f"{name} {own}" for name in found for own in _commands(found[name]))]
