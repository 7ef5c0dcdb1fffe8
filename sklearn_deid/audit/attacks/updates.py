"""Update leakage: recover properties of the sentences from which an update of a distributed training was computed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ExchangeError
from ...federated.layout import ParameterLayout
from ...federated.record import ExchangeRecord
from ...federated.sparse import SparseUpdate
from ...metrics import Estimate
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import UPDATES
from .declaration import AttackPreset, AuditAttack, check_least, timed


@dataclass(frozen=True, repr=False)
class UpdateKnowledge:
    """Knowledge of a server or an eavesdropper about the model.

    Attributes
    ----------
    layout : ParameterLayout
        Position of each parameter in the exchanged vector.
    frequencies : array-like of shape (n_rows,), optional
        General frequency of each row (word or tag), which the baseline uses for its guess. With None the attacker knows
        no frequencies.
    table : array-like of shape (n_rows, d), optional
        Vectors of the words, if the vectors are public and not trained.
    """

    layout: ParameterLayout
    frequencies: Any = None
    table: Any = None

    def __repr__(self) -> str:
        return f"UpdateKnowledge({len(self.layout.names)} parameters)"


@dataclass(frozen=True, repr=False)
class ReleasedUpdates:
    """Sent updates and, for the measurement, the rows that occurred in each update.

    Attributes
    ----------
    updates : ExchangeRecord, or sequence of SparseUpdate or of messages
        Updates that were sent. An `ExchangeRecord` supplies its uploads, in order.
    present : sequence of collections of int
        For each update, the rows (numbers of words or of tags) that occurred in its batch or epoch.
    """

    updates: Any
    present: Sequence[Collection[int]]

    def __post_init__(self) -> None:
        sent = self.updates.uploads() if isinstance(self.updates, ExchangeRecord) else self.updates
        updates = [one if isinstance(one, SparseUpdate) else one.decode() for one in sent]
        if not updates or len(updates) != len(self.present):
            raise ValueError(f"'present' must say of each of {len(updates)} updates what it was made of.")
        if any(one.kind != "update" for one in updates):
            raise ValueError("Parameters that were downloaded are no updates.")
        object.__setattr__(self, "updates", updates)
        object.__setattr__(self, "present", [frozenset(int(row) for row in rows) for rows in self.present])

    def __len__(self) -> int:
        return len(self.updates)

    # The repr shows no rows: the numbers of the words reveal as much as the words.
    def __repr__(self) -> str:
        return f"ReleasedUpdates(n={len(self)})"

    def parameter(self, layout: ParameterLayout, name: str) -> list[np.ndarray]:
        """Return the values of one parameter in each update, in the shape of the parameter, with zeros for numbers that
        were not sent.

        Raises
        ------
        ExchangeError
            If an update belongs to another model.
        ValueError
            If the model has no parameter of this name.
        """
        if name not in layout.names:
            raise ValueError(f"The model has no parameter of that name; it has {len(layout.names)} others.")
        if any(one.model != layout.fingerprint for one in self.updates):
            raise ExchangeError("An update is of another model than the layout.")
        return [layout.unflatten(one.dense())[name] for one in self.updates]


# Singular values below this proportion of the largest are always rounding. Among larger values, a gap of this factor
# separates the signal from rounding.
_ROUNDING, _GAP = 1e-7, 10.0


def rows_by_norm(part: np.ndarray) -> np.ndarray:
    """Norm of each row of an update, shape (n_rows,)."""
    return np.linalg.norm(part, axis=1)


def rows_by_bias(part: np.ndarray) -> np.ndarray:
    """Update of each bias. An update has the opposite sign of the gradient, so that the value is positive if the tag
    occurred."""
    return np.asarray(part, dtype=np.float64)


def rows_by_span(part: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Negative proportion of each word's vector outside the row space of an update.

    Parameters
    ----------
    part : ndarray of shape (n_units, d)
        Update of a layer that reads word vectors.
    table : ndarray of shape (n_words, d)
        Public word vectors.

    Returns
    -------
    ndarray of shape (n_words,)
        Values from -1 to 0. If the row space is the whole space, all values are 0 and the update reveals nothing.

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
    # Distance of each word's vector to the row space. shape: (n_words,)
    outside = np.linalg.norm(table - (table @ kept.T) @ kept, axis=1)
    # A word without a vector leaves no trace.
    return -np.where(norms > 0, outside / np.maximum(norms, 1e-300), 1.0)


def _rank(values: np.ndarray) -> int:
    """Number of singular values above the rounding error. The updates are differences of float32 numbers."""
    above = int((values > _ROUNDING * values.max(initial=0.0)).sum())
    if above < 2:
        return above
    # The largest drop between neighbouring singular values separates the signal from rounding, if the drop is clear.
    ratios = values[: above - 1] / values[1:above]
    largest = int(ratios.argmax())
    return largest + 1 if ratios[largest] > _GAP else above


# Parameters of the tagger's network with one row for each label, character or word shape. ``WORD_VECTORS`` names the
# part of the first layer that reads the fixed word vectors.
LABELS, CHARACTERS, SHAPES = "emit.bias", "words.characters.embedding.weight", "words.shapes.weight"
WORD_VECTORS = "word vectors"
_ROWS_OF = {CHARACTERS: "characters", SHAPES: "word shapes"}
_KINDS = {
    "words": "which word vectors were touched",
    "labels": "labels from the gradient of the output layer",
    "span": "words in the span of the gradient of the input layer",
}
_POSITIVE_BAR = 0.99
# Reasons why an attack has nothing to compare.
NO_PAIR = {
    "rows": "No update has both rows that occurred and something to compare them with.",
    "updates": "The same rows occurred in all updates, so that no update has something to compare them with.",
}


def _on(kind: str, parameter: str, against: str = "updates") -> dict[str, str]:
    """Options of a preset. Rows are compared between two updates or, with ``against="rows"``, within an update."""
    return {"kind": kind, "parameter": parameter, "against": against}


class UpdateLeakageAttack(AuditAttack):
    """Decide which words or labels occurred in the sentences from which an update was computed.

    The attack has three kinds. Each kind reads the rows of one parameter:

    - ``"words"``: if word vectors are trained, only the words that occurred have a gradient. The larger the norm of a
      row of the update, the more likely the word occurred.
    - ``"labels"``: the gradient of an output bias is the predicted count of the tag minus the true count. The update of
      a tag's bias is therefore positive if the tag occurred more often than predicted.
    - ``"span"``: if word vectors are public and fixed, the gradient of a layer that reads the vectors is a sum of outer
      products with the vectors of the words. The vectors of these words therefore lie in the row space of the gradient.
      The smaller the part of a vector outside the row space, the more likely the word occurred. The attack learns
      nothing if an update has more distinct words than the vectors have dimensions.

    Parameters
    ----------
    kind : {"words", "labels", "span"}
        Kind of the attack.
    parameter : str
        Name of the parameter in the layout. The shape is (n_words, d) for "words", (n_tags,) for "labels" and
        (n_units, d) for "span".
    against : {"rows", "updates"}, default="rows"
        Comparison for a row that occurred. "rows" compares with a row of the same update whose word or tag did not
        occur. "updates" compares with the same row of another update in which the word or tag did not occur. With
        "updates", knowledge of frequent words does not help, and the attacker sees the updates of several sites or
        epochs.
    n_pairs : int, default=50
        Number of pairs for each update, or for each two updates.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval over updates, or over pairs of updates.
    random_state : int or None, default=None
        Random seed of the pairs and of the controls.

    Notes
    -----
    A pair consists of a row that occurred and a row that did not occur. The result is the proportion of pairs in which
    the attacker identifies the row that occurred. If the attacker knows frequencies, the frequencies decide a tie;
    otherwise, a tie counts one half. If the baseline by frequency is high, also attack with ``against="updates"``,
    because the attacker with ``against="rows"`` does not combine frequencies with the evidence of an update.

    Three things weaken the attack: an optimizer that also changes parameters without a gradient (momentum, weight
    decay), noise, and the choice of the numbers to send. The result includes these effects if you attack the updates as
    they were sent.

    References
    ----------
    Melis et al. (2019), Exploiting unintended feature leakage in collaborative learning, S&P, section 4.1 (touched
    embeddings). Zhao et al. (2020), iDLG: improved deep leakage from gradients, arXiv 2001.02610, section 3 (sign).
    Wainakh et al. (2022), User-level label leakage from gradients in federated learning, PoPETs 2022(2). Petrov et
    al. (2024), DAGER: exact gradient inversion for large language models, NeurIPS, section 4 (span check).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import ReleasedUpdates, UpdateKnowledge, UpdateLeakageAttack
    >>> from sklearn_deid.federated import ParameterLayout, SparseUpdate
    >>> layout = ParameterLayout.of({"words": np.zeros((50, 2))})
    >>> def touched(row):
    ...     return SparseUpdate(np.array([2 * row]), np.array([0.1], dtype=np.float32), 100, layout.fingerprint)
    >>> released = ReleasedUpdates([touched(row) for row in range(20)], [{row} for row in range(20)])
    >>> UpdateLeakageAttack("words", "words").fit(UpdateKnowledge(layout)).attack(released).attack.value
    1.0
    """

    key = "updates"
    family = "updates"
    title = "Update leakage"
    order = 80
    releases = (UPDATES,)
    presets = (
        AttackPreset("updates_labels", "Labels that occurred", 5.0, 1.0, _on("labels", LABELS, "rows"), quick=True),
        AttackPreset("updates_labels_between", "Labels, between sites", 5.0, 1.0, _on("labels", LABELS), quick=True),
        AttackPreset("updates_characters", "Characters, between sites", 5.0, 1.0, _on("words", CHARACTERS), quick=True),
        AttackPreset("updates_shapes", "Word shapes, between sites", 5.0, 1.0, _on("words", SHAPES), quick=True),
        AttackPreset("updates_words", "Words, between sites", 5.0, 2.0, _on("span", WORD_VECTORS), quick=True),
    )
    phrase = (
        "A server that sees the updates of a site distinguishes items that occurred in its notes from other items in "
        "{} of pairs"
    )
    measure = "share of right decisions on pairs of an item that occurred and an item that did not"

    def __init__(
        self,
        kind: str,
        parameter: str,
        *,
        against: str = "rows",
        n_pairs: int = 50,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if kind not in _KINDS:
            raise ValueError(f"The 'kind' parameter must be one of {tuple(_KINDS)}. Got {kind!r} instead.")
        check_least(1, n_pairs=n_pairs)
        if against not in ("rows", "updates"):
            raise ValueError(f"The 'against' parameter must be 'rows' or 'updates'. Got {against!r} instead.")
        self.kind, self.parameter, self.against, self.n_pairs = kind, parameter, against, n_pairs
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        beside = ", against other updates" if self.against == "updates" else ""
        kind, rows = _KINDS[self.kind], _ROWS_OF.get(self.parameter)
        kind = kind if rows is None else kind.replace("word vectors", f"vectors of {rows}")
        return f"update leakage, {kind}{beside}"

    @property
    def attacker(self) -> str:
        """Description of the attackers and their knowledge."""
        known = " and the public word vectors" if self.kind == "span" else ""
        return f"A curious server that sees each update of a site, knows the model{known}, and follows the protocol."

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the tagger of the exchange has no parameter of the attacked kind."""
        return None if release.reads(self.parameter) else "The network of this exchange has no parameter of that kind."

    def run(self, release: Any) -> list[AttackResult]:
        """Find the rows that occurred in the sentences from which the uploads of an exchange were computed.

        Raises
        ------
        ValueError
            If the tagger has the features, but its network has no parameter with the name that the attack expects.
        """
        found = self.fit(release.knowledge_of(self.parameter)).attack(release.updates_of(self.parameter))
        return [replace(found, details={"sites": release.n_sites, **found.details})]

    def fit(self, knowledge: UpdateKnowledge) -> UpdateLeakageAttack:
        """Store the attacker's knowledge of the model.

        Parameters
        ----------
        knowledge : UpdateKnowledge
            Knowledge of the model. "span" needs its ``table``.

        Raises
        ------
        ValueError
            If "span" lacks the table.
        """
        self._layout = knowledge.layout
        if self.kind == "span" and knowledge.table is None:
            raise ValueError("kind='span' needs the 'table' of public word vectors.")
        self._frequencies = None if knowledge.frequencies is None else np.asarray(knowledge.frequencies, dtype=float)
        self._table = np.asarray(knowledge.table, dtype=np.float64)
        return self

    @timed
    def attack(self, released: ReleasedUpdates) -> AttackResult:
        """Attack updates and return the result.

        Parameters
        ----------
        released : ReleasedUpdates
            Updates that were sent, and the rows that occurred in each update.

        Raises
        ------
        ExchangeError
            If an update belongs to another model.
        ValueError
            If the parameter does not exist or has the wrong shape, or in every update all rows or no rows occurred.
        """
        rng = np.random.default_rng(self.random_state)
        parts = released.parameter(self._layout, self.parameter)
        present = [frozenset(rows) for rows in released.present]
        # shape: (n_updates, n_rows)
        scores = np.stack([self._scores(part) for part in parts])
        pairs = self._pairs(present, scores.shape[1], rng)
        # Negative control: in random order, the rows of an update are independent of the words that occurred.
        blind = rng.permuted(scores, axis=1)
        return self.result(
            Estimate.from_hits(_told_apart(scores, pairs, self._frequencies), pairs.group, self.confidence),
            self._baseline(pairs),
            self._positive(present, parts[0].shape, rng),
            _POSITIVE_BAR,
            Estimate.from_hits(_told_apart(blind, pairs), pairs.group, CONTROL_CONFIDENCE),
            chance=0.5,
            settings={"kind": self.kind, "against": self.against, "n_pairs": self.n_pairs},
            details=_named(scores, present),
        )

    def _scores(self, part: np.ndarray) -> np.ndarray:
        """Score of each row. The higher the score, the more likely the row occurred."""
        n_axes = 1 if self.kind == "labels" else 2
        if part.ndim != n_axes:
            raise ValueError(f"kind='{self.kind}' needs a parameter of {n_axes} axes. Got {part.ndim}.")
        if self.kind != "span":
            return rows_by_bias(part) if self.kind == "labels" else rows_by_norm(part)
        if part.shape[1] != self._table.shape[1]:
            raise ValueError(
                f"The parameter reads {part.shape[1]} numbers, and the word vectors have {self._table.shape[1]}."
            )
        return rows_by_span(part, self._table)

    def _pairs(self, present: list[frozenset[int]], n_rows: int, rng: np.random.Generator) -> _Pairs:
        """Draw the pairs of the comparison, within updates or between updates."""
        if any(not 0 <= row < n_rows for rows in present for row in rows):
            raise ValueError(f"'present' must hold numbers of {n_rows} rows.")
        if self.against == "rows":
            each = enumerate(present)
            drawn = [pair for i, rows in each for pair in _pairs_of_rows(rows, i, n_rows, self.n_pairs, rng)]
        else:
            matched = _matched(present, rng)
            drawn = [pair for i, j in matched for pair in _pairs_of_updates(present, i, j, self.n_pairs, rng)]
        if not drawn:
            raise ValueError(NO_PAIR[self.against])
        return _Pairs(*np.array(drawn, dtype=np.int64).T)

    def _positive(self, present: list[frozenset[int]], shape: tuple[int, ...], rng: np.random.Generator) -> Estimate:
        """Run the same attack on the update of one plain gradient step on these rows."""
        plain, shown = [], []
        for rows in present:
            there, step = np.array(sorted(rows), dtype=np.int64), np.zeros(shape)
            if self.kind == "span":
                # No attacker can read more words than the row space holds, so that the control stays below this number.
                there = rng.permutation(there)[: max(1, min(shape[1] // 2, shape[0]))]
                step[: len(there)] = self._table[there]
            else:
                step[there] = 1.0
            plain.append(self._scores(step))
            shown.append(frozenset(there.tolist()))
        scores = np.stack(plain)
        return Estimate.from_hits(_told_apart(scores, self._pairs(shown, scores.shape[1], rng)))

    def _baseline(self, pairs: _Pairs) -> Estimate | float:
        """Success of a guess by the general frequencies of the rows."""
        if self._frequencies is None or self.against == "updates":
            return 0.5
        frequencies = np.tile(self._frequencies, (int(pairs.update.max()) + 1, 1))
        return Estimate.from_hits(_told_apart(frequencies, pairs), pairs.group, self.confidence)


class _Pairs(NamedTuple):
    """Rows that occurred in an update, and the rows for comparison; all arrays have shape (n,)."""

    group: np.ndarray
    update: np.ndarray
    row: np.ndarray
    other_update: np.ndarray
    other_row: np.ndarray


def _pairs_of_rows(
    present: frozenset[int], i: int, n_rows: int, n_pairs: int, rng: np.random.Generator
) -> list[tuple[int, int, int, int, int]]:
    """Draw pairs within an update: a row that occurred and a row that did not occur."""
    there = np.array(sorted(present), dtype=np.int64)
    absent = np.setdiff1d(np.arange(n_rows), there)
    if not len(there) or not len(absent):
        return []
    drawn = zip(rng.choice(there, n_pairs).tolist(), rng.choice(absent, n_pairs).tolist(), strict=True)
    return [(i, i, row, i, other) for row, other in drawn]


def _matched(present: list[frozenset[int]], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw pairs of updates. Each update belongs to a single pair, so that the results of the pairs are independent.

    In the updates of one site, the same rows occurred: a pair of such updates would have nothing to compare.
    """
    drawn = rng.permutation(len(present)).tolist()
    order = drawn[::2] + drawn[1::2]
    first: dict[frozenset[int], int] = {}
    for place, i in enumerate(order):
        first.setdefault(present[i], place)
    # Updates with equal rows are neighbours. Two updates that are half of all updates apart have equal rows only if
    # more than half of all updates have these rows.
    order.sort(key=lambda i: first[present[i]])
    half = len(order) // 2
    return list(zip(order[:half], order[len(order) - half :], strict=True))


def _pairs_of_updates(
    present: list[frozenset[int]], i: int, j: int, n_pairs: int, rng: np.random.Generator
) -> list[tuple[int, int, int, int, int]]:
    """Draw rows that occurred in only one of two updates."""
    usable = [(i, i, row, j, row) for row in sorted(present[i] - present[j])]
    usable += [(i, j, row, i, row) for row in sorted(present[j] - present[i])]
    return [usable[k] for k in rng.choice(len(usable), n_pairs).tolist()] if usable else []


def _told_apart(scores: np.ndarray, pairs: _Pairs, frequencies: np.ndarray | None = None) -> np.ndarray:
    """Whether the row that occurred has the higher score in each pair; a tie counts one half."""
    # Updates differ in overall size, so that each update is scaled by its own rows. Zeros stay zeros.
    size = np.sqrt(np.mean(np.square(scores), axis=1, keepdims=True))
    scores = scores / np.where(size > 0, size, 1.0)
    there, other = scores[pairs.update, pairs.row], scores[pairs.other_update, pairs.other_row]
    tied = np.full(len(there), 0.5)
    if frequencies is not None:
        tied += 0.5 * np.sign(frequencies[pairs.row] - frequencies[pairs.other_row])
    # Differences in the last digits count as ties.
    return np.where(np.isclose(there, other, rtol=1e-9, atol=1e-12), tied, there > other)


def _named(scores: np.ndarray, present: list[frozenset[int]]) -> dict[str, float]:
    """Proportion of correct rows if the attacker picks as many rows as occurred."""
    right = total = 0
    for score, rows in zip(scores, present, strict=True):
        best = np.argsort(-score, kind="stable")[: len(rows)]
        right += len(rows.intersection(best.tolist()))
        total += len(rows)
    return {"updates": len(present), "rows that occurred": total / len(present), "share of them named": right / total}
