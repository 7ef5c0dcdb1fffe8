"""Self-training: who learns from which sentences, by a tagger that only remembers words."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    Corpus,
    DeidTagger,
    Document,
    HybridTagger,
    NoteDeidentifier,
    RecallTunedTagger,
    Span,
    TemperatureScaledTagger,
    load,
    save,
)
from sklearn_deid.exceptions import SequenceError, WithheldWarning
from sklearn_deid.tagging import SelfTraining
from sklearn_deid.tagging.listed_vectors import ListedVectors

from .conftest import SMALL

NOTE = Document("n1", "Mr Alder left.\nNo pain today.", (Span(3, 8, "NAME"),), patient_id="p1")
RAW = ["Mr Alder left.\nNo pain.", "No Alder today.\nBirch left."]


class WordTagger(BaseEstimator):
    """Tags each word as in `fit`, with a probability of 0.9; a new word is no PHI with a probability of one half."""

    fits: list = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, *, groups=None):
        rows = [(list(row), list(tags)) for row, tags in zip(X, y, strict=True)]
        self.tags_ = {token: tag for row in rows for token, tag in zip(*row, strict=True)}
        self.classes_ = np.array(["O", "B-NAME", "I-NAME"], dtype=object)
        self.fits.append({"rows": rows, "documents": X.documents, "groups": groups, "seed": self.random_state})
        return self

    def predict_proba(self, X):
        rows = [[self.tags_.get(token) for token in row] for row in X]
        share = {"O": [0.9, 0.05, 0.05], "B-NAME": [0.05, 0.9, 0.05], None: [0.5, 0.25, 0.25]}
        out = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            out[i] = np.array([share[tag] for tag in row], dtype=np.float32).reshape(-1, 3)
        return out

    def predict(self, X):
        best = self.predict_proba(X)
        return np.array([*([self.classes_[p.argmax(1)].tolist() for p in best]), None], dtype=object)[:-1]


@pytest.fixture
def fits():
    WordTagger.fits.clear()
    return WordTagger.fits


def fitted(unlabelled=RAW, seed=0, **parameters):
    model = NoteDeidentifier(WordTagger(seed), segmenter="rules", self_training=SelfTraining(**parameters))
    return model.fit(Corpus([NOTE]), unlabelled=unlabelled)


def test_the_student_learns_from_what_the_teachers_are_sure_of(fits):
    lines = []
    model = fitted(progress=lines.append)
    *teachers, student = fits
    gold = [
        (["Mr", "Alder", "left", "."], ["O", "B-NAME", "O", "O"]),
        (["No", "pain", "today", "."], ["O"] * 4),
    ]
    assert [teacher["rows"] for teacher in teachers] == [gold] * 3
    # "Birch left." has a word that no teacher knows.
    sure = [gold[0], (["No", "pain", "."], ["O"] * 3), (["No", "Alder", "today", "."], ["O", "B-NAME", "O", "O"])]
    assert student["rows"] == [*gold, *sure]
    assert student["documents"].tolist() == [0, 0, 1, 1, 2]
    assert student["groups"].tolist() == ["p1", "p1", "raw-0", "raw-0", "raw-1"]
    assert model.raw_notes_ == {"read": 2, "left out": 0, "annotated": 0, "sentences": 4, "used sentences": 3}
    assert lines == [*(f"Teacher {i} of 3" for i in (1, 2, 3)), "Student, with 3 of 4 raw sentences"]
    assert model.annotate(["Alder left."])[0][0].label == "NAME"


def test_all_sentences_with_a_confidence_of_0_and_none_with_1(fits):
    assert fitted(min_confidence=0).raw_notes_["used sentences"] == 4
    assert fitted(min_confidence=1).raw_notes_["used sentences"] == 0
    assert fits[-1]["rows"] == fits[0]["rows"]


def test_teachers_have_seeds_of_their_own_and_the_student_that_of_the_estimator(fits):
    fitted(n_teachers=2)
    fitted(n_teachers=2)
    seeds = [one["seed"] for one in fits]
    assert seeds[:3] == seeds[3:] and seeds[2] == 0 and len(set(seeds[:3])) == 3
    fitted(n_teachers=2, seed=None)
    assert [one["seed"] for one in fits[6:]] == [None] * 3


def test_without_raw_notes_nothing_is_trained_twice(fits):
    model = NoteDeidentifier(WordTagger(0), segmenter="rules").fit(Corpus([NOTE]))
    assert len(fits) == 1 and not hasattr(model, "raw_notes_")


def test_many_notes_are_tagged_in_parts(fits):
    fitted([f"Mr Alder left. No pain {'today ' * (2 + i % 7)}." for i in range(120)])
    documents = fits[-1]["documents"]
    assert len(fits[-1]["rows"]) == 2 + 240
    assert len(set(documents.tolist())) == 121 and all(b - a in (0, 1) for a, b in pairwise(documents))


def test_raw_notes_pass_the_gate(fits):
    bad = "Zyxwvutski\x00"
    with pytest.warns(WithheldWarning, match="Raw note left out") as warned:
        model = fitted([*RAW, bad, Document("odd", bad), 7, f"{NOTE.text}\r\n"])
    assert {key: model.raw_notes_[key] for key in ("read", "left out", "annotated")} == {
        "read": 2,
        "left out": 3,
        "annotated": 1,
    }
    messages = [str(warning.message) for warning in warned]
    assert "odd" in messages[1] and "number 4" in messages[2] and not any("Zyx" in message for message in messages)
    learned = [row for row, _ in fits[-1]["rows"]]
    assert len(learned) == 5 and not any("Zyxwvutski" in row for row in learned)


@pytest.mark.parametrize("notes", [[], [NOTE], "one note", {"a": "b"}, 3])
def test_no_notes_to_learn_from(fits, notes):
    with pytest.raises(SequenceError, match="'unlabelled' parameter of NoteDeidentifier.fit"):
        fitted(notes)
    assert not fits


@pytest.mark.parametrize("parameters", [{"n_teachers": 0}, {"min_confidence": 1.5}, {"share_vectors": "yes"}])
def test_parameters(fits, parameters):
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter of SelfTraining must be"):
        fitted(**parameters)


@pytest.mark.parametrize("tuned", [RecallTunedTagger(WordTagger()), TemperatureScaledTagger(WordTagger())])
def test_what_is_promised_for_patients_is_not_measured_on_raw_notes(fits, tuned):
    for estimator in (tuned, Pipeline([("tagger", tuned)])):
        with pytest.raises(ValueError, match=f"A {type(tuned).__name__} cannot learn from raw notes"):
            NoteDeidentifier(estimator).fit([NOTE], unlabelled=RAW)
    assert not fits


@pytest.mark.parametrize(
    ("tuned", "kind"),
    [
        (GridSearchCV(WordTagger(), {}), "GridSearchCV"),
        (Pipeline([("search", HalvingGridSearchCV(WordTagger(), {}))]), "HalvingGridSearchCV"),
        (DeidTagger(validation_fraction=0.5), "DeidTagger with 'validation_fraction'"),
    ],
)
def test_nothing_is_chosen_by_the_tags_of_teachers(fits, tuned, kind):
    with pytest.raises(ValueError, match=f"A {kind} cannot learn from raw notes"):
        NoteDeidentifier(tuned).fit([NOTE], unlabelled=RAW)
    assert not fits


def test_rules_are_measured_on_annotated_notes_alone(fits):
    """The teachers have the rules of the student, and every match in a raw note counted as right."""
    notes = [Document("n1", "Fax 555-123-4567.", (Span(4, 16, "PHONE"),)), Document("n2", "Part 555-123-4568.")]
    raw = [f"Part 555-123-{4000 + i}." for i in range(20)]
    hybrid = HybridTagger(tagger=WordTagger())
    alone = NoteDeidentifier(hybrid).fit(notes).estimator_.rules_precision_
    for estimator in (hybrid, Pipeline([("tagger", HybridTagger(tagger=hybrid))])):
        model = NoteDeidentifier(estimator, self_training=SelfTraining(1, min_confidence=0)).fit(notes, unlabelled=raw)
        student = model.estimator_[-1].tagger_ if isinstance(estimator, Pipeline) else model.estimator_
        assert model.raw_notes_["used sentences"] == 20
        assert student.rules_precision_ == alone == 0.5


def test_a_network_reads_vectors_of_raw_words_and_is_saved(tmp_path):
    """The table of a word that only raw notes hold is trained, and the saved model finds the same."""
    tagger = DeidTagger(**SMALL).set_params(max_epochs=2, embeddings="auto", context="block")
    notes = [Document(f"n{i}", NOTE.text, NOTE.spans) for i in range(4)]
    raw = ["Quercus robur left.\nNo pain."] * 3
    shared, alone = (
        NoteDeidentifier(tagger, self_training=SelfTraining(1, min_confidence=0, share_vectors=share)).fit(
            notes, unlabelled=raw
        )
        for share in (True, False)
    )
    assert isinstance(shared.estimator_.embeddings, ListedVectors) and alone.estimator_.embeddings == "auto"
    save(shared, tmp_path / "model")
    text = ["Mr Alder left.", "Quercus left."]
    assert load(tmp_path / "model").annotate(text) == shared.annotate(text)


def test_a_copied_note_is_no_second_patient():
    """Words of a single note, such as "Mxqz.", were kept in the model as words of two patients."""
    note, text = Document("a", "Seen today."), "Kurt frug Mxqz. ging heim, und Mxqz. kam."

    def n_words(corpus, raw):
        return len(NoteDeidentifier(WordTagger(0), segmenter="learned").fit(corpus, unlabelled=raw).segmenter_.words_)

    assert n_words([note], [text, text + "\r\n"]) == n_words([note], [text]) == 0
    patients = [Document(name, text, patient_id=name) for name in "bc"]
    assert n_words([note, *patients], ["Well."]) > 0
    assert n_words([note, *(Document(d.doc_id, d.text) for d in patients)], ["Well."]) == 0
