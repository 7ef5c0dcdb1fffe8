"""Swapped spans: what is between them stays, and what moves takes its own tags and neighbours along."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.representations import PairBatches, PairData

N_LABELS = 2


@st.composite
def annotated(draw):
    """Sentences of spans of two labels with gaps between them; every word is another, and its casing tells which."""
    sentences = draw(st.lists(st.lists(st.tuples(st.integers(0, N_LABELS), st.integers(1, 3)), max_size=4), max_size=5))
    spans, offsets = [], [0]
    for sentence in sentences:
        for label, length in sentence:
            spans += [label] + [-1 if label else 0] * (length - 1)
        offsets.append(len(spans))
    spans = np.array(spans, dtype=np.int64)
    eligible = np.flatnonzero((spans != 0) & draw_mask(draw, len(spans)))
    n = len(spans)
    return PairData(
        torch.eye(max(n, 2)),
        np.arange(n),
        np.array(offsets),
        np.abs(spans),
        eligible,
        np.stack([eligible, (eligible + 1) % max(n, 2)], axis=1) if len(eligible) else np.zeros((0, 2), int),
        np.arange(n) % 7,
        spans=spans,
    )


def draw_mask(draw, n):
    return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)


def spans_of(data):
    """(label, words) of each span, in order."""
    found = []
    for word, mark in zip(data.words.tolist(), data.spans.tolist(), strict=True):
        if mark > 0:
            found.append((mark, [word]))
        elif mark < 0:
            found[-1][1].append(word)
    return [(label, tuple(words)) for label, words in found]


def gaps_of(data):
    """Words outside of spans, by sentence, and the label of each span where it stands."""
    rows = []
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        marks, words = data.spans[start:end].tolist(), data.words[start:end].tolist()
        rows.append([("word", w) if m == 0 else ("span", m) for w, m in zip(words, marks, strict=True) if m >= 0])
    return rows


@given(annotated(), st.integers(0, 9))
def test_swapping_changes_spans_for_spans_of_their_label_and_nothing_else(data, seed):
    swapped = data.swapped(1.0, np.random.default_rng(seed))
    assert gaps_of(swapped) == gaps_of(data)
    assert set(spans_of(swapped)) <= set(spans_of(data))
    # Words are as good as names here: each took its tag, casing, mark and neighbours along.
    for name in ("tags", "casing", "spans"):
        assert (getattr(swapped, name) == getattr(data, name)[swapped.words]).all()
    neighbours = dict(zip(data.eligible.tolist(), data.alternatives[data.choices_].tolist(), strict=True))
    moved = swapped.words[swapped.eligible].tolist()
    assert moved == [word for word in swapped.words.tolist() if word in neighbours]
    assert swapped.alternatives[swapped.choices_].tolist() == [neighbours[word] for word in moved]


def test_nothing_changes_without_a_share_or_without_spans():
    data = PairData(
        torch.eye(2), np.array([0, 1]), np.array([0, 2]), np.zeros(2, int), np.zeros(0, int), np.zeros((0, 1), int)
    )
    rng = np.random.default_rng(0)
    assert data.swapped(1.0, rng) is data
    assert data.swapped(0.0, rng) is data


@given(annotated(), st.integers(0, 9))
def test_batches_of_swapped_sentences_are_those_of_swapped_data(data, seed):
    batches = PairBatches(data)
    first = batches.swapped(0.5, np.random.default_rng(seed))
    second = PairBatches(data.swapped(0.5, np.random.default_rng(seed)))
    before = [batch.words.tolist() for batch in batches.epoch(None, torch.Generator().manual_seed(0))]
    for a, b in zip(*(x.epoch(None, torch.Generator().manual_seed(0)) for x in (first, second)), strict=True):
        for name in ("words", "tags", "mask", "moved_words", "casing"):
            assert torch.equal(getattr(a, name), getattr(b, name))
    after = [batch.words.tolist() for batch in batches.epoch(None, torch.Generator().manual_seed(0))]
    assert before == after
