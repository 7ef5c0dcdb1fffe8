"""Key files and encrypted mappings: made once, readable for their owner, and refused if damaged."""

import base64
import errno
import hashlib
import hmac
import os
import stat

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.exceptions import CorpusFormatError, DeidError
from sklearn_deid.surrogates import MappingFile, SurrogateEngine, read_key, read_mapping, read_or_make_key, rewritten

aead = pytest.importorskip("cryptography.hazmat.primitives.ciphers.aead")
KEY = bytes(range(32))
NOTE = Document("note-1", "Zyxwvutski left on 3/5/2011.", (Span(0, 10, "PATIENT"), Span(19, 27, "DATE")))


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "mapping"
    with MappingFile(path, KEY) as file:
        for i in range(3):
            note = Document(f"note-{i}", NOTE.text, NOTE.spans)
            file.write(note, SurrogateEngine(key=KEY).replacements(note))
    return path


def test_originals_come_back(mapping):
    rows = list(read_mapping(mapping, KEY))
    assert [row["doc_id"] for row in rows] == ["note-0", "note-1", "note-2"]
    new = rewritten(NOTE, SurrogateEngine(key=KEY).replacements(NOTE))
    back, position = [], 0
    for span, replaced in zip(new.spans, rows[1]["replacements"], strict=True):
        assert new.text[span.start : span.end] == replaced["surrogate"]
        back += [new.text[position : span.start], replaced["original"]]
        position = span.end
    assert "".join([*back, new.text[position:]]) == NOTE.text


def test_the_file_holds_nothing_that_can_be_read(mapping):
    data = mapping.read_bytes()
    sealed = b"".join(base64.b64decode(line) for line in data.splitlines()[1:])
    # Shorter words would occur by chance: 8,000 random letters of base64 contain 4 given ones in one of 2,000 files.
    assert not [word for word in (b"yxwvut", b"PATIENT", b"note-") if word in data or word in sealed]
    if os.name == "posix":
        assert stat.S_IMODE(mapping.stat().st_mode) == 0o600


def test_other_keys_and_changed_lines_are_refused(mapping):
    with pytest.raises(CorpusFormatError, match="Line 2 cannot be decrypted"):
        list(read_mapping(mapping, bytes(32)))
    header, first, second, third = mapping.read_bytes().splitlines(keepends=True)
    changed = first[:-23] + first[-23:].swapcase()  # new letters could be the old ones by chance
    assert changed != first
    for lines in ([first, third], [second, first], [changed], [b"!\n"]):
        mapping.write_bytes(header + b"".join(lines))
        with pytest.raises(CorpusFormatError, match="cannot be decrypted"):
            list(read_mapping(mapping, KEY))
    mapping.write_bytes(first)
    with pytest.raises(CorpusFormatError, match="This is no mapping file"):
        list(read_mapping(mapping, KEY))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_lines_of_another_file_of_the_same_key_are_refused(mapping):
    """The line of yesterday's file took the place of a line of today's, and nobody noticed."""
    other = mapping.with_name("other")
    with MappingFile(other, KEY) as file:
        for _ in range(3):
            file.write(NOTE, [])
    lines, foreign = (path.read_bytes().splitlines(keepends=True) for path in (mapping, other))
    for mixed in ([*lines[:2], foreign[2], *lines[3:]], [foreign[0], *lines[1:]]):
        mapping.write_bytes(b"".join(mixed))
        with pytest.raises(CorpusFormatError, match="cannot be decrypted"):
            list(read_mapping(mapping, KEY))


def test_the_lengths_of_lines_do_not_tell_lengths_of_phi(tmp_path):
    """Without the key, a line told how long the originals of its note are together."""
    sizes = set()
    for name in ("Al", "Bartholomew Featherstonehaugh"):
        note = Document("n1", f"{name} left.", (Span(0, len(name), "PATIENT"),))
        with MappingFile(tmp_path / name, KEY) as file:
            file.write(note, SurrogateEngine(key=KEY).replacements(note))
        sizes.add((tmp_path / name).stat().st_size)
    assert len(sizes) == 1


def test_files_of_the_first_format_are_read_and_continued(mapping):
    """They hold the number of the line alone as what is authenticated."""
    rows = [b'{"doc_id": "a", "replacements": []}', b'{"doc_id": "b", "replacements": []}']
    cipher = aead.AESGCM(hmac.digest(KEY, b"sklearn-deid mapping file", hashlib.sha256))
    nonces = [bytes([i]) * 12 for i in range(2)]
    sealed = [n + cipher.encrypt(n, row, str(i).encode()) for i, (n, row) in enumerate(zip(nonces, rows, strict=True))]
    old = mapping.with_name("old")
    old.write_bytes(b"sklearn-deid mapping 1, AES-256-GCM\n" + b"".join(base64.b64encode(s) + b"\n" for s in sealed))
    with MappingFile(old, KEY) as file:
        file.write(NOTE, [])
    assert [row["doc_id"] for row in read_mapping(old, KEY)] == ["a", "b", NOTE.doc_id]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_that_others_can_read_is_refused(tmp_path, mode):
    key = read_or_make_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(DeidError, match="Other users can read the key") as caught:
        read_or_make_key(tmp_path / "key")
    assert key.hex() not in str(caught.value)
    (tmp_path / "key").chmod(0o400)
    assert read_or_make_key(tmp_path / "key") == key


