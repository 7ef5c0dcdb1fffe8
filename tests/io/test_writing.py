"""Files appear whole or not at all, stay in their folder, and are not replaced unasked; interrupted runs go on."""

import errno
import os
import shutil
import sys
import threading
import time
from io import FileIO

import pytest

from sklearn_deid.exceptions import CorpusFormatError, DeidError
from sklearn_deid.io import DocumentWriter, completed_ids, read_corpus, write_corpus
from sklearn_deid.text import Document, Span

NOTES = [Document(name, f"Note {name}", (Span(0, 4, "A"),), f"p{name}") for name in "abc"]
FOLDERS = ["i2b2", "meddocan-xml", "brat", "text"]


def bare(documents):
    return [Document(document.doc_id, document.text) for document in documents]


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize(
    "doc_id",
    ["../evil", "..", ".", ".hidden", "a/b", "/absolute", "a\\b", "..\\evil", "a/../../b", "a\x00b", "a\nb", "\x7f"]
    + ["con", "NUL.tar", "com1", "x..y"],
)
def test_an_id_cannot_lead_out_of_the_folder(name, doc_id, tmp_path):
    with pytest.raises(CorpusFormatError, match="document id cannot be a file name"):
        write_corpus(bare([*NOTES, Document(doc_id, "x")]), tmp_path / "out", format=name)
    assert snapshot(tmp_path) == {}  # the good ones before it were not written either


@pytest.mark.parametrize("doc_id", ["../evil", "a/b", "..", "a\x00b"])
def test_any_id_goes_into_one_file(doc_id, tmp_path):
    write_corpus([Document(doc_id, "x")], tmp_path / "x.jsonl")
    assert [document.doc_id for document in read_corpus(tmp_path / "x.jsonl")] == [doc_id]


@pytest.mark.parametrize("doc_id", ["", None, 7])
def test_an_id_must_be_a_string(doc_id, tmp_path):
    with pytest.raises(CorpusFormatError, match="must be a string and not empty"):
        write_corpus([Document(doc_id, "x")], tmp_path / "x.jsonl")


@pytest.mark.parametrize("doc_id", ["a\nb", "a\rb", "a\tb", "a\u2028b"])
def test_conll_refuses_ids_with_breaks(doc_id, tmp_path):
    with pytest.raises(CorpusFormatError, match="cannot hold a document id"):
        write_corpus([Document(doc_id, "x")], tmp_path / "x.conll")
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("name", [*FOLDERS, "jsonl", "conll"])
def test_an_id_twice_is_refused(name, tmp_path):
    with pytest.raises(CorpusFormatError, match="document id occurs twice.*document a"):
        write_corpus(bare([NOTES[0], NOTES[1], NOTES[0]]), tmp_path / "x", format=name)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("name", [*FOLDERS, "jsonl", "conll"])
def test_nothing_is_replaced_unasked(name, tmp_path):
    target = tmp_path / "x"
    write_corpus(bare(NOTES), target, format=name)
    before = snapshot(tmp_path)
    changed = [Document("new", "x"), Document("b", "other")]
    with pytest.raises(FileExistsError, match="pass overwrite=True to replace it"):
        write_corpus(changed, target, format=name)
    assert snapshot(tmp_path) == before
    write_corpus(changed, target, format=name, overwrite=True)
    assert {document.doc_id: document.text for document in read_corpus(target, format=name)}["b"] == "other"


def test_annotations_can_be_put_beside_their_untouched_notes(tmp_path):
    write_corpus(bare(NOTES), tmp_path, format="text")
    write_corpus(NOTES, tmp_path, format="brat")
    assert list(read_corpus(tmp_path)) == NOTES


