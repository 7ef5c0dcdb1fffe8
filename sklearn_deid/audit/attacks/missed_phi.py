"""Missed PHI: in a note with surrogates, find the span that was not replaced."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from ...metrics import Estimate
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import SURROGATES
from .declaration import AttackPreset, timed
from .surrogate_pairs import years_of
from .surrogate_spans import SurrogateSpans, hits_by_label
from .untrained import UntrainedAttack

_POSITIVE_BAR = 0.9


class MissedPhiAttack(UntrainedAttack):
    """Pick the one original among the surrogates of a note.

    In each trial, one span of a note shows its original, because the tagger missed the span, and all other spans show
    surrogates. The attacker sees the spans of the note with their labels. For other patients, the attacker knows which
    spans are originals and which are surrogates. The attacker picks the span that is most likely an original. The
    attacker trains a logistic regression on groups of letters, on the other spans of the note that share a word, and on
    the distance of a year from the other years of the note. Each span of the measured patients is missed in one trial.

    A success identifies PHI that was missed, but gives no information about the spans that were replaced. The result is
    therefore declared open, that is, the result is not part of the score of an audit.

    Parameters
    ----------
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval over patients.
    random_state : int or None, default=None
        Random seed of the negative control.

    References
    ----------
    Carrell et al. (2013), Hiding in plain sight: use of realistic surrogates to reduce exposure of protected health
    information in clinical text, JAMIA 20.

    Examples
    --------
    >>> from sklearn_deid import make_clinical_notes
    >>> from sklearn_deid.audit.attacks import MissedPhiAttack, spans_of_notes
    >>> from sklearn_deid.surrogates import SurrogateEngine
    >>> notes = make_clinical_notes(30, random_state=0)
    >>> spans = spans_of_notes(notes, [SurrogateEngine(key=bytes(32)).rewrite_all(notes)])
    >>> result = MissedPhiAttack(random_state=0).fit(spans).attack(spans)
    >>> result.status, result.attack.value > result.details["guessing among the spans of the note"]
    ('ok', True)
    """

    key = "missed_phi"
    family = "missed_phi"
    title = "Missed PHI among surrogates"
    order = 63
    releases = (SURROGATES,)
    presets = (AttackPreset("missed_phi", "Missed PHI among surrogates", 5.0, 5.0, quick=True),)
    phrase = (
        "An attacker who reads a note in which one span of PHI was missed picks this span out of all spans of the note "
        "in {} of cases"
    )
    name = "missed PHI among surrogates"
    attacker = (
        "A reader of the surrogate text who finds all spans of a note, and who knows originals and surrogates of other "
        "patients."
    )
    measure = "proportion of missed spans that the attacker picks out of all spans of the note"

    def __init__(self, *, confidence: float = 0.95, random_state: Any = None) -> None:
        self.confidence, self.random_state = confidence, random_state

    def run(self, release: Any) -> list[AttackResult]:
        """Attack the notes of the measured patients."""
        return [self.fit(release.spans(("train", "valid"))).attack(release.spans(("test",)))]

    @timed
    def attack(self, released: SurrogateSpans) -> AttackResult:
        """Leave each original in place once, and pick a span of the note in the role of the attacker.

        Parameters
        ----------
        released : SurrogateSpans
            Spans of the release. The attack uses the first surrogate of each span.

        Raises
        ------
        ValueError
            If all notes have one span.
        """
        rng = np.random.default_rng(self.random_state)
        sizes = Counter(released.notes.tolist())
        n_spans = np.array([sizes[note] for note in released.notes.tolist()])  # of the note of each span
        trials = n_spans > 1
        if not trials.any():
            raise ValueError("No note has two spans, so that there is nothing to pick from.")
        picked = _picked(self._knowledge, released)
        hits = (picked == np.arange(len(released)))[trials]
        # Surrogates in brackets hide nothing: the missed span is the only one that reads like text.
        marked = [replace(spans, surrogates=[("[PHI]",)] * len(spans)) for spans in (self._knowledge, released)]
        open_hits = (_picked(*marked) == np.arange(len(released)))[trials]
        rows = _rows_of_notes(released)
        guessed = np.array([rng.choice(rows[note]) for note in released.notes.tolist()])
        groups = released.groups[trials]
        found = Estimate.from_hits(hits, groups, self.confidence)
        return self.result(
            found,
            Estimate.exact(found.value),
            Estimate.from_hits(open_hits),
            _POSITIVE_BAR,
            Estimate.from_hits(guessed == picked, released.groups, CONTROL_CONFIDENCE),
            float((1.0 / n_spans).mean()),
            settings={"open_by_declaration": True},
            details={
                "guessing among the spans of the note": float((1.0 / n_spans[trials]).mean()),
                "spans of a note": float(np.mean(list(sizes.values()))),
                "by label": hits_by_label(hits, released.labels[trials], groups, self.confidence, "trials"),
            },
        )


def _picked(known: SurrogateSpans, shown: SurrogateSpans) -> np.ndarray:
    """For each row, the span that the attacker picks if the span of this row was missed, shape (n,)."""
    features = vstack([_features(known, originals) for originals in (True, False)])
    model = LogisticRegression(C=3.0, max_iter=300).fit(features, np.repeat([1, 0], len(known)))
    missed, replaced = (model.decision_function(_features(shown, kind)) for kind in (True, False))
    # Each span is missed in its own trial: the span shows its original, and the rest of the note shows surrogates.
    out = np.empty(len(shown), dtype=np.int64)
    for rows in _rows_of_notes(shown).values():
        for i in rows:
            scores = np.where(rows == i, missed[rows], replaced[rows])
            out[i] = rows[int(np.argmax(scores))]
    return out


def _features(spans: SurrogateSpans, originals: bool) -> csr_array:
    """Features of each span: with ``originals``, as if only this span showed its original; otherwise, with its
    surrogate."""
    shown = [new[0] for new in spans.surrogates]
    texts = spans.originals if originals else shown
    letters = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=2**16, alternate_sign=False)
    words = HashingVectorizer(analyzer=str.split, n_features=2**16, alternate_sign=False)
    pairs = zip(spans.labels.tolist(), texts, strict=True)
    labelled = [" ".join(f"{label}:{word}" for word in text.split()) for label, text in pairs]
    context = np.zeros((len(spans), 3))
    for rows in _rows_of_notes(spans).values():
        _add_context(context, rows.tolist(), texts, shown)
    return csr_array(hstack([letters.transform(texts), words.transform(labelled), csr_array(context)]))


def _add_context(context: np.ndarray, rows: list[int], texts: list[str], shown: list[str]) -> None:
    """Write the features of shared words, and of the distance of a year from the other years of the note."""
    counts = Counter(word for i in rows for word in set(shown[i].casefold().split()))
    years = {i: years_of(shown[i]) for i in rows}
    for i in rows:
        own = set(shown[i].casefold().split())
        # Words of two letters (de, of) are shared by chance.
        words = {word for word in texts[i].casefold().split() if len(word) > 2}
        # The span itself does not count as a span that shares its words.
        context[i, 0] = any(counts[word] > (word in own) for word in words)
        others = [year for j in rows if j != i for year in years[j]]
        mine = years_of(texts[i])
        if mine and others:
            # All dates of a patient move by one shift, so that an unshifted year is far from the others.
            gap = min(abs(mine[0] - year) for year in others)
            context[i, 1:] = min(gap, 10) / 10, gap == 0


def _rows_of_notes(spans: SurrogateSpans) -> dict[Any, np.ndarray]:
    """Rows of the spans of each note."""
    _, numbers = np.unique(spans.notes, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
    return {spans.notes[rows[0]]: rows for rows in parts}
