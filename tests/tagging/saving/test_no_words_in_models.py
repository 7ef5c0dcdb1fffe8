"""A saved default model holds no word of its training notes: every byte of it is searched."""

import re
from dataclasses import replace

import pytest

from sklearn_deid import Corpus, DeidTagger, NoteDeidentifier, Span, make_clinical_notes, save

PLANTED = "Zyxwvutski"
# Runs of at least 6 letters in ASCII and UTF-8, and in UTF-16 of both byte orders.
RUNS = [(rb"[A-Za-z]{6,}", 1, 0), (rb"(?:[A-Za-z]\x00){6,}", 2, 0), (rb"(?:\x00[A-Za-z]){6,}", 2, 1)]


def plant(corpus):
    """Give the patients of some notes a surname that no other text has."""
    documents = []
    for document in corpus:
        line = f"\nSeen: Mr {PLANTED}, {PLANTED.upper()}.\n"
        start = len(document.text) + line.index(PLANTED)
        span = Span(start, start + len(PLANTED), "PATIENT", category="NAME")
        documents.append(replace(document, text=document.text + line, spans=(*document.spans, span)))
    return Corpus(documents)


def letters_in(folder):
    """All runs of letters in the bytes of all files, in lower case."""
    found = set()
    for path in folder.iterdir():
        data = path.read_bytes() + path.name.encode("utf-8")
        for pattern, step, first in RUNS:
            found |= {run[first::step].decode("ascii").lower() for run in re.findall(pattern, data)}
    return found


@pytest.fixture(scope="module")
def notes():
    return plant(make_clinical_notes(24, random_state=0))


@pytest.fixture(scope="module")
def saved(notes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    save(NoteDeidentifier(DeidTagger(max_epochs=1, random_state=0)).fit(notes), folder)
    return folder


@pytest.fixture(scope="module")
def runs(saved):
    return letters_in(saved)


@pytest.fixture(scope="module")
def words_of_the_library(notes, tmp_path_factory):
    """What the files of a model hold that was trained on other words, with the same labels."""
    labels = sorted({(span.label, span.category) for document in notes for span in document.spans})
    text = " ".join(["qx"] * len(labels))
    spans = tuple(Span(3 * i, 3 * i + 2, label, category) for i, (label, category) in enumerate(labels))
    corpus = Corpus([replace(notes[0], doc_id=str(i), text=text, spans=spans) for i in range(3)])
    folder = tmp_path_factory.mktemp("other") / "m"
    save(NoteDeidentifier(DeidTagger(max_epochs=1, random_state=0)).fit(corpus), folder)
    return letters_in(folder)


def test_search_finds_what_is_there(tmp_path):
    for number, encoding in enumerate(("utf-8", "utf-16-le", "utf-16-be")):
        (tmp_path / "data.bin").write_bytes(bytes(range(90)) + f"x{PLANTED}9".encode(encoding) + b"\xff" * 7)
        assert any(PLANTED.lower() in run for run in letters_in(tmp_path)), number


def test_planted_name_is_nowhere(saved, runs):
    assert [run for run in runs if PLANTED.lower() in run] == []
    for path in saved.iterdir():
        data = path.read_bytes()
        for written in (PLANTED, PLANTED.lower(), PLANTED.upper(), PLANTED[::-1]):
            for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le"):
                assert written.encode(encoding) not in data


def test_no_training_token_is_anywhere(runs, notes, words_of_the_library):
    tokens = {token.lower() for token in notes.to_sentences().X.data if re.fullmatch(r"[A-Za-z]{6,}", token)}
    assert len(tokens) > 400 and PLANTED.lower() in tokens
    found = " ".join(runs - words_of_the_library)
    assert {token for token in tokens if token in found} == set()
    # Words that the files hold in any case, such as "patient" in the labels, are no names.
    known = " ".join(words_of_the_library)
    told = {token for token in tokens if token in known}
    names = {d.text[s.start : s.end].lower() for d in notes for s in d.spans if s.category == "NAME"}
    assert not told & names