def test_a_stream_that_cannot_be_written_names_the_file(tmp_path, monkeypatch):
    class Full(FileIO):
        def write(self, content):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    monkeypatch.setattr("sklearn_deid.io.files.FileIO", Full)
    with pytest.raises(OSError, match="too large") as caught:
        DocumentWriter(tmp_path / "notes.jsonl", "jsonl").write(NOTES[0])
    assert caught.value.filename == str(tmp_path / "notes.jsonl")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_failing_rename_leaves_no_file_behind(name, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_corpus(bare(NOTES), tmp_path, format=name)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("name", FOLDERS)
def test_an_interrupted_corpus_leaves_no_part_that_looks_whole(name, tmp_path, monkeypatch):
    """The first notes stayed, and a training took them for all."""
    (tmp_path / "other.txt").write_text("Kept.")
    written, real = [], os.replace

    def interrupt(source, target):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_corpus([Document(doc_id, "Ann") for doc_id in "abcdef"], tmp_path, format=name)
    assert len(written) == 3 and snapshot(tmp_path) == {"other.txt": b"Kept."}


@pytest.mark.parametrize("name", [*FOLDERS, "jsonl"])
def test_a_corpus_that_is_refused_leaves_no_new_folder(name, tmp_path):
    """An empty folder looked like the result of a conversion."""
    (tmp_path / "there").mkdir()
    file = "x.jsonl" if name == "jsonl" else ""
    for target in (tmp_path / "new" / "inner" / file, tmp_path / "there" / file):
        with pytest.raises(CorpusFormatError, match="twice"):
            write_corpus([bare(NOTES)[0]] * 2, target, format=name)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_a_file_with_all_notes_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """After a power failure, a redacted .jsonl file was there under its name and ended in the middle."""
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append((os.fstat(fd).st_ino, os.fstat(fd).st_size)), fsync(fd)))
    write_corpus(NOTES, path := tmp_path / "x.jsonl")
    assert synced == [(path.stat().st_ino, path.stat().st_size)]


def test_a_file_is_renamed_from_its_own_folder(tmp_path, monkeypatch):
    seen = []
    real = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (seen.append((a, b)), real(a, b)))
    write_corpus(NOTES, tmp_path / "x.jsonl")
    write_corpus(bare(NOTES[:1]), tmp_path, format="text")
    assert [(a.name, b.name) for a, b in seen] == [("x.jsonl.part", "x.jsonl"), ("a.txt.part", "a.txt")]
    assert {path.parent for pair in seen for path in pair} == {tmp_path}


def test_a_planted_link_under_the_temporary_name_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("keep")
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.txt.part").symlink_to(victim)
    (out / "x.jsonl.part").symlink_to(victim)
    write_corpus(bare(NOTES[:1]), out, format="text")
    write_corpus(NOTES, out / "x.jsonl", overwrite=True)
    assert victim.read_text() == "keep"


def test_interrupting_between_the_files_of_a_pair_leaves_no_wrong_pair(tmp_path, monkeypatch):
    write_corpus([NOTES[0]], tmp_path, format="brat")
    real = os.replace

    def interrupt(source, target):
        if target.suffix == ".ann":
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", interrupt)
    new = Document("a", "Other text", (Span(0, 5, "A"),))
    with pytest.raises(KeyboardInterrupt):
        write_corpus([new], tmp_path, format="brat", overwrite=True)
    monkeypatch.undo()
    assert completed_ids(tmp_path, "brat") == set()
    with pytest.raises(CorpusFormatError, match="no .ann beside"):
        read_corpus(tmp_path, format="brat")
    with DocumentWriter(tmp_path, "brat", resume=True) as writer:
        writer.write(new)
    assert list(read_corpus(tmp_path)) == [new]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_goes_on_where_it_stopped(name, tmp_path):
    with pytest.raises(KeyboardInterrupt), DocumentWriter(tmp_path, name) as writer:
        writer.write(bare(NOTES)[0])
        raise KeyboardInterrupt
    (tmp_path / "b.xml.part").write_text("half")
    assert completed_ids(tmp_path, name) == {"a"}
    with DocumentWriter(tmp_path, name, resume=True) as writer:
        assert writer.completed == {"a"}
        for note in bare(NOTES):
            if note.doc_id not in writer.completed:
                writer.write(note)
        with pytest.raises(CorpusFormatError, match="twice"):
            writer.write(bare(NOTES)[0])
    assert list(read_corpus(tmp_path, format=name)) == bare(NOTES)


