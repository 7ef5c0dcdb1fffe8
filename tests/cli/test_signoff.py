"""``signoff``: the record belongs to the bytes that leave, and a reading that is not complete gives no bound."""

import hmac
import json
import shutil
from dataclasses import replace
from hashlib import sha256

import pytest

from sklearn_deid import Document, RuleTagger, Span, read_corpus, save, write_corpus
from sklearn_deid.cli.signoff_plan import locked

from .conftest import assert_no_note_text
from .test_review import UNSEEN, notes_of


@pytest.fixture(scope="module")
def redacted(raw, model, tmp_path_factory):
    from sklearn_deid.cli import main

    folder = tmp_path_factory.mktemp("release") / "redacted"
    assert main(["redact", str(raw), "--model", str(model), "--output", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def drawn(run, redacted, tmp_path):
    code, out, _ = run("signoff", redacted, "--output", tmp_path / "work", "--sample", 6, "--seed", 4)
    assert (code, "6 of 12 notes" in out) == (0, True)
    return [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]


def test_the_sample_is_what_leaves(drawn, redacted):
    assert len(drawn) == 6
    for note in drawn:
        assert (redacted / f"{note.doc_id}.txt").read_bytes().decode() == note.text


def test_the_record_names_release_model_settings_and_seed(run, drawn, redacted, tmp_path, notes, model):
    leaking = [replace(drawn[0], spans=(Span(0, 4, "PATIENT"),)), *drawn[1:]]
    write_corpus(leaking, tmp_path / "read.jsonl")
    code, out, err = run("signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    assert code == 1, "the bound is above the target"
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    assert (record["result"]["notes"]["n_leaks"], record["result"]["notes"]["n"]) == (1, 6)
    assert record["result"]["settings"] == {"n_notes": 6, "target": 0.05, "confidence": 0.95, "random_state": 4}
    assert record["provenance"]["notes of the release"] == 12
    assert record["provenance"]["redaction: mode"] == "label"
    from sklearn_deid._storage import bundle_digest

    assert record["provenance"]["redaction: model"] == bundle_digest(model)
    page = (tmp_path / "work" / "signoff-record.html").read_text()
    assert "1 of 6 notes" in page and "Further notes to read for this target" in page
    assert_no_note_text(out + err + page + json.dumps(record), notes)
    assert not [note.doc_id for note in notes if note.doc_id in page]


def test_the_record_confirms_no_guess_of_a_leak(run, raw, redacted, tmp_path):
    """The release and the seed tell the sample. An unkeyed digest then told where the only leak is, by trying."""
    run("signoff", redacted, "--output", tmp_path / "work", "--sample", 6, "--seed", 4)
    sample = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]
    read = [replace(sample[0], spans=(Span(2, 6, "PATIENT"),)), *sample[1:]]
    write_corpus(read, tmp_path / "read.jsonl")
    run("signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    record = (tmp_path / "work" / "signoff-record.json").read_text()
    guess = [[n.doc_id, n.text, [[s.start, s.end, s.label] for s in n.spans]] for n in read]
    assert sha256(json.dumps(guess).encode()).hexdigest() not in record
    key = json.loads((tmp_path / "work" / "signoff-plan.json").read_text())["key"]
    assert key not in record and hmac.digest(bytes.fromhex(key), json.dumps(guess).encode(), "sha256").hex() in record


def test_the_record_confirms_no_guess_of_a_raw_note(run, tmp_path):
    """`redact --reviewed` records a digest of the raw notes in its private record, and it went on to the sign-off."""
    write_corpus([Document("n1", "Seen by Dr Zyxw.", (Span(11, 15, "DOCTOR"),))], tmp_path / "reviewed.jsonl")
    write_corpus([Document("n1", "Seen by Dr Zyxw.")], tmp_path / "notes", format="text")
    options = ("--reviewed", tmp_path / "reviewed.jsonl", "--output", tmp_path / "redacted")
    assert run("redact", tmp_path / "notes", *options)[0] == 0
    run("signoff", tmp_path / "redacted", "--output", tmp_path / "work", "--sample", 1)
    write_corpus(read_corpus(tmp_path / "redacted", "text"), tmp_path / "read.jsonl")
    run("signoff", tmp_path / "redacted", "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    guess = repr(("n1", "Seen by Dr Zyxw.", [(11, 15, "DOCTOR")]))
    assert sha256(guess.encode()).hexdigest() not in json.dumps(record)
    assert record["provenance"]["redaction: reviewed"] == "yes"


def test_a_folder_that_no_run_made_is_named(run, raw, tmp_path):
    """Raw notes were taken for a release without a word."""
    code, _, err = run("signoff", raw, "--output", tmp_path / "work", "--sample", 2)
    assert (
        code,
        "no record of a run of redact: the sign-off cannot name its model, or recognise surrogates" in err,
    ) == (0, True)
    read = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]
    write_corpus(read, tmp_path / "read.jsonl")
    run("signoff", raw, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    assert record["provenance"]["redaction"] == "not known: no record of a run"


@pytest.mark.parametrize("option", ["--target", "--confidence", "--sample", "--seed", "--table"])
def test_options_of_the_sample_are_not_for_the_reading(run, drawn, redacted, tmp_path, option):
    """They were ignored: exit code 0 stood for the target of the first call."""
    write_corpus(drawn, tmp_path / "read.jsonl")
    command = ["signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl"]
    code, _, err = run(*command, option, "1" if option in ("--sample", "--seed") else "0.9")
    assert (code, f"{option} is not for --read" in err) == (2, True)
    assert run(*command)[0] == 1
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    assert record["provenance"]["patients"] == "not known: each note counts as a patient"


def test_blanks_behind_an_id_make_no_other_patient(run, redacted, tmp_path):
    """Padded ids of one source made two patients of each patient, and the bound was too low."""
    ids = sorted(file.stem for file in redacted.iterdir())
    rows = [f"{doc_id},p{number // 2}{' ' * (number % 2)}\n" for number, doc_id in enumerate(ids)]
    (tmp_path / "table.csv").write_text("doc_id,patient_id\n" + "".join(rows))
    options = ("--output", tmp_path / "work", "--sample", 100)
    assert run("signoff", redacted, *options, "--table", tmp_path / "table.csv")[0] == 0
    plan = json.loads((tmp_path / "work" / "signoff-plan.json").read_text())
    assert set(plan["table"]["patient_id"].values()) == {f"p{number}" for number in range(len(ids) // 2)}


def test_an_error_probability_is_no_confidence(run, redacted, tmp_path):
    """With --confidence 0.05, the bound was below the share of the leaking notes, and the sign-off passed."""
    code, _, err = run("signoff", redacted, "--output", tmp_path / "work", "--confidence", "0.05")
    assert (code, "at least 0.5 and below 1" in err) == (2, True)


def test_a_clean_reading_of_enough_notes_passes(run, redacted, tmp_path):
    command = ["signoff", redacted, "--output", tmp_path]
    assert run(*command, "--sample", 100)[0] == 0
    write_corpus(read_corpus(redacted, "text"), tmp_path / "read.jsonl")
    assert run(*command, "--read", tmp_path / "read.jsonl")[0] == 0, "all notes were read"


@pytest.mark.parametrize("with_spans", [True, False])
def test_a_release_is_no_reading_of_itself(run, redacted, tmp_path, with_spans):
    """All notes counted as read, and none as leaking."""
    release = tmp_path / "release.jsonl"
    write_corpus(read_corpus(redacted, "text"), release)
    reading = tmp_path / "copy.jsonl"
    lines = [json.loads(line) for line in release.read_text().splitlines()]
    if with_spans:
        shutil.copy(release, reading)
    else:
        reading.write_text("".join(json.dumps({"doc_id": n["doc_id"], "text": n["text"]}) + "\n" for n in lines))
    command = ["signoff", release, "--output", tmp_path / "work"]
    assert run(*command, "--sample", 100)[0] == 0
    for path in (release, reading) if with_spans else (reading,):
        code, _, err = run(*command, "--read", path)
        assert (code, ("release itself" if with_spans else "Nobody has marked") in err) == (2, True)
    assert not (tmp_path / "work" / "signoff-record.json").exists()


def test_redacted_notes_in_a_file_are_no_reading_of_the_folder(run, raw, model, redacted, tmp_path):
    """Their lines had an empty list of spans, as of a note in which a reader found nothing: the sign-off passed."""
    assert run("redact", raw, "--model", model, "--output", tmp_path / "redacted.jsonl", "--quiet")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "redacted.jsonl").read_text("utf-8").splitlines()]
    assert [*lines[0]] == ["doc_id", "text"]
    assert {n["doc_id"]: n["text"] for n in lines} == {n.doc_id: n.text for n in read_corpus(redacted, "text")}
    command = ["signoff", redacted, "--output", tmp_path / "work"]
    assert run(*command)[0] == 0
    code, _, err = run(*command, "--read", tmp_path / "redacted.jsonl")
    assert (code, "Nobody has marked" in err) == (2, True)


@pytest.mark.parametrize(("mode", "n_items"), [("label", 1), ("mask", 1), ("remove", None)])
def test_hidden_items_are_what_the_mode_of_the_run_writes(run, tmp_path, mode, n_items):
    save(RuleTagger().fit([]), tmp_path / "rules")
    (tmp_path / "raw").mkdir()
    text = {"label": "*** and ***", "mask": "[SIC]", "remove": "*** [SIC]"}[mode]
    (tmp_path / "raw" / "a.txt").write_text(f"{text} Mail roe@example.org")
    options = ("--model", tmp_path / "rules", "--output", tmp_path / "out", "--mode", mode, "--quiet")
    assert run("redact", tmp_path / "raw", *options)[0] == 0
    command = ["signoff", tmp_path / "out", "--output", tmp_path / "work"]
    assert run(*command)[0] == 0
    write_corpus(read_corpus(tmp_path / "out", "text"), tmp_path / "read.jsonl")
    assert run(*command, "--read", tmp_path / "read.jsonl")[0] == 0
    items = json.loads((tmp_path / "work" / "signoff-record.json").read_text())["result"]["items"]
    assert (None if items is None else items["n"]) == n_items


@pytest.mark.parametrize(("text", "n_items"), [("*** Ann *** [DOCTOR], [DATE], [DATE]", 4), ("Ann *** [DATE] ***", 3)])
def test_hidden_items_of_an_unknown_mode_are_the_more_frequent_kind(run, tmp_path, text, n_items):
    """Rows of asterisks beside labels made the share of leaking items too small."""
    write_corpus([Document("n", text)], tmp_path / "release.jsonl")
    command = ["signoff", tmp_path / "release.jsonl", "--output", tmp_path / "work"]
    run(*command)
    at = text.index("Ann")
    write_corpus([Document("n", text, (Span(at, at + 3, "DOCTOR"),))], tmp_path / "read.jsonl")
    assert run(*command, "--read", tmp_path / "read.jsonl")[0] == 1
    items = json.loads((tmp_path / "work" / "signoff-record.json").read_text())["result"]["items"]
    assert (items["n_leaks"], items["n"]) == (1, n_items)


@pytest.mark.parametrize("output", ["out", "out.jsonl"])
def test_notes_that_the_recorded_run_has_not_written_are_counted(run, tmp_path, output):
    """The record named model and mode of the run for a raw note that lay in the release."""
    save(RuleTagger().fit([]), tmp_path / "rules")
    raw, out = tmp_path / "raw", tmp_path / output
    raw.mkdir()
    for name in "ab":
        (raw / f"{name}.txt").write_text("Mail roe@example.org")
    assert run("redact", raw, "--model", tmp_path / "rules", "--output", out, "--quiet")[0] == 0
    command = ["signoff", out, "--output", tmp_path / "work", "--overwrite"]
    assert "has not written" not in run(*command)[2]
    if out.is_dir():
        (out / "c.txt").write_text("Mail roe@example.org")
    else:
        out.write_text(out.read_text() + json.dumps({"doc_id": "c", "text": "Mail roe@example.org"}) + "\n")
    assert "has not written 1 of the notes" in run(*command)[2]
    read = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]
    write_corpus(read, tmp_path / "read.jsonl")
    run(*command, "--read", tmp_path / "read.jsonl")
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    assert record["provenance"]["notes that this run has not written, or that were changed"] == 1


def test_all_notes_of_a_redacted_table_are_written_by_its_run(run, raw, model, tmp_path):
    """A run over a table records the whole table: all its notes counted as notes that the run had not written."""
    rows = [{"doc_id": note.doc_id, "text": note.text} for note in read_corpus(raw, "text")]
    (tmp_path / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ("--text-column", "text", "--id-column", "doc_id")
    out = tmp_path / "out.jsonl"
    assert run("redact", tmp_path / "raw.jsonl", "--model", model, "--output", out, *columns, "--quiet")[0] == 0
    assert "has not written" not in run("signoff", out, "--output", tmp_path / "work")[2]
    out.write_text(out.read_text().replace(" ", "  ", 1))
    command = ["signoff", out, "--output", tmp_path / "work", "--overwrite"]
    assert f"has not written {len(rows)} of the notes, or they were changed" in run(*command)[2]


def test_a_release_with_surrogates_is_refused(run, raw, model, tmp_path):
    options = ("--model", model, "--output", tmp_path / "out", "--mode", "surrogate", "--quiet")
    assert run("redact", raw, *options)[0] == 0
    code, _, err = run("signoff", tmp_path / "out", "--output", tmp_path / "work", "--sample", 3)
    assert (code, "cannot distinguish the surrogates" in err, (tmp_path / "work").exists()) == (2, True, False)


@pytest.mark.parametrize("name", ["letter.docx", "notes.html", ".n1.txt.swp", ".n1.txt", "more"])
def test_a_release_with_files_that_nobody_reads_is_refused(run, redacted, tmp_path, name):
    shutil.copytree(redacted, tmp_path / "release")
    if name == "more":
        (tmp_path / "release" / name).mkdir()
    else:
        (tmp_path / "release" / name).write_text("Zyxwvutski")
    code, _, err = run("signoff", tmp_path / "release", "--output", tmp_path / "work", "--sample", 6)
    assert (code, "nobody would read" in err, (tmp_path / "work").exists()) == (2, True, False)


@pytest.mark.parametrize("name", UNSEEN)
def test_a_release_with_text_that_nobody_sees_is_refused(run, redacted, tmp_path, name):
    shutil.copytree(redacted, tmp_path / "release")
    (tmp_path / "release" / "more.txt").write_text(UNSEEN[name], encoding="utf-8")
    code, _, err = run("signoff", tmp_path / "release", "--output", tmp_path / "work")
    assert (code, "would not see all text" in err, "Zyxwvutski" in err) == (2, True, False)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_types_and_patients_come_from_a_table(run, redacted, tmp_path, notes, delimiter):
    rows = [
        f"{note.doc_id},{note.patient_id},{'letter' if number < 6 else 'report'}" for number, note in enumerate(notes)
    ]
    (tmp_path / "table.csv").write_text("\n".join(["doc_id,patient_id,type", *rows]).replace(",", delimiter))
    command = ["signoff", redacted, "--output", tmp_path / "work"]
    assert run(*command, "--sample", 8, "--table", tmp_path / "table.csv")[0] == 0
    held = {note["id"] for note in notes_of(tmp_path / "work" / "signoff.html")}
    write_corpus([n for n in read_corpus(redacted, "text") if n.doc_id in held], tmp_path / "read.jsonl")
    assert run(*command, "--read", tmp_path / "read.jsonl")[0] == 1
    result = json.loads((tmp_path / "work" / "signoff-record.json").read_text())["result"]
    assert {name: bound["n"] for name, bound in result["by_type"].items()} == {"letter": 4, "report": 4}
    assert result["notes"]["n_patients"] < 8, "notes of a patient count once"
    (tmp_path / "table.csv").write_text("\n".join(["doc_id,type", *[f"{note.doc_id}," for note in notes]]))
    code, _, err = run(*command, "--table", tmp_path / "table.csv", "--overwrite")
    assert (code, "no complete row" in err) == (2, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [*rows, [rows[0][0], "another"]], "two rows for this note"),
        (lambda rows: [[rows[0][0], "NULL"], *rows[1:]], "no complete row"),
        (lambda rows: [[rows[0][0], "Note", " ICU", rows[0][1]], *rows[1:]], "more cells than the header"),
    ],
)
def test_a_table_that_names_no_or_two_patients_is_refused(run, redacted, tmp_path, notes, change, message):
    """The last row counted, notes with NULL were those of one patient, and behind a comma the columns were shifted."""
    rows = change([[note.doc_id, note.patient_id] for note in notes])
    (tmp_path / "table.csv").write_text("\n".join(map(",".join, [["doc_id", "patient_id"], *rows])))
    options = ("--output", tmp_path / "work", "--sample", 8, "--table", tmp_path / "table.csv")
    code, _, err = run("signoff", redacted, *options)
    assert (code, message in err) == (2, True)
    # Of two columns of one name, the last one counted.
    (tmp_path / "table.csv").write_text("doc_id,patient_id,patient_id\n" + "".join(f"{n.doc_id},p,q\n" for n in notes))
    code, _, err = run("signoff", redacted, *options)
    assert (code, "two columns of one name" in err) == (2, True)
    # A type may be unknown.
    (tmp_path / "table.csv").write_text("doc_id,type\n" + "".join(f"{note.doc_id},unknown\n" for note in notes))
    assert run("signoff", redacted, *options)[0] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda notes: notes[1:], "1 note of the sample is not finished"),
        (
            lambda notes: [replace(notes[0], text=notes[0].text + "x"), *notes[1:]],
            "differs from the text of the release",
        ),
        (lambda notes: [*notes, Document("other", "Fine.")], "not in the sample"),
        # The record counted the leaks of each label by its name.
        (
            lambda notes: [replace(notes[0], spans=(Span(0, 9, notes[0].text[:9]),)), *notes[1:]],
            "holds text of a span",
        ),
    ],
)
def test_another_reading_is_refused(run, drawn, redacted, tmp_path, change, message):
    write_corpus(change(drawn), tmp_path / "read.jsonl")
    code, _, err = run("signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    assert (code, message in err) == (2, True)
    assert not (tmp_path / "work" / "signoff-record.json").exists()


def test_a_full_disk_leaves_no_page_of_an_earlier_record(run, drawn, redacted, tmp_path, monkeypatch):
    """The page of a record that passed stayed beside the numbers of one that failed."""
    write_corpus(drawn, tmp_path / "read.jsonl")
    command = ["signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl"]
    run(*command)
    page = tmp_path / "work" / "signoff-record.html"
    assert page.exists()

    def full(path, content, **options):
        if path == page:
            raise OSError(28, "No space left on device", str(path))
        path.write_bytes(content)

    monkeypatch.setattr("sklearn_deid.cli.signoff.write_file", full)
    code, _, err = run(*command, "--overwrite")
    assert code == 2 and "No space left" in err and not page.exists()


def test_a_release_that_changed_is_refused(run, redacted, tmp_path):
    import shutil

    release = tmp_path / "release"
    shutil.copytree(redacted, release)
    command = ["signoff", release, "--output", tmp_path / "work"]
    assert run(*command, "--sample", 3)[0] == 0
    held = {note["id"] for note in notes_of(tmp_path / "work" / "signoff.html")}
    write_corpus([n for n in read_corpus(release, "text") if n.doc_id in held], tmp_path / "read.jsonl")
    other = next(path for path in release.iterdir() if path.stem not in held)
    other.write_text("Another text.")
    code, _, err = run(*command, "--read", tmp_path / "read.jsonl")
    assert (code, "has changed since the sample was drawn" in err) == (2, True)
    (tmp_path / "work" / "signoff-plan.json").write_text("[]")
    assert "damaged" in run(*command, "--read", tmp_path / "read.jsonl")[2]


def test_nobody_knows_the_sample_before_it_is_drawn(run, redacted, tmp_path):
    """With a known seed, the maker of the release could clean the notes of the sample alone."""
    seeds = set()
    for folder in ("a", "b"):
        assert run("signoff", redacted, "--output", tmp_path / folder, "--sample", 6)[0] == 0
        plan = json.loads((tmp_path / folder / "signoff-plan.json").read_text())
        seeds.add(plan["settings"]["random_state"])
        assert plan["seed"] == "from the operating system"
    assert len(seeds) == 2, "equal by chance once in 4e9 runs"


def test_the_record_counts_the_samples_that_were_drawn(run, redacted, tmp_path):
    """A seed can be chosen after looking at the samples of others."""
    for seed in (1, 2, 3):
        options = ("--sample", 6, "--seed", seed, "--overwrite")
        assert run("signoff", redacted, "--output", tmp_path, *options)[0] == 0
    sample = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "signoff.html")]
    write_corpus(sample, tmp_path / "read.jsonl")
    run("signoff", redacted, "--output", tmp_path, "--read", tmp_path / "read.jsonl")
    told = json.loads((tmp_path / "signoff-record.json").read_text())["provenance"]
    assert told["samples drawn into this folder, including this sample"] == 3
    assert told["seed"] == "given"


