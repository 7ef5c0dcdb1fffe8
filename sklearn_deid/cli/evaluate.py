"""``sklearn-deid evaluate``: compare predicted with true annotations."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import DeidError, PartlyAnnotatedWarning, WithheldWarning
from ..io import read_corpus, read_gold
from ..text import Corpus
from .annotating import load_deidentifier
from .failures import DONE, one_line
from .options import ANNOTATED, add_encoding, add_label_scheme, add_machine_options, add_seed

if TYPE_CHECKING:
    from ..metrics import LeakList

SUMMARY = "compare predicted with true annotations"
DESCRIPTION = """\
Compare predicted with true annotations of the same notes. The counts are those of the official scripts of
i2b2 2014 and MEDDOCAN.

precision   proportion of the marked spans that are PHI
recall      proportion of the PHI that was marked; the rest leaks
f1          harmonic mean of the two
gold        number of true annotations (rows "tokens": of runs of ASCII letters and digits); "support" in JSON
missed      number of true annotations that were not found; "fn" in JSON
invented    number of marked spans that are no true annotation; "fp" in JSON
macro f1    f1 of the mean precision and the mean recall of the notes

The official counts of tokens leave out all letters outside of ASCII, such as those of a Greek name. If the annotations
have such letters, a row below "tokens" counts the missed ones.

All scores are between 0 and 1; a score of no items is "-", and null in JSON. In "typed" rows, a name annotated
as a date is wrong. In "any type" rows, the name is right, because redaction hides the name. "HIPAA" rows count only
the labels of the HIPAA rule. In the row "neighbours joined", spans without a letter or digit between them count as
one span.

--leaks also lists the PHI that redaction would leave readable, by note, patient and offsets (characters),
without text. Direct identifiers are labels that HIPAA counts, ids and contacts.

--robustness tags altered copies of GOLD with a model, without PREDICTED: in capitals, hyphenated, scanned, with
unusual characters, ... Each row has the recall of PHI tokens (all, and names), the precision, the share of other
words that are hidden (false alarms), and the share of notes that were withheld, in percent."""

EPILOG = """\
example: how good is a model on annotated notes that it was not trained on?
  sklearn-deid tag gold/ --model my-model --output predicted/
  sklearn-deid evaluate gold/ predicted/ --format brat --label-scheme i2b2-2014 --leaks
  sklearn-deid evaluate gold/ --format brat --robustness --model my-model

exit codes: 0 done, 2 failed"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("gold", metavar="GOLD", help="file or folder with true annotations")
    parser.add_argument("predicted", metavar="PREDICTED", nargs="?", help="file or folder with annotations of a model")
    parser.add_argument("--format", choices=ANNOTATED, help="format of GOLD (default: the format of its file endings)")
    parser.add_argument("--predicted-format", choices=ANNOTATED, help="format of PREDICTED (default: that of GOLD)")
    add_encoding(parser)
    add_label_scheme(parser)
    parser.add_argument(
        "--missing",
        choices=("raise", "count"),
        default="raise",
        help="notes of GOLD that PREDICTED lacks, such as withheld ones: stop (raise), or count all their PHI as "
        "missed (count) (default: raise)",
    )
    parser.add_argument("--output", choices=("table", "json"), default="table", help="output form (default: table)")
    parser.add_argument("--leaks", action="store_true", help="also list the PHI that redaction would leave readable")
    parser.add_argument(
        "--robustness", action="store_true", help="tag altered copies of GOLD with --model instead of reading PREDICTED"
    )
    parser.add_argument("--model", metavar="FOLDER", help="the model for --robustness")
    add_machine_options(parser)
    add_seed(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the scores and, with ``--leaks``, the PHI that the predictions do not cover completely."""
    from ..metrics import deid_report, leak_list

    options = {"encoding": arguments.encoding, "label_scheme": arguments.label_scheme}
    if arguments.robustness:
        return _robustness(arguments, read_gold(arguments.gold, arguments.format, **options))
    if arguments.predicted is None or arguments.model is not None:
        raise DeidError("Name PREDICTED, or use --robustness with --model.")
    if Path(arguments.gold).resolve() == Path(arguments.predicted).resolve():
        raise DeidError(
            "GOLD and PREDICTED are the same, so that all scores would be 1. Name the annotations of the model, which "
            "'tag' writes.",
            path=arguments.predicted,
        )
    gold = read_gold(arguments.gold, arguments.format, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartlyAnnotatedWarning)  # nobody has to read the spans of a model
        predicted = read_corpus(arguments.predicted, arguments.predicted_format or arguments.format, **options)
    if gold.n_spans and _spans(gold) == _spans(predicted):
        print("PREDICTED has exactly the annotations of GOLD: is PREDICTED a copy of GOLD?", file=sys.stderr)
    rules = {"label_scheme": arguments.label_scheme, "missing": arguments.missing}
    form = "dict" if arguments.output == "json" else "table"
    report = deid_report(gold, predicted, form, **rules)
    leaks = leak_list(gold, predicted, **rules) if arguments.leaks else None
    if form == "dict":
        print(json.dumps(report if leaks is None else {**report, "leaks": _leaks_as_dict(leaks, gold)}, indent=1))
    else:
        print(report if leaks is None else f"{report}\n\n{_leaks_as_table(leaks, gold)}")
    return DONE


def _spans(corpus: Corpus) -> dict[str, list[tuple[int, int, str]]]:
    return {note.doc_id: sorted((s.start, s.end, s.label) for s in note.spans) for note in corpus}


def _robustness(arguments: argparse.Namespace, gold: Corpus) -> int:
    """Print the table of scores on altered notes."""
    from ..metrics import robustness_table

    if arguments.predicted is not None or arguments.model is None or arguments.leaks:
        raise DeidError("--robustness needs --model, and neither PREDICTED nor --leaks.")
    deidentifier = load_deidentifier(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WithheldWarning)  # the table counts them
        table = robustness_table(deidentifier, gold, random_state=arguments.seed)
    print(json.dumps(table.to_dict(), indent=1) if arguments.output == "json" else table)
    return DONE


def _leaks_as_dict(leaks: LeakList, gold: Corpus) -> dict[str, Any]:
    return {
        "n_annotations": gold.n_spans,
        "n_patients": leaks.n_patients,
        "n_patients_with_leak": len(leaks.patients),
        "share_of_patients": leaks.share_of_patients if leaks.n_patients else None,
        "spans": leaks.records(),
    }


def _leaks_as_table(leaks: LeakList, gold: Corpus) -> str:
    patients = f"{len(leaks.patients)} of {leaks.n_patients} patients"
    lines = [f"{len(leaks)} of {gold.n_spans} annotations are not covered wholly, of {patients}:"]
    for leak in leaks.leaks:
        where = f"{leak.doc_id}  patient {leak.patient_id}  characters {leak.span.start}-{leak.span.end}"
        kind = f"{leak.span.label}{' (direct identifier)' if leak.direct else ''}"
        lines.append(one_line(f"  {where}  {kind}  {leak.uncovered} characters uncovered"))
    return "\n".join(lines)
