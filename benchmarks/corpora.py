"""Notes to train and score on: generated ones, MEDDOCAN, GraSCCo, ASQ-PHI, or i2b2 2014 for holders of its licence."""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np

from sklearn_deid import Corpus, fetch_meddocan, make_clinical_notes, read_corpus
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.text import SentenceData

CORPORA = ("generated", "meddocan", "grascco", "asq-phi", "i2b2")
_FOLDS = 5


def add_corpus_options(parser: argparse.ArgumentParser, notes: int, test_notes: int | None) -> None:
    """Options that say which notes, and how many."""
    parser.add_argument("--corpus", choices=CORPORA, default="generated")
    parser.add_argument(
        "--data", default=os.environ.get("SKLEARN_DEID_DATA"), help="folder that holds meddocan/ and grascco/"
    )
    parser.add_argument("--i2b2", help="folder with train/ and test/ of i2b2 2014, for those who hold the licence")
    parser.add_argument("--notes", type=int, default=notes, help="at most so many notes to train on")
    parser.add_argument(
        "--test-notes",
        type=int,
        default=test_notes,
        help="at most so many notes to score",
    )


def read_or_make(corpus: str, arguments: argparse.Namespace, seed: int) -> tuple[Corpus, Corpus]:
    """Notes to train on, and notes of other patients: all there are, or as many generated ones as asked for.

    GraSCCo has one split: the seed is the number of one of five folds. Of ASQ-PHI a random half is held out.
    """
    if corpus == "generated":
        train = make_clinical_notes(arguments.notes, random_state=100 + seed)
        return train, make_clinical_notes(arguments.test_notes or 150, random_state=900 + seed)
    if corpus == "grascco":
        letters = read_corpus(Path(arguments.data) / "grascco" / "dev.jsonl")
        fold = np.random.default_rng(0).permutation(len(letters)) % _FOLDS == seed % _FOLDS
        return letters[np.flatnonzero(~fold)], letters[np.flatnonzero(fold)]
    if corpus == "asq-phi":
        queries = read_corpus(Path(arguments.data) / "asq-phi" / "dev.jsonl", format="jsonl")
        order = np.random.default_rng(seed).permutation(len(queries))
        return queries[np.sort(order[: len(order) // 2])], queries[np.sort(order[len(order) // 2 :])]
    if corpus == "i2b2":
        train, test = (read_corpus(Path(arguments.i2b2) / s, format="i2b2") for s in ("train", "test"))
        return train, test
    train, dev = (fetch_meddocan(s, data_home=arguments.data, download_if_missing=False) for s in ("train", "dev"))
    return train, dev


def load(arguments: argparse.Namespace, seed: int) -> tuple[Corpus, Corpus]:
    """As many notes as asked for; those to train on are drawn by the seed."""
    train, test = read_or_make(arguments.corpus, arguments, seed)
    if len(train) > arguments.notes:
        train = drawn(train, arguments.notes, seed)
    return train, test[: arguments.test_notes]


def drawn(corpus: Corpus, n_notes: int, seed: int) -> Corpus:
    """Some notes by chance, in their order; more of one seed hold fewer of the same."""
    return corpus[np.sort(np.random.default_rng(seed).permutation(len(corpus))[:n_notes])]


def sentences(corpus: Corpus) -> SentenceData:
    """Sentences with tags; spans that end inside of a token are not warned about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        return corpus.to_sentences()
