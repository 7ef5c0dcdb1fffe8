"""Neighbouring sentences as context: what can be learned from them, who sees whom, pipelines, notes, refusals."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    Corpus,
    DeidTagger,
    Document,
    DSSGDEnsemble,
    NeighborPseudonymizer,
    NoteDeidentifier,
    Span,
    load,
    save,
)
from sklearn_deid.embeddings import WordVectors
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.tagging import ContextBlock, ContextWindow, NoteAugmenter

from .conftest import SMALL, SURNAMES, assert_rows_equal

# What stands a line away is learned more slowly than what stands in the sentence.
SLOW = {**SMALL, "max_epochs": 25, "lr": 0.01}
KINDS = {
    "window": {"context": ContextWindow(size=1)},
    "block": {"context": "block"},
    "document": {"context": "document"},
}


@pytest.fixture(scope="module")
def notes():
    """Who a bare name belongs to is said in the line before."""
    rng = np.random.default_rng(0)
    documents = []
    for i in range(40):
        text, spans = "Note.\n", []
        for kind in rng.permutation(["DOCTOR", "PATIENT"]):
            text += f"{kind.title()} is:\n"
            name = str(rng.choice(SURNAMES))
            spans.append(Span(len(text), len(text) + len(name), str(kind)))
            text += name + "\n"
        documents.append(Document(f"n{i}", text, tuple(spans)))
    return Corpus(documents)


@pytest.fixture(scope="module", params=KINDS)
def tagger(request, notes):
    data = notes.to_sentences()
    return DeidTagger(**SLOW).set_params(hidden_size=24, augmenter=None, **KINDS[request.param]).fit(data.X, data.y)


@pytest.fixture(scope="module")
def alone(notes):
    """Tagger that reads each line by itself."""
    data = notes.to_sentences()
    return DeidTagger(**SLOW).set_params(max_epochs=10, augmenter=None).fit(data.X, data.y)


def test_learns_what_only_the_line_before_says(tagger, alone, notes):
    data = notes.to_sentences()
    assert tagger.score(data.X, data.y) == 1.0
    assert alone.score(data.X, data.y) < 0.9


def test_sees_its_own_document_only(tagger, notes):
    X = notes.to_sentences().X
    both = tagger.predict_proba(X[:10])
    for part in (slice(0, 5), slice(5, 10)):
        for a, b in zip(tagger.predict_proba(X[:10][part]), both[part], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
    changed = [["Nothing"], *X[1:5].tolist()]
    other = tagger.predict_proba(TokenSequences.from_rows(changed).with_documents([0] * 5))
    same = [np.allclose(a, b, atol=1e-6) for a, b in zip(other[1:], both[1:5], strict=True)]
    # A window of one reaches the next line and no further; a document has no end.
    whole = tagger.context in ("block", "document")  # each note of the test is one block
    assert same[:2] == [False, not whole]
    assert whole or all(same[1:])


def test_order_of_the_rows_does_not_matter_between_documents(tagger, notes):
    X = notes.to_sentences().X[:15]
    order = np.arange(15).reshape(3, 5).T.ravel()  # documents interleaved
    proba = tagger.predict_proba(X)
    for a, b in zip(tagger.predict_proba(X[order]), proba[order], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_saved_and_pickled(tagger, notes, tmp_path):
    X = notes.to_sentences().X
    save(tagger, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(tagger))):
        assert_rows_equal(again.predict(X), tagger.predict(X))


def test_notes_in_spans_out(tagger, notes):
    deidentifier = NoteDeidentifier(tagger)
    texts = [document.text for document in notes][:7]
    found = deidentifier.annotate(texts)
    assert [[(s.start, s.end, s.label) for s in spans] for spans in found] == [
        [(s.start, s.end, s.label) for s in document.spans] for document in notes[:7]
    ]
    assert deidentifier.annotate([]) == [] and deidentifier.annotate([""]) == [()]


def test_in_a_pipeline_behind_a_pseudonymizer_and_as_its_augmenter(notes):
    data = notes.to_sentences()
    words = sorted(set(data.X.data))
    vectors = WordVectors(words, np.random.default_rng(0).standard_normal((len(words), 5)), is_public=True)
    pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=3, random_state=0)
    settings = {**SMALL, "max_epochs": 1, "context": "document"}
    pipe = Pipeline([("names", pseudonymizer), ("tag", DeidTagger(**settings))])
    pipe.fit(data.X, data.y)
    DeidTagger(**settings, augmenter=pseudonymizer).fit(data.X, data.y)
    assert len(pipe.predict(data.X)) == len(data.X)


def test_vectors_keep_their_documents(notes):
    data = notes.to_sentences()
    vectors = np.random.default_rng(0).standard_normal((len(data.X.data), 4)).astype(np.float32)
    X = TokenVectors(vectors, data.X.offsets).with_documents(data.doc_ids)
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1}, context="window").fit(X, data.y)
    assert len(tagger.predict(X[3:9])) == 6


def test_held_out_notes_are_read_within_their_context(notes):
    data = notes.to_sentences()
    settings = {**SLOW, "context": "document", "hidden_size": 24, "validation_fraction": 0.25, "max_epochs": 20}
    tagger = DeidTagger(**settings, augmenter=None).fit(data.X, data.y, groups=data.groups)
    best = max(row["valid_f1"] for row in tagger.history)
    assert best > 0.9 and tagger.score(data.X, data.y) > 0.9


def test_workers_that_train_together_read_context(notes):
    data = notes.to_sentences()
    settings = {**SMALL, "context": "document", "max_epochs": 1}
    ensemble = DSSGDEnsemble(DeidTagger(**settings), n_workers=2, n_epochs=1, random_state=0)
    ensemble.fit(data.X, data.y, groups=data.groups)
    assert len(ensemble.predict(data.X[:10])) == 10


def test_lists_do_not_say_what_a_document_is(sentences):
    X, y, _ = sentences
    with pytest.raises(SequenceError, match="needs the document of each sentence"):
        DeidTagger(**SMALL, context="window").fit(X, y)


class TestDocumentsOfRows:
    def test_kept_by_indexing_and_pickles(self):
        X = TokenSequences.from_rows([["a"], ["b", "c"], [], ["d"]]).with_documents(["n2", "n2", "n1", "n1"])
        assert X.documents.tolist() == [1, 1, 0, 0]
        for part in (X[1:], X[[1, 2, 3]], X[np.array([False, True, True, True]), ...]):
            assert part.documents.tolist() == [1, 0, 0]
        assert pickle.loads(pickle.dumps(X)).documents.tolist() == [1, 1, 0, 0]
        assert X == TokenSequences.from_rows(X.tolist())

    def test_unknown_leaves_no_trace_in_pickles(self):
        X = TokenSequences.from_rows([["a"]])
        assert X.documents is None and X[:1].documents is None
        assert pickle.dumps(X) == pickle.dumps(X.with_documents([3]).with_documents(None))

    def test_wrong_number(self):
        with pytest.raises(SequenceError, match="one id for each of 1 rows"):
            TokenSequences.from_rows([["a"]]).with_documents([1, 2])


BROKEN_LINES = {
    **SLOW,
    "max_epochs": 12,
    "lr": 0.03,
    "context": "block",
    "augmenter": NoteAugmenter(copies=1.0, line_breaks=1.0),
}


@pytest.fixture(scope="module")
def full_names():
    """Sentences with names of two words."""
    names = [" ".join(pair) for pair in np.random.default_rng(0).choice(SURNAMES, (60, 2))]
    return Corpus(
        Document(f"n{i}", f"Seen by {name} today. No pain.", (Span(8, 8 + len(name), "DOCTOR"),))
        for i, name in enumerate(names)
    ).to_sentences()


@pytest.fixture(scope="module")
def broken(full_names):
    """Tagger whose copies break lines inside of names."""
    return DeidTagger(**BROKEN_LINES).fit(full_names.X, full_names.y)


class TestBrokenLines:
    def test_spans_go_on_over_a_border_inside_of_the_network_only(self, broken):
        assert broken.continues_spans_
        rows = [["Seen", "by", SURNAMES[0]], [SURNAMES[1], "today", "."]]
        X = TokenSequences.from_rows(rows).with_documents([0, 0])
        assert broken.predict(X).tolist() == [["O", "O", "B-DOCTOR"], ["B-DOCTOR", "O", "O"]]
        # shape: (n_tokens, n_classes)
        probabilities = broken.predict_proba(X)[1]
        inside = broken.classes_.tolist().index("I-DOCTOR")
        assert probabilities[0].argmax() == inside

    def test_a_saved_tagger_decodes_alike(self, broken, tmp_path):
        save(broken, tmp_path / "m")
        loaded = load(tmp_path / "m")
        assert loaded.continues_spans_
        X = TokenSequences.from_rows([["by", SURNAMES[0]], [SURNAMES[1], "."]]).with_documents([0, 0])
        assert_rows_equal(loaded.predict_proba(X), broken.predict_proba(X))
        assert loaded.module_.crf.legal_start.all()

    @pytest.mark.parametrize(
        "settings",
        [{"augmenter": None}, {"augmenter": NoteAugmenter(line_breaks=0)}, {"context": "sentence"}],
    )
    def test_without_broken_lines_no_span_goes_on(self, full_names, settings):
        settings = {**BROKEN_LINES, "max_epochs": 1, **settings}
        tagger = DeidTagger(**settings).fit(full_names.X[:9], full_names.y[:9])
        assert not tagger.continues_spans_
        assert not tagger.module_.crf.legal_start.all()


@pytest.mark.parametrize("random_borders", [False, True])
def test_borders_of_blocks_are_random_on_request(notes, random_borders):
    data = notes.to_sentences()
    context = ContextBlock(size=6, random_borders=random_borders)
    tagger = DeidTagger(**SMALL).set_params(augmenter=None, context=context).partial_fit(data.X, data.y)
    X, tags, _ = tagger._checked(data.X, data.y, None)
    train, held_out = (tagger._training_data(X, tags, None, held_out=held) for held in (False, True))
    given = train.units.offsets.tolist()
    rng, cuts = np.random.default_rng(0), set()
    for _ in range(3):
        train.redraw(rng)
        cuts.add(tuple(train.units.offsets.tolist()))
    assert (cuts == {tuple(given)}) is not random_borders
    assert held_out.units.offsets.tolist() == given, "notes are cut as they are when they are tagged"
    assert tagger._tagging_data(data.X)[0].units.offsets.tolist() == given


def test_another_kind_of_context_needs_a_new_fit(tagger, alone, notes):
    data = notes.to_sentences()
    for fitted, context in ((tagger, "sentence"), (alone, "block")):
        changed = copy.deepcopy(fitted).set_params(context=context)
        for call in (changed.predict, lambda X, t=changed: t.partial_fit(X, data.y)):
            with pytest.raises(NotFittedError, match=f"context='{context}', call fit again"):
                call(data.X)
    assert_rows_equal(copy.deepcopy(alone).set_params(context="sentence").predict(data.X), alone.predict(data.X))