def test_a_second_draw_at_the_same_time_is_refused(run, tmp_path):
    """Six draws at the same time counted as three: each read the count before another one had written its own."""
    write_corpus([Document("n1", "Seen today.")], tmp_path / "release", format="text")
    draw = ("signoff", tmp_path / "release", "--output", tmp_path / "work", "--overwrite")
    with locked(tmp_path / "work"):
        code, _, err = run(*draw)
        assert (code, "Another run is writing to this output" in err) == (2, True)
        assert not list((tmp_path / "work").glob("*.html"))
    for _ in range(2):
        assert run(*draw)[0] == 0
    with locked(tmp_path / "work"):
        assert run(*draw)[0] == 2
    assert json.loads((tmp_path / "work" / "signoff-plan.json").read_text())["n_draws"] == 2


def test_a_page_of_another_process_is_not_replaced(run, tmp_path, monkeypatch):
    """Both processes found no page; the page of the first one was lost, with the marks of its reader in the browser."""
    write_corpus([Document("n1", "Seen today.")], tmp_path / "release", format="text")
    page = tmp_path / "work" / "signoff.html"

    def other_draw(*_):
        page.parent.mkdir()
        page.write_text("drawn by another process")
        return {}

    monkeypatch.setattr("sklearn_deid.cli.signoff.notes_table", other_draw)
    code, _, err = run("signoff", tmp_path / "release", "--output", tmp_path / "work")
    assert (code, "exists already" in err, page.read_text()) == (2, True, "drawn by another process")


