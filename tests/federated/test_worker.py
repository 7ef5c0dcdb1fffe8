"""One worker: download, epoch, upload, and what it keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    GaussianUpload,
    Learner,
    ParameterServer,
    ServerLimits,
    SparseUpdate,
    SparseVectorUpload,
    Worker,
    WorkerSettings,
    train_one_epoch,
)

from .learners import MODEL, Quadratic, Scripted

ALL = WorkerSettings(upload_fraction=1.0, download_fraction=1.0, threshold=0.0)


def worker(updates=([1, 2, 3],), settings=ALL, **fields):
    return Worker("site", Scripted(3, updates), MODEL, settings, random_state=0, **fields)


def parameters(indices, values, **fields):
    fields = {"size": 3, "model": MODEL, "version": 5, "kind": "parameters", **fields}
    return SparseUpdate(np.array(indices), np.array(values, dtype=np.float32), **fields)


def test_learners_fit_the_protocol():
    assert isinstance(Quadratic([1.0]), Learner)
    learner, figures = train_one_epoch(Quadratic([1.0]))
    assert learner.vector.tolist() == [0.5]
    assert figures == {"loss": 0.25}
    assert train_one_epoch(Scripted(1, [[1]]))[1] == {}


def test_a_download_overwrites_only_what_it_holds():
    one = worker()
    one.learner.set_flat([7, 8, 9])
    one.apply_download(parameters([0, 2], [1, 3]).to_bytes())
    assert one.learner.get_flat().tolist() == [1, 8, 3]
    assert one.version == 5


@pytest.mark.parametrize("fields", [{"size": 4}, {"model": "f" * 32}, {"kind": "update"}])
@pytest.mark.parametrize("encoded", [True, False])
def test_a_download_of_something_else_changes_nothing(fields, encoded):
    one, message = worker(), parameters([0], [1], **fields)
    with pytest.raises(ExchangeError, match="another"):
        one.apply_download(message.to_bytes() if encoded else message)
    assert one.learner.get_flat().tolist() == [0, 0, 0]
    assert one.version is None


def test_the_update_is_what_the_epoch_changed_and_starts_from_the_download():
    one = worker()
    one.apply_download(parameters([0, 1, 2], [10, 10, 10]))
    one.local_epoch()
    assert one.update_norm == pytest.approx(np.sqrt(14))
    update = one.select_upload()
    assert update.dense().tolist() == [1, 2, 3]
    assert (update.version, update.kind, one.n_epochs, one.update_norm) == (5, "update", 1, 0.0)


def test_an_update_is_taken_once():
    one = worker()
    with pytest.raises(ExchangeError, match="train an epoch first"):
        one.select_upload()
    one.local_epoch()
    one.select_upload()
    with pytest.raises(ExchangeError, match="take each update only once"):
        one.select_upload()
    with pytest.raises(ExchangeError, match="no epoch to finish"):
        one.finish_epoch(one.learner)


def test_messages_stay_until_they_are_acknowledged():
    one = worker([[1, 0, 0], [0, 1, 0]])
    server = ParameterServer(np.zeros(3), MODEL)
    for _ in range(2):
        one.local_epoch()
        one.select_upload()
    assert list(one.pending) == [0, 1]
    for sequence in (1, 0, 1):
        server.upload(one.pending[sequence], one.name, sequence)
    one.acknowledge(1)
    one.acknowledge(1)
    assert list(one.pending) == [0]
    assert server.parameters.tolist() == [1, 1, 0]
    assert one.sequence == 2


def test_half_precision_says_what_the_server_will_read():
    one = worker([[1 + 2**-12, 1 / 3, -0.1]], WorkerSettings(upload_fraction=1.0, upload_dtype="float16"))
    one.local_epoch()
    update = one.select_upload()
    assert update.values.tolist() == [1.0, float(np.float16(1 / 3)), float(np.float16(-0.1))]
    assert SparseUpdate.from_bytes(one.pending[0]) == update


WHOLE = st.integers(-20, 20).map(float)  # sums of which are exact in float32


@given(
    st.lists(st.lists(WHOLE, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.34, 0.67, 1.0]),
    st.sampled_from(["random", "largest"]),
    st.sampled_from([0.0, 3.0]),
    st.sampled_from([5.0, float("inf")]),
)
def test_with_error_feedback_no_update_is_lost(updates, fraction, selection, threshold, clip):
    settings = WorkerSettings(fraction, 0.1, clip, threshold, selection, error_feedback=True)
    one, sent = worker([*updates, *[[0, 0, 0]] * 100], settings), np.zeros(3)
    for _ in range(len(updates) + 100):
        one.local_epoch()
        sent += one.select_upload().dense()
    # What stays at home for ever is what is never above the threshold, or never chosen.
    missing = np.abs(np.sum(updates, axis=0) - sent)
    assert (missing <= threshold).all() or fraction == 0.0
    assert fraction > 0.0 or not sent.any()


def test_what_was_not_sent_stays_on_top_of_a_download():
    settings = WorkerSettings(0.34, threshold=0.0, selection="largest", error_feedback=True)
    one = worker([[1, 5, 2], [0, 0, 0]], settings)
    one.local_epoch()
    assert one.select_upload().dense().tolist() == [0, 5, 0]
    one.apply_download(parameters([0, 1], [10, 20]))
    assert one.learner.get_flat().tolist() == [11, 20, 2]
    one.local_epoch()
    assert one.select_upload().dense().tolist() == [0, 0, 2]


def test_error_feedback_remembers_what_float16_cuts_off():
    settings = WorkerSettings(1.0, threshold=0.0, upload_dtype="float16", error_feedback=True)
    one = worker([[1 + 2**-12, 0, 0], [2**-12, 0, 0]], settings)
    one.local_epoch()
    assert one.select_upload().values.tolist() == [1.0]
    one.local_epoch()
    assert one.select_upload().values.tolist() == [2**-11]


def test_error_feedback_and_noise_exclude_each_other():
    with pytest.raises(ValueError, match="exclude each other"):
        worker(settings=WorkerSettings(threshold=0.0, error_feedback=True), privacy=GaussianUpload(1.0, 1.0))


def test_divergence_is_named_and_taken_back():
    one = worker([[np.inf, 0, 0], [1, 1, 1]])
    one.learner.set_flat([4, 5, 6])
    with pytest.raises(ExchangeError, match="training has diverged"):
        one.local_epoch()
    assert one.learner.get_flat().tolist() == [4, 5, 6]
    one.local_epoch()
    assert one.select_upload().values.tolist() == [1, 1, 1]


def test_abandoned_epochs_are_taken_back():
    one = worker([KeyboardInterrupt()])
    learner = one.begin_epoch()
    with pytest.raises(KeyboardInterrupt):
        train_one_epoch(learner)
    assert one.learner.get_flat().tolist() == [99, 99, 99]
    one.abandon_epoch()
    one.abandon_epoch()
    assert one.learner.get_flat().tolist() == [0, 0, 0]


@pytest.mark.parametrize("selected", [True, False], ids=["before sending", "before selecting"])
@pytest.mark.parametrize(
    ("privacy", "feedback"),
    [(None, False), (None, True), (GaussianUpload(1.0, 1.0), False)],
    ids=["plain", "error feedback", "gaussian"],
)
def test_a_restored_worker_sends_the_same(tmp_path, selected, privacy, feedback):
    settings = WorkerSettings(upload_fraction=0.4, threshold=0.0, error_feedback=feedback)
    size = 50

    def new(seed):
        learner = Quadratic(np.arange(1, size + 1), 0.25)
        return Worker("site", learner, MODEL, settings, privacy=privacy, random_state=seed)

    one = new(1)
    one.apply_download(parameters([0], [3], size=size))
    one.local_epoch()
    if selected:
        one.select_upload()
    one.save(tmp_path / "worker")
    two = new(2)
    two.restore(tmp_path / "worker")
    if not selected:
        assert one.select_upload() == two.select_upload()
    assert (two.pending, two.n_epochs, two.sequence, two.version) == (one.pending, 1, 1, 5)
    assert two.ledger.counts() == one.ledger.counts()
    for each in (one, two):
        each.local_epoch()
    assert one.select_upload() == two.select_upload()
    np.testing.assert_array_equal(one.learner.get_flat(), two.learner.get_flat())


def test_only_the_own_state_is_restored(tmp_path):
    worker().save(tmp_path / "worker")
    other = Worker("other", Scripted(3, []), MODEL)
    with pytest.raises(ExchangeError, match="another worker or model"):
        other.restore(tmp_path / "worker")


@pytest.mark.parametrize(
    "fields",
    [
        {"upload_fraction": 1.1},
        {"download_fraction": -0.1},
        {"clip": -1},
        {"threshold": -1},
        {"selection": "all"},
        {"upload_dtype": "int8"},
    ],
)
def test_wrong_settings(fields):
    with pytest.raises(ValueError, match=r"fraction|clip|threshold|selection|'upload_dtype' .* float32, float16"):
        WorkerSettings(**fields)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("privacy", [None, SparseVectorUpload(50.0)])
@pytest.mark.parametrize("clip", [0.05, 0.1, 0.3, 0.7])
def test_no_value_of_a_message_is_beyond_the_clip(clip, privacy, dtype):
    """Rounding lengthened clipped values: a server with the same limit refused the update after the training."""
    settings = WorkerSettings(1.0, clip=clip, threshold=0.0, upload_dtype=dtype)
    sender = worker([np.full(3, 99.0)], settings, privacy=privacy)
    sender.local_epoch()
    sender.select_upload()
    message = sender.pending[0]
    assert clip * 0.999 < SparseUpdate.from_bytes(message).largest() <= clip
    server = ParameterServer(np.zeros(3), MODEL, ServerLimits(max_abs=clip, max_norm=9.0))
    assert server.upload(message, "site", 0)


def test_a_clip_that_half_precision_cannot_send_is_refused():
    assert WorkerSettings(clip=1e-9).sent_clip == pytest.approx(1e-9)
    with pytest.raises(ValueError, match="'clip' .* positive number of the type float16"):
        WorkerSettings(clip=1e-9, upload_dtype="float16")


@pytest.mark.parametrize(
    ("privacy", "settings"),
    [
        (GaussianUpload(1.0, 1.0), WorkerSettings()),
        (GaussianUpload(1.0, 1.0), WorkerSettings(threshold=0.0, selection="largest")),
        (SparseVectorUpload(1.0), WorkerSettings(selection="largest")),
        (SparseVectorUpload(1.0), WorkerSettings(clip=float("inf"))),
    ],
)
def test_settings_under_which_noise_would_not_protect(privacy, settings):
    with pytest.raises(ValueError, match="must not depend on the data|sparse vector technique needs"):
        worker(settings=settings, privacy=privacy)


def test_repr_shows_no_parameters():
    assert repr(worker()) == "Worker('site', n_epochs=0, pending=0)"