@pytest.mark.parametrize("cut", [b"", b'{"doc_id": "b", "te', b'{"doc_id": "b", "text": "\xc3'])
def test_json_lines_go_on_where_they_stopped(cut, tmp_path):
    path, part = tmp_path / "x.jsonl", tmp_path / "x.jsonl.part"
    with pytest.raises(KeyboardInterrupt), DocumentWriter(path) as writer:
        writer.write(NOTES[0])
        raise KeyboardInterrupt
    assert not path.exists()
    part.write_bytes(part.read_bytes() + cut)
    assert completed_ids(path) == {"a"}
    with pytest.raises(FileExistsError, match="An interrupted run left this file; pass resume=True"):
        DocumentWriter(path)
    with DocumentWriter(path, resume=True) as writer:
        assert writer.completed == {"a"}
        writer.write(NOTES[1])
        writer.write(NOTES[2])
    assert snapshot(tmp_path).keys() == {"x.jsonl"}
    assert list(read_corpus(path)) == NOTES
    assert completed_ids(path) == {"a", "b", "c"}


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_a_finished_file_can_be_added_to_and_is_whole_at_every_moment(ending, tmp_path):
    path = tmp_path / "x.jsonl"
    write_corpus(NOTES[:1], path)
    path.write_bytes(path.read_bytes().rstrip(b"\n") + ending)
    before = path.read_bytes()
    with DocumentWriter(path, resume=True) as writer:
        writer.write(NOTES[1])
        assert path.read_bytes() == before
    assert list(read_corpus(path)) == NOTES[:2]


def test_resume_with_nothing_there_is_a_beginning(tmp_path):
    for path in (tmp_path / "new" / "x.jsonl", tmp_path / "new" / "folder"):
        format = "jsonl" if path.suffix else "brat"
        assert completed_ids(path, format) == set()
        with DocumentWriter(path, format, resume=True) as writer:
            writer.write(NOTES[0])
        assert list(read_corpus(path)) == NOTES[:1]


def test_nothing_comes_after_a_half_written_line(tmp_path):
    class Full(FileIO):
        def write(self, data):
            raise OSError("disk full")

    writer = DocumentWriter(tmp_path / "x.jsonl")
    writer.write(NOTES[0])
    writer._stream.close()
    writer._stream = Full(tmp_path / "x.jsonl.part", "ab")
    with pytest.raises(OSError, match="disk full"):
        writer.write(NOTES[1])
    writer.close()
    assert not (tmp_path / "x.jsonl").exists()
    assert completed_ids(tmp_path / "x.jsonl") == {"a"}


def test_conll_cannot_be_resumed(tmp_path):
    with pytest.raises(ValueError, match="'conll' cannot be resumed"):
        DocumentWriter(tmp_path / "x.conll", resume=True)
    with pytest.raises(ValueError, match="cannot be listed for the format 'conll'"):
        completed_ids(tmp_path / "x.conll")


def test_the_path_must_fit_the_format(tmp_path):
    with pytest.raises(ValueError, match="cannot be inferred from the path. Pass one of 'brat', 'conll'") as caught:
        write_corpus(NOTES, tmp_path / "out")
    assert "mimic" not in str(caught.value), "which can only be read"
    with pytest.raises(ValueError, match="'path' must be a folder"):
        write_corpus(NOTES, tmp_path / "out.xml", format="i2b2")
    with pytest.raises(ValueError, match="'path' must be a file"):
        write_corpus(NOTES, tmp_path, format="jsonl")


def test_an_unfinished_file_is_not_read(tmp_path):
    with DocumentWriter(tmp_path / "x.jsonl") as writer:
        writer.write(NOTES[0])
        with pytest.raises(CorpusFormatError, match="holds no file ending in"):
            read_corpus(tmp_path, format="jsonl")


