"""Upper confidence limits for other patients, of means and shares that were measured on few patients."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

CONFIDENCE = 0.95  # of one-sided limits
_HELD_OUT_SENTENCES = 100
_quantile = cache(lambda freedom: float(student.ppf(CONFIDENCE, freedom)))  # of Student's t, by degrees of freedom


def mean_limit(values: np.ndarray, groups: np.ndarray) -> float:
    """Compute the upper 95 % limit of a mean over sentences of other patients.

    The standard error counts patients: values of one patient may depend on each other in any way. Student's t
    distribution is used, with one degree of freedom less than there are patients. If there is only one patient, each
    value counts as a patient of its own. A single value has no limit; the value itself is returned.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Value of each sentence, at least one.
    groups : ndarray of shape (n,)
        Patient of each sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.representations import mean_limit
    >>> values = np.arange(4.0)
    >>> bool(mean_limit(values, np.array([0, 0, 1, 1])) > mean_limit(values, np.arange(4)) > values.mean())
    True
    """
    error, freedom = _standard_error(values, groups)
    return float(values.mean()) + (_quantile(freedom) * error if freedom else 0.0)


def share_limit(beyond: np.ndarray, groups: np.ndarray) -> float:
    """Compute the upper 95 % limit of a share of events over sentences of other patients.

    Several draws of a sentence are averaged before the standard error is computed. More draws therefore lower the
    limit, unless the draws of a sentence are equal.

    Parameters
    ----------
    beyond : ndarray of bool, shape (n_draws, n)
        Whether the event occurred in each draw of each sentence.
    groups : ndarray of shape (n,)
        Patient of each sentence.

    Notes
    -----
    The method is Clopper and Pearson's limit, corrected for the degrees of freedom (Korn & Graubard 1998, Confidence
    intervals for proportions with small expected number of positive counts estimated from survey data, Survey
    Methodology 24). The number of events is the number of independent events that have the measured standard error. A
    limit from the normal distribution is too small for rare events.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.representations import share_limit
    >>> round(share_limit(np.zeros((1, 59), dtype=bool), np.arange(59)), 3)
    0.05
    """
    n_draws, n = beyond.shape
    shares = beyond.mean(axis=0)  # shape: (n,)
    share, (error, freedom) = float(shares.mean()), _standard_error(shares, groups)
    if share == 1.0 or not freedom:
        return 1.0
    # Without an event there is no standard error, and draws of one sentence count once.
    # Number of independent trials whose binomial proportion has this standard error; never more than were drawn.
    n_events = min(share * (1.0 - share) / max(error, 1e-9) ** 2, n_draws * n) if share else n
    # The error is an estimate, too. The squared ratio of quantiles makes the trials fewer if there are few patients
    # (Korn & Graubard 1998).
    n_events *= (_quantile(n - 1) / _quantile(freedom)) ** 2
    return float(beta.ppf(CONFIDENCE, share * n_events + 1.0, (1.0 - share) * n_events))


def n_held_out(n_patients: int, n_sentences: int) -> int:
    """Compute how many patients are held out, so that the limits are narrow.

    A tenth of the patients, but at least 10 patients and about 100 sentences, and never more than a quarter of the
    patients. One patient of two or three is held out.

    Parameters
    ----------
    n_patients : int
        Number of patients.
    n_sentences : int
        Number of their sentences with PHI that can be replaced.

    Examples
    --------
    >>> from sklearn_deid.representations.confidence_limits import n_held_out
    >>> n_held_out(100, 1_200), n_held_out(263, 380)
    (10, 65)
    """
    # Fewer than 59 independent sentences have no upper 95 % limit of 5 %: a single one with a large distance would then
    # set the noise. Short texts have one or two sentences each, notes dozens.
    enough = -(-_HELD_OUT_SENTENCES * n_patients // max(1, n_sentences))
    return max(1, min(max(-(-n_patients // 10), 10, enough), n_patients // 4))


def _standard_error(values: np.ndarray, groups: np.ndarray) -> tuple[float, int]:
    """Return the standard error of the mean of clustered values, and its degrees of freedom (0: unknown)."""
    n, number = len(values), np.unique(groups, return_inverse=True)[1]
    if n < 2:
        return 0.0, 0
    # One group for all means that patients are unknown: each sentence then counts as one.
    if not number.any():
        number = np.arange(n)
    # Residuals are summed within a patient before they are squared, since sentences of a patient err together.
    sums = np.bincount(number, weights=values - values.mean())
    freedom = len(sums) - 1
    return float(np.sqrt((sums**2).sum() * len(sums) / freedom) / n), freedom