def test_the_record_counts_the_readings_of_a_sample(run, tmp_path):
    """A reader who removed marks after a bad result, and read the file again, had the record of a first reading."""
    write_corpus([Document("n1", "Seen by Zyxw.")], tmp_path / "release", format="text")
    command = ("signoff", tmp_path / "release", "--output", tmp_path / "work")
    assert run(*command)[0] == 0
    work, found = tmp_path / "work", []
    for spans in ((Span(8, 12, "DOCTOR"),), (), ()):
        write_corpus([Document("n1", "Seen by Zyxw.", spans)], tmp_path / "read.jsonl", overwrite=True)
        code, out, _ = run(*command, "--read", tmp_path / "read.jsonl", "--overwrite")
        told = json.loads((work / "signoff-record.json").read_text())["provenance"]
        n_readings = told["different readings of this sample, including this reading"]
        page = (work / "signoff-record.html").read_text()
        assert ("2 different readings of this sample" in out) is ("2 different readings" in page) is (n_readings == 2)
        found.append((code, n_readings))
    assert found == [(1, 1), (0, 2), (0, 2)]
    plan = json.loads((work / "signoff-plan.json").read_text())
    (work / "signoff-plan.json").write_text(json.dumps({**plan, "readings": [1]}))
    code, _, err = run(*command, "--read", tmp_path / "read.jsonl", "--overwrite")
    assert (code, "damaged" in err) == (2, True)


