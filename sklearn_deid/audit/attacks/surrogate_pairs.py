"""Originals of surrogates: which of two originals of one label and written form belongs to a surrogate?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import log1p
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ...metrics import Estimate
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import SURROGATES
from .declaration import AttackPreset, check_least, timed
from .surrogate_spans import DATES, SurrogateSpans, hits_by_label
from .untrained import UntrainedAttack

_POSITIVE_BAR = 0.95
# Labels with fewer training pairs share a model.
_OWN_MODEL = 200
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONGEST_NUMBER = 15


class SurrogatePairAttack(UntrainedAttack):
    """Decide which of two originals belongs to a surrogate.

    The candidates are the original of the span and the original of another span. Both candidates have the same label
    and the same `sklearn_deid.surrogates.written_form`, so that label and written form do not help the attacker.
    `sklearn_deid.surrogates.SurrogateEngine` states that surrogates are independent of the originals given label and
    form. If this statement is true, the expected accuracy of every attacker is at most one half. The attacker knows
    originals and surrogates of other patients, and trains a logistic regression for each label on similarities of
    candidate and surrogate. The similarities compare letters by position from the start and from the end, first and
    last letters, length, pairs of letters, common words, digits and years.

    Dates are not independent of their surrogates, because the shift of dates is limited. With ``dates=True`` the attack
    measures only dates. The result on dates is declared open, that is, the result is not part of the score of an audit.
    The attack leaves out spans whose form no other original has, such as ages that are not replaced. The details
    contain the result for each label.

    Parameters
    ----------
    dates : bool, default=False
        Whether to attack dates, instead of all other labels.
    n_releases : int, default=1
        Number of releases with different keys that the attacker sees.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals over patients.
    random_state : int or None, default=None
        Random seed of the candidates and of the negative control.

    Examples
    --------
    >>> from sklearn_deid import make_clinical_notes
    >>> from sklearn_deid.audit.attacks import SurrogatePairAttack, spans_of_notes
    >>> from sklearn_deid.surrogates import SurrogateEngine
    >>> notes = make_clinical_notes(40, random_state=0)
    >>> spans = spans_of_notes(notes, [SurrogateEngine(key=bytes(32)).rewrite_all(notes)])
    >>> result = SurrogatePairAttack(random_state=0).fit(spans).attack(spans)
    >>> result.status, sorted(result.details["by label"]["PATIENT"])
    ('ok', ['high', 'low', 'pairs', 'value'])
    """

    key = "surrogates"
    family = "surrogates"
    title = "Originals of surrogates"
    order = 62
    releases = (SURROGATES,)
    presets = (
        AttackPreset("surrogates", "Two originals of one form", 9.0, 3.0, quick=True),
        AttackPreset("surrogates_releases", "The same, with several releases", 9.0, 10.0, repeated=True, quick=True),
        AttackPreset("surrogate_dates", "Two dates of one form", 5.0, 1.0, {"dates": True}, quick=True),
    )
    attacker = (
        "A recipient of the surrogate text who knows the method, originals and surrogates of other patients, and two "
        "candidates of the same label and written form."
    )
    measure = "proportion of spans whose original is the attacker's choice out of two"

    def __init__(
        self, *, dates: bool = False, n_releases: int = 1, confidence: float = 0.95, random_state: Any = None
    ) -> None:
        check_least(1, n_releases=n_releases)
        self.dates, self.n_releases = dates, n_releases
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        what = "originals of shifted dates" if self.dates else "originals of surrogates"
        return what + (f", {self.n_releases} releases" if self.n_releases > 1 else "")

    @property
    def phrase(self) -> str:
        """Action of the attacker, with a gap for the proportion of successful attempts."""
        what = "a shifted date" if self.dates else "a surrogate"
        return (
            f"An attacker picks the original of {what} out of two of the same label and written form in {{}} of cases"
        )

    def run(self, release: Any) -> list[AttackResult]:
        """Attack the spans of the measured patients."""
        known, shown = (release.spans(parts, self.n_releases) for parts in (("train", "valid"), ("test",)))
        return [self.fit(known).attack(shown)]

    @timed
    def attack(self, released: SurrogateSpans) -> AttackResult:
        """Choose between the original and another original of the same form, for each span.

        Parameters
        ----------
        released : SurrogateSpans
            Spans of the release.

        Raises
        ------
        ValueError
            If no two originals of the release, or of the knowledge, have the same label and form.
        """
        rng = np.random.default_rng(self.random_state)
        known, shown = (_with_rivals(spans, self.dates, rng) for spans in (self._knowledge, released))
        if not len(known[0]) or not len(shown[0]):
            raise ValueError("No two originals have the same label and written form.")
        hits = _hits((self._knowledge, *known), (released, *shown))
        open_hits = _hits((_open(self._knowledge), *known), (_open(released), *shown))
        blind_hits = _hits((_blind(self._knowledge, rng), *known), (_blind(released, rng), *shown))
        groups = released.groups[shown[0]]
        found = Estimate.from_hits(hits, groups, self.confidence)
        return self.result(
            found,
            # An attack on properties that are declared open is compared with its own success as the guess, as for the
            # casing of vectors.
            Estimate.exact(found.value) if self.dates else 0.5,
            Estimate.from_hits(open_hits),
            _POSITIVE_BAR,
            Estimate.from_hits(blind_hits, groups, CONTROL_CONFIDENCE),
            0.5,
            settings={"n_releases": self.n_releases, **({"open_by_declaration": True} if self.dates else {})},
            details={
                "by label": hits_by_label(hits, released.labels[shown[0]], groups, self.confidence, "pairs"),
                "spans": len(released),
                "surrogate equals the original": _equal(released),
            },
        )


def _with_rivals(spans: SurrogateSpans, dates: bool, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Rows of the measured spans, and a rival for each row: the original of another span of the same label and form."""
    pools: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i in rng.permutation(len(spans)).tolist():
        if (spans.kinds[i] in DATES) == dates:
            pools[spans.labels[i], spans.forms[i]].append(i)
    rows: list[int] = []
    rivals: list[str] = []
    for pool in pools.values():
        for i, j in _different_pairs(pool, spans.originals):
            # The two spans of a pair are rivals of each other. If a rival were drawn for one side only, the rival would
            # be less frequent than the original, and the frequency would reveal the original.
            rows += [i, j]
            rivals += [spans.originals[j], spans.originals[i]]
    return np.array(rows, dtype=np.int64), rivals


