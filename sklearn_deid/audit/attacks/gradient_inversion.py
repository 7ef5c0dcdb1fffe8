"""Gradient inversion: recover the words of a sentence from the gradient of its loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...federated.layout import ParameterLayout
from ...federated.sparse import SparseUpdate
from ...metrics import Estimate
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import UPDATES
from .declaration import AttackPreset, AuditAttack, check_least, timed
from .updates import ReleasedUpdates

_POSITIVE_BAR = 0.7
# A start has found the sentence if the unexplained proportion of the gradient is below this value.
_FOUND = 1e-6
_START = 0.3


@dataclass(frozen=True, repr=False)
class GradientKnowledge:
    """Knowledge of an attacker who inverts gradients.

    Attributes
    ----------
    module : torch module
        Downloaded network before the step, which maps vectors of shape (1, n, d) to emissions of shape (1, n, n_tags).
        The loss of the network is the cross entropy, averaged over tokens. The second derivatives of the network must
        exist.
    table : array-like of shape (n_words, d)
        Public word vectors.
    learning_rate : float, default=1.0
        Learning rate of the plain gradient step that was sent.
    """

    module: nn.Module
    table: Any
    learning_rate: float = 1.0

    @property
    def layout(self) -> ParameterLayout:
        """Position of each parameter of the module in the exchanged vector."""
        return ParameterLayout.of({name: p.detach().cpu().numpy() for name, p in self.module.named_parameters()})


@dataclass(frozen=True, repr=False)
class SentenceUpdates:
    """Updates, each from one sentence, with the words for the measurement.

    Attributes
    ----------
    updates : ExchangeRecord, or sequence of SparseUpdate or of messages
        Updates that a site sent.
    words : sequence of int sequences
        Rows of the table for the words of each sentence, in order. The attacker knows the number of words.
    """

    updates: Any
    words: Sequence[Any]

    def __post_init__(self) -> None:
        checked = ReleasedUpdates(self.updates, self.words)
        object.__setattr__(self, "updates", checked.updates)
        object.__setattr__(self, "words", [np.asarray(row, dtype=np.int64) for row in self.words])
        if any(not len(row) for row in self.words):
            raise ValueError("A sentence without words has no gradient.")

    def __repr__(self) -> str:
        return f"SentenceUpdates(n={len(self.updates)})"


def one_step_update(knowledge: GradientKnowledge, words: Sequence[int], tags: Sequence[int]) -> SparseUpdate:
    """Return the complete update that a site sends after one plain gradient step on one sentence.

    Parameters
    ----------
    knowledge : GradientKnowledge
        Network, word vectors and learning rate.
    words, tags : sequences of int, of equal length
        Rows of the word table, and numbers of the tags.
    """
    device = next(knowledge.module.parameters()).device
    table = torch.as_tensor(np.asarray(knowledge.table), dtype=torch.float64, device=device)
    module = _in_double(knowledge.module)
    # shape: (1, n_words, d)
    x = table[torch.as_tensor(list(words), device=device)][None]
    chances = torch.eye(int(module(x).shape[2]), dtype=torch.float64, device=device)[list(tags)][None]
    gradients = _gradients(module, x, chances, create_graph=False)
    named = {name: g.cpu().numpy() for (name, _), g in zip(module.named_parameters(), gradients, strict=True)}
    vector = -knowledge.learning_rate * knowledge.layout.flatten(named)
    return SparseUpdate(np.arange(len(vector)), vector.astype(np.float32), len(vector), knowledge.layout.fingerprint)


class GradientInversionAttack(AuditAttack):
    """Search for a sentence whose gradient equals the gradient that was sent.

    The attacker starts from random vectors and labels, and changes them until the gradient of the loss fits the sent
    numbers. For each position, the attacker then guesses the word with the nearest vector. The attacker starts several
    times and keeps the best fit, or stops at the first start that explains the whole gradient.

    Parameters
    ----------
    n_steps : int, default=150
        Number of L-BFGS steps from each start.
    n_starts : int, default=5
        Largest number of random starts.
    n_control : int, default=10
        Number of sentences of random words in the positive control.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval over sentences.
    random_state : int or None, default=None
        Random seed of the starts and of the controls.

    Notes
    -----
    The positive control runs the attack on complete gradients of random sentences with the same lengths under the same
    network. The attack must recover at least 70 % of the words of these sentences. If the control fails, the network or
    the sentences are too large for this attack, and the result gives no information about stronger attackers.
    `UpdateLeakageAttack` with ``kind="span"`` needs less information.

    References
    ----------
    Zhu, Liu & Han (2019), Deep leakage from gradients, NeurIPS, algorithm 1. Geiping et al. (2020), Inverting gradients
    - how easy is it to break privacy in federated learning?, NeurIPS.
    """

    key = "gradient_inversion"
    family = "gradient_inversion"
    title = "Gradient inversion"
    order = 90
    releases = (UPDATES,)
    presets = (AttackPreset("gradient_inversion", "Gradient inversion of one sentence", 1.0, 1.0),)
    phrase = "A server that sees the update of one sentence recovers the word at {} of its positions"
    name = "gradient inversion, one sentence"
    measure = "share of positions whose word is recovered"
    attacker = (
        "A curious server that sees the update of a single sentence after one plain gradient step. The server knows "
        "the network before the step, the learning rate, the public word vectors and the length of the sentence."
    )

    def __init__(
        self,
        *,
        n_steps: int = 150,
        n_starts: int = 5,
        n_control: int = 10,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        check_least(1, n_steps=n_steps, n_starts=n_starts, n_control=n_control)
        self.n_steps, self.n_starts, self.n_control = n_steps, n_starts, n_control
        self.confidence, self.random_state = confidence, random_state

    def run(self, release: Any) -> list[AttackResult]:
        """Skip the attack: no recorded exchange contains the update of a single step on one sentence."""
        return [self.skip(release.no_single_steps)]

    def fit(self, knowledge: GradientKnowledge) -> GradientInversionAttack:
        """Store the network.

        Parameters
        ----------
        knowledge : GradientKnowledge
            Network before the step, word vectors and learning rate.
        """
        self._knowledge, self._layout = knowledge, knowledge.layout
        self._module = _in_double(knowledge.module)
        device = next(self._module.parameters()).device
        self._table = torch.as_tensor(np.asarray(knowledge.table), dtype=torch.float64, device=device)
        return self

    @timed
    def attack(self, released: SentenceUpdates) -> AttackResult:
        """Invert updates and return the result.

        Parameters
        ----------
        released : SentenceUpdates
            Updates, each from one sentence.

        Raises
        ------
        ExchangeError
            If an update belongs to another network.
        """
        rng = np.random.default_rng(self.random_state)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        named = [self._invert(u, len(w), generator) for u, w in zip(released.updates, released.words, strict=True)]
        owner = np.repeat(np.arange(len(named)), [len(words) for words in released.words])
        hits = np.concatenate([n == w for n, w in zip(named, released.words, strict=True)])
        open_hits = self._control(released.words, rng, generator)
        # Negative control: newly drawn words are independent of the attacked sentences.
        drawn = rng.integers(len(self._table), size=len(hits))
        blind = np.concatenate(named) == drawn
        return self.result(
            Estimate.from_hits(hits, owner, self.confidence),
            1.0 / len(self._table),
            Estimate.from_hits(open_hits),
            _POSITIVE_BAR,
            Estimate.from_hits(blind, confidence=CONTROL_CONFIDENCE),
            settings={"n_steps": self.n_steps, "n_starts": self.n_starts},
            details={"sentences": len(named), "named in any order": _in_any_order(named, released.words)},
        )

    def _control(self, words: Sequence[np.ndarray], rng: np.random.Generator, generator: torch.Generator) -> np.ndarray:
        """Hits on complete gradients of sentences of random words."""
        hits = []
        n_tags = int(self._module(self._table[:1][None]).shape[2])
        for i in range(self.n_control):
            n = len(words[i % len(words)])
            truth = rng.integers(len(self._table), size=n)
            update = one_step_update(self._knowledge, truth.tolist(), rng.integers(n_tags, size=n).tolist())
            hits.append(self._invert(update, n, generator) == truth)
        return np.concatenate(hits)

    def _invert(self, update: SparseUpdate, n: int, generator: torch.Generator) -> np.ndarray:
        """Recover the words of one sentence, shape (n,)."""
        # The round trip rejects updates of another network.
        sent = SparseUpdate.from_bytes(update.to_bytes(), size=self._layout.size, model=self._layout.fingerprint)
        # A site may send a selection of the numbers. Numbers that were not sent do not count in the misfit.
        mask = np.zeros(self._layout.size)
        mask[sent.indices] = 1.0
        device, module = self._table.device, self._module
        parts = [self._layout.unflatten(v) for v in (sent.dense() / -self._knowledge.learning_rate, mask)]
        target, known = (
            [torch.as_tensor(part[name], dtype=torch.float64, device=device) for name, _ in module.named_parameters()]
            for part in parts
        )
        fits: list[tuple[float, Tensor]] = []
        while len(fits) < self.n_starts and not (fits and fits[-1][0] < _FOUND):
            fits.append(self._start(target, known, n, generator))
        _, x = min(fits, key=lambda fit: fit[0])
        # Euclidean distance rather than cosine: word vectors also differ in length.
        return torch.cdist(x, self._table).argmin(1).cpu().numpy()

    def _start(
        self, target: list[Tensor], known: list[Tensor], n: int, generator: torch.Generator
    ) -> tuple[float, Tensor]:
        """Return the remaining misfit and the vectors of one random start."""
        device, d = self._table.device, self._table.shape[1]
        # Short vectors with random labels are better starts than vectors of usual length with uniform labels: the
        # search gets stuck less often.
        # shape: (1, n, d)
        x = torch.randn(1, n, d, generator=generator, dtype=torch.float64).to(device)
        x = (_START * self._table.std() * x).requires_grad_()
        n_tags = self._module(x).shape[2]
        # shape: (1, n, n_tags)
        tags = torch.randn(1, n, n_tags, generator=generator, dtype=torch.float64).to(device).requires_grad_()
        size = sum(float(t.square().sum()) for t in target) or 1.0

        def misfit() -> Tensor:
            # The misfit is a function of gradients, so that its own gradient needs their graph.
            made = _gradients(self._module, x, tags.softmax(-1), create_graph=True)
            terms = [((a - b) * k).square().sum() for a, b, k in zip(made, target, known, strict=True)]
            return torch.stack(terms).sum() / size

        optimizer = torch.optim.LBFGS([x, tags], max_iter=self.n_steps, history_size=50, line_search_fn="strong_wolfe")
        for group in optimizer.param_groups:
            group.update(tolerance_grad=1e-12, tolerance_change=1e-12)

        def closure() -> Tensor:
            optimizer.zero_grad()
            value = misfit()
            # Only the vectors and labels change; the network stays fixed.
            value.backward(inputs=[x, tags])
            return value

        optimizer.step(closure)
        left = float(misfit().detach())
        return (left if np.isfinite(left) else np.inf), x.detach()[0].nan_to_num()


def _in_double(module: nn.Module) -> nn.Module:
    """Return a copy in double precision, because the misfit becomes much smaller than the resolution of single
    precision."""
    return deepcopy(module).double().eval()


def _gradients(module: nn.Module, x: Tensor, chances: Tensor, create_graph: bool) -> list[Tensor]:
    """Gradient of the cross entropy for label probabilities ``chances``, one tensor for each parameter."""
    loss = -(chances * module(x).log_softmax(-1)).sum(-1).mean()
    return list(torch.autograd.grad(loss, list(module.parameters()), create_graph=create_graph))


def _in_any_order(named: Sequence[np.ndarray], words: Sequence[np.ndarray]) -> float:
    """Proportion of words that were guessed at any position of their sentence; repeated words count separately."""
    pairs = zip(named, words, strict=True)
    right = sum((Counter(guess.tolist()) & Counter(truth.tolist())).total() for guess, truth in pairs)
    return right / sum(len(truth) for truth in words)
