"""``sklearn-deid audit``: attack a saved representer, or a saved release, before it is shared."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import CorpusFormatError, DeidError
from ..text.patient_ids import known_id
from .audit_redacted import add_redacted_options, run_redacted
from .counting import counted
from .failures import DONE, SOME_WITHHELD, one_line
from .note_output import check_apart, check_new
from .options import add_machine_options, add_number, add_quiet, add_seed, count, score, set_machine, three_or_more
from .reading import add_corpus_options, left_out_shown, read_annotated

if TYPE_CHECKING:
    from ..audit.report import AuditReport
    from ..text import Corpus

_SUFFIXES = (".html", ".md", ".json")
SUMMARY = "attack private vectors before you share them"
DESCRIPTION = """\
Attack the private vectors of a saved representer or of a saved release, and report how much attackers learn.

With --representer alone, CORPUS is a file or folder of annotated notes of patients that the representer was
not trained on, and the audit makes releases of them. With --release, the audit attacks the bytes of the
folder. CORPUS is then the notes behind the release, in their order. Without CORPUS and --representer,
the audit checks the folder alone, and fails, since the other attacks cannot be run. The
attackers train on half of these patients and choose their settings on a fifth. The other patients measure
how often the attackers are right.

The score is between 0 and 1. A score of 1 means that none of the attacks does better than guessing. The
strongest attack determines the score. Few notes give wide intervals and a low score. An audit whose controls
fail has score 0.

--attacks quick takes under two minutes for 2,000 sentences, default about fifteen. The report holds no text
of notes. A bound is a proof for the attackers that it covers. An attack that fails proves nothing."""

EPILOG = """\
example: attack the vectors before you share them
  sklearn-deid audit held-out-notes/ --representer my-representer --attacks quick --output report.html
  sklearn-deid audit held-out-notes/ --representer my-representer --fail-under 0.9
  sklearn-deid audit my-notes/ --representer my-representer --release my-vectors --attacks quick
  sklearn-deid audit --release my-vectors --verify report.json
  sklearn-deid audit --redacted redacted/ --model another-model --names staff.txt --output found.json

