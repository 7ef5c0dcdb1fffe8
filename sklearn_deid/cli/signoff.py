"""``sklearn-deid signoff``: bound the leaks of a release by means of a random sample that a person reads."""

from __future__ import annotations

import argparse
import hmac
import json
import secrets
import sys
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from .._atomic import write_file
from ..exceptions import DeidError
from ..io import read_gold
from ..surrogates import SURROGATE
from ..text import Document, get_label_scheme, unreadable_reason
from .audit_redacted import check_release
from .counting import counted
from .failures import DONE, SOME_WITHHELD
from .label_texts import check_labels
from .note_output import check_apart, check_new
from .note_source import NoteSource
from .notes_table import notes_table
from .numbering import is_numbered
from .options import add_encoding, add_label_scheme, add_number, count, level, seed, share
from .reading import warn_of_later_save
from .run_record import RunRecord
from .signoff_plan import PLAN, locked, next_draw, read_plan, with_reading

if TYPE_CHECKING:
    from ..review import SignOff

_PAGE, _RECORD = "signoff.html", "signoff-record"
#: Options of the sample, and their defaults.
_DRAWN: Mapping[str, Any] = {"sample": 100, "target": 0.05, "confidence": 0.95, "seed": None}
SUMMARY = "state how many redacted notes leak at most, from a random sample that you read"
DESCRIPTION = """\
State how many of your redacted notes leak PHI at most, before the notes leave.

First without --read: a random sample of RELEASE is drawn, and WORK/signoff.html shows it to a reader. The reader
marks every passage of PHI that is still readable, finishes all notes of the sample, and saves read.jsonl, which the
browser writes into the downloads folder.

Then with --read read.jsonl: upper bounds are computed for the share of leaking notes of the release and for the share
of PHI items that leak (Clopper-Pearson, patients as clusters). The record is written to WORK/signoff-record.html and
.json: bounds, the number of further notes to read for the target, settings, seed, and digests of release and model.
The record holds no id and no text of a note.

RELEASE is a folder of .txt files or a .jsonl file that 'redact' has written, with --mode label, mask or remove. A
reader cannot distinguish surrogates from real names. To release surrogates, sign off the notes that the same model
redacts with --mode label: both runs replace equal spans.

--table is a CSV file (commas or semicolons) with the column doc_id, and the columns patient_id, type, or both.
Without patient_id, each note counts as a patient of its own. The bound then holds for the notes of RELEASE, also if
patients have several notes, but not for other notes of the same source.
Choose --sample before the reading. A reader who stops when the bound looks good makes the bound wrong. To read
further notes, draw a new, larger sample with --overwrite. The record states the confidence of several samples: two
samples with --confidence 0.975 have 95 %. The record also counts the different readings of a sample."""