def test_a_new_draw_leaves_no_record_of_an_earlier_one(run, redacted, tmp_path):
    draw = ("signoff", redacted, "--output", tmp_path, "--sample", 6)
    assert run(*draw)[0] == 0
    sample = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "signoff.html")]
    write_corpus(sample, tmp_path / "read.jsonl")
    run("signoff", redacted, "--output", tmp_path, "--read", tmp_path / "read.jsonl")
    assert len(list(tmp_path.glob("signoff-record.*"))) == 2
    (tmp_path / "signoff.html").unlink()
    code, _, err = run(*draw)
    assert (code, "exists already" in err, len(list(tmp_path.glob("signoff-record.*")))) == (2, True, 2)
    assert run(*draw, "--overwrite")[0] == 0
    assert not list(tmp_path.glob("signoff-record.*"))


def test_a_sample_that_the_seed_does_not_draw_is_refused(run, drawn, redacted, tmp_path):
    """The plan is a file: without a check, its sample could be replaced by notes that are known to be clean."""
    path = tmp_path / "work" / "signoff-plan.json"
    plan = json.loads(path.read_text())
    others = sorted({p.stem for p in redacted.glob("*.txt")} - set(plan["sample"]))[: len(plan["sample"])]
    path.write_text(json.dumps({**plan, "sample": others}))
    notes = [Document(name, (redacted / f"{name}.txt").read_bytes().decode()) for name in others]
    write_corpus(notes, tmp_path / "read.jsonl")
    code, _, err = run("signoff", redacted, "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    assert (code, "differs from the sample of its seed" in err) == (2, True)


def test_the_record_counts_notes_without_a_word(run, tmp_path):
    """A hundred empty notes make the share of leaking notes small."""
    (tmp_path / "release").mkdir()
    for number in range(8):
        (tmp_path / "release" / f"n{number}.txt").write_text("Seen." if number < 2 else "-" * number)
    code, _, err = run("signoff", tmp_path / "release", "--output", tmp_path / "work")
    assert (code, "6 of 8 notes hold no word" in err) == (0, True)
    sample = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]
    write_corpus(sample, tmp_path / "read.jsonl")
    run("signoff", tmp_path / "release", "--output", tmp_path / "work", "--read", tmp_path / "read.jsonl")
    told = json.loads((tmp_path / "work" / "signoff-record.json").read_text())["provenance"]
    assert (told["notes without a word"], told["notes with the text of an earlier note"]) == (6, 1)


