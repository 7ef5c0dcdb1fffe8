import numpy as np
import pytest

from sklearn_deid.embeddings import NeighborIndex
from sklearn_deid.pseudonyms import (
    ExactTokenMechanism,
    ExponentialVocabulary,
    ReleaseSpace,
    UniformNeighbors,
    WordPolicy,
    random_of_shape,
)

TOKENS = "Alder alder ALDER STRASSE McCoy STRAßE Straße MAPLE maple Maple 12 1984 the The - Zzyx mR-4711 oAk".split()


def mechanism(vectors, kind="uniform", keep_casing=True, digits="same", unknown="keep"):
    everyone = np.ones(len(vectors), dtype=bool)
    policy = WordPolicy(vectors, frozenset({"the"}), digits, unknown)
    moves = (
        UniformNeighbors(NeighborIndex(vectors), 4)
        if kind == "uniform"
        else ExponentialVocabulary(vectors, everyone, 2.0)
    )
    return ExactTokenMechanism(moves, policy, everyone, keep_casing)


@pytest.mark.parametrize("kind", ["uniform", "vocabulary"])
@pytest.mark.parametrize("keep_casing", [True, False])
@pytest.mark.parametrize(("digits", "unknown"), [("same", "keep"), ("random", "shape"), ("same", "random")])
def test_releases_have_the_stated_probabilities(vectors, kind, keep_casing, digits, unknown):
    m, n = mechanism(vectors, kind, keep_casing, digits, unknown), 3_000
    stated = m.probabilities(TOKENS)
    np.testing.assert_allclose(stated.sum(axis=1), 1.0, atol=1e-9)
    rng = np.random.default_rng(0)
    for i, token in enumerate(TOKENS):
        seen = np.bincount(m.sample([token] * n, rng), minlength=stated.shape[1]) / n
        p = stated[[i]].toarray()[0]
        assert (np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()


def test_numbers_of_releases_are_those_of_strings(vectors):
    """Two strings have one number if and only if they are equal."""
    space, words = ReleaseSpace(vectors), vectors.words
    number = {}
    for pattern, cased in enumerate([str, str.lower, str.capitalize, str.upper]):
        for row, word in enumerate(words):
            column = int(space.of_rows(np.array([row]), pattern)[0])
            string = word if pattern == 0 else cased(word.lower())
            assert number.setdefault(string, column) == column
    for token in TOKENS:
        column = int(space.of_tokens([token])[0])
        assert number.setdefault(token, column) == column
    assert len(set(number.values())) == len(number)
    assert max(number.values()) < space.n_columns


def test_casing_of_the_token_is_kept(vectors):
    m = mechanism(vectors)
    rng = np.random.default_rng(0)
    for token, cased in (("ALDER", str.upper), ("Alder", str.capitalize), ("alder", str.lower)):
        made = m.replace([token], np.zeros(200, dtype=np.int64), rng)
        surrogates = {m.write(new, token) for new in made.words}
        assert len(surrogates) == 4
        assert surrogates == {cased(s) for s in surrogates}


@pytest.mark.parametrize(
    ("keep_casing", "tokens"), [(True, ["McCoy", "Alder", "Maple"]), (False, ["McCoy", "Alder", "MAPLE", "birch"])]
)
def test_a_word_that_draws_itself_is_written_like_a_surrogate(keep_casing, tokens):
    """Its own spelling would tell the original with certainty: "McCoy" beside "Mccoy", or "Alder" beside "maple"."""
    from sklearn_deid import WordVectors

    vectors = WordVectors(["alder", "birch", "maple", "mccoy"], np.random.default_rng(0).standard_normal((4, 5)))
    m = mechanism(vectors, "vocabulary", keep_casing)  # epsilon = 2
    p = m.probabilities(tokens).toarray()
    p = p[:, p.any(axis=0)]
    assert p.shape[1] == 4 and (p > 0.0).all()
    unit = vectors.vectors_for(tokens).astype(np.float64)
    distance = np.linalg.norm(unit[:, None] - unit[None], axis=2)
    assert (np.log(p)[:, None] - np.log(p)[None] <= 2.0 * distance[:, :, None] + 1e-6).all()
    made = m.replace(["McCoy"], np.zeros(300, dtype=np.int64), np.random.default_rng(0))
    written = {m.write(new, "McCoy") for new in made.words}
    assert written == {word.capitalize() if keep_casing else word for word in vectors.words}


def test_stop_words_stay_in_lower_case_only(vectors):
    m = mechanism(vectors)
    p = m.probabilities(["the", "The"])
    assert p[[0]].max() == 1.0
    assert p[[1]].max() == 0.25


def test_no_digits_to_draw_from():
    from sklearn_deid import WordVectors

    m = mechanism(WordVectors(["alder", "birch", "oak", "elm"], np.eye(4)), digits="random")
    with pytest.raises(ValueError, match="all-digit word among the word vectors"):
        m.replace(["12"], np.array([0]), np.random.default_rng(0))


def test_shape_is_kept_and_nothing_else():
    rng = np.random.default_rng(0)
    made = [random_of_shape(["Zé-7b"], rng)[0] for _ in range(500)]
    assert {len(word) for word in made} == {5}
    assert all(w[0].isupper() and w[1].islower() and w[2] == "-" and w[3].isdigit() and w[4].islower() for w in made)
    assert {w[3] for w in made} == set("0123456789")
    assert all(w.isascii() for w in made)


@pytest.mark.parametrize("word", ["Mu\u0308ller", "सुनीता", "דָּוִד", "½", "ⅷ"])
def test_no_accent_or_number_of_an_unknown_word_stays(word):
    """An accent that is a character of its own stayed at its place, and so did the vowels of a Hindi name."""
    made = [random_of_shape([word], np.random.default_rng(seed))[0] for seed in range(20)]
    assert all(one.isascii() and len(one) == len(word) for one in made) and len(set(made)) > 5


def test_two_tokens_of_one_shape_cannot_be_told_apart(vectors):
    p = mechanism(vectors, unknown="shape").probabilities(["Zzyx", "Qwqw", "Zzyxx"]).toarray()
    assert (p[0] == p[1]).all()
    assert (p[0] != p[2]).any()


def test_repr_and_pickle_name_no_token(vectors):
    import pickle

    m = mechanism(vectors)
    m.probabilities(["Qwertz"])
    assert b"Qwertz" not in pickle.dumps(m)
    assert "Qwertz" not in repr(m)
    assert "alder" not in repr(m)


def test_noise_is_enclosed(vectors):
    """A large sample of the released words gives an attack between the two bounds, which are not far apart."""
    from sklearn_deid.audit.bayes import bayes_reidentification
    from sklearn_deid.pseudonyms import NoisyNearest, NoisyTokenMechanism

    everyone = np.ones(len(vectors), dtype=bool)
    policy = WordPolicy(vectors, frozenset({"the"}), "same", "shape")
    for epsilon in (4.0, 12.0, 40.0):
        m = NoisyTokenMechanism(NoisyNearest(vectors, everyone, epsilon), policy, everyone, keep_casing=True)
        prior = dict(zip(TOKENS, range(1, len(TOKENS) + 1), strict=True))
        enclosed = bayes_reidentification(m, prior, random_state=0)
        drawn = bayes_reidentification(m, prior, method="plug-in", n_samples=20_000, random_state=1)
        assert enclosed.method == "bracket"
        assert enclosed.probability.low <= drawn.probability.high
        assert drawn.probability.low <= enclosed.probability.high
        assert enclosed.probability.low <= enclosed.probability.value <= enclosed.probability.high
        assert enclosed.probability.high - enclosed.probability.low < 0.25
