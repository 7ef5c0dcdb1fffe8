"""``evaluate`` prints what the metrics say."""

import json
from dataclasses import replace

import pytest

from sklearn_deid import deid_report, write_corpus
from sklearn_deid.metrics import leak_list

from .conftest import assert_no_note_text


@pytest.fixture(scope="module")
def predicted(notes, tmp_path_factory):
    """The true annotations without the first one of each note."""
    folder = tmp_path_factory.mktemp("predicted")
    corpus = [replace(document, spans=document.spans[1:]) for document in notes]
    write_corpus(corpus, folder / "brat", format="brat")
    write_corpus(corpus, folder / "p.jsonl")
    return folder, corpus


def test_table(run, gold, predicted, notes):
    code, out, err = run("evaluate", gold, predicted[0] / "brat", "--label-scheme", "i2b2-2014")
    assert (code, err) == (0, "")
    assert out.strip() == deid_report(notes, predicted[1], label_scheme="i2b2-2014").strip()


def test_json_with_leaks(run, gold, predicted, notes):
    command = ["evaluate", gold, predicted[0] / "p.jsonl", "--predicted-format", "jsonl", "--format", "brat"]
    code, out, _ = run(*command, "--label-scheme", "i2b2-2014", "--output", "json", "--leaks")
    assert code == 0
    printed = json.loads(out)
    leaks = printed.pop("leaks")
    report = deid_report(notes, predicted[1], label_scheme="i2b2-2014", output="dict")
    assert printed == json.loads(json.dumps(report))
    assert leaks["spans"] == leak_list(notes, predicted[1], label_scheme="i2b2-2014").records()
    assert (leaks["share_of_patients"], leaks["n_annotations"]) == (1.0, notes.n_spans)


def test_leaks_in_the_table_hold_no_text(run, gold, predicted, notes):
    _, out, _ = run("evaluate", gold, predicted[0] / "brat", "--leaks")
    first = notes[0].spans[0]
    assert f"{notes[0].doc_id}  patient {notes[0].patient_id}  characters {first.start}-{first.end}" in out
    names = {d.text[s.start : s.end] for d in notes for s in d.spans if s.category == "NAME"}
    assert not [name for name in names if len(name) > 4 and name in out]


def test_the_gold_annotations_are_no_predictions(run, gold, notes, tmp_path, monkeypatch):
    """A path typed twice gave scores of 1 at exit code 0."""
    code, out, err = run("evaluate", gold, gold.parent / "." / gold.name)
    assert (code, out) == (2, "") and "the same" in err
    monkeypatch.chdir(gold.parent)
    assert run("evaluate", gold.name, gold)[0] == 2
    (tmp_path / "link").symlink_to(gold)
    assert run("evaluate", gold, tmp_path / "link")[0] == 2
    # A perfect model is unlikely and not impossible.
    write_corpus(notes, tmp_path / "copy", format="brat")
    code, out, err = run("evaluate", gold, tmp_path / "copy")
    assert (code, "copy of GOLD" in err) == (0, True)


def test_missing_notes_stop_or_count(run, gold, predicted, tmp_path):
    write_corpus(predicted[1][2:], tmp_path, format="brat")
    code, out, err = run("evaluate", gold, tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "2 gold documents have no prediction; pass --missing count" in err
    code, out, _ = run("evaluate", gold, tmp_path, "--missing", "count", "--output", "json")
    assert code == 0
    assert json.loads(out)["strict"]["fn"] > len(predicted[1])


def test_broken_file_is_fatal(run, gold, tmp_path):
    (tmp_path / "a.txt").write_text("Zyxwvutski", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tPATIENT 3 1\tZyxwvutski", encoding="utf-8")
    code, out, err = run("evaluate", gold, tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "reversed" in err and "Zyxwvutski" not in err


def test_robustness_of_a_model(run, model, notes, tmp_path):
    write_corpus(notes[:2], tmp_path / "few", format="brat")  # each is tagged once for each alteration
    command = ["evaluate", tmp_path / "few", "--format", "brat", "--robustness", "--model", model]
    code, out, err = run(*command)
    assert code == 0
    assert out.startswith("| alteration | recall | names | precision | false alarms | withheld |")
    assert_no_note_text(out + err, notes)
    rows = json.loads(run(*command, "--output", "json")[1])["rows"]
    assert rows[0]["name"] == "unchanged" and 0 < rows[0]["recall"] <= 1


def test_robustness_needs_a_model_and_no_predictions(run, gold, model):
    for arguments in (["--robustness"], [gold, "--robustness", "--model", model], ["--robustness", "--leaks"]):
        code, _, err = run("evaluate", gold, *arguments)
        assert (code, "--robustness needs --model" in err) == (2, True)
    for arguments in ([], [gold, "--model", model]):
        code, _, err = run("evaluate", gold, *arguments)
        assert (code, "Name PREDICTED, or use --robustness" in err) == (2, True)
