"""``train``: a model, an account of the annotations, scores of patients that were kept apart."""

import json
import re
import shutil
import signal
from dataclasses import replace

import pytest

from sklearn_deid import (
    Corpus,
    DeidTagger,
    Document,
    HybridTagger,
    NoteDeidentifier,
    PretrainedEncoder,
    RecallTunedTagger,
    RuleTagger,
    Span,
    load,
    save,
    write_corpus,
)
from sklearn_deid.cli import train
from sklearn_deid.cli.scoring import hold_out_patients, predict_corpus
from sklearn_deid.exceptions import DeidError, WithheldWarning
from sklearn_deid.tagging import SelfTraining, measured_price
from sklearn_deid.tagging.held_out import HoldOutPlan
from sklearn_deid.text import known_id

from .conftest import assert_no_note_text

QUICK = ("--epochs", "1")


def test_same_seed_same_model(run, gold, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert run("train", gold, "--model", tmp_path / name, "--seed", seed, "--quiet", *QUICK)[0] == 0
    a, b, c = ((tmp_path / name / "arrays.safetensors").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_says_what_it_did(run, notes, tmp_path):
    write_corpus(notes, tmp_path / "notes.jsonl")
    command = ["train", tmp_path / "notes.jsonl", "--model", tmp_path / "m", "--validation-fraction", "0.34", *QUICK]
    code, out, err = run(*command)
    assert code == 0
    assert f"Model saved in {tmp_path / 'm'}" in out
    trained, held = (
        int(re.search(pattern, out)[1]) for pattern in (r"Training on (\d+) notes", r"Scores on (\d+) notes")
    )
    assert trained + held == len(notes) and trained and held
    assert "of 4 patients" in out and "of 2 patients" in out
    assert re.search(r"Alignment: (\d+) of (\d+) spans", out)
    assert "precision" in out and "NAME" in out
    assert "training: 100%" in err
    assert_no_note_text(out + err, notes)
    assert set(load(tmp_path / "m").categories_.values()) >= {"NAME", "DATE"}


@pytest.mark.parametrize("form", ["jsonl", "prodigy"])
def test_output_of_a_model_is_no_gold(run, notes, tmp_path, form):
    """PHI that the model missed would have been learned as no PHI."""
    path = tmp_path / "tagged.jsonl"
    predicted = [replace(note, spans=tuple(replace(s, confidence=0.9) for s in note.spans)) for note in notes]
    command = ["train", path, "--format", form, "--model", tmp_path / "m", "--quiet", *QUICK]
    write_corpus([*predicted[1:], Document("none", "No pain.")], path, form)
    code, _, err = run(*command)
    assert (code, (tmp_path / "m").exists()) == (2, False)
    assert "All spans have the confidence of a model" in err
    # A reader has added a span to one of the notes.
    added = Span(0, 3, predicted[0].spans[0].label)
    write_corpus([replace(notes[0], spans=(added, *predicted[0].spans)), predicted[1]], path, form, overwrite=True)
    code, _, err = run(*command)
    assert (code, "All spans of 1 of 2 annotated notes have the confidence of a model" in err) == (0, True)
    assert_no_note_text(err, notes)


def test_one_patient_is_no_patients():
    notes = [Document("a", "Seen by Roe.", (Span(8, 11, "DOCTOR"),), "p1"), Document("b", "No pain.", (), "p1")]
    assert train._size(Corpus(notes)) == "2 notes of 1 patient with 1 annotation"
    assert train._size(Corpus([*notes, Document("c", "Well.", (), "p2")])) == "3 notes of 2 patients with 1 annotation"


def test_raw_notes_are_learned_from_and_counted(run, notes, gold, tmp_path, monkeypatch):
    # One training instead of four: tests/tagging/test_self_training.py tests what is trained.
    monkeypatch.setattr(SelfTraining, "fit_student", lambda self, e, X, y, groups, raw, _: (e.fit(X, y), len(raw)))
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "a.txt").write_text("Seen by Dr. Birch on 3 May 2019.")
    (folder / "b.txt").write_text(notes[0].text)
    (folder / "c.txt").write_bytes(b"Seen\xff")
    (folder / "d.txt").write_text("Zyx\x00")
    code, out, err = run("train", gold, "--unlabelled", folder, "--model", tmp_path / "m", *QUICK)
    assert code == 1
    assert "Raw notes: 3 were read, and 1 of them is annotated." in out
    assert "1 of 1 sentences of 1 raw note were learned from; 2 notes were left out because they are no readable" in out
    assert "Raw note left out" in err and "left out:" in err and "Zyx" not in out + err
    assert_no_note_text(out + err, notes)
    assert load(tmp_path / "m").annotate(["Seen by Dr. Birch."])


def test_raw_notes_of_held_out_patients_are_not_learned_from(run, notes, tmp_path, monkeypatch):
    """The scores were those of patients whose other notes the model had read."""
    learned = []

    def fit(self, corpus, *, unlabelled):
        learned.extend((corpus, unlabelled))
        raise DeidError("not trained here")

    monkeypatch.setattr(NoteDeidentifier, "fit", fit)
    write_corpus(notes, tmp_path / "gold.jsonl")
    raw = [Document(f"raw-{n.doc_id}", f"{n.text} Well.", (), f"{n.patient_id} ") for n in notes]
    # Copies without patient ids, in which an editor has changed the line ends.
    raw += [Document(n.doc_id, "\r\n".join([*n.text.split("\n"), ""])) for n in notes]
    # Copies of raw notes, and one note whose patient nobody knows.
    raw += [Document(f"copy-{note.doc_id}", f"{note.text}\nWell.") for note in notes]
    write_corpus([*raw, Document("nobody", "Seen by Dr. Birch.")], tmp_path / "raw.jsonl")
    options = ("--unlabelled", tmp_path / "raw.jsonl", "--validation-fraction", "0.3", "--model", tmp_path / "m")
    code, out, err = run("train", tmp_path / "gold.jsonl", *options, *QUICK)
    corpus, read = learned
    assert code == 2 and {known_id(note.patient_id) for note in read} == {*corpus.patients, None}
    assert [note.text for note in read if known_id(note.patient_id) is None] == ["Seen by Dr. Birch."]
    assert f"{2 * len(notes) + 1 - len(read)} raw notes are left out, because the patients are held out." in out
    assert f"1 of {2 * len(notes) + 1} raw notes have no patient id. The model may learn from raw notes of" in err


@pytest.fixture
def trained(monkeypatch):
    """Estimators that the command would train, without training them."""
    found = []

    def fit(self, *args, **kwargs):
        found.append(self.estimator)
        raise DeidError("not trained here")

    monkeypatch.setattr(NoteDeidentifier, "fit", fit)
    return found


def test_options_choose_what_is_trained(run, gold, tmp_path, trained):
    command = ["train", gold, "--model", tmp_path / "m", "--quiet", *QUICK]
    choices = ("--target-recall", "0.9", "--precision-at-least", "0.7", "--rules", "--context", "window")
    run(*command, "--encoder", "gru", "--seed", "5", *choices)
    (hybrid,) = trained
    tuned = hybrid.tagger
    assert isinstance(hybrid, HybridTagger) and isinstance(tuned, RecallTunedTagger)
    assert (tuned.target_recall, tuned.min_precision, tuned.random_state) == (0.9, 0.7, 5)
    assert tuned.on_low_precision == "raise"
    tagger = tuned.estimator
    assert (tagger.encoder, tagger.context, tagger.warm_start_from, tagger.max_epochs) == ("gru", "window", None, 1)
    trained.clear()
    run(*command, "--precision-at-least", "0.7")
    run(*command, "--target-recall", "0.9", "--encoder", "lstm")
    run(*command)
    asked = [(tuned.target_recall, tuned.min_precision, tuned.on_low_precision) for tuned in trained[:2]]
    assert asked == [("highest", 0.7, "warn"), (0.9, 0.8, "raise")]
    assert trained[1].estimator.warm_start_from == "starter-en"
    assert isinstance(trained[2], DeidTagger) and trained[2].context == "block"


def test_a_folder_is_a_pretrained_encoder(run, gold, tmp_path, trained):
    pytest.importorskip("transformers")
    run("train", gold, "--model", tmp_path / "m", "--quiet", "--encoder", tmp_path)
    assert isinstance(trained[0].encoder, PretrainedEncoder) and trained[0].encoder.model == str(tmp_path)
    assert trained[0].warm_start_from is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--encoder", "rnn"), "--encoder must be lstm"),
        (("--encoder", "gru", "--from", "starter-en"), "Leave out --encoder or --from"),
        (("--unlabelled", "raw", "--target-recall", "0.9"), "--unlabelled excludes --target-recall"),
        (("--unlabelled", "raw", "--precision-at-least", "0.9"), "--unlabelled excludes --target-recall"),
        (("--target-recall", "1"), "must be a number between 0 and 1"),
        (("--context", "page"), "invalid choice"),
    ],
)
def test_options_that_exclude_each_other(run, gold, tmp_path, trained, options, message):
    code, out, err = run("train", gold, "--model", tmp_path / "m", *options)
    assert (code, out, message in err, trained) == (2, "", True, [])


