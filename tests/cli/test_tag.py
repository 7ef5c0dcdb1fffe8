"""``tag``: notes with the spans that the library finds."""

import pytest

from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span, load, read_corpus, save, write_corpus
from sklearn_deid.io.registry import unanswered_ids

from .conftest import assert_no_note_text, contents


@pytest.fixture(scope="module")
def expected(model, notes):
    return {d.doc_id: spans for d, spans in zip(notes, load(model).annotate(notes), strict=True)}


def test_brat_by_default(run, raw, model, tmp_path, expected, notes):
    code, out, err = run("tag", raw, "--model", model, "--output", tmp_path / "out")
    assert (code, out) == (0, "")
    corpus = read_corpus(tmp_path / "out", format="brat")
    assert [d.text for d in corpus] == [d.text for d in notes]
    found = {d.doc_id: [(s.start, s.end, s.label) for s in d.spans] for d in corpus}
    assert found == {doc_id: [(s.start, s.end, s.label) for s in spans] for doc_id, spans in expected.items()}
    assert sum(map(len, found.values())) > 10
    assert_no_note_text(err, notes)


@pytest.mark.parametrize("ending", [".jsonl", ".spacy"])
def test_one_file_keeps_patients_and_confidence(run, notes, model, tmp_path, expected, ending):
    write_corpus(notes, tmp_path / "in.jsonl")
    output = tmp_path / f"out{ending}"
    assert run("tag", tmp_path / "in.jsonl", "--model", model, "--output", output)[0] == 0
    corpus = read_corpus(output)
    assert [(d.doc_id, d.patient_id, d.meta) for d in corpus] == [(d.doc_id, d.patient_id, d.meta) for d in notes]
    for document in corpus:
        for given, wanted in zip(document.spans, expected[document.doc_id], strict=True):
            assert (given.label, given.category) == (wanted.label, wanted.category)
            assert given.confidence == pytest.approx(wanted.confidence, abs=1e-5)


@pytest.mark.parametrize("form", ["i2b2", "meddocan-xml", "conll"])
def test_other_formats(run, raw, model, tmp_path, form, expected):
    output = tmp_path / ("out.conll" if form == "conll" else "out")
    code, _, err = run("tag", raw, "--model", model, "--output", output, "--output-format", form)
    assert code == 0 and f"The format {form} holds no confidences" in err, "train cannot refuse these spans"
    corpus = read_corpus(output, format=form)
    assert {d.doc_id: len(d.spans) for d in corpus} == {doc_id: len(spans) for doc_id, spans in expected.items()}


@pytest.mark.parametrize(("name", "options"), [("t.json", []), ("t.jsonl", ["--output-format", "prodigy"])])
def test_annotation_tools_get_confidences(run, raw, model, tmp_path, expected, name, options):
    assert run("tag", raw, "--model", model, "--output", tmp_path / name, *options)[0] == 0
    corpus = read_corpus(tmp_path / name, format="prodigy" if options else None)
    found = {d.doc_id: [s.confidence for s in d.spans] for d in corpus}
    for doc_id, spans in expected.items():
        assert found[doc_id] == pytest.approx([span.confidence for span in spans], abs=1e-5)


def test_spans_of_rules_are_predictions_that_nobody_has_read(run, tmp_path):
    save(
        NoteDeidentifier(RuleTagger()).fit([Document("a", "Seen 03/04/2021.", (Span(5, 15, "DATE"),))]), tmp_path / "m"
    )
    write_corpus([Document("a", "Seen 03/04/2021."), Document("b", "Fine.")], tmp_path / "in.jsonl")
    found = tmp_path / "tasks.json"
    assert run("tag", tmp_path / "in.jsonl", "--model", tmp_path / "m", "--output", found)[0] == 0
    assert [[s.confidence for s in note.spans] for note in read_corpus(found)] == [[1.0], []]
    code, _, err = run("train", found, "--model", tmp_path / "trained")
    assert code == 2 and "Nobody has marked PHI in this note" in err


def test_annotations_of_the_input_are_ignored(run, gold, raw, model, tmp_path):
    assert run("tag", gold, "--format", "brat", "--model", model, "--output", tmp_path / "a")[0] == 0
    assert run("tag", raw, "--model", model, "--output", tmp_path / "b")[0] == 0
    found = [[d.spans for d in read_corpus(tmp_path / name, format="brat")] for name in "ab"]
    assert found[0] == found[1]


def test_half_a_pair_is_written_again(run, raw, model, tmp_path):
    command = ["tag", raw, "--model", model, "--output", tmp_path]
    run(*command)
    whole = contents(tmp_path)
    (tmp_path / "note-00002.ann").unlink()
    assert run(*command, "--resume")[0] == 0
    assert contents(tmp_path) == whole


def test_broken_note_is_withheld(run, with_broken, model, tmp_path):
    code, _, err = run("tag", with_broken, "--model", model, "--output", tmp_path / "out")
    assert code == 1
    assert "1 withheld" in err and "Zyxwvutski" not in err
    assert not [path for path in (tmp_path / "out").iterdir() if path.stem == "note-00000"]


def test_conll_cannot_be_resumed(run, raw, model, tmp_path):
    code, _, err = run("tag", raw, "--model", model, "--output", tmp_path / "o.conll", "--resume")
    assert (code, "cannot be resumed" in err) == (2, True)


@pytest.mark.parametrize("form", ["text", "mimic"])  # no annotations, and read only
def test_what_is_no_output_format(run, raw, model, tmp_path, form):
    assert run("tag", raw, "--model", model, "--output", tmp_path, "--output-format", form)[0] == 2


@pytest.mark.parametrize("form", ["jsonl", "prodigy", "i2b2"])
def test_notes_without_a_found_span_are_no_notes_that_somebody_has_read(run, tmp_path, form):
    """Next to a reading, `train` learned that they hold no PHI, and `redact --reviewed` wrote them unchanged."""
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "model")
    notes = [Document("a", "Mail to roe@example.org"), Document("b", "Seen by Zyxwvutski.")]
    write_corpus(notes, tmp_path / "raw.jsonl")
    tagged = tmp_path / {"jsonl": "o.jsonl", "prodigy": "o.prodigy.jsonl"}.get(form, "o")
    command = (
        "tag",
        tmp_path / "raw.jsonl",
        "--model",
        tmp_path / "model",
        "--output",
        tagged,
        "--output-format",
        form,
    )
    assert run(*command)[0] == 0
    assert unanswered_ids(tagged, form) == {"b"}
    # A predicted note needs no reader.
    gold = [
        Document("a", notes[0].text, (Span(8, 23, "EMAIL"),)),
        Document("b", notes[1].text, (Span(8, 18, "DOCTOR"),)),
    ]
    write_corpus(gold, tmp_path / "gold.jsonl")
    code, out, err = run("evaluate", tmp_path / "gold.jsonl", tagged, "--predicted-format", form)
    assert (code, "2 documents, 2 PHI spans" in out, err) == (0, True, "")
