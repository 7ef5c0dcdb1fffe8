"""Changed layouts keep the tokens, the number of sentences and legal tags, and lose nothing but punctuation."""

import numpy as np
import pytest

from sklearn_deid.tagging.layout_changes import LayoutChanges
from sklearn_deid.text import repair_tags

TOKENS = np.array("Seen by Alder , Birch , Ltd . on 3 May : . Mr Oak . well".split())
IOB2 = "O O B-N I-N I-N I-N I-N I-N O B-D I-D O O O B-N O O".split()
BIOES = "O O B-N I-N I-N I-N I-N E-N O B-D E-D O O O S-N O O".split()
OFFSETS = np.array([0, 8, 12, 13, 16, 17])


def drawn(tags, scheme, seed, lost=0.0, moved=0.0):
    classes = (
        ["O", *sorted({"S-N", "S-D", "B-D", *tags} - {"O"})] if scheme == "bioes" else ["O", "B-D", "B-N", "I-D", "I-N"]
    )
    punctuation = np.array([token in ".,;:" for token in TOKENS])
    numbers = np.array([classes.index(tag) for tag in tags])
    changes = LayoutChanges(punctuation, classes, scheme, lost, moved)
    index, offsets, new = changes.draw(np.arange(len(TOKENS)), OFFSETS, numbers, np.random.default_rng(seed))
    assert numbers.tolist() == [classes.index(tag) for tag in tags]  # the original stays
    return TOKENS[index].tolist(), offsets, [classes[i] for i in new]


def rows(tags, offsets):
    return [tags[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


@pytest.mark.parametrize(("tags", "scheme"), [(IOB2, "iob2"), (BIOES, "bioes")])
@pytest.mark.parametrize("seed", range(20))
def test_borders_move_and_tags_stay_legal(tags, scheme, seed):
    tokens, offsets, new = drawn(tags, scheme, seed, moved=0.7)
    assert tokens == TOKENS.tolist()
    assert len(offsets) == len(OFFSETS)
    assert (np.diff(offsets) > 0).all()
    # The same tokens are PHI, of the same label.
    assert [tag[1:] for tag in new] == [tag[1:] for tag in tags]
    for row in rows(new, offsets):
        assert row[0][0] in "OBS"
        assert row[-1][0] in ("OBI" if scheme == "iob2" else "OES")
        if scheme == "iob2":
            assert repair_tags(row) == row


def test_some_spans_are_cut_and_some_sentences_join():
    draws = [drawn(IOB2, "iob2", seed, moved=0.7) for seed in range(20)]
    cut = [offsets for _, offsets, new in draws if new.count("B-N") > IOB2.count("B-N")]
    assert 0 < len(cut) < 20
    assert any(4 < offsets[1] < 8 for offsets in cut)
    assert any(offsets[3] == 13 and offsets[4] == 14 for _, offsets, _ in draws)  # "Mr | Oak . well"


@pytest.mark.parametrize(("tags", "scheme"), [(IOB2, "iob2"), (BIOES, "bioes")])
def test_punctuation_is_lost_apart_from_whole_sentences_and_ends_of_spans(tags, scheme):
    tokens, offsets, new = drawn(tags, scheme, 0, lost=1.0)
    kept = "Seen by Alder Birch Ltd on 3 May . Mr Oak well" if scheme == "iob2" else None
    if kept is not None:
        assert tokens == kept.split()
    else:
        assert tokens == "Seen by Alder Birch Ltd . on 3 May . Mr Oak well".split()  # "." ends the span
    assert len(offsets) == len(OFFSETS)
    assert offsets[-1] == len(tokens) == len(new)
    assert (np.diff(offsets) > 0).all()


def test_nothing_changes_without_shares():
    tokens, offsets, new = drawn(IOB2, "iob2", 0)
    assert (tokens, offsets.tolist(), new) == (TOKENS.tolist(), OFFSETS.tolist(), IOB2)
