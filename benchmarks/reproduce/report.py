"""The report: Markdown with figures beside it, and one HTML page that holds them."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..environment import describe
from . import claims, tables
from .exhibits import Exhibit, read_exhibits
from .figures import draw_all
from .sources import Source, read_sources

NAMES = {
    "friedrich": "Friedrich et al. (2019) and Friedrich (2018): private representations",
    "ahmed": "Ahmed et al. (2020): taggers and the use of redacted notes",
    "festag": "Festag & Spreckelsen (2020): training together without moving notes",
}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 0.8em 0; }
th, td { border: 1px solid #ccc; padding: 0.25em 0.6em; text-align: left; vertical-align: top; font-size: 0.92em; }
th { background: #f2f2f2; } img { max-width: 100%; } h1, h2 { border-bottom: 1px solid #ddd; }
"""


def write_report(results: Path, runs_from: Sequence[Path], papers: Sequence[str], command: str) -> Path:
    """Write report.md, report.html and figures/ of the finished runs; the path of the Markdown.

    Raises
    ------
    MissingDependencyError
        If matplotlib or markdown-it-py is not installed.
    """
    results.mkdir(parents=True, exist_ok=True)
    sources = read_sources([results, *runs_from])
    exhibits = read_exhibits(papers)
    drawn = draw_all(exhibits, sources, results / "figures")
    markdown = "\n".join(_lines(exhibits, sources, drawn, papers, command))
    path = results / "report.md"
    path.write_text(markdown, encoding="utf-8")
    (results / "report.html").write_text(html_of(markdown, results), encoding="utf-8")
    return path


def _lines(
    exhibits: Sequence[Exhibit],
    sources: Sequence[Source],
    drawn: Mapping[str, Sequence[tuple[str, str]]],
    papers: Sequence[str],
    command: str,
) -> list[str]:
    used = [source for source in sources if any(source.script == exhibit.script for exhibit in exhibits)]
    lines = ["# The tables of the papers, measured again", "", *_opening(command, used)]
    lines += ["## Which claims hold", ""]
    for paper in papers:
        found = claims.read_claims([paper])
        lines += [f"### {NAMES[paper]}", "", *claims.in_short(found, sources)]
    for paper in papers:
        lines += [f"## {NAMES[paper]}", "", "### Claims, run by run", ""]
        lines += claims.markdown_of(claims.read_claims([paper]), sources)
        for exhibit in (one for one in exhibits if one.paper == paper):
            lines += tables.markdown_of(exhibit, sources)
            for name, caption in drawn.get(exhibit.id, ()):
                lines += [f"![{caption}](figures/{name})", ""]
    return [*lines, "## Runs", "", *(f"- {source.key}: {source.description()}." for source in used), ""]


def _opening(command: str, used: Sequence[Source]) -> list[str]:
    found = describe()
    machine, packages = found["machine"], found["packages"]
    made = f"{datetime.date.today().isoformat()}, {machine['processor']}, {machine['cores']} cores"
    versions = ", ".join(f"{name} {packages[name]}" for name in ("torch", "scikit-learn", "skorch", "numpy"))
    gpu = f", {machine['cuda']}" if machine["cuda"] else ""
    corpora = ", ".join(sorted({source.corpus for source in used})) or "none yet"
    return [
        f"Made by `{command}` on {made}{gpu}; Python {found['python']}, {versions}. Notes: {corpora}.",
        "",
        "Printed figures are typed from the papers, which measured on i2b2 2014, MIMIC-III and nursing notes. None of",
        "these corpora can be shared, so that the figures beside them come from other notes: compare directions and",
        "orders, not levels. Generated notes are written by templates and are easier than real ones; MEDDOCAN's are",
        "Spanish case reports with invented PHI. F1 and other shares are in percent. Parentheses hold 95 % intervals",
        "over seeds (Student's t; a seed draws notes, noise and weights); figures without one are of one seed, from",
        "which nothing follows about small differences. `not run`: the plan of this size leaves it out.",
        "",
        "A claim *holds* or *does not hold* where the whole interval is on one side. With an interval on both sides it",
        "is *undecided*, and one seed is only *in favour* or *against*.",
        "",
    ]


def html_of(markdown: str, folder: Path) -> str:
    """One page with the pictures inside."""
    from sklearn_deid._optional import import_optional

    markdown_it = import_optional("markdown_it", extra="benchmarks", purpose="the HTML report")
    body = markdown_it.MarkdownIt("commonmark").enable("table").render(markdown)

    def inside(found: re.Match[str]) -> str:
        data = base64.b64encode((folder / found.group(1)).read_bytes()).decode()
        return f'src="data:image/png;base64,{data}"'

    body = re.sub(r'src="(figures/[^"]+)"', inside, body)
    head = f'<meta charset="utf-8"><title>The tables of the papers, measured again</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}</body></html>\n'
