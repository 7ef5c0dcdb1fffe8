"""Speed of `NoteDeidentifier.redact` with labels and with surrogates, on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.note_speed --beside OLD_CHECKOUT --output docs/results/note_speed.json
    OMP_NUM_THREADS=1 python -m benchmarks.note_speed --corpus generated

Notes of MEDDOCAN dev pass through a tagger with default parameters in blocks, trained for one epoch on 120 notes;
generated notes pass through starter-en. Each turn is a process of its own that redacts each block of notes in both
modes, one after the other, after a few notes that do not count. With ``--beside``, the code of another checkout takes
turns with this one, so that other load on the machine slows down both, and the outputs must be equal. Speeds are notes
per CPU second, from the fastest turn of each block. Prints one JSON object; exit code 1 if the outputs differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

MODES = ("label", "surrogate")
_KEY = bytes(range(32))
_TRAINED, _FIRST = 120, 10
# Notes of a batch with default parameters
_BLOCK = 128


def notes_of(arguments: argparse.Namespace) -> tuple[Any, list[Any]]:
    """Notes to train on (None for starter-en), and notes to redact."""
    from sklearn_deid import fetch_meddocan, make_clinical_notes

    if arguments.corpus == "generated":
        return None, list(make_clinical_notes(arguments.notes, random_state=5))
    train, dev = (
        fetch_meddocan(split, data_home=arguments.data, download_if_missing=False) for split in ("train", "dev")
    )
    return train[:_TRAINED], list(dev[: arguments.notes])


def turn(arguments: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds of each block in both modes in this process, and a digest of what the modes return."""
    import torch

    from sklearn_deid import load, load_model

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    _, notes = notes_of(arguments)
    model = load(arguments.model) if arguments.model else load_model("starter-en")
    model.set_params(on_error="withhold")
    gc.freeze()  # like the command, which leaves the model and all modules out of searches for garbage
    out: dict[str, Any] = {mode: [] for mode in MODES}
    digests = {mode: sha256() for mode in MODES}
    for block in (notes[:_FIRST], *(notes[i : i + _BLOCK] for i in range(0, len(notes), _BLOCK))):
        for mode in MODES:
            start = time.process_time()
            redacted = model.redact(block, mode=mode, **({"key": _KEY} if mode == "surrogate" else {}))
            out[mode].append(time.process_time() - start)
            digests[mode].update(json.dumps(redacted).encode())
    return {mode: seconds[1:] for mode, seconds in out.items()} | {
        f"{mode} digest": digest.hexdigest() for mode, digest in digests.items()
    }


def trained(arguments: argparse.Namespace, folder: Path) -> str:
    """Folder of a trained model; empty for starter-en."""
    from sklearn_deid import DeidTagger, NoteDeidentifier, save

    train, _ = notes_of(arguments)
    if train is None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(NoteDeidentifier(DeidTagger(context="block", max_epochs=1, random_state=0)).fit(train), folder / "model")
    return str(folder / "model")


def child(arguments: argparse.Namespace, checkout: Path, model: str) -> dict[str, Any]:
    """Result of `turn` with the code of a checkout."""
    command = [sys.executable, __file__, "--run", "--corpus", arguments.corpus, "--notes", str(arguments.notes)]
    command += ["--model", model, *(("--data", arguments.data) if arguments.data else ())]
    env = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", choices=["meddocan", "generated"], default="meddocan")
    parser.add_argument("--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder that holds meddocan/")
    parser.add_argument("--notes", type=int, default=250)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beside", type=Path, help="checkout of other code to take turns with")
    parser.add_argument("--output", type=Path, help="file of the JSON object; without it, the object is printed only")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--model", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.run:
        print(json.dumps(turn(arguments)))
        return 0
    checkouts = {"now": Path(__file__).parents[1]} | ({"beside": arguments.beside} if arguments.beside else {})
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in checkouts}
    with tempfile.TemporaryDirectory() as folder:
        model = trained(arguments, Path(folder))
        for _ in range(arguments.repeats):
            for name, checkout in checkouts.items():
                turns[name].append(child(arguments, checkout, model))
    return report(arguments, turns)


def report(arguments: argparse.Namespace, turns: dict[str, list[dict[str, Any]]]) -> int:
    """Print and write the JSON object, and compare the outputs."""
    from .environment import describe

    speeds = {
        name: {m: arguments.notes / sum(map(min, zip(*(one[m] for one in found), strict=True))) for m in MODES}
        for name, found in turns.items()
    }
    equal = len({tuple(one[f"{m} digest"] for m in MODES) for found in turns.values() for one in found}) == 1
    result: dict[str, Any] = {name: {m: round(speed, 1) for m, speed in of.items()} for name, of in speeds.items()}
    for name, of in speeds.items():
        result[name]["surrogate_of_label"] = round(of["surrogate"] / of["label"], 2)
    if "beside" in speeds:
        result["ratio"] = {m: round(speeds["now"][m] / speeds["beside"][m], 2) for m in MODES}
    settings = {"corpus": arguments.corpus, "notes": arguments.notes, "repeats": arguments.repeats}
    written = json.dumps(
        {
            "benchmark": "note_speed",
            "unit": "notes per CPU second, one core, fastest turn of each block of notes",
            **settings,
            "outputs_are_equal": equal,
            **result,
            **describe(),
        },
        indent=1,
    )
    print(written)
    if arguments.output is not None:
        arguments.output.write_text(written + "\n")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