def _changed(value):
    """Plans in which one value is missing or another one; of the notes of a table, the first."""
    for name, inner in list(value.items())[:7]:
        yield {k: v for k, v in value.items() if k != name}
        for other in (None, [[]], "x", -1, float("nan"), {"a": []}):
            yield {**value, name: other}
        if isinstance(inner, dict):
            yield from ({**value, name: changed} for changed in _changed(inner))


def test_a_plan_with_any_changed_value_is_refused_or_read(run, drawn, redacted, tmp_path):
    """An edited or cut-off plan ended with a traceback."""
    table = tmp_path / "table.csv"
    rows = [f"{path.stem},p{number},letter" for number, path in enumerate(sorted(redacted.glob("*.txt")))]
    table.write_text("\n".join(["doc_id,patient_id,type", *rows]))
    command = ("signoff", redacted, "--output", tmp_path / "work")
    assert run(*command, "--sample", 6, "--seed", 4, "--table", table, "--overwrite")[0] == 0
    path = tmp_path / "work" / "signoff-plan.json"
    plan = json.loads(path.read_text())
    sample = [Document(n["id"], n["text"]) for n in notes_of(tmp_path / "work" / "signoff.html")]
    write_corpus(sample, tmp_path / "r.jsonl")
    refused = 0
    for changed in _changed(plan):
        path.write_text(json.dumps(changed))
        code, _, err = run(*command, "--read", tmp_path / "r.jsonl", "--overwrite")
        assert (code in (1, 2), "Traceback" in err) == (True, False), err
        refused += code == 2
    assert refused > 100