def test_a_start_that_does_not_fit_is_refused_with_the_reason(run, gold, notes, model, tmp_path, trained):
    """These trainings ended with a traceback, after the notes were read."""
    data = notes[:2].to_sentences()
    other = DeidTagger(encoder="gru", hidden_size=4, max_epochs=1, warm_start_from=None).fit(data.X, data.y)
    save(other, tmp_path / "gru")
    save(RuleTagger().fit([]), tmp_path / "rules")
    for start, options, message in (
        (tmp_path / "rules", (), "has no tagger that reads words"),
        (tmp_path / "gru", (), "has another network (encoder)"),
        (model, ("--context", "sentence"), "Leave out --context"),
    ):
        code, out, err = run("train", gold, "--model", tmp_path / "m", "--from", start, *options)
        assert (code, out, message in err, "Traceback" in err, trained) == (2, "", True, False, [])


def test_a_target_that_cannot_be_reached_is_refused_with_the_reason(run, gold, notes, tmp_path):
    code, out, err = run("train", gold, "--model", tmp_path / "m", "--target-recall", "0.999", "--quiet", *QUICK)
    assert (code, (tmp_path / "m").exists()) == (2, False)
    assert "A recall of 0.999 cannot be shown with confidence 0.95" in err and "Traceback" not in err
    assert_no_note_text(out + err, notes)


