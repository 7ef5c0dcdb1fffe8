"""Release of pseudonymised text."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import joblib
import numpy as np

from ...metrics import phi_word_prior
from ...pseudonyms.phi_tokens import PhiTokens, find_phi_tokens
from ...pseudonyms.policy import EXCLUDED
from ..attacks.drawn_words import DrawnWordsAttack, RepeatedTexts
from ..attacks.kept_tokens import KeptTokensAttack
from ..attacks.pseudonymised_text import PseudonymisedText, PseudonymKnowledge
from ..attacks.sentence_pairs import ReleasedSentences
from ..attacks.word_draws import WordDraws, draws_of_text
from ..audit_data import AuditData
from ..released_step import PRIVATE_VECTORS, WORDS, is_of_private_notes
from .global_state import repeated_draws

_NOT_OF_THE_RELEASE = ("embeddings", "random_state", "n_jobs", "verbose", "cache_dir")


class ReleasedText:
    """Sentences with replaced PHI words, together with the mechanism if the mechanism is known.

    Parameters
    ----------
    released : TokenSequences
        Released version of all sentences in ``data``.
    data : AuditData
        Original sentences of the audit.
    pseudonymizer : fitted TokenPerturber or None
        Mechanism of the release; None if only the text is known.
    """

    kind = WORDS

    def __init__(self, released: Any, data: AuditData, pseudonymizer: Any = None) -> None:
        self.released, self.data, self.pseudonymizer = released, data, pseudonymizer

    def digest(self) -> str | None:
        """Hash of the released text and the parameters of the mechanism; None if the release differs in every audit."""
        if self.pseudonymizer is None or self.pseudonymizer.random_state is None:
            return None
        parameters = self.pseudonymizer.get_params(deep=False)
        plain = sorted((k, v) for k, v in parameters.items() if k not in _NOT_OF_THE_RELEASE)
        mechanism, kind = getattr(self.pseudonymizer, "mechanism_", None), type(self.pseudonymizer)
        checksum = None if mechanism is None else mechanism.policy.vectors.checksum
        return str(joblib.hash((kind.__module__, kind.__qualname__, plain, checksum, self.released.tolist())))

    @property
    def pseudonymised_text(self) -> PseudonymisedText:
        """Measured sentences with their originals. An attacker guesses a word from all its releases within a
        patient."""
        rows, data = self.data.test, self.data
        return PseudonymisedText(
            self.released[rows],
            data.X[rows],
            data.y[rows],
            data.groups_of(rows),
            # The documents are not known here. Patients are the wider unit, in which fewer words are drawn again.
            {"document": "patient"}.get(self.pseudonymizer.coherence, self.pseudonymizer.coherence),
        )

    @cached_property
    def pseudonym_knowledge(self) -> PseudonymKnowledge:
        """Knowledge of the attacker: the mechanism, and the frequencies of the words."""
        # The frequencies include the measured words. An attacker with less knowledge finds less.
        return PseudonymKnowledge(self.pseudonymizer, phi_word_prior(self.data.X, self.data.y))

    @cached_property
    def in_clear(self) -> str | None:
        """Statement about PHI tokens that ``labels`` and ``max_replacements`` leave unchanged, or about surrogates that
        can be words of private notes; None if there are neither.

        No attack counts these tokens, because the mechanism does not replace them. No attack knows the notes whose
        words are the surrogates.
        """
        if self.pseudonymizer is None:
            return None
        if is_of_private_notes(self.pseudonymizer, self.pseudonymizer.mechanism_.policy.vectors):
            return PRIVATE_VECTORS
        phi, able, moving = self._phi_tokens()
        most = self.pseudonymizer.max_replacements
        n_moved = int(moving.sum())
        if most is not None:
            n_moved = int(np.minimum(np.bincount(phi.sentences[moving]), most).sum())
        n = int(able.sum())
        if n_moved == n:
            return None
        return (
            f"{n - n_moved:,} of {n:,} PHI tokens are unchanged, due to 'labels' or 'max_replacements' of the "
            "pseudonymizer. No attack counts these tokens. Replace them, or pass y without these labels."
        )

    @cached_property
    def repeated_texts(self) -> RepeatedTexts:
        """The release, two further calls of `sample` in the same state of the global random generators, and two calls
        in new processes."""
        draws, further = self.draws, repeated_draws(self.pseudonymizer, self.data)
        shown = [one.data[draws.positions].tolist() for one in (self.released, *further)]
        return RepeatedTexts(draws, self.data.X.data[draws.positions].tolist(), shown)

    @cached_property
    def is_other_text(self) -> str | None:
        """Statement that the mechanism cannot have made the text; None if the checks find no fault.

        The statement is needed because linkage, and attacks that simulate the mechanism, do not compare the text with
        its originals.
        """
        if self.pseudonymizer is None or not self._phi_tokens()[2].any():
            return None
        results = (
            KeptTokensAttack(random_state=self.data.seed).fit(self.pseudonymizer).attack(self.draws),
            DrawnWordsAttack(random_state=self.data.seed).fit(self.pseudonymizer).attack(self.repeated_texts),
        )
        return " ".join(fault for result in results for fault in result.faults) or None

    @property
    def draws(self) -> WordDraws:
        """Draws of all sentences. All sentences are measured, because the attacker does not train on the originals."""
        data = self.data
        return draws_of_text(self.pseudonymizer, data.X, self.released, data.y, data.groups)

    def sentences(self, part: str) -> ReleasedSentences:
        """Sentences of a part, in the form that a linkage attacker sees."""
        rows = self.data.parts[part]
        return ReleasedSentences(self.released[rows], self.data.groups_of(rows), self.data.y[rows])

    def _phi_tokens(self) -> tuple[PhiTokens, np.ndarray, np.ndarray]:
        """Three sets of tokens: PHI tokens by their tags, replaceable PHI tokens, and replaceable PHI tokens whose
        label is in ``labels``."""
        phi = find_phi_tokens(self.data.X, self.data.y)
        # Words that the mechanism itself keeps, such as stop words, are part of what the attacks count.
        able = (self.pseudonymizer.mechanism_.policy.actions(phi.words)[0] < EXCLUDED)[phi.word_ids]
        labels = self.pseudonymizer.labels
        named = np.array([labels is None or label in set(labels) for label in phi.labels], dtype=bool)
        return phi, able, able & named[phi.label_ids]
