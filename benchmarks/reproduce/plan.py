"""Plans: which benchmark runs for which paper, with which options; templates stand for a grid or for random draws.

A plan is a TOML file with one ``[[step]]`` for each benchmark script:

- ``name``, ``script``, and ``corpora``, those it can run on; a step runs once for each corpus there is data of;
- ``[step.options]`` for all sizes, and ``[step.tiny]``, ``[step.quick]``, ``[step.full]`` for one; a size without a
  table is left out, and a table in it named after a corpus counts for that corpus alone (``skip = true``: not there);
- ``[step.template]``: ``values`` lists what parameters may be; all combinations are run, or ``draws`` of them (by size)
  by chance. ``option`` names a JSON option that takes them together; without it each is an option of its own.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..corpora import CORPORA
from .toml_files import read_toml

PAPERS = ("friedrich", "ahmed", "festag")
SIZES = ("tiny", "quick", "full")
FOLDER = Path(__file__).parent / "plans"
_KEYS = {"name", "script", "corpora", "options", "template", *SIZES}
_BY_DATA_ALONE = ("tagger_family",)  # has no --corpus: notes are generated where no data are named


@dataclass(frozen=True)
class Step:
    """One call of a benchmark script.

    Attributes
    ----------
    name : str
        Of its files; with size, corpus, and the number of the draw.
    paper, script, corpus : str
    options : dict
        Of the command line, without dashes; a list is several values, True a flag.
    """

    name: str
    paper: str
    script: str
    corpus: str
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def argv(self, runs: Path, data: Mapping[str, str], device: str | None = None) -> list[str]:
        """The command line of the script."""
        given = {**self.options, "runs": str(runs)}
        if device is not None:
            given["device"] = device
        argv = [] if self.script in _BY_DATA_ALONE else ["--corpus", self.corpus]
        if self.corpus != "generated":
            argv += ["--data" if self.corpus == "meddocan" else "--i2b2", data[self.corpus]]
        for name, value in given.items():
            if value is not False:
                argv += [f"--{name.replace('_', '-')}", *_words(value)]
        return argv


def _words(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, Mapping):
        return [json.dumps(value)]
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def read_plan(path: Path) -> list[dict[str, Any]]:
    """Steps as they are written down.

    Raises
    ------
    ValueError
        If a step has a key that no plan has, or an unknown corpus.
    """
    steps = read_toml(path).get("step", [])
    for step in steps:
        unknown = sorted(set(step) - _KEYS)
        if unknown or not {"name", "script", "corpora"} <= set(step):
            raise ValueError(f"{path.name}: step {step.get('name')!r} needs name, script, corpora; unknown: {unknown}.")
        if not set(step["corpora"]) <= set(CORPORA):
            raise ValueError(f"{path.name}: corpora of {step['name']!r} must be among {CORPORA}.")
    return steps


def steps_of(paper: str, size: str, corpora: list[str], folder: Path = FOLDER) -> list[Step]:
    """All steps of a paper for a size, templates written out, on the corpora there is data of."""
    out = []
    for written in read_plan(folder / f"{paper}.toml"):
        if size not in written:
            continue
        for corpus in (c for c in written["corpora"] if c in corpora):
            options = _options(written, size, corpus)
            if options.pop("skip", False):
                continue
            out += list(_expanded(written, paper, size, corpus, options))
    return out


def _options(written: Mapping[str, Any], size: str, corpus: str) -> dict[str, Any]:
    """Those of all sizes, of the size, and of the size for the corpus; later ones win."""
    own = written[size]
    plain = {name: value for name, value in own.items() if name not in CORPORA}
    return {**written.get("options", {}), **plain, **own.get(corpus, {})}


def _expanded(
    written: Mapping[str, Any], paper: str, size: str, corpus: str, options: Mapping[str, Any]
) -> Iterator[Step]:
    name, script = f"{size}-{written['name']}-{corpus}", written["script"]
    template = written.get("template")
    if template is None:
        yield Step(name, paper, script, corpus, options)
        return
    for number, drawn in enumerate(combinations(template, size)):
        given = {template["option"]: drawn} if "option" in template else drawn
        yield Step(f"{name}-{number:02d}", paper, script, corpus, {**options, **given})


def combinations(template: Mapping[str, Any], size: str) -> list[dict[str, Any]]:
    """All combinations of the values, or as many different ones by chance as the size asks for."""
    names = list(template["values"])
    grid = [dict(zip(names, one, strict=True)) for one in itertools.product(*template["values"].values())]
    draws = template.get("draws", {}).get(size)
    if draws is None or draws >= len(grid):
        return grid
    return [grid[i] for i in np.random.default_rng(template.get("seed", 0)).permutation(len(grid))[:draws]]
