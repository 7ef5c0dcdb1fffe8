import numpy as np
import pytest
from scipy.integrate import quad

from sklearn_deid import GaussianNoisePerturber, RandomVectorPerturber, WordVectors, ZeroVectorPerturber
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.pseudonyms import AddedNoise, RandomVectors, WordPolicy, ZeroVectors, direction_log_density


@pytest.fixture
def policy(vectors):
    return WordPolicy(vectors, frozenset({"the"}), "same", "random")


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0])
def test_density_of_a_direction_is_the_integral(scale):
    dim = 5
    grid, density = direction_log_density(dim, scale)
    for cosine in (-1.0, -0.3, 0.0, 0.6, 1.0):

        def f(r, c=cosine):
            return r ** (dim - 1) * np.exp(-(r**2 - 2 * r * c) / (2 * scale**2))

        exact = np.log(quad(f, 0, 1 + 20 * scale * np.sqrt(dim), points=[1.0], limit=200)[0])
        base = np.log(quad(lambda r: f(r, 0.2), 0, 1 + 20 * scale * np.sqrt(dim), points=[1.0], limit=200)[0])
        ours = np.interp([cosine, 0.2], grid, density)
        assert ours[0] - ours[1] == pytest.approx(exact - base, abs=2e-3)


def test_the_likelier_word_is_named_as_often_as_the_likelihood_says(policy):
    """Posterior probabilities are calibrated: their mean is the share of hits."""
    m = AddedNoise(policy, 0.4)
    tokens = ["alder", "birch", "maple", "pain"]
    n = 5_000
    rng = np.random.default_rng(0)
    truth = rng.integers(len(tokens), size=n)
    released = m.sample([tokens[i] for i in truth], rng)
    log_likelihood = m.log_likelihood(tokens, released)
    posterior = np.exp(log_likelihood - np.logaddexp.reduce(log_likelihood, axis=0))
    hits = posterior.argmax(axis=0) == truth
    assert abs(hits.mean() - posterior.max(axis=0).mean()) < 4 * hits.std() / np.sqrt(n)
    assert 0.3 < hits.mean() < 0.95


def test_words_that_stay_are_recognised(policy):
    m = AddedNoise(policy, 0.4)
    released = m.sample(["the", "alder"], np.random.default_rng(0))
    likelihood = m.log_likelihood(["the", "alder"], released)
    assert likelihood[0, 0] == 0.0
    assert likelihood[1, 0] == likelihood[0, 1] == -np.inf
    assert np.isfinite(likelihood[1, 1])


@pytest.mark.parametrize("kind", [RandomVectors, ZeroVectors])
def test_a_constant_release_tells_nothing(policy, kind):
    m = kind(policy)
    released = m.sample(["alder", "birch"], np.random.default_rng(0))
    assert len(np.unique(m.log_likelihood(["alder", "birch", "pain"], released))) == 1


def test_random_vectors_are_new_and_of_unit_length(policy):
    m, rng = RandomVectors(policy), np.random.default_rng(0)
    first, second = m.sample(["alder"] * 50, rng), m.sample(["alder"] * 50, rng)
    assert (first != second).all()
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0, rtol=1e-5)


def test_no_noise_is_the_vector(policy, vectors):
    m = AddedNoise(policy, 0.0)
    np.testing.assert_allclose(m.sample(["alder"], np.random.default_rng(0)), vectors.vectors_for(["alder"]), rtol=1e-6)


@pytest.mark.parametrize("unknown", ["keep", "random"])
@pytest.mark.parametrize("kind", [RandomVectorPerturber, ZeroVectorPerturber, GaussianNoisePerturber])
def test_no_vector_of_the_letters_of_unknown_phi_is_released(kind, unknown):
    """With n-grams, an unknown name has a vector of its letters: everybody with the table recognises the name."""
    ngrams = SubwordTable(np.random.default_rng(0).standard_normal((50, 3), np.float32), 2, 4, is_public=True)
    vectors = WordVectors(["alder", "pain"], [[1, 0, 0], [0, 1, 0]], subwords=ngrams, is_public=True)
    settings = {"scale": 1e-3} if kind is GaussianNoisePerturber else {}
    perturber = kind(embeddings=vectors, unknown=unknown, casing=False, random_state=0, **settings)
    X, y = [["Zzyxw", "zzyx"]], [["B-DOCTOR", "O"]]
    phi, other = perturber.fit_transform(X, y)[0]
    of_letters, unchanged = vectors.vectors_for(X[0])
    assert abs(float(phi @ of_letters)) < 0.99 and bool(phi.any()) == (
        unknown == "random" and kind != ZeroVectorPerturber
    )
    assert other.tolist() == unchanged.tolist()  # only PHI is perturbed
    mechanism = perturber.mechanism_
    ratio = mechanism.log_likelihood(["Zzyxw", "Qwert"], np.stack([phi]))
    assert ratio[0] == ratio[1]  # the stated law does not distinguish unknown words either
