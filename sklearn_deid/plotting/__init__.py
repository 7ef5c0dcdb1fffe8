"""Displays: figures of measured results, drawn with matplotlib (extra ``plot``)."""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "audit_display": "AuditDisplay",
        "price_display": "RecallPriceDisplay",
        "reliability_display": "ReliabilityDisplay",
        "trade_off": "TradeOffDisplay",
        "trade_off_point": "TradeOffPoint",
        "training_curves": "TrainingCurvesDisplay",
    },
)