def _different_pairs(pool: list[int], originals: list[str]) -> Iterator[tuple[int, int]]:
    """Disjoint pairs of spans with different originals; all remaining spans have the same original."""
    waiting: list[int] = []
    for i in pool:
        if waiting and originals[waiting[-1]] != originals[i]:
            yield waiting.pop(), i
        else:
            waiting.append(i)


def _hits(known: tuple[SurrogateSpans, np.ndarray, list[str]], shown: Any) -> np.ndarray:
    """Whether the attacker prefers the original to its rival, for each measured row; one half for a tie."""
    learned, told = _differences(*known), _differences(*shown)
    labels, measured = known[0].labels[known[1]], shown[0].labels[shown[1]]
    everyone = _model(learned)
    hits = np.empty(len(told))
    for label in np.unique(measured):
        own = labels == label
        model = _model(learned[own]) if own.sum() >= _OWN_MODEL else everyone
        score = model.decision_function(told[measured == label])
        hits[measured == label] = np.where(score == 0.0, 0.5, score > 0.0)
    return hits


def _model(differences: np.ndarray) -> Pipeline:
    """Logistic regression on differences of features, without an intercept, because the order of the two candidates is
    arbitrary."""
    model: Pipeline = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(fit_intercept=False))
    # Each pair is shown in both orders, so that neither side is preferred.
    both = np.concatenate([differences, -differences])
    return model.fit(both, np.repeat([1, 0], len(differences)))


def _differences(spans: SurrogateSpans, rows: np.ndarray, rivals: list[str]) -> np.ndarray:
    """Features of the original minus features of the rival, shape (n_rows, n_features)."""
    out = []
    for i, rival in zip(rows.tolist(), rivals, strict=True):
        shown = spans.surrogates[i]
        ours, theirs = ([likeness(text, one) for one in shown] for text in (spans.originals[i], rival))
        out.append(np.mean(ours, axis=0) - np.mean(theirs, axis=0))
    return np.array(out)


def likeness(original: str, surrogate: str) -> list[float]:
    """Similarities of a candidate and a surrogate.

    Examples
    --------
    >>> likeness("Alder", "alder")[:3]
    [1.0, 1.0, 1.0]
    """
    a, b = original.casefold(), surrogate.casefold()
    longest = max(len(a), len(b), 1)
    digits = ["".join(filter(str.isdecimal, text)) for text in (a, b)]
    years = [years_of(text) for text in (a, b)]
    gap = abs(years[0][0] - years[1][0]) if all(years) else 0
    # Letters are compared from both ends, because words of unequal length may agree at only one end.
    return [
        float(a == b),
        sum(x == y for x, y in zip(a, b, strict=False)) / longest,
        sum(x == y for x, y in zip(a[::-1], b[::-1], strict=False)) / longest,
        float(a[:1] == b[:1]),
        float(a[-1:] == b[-1:]),
        float(-abs(len(a) - len(b))),
        _common({a[i : i + 2] for i in range(len(a) - 1)}, {b[i : i + 2] for i in range(len(b) - 1)}),
        _common(set(a.split()), set(b.split())),
        -abs(ord(a[0]) - ord(b[0])) / 26 if a[:1].isalpha() and b[:1].isalpha() else 0.0,
        -abs(sum(c in "aeiou" for c in a) - sum(c in "aeiou" for c in b)) / 4,
        sum(x == y for x, y in zip(*digits, strict=False)) / max(len(digits[0]), len(digits[1]), 1),
        -log1p(_distance(*digits)),
        -gap / 10,
        float(gap > 10),
        float(gap == 0),
    ]


def years_of(text: str) -> list[int]:
    """Years from 1900 to 2099 in a text.

    Examples
    --------
    >>> years_of("born 3/5/1961")
    [1961]
    """
    return [int(year) for year in _YEAR.findall(text)]


def _common(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def _distance(a: str, b: str) -> float:
    return abs(float(a[:_LONGEST_NUMBER]) - float(b[:_LONGEST_NUMBER])) if a and b else 0.0


def _open(spans: SurrogateSpans) -> SurrogateSpans:
    """Same spans, each with its original as its surrogate."""
    return replace(spans, surrogates=[(text,) * len(new) for text, new in spans.pairs])


def _blind(spans: SurrogateSpans, rng: np.random.Generator) -> SurrogateSpans:
    """Same spans, with the surrogates of other spans."""
    return replace(spans, surrogates=[spans.surrogates[i] for i in rng.permutation(len(spans)).tolist()])


def _equal(spans: SurrogateSpans) -> float:
    return float(np.mean([text.casefold() in map(str.casefold, new) for text, new in spans.pairs]))
