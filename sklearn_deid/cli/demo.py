"""``sklearn-deid demo``: train, redact and score on generated notes."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from ..exceptions import DeidError
from ..text import Corpus, redact
from .counting import counted
from .failures import DONE
from .options import add_machine_options, add_number, add_quiet, add_seed, count, set_machine

_N_NOTES, _N_EPOCHS, _HELD_OUT, _N_SHOWN = 300, 14, 0.2, 3
_MARKER = "made-by-sklearn-deid-demo.txt"
_MARKER_TEXT = """\
'sklearn-deid demo' made this folder and may replace its content when the demo runs again.

notes/  generated notes that the model was not trained on, with true annotations (brat)
model/  the model
"""

SUMMARY = "train, redact and score on generated notes"
DESCRIPTION = """\
Train a model on generated notes, show notes before and after redaction, and score the model on notes
of other patients. This takes about a minute. Nothing is downloaded.

Generated notes are easier than real ones, because they are made of templates. The scores show that the
parts work together. They do not show how good a model would be on your notes. The demo misses some PHI.

The folder of an earlier demo is replaced. Any other folder that is not empty is refused."""

EPILOG = """\
example: see the demo, then redact its notes with its model
  sklearn-deid demo
  sklearn-deid redact deid-demo/notes --model deid-demo/model --output redacted

exit codes: 0 done, 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "--output",
        default="deid-demo",
        metavar="FOLDER",
        help="folder for the model and the notes (default: deid-demo)",
    )
    add_number(parser, "--notes", count, f"notes to generate (default: {_N_NOTES})", default=_N_NOTES)
    add_number(parser, "--epochs", count, f"epochs of training (default: {_N_EPOCHS})", default=_N_EPOCHS)
    add_seed(parser)
    add_machine_options(parser)
    add_quiet(parser)


def run(arguments: argparse.Namespace) -> int:
    """Generate notes, train a model, show redacted notes, score the model, and save model and notes."""
    folder = Path(arguments.output)
    _claim(folder)
    device = set_machine(arguments)
    from ..datasets import make_clinical_notes
    from ..io import write_corpus
    from ..saving import save
    from .scoring import fit_deidentifier, hold_out_patients, predict_corpus

    notes = make_clinical_notes(arguments.notes, random_state=arguments.seed)
    # One patient is needed for training and one for scoring.
    if len(notes.patients) < 2:
        raise DeidError("--notes must be at least 6, so that there are notes of two patients.")
    train, held_out = hold_out_patients(notes, _HELD_OUT, arguments.seed)
    size = f"{counted(len(train), 'generated note')} of {counted(len(train.patients), 'patient')}"
    print(f"Training on {size}, which takes about a minute.")
    # Not from the starter, which knows the templates of generated notes: the scores would say even less.
    deidentifier = fit_deidentifier(
        train,
        start=None,
        quiet=arguments.quiet,
        max_epochs=arguments.epochs,
        random_state=arguments.seed,
        device=device,
    )
    predicted = predict_corpus(deidentifier, held_out)
    _show_notes(predicted)
    _show_scores(held_out, predicted)

    # The folder bears the marker of an earlier demo at this point, so that nothing of the user is deleted.
    shutil.rmtree(folder / "notes", ignore_errors=True)
    write_corpus(held_out, folder / "notes", format="brat")
    save(deidentifier, folder / "model", overwrite=True)
    print(f"Model saved in {folder / 'model'}")
    print(f"Notes of the held-out patients: {folder / 'notes'}. To redact them all:")
    print(f"  sklearn-deid redact {folder / 'notes'} --model {folder / 'model'} --output redacted")
    return DONE


def _claim(folder: Path) -> None:
    """Create the folder, or reuse the folder of an earlier demo. Other folders are refused."""
    if folder.exists() and not folder.is_dir():
        raise DeidError("A file has this name already. Use another --output.", path=str(folder))
    # The marker file is the permission to replace the content of a folder.
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARKER).is_file():
        raise DeidError("The folder is not empty, and no demo made it. Use another --output.", path=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).write_text(_MARKER_TEXT, encoding="utf-8")


def _show_notes(predicted: Corpus) -> None:
    """Print the shortest notes of different kinds, before and after redaction."""
    # Sorted from long to short, the shortest note of each kind is the last one and stays in the dict.
    by_kind = {document.meta.get("kind"): document for document in sorted(predicted, key=lambda d: -len(d.text))}
    for document in sorted(by_kind.values(), key=lambda d: len(d.text))[:_N_SHOWN]:
        for title, text in (("before", document.text), ("after", redact(document.text, document.spans))):
            print(f"\n{f' {document.doc_id}, {title} ':-^100}\n{text.rstrip()}")


def _show_scores(held_out: Corpus, predicted: Corpus) -> None:
    from ..metrics import deid_report
    from ..metrics.rounding import rounded

    report = deid_report(held_out, predicted, output="dict")
    tokens = report["binary_token"]
    size = f"{counted(len(held_out), 'generated note')} of {counted(len(held_out.patients), 'other patient')}"
    print(f"\n{'-' * 100}\n\nScores on {size}:\n")
    print(f"{'annotations':<14}{'precision':>10}{'recall':>10}{'f1':>10}{'number':>10}{'missed':>10}")
    for name, scores in [*report["by_category"].items(), ("all", report["strict"])]:
        measures = "".join(f"{rounded(scores[measure], 3):>10}" for measure in ("precision", "recall", "f1"))
        print(f"{name:<14}{measures}{scores['support']:>10}{scores['fn']:>10}")
    print(
        f"\n{tokens['fn']} of {tokens['support']} PHI tokens (runs of letters and digits) were not marked at all "
        f"({rounded(tokens['fn'] / max(1, tokens['support']), 1, 100)}%).\n"
        "Generated notes are easier than real ones: measure a model on your own notes.\n"
    )
