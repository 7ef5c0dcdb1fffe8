"""The memory of a note: a word that is surely PHI at one place is likelier PHI at the others, as far as counted."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from sklearn_deid import DeidTagger, Document, NoteDeidentifier, TokenSequences, load, make_clinical_notes, save
from sklearn_deid.exceptions import BundleError, SequenceError, WithheldWarning
from sklearn_deid.sequences import object_rows
from sklearn_deid.tagging.note_batches import NoteBatch, note_batches
from sklearn_deid.tagging.note_memory import NoteMemory, Repeats
from sklearn_deid.tagging.tagging_net import TaggingNet

CLASSES = ["O", "B-DOCTOR", "B-PATIENT", "I-DOCTOR", "I-PATIENT"]
LABELS = ["DOCTOR", "PATIENT"]


def sentences(*rows, documents=None):
    X = TokenSequences.from_rows([row.split() for row in rows])
    return X.with_documents(np.zeros(len(X), dtype=int) if documents is None else documents)


def memory(doctors_too=20.0, outside=0.0):
    """Memory of notes in which repeated doctors are doctors, or O, at the other places."""
    return NoteMemory(LABELS, np.array([[outside, doctors_too, 0.0], [0.0, 0.0, 0.0]]))


def corrected(X, doctor, learned=None):
    """Marginals of DOCTOR of all tokens after the correction; ``doctor`` holds those before."""
    flat = np.zeros((len(X.data), len(CLASSES)))
    flat[:, 1], flat[:, 0] = doctor, 1 - np.array(doctor)
    rows = [flat[a:b] for a, b in zip(X.offsets, X.offsets[1:], strict=False)]
    (learned or memory()).correct(rows, Repeats.of(X), CLASSES)
    np.testing.assert_allclose(flat.sum(1), 1)
    return flat[:, 1]


def test_counts_are_those_of_a_count_by_hand():
    X = sentences("Dr Leber saw Alder", "Leber and Leber", "Leber", "Alder", documents=[0, 0, 1, 1])
    tags = [["O", "B-DOCTOR", "O", "B-PATIENT"], ["B-DOCTOR", "O", "O"], ["O"], ["O"]]
    # Leber: three times in note 0, of which one is an organ; Alder is not repeated in its note.
    np.testing.assert_allclose(NoteMemory.counted(X, tags, CLASSES).counts, [[1, 1, 0], [0, 0, 0]])


def test_other_names_in_the_same_places_give_the_same_counts():
    """The counts in a saved model say nothing about which words were repeated."""
    data = make_clinical_notes(30, random_state=0).to_sentences()
    tags = data.y.tolist()
    other = {
        word: f"Name{'x' * number}".capitalize() for number, word in enumerate(sorted({*map(str.lower, data.X.data)}))
    }
    renamed = np.array(
        [other[w.lower()] if w[:1].isupper() and w.isalpha() and len(w) > 2 else w for w in data.X.data], object
    )
    X = TokenSequences(renamed, data.X.offsets).with_documents(data.X.documents)
    classes = sorted({tag for row in tags for tag in row})
    before, after = (NoteMemory.counted(one, tags, classes).counts for one in (data.X, X))
    assert before.sum() > 50
    np.testing.assert_array_equal(before, after)


def test_only_words_with_a_capital_and_three_letters_are_remembered():
    X = sentences("Alder alder de De NG2 NG2 - - LEBER Leber ALDER")
    assert X.data[Repeats.of(X).places].tolist() == ["Alder", "LEBER", "Leber", "ALDER"]


def test_best_and_mean_elsewhere_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    X = sentences(*(" ".join(rng.choice(["Aaa", "Bbb", "Ccc", "Ddd"], size=5)) for _ in range(6)))
    repeats = Repeats.of(X.with_documents([0, 0, 0, 1, 1, 2]))
    values = rng.random((len(repeats.places), 3)).round(1)  # with ties
    for i, word in enumerate(repeats.words):
        others = [j for j in range(len(values)) if j != i and repeats.words[j] == word]
        np.testing.assert_allclose(repeats.best_elsewhere(values)[i], values[others].max(axis=0))
        np.testing.assert_allclose(repeats.mean_elsewhere(values)[i], values[others].mean(axis=0))


def test_a_word_found_in_the_header_is_found_below_in_the_same_note_alone():
    X = sentences("Doctor Leber", "later Leber", "later Leber", documents=[0, 0, 1])
    found = corrected(X, [0.0, 0.99, 0.0, 0.2, 0.0, 0.2])
    assert found[3] > 0.7 and found[5] == pytest.approx(0.2) and found[[0, 2, 4]].max() == 0


def test_the_correction_is_weak_where_repeated_words_are_also_something_else():
    X = sentences("Doctor Leber", "later Leber")
    found = [corrected(X, [0.0, 0.99, 0.0, 0.2], memory(20, outside))[3] for outside in (0, 5, 50)]
    assert found[0] > found[1] > found[2] > 0.2


def test_nothing_changes_where_nothing_is_counted_or_known():
    X, before = sentences("Doctor Leber", "later Leber"), [0.0, 0.99, 0.0, 0.2]
    np.testing.assert_array_equal(corrected(X, before, NoteMemory(LABELS, np.zeros((2, 3)))), before)
    np.testing.assert_array_equal(corrected(X, [0.0] * 4), 0)
    assert Repeats.of(X.with_documents(None)) is None


def test_no_label_loses_and_what_o_loses_follows_the_odds():
    rng = np.random.default_rng(0)
    X = sentences(*(" ".join(rng.choice(["Aaa", "Bbb", "Ccc", "ddd"], size=5)) for _ in range(20)))
    rows = [rng.dirichlet(np.full(len(CLASSES), 0.2), size=5) for _ in range(20)]
    before = np.concatenate(rows)
    learned = NoteMemory(LABELS, rng.integers(0, 9, size=(2, 3)).astype(float))
    learned.correct(rows, Repeats.of(X), CLASSES)
    after = np.concatenate(rows)
    assert (after[:, 1:] >= before[:, 1:] - 1e-12).all() and (after[:, 0] < before[:, 0] - 0.01).any()
    np.testing.assert_allclose(after.sum(1), 1)
    # B and I of a label rise by one factor.
    np.testing.assert_allclose(after[:, 1] * before[:, 3], after[:, 3] * before[:, 1], atol=1e-9)


def test_a_word_that_is_surely_phi_keeps_its_label():
    """A place in the name of a hospital is no place, even if it is one elsewhere in the note."""
    X = sentences("Leber", "Leber")
    rows = [np.array([[0.0, 1.0, 0.0, 0.0, 0.0]]), np.array([[0.001, 0.05, 0.949, 0.0, 0.0]])]
    memory(1000).correct(rows, Repeats.of(X), CLASSES)
    assert rows[1][0, 2] >= 0.949 and rows[1][0].sum() == pytest.approx(1)


@pytest.fixture(scope="module")
def fitted():
    notes = make_clinical_notes(12, random_state=0)
    tagger = DeidTagger(max_epochs=8, lr=0.02, hidden_size=12, context="block", random_state=0)
    return NoteDeidentifier(tagger).fit(notes)


def test_tags_and_marginals_of_a_tagger_read_the_memory(fitted):
    notes = make_clinical_notes(6, random_state=1)
    tagger, X = fitted.estimator_, notes.to_sentences().X
    with_memory, proba = tagger.predict(X), tagger.predict_proba(X)
    learned, tagger.note_memory_ = tagger.note_memory_, None
    without, plain = tagger.predict(X), tagger.predict_proba(X)
    tagger.note_memory_ = learned
    before, after = (np.concatenate([*rows])[:, 0] for rows in (plain, proba))
    assert (after <= before + 1e-6).all() and (after < before - 1e-3).any()
    changed = [a != b for a, b in zip(with_memory, without, strict=True)]
    assert 0 < sum(changed) < len(changed) / 4


def test_without_documents_there_is_no_memory():
    data = make_clinical_notes(2, random_state=0).to_sentences()
    tagger = DeidTagger(max_epochs=1, hidden_size=8, random_state=0)
    assert tagger.fit(data.X.with_documents(None), data.y).note_memory_ is None


def test_taggers_without_a_fit_on_notes_have_no_memory():
    data = make_clinical_notes(2, random_state=0).to_sentences()
    tagger = DeidTagger(hidden_size=8, random_state=0).partial_fit(data.X, data.y)
    assert TaggingNet.note_memory_ is None, "taggers of earlier versions have no such attribute"
    assert tagger.note_memory_ is None and len(tagger.predict(data.X)) == len(data.X)


def test_a_saved_model_holds_counts_and_tags_as_before(fitted, tmp_path):
    notes = make_clinical_notes(3, random_state=1)
    save(fitted, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.annotate(notes) == fitted.annotate(notes)
    np.testing.assert_array_equal(loaded.estimator_.note_memory_.counts, fitted.estimator_.note_memory_.counts)


@pytest.mark.parametrize("change", [{"labels": ["X"]}, {"counts": [[1.0]]}, {"counts": [[-1.0] * 3] * 2}])
def test_a_memory_that_does_not_fit_its_tagger_is_refused(change):
    state = memory().to_state()
    assert NoteMemory.from_state(state, CLASSES).counts.sum() == 20
    with pytest.raises(BundleError, match="memory of a saved tagger"):
        NoteMemory.from_state({**state, **change}, CLASSES)


# ---- notes of one patient


def test_words_are_remembered_over_the_notes_of_a_patient():
    X = sentences("Doctor Leber", "later Leber", "later Leber", documents=[0, 1, 2])
    doctor = [0.0, 0.99, 0.0, 0.2, 0.0, 0.2]
    np.testing.assert_array_equal(corrected(X, doctor), doctor)
    found = corrected(X.with_documents([0, 1, 2], [7, 7, 8]), doctor)
    assert found[3] > 0.7 and found[5] == pytest.approx(0.2)


def test_rows_keep_their_patients():
    X = sentences("a", "b", "c", documents=None).with_documents([0, 1, 2], ["p", "q", "q"])
    assert X[1:].patients.tolist() == [0, 0] and pickle.loads(pickle.dumps(X)).patients.tolist() == [0, 1, 1]
    assert X.with_documents(X.documents).patients is None
    with pytest.raises(SequenceError, match="'patients' must hold one id"):
        X.with_documents(X.documents, [1])


def noted(*patients):
    return [Document(str(i), "", patient_id=patient) for i, patient in enumerate(patients)]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_batches_hold_all_notes_in_order_and_no_patient_is_cut(size):
    notes = [*noted("a", "a", None, "b", "b", "b"), "text", 7, "text", *noted("a", "c")]
    batches = list(note_batches(iter(notes), size, "patient"))
    assert [note for batch in batches for note in batch] == notes
    runs = [n for batch in batches for n in [None, *NoteBatch.of(batch, "patient").patients]]
    # A new number where a patient begins or comes back, and for each text without a patient.
    per_note = [n for n in runs if n is not None]
    same = [a == b for a, b in zip(per_note, per_note[1:], strict=False)]
    within = [same[i] for i in (0, 3, 4)]
    assert all(within) and len(batches) <= len(notes) and all(len(batch) >= size for batch in batches[:-1])
    assert NoteBatch.of(notes, "patient").patients == [1, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8]


def test_a_patient_with_very_many_notes_is_cut():
    batches = list(note_batches(noted(*"p" * 25), 1, "patient"))
    assert [len(batch) for batch in batches] == [10, 10, 5]


def places(found):
    return [[(span.start, span.end, span.label) for span in spans] for spans in found]


def test_spans_depend_on_the_run_of_a_patient_and_on_nothing_else(fitted, local_processes):
    """Oracle: the tagger reads all notes at once, with the numbers of their patients."""
    texts = [note.text for note in make_clinical_notes(6, random_state=1)]
    notes = [Document(str(i), text, patient_id="pqqqrr"[i]) for i, text in enumerate(texts)]
    tagger = fitted.note_tagger()
    # The confidence of a span varies in its last bits with the other sentences of a batch.
    expected, alone = places(tagger(texts, [0, 1, 1, 1, 2, 2])), places(fitted.annotate(notes))
    assert alone == places(tagger(texts)) != expected, "the notes of a patient tell something"
    together = clone(fitted).set_params(memory_unit="patient")
    vars(together).update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
    for size in (1, 2, 64):
        assert places(together.set_params(batch_size=size).annotate(notes)) == expected
    assert places(together.annotate(texts)) == alone, "a string belongs to no patient"
    assert places(together.set_params(batch_size=1, n_jobs=2).annotate(notes)) == expected


class NamesBehindDr(BaseEstimator):
    """Tags the words that a note of the patient has behind "Dr"; fails on "bad", and on "huge" beside other notes."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        rows, owners = list(X), X.documents if X.patients is None else X.patients
        if any("bad" in row for row in rows) or (len(rows) > 1 and any("huge" in row for row in rows)):
            raise MemoryError
        names = {(p, b) for p, row in zip(owners, rows, strict=True) for a, b in pairwise(row) if a == "Dr"}
        return object_rows(
            ["B-DOCTOR" if (p, word) in names else "O" for word in row] for p, row in zip(owners, rows, strict=True)
        )


