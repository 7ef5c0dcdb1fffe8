"""Changed layouts keep the words, their tags and the order of the sentences, and lose nothing but punctuation."""

import numpy as np
import pytest

from sklearn_deid.tagging.layout_changes import LayoutChanges

TOKENS = np.array("Seen by Alder , Birch , Ltd . on 3 May : . Mr Oak . well".split())
IOB2 = "O O B-N I-N I-N I-N I-N I-N O B-D I-D O O O B-N O O".split()
BIOES = "O O B-N I-N I-N I-N I-N E-N O B-D E-D O O O S-N O O".split()
OFFSETS = np.array([0, 8, 12, 13, 16, 17])
DOCUMENTS = np.array([0, 0, 0, 1, 1])
SCHEMES = [(IOB2, "iob2"), (BIOES, "bioes")]


def drawn(tags, scheme, seed, lost=0.0, breaks=0.0):
    classes = ["O", *(f"{prefix}-{label}" for label in "DN" for prefix in ("BI", "BIES")[scheme == "bioes"])]
    numbers = np.array([classes.index(tag) for tag in tags])
    changes = LayoutChanges(TOKENS, classes, lost, breaks)
    rng = np.random.default_rng(seed)
    index, offsets, new, rows = changes.draw(np.arange(len(TOKENS)), OFFSETS, numbers, DOCUMENTS, rng)
    assert numbers.tolist() == [classes.index(tag) for tag in tags]  # the original stays
    assert len(rows) == len(offsets) - 1
    # Every sentence begins in the row that is named.
    assert (np.searchsorted(OFFSETS, index[offsets[:-1]], side="right") - 1 == rows).all()
    return TOKENS[index].tolist(), offsets, [classes[i] for i in new]


@pytest.mark.parametrize(("tags", "scheme"), SCHEMES)
@pytest.mark.parametrize("seed", range(20))
def test_borders_move_and_tags_stay(tags, scheme, seed):
    tokens, offsets, new = drawn(tags, scheme, seed, breaks=1.0)
    assert tokens == TOKENS.tolist()
    assert new == tags, "a cut span goes on in the next sentence"
    assert (np.diff(offsets) > 0).all()
    assert 13 in offsets, "the border of two documents stays"


@pytest.mark.parametrize(("tags", "scheme"), SCHEMES)
def test_spans_are_cut_sentences_are_joined_and_no_line_begins_with_punctuation(tags, scheme):
    draws = [drawn(tags, scheme, seed, breaks=1.0) for seed in range(40)]
    starts = {int(start) for _, offsets, _ in draws for start in offsets[:-1]}
    assert {0, 4, 6, 10, 13, 14} <= starts, "Birch, Ltd, May, Mr and Oak begin lines"
    added = starts - set(OFFSETS.tolist())
    assert all(TOKENS[start] not in ".,;:" for start in added)
    assert any(8 not in offsets for _, offsets, _ in draws)
    # Two cuts around one word.
    assert any({4, 6} <= set(offsets.tolist()) for _, offsets, _ in draws)


@pytest.mark.parametrize(("tags", "scheme"), SCHEMES)
def test_punctuation_is_lost_apart_from_the_ends_of_spans(tags, scheme):
    tokens, offsets, new = drawn(tags, scheme, 0, lost=1.0)
    last = " . " if scheme == "bioes" else " "  # "." ends the span
    assert tokens == f"Seen by Alder Birch Ltd{last}on 3 May Mr Oak well".split()
    # The sentence of one full stop is gone.
    assert len(offsets) == len(OFFSETS) - 1
    assert offsets[-1] == len(tokens) == len(new)


def test_nothing_changes_without_shares():
    tokens, offsets, new = drawn(IOB2, "iob2", 0)
    assert (tokens, offsets.tolist(), new) == (TOKENS.tolist(), OFFSETS.tolist(), IOB2)
