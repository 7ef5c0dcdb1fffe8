"""Measures of de-identification: official scores, leaks, scorers, calibration, thresholds and usefulness of notes."""

from .alterations import ALTERATIONS, Alteration, AlteredNote
from .calibration import (
    ReliabilityCurve,
    expected_calibration_error,
    phi_confidences,
    reliability_curve,
    span_confidences,
)
from .counting import RULES, Counts, Rule, compare, compare_by_label, merged_counts
from .decision_thresholds import (
    bootstrap_ratio,
    missed_patient_threshold,
    reachable_recall,
    recall_lower_bounds,
    recall_threshold,
)
from .estimate import Estimate
from .leaks import Leak, LeakList, leak_list
from .pairing import Pairing, count_sentences, infer_label_scheme, pair_documents
from .price_curve import PriceCurve
from .report import deid_report
from .robustness import RobustnessRow, RobustnessTable, robustness_table
from .scorers import PHI_SCORERS, get_scorer, make_phi_scorer
from .sequences import phi_f1_score, phi_precision_score, phi_recall_score
from .token_prior import normalised_prior, phi_word_prior
from .utility import UtilitySettings, utility_report
from .utility_output import UtilityFigure, UtilityReport

__all__ = [
    "ALTERATIONS",
    "PHI_SCORERS",
    "RULES",
    "Alteration",
    "AlteredNote",
    "Counts",
    "Estimate",
    "Leak",
    "LeakList",
    "Pairing",
    "PriceCurve",
    "ReliabilityCurve",
    "RobustnessRow",
    "RobustnessTable",
    "Rule",
    "UtilityFigure",
    "UtilityReport",
    "UtilitySettings",
    "bootstrap_ratio",
    "compare",
    "compare_by_label",
    "count_sentences",
    "deid_report",
    "expected_calibration_error",
    "get_scorer",
    "infer_label_scheme",
    "leak_list",
    "make_phi_scorer",
    "merged_counts",
    "missed_patient_threshold",
    "normalised_prior",
    "pair_documents",
    "phi_confidences",
    "phi_f1_score",
    "phi_precision_score",
    "phi_recall_score",
    "phi_word_prior",
    "reachable_recall",
    "recall_lower_bounds",
    "recall_threshold",
    "reliability_curve",
    "robustness_table",
    "span_confidences",
    "utility_report",
]
