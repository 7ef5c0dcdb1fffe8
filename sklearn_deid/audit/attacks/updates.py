"""Update leakage: what one update of a distributed training tells about the sentences behind it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ExchangeError
from ...federated.layout import ParameterLayout
from ...federated.record import ExchangeRecord
from ...federated.sparse import SparseUpdate
from ..protocol import CONTROL_CONFIDENCE, AttackResult, Estimate
from ..released_step import UPDATES
from .declaration import AttackPreset, AuditAttack


@dataclass(frozen=True, repr=False)
class UpdateKnowledge:
    """What a server, or whoever listens, knows about the model.

    Attributes
    ----------
    layout : ParameterLayout
        Where each parameter lies in the vector that is exchanged.
    frequencies : array-like of shape (n_rows,), optional
        How frequent each row (word or tag) is in general; the baseline guesses by it. None knows nothing.
    table : array-like of shape (n_rows, d), optional
        Vectors of the words, where they are public and not trained.
    """

    layout: ParameterLayout
    frequencies: Any = None
    table: Any = None

    def __repr__(self) -> str:
        return f"UpdateKnowledge({len(self.layout.names)} parameters)"


@dataclass(frozen=True, repr=False)
class ReleasedUpdates:
    """Updates that were sent, and for the measurement what each was computed from.

    Attributes
    ----------
    updates : ExchangeRecord, or sequence of SparseUpdate or of messages
        Of an `ExchangeRecord` the uploads, in order.
    present : sequence of collections of int
        For each update the rows (numbers of words or of tags) that occurred in its batch or epoch.
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

    def __repr__(self) -> str:  # the numbers of the words are as good as words
        return f"ReleasedUpdates(n={len(self)})"

    def parameter(self, layout: ParameterLayout, name: str) -> list[np.ndarray]:
        """One parameter's part of each update, in its shape, with zeros where nothing was sent.

        Raises
        ------
        ExchangeError
            If an update is of another model.
        ValueError
            If there is no such parameter.
        """
        if name not in layout.names:
            raise ValueError(f"The model has no parameter of that name; it has {len(layout.names)} others.")
        if any(one.model != layout.fingerprint for one in self.updates):
            raise ExchangeError("An update is of another model than the layout.")
        return [layout.unflatten(one.dense())[name] for one in self.updates]


# Singular values below this share of the largest are rounding in any case; above it, a gap of this factor shows it.
_ROUNDING, _GAP = 1e-7, 10.0


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


# Parameters of the tagger's network with one row for each label, character or word shape, and the numbers of its first
# layer that read the fixed vectors of words.
LABELS, CHARACTERS, SHAPES = "emit.bias", "words.characters.embedding.weight", "words.shapes.weight"
WORD_VECTORS = "word vectors"
_ROWS_OF = {CHARACTERS: "characters", SHAPES: "word shapes"}
_KINDS = {
    "words": "which word vectors were touched",
    "labels": "labels from the gradient of the output layer",
    "span": "words in the span of the gradient of the input layer",
}
_POSITIVE_BAR = 0.99


def _on(kind: str, parameter: str, against: str = "updates") -> dict[str, str]:
    """What occurred at one site and not at another, or (``against="rows"``) what occurred at all."""
    return {"kind": kind, "parameter": parameter, "against": against}


