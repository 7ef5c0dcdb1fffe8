"""Learning from public notes first: what it changes, what it never changes, and what it refuses."""

import sys
from importlib.resources import as_file, files

import numpy as np
import pytest
import torch

from benchmarks import public_start as benchmark
from sklearn_deid import Corpus, PrivateRepresenter, load, make_clinical_notes
from sklearn_deid._storage import read_bundle
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.representations import Bounded, ThreePart, public_start
from sklearn_deid.representations.public_start import PublicStart, public_sentences, shipped_start

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(60)
    return X, y, np.array(groups)


@pytest.fixture(scope="module")
def public():
    X, y, _ = make_sentences(60, seed=7)
    renamed = [[tag.replace("AGE", "OTHER") for tag in row] for row in y]
    return X, renamed


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(public_start, "PUBLIC_EPOCHS", 2)


def network(representer):
    return torch.cat([value.flatten() for value in representer.network_.state_dict().values()])


def fitted(data, **parameters):
    return PrivateRepresenter(**{**TINY, **parameters}).fit(*data)


def test_same_seed_same_weights(data, public):
    one, two, alone = fitted(data, public=public), fitted(data, public=public), fitted(data, public=None)
    assert torch.equal(network(one), network(two))
    assert not torch.equal(network(one), network(alone))


def test_auto_without_shipped_weights_is_none(data):
    """The vectors of the tests are not GloVe, so nothing changes."""
    assert torch.equal(network(fitted(data, public="auto")), network(fitted(data, public=None)))


def test_bound_is_measured_on_the_private_notes(data, public):
    # Without the price and the scaling of the noise, it would be .54.
    with pytest.warns(UserWarning, match="few for a bound of 0.51"):
        representer = fitted(data, public=public, max_epochs=10, training=Bounded(max_attack_accuracy=0.51))
    assert representer.bound_.mean_accuracy.value <= 0.51
    assert set(representer.classes_) == {"O", *(tag for row in data[1] for tag in row)}, "no tag of the public notes"


def test_training_on_public_notes_teaches_the_tagger(data, public):
    """One epoch on private notes finds more after public notes than without them."""
    found = {
        kind: fitted(data, public=given, max_epochs=1, training=Bounded(max_attack_accuracy=0.999999), lr=0.02)
        for kind, given in (("public", public), ("alone", None))
    }
    losses = {kind: representer.history_[0]["valid_deid_loss"] for kind, representer in found.items()}
    assert losses["public"] < losses["alone"]


def test_start_from_a_representer_is_its_weights(data):
    first = fitted(data, public=None)
    second = fitted(data, public=first, max_epochs=1, lr=1e-12, validation_fraction=None)
    change = (network(second) - network(first)).abs()
    names = [k for k, v in first.network_.state_dict().items() for _ in range(v.numel())]
    assert max(float(c) for c, k in zip(change, names, strict=True) if "noise" not in k) < 1e-5


def test_dual_variables_go_on(data):
    first = fitted(data, public=None)
    start = PublicStart.of(first)
    assert start.prices == (first.history_[2]["price_mean"], first.history_[2]["price_tail"])
    second = fitted(data, public=first, max_epochs=1)
    assert second.history_[0]["price_mean"] == start.prices[0]


def test_networks_that_differ_are_refused(data):
    first = fitted(data, public=None, max_epochs=1)
    with pytest.raises(ValueError, match="The 'public' parameter .* networks of the same shape"):
        fitted(data, public=first, n_components=5)


def test_other_trainings_have_no_public_notes(data, public):
    with pytest.raises(ValueError, match="must be None or 'auto' unless training is bounded. Got a tuple instead"):
        fitted(data, public=public, training=ThreePart())


def test_public_notes_in_all_forms():
    corpus = make_clinical_notes(2, random_state=0)
    expected = corpus.to_sentences()
    for given in (corpus, list(corpus), expected, (expected.X, expected.y)):
        X, y = public_sentences(given)
        assert X == expected.X and y.tolist() == [list(row) for row in expected.y]
    assert isinstance(corpus, Corpus)
    with pytest.raises(SequenceError, match="Public notes must be a Corpus"):
        public_sentences([["Mr", "Alder"]])


@pytest.mark.parametrize("value", ["spanish", 3])
def test_other_values_are_refused(data, value):
    with pytest.raises(ValueError, match="The 'public' parameter of PrivateRepresenter must be"):
        fitted(data, public=value)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the package of the GloVe vectors needs Python 3.11")
def test_shipped_start_fits_the_default_networks():
    from sklearn_deid.embeddings import load_glove

    vectors = load_glove()
    start = shipped_start(vectors.checksum)
    default = PrivateRepresenter()
    default.training_ = Bounded()
    own = default._new_network(vectors.dim).state_dict()
    assert {k: v.shape for k, v in own.items()} == {k: v.shape for k, v in start.network.items()}
    assert shipped_start("another") is None
    assert "B-PATIENT" in start.classes and start.prices[0] > 0


def test_shipped_start_is_what_the_command_writes():
    """16 bits, no seconds, the dual variables alone, the card of the command, and less than 1 MiB."""
    with as_file(files(public_start.__package__) / "generated_start") as folder:
        manifest, arrays = read_bundle(folder)  # compares the digests
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
        card = (folder / "README.md").read_text(encoding="utf-8")
    assert set(sizes) == {"README.md", "arrays.safetensors", "manifest.json"} and sum(sizes.values()) < 2**20
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float16)}
    assert [{"price_mean", "seconds"} & set(row) for row in manifest["state"]["history"]] == [{"price_mean"}]
    assert card == benchmark.CARD and "python -m benchmarks.public_start" in card


def test_a_start_in_16_bits_is_loaded_as_it_was_rounded(data, tmp_path):
    one = fitted(data, public=None, max_epochs=1)
    benchmark.round_weights(one)
    for name in ("first", "second"):
        benchmark.write_start(one, str(tmp_path / name))
    written = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("first", "second")]
    assert written[0] == written[1] and len(written[0]) == 3
    back = load(tmp_path / "first", embeddings=one.embeddings, device="cpu")
    assert torch.equal(network(back), network(one)) and back.fingerprint_ == one.fingerprint_
    assert PublicStart.of(back).prices == PublicStart.of(one).prices
