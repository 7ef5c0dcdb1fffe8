"""Plans are read, templates written out, and every call is one that the scripts understand."""

import itertools
from pathlib import Path

import pytest

from benchmarks.reproduce.plan import PAPERS, SIZES, Step, combinations, read_plan, steps_of
from benchmarks.reproduce.running import argv_of, module_of

ALL = ["generated", "meddocan", "i2b2"]
DATA = {"meddocan": "DATA", "i2b2": "LICENSED"}
VALUES = {"n_layers": [1, 2], "batch_size": [1, 16, 32], "dropout__input": [0.0, 0.5]}

PLAN = """
[[step]]
name = "search"
script = "baselines"
corpora = ["generated", "meddocan"]
options = { arms = ["lstm"], notes = 5 }
[step.template]
option = "parameters"
[step.template.draws]
quick = 3
[step.template.values]
n_layers = [1, 2]
batch_size = [16, 32]
[step.quick]
epochs = 2
[step.quick.meddocan]
notes = 4
[step.full]
[step.full.meddocan]
skip = true
"""


def test_a_grid_is_the_whole_product():
    found = combinations({"values": VALUES}, "full")
    expected = [dict(zip(VALUES, one, strict=True)) for one in itertools.product(*VALUES.values())]
    assert found == expected


def test_draws_are_different_members_of_the_grid_and_the_same_each_time():
    template = {"values": VALUES, "draws": {"quick": 7}, "seed": 3}
    drawn, grid = combinations(template, "quick"), combinations({"values": VALUES}, "full")
    assert len(drawn) == 7 and all(one in grid for one in drawn)
    assert len({tuple(one.values()) for one in drawn}) == 7
    assert combinations(template, "quick") == drawn != combinations({**template, "seed": 4}, "quick")


def test_more_draws_than_combinations_are_the_grid():
    assert len(combinations({"values": VALUES, "draws": {"full": 1000}}, "full")) == 12


def write(tmp_path: Path, text: str) -> Path:
    (tmp_path / "toy.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_template_becomes_one_step_for_each_draw_and_corpus(tmp_path):
    steps = steps_of("toy", "quick", ["generated", "meddocan"], write(tmp_path, PLAN))
    assert [step.name for step in steps] == [
        f"quick-search-{c}-{i:02d}" for c in ("generated", "meddocan") for i in range(3)
    ]
    assert all(set(step.options["parameters"]) == {"n_layers", "batch_size"} for step in steps)
    assert {step.options["notes"] for step in steps if step.corpus == "generated"} == {5}
    assert {step.options["notes"] for step in steps if step.corpus == "meddocan"} == {4}


def test_a_corpus_without_data_or_skipped_and_a_size_without_table_are_left_out(tmp_path):
    folder = write(tmp_path, PLAN)
    assert {step.corpus for step in steps_of("toy", "quick", ["generated"], folder)} == {"generated"}
    assert {step.corpus for step in steps_of("toy", "full", ["generated", "meddocan"], folder)} == {"generated"}
    assert steps_of("toy", "tiny", ["generated"], folder) == []


def test_the_command_line_of_a_step():
    options = {"arms": ["A", "B"], "no_attack": True, "quiet": False, "parameters": {"n_layers": 2}}
    step = Step("x", "festag", "dssgd", "meddocan", options)
    assert step.argv(Path("r.jsonl"), DATA) == (
        "--corpus meddocan --data DATA --arms A B --no-attack --parameters".split()
        + ['{"n_layers": 2}', "--runs", "r.jsonl"]
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("paper", PAPERS)
def test_scripts_understand_every_call_of_the_plans(paper, size, tmp_path):
    for step in steps_of(paper, size, ALL):
        arguments = module_of(step.script).parse_arguments(argv_of(step, tmp_path, DATA, "cpu"))
        assert module_of(step.script).settings_of(arguments).get("corpus", step.corpus) == step.corpus
        assert arguments.arms and arguments.seeds


def test_names_of_steps_are_unique():
    names = [step.name for paper in PAPERS for size in SIZES for step in steps_of(paper, size, ALL)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "text, message",
    [
        ('[[step]]\nname = "a"\nscript = "b"\ncorpora = []\nwhen = 1', r"unknown: \['when'\]"),
        ('[[step]]\nname = "a"\ncorpora = []', "needs name, script, corpora"),
        ('[[step]]\nname = "a"\nscript = "b"\ncorpora = ["mimic"]', "corpora of 'a' must be among"),
    ],
)
def test_a_wrong_plan_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_plan(write(tmp_path, text) / "toy.toml")
