"""`SignOff`: a random sample of redacted notes for a reader, and the bound on leaks that follows from the reading."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from .._parameters import check_parameter
from ..exceptions import DeidError
from ..surrogates.label_kinds import known_labels
from ..text import BINARY, I2B2_2014, MEDDOCAN, Document, known_id, merge_spans
from .leak_bound import LeakBound

_RESULTS = ("notes_", "items_", "by_type_", "leaks_by_label_", "passed_", "more_notes_")
# Text that `redact` writes for a span in each mode. "[X]" is a box that was ticked, and a row of asterisks is a line.
_LABEL, _MASK = re.compile(r"\[([A-Z][A-Z0-9_-]+)\]"), re.compile(r"(?<!\*)\*{3}(?!\*)")


def count_hidden(text: str, mode: str | None = None, labels: Iterable[str] = ()) -> int:
    """Return the number of labels or masks in a redacted note.

    Parameters
    ----------
    text : str
        Redacted note.
    mode : {"label", "mask"}, optional
        Mode of the redaction. None counts labels and masks.
    labels : iterable of str, default=()
        Labels that mark PHI, in addition to the labels of the known label schemes. Other capitals in brackets are words
        of the note, such as ``[SIC]``: counting these words as hidden items would make the share of leaking items too
        small.

    Examples
    --------
    >>> count_hidden("[X] seen by [DOCTOR] *****"), count_hidden("[DOCTOR] ***"), count_hidden("[DOCTOR] ***", "mask")
    (1, 2, 1)
    >>> count_hidden("[SIC] [CASE]"), count_hidden("[SIC] [CASE]", labels=["CASE"])
    (0, 1)
    """
    known = {*labels, *known_labels(), *I2B2_2014.labels, *MEDDOCAN.labels, *BINARY.labels}
    n_labels = 0 if mode == "mask" else sum(label in known for label in _LABEL.findall(text))
    return n_labels + (0 if mode == "label" else len(_MASK.findall(text)))


class SignOff:
    """Random sample of a release, and upper bounds on leaks after a reader has read the sample.

    First `draw` the ids of the sample. A reader then reads the drawn redacted notes and marks each passage of PHI that
    is still readable as a span. At the end, `assess` the notes with their spans.

    Parameters
    ----------
    n_notes : int, default=100
        Size of the sample. Choose the number before the reading: if a reader stops when the bound looks good, the bound
        is not valid. 59 notes without a leak give an upper bound of 5 % at 95 % confidence.
    target : float in (0, 1), default=0.05
        Requested upper bound on the share of leaking notes.
    confidence : float in [0.5, 1), default=0.95
        One-sided confidence level of the bounds. A level below 0.5, such as an error probability of 0.05, would give
        bounds below the measured shares.
    random_state : int, default=0
        Random seed of the sample.

    Attributes
    ----------
    sample_ : list of str
        Ids of the sample, after `draw`.
    notes_ : LeakBound
        Share of notes with at least one leak.
    items_ : LeakBound or None
        Share of leaking items among all PHI items. None if `assess` was called without ``hidden`` and no note of the
        sample has a mask or label, as in a release with surrogates.
    by_type_ : dict of LeakBound
        Share of leaking notes for each type of notes. The confidence level holds for each bound separately, not for all
        bounds together.
    leaks_by_label_ : dict of int
        Number of leaks of each label.
    more_notes_ : dict
        Further notes to read until the bound reaches the target: ``"no_more_leaks"`` if no further note leaks, and
        ``"same_share"`` if further notes leak at the measured share. None if the target cannot be reached.
    passed_ : bool
        Whether the bound on leaking notes is at most the target.

    Examples
    --------
    >>> from sklearn_deid import Document
    >>> release = [Document(f"n{i}", "Seen by [DOCTOR].") for i in range(500)]
    >>> sign_off = SignOff(n_notes=60, random_state=0)
    >>> chosen = set(sign_off.draw([note.doc_id for note in release]))
    >>> sign_off.assess([note for note in release if note.doc_id in chosen])
    SignOff(60 notes read, 0 leak, at most 4.9 % leak)
    """

    def __init__(
        self, n_notes: int = 100, *, target: float = 0.05, confidence: float = 0.95, random_state: int = 0
    ) -> None:
        is_number = isinstance(n_notes, int) and not isinstance(n_notes, bool) and n_notes >= 1
        check_parameter("SignOff", "n_notes", n_notes, is_number, "an int of at least 1")
        check_parameter("SignOff", "target", target, 0 < target < 1, "between 0 and 1")
        is_level = 0.5 <= confidence < 1
        check_parameter("SignOff", "confidence", confidence, is_level, "at least 0.5 and below 1, such as 0.95")
        self.n_notes, self.target, self.confidence = n_notes, target, confidence
        self.random_state = random_state

    def draw(self, doc_ids: Iterable[str], types: Mapping[str, Hashable] | None = None) -> list[str]:
        """Draw the ids of the sample.

        Parameters
        ----------
        doc_ids : iterable of str
            Ids of all notes of the release. The order of the ids does not change the sample.
        types : mapping, optional
            Type of each note, such as "discharge summary". With ``types``, the number of notes of a type in the sample
            is proportional to the number in the release, and at least one.

        Returns
        -------
        list of str
            Ids in random order. All notes if there are fewer than ``n_notes``.

        Raises
        ------
        DeidError
            If there is no note, an id is repeated, a note has no type, or there are more types than ``n_notes``.
        """
        # Sorted, so that a seed draws the same sample on every file system.
        ids = sorted(doc_ids)
        if not ids:
            raise DeidError("There is no note to draw.")
        if len(set(ids)) < len(ids):
            raise DeidError("A sample needs notes with distinct ids.")
        strata = _strata(ids, types)
        if len(strata) > self.n_notes:
            raise DeidError(f"There are {len(strata)} types of notes. A sample needs at least one note of each type.")
        rng = np.random.default_rng(self.random_state)
        sizes = _allocation([len(members) for members in strata.values()], min(self.n_notes, len(ids)))
        chosen = [
            ids[members[place]]
            for members, size in zip(strata.values(), sizes, strict=True)
            for place in rng.permutation(len(members))[:size]
        ]
        self._forget()
        self.sample_ = [chosen[place] for place in rng.permutation(len(chosen))]
        self._whole = {name: len(members) for name, members in strata.items()}
        self._types = None if types is None else {doc_id: types[doc_id] for doc_id in chosen}
        return list(self.sample_)

    def assess(
        self,
        read: Sequence[Document],
        *,
        n_release: int | Mapping[Hashable, int] | None = None,
        types: Mapping[str, Hashable] | None = None,
        patients: Mapping[str, str] | None = None,
        hidden: Mapping[str, int] | None = None,
    ) -> SignOff:
        """Compute the bounds from the notes that were read.

        Parameters
        ----------
        read : sequence of Document
            All notes of the sample, redacted, with the leaks as spans. Spans that touch are one leak.
        n_release : int or mapping, optional
            Number of notes of the release; with ``types``, the number of each type. By default, the numbers of the
            notes that `draw` had. Without a `draw`, the bounds assume a release that is much larger than the sample,
            with the same proportions of types.
        types : mapping, optional
            Type of each note. By default, the types of `draw`.
        patients : mapping, optional
            Patient of each note. By default, the patient id of the document; a note without an id counts as a patient
            of its own.
        hidden : mapping, optional
            Number of PHI items that were hidden in each note. By default, `count_hidden` counts the masks and the
            bracketed labels of known label schemes in the text.

        Returns
        -------
        self

        Raises
        ------
        DeidError
            If no note was read, a note lacks a type or a number in ``hidden``, a note was read twice, or the notes,
            their types or the numbers of notes differ from those of `draw`.
        """
        # After an error, the bounds of an earlier reading would be taken for those of this one.
        self._forget()
        if not read:
            raise DeidError("No note was read.")
        self._check_sample([note.doc_id for note in read])
        types, n_release = self._as_drawn(types, n_release)
        uncounted = next((note.doc_id for note in read if hidden is not None and note.doc_id not in hidden), None)
        if uncounted is not None:
            raise DeidError("This note has no number in 'hidden'.", doc_id=uncounted)
        notes = [replace(note, spans=tuple(merge_spans(note.spans))) for note in read]
        strata = _strata([note.doc_id for note in notes], types)
        whole = _release_sizes(strata, n_release)
        weights, ones = np.ones(len(notes)), np.ones(len(notes), dtype=int)
        # Inverse of the probability of the draw: how many notes of the release a note of the sample represents.
        for name, rows in strata.items():
            weights[rows] = whole[name] / len(rows)
        named = [(known_id((patients or {}).get(n.doc_id)) or known_id(n.patient_id)) for n in notes]
        owners = np.array([owner or f"note {note.doc_id}" for owner, note in zip(named, notes, strict=True)])
        leaking = np.array([bool(note.spans) for note in notes], dtype=int)
        items = self._item_bound(notes, owners, weights, hidden)
        self.notes_, self.items_ = self._bound(leaking, ones, owners, weights), items
        if n_release is not None and len(notes) == sum(whole.values()):
            # All notes were read: the share is known.
            self.notes_ = replace(self.notes_, upper=self.notes_.share)
        by_type = {} if types is None else strata
        self.by_type_ = {k: self._bound(leaking[rows], ones[rows], owners[rows]) for k, rows in by_type.items()}
        self.leaks_by_label_ = dict(sorted(Counter(span.label for note in notes for span in note.spans).items()))
        self.passed_ = self.notes_.upper <= self.target
        left = math.inf if n_release is None else sum(whole.values()) - len(notes)
        self.more_notes_ = {
            "no_more_leaks": self._more(False, len(notes), left),
            "same_share": self._more(True, len(notes), left),
        }
        return self

    def to_dict(self) -> dict[str, Any]:
        """Settings and results for JSON, without ids and text of notes."""
        settings = {name: getattr(self, name) for name in ("n_notes", "target", "confidence", "random_state")}
        return {
            "settings": settings,
            "passed": self.passed_,
            "notes": _as_dict(self.notes_),
            "items": None if self.items_ is None else _as_dict(self.items_),
            "by_type": {str(name): _as_dict(bound) for name, bound in self.by_type_.items()},
            "leaks_by_label": self.leaks_by_label_,
            "more_notes": self.more_notes_,
        }

    def __repr__(self) -> str:
        if not hasattr(self, "notes_"):
            return f"SignOff(n_notes={self.n_notes}, nothing read)"
        found = self.notes_
        # Rounded up: a bound that is rounded down does not hold.
        upper = math.ceil(1000 * found.upper - 1e-9) / 10
        return f"SignOff({found.n} notes read, {found.n_leaks} leak, at most {upper} % leak)"

    def _check_sample(self, ids: list[str]) -> None:
        twice = next((doc_id for doc_id, n in Counter(ids).items() if n > 1), None)
        if twice is not None:
            raise DeidError("This note was read twice.", doc_id=twice)
        # The notes that the reader liked to finish are no random sample.
        other = set(ids) ^ set(getattr(self, "sample_", ids))
        if other:
            raise DeidError("The notes that were read are not the sample; this is the first.", doc_id=min(other))

    def _as_drawn(self, types: Any, n_release: Any) -> tuple[Any, Any]:
        """Types and numbers of notes, which after a draw are those of the draw."""
        if not hasattr(self, "_whole"):
            return types, n_release
        drawn, total = self._types, sum(self._whole.values())
        # With other types, notes of a rare type, which are drawn more often, would count as notes of a frequent type.
        types = drawn if types is None else types
        other = next((doc_id for doc_id, name in (drawn or {}).items() if types.get(doc_id) != name), None)
        if other is not None:
            raise DeidError("The type of this note differs from its type in 'draw'.", doc_id=other)
        if n_release is None:
            # After a draw without types, the number of notes of each type is not known.
            return types, (total if types is None else None) if drawn is None else self._whole
        by_type = isinstance(n_release, Mapping)
        # With the number of notes that were read, the share of leaks in the sample would count as the bound.
        if (sum(n_release.values()) if by_type else n_release) != total or (
            by_type and drawn is not None and n_release != self._whole
        ):
            raise ValueError("The 'n_release' parameter differs from the numbers of notes in 'draw'.")
        return types, n_release

    def _forget(self) -> None:
        for name in _RESULTS:
            self.__dict__.pop(name, None)

    def _bound(self, leaks: Any, cases: Any, patients: Any, weights: Any = None) -> LeakBound:
        return LeakBound.from_notes(leaks, cases, patients, weights, self.confidence)

    def _item_bound(
        self, notes: list[Document], owners: np.ndarray, weights: np.ndarray, hidden: Mapping[str, int] | None
    ) -> LeakBound | None:
        leaks = np.array([len(note.spans) for note in notes])
        counts = np.array([count_hidden(n.text) if hidden is None else hidden[n.doc_id] for n in notes])
        if hidden is None and not counts.any():
            return None  # surrogates, or removed PHI: the hidden items cannot be counted
        # The items are those that were hidden and those that leaked.
        return self._bound(leaks, leaks + counts, owners, weights)

    def _more(self, more_leaks: bool, n_read: int, left: float) -> int | None:
        if self.passed_:
            return 0
        found = self.notes_
        needed = found.cases_needed(self.target, more_leaks=more_leaks)
        # Further notes bring as many effective cases per note as the notes that were read.
        more = needed * n_read / found.n_effective - n_read
        if more > left:
            # After reading all remaining notes, the share is known.
            share = found.share if more_leaks else found.n_leaks / (n_read + left)
            return int(left) if share <= self.target else None
        return None if math.isinf(more) else max(1, math.ceil(more))


def _strata(ids: Sequence[str], types: Mapping[str, Hashable] | None) -> dict[Hashable, list[int]]:
    """Positions of the ids of each type, in the order of the names of the types."""
    if types is None:
        return {"all": list(range(len(ids)))}
    missing = next((doc_id for doc_id in ids if doc_id not in types), None)
    if missing is not None:
        raise DeidError("This note has no type.", doc_id=missing)
    strata: dict[Hashable, list[int]] = {name: [] for name in sorted({types[i] for i in ids}, key=str)}
    if len({str(name) for name in strata}) < len(strata):
        # The record names a type by its text: the bounds of 1 and "1" could not be told apart.
        raise DeidError("Two types of notes are written alike. Give each type one name, of one Python type.")
    for place, doc_id in enumerate(ids):
        strata[types[doc_id]].append(place)
    return strata


def _allocation(sizes: list[int], n: int) -> list[int]:
    """Number of notes to draw of each type: in proportion to the sizes (largest remainders), at least one."""
    shares = [n * size / sum(sizes) for size in sizes]
    # A stratum without a note would not be covered by the bound at all.
    given = [max(1, math.floor(share)) for share in shares]
    while sum(given) < n:
        place = min((p for p in range(len(sizes)) if given[p] < sizes[p]), key=lambda p: given[p] - shares[p])
        given[place] += 1
    while sum(given) > n:
        place = max((p for p in range(len(sizes)) if given[p] > 1), key=lambda p: given[p] - shares[p])
        given[place] -= 1
    return given


def _release_sizes(
    strata: Mapping[Hashable, list[int]], n_release: int | Mapping[Hashable, int] | None
) -> dict[Hashable, int]:
    read = {name: len(members) for name, members in strata.items()}
    if n_release is None:
        return read
    if not isinstance(n_release, Mapping):
        if len(strata) > 1:
            raise ValueError("The 'n_release' parameter must hold the number of notes of each type.")
        n_release = dict.fromkeys(strata, n_release)
    # A type without a note in the sample would be missing from the bound.
    if n_release.keys() != read.keys() or any(n_release[name] < read[name] for name in read):
        raise ValueError("The 'n_release' parameter must hold at least the notes that were read, for each type.")
    return dict(n_release)


def _as_dict(bound: LeakBound) -> dict[str, Any]:
    share = None if math.isnan(bound.share) else bound.share
    return {name: value for name, value in {**asdict(bound), "share": share}.items() if name != "confidence"}
