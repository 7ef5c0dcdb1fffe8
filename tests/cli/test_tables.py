"""``redact`` over tables: every row once, whatever happens on the way."""

import base64
import csv
import io
import json
import os
from datetime import date

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.cli.table_output import TableOutput
from sklearn_deid.io.tables import delimited, hl7, json_lines, parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

HOSTILE = {5: "a\x00b", 9: "", 12: "{\\rtf1 Zyxwvutski}"}
NOTES = [HOSTILE.get(n, f'Visit {n}, "fine".\nMail roe{n}@example.org') for n in range(20)]
ROWS = [{"id": f"v{n}", "mrn": f"m{n // 4}", "text": text, "code": n} for n, text in enumerate(NOTES)]
OPTIONS = ["--text-column", "text", "--id-column", "id", "--quiet"]


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    for module in (delimited, json_lines, parquet):
        monkeypatch.setattr(module, "CHUNK_ROWS", 3)


@pytest.fixture
def redact(run, rules, tmp_path):
    """Redact the table with an ending."""

    def redact(kind, *options, output="out"):
        path = tmp_path / f"notes.{kind}"
        if not path.exists():
            write(path)
        return run("redact", path, "--model", rules, "--output", tmp_path / f"{output}.{kind}", *OPTIONS, *options)

    return redact