@pytest.mark.parametrize(("n_samples", "stated"), [(1, None), (2, "only 90%"), (19, "only 5%"), (20, "no confidence")])
def test_the_error_probabilities_of_several_samples_add_up(run, redacted, tmp_path, n_samples, stated):
    """A reader who drew again after each bad result had a confidence of 95 % in the record of the last sample."""
    draw = ("signoff", redacted, "--output", tmp_path, "--sample", 6, "--overwrite")
    assert run(*draw)[0] == 0
    path = tmp_path / "signoff-plan.json"
    plan = json.loads(path.read_text())
    path.write_text(json.dumps({**plan, "n_draws": n_samples}))
    write_corpus([Document(n["id"], n["text"]) for n in notes_of(tmp_path / "signoff.html")], tmp_path / "read.jsonl")
    _, out, _ = run("signoff", redacted, "--output", tmp_path, "--read", tmp_path / "read.jsonl")
    page = (tmp_path / "signoff-record.html").read_text()
    for text in (out, page):
        assert ("led to this sample" in text) is (stated is not None)
        assert stated is None or f"This is sample {n_samples}." in text and stated in text


def test_earlier_samples_count_with_their_own_confidence(run, tmp_path):
    """After a first sample with 90 %, the record of a second one with 97.5 % stated 95 %."""
    for name in ("release", "read.jsonl"):
        write_corpus([Document("n1", "Seen today.")], tmp_path / name, format="text" if name == "release" else "jsonl")
    command = ("signoff", tmp_path / "release", "--output", tmp_path / "work", "--overwrite")
    for level in ("0.9", "0.975"):
        assert run(*command, "--confidence", level)[0] == 0
    _, out, _ = run(*command, "--read", tmp_path / "read.jsonl")
    page = (tmp_path / "work" / "signoff-record.html").read_text()
    assert "the confidence is only 87.5%." in out and "the confidence is only 87.5%." in page
    plan = json.loads((tmp_path / "work" / "signoff-plan.json").read_text())
    (tmp_path / "work" / "signoff-plan.json").write_text(json.dumps({**plan, "earlier_confidences": [2.0]}))
    assert "damaged" in run(*command, "--read", tmp_path / "read.jsonl")[2]


