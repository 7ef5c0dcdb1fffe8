"""Drawn words: intact pseudonymizers pass at the stated rate; other laws, repeated calls and words in clear do not."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_deid import MadlibPseudonymizer, NeighborPseudonymizer, SanTextPseudonymizer, WordVectors
from sklearn_deid.audit.attacks import DrawnWordsAttack, RepeatedTexts, draws_of_text
from sklearn_deid.audit.attacks.word_counts import p_of_counts
from sklearn_deid.sequences import TokenSequences

from ...representations.test_private_representer import VECTORS
from ..audited_toys import audited_sentences, auditor

NEAR = {"embeddings": VECTORS, "n_neighbors": 12}


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Releases have other keys each, the same in every run: an intact one is blamed at a rate of .0005."""
    monkeypatch.setattr("sklearn_deid._randomness.secrets", SimpleNamespace(randbits=random.Random(0).getrandbits))


class Changed(NeighborPseudonymizer):
    """Keeps the tokens that the mechanism keeps, and has another word for the others."""

    def sample(self, X, y=None, groups=None):
        words, made = X.data, super().sample(X, y, groups)
        actions, rows = self.mechanism_.policy.actions(words.tolist())
        some = np.flatnonzero((actions == 0) & np.array([tag != "O" for tag in y.data]))
        new = made.data.copy()
        near, _ = self.mechanism_.moves.support(rows[some])
        for i, candidates in zip(some.tolist(), near, strict=True):
            new[i] = self.mechanism_.write(self.mechanism_.vocabulary[self.one_of(candidates)], words[i])
        return TokenSequences(new, X.offsets)


class Nearest(Changed):
    def one_of(self, candidates):
        return candidates[1]


class Few(Changed):
    def one_of(self, candidates):
        return candidates[np.random.default_rng().integers(1, 5)]


class OfTheWord(Changed):
    """Far and near words, but always the same for a word."""

    def one_of(self, candidates):
        return candidates[1 + candidates[0] * 7 % 11]


class Initials(Changed):
    """A random neighbour that begins as the word, if there is one."""

    def one_of(self, candidates):
        names = self.mechanism_.vocabulary
        like = [one for one in candidates[1:] if names[one][0] == names[candidates[0]][0]]
        return np.random.default_rng().choice(like or candidates[1:])


class Forked(Changed):
    def one_of(self, candidates):
        return candidates[1 + int(np.random.random() * 11)]


class OneRank(Changed):
    """One rank for two successive words, such as given name and surname: one known word discloses the other."""

    n = 0

    def one_of(self, candidates):
        self.n += 1
        return candidates[np.random.default_rng(self.n // 2).integers(12)]


class Parity(Changed):
    """Ranks are even for every second word, and odd for the others."""

    def one_of(self, candidates):
        return candidates[1 + 2 * np.random.default_rng().integers(5) + candidates[0] % 2]


class Halves(Changed):
    """Near words for every second word, and far ones for the others: on the mean as near as stated."""

    def one_of(self, candidates):
        return candidates[1 + np.random.default_rng().integers(5) + 6 * (candidates[0] % 2)]


class Cased(NeighborPseudonymizer):
    """Capitals tell that the original has an even number of letters."""

    def sample(self, X, y=None, groups=None):
        made = super().sample(X, y, groups)
        even = np.array([len(word) % 2 == 0 and tag != "O" for word, tag in zip(X.data, y.data, strict=True)])
        return TokenSequences(np.where(even, np.array([w.upper() for w in made.data], object), made.data), X.offsets)


class Elsewhere(NeighborPseudonymizer):
    """Each tenth surrogate is no neighbour of its word."""

    def sample(self, X, y=None, groups=None):
        made = super().sample(X, y, groups).data.copy()
        made[np.flatnonzero([tag != "O" for tag in y.data])[::10]] = "Heliotrope"
        return TokenSequences(made, X.offsets)


class Repeated(NeighborPseudonymizer):
    def sample(self, X, y=None, groups=None):
        own, self.random_state = self.random_state, 3
        try:
            return super().sample(X, y, groups)
        finally:
            self.random_state = own


class Raw(NeighborPseudonymizer):
    def sample(self, X, y=None, groups=None):
        return X


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (Nearest, "do not have the stated distribution"),
        (Few, "do not have the stated distribution"),
        (Initials, "share their first letters"),
        (OfTheWord, "A word has the same surrogate"),
        (Forked, "forked processes draw the same"),
        (Repeated, "Two calls draw the same surrogates"),
        (Parity, "only even or only odd ranks"),
        (Halves, "similar ranks"),
        (OneRank, "successive words depend on each other"),
        (Cased, "another casing than stated"),
        (Elsewhere, "cannot draw"),
    ],
)
def test_other_draws_are_named(kind, fault, data):
    X, y, groups = data
    broken = kind(**NEAR).fit(X, y)
    report = auditor("drawn_words").audit(broken, X, y, groups)
    assert any(fault in one for one in report.blocking_issues) and not report.passed(0.01)