def test_a_target_that_costs_the_precision_is_refused_with_the_best_one(run, gold, notes, tmp_path, monkeypatch):
    monkeypatch.setattr(RecallTunedTagger, "_plan", lambda self, n: HoldOutPlan(0.5, False, None, 0))
    options = ("--target-recall", "0.3", "--precision-at-least", "0.99", "--quiet", *QUICK, "--from", "none")
    code, out, err = run("train", gold, "--model", tmp_path / "m", *options)
    assert (code, (tmp_path / "m").exists()) == (2, False)
    assert "below --precision-at-least 0.99; " in err and "Traceback" not in err
    assert_no_note_text(out + err, notes)


def test_a_tuned_threshold_with_rules_is_shown_and_saved(run, gold, notes, tmp_path):
    options = ("--target-recall", "0.3", "--rules", "--validation-fraction", "0.34", "--quiet", "--epochs", "2")
    code, out, err = run("train", gold, "--model", tmp_path / "m", *options)
    assert (code, "held-out patients" in out, "decision bias" in out) == (0, True, True)
    model = load(tmp_path / "m")
    assert model.fitted_estimator().tagger_.report_.recall.value >= 0.3
    assert "[EMAIL]" in model.redact(["Write to a.b@c.org today."])[0]
    assert_no_note_text(out + err, notes)


