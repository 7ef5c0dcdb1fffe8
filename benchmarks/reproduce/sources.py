"""Finished runs, whoever made them: files of the plan's steps, and of longer runs in other folders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..resumable import interval
from .running import module_of

# A key that only rows of this script have; looked for in this order.
SIGNATURES = {
    "private_representation": ("shared_token_f1",),
    "dssgd": ("worker_token_f1", "diverged"),
    "audit": ("report",),
    "recall": ("calibration",),
    "tagger_family": ("epoch_seconds",),
    "perturbations": ("binary_token_f1",),
    "noise_ranks": ("top1", "spelled"),
    "utility": ("bleu",),
    "learning_curve": ("documents",),
    "baselines": ("scores",),
}
MEDDOCAN_NOTES = 500  # of its training split
_MEANS: dict[str, Callable[[list], Any]] = {"mean": np.mean, "min": np.min, "max": np.max}


@dataclass(frozen=True)
class Measured:
    """A figure over seeds: mean with its 95 % interval, and whether it is the one that stands in for another."""

    mean: float
    low: float
    high: float
    seeds: tuple[int, ...]
    stand_in: bool = False


@dataclass
class Source:
    """Runs of one script with the same settings.

    Attributes
    ----------
    key : str
        Short name in the report.
    script : str
    settings : dict
    rows : dict of (arm, seed) to dict
    """

    key: str
    script: str
    settings: dict[str, Any]
    rows: dict[tuple[str, int], dict] = field(default_factory=dict)

    @property
    def corpus(self) -> str:
        return self.settings.get("corpus") or "generated"

    @property
    def arms(self) -> set[str]:
        return {arm for arm, _ in self.rows}

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for _, seed in self.rows})

    def label(self) -> str:
        """Corpus and size, for the head of a column."""
        notes = self.settings.get("notes")
        if self.corpus == "meddocan" and (notes or MEDDOCAN_NOTES) >= MEDDOCAN_NOTES:
            return f"{self.key}: meddocan, all {MEDDOCAN_NOTES} notes"
        return f"{self.key}: {self.corpus}" + (f", {notes} notes" if notes else "")

    def description(self) -> str:
        """Everything about the runs, for the list of runs."""
        settings = [f"{k} {_said(v)}" for k, v in self.settings.items() if k != "corpus" and v not in (None, {}, [])]
        seeds = ", ".join(map(str, self.seeds))
        return f"`{self.script}` on {self.corpus} notes; {', '.join(settings)}; seeds {seeds}"

    def values(self, arm: str, path: str) -> dict[int, float]:
        """A figure of an arm by seed, where the runs have it."""
        found = {seed: value_at(row, path) for (name, seed), row in sorted(self.rows.items()) if name == arm}
        return {seed: value for seed, value in found.items() if value is not None}

    def measured(self, arm: str, figure: str, scale: float = 1.0) -> Measured | None:
        """Mean and interval over seeds; ``figure`` may name a stand-in after ``|``."""
        for number, path in enumerate(figure.split("|")):
            values = self.values(arm, path)
            if values:
                mean, low, high = (scale * end for end in interval(list(values.values())))
                return Measured(mean, low, high, tuple(values), number > 0)
        return None


def _said(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def value_at(row: Mapping[str, Any], path: str) -> float | None:
    """What a row holds at a path of keys and numbers, such as ``fresh_strong.t2.0``; ``mean`` ends a list."""
    found: Any = row
    for part in path.split("."):
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.lstrip("-").isdigit() and -len(found) <= int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, list) and found and part in _MEANS:
            found = float(_MEANS[part](found))
        else:
            return None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def script_of(row: Mapping[str, Any]) -> str | None:
    """Which script wrote a row; None for something else."""
    if "arm" not in row or "seed" not in row:
        return None
    return next((name for name, keys in SIGNATURES.items() if any(key in row for key in keys)), None)


def setting_names(script: str) -> tuple[str, ...]:
    """What all rows of a file of a script have in common."""
    module = module_of(script)
    return tuple(module.settings_of(module.parse_arguments(["--runs", "-"])))


def run_files(places: Iterable[Path]) -> Iterator[Path]:
    """The files named, and all in the folders and below."""
    for place in places:
        if not place.exists():
            raise FileNotFoundError(f"There are no runs at {place}.")
        yield from [place] if place.is_file() else sorted(place.rglob("*.jsonl"))


def read_sources(places: Iterable[Path]) -> list[Source]:
    """Sources of all run files in the places; runs with the same settings are one, of equal runs the first counts."""
    found: dict[tuple[str, str], Source] = {}
    names: dict[str, tuple[str, ...]] = {}
    for path in run_files(places):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            script = script_of(row)
            if script is None:
                continue
            if script not in names:
                names[script] = setting_names(script)
            settings = {name: row.get(name) for name in names[script]}
            identity = (script, json.dumps(settings, sort_keys=True))
            source = found.setdefault(identity, Source("", script, settings))
            source.rows.setdefault((row["arm"], row["seed"]), row)
    out = sorted(found.values(), key=_order)
    for number, source in enumerate(out, 1):
        source.key = f"R{number}"
    return out


def _order(source: Source) -> tuple[str, str, int, str]:
    settings = source.settings
    return source.script, source.corpus, settings.get("notes") or 0, json.dumps(settings, sort_keys=True)
