"""CPU and CUDA give the same losses, gradients, paths, predictions and spans."""

import pickle

import pytest
import torch

from sklearn_deid import DeidTagger, load_model, make_clinical_notes
from sklearn_deid.tagging import LinearChainCRF

from .conftest import SMALL as FEW_EPOCHS
from .conftest import assert_rows_equal, make_sentences

SMALL = {**FEW_EPOCHS, "max_epochs": 25, "lr": 0.01}

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device"),
]


def both_devices(seed, batch=6, time=40, n_tags=11):
    generator = torch.Generator().manual_seed(seed)
    crf = LinearChainCRF(n_tags)
    emissions = torch.randn(batch, time, n_tags, generator=generator)
    mask = torch.arange(time) < torch.randint(1, time + 1, (batch, 1), generator=generator)
    tags = torch.randint(0, n_tags, (batch, time), generator=generator)
    results = []
    for device in ("cpu", "cuda"):
        head = LinearChainCRF(n_tags)
        head.load_state_dict(crf.state_dict())
        head.to(device)
        leaf = emissions.clone().to(device).requires_grad_()
        loss = -head(leaf, tags.to(device), mask.to(device), reduction="token_mean")
        loss.backward()
        grads = [leaf.grad, *[p.grad for p in head.parameters()]]
        paths = head.decode(leaf.detach(), mask.to(device))
        results.append((loss.detach().cpu(), [g.cpu() for g in grads], paths))
    return results


@pytest.mark.parametrize("seed", range(5))
def test_crf(seed):
    (loss, grads, paths), (cuda_loss, cuda_grads, cuda_paths) = both_devices(seed)
    torch.testing.assert_close(loss, cuda_loss, atol=1e-5, rtol=1e-5)
    for a, b in zip(grads, cuda_grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)
    assert paths == cuda_paths


@pytest.mark.parametrize(("here", "there"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_fit_on_one_and_predict_on_the_other(here, there):
    X, y, _ = make_sentences(120)
    tagger = DeidTagger(**{**SMALL, "device": here, "mixed_precision": False}).fit(X, y)
    expected, probabilities = tagger.predict(X), tagger.predict_proba(X)
    other = pickle.loads(pickle.dumps(tagger))
    other.set_params(device=there)
    other.module_.to(there)
    assert_rows_equal(other.predict(X), expected)
    for a, b in zip(probabilities, other.predict_proba(X), strict=True):
        torch.testing.assert_close(torch.from_numpy(a), torch.from_numpy(b), atol=1e-4, rtol=1e-3)


def test_auto_takes_the_gpu_and_learns_in_mixed_precision():
    X, y, _ = make_sentences(120)
    tagger = DeidTagger(**{**SMALL, "device": "auto"}).fit(X, y)
    assert next(tagger.module_.parameters()).is_cuda
    assert tagger.score(X, y) > 0.9


def test_tags_of_a_mixed_precision_training_do_not_depend_on_the_device():
    X, y, _ = make_sentences(120)
    tagger = DeidTagger(**{**SMALL, "device": "cuda"}).fit(X, y)
    found = tagger.predict_proba(X)
    tagger.set_params(device="cpu").module_.cpu()
    for a, b in zip(found, tagger.predict_proba(X), strict=True):
        torch.testing.assert_close(torch.from_numpy(a), torch.from_numpy(b), atol=1e-4, rtol=1e-3)


def test_tags_that_force_the_next_ones_learn():
    X, y, _ = make_sentences(120)
    assert DeidTagger(**{**SMALL, "device": "cuda", "tag_scheme": "bioes"}).fit(X, y).score(X, y) > 0.9


def test_spans_of_raw_notes_do_not_depend_on_device_and_processes():
    texts = [note.text for note in make_clinical_notes(40, random_state=0)]
    on_cpu = load_model(labels="all").redact(texts)
    on_cuda = load_model(labels="all", device="cuda").set_params(batch_size=10)
    assert on_cuda.redact(texts) == on_cpu
    assert on_cuda.set_params(n_jobs=2).redact(texts) == on_cpu