def test_rules_need_labels_that_they_know(run, notes, tmp_path, trained):
    """The training ended with a traceback and the request to report it."""
    other = [replace(d, spans=tuple(replace(s, label="CLINICIAN") for s in d.spans)) for d in notes]
    write_corpus(other, tmp_path / "n.jsonl")
    code, out, err = run("train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--rules")
    assert (code, out, "Traceback" in err, trained) == (2, "", False, [])
    assert "Leave out --rules" in err


def test_verbose_has_a_line_for_each_epoch(run, gold, tmp_path):
    _, _, err = run("train", gold, "--model", tmp_path / "m", "--verbose", "--epochs", "2")
    start, first, second = err.splitlines()
    assert start.startswith("The training starts from starter-en")
    assert re.fullmatch(r"epoch 1 of 2: loss [\d.]+, [\d.]+ s", first)
    assert re.fullmatch(r"epoch 2 of 2: loss [\d.]+, [\d.]+ s", second)


def test_unknown_patients_are_mentioned(run, raw, notes, tmp_path):
    unknown = (None, "", "NULL")
    unnamed = [Document(d.doc_id, d.text, d.spans, unknown[n % 3]) for n, d in enumerate(notes)]
    write_corpus(unnamed, tmp_path / "n.jsonl")
    command = ["train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--validation-fraction", "0.2", "--quiet"]
    _, _, err = run(*command, *QUICK)
    assert f"{len(notes)} of {len(notes)} notes have no patient id" in err


def test_copies_of_a_note_are_not_trained_on_and_held_out(run, notes, tmp_path, monkeypatch):
    """Exports hold notes twice: the scores of a model were those of notes that it had read."""
    twice = [Document(f"{part}{d.doc_id}", d.text + part, d.spans) for d in notes for part in (" ", "\n")]
    write_corpus(twice, tmp_path / "n.jsonl")
    scored = []
    monkeypatch.setattr(train, "_show_scores", lambda deidentifier, held_out, scheme: scored.extend(held_out))
    command = ["train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--validation-fraction", "0.4", "--quiet"]
    run(*command, *QUICK)
    texts = [document.text.strip() for document in scored]
    assert texts and all(texts.count(text) == 2 for text in texts)


def test_only_copies_of_one_note_cannot_be_kept_apart(run, notes, tmp_path):
    write_corpus([Document(name, notes[0].text, notes[0].spans) for name in "ab"], tmp_path / "n.jsonl")
    code, _, err = run("train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--validation-fraction", "0.5")
    assert (code, "notes of at least two patients" in err) == (2, True)


def test_existing_model_is_kept_unless_said(run, gold, model, tmp_path):
    command = ["train", gold, "--model", tmp_path / "m", "--quiet", *QUICK]
    assert run(*command)[0] == 0
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert "pass --overwrite" in err
    assert run(*command, "--overwrite")[0] == 0
    (tmp_path / "other").mkdir()
    code, _, err = run("train", gold, "--model", tmp_path / "other", "--overwrite")
    assert (code, "not a saved model or representation" in err) == (2, True)


def test_notes_without_annotations_are_refused(run, notes, tmp_path):
    write_corpus([Document(d.doc_id, d.text) for d in notes], tmp_path / "n.jsonl")
    code, _, err = run("train", tmp_path / "n.jsonl", "--model", tmp_path / "m")
    assert (code, "No PHI is annotated" in err) == (2, True)
    assert not (tmp_path / "m").exists()


def test_one_patient_cannot_be_kept_apart(run, tmp_path):
    write_corpus([Document("a", "Ann left.", (Span(0, 3, "PATIENT"),), "p")], tmp_path / "n.jsonl")
    code, _, err = run("train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--validation-fraction", "0.5")
    assert (code, "at least two patients" in err) == (2, True)


