"""Swapping spans moves spans among their label and leaves everything else where it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.tagging import SpanSwapper


@st.composite
def ragged_spans(draw):
    """Sentences of items; spans as (start, end, label) within sentences."""
    lengths = draw(st.lists(st.integers(0, 8), min_size=1, max_size=8))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    spans = []
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        cuts = sorted(draw(st.sets(st.integers(start, stop), max_size=6)))
        spans += [(a, b, draw(st.integers(0, 2))) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    return offsets, np.array(spans, dtype=np.int64).reshape(-1, 3)


def pieces(offsets, spans):
    """For each sentence its items with every span replaced by the span's label."""
    out = []
    for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
        row, position = [], start
        for a, b, label in spans:
            if start <= a and b <= stop:
                row += [*range(position, a), f"label {label}"]
                position = b
        out.append([*row, *range(position, stop)])
    return out


@given(ragged_spans(), st.floats(0, 1), st.integers(0, 99))
def test_context_stays_and_labels_stay(case, share, seed):
    offsets, spans = case
    starts, ends, labels = spans.T
    index, new = SpanSwapper(offsets, starts, ends, labels, share).draw(np.random.default_rng(seed))
    label_of = {tuple(range(a, b)): label for a, b, label in spans}
    assert new[-1] == len(index)
    rebuilt = []
    for start, stop in zip(new[:-1], new[1:], strict=True):
        row, items = [], index[start:stop].tolist()
        while items:
            span = next((s for s in label_of if items[: len(s)] == list(s)), None)
            row.append(items[0] if span is None else f"label {label_of[span]}")
            items = items[1 if span is None else len(span) :]
        rebuilt.append(row)
    assert rebuilt == pieces(offsets, spans.tolist())


def test_share_of_zero_is_the_identity():
    swapper = SpanSwapper(np.array([0, 3, 5]), np.array([1, 3]), np.array([3, 4]), np.array([0, 0]), 0.0)
    index, offsets = swapper.draw(np.random.default_rng(0))
    assert index.tolist() == [0, 1, 2, 3, 4]
    assert offsets.tolist() == [0, 3, 5]


def test_spans_are_drawn_evenly_from_their_label():
    n = 4
    swapper = SpanSwapper(np.arange(n + 1), np.arange(n), np.arange(n) + 1, np.array([0, 0, 0, 1]), 1.0)
    rng = np.random.default_rng(0)
    drawn = np.array([swapper.draw(rng)[0] for _ in range(3000)])
    counts = np.bincount(drawn[:, 0], minlength=n)
    assert (np.abs(counts[:3] - 1000) < 120).all()  # four standard deviations
    assert (drawn[:, 3] == 3).all()


def test_only_free_spans_replace_others():
    n, is_free = 6, np.array([True, False, True, True, False, False])
    swapper = SpanSwapper(np.arange(n + 1), np.arange(n), np.arange(n) + 1, np.array([0, 0, 0, 1, 1, 2]), 1.0)
    drawn = np.array([swapper.draw(np.random.default_rng(seed), is_free)[0] for seed in range(200)])
    found = [set(column.tolist()) for column in drawn.T]
    assert found == [{0, 2}, {0, 1, 2}, {0, 2}, {3}, {3, 4}, {5}]
    free = np.array([swapper.draw(np.random.default_rng(seed))[0] for seed in range(200)])
    assert (drawn[np.isin(free, np.flatnonzero(is_free))] == free[np.isin(free, np.flatnonzero(is_free))]).all()


def test_further_spans_are_drawn_evenly_and_never_replaced():
    more = (np.array([4, 6, 7]), np.array([6, 7, 8]), np.array([0, 0, 1]))
    swapper = SpanSwapper(np.array([0, 4]), np.array([1, 3]), np.array([2, 4]), np.array([0, 1]), 1.0, more)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(3000):
        index, offsets = swapper.draw(rng)
        items = index.tolist()
        assert offsets.tolist() == [0, len(items)] and items[0] == 0 and 2 in items[2:4]
        drawn.append((tuple(items[1 : items.index(2)]), items[items.index(2) + 1]))
    first, second = zip(*drawn, strict=True)
    assert set(first) == {(1,), (4, 5), (6,)} and set(second) == {3, 7}
    assert all(abs(first.count(span) - 1000) < 120 for span in set(first))  # four standard deviations
    assert abs(second.count(7) - 1500) < 120
