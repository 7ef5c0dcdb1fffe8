"""Notes in which casing tells nothing are read in lower case, and a tagger finds the same in them."""

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger, TokenSequences, load, save
from sklearn_deid.tagging import NoteAugmenter
from sklearn_deid.tagging.tagger_data import word_features
from sklearn_deid.tagging.uniform_casing import NO_CASING, lower_uniform_casing
from sklearn_deid.tagging.warm_start import start_tagger

from .conftest import SMALL, make_sentences

ROWS = [["Seen", "by", "Alder", "3", "MRI"], ["no", "pain", "today", "."]] * 6


def document(change, rows=ROWS):
    return TokenSequences.from_rows([[change(token) for token in row] for row in rows]).with_documents([0] * len(rows))


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_three_casings_are_read_alike(change):
    X = document(change)
    read = lower_uniform_casing(X)
    assert read.tolist() == document(str.lower).tolist()
    assert read.documents.tolist() == X.documents.tolist()


def test_what_is_mixed_short_or_of_no_document_stays():
    mixed, short = document(str), document(str.upper, ROWS[:4])
    assert lower_uniform_casing(mixed) is mixed
    assert lower_uniform_casing(short) is short
    alone = TokenSequences.from_rows([[token.upper() for token in row] for row in ROWS])
    assert lower_uniform_casing(alone) is alone
    empty = TokenSequences.from_rows([])
    assert lower_uniform_casing(empty.with_documents([])).tolist() == []


def test_only_the_document_in_capitals_is_read_in_lower_case():
    rows = [[token.upper() for token in row] for row in ROWS] + ROWS
    X = TokenSequences.from_rows(rows).with_documents(["b"] * len(ROWS) + ["a"] * len(ROWS))
    assert lower_uniform_casing(X).tolist() == [[token.lower() for token in row] for row in ROWS] + ROWS


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_marks_hide_the_casing_and_nothing_else(change):
    marked = lower_uniform_casing(document(change), mark=True)
    assert marked.tolist() == [[NO_CASING + token.lower() for token in row] for row in ROWS]
    assert lower_uniform_casing(document(str), mark=True).tolist() == ROWS
    words = marked.data.tolist()
    ours, plain = (word_features(w, characters=True) for w in (words, [w.removeprefix(NO_CASING) for w in words]))
    assert ours.keys() == plain.keys()
    assert all(torch.equal(ours[name], plain[name]) for name in ours if name != "casing")
    changed = ours["casing"] != plain["casing"]
    assert changed.tolist() == [word.removeprefix(NO_CASING).isalpha() for word in words]


def test_a_tagger_finds_the_same_in_all_casings_and_after_loading(tmp_path):
    rows, tags, groups = make_sentences(60)
    X = TokenSequences.from_rows(rows).with_documents(np.zeros(len(rows), dtype=int))
    settings = {**SMALL, "augmenter": NoteAugmenter(lower_case=0.4)}
    tagger = DeidTagger(**settings).fit(X, tags, groups=groups)
    assert tagger.lowers_uniform_casing_ and tagger.marks_uniform_casing_
    found = [tagger.predict(document(change, rows)).tolist() for change in (str.lower, str.upper, str.title)]
    assert found[0] == found[1] == found[2]
    save(tagger, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.marks_uniform_casing_
    assert loaded.predict(document(str.upper, rows)).tolist() == found[0]
    # Without an augmenter, the network has read no such document.
    brief = {**settings, "max_epochs": 1, "embeddings": "auto"}
    plain = DeidTagger(**{**brief, "augmenter": None}).fit(X, tags, groups=groups)
    assert not plain.lowers_uniform_casing_
    # Weights that know no marks are read without them, also after a training that starts from them.
    started = DeidTagger(**brief, warm_start_from=plain).fit(X, tags, groups=groups)
    assert started.lowers_uniform_casing_ and not started.marks_uniform_casing_
    assert start_tagger("starter-en").marks_uniform_casing_