def test_broken_notes_stop_or_are_left_out(run, gold, tmp_path):
    for path in gold.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "note-00001.ann").write_text("T1\tPATIENT 0 99999\tZyxwvutski\n", encoding="utf-8")
    code, _, err = run("train", tmp_path, "--model", tmp_path / "m", *QUICK)
    assert (code, err.count("\n")) == (2, 1)
    assert "annotation T1, characters 0-99999" in err and "Zyxwvutski" not in err
    code, _, err = run("train", tmp_path, "--model", tmp_path / "m", "--skip-broken", "--quiet", *QUICK)
    assert code == 1
    assert "left out: The span lies outside the text" in err and "Zyxwvutski" not in err


def test_notes_that_are_left_out_are_listed_also_if_the_training_fails(run, tmp_path):
    """The error said that no note has PHI, and not that the notes with PHI were left out."""
    (tmp_path / "n.jsonl").write_text('{"doc_id": "a", "text": "Zyxw"\n{"doc_id": "b", "text": "Fine.", "spans": []}\n')
    code, _, err = run("train", tmp_path / "n.jsonl", "--model", tmp_path / "m", "--skip-broken", *QUICK)
    assert (code, "Zyxw" in err) == (2, False)
    assert err.index("left out: Line 1") < err.index("No PHI is annotated")


def test_interrupted_training_saves_nothing(run, gold, tmp_path, monkeypatch):
    def interrupt(self, net, **kwargs):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("sklearn_deid.cli.scoring.EpochProgress.on_epoch_end", interrupt)
    code, _, err = run("train", gold, "--model", tmp_path / "m", "--epochs", "5")
    assert (code, "interrupted" in err) == (130, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("share", "n"), [(0.01, 1), (0.5, 5), (0.99, 9)])
def test_held_out_patients(share, n):
    corpus = Corpus(Document(f"{p}-{i}", "", patient_id=f"p{p}") for i in range(3) for p in range(10))
    rest, held_out = hold_out_patients(corpus, share, seed=1)
    assert len(held_out.patients) == n
    assert not set(rest.patients) & set(held_out.patients)
    assert sorted(d.doc_id for d in (*rest, *held_out)) == sorted(d.doc_id for d in corpus)
    assert hold_out_patients(corpus, share, seed=1)[1] == held_out


def test_held_out_notes_that_cannot_be_read_do_not_stop_the_scores():
    corpus = Corpus([Document("a", "Mail to roe@example.org", (Span(8, 23, "EMAIL"),)), Document("b", "\x02 Alder")])
    deidentifier = NoteDeidentifier(RuleTagger().fit([]))
    with pytest.warns(WithheldWarning, match="holds control characters. .* .document b."):
        predicted = predict_corpus(deidentifier, corpus)
    assert [len(document.spans) for document in predicted] == [1, 0]
    assert deidentifier.on_error == "raise"


def test_a_model_that_cannot_be_saved_is_noticed_before_the_training(run, gold, tmp_path):
    (tmp_path / "file").write_text("Notes.")
    for path in (tmp_path / "file" / "model", tmp_path / ("m" * 240)):
        code, out, err = run("train", gold, "--model", path, *QUICK)
        assert (code, "Training on" in out, "No folder can be made there" in err) == (2, False, True)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_model_is_kept_if_another_training_ends_first(run, gold, tmp_path, monkeypatch):
    from sklearn_deid.cli import scoring

    fit = scoring.fit_deidentifier

    def late(*arguments, **options):
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / "manifest.json").write_text("{}")
        return fit(*arguments, **options)

    monkeypatch.setattr(scoring, "fit_deidentifier", late)
    code, _, err = run("train", gold, "--model", tmp_path / "m", "--quiet", *QUICK)
    (beside,) = tmp_path.glob("m-*")
    assert (code, f"The model is saved in {beside}" in err) == (2, True)
    assert load(beside).redact(["Fine."])
    assert (tmp_path / "m" / "manifest.json").read_text() == "{}"