def test_line_ends_in_strings_are_escaped_for_other_readers(tmp_path):
    write_corpus([Document("n", "a\r\n\x0b\x85\u2028\u2029\x1eb")], tmp_path / "x.jsonl")
    content = (tmp_path / "x.jsonl").read_bytes().decode()
    assert len(content.splitlines()) == 1
    assert content.endswith("}\n")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("format", ["text", "brat"])
def test_ids_that_are_one_name_on_the_file_system_lose_no_note(tmp_path, monkeypatch, format, overwrite):
    """On disks that ignore case, the second note replaced the first one, or stood for both if they were equal."""
    from sklearn_deid.io import writing

    file_name = writing.file_name
    monkeypatch.setattr(writing, "file_name", lambda doc_id, suffix: file_name(doc_id.lower(), suffix))
    with DocumentWriter(tmp_path / "out", format, overwrite=overwrite) as writer:
        writer.write(Document("a", "One."))
        for text in ("Two.", "One."):
            with pytest.raises(CorpusFormatError, match="both ids are one name"):
                writer.write(Document("A", text))
        writer.write(Document("b", "One."))
    assert (tmp_path / "out" / "a.txt").read_text() == "One."


@pytest.mark.parametrize(("name", "format"), [("c.spacy", "docbin"), ("c.json", "labelstudio"), ("c.jsonl", "jsonl")])
def test_a_file_that_cannot_be_completed_leaves_nothing(tmp_path, monkeypatch, name, format):
    """An unfinished file with all texts stayed beside the path if its packing was interrupted, or on a full disk."""
    write_corpus([Document("a", "One.")], tmp_path / name, format)
    before = (tmp_path / name).read_bytes()

    def interrupted(*_, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_deid.io.writing.os.replace", interrupted)
    monkeypatch.setattr("sklearn_deid.io.writing.write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_corpus([Document("b", "Two.")], tmp_path / name, format, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot lock a folder")
def test_two_who_write_to_one_folder_take_turns(tmp_path):
    """They mixed the files of a note, and the run that failed removed notes of the run that succeeded."""
    import fcntl

    begun = threading.Event()

    def notes():
        yield Document("n", "Second.")
        begun.set()

    def write():
        with pytest.raises(FileExistsError):
            write_corpus(notes(), tmp_path, "brat")

    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    thread = threading.Thread(target=write)
    with pytest.warns(UserWarning, match="another process is writing to this folder. Waiting.") as found:
        thread.start()
        assert begun.wait(60)
        while not found.list:
            time.sleep(0.001)
        thread.join(0.05)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "n.txt").write_text("First.")
        os.close(other)
        thread.join(60)
    assert str(tmp_path) in str(found[0].message)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("n.txt", "First.")]


def test_an_unfinished_file_of_another_run_is_neither_finished_nor_removed(tmp_path):
    """With ``overwrite``, the first run gave its name to the half of the second run, and reported success."""
    path = tmp_path / "notes.jsonl"
    first = DocumentWriter(path)
    first.write(Document("a", "First."))
    second = DocumentWriter(path, overwrite=True)
    second.write(Document("b", "Second."))
    with pytest.raises(DeidError, match="Another run has replaced"):
        first.close()
    first.discard()
    assert not path.exists()
    second.write(Document("c", "Third."))
    second.close()
    assert [note.doc_id for note in read_corpus(path)] == ["b", "c"]