@pytest.mark.parametrize(("name", "n_own"), [("note-0123456789ab", 0), ("Zyxwvutski", 1)])
def test_ids_that_leave_are_not_covered(run, tmp_path, name, n_own):
    """A release with names of patients as file names passed without a message."""
    write_corpus([Document(name, "Seen today.")], tmp_path / "release", format="text")
    write_corpus([Document(name, "Seen today.")], tmp_path / "read.jsonl")
    command = ("signoff", tmp_path / "release", "--output", tmp_path / "work")
    _, out, err = run(*command)
    assert ("1 of 1 are not those of redact --number-outputs" in err) is bool(n_own) and name not in out + err
    run(*command, "--read", tmp_path / "read.jsonl")
    record = json.loads((tmp_path / "work" / "signoff-record.json").read_text())
    assert record["provenance"]["ids or file names that the bounds do not cover"] == n_own


def test_a_release_of_another_format_is_refused(run, tmp_path):
    """The fields of a task of Label Studio beside its text were not read, and the release passed."""
    (tmp_path / "tasks.json").write_text('[{"data": {"text": "Fine.", "author": "Zyxwvutski"}}]')
    for command in (("signoff", "--output", tmp_path / "work"), ("audit", "--redacted")):
        code, _, err = run(*command, tmp_path / "tasks.json")
        assert (code, "A release is a folder of .txt files or a .jsonl file" in err) == (2, True)
    assert not (tmp_path / "work").exists()
