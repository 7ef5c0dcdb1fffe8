"""Noise that nobody can take off: no seed to search for, and nothing that two releases share."""

import copy
import multiprocessing
import pickle
import secrets
import warnings

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from sklearn_deid import PrivateRepresenter, WordVectors
from sklearn_deid.audit.attacks import SeedTarget
from sklearn_deid.audit.attacks.seed_search import NoiseLayout
from sklearn_deid.federated import GaussianUpload, Worker, WorkerSettings
from sklearn_deid.federated.state_file import read_state
from sklearn_deid.pseudonyms import GaussianNoisePerturber
from sklearn_deid.representations import TrainableNoise
from sklearn_deid.representations.pair_data import embedding_table
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.tagging import LengthBucketSampler

WORDS = [f"word{i}" for i in range(60)]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((60, 6)), is_public=True)
SIGMAS = 7.0  # 3e-12 for one comparison
WINDOW = 2**12


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = [[WORDS[i] for i in rng.integers(60, size=rng.integers(3, 12))] for _ in range(n)]
    return TokenSequences.from_rows(rows)


X = sentences(60)
Y = [["B-NAME", *["O"] * (len(row) - 1)] for row in X]


@pytest.fixture(scope="module")
def representer():
    small = {"n_components": 8, "n_neighbors": 5, "hidden_size": 8, "tagger_hidden_size": 8, "max_epochs": 2}
    fitted = PrivateRepresenter(
        embeddings=VECTORS, casing=False, noise=TrainableNoise(init=0.5), device="cpu", random_state=0, **small
    ).fit(X, Y)
    return copy.deepcopy(fitted)  # a copy has no seed


# ---- the search for a seed


class OldNoise:
    """The noise of earlier versions: a PyTorch generator of the CPU, batches as they follow from the lengths."""

    def __init__(self, network, X):
        self.network, self.X = network.eval(), X
        self.batches = list(LengthBucketSampler(X.lengths, 4096, max_rows=4096))

    def _masks(self):
        for rows in self.batches:
            lengths = self.X.lengths[rows]
            position = np.arange(lengths.max())
            mask = position < lengths[:, None]
            yield mask, np.where(mask, self.X.offsets[rows][:, None] + position, 0)

    @torch.no_grad()
    def release(self, seed):
        generator, out = torch.Generator().manual_seed(seed), np.zeros((len(self.X.data), 8), dtype=np.float32)
        table = torch.from_numpy(embedding_table(VECTORS, WORDS))
        words = np.array([WORDS.index(word) for word in self.X.data])
        for mask, item in self._masks():
            embeddings = torch.nn.functional.embedding(torch.from_numpy(words[item]), table)
            r = self.network(embeddings, torch.from_numpy(mask), generator=generator)
            out[item[mask]] = r[torch.from_numpy(mask)].numpy()
        return out


def scores(releases, lengths, seeds):
    """Scores of the seeds of the old generator for each release, in standard errors; no word is known."""
    layout = NoiseLayout(SeedTarget(releases[0], lengths))
    return layout.scores(np.stack([layout.direction(release) for release in releases]), "torch", seeds)


def test_a_seed_is_found_in_old_releases_and_none_in_new_ones(representer):
    notes = sentences(100, seed=1)
    old = OldNoise(representer.network_, notes)
    for start in (0, 2**31 + 12_345):
        seeds = range(start, start + WINDOW)
        planted = start + 2_876
        new = [release.data for release in representer.sample(notes, 10)]
        found, *others = scores([old.release(planted), *new], notes.lengths, seeds)
        assert seeds[int(np.abs(found).argmax())] == planted and np.abs(found).max() > 2 * SIGMAS
        assert np.sort(np.abs(found))[-2] < SIGMAS
        # only 32 bits of a seed count, so that a window of all of them could be searched
        np.testing.assert_array_equal(old.release(planted + 2**32), old.release(planted))
        assert len(others) == 10 and np.abs(others).max() < SIGMAS


# ---- nothing is shared


def noise_of_representer(one, n=1):
    centre = one.noise_free(X).data
    return [one.transform(X).data - centre for _ in range(n)]


