"""Accuracy of the best possible attacker over one kind of cases: pairs, sentences or patients."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from scipy.stats import binom
from scipy.stats import t as student
from torch import Tensor

from ..metrics import Estimate

_ESTIMATES = ("mean_accuracy", "quantile_accuracy", "mean_with_casing")
_FIGURES = re.compile("accuracy|with_casing|distance|share")
_MANY = 20  # cases from which on a mean is published with three decimals


@dataclass(frozen=True)
class PartBound:
    """Accuracy of the best possible attacker over one kind of cases; 0.5 is chance.

    A case is a question with two candidates, for example: "was this patient's release made from these sentences, or
    from copies in which all PHI was replaced?" `PrivacyBound` lists the kinds of cases.

    Attributes
    ----------
    n_cases, n_releases : int
        Number of cases, and number of releases (r) that the attacker sees.
    mean_accuracy : Estimate
        Mean accuracy of an attacker who sees the vectors alone, with a 95 % interval for other cases of the same kind.
    quantile : float
        Share of the cases whose accuracy is at most ``quantile_accuracy``.
    quantile_accuracy : Estimate
        Quantile of the accuracy over the cases, with an interval from order statistics.
    largest_accuracy : float
        Largest accuracy among the cases.
    slack : float, default=0.0
        Part of each accuracy that covers the finite precision of the noise.
    mean_with_casing : Estimate or None
        Mean accuracy of an attacker who also sees the released casing. The new words are written in the casing of the
        replaced tokens, as by a pseudonymizer. None if no casing is released.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import PartBound
    >>> bound = PartBound.of(torch.tensor([0.6, 0.8]), n_releases=1)
    >>> round(bound.mean_accuracy.value, 3), round(bound.largest_accuracy, 3), bound.n_cases
    (0.7, 0.8, 2)
    """

    n_cases: int
    n_releases: int
    mean_accuracy: Estimate
    quantile: float
    quantile_accuracy: Estimate
    largest_accuracy: float
    slack: float = 0.0
    mean_with_casing: Estimate | None = None

    @classmethod
    def of(
        cls,
        accuracies: Tensor,
        *,
        n_releases: int,
        quantile: float = 0.95,
        slack: float = 0.0,
        with_casing: Tensor | None = None,
        few_cases: bool = True,
    ) -> PartBound:
        """Summarise the accuracies of cases.

        Parameters
        ----------
        accuracies : Tensor of shape (n,)
            Accuracy of the best attacker on each case, at least one.
        n_releases : int
            Number of releases for which the accuracies hold.
        quantile : float in (0, 1), default=0.95
            Quantile to report.
        slack : float, default=0.0
            Accuracy that is added to each case.
        with_casing : Tensor of shape (n,), optional
            Accuracies of an attacker who also sees the casing.
        few_cases : bool, default=True
            Whether the intervals of means use Student's t, which few patients need. False uses the normal distribution.

        Raises
        ------
        ValueError
            If there is no case.
        """
        n = len(accuracies)
        if not n:
            raise ValueError("There is no pair of sentences to compute the bound for.")
        if not isinstance(quantile, Real) or isinstance(quantile, bool) or not 0.0 < quantile <= 1.0:
            raise ValueError(f"The 'quantile' parameter must be above 0 and at most 1. Got {quantile!r}.")
        ordered = _with_slack(accuracies, slack).sort().values  # shape: (n,)
        # Ranks between which the quantile lies with 95 % probability, for every distribution of the accuracies.
        low, high = (int(binom.ppf(p, n, quantile)) for p in (0.025, 0.975))
        # Order statistics instead of a normal approximation: the accuracies end at 1, where their density is far from
        # normal.
        value, least, most = (float(ordered[_rank(at, n)]) for at in (quantile * n, low, high + 1))
        both = None if with_casing is None else _with_slack(with_casing, slack)
        return cls(
            n_cases=n,
            n_releases=n_releases,
            mean_accuracy=mean_accuracy(float(ordered.mean()), ordered, few_cases=few_cases),
            quantile=quantile,
            quantile_accuracy=Estimate(value, least, most, n),
            largest_accuracy=float(ordered[-1]),
            slack=slack,
            mean_with_casing=None if both is None else mean_accuracy(float(both.mean()), both, few_cases=few_cases),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, for JSON; an estimate becomes ``NAME``, ``NAME_low`` and ``NAME_high``."""
        return plain_numbers(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PartBound:
        """Make a bound from the numbers that `to_dict` returned."""
        return cls(**with_estimates(plain, _ESTIMATES, plain["n_cases"]))

    def __str__(self) -> str:
        casing, mean = self.mean_with_casing, self.mean_accuracy
        beside = "" if casing is None else f", with the casing {_rounded_up(casing.value)}"
        low = math.floor(round(1000 * mean.low, 6)) / 1000
        return (
            f"mean {_rounded_up(mean.value)} ({low:.3f} to {_rounded_up(mean.high)}){beside}; {100 * self.quantile:g} "
            f"% quantile {_rounded_up(self.quantile_accuracy.value)}; largest {_rounded_up(self.largest_accuracy)}; n "
            f"= {self.n_cases}, releases: {self.n_releases}"
        )


def mean_accuracy(mean: float, accuracies: Tensor, *, few_cases: bool = False) -> Estimate:
    """Put a 95 % interval around a mean accuracy, clipped to 0.5 to 1.

    Parameters
    ----------
    mean : float
        Mean accuracy.
    accuracies : Tensor of shape (n,)
        Accuracy of each case. The spread of the accuracies determines the width of the interval.
    few_cases : bool, default=False
        Whether the interval uses Student's t. If False, the interval uses the normal distribution.
    """
    n = len(accuracies)
    # Student's quantile for few cases: with a dozen patients the normal quantile would give too short an interval.
    width = float(student.ppf(0.975, n - 1)) if few_cases and n > 1 else 1.96
    # Central limit theorem: cases belong to different sentences or patients, so they are nearly independent.
    half = width * float(accuracies.std()) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(mean, max(0.5, mean - half), min(1.0, mean + half), n)


def plain_numbers(bound: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain values; estimates become three numbers, and None is left out."""
    plain: dict[str, Any] = {}
    for name in (field.name for field in fields(bound)):
        value = getattr(bound, name)
        if isinstance(value, Estimate):
            plain |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        elif value is not None:
            plain[name] = value.to_dict() if hasattr(value, "to_dict") else value
    return plain


def published_numbers(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Round the numbers of `plain_numbers` for a published file, accuracies and shares up and lower ends down.

    Quantiles and largest values belong to a single sentence or patient. From all digits, an attacker who has the
    network could recognise this sentence or patient in a list. Quantiles and largest values have two decimals; means
    over 20 cases or more have three decimals. The slack is rounded up to a power of ten, because it is proportional to
    the length of the longest sentence, or of a patient.

    Examples
    --------
    >>> published_numbers({"n_cases": 40, "mean_accuracy": 0.53123, "largest_accuracy": 0.68294851, "slack": 3e-10})
    {'n_cases': 40, 'mean_accuracy': 0.532, 'largest_accuracy': 0.69, 'slack': 1e-09}
    """
    n = max(plain.get(name, 0) for name in ("n_cases", "n_pairs", "n_sentences"))
    out: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            out[name] = published_numbers(value)
        elif isinstance(value, float) and math.isfinite(value) and _FIGURES.search(name):
            scale = 100.0 if n < _MANY or name.startswith(("quantile", "largest")) else 1000.0
            # A product such as 0.54 * 100 can lie just above a whole number.
            steps = round(value * scale, 6)
            out[name] = (math.floor(steps) if name.endswith("_low") else math.ceil(steps)) / scale
        elif name == "slack" and value > 0.0:
            out[name] = float(f"1e{math.ceil(round(math.log10(value), 6))}")
        else:
            out[name] = value
    return out


def with_estimates(plain: Mapping[str, Any], names: tuple[str, ...], n: int) -> dict[str, Any]:
    """Make estimates of these names from the numbers of `plain_numbers`; names without numbers are left out."""
    numbers = dict(plain)
    for name in names:
        if name in numbers:
            value, low, high = (numbers.pop(name + end) for end in ("", "_low", "_high"))
            numbers[name] = Estimate(value, low, high, n)
    return numbers


def _rounded_up(accuracy: float) -> str:
    return f"{math.ceil(round(1000 * accuracy, 6)) / 1000:.3f}"


def _with_slack(accuracies: Tensor, slack: float) -> Tensor:
    return (accuracies.detach().double().cpu() + slack).clamp(max=1.0)


def _rank(position: float, n: int) -> int:
    """Convert the position of an order statistic, counted from 1, to an index."""
    # With few cases the upper rank can lie beyond the last case, which then takes its place.
    return min(max(math.ceil(position) - 1, 0), n - 1)
