"""Archives of others: checked before anything is stored, and nothing outside of the data folder."""

from __future__ import annotations

import io
import zipfile
from http.client import IncompleteRead
from pathlib import Path

import pytest

from sklearn_deid.datasets import releases
from sklearn_deid.datasets.releases import Part, Release, content_digest, install
from sklearn_deid.exceptions import CorpusFormatError, DataNotFoundError

FILES = {"a.txt": b"Ana come.", "a.ann": b"T1\tX 0 3\tAna\n"}
URL = "https://data.example.org/corpus.zip"


def release(n_files: int = 2, digest: str | None = None, source: str = "corpus/train") -> Release:
    return Release(URL, (Part(source, "things/train", n_files, digest),))


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def good(extra: dict[str, bytes] | None = None) -> bytes:
    return archive({**{f"top/corpus/train/{name}": content for name, content in FILES.items()}, **(extra or {})})


def serve(content: bytes):
    return lambda url, timeout: io.BytesIO(content)


def stored(home: Path) -> dict[str, bytes]:
    return {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file()}


def test_wanted_files_are_stored_and_no_others(tmp_path):
    extra = {
        "top/corpus/train/../../../evil.txt": b"x",
        "/corpus/train/evil.txt": b"x",
        "top/corpus/train/sub/b.txt": b"x",
        "top/corpus/train/.hidden.txt": b"x",
        "top/corpus/train/..\\evil.txt": b"x",
        "top/corpus/train/script.py": b"x",
        "top/corpus/test/b.txt": b"x",
        "deeper/top/corpus/train/b.txt": b"x",
    }
    home = tmp_path / "new" / "home"
    # "/corpus/train/evil.txt" lies below an empty top folder: it is one file too many, not one outside.
    with pytest.raises(CorpusFormatError, match="holds 3 .txt and .ann files instead of 2"):
        install(release(), home, serve(good(extra)))
    del extra["/corpus/train/evil.txt"]
    install(release(digest=content_digest(FILES)), home, serve(good(extra)))

    assert stored(tmp_path) == {f"new/home/things/train/{name}": content for name, content in FILES.items()}


def test_what_is_there_stays_as_it_is(tmp_path):
    (tmp_path / "things" / "train").mkdir(parents=True)
    (tmp_path / "things" / "train" / "own.txt").write_bytes(b"mine")
    install(release(), tmp_path, serve(good()))

    assert stored(tmp_path) == {"things/train/own.txt": b"mine"}


@pytest.mark.parametrize(
    ("content", "digest", "message"),
    [
        (archive({"top/corpus/train/a.txt": b"x"}), None, "corpus/train holds 1 .txt and .ann files instead of 2"),
        (good(), content_digest({**FILES, "a.txt": b"Ana corre."}), "differ from the published files"),
        (b"no archive", None, "The archive cannot be read"),
        (good()[:-40], None, "The archive cannot be read"),
        (good().replace(b"Ana", b"Eva"), None, None),
    ],
)
def test_nothing_is_stored_of_a_wrong_archive(tmp_path, content, digest, message):
    if message is None:  # damaged inside of a member
        position = content.index(b"a.txt") + 12
        content, message = content[:position] + b"\xff\xff\xff" + content[position + 3 :], "The archive cannot be read"
    with pytest.raises(CorpusFormatError, match=message):
        install(release(digest=digest), tmp_path, serve(content))

    assert not stored(tmp_path)
    assert not list(tmp_path.iterdir())


def test_sizes_have_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(releases, "_MEMBER_LIMIT", 1000)
    bomb = good({"top/corpus/train/b.txt": b"0" * 1001})
    with pytest.raises(CorpusFormatError, match="'top/corpus/train/b.txt' is larger than 1000 bytes"):
        install(release(3), tmp_path, serve(bomb))
    monkeypatch.setattr(releases, "_ARCHIVE_LIMIT", 100)
    with pytest.raises(CorpusFormatError, match="The archive is larger than 100 bytes"):
        install(release(), tmp_path, serve(good()))
    assert not stored(tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # zipfile, while the test writes the archive
def test_a_file_that_is_there_twice_is_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as twice:
        for content in (b"1", b"2"):
            twice.writestr("top/corpus/train/a.txt", content)
    with pytest.raises(CorpusFormatError, match="holds 'top/corpus/train/a.txt' twice"):
        install(release(), tmp_path, serve(out.getvalue()))


@pytest.mark.parametrize("error", [OSError("no route"), TimeoutError("timed out"), IncompleteRead(b"")])
def test_no_network(tmp_path, error):
    def opener(url, timeout):
        raise error

    with pytest.raises(DataNotFoundError, match="corpus.zip could not be fetched or stored"):
        install(release(), tmp_path, opener)
    assert not stored(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataNotFoundError, match="could not be fetched or stored"):
        install(release(), tmp_path / "file" / "home", serve(good()))


def test_the_digest_depends_on_names_contents_and_borders():
    digests = [{"a": b"bc"}, {"ab": b"c"}, {"a": b"b", "c": b""}, {"a": b"bd"}, {}]

    assert len({content_digest(files) for files in digests}) == len(digests)
