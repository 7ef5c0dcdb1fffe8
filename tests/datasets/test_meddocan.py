"""fetch_meddocan: where it looks, what it says, and that it reads what is there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sklearn_deid.datasets import fetch_meddocan, meddocan
from sklearn_deid.datasets.releases import Part, Release, content_digest
from sklearn_deid.exceptions import CorpusFormatError, DataNotFoundError

FILES = {
    "S1.txt": b"Nombre: Ana Ruiz.\n",
    "S1.ann": b"T1\tNOMBRE_SUJETO_ASISTENCIA 8 16\tAna Ruiz\n",
    "S2.txt": "Médico: Eva Gil.".encode(),
    "S2.ann": b"T1\tNOMBRE_PERSONAL_SANITARIO 8 15\tEva Gil\n",
}


@pytest.fixture
def published(tmp_path, monkeypatch) -> Path:
    """A small archive in the place of the published one; returns its path."""
    path = tmp_path / "published.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for subset in ("train", "dev", "test"):
            for name, content in FILES.items():
                archive.writestr(f"SPACCC_MEDDOCAN-783a6df/corpus/{subset}/brat/{name}", content)
    digest = content_digest(FILES)
    parts = tuple(Part(f"corpus/{s}/brat", f"meddocan/{s}/brat", 4, digest) for s in ("train", "dev", "test"))
    monkeypatch.setattr(meddocan, "_RELEASE", Release(path.as_uri(), parts))
    monkeypatch.delenv("SKLEARN_DEID_DATA", raising=False)
    return path


@pytest.mark.parametrize("subset", ["train", "dev", "test"])
def test_downloads_once_and_reads(published, tmp_path, subset):
    home = tmp_path / "home"
    corpus = fetch_meddocan(subset, data_home=home)
    published.unlink()
    again = fetch_meddocan(subset, data_home=str(home), download_if_missing=False)

    assert list(corpus) == list(again)
    assert [(d.doc_id, d.patient_id) for d in corpus] == [("S1", "S1"), ("S2", "S2")]
    found = [(d.text[s.start : s.end], s.label, s.category) for d in corpus for s in d.spans]
    assert found == [
        ("Ana Ruiz", "NOMBRE_SUJETO_ASISTENCIA", "NAME"),
        ("Eva Gil", "NOMBRE_PERSONAL_SANITARIO", "NAME"),
    ]
    assert sorted(p.name for p in (home / "meddocan").iterdir()) == ["dev", "test", "train"]


def test_where_the_data_are(published, tmp_path, monkeypatch):
    fetch_meddocan(data_home=tmp_path / "given")
    monkeypatch.setenv("SKLEARN_DEID_DATA", str(tmp_path / "given"))
    assert len(fetch_meddocan("dev", download_if_missing=False)) == 2
    with pytest.raises(DataNotFoundError):  # the argument comes before the environment
        fetch_meddocan("dev", data_home=tmp_path / "other", download_if_missing=False)

    monkeypatch.delenv("SKLEARN_DEID_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    fetch_meddocan()
    assert (tmp_path / "sklearn_deid_data" / "meddocan" / "train" / "brat" / "S1.txt").is_file()


def test_offline_it_says_what_to_do(published, tmp_path):
    with pytest.raises(
        DataNotFoundError, match="The dev split of MEDDOCAN is not on this machine. Unpack .* SKLEARN_DEID_DATA"
    ):
        fetch_meddocan("dev", data_home=tmp_path, download_if_missing=False)
    published.unlink()
    with pytest.raises(DataNotFoundError, match="could not be fetched or stored .* Unpack .* SKLEARN_DEID_DATA"):
        fetch_meddocan("dev", data_home=tmp_path)


def test_other_files_than_the_published_ones_are_refused(published, tmp_path, monkeypatch):
    release = meddocan._RELEASE
    wrong = Part("corpus/dev/brat", "meddocan/dev/brat", 4, "0" * 64)
    monkeypatch.setattr(meddocan, "_RELEASE", Release(release.url, (release.parts[0], wrong)))
    with pytest.raises(CorpusFormatError, match="corpus/dev/brat differ from the published files"):
        fetch_meddocan("train", data_home=tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())


def test_unknown_subset():
    with pytest.raises(ValueError, match="must be 'train', 'dev' or 'test'. Got 'sample' instead"):
        fetch_meddocan("sample")


def test_import_touches_no_network():
    code = "import socket; socket.getaddrinfo = socket.socket.connect = None; import sklearn_deid.datasets"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.data
@pytest.mark.parametrize(("part", "n_documents"), [(0, 500), (1, 250)], ids=["train", "dev"])
def test_published_files_have_the_pinned_digests(part, n_documents):
    home = os.environ.get("SKLEARN_DEID_DATA")
    if not home:
        pytest.skip("SKLEARN_DEID_DATA does not name a folder that holds meddocan/")
    part = meddocan._RELEASE.parts[part]
    files = {p.name: p.read_bytes() for p in (Path(home) / part.target).iterdir()}

    assert (len(files), content_digest(files)) == (part.n_files, part.digest)
    assert len(fetch_meddocan(part.target.split("/")[1], download_if_missing=False)) == n_documents
