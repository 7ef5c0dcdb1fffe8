"""Attacks on pseudonymised text."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from ...metrics import phi_word_prior
from ..attacks.linkage import LinkageAttack
from ..attacks.pseudonymised_text import PseudonymisedText, PseudonymKnowledge
from ..attacks.reidentification import ReidentificationAttack
from ..attacks.sentence_pairs import ReleasedSentences
from ..audit_data import AuditData
from ..protocol import AttackResult

__all__ = ["ReleasedText"]


class ReleasedText:
    """Sentences of which PHI words were moved, with the mechanism if it is known.

    Parameters
    ----------
    released : TokenSequences
        All sentences of ``data``, as they were released.
    data : AuditData
    pseudonymizer : fitted TokenPerturber or None
        None if only the text is known.
    """

    def __init__(self, released: Any, data: AuditData, pseudonymizer: Any = None) -> None:
        self.released, self.data, self.pseudonymizer = released, data, pseudonymizer

    def run(self, attack: Any) -> list[AttackResult]:
        """Results of one attack: re-identification of simulated releases, or of the given ones by `run_overlap`."""
        if isinstance(attack, ReidentificationAttack):
            return [attack.fit(self._knowledge).attack(None)]
        if isinstance(attack, LinkageAttack):
            return [attack.fit(self._sentences("train")).attack(self._sentences("test"))]
        raise TypeError(f"{type(attack).__name__} cannot attack pseudonymised text.")

    def run_overlap(self, attack: ReidentificationAttack) -> list[AttackResult]:
        """Name the words of the measured sentences, each from all its releases in the text of one patient."""
        rows, data = self.data.test, self.data
        text = PseudonymisedText(
            self.released[rows],
            data.X[rows],
            data.y[rows],
            data.groups_of(rows),
            # Documents are not known here; patients are the wider unit, in which less is drawn anew.
            {"document": "patient"}.get(self.pseudonymizer.coherence, self.pseudonymizer.coherence),
        )
        found = attack.fit(self._knowledge).attack(text)
        return [replace(found, name=f"{found.name}, in the released text")]

    @cached_property
    def _knowledge(self) -> PseudonymKnowledge:
        # Frequencies of the measured words too: whoever knows less finds less.
        return PseudonymKnowledge(self.pseudonymizer, phi_word_prior(self.data.X, self.data.y))

    def _sentences(self, part: str) -> ReleasedSentences:
        rows = self.data.parts[part]
        return ReleasedSentences(self.released[rows], self.data.groups_of(rows), self.data.y[rows])
