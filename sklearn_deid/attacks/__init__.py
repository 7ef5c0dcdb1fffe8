"""Attacks on what is released, one attacker a file: what he holds, what he finds, and controls."""

from .protocol import CONTROL_CONFIDENCE, THREATS, Attack, AttackResult, Estimate

__all__ = ["CONTROL_CONFIDENCE", "THREATS", "Attack", "AttackResult", "Estimate"]
