"""Release of sentences with surrogates."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...pseudonyms.surrogate_pseudonymizer import SurrogatePseudonymizer
from ...text import split_tag
from ..attacks.drawn_surrogates import DrawnSurrogatesAttack, RepeatedSurrogates
from ..attacks.surrogate_spans import SurrogateSpans, spans_of_sentences
from ..released_step import SURROGATES
from .global_state import repeated_draws
from .text import ReleasedText

_N_OWN = 9


class ReleasedSurrogates(ReleasedText):
    """Sentences whose PHI was replaced by surrogates, with the estimator that replaced the PHI.

    `ReleasedText` describes the parameters. ``pseudonymizer`` is a fitted SurrogatePseudonymizer, which makes further
    releases with other keys.
    """

    kind = SURROGATES

    def spans(self, parts: Sequence[str], n_releases: int = 1) -> SurrogateSpans:
        """Spans of parts of the data with their surrogates in one or several releases."""
        data = self.data
        rows = np.sort(np.concatenate([data.parts[part] for part in parts]))
        own, tags, groups = data.X[rows], data.y[rows], data.groups_of(rows)
        releases = [self.released[rows], *self._further(own, tags, groups, n_releases - 1)]
        return spans_of_sentences(
            own, releases, tags, groups, locale=self.pseudonymizer.locale, kinds=self.pseudonymizer.kinds
        )

    @cached_property
    def in_clear(self) -> str | None:
        """Statement about PHI tokens that ``labels`` leaves unchanged; None if there are no unchanged PHI tokens."""
        labels, own = self.pseudonymizer.labels, self._labels
        n = 0 if labels is None else int((~np.isin(own, list(labels)) & (own != "")).sum())
        if not n:
            return None
        return (
            f"{n:,} of {int((own != '').sum()):,} PHI tokens are unchanged, due to 'labels' of the pseudonymizer. "
            "Replace them, or pass y without these labels."
        )

    @cached_property
    def is_other_text(self) -> str | None:
        """Statement that the text does not consist of surrogates of the method; None if the check finds no fault."""
        faults = DrawnSurrogatesAttack().fit(None).attack(self.repeated_surrogates).faults
        return " ".join(faults) or None

    @cached_property
    def repeated_surrogates(self) -> RepeatedSurrogates:
        """PHI tokens of the release, of a second call, of a call in the same state of the global random generators, of
        calls in two new processes, and of releases that the library makes with other keys."""
        data, labels, further = self.data, self._labels, repeated_draws(self.pseudonymizer, self.data)
        names = SurrogatePseudonymizer().get_params(deep=False)
        parameters = {k: v for k, v in self.pseudonymizer.get_params(deep=False).items() if k in names}
        # Not by the estimator itself: one that keeps words, or has one key, would keep or repeat them here too.
        library = SurrogatePseudonymizer(**{**parameters, "random_state": None})
        own = [library.fit_transform(data.X, data.y, data.groups) for _ in range(_N_OWN)]
        words = [one.data.astype(str) for one in (data.X, self.released, *further, *own)]
        some = (labels != "") & np.array([any(map(str.isalnum, word)) for word in words[0]], dtype=bool)
        sentences = np.repeat(np.arange(len(data.X)), data.X.lengths)
        patients = sentences if data.groups is None else np.unique(data.groups, return_inverse=True)[1][sentences]
        originals, shown, again, *rest = (one[some] for one in words)
        others, rest = rest[: len(further) - 1], rest[len(further) - 1 :]
        return RepeatedSurrogates(originals, shown, again, rest, patients[some], labels[some], others)

    @cached_property
    def _labels(self) -> np.ndarray:
        """Label of each token; empty outside of PHI."""
        return np.array([split_tag(tag)[1] or "" for tag in self.data.y.data])

    def _further(self, X: Any, y: Any, groups: Any, n_releases: int) -> list[Any]:
        """Releases of the same sentences with other keys."""
        drawing = copy.copy(self.pseudonymizer)
        is_seeded = drawing.random_state is not None
        out = []
        for number in range(1, n_releases + 1):
            drawing.random_state = (self.data.seed + number) % 2**32 if is_seeded else None
            out.append(drawing.sample(X, y, groups))
        return out
