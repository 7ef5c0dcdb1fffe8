"""Training reads the same normalised text as tagging, with gold spans at their places in the unchanged note."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_deid import Corpus, DeidTagger, Document, NoteDeidentifier, Span, make_clinical_notes
from sklearn_deid.tagging.note_sentences import NormalizedSegmenter, cut_notes

NOTES = make_clinical_notes(6, random_state=0)
# What is read as nothing, or as another character, inside of words.
DISGUISES = {
    "soft hyphens": lambda text: re.sub(r"(?<=[a-z])(?=[a-z])", "\u00ad", text),
    "zero-width spaces": lambda text: re.sub(r"(?<=\w)(?=\w)", "\u200b", text),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isalnum() and c.isascii() else c for c in text),
    "entities": lambda text: re.sub(r"[A-Za-z]", lambda found: f"&#{ord(found[0])};", text),
}


class Recorder(BaseEstimator):
    """Keeps its training data."""

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self

    def predict(self, X):
        return [["O"] * len(row) for row in X]


def disguised(note, change):
    """The note with its spans changed, and the rest as before."""
    text, spans, at = "", [], 0
    for span in sorted(note.spans, key=lambda s: s.start):
        text += note.text[at : span.start]
        hidden = change(note.text[span.start : span.end])
        spans.append(Span(len(text), len(text) + len(hidden), span.label, span.category))
        text, at = text + hidden, span.end
    return Document(note.doc_id, text + note.text[at:], tuple(spans), note.patient_id)


@pytest.mark.parametrize("kind", DISGUISES)
def test_a_corpus_has_the_sentences_of_the_deidentifier(kind):
    """`to_sentences` read a name with invisible characters as other tokens than the model that tags it."""
    altered = Corpus([disguised(note, DISGUISES[kind]) for note in NOTES])
    data, plain = altered.to_sentences(), Corpus(NOTES).to_sentences()
    assert data.X.tolist() == plain.X.tolist() == cut_notes([note.text for note in altered]).X.tolist()
    assert data.y.tolist() == plain.y.tolist()
    assert data.to_documents(data.y) == altered


@pytest.mark.parametrize("kind", DISGUISES)
@pytest.mark.parametrize("segmenter", ["learned", "rules"])
def test_a_disguised_training_note_is_read_as_the_note(kind, segmenter):
    altered = [disguised(note, DISGUISES[kind]) for note in NOTES]
    assert all(a.text != b.text for a, b in zip(altered, NOTES, strict=True))
    plain = NoteDeidentifier(Recorder(), segmenter=segmenter).fit(NOTES)
    model = NoteDeidentifier(Recorder(), segmenter=segmenter).fit(altered)
    assert model.estimator_.X_ == plain.estimator_.X_
    assert model.estimator_.y_.tolist() == plain.estimator_.y_.tolist()
    assert model.border_counts_ == plain.border_counts_
    # The report counts characters of the unchanged notes.
    assert model.alignment_report_.n_exact == plain.alignment_report_.n_exact
    texts = {note.doc_id: note for note in altered}
    for doc_id, start, end, label in model.alignment_report_.split_by_sentence:
        assert any((s.start, s.end, s.label) == (start, end, label) for s in texts[doc_id].spans)


@pytest.mark.parametrize("blank", ["&nbsp;", "&#10;", "&#8203; "])
@pytest.mark.parametrize("segmenter", ["learned", "rules"])
def test_entities_between_words_are_blanks(segmenter, blank):
    """Blanks of HTML have letters in their names, which are no text that a tagger has to see."""
    model = NoteDeidentifier(Recorder(), segmenter=segmenter).fit(NOTES)
    assert model.redact([f"Seen by Dr.{blank}Alder"]) == [f"Seen by Dr.{blank}Alder"]


def test_a_soft_hyphen_in_a_gold_span_trains_the_same_weights():
    weights = []
    for notes in (NOTES, [disguised(note, DISGUISES["soft hyphens"]) for note in NOTES]):
        tagger = DeidTagger(hidden_size=4, max_epochs=1, embeddings=None, random_state=0, device="cpu")
        fitted = NoteDeidentifier(tagger).fit(notes).estimator_
        weights.append({name: p.detach().numpy() for name, p in fitted.module_.named_parameters()})
    assert all(np.array_equal(p, weights[1][name]) for name, p in weights[0].items())


def test_training_and_tagging_read_the_same_sentences():
    altered = [disguised(note, DISGUISES["entities"]) for note in NOTES]
    model = NoteDeidentifier(Recorder()).fit(altered)
    read = cut_notes([note.text for note in altered], model.segmenter_).X
    assert model.estimator_.X_ == read


def test_tokens_of_the_normalised_text_cover_the_unchanged_one():
    text = "Seen by J\u00adohn &amp; \uff21nn\u200b\u00bd"
    texts, starts, ends = NormalizedSegmenter().segment(text).tokens
    assert texts[2] == "John"
    assert text[starts[2] : ends[2]] == "J\u00adohn"
    assert starts == sorted(starts)
    assert ends == sorted(ends)
