"""``sklearn-deid train``: train a model on annotated notes."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path
from typing import Any

from ..exceptions import BundleError, CorpusFormatError, DeidError
from ..text import Corpus, Document, known_id
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .label_texts import check_labels
from .note_source import NoteSource
from .options import add_machine_options, add_number, add_seed, count, model_folder, set_machine, share
from .reading import add_corpus_options, left_out_shown, read_annotated

SUMMARY = "train a model on your annotated notes"
DESCRIPTION = """\
Train a model on annotated notes.

CORPUS is a file or folder of notes in which all PHI is annotated. The model is a folder with two data
files. They hold no word of the notes, but every model depends on its training notes: share it with care.

With --validation-fraction, some patients are held out. The model is trained on the other patients, and
a table shows how much PHI it finds in the notes of the held-out patients. Look first at the recall and at
the number of missed PHI tokens. The patient ids in the files distinguish patients. Where files have no
patient ids, as brat files of other tools, each note counts as one patient, together with its copies.

Time: about 20,000 words a second and epoch on one core. There are 20 epochs, and up to 100 for few notes
(--epochs). 500 notes of 500 words take about 4 minutes."""

EPILOG = """\
example: train on brat files, and score on a fifth of the patients
  sklearn-deid train my-notes/ --format brat --model my-model --validation-fraction 0.2

example: train the model of the package on with few notes
  sklearn-deid train corrected.jsonl --from starter-en --model my-model

example: find 99 % of the PHI, and let rules find what has a fixed form
  sklearn-deid train my-notes/ --model my-model --target-recall 0.99 --rules

example: learn from raw notes, too
  sklearn-deid train corrected.jsonl --unlabelled raw-notes/ --model my-model

