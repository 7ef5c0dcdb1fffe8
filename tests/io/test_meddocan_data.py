"""The real MEDDOCAN corpus, where it is at hand: brat and XML hold the same, and come back when written."""

import os
from pathlib import Path

import pytest

from sklearn_deid.io import read_corpus

from .corpora_for_io import there_and_back

DATA = Path(os.environ.get("SKLEARN_DEID_DATA", ""), "meddocan")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        "SKLEARN_DEID_DATA" not in os.environ or not DATA.is_dir(),
        reason="SKLEARN_DEID_DATA names no folder with meddocan/",
    ),
]


# Documents and entities that the published corpus states for each set (Marimon et al. 2019).
@pytest.mark.parametrize(("subset", "n_documents", "n_spans"), [("train", 500, 11333), ("dev", 250, 5801)])
def test_brat_and_xml_hold_the_same(subset, n_documents, n_spans):
    xml = read_corpus(DATA / subset / "xml")
    brat = read_corpus(DATA / subset / "brat", label_scheme="meddocan")
    assert len(xml) == n_documents
    assert sum(len(document.spans) for document in xml) == n_spans
    assert list(brat) == list(xml)


@pytest.mark.parametrize("name", ["meddocan-xml", "i2b2", "jsonl"])
def test_the_dev_set_comes_back(name):
    corpus = read_corpus(DATA / "dev" / "xml")
    assert there_and_back(list(corpus), name) == list(corpus)


def test_the_dev_set_comes_back_from_brat():
    corpus = read_corpus(DATA / "dev" / "brat")
    assert there_and_back(list(corpus), "brat") == list(corpus)