def write(path, rows=ROWS):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=8)
    elif path.suffix == ".csv":
        stream = io.StringIO(newline="")
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        # the csv module of Python 3.10 writes no NUL
        writer.writerows(
            {name: value.replace("\0", "<nul>") if isinstance(value, str) else value for name, value in row.items()}
            for row in rows
        )
        path.write_bytes(stream.getvalue().replace("<nul>", "\0").encode())
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as stream:
            return [row | {"code": int(row["code"]), "text": row["text"] or None} for row in csv.DictReader(stream)]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_rows_are_redacted_and_failures_withheld(redact, tmp_path, kind):
    code, out, err = redact(kind)
    assert (code, out) == (1, "")
    rows = read(tmp_path / f"out.{kind}")
    expected = [
        None if n in (5, 12) else text.replace(f"roe{n}@example.org", "[EMAIL]") for n, text in enumerate(NOTES)
    ]
    assert [row["text"] or None for row in rows] == [text or None for text in expected]
    assert [row | {"text": 0} for row in rows] == [row | {"text": 0} for row in ROWS]
    assert "17 texts redacted, 2 withheld." in err
    assert "[row 6, id v5, column text]" in err and "[row 13, id v12, column text]" in err
    assert "Zyxwvutski" not in err and "They are not de-identified" in err
    assert not (tmp_path / f"out.{kind}.pieces").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_interrupted_run_goes_on(redact, tmp_path, monkeypatch, kind):
    redact(kind, output="whole")
    for name in ("write", "finish"):
        for number in (0, 2, 5) if name == "write" else (0,):
            calls, method = [], getattr(TableOutput, name)

            def interrupt(*arguments, calls=calls, method=method, number=number):
                calls.append(1)
                if len(calls) > number:
                    raise KeyboardInterrupt
                method(*arguments)

            with monkeypatch.context() as patch:
                patch.setattr(TableOutput, name, interrupt)
                code, _, err = redact(kind, "--resume")
                assert (code, "the table is not complete" in err, "copied unchanged" in err) == (130, True, False)
            assert not (tmp_path / f"out.{kind}").exists()
    code, _, err = redact(kind, "--resume")
    assert (code, "0 texts redacted, 2 withheld, 17 were finished before." in err) == (1, True)
    assert (tmp_path / f"out.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()
    code, _, err = redact(kind, "--resume")
    assert (code, "2 withheld, 17 were finished before." in err) == (1, True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_run_that_is_killed_at_the_end_leaves_no_part_of_the_table(redact, tmp_path, monkeypatch):
    def killed(source, target):
        return os._exit(9) if target == tmp_path / "out.csv" else replace(source, target)

    replace = os.replace
    monkeypatch.setattr(os, "replace", killed)
    child = os.fork()
    if not child:
        redact("csv")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    monkeypatch.undo()
    assert redact("csv", "--resume")[0] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.csv", "out.csv", "out.csv.run"]


def test_damaged_piece_is_made_anew(redact, tmp_path, monkeypatch):
    redact("csv", output="whole")
    with monkeypatch.context() as patch:
        patch.setattr(TableOutput, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        redact("csv")
    (tmp_path / "out.csv.pieces" / "00000001").write_bytes(b"v0,m0,raw,0\n")
    (tmp_path / "out.csv.pieces" / "00000099").write_bytes(b"v0,m0,raw,0\n")
    assert redact("csv", "--resume")[0] == 1
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("rows", [ROWS[:-4], [*ROWS, ROWS[0]], [ROWS[0] | {"code": 7}, *ROWS[1:]]])
def test_changed_table_is_refused_when_its_output_is_complete(redact, tmp_path, rows):
    redact("jsonl")
    before = (tmp_path / "out.jsonl").read_bytes()
    write(tmp_path / "notes.jsonl", rows)
    code, _, err = redact("jsonl", "--resume")
    assert (code, "The table has changed" in err) == (2, True)
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert redact("jsonl", "--overwrite")[0] == 1
    assert len(read(tmp_path / "out.jsonl")) == len(rows)


def test_a_link_in_the_place_of_the_pieces_is_refused(redact, tmp_path):
    assert redact("csv")[0] == 1
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "00000000").write_text("mine")
    (tmp_path / "out.csv.pieces").symlink_to(tmp_path / "elsewhere")
    code, _, err = redact("csv", "--overwrite")
    assert (code, "out.csv.pieces" in err) == (2, True)
    assert [path.read_text() for path in (tmp_path / "elsewhere").iterdir()] == ["mine"]


def test_earlier_and_foreign_outputs_are_refused(redact, tmp_path):
    assert redact("csv")[0] == 1
    assert "The output exists already" in redact("csv")[2]
    assert "differs from this one in: mode" in redact("csv", "--resume", "--mode", "mask")[2]
    (tmp_path / "out.csv").write_text("id,text\n1,raw\n")
    assert "was changed" in redact("csv", "--resume")[2]
    (tmp_path / "out.csv.run").unlink()
    assert "no record of an earlier run" in redact("csv", "--resume")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text-column", "nothing"], "no column of the name 'nothing'"),
        (["--number-outputs", "key.csv"], "--number-outputs is not for tables"),
        (["--format", "jsonl"], "--format is not for tables"),
        (["--reviewed", "reviewed.jsonl"], "--reviewed is not for tables"),
        (["--omop"], "--text-column does not go with"),
        (["--id-column", "text"], "must not name a column of texts"),
        (["--patient-column", "text"], "must not name a column of texts"),
        (["--fhir"], "--text-column does not go with"),
    ],
)
def test_wrong_options(redact, tmp_path, options, message):
    code, _, err = redact("csv", *options)
    assert (code, message in err) == (2, True)
    assert not (tmp_path / "out.csv").exists()
    assert redact("csv")[0] == 1, "the next run needs no option"


def test_a_text_under_a_key_of_its_own_is_left_out(run, rules, tmp_path):
    """A misspelt key in one line was copied with its text, with exit code 0."""
    good = [{"text": "Mail roe@example.org", "ward": "A 1"}, {"ward": "B 2"}, {"n": 1, "code": "x"}]
    wrong = [{"text\u2064": "Mail roe@example.org"}, {"txet": "seen by Zyxwvutski"}]
    write(tmp_path / "notes.jsonl", [*good, *wrong, *good])
    command = ["redact", tmp_path / "notes.jsonl", "--model", rules, "--output", tmp_path / "out.jsonl", "--quiet"]
    code, _, err = run(*command, "--text-column", "text")
    # The first key differs from that of the texts in an invisible character.
    reasons = [
        err.count(reason) for reason in ("under a key that no line with such a text has", "letters that look alike")
    ]
    assert (code, reasons, "Zyxwvutski" in err) == (1, [1, 1], False)
    assert "row 4]" in err and "row 5]" in err
    assert read(tmp_path / "out.jsonl") == [{"text": "Mail [EMAIL]", "ward": "A 1"}, *good[1:]] * 2
    assert run(*command, "--text-column", "text", "--resume")[0] == 1
    assert (
        run(*command, "--text-column", "text", "--text-column", "txet", "--overwrite")[2].count("that look alike") == 1
    )


