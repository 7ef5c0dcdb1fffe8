"""``audit --redacted``: counts on the screen, offsets in the file, text nowhere."""

import json

import pytest

from .conftest import assert_no_note_text


@pytest.fixture
def redacted(tmp_path):
    folder = tmp_path / "redacted"
    folder.mkdir()
    (folder / "n1.txt").write_text("[PATIENT], a 47-year-old, saw Dr. Zyxwvut.")
    (folder / "n2.txt").write_text("A 47-year-old.")
    return folder


def test_what_is_found_is_counted(run, redacted, tmp_path):
    (tmp_path / "names.txt").write_text("Zyxwvut\n")
    (tmp_path / "table.csv").write_text("doc_id,patient_id\nn1,p\nn2,p\n")
    output = tmp_path / "found.json"
    options = ["--names", tmp_path / "names.txt", "--table", tmp_path / "table.csv", "--output", output]
    code, out, err = run("audit", "--redacted", redacted, *options)
    assert code == 1
    assert "names: found in 1 of 2 notes: NAME 1" in out
    assert "age: readable for 1 of 1 patients, smallest group 1" in out
    found = json.loads(output.read_text())
    assert found["attackers"]["rules"]["labels"] == {"AGE": 2}
    assert "Zyxwvut" not in out + err + output.read_text()


def test_the_places_of_what_was_found_do_not_leave_with_the_notes(run, redacted):
    code, _, err = run("audit", "--redacted", redacted, "--output", redacted / "found.json")
    assert code == 2 and "must not lie in the folder of the notes" in err
    assert not (redacted / "found.json").exists()


def test_a_model_can_attack(run, raw, model, notes):
    code, out, err = run("audit", "--redacted", raw, "--model", model)
    assert (code, f"model: found in {len(notes)} of {len(notes)} notes" in out) == (1, True)
    assert_no_note_text(out + err, notes)


def test_clean_notes_end_with_0(run, tmp_path):
    (tmp_path / "n1.txt").write_text("[PATIENT] left.")
    assert run("audit", "--redacted", tmp_path)[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ["--output", "x.html"],
        ["--release", "x"],
        ["--names", "no-such-file"],
        ["--verify", "report.json"],
        ["--fail-under", "0.9"],
    ],
)
def test_wrong_calls_are_refused(run, redacted, wrong):
    """The last two were ignored, so that exit code 0 seemed to answer them."""
    assert run("audit", "--redacted", redacted, *wrong)[0] == 2


@pytest.mark.parametrize("text", ["", "\n \r\n", "\ufeff\n"])
def test_an_empty_list_of_names_is_refused(run, tmp_path, text):
    """The attacker who knows no name found nothing, with exit code 0."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "n1.txt").write_text("Zyxwvut left.")
    names = tmp_path / "names.txt"
    names.write_text(text, encoding="utf-8")
    code, out, err = run("audit", "--redacted", tmp_path / "notes", "--names", names)
    assert (code, out, "The list of names is empty" in err) == (2, "", True)


@pytest.mark.parametrize("option", ["--names", "--model", "--table"])
def test_options_of_redacted_notes_are_not_ignored_elsewhere(run, tmp_path, option):
    for given in (["--release", tmp_path], [tmp_path, "--representer", tmp_path]):
        code, _, err = run("audit", *given, option, "x")
        assert code == 2 and "belong to --redacted" in err


@pytest.mark.parametrize("name", ["letter.docx", ".n1.txt", "more"])
def test_files_that_no_attacker_would_read_are_refused(run, redacted, name):
    if name == "more":
        (redacted / name).mkdir()
    else:
        (redacted / name).write_text("Zyxwvutski")
    code, out, err = run("audit", "--redacted", redacted)
    assert (code, out, "nobody would read" in err) == (2, "", True)
    assert "Zyxwvutski" not in err


def test_names_of_files_are_read(run, tmp_path):
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "zyxwvut_ann.txt").write_text("No pain.")
    (tmp_path / "names.txt").write_text("Zyxwvut\n")
    code, out, _ = run("audit", "--redacted", tmp_path / "release", "--names", tmp_path / "names.txt")
    assert (code, "names: in the ids or file names of 1 note." in out, "yxwvut" in out) == (1, True, False)


@pytest.mark.parametrize("more", [{"meta": {"by": "Zyxwvut"}}, {"patient_id": "Zyxwvut"}])
@pytest.mark.parametrize("command", ["audit", "signoff"])
def test_a_release_with_more_than_texts_is_refused(run, tmp_path, command, more):
    """What nobody reads would leave with the texts."""
    (tmp_path / "release.jsonl").write_text(json.dumps({"doc_id": "n1", "text": "No pain.", **more}) + "\n")
    given = ["--redacted", tmp_path / "release.jsonl"] if command == "audit" else [tmp_path / "release.jsonl"]
    given += [] if command == "audit" else ["--output", tmp_path / "work"]
    code, _, err = run(command, *given)
    assert (code, "which would leave unread" in err, "Zyxwvut" in err) == (2, True, False)


def test_notes_of_unknown_patients_are_counted(run, redacted, tmp_path):
    """Two notes of one patient were a group of two patients without a message, also with a table without patients."""
    table, output = tmp_path / "table.csv", tmp_path / "found.json"
    _, out, _ = run("audit", "--redacted", redacted, "--output", output)
    assert "2 of 2 notes have no patient id (--table)" in out
    assert json.loads(output.read_text())["n_unknown"] == 2
    table.write_text("doc_id,type\nn1,letter\nn2,letter\n")
    code, out, err = run("audit", "--redacted", redacted, "--table", table)
    assert (code, out, "needs a column patient_id" in err) == (2, "", True)
    table.write_text("doc_id,patient_id\nn1,p\nn2,p\n")
    assert "no patient id" not in run("audit", "--redacted", redacted, "--table", table)[1]


def test_kinds_that_no_attacker_searched_are_named(run, tmp_path):
    """Professions were "readable for 0 of 1 patients", although the rules find no profession."""
    (tmp_path / "n1.txt").write_text("A nurse from Boston.")
    _, out, _ = run("audit", "--redacted", tmp_path)
    assert "profession: not searched, use --model\n" in out and "profession: readable" not in out
    assert "place: only postal codes were searched, use --model\n" in out and "place: readable" not in out
    assert "age: readable for 0 of 1 patients" in out
    (tmp_path / "n1.txt").write_text("Boston, MA 02115.")
    assert "place: readable for 1 of 1 patients" in run("audit", "--redacted", tmp_path)[1]
