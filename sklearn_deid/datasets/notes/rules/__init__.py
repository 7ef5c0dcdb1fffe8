"""Rules that every note may use: alternatives for a name, in the template language of ``grammar``."""

from __future__ import annotations

from . import children, elders, examination, fields, history, traps
from .history import ALLERGIES, CHILD_PROBLEMS, PROBLEMS

__all__ = ["ALLERGIES", "CHILD_PROBLEMS", "CHILD_RULES", "ELDER_RULES", "PROBLEMS", "SHARED_RULES"]

SHARED_RULES: dict[str, tuple[str, ...]] = {**fields.RULES, **history.RULES, **examination.RULES, **traps.RULES}
CHILD_RULES: dict[str, tuple[str, ...]] = children.RULES
ELDER_RULES: dict[str, tuple[str, ...]] = elders.RULES
