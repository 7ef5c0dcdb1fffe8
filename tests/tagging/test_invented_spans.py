"""Invented spans stand in the place of spans of their label, in the language of the sentences."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger, TokenSequences, make_clinical_notes
from sklearn_deid.sequences import check_tags
from sklearn_deid.tagging import SpanSwap
from sklearn_deid.tagging.invented_spans import followed_by, invent_spans
from sklearn_deid.tagging.tagger_data import span_ranges
from sklearn_deid.text import convert_tags

from .conftest import SMALL

GERMAN = ["Herr", "Alder", "wurde", "am", "3", ".", "Mai", "in", "der", "Klinik", "mit", "Fieber", "gesehen", "."]
TAGS = ["O", "B-PATIENT", "O", "O", "B-DATE", "I-DATE", "I-DATE", *["O"] * 7]


@pytest.fixture(scope="module")
def notes():
    data = make_clinical_notes(12, random_state=0).to_sentences()
    return SimpleNamespace(X=data.X, y=check_tags(data.y, data.X), groups=data.groups)


def invented(X, y, groups=None, n=2000, seed=0):
    return invent_spans(X, y, groups, n, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def found(notes):
    return invented(notes.X, notes.y, notes.groups)


def labels_by_token(tags):
    return [tag.partition("-")[2] for tag in tags]


def test_each_has_the_tags_of_the_span_in_whose_place_it_stands(notes, found):
    starts, ends, _ = span_ranges(notes.y)
    position = 0
    for length, number in zip(found.lengths, found.stands_for, strict=True):
        places = found.places[position : position + length]
        assert places.tolist() == list(range(starts[number], ends[number]))
        position += length
    assert position == len(found.tokens) == len(found.places)
    # Spans have equally many, but those without a rule or of another number of tokens are left out.
    assert np.bincount(found.stands_for).max() <= 2000 // len(starts) + 1
    assert 1900 < len(found.lengths) <= 2000


def test_they_are_others_than_those_of_the_sentences(notes, found):
    of_people = [i for i, tag in enumerate(labels_by_token(notes.y.data[found.places])) if tag in ("PATIENT", "DOCTOR")]
    own = {word for word, tag in zip(notes.X.data, notes.y.data, strict=True) if tag != "O"}
    new = [found.tokens[i] not in own for i in of_people]
    assert len(new) > 100 and np.mean(new) > 0.8


def test_equal_seeds_draw_equal_spans(notes):
    first, again, other = (
        invented(notes.X, notes.y, notes.groups, n=300, seed=seed).tokens.tolist() for seed in (0, 0, 1)
    )
    assert first == again != other


def test_other_schemes_have_the_same_spans(notes):
    bioes = TokenSequences.from_rows([convert_tags(row, "iob2", "bioes") for row in notes.y])
    a, b = (invented(notes.X, y, n=300) for y in (notes.y, bioes))
    assert a.tokens.tolist() == b.tokens.tolist() and a.lengths.tolist() == b.lengths.tolist()


def test_language_of_the_sentences(notes):
    X, y = TokenSequences.from_rows([GERMAN] * 10), TokenSequences.from_rows([TAGS] * 10)
    found = set(invented(X, y, n=1000).tokens)
    assert found & {"Okt", "Dez", "Mär", "Oktober", "Dezember", "März"}
    assert not found & {"Oct", "Dec", "Mar", "October", "December", "March"}


@pytest.mark.parametrize(
    ("row", "tags"),
    [
        (["Pan", "Alder", "ma", "gorączkę", "i", "kaszel"], ["O", "B-PATIENT", "O", "O", "O", "O"]),  # unknown language
        (["x1", "x2"], ["O", "B-PATIENT"]),  # no language
        (["The", "patient", "was", "seen", "by", "the", "thing"], ["O"] * 6 + ["B-GENE"]),  # a label without a rule
        (["The", "patient", "was", "seen", "by", "the", "doctor"], ["O"] * 7),
    ],
)
def test_nothing_is_invented_without_a_language_a_rule_or_a_span(row, tags):
    assert invented(TokenSequences.from_rows([row] * 3), TokenSequences.from_rows([tags] * 3)) is None


def test_they_stand_behind_the_sentences(notes):
    found = invented(notes.X, notes.y, n=50)
    X, tags, (starts, ends, labels) = followed_by(notes.X, notes.y, found)
    assert X[:-1].tolist() == notes.X.tolist() and tags[:-1].tolist() == notes.y.tolist()
    assert starts[0] == len(notes.X.data) and ends[-1] == len(X.data) == len(tags.data)
    numbers = dict(zip(span_ranges(notes.y)[2], labels_by_token(notes.y.data[span_ranges(notes.y)[0]]), strict=True))
    assert [numbers[label] for label in labels] == labels_by_token(tags.data[starts])


def test_a_tagger_reads_them_in_sentences_whose_other_words_stay():
    """Every drawn sentence is an original one outside of its spans, and some names are invented."""
    X, y = TokenSequences.from_rows([GERMAN] * 30), TokenSequences.from_rows([TAGS] * 30)
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1, "span_swap": SpanSwap(1.0, invented=600)}, augmenter=None).fit(
        X, y
    )
    data = tagger._training_data(X, y, None)
    data.redraw(np.random.default_rng(0))
    outside = tagger.classes_.tolist().index("O")
    for first, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        assert (data.tags[first:stop] == outside).sum() == TAGS.count("O")
    assert len(np.unique(data.words)) > len(set(GERMAN)) + 10


def test_without_invented_spans_the_training_is_that_of_an_unknown_language():
    """Nothing else of the training changes, not even its random numbers."""
    rows = [["Pan", "Alder", "ma", "gorączkę"], ["Pani", "Birch", "ma", "kaszel"], ["Nie", "ma", "bólu"]] * 10
    tags = [["O", "B-PATIENT", "O", "O"], ["O", "B-PATIENT", "O", "O"], ["O", "O", "O"]] * 10
    with_none, with_some = (
        DeidTagger(**{**SMALL, "max_epochs": 2, "span_swap": SpanSwap(invented=n)}).fit(rows, tags) for n in (0, 5)
    )
    for a, b in zip(with_none.module_.parameters(), with_some.module_.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_number_is_the_share():
    tagger = DeidTagger(span_swap=0.25).set_params(span_swap__invented=2)
    assert tagger.get_params()["span_swap__share"] == 0.25 and tagger.span_swap.invented == 2
    for wrong in (SpanSwap(invented=-1), SpanSwap(share=2.0), SpanSwap(invented=1.5)):
        with pytest.raises(ValueError, match="parameter of SpanSwap must be"):
            DeidTagger(**{**SMALL, "span_swap": wrong}).fit([["Mr", "Alder"]], [["O", "B-PATIENT"]])