exit codes: 0 audited, 1 audited but the audit failed, the score is below --fail-under, something was found in
--redacted notes, broken notes were left out (--skip-broken), or the report of --verify describes another folder,
2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--representer", metavar="FOLDER", help="folder of a saved representer")
    parser.add_argument("--release", metavar="FOLDER", help="folder of vectors that save_representation wrote")
    parser.add_argument(
        "--verify",
        metavar="REPORT",
        help="attack nothing; check that this report (.json) describes the folder of --release",
    )
    add_redacted_options(parser)
    parser.add_argument(
        "--embeddings",
        metavar="FILE",
        help="public word vectors that the representer was trained with (default: the installed GloVe vectors)",
    )
    add_corpus_options(parser, optional=True)
    parser.add_argument(
        "--attacks",
        type=_attacks,
        default="default",
        metavar="NAMES",
        help="quick, default, all (also attacks on the weights; takes hours), or names with commas between them, "
        "such as lookup,pairs (default: default)",
    )
    add_number(parser, "--epochs", count, "epochs of adversaries (default: 50)", default=50)
    add_number(parser, "--max-seconds", count, "skip attacks that would take longer (default: no limit)")
    add_number(parser, "--max-sentences", three_or_more, "sentences used, at least 3 (default: 4000)", default=4000)
    add_seed(parser)
    parser.add_argument(
        "--output",
        type=_report_file,
        action="append",
        default=[],
        metavar="FILE",
        help="report to write, ending in .html, .md or .json; may be given several times",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace reports that are there already")
    parser.add_argument(
        "--fail-under", type=score, metavar="SCORE", help="end with exit code 1 if the score is below, such as 0.9"
    )
    add_machine_options(parser)
    add_quiet(parser)


def run(arguments: argparse.Namespace) -> int:
    """Load the representer and the notes, run the attacks, and print and write the report."""
    # A report in the folder of a release would be handed out with the release.
    for name in ("corpus", "redacted", "release", "representer"):
        given = getattr(arguments, name)
        if given is not None:
            check_apart(Path(given), arguments.output, "notes" if name in ("corpus", "redacted") else name)
    check_new(arguments.overwrite, *arguments.output)
    if arguments.redacted is not None:
        return run_redacted(arguments)
    if any(given is not None for given in (arguments.model, arguments.names, arguments.table)):
        raise DeidError("--model, --names and --table belong to --redacted NOTES: nothing else is searched for names.")
    if arguments.verify is not None:
        return _verify(arguments)
    with left_out_shown() as errors:
        return _audit(arguments, errors)


def _audit(arguments: argparse.Namespace, errors: list[CorpusFormatError]) -> int:
    """Attack a representer or a release."""
    if arguments.release is None and (arguments.representer is None or arguments.corpus is None):
        raise DeidError("Say what to attack: CORPUS with --representer FOLDER, --release FOLDER, or --redacted NOTES.")
    device = set_machine(arguments)
    for path in arguments.output:
        path.parent.mkdir(parents=True, exist_ok=True)  # before the attacks, which can take hours
    from ..audit.privacy_auditor import AdversarialPrivacyAuditor

    representer = None if arguments.representer is None else _representer(arguments, device)
    result = None if arguments.corpus is None else read_annotated(arguments)
    errors += [] if result is None else result.errors
    if result is not None and not arguments.quiet:
        _say_unknown_patients(result.corpus)
    data = None if result is None else result.corpus.to_sentences()
    notes = (None, None, None) if data is None else (data.X, data.y, data.groups)
    auditor = AdversarialPrivacyAuditor(
        arguments.attacks,
        n_epochs=arguments.epochs,
        max_seconds=arguments.max_seconds,
        max_sentences=arguments.max_sentences,
        verbose=0 if arguments.quiet else 1,
        random_state=arguments.seed,
    )
    if arguments.release is None:
        report = auditor.audit(representer, *notes)
    else:
        report = auditor.audit(arguments.release, *notes, representer=representer)
    show_report(report)
    for path in arguments.output:
        report.save(path)
        print(f"Report saved in {path}")
    failed = bool(report.blocking_issues) or (arguments.fail_under is not None and report.score < arguments.fail_under)
    return SOME_WITHHELD if failed or errors else DONE


def _say_unknown_patients(corpus: Corpus) -> None:
    """Print how many notes count as a patient of their own because their patient is unknown."""
    unknown = sum(known_id(document.patient_id) is None for document in corpus)
    if unknown:
        print(
            f"{unknown} of {len(corpus)} notes have no patient id. Each of these notes counts as a patient: if "
            "patients have several notes or copies of notes, the intervals are too narrow, and the score is too high.",
            file=sys.stderr,
        )


def _representer(arguments: argparse.Namespace, device: str) -> Any:
    """Load the published representer: a network, or word classes."""
    from ..representations.private_representer import PrivateRepresenter
    from ..representations.word_class_representer import WordClassRepresenter
    from ..saving import saved_class

    path, embeddings = arguments.representer, arguments.embeddings
    if saved_class(path) == WordClassRepresenter.__name__:
        return WordClassRepresenter.load(path, embeddings=embeddings)
    return PrivateRepresenter.load(path, embeddings=embeddings, device=device)


def _verify(arguments: argparse.Namespace) -> int:
    """Compare the digest in a report with the folder."""
    others = (arguments.corpus, arguments.representer, arguments.fail_under)
    if arguments.release is None or arguments.output or any(other is not None for other in others):
        # Exit code 0 would otherwise seem to say that the score of the report reaches --fail-under.
        raise DeidError("--verify compares a report with --release FOLDER alone, and reads no score.")
    from .._storage import bundle_digest, check_nothing_else, read_manifest
    from .._strict_json import load_strict

    path = Path(arguments.verify)
    try:
        # Reading a pipe could block.
        report = load_strict(path.read_bytes() if path.is_file() else b"")
        stated = report["settings"]["release"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DeidError("This is no report (.json) of an audit of a folder.", path=str(path)) from None
    read_manifest(arguments.release)  # checks the arrays, of which the digest of the manifest holds the digest
    check_nothing_else(arguments.release)
    if stated != bundle_digest(arguments.release):
        print("The report describes another folder.")
        return SOME_WITHHELD
    print("The report describes this folder.")
    return DONE


def show_report(report: AuditReport) -> None:
    """Print the score, the attack that determines the score, the verdicts, and the missing parts of the audit."""
    from ..audit.report_score import two_digits

    low, high = map(two_digits, report.score_interval)
    # The patients of a recorded exchange are not known.
    patients = "" if report.n_patients is None else f" of {counted(report.n_patients, 'patient')}"
    print(f"Score: {low} (up to {high}), on {report.n_sentences} sentences{patients}.")
    if report.worst is not None:
        print(one_line(f"Worst attack: {report.worst.name}."))
    for threat, verdict in report.verdicts.items():
        print(one_line(f"{threat}: {verdict}"))
    for warning in report.warnings:
        print(one_line(f"Caution: {warning}"))
    for issue in report.blocking_issues:
        print(one_line(f"The audit failed: {issue}"))
    for result in report.with_status("skipped"):
        print(one_line(f"Skipped: {result.name}. {result.reason}"))


def _attacks(written: str) -> Any:
    """Parse the value of ``--attacks``: a preset, or a list of names."""
    from ..audit.privacy_auditor import AdversarialPrivacyAuditor

    if written in ("default", "quick", "all"):
        return written
    names = written.split(",")
    unknown = [name for name in names if name not in AdversarialPrivacyAuditor.ATTACKS]
    if unknown:
        known = ", ".join(AdversarialPrivacyAuditor.ATTACKS)
        raise argparse.ArgumentTypeError(f"must be quick, default, all, or some of {known}; not {unknown[0]!r}")
    return names


def _report_file(written: str) -> Path:
    path = Path(written)
    if path.suffix not in _SUFFIXES:
        raise argparse.ArgumentTypeError(f"must end in one of {', '.join(_SUFFIXES)}, not {written!r}")
    return path
