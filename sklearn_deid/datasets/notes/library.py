"""Library of all templates of the generator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .case import Case
from .kind import Kind

Phrases = Mapping[str, tuple[str, ...]]
"""Names that stand for one of several templates."""
Pairs = tuple[tuple[str, str], ...]
"""Two texts that belong together, such as a problem and its drug."""


@dataclass(frozen=True, slots=True)
class TemplateLibrary:
    """Templates by their use.

    Parameters
    ----------
    kinds : mapping of str to Kind
        Every kind of note.
    cases : tuple of Case
        Cases. The order of the cases must not change, because the random draws depend on the order.
    phrases, child_phrases, elder_phrases : mapping of str to tuple of str
        Alternatives for each name, for adults, children and people over 66.
    problems, child_problems : tuple of (problem, drug)
        Further problems of patients, each with its drug.
    allergies : tuple of (allergy, reaction)
        Allergies, each with its reaction.
    """

    kinds: Mapping[str, Kind]
    cases: tuple[Case, ...]
    phrases: Phrases
    child_phrases: Phrases
    elder_phrases: Phrases
    problems: Pairs
    child_problems: Pairs
    allergies: Pairs

    def phrases_for(self, age: int) -> Phrases:
        """Phrases for a patient of this age in years."""
        if age < 18:
            return self.child_phrases
        return self.elder_phrases if age > 66 else self.phrases
