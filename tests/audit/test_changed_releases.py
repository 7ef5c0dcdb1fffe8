"""Releases with more than they declare: further tokens, sentences and columns, and originals outside of PHI."""

import re

import numpy as np
import pytest

from sklearn_deid import (
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    RandomVectorPerturber,
    SurrogatePseudonymizer,
    ZeroVectorPerturber,
)
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.sequences import TokenSequences, TokenVectors

from ..representations.test_private_representer import VECTORS
from .audited_toys import audited_sentences, auditor

TEXT = [
    (NeighborPseudonymizer, {"embeddings": VECTORS, "n_neighbors": 12, "unknown": "keep"}, "kept_tokens"),
    (SurrogatePseudonymizer, {"locale": "en"}, "drawn_surrogates"),
]


@pytest.fixture(scope="module")
def data():
    X, y, groups = audited_sentences()
    return X[:200], y[:200], groups[:200]


def changed(kind, change, method="sample"):
    def released(self, X, *data):
        return change(getattr(kind, method)(self, X, *data), self._words(X), *data)

    return type(kind.__name__, (kind,), {method: released})


def name_elsewhere(released, X, y, *_):
    """The first word of PHI stands at the end of its sentence, too, where no tag is."""
    words = released.data.copy()
    for row, tags in enumerate(y):
        phi = [i for i, tag in enumerate(tags) if tag != "O"]
        if phi and tags[-1] == "O":
            words[X.offsets[row + 1] - 1] = X[row][phi[0]]
    return TokenSequences(words, X.offsets)


def with_originals(released, X, *_):
    return TokenSequences.from_rows([*released, *X])


def with_longer_sentences(released, X, *_):
    return TokenSequences.from_rows([[*row, *own] for row, own in zip(released, X, strict=True)])


@pytest.mark.parametrize(("kind", "options", "check"), TEXT)
def test_originals_outside_of_phi_are_named(data, kind, options, check):
    """No attack reads these tokens, and the audit was passed."""
    report = auditor([check]).audit(changed(kind, name_elsewhere)(**options).fit(*data), *data)
    assert "tokens outside of PHI differ from the notes" in " ".join(report.blocking_issues) and report.score == 0.0
    report = auditor([check]).audit(kind(**options).fit(*data), *data)
    assert "no PHI" not in " ".join(report.blocking_issues) and report.results[0].faults == ()


@pytest.mark.parametrize("change", [with_originals, with_longer_sentences])
@pytest.mark.parametrize(("kind", "options", "check"), TEXT)
def test_further_tokens_and_sentences_are_refused(data, kind, options, check, change):
    """The notes behind the release were ignored, or ended the audit with an error of NumPy."""
    with pytest.raises(SequenceError, match="released other sentences, or other tokens"):
        auditor([check]).audit(changed(kind, change)(**options).fit(*data), *data)


def with_a_column(released, X, *_):
    more = np.array([len(word) for word in X.data.tolist()], dtype=np.float32)
    return TokenVectors(np.hstack([released.data, more[:, None]]), released.offsets, released.origin)


def with_sizes_in_the_casing(released, X, *_):
    data = released.data.copy()
    data[:, -7:] *= np.array([[len(word)] for word in X.data.tolist()], dtype=np.float32)
    return TokenVectors(data, released.offsets, released.origin)


def with_signs_in_the_casing(released, X, *_):
    data = released.data.copy()
    long = np.array([len(word) > 5 for word in X.data.tolist()])[:, None]
    data[:, -7:] = np.where(long & (data[:, -7:] == 0.0), -0.0, data[:, -7:])
    return TokenVectors(data, released.offsets, released.origin)


@pytest.mark.parametrize(
    ("kind", "options", "method"),
    [
        (GaussianNoisePerturber, {"scale": 0.5}, "sample"),
        (WordClassRepresenter, {"class_size": 7}, "transform"),
    ],
)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (with_a_column, "columns and declares"),
        (with_sizes_in_the_casing, "something else than"),
        (with_signs_in_the_casing, "something else than"),
    ],
)
def test_further_columns_are_refused(data, kind, options, method, change, text):
    """They were cut off before anybody looked."""
    one = changed(kind, change, method)(embeddings=VECTORS, **options).fit(*data)
    with pytest.raises(ValueError, match=text):
        auditor("linkage").audit(one, *data)


def test_zero_vectors_that_are_not_zero_are_named(data):
    def some_left(released, X, y, *_):
        vectors, phi = released.data.copy(), np.array([tag != "O" for tag in TokenSequences.from_rows(list(y)).data])
        some = np.flatnonzero(phi)[::20]
        vectors[some, : VECTORS.dim] = VECTORS.vectors_for(X.data[some].tolist())
        return TokenVectors(vectors, released.offsets)

    for kind, left in ((ZeroVectorPerturber, False), (changed(ZeroVectorPerturber, some_left), True)):
        report = auditor("linkage").audit(kind(embeddings=VECTORS).fit(*data), *data)
        assert ("vector other than the stated zero vector" in " ".join(report.blocking_issues)) == left


def with_low_bits(released, X, y, *_):
    """Tokens outside of PHI carry a bit each."""
    vectors, others = released.data.copy(), np.array([tag == "O" for row in y for tag in row])
    bits = np.ascontiguousarray(vectors[:, : VECTORS.dim]).view(np.int32)
    bits[others] ^= 1
    vectors[:, : VECTORS.dim] = bits.view(np.float32)
    return TokenVectors(vectors, released.offsets)


def with_a_word_left(released, X, y, *_):
    vectors, phi = released.data.copy(), np.array([tag != "O" for row in y for tag in row])
    some = np.flatnonzero(phi)[:40]
    vectors[some, : VECTORS.dim] = VECTORS.vectors_for(X.data[some].tolist())
    return TokenVectors(vectors, released.offsets)


def with_smaller_steps(released, X, y, *_):
    vectors, words = released.data.copy(), VECTORS.vectors_for(X.data.tolist())
    some = (vectors[:, : VECTORS.dim] != words).any(axis=1)
    vectors[some, : VECTORS.dim] = words[some] / 2.0
    return TokenVectors(vectors, released.offsets)


@pytest.mark.parametrize(
    ("kind", "options"),
    [(GaussianNoisePerturber, {"scale": 0.5}), (RandomVectorPerturber, {}), (ZeroVectorPerturber, {})],
)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (None, ""),
        (with_low_bits, "tokens that the perturber does not move have another vector"),
        (with_a_word_left, "PHI tokens that the perturber replaces have the vector of their word"),
        (with_smaller_steps, "do not lie on the grid|other than the stated zero vector"),
    ],
)
def test_vectors_of_a_limited_perturber_are_compared_with_its_statements(data, kind, options, change, text):
    """With ``max_replacements``, nothing was compared."""
    some = tuple(part[:60] for part in data)
    one = (kind if change is None else changed(kind, change))(embeddings=VECTORS, max_replacements=1, **options)
    issues = " ".join(auditor("linkage").audit(one.fit(*some), *some).blocking_issues)
    assert re.search(text, issues) if text else "vector" not in issues
