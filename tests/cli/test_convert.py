"""``convert``: the same documents in another format, or none at all."""

import json

import pytest

from sklearn_deid import Document, Span, read_corpus, write_corpus
from sklearn_deid.io import FORMATS, iter_documents
from sklearn_deid.io.registry import unanswered_ids


@pytest.mark.parametrize("form", ["brat", "i2b2", "meddocan-xml", "jsonl", "conll"])
def test_there_and_back(run, notes, tmp_path, form):
    write_corpus(notes, tmp_path / "in.jsonl")
    there = tmp_path / (f"there.{form}" if form in ("jsonl", "conll") else "there")
    code, out, err = run("convert", tmp_path / "in.jsonl", there, "--to", form)
    assert (code, out, err) == (0, f"{len(notes)} notes converted, 0 left out.\n", "")
    back = ["--from", form, "--to", "jsonl", "--label-scheme", "i2b2-2014"]
    assert run("convert", there, tmp_path / "back.jsonl", *back)[0] == 0
    assert read_corpus(tmp_path / "back.jsonl") == notes


def test_loss_is_refused_unless_said(run, gold, notes, tmp_path):
    command = ["convert", gold, tmp_path / "text", "--from", "brat", "--to", "text"]
    code, _, err = run(*command)
    assert code == 2
    assert "Plain text cannot hold spans" in err and "--lossy" in err
    assert not (tmp_path / "text").exists()
    assert run(*command, "--lossy")[0] == 0
    texts = [document.text for document in read_corpus(tmp_path / "text", format="text")]
    assert texts == [document.text for document in notes]


def test_messages_name_no_option_that_the_command_lacks(run, tmp_path):
    """The messages recommended --format, which convert does not have."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.txt").write_text("Fine.\x0b", encoding="utf-8")
    errors = [
        run("convert", tmp_path / "raw", tmp_path / "out.jsonl", "--to", "jsonl")[2],
        run("convert", tmp_path / "raw", tmp_path / "out", "--from", "text", "--to", "i2b2")[2],
    ]
    assert "are read with the format text." in errors[0]
    assert "Use the format jsonl, or convert the notes with --lossy" in errors[1]
    assert not any("--format" in error for error in errors)


def test_broken_notes_stop_or_are_left_out(run, tmp_path):
    lines = [
        '{"doc_id": "a", "text": "Fine."}',
        '{"doc_id": "b", "text": "Zyxwvutski"',
        '{"doc_id": "c", "text": "Good."}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = ["convert", tmp_path / "in.jsonl", tmp_path / "out", "--to", "brat"]
    code, _, err = run(*command)
    assert (code, err.count("\n"), "Line 2" in err) == (2, 1, True)
    assert not (tmp_path / "out").exists()
    code, out, err = run(*command, "--skip-broken")
    assert (code, out) == (1, "2 notes converted, 1 left out.\n")
    assert "left out: Line 2" in err and "Zyxwvutski" not in err
    assert [document.doc_id for document in read_corpus(tmp_path / "out", format="brat")] == ["a", "c"]


def test_notes_that_are_left_out_are_listed_also_if_a_note_cannot_be_written(run, tmp_path):
    span = '"spans": [{"start": 0, "end": 3, "label": "PATIENT"}]'
    (tmp_path / "in.jsonl").write_text(f'{{"doc_id": "a", "text": "Zyxw"\n{{"doc_id": "b", "text": "Ann", {span}}}\n')
    code, _, err = run("convert", tmp_path / "in.jsonl", tmp_path / "out", "--to", "text", "--skip-broken")
    assert (code, "left out: Line 1" in err, "Zyxw" in err) == (2, True, False)


def test_notes_that_nobody_has_annotated_do_not_become_notes_without_phi(run, tmp_path):
    """Converted, they would leave raw through ``redact --reviewed``."""
    (tmp_path / "in.jsonl").write_text(
        '{"doc_id": "a", "text": "Dr. Alder", "spans": [{"start": 4, "end": 9, "label": "DOCTOR"}]}\n'
        '{"doc_id": "b", "text": "Dr. Zyxwvutski"}\n'
        '{"doc_id": "c", "text": "Fine.", "spans": []}\n',
        encoding="utf-8",
    )
    command = ("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--to", "jsonl")
    code, _, err = run(*command)
    assert (code, "Nobody has marked PHI in this note" in err, "document b" in err) == (2, True, True)
    assert not (tmp_path / "out.jsonl").exists()
    code, out, err = run(*command, "--skip-broken")
    assert (code, out, "Zyxwvutski" in err) == (1, "2 notes converted, 1 left out.\n", False)
    assert [document.doc_id for document in read_corpus(tmp_path / "out.jsonl")] == ["a", "c"]
    assert run("convert", tmp_path / "in.jsonl", tmp_path / "text", "--to", "text", "--lossy")[0] == 0


@pytest.mark.parametrize("form", ["jsonl", "prodigy", "i2b2", "meddocan-xml", "labelstudio"])
def test_raw_notes_stay_notes_that_nobody_has_annotated(run, tmp_path, form):
    """The files said that a person had found no PHI: next to reviewed notes, the raw notes were trained on and left."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.txt").write_text("Seen by Zyxwvutski.", encoding="utf-8")
    target = tmp_path / {"jsonl": "o.jsonl", "prodigy": "o.prodigy.jsonl", "labelstudio": "o.json"}.get(form, "o")
    assert run("convert", tmp_path / "raw", target, "--from", "text", "--to", form)[0] == 0
    # Another format keeps this knowledge.
    assert run("convert", target, tmp_path / "again.jsonl", "--from", form, "--to", "jsonl")[0] == 0
    assert [*read_corpus(tmp_path / "again.jsonl")] == [Document("a", "Seen by Zyxwvutski.")]
    for path, known in ((target, form), (tmp_path / "again.jsonl", "jsonl")):
        code, _, err = run("train", path, "--format", known, "--model", tmp_path / "model")
        assert (code, "Nobody has marked PHI in this note" in err) == (2, True)