@pytest.mark.parametrize("change", [DocumentWriter.sort, lambda writer: writer.drop(["a"])])
def test_an_unfinished_file_of_another_run_is_not_sorted(tmp_path, change):
    """After a change of the lines, the first run took the file of the second run for its own, and finished it."""
    path = tmp_path / "notes.jsonl"
    first = DocumentWriter(path)
    first.write(Document("a", "First."))
    second = DocumentWriter(path, overwrite=True)
    second.write(Document("b", "Second."))
    with pytest.raises(DeidError, match="Another run has replaced"):
        change(first)
    second.write(Document("c", "Third."))
    second.close()
    assert [note.doc_id for note in read_corpus(path)] == ["b", "c"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot lock a folder")
def test_a_folder_that_a_failed_run_removes_is_made_again(tmp_path, monkeypatch):
    """The run that waited for the failed run ended with "No such file or directory"."""
    folder, waited = tmp_path / "out", []

    def lock(descriptor, how):
        if not waited:
            folder.rmdir()
        waited.append(how)

    monkeypatch.setattr("fcntl.flock", lock)
    write_corpus([Document("n", "Fine.")], folder, "brat")
    assert len(waited) == 2 and (folder / "n.txt").read_text() == "Fine."


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot lock a folder")
def test_a_lock_of_a_removed_folder_is_no_lock_of_the_folder_with_its_name(tmp_path, monkeypatch):
    """The run that had waited wrote together with a third run, which had made and locked the folder again."""
    folder, inside = tmp_path / "out", []

    def lock(descriptor, how):
        if not inside:
            folder.rename(tmp_path / "old")  # keeps the number of the removed folder in use
            folder.mkdir()
        inside.append(os.path.samestat(os.fstat(descriptor), folder.stat()))

    monkeypatch.setattr("fcntl.flock", lock)
    write_corpus([Document("n", "Fine.")], folder, "brat")
    assert inside == [False, True] and (folder / "n.txt").read_text() == "Fine."


@pytest.mark.parametrize("overwrite", [False, True])
def test_two_who_open_one_unfinished_file_at_the_same_time_do_not_share_it(tmp_path, monkeypatch, overwrite):
    """Both wrote into one file, and the first of them gave it the final name with notes of the other."""
    path, opened = tmp_path / "notes.jsonl", []

    class Opening(FileIO):
        """Lets another run open the file between the checks and the opening."""

        def __init__(self, file, mode, **options):
            if not opened:
                opened.append(None)
                opened[0] = DocumentWriter(path)
            super().__init__(file, mode, **options)

    monkeypatch.setattr("sklearn_deid.io.files.FileIO", Opening)
    with pytest.raises(FileExistsError):
        DocumentWriter(path, overwrite=overwrite)
    opened[0].write(Document("n", "Fine."))
    opened[0].close()
    assert [note.doc_id for note in read_corpus(path)] == ["n"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("change", [None, DocumentWriter.sort, lambda writer: writer.drop(["c"])])
def test_a_second_writer_does_not_continue_the_file_of_the_first(tmp_path, resumed, change):
    """It appended to the same file, also after the first writer had given it the final name."""
    path = tmp_path / "notes.jsonl"
    if resumed:
        with DocumentWriter(path) as writer:
            writer.write(NOTES[0])
    first = DocumentWriter(path, resume=resumed)
    first.write(NOTES[1])
    if change is not None:
        change(first)
    before = snapshot(tmp_path)
    with pytest.raises(DeidError, match="Another writer has this unfinished file open"):
        DocumentWriter(path, resume=True)
    assert snapshot(tmp_path) == before
    first.write(NOTES[2])
    first.close()
    with DocumentWriter(path, resume=True) as writer:
        assert writer.completed == {*"abc"[not resumed :]}
    assert list(snapshot(tmp_path)) == ["notes.jsonl"]


def test_a_writer_that_failed_does_not_hold_the_file(tmp_path, monkeypatch):
    path, failed = tmp_path / "notes.jsonl", []
    with pytest.raises(RuntimeError), DocumentWriter(path) as writer:
        writer.write(NOTES[0])
        raise RuntimeError
    with monkeypatch.context() as patch:
        patch.setattr("sklearn_deid.io.writing.os.fsync", lambda descriptor: os.close(-1))
        with pytest.raises(OSError, match="Bad file"), DocumentWriter(path, resume=True) as writer:
            failed.append(writer)
    failed.append(DocumentWriter(path, resume=True))
    monkeypatch.setattr("sklearn_deid.io.writing.memoryview", lambda content: 1 / 0, raising=False)
    with pytest.raises(ZeroDivisionError):
        failed[-1].write(NOTES[1])
    monkeypatch.undo()
    with DocumentWriter(path, resume=True) as writer:
        writer.write(NOTES[2])
    assert [note.doc_id for note in read_corpus(path)] == ["a", "c"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_process_that_was_forked_meanwhile_does_not_hold_the_file(tmp_path):
    """It has the same file open, as the copy of a descriptor has, and kept the lock of a writer that had failed."""
    path, copies = tmp_path / "notes.jsonl", []
    try:
        with pytest.raises(RuntimeError), DocumentWriter(path) as writer:
            copies.append(os.dup(writer._stream.fileno()))
            writer.write(NOTES[0])
            raise RuntimeError
        with DocumentWriter(path, resume=True) as writer:
            assert writer.completed == {"a"}
    finally:
        os.close(copies[0])


@pytest.mark.parametrize("name", ["notes.jsonl", "notes.jsonl.part"])
def test_an_invalid_file_that_cannot_be_continued_stays_as_it_is(tmp_path, name):
    (tmp_path / name).write_text("no notes\nbut a text")
    before = snapshot(tmp_path)
    with pytest.raises(CorpusFormatError):
        DocumentWriter(tmp_path / "notes.jsonl", resume=True)
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_file_that_was_finished_before_the_lock_is_not_continued(tmp_path, monkeypatch):
    """The second writer opened the unfinished file, and the first one gave it the final name."""
    import fcntl

    path, begun = tmp_path / "notes.jsonl", []
    first, flock = DocumentWriter(path), fcntl.flock
    first.write(NOTES[0])

    def lock(stream, how):
        if not begun:
            begun.append(stream)
            first.close()
        flock(stream, how)

    monkeypatch.setattr("fcntl.flock", lock)
    with pytest.raises(DeidError, match="Another writer has this unfinished file open"):
        DocumentWriter(path, resume=True)
    with DocumentWriter(path, resume=True) as writer:
        writer.write(NOTES[1])
    assert [note.doc_id for note in read_corpus(path)] == ["a", "b"]


@pytest.mark.parametrize("has_final", [False, True])
def test_a_file_that_was_finished_before_it_is_opened_is_continued(tmp_path, monkeypatch, has_final):
    """The second writer made an empty file, and later replaced the file of the first writer without its documents."""
    path, begun = tmp_path / "notes.jsonl", []
    if has_final:
        with DocumentWriter(path) as writer:
            writer.write(NOTES[2])
    first = DocumentWriter(path, resume=True)
    first.write(NOTES[0])

    def opened(*args, **options):
        if not begun:
            begun.append(args)
            first.close()
        return FileIO(*args, **options)

    monkeypatch.setattr("sklearn_deid.io.files.FileIO", opened)
    with DocumentWriter(path, resume=True) as writer:
        writer.write(NOTES[1])
    assert sorted(note.doc_id for note in read_corpus(path)) == ["a", "b", "c"][: 2 + has_final]
    assert list(snapshot(tmp_path)) == ["notes.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_second_writer_does_not_finish_the_file_while_it_is_copied(tmp_path, monkeypatch):
    """The first writer went on with the copy, without the documents of the second one."""
    path, begun, copyfile = tmp_path / "notes.jsonl", [], shutil.copyfile
    with DocumentWriter(path) as writer:
        writer.write(NOTES[0])

    def copied(source, target):
        copyfile(source, target)
        if not begun:
            begun.append(target)
            with pytest.raises(DeidError, match="Another writer"), DocumentWriter(path, resume=True) as second:
                second.write(NOTES[1])

    monkeypatch.setattr("sklearn_deid.io.files.shutil.copyfile", copied)
    with DocumentWriter(path, resume=True) as writer:
        writer.write(NOTES[2])
    assert [note.doc_id for note in read_corpus(path)] == ["a", "c"]
    assert list(snapshot(tmp_path)) == ["notes.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_drive_without_locks_is_written(tmp_path, monkeypatch):
    def no_lock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_lock)
    with DocumentWriter(tmp_path / "notes.jsonl", resume=True) as writer:
        writer.write(NOTES[0])
    assert completed_ids(tmp_path / "notes.jsonl") == {"a"}
