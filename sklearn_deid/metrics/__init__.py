"""Measures of de-identification: official scores, leaks, scorers, calibration, thresholds and usefulness of notes.

Imports are lazy (PEP 562): the first access to a name imports the module that defines the name.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "alterations": "ALTERATIONS Alteration AlteredNote",
        "calibration": "ReliabilityCurve expected_calibration_error phi_confidences reliability_curve span_confidences",
        "counting": "Counts RULES Rule compare compare_by_label merged_counts",
        "decision_thresholds": ("missed_patient_threshold reachable_recall recall_lower_bounds recall_threshold"),
        "estimate": "Estimate",
        "leaks": "Leak LeakList leak_list",
        "pairing": "Pairing count_sentences infer_label_scheme pair_documents",
        "price_curve": "PriceCurve",
        "report": "deid_report",
        "robustness": "RobustnessRow RobustnessTable robustness_table",
        "scorers": "PHI_SCORERS get_scorer make_phi_scorer",
        "sequences": "phi_f1_score phi_precision_score phi_recall_score",
        "token_prior": "normalised_prior phi_word_prior",
        "utility": "UtilitySettings utility_report",
        "utility_output": "UtilityFigure UtilityReport",
    },
)