class UpdateLeakageAttack(AuditAttack):
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
    against : {"rows", "updates"}, default="rows"
        What a row that occurred is compared with: a row of the same update that did not occur, or the same row of an
        update where it did not. With the latter nothing is gained by knowing which words are frequent; the attacker
        sees the updates of several sites or epochs.
    n_pairs : int, default=50
        Pairs for each update, or for each two updates.
    confidence : float in (0, 1), default=0.95
        Interval over updates, or pairs of updates.
    random_state : int or None, default=None

    Notes
    -----
    The figure is the share of pairs, one that occurred and one that did not, that are told apart; a tie is one half,
    unless the attacker knows frequencies, which then decide. Where the baseline by frequency is high, attack with
    ``against="updates"`` too: this attacker does not weigh frequencies against what an update says.

    An optimizer that also moves what has no gradient (momentum, weight decay), noise and the choice of what is sent
    blur the attack; the figure says how much. Attack the updates as they were sent.

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
        "A server that sees the updates of a site tells what occurred in its notes from what did not in {} of pairs"
    )
    threat = "updates"
    measure = "share of pairs, one that occurred and one that did not, told apart"

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
        if n_pairs < 1:
            raise ValueError(f"The 'n_pairs' parameter must be at least 1. Got {n_pairs} instead.")
        if against not in ("rows", "updates"):
            raise ValueError(f"The 'against' parameter must be 'rows' or 'updates'. Got {against!r} instead.")
        self.kind, self.parameter, self.against, self.n_pairs = kind, parameter, against, n_pairs
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Which attack, in words."""
        beside = ", against other updates" if self.against == "updates" else ""
        return f"update leakage, {_KINDS[self.kind]}{beside}"

    @property
    def attacker(self) -> str:
        """Who attacks, and what they hold."""
        known = " and the public word vectors" if self.kind == "span" else ""
        return f"A curious server that sees each update of a site, knows the model{known}, and follows the protocol."

    def run(self, release: Any) -> list[AttackResult]:
        """Rows that occurred in the sentences behind the uploads of an exchange."""
        if self.kind != "span" and not release.has_parameter(self.parameter):
            return [self.skip("The network of this exchange has no parameter of that kind.")]
        found = self.fit(release.knowledge_of(self.parameter)).attack(release.updates_of(self.parameter))
        details = {"sites": release.n_sites, **found.details}
        name = found.name.replace("which word vectors", f"which vectors of {_ROWS_OF.get(self.parameter, 'words')}")
        return [replace(found, name=name, details=details)]

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
        present = [frozenset(rows) for rows in released.present]
        scores = np.stack([self._scores(part) for part in parts])  # shape: (n_updates, n_rows)
        pairs = self._pairs(present, scores.shape[1], rng)
        # Rows in random order: what is left of the update has nothing to do with what occurred.
        blind = rng.permuted(scores, axis=1)
        return AttackResult(
            self.name,
            self.threat,
            self.attacker,
            self.measure,
            Estimate.from_hits(_told_apart(scores, pairs, self._frequencies), pairs.group, self.confidence),
            self._baseline(pairs),
            self._positive(present, parts[0].shape, rng),
            _POSITIVE_BAR,
            Estimate.from_hits(_told_apart(blind, pairs), pairs.group, CONTROL_CONFIDENCE),
            chance=0.5,
            seconds=perf_counter() - started,
            **self.declared,
            settings={"kind": self.kind, "against": self.against, "n_pairs": self.n_pairs},
            details=_named(scores, present),
        )

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

    def _pairs(self, present: list[frozenset[int]], n_rows: int, rng: np.random.Generator) -> _Pairs:
        if any(not 0 <= row < n_rows for rows in present for row in rows):
            raise ValueError(f"'present' must hold numbers of {n_rows} rows.")
        if self.against == "rows":
            each = enumerate(present)
            drawn = [pair for i, rows in each for pair in _pairs_of_rows(rows, i, n_rows, self.n_pairs, rng)]
        else:
            # Each update is in one pair of updates, so that what is found in one pair says nothing of the next.
            order = rng.permutation(len(present)).tolist()
            matched = zip(order[::2], order[1::2], strict=False)
            drawn = [pair for i, j in matched for pair in _pairs_of_updates(present, i, j, self.n_pairs, rng)]
        if not drawn:
            raise ValueError("No update has both rows that occurred and something to compare them with.")
        return _Pairs(*np.array(drawn, dtype=np.int64).T)

    def _positive(self, present: list[frozenset[int]], shape: tuple[int, ...], rng: np.random.Generator) -> Estimate:
        """The same attack on what one plain step on these rows would send."""
        plain, shown = [], []
        for rows in present:
            there = np.array(sorted(rows), dtype=np.int64)
            if self.kind == "span":
                assert self._table is not None
                # More words than fit into the row space cannot be read by anyone, and are no control.
                there = rng.permutation(there)[: max(1, min(shape[1] // 2, shape[0]))]
                plain.append(self._scores(np.eye(shape[0], len(there)) @ self._table[there]))
            else:
                step = np.zeros(shape)
                step[there] = 1.0
                plain.append(self._scores(step))
            shown.append(frozenset(there.tolist()))
        scores = np.stack(plain)
        return Estimate.from_hits(_told_apart(scores, self._pairs(shown, scores.shape[1], rng)))

    def _baseline(self, pairs: _Pairs) -> Estimate | float:
        """Guessing by how frequent rows are in general."""
        if self._frequencies is None or self.against == "updates":
            return 0.5
        frequencies = np.broadcast_to(self._frequencies, (int(pairs.update.max()) + 1, len(self._frequencies)))
        return Estimate.from_hits(_told_apart(frequencies, pairs), pairs.group, self.confidence)


class _Pairs(NamedTuple):
    """Rows of updates where they occurred, and what they are compared with; all of shape (n,)."""

    group: np.ndarray
    update: np.ndarray
    row: np.ndarray
    other_update: np.ndarray
    other_row: np.ndarray


def _pairs_of_rows(
    present: frozenset[int], i: int, n_rows: int, n_pairs: int, rng: np.random.Generator
) -> list[tuple[int, int, int, int, int]]:
    there = np.array(sorted(present), dtype=np.int64)
    absent = np.setdiff1d(np.arange(n_rows), there)
    if not len(there) or not len(absent):
        return []
    drawn = zip(rng.choice(there, n_pairs).tolist(), rng.choice(absent, n_pairs).tolist(), strict=True)
    return [(i, i, row, i, other) for row, other in drawn]


def _pairs_of_updates(
    present: list[frozenset[int]], i: int, j: int, n_pairs: int, rng: np.random.Generator
) -> list[tuple[int, int, int, int, int]]:
    """Rows that occurred in one of two updates and not in the other."""
    usable = [(i, i, row, j, row) for row in sorted(present[i] - present[j])]
    usable += [(i, j, row, i, row) for row in sorted(present[j] - present[i])]
    return [usable[k] for k in rng.choice(len(usable), n_pairs).tolist()] if usable else []


def _told_apart(scores: np.ndarray, pairs: _Pairs, frequencies: np.ndarray | None = None) -> np.ndarray:
    # Updates differ in size as a whole: each is seen relative to its own rows. What is zero stays zero.
    size = np.sqrt(np.mean(np.square(scores), axis=1, keepdims=True))
    scores = scores / np.where(size > 0, size, 1.0)
    there, other = scores[pairs.update, pairs.row], scores[pairs.other_update, pairs.other_row]
    tied = np.full(len(there), 0.5)
    if frequencies is not None:
        tied += 0.5 * np.sign(frequencies[pairs.row] - frequencies[pairs.other_row])
    # Differences in the last digits are none.
    return np.where(np.isclose(there, other, rtol=1e-9, atol=1e-12), tied, there > other)


def _named(scores: np.ndarray, present: list[frozenset[int]]) -> dict[str, float]:
    """If as many rows are named as occurred: the share of them that did."""
    right = total = 0
    for score, rows in zip(scores, present, strict=True):
        best = np.argsort(-score, kind="stable")[: len(rows)]
        right += len(rows.intersection(best.tolist()))
        total += len(rows)
    return {"updates": len(present), "rows that occurred": total / len(present), "share of them named": right / total}
