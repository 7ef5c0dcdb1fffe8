"""Borders of sentences inside spans, counted by hand and by comparing texts."""

import numpy as np
import pytest

from sklearn_deid import Document, Span
from sklearn_deid.text import border_counts, joined_at_borders, segment


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], {}),
        ([(0, 9, "A")], {"A": (1, 1)}),
        ([(0, 4, "A"), (5, 9, "A")], {"A": (0, 1)}),
        ([(0, 4, "A"), (5, 9, "B")], {}),
        ([(0, 14, "A")], {"A": (2, 2)}),
        ([(5, 9, "A")], {}),
        ([(10, 14, "A")], {}),
        ([(0, 4, "A"), (5, 14, "A")], {"A": (1, 2)}),
    ],
)
def test_counts_by_hand(spans, expected):
    note = Document("n", "Aaaa\nBbbb\nCccc", tuple(Span(*span) for span in spans))
    assert border_counts([note], [segment(note.text)]) == expected


def test_counts_agree_with_a_search_of_every_character():
    rng = np.random.default_rng(0)
    for _ in range(50):
        words = ["".join(rng.choice(list("abc"), 3)) for _ in range(12)]
        text = "".join(word + str(rng.choice(["\n", " "])) for word in words)
        cuts = sorted(rng.choice(np.arange(0, 48, 4), 6, replace=False).tolist())
        pairs = zip(cuts[::2], cuts[1::2], strict=True)
        spans = tuple(Span(a, b - 1, str(rng.choice(["A", "B"]))) for a, b in pairs)
        inside = {}
        for at in [i for i, sign in enumerate(text[:-1]) if sign == "\n"]:
            left = [s for s in spans if s.start < at <= s.end]
            right = [s for s in spans if s.start <= at + 1 < s.end]
            if left and right and left[0].label == right[0].label:
                a, b = inside.get(left[0].label, (0, 0))
                inside[left[0].label] = (a + (left[0] is right[0]), b + 1)
        assert border_counts([Document("n", text, spans)], [segment(text)]) == inside


def test_only_neighbours_of_a_label_that_goes_on_are_joined():
    starts, ends, sentences = [0, 5, 10, 15], [4, 9, 14, 19], [(0, 1), (1, 2), (2, 4)]
    spans = [Span(0, 4, "A", confidence=0.5), Span(5, 9, "A", confidence=0.25), Span(10, 14, "B"), Span(15, 19, "B")]
    always = {"A": (2, 3), "B": (1, 1)}
    joined = [Span(0, 9, "A", confidence=0.25), *spans[2:]]
    # The two spans of B meet inside a sentence, where the tagger has decided.
    assert joined_at_borders(spans, starts, ends, sentences, always) == joined
    assert joined_at_borders(spans, starts, ends, sentences, {"A": (1, 2)}) == spans
    assert joined_at_borders(spans, starts, ends, sentences, {}) == spans
    assert joined_at_borders([spans[0], spans[2]], starts, ends, sentences, always) == [spans[0], spans[2]]