def test_a_text_under_a_key_of_its_own_is_left_out_beside_another_text_column(run, rules, tmp_path):
    """With two text columns, a misspelt key of the second was copied with its text, with exit code 0."""
    good = [{"text": "fine", "plan": "b", "ward": "A 1"}, {"text": "roe@example.org", "ward": "B 2"}, {"plan": "b"}]
    wrong = [{"text": "fine", "plann": "seen by Zyxwvutski"}, {"plan": "fine", "txet": "seen by Zyxwvutski"}]
    write(tmp_path / "notes.jsonl", [*good, *wrong, *good])
    command = ["redact", tmp_path / "notes.jsonl", "--model", rules, "--output", tmp_path / "out.jsonl", "--quiet"]
    code, _, err = run(*command, "--text-column", "text", "--text-column", "plan")
    assert (code, err.count("under a key that no line with such a text has")) == (1, 2)
    assert "row 4]" in err and "row 5]" in err and "Zyxwvutski" not in err
    assert read(tmp_path / "out.jsonl") == [good[0], {"text": "[EMAIL]", "ward": "B 2"}, good[2]] * 2


def test_lines_without_a_text_column_are_counted(run, rules, tmp_path):
    """A second export in the same file, whose texts have another name, was copied without a word."""
    rows = [{"text": "roe@example.org"}, {"note": "roe@example.org"}, {"text": None}, {"note": "b"}]
    write(tmp_path / "notes.jsonl", rows)
    command = ["redact", tmp_path / "notes.jsonl", "--model", rules, "--output", tmp_path / "out.jsonl", "--quiet"]
    code, _, err = run(*command, "--text-column", "text")
    assert (code, "2 times a line lacks a text column" in err) == (0, True)
    code, _, err = run(*command, "--text-column", "text", "--resume")
    assert (code, "2 times a line lacks a text column" in err) == (0, True)
    code, _, err = run(*command, "--text-column", "text", "--text-column", "note", "--overwrite")
    assert (code, "4 times a line lacks a text column" in err) == (0, True)
    write(tmp_path / "notes.jsonl", [{"text": "roe@example.org"}])
    assert "lacks a text column" not in run(*command, "--text-column", "text", "--overwrite")[2]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("jsonl", ["--omop", "--patient-column", "mrn"], "--patient-column needs --text-column"),
        ("jsonl", ["--omop", "--id-column", "mrn"], "--id-column needs --text-column"),
        ("ndjson", ["--fhir", "--encoding", "latin-1"], "Leave out --encoding"),
        ("parquet", ["--text-column", "text", "--encoding", "latin-1"], "Leave out --encoding"),
    ],
)
def test_options_that_would_be_ignored_are_refused(run, rules, tmp_path, kind, options, message):
    write(tmp_path / f"notes.{kind}")
    arguments = ("--model", rules, "--output", tmp_path / f"out.{kind}", "--quiet")
    code, _, err = run("redact", tmp_path / f"notes.{kind}", *arguments, *options)
    assert (code, message in err, (tmp_path / f"out.{kind}").exists()) == (2, True, False)


@pytest.mark.parametrize("name", ["notes.csv", "notes.CSV.gz", "notes.parquet", "notes.hl7"])
def test_a_table_needs_an_option(run, rules, tmp_path, name):
    (tmp_path / name).write_text("text\na\n")
    for output in ("out", name.replace("notes", "out")):
        code, _, err = run("redact", tmp_path / name, "--model", rules, "--output", tmp_path / output)
        assert (code, "Tables need --text-column or --omop, and HL7 messages --hl7." in err) == (2, True)


@pytest.mark.parametrize("name", ["note.txt.gz", "letter.docx.zst", "notes.gz", "note.parquet.gz"])
def test_compressed_notes_are_no_tables(run, tmp_path, name):
    """The message asked for the column of a table."""
    (tmp_path / name).write_bytes(b"")
    code, _, err = run("redact", tmp_path / name, "--model", "starter-en", "--output", tmp_path / "out")
    assert (code, "may be compressed: unpack" in err, "--text-column" in err) == (2, True, False)


