"""``sklearn-deid train``: a model from annotated notes."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..exceptions import DeidError
from ..text import Corpus
from .failures import DONE, SOME_WITHHELD
from .options import ANNOTATED, add_encoding, add_label_scheme, add_machine_options, count, seed, set_machine, share
from .options import add_command as add
from .reading import add_skip_broken, read_annotated, show_left_out
from .scoring import fit_deidentifier, hold_out_patients, predict_corpus

__all__ = ["add_command"]

_DESCRIPTION = """\
Make a model from annotated notes.

CORPUS is a file or folder of notes in which all PHI is annotated. The model is a folder with two
files, data only, and holds no word of the notes; it still depends on them, so share it with care.

With --validation-fraction, some of the patients are kept apart, the model is trained on the others, and
a table shows how much it finds in the notes of those patients. What counts most is the recall, and
the number of PHI tokens that were missed. Notes are kept apart by the patient id of their files;
brat files of other tools have none, and then each note counts as a patient of its own.

Time: about 20,000 words a second and pass on one core; the number of passes (--epochs) is 20, and
up to 100, where there are few notes. 500 notes of 500 words take about 4 minutes."""

_EPILOG = """\
example: train on brat files, with a fifth of the patients kept apart for the scores
  sklearn-deid train my-notes/ --format brat --model my-model --validation-fraction 0.2

exit codes: 0 trained, 1 trained without the broken files (--skip-broken), 2 failed, 130 interrupted
(then no model is saved)"""


def add_command(commands: Any) -> None:
    """Add the parser of this command."""
    parser = add(
        commands,
        "train",
        run,
        summary="make a model from your annotated notes",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="file or folder with annotated notes")
    parser.add_argument("--model", required=True, metavar="FOLDER", help="folder to save the model in")
    parser.add_argument("--overwrite", action="store_true", help="replace a model that is saved there")
    parser.add_argument(
        "--format", choices=ANNOTATED, help="format of CORPUS (default: what the endings of the files say)"
    )
    add_encoding(parser)
    add_label_scheme(parser)
    add_skip_broken(parser)
    parser.add_argument(
        "--validation-fraction",
        type=share,
        metavar="SHARE",
        help="share of the patients that is kept apart for the scores, between 0 and 1, such as 0.2 (default: none)",
    )
    parser.add_argument("--epochs", type=count, metavar="N", help="passes over the notes (default: 20 to 100)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="number that chance begins with (default: 0)")
    add_machine_options(parser)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--verbose", action="store_true", help="show a line for each epoch instead of a bar")
    amount.add_argument("--quiet", action="store_true", help="show no progress")


def run(arguments: argparse.Namespace) -> int:
    """Train, score, save."""
    device = set_machine(arguments)
    from .._storage import check_bundle_target
    from ..saving import save

    check_bundle_target(arguments.model, arguments.overwrite)
    result = read_annotated(arguments)
    corpus, held_out = _split(result.corpus, arguments)
    print(f"Training on {_size(corpus)}.")
    deidentifier = fit_deidentifier(
        corpus,
        quiet=arguments.quiet,
        verbose=arguments.verbose,
        max_epochs=arguments.epochs or "auto",
        random_state=arguments.seed,
        device=device,
    )
    print(f"Alignment: {deidentifier.alignment_report_.summary()}.")
    if held_out is not None:
        _show_scores(deidentifier, held_out, arguments.label_scheme)
    save(deidentifier, arguments.model, overwrite=arguments.overwrite)
    print(f"Model saved in {arguments.model}")
    show_left_out(result.errors)
    return SOME_WITHHELD if result.errors else DONE


def _split(corpus: Corpus, arguments: argparse.Namespace) -> tuple[Corpus, Corpus | None]:
    """Notes to train on and notes to score; a model that could learn nothing is refused."""
    held_out = None
    if arguments.validation_fraction is not None:
        if len(corpus.patients) < 2:
            raise DeidError("--validation-fraction needs notes of at least two patients.")
        unknown = sum(document.patient_id is None for document in corpus)
        if unknown:
            print(
                f"{unknown} of {len(corpus)} notes have no patient id: notes of one patient may stand on both sides, "
                "and the scores be too good.",
                file=sys.stderr,
            )
        corpus, held_out = hold_out_patients(corpus, arguments.validation_fraction, arguments.seed)
    if not corpus.n_spans:
        raise DeidError(
            "No PHI is annotated in the notes to train on. A model made of them would find nothing and let all PHI "
            "through."
        )
    return corpus, held_out


def _show_scores(deidentifier: Any, held_out: Corpus, label_scheme: str | None) -> None:
    from ..metrics import deid_report

    print(f"\nScores on {_size(held_out)} that were kept apart:\n")
    print(deid_report(held_out, predict_corpus(deidentifier, held_out), label_scheme=label_scheme), end="\n\n")


def _size(corpus: Corpus) -> str:
    return f"{len(corpus)} notes of {len(corpus.patients)} patients with {corpus.n_spans} annotations"
