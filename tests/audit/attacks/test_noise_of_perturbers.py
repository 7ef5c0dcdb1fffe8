"""Checks of the noise on perturbed word vectors: deviations from the stated noise are named, intact noise is not."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_deid import GaussianNoisePerturber, RandomVectorPerturber, WordVectors
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.sequences import TokenVectors

from ...representations.test_private_representer import VECTORS
from ..audited_toys import audited_sentences, auditor

CHECKS = ["noise", "replay"]


@pytest.fixture(scope="module")
def data():
    return tuple(part[:300] for part in audited_sentences())


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Releases have other keys each, the same in every run: an intact one is blamed at a rate of .0015."""
    monkeypatch.setattr("sklearn_deid._randomness.secrets", SimpleNamespace(randbits=random.Random(0).getrandbits))


class Half(GaussianNoisePerturber):
    def _make_mechanism(self, policy, candidates):
        made = super()._make_mechanism(policy, candidates)
        moved = type(made).moved

        def half(vectors, rng):
            made.scale /= 2
            try:
                return moved(made, vectors, rng)
            finally:
                made.scale *= 2

        made.moved = half
        return made


class Some(GaussianNoisePerturber):
    """Leaves the vectors of twenty tokens as they are."""

    def sample(self, X, y=None, groups=None):
        made, d = super().sample(X, y, groups), self.mechanism_.policy.vectors.dim
        rows = np.flatnonzero([tag != "O" for tag in y.data])[:20]
        released = made.data.copy()
        released[rows, :d] = self.mechanism_.policy.vectors.vectors_for(X.data[rows].tolist())
        return TokenVectors(released, X.offsets)


class Repeated(GaussianNoisePerturber):
    def sample(self, X, y=None, groups=None):
        own, self.random_state = self.random_state, 3
        try:
            return super().sample(X, y, groups)
        finally:
            self.random_state = own


class OfTheWord(RandomVectorPerturber):
    """The vector of a word is the same everywhere."""

    def sample(self, X, y=None, groups=None):
        made, d = super().sample(X, y, groups), self.mechanism_.policy.vectors.dim
        released = made.data.copy()
        for i in np.flatnonzero([tag != "O" for tag in y.data]).tolist():
            drawn = np.random.default_rng(sum(X.data[i].encode())).standard_normal(d)
            released[i, :d] = drawn / np.linalg.norm(drawn)
        return TokenVectors(released, X.offsets)


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (Half(embeddings=VECTORS, scale=0.5), "another size than stated: about 0."),
        (Some(embeddings=VECTORS, scale=1.0), "less noise than stated"),
        (Repeated(embeddings=VECTORS, scale=1.0), "Two calls of sample share noise"),
        (OfTheWord(embeddings=VECTORS), "shared over tokens by word"),
    ],
)
def test_faults_are_named(broken, fault, data):
    report = auditor(CHECKS).audit(broken.fit(*data), *data)
    assert any(fault in issue for issue in report.blocking_issues), report.blocking_issues
    assert not report.passed(0.01)


@pytest.mark.parametrize(
    "intact",
    [
        *(GaussianNoisePerturber(embeddings=VECTORS, scale=scale) for scale in (0.01, 0.3, 3.0)),
        GaussianNoisePerturber(embeddings=VECTORS, scale=0.3, labels=["PATIENT"], casing=False, random_state=0),
        RandomVectorPerturber(embeddings=VECTORS),
    ],
)
def test_intact_noise_is_not_blamed(intact, data):
    report = auditor(CHECKS).audit(intact.fit(*data), *data)
    assert [(result.status, result.faults) for result in report.results] == [("ok", ())] * 2


@pytest.mark.parametrize("unknown", ["keep", "random"])
def test_intact_noise_is_not_blamed_where_other_tokens_have_vectors_of_their_letters(data, unknown):
    """Half of the words of PHI are not stored: their vectors of n-grams are not released."""
    known, dim = [word for i, word in enumerate(VECTORS.words) if i % 2], VECTORS.dim
    ngrams = SubwordTable(np.random.default_rng(0).standard_normal((200, dim), np.float32), is_public=True)
    vectors = WordVectors(known, VECTORS.vectors_for(known), subwords=ngrams, is_public=True)
    data = tuple(part[:60] for part in data)
    perturber = GaussianNoisePerturber(embeddings=vectors, scale=0.3, unknown=unknown).fit(*data)
    assert bool(perturber.statistics_["PATIENT"]["kept_unknown"]) == (unknown == "keep")
    report = auditor(CHECKS).audit(perturber, *data)
    assert [(result.status, result.faults) for result in report.results] == [("ok", ())] * 2
    assert report.blocking_issues == ("No attack was carried out with valid controls.",)


class FewKeys(GaussianNoisePerturber):
    """One of 64 keys in each call."""

    def sample(self, X, y=None, groups=None):
        self.random_state = random.SystemRandom().getrandbits(6)
        try:
            return super().sample(X, y, groups)
        finally:
            self.random_state = None


def test_few_keys_are_named(data):
    X, y, groups = data
    report = auditor(CHECKS).audit(FewKeys(embeddings=VECTORS, scale=1.0).fit(X, y), X, y, groups)
    assert any("so few keys" in issue for issue in report.blocking_issues)
