"""Attacks on pseudonymised text."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...metrics import phi_word_prior
from ..attacks.pseudonymised_text import PseudonymisedText, PseudonymKnowledge
from ..attacks.sentence_pairs import ReleasedSentences
from ..audit_data import AuditData
from ..released_step import WORDS


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

    kind = WORDS

    def __init__(self, released: Any, data: AuditData, pseudonymizer: Any = None) -> None:
        self.released, self.data, self.pseudonymizer = released, data, pseudonymizer

    @property
    def pseudonymised_text(self) -> PseudonymisedText:
        """The measured sentences with their originals; a word is named from all its releases in one patient's text."""
        rows, data = self.data.test, self.data
        return PseudonymisedText(
            self.released[rows],
            data.X[rows],
            data.y[rows],
            data.groups_of(rows),
            # Documents are not known here; patients are the wider unit, in which less is drawn anew.
            {"document": "patient"}.get(self.pseudonymizer.coherence, self.pseudonymizer.coherence),
        )

    @cached_property
    def pseudonym_knowledge(self) -> PseudonymKnowledge:
        """The mechanism, and how frequent words are."""
        # Frequencies of the measured words too: whoever knows less finds less.
        return PseudonymKnowledge(self.pseudonymizer, phi_word_prior(self.data.X, self.data.y))

    def sentences(self, part: str) -> ReleasedSentences:
        """Sentences of a part as whoever links them sees them."""
        rows = self.data.parts[part]
        return ReleasedSentences(self.released[rows], self.data.groups_of(rows), self.data.y[rows])
