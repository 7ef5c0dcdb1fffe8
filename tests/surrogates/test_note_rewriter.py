"""Replacements that are put in one after the other give the text of the rewriter."""

import pytest

from sklearn_deid import Document, Span, make_clinical_notes
from sklearn_deid.surrogates import SurrogateEngine, note_replacements, note_rewriter, rewritten

# Spans that overlap and touch are joined, or stay apart, in the same way.
TOUCHING = Document("n", "Ann Alder-Birch", (Span(0, 3, "PATIENT"), Span(2, 9, "PATIENT"), Span(9, 15, "CITY")))


@pytest.mark.parametrize("mode", ["label", "mask", "remove", "engine"])
def test_replacements_are_those_of_the_rewriter(mode):
    def modes():
        return SurrogateEngine(key=bytes(32), locale="en") if mode == "engine" else mode

    rewrite, replacements = note_rewriter(modes()), note_replacements(modes())
    for note in [*make_clinical_notes(10, random_state=0), TOUCHING]:
        assert rewritten(note, replacements(note)).text == rewrite(note).text != note.text


def test_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="'mode' parameter"):
        note_replacements("nonsense")
