"""The report has every table of the papers, printed beside measured, and nothing blank."""

import re

import pytest

pytest.importorskip("matplotlib", reason="matplotlib (extra 'plot') is not installed")
pytest.importorskip("markdown_it", reason="markdown-it-py (extra 'benchmarks') is not installed")

from benchmarks.reproduce.exhibits import read_exhibits
from benchmarks.reproduce.plan import PAPERS, steps_of
from benchmarks.reproduce.report import write_report
from benchmarks.reproduce.running import module_of

from .canned_runs import baseline, perturbation, private, worker, write

# Every table and figure that the project promises.
PROMISED = {
    "friedrich": [
        *("Table 2:", "Figure 4", "Figure 5", "Thesis table 6.1", "Thesis table 6.2"),
        *(f"Thesis table {name}" for name in ("B.1", "B.2", "C.1", "C.2", "C.3", "C.4", "C.5", "C.6")),
        *(f"igure {number}" for number in ("6.1", "6.2", "6.3", "6.4", "7.3", "7.4")),
    ],
    "ahmed": [f"Table {name}:" for name in ("1", "2a", "2b", "3", "4", "5a", "5b")],
    "festag": ["Table 3:", "Figure 6:"],
}
RUNS = [
    *(perturbation(arm, seed, f1) for arm, f1 in (("raw", 0.9), ("neighbors-100", 0.8)) for seed in (0, 1)),
    *(baseline(arm, 0, 0.75) for arm in ("word-list", "crf", "upper-bound")),
    *(baseline("lstm", 0, f1, {"n_layers": n, "batch_size": 160}) for n, f1 in ((1, 0.5), (2, 0.6))),
    *(worker(arm, 0, f1) for arm, f1 in (("A", 0.8), ("C-0.1", 0.7))),
    *(private(arm, 0, 0.7) for arm in ("raw", "three-part-10", "three-part-100", "bounded-100")),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    results, elsewhere = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("elsewhere")
    write(results / "runs", "half", RUNS[::2])
    write(elsewhere, "other half", RUNS[1::2])
    path = write_report(results, [elsewhere], PAPERS, "the command")
    return path.read_text(encoding="utf-8"), results


@pytest.mark.parametrize("paper", PAPERS)
def test_every_promised_table_is_there(paper, written):
    headings = [line for line in written[0].splitlines() if line.startswith("### ")]
    titles = [exhibit.title for exhibit in read_exhibits([paper])]
    for name in PROMISED[paper]:
        assert any(name in title for title in titles), name
    assert all(f"### {title}" in headings for title in titles)


def test_no_cell_is_blank_but_the_first_of_a_head(written):
    for line in written[0].splitlines():
        if line.startswith("|"):
            assert not [cell for cell in line.strip("|").split("|")[1:] if not cell.strip()], line


def test_every_exhibit_says_what_it_was_measured_on_and_why_it_differs(written):
    for exhibit in read_exhibits(PAPERS):
        part = written[0].split(f"### {exhibit.title}\n")[1].split("\n### ")[0]
        assert exhibit.differs in part and exhibit.needs in part
        assert "seeds" in part or "No runs of" in part


def test_printed_stands_beside_measured(written):
    text = written[0]
    (line,) = [line for line in text.splitlines() if line.startswith("| N = 100 | ")]
    assert "96.75 / 96.42" in line and "80.0 (80.0 to 80.0)" in line
    assert re.search(r"\| Word list \| 81\.04 / 55\.90 / 66\.16 \| 90\.0 / 80\.0 / 75\.0 \|", text)
    assert "| layers: 2 | 0.4 | +5.0 (1) |" in text and "| layers: 1 | -0.1 | -5.0 (1) |" in text
    assert "| A: centralised | drawn only / drawn only / 96.2 | 15.0 / 80.0 / 80.0 |" in text
    assert re.search(r"\| R\d+: meddocan, 9 notes \| 80 \| 50 \|", text)


def test_figures_lie_beside_and_inside_the_page(written):
    text, results = written
    names = re.findall(r"\(figures/([^)]+)\)", text)
    assert {name.split("_R")[0] for name in names} >= {"pseudonyms", "epochs", "curves_10"}
    assert all((results / "figures" / name).stat().st_size < 200_000 for name in names)
    page = (results / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(names) and "<table>" in page and 'src="figures/' not in page


def test_arms_of_the_exhibits_exist_and_the_full_plan_runs_them():
    planned: dict[str, set[str]] = {}
    for paper in PAPERS:
        for step in steps_of(paper, "full", ["generated"]):
            arguments = module_of(step.script).parse_arguments(step.argv("runs.jsonl", {}))
            planned.setdefault(step.script, set()).update(arguments.arms)
    for exhibit in read_exhibits(PAPERS):
        assert exhibit.arms() <= planned[exhibit.script], exhibit.id
