"""An augmenter changes how words are written, and nothing else; the tagger is shown a new draw in every epoch."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_deid import DeidTagger, TokenSequences, load, save
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.tagging import NoteAugmenter, SpanSwap
from sklearn_deid.tagging.note_augmenter import default_augmenter

from .conftest import QUICK, SMALL, make_sentences

OFF = {"lower_case": 0, "capitals": 0, "title_case": 0, "typing_errors": 0, "ocr_errors": 0}
X = TokenSequences.from_rows([["Mr", "Alder", "was", "SEEN", "3"]] * 2000).with_documents(np.arange(2000) // 5)


def drawn(**parameters):
    return NoteAugmenter(**{**OFF, "random_state": 0, **parameters}).fit(X).sample(X)


def test_nothing_changes_with_shares_of_zero():
    assert drawn() == X
    assert NoteAugmenter().fit_transform(X) == X == NoteAugmenter().fit(X).transform(X)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("lower_case", ["mr", "alder", "was", "seen", "3"]),
        ("capitals", ["MR", "ALDER", "WAS", "SEEN", "3"]),
        ("title_case", ["Mr", "Alder", "Was", "Seen", "3"]),
    ],
)
def test_casings_of_whole_sentences_with_the_given_share(name, row):
    changed = drawn(**{name: 0.25})
    rows = changed.tolist()
    assert {tuple(r) for r in rows} == {tuple(row), tuple(X[0])}
    assert 0.18 < rows.count(row) / len(rows) < 0.32
    # The sentences of a document are written alike, and sentences without documents on their own.
    assert all(len({tuple(r) for r in rows[i : i + 5]}) == 1 for i in range(0, len(rows), 5))
    alone = NoteAugmenter(**{**OFF, "random_state": 0, name: 0.25}).fit(X).sample(X.tolist()).tolist()
    assert 0.22 < alone.count(row) / len(alone) < 0.28
    assert changed.offsets.tolist() == X.offsets.tolist() and changed.documents.tolist() == X.documents.tolist()


def test_all_casings_together():
    first = [row[1] for row in drawn(lower_case=0.2, capitals=0.3, title_case=0.5)]
    assert [round(first.count(word) / len(first), 1) for word in ("alder", "ALDER", "Alder")] == [0.2, 0.3, 0.5]


def test_typing_errors_keep_the_first_letter_and_leave_numbers_alone():
    changed = drawn(typing_errors=1)
    for row in changed.tolist():
        assert row[0] == "Mr" and row[4] == "3", "short words and numbers stay"
        assert all(new != old or len(set(old)) < len(old) for new, old in zip(row[1:4], X[0][1:4], strict=True))
        assert all(abs(len(new) - len(old)) <= 1 for new, old in zip(row, X[0], strict=True))


def test_confusions_of_scanners():
    rows = drawn(ocr_errors=1).tolist()
    for place, possible in {0: {"Mr", "Nr", "MK"}, 4: {"3", "8", "B"}}.items():
        assert {row[place] for row in rows} <= possible
    names = {row[1] for row in rows}
    assert {"A1der", "Alclcr", "Alcler"} & names and len(names) > 10
    assert all(len(name) in (5, 6) for name in names)
    # A word without such a character stays.
    assert NoteAugmenter(**{**OFF, "ocr_errors": 1}).fit([["-", "kk"]]).sample([["-", "kk"]]).tolist() == [["-", "kk"]]


def test_the_same_seed_gives_the_same_draw():
    settings = {"lower_case": 0.3, "typing_errors": 0.2, "ocr_errors": 0.2}
    assert drawn(**settings) == drawn(**settings) != drawn(**settings, random_state=1)


def test_wrong_parameters_and_vectors():
    with pytest.raises(ValueError, match="must add up to at most 1. Got 1.2 instead"):
        NoteAugmenter(lower_case=0.6, capitals=0.6, title_case=0).fit(X)
    with pytest.raises(ValueError, match="'typing_errors' parameter of NoteAugmenter"):
        NoteAugmenter(typing_errors=2).fit(X)
    with pytest.raises(SequenceError, match=r"NoteAugmenter reads words\. X holds vectors"):
        NoteAugmenter().fit(X).sample(TokenVectors.from_rows([np.ones((2, 3), np.float32)]))


def test_a_tagger_learns_names_in_lower_case(tmp_path):
    rows, tags, groups = make_sentences(60)
    lower = [[token.lower() for token in row] for row in rows]
    gold = [tag for row in tags for tag in row]

    def found(tagger):
        predicted = [tag for row in tagger.predict(lower) for tag in row]
        return sum(a == b != "O" for a, b in zip(predicted, gold, strict=True))

    plain = DeidTagger(**QUICK, augmenter=None).fit(rows, tags, groups=groups)
    tagger = DeidTagger(**QUICK, augmenter=NoteAugmenter(lower_case=0.4)).fit(rows, tags, groups=groups)
    assert found(tagger) > found(plain)
    assert clone(tagger).augmenter.lower_case == 0.4
    save(tagger, tmp_path / "m")
    assert load(tmp_path / "m").predict(lower).tolist() == tagger.predict(lower).tolist()


def test_by_default_words_are_augmented_and_vectors_are_not():
    rows, tags, groups = make_sentences(20)
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(rows, tags, groups=groups)
    assert tagger.augmenter == "auto"
    assert isinstance(tagger.augmenter_, NoteAugmenter)
    vectors = TokenVectors.from_rows([np.ones((len(row), 3), np.float32) for row in rows])
    assert DeidTagger(**{**SMALL, "max_epochs": 1}).fit(vectors, tags).augmenter_ is None


@pytest.mark.parametrize("tag_scheme", ["iob2", "bioes"])
def test_a_swapped_span_is_written_like_its_sentence(tag_scheme):
    """What the network reads beside the sentences: copies of all of them in capitals, in the first 80 % of epochs."""
    rows, tags, groups = make_sentences(30)
    upper = {token.upper() for row in rows for token in row}
    seen = []

    class Recorder(NoteAugmenter):
        def draw(self, tokens):
            drawn, lowered = super().draw(tokens)
            seen.append(drawn)
            return drawn, lowered

    settings = {**SMALL, "max_epochs": 5, "span_swap": SpanSwap(1.0, invented=0), "tag_scheme": tag_scheme}
    augmenter = Recorder(**{**OFF, "copies": 1, "capitals": 1, "lost_punctuation": 0.5, "line_breaks": 0})
    DeidTagger(**settings, augmenter=augmenter).fit(rows, tags, groups=groups)
    assert len(seen) == 4
    assert all(set(epoch.data) <= upper for epoch in seen)
    assert all(len(epoch) <= len(rows) and (np.diff(epoch.offsets) > 0).all() for epoch in seen)
    assert seen[0].tolist() != seen[1].tolist()


@pytest.mark.parametrize("batch_size", [100, 900])
def test_an_epoch_reads_15_batches_of_copies_of_a_tenth_to_a_third_of_the_notes(batch_size):
    for n_batches in (1, 44, 46, 100, 149, 151, 5000):
        copied = n_batches * default_augmenter(n_batches * batch_size, batch_size).copies
        assert copied == pytest.approx(np.clip(15, n_batches / 10, n_batches / 3))


def test_without_copies_a_tagger_trains_as_without_augmenter():
    rows, tags, groups = make_sentences(20)
    settings = {**SMALL, "max_epochs": 3, "span_swap": 0.5}
    # The augmenter draws its seed from the stream of the tagger.
    first = DeidTagger(**settings, augmenter=NoteAugmenter(copies=0)).fit(rows, tags, groups=groups)
    second = DeidTagger(**settings, augmenter=NoteAugmenter(copies=0, lower_case=0)).fit(rows, tags, groups=groups)
    assert not first.lowers_uniform_casing_
    assert [len(epoch) for epoch in first.history[:, "batches"]] == [len(e) for e in second.history[:, "batches"]]
    proba = (np.concatenate(tagger.predict_proba(rows)) for tagger in (first, second))
    np.testing.assert_array_equal(*proba)


class Shortens(NoteAugmenter):
    """Loses the last token of each sentence, when asked to do so."""

    place = ""

    def _cut(self, X, place):
        return TokenSequences.from_rows([row[:-1] if self.place == place else row for row in X])

    def fit_transform(self, X, y=None, groups=None):
        return self._cut(self.fit(X).transform(X), "fit_transform")

    def transform(self, X):
        return self._cut(super().transform(X), "transform")


@pytest.mark.parametrize("place", ["fit_transform", "transform"])
def test_an_augmenter_that_loses_tokens_is_refused(place, monkeypatch):
    X, y, _ = make_sentences(12)
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1, "augmenter": Shortens(copies=0.0)})
    if place == "transform":
        tagger.fit(X, y)
    monkeypatch.setattr(Shortens, "place", place)
    with pytest.raises(SequenceError, match="Shortens changed the number of tokens of a sentence"):
        tagger.predict(X) if place == "transform" else tagger.fit(X, y)