EPILOG = """\
example: at most 5 % of the notes leak, with 95 % confidence
  sklearn-deid signoff redacted/ --output signoff/ --sample 60 --target 0.05
  sklearn-deid signoff redacted/ --output signoff/ --read read.jsonl

exit codes: 0 page written, or the bound is at most the target; 1 the bound is above the target; 2 failed"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("release", metavar="RELEASE", help="folder or file of redacted notes")
    parser.add_argument("--output", required=True, metavar="WORK", help="folder for the page and the record")
    parser.add_argument("--read", metavar="FILE", help="the file that the reader has saved")
    add_number(parser, "--sample", count, "notes to read (default: 100)")
    add_number(parser, "--target", share, "largest share of leaking notes (default: 0.05)")
    parser.add_argument("--confidence", type=level, metavar="LEVEL", help="confidence of the bounds (default: 0.95)")
    parser.add_argument(
        "--table",
        metavar="FILE.csv",
        help="patient_id and type of each doc_id (default: each note counts as a patient of its own)",
    )
    add_encoding(parser)
    add_label_scheme(parser)
    add_number(parser, "--seed", seed, "random seed of the sample (default: from the operating system)")
    parser.add_argument("--overwrite", action="store_true", help="replace a page or a record that is there already")


def run(arguments: argparse.Namespace) -> int:
    """Draw the sample, or assess the notes of the sample that a person has read."""
    source = NoteSource(arguments.release, None, arguments.encoding)
    work = Path(arguments.output)
    check_apart(source.path, [work / _PAGE])
    check_release(source)
    return _draw(arguments, source, work) if arguments.read is None else _assess(arguments, source, work)


def _draw(arguments: argparse.Namespace, source: NoteSource, work: Path) -> int:
    from ..review import write_review_page

    check_new(arguments.overwrite, work / _PAGE, *_records(work))
    listed = _listed(source)
    release = _described(source, listed)
    table = notes_table(arguments.table, listed.ids)
    sign_off = _asked_for(arguments)
    chosen = sign_off.draw(listed.ids, table.get("type"))
    notes = {note.doc_id: note for note in source.read() if note.doc_id in set(chosen)}
    scheme = get_label_scheme(arguments.label_scheme or "i2b2-2014")
    plan = {
        "settings": {name: getattr(sign_off, name) for name in ("n_notes", "target", "confidence", "random_state")},
        "release": release,
        "seed": "from the operating system" if arguments.seed is None else "given",
        "table": table,
        "sample": chosen,
        "key": secrets.token_hex(32),
    }
    sample = [Document(doc_id, notes[doc_id].text) for doc_id in chosen]
    with locked(work):
        # Another process may have drawn in the meantime: its page would be lost, or its sample would not be counted.
        check_new(arguments.overwrite, work / _PAGE, *_records(work))
        for path in _records(work):
            path.unlink(missing_ok=True)  # it would be taken for the record of this draw
        # The plan comes first: a page without its plan could not be assessed.
        _write_plan(work, {**plan, **next_draw(work)})
        write_review_page(work / _PAGE, sample, dict(scheme.categories), mode="signoff")
    for warning in _warnings(release):
        print(warning, file=sys.stderr)
    n_notes = len(listed.ids)
    print(f"{len(chosen)} of {n_notes} notes are in {work / _PAGE}. Open it in a browser, finish all notes, and save.")
    return DONE


def _write_plan(work: Path, plan: Mapping[str, Any]) -> None:
    write_file(work / PLAN, json.dumps(plan, indent=1).encode(), private=True)


def _records(work: Path) -> tuple[Path, Path]:
    """Files of the record: the page and the numbers."""
    return work / f"{_RECORD}.html", work / f"{_RECORD}.json"


def _described(source: NoteSource, listed: _Release) -> dict[str, Any]:
    """Description of the release, and of the run that wrote it, for the plan."""
    record = RunRecord(source.path)
    stamp = record.stamp()
    if stamp is not None and stamp.get("mode") == SURROGATE:
        # Every name looks real, or every name looks invented: neither reading is a measurement.
        raise DeidError(
            "A reader cannot distinguish the surrogates of this release from real names. Sign off the notes that the "
            "same model redacts with --mode label.",
            path=str(source.path),
        )
    return {
        "n_notes": len(listed.ids),
        "sha256": listed.digest,
        "run": stamp,
        "n_foreign": record.n_foreign(source.files()),
        "n_empty": listed.n_empty,
        "n_repeated": listed.n_repeated,
        "n_own_ids": sum(not is_numbered(doc_id) for doc_id in listed.ids),
    }


def _warnings(release: Mapping[str, Any]) -> list[str]:
    said = []
    if release["run"] is None:
        # Raw notes would be read as a release, too.
        said.append(
            "The release has no record of a run of redact: the sign-off cannot name its model, or recognise surrogates."
        )
    elif release["n_foreign"]:
        said.append(f"The recorded run has not written {release['n_foreign']} of the notes, or they were changed.")
    if release["n_empty"]:
        said.append(
            f"{release['n_empty']} of {release['n_notes']} notes hold no word: they lower the share of leaking notes."
        )
    if release["n_own_ids"]:
        # On the page, only passages of texts can be marked.
        said.append(
            f"The bounds do not cover ids and file names, which leave, too: {release['n_own_ids']} of "
            f"{release['n_notes']} are not those of redact --number-outputs. Check that they name no patient."
        )
    return said


def _asked_for(arguments: argparse.Namespace) -> SignOff:
    from ..review import SignOff

    given = {name: getattr(arguments, name) for name in _DRAWN}
    settings = {name: _DRAWN[name] if value is None else value for name, value in given.items()}
    seed = settings.pop("seed")
    # Whoever makes the release could know a fixed seed, and clean the notes of the sample only.
    return SignOff(settings.pop("sample"), random_state=secrets.randbelow(2**32) if seed is None else seed, **settings)


def _assess(arguments: argparse.Namespace, source: NoteSource, work: Path) -> int:
    from ..review.sign_off_record import verdict

    check_new(arguments.overwrite, *_records(work))
    for option in (*_DRAWN, "table"):
        if getattr(arguments, option) is not None:
            raise DeidError(f"--{option} is not for --read: it was chosen when the sample was drawn.")
    read_plan(work)  # the lock would make a folder that is missing
    with locked(work):
        plan = read_plan(work)
        sign_off, n_release = _drawn_again(plan, source, work)
        read = _read_notes(arguments.read, source, plan["sample"])
        _assess_notes(sign_off, read, plan, n_release)
        plan = with_reading(plan, _digest(read, bytes.fromhex(plan["key"])))
        record = {
            "result": sign_off.to_dict(),
            "n_samples": plan["n_draws"],
            "earlier_confidences": plan.get("earlier_confidences", []),
            "n_readings": len(plan["readings"]),
            "provenance": _provenance(plan, read),
        }
        _write_record(work, plan, record)
    print(f"{verdict(record)} Record in {_records(work)[0]}")
    return DONE if sign_off.passed_ else SOME_WITHHELD


def _assess_notes(sign_off: SignOff, read: list[Document], plan: Mapping[str, Any], n_release: Any) -> None:
    mode = (plan["release"]["run"] or {}).get("mode")
    types, patients = plan["table"].get("type"), plan["table"].get("patient_id")
    sign_off.assess(read, n_release=n_release, types=types, patients=patients, hidden=_hidden(read, mode))
    if mode == "remove":
        sign_off.items_ = None  # removed items leave nothing to count


def _write_record(work: Path, plan: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    from ..review import record_html

    # The reading is counted before anybody sees its result.
    _write_plan(work, plan)
    page, numbers = _records(work)
    # A full disk must not leave the page of an earlier record beside the numbers of this one.
    page.unlink(missing_ok=True)
    write_file(numbers, json.dumps(record, indent=1).encode())
    write_file(page, record_html(record).encode("utf-8"))


def _drawn_again(plan: Mapping[str, Any], source: NoteSource, work: Path) -> tuple[SignOff, Any]:
    """Sign-off that draws the sample of the plan again, and the number of notes of the release, or of each type."""
    from ..review import SignOff

    ids, digest, *_ = _listed(source)
    if digest != plan["release"]["sha256"]:
        raise DeidError("The release has changed since the sample was drawn. Draw a new sample.", path=str(source.path))
    if any(column.keys() != set(ids) for column in plan["table"].values()):
        raise DeidError("The plan of the sample is damaged. Draw a new sample.", path=str(work / PLAN))
    types, settings = plan["table"].get("type"), dict(plan["settings"])
    sign_off = SignOff(settings.pop("n_notes"), **settings)
    if sign_off.draw(ids, types) != plan["sample"]:
        raise DeidError("The sample of the plan differs from the sample of its seed. Draw a new sample.")
    return sign_off, len(ids) if types is None else Counter(types[doc_id] for doc_id in ids)


def _hidden(read: list[Document], mode: str | None) -> dict[str, int] | None:
    """Number of hidden items in each note; None if the number is not known."""
    from ..review.sign_off import count_hidden

    # The text of a note can hold what another mode writes, such as a line of asterisks. Only what the mode writes
    # counts or, if the mode is not known, the more frequent kind.
    modes = (mode,) if mode in ("label", "mask") else ("label", "mask")
    counts = [{note.doc_id: count_hidden(note.text, kind) for note in read} for kind in modes]
    most = max(counts, key=lambda count: sum(count.values()))
    return most if mode is not None or any(most.values()) else None


def _provenance(plan: Mapping[str, Any], read: list[Document]) -> dict[str, Any]:
    stamp, n_foreign = plan["release"]["run"] or {}, plan["release"].get("n_foreign")
    return {
        "version": __version__,
        "notes of the release": plan["release"]["n_notes"],
        "notes without a word": plan["release"]["n_empty"],
        "notes with the text of an earlier note": plan["release"]["n_repeated"],
        "ids or file names that the bounds do not cover": plan["release"].get("n_own_ids", "not known"),
        "seed": plan["seed"],
        "samples drawn into this folder, including this sample": plan["n_draws"],
        "different readings of this sample, including this reading": len(plan["readings"]),
        "patients": "of --table" if "patient_id" in plan["table"] else "not known: each note counts as a patient",
        "digest of the release (SHA-256)": plan["release"]["sha256"],
        "digest of the reading (HMAC-SHA256, key in the plan)": _digest(read, bytes.fromhex(plan["key"])),
        # The digest of reviewed notes is a digest of raw notes: a guess of a short note could be confirmed.
        **(
            {f"redaction: {name}": "yes" if name == "reviewed" else stamp[name] for name in sorted(stamp)}
            or {"redaction": "not known: no record of a run"}
        ),
        **({"notes that this run has not written, or that were changed": n_foreign} if stamp else {}),
    }


def _read_notes(path: str, source: NoteSource, sample: list[str]) -> list[Document]:
    """Notes of the sample with the leaks that the reader marked, in the order of the sample."""
    if source.path.is_file() and Path(path).is_file() and Path(path).read_bytes() == source.path.read_bytes():
        raise DeidError("This is the release itself. Name the file that the page has saved.", path=path)
    warn_of_later_save(path)
    # A line without spans was read by nobody.
    read = {note.doc_id: note for note in read_gold(path, "jsonl")}
    missing = [doc_id for doc_id in sample if doc_id not in read]
    if missing:
        # A bound from the notes that the reader liked to finish would be wrong.
        unfinished = counted(len(missing), "note of the sample is", "notes of the sample are")
        raise DeidError(f"{unfinished} not finished; this is the first.", doc_id=missing[0])
    # The record counts the leaks of each label.
    check_labels(read.values())
    foreign = sorted(read.keys() - set(sample))
    if foreign:
        raise DeidError("This note is not in the sample.", doc_id=foreign[0])
    for note in source.read():
        if note.doc_id in read and read[note.doc_id].text != note.text:
            raise DeidError("The text that was read differs from the text of the release.", doc_id=note.doc_id)
    return [read[doc_id] for doc_id in sample]


class _Release(NamedTuple):
    """Ids of all notes, digest of the release, and numbers of notes without a word or with a repeated text."""

    ids: list[str]
    digest: str
    n_empty: int
    n_repeated: int


def _listed(source: NoteSource) -> _Release:
    rows, n_empty = [], 0
    for note in source.read():
        if (reason := unreadable_reason(note.text)) is not None:
            raise DeidError(f"A reader would not see all text of this released note. {reason}", doc_id=note.doc_id)
        rows.append((note.doc_id, sha256(note.text.encode("utf-8", "surrogatepass")).hexdigest()))
        n_empty += not any(map(str.isalnum, note.text))
    # Sorted: the digest must not depend on the order in which a folder lists its files.
    rows.sort()
    n_repeated = len(rows) - len({digest for _, digest in rows})
    return _Release([doc_id for doc_id, _ in rows], sha256(json.dumps(rows).encode()).hexdigest(), n_empty, n_repeated)


def _digest(notes: list[Document], key: bytes) -> str:
    # Without a key, whoever has the release and this record finds the place of a single leak by trying.
    rows = [[n.doc_id, n.text, [[s.start, s.end, s.label] for s in n.spans]] for n in notes]
    return hmac.digest(key, json.dumps(rows).encode(), sha256).hex()
