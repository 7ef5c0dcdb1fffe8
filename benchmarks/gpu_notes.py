"""Raw notes on a GPU: the recipe of `NoteDeidentifier`, notes per second, and what differs from the CPU.

    python -m benchmarks.gpu_notes --notes 100000 --jobs 4
    python -m benchmarks.gpu_notes --train --data FOLDER --seed 0

Without ``--train``, the starter model annotates ``--compare`` generated notes on the CPU and on the GPU, and then
``--notes`` notes on the GPU: the same notes again and again. With ``--train``, `NoteDeidentifier()` is trained
on MEDDOCAN's train split on the GPU, and annotates the dev split on the GPU and on the CPU. Two notes differ if they
have other spans. Prints one JSON object. Without a CUDA device it ends with an error.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import warnings
from itertools import cycle, islice
from pathlib import Path

import torch

from sklearn_deid import DeidTagger, NoteDeidentifier, fetch_meddocan, load, load_model, make_clinical_notes, save
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.tagging.default_start import default_settings

from .environment import describe

Spans = list[tuple[tuple[int, int, str], ...]]


def spans_on(deidentifier: NoteDeidentifier, texts: list[str]) -> tuple[Spans, float]:
    """Spans of each text, and notes per second of wall time."""
    start = time.perf_counter()
    found = [tuple((s.start, s.end, s.label) for s in spans or ()) for _, spans in deidentifier.iter_annotate(texts)]
    return found, round(len(texts) / (time.perf_counter() - start), 1)


def n_different(first: Spans, second: Spans) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


def tag(arguments: argparse.Namespace) -> dict:
    """Notes per second of the starter on both devices. Many notes are the same notes again and again."""
    texts = [note.text for note in make_clinical_notes(arguments.compare, random_state=arguments.seed)]
    on_cpu, cpu_speed = spans_on(load_model(labels="all"), texts)
    model = load_model(labels="all", device="cuda")
    model.annotate(texts[:200])  # warms up
    on_gpu, gpu_speed = spans_on(model, texts)
    many = list(islice(cycle(texts), arguments.notes))
    in_jobs, all_speed = spans_on(model.set_params(n_jobs=arguments.jobs), many)
    return {
        "characters_per_note": round(sum(map(len, texts)) / len(texts)),
        "notes_compared": len(texts),
        "notes_different_from_cpu": n_different(on_cpu, on_gpu),
        "cpu_notes_per_second": cpu_speed,
        "gpu_notes_per_second": gpu_speed,
        "notes": len(many),
        "jobs": arguments.jobs,
        "jobs_notes_per_second": all_speed,
        "notes_different_in_jobs": n_different(list(islice(cycle(on_gpu), len(many))), in_jobs),
    }


def train(arguments: argparse.Namespace) -> dict:
    """Seconds and strict F1 of the defaults on MEDDOCAN, and notes of dev that differ on the CPU."""
    notes, dev = (
        fetch_meddocan(split, data_home=arguments.data, download_if_missing=False) for split in ("train", "dev")
    )
    tagger = DeidTagger(**default_settings(notes), device="cuda", random_state=arguments.seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        deidentifier = NoteDeidentifier(tagger, on_unlike="pass").fit(notes)
    seconds = round(time.perf_counter() - start, 1)
    texts = [note.text for note in dev]
    on_gpu, gpu_speed = spans_on(deidentifier, texts)
    result = {"fit_seconds": seconds, "strict_f1": round(deidentifier.score(dev), 4)}
    with tempfile.TemporaryDirectory() as folder:
        save(deidentifier, Path(folder, "model"))
        on_cpu, cpu_speed = spans_on(load(Path(folder, "model"), device="cpu").set_params(on_unlike="pass"), texts)
    return result | {
        "notes_compared": len(texts),
        "notes_different_from_cpu": n_different(on_gpu, on_cpu),
        "cpu_notes_per_second": cpu_speed,
        "gpu_notes_per_second": gpu_speed,
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--compare", type=int, default=2_000, help="notes that the CPU annotates, too")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the GPU")
    parser.add_argument("--train", action="store_true", help="train on MEDDOCAN instead")
    parser.add_argument("--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder that holds meddocan/")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    if not torch.cuda.is_available():
        parser.error("this machine has no CUDA device")
    result = train(arguments) if arguments.train else tag(arguments)
    print(json.dumps({"benchmark": "gpu_notes", "seed": arguments.seed, **result, **describe()}, indent=1))


if __name__ == "__main__":
    main()
