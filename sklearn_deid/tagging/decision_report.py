"""How a decision rule does on held-out patients."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from ..metrics import Estimate, bootstrap_ratio
from ..text import BINARY, I2B2_2014, MEDDOCAN, labels_of, split_tag
from .held_out import HeldOut

__all__ = ["DecisionReport", "direct_identifiers", "gold_items", "measure_decision", "patient_scores"]

_DIRECT_CATEGORIES = {"NAME", "CONTACT", "ID", "PHI"}
_DIRECT_LABELS = {"STREET", "CALLE", "FAMILIARES_SUJETO_ASISTENCIA"}


@dataclass(frozen=True)
class DecisionReport:
    """Figures on held-out patients, each with an interval of a bootstrap over patients (95 %).

    Parameters
    ----------
    n_patients, n_tokens : int
        Held out.
    decision_bias : float
    recall : Estimate
        Share of the PHI tokens (or spans) that are tagged, as ``level`` and ``binary`` of the tagger say.
    precision : Estimate
        Share of the tagged tokens that are PHI, whatever their label.
    untuned_recall, untuned_precision : Estimate
        The same at a bias of 0.
    missed_patients : Estimate
        Share of the patients of whom at least one token of a direct identifier is not tagged.

    Examples
    --------
    >>> share = Estimate(0.5, 0.25, 0.75)
    >>> print(DecisionReport(4, 90, 1.5, share, share, share, share, share))
    4 held-out patients, 90 tokens, decision bias 1.50
    recall 50.00 % (25.00 to 75.00), without bias 50.00 % (25.00 to 75.00)
    precision 50.00 % (25.00 to 75.00), without bias 50.00 % (25.00 to 75.00)
    patients with a missed direct identifier 50.00 % (25.00 to 75.00)
    """

    n_patients: int
    n_tokens: int
    decision_bias: float
    recall: Estimate
    precision: Estimate
    untuned_recall: Estimate
    untuned_precision: Estimate
    missed_patients: Estimate

    def __str__(self) -> str:
        return (
            f"{self.n_patients} held-out patients, {self.n_tokens} tokens, decision bias {self.decision_bias:.2f}\n"
            f"recall {_percent(self.recall)}, without bias {_percent(self.untuned_recall)}\n"
            f"precision {_percent(self.precision)}, without bias {_percent(self.untuned_precision)}\n"
            f"patients with a missed direct identifier {_percent(self.missed_patients)}"
        )


def _percent(share: Estimate) -> str:
    between = f" ({100 * share.low:.2f} to {100 * share.high:.2f})" if share.has_interval else ""
    return f"{100 * share.value:.2f} %{between}"


def direct_identifiers(labels: Iterable[str], chosen: Collection[str] | str | None) -> frozenset[str]:
    """Labels that identify someone by themselves.

    Parameters
    ----------
    labels : iterable of str
        All labels.
    chosen : collection of str, "auto" or None
        These labels; names, contacts, identifiers, streets and relatives of the known schemes, and every label that no
        scheme knows; or all labels.

    Raises
    ------
    ValueError
        If a chosen label does not occur.

    Examples
    --------
    >>> sorted(direct_identifiers(["PATIENT", "AGE", "WARD"], "auto"))
    ['PATIENT', 'WARD']
    """
    known = frozenset(labels)
    if chosen is None:
        return known
    if not isinstance(chosen, str):
        unknown = sorted(set(chosen) - known)
        if unknown:
            raise ValueError(f"'direct_labels' names labels that y does not hold: {unknown}.")
        return frozenset(chosen)
    return frozenset(label for label in known if label in _DIRECT_LABELS or _category(label) in _DIRECT_CATEGORIES)


def _category(label: str) -> str:
    found = (scheme.category(label) for scheme in (I2B2_2014, MEDDOCAN, BINARY))
    return next((category for category in found if category is not None), "PHI")


def gold_items(held: HeldOut, level: str, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """Score and patient of each gold item: it is found by every threshold that is not above its score.

    A span is found if all of its tokens are tagged. Where labels count, a token with another label is never found.
    """
    scores = held.marginals.phi.copy()
    labels = np.array([split_tag(tag)[1] for tag in held.tags.data], dtype=object)
    gold = np.array([label is not None for label in labels], dtype=bool)
    if not binary:
        decided = held.marginals.decode(0.0)[0].data
        wrong = np.array([split_tag(tag)[1] for tag in decided], dtype=object) != labels
        scores[wrong & gold] = 0.0
    if level == "token":
        return scores[gold], held.token_patients[gold]
    starts = held.tags.offsets[:-1]
    spans = [(at + a, at + b) for at, row in zip(starts, held.tags, strict=True) for a, b, _ in labels_of(row)]
    smallest = np.array([scores[a:b].min() for a, b in spans], dtype=float)
    return smallest, held.token_patients[np.array([a for a, _ in spans], dtype=np.intp)]


def patient_scores(held: HeldOut, direct: frozenset[str]) -> np.ndarray:
    """Of each patient the smallest probability at a token of a direct identifier; infinity without any."""
    patients, number = np.unique(held.token_patients, return_inverse=True)
    # patients whose sentences have no token count too
    scores = np.full(len(np.unique(held.patients)), np.inf)
    hit = np.array([split_tag(tag)[1] in direct for tag in held.tags.data], dtype=bool)
    np.minimum.at(scores[: len(patients)], number[hit], held.marginals.phi[hit])
    return scores


def measure_decision(
    held: HeldOut, bias: float, items: tuple[np.ndarray, np.ndarray], direct: frozenset[str]
) -> DecisionReport:
    """The report of a bias."""
    patient, number = np.unique(held.token_patients, return_inverse=True)
    gold = held.tags.data != "O"
    scores, owners = items[0], np.searchsorted(patient, items[1])
    n = len(patient)

    def recall(threshold: float) -> Estimate:
        return bootstrap_ratio(np.bincount(owners[scores >= threshold], minlength=n), np.bincount(owners, minlength=n))

    def precision(threshold: float) -> Estimate:
        tagged = held.marginals.phi >= threshold
        hits = np.bincount(number[tagged & gold], minlength=n)
        return bootstrap_ratio(hits, np.bincount(number[tagged], minlength=n))

    at = threshold_of(bias)
    missed = (patient_scores(held, direct) < at).astype(float)
    return DecisionReport(
        n_patients=len(missed),
        n_tokens=len(gold),
        decision_bias=float(bias),
        recall=recall(at),
        precision=precision(at),
        untuned_recall=recall(0.5),
        untuned_precision=precision(0.5),
        missed_patients=bootstrap_ratio(missed, np.ones(len(missed))),
    )


def threshold_of(bias: float) -> float:
    """Probability of PHI from which on a token is tagged.

    Examples
    --------
    >>> threshold_of(0.0)
    0.5
    """
    return float(1 / (1 + np.exp(bias)))
