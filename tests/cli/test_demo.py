"""``demo``: the README's first command, on fewer notes."""

import pytest

from sklearn_deid import load, read_corpus

QUICK = ("--notes", "12", "--epochs", "2", "--quiet")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_shows_scores_and_saves_and_gives_the_same_again(run, here):
    code, out, err = first = run("demo", *QUICK)
    assert (code, err) == (0, "")
    assert out.count(", before -") == out.count(", after -") == 3
    assert all(category in out for category in ("NAME", "DATE", "LOCATION", "precision", "recall", "missed"))
    assert "Generated notes are easier than real ones" in out
    assert "Model saved in deid-demo/model" in out.replace("\\", "/")
    held_out = read_corpus(here / "deid-demo" / "notes", format="brat")
    assert len(load(here / "deid-demo" / "model").annotate(held_out)) == len(held_out) > 0
    # The command that it prints runs.
    (command,) = [line.split() for line in out.splitlines() if line.startswith("  sklearn-deid redact")]
    code, _, err = run(*command[1:])
    assert (code, "0 withheld" in err) == (0, True)
    (here / "deid-demo" / "mine.txt").write_text("kept", encoding="utf-8")
    assert run("demo", *QUICK) == first
    assert (here / "deid-demo" / "mine.txt").read_text(encoding="utf-8") == "kept"
    assert run("demo", *QUICK, "--seed", "1")[1] != out


def test_other_folders_are_left_alone(run, here):
    (here / "deid-demo").mkdir()
    (here / "deid-demo" / "notes").mkdir()
    code, out, err = run("demo", *QUICK)
    assert (code, out) == (2, "")
    assert "no demo made it" in err
    (here / "file").write_text("", encoding="utf-8")
    assert run("demo", *QUICK, "--output", "file")[0] == 2
    assert run("demo", *QUICK, "--output", "made/here")[0] == 0


def test_too_few_notes(run, here):
    code, _, err = run("demo", "--notes", "5")
    assert (code, "--notes must be at least 6" in err) == (2, True)