def test_semicolons_are_named_and_read(run, rules, tmp_path):
    """Spreadsheets of many countries write semicolons, and commas in numbers."""
    (tmp_path / "notes.csv").write_text('id;text;dose\n1;"mail roe@example.org; well, a";2,5\n2;a,b;3\n')
    options = ("--model", rules, "--text-column", "text", "--output", tmp_path / "out.csv")
    code, _, err = run("redact", tmp_path / "notes.csv", *options)
    assert (code, "It has a single column: try --delimiter ';'." in err) == (2, True)
    code, _, err = run("redact", tmp_path / "notes.csv", *options, "--delimiter", ";")
    out = (tmp_path / "out.csv").read_text()
    assert (code, out) == (0, 'id;text;dose\n1;"mail [EMAIL]; well, a";2,5\n2;a,b;3\n')
    assert run("redact", tmp_path / "notes.csv", *options, "--delimiter", ";", "--resume")[0] == 0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("notes.tsv", ("--text-column", "text"), "Only .csv files have a delimiter"),
        ("notes.jsonl", ("--text-column", "text"), "Only .csv files have a delimiter"),
        ("notes.ndjson", ("--fhir",), "--delimiter needs --text-column or --omop"),
        ("notes.txt", (), "--delimiter needs --text-column or --omop"),
    ],
)
def test_other_files_have_no_delimiter(run, rules, tmp_path, name, options, message):
    (tmp_path / name).write_text("text\na\n")
    output = tmp_path / f"out{(tmp_path / name).suffix}"
    code, _, err = run("redact", tmp_path / name, "--model", rules, "--output", output, "--delimiter", ";", *options)
    assert (code, message in err, output.exists()) == (2, True, False)


def test_a_table_needs_a_model(run, tmp_path):
    write(tmp_path / "notes.csv", ROWS)
    code, _, err = run("redact", tmp_path / "notes.csv", "--text-column", "text", "--output", tmp_path / "out.csv")
    assert (code, "Name the --model" in err, "Traceback" in err) == (2, True, False)


def test_surrogates_of_a_patient_agree_between_rows(run, rules, tmp_path, known_keys):
    rows = [{"note_id": n, "person_id": p, "note_text": "Mail roe@example.org"} for n, p in enumerate([1, 1, 2])]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "note.parquet")
    arguments = ["redact", tmp_path / "note.parquet", "--model", rules, "--omop", "--mode", "surrogate", "--quiet"]
    code, _, _ = run(*arguments, "--key-file", tmp_path / "key", "--output", tmp_path / "out.parquet")
    texts = [row["note_text"] for row in read(tmp_path / "out.parquet")]
    assert (code, texts[0] == texts[1], texts[0] == texts[2], "roe@" in str(texts)) == (0, True, False, False)


MISSING = ["", " ", "NULL", "nan", "\\N"]


def test_rows_without_a_patient_are_not_one_patient(run, rules, tmp_path):
    """Their dates would move by one shift, so that whoever knows one date knows all. Rows of two tables, too."""
    (tmp_path / "key").write_text(bytes(range(32)).hex())
    (tmp_path / "key").chmod(0o600)
    shifted = []
    for number in range(2):
        rows = [
            {"mrn": mrn, "note": f"Visit {number}{n}, seen 03/05/2011"} for n, mrn in enumerate([*MISSING, *MISSING])
        ]
        write(tmp_path / f"{number}.csv", rows)
        arguments = ["redact", tmp_path / f"{number}.csv", "--model", rules, "--mode", "surrogate", "--locale", "en"]
        arguments += ["--text-column", "note", "--patient-column", "mrn", "--key-file", tmp_path / "key", "--quiet"]
        assert run(*arguments, "--output", tmp_path / f"out{number}.csv")[0] == 0
        shifted += [
            line[-10:] for line in (tmp_path / f"out{number}.csv").read_text().replace('"', "").split("\n")[1:-1]
        ]
    assert len(set(shifted)) == len(shifted) == 20


