"""Rows as the scripts write them, with invented figures."""

from __future__ import annotations

import json
from pathlib import Path

FIGURES = {"precision": 0.9, "recall": 0.8, "f1": 0.85}


def scores(f1: float) -> dict:
    return {
        **{rule: {**FIGURES, "f1": f1} for rule in ("strict", "token", "hipaa_binary_token")},
        "strict_by": {"NAME": f1},
        "token_by": {"NAME": f1},
    }


def perturbation(arm: str, seed: int, f1: float) -> dict:
    settings = {"corpus": "generated", "notes": 9, "test_notes": None, "epochs": 2}
    return {**settings, "arm": arm, "seed": seed, "strict_f1": f1, "binary_token_f1": f1, "scores": scores(f1)}


def baseline(arm: str, seed: int, f1: float, parameters: dict | None = None) -> dict:
    settings = {"corpus": "generated", "notes": 9, "test_notes": 3, "epochs": 2, "parameters": parameters or {}}
    return {**settings, "arm": arm, "seed": seed, "scores": scores(f1)}


def worker(arm: str, seed: int, f1: float) -> dict:
    settings = {"corpus": "generated", "notes": 9, "test_notes": 3, "epochs": 2, "workers": 2, "network": "default"}
    curve = [[0.1, f1 - 0.1], [0.2, f1 + 0.1]]
    row = {**settings, "optimizer": "nadam", "tagger": {}, "exchange": {}, "arm": arm, "seed": seed}
    return row | {"worker_token_f1": [one[-1] for one in curve], "token_f1_by_epoch": curve}


def private(arm: str, seed: int, f1: float) -> dict:
    settings = {"corpus": "meddocan", "notes": 9, "test_notes": None, "epochs": 2, "probe_epochs": 1, "probe_pairs": 9}
    history = [
        {"phase": "P1", "epoch": 1, "deid_loss": 9.0},
        {"phase": "P2", "epoch": 1, "average_loss": 0.3, "valid_average_accuracy": 0.8, "valid_t2_accuracy": 0.9},
        {"phase": "P3b", "epoch": 1, "deid_loss": 5.0, "average_loss": 0.6},
        {"phase": "P3a", "epoch": 1, "deid_loss": 4.5, "average_loss": 0.7, "valid_average_accuracy": 0.5},
    ]
    attacks = {"fresh_paper": {"average": [0.5, 0.4, 0.6]}, "fresh_strong": {"t2": [0.7, 0.6, 0.8]}}
    row = {**settings, "arm": arm, "seed": seed, "shared_token_f1": f1, "shared_strict_f1": f1, "scores": scores(f1)}
    return row | attacks | {"history": history, "selected_round": 1}


def write(folder: Path, name: str, rows: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
