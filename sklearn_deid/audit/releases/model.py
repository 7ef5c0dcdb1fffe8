"""Release of a tagger: the attacks train the tagger again on some of the patients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ...exceptions import AttackError
from ...text import labels_of
from ..attacks.canaries import CanaryKnowledge, TrainingSet
from ..attacks.membership import MembershipKnowledge, ReleasedTagger
from ..attacks.model_training import TrainingProcedure, trained_on, training_of
from ..audit_data import AuditData
from ..protocol import AttackResult
from ..released_step import MARKER, MODEL, REPRESENTATION, unwrapped

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class ReleasedModel:
    """A published tagger, or a published pipeline that ends with a tagger.

    Parameters
    ----------
    estimator : fitted tagger or Pipeline
        Attacked estimator. The representers of the pipeline stay unchanged; each training fits the pseudonymizers and
        the tagger again.
    data : AuditData
        Sentences of the audit.
    """

    kind = MODEL

    def __init__(self, estimator: Any, data: AuditData) -> None:
        self.estimator, self.data = estimator, data

    def digest(self) -> None:
        """Return None: attacks on a model train the model again, so that the content of a release does not identify the
        result.
        """

    @property
    def memory(self) -> tuple[MembershipKnowledge, ReleasedTagger, Callable[[AttackResult], AttackResult]]:
        """Knowledge of a membership attacker, a tagger to attack, and a function that describes the result."""
        data = self.data
        return MembershipKnowledge(self._train, data.X, data.y, data.groups), self._released, _of_a_new_training

    @property
    def training_set(self) -> TrainingSet:
        """Training set in which canary names can be planted."""
        data, rows = self.data, self.data.train
        return TrainingSet(self._train, data.X[rows], data.y[rows], None if data.groups is None else data.groups[rows])

    def canary_knowledge(self, n_names: int) -> CanaryKnowledge:
        """Invented names, and the sentence into which they are planted."""
        return CanaryKnowledge(self._names(n_names), self._write)

    @cached_property
    def _train(self) -> TrainingProcedure:
        return training_of(_retrainable(self.estimator))

    @cached_property
    def _released(self) -> ReleasedTagger:
        """Tagger that is trained in the same way on half of the patients, because the training patients of the
        published tagger are unknown here."""
        # Whole patients are members or not, as in a real training set.
        data, rng = self.data, np.random.default_rng(self.data.seed)
        patients = np.arange(len(data.X)) if data.groups is None else np.unique(data.groups, return_inverse=True)[1]
        members = (rng.permutation(patients.max() + 1) < (patients.max() + 1) / 2)[patients]
        rows = np.flatnonzero(members)
        groups = None if data.groups is None else data.groups[rows]
        return ReleasedTagger(trained_on(self._train, data.X[rows], data.y[rows], data.seed, groups), members)

    def _names(self, n: int) -> list[str]:
        """Invented names that do not occur in the sentences."""
        # Case-folded, because the syllables are in lower case.
        rng, known = np.random.default_rng(self.data.seed), {word.casefold() for word in self.data.X.data}
        names: dict[str, None] = {}
        while len(names) < n:
            name = "".join(rng.choice(_SYLLABLES, 4))
            if name not in known:
                names[name.capitalize()] = None
        return list(names)

    def _write(self, name: str) -> tuple[list[str], list[str]]:
        """Sentence with a name, and its tags."""
        return ["Seen", "today", ":", name, "."], ["O", "O", "O", self._name_tag, "O"]

    @cached_property
    def _name_tag(self) -> str:
        """Tag of a name of one token: the most frequent label, in the scheme of the given tags."""
        spans = Counter(label for row in self.data.y for _, _, label in labels_of(row))
        if not spans:
            raise AttackError("No sentence has a PHI tag, so that planted names have no label.")
        # Among equal counts the name of the label decides, so that the choice is reproducible.
        label = min(spans, key=lambda label: (-spans[label], label))
        return f"{'S' if any(tag.startswith(('S-', 'E-')) for tag in self.data.y.data) else 'B'}-{label}"


def _of_a_new_training(found: AttackResult) -> AttackResult:
    """Describe a membership result as a result on another tagger: the weights of the given tagger were not read."""
    phrase = (
        "A user of a new tagger that was trained with the parameters of this tagger decides correctly for {} of "
        "sentences whether they were in the training data of the new tagger"
    )
    return replace(found, phrase=phrase)


def _retrainable(estimator: Any) -> Any:
    """Return the estimator with frozen representers: these are published and are not trained again."""
    estimator = unwrapped(estimator)
    if not isinstance(estimator, Pipeline):
        is_representer = getattr(estimator, MARKER, None) == REPRESENTATION
        return FrozenEstimator(estimator) if is_representer else estimator
    steps = [(name, step if step in (None, "passthrough") else _retrainable(step)) for name, step in estimator.steps]
    return Pipeline(steps)
