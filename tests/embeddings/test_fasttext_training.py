"""Training with gensim: reproducible, private, and without words where none may be stored."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from gensim.models import FastText

from sklearn_deid.embeddings import SubwordTable, train_fasttext, train_subword_table

SETTINGS = {"dim": 8, "epochs": 2, "bucket": 300}
SCRIPT = """
from sklearn_deid.embeddings import train_fasttext, train_subword_table
notes = {notes!r}
print(train_subword_table(notes, **{settings!r}).checksum, train_fasttext(notes, **{settings!r}).checksum)
"""


def test_same_seed_same_vectors_in_every_process(notes):
    script = SCRIPT.format(notes=notes, settings=SETTINGS)
    printed = set()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", script]
        printed.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    here = train_subword_table(notes, **SETTINGS).checksum, train_fasttext(notes, **SETTINGS).checksum
    assert printed == {f"{here[0]} {here[1]}\n"}


def test_other_seed_other_vectors(notes):
    checksums = {train_subword_table(notes, random_state=seed, **SETTINGS).checksum for seed in (0, 1)}
    assert len(checksums) == 2


def test_global_generator_is_left_alone(notes):
    np.random.seed(7)
    expected = np.random.RandomState(7).random_sample()
    train_subword_table(notes, **SETTINGS)
    assert np.random.random_sample() == expected


def test_unseen_words_have_the_vectors_of_gensim(notes):
    model = FastText(vector_size=8, sg=1, min_count=1, min_n=3, max_n=6, bucket=300, workers=1, seed=3)
    model.build_vocab(notes)
    model.train(notes, total_examples=model.corpus_count, epochs=2)
    table = SubwordTable(model.wv.vectors_ngrams, lower=False)
    unseen = ["Unseen", "feverish", "日本語", "Ñandúes", "007"]
    np.testing.assert_allclose(table.vectors_for(unseen), np.stack([model.wv[word] for word in unseen]), atol=1e-7)


def test_words_have_the_vectors_of_gensim(notes):
    lowered = [[word.lower() for word in row] for row in notes]
    vectors = train_fasttext(notes, random_state=0, **SETTINGS)
    seed = int(np.random.RandomState(0).randint(1, 2**31 - 1))
    model = FastText(vector_size=8, sg=1, min_count=1, bucket=300, workers=1, seed=seed)
    model.build_vocab(lowered)
    model.train(lowered, total_examples=model.corpus_count, epochs=2)
    for word in ("fever", "ñandú", "unseen"):
        np.testing.assert_allclose(vectors.vectors_for([word])[0], model.wv.get_vector(word, norm=True), atol=1e-6)
    assert not vectors.is_public
    assert not vectors.lookup(["unseen"]).unknown.any()
    assert vectors.lookup([""]).unknown.all()


def test_no_word_of_the_notes_is_in_the_table(notes):
    table = train_subword_table(notes, **SETTINGS)
    stored = pickle.dumps(table).lower() + table.table.tobytes() + repr(vars(table)).lower().encode()
    for word in {word.lower() for row in notes for word in row if len(word) > 3}:
        assert word.encode() not in stored
    assert not table.is_public


def test_the_table_alone_is_the_model(notes, monkeypatch):
    """During training the vectors of the words themselves stay zero."""
    seen = []
    train = FastText.train
    monkeypatch.setattr(
        FastText, "train", lambda self, *args, **kwargs: (train(self, *args, **kwargs), seen.append(self))
    )
    train_subword_table(notes, **SETTINGS)
    (model,) = seen
    assert not model.wv.vectors_vocab.any()
    assert np.linalg.norm(model.wv.vectors_ngrams) > 0


def test_long_sentences_are_cut_up_not_off(monkeypatch):
    """gensim trains on the first 10,000 tokens of a sentence only."""
    seen = []
    train = FastText.train
    monkeypatch.setattr(FastText, "train", lambda self, rows, **more: (train(self, rows, **more), seen.extend(rows)))
    long = ["alpha", "beta"] * 10_000 + ["gamma"]
    train_subword_table([long, ["delta"]], dim=4, epochs=1, bucket=50)
    assert max(map(len, seen)) == 10_000
    assert [word for row in seen for word in row] == [*long, "delta"]


@pytest.mark.parametrize("nothing", [[], [[]], [["", ""], []]])
def test_nothing_to_train_on(nothing):
    with pytest.raises(ValueError, match="no token to train"):
        train_subword_table(nothing)
    with pytest.raises(ValueError, match="no token to train"):
        train_fasttext(nothing)


def test_logs_and_progress_hold_no_word(notes, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        train_subword_table(notes, verbose=1, **SETTINGS)
    shown = capfd.readouterr().err
    assert "2/2" in shown
    for word in {word.lower() for row in notes for word in row if len(word) > 4}:
        assert word not in caplog.text.lower() + shown


def test_options_reach_gensim(notes):
    assert repr(train_subword_table(notes, min_n=2, max_n=4, **SETTINGS)).endswith("n-grams 2-4)")
    with pytest.raises(TypeError, match="no_such_option"):
        train_subword_table(notes, no_such_option=1, **SETTINGS)
