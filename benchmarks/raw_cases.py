"""Raw cases of the same kind as MEDDOCAN (``meddocan/unlabelled.jsonl``), none of which is in another split."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sklearn_deid import Corpus, DeidTagger, Document, WordVectors, read_corpus
from sklearn_deid.embeddings import train_fasttext
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.text import SentenceData


@cache
def raw_sentences(data: str) -> TokenSequences:
    """All raw cases as sentences."""
    notes = read_corpus(Path(data) / "meddocan" / "unlabelled.jsonl", format="jsonl")
    return Corpus([Document(note.doc_id, note.text) for note in notes]).to_sentences().X


@cache
def raw_vectors(data: str) -> WordVectors:
    """Word vectors of the raw cases."""
    return train_fasttext(raw_sentences(data), random_state=0)


def tagged_raw_cases(data: str, train: SentenceData, seed: int) -> tuple[TokenSequences, TokenSequences]:
    """Sentences of the raw cases with the tags of a tagger that was trained on annotated notes."""
    X = raw_sentences(data)
    return X, DeidTagger(random_state=seed).fit(train.X, train.y).predict(X)
