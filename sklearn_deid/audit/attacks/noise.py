"""Noise test: compares the noise of released vectors with the noise that the published network states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import ttest_1samp

from ...metrics import Estimate
from ..protocol import AttackResult
from ..released_step import REPRESENTATION, VECTORS
from .check_results import BITS_LEVEL, NOISE_LEVEL, check_result
from .declaration import AttackPreset, timed
from .low_bit_relations import relation_checks
from .noise_by_property import property_checks
from .noise_checks import Check, alarms, noise_checks
from .noise_residuals import noise_size, released_with, standardised
from .noise_steps import step_checks, whole_steps
from .noise_template import NoiseTemplate
from .repeated_numbers import repeated_numbers
from .untrained import UntrainedAttack

#: Names of the position of a token in its call of `transform`, and of the number of tokens behind the token.
PLACES = ("place in the call", "distance to the end of the call")
_ALSO_ORDERED = (*PLACES, "length of the word")
_CONTROL_TOKENS = 2000
_NO_NOISE, _MOST_NAMED = 0.1, 6
_NEIGHBOURS = 1024  # tokens whose low bits are compared with those of the next token
# Tests that also fail if another size was estimated slightly wrong.
_OF_THE_SIZE = (
    *("size", "shape", "tails", "sizes of tokens", "small noise"),
    *("along the template", "mean along the template", "less noise by a property"),
)
# Noise that the controls plant: (size, shared by all tokens).
_PLANTED = {"no noise": (0.0, False), "noise shared over tokens": (1.0, True), "half the noise": (0.5, False)}
_MUST_BE_FOUND = ("no noise", "noise shared over tokens")


@dataclass(frozen=True, repr=False)
class NoisyVectors:
    """Released vectors of distinct sentences, with the known properties of each token.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns, of distinct sentences: equal sentences of a release have equal noise.
    offsets : ndarray of shape (n_sentences + 1,)
        Position of the first token of each sentence, and the number of tokens at the end.
    groups : mapping of str to ndarray of shape (n_tokens,)
        Further properties of the tokens, such as the number of the word. The noise must not depend on these properties.
    simulated : ndarray of shape (n_tokens, d) or None
        Another release of the same sentences, which the attacker made with the published network. Only needed if the
        network also has noise at its input.
    statements : tuple of str
        A message for each statement of the release that is wrong without any test.
    """

    vectors: np.ndarray
    offsets: np.ndarray
    groups: Mapping[str, np.ndarray] = field(default_factory=dict)
    simulated: np.ndarray | None = None
    statements: tuple[str, ...] = ()

    @property
    def groupings(self) -> dict[str, np.ndarray]:
        """Properties by which the test groups the tokens: position, sentence, and the properties in ``groups``."""
        lengths = np.diff(self.offsets)
        position = np.arange(len(self.vectors)) - np.repeat(self.offsets[:-1], lengths)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return {
            "position in the sentence": position,
            "distance to the end of the sentence": np.repeat(lengths, lengths) - position,
            "sentence": sentence,
            **self.groups,
        }

    @property
    def ordered(self) -> dict[str, np.ndarray]:
        """Ordered properties of the tokens. Wrong noise may differ at small or large values of a property."""
        lengths, n = np.diff(self.offsets), len(self.vectors)
        found = {
            "position in the sentence": np.arange(n) - np.repeat(self.offsets[:-1], lengths),
            "length of the sentence": np.repeat(lengths, lengths),
            "place in the release": np.arange(n),
        }
        if "word" in self.groups:
            number, counts = np.unique(self.groups["word"], return_inverse=True, return_counts=True)[1:]
            found["frequency of the word"] = counts[number.reshape(-1)]
        return found | {name: self.groups[name] for name in _ALSO_ORDERED if name in self.groups}


class NoiseAttack(UntrainedAttack):
    """Subtract the noise-free template from released vectors, and test whether the residual is the stated noise.

    The attacker has the published network and knows the sentences. The residual must have the stated standard deviation
    in each dimension, must be Gaussian, and must be independent over tokens, sentences and dimensions. If the residual
    has these properties, the distribution of each test statistic is known. All tests together raise a false alarm with
    probability .001. Vectors of length 1 are completed by a random length from its exact distribution (see
    ``noise_residuals``). Whole numbers of grid steps must explain the vectors, and the low bits of these numbers must
    not depend on the tokens (see ``noise_steps``) or follow from bits of the same or the previous token (see
    ``low_bit_relations``).

    For networks with noise at the input the distribution has no closed form. The attacker then makes a second release
    with the published network, and compares sizes and neighbouring tokens of both releases sentence by sentence
    (t-tests).

    A finding is a fault of the release and not a success rate: the result is invalid, and the release cannot pass the
    audit. ``fit`` takes the `NoiseTemplate` of the sentences.

    Parameters
    ----------
    controls : bool, default=True
        Whether to plant faults in simulated releases. The tests must find missing noise and noise that all tokens
        share. The result also reports whether the tests find noise of half the stated size. No test can find noise of
        half the size if directions are uniform.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the drawn lengths and of the controls.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import NoiseAttack, NoiseTemplate, NoisyVectors
    >>> rng, offsets = np.random.default_rng(0), np.arange(0, 601, 6)
    >>> template = NoiseTemplate(rng.normal(size=(600, 4)), np.full(4, 0.5), False, 2.0**-6, False)
    >>> attack, noise = NoiseAttack(random_state=0).fit(template), 0.5 * rng.normal(size=(600, 4))
    >>> attack.attack(NoisyVectors(template.mean + noise, offsets)).status
    'ok'
    >>> attack.attack(NoisyVectors(template.mean + noise / 2, offsets)).faults
    ('The noise has another size than stated: about 0.50 times the stated standard deviation.',)
    """

    key = "noise"
    family = "noise"
    title = "Noise test"
    order = 11
    releases = (REPRESENTATION, VECTORS)
    presets = (AttackPreset("noise", "Noise test", 50.0, 3.0, quick=True),)
    name = "noise test"
    attacker = "A recipient who holds the published representer and the released vectors, and knows the sentences."
    measure = "share of tests in which the noise of the release is not the stated noise"
    phrase = "An attacker who subtracts the noise-free vectors finds a deviation from the stated noise in {} of tests"

    def __init__(self, *, controls: bool = True, random_state: Any = None) -> None:
        self.controls, self.random_state = controls, random_state

    def requires(self, release: Any) -> str | None:
        """Return the reason why there is nothing to test: the release states that it has no noise."""
        return None if release.is_bounded else "The release states no noise."

    def run(self, release: Any) -> list[AttackResult]:
        """Test the noise of all sentences of the audit."""
        return [self.fit(release.noise_template).attack(release.noisy_vectors)]

    @timed
    def attack(self, released: NoisyVectors) -> AttackResult:
        """Test the noise of a release.

        Raises
        ------
        ValueError
            If ``fit`` was not called, or the template and the release have different tokens.
        """
        template = self._knowledge
        if template is None or len(template) != len(released.vectors) or not len(template):
            raise ValueError("The noise test needs the template of the released tokens.")
        silent = int((template.std <= 0.0).sum())
        if silent:
            faults = [f"The published network adds no noise to {silent} of {len(template.std)} dimensions."]
            return check_result(self, [*released.statements, *faults], 1)
        rng = np.random.default_rng(self.random_state)
        size = noise_size(released.vectors, template)
        faults, n_checks = self._faults(released, template, size, rng)
        steps, n_of_steps = self._faults_of_steps(released, template)
        faults, n_checks = [*faults, *steps], n_checks + n_of_steps
        found = self._control(released, template, rng) if self.controls else {}
        sure = [found[name] for name in _MUST_BE_FOUND if name in found]
        return check_result(
            self,
            [*released.statements, *faults],
            n_checks,
            positive_control=Estimate.exact(float(np.mean(sure))) if sure else None,
            min_positive_control=1.0 if sure else None,
            settings={"level": NOISE_LEVEL},
            details={
                "tokens": len(template),
                "tests": n_checks,
                "size of the noise, relative to the stated": size,
                **{f"control finds {name}": hit for name, hit in found.items()},
            },
        )

    def _faults(
        self, released: NoisyVectors, template: NoiseTemplate, size: float, rng: np.random.Generator
    ) -> tuple[list[str], int]:
        """Return the faults in words, and the number of tests."""
        failed, n_checks = alarms(self._checks(released, template, rng), NOISE_LEVEL - BITS_LEVEL)
        if not failed:
            return [], n_checks
        if size < _NO_NOISE:
            return [
                "The released vectors carry no noise, or hardly any: they are the noise-free vectors of the published "
                "network."
            ], n_checks
        if failed[0].name != "size" or template.input_noise:
            return _named(failed), n_checks
        # If the size is wrong, other tests fail, too. Therefore, only faults that remain at the found size are also
        # named.
        told = f"The noise has another size than stated: about {size:.2f} times the stated standard deviation."
        resized = replace(template, std=template.std * size)
        rest, _ = alarms(self._checks(released, resized, rng), NOISE_LEVEL)
        return [told, *_named([check for check in rest if check.name not in _OF_THE_SIZE])], n_checks

    def _faults_of_steps(self, released: NoisyVectors, template: NoiseTemplate) -> tuple[list[str], int]:
        """Return faults of the grid steps, and the number of tests."""
        tokens, steps, faults = whole_steps(released.vectors, template)
        groups = {name: group[tokens] for name, group in released.groupings.items()}
        some = replace(template, mean=template.mean[tokens])
        checks = [*step_checks(steps, groups, some), *self._relations(released, template)]
        failed, n_checks = alarms(checks, BITS_LEVEL)
        return [*faults, *_named(failed)], n_checks + 1

    def _relations(self, released: NoisyVectors, template: NoiseTemplate) -> list[Check]:
        """Tests of low bits of neighbours: of the first tokens, because the steps of all tokens are searched only in
        part."""
        first = replace(template, mean=template.mean[:_NEIGHBOURS])
        tokens, steps, _ = whole_steps(released.vectors[:_NEIGHBOURS], first)
        known, sentence = np.rint(first.mean / template.grid)[tokens], released.groupings["sentence"][tokens]
        # Tokens without steps leave gaps, behind which no token is a neighbour.
        run = sentence + len(sentence) * np.cumsum(np.diff(tokens, prepend=-1) != 1)
        return list(relation_checks(steps, known, run, float(template.std.min() / template.grid)))

    def _checks(self, released: NoisyVectors, template: NoiseTemplate, rng: np.random.Generator) -> list[Check]:
        z = standardised(released.vectors, template, rng)
        if not template.input_noise:
            means = template.mean / template.std
            by_property = property_checks(z, released.groupings, released.ordered, means)
            return [*noise_checks(z, released.groupings, means), *by_property, repeated_numbers(z)]
        if released.simulated is None:
            raise ValueError("Noise at the input needs a second release by the attacker, to compare with.")
        return _compared(z, standardised(released.simulated, template, rng), released.groupings["sentence"])

    def _control(self, released: NoisyVectors, template: NoiseTemplate, rng: np.random.Generator) -> dict[str, bool]:
        """Whether the same tests find planted faults in the first tokens of the release."""
        n = int(released.offsets[max(1, np.searchsorted(released.offsets, _CONTROL_TOKENS, side="right") - 1)])
        offsets = released.offsets[released.offsets <= n]
        some = replace(template, mean=template.mean[:n], input_noise=False)
        groups = {name: group[:n] for name, group in released.groups.items()}
        found = {}
        for name, (size, shared) in _PLANTED.items():
            eps = size * rng.standard_normal((1 if shared else n, len(some.std)))
            planted = NoisyVectors(released_with(some, np.broadcast_to(eps, some.mean.shape)), offsets, groups)
            found[name] = bool(alarms(self._checks(planted, some, rng), NOISE_LEVEL)[0])
        return found


def _named(failed: list[Check]) -> list[str]:
    """Messages of failed tests, the most significant first; at most one for each kind of test."""
    kinds: dict[str, str] = {}
    for check in sorted(failed, key=lambda check: check.p):
        # Fifty dimensions of a wrong size would hide all other kinds of faults.
        kinds.setdefault(check.name, check.fault)
    return list(dict.fromkeys(kinds.values()))[:_MOST_NAMED]


def _compared(z: np.ndarray, simulated: np.ndarray, sentence: np.ndarray) -> list[Check]:
    """Compare residuals of the release with residuals of a simulated release, sentence by sentence."""
    n = np.bincount(sentence).astype(np.float64)
    same = sentence[1:] == sentence[:-1]

    def of_sentences(values: np.ndarray, where: np.ndarray) -> np.ndarray:
        # shape: (n_sentences,)
        return np.bincount(where, weights=values, minlength=len(n)) / n

    out = []
    fault = "The size of the noise is not that of the published network."
    squares = [np.column_stack([np.square(one).mean(axis=1), np.square(one)]) for one in (z, simulated)]
    for ours, theirs in zip(*(square.T for square in squares), strict=True):
        pair = [of_sentences(column, sentence) for column in (ours, theirs)]
        out.append(Check("size", _p_of_difference(pair[0] - pair[1]), fault))
    pair = [of_sentences((one[1:] * one[:-1]).sum(axis=1)[same], sentence[1:][same]) for one in (z, simulated)]
    out.append(Check("neighbours", _p_of_difference(pair[0] - pair[1]), "The noise of neighbouring tokens is alike."))
    return out


def _p_of_difference(differences: np.ndarray) -> float:
    if len(differences) < 2 or not differences.std():
        return 1.0
    return float(ttest_1samp(differences, 0.0).pvalue)
