"""``redact`` over Word, HTML and text files: the same files without PHI, or a reason."""

import csv
import os

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.cli import document_output
from sklearn_deid.io import open_document

from ..io.documents.word_files import holds, paragraph, word_file

pytest.importorskip("lxml")
NAME, MAIL = "Zyxwvutski", "roe@example.org"


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.docx").write_bytes(word_file(paragraph("Mail roe@exa", "mple.org.")))
    (folder / "b.html").write_bytes(b"<p>Mail <b>roe@</b>example.org</p>")
    (folder / "c.txt").write_bytes(b"Mail roe@example.org\r\n")
    (folder / "d.pdf").write_bytes(b"%PDF-1.4 Zyxwvutski")
    (folder / "e.docx").write_bytes(word_file(f"<w:p><w:del><w:r><w:delText>{NAME}</w:delText></w:r></w:del></w:p>"))
    (folder / ".hidden.html").write_bytes(b"x")
    (folder / "inner").mkdir()
    return folder


@pytest.fixture
def redact(run, rules, notes, tmp_path):
    def redact(*options, source=notes):
        return run("redact", source, "--model", rules, "--output", tmp_path / "out", "--quiet", *options)

    return redact


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_keep_kind_and_name_and_failures_are_listed(redact, tmp_path):
    code, out, err = redact("--documents")
    found = contents(tmp_path / "out")
    assert (code, out, list(found)) == (1, "", ["a.docx", "b.html", "c.txt"])
    assert found["b.html"] == b"<p>Mail <b>[EMAIL]</b></p>" and found["c.txt"] == b"Mail [EMAIL]\r\n"
    assert holds(found["a.docx"], "roe@") == []
    assert open_document(tmp_path / "out" / "a.docx").text == "Seen today.\nMail [EMAIL].\n"
    assert "3 files redacted, 2 withheld." in err and "d.pdf" in err and "tracked changes" in err
    assert NAME not in err


def test_lock_files_of_word_are_left_out_and_sub_folders_are_named(redact, notes, tmp_path):
    for name in ("d.pdf", "e.docx"):
        (notes / name).unlink()
    (notes / "~$a.docx").write_bytes(b"\x04Owner" + bytes(156))
    code, _, err = redact("--documents")
    assert (code, list(contents(tmp_path / "out"))) == (0, ["a.docx", "b.html", "c.txt"])
    assert "3 files redacted, 0 withheld." in err and "2 sub-folders and hidden files were not read." in err
    # A document of such a name is a document.
    (notes / "~$a.docx").write_bytes(word_file(paragraph(f"{NAME} " * 50)))
    assert redact("--documents", "--overwrite")[0] == 0
    assert "~$a.docx" in contents(tmp_path / "out")


def test_a_short_note_with_the_name_of_a_lock_file_is_a_note(redact, notes, tmp_path):
    """It was left out with exit code 0, and no line counted it."""
    for name in ("d.pdf", "e.docx"):
        (notes / name).unlink()
    (notes / "~$c.txt").write_text("Seen.")
    (notes / "~$b.html").write_bytes(b"\x04Owner" + bytes(156))
    code, _, err = redact("--documents")
    assert (code, "4 files redacted, 1 withheld." in err, "~$b.html" in err) == (1, True, True)
    assert contents(tmp_path / "out")["~$c.txt"] == b"Seen."


def test_a_folder_without_files_is_an_error(redact, tmp_path):
    """A folder for each patient: no letter was read, and exit code 0 and an empty folder looked like success."""
    source = tmp_path / "letters"
    (source / "patient-1").mkdir(parents=True)
    (source / "patient-1" / "a.txt").write_text(MAIL)
    (source / "~$a.docx").write_bytes(b"\x04Owner" + bytes(156))
    code, _, err = redact("--documents", source=source)
    assert (code, "The folder holds no file. Files in folders inside of it are not read." in err) == (2, True), err
    assert not (tmp_path / "out").exists()


def test_names_that_are_one_on_the_disk_lose_no_file(run, rules, tmp_path, monkeypatch):
    """An output on a disk that ignores case: the second file replaced the first one, and both counted as redacted."""
    folder = tmp_path / "two"
    folder.mkdir()
    for name in ("A.txt", "a.txt"):
        (folder / name).write_text(f"{name} {MAIL}")
    monkeypatch.setattr(document_output.DocumentOutput, "_name", lambda self, doc_id, is_known=False: doc_id.lower())
    out = tmp_path / "out"
    code, _, err = run("redact", folder, "--model", rules, "--output", out, "--quiet", "--documents")
    assert (code, contents(out)) == (1, {"a.txt": b"A.txt [EMAIL]"})
    assert "1 file redacted, 1 withheld." in err and "Another file has this name already" in err