def test_a_run_goes_on_behind_complete_lines(mapping):
    mapping.write_bytes(mapping.read_bytes() + b"half a line")
    with MappingFile(mapping, KEY) as file:
        file.write(NOTE, SurrogateEngine(key=KEY).replacements(NOTE))
    assert len(list(read_mapping(mapping, KEY))) == 4
    other = mapping.with_name("other")
    other.write_text("notes")
    with pytest.raises(CorpusFormatError, match="This is no mapping file"), MappingFile(other, KEY):
        pass


def test_lines_of_two_keys_or_runs_are_not_mixed(mapping):
    """Neither key could read the file."""
    before = mapping.read_bytes()
    with pytest.raises(CorpusFormatError, match="has another key"), MappingFile(mapping, bytes(32)):
        pass
    assert mapping.read_bytes() == before
    found = SurrogateEngine(key=KEY).replacements(NOTE)
    with MappingFile(mapping, KEY) as first, MappingFile(mapping, KEY) as second:
        first.write(NOTE, found)
        with pytest.raises(CorpusFormatError, match="Another run"):
            second.write(NOTE, found)
        first.write(NOTE, found)
    assert len(list(read_mapping(mapping, KEY))) == 5


def test_a_full_disk_leaves_no_half_line(mapping, monkeypatch):
    parts = iter([7, OSError("full")])

    def write(descriptor, data, write=os.write):
        part = next(parts)
        if isinstance(part, OSError):
            raise part
        return write(descriptor, bytes(data[:part]))

    found = SurrogateEngine(key=KEY).replacements(NOTE)
    with MappingFile(mapping, KEY) as file:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", write)
            with pytest.raises(OSError, match="full"):
                file.write(NOTE, found)
        file.write(NOTE, found)
    assert len(list(read_mapping(mapping, KEY))) == 4


def test_key_files(tmp_path):
    path = tmp_path / "key"
    key = read_or_make_key(path)
    # As a string, the path made a key, but the second call ended in an AttributeError.
    assert read_or_make_key(path) == read_or_make_key(str(path)) == read_key(str(path)) == key and len(key) == 32
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for wrong in ("", "xyz", key.hex()[:-1], key.hex() + "00"):
        path.write_text(wrong)
        with pytest.raises(DeidError, match="64 hexadecimal digits"):
            read_or_make_key(path)


@pytest.mark.parametrize("key", [bytes(32), b"password" * 4, bytes(range(8)) * 4])
def test_a_key_that_can_be_guessed_is_refused(tmp_path, key):
    path = tmp_path / "key"
    path.write_text(key.hex())
    path.chmod(0o600)
    with pytest.raises(DeidError, match="can be guessed"):
        read_or_make_key(path)


def test_a_random_key_is_never_refused(tmp_path):
    for i in range(200):
        path = tmp_path / str(i)
        assert read_or_make_key(path) == read_or_make_key(path)


def test_key_and_mapping_are_on_the_disk_like_the_outputs(tmp_path, monkeypatch):
    """After a power failure, outputs were there, and the key and the originals were lost."""
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_size), fsync(fd)))
    key = read_or_make_key(tmp_path / "key")
    assert synced == [65]
    with MappingFile(tmp_path / "mapping", key) as file:
        file.write(NOTE, SurrogateEngine(key=key).replacements(NOTE))
    assert synced == [65, (tmp_path / "mapping").stat().st_size]


def test_a_full_disk_leaves_no_file_without_a_key(tmp_path, monkeypatch):
    """The next run refused the empty file."""

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space") as caught:
        patched.setattr(os, "fsync", full)
        read_or_make_key(tmp_path / "key")
    assert caught.value.filename == os.fspath(tmp_path / "key")
    assert len(read_or_make_key(tmp_path / "key")) == 32


def test_a_mapping_of_a_run_that_was_stopped_at_its_start_is_begun_again(tmp_path):
    """The resumed run refused the empty file: "This is no mapping file"."""
    path, key = tmp_path / "mapping", bytes(32)
    with MappingFile(path, key):
        header = path.read_bytes()
    for size in (0, 1, 30, len(header) - 1):
        path.write_bytes(header[:size])
        path.chmod(0o644)
        with MappingFile(path, key) as file:
            file.write(NOTE, SurrogateEngine(key=key).replacements(NOTE))
        assert [row["doc_id"] for row in read_mapping(path, key)] == [NOTE.doc_id]
        assert path.stat().st_mode & 0o777 == 0o600
    for foreign in (b"sklearn-deid mapping 1", header[:-1] + b"x", b"Seen by a doctor."):
        path.write_bytes(foreign)
        with pytest.raises(CorpusFormatError, match="no mapping file"), MappingFile(path, key):
            pass
        assert path.read_bytes() == foreign
