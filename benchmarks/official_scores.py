"""The official i2b2 counts of a tagged corpus as a small dict, as the runs of benchmarks keep them."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn_deid import deid_report
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.text import SentenceData

RULES = ("strict", "token", "binary_strict", "binary_token")
FIGURES = ("precision", "recall", "f1")


def official_scores(test: SentenceData, tags: Any) -> dict[str, Any]:
    """Precision, recall and F1 of each way of counting, and F1 of each category as "strict_by" and "token_by".

    The ways that count only what HIPAA names have ``hipaa_`` in front; they are missing where the labels do not say.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        report = deid_report(test.corpus, test.to_documents(tags), output="dict")
    out: dict[str, Any] = {}
    for rule in (*RULES, *(f"hipaa_{rule}" for rule in RULES)):
        if report[rule] is not None:
            out[rule] = {name: _rounded(report[rule][name]) for name in FIGURES}
    for rule in ("strict", "token"):
        out[f"{rule}_by"] = {name: _rounded(row["f1"]) for name, row in report[rule]["by_category"].items()}
    return out


def _rounded(score: float | None) -> float:
    # The official scripts give 0 where there is nothing to divide by.
    return round(score or 0.0, 5)
