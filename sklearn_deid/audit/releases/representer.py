"""Release of a private representation: the vectors that the public methods returned, and the published network."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import joblib
import numpy as np
import torch
from sklearn.base import clone

from ..._randomness import release_generator
from ...exceptions import BundleError, UnsafeToShareWarning
from ...representations.bound import pair_distance
from ...representations.encoding import encode_sentences
from ...representations.network import Representer
from ...representations.pair_batches import PairBatches
from ...representations.pair_data import PairData
from ...representations.private_representer import PrivateRepresenter
from ...representations.randomized_casing import RandomizedCasing
from ...representations.release_noise import agree_in_float32, noise_grid, released_grid
from ...representations.saving import fingerprint_of, origin_of, parameters_of
from ...representations.strategies import as_strategy
from ...sequences import TokenSequences, TokenVectors
from ...text import casing_ids
from ..attacks.casing_draws import DrawnCasing
from ..attacks.casing_lengths import VectorsBesideOwn
from ..attacks.membership import MembershipKnowledge, ReleasedTagger
from ..attacks.model_training import LossFunction, TrainingProcedure
from ..attacks.noise import PLACES, NoisyVectors
from ..attacks.noise_steps import grid_faults
from ..attacks.noise_template import NoiseTemplate
from ..attacks.pairs import PairKnowledge, PairRelease
from ..attacks.replay import RepeatedReleases
from ..attacks.seed_search import SeedTarget
from ..audit_data import AuditData, first_of_each
from ..protocol import AttackResult
from ..released_step import PRIVATE_VECTORS, REPRESENTATION, is_of_private_notes
from .global_state import same_global_state
from .new_processes import released_in_new_processes
from .vector_release import VectorRelease, check_columns, items_of

# In no vocabulary: the character replaces PHI words if only their surroundings are represented.
_BLOTTED = "\u2588"
_PARTS = ("train", "valid", "test")
_KINDS = {"kind", "law", "grid", "released_grid"}  # of the noise, in an origin
# Numbers of the draws of a seeded representer, so that equal audits see equal releases in whatever order attacks ask.
_SURROUNDINGS, _REPEATED = len(_PARTS), 2 * len(_PARTS)


class ReleasedRepresenter(VectorRelease):
    """Vectors that a representer released, and the published network that made the vectors.

    The vectors of a release always come from the public `transform` and `sample` of a deep copy of the estimator.
    Templates and all other quantities that attackers compute come from the published network.

    Parameters
    ----------
    representer : fitted PrivateRepresenter
        Attacked representer, which is not changed.
    data : AuditData
        Sentences of the audit.

    Raises
    ------
    ValueError
        If `transform` returns other sentences or another width than the representer declares.
    """

    kind = REPRESENTATION
    can_repeat = True

    def __init__(self, representer: Any, data: AuditData) -> None:
        super().__init__(data, representer.device)
        # A copy never keeps the seed of the noise. A seeded representer draws from the audit's seed instead.
        self.is_seeded = getattr(representer, "_noise_seeds", None) is not None
        self.representer = _copied(representer)
        self._released = self._releases()

    @property
    def is_bounded(self) -> bool:
        """Whether the settings state noise at the output, so that a bound on all attackers exists."""
        return as_strategy("noise", parameters_of(self.representer._settings)["noise"]) is not None

    @property
    def has_casing(self) -> bool:
        """Whether the representer declares that the casing is released with the vectors."""
        return bool(self.representer.casing)

    @cached_property
    def network(self) -> Representer:
        """Network that a recipient of the published representer has.

        Raises
        ------
        BundleError
            If the weights do not fit the network of the settings, so that recipients cannot load the weights.
        """
        return published_network(self.representer).to(self.device)

    @cached_property
    def pair_knowledge(self) -> PairKnowledge:
        """Knowledge of an attacker who trains adversaries of pairs."""
        train, valid = (self.pairs.take(self.data.parts[part]) for part in ("train", "valid"))
        return PairKnowledge(self.network, train, valid, getattr(self.representer, "adversaries_", None), self.device)

    @cached_property
    def pair_release(self) -> PairRelease:
        """Measured sentences, as pairs."""
        return PairRelease(self.pairs.take(self.data.test), self.data.groups_of(self.data.test))

    @property
    def memory(self) -> tuple[MembershipKnowledge, ReleasedTagger, Callable[[AttackResult], AttackResult]]:
        """Knowledge of a membership attacker, a representer to attack, and a function that describes the result.

        The attacked representer is trained with the same parameters on half of the patients, because the training
        patients of the published representer are unknown here. The attack does not read the tagger that is published
        with a representer. The measured quantity of a sentence is its distance to its counterfactuals. The attack
        therefore measures only sentences with a replaceable token.
        """
        data, pairs = self.data, self.pairs
        # Sentences with a token that can be replaced.
        rows = np.unique(np.searchsorted(pairs.offsets, pairs.eligible, side="right") - 1)
        train, X, y, groups = training_of_representer(self.representer), data.X[rows], data.y[rows], data.groups
        known = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        patients, rng = np.arange(len(rows)) if known is None else known, np.random.default_rng(data.seed)
        members = (rng.permutation(patients.max() + 1) < (patients.max() + 1) / 2)[patients]
        loss = train(X[members], y[members], data.seed, None if known is None else known[members])
        return MembershipKnowledge(train, X, y, known), ReleasedTagger(loss, members), _of_the_representer

    @property
    def table(self) -> np.ndarray:
        return self.pairs.table.numpy()

    @property
    def words(self) -> np.ndarray:
        return self.pairs.words

    @cached_property
    def pairs(self) -> PairData:
        """All sentences as numbers, with the possible replacements of each PHI token."""
        return self.representer.pair_data(self.data.X, self.data.y)

    def released(self, part: str) -> TokenVectors:
        """Return the result of `transform` for the sentences of a part, including casing columns and origin.

        Each part has a separate call with separate noise. Equal sentences of one call have equal noise, so that
        attackers would recognise their own sentences in a common call.
        """
        return self._released[part]

    def vectors(self, part: str) -> np.ndarray:
        """Released vectors of a part, without casing columns."""
        return self._released[part].data[:, : self._d]

    def casing(self, part: str) -> np.ndarray | None:
        """Released casing classes of a part; None if there are none."""
        columns = self._released[part].data[:, self._d :]
        return columns.argmax(axis=1).astype(np.int64) if columns.shape[1] else None

    @property
    def drawn_casing(self) -> DrawnCasing | None:
        """Casing classes of the distinct sentences; None unless the settings state that the classes were drawn at
        random."""
        if self.representer._settings.get("casing") != RandomizedCasing.key:
            return None
        tokens, released = [], []
        for part, items in self._once.items():
            tokens += self.data.X.data[items_of(self.data.X, self.data.parts[part])][items].tolist()
            classes = self.casing(part)
            released.append(np.zeros(0, np.int64) if classes is None else classes[items])
        words = np.unique(np.array(tokens, dtype=str), return_inverse=True)[1].reshape(-1)
        epsilon = float(self.representer._settings["casing__epsilon"])
        return DrawnCasing(casing_ids(tokens), np.concatenate(released), words, epsilon)

    def repeated(self, part: str, n: int) -> list[np.ndarray]:
        """Return n further releases of a part, from the public `sample`, without casing columns."""
        X = self.data.X[self.data.parts[part]]
        number = _REPEATED + _PARTS.index(part)
        return [self._checked(one, X).data[:, : self._d] for one in self._drawing(number).sample(X, n)]

    def surroundings(self, part: str) -> np.ndarray:
        """Release of a part in which an unknown word replaces every PHI word."""
        rows, blotted = self.data.parts[part], self.data.X.data.copy()
        blotted[self.data.phi] = _BLOTTED
        X = TokenSequences(blotted, self.data.X.offsets)[rows]
        return self._drawn(X, _SURROUNDINGS + _PARTS.index(part)).data[:, : self._d]

    def templates(self, part: str) -> NoiseTemplate:
        """Noise-free vectors of a part from the published network, with the stated noise.

        The library's own code computes these vectors, so that an estimator with a wrong `noise_free` is detected.
        """
        network, X = self.network, self.data.X[self.data.parts[part]]
        mean = encode_sentences(unscaled(network), self.representer._vectors, X, casing=False, generator=None)
        std = network.output_std().detach().cpu().numpy().astype(np.float64)
        has_input_noise = network.input_noise.kind != "none"
        return NoiseTemplate(mean.astype(np.float64), std, network.unit_norm, noise_grid(network), has_input_noise)

    def beside_own(self, part: str) -> VectorsBesideOwn:
        """Released vectors of the distinct sentences of a part, and vectors that the audit computes from these
        sentences."""
        X, once = self.data.X[self.data.parts[part]][self._first[part]], self._once[part]
        rng = np.random.default_rng([self.data.seed, _PARTS.index(part)])
        own = encode_sentences(self.network, self.representer._vectors, X, casing=False, generator=rng)
        template, grid = self.template_of_repeated(part).vectors, released_grid(self.network)
        return VectorsBesideOwn(X, self.vectors(part)[once], own, template, grid)

    @cached_property
    def noise_template(self) -> NoiseTemplate:
        """Templates of the tokens in ``noisy_vectors``."""
        templates = [self.template_of_repeated(part) for part in _PARTS]
        return replace(templates[0], mean=np.concatenate([one.mean for one in templates]))

    @cached_property
    def noisy_vectors(self) -> NoisyVectors:
        """Released vectors of the distinct sentences of each part, with the original words."""
        vectors = [self.vectors(part)[items] for part, items in self._once.items()]
        lengths = [self.data.X.lengths[self.data.parts[part]][rows] for part, rows in self._first.items()]
        places = [items_of(self.data.X, self.data.parts[part])[items] for part, items in self._once.items()]
        forwards = [np.arange(len(part)) for part in places]
        in_the_call = [np.concatenate(part) for part in (forwards, [one[::-1] for one in forwards])]
        return NoisyVectors(
            np.concatenate(vectors),
            np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
            self._properties(np.concatenate(places)) | dict(zip(PLACES, in_the_call, strict=True)),
            self._simulated(),
            tuple(self.wrong_statements()),
        )

    @property
    def seed_target(self) -> SeedTarget:
        """Measured sentences in the order in which they were encoded, equal sentences once."""
        noise, once = self.network.input_noise, self._once["test"]
        lengths = self.data.X.lengths[self.data.test][self._first["test"]]
        return SeedTarget(self.vectors("test")[once], lengths, noise.size if noise.kind != "none" else 0, places=once)

    def template_of_repeated(self, part: str) -> NoiseTemplate:
        """Templates of the tokens in `repeated_releases`, which contains each distinct sentence once."""
        template = self.templates(part)
        return replace(template, mean=template.mean[self._once[part]])

    def repeated_releases(self, part: str) -> RepeatedReleases:
        """Releases of the distinct sentences of a part that must not share noise."""
        X = self.data.X[self.data.parts[part]][self._first[part]]
        caller = self._drawing(_REPEATED + len(_PARTS))
        copies = [copy.deepcopy(self.representer) for _ in range(2)]
        drawn = {"call": caller.transform(X), "second call": caller.transform(X)}
        drawn["sample"], drawn["second sample"] = caller.sample(X, 2)
        drawn["copy"], drawn["second copy"] = (one.transform(X) for one in copies)
        with same_global_state() as again:
            drawn["process"] = self.representer.transform(X)
            again()
            drawn["second process"] = self.representer.transform(X)
        anew = released_in_new_processes([self.representer] * 2, "transform", X)
        drawn["new process"], drawn["second new process"] = anew
        found = {name: self._checked(one, X).data[:, : self._d] for name, one in drawn.items()}
        pairs = (
            ("call", "second call", "Two calls of transform share noise."),
            ("sample", "second sample", "Two releases of one call of sample share noise."),
            ("call", "sample", "Calls of transform and of sample share noise."),
            ("copy", "second copy", "Copies of the estimator share noise, also in processes that receive a copy."),
            ("process", "second process", "Noise depends on global random generators: forked processes share it."),
            ("new process", "second new process", "Two new processes share noise."),
        )
        return RepeatedReleases(found, pairs, has_size=True, successive=tuple(found)[:4])

    def short_calls(self, n: int) -> np.ndarray:
        """Release a short sentence in n calls of `transform`; shape (n, n_numbers)."""
        rows = self.data.test
        lengths = self.data.X.lengths[rows]
        # The shortest sentence that is not empty.
        X = self.data.X[rows[[int(np.argmin(np.where(lengths > 0, lengths, np.inf)))]]]
        caller = self._drawing(_REPEATED + len(_PARTS) + 1)
        return np.stack([self._checked(caller.transform(X), X).data[:, : self._d].ravel() for _ in range(n)])

    def wrong_statements(self) -> list[str]:
        """A message for each statement of the release that is wrong without any test."""
        origin, found = self._released["test"].origin, []
        if fingerprint_of(self.representer) != self.representer.fingerprint_:
            found.append(
                "The weights of the network are not those of the fingerprint: they changed after the training."
            )
        if origin is None:
            return [*found, "The released vectors do not state their estimator, so that nobody can check the noise."]
        # The fingerprint is that of the representer, whose settings it covers; a folder can state others beside it.
        own = self.representer._settings
        if is_of_private_notes(self.representer, self.representer._vectors):
            found.append(PRIVATE_VECTORS)
        if dict(origin.settings) != own or origin.n_neighbors != own["n_neighbors"]:
            found.append(
                "The release states other settings, such as N or the bound, than the published representer has."
            )
        std, noise = self.network.output_std().detach().cpu().double(), origin.noise
        for name, value in (("mean_std", float(std.mean())), ("smallest_std", float(std.min()))):
            # Further digits are free, and could hold anything.
            if not agree_in_float32(noise.get(name, np.nan), value):
                found.append(f"The release states another size of the noise ({name}) than the published network has.")
        if any(noise.get(name) != own for name, own in origin_of(self.representer).noise.items() if name in _KINDS):
            found.append(
                "The release states another kind, distribution or grid of the noise than the published network has."
            )
        if any(self._has_unequal_copies(part) for part in _PARTS):
            found.append(
                "Equal sentences have different vectors: each further draw of the noise discloses more "
                "about a sentence."
            )
        found += grid_faults(np.concatenate([self.vectors(part) for part in _PARTS]), released_grid(self.network))
        if bool(noise.get("seeded")) != self.is_seeded:
            found.append("The release states incorrectly whether its noise comes from a random seed.")
        return found

    def _has_unequal_copies(self, part: str) -> bool:
        """Whether equal sentences of one call have different vectors."""
        first: dict[tuple[str, ...], int] = {}
        X, released = self.data.X[self.data.parts[part]], self._released[part]
        same = {row: first.setdefault(tuple(X[row]), row) for row in self._certain(part).tolist()}
        return not all(np.array_equal(released[row], released[i]) for row, i in same.items())

    def _certain(self, part: str) -> np.ndarray:
        """Rows of a part whose sentences certainly belong to the vectors."""
        return np.arange(len(self.data.parts[part]))

    def digest(self) -> str | None:
        """Hash of the released vectors and the published network; None if the release differs in every audit.

        Without a random seed, each release has new noise, so that the report of an earlier release does not apply.
        """
        if not self.is_seeded:
            return None
        kind, pairs = type(self.representer), self.pairs
        networks = [self.representer.network_, getattr(self.representer, "adversaries_", None)]
        weights = [
            (name, w.cpu().numpy()) for one in networks if one is not None for name, w in one.state_dict().items()
        ]
        content = (
            (kind.__module__, kind.__qualname__, sorted(self.representer._settings.items())),
            [np.asarray(self._released[part].data) for part in _PARTS],
            weights,
            (pairs.table.numpy(), pairs.words, pairs.eligible, pairs.alternatives, pairs.choices_),
        )
        return str(joblib.hash(content))

    def _releases(self) -> dict[str, TokenVectors]:
        """Release of each part, by the public `transform`."""
        return {part: self._drawn(self.data.X[self.data.parts[part]], i) for i, part in enumerate(_PARTS)}

    @cached_property
    def _first(self) -> dict[str, np.ndarray]:
        """Distinct sentences of each part: equal sentences of one call have equal noise by design."""
        return {part: first_of_each(self.data.X[rows]) for part, rows in self.data.parts.items()}

    @property
    def _once(self) -> dict[str, np.ndarray]:
        """For each part, the positions of the tokens of its distinct sentences."""
        return {part: items_of(self.data.X[self.data.parts[part]], rows) for part, rows in self._first.items()}

    def _simulated(self) -> np.ndarray | None:
        """Release of the distinct sentences by an attacker; only needed for noise at the input."""
        if self.network.input_noise.kind == "none":
            return None
        sentences = [self.data.X[self.data.parts[part]][rows] for part, rows in self._first.items()]
        encode = partial(encode_sentences, self.network, self.representer._vectors, casing=False)
        return np.concatenate([encode(X, generator=release_generator()) for X in sentences])

    @property
    def _d(self) -> int:
        return int(self.representer.n_components)

    def _drawing(self, number: int) -> Any:
        """Estimator that makes a release. With a random seed, a draw depends only on its number and not on earlier
        draws."""
        if not self.is_seeded:
            return self.representer
        drawing = copy.copy(self.representer)
        drawing._noise_seeds = np.random.default_rng([self.data.seed, number])
        return drawing

    def _drawn(self, X: TokenSequences, number: int) -> TokenVectors:
        """Release sentences through the public `transform`."""
        return self._checked(self._drawing(number).transform(X), X)

    def _checked(self, released: Any, X: TokenSequences) -> TokenVectors:
        drawn = self.representer._settings.get("casing") == RandomizedCasing.key
        check_columns(released, X, self._d, self.has_casing, drawn=drawn)
        return released


def unscaled(network: Representer) -> Representer:
    """Return the network without the scaling to length 1; both networks share their weights."""
    plain = copy.copy(network)
    plain.unit_norm = False
    return plain


def _copied(representer: Any) -> Any:
    """Deep copy that shares the large word vectors and creates no files."""
    large = [getattr(representer, name, None) for name in ("_vectors", "embeddings")]
    copied = copy.deepcopy(representer, {id(one): one for one in large})
    copied.memmap_dir = None
    return copied


def published_network(representer: Any) -> Representer:
    """Build the network that a recipient loads: the library's network of the saved settings, with the saved weights.

    Parameters
    ----------
    representer : fitted PrivateRepresenter
        Representer to publish.

    Raises
    ------
    BundleError
        If the weights have other names or shapes than the network of the settings.
    """
    fresh = PrivateRepresenter(**parameters_of(representer._settings))
    fresh.training_ = clone(as_strategy("training", fresh.training))
    network = fresh._new_network(representer._vectors.dim)
    weights = {name: value.detach().cpu() for name, value in representer.network_.state_dict().items()}
    if {k: v.shape for k, v in weights.items()} != {k: v.shape for k, v in network.state_dict().items()}:
        raise BundleError(
            "The weights of the representer have other names or shapes than the network of its settings. Nobody can "
            "load the published network, so that no attack on this network can be run."
        )
    network.load_state_dict(weights)
    return network.eval()


def _of_the_representer(found: AttackResult) -> AttackResult:
    """Describe a membership result as a result on a representer that was trained anew."""
    attacker = (
        "A recipient of the published representer who knows how it is trained, and holds sentences. Some of these "
        "sentences may be in the training data."
    )
    phrase = (
        "A recipient of a new representer that was trained with the parameters of this representer decides correctly "
        "for {} of sentences whether they were in the training data of the new representer"
    )
    return replace(found, name=f"{found.name}, of the representer", attacker=attacker, phrase=phrase)


_N_DRAWS = 4
# Below this distance the network does not distinguish a sentence from its counterfactuals.
_SMALLEST = 1e-6


def training_of_representer(representer: Any) -> TrainingProcedure:
    """Training procedure for `MembershipAttack`. The loss of a sentence is the logarithm of `distances_of`."""

    def train(X: Any, y: Any, seed: int, groups: Any = None) -> LossFunction:
        model = clone(representer).set_params(random_state=seed, embeddings=representer._vectors, verbose=0)
        with warnings.catch_warnings():
            # The model stays inside the audit, so that the warning about sharing it does not apply.
            warnings.simplefilter("ignore", UnsafeToShareWarning)
            model.fit(X, y, groups)
        return lambda X, y: np.log(np.maximum(distances_of(model, X, y), _SMALLEST))

    return train


@torch.no_grad()
def distances_of(representer: Any, X: TokenSequences, y: TokenSequences) -> np.ndarray:
    """Mean distance d' between each sentence and its counterfactuals, shape (n,).

    Every call uses the same replacements. Training makes the distance small, and smaller for training sentences than
    for other sentences. The distance is 0 for sentences without a token that can be replaced.
    """
    data, network = representer.pair_data(X, y), representer.network_
    # The tags are not used here. They carry the number of the sentence through the batches instead.
    numbered = replace(data, tags=np.repeat(np.arange(len(data)), np.diff(data.offsets)))
    device = next(network.parameters()).device
    batches, generator = PairBatches(numbered, 128, device), torch.Generator(device).manual_seed(0)
    std, total = network.output_std().clamp(min=_SMALLEST), np.zeros(len(data))
    for _ in range(_N_DRAWS):
        for batch in batches.epoch(None, generator, sentences="pairs"):
            # Means without noise: `pair_distance` relates their difference to the standard deviation of the noise.
            # shape: (n_pairs, time, d)
            mu, moved = (network.mean(x, batch.mask, noise=False) for x in (batch.embeddings, batch.moved))
            rows = batch.tags[: batch.n_pairs, 0].cpu().numpy()
            total[rows] += pair_distance(mu, moved, std, batch.mask).cpu().numpy()
    return total / _N_DRAWS