def noise_of_perturber(one, n=1):
    where = np.flatnonzero([word == "B-NAME" for row in Y for word in row])
    unit = VECTORS.vectors_for(X.data)[where]
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    released = [one.sample(X, Y).data[where] for _ in range(n)]
    # Unit length takes a part of each vector away, the same one in each release: look across the vectors.
    return [each - (each * unit).sum(axis=1, keepdims=True) * unit for each in released]


class Still:
    """A learner that learns nothing, so that an upload is noise."""

    def get_flat(self):
        return np.zeros(1_000, dtype=np.float32)

    def set_flat(self, vector):
        pass

    def train_epoch(self):
        return {}


def noise_of_worker(one, n=1):
    found = []
    for _ in range(n):
        one.local_epoch()
        found.append(one.select_upload().values)
    return found


def new_worker(random_state=None):
    settings = WorkerSettings(upload_fraction=0.5, threshold=0.0)
    return Worker("a", Still(), "0" * 32, settings, privacy=GaussianUpload(1.0, 1.0), random_state=random_state)


@pytest.fixture(params=["representer", "perturber", "worker"])
def case(request, representer):
    """What releases, and a function that gives the noise of n of its releases."""
    if request.param == "representer":
        return representer, noise_of_representer
    if request.param == "perturber":
        made = GaussianNoisePerturber(embeddings=VECTORS, scale=0.3, exclude=None, casing=False)
        return made.fit(X, Y), noise_of_perturber
    return new_worker(), noise_of_worker


def largest_likeness(releases):
    """Largest correlation of two releases, in standard errors; and of one with another that is shifted by a row."""
    rows = np.array([np.ravel(release - release.mean(axis=0)) for release in releases], dtype=np.float64)
    likeness = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
    return np.abs(likeness).max() * np.sqrt(rows.shape[1])