DATES = {"Patient": ["date:birthDate"], "Encounter": ["date:period.start", "date:period.end", "text"]}
DATES |= {"Observation": ["note.text"]}
RESOURCES = [
    {"resourceType": "Patient", "id": "p1", "birthDate": "1950-02-28", "active": True},
    {
        "resourceType": "Encounter",
        "subject": {"reference": "https://example.org/fhir/Patient/p1/_history/3"},
        "period": {"start": "2020-02-28T23:59:59.125+01:00", "end": "2020-03"},
    },
    {
        "resourceType": "Observation",
        "subject": {"reference": "Patient/p1"},
        "note": [{"text": "Born on 1950-02-28, seen on 2020-02-28."}],
    },
    {"resourceType": "Patient", "id": "p2", "birthDate": "1950-02-28"},
    {"resourceType": "Patient", "id": "p3", "birthDate": "in spring 1950"},
    {"resourceType": "Encounter", "period": {"start": "2020-02-28"}},
]
TIME = "http://hl7.org/fhir/StructureDefinition/patient-birthTime"
BIRTH_TIME = {"url": TIME, "valueDateTime": "1950-02-28T03:05:00Z"}
UNKNOWN = {"url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "unknown"}


@pytest.mark.parametrize(
    ("beside", "is_kept"),
    [
        ([BIRTH_TIME], False),
        ([UNKNOWN, {"url": "u", "extension": [{"url": "v", "valuePeriod": {"start": "1950-02-28"}}]}], False),
        ([{"url": "u", "valueString": "in spring"}], False),
        ([UNKNOWN], True),
    ],
)
@pytest.mark.parametrize("fields", [["date:birthDate"], ["date:birthDate", "text"], ["date:contact.period.start"]])
def test_original_date_in_an_extension_of_a_date_leaves_the_line_out(run, rules, tmp_path, beside, is_kept, fields):
    """The time of birth, as in the example of FHIR, was copied, and revealed the shift of all dates of the patient."""
    holder = {"birthDate": "1950-02-28", "_birthDate": {"id": "b", "extension": beside}}
    if "contact" in fields[0]:
        holder = {"contact": [{"period": {"start": "1950-02-28", "_start": {"extension": beside}}}]}
    patient = {"resourceType": "Patient", "id": "p1", "text": {"div": "<p>Fine.</p>"}, **holder}
    (tmp_path / "profile.json").write_text(json.dumps({"Patient": fields}))
    (tmp_path / "in.ndjson").write_text(json.dumps(patient) + "\n")
    arguments = ["redact", tmp_path / "in.ndjson", "--model", rules, "--quiet", "--output", tmp_path / "out.ndjson"]
    _, _, err = run(*arguments, "--mode", "surrogate", "--fhir-profile", tmp_path / "profile.json")
    written = (tmp_path / "out.ndjson").read_text()
    assert (bool(written), "An extension of a date" in err, "1950" in written) == (is_kept, not is_kept, False)


def test_structured_dates_move_with_the_dates_in_texts(run, rules, tmp_path):
    (tmp_path / "profile.json").write_text(json.dumps(DATES))
    (tmp_path / "in.ndjson").write_text("".join(json.dumps(one) + "\n" for one in RESOURCES))
    arguments = ["redact", tmp_path / "in.ndjson", "--model", rules, "--quiet", "--output", tmp_path / "out.ndjson"]
    arguments += ["--fhir-profile", tmp_path / "profile.json"]
    code, _, err = run(*arguments)
    assert (code, "--mode surrogate only" in err, (tmp_path / "out.ndjson").exists()) == (2, True, False)
    (tmp_path / "key").write_text(bytes(range(32)).hex())
    (tmp_path / "key").chmod(0o600)
    code, _, err = run(*arguments, "--mode", "surrogate", "--key-file", tmp_path / "key")
    # No date, and no patient: these two lines are left out and listed.
    assert (code, err.count("withheld: "), "row 5" in err, "row 6" in err, "spring" in err) == (1, 2, True, True, False)
    patient, encounter, note, other = map(json.loads, (tmp_path / "out.ndjson").read_text().splitlines())
    born, seen = date.fromisoformat(patient["birthDate"]), encounter["period"]["start"]
    assert born != date(1950, 2, 28) != date.fromisoformat(other["birthDate"]) != born
    assert date.fromisoformat(seen[:10]) - born == date(2020, 2, 28) - date(1950, 2, 28)
    # In the offset, summer time would reveal the season, and with it the shift.
    assert seen[10:] == "T23:59:59.125+00:00" and encounter["period"]["end"] != "2020-03"
    assert note["note"][0]["text"] == f"Born on {born}, seen on {seen[:10]}."
    for before, after in zip(RESOURCES, (patient, encounter, note, other), strict=False):
        kept = {"id", "active", "subject", "resourceType"} & set(before)
        assert all(before[key] == after[key] for key in kept) and list(before) == list(after)


def test_names_beside_texts_are_rewritten_in_the_order_of_the_lines(run, tmp_path, monkeypatch):
    """They came before all texts that were read ahead: outputs depended on the size of a batch and on --jobs.

    The mails are of the name in a later line, and the first text is in German.
    """
    subject = {"reference": "Patient/1"}
    texts = ["Mail h.wexler@example.org am 3. März 2021 nach dem Gespräch mit der Familie.", "Zyxw\0", "Fine."]
    notes = [
        {"resourceType": "Observation", "subject": subject, "note": [{"text": text}]} for text in [*texts, texts[0]]
    ]
    named = {"resourceType": "Observation", "subject": {**subject, "display": "Harold Wexler"}}
    lines = [notes[0], named, notes[1], named, notes[2], notes[3], named, named]
    (tmp_path / "in.ndjson").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (tmp_path / "key").write_text(bytes(range(32)).hex())
    (tmp_path / "key").chmod(0o600)
    arguments = ["redact", tmp_path / "in.ndjson", "--fhir", "--mode", "surrogate", "--key-file", tmp_path / "key"]
    done, write_chunk = [], TableOutput.write
    for size in (1, 2, 128):
        save(NoteDeidentifier(RuleTagger().fit([]), batch_size=size), tmp_path / f"model{size}")
        for stop in (None, 1, 2):
            given = [*arguments, "--quiet", "--model", tmp_path / f"model{size}"]
            given += ["--output", tmp_path / f"{size}-{stop}.ndjson"]
            if stop is not None:

                def interrupted(self, number, *content, stop=stop):
                    if number == stop:
                        raise KeyboardInterrupt
                    write_chunk(self, number, *content)

                with monkeypatch.context() as patch:
                    patch.setattr(TableOutput, "write", interrupted)
                    assert run(*given)[0] == 130
                given.append("--resume")
            code, _, err = run(*given)
            assert (code, "1 withheld" in err) == (1, True)
            done.append((tmp_path / f"{size}-{stop}.ndjson").read_text())
    assert len(set(done)) == 1 and done[0].count("\n") == 7 and "[DATE]" not in done[0]


def test_fhir(run, rules, tmp_path):
    page = base64.b64encode(b"<p>Mail <b>roe@example.org</b></p>").decode()
    lines = [
        '{"resourceType": "Observation", "note": [{"text": "Mail roe@example.org"}], "valueQuantity": {"value": 1.50}}',
        json.dumps({"resourceType": "Binary", "contentType": "text/html", "data": page}),
        '{"resourceType": "Patient", "name": "Zyxwvutski"}',
    ]
    (tmp_path / "in.ndjson").write_text("\n".join(lines))
    arguments = ["redact", tmp_path / "in.ndjson", "--model", rules, "--quiet", "--output"]
    code, _, err = run(*arguments, tmp_path / "out.ndjson", "--fhir")
    first, second = (tmp_path / "out.ndjson").read_text().splitlines()
    assert (code, first) == (1, lines[0].replace("roe@example.org", "[EMAIL]"))
    assert base64.b64decode(json.loads(second)["data"]) == b"<p>Mail <b>[EMAIL]</b></p>"
    assert "[row 3]" in err and "Zyxwvutski" not in err
    # Of a key that is there twice, Python keeps the second list, which would copy the texts of all observations.
    twice = '"Observation": ["note.text"], "Observation": []'
    for wrong in ('"Binary": "."', '"Observation": ["note text"]', '"Observation": ["note..text"]', twice):
        (tmp_path / "profile.json").write_text(f'{{"Patient": [], {wrong}}}')
        code, _, err = run(*arguments, tmp_path / "other.ndjson", "--fhir-profile", tmp_path / "profile.json")
        assert (code, "A profile is a JSON object" in err) == (2, True)


RESOURCE = {"resourceType": "Observation", "note": [{"text": "Mail to roe@example.org"}], "issued": "2020-01-01"}
MESSAGES = "MSH|^~\\&|A||||||ORU\rOBX|1|TX|N||Mail to roe@example.org\r"


@pytest.mark.parametrize(
    ("kind", "profile", "unused"),
    [
        ("fhir", {"Observation": ["note.txt"]}, ["Observation: note.txt"]),
        ("fhir", {"Observation": ["note.text", "comment"]}, ["Observation: comment"]),
        ("fhir", {"Observation": ["note.text", "date:isued"]}, ["Observation: date:isued"]),
        ("fhir", {"Observation": ["note.text"], "Encounter": ["text"], "Location": []}, []),
        ("hl7", {"OBX-6": []}, ["OBX-6"]),
        ("hl7", {"OBX-5": ["FT"], "OXB-5": []}, ["OBX-5", "OXB-5"]),
        ("hl7", {"OBX-5": ["TX"]}, []),
    ],
)
def test_field_of_a_profile_without_any_text_is_named(run, rules, tmp_path, kind, profile, unused):
    """A misspelt field leaves the texts as they are, and the exit code must not be 0."""
    path, output = (tmp_path / f"{name}.{'ndjson' if kind == 'fhir' else 'hl7'}" for name in ("in", "out"))
    path.write_bytes((json.dumps(RESOURCE) + "\n" if kind == "fhir" else MESSAGES).encode())
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    arguments = ["redact", path, f"--{kind}-profile", tmp_path / "profile.json", "--model", rules, "--output", output]
    arguments += ["--mode", "surrogate", "--key-file", tmp_path / "key", "--quiet"]
    for resume in ([], ["--resume"]):
        code, _, err = run(*arguments, *resume)
        assert (code, err.count("no text in the field")) == (1 if unused else 0, len(unused))
        assert all(f"no text in the field {name} of the profile" in err for name in unused)
    assert all(json.dumps(name) in (tmp_path / f"{output.name}.run").read_text() for name in unused)


def test_the_path_of_a_whole_resource_is_refused(run, rules, tmp_path):
    (tmp_path / "in.ndjson").write_text(json.dumps(RESOURCE) + "\n")
    (tmp_path / "profile.json").write_text(json.dumps({"Observation": ["note.text", "."]}))
    command = ["redact", tmp_path / "in.ndjson", "--model", rules, "--output", tmp_path / "out.ndjson", "--quiet"]
    code, _, err = run(*command, "--fhir-profile", tmp_path / "profile.json")
    assert (code, "The path . is for Binary only" in err, (tmp_path / "out.ndjson").exists()) == (2, True, False)


@pytest.mark.parametrize("paths", [["section.title", "section*.title"], ["section*.title", "section.title"]])
def test_paths_of_a_profile_may_lead_to_the_same_text(run, rules, tmp_path, paths):
    """A path that was named twice ended the run with a KeyError."""
    sections = [{"title": "roe@example.org", "section": [{"title": "to roe@example.org"}]}]
    (tmp_path / "in.ndjson").write_text(json.dumps({"resourceType": "Composition", "section": sections}) + "\n")
    (tmp_path / "profile.json").write_text(json.dumps({"Composition": [*paths, paths[0]]}))
    command = ["redact", tmp_path / "in.ndjson", "--model", rules, "--output", tmp_path / "out.ndjson", "--quiet"]
    assert run(*command, "--fhir-profile", tmp_path / "profile.json")[0] == 0
    found = json.loads((tmp_path / "out.ndjson").read_text())
    assert found["section"] == [{"title": "[EMAIL]", "section": [{"title": "to [EMAIL]"}]}]


def test_a_date_is_no_text(run, rules, tmp_path):
    (tmp_path / "in.ndjson").write_text('{"resourceType": "Patient", "id": "p1", "birthDate": "1950-02-28"}\n')
    (tmp_path / "profile.json").write_text('{"Patient": ["birthDate", "date:birthDate"]}')
    command = ["redact", tmp_path / "in.ndjson", "--model", rules, "--output", tmp_path / "out.ndjson", "--quiet"]
    code, _, err = run(*command, "--mode", "surrogate", "--fhir-profile", tmp_path / "profile.json")
    assert (code, "names birthDate of Patient as a text and as a date" in err) == (2, True)


def test_hl7_messages(run, rules, tmp_path, monkeypatch):
    good = b"MSH|^~\\&|A||||||ORU\rOBX|1|TX|N||Mail to roe@example.org\rPID|1\r"
    (tmp_path / "in.hl7").write_bytes(good + b"MSH|^~\\&|B||||||ORU\rNTE|1||Bad \\ Zyxwvutski\r" + good)
    options = ["--model", rules, "--output", tmp_path / "out.hl7", "--quiet"]
    code, _, err = run("redact", tmp_path / "in.hl7", "--hl7", *options)
    assert code == 1 and "2 texts redacted, 1 withheld." in err and "[row 2]" in err and "Zyxwvutski" not in err
    assert (tmp_path / "out.hl7").read_bytes() == good.replace(b"roe@example.org", b"[EMAIL]") * 2
    with monkeypatch.context() as patch:
        patch.setattr(hl7, "_split", lambda new, old: None if "B-1" in new else new.split("\n"))
        (tmp_path / "two.hl7").write_bytes(good + good.replace(b"Mail", b"B-1"))
        options[3] = tmp_path / "two-out.hl7"
        code, _, err = run("redact", tmp_path / "two.hl7", "--hl7", *options)
    assert code == 1 and "1 text redacted, 1 withheld." in err and "over two fields" in err
    assert (tmp_path / "two-out.hl7").read_bytes() == good.replace(b"roe@example.org", b"[EMAIL]")
    profile = tmp_path / "profile.json"
    for wrong in ("[]", '{"OBX-5": ["TX"], "OBX-5": ["NM"]}', '{"OBX": []}', '{"MSH-3": []}', '{"OBX-5": ["tx"]}', "{"):
        profile.write_text(wrong)
        assert run("redact", tmp_path / "in.hl7", "--hl7-profile", profile, *options)[0] == 2
    assert "with --hl7" in run("redact", tmp_path / "in.hl7", "--text-column", "x", *options)[2]


@pytest.mark.parametrize("kind", ["fhir", "hl7"])
def test_texts_of_a_line_that_is_left_out_do_not_count_as_redacted(run, rules, tmp_path, kind):
    """They counted, although the output does not hold them."""
    texts = ["Mail roe@example.org", "Zyxw\x01", "fine"]
    line = {"resourceType": "Observation", "note": [{"text": text} for text in texts]}
    message = "MSH|^~\\&|A||||||ORU\r" + "OBX|1|TX|N||{}\rNTE|1||{}\rOBX|1|TX|N||{}\r".format(*texts)
    whole = f"{json.dumps(line)}\n" if kind == "fhir" else message
    path, output = (tmp_path / f"{name}.{'ndjson' if kind == 'fhir' else 'hl7'}" for name in ("in", "out"))
    path.write_text(whole.replace("Zyxw", "well").replace("\\u0001", "").replace("\x01", "") + whole, newline="")
    for option, begin in (
        ("--overwrite", "3 texts redacted, 1 withheld."),
        ("--resume", "0 texts redacted, 1 withheld, 3"),
    ):
        code, _, err = run("redact", path, f"--{kind}", "--model", rules, "--output", output, "--quiet", option)
        assert (code, begin in err) == (1, True), err
    assert output.read_text().count("[EMAIL]") == 1


def test_titles_of_omop_are_redacted(run, rules, tmp_path):
    """The title of a note is free text."""
    rows = [{"note_id": 1, "person_id": 1, "note_title": "Mail roe@example.org", "note_text": "roe@example.org"}]
    write(tmp_path / "note.csv", rows)
    arguments = ["redact", tmp_path / "note.csv", "--model", rules, "--omop", "--output", tmp_path / "out.csv"]
    assert run(*arguments, "--quiet")[0] == 0
    assert "roe@" not in (tmp_path / "out.csv").read_text()
    assert "0 texts redacted" in run(*arguments, "--quiet", "--resume")[2]