exit codes: 0 trained, 1 trained without broken files (--skip-broken) or raw notes, 2 failed, 130 interrupted
(no model is saved)"""

_NO_START = "none"
_ENCODERS = ("lstm", "gru", "gru-gru", "lstm-gru", "transformer")
# Precision of the hidden words below which a target recall is refused, unless the user names another precision.
_PRECISION = 0.8
_CONTEXTS = ("sentence", "block", "window", "document")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--model", required=True, metavar="FOLDER", help="folder to save the model in")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing model")
    parser.add_argument(
        "--from",
        dest="start",
        metavar="MODEL",
        help="model to start from: a model folder, or starter-en, a model for English that comes with the package. Its "
        "labels may differ, and fewer notes are needed. none: start from random weights (default: starter-en for notes "
        "in a language of surrogates with at most 300,000 characters together, else none)",
    )
    parser.add_argument(
        "--labels",
        choices=("all", "hipaa"),
        default="all",
        help="what the notes mark and the model hides: all PHI, or what the Safe Harbor rule of HIPAA removes, as in "
        "notes that were reviewed with starter-en (default: all)",
    )
    parser.add_argument(
        "--unlabelled",
        metavar="NOTES",
        help="file or folder of raw notes of the same kind to learn from, too: three models that are trained on CORPUS "
        "tag them, and the model learns from both. Takes four trainings",
    )
    _add_choices(parser)
    add_corpus_options(parser)
    add_number(
        parser,
        "--validation-fraction",
        share,
        "share of the patients that is held out for the scores, between 0 and 1, such as 0.2 (default: none)",
    )
    add_number(parser, "--epochs", count, "epochs of training (default: 20 to 100)")
    add_seed(parser)
    add_machine_options(parser)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--verbose", action="store_true", help="show a line for each epoch instead of a bar")
    amount.add_argument("--quiet", action="store_true", help="show no progress")


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the options for the kind of model, and for the trade-off between recall and precision."""
    add_number(
        parser,
        "--target-recall",
        share,
        "share of the PHI words to find in notes of new patients, such as 0.99: the threshold is lowered until "
        "held-out patients show it with 95 %% confidence. Takes up to six trainings",
    )
    add_number(
        parser,
        "--precision-at-least",
        share,
        "share of PHI among the hidden words of held-out patients: hide as many words as this share allows. With "
        "--target-recall: save no model if the share is lower, and show the highest target that keeps the share "
        "(default with --target-recall: 0.8)",
    )
    parser.add_argument(
        "--rules",
        action="store_true",
        help="let rules find identifiers with a fixed form, too, such as e-mail addresses and phone numbers; for notes "
        "with labels of i2b2-2014, meddocan or binary",
    )
    parser.add_argument(
        "--encoder",
        metavar="NAME",
        help=f"network: {', '.join(_ENCODERS)}, or the folder of a pretrained language model. All but lstm start from "
        "random weights or from the language model (default: lstm)",
    )
    parser.add_argument(
        "--context",
        choices=_CONTEXTS,
        help="text that the network reads at once (default: block, or that of the model to start from)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Train, score and save a model."""
    with left_out_shown() as errors:
        return _train(arguments, errors)


def _train(arguments: argparse.Namespace, errors: list[CorpusFormatError]) -> int:
    device = set_machine(arguments)
    from .._storage import check_bundle_target
    from .scoring import check_start, fit_deidentifier

    # The output is checked before the training, which may take hours.
    check_bundle_target(arguments.model, arguments.overwrite)
    start, choices = _start(arguments.start), _choices(arguments)
    check_start(start, arguments.context)
    result = read_annotated(arguments)
    errors += result.errors
    check_labels(result.corpus)
    if arguments.rules:
        _check_rule_labels(result.corpus)
    corpus, held_out = _split(result.corpus, arguments)
    raw = _raw_notes(arguments, result.corpus, held_out, errors)
    print(f"Training on {_size(corpus)}.")
    deidentifier = fit_deidentifier(
        corpus,
        raw,
        start=start,
        around=lambda tagger: _around(tagger, arguments),
        labels=arguments.labels,
        quiet=arguments.quiet,
        verbose=arguments.verbose,
        max_epochs=arguments.epochs or "auto",
        random_state=arguments.seed,
        device=device,
        **choices,
    )
    print(f"Alignment: {deidentifier.alignment_report_.summary()}.")
    _show_decision(deidentifier.estimator_)
    if raw is not None:
        print(_raw_account(deidentifier.raw_notes_, len(errors) - len(result.errors)))
    if held_out is not None:
        _show_scores(deidentifier, held_out, arguments.label_scheme)
    _save(deidentifier, Path(arguments.model), arguments.overwrite)
    print(f"Model saved in {arguments.model}")
    return SOME_WITHHELD if errors or (raw is not None and deidentifier.raw_notes_["left out"]) else DONE


def _check_rule_labels(corpus: Corpus) -> None:
    """Raise an error if the rules do not know the labels of the notes."""
    from ..tagging.rules import infer_label_map

    try:
        infer_label_map({span.label for document in corpus for span in document.spans})
    except ValueError:
        raise DeidError(
            "--rules needs notes whose labels all belong to i2b2-2014, to meddocan or to binary. Leave out --rules, or "
            "rename the labels."
        ) from None


def _start(written: str | None) -> Any:
    """Model from which the training starts; None for random weights."""
    from .scoring import DEFAULT_START

    if written is None:
        return DEFAULT_START
    if written != _NO_START:
        return model_folder(written)
    # As for the names of models: a folder and a shipped model must not be confused.
    if Path(written).exists():
        raise DeidError(f"{written} means random weights, and is a folder here. Write ./{written} for the folder.")
    return None


def _choices(arguments: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the tagger that the options set."""
    tunes = arguments.target_recall is not None or arguments.precision_at_least is not None
    if tunes and arguments.unlabelled is not None:
        raise DeidError(
            "--unlabelled excludes --target-recall and --precision-at-least: raw notes have no annotation that could "
            "show a recall or a precision."
        )
    chosen = {} if arguments.context is None else {"context": arguments.context}
    if arguments.encoder is None:
        return chosen
    if arguments.encoder != "lstm" and arguments.start not in (None, _NO_START):
        raise DeidError("--from needs the network of the model to start from. Leave out --encoder or --from.")
    return {**chosen, "encoder": _encoder(arguments.encoder)}


def _encoder(written: str) -> Any:
    """Name of an encoder, or an encoder that reads the files of a folder."""
    if written in _ENCODERS:
        return written
    if not Path(written).is_dir():
        raise DeidError(f"--encoder must be {', '.join(_ENCODERS)} or a folder. Got {written!r} instead.")
    from ..tagging.pretrained_encoder import PretrainedEncoder

    return PretrainedEncoder(written)


def _around(tagger: Any, arguments: argparse.Namespace) -> Any:
    """Estimator that contains the tagger, with a tuned threshold and with rules if the options request these."""
    from ..tagging.hybrid_tagger import HybridTagger
    from ..tagging.recall_tuned_tagger import RecallTunedTagger

    recall, precision = arguments.target_recall, arguments.precision_at_least
    if recall is not None or precision is not None:
        # A model is saved for other commands, which a warning does not reach. "highest" has no lower target to offer.
        tagger = RecallTunedTagger(
            tagger,
            target_recall=recall or "highest",
            min_precision=precision or _PRECISION,
            on_low_precision="warn" if recall is None else "raise",
            random_state=arguments.seed,
        )
    return HybridTagger(tagger=tagger) if arguments.rules else tagger


def _show_decision(estimator: Any) -> None:
    """Print the tuned threshold and its results on held-out patients, if the threshold was tuned."""
    report = getattr(getattr(estimator, "tagger_", estimator), "report_", None)
    if report is not None:
        print(f"\nThe threshold on patients that were held out to choose it:\n\n{report}\n")


def _save(deidentifier: Any, path: Path, overwrite: bool) -> None:
    """Save the model. If the path was created after the start, save the model next to the path and raise an error."""
    from ..saving import save

    try:
        save(deidentifier, path, overwrite=overwrite)
        return
    except BundleError:
        if not os.path.lexists(path):
            raise
    # A training may take hours: its model is not thrown away because another training has ended first.
    beside = path.with_name(f"{path.name}-{secrets.token_hex(4)}")
    save(deidentifier, beside)
    raise DeidError(f"The path was taken during the training. The model is saved in {beside}.", path=str(path))


def _raw_notes(
    arguments: argparse.Namespace, corpus: Corpus, held_out: Corpus | None, errors: list[CorpusFormatError]
) -> list[Document] | None:
    """Notes of ``--unlabelled``; None without the option. The errors of notes that cannot be read are added."""
    if arguments.unlabelled is None:
        return None
    from ..text.note_copies import copies_together, without_blanks

    notes = list(NoteSource(arguments.unlabelled, None, arguments.encoding).read(errors.append))
    # Held-out notes are annotated notes, and would be learned from otherwise.
    known = {without_blanks(document.text) for document in corpus}
    kept = [document for document in notes if without_blanks(document.text) not in known]
    annotated = counted(len(notes) - len(kept), "of them is", "of them are")
    print(f"Raw notes: {counted(len(notes), 'was', 'were')} read, and {annotated} annotated.")
    return kept if held_out is None else _of_others(copies_together(kept), set(held_out.patients))


def _of_others(notes: list[Document], held_out: set[str]) -> list[Document]:
    """Raw notes without the notes of held-out patients: the scores are those of patients that the model never read."""
    patients = [known_id(document.patient_id) for document in notes]
    others = [document for document, patient in zip(notes, patients, strict=True) if patient not in held_out]
    if len(others) < len(notes):
        left = counted(len(notes) - len(others), "raw note is", "raw notes are")
        print(f"{left} left out, because the patients are held out.")
    # Files of plain text have no patient ids, so that this holds for most raw notes.
    if unknown := patients.count(None):
        print(
            f"{unknown} of {len(notes)} raw notes have no patient id. The model may learn from raw notes of held-out "
            "patients, and then the scores are too high.",
            file=sys.stderr,
        )
    return others


def _raw_account(counts: dict[str, int], n_unread: int) -> str:
    used = (
        f"{counts['used sentences']} of {counts['sentences']} sentences of {counted(counts['read'], 'raw note')} were "
        "learned from"
    )
    n_left = counts["left out"] + n_unread
    left = counted(n_left, "note was left out because it is", "notes were left out because they are")
    return f"Raw notes: {used}; {left} no readable text."


def _split(corpus: Corpus, arguments: argparse.Namespace) -> tuple[Corpus, Corpus | None]:
    """Return notes for training and notes for scoring. Raises an error if the training notes hold no PHI."""
    from ..text.note_copies import copies_together
    from .scoring import hold_out_patients

    held_out = None
    if arguments.validation_fraction is not None:
        unknown = sum(known_id(document.patient_id) is None for document in corpus)
        # A copy of a note that the model was trained on would be found well.
        corpus = Corpus(copies_together(corpus))
        if len(corpus.patients) < 2:
            raise DeidError("--validation-fraction needs notes of at least two patients.")
        if unknown:
            print(
                f"{unknown} of {len(corpus)} notes have no patient id. Notes of one patient may be in the training "
                "and held out, and then the scores are too high.",
                file=sys.stderr,
            )
        corpus, held_out = hold_out_patients(corpus, arguments.validation_fraction, arguments.seed)
    # Checked after the split: all annotated notes may be among those held out.
    if not corpus.n_spans:
        raise DeidError(
            "No PHI is annotated in the training notes. A model trained on them would find no PHI and let all PHI "
            "through."
        )
    return corpus, held_out


def _show_scores(deidentifier: Any, held_out: Corpus, label_scheme: str | None) -> None:
    from ..metrics import deid_report
    from .scoring import predict_corpus

    print(f"\nScores on {_size(held_out)} that were held out:\n")
    print(deid_report(held_out, predict_corpus(deidentifier, held_out), label_scheme=label_scheme), end="\n\n")
    from ..tagging.note_sentences import NormalizedSegmenter

    # As the tagger reads them in training and tagging.
    data = held_out.to_sentences(segmenter=NormalizedSegmenter(deidentifier.segmenter_))
    # Rules have no probabilities that a bias could change. With the Safe Harbor rule, the tagger also tags text that
    # stays, such as ages, which would count as hidden.
    tags_more = hasattr(deidentifier.estimator_, "rules_") or deidentifier.labels != "all"
    if not tags_more and any(tag != "O" for row in data.y for tag in row):
        from ..tagging.measured_price import recall_price

        print("The price of recall: a target recall that these patients show, and what it would cost\n")
        print(recall_price(deidentifier.estimator_, data.X, data.y, groups=data.groups), end="\n\n")


def _size(corpus: Corpus) -> str:
    notes, patients = counted(len(corpus), "note"), counted(len(corpus.patients), "patient")
    return f"{notes} of {patients} with {counted(corpus.n_spans, 'annotation')}"