def in_forked_processes(draw, one):
    """Two processes that begin with all of this one's memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this process has threads of libraries
        context = multiprocessing.get_context("fork")
        queues = [context.SimpleQueue() for _ in range(2)]
        children = [context.Process(target=_put, args=(queue, draw, one)) for queue in queues]
        for child in children:
            child.start()
    found = [release for queue in queues for release in queue.get()]
    for child in children:
        child.join()
    return found


def _put(queue, draw, one):
    # A fork copies no threads: two threads of OpenMP would wait for each other forever.
    torch.set_num_threads(1)
    queue.put(draw(one, 2))


def test_no_two_releases_share_noise(case):
    one, draw = case
    pickled = pickle.dumps(one)
    draw(one)  # whatever a first release leaves behind is copied, too
    releases = [
        *draw(one, 3),
        *draw(pickle.loads(pickled), 2),
        *draw(pickle.loads(pickle.dumps(one)), 2),
        *draw(copy.deepcopy(one), 2),
        *draw(copy.deepcopy(one), 2),
        *(x for part in joblib.Parallel(n_jobs=2)(joblib.delayed(draw)(one, 2) for _ in range(2)) for x in part),
        *in_forked_processes(draw, one),
    ]
    assert len(releases) == 19
    if not isinstance(one, PrivateRepresenter):
        assert largest_likeness(releases) < SIGMAS
        return
    # Unit length takes a part of each vector away, the same one in each release: compare what differs from the mean.
    rest = np.array(releases) - np.mean(releases, axis=0)
    likeness = np.corrcoef(rest.reshape(19, -1))[np.triu_indices(19, 1)]
    assert np.abs(likeness + 1 / 18).max() * np.sqrt(rest[0].size) < SIGMAS


def test_the_comparison_would_notice(representer):
    """Seeded workers and copies of one release share their noise."""
    shared = [noise_of_worker(new_worker(random_state=3))[0] for _ in range(2)]
    assert largest_likeness([*shared, noise_of_worker(new_worker())[0]]) > 2 * SIGMAS
    once = noise_of_representer(representer)[0]
    rest = np.array([once, once, *noise_of_representer(representer, 17)])
    rest -= rest.mean(axis=0)
    likeness = np.corrcoef(rest.reshape(19, -1))
    assert (likeness[0, 1] + 1 / 18) * np.sqrt(once.size) > 2 * SIGMAS


def test_nothing_that_releases_keeps_a_key(case, monkeypatch, tmp_path):
    keys, system = [], secrets.randbits
    monkeypatch.setattr("secrets.randbits", lambda n: keys.append(system(n)) or keys[-1])
    one, draw = case
    draw(one, 2)
    assert len(keys) >= 2
    content = pickle.dumps(one)
    if isinstance(one, Worker):
        one.local_epoch()
        one.select_upload()
        one.save(tmp_path / "worker")
        content += (tmp_path / "worker").read_bytes()
    for key in keys:
        for order in ("little", "big"):
            data = key.to_bytes(32, order)
            assert data[:8] not in content and data[-8:] not in content and data.hex().encode() not in content
        assert str(key).encode() not in content
    assert b"ChaCha" not in content


def test_a_cache_of_a_pipeline_never_puts_noise_on_other_sentences(tmp_path):
    """As documented, it repeats the release of equal sentences."""
    step = GaussianNoisePerturber(embeddings=VECTORS, scale=0.3, exclude=None, casing=False)
    read = []

    class Reader(BaseEstimator):
        def fit(self, X, y=None):
            read.append(X.data)
            return self

    others = TokenSequences(X.data.copy(), X.offsets)
    others.data[1] = "word0" if X.data[1] != "word0" else "word1"  # one word that does not move
    for notes in (X, X, others):
        # A copy: finding words changes the word vectors, and with them their digest in the cache.
        step.set_params(embeddings=copy.deepcopy(VECTORS))
        Pipeline([("step", step), ("read", Reader())], memory=str(tmp_path)).fit(notes, Y)
    where = np.flatnonzero([word == "B-NAME" for row in Y for word in row])
    noise = [data[where] - VECTORS.vectors_for(X.data)[where] for data in read]
    np.testing.assert_array_equal(noise[0], noise[1])
    assert largest_likeness(noise[1:]) < SIGMAS


# ---- the state of a worker


def test_a_saved_worker_has_new_noise_but_sends_pending_messages_as_they_were(tmp_path):
    one = new_worker()
    one.local_epoch()
    one.select_upload()
    one.local_epoch()  # its update is not chosen yet
    one.save(tmp_path / "worker")
    assert (tmp_path / "worker").stat().st_mode & 0o777 == 0o600
    assert read_state(tmp_path / "worker", "worker")[0]["generator"] == "chacha20-256"
    copies = [new_worker() for _ in range(2)]
    for each in copies:
        each.restore(tmp_path / "worker")
        assert each.pending == one.pending and len(each.pending) == 1
    assert largest_likeness([each.select_upload().values for each in (one, *copies)]) < SIGMAS


@pytest.mark.parametrize(("saved", "restored"), [(None, 3), (3, None), (None, None)])
def test_a_worker_without_a_seed_never_takes_one_over(tmp_path, saved, restored):
    one, two = new_worker(saved), new_worker(restored)
    one.save(tmp_path / "worker")
    first, again = copy.deepcopy(two), two
    for each in (first, again):
        each.restore(tmp_path / "worker")
    assert largest_likeness([noise_of_worker(each)[0] for each in (one, first, again)]) < SIGMAS


def test_values_of_uploads_lie_on_the_grid_of_the_noise():
    mechanism = GaussianUpload(1.0, 1.0)
    values = noise_of_worker(new_worker())[0].astype(np.float64) / mechanism.grid()
    assert mechanism.grid() == 2.0**-5 and (values == np.rint(values)).all()


def test_vectors_of_perturbers_lie_on_the_finest_grid(case):
    one, _ = case
    if isinstance(one, Worker):
        pytest.skip("uploads have a grid of their own")
    data = (one.sample(X, Y) if isinstance(one, GaussianNoisePerturber) else one.transform(X)).data
    moved = data[np.flatnonzero([tag == "B-NAME" for row in Y for tag in row])]
    steps = moved.astype(np.float64) * 2.0**20
    assert (steps == np.rint(steps)).all() and len(moved) == 60
