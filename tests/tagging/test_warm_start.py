"""Training that starts from another model: the same weights first, labels that differ, and refusals."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from sklearn_deid import DeidTagger, NoteDeidentifier, RecallTunedTagger, RuleTagger, save
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.tagging import SpanSwap
from sklearn_deid.tagging.warm_start import matched_tags, start_tagger, starter_folder

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


def renamed(tags):
    return [[tag if tag == "O" else f"{tag[:2]}{SPANISH[tag[2:]]}" for tag in row] for row in tags]


def still(source, **parameters):
    """A tagger that starts from another one and does not move from there."""
    return DeidTagger(warm_start_from=source, max_epochs=1, lr=1e-9, **{**SMALL, "span_swap": 0.0, **parameters})


def test_training_begins_with_the_predictions_of_the_start(source):
    new = still(source).fit(X, Y)
    assert new.starts_from_tagger_
    assert new._vectors is source._vectors
    assert all(np.allclose(a, b, atol=1e-4) for a, b in zip(new.predict_proba(X), source.predict_proba(X), strict=True))


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
    with pytest.raises(ValueError, match="starter-en"):
        starter_folder("starter-xx")
