"""Outputs without the names of the notes, and the key to them."""

import csv
import json
import os
import re
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau

from sklearn_deid import load, write_corpus
from sklearn_deid.cli.numbering import OutputNumbers
from sklearn_deid.cli.run_record import RunRecord
from sklearn_deid.exceptions import CorpusFormatError, DeidError

from .conftest import contents


def read_key(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return [tuple(row) for row in csv.reader(stream)]


def test_names_are_numbers_and_the_key_says_whose(run, raw, model, notes, tmp_path):
    out, key = tmp_path / "out", tmp_path / "key.csv"
    assert run("redact", raw, "--model", model, "--output", out, "--number-outputs", key)[0] == 0
    ids = [document.doc_id for document in notes]
    head, *rows = read_key(key)
    assert head == ("output", "note") and [note for _, note in rows] == ids
    numbered = [name for name, _ in rows]
    assert all(re.fullmatch("note-[0-9a-f]{12}", name) for name in numbered) and len(set(numbered)) == len(ids)
    assert key.stat().st_mode & 0o777 == 0o600
    texts = load(model).redact([document.text for document in notes])
    assert contents(out) == {f"{name}.txt": text for name, text in zip(numbered, texts, strict=True)}


def test_key_and_record_are_on_the_disk_like_the_outputs(run, raw, model, tmp_path, monkeypatch):
    """After a power failure, finished outputs were there, and nothing said whose they are."""
    synced, fsync = set(), os.fsync

    def sync(descriptor):
        status = os.fstat(descriptor)
        synced.add((status.st_ino, status.st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    command = ("redact", raw, "--model", model, "--output", tmp_path / "out", "--number-outputs", tmp_path / "key.csv")
    assert run(*command, "--quiet")[0] == 0
    for file in (tmp_path / "key.csv", tmp_path / "out.run", *(tmp_path / "out").glob("*.txt")):
        assert (file.stat().st_ino, file.stat().st_size) in synced


def test_numbers_stay_when_a_run_goes_on(run, raw, model, tmp_path):
    command = ["redact", raw, "--model", model, "--output", tmp_path / "out", "--number-outputs", tmp_path / "key.csv"]
    assert run(*command)[0] == 0
    before, rows = contents(tmp_path / "out"), read_key(tmp_path / "key.csv")
    assert run(*command)[0] == 2
    for path in sorted((tmp_path / "out").iterdir())[:3]:
        path.unlink()
    with (tmp_path / "key.csv").open("a", encoding="utf-8") as stream:
        stream.write("note-0000")  # what a killed run may leave
    assert run(*command, "--resume")[0] == 0
    assert (contents(tmp_path / "out"), read_key(tmp_path / "key.csv")) == (before, rows)


@pytest.mark.parametrize(("out", "options"), [("out", []), ("out.jsonl", []), ("out", ["--documents"])])
@pytest.mark.parametrize("key", ["key.csv", "other.csv"])
def test_a_run_does_not_go_on_without_its_key(run, raw, model, tmp_path, out, options, key):
    """Each note got a second output under another name, and the exit code was 0."""
    command = ["redact", raw, "--model", model, "--output", tmp_path / out, *options, "--number-outputs"]
    assert run(*command, tmp_path / "key.csv")[0] == 0
    before = contents(tmp_path / out) if out == "out" else (tmp_path / out).read_bytes()
    (tmp_path / "key.csv").rename(tmp_path / "kept.csv")
    code, _, err = run(*command, tmp_path / key, "--resume")
    assert (code, "The key file lacks outputs of the earlier run" in err, "notes redacted" in err) == (2, True, False)
    code, _, err = run(*command, tmp_path / "kept.csv", "--resume")
    assert (code, "0 notes redacted" in err or "0 files redacted" in err) == (0, True)
    assert before == (contents(tmp_path / out) if out == "out" else (tmp_path / out).read_bytes())
    assert run(*command, tmp_path / key, "--overwrite")[0] == 0


@pytest.mark.parametrize("options", [[], ["--documents"]])
def test_times_of_files_do_not_tell_the_order_of_the_ids(run, raw, model, tmp_path, options):
    command = ["redact", raw, "--model", model, "--output", tmp_path / "out", "--number-outputs", tmp_path / "key.csv"]
    assert run(*command, *options)[0] == 0
    times = [path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()]
    assert len(times) > 1 and len(set(times)) == 1


@pytest.mark.parametrize("options", [[], ["--documents"]])
def test_files_are_entered_in_the_order_of_the_random_names(run, raw, model, tmp_path, options):
    """On many file systems a folder, and an archive of it, listed the files in the order of the ids."""
    out = tmp_path / "out"
    command = ["redact", raw, "--model", model, "--output", out, "--number-outputs", tmp_path / "key.csv", *options]
    assert run(*command)[0] == 0
    written = [path.stat().st_ctime_ns for path in sorted(out.iterdir())]
    assert len(written) > 5 and written == sorted(written)


@pytest.mark.parametrize("options", [[], ["--documents"]])
@pytest.mark.parametrize("n_left", [0, 1])
def test_a_run_that_was_killed_while_it_ordered_its_files_goes_on(run, raw, model, tmp_path, options, n_left):
    out = tmp_path / "out"
    command = ["redact", raw, "--model", model, "--output", out, "--number-outputs", tmp_path / "key.csv", *options]
    assert run(*command)[0] == 0
    before = contents(out)
    aside = out / ".sklearn-deid-order"
    aside.mkdir()
    for path in sorted(out.glob("*.txt"))[n_left:]:
        path.rename(aside / path.name)
    assert run(*command)[0] == 2
    assert run(*command, "--resume")[0] == 0
    assert contents(out) == before and not aside.exists()


@pytest.mark.parametrize("options", [[], ["--documents"]])
@pytest.mark.parametrize("option", ["--resume", "--overwrite"])
def test_a_refused_run_touches_neither_outputs_nor_key_of_the_run_that_writes(
    run, raw, model, tmp_path, options, option
):
    """It moved back the files that the other run ordered, and cut off the line that the other run wrote to its key."""
    out, key = tmp_path / "out", tmp_path / "key.csv"
    command = ["redact", raw, "--model", model, "--output", out, "--number-outputs", key, *options]
    running = RunRecord(out)
    running.open({})
    (out / ".sklearn-deid-order").mkdir(parents=True)
    (out / ".sklearn-deid-order" / "note-0123456789ab.txt").write_text("Seen.")
    key.write_text("output,note\nnote-0123456789ab,n1\nnote-ab")
    code, _, err = run(*command, option)
    assert (code, "Another run is writing to this output" in err) == (2, True)
    assert [path.name for path in out.iterdir()] == [".sklearn-deid-order"]
    assert key.read_text().endswith("\nnote-ab")
    running.close()


@pytest.mark.parametrize("option", [[], ["--resume"], ["--overwrite"]])
def test_a_refused_run_leaves_no_key(run, raw, model, tmp_path, option):
    """The same command was refused again when the other run had ended, because the key existed."""
    out, key = tmp_path / "out", tmp_path / "key.csv"
    running = RunRecord(out)
    running.open({})
    assert run("redact", raw, "--model", model, "--output", out, "--number-outputs", key, *option)[0] == 2
    running.close()
    assert not key.exists()


@pytest.mark.parametrize("options", [[], ["--documents"]])
def test_a_link_in_the_output_takes_no_outputs_away(run, raw, model, tmp_path, options):
    """All outputs were moved to where the link leads, with exit code 0 and an empty output folder."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / ".sklearn-deid-order").symlink_to(elsewhere)
    command = ["redact", raw, "--model", model, "--output", out, "--number-outputs", tmp_path / "key.csv"]
    code, _, err = run(*command, *options)
    assert (code, ".sklearn-deid-order" in err, contents(elsewhere)) == (2, True, {})


def test_withheld_note_gets_no_number(run, with_broken, model, tmp_path):
    key = tmp_path / "key.csv"
    command = ["redact", with_broken, "--model", model, "--output", tmp_path / "o.jsonl", "--number-outputs", key]
    assert run(*command)[0] == 1
    assert "note-00000" not in [note for _, note in read_key(key)]


@pytest.mark.parametrize("key", ["out/key.csv", "out"])
def test_key_in_the_output_is_refused(run, raw, model, tmp_path, key):
    code, _, err = run(
        "redact", raw, "--model", model, "--output", tmp_path / "out", "--number-outputs", tmp_path / key
    )
    assert (code, "The key file must not be in the output" in err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_foreign_key_is_refused_and_left_alone(tmp_path):
    twice = "output,note\nnote-0123456789ab,x\nnote-0123456789ab,y\n"
    for content in ("a,b\n1,2\n", "output,note\nnote-1,x\n", "output,note\nnote-000001\n", twice, "\xff\n"):
        path = tmp_path / "key.csv"
        path.write_text(content, encoding="latin-1")
        with pytest.raises(DeidError, match="not a key file"):
            OutputNumbers(path).open(keep=True)
        assert path.read_text(encoding="latin-1") == content


def test_ids_come_back_from_the_key(tmp_path):
    ids = ["plain", 'quo"ted', "a,b", " spaced ", "\u00e9\u4e2d", ""]
    numbers = OutputNumbers(tmp_path / "key.csv")
    numbers.open()
    names = [numbers.assign(doc_id) for doc_id in ids]
    for broken in ("a\nb", "a\rb"):
        with pytest.raises(CorpusFormatError, match="line break"):
            numbers.assign(broken)
    numbers.close()
    again = OutputNumbers(tmp_path / "key.csv")
    again.open(keep=True)
    assert [again.known(doc_id) for doc_id in ids] == names
    assert re.fullmatch("note-[0-9a-f]{12}", again.assign("new")) and again.known("new") not in names
    again.close()


def test_names_do_not_tell_the_order_of_the_ids(tmp_path):
    def ranks(name):
        numbers = OutputNumbers(tmp_path / name)
        numbers.open()
        names = [numbers.assign(f"note of {i:03d}") for i in range(300)]
        numbers.close()
        return np.argsort(np.argsort(names))

    first, second = ranks("a.csv"), ranks("b.csv")
    # Kendall's tau of 300 random ranks has a standard deviation of .039; counted names have 1
    assert all(abs(kendalltau(order, range(300)).statistic) < 0.3 for order in (first, second))
    assert abs(kendalltau(first, second).statistic) < 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, names of files are characters")
@pytest.mark.parametrize("options", [[], ["--documents"]])
def test_a_name_that_is_not_utf_8_is_withheld(run, model, tmp_path, options):
    """The key file is UTF-8. The error of the encoder ended the run."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in (b"bad\xff.txt", b"good.txt"):
        (notes / os.fsdecode(name)).write_bytes(b"Seen today.\n")
    key = tmp_path / "key.csv"
    code, _, err = run(
        "redact", notes, "--model", model, "--output", tmp_path / "out", "--number-outputs", key, *options
    )
    assert code == 1 and "1 withheld" in err and "not UTF-8" in err
    assert len(read_key(key)) == 2 and len(contents(tmp_path / "out")) == 1


def test_a_name_that_is_taken_is_not_given_again(tmp_path, monkeypatch):
    drawn = iter(["0123456789ab", "0123456789ab", "ba9876543210"])
    monkeypatch.setattr("secrets.token_hex", lambda n: next(drawn))
    numbers = OutputNumbers(tmp_path / "key.csv")
    numbers.open()
    assert [numbers.assign("a"), numbers.assign("b")] == ["note-0123456789ab", "note-ba9876543210"]
    numbers.close()


def test_a_key_of_an_earlier_version_goes_on(tmp_path):
    path = tmp_path / "key.csv"
    path.write_text("output,note\nnote-000001,a\nnote-000002,b\n", encoding="utf-8")
    numbers = OutputNumbers(path)
    numbers.open(keep=True)
    assert (numbers.known("a"), numbers.assign("b")) == ("note-000001", "note-000002")
    added = numbers.assign("c")
    numbers.close()
    assert read_key(path)[1:] == [("note-000001", "a"), ("note-000002", "b"), (added, "c")]


def test_the_order_of_numbered_lines_is_that_of_the_random_names(run, notes, model, tmp_path):
    """Notes of a folder are read by name: otherwise the first line would be the first name of the alphabet."""
    write_corpus(notes, tmp_path / "notes.jsonl")
    options = ("--model", model, "--quiet", "--number-outputs", tmp_path / "key.csv")
    assert run("redact", tmp_path / "notes.jsonl", "--output", tmp_path / "o.jsonl", *options)[0] == 0
    lines = (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()
    ids = [json.loads(line)["doc_id"] for line in lines]
    assert ids == sorted(ids) and len(ids) == len(notes)
    assert [name for name, _ in sorted(read_key(tmp_path / "key.csv")[1:])] == ids
    # A second run finds all lines.
    assert run("redact", tmp_path / "notes.jsonl", "--output", tmp_path / "o.jsonl", *options, "--resume")[0] == 0
    assert (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines() == lines


def test_lines_without_numbers_are_in_the_order_of_the_notes(run, notes, model, tmp_path):
    backwards = list(notes)[::-1]
    write_corpus(backwards, tmp_path / "notes.jsonl")
    command = ("redact", tmp_path / "notes.jsonl", "--model", model, "--output", tmp_path / "o.jsonl")
    assert run(*command)[0] == 0
    lines = (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == [note.doc_id for note in backwards]