@pytest.mark.parametrize(
    ("kind", "attacks"),
    [(Raw, ["reidentification", "linkage"]), (Nearest, "reidentification"), (Repeated, ["reidentification"])],
)
def test_named_attacks_that_simulate_the_mechanism_do_not_pass_another_text(kind, attacks, data):
    X, y, groups = (part[:250] for part in data)
    report = auditor(attacks).audit(kind(**NEAR).fit(X, y), X, y, groups)
    assert report.blocking_issues and report.score == 0.0 and not report.passed(0.01)
    assert auditor(attacks).audit(NeighborPseudonymizer(**NEAR).fit(X, y), X, y, groups).blocking_issues == ()


@pytest.mark.parametrize(
    "intact",
    [
        NeighborPseudonymizer(**NEAR),
        NeighborPseudonymizer(**NEAR, random_state=0),
        NeighborPseudonymizer(**NEAR, coherence="patient", unknown="random", keep_casing=False),
        NeighborPseudonymizer(**NEAR, max_replacements=1, exclude=None),
        SanTextPseudonymizer(embeddings=VECTORS, epsilon=4.0),
        MadlibPseudonymizer(embeddings=VECTORS, epsilon=4.0),
    ],
)
def test_intact_draws_are_not_blamed(intact, data):
    X, y, groups = (part[:250] for part in data)
    (result,) = auditor("drawn_words").audit(intact.fit(X, y, groups), X, y, groups).results
    assert result.faults == () and result.status == "ok"


def test_rate_of_false_alarms():
    """Differences of exchangeable pairs are signs of a fair coin: no level is exceeded more often than stated."""
    rng = np.random.default_rng(0)
    for two_sided in (False, True):
        for n in (5, 40, 300):
            ours = rng.binomial(n, 0.5, 1000)
            p = np.array([p_of_counts(int(k), n - int(k), two_sided=two_sided) for k in ours])
            for level in (0.05, 0.01):
                assert (p < level).mean() < level + 4 * np.sqrt(level / len(p))
    assert DrawnWordsAttack.presets[0].quick


def test_words_with_several_casings_in_the_vectors_are_no_fault():
    """Surrogates are written in the casing of their tokens. The audit compared them with draws as in the vectors."""
    rng = np.random.default_rng(0)
    names = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnpqrstv"]
    stored, rest = names[:200], names[200:]
    points = np.repeat(rng.normal(size=(200, 6)), 2, axis=0)
    points = np.concatenate([points + 0.3 * rng.normal(size=points.shape), rng.normal(size=(50, 6))])
    cased = WordVectors([form for name in stored for form in (name, name.upper())] + rest, points, is_public=True)
    X = TokenSequences.from_rows([[name] for name in rest * 8])
    y = TokenSequences.from_rows([["B-CITY"]] * len(X))
    pseudonymizer = NeighborPseudonymizer(embeddings=cased, n_neighbors=2, exclude=None).fit(X, y)
    one, other = (pseudonymizer.sample(X, y) for _ in range(2))
    draws = draws_of_text(pseudonymizer, X, one, y, None)
    texts = RepeatedTexts(draws, X.data.tolist(), [one.data.tolist(), other.data.tolist()])
    assert DrawnWordsAttack(random_state=0).fit(pseudonymizer).attack(texts).faults == ()