def test_files_with_the_longest_names_are_written(run, rules, tmp_path):
    """The name of the unfinished file was longer than a name may be, and the run ended before any file was written."""
    (tmp_path / "in").mkdir()
    name = f"{'a' * 250}.html"
    (tmp_path / "in" / name).write_text(f"<p>{MAIL}</p>")
    arguments = ["redact", tmp_path / "in", "--model", rules, "--quiet", "--documents", "--output", tmp_path / "out"]
    assert run(*arguments)[0] == 0
    assert list(contents(tmp_path / "out")) == [name]


def test_one_file_needs_no_option(redact, notes, tmp_path):
    assert redact(source=notes / "b.html")[0] == 0
    assert list(contents(tmp_path / "out")) == ["b.html"]
    code, _, err = redact("--overwrite", source=notes / "d.pdf")
    assert code == 1 and "PDF holds" in err and contents(tmp_path / "out") == {}


def test_surrogates_need_no_other_run(redact, tmp_path, known_keys):
    redact("--documents", "--mode", "surrogate", "--key-file", tmp_path / "key")
    found = contents(tmp_path / "out")
    assert b"@" in found["b.html"] and MAIL.encode() not in b"".join(found.values())


def written(path):
    """What changes when a file is written, and not when it is read."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def test_surrogates_with_a_key_need_no_text_file(redact, notes, tmp_path, known_keys):
    """The check of the key file looked for notes in the folder, and advised to use --documents."""
    for name in ("c.txt", "d.pdf", "e.docx"):
        (notes / name).unlink()
    options = ["--documents", "--mode", "surrogate", "--key-file", tmp_path / "key", "--mapping", tmp_path / "mapping"]
    assert (redact(*options)[0], list(contents(tmp_path / "out"))) == (0, ["a.docx", "b.html"])
    (tmp_path / "out" / "b.html").unlink()
    assert redact(*options, "--resume")[0] == 0 and list(contents(tmp_path / "out")) == ["a.docx", "b.html"]
    options[4] = notes / "key"
    assert "must not lie in the folder of the notes" in redact(*options, "--overwrite")[2]


def test_interrupted_run_goes_on(redact, notes, tmp_path, monkeypatch):
    write, calls = document_output.DocumentOutput.write, []

    def interrupt(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(document_output.DocumentOutput, "write", interrupt)
        assert redact("--documents")[0] == 130
    before = written(tmp_path / "out" / "a.docx")
    assert redact("--documents")[0] == 2
    assert "1 were finished before" in redact("--documents", "--resume")[2]
    assert written(tmp_path / "out" / "a.docx") == before
    assert "differs from this one in: mode" in redact("--documents", "--resume", "--mode", "mask")[2]
    (notes / "c.txt").write_bytes(b"Mail poe@example.org")
    assert "has changed since" in redact("--documents", "--resume")[2]
    assert "outputs of the earlier run" not in redact("--documents", "--resume")[2]
    assert list(contents(tmp_path / "out")) == ["a.docx", "b.html", "c.txt"]
    (notes / "c.txt").unlink()
    assert "1 output of the earlier run stays" in redact("--documents", "--resume")[2]


def test_files_of_other_origin_are_refused(redact, tmp_path):
    redact("--documents")
    (tmp_path / "out" / "raw.html").write_bytes(b"x")
    for option in ("--resume", "--overwrite"):
        assert "no output of the run" in redact("--documents", option)[2]
    (tmp_path / "out" / "raw.html").unlink()
    (tmp_path / "out" / "b.html").write_bytes(b"x")
    assert "was changed after" in redact("--documents", "--resume")[2]
    assert redact("--documents", "--overwrite")[0] == 1
    assert contents(tmp_path / "out")["b.html"] == b"<p>Mail <b>[EMAIL]</b></p>"


def test_names_can_be_random(redact, tmp_path):
    redact("--documents", "--number-outputs", tmp_path / "key.csv")
    with (tmp_path / "key.csv").open(newline="") as stream:
        key = {row["note"]: row["output"] for row in csv.DictReader(stream)}
    assert set(contents(tmp_path / "out")) == {f"{key[name]}.{name[2:]}" for name in ("a.docx", "b.html", "c.txt")}
    assert "3 were finished before" in redact("--documents", "--resume", "--number-outputs", tmp_path / "key.csv")[2]


def test_run_without_the_option_names_it(redact):
    assert "Word and HTML files are read with --documents." in redact()[2]


def test_a_folder_of_documents_alone_names_the_option(redact, notes):
    (notes / "c.txt").unlink()
    code, _, err = redact()
    assert code == 2 and "holds no notes, but Word or HTML files. `redact --documents` reads them. [file" in err


@pytest.mark.parametrize("options", [("--format", "text"), ("--text-column", "x"), ("--encoding", "latin-1")])
def test_options_of_other_inputs_are_refused(redact, options):
    code, _, err = redact("--documents", *options)
    assert code == 2 and "is not for" in err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_run_leaves_no_part_of_a_file(redact, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda source, target: os._exit(9))
    child = os.fork()
    if not child:
        redact("--documents")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    monkeypatch.undo()
    assert redact("--documents", "--resume")[0] == 1
    assert list(contents(tmp_path / "out")) == ["a.docx", "b.html", "c.txt"]
