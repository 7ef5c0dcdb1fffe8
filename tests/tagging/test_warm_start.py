"""Training that starts from another model: the same weights first, labels that differ, and refusals."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from sklearn_deid import DeidTagger, Document, NoteDeidentifier, RecallTunedTagger, RuleTagger, Span, load, save
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.federated.tagger_learner import make_learner, tagger_from_vector, tagger_layout
from sklearn_deid.federated.worker_data import listed_ngram_vectors
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.tagging import SpanSwap
from sklearn_deid.tagging.listed_vectors import ListedVectors
from sklearn_deid.tagging.shipped_models import starter_folder
from sklearn_deid.tagging.warm_start import compared_tags, matched_tags, start_tagger, unseen_labels
from sklearn_deid.text import names_of_i2b2

X = [["Mr", "Alder", "was", "seen"], ["No", "pain", "today"], ["Dr", "Birch", "left", "Northwick", "."]] * 3
Y = [["O", "B-PATIENT", "O", "O"], ["O", "O", "O"], ["O", "B-DOCTOR", "O", "B-CITY", "O"]] * 3
SMALL = {"hidden_size": 6, "random_state": 0, "device": "cpu", "weight_average": 0.0}
SMALL |= {"span_swap": SpanSwap(invented=0)}
SPANISH = {"PATIENT": "NOMBRE", "DOCTOR": "MEDICO", "CITY": "CITY"}


@pytest.fixture(scope="module")
def source():
    table = SubwordTable(np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32))
    tagger = DeidTagger(embeddings=table, max_epochs=30, lr=0.05, batch_size=60, **SMALL).fit(X, Y)
    assert [list(row) for row in tagger.predict(X[:3])] == Y[:3]
    return tagger


@pytest.fixture(scope="module")
def starter():
    return start_tagger("starter-en")


def renamed(tags):
    return [[tag if tag == "O" else f"{tag[:2]}{SPANISH[tag[2:]]}" for tag in row] for row in tags]


def still(source, **parameters):
    """A tagger that starts from another one and does not move from there."""
    return DeidTagger(warm_start_from=source, max_epochs=1, lr=1e-9, **{**SMALL, "span_swap": 0.0, **parameters})


def test_training_begins_with_the_predictions_of_the_start(source):
    new = still(source).fit(X, Y)
    assert new.starts_from_tagger_
    assert new._vectors.ngrams is source._vectors
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(new.predict_proba(X), source.predict_proba(X), strict=True))


def test_a_tagger_does_not_start_from_itself(source):
    """`fit` had forgotten the weights before they were copied, and the tagger was lost."""
    for around in (lambda tagger: tagger, FrozenEstimator, NoteDeidentifier):
        tagger = deepcopy(source)
        tagger.warm_start_from = around(tagger)
        with pytest.raises(ValueError, match="must be another model. To train this tagger further, set warm_start"):
            tagger.fit(X, Y)
        assert tagger.predict(X).tolist() == source.predict(X).tolist()
    assert still(deepcopy(source)).fit(X, Y).predict(X).tolist() == source.predict(X).tolist()


def test_a_start_without_lists_gets_those_of_the_language_of_the_notes(source, tmp_path):
    rows = [["Se", "ve", "a", "García", "desde", "el", "lunes", "por", "la", "fiebre", "en", "Toledo"]] * 3
    tags = [[*["O"] * 3, "B-PATIENT", *["O"] * 7, "B-CITY"], [*["O"] * 3, "B-DOCTOR", *["O"] * 8], ["O"] * 12]
    new = still(source).fit(rows, tags)
    expected = ListedVectors.in_language(source._vectors, "es")
    assert np.array_equal(new._vectors.vectors_for(rows[0]), expected.vectors_for(rows[0]))
    assert expected.vectors_for(rows[0])[:, source._vectors.dim :].any()
    for sentences in (X, rows):
        pairs = zip(new.predict_proba(sentences), source.predict_proba(sentences), strict=True)
        assert all(np.allclose(a, b, atol=1e-4) for a, b in pairs)
    # The lists travel with the model, and a training that starts from it has inputs of the same width.
    save(new, tmp_path / "new")
    again = still(str(tmp_path / "new")).fit(X, Y)
    assert np.array_equal(again._vectors.vectors_for(rows[0]), expected.vectors_for(rows[0]))


def test_other_embeddings_leave_the_vectors_of_the_start_as_they_are(source):
    assert still(source, embeddings=None).fit(X, Y)._vectors is source._vectors


def test_labels_of_other_names_start_from_those_they_coincide_with(source):
    new = still(source).fit(X, renamed(Y))
    assert [list(row) for row in new.predict(X[:3])] == renamed(Y[:3])


@pytest.mark.parametrize("wrap", [FrozenEstimator, NoteDeidentifier, lambda tagger: tuned(tagger)])
def test_tagger_inside_of_a_model_is_taken(source, wrap):
    assert start_tagger(wrap(source)) is source


def tuned(tagger):
    return RecallTunedTagger(tagger, decision_bias=1.0, cv="prefit").fit(X, Y)


def test_saved_model_is_a_start_and_its_path_is_not_saved(source, tmp_path):
    save(source, tmp_path / "jane-doe")
    new = clone(still(str(tmp_path / "jane-doe"))).fit(X, Y)
    assert [list(row) for row in new.predict(X[:3])] == Y[:3]
    save(new, tmp_path / "new")
    assert "jane-doe" not in (tmp_path / "new" / "manifest.json").read_text()


def test_matching_prefers_the_name_and_then_the_most_frequent_label():
    gold = [["B-A", "I-A", "B-PATIENT", "B-B"]]
    found = [["B-DATE", "I-CITY", "B-CITY", "O"]]
    known = ["O", "B-CITY", "B-DATE", "B-PATIENT", "I-CITY"]
    tags = ["O", "B-A", "I-A", "B-B", "B-PATIENT"]
    # One token of A is DATE and one is CITY: the first in the alphabet. B was not found, and starts anew.
    assert matched_tags(tags, known, gold, found) == ["O", "B-CITY", "I-CITY", "", "B-PATIENT"]


def test_without_sentences_labels_of_meddocan_start_from_the_nearest_ones():
    """As in a federation, whose first weights depend on no note."""
    tags, known = ["O", "B-FECHAS", "I-TERRITORIO", "B-SEXO_SUJETO_ASISTENCIA", "B-NEW"], ["O", "B-DATE", "I-CITY"]
    assert matched_tags(tags, known, [], []) == ["O", "B-DATE", "I-CITY", "", ""]
    # With sentences, the tokens decide.
    assert matched_tags(tags, known, [["B-NEW"]], [["B-DATE"]]) == ["O", "", "", "", "B-DATE"]


def test_tags_of_bioes_start_from_those_of_iob2(source):
    """S and E started from random weights, and every name of one word was lost."""
    tags, known = ["O", "B-CITY", "E-CITY", "I-CITY", "S-CITY", "S-NEW"], ["O", "B-CITY", "I-CITY"]
    assert matched_tags(tags, known, [], []) == ["O", "B-CITY", "I-CITY", "I-CITY", "B-CITY", ""]
    assert matched_tags(known, tags, [], []) == known
    new = still(source, tag_scheme="bioes").fit(X, Y)
    assert [list(row) for row in new.predict(X[:3])] == Y[:3]


def test_labels_that_few_notes_do_not_show_stay(source, tmp_path):
    """A model that knew towns still finds them after notes without any."""
    few, tags = [X[0], X[1]] * 3, [Y[0], Y[1]] * 3
    new = DeidTagger(warm_start_from=source, max_epochs=30, lr=0.02, batch_size=60, **SMALL).fit(few, tags)
    assert set(new.classes_) == {"O", "B-PATIENT", "B-CITY", "I-CITY", "B-DOCTOR", "I-DOCTOR"}
    # The network of six units takes a doctor for a patient, but hides them.
    assert [[tag[0] for tag in row] for row in new.predict(X[:3])] == [[tag[0] for tag in row] for row in Y[:3]]
    assert new.predict(X[2:3])[0][3] == "B-CITY"
    save(new, tmp_path / "new")
    assert [list(row) for row in load(tmp_path / "new").predict(X)] == [list(row) for row in new.predict(X)]


def test_labels_that_the_notes_show_in_another_way_do_not_stay(source):
    # The notes annotate no towns, and doctors under another name.
    tags = [["O" if tag == "B-CITY" else tag.replace("DOCTOR", "MEDICO") for tag in row] for row in Y]
    assert sorted(still(source).fit(X, tags).classes_) == ["B-MEDICO", "B-PATIENT", "O"]
    # Labels that all sites agree on are not added to by one of them.
    assert sorted(still(source).partial_fit(X[:2], Y[:2], classes=["B-PATIENT"]).classes_) == [
        "B-PATIENT",
        "I-PATIENT",
        "O",
    ]


def test_a_label_behind_the_compared_sentences_is_not_taken_for_kept(source, monkeypatch):
    """Its tags at the border of a sentence are learned from the notes, and are not closed."""
    monkeypatch.setattr("sklearn_deid.tagging.warm_start._MOST_COMPARED", 1)
    assert unseen_labels(source, source, Y, [["B-PATIENT"]]) == {}
    assert unseen_labels(source, source, Y[:2], [["B-PATIENT"]]) == {"CITY": "CITY", "DOCTOR": "DOCTOR"}
    gold, found = compared_tags(source, TokenSequences.from_rows(X), TokenSequences.from_rows(Y))
    assert [list(row) for row in gold] == Y[:2] and len(found) == 2


def test_notes_without_annotations_are_refused_with_a_start_too(source):
    with pytest.raises(SequenceError, match="Pass y with annotated PHI"):
        still(source).fit(X, [["O"] * len(row) for row in X])


def test_labels_that_the_start_lets_stand_are_not_kept(starter):
    found = unseen_labels("starter-en", starter, [["B-MINE"]], [["B-PATIENT"]])
    assert {"EMAIL", "PHONE", "DOCTOR", "DATE"} <= set(found)
    assert not {"PROFESSION", "COUNTRY", "STATE", "DEPARTMENT", "PATIENT"} & set(found)
    # A model without a choice of labels hides all that it finds.
    assert {"PROFESSION", "COUNTRY"} <= set(unseen_labels(starter, starter, [["B-MINE"]], [["B-PATIENT"]]))


@pytest.mark.parametrize(
    ("own", "names"),
    [
        ("NAME", {"EMAIL": "EMAIL_ADDRESS", "HEALTHPLAN": "HEALTH_PLAN_BENEFICIARY_NUMBER", "DATE": "DATE"}),
        ("NOMBRE_PERSONAL_SANITARIO", {"EMAIL": "CORREO_ELECTRONICO", "CITY": "TERRITORIO", "SSN": "SSN"}),
        ("NAME_DOCTOR", {"EMAIL": "CONTACT_EMAIL", "ZIP": "LOCATION_ZIP"}),
        ("PRENOM", {"EMAIL": "MAIL", "STREET": "ADRESSE"}),
        # No known scheme, or several, and i2b2 2014 itself.
        ("MINE", {"EMAIL": "EMAIL"}),
        ("AGE", {"EMAIL": "EMAIL"}),
        ("USERNAME", {"EMAIL": "EMAIL"}),
    ],
)
def test_kept_labels_have_the_names_of_the_notes_scheme(starter, own, names):
    kept = unseen_labels("starter-en", starter, [[f"B-{own}"]], [["B-USERNAME"]])
    named = {label: name for name, label in kept.items()}
    assert names.items() <= named.items()
    # No two labels have one name, and none is lost but those that the notes have.
    plain = unseen_labels("starter-en", starter, [["B-MINE"]], [["B-USERNAME"]])
    assert set(kept.values()) == {label for label in plain.values() if names_of_i2b2([own]).get(label, label) != own}


def test_a_label_is_not_kept_if_the_notes_have_its_name(starter):
    own, found = [["B-GEOGRAPHIC_LOCATION", "B-NAME"]], [["B-STREET", "B-DOCTOR"]]
    kept = unseen_labels("starter-en", starter, own, found)
    assert "CITY" not in kept.values() and "PATIENT" not in kept.values() and "ZIP" not in kept.values()
    # Where the notes have no such name, the first label has it, and the others keep their own.
    kept = unseen_labels("starter-en", starter, [["B-NAME"]], [["B-DOCTOR"]])
    assert (kept["GEOGRAPHIC_LOCATION"], kept["ZIP"]) == ("CITY", "ZIP")
    # In a scheme of one's own, nobody knows that towns are meant.
    assert "CITY" in unseen_labels("starter-en", starter, [[*own[0], "B-MINE"]], [[*found[0], "O"]]).values()


def test_kept_labels_under_another_name_have_their_weights(source):
    few, tags = [X[0], X[1]] * 3, [["O" if tag == "O" else f"{tag[0]}-NAME" for tag in row] for row in [Y[0], Y[1]] * 3]
    new = still(source).fit(few, tags)
    assert set(new.classes_) == {"O", "B-NAME", "B-GEOGRAPHIC_LOCATION", "I-GEOGRAPHIC_LOCATION"}
    ours, theirs = ((list(t.classes_), t.module_.state_dict()["emit.weight"]) for t in (new, source))
    row = theirs[1][theirs[0].index("B-CITY")]
    assert torch.allclose(ours[1][ours[0].index("B-GEOGRAPHIC_LOCATION")], row, atol=1e-4)


def test_contacts_are_found_after_notes_without_any():
    notes = [Document(f"n{i}", "Patient: Mr. Alder, seen on 3 May.", [Span(13, 18, "NAME")]) for i in range(4)]
    new = NoteDeidentifier(DeidTagger(warm_start_from="starter-en", context="block", random_state=0, device="cpu")).fit(
        notes
    )
    found = new.annotate(["Call 617-555-0134 or mail kim.lo@northwick.org"])[0]
    assert [span.label for span in found] == ["PHONE_NUMBER", "EMAIL_ADDRESS"]


def test_no_start_leaves_training_as_it_was():
    plain, none = (
        DeidTagger(max_epochs=1, embeddings=None, **SMALL, **more) for more in ({}, {"warm_start_from": None})
    )
    rows = zip(plain.fit(X, Y).predict_proba(X), none.fit(X, Y).predict_proba(X), strict=True)
    assert all((a == b).all() for a, b in rows)
    assert not plain.starts_from_tagger_


def test_refusals(source, tmp_path):
    with pytest.raises(ValueError, match="hidden_size=6"):
        still(source, hidden_size=7).fit(X, Y)
    with pytest.raises(BundleError):
        still(tmp_path / "nothing").fit(X, Y)
    with pytest.raises(NotFittedError, match="FrozenEstimator"):
        still(DeidTagger()).fit(X, Y)
    with pytest.raises(ValueError, match="Got a RuleTagger"):
        still(RuleTagger().fit([])).fit(X, Y)
    with pytest.raises(ValueError, match="Got a int"):
        still(3).fit(X, Y)
    with pytest.raises(SequenceError, match="vectors"):
        still(source).fit(TokenVectors.from_rows([np.ones((2, 3), np.float32)]), [["B-A", "O"]])
    with pytest.raises(ValueError, match="this DeidTagger reads none: train it with embeddings='auto'"):
        still(DeidTagger(embeddings=None, max_epochs=1, **SMALL).fit(X, Y)).fit(X, Y)
    with pytest.raises(ValueError, match="starter-en"):
        starter_folder("starter-xx")


@pytest.mark.parametrize("sizes", [{"hidden_size": 9}, {"hidden_size": 5, "n_layers": 2}])
def test_network_takes_the_size_of_its_start(source, sizes, tmp_path):
    start = DeidTagger(**{**SMALL, **sizes}, embeddings=source._vectors, max_epochs=2, batch_size=60).fit(X, Y)
    tagger = still(start, hidden_size="auto").fit(X, Y)
    assert (tagger.hidden_size, tagger.n_layers) == ("auto", "auto")
    assert (tagger.hidden_size_, tagger.n_layers_) == (sizes["hidden_size"], sizes.get("n_layers", 1))
    expected = start.predict_proba(X)
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(tagger.predict_proba(X), expected, strict=True))
    # A saved model does not name its start, and a start may have a start of its own.
    save(tagger, tmp_path / "model")
    loaded, again = load(tmp_path / "model"), still(tagger, hidden_size="auto").fit(X, Y)
    for model in (loaded, again):
        assert (model.hidden_size_, model.n_layers_) == (tagger.hidden_size_, tagger.n_layers_)
        assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(model.predict_proba(X), expected, strict=True))


def test_network_without_a_start_has_128_units():
    tagger = DeidTagger(embeddings=None, max_epochs=1, random_state=0, device="cpu").fit(X[:2], Y[:2])
    assert (tagger.hidden_size_, tagger.module_.encoder.output_size) == (128, 256)
    # The same tagger, fitted again on its own, has forgotten the size of an earlier start.
    wide = DeidTagger(embeddings=None, **{**SMALL, "hidden_size": 6}, max_epochs=1).fit(X, Y)
    assert wide.set_params(hidden_size="auto").fit(X[:2], Y[:2]).hidden_size_ == 128


def test_workers_take_the_size_of_the_start(source):
    tagger = still(FrozenEstimator(source), hidden_size="auto")
    labels = ["PATIENT", "DOCTOR", "CITY"]
    learner = make_learner(tagger, X, Y, None, labels, n_epochs=1)
    # Sites share lists of words that do not follow the language of the notes.
    model = clone(tagger).set_params(embeddings=listed_ngram_vectors())
    model.partial_fit(X, Y, classes=[f"B-{label}" for label in labels])
    common = tagger_from_vector(model, clone(tagger), learner.get_flat())
    assert learner.tagger.hidden_size_ == common.hidden_size_ == 6
    # Federations that run have agreed on a number, which "auto" stands for.
    assert tagger_layout(common).fingerprint == tagger_layout(clone_of(common, hidden_size=6)).fingerprint


def clone_of(model, **parameters):
    """A fitted copy with other parameters."""
    return deepcopy(model).set_params(**parameters)
