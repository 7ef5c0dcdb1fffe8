"""The tagger that a NoteDeidentifier trains if it is given none: from the starter with a few English notes."""

import numpy as np
import pytest

import sklearn_deid.tagging.default_start as default_start
from sklearn_deid import DeidTagger, Document, NoteDeidentifier, Span
from sklearn_deid.tagging import ContextBlock
from sklearn_deid.tagging.default_start import default_settings
from sklearn_deid.text import Corpus

ENGLISH = Document("en", "Mr. Alder was seen with chest pain.", (Span(4, 9, "PATIENT"),))
GERMAN = Document("de", "Herr Möller klagt über Schmerzen in der Hüfte, für die er kürzlich Ärzte aufsuchte.")
POLISH = Document("pl", "Pan Zieliński skarży się na ból biodra, z powodu którego był u lekarza w środę.")
STARTER = {"context": "block", "warm_start_from": "starter-en"}


@pytest.mark.parametrize(
    ("notes", "settings"),
    [
        ([ENGLISH], STARTER),
        ([GERMAN], STARTER),
        ([POLISH], {"context": "block"}),
        ([ENGLISH] * 3 + [POLISH] * 3, {"context": "block"}),
        ([Document("n", "")], {"context": "block"}),
        ([], {"context": "block"}),
    ],
)
def test_language_of_all_notes_counts(notes, settings):
    assert default_settings(notes) == settings


def test_many_notes_start_from_random_weights(monkeypatch):
    monkeypatch.setattr(default_start, "FEW_CHARACTERS", 2 * len(ENGLISH.text))
    assert default_settings([ENGLISH] * 2) == STARTER
    for note in (ENGLISH, GERMAN):
        (context,) = default_settings([note] * 3).values()
        assert isinstance(context, ContextBlock) and context.random_borders


def test_the_note_deidentifier_starts_there(monkeypatch, known_keys):
    monkeypatch.setattr("sklearn_deid.tagging.training_loop._EPOCHS", 1)
    monkeypatch.setattr("sklearn_deid.tagging.training_loop._MOST_EPOCHS", 1)
    model = NoteDeidentifier().fit([ENGLISH])
    assert model.estimator_.starts_from_tagger_ and model.estimator_.context == "block"
    # One note and one epoch: the rest is known from the starter.
    assert model.redact(["Mrs. Okafor came with a cough."]) == ["Mrs. [PATIENT] came with a cough."]


def test_blocks_of_one_sentence_are_read_as_the_sentence_was():
    """A network that reads blocks has two more inputs, the marks of the sentence, which begin without effect."""
    notes = [Document(f"n{i}", ENGLISH.text, ENGLISH.spans) for i in range(3)]
    data = Corpus(notes).to_sentences()
    settings = {"warm_start_from": "starter-en", "max_epochs": 1, "lr": 1e-9, "span_swap": 0.0, "random_state": 0}
    by_sentence, by_block = (
        DeidTagger(context=context, **settings).fit(data.X, data.y).predict_proba(data.X)
        for context in ("sentence", "block")
    )
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(by_sentence, by_block, strict=True))