def test_a_note_that_fails_does_not_end_the_memory_of_patients():
    """After a failure, each note was read alone, so that names stayed in the notes of all patients of the batch."""
    texts = ["Dr Roe came", "Roe left", "bad", "Dr Lee came", "bad", "Lee left", "Dr Fox came", "huge Fox", "Fox"]
    notes = [Document(str(i), text, patient_id="ppqrrrsss"[i]) for i, text in enumerate(texts)]
    deidentifier = NoteDeidentifier(NamesBehindDr().fit([]), memory_unit="patient", on_error="withhold")
    with pytest.warns(WithheldWarning):
        redacted = deidentifier.redact(notes)
    seen = ["Dr [DOCTOR] came", "[DOCTOR] left"]
    assert redacted == [*seen, None, seen[0], None, seen[1], None, None, None]
    with pytest.warns(WithheldWarning):
        alone = deidentifier.set_params(memory_unit="note").redact(notes)
    assert alone[1] == "Roe left" and alone[7] == "huge Fox"


def test_other_patients_do_not_divide_the_notes_of_a_patient():
    """The spans of a note would depend on the notes of the patient before."""
    alone = list(note_batches(noted(*"p" * 25), 2, "patient"))
    behind = list(note_batches(noted("q", *"p" * 25), 2, "patient"))
    assert [[n.patient_id for n in batch].count("p") for batch in behind] == [len(batch) for batch in alone] == [20, 5]