@pytest.mark.parametrize("form", ["brat", "conll", "doccano", "jsonl", "labelstudio", "text"])
def test_raw_notes_in_a_format_that_cannot_say_so_are_pointed_out(run, tmp_path, form):
    """`train` took the notes that nobody annotated afterwards for notes without PHI."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.txt").write_text("Seen by Zyxwvutski.", encoding="utf-8")
    target = tmp_path / {"conll": "o.conll", "doccano": "o.jsonl", "jsonl": "o.jsonl", "labelstudio": "o.json"}.get(
        form, "o"
    )
    code, _, err = run("convert", tmp_path / "raw", target, "--from", "text", "--to", form)
    is_hidden = form in ("brat", "conll", "doccano")
    assert (code, f"The format {form} does not show that nobody has read the notes" in err) == (0, is_hidden)


def test_notes_of_brat_without_spans_are_counted_before_another_format_says_that_they_were_read(run, tmp_path):
    """Raw notes beside annotated ones became notes in which a person had found no PHI, without a message."""
    marked = Document("a", "Dr. Alder", (Span(4, 9, "DOCTOR"),))
    write_corpus([marked, Document("b", "Dr. Zyxwvutski")], tmp_path / "brat", "brat")
    code, _, err = run("convert", tmp_path / "brat", tmp_path / "o.jsonl", "--to", "jsonl")
    assert (code, "1 of 2 notes have no span and count as notes without PHI" in err, "Zyx" in err) == (0, True, False)
    assert "no span" not in run("convert", tmp_path / "brat", tmp_path / "text", "--to", "text", "--lossy")[2]


def test_existing_target_is_refused(run, gold, tmp_path):
    command = ["convert", gold, tmp_path / "o.jsonl", "--to", "jsonl"]
    assert [run(*command)[0], run(*command)[0], run(*command, "--overwrite")[0]] == [0, 2, 0]
    # The message named --resume and --output, which this command does not have.
    assert "DST exists already. Use --overwrite to replace it, or another DST." in run(*command)[2]


def test_notes_that_stay_in_a_folder_are_counted(run, tmp_path):
    """With --overwrite, notes of another corpus stayed among the converted ones without a word."""
    for name in "ab":
        write_corpus([Document(name, "Ann")], tmp_path / f"{name}.jsonl")
    assert run("convert", tmp_path / "a.jsonl", tmp_path / "out", "--to", "brat")[2] == ""
    command = ["convert", tmp_path / "b.jsonl", tmp_path / "out", "--to", "brat", "--overwrite"]
    assert run(*command) == (
        0,
        "1 note converted, 0 left out.\n",
        "1 note that was in DST before stays there beside them.\n",
    )


def test_target_among_the_sources_is_refused(run, gold):
    code, _, err = run("convert", gold, gold / "o.jsonl", "--to", "jsonl")
    assert (code, "must not lie in the folder" in err) == (2, True)


def test_encoding(run, tmp_path):
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.txt").write_bytes("caf\u00e9".encode("cp1252"))
    command = ["convert", tmp_path / "n", tmp_path / "o.jsonl", "--from", "text", "--to", "jsonl"]
    assert run(*command)[0] == 2
    assert run(*command, "--encoding", "cp1252")[0] == 0
    assert json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8"))["text"] == "caf\u00e9"
    assert read_corpus(tmp_path / "o.jsonl")[0] == Document("a", "caf\u00e9")


def test_spans_of_a_model_do_not_become_annotations_unnoticed(run, tmp_path):
    """Without their confidences, `train` takes the spans for those of a person."""
    write_corpus([Document("a", "Seen by Ann.", (Span(8, 11, "DOCTOR", "NAME", 0.8),))], tmp_path / "tagged.jsonl")
    for form, said in (("conll", True), ("i2b2", True), ("brat", False)):
        code, _, err = run("convert", tmp_path / "tagged.jsonl", tmp_path / form, "--to", form)
        assert (code, "holds no confidences" in err) == (0, said)


def test_the_output_of_a_model_is_converted_also_if_the_model_found_nothing_in_a_note(run, tmp_path):
    """`tag` writes such a note as a note that nobody has read, and `convert` refused the output."""
    notes = [Document("a", "Seen by Ann.", (Span(8, 11, "DOCTOR", "NAME", 0.8),)), Document("b", "Fine.")]
    write_corpus(notes, tmp_path / "tagged.jsonl", FORMATS["jsonl"].for_predicted())
    for form, name in (("jsonl", "again.jsonl"), ("labelstudio", "again.json"), ("brat", "again")):
        assert run("convert", tmp_path / "tagged.jsonl", tmp_path / name, "--to", form)[:2] == (
            0,
            "2 notes converted, 0 left out.\n",
        )
        assert [document.doc_id for document in iter_documents(tmp_path / name, form)] == ["a", "b"]
    # The notes stay notes that nobody has read.
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "tagged.jsonl").read_text()
    assert unanswered_ids(tmp_path / "again.json", "labelstudio") >= {"b"}