def task(number, **keys):
    return {"data": {"text": "Mail to roe@example.org", "doc_id": f"n{number}"}, **keys}


REGION = {"type": "labels", "value": {"start": 8, "end": 23, "labels": ["EMAIL"]}}
LINE = {"text": "Mail to roe@example.org", "spans": [{"start": 8, "end": 23, "label": "EMAIL"}]}
UNANSWERED = {
    "tasks.json": [
        *(task(n, annotations=[{"result": [REGION]}]) for n in range(3)),
        task(3),
        task(4, annotations=[], predictions=[{"result": [REGION]}]),
        task(5, annotations=[{"result": []}]),
    ],
    "lines.jsonl": [
        *({"doc_id": f"n{n}", **LINE} for n in range(3)),
        *({"doc_id": f"n{n}", "text": LINE["text"]} for n in (3, 4)),
        {"doc_id": "n5", "text": LINE["text"], "spans": []},
    ],
    "tasks.prodigy.jsonl": [
        *({"doc_id": f"n{n}", **LINE} for n in range(3)),
        *({"doc_id": f"n{n}", "text": LINE["text"]} for n in (3, 4)),
        {"doc_id": "n5", "text": LINE["text"], "answer": "accept"},
    ],
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_notes_that_nobody_has_annotated_are_no_notes_without_phi(run, tmp_path, name):
    path, rows = tmp_path / name, UNANSWERED[name]
    path.write_text(json.dumps(rows) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows))
    options = ["--format", "prodigy"] if "prodigy" in name else []
    code, out, err = run("train", path, "--model", tmp_path / "model", *options, *QUICK)
    assert (code, "Training on" in out) == (2, False)
    assert "Nobody has marked PHI in this note" in err and "n3" in err
    other = shutil.copy(path, tmp_path / f"other-{name}")
    assert "roe" not in err and "Nobody has marked" in run("evaluate", path, other, *options)[2]
    code, out, err = run("train", path, "--model", tmp_path / "model", "--skip-broken", *options, *QUICK)
    assert (code, "Training on 4 notes of" in out, err.count("left out: Nobody has marked")) == (1, True, 2)


def test_the_price_of_recall_is_measured_on_what_the_tagger_reads(monkeypatch, capsys):
    """The table read the text as it is written, and the tagger reads it normalised."""
    read = []
    monkeypatch.setattr(measured_price, "recall_price", lambda tagger, X, y, groups: read.extend(X))
    notes = Corpus([Document("n", "J&#111;hn A\u200blder left.", (Span(0, 16, "PATIENT"),))])
    train._show_scores(NoteDeidentifier(RuleTagger()).fit(notes), notes, None)
    assert read == [["John", "Alder", "left", "."]] and "price of recall" in capsys.readouterr().out
    # The tagger also tags ages and years, which stay in the text: the table counted them as hidden words without PHI.
    train._show_scores(NoteDeidentifier(RuleTagger(), labels="hipaa").fit(notes), notes, None)
    assert len(read) == 1 and "price of recall" not in capsys.readouterr().out


@pytest.mark.parametrize("label", ["x] Zyxw [", "Dr Zyxw", "zyxw", "a" * 65])
def test_a_label_that_holds_text_is_no_class_of_a_model(run, tmp_path, label):
    note = Document("n1", "Seen by Zyxw.", (Span(8, 12, label),))
    write_corpus([note, *(Document(str(i), "No pain.") for i in range(3))], tmp_path / "notes.jsonl")
    code, _, err = run("train", tmp_path / "notes.jsonl", "--model", tmp_path / "model", "--epochs", 1)
    assert (code, "Zyxw" in err, (tmp_path / "model").exists()) == (2, False, False)
    assert "A label is not a plain word" in err and "n1" in err
