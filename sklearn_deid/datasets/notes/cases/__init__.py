"""The clinical cases that generated stays are about, by part of the body."""

from __future__ import annotations

from . import abdomen, bones, chest, family, heart, metabolism, nerves
from .case import CASE_RULES, STAY_FACTS, Case
from .modalities import MODALITIES

__all__ = ["ALL_CASES", "CASE_RULES", "MODALITIES", "STAY_FACTS", "Case"]

ALL_CASES: tuple[Case, ...] = (
    *heart.CASES,
    *chest.CASES,
    *abdomen.CASES,
    *nerves.CASES,
    *bones.CASES,
    *metabolism.CASES,
    *family.CASES,
)
