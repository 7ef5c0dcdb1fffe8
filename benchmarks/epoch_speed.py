"""Processor seconds of an epoch and of tagging, beside those of another checkout.

    git worktree add --detach ../older 938b543
    python -m benchmarks.epoch_speed --other ../older --corpus meddocan --notes 200 --repeats 3

Both checkouts train the default de-identifier of their version on the same notes, and annotate the same other notes,
each in a fresh process with one thread. The checkouts take turns. Other load of the machine only adds seconds, so the
fastest turn counts, and of a training the fastest epoch. The first 80 % of the epochs, which read altered copies, and
the last ones have a fastest epoch each, weighted by 0.8 and 0.2. An epoch counts with the preparation of its sentences.
Prints one JSON object. Each ratio is the seconds of the other checkout divided by those of this one, so that 1 means
equally fast and 0.9 means slower.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from sklearn_deid import Corpus

from . import corpora
from .environment import describe

HERE = Path(__file__).parents[1]
SETTINGS = ("corpus", "notes", "test_notes", "epochs", "repeats", "seed", "hidden_size")
MEASURES = ("epoch", "epoch_without_copies", "tagging")
# Share of the epochs that read altered copies, if the version makes any.
COPIED_EPOCHS = 0.8
# The public names of both versions only: modules have moved. Before `default_settings`, a de-identifier had the plain
# tagger.
CHILD = """
import json, pathlib, sys, time, warnings
import sklearn_deid
if not pathlib.Path(sklearn_deid.__file__).is_relative_to(sys.argv[4]):
    sys.exit(f"The package was imported from {sklearn_deid.__file__}, not from {sys.argv[4]}.")
import torch
from skorch.callbacks import Callback
from sklearn_deid import Corpus, DeidTagger, Document, NoteDeidentifier, Span
try:
    from sklearn_deid.tagging.default_start import default_settings
except ImportError:
    default_settings = lambda notes: {}

class Stopwatch(Callback):
    # Of the class, because the de-identifier clones its tagger.
    times = []
    def on_train_begin(self, net, **kwargs):
        self.times.append(time.process_time())
    def on_epoch_end(self, net, **kwargs):
        self.times.append(time.process_time())

torch.set_num_threads(1)
warnings.simplefilter("ignore")
path, n_epochs, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
same = json.loads(sys.argv[5])
with open(path, encoding="utf-8") as file:
    train, test = ([
        Document(n["id"], n["text"], tuple(Span(*s) for s in n["spans"]), patient_id=n["patient"]) for n in notes
    ] for notes in json.load(file))
settings = {**default_settings(train), **same, "max_epochs": n_epochs, "random_state": seed}
tagger = DeidTagger(**settings, callbacks=[("watch", Stopwatch())])
deidentifier = NoteDeidentifier(tagger).fit(Corpus(train))
texts = [note.text for note in test]
deidentifier.annotate(texts[:5])
tagging = []
for _ in range(2):
    start = time.process_time()
    deidentifier.annotate(texts)
    tagging.append(time.process_time() - start)
print(json.dumps({"times": Stopwatch.times, "tagging": min(tagging)}))
"""


def write_notes(train: Corpus, test: Corpus, path: Path) -> None:
    """Write the notes in a form that does not depend on the version of the package."""
    notes = [
        [
            {
                "id": note.doc_id,
                "text": note.text,
                "spans": [(span.start, span.end, span.label) for span in note.spans],
                "patient": note.patient_id,
            }
            for note in corpus
        ]
        for corpus in (train, test)
    ]
    path.write_text(json.dumps(notes), encoding="utf-8")


def measured(checkout: Path, notes: Path, n_epochs: int, seed: int, hidden_size: int | None = None) -> dict[str, float]:
    """Processor seconds of an epoch and of tagging, in a fresh process that imports the package of ``checkout``."""
    same = {} if hidden_size is None else {"hidden_size": hidden_size}
    command = [sys.executable, "-c", CHILD, str(notes), str(n_epochs), str(seed), str(checkout), json.dumps(same)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    # The current folder comes first on the path: from here, this checkout would hide the other one.
    result = subprocess.run(command, env=environment, cwd=checkout, stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(result.stdout)
    epochs = np.diff(found["times"])
    seconds = (mean_epoch(epochs), float(epochs.min()), found["tagging"])
    return {name: round(of, 3) for name, of in zip(MEASURES, seconds, strict=True)}


def mean_epoch(seconds: np.ndarray) -> float:
    """Mean seconds of an epoch, by the fastest epoch with copies and the fastest one without; shape (n_epochs,)."""
    n_copied = round(COPIED_EPOCHS * len(seconds))
    parts = [part for part in (seconds[:n_copied], seconds[n_copied:]) if len(part)]
    return float(sum(len(part) * part.min() for part in parts) / len(seconds))


def compared(turns: list[tuple[dict[str, float], dict[str, float]]]) -> dict:
    """Fastest turns of the other checkout and of this one, and their ratio; one pair of measurements for each turn."""
    other, this = ({name: min(turn[side][name] for turn in turns) for name in MEASURES} for side in (0, 1))
    return {
        "seconds": {"other": other, "this": this},
        "ratio": {name: round(other[name] / this[name], 3) for name in MEASURES},
        "ratio_of_turns": {name: [round(a[name] / b[name], 3) for a, b in turns] for name in MEASURES},
    }


def commit_of(checkout: Path) -> str | None:
    """Commit of a checkout; None without git."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpora.add_corpus_options(parser, notes=200, test_notes=100)
    parser.add_argument("--other", type=Path, required=True, metavar="FOLDER", help="another checkout")
    parser.add_argument("--epochs", type=int, default=5, help="epochs of each training")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each checkout")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hidden-size", type=int, help="width of both networks (default: as each checkout has it)")
    arguments = parser.parse_args(argv)
    other, turns = arguments.other.resolve(), []
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.json"
        write_notes(*corpora.load(arguments, arguments.seed), notes)
        for turn in range(arguments.repeats):
            pair = [
                measured(checkout, notes, arguments.epochs, arguments.seed, arguments.hidden_size)
                for checkout in (other, HERE)
            ]
            turns.append((pair[0], pair[1]))
            print(f"turn {turn + 1} done", file=sys.stderr)
    result = {
        "benchmark": "epoch_speed",
        "unit": "processor seconds, one thread, fastest turn",
        **{name: getattr(arguments, name) for name in SETTINGS},
        "commits": {"other": commit_of(other), "this": commit_of(HERE)},
        **compared(turns),
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
