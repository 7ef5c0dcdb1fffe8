"""What Opacus makes of the network of the tagger and of ragged batches, compared with exact gradients.

    pip install opacus
    python -m benchmarks.opacus_ragged

`PatientPrivacy` needs the gradient of each patient, which is the mean of those of the patient's sentences. The script
wraps four networks in each mode of Opacus, and compares the gradient of each sentence of a batch with one backward pass
for each sentence (the oracle). Each network is closer to what Opacus supports than the one before. Opacus replaces the
LSTM by its own layer in all of them. "missing" are parameters without gradients of samples, "not_by_sentence" those
whose gradients have another number of rows than the batch has sentences, "wrong" those with another value than the
oracle, and "right" the rest. Prints a line of JSON for each network and mode, and exits at once if Opacus is missing.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from sklearn.base import clone
from torch import Tensor

from sklearn_deid import DeidTagger, make_clinical_notes
from sklearn_deid.federated.tagger_learner import make_learner
from sklearn_deid.federated.worker_data import checked_part
from sklearn_deid.tagging.batching import SentenceBatch
from sklearn_deid.tagging.strategies import CRFHead, SoftmaxHead

NETWORKS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "without the table of legal tags": {"head": CRFHead(constrained=False)},
    "softmax head": {"head": SoftmaxHead()},
    "softmax head, words as vectors only": {"head": SoftmaxHead(), "characters": None},
}
MODES = ("hooks", "functorch", "ew", "ghost")
_LARGEST_ERROR = 1e-4


def small_tagger(settings: dict[str, Any]) -> tuple[Any, SentenceBatch, Tensor]:
    """Untrained tagger, and one batch of sentences of several lengths with their tags."""
    data = make_clinical_notes(2, random_state=0).to_sentences()
    labels = sorted({tag[2:] for tags in data.y for tag in tags if tag != "O"})
    # Dropout would differ between two passes.
    tagger = DeidTagger(hidden_size=8, dropout=0.0, random_state=0, **settings)
    learner = make_learner(tagger, data.X, data.y, data.groups, labels, n_epochs=1)
    tagger = learner.tagger
    tagger._vectors, _ = learner._vectors  # a learner holds them apart from its tagger
    part = checked_part(clone(tagger), data.X, data.y, data.groups)
    rows = tagger._training_data(part.X, part.tags, None, held_out=True)
    batch, tags = max(tagger.get_iterator(rows, training=False), key=lambda pair: len(pair[0]))
    tagger.module_.train()  # the hooks of Opacus are silent otherwise
    return tagger, batch, tags


def loss_by_sentence(network: Any, batch: SentenceBatch, tags: Tensor, wrapped: Any = None) -> Tensor:
    emissions = (network if wrapped is None else wrapped)(batch)
    return network._loss_by_sentence(emissions, tags, batch.mask, None)


def exact_gradients(module: Any, batch: SentenceBatch, tags: Tensor) -> dict[str, Tensor]:
    """Gradient of each sentence by one backward pass for each, shape (sentences, *shape of the parameter)."""
    rows: dict[str, list[Tensor]] = {name: [] for name, _ in module.named_parameters()}
    for place in range(len(batch)):
        module.zero_grad()
        loss_by_sentence(module, batch, tags)[place].backward()
        for name, parameter in module.named_parameters():
            rows[name].append(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone())
    module.zero_grad()
    return {name: torch.stack(found) for name, found in rows.items()}


def compare(settings: dict[str, Any], mode: str) -> dict[str, Any]:
    """Parameters by what Opacus makes of them, or its error."""
    from opacus.grad_sample.utils import wrap_model
    from opacus.validators import ModuleValidator

    tagger, batch, tags = small_tagger(settings)
    exact = exact_gradients(tagger.module_, batch, tags)
    result: dict[str, Any] = {"sentences": len(batch), "lengths": batch.mask.sum(1).unique().tolist()}
    try:
        network = ModuleValidator.fix(tagger.module_)
        wrapped = wrap_model(network, grad_sample_mode=mode, loss_reduction="sum")
        loss_by_sentence(network, batch, tags, wrapped).sum().backward()
    # Opacus and PyTorch raise errors of many classes; each of them is a result here.
    except (AttributeError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return {**result, "error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    found: dict[str, list[str]] = {"missing": [], "not_by_sentence": [], "wrong": [], "right": []}
    for name, parameter in network.named_parameters():
        found[kind_of(getattr(parameter, "grad_sample", None), exact[name])].append(name)
    return result | found


def kind_of(gradients: Any, exact: Tensor) -> str:
    """Key of the result for the gradients of samples of one parameter."""
    if not isinstance(gradients, Tensor):
        return "missing"
    if len(gradients) != len(exact):
        return "not_by_sentence"
    error = (gradients - exact).abs().max() / exact.abs().max().clamp(min=1e-12)
    return "right" if error < _LARGEST_ERROR else "wrong"


def main() -> None:
    if find_spec("opacus") is None:
        sys.exit("Opacus is not installed: pip install opacus")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print(json.dumps({name: version(name) for name in ("opacus", "torch")}))
    for network, settings in NETWORKS.items():
        for mode in MODES:
            print(json.dumps({"network": network, "mode": mode, **compare(settings, mode)}), flush=True)


if __name__ == "__main__":
    main()
