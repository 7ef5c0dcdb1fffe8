"""Update leakage: what one update of a distributed training tells about the sentences behind it."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .few_groups import share_over_groups
from .protocol import CONTROL_CONFIDENCE, AttackResult, Estimate
from .released_updates import ReleasedUpdates, UpdateKnowledge

__all__ = ["UpdateLeakageAttack", "rows_by_bias", "rows_by_norm", "rows_by_span"]

_KINDS = {
    "words": "which word vectors were touched",
    "labels": "labels from the gradient of the output layer",
    "span": "words in the span of the gradient of the input layer",
}
_POSITIVE_BAR = 0.99
# Singular values below this share of the largest are rounding in any case; above it, a gap of this factor shows it.
_ROUNDING, _GAP = 1e-7, 10.0


class UpdateLeakageAttack:
    """Says which words, or which labels, the sentences behind an update had.

    Three ways, each about the rows of one parameter:

    - ``"words"``: of trainable word vectors only those of words that occurred get a gradient. The longer the row of the
      update, the likelier the word.
    - ``"labels"``: the gradient of an output bias is predicted minus true counts, so that the update of a tag's bias is
      positive where the tag occurred more often than predicted.
    - ``"span"``: word vectors are public and fixed; the gradient of a layer that reads them is a sum of outer products
      with the vectors of the words, which therefore lie in its row space. The smaller the part of a word's vector
      outside of it, the likelier the word. It tells nothing where an update has more distinct words than the vectors
      have dimensions.

    Parameters
    ----------
    kind : {"words", "labels", "span"}
    parameter : str
        Name in the layout: of shape (n_words, d) for "words", (n_tags,) for "labels", (n_units, d) for "span".
    n_pairs : int, default=50
        Pairs of one present and one absent row for each update.
    confidence : float in (0, 1), default=0.95
        Interval over updates.
    random_state : int or None, default=None

    Notes
    -----
    The figure is the share of pairs, one row that occurred and one that did not, that are told apart; a tie is one
    half. An optimizer that also moves what has no gradient (momentum, weight decay), noise and the choice of what is
    sent blur the attack; the figure says how much. Attack the updates as they were sent.

    References
    ----------
    Melis et al. (2019), Exploiting unintended feature leakage in collaborative learning, S&P, section 4.1 (touched
    embeddings). Zhao et al. (2020), iDLG: improved deep leakage from gradients, arXiv 2001.02610, section 3 (sign).
    Wainakh et al. (2022), User-level label leakage from gradients in federated learning, PoPETs 2022(2). Petrov et
    al. (2024), DAGER: exact gradient inversion for large language models, NeurIPS, section 4 (span check).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.attacks import ReleasedUpdates, UpdateKnowledge, UpdateLeakageAttack
    >>> from sklearn_deid.federated import ParameterLayout, SparseUpdate
    >>> layout = ParameterLayout.of({"words": np.zeros((50, 2))})
    >>> def touched(row):
    ...     return SparseUpdate(np.array([2 * row]), np.array([0.1], dtype=np.float32), 100, layout.fingerprint)
    >>> released = ReleasedUpdates([touched(row) for row in range(20)], [{row} for row in range(20)])
    >>> UpdateLeakageAttack("words", "words").fit(UpdateKnowledge(layout)).attack(released).attack.value
    1.0
    """

    threat = "updates"
    measure = "share of pairs, one that occurred and one that did not, told apart"

    def __init__(
        self,
        kind: str,
        parameter: str,
        *,
        n_pairs: int = 50,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if kind not in _KINDS:
            raise ValueError(f"The 'kind' parameter must be one of {tuple(_KINDS)}. Got {kind!r} instead.")
        if n_pairs < 1:
            raise ValueError(f"The 'n_pairs' parameter must be at least 1. Got {n_pairs} instead.")
        self.kind, self.parameter, self.n_pairs = kind, parameter, n_pairs
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Which attack, in words."""
        return f"update leakage, {_KINDS[self.kind]}"

    @property
    def attacker(self) -> str:
        """Who attacks, and what he holds."""
        known = " and the public word vectors" if self.kind == "span" else ""
        return f"A curious server that sees each update of a site, knows the model{known}, and follows the protocol."

    def fit(self, knowledge: UpdateKnowledge) -> UpdateLeakageAttack:
        """Take what the attacker knows of the model.

        Parameters
        ----------
        knowledge : UpdateKnowledge
            With ``table`` for "span".

        Raises
        ------
        ValueError
            If the table is missing.
        """
        self._layout = knowledge.layout
        self._frequencies = None if knowledge.frequencies is None else np.asarray(knowledge.frequencies, dtype=float)
        self._table = None if knowledge.table is None else np.asarray(knowledge.table, dtype=np.float64)
        if self.kind == "span" and self._table is None:
            raise ValueError("kind='span' needs the 'table' of public word vectors.")
        return self

    def attack(self, released: ReleasedUpdates) -> AttackResult:
        """Read updates.

        Parameters
        ----------
        released : ReleasedUpdates

        Raises
        ------
        ExchangeError
            If an update is of another model.
        ValueError
            If the parameter does not exist or has the wrong shape, or every update has all rows or none.
        """
        started = perf_counter()
        rng = np.random.default_rng(self.random_state)
        parts = released.parameter(self._layout, self.parameter)
        scores = [self._scores(part) for part in parts]
        present = [frozenset(rows) for rows in released.present]
        pairs = [_pairs(rows, len(score), self.n_pairs, rng) for rows, score in zip(present, scores, strict=True)]
        used = [i for i, pair in enumerate(pairs) if len(pair)]
        if not used:
            raise ValueError("No update has both rows that occurred and rows that did not.")
        pairs, scores = [pairs[i] for i in used], [scores[i] for i in used]
        owner = np.repeat(used, [len(pair) for pair in pairs])
        # Rows in random order: what is left of the update has nothing to do with what occurred.
        blind = [rng.permutation(score) for score in scores]
        return AttackResult(
            self.name,
            self.threat,
            self.attacker,
            self.measure,
            share_over_groups(_told_apart(scores, pairs), owner, self.confidence),
            self._baseline(pairs, owner),
            self._positive([present[i] for i in used], parts[0].shape, rng),
            _POSITIVE_BAR,
            share_over_groups(_told_apart(blind, pairs), owner, CONTROL_CONFIDENCE),
            chance=0.5,
            seconds=perf_counter() - started,
            settings={"kind": self.kind, "n_pairs": self.n_pairs},
            details=_named(scores, [present[i] for i in used]),
        )

    def skip(self, reason: str) -> AttackResult:
        """The result if it is left out."""
        return AttackResult.skipped(self.name, self.threat, self.attacker, self.measure, reason)

    def _scores(self, part: np.ndarray) -> np.ndarray:
        """How much each row looks as if it had occurred."""
        n_axes = 1 if self.kind == "labels" else 2
        if part.ndim != n_axes:
            raise ValueError(f"kind='{self.kind}' needs a parameter of {n_axes} axes. Got {part.ndim}.")
        if self.kind == "span":
            assert self._table is not None
            if part.shape[1] != self._table.shape[1]:
                raise ValueError(
                    f"The parameter reads {part.shape[1]} numbers, and the word vectors have {self._table.shape[1]}."
                )
            return rows_by_span(part, self._table)
        return rows_by_bias(part) if self.kind == "labels" else rows_by_norm(part)

    def _positive(self, present: list[frozenset[int]], shape: tuple[int, ...], rng: np.random.Generator) -> Estimate:
        """The same attack on what one plain step on these rows would send."""
        hits = []
        for rows in present:
            there = np.array(sorted(rows))
            if self.kind == "span":
                assert self._table is not None
                # More words than fit into the row space cannot be read by anyone, and are no control.
                there = rng.permutation(there)[: max(1, min(shape[1] // 2, shape[0]))]
                plain = np.eye(shape[0], len(there)) @ self._table[there]
                pairs = _pairs(frozenset(there.tolist()), len(self._table), self.n_pairs, rng)
            else:
                plain = np.zeros(shape)
                plain[there] = 1.0
                pairs = _pairs(rows, shape[0], self.n_pairs, rng)
            hits.append(_told_apart([self._scores(plain)], [pairs]))
        return Estimate.from_hits(np.concatenate(hits))

    def _baseline(self, pairs: list[np.ndarray], owner: np.ndarray) -> Estimate | float:
        """Guessing by how frequent rows are in general."""
        if self._frequencies is None:
            return 0.5
        hits = _told_apart([self._frequencies] * len(pairs), pairs)
        return share_over_groups(hits, owner, self.confidence)


def rows_by_norm(part: np.ndarray) -> np.ndarray:
    """Length of each row of an update, shape (n_rows,)."""
    return np.linalg.norm(part, axis=1)


def rows_by_bias(part: np.ndarray) -> np.ndarray:
    """The update of each bias itself: against the gradient, it is positive where the tag occurred."""
    return np.asarray(part, dtype=np.float64)


def rows_by_span(part: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Minus the share of each word's vector that lies outside the row space of an update.

    Parameters
    ----------
    part : ndarray of shape (n_units, d)
    table : ndarray of shape (n_words, d)

    Returns
    -------
    ndarray of shape (n_words,)
        From -1 to 0; all 0 where the row space is the whole space, and the update tells nothing.

    Examples
    --------
    >>> rows_by_span(np.array([[1.0, 0.0, 0.0]]), np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).round(6).tolist()
    [-0.0, -1.0]
    """
    _, values, directions = np.linalg.svd(np.asarray(part, dtype=np.float64), full_matrices=False)
    kept = directions[: _rank(values)]
    norms = np.linalg.norm(table, axis=1)
    if len(kept) == table.shape[1]:
        return np.zeros(len(table))
    outside = np.linalg.norm(table - (table @ kept.T) @ kept, axis=1)
    # A word without a vector leaves no trace.
    return -np.where(norms > 0, outside / np.maximum(norms, 1e-300), 1.0)


def _rank(values: np.ndarray) -> int:
    """How many singular values are more than rounding; updates are differences of float32 numbers."""
    above = int((values > _ROUNDING * values.max(initial=0.0)).sum())
    if above < 2:
        return above
    ratios = values[: above - 1] / values[1:above]
    largest = int(ratios.argmax())
    return largest + 1 if ratios[largest] > _GAP else above


def _pairs(present: frozenset[int], n_rows: int, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Rows that occurred beside rows that did not, shape (n, 2)."""
    if any(not 0 <= row < n_rows for row in present):
        raise ValueError(f"'present' must hold numbers of {n_rows} rows.")
    there = np.array(sorted(present), dtype=np.int64)
    absent = np.setdiff1d(np.arange(n_rows), there)
    if not len(there) or not len(absent):
        return np.empty((0, 2), dtype=np.int64)
    return np.stack([rng.choice(there, n_pairs), rng.choice(absent, n_pairs)], axis=1)


def _told_apart(scores: list[np.ndarray], pairs: list[np.ndarray]) -> np.ndarray:
    hits = []
    for score, pair in zip(scores, pairs, strict=True):
        there, absent = score[pair[:, 0]], score[pair[:, 1]]
        # Differences in the last digits are none.
        equal = np.isclose(there, absent, rtol=1e-9, atol=1e-12)
        hits.append(np.where(equal, 0.5, there > absent))
    return np.concatenate(hits)


def _named(scores: list[np.ndarray], present: list[frozenset[int]]) -> dict[str, float]:
    """If as many rows are named as occurred: the share of them that did."""
    right = total = 0
    for score, rows in zip(scores, present, strict=True):
        best = np.argsort(-score, kind="stable")[: len(rows)]
        right += len(rows.intersection(best.tolist()))
        total += len(rows)
    return {"updates": len(present), "rows that occurred": total / len(present), "share of them named": right / total}
