"""BLEU against a literal count and against sacrebleu on text."""

import math
from collections import Counter
from math import exp, log

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.metrics.utility import corpus_bleu


def grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def literal_bleu(candidates, references, order):
    """Papineni et al. 2002, section 2, without smoothing; None where an order has no match."""
    logs = []
    for n in range(1, order + 1):
        pairs = [(grams(c, n), grams(r, n)) for c, r in zip(candidates, references, strict=True)]
        matched = sum((c & r).total() for c, r in pairs)
        if not matched:
            return None
        logs.append(log(matched / sum(c.total() for c, _ in pairs)))
    c, r = sum(map(len, candidates)), sum(map(len, references))
    return exp(sum(logs) / order) * (1.0 if c >= r else exp(1 - r / c))


notes = st.lists(st.sampled_from(["a", "b", "c", "B", "."]), max_size=8)


@given(pairs=st.lists(st.tuples(notes, notes), min_size=1, max_size=4), order=st.integers(1, 3))
def test_equals_a_literal_count(pairs, order):
    candidates, references = zip(*pairs, strict=True)
    expected = literal_bleu(candidates, references, order) if any(candidates) else 0.0
    if not any(candidates + references):
        assert math.isnan(corpus_bleu(candidates, references, order))
    elif expected is not None:
        assert corpus_bleu(candidates, references, order) == pytest.approx(expected, abs=1e-12)


def test_equals_sacrebleu_on_text():
    """Tokenized by sacrebleu itself, the score of its own command line."""
    original, redacted = "He was seen by John Smith today .", "He was seen by today ."
    theirs = sacrebleu.corpus_bleu([redacted], [[original]], tokenize="none", force=True).score / 100
    assert corpus_bleu([redacted.split()], [original.split()], 4) == pytest.approx(theirs, abs=1e-12)


def test_by_hand():
    # 4 of 6 tokens are left: brevity exp(1 - 6 / 4). Bigrams a b, b e, e f: a b and e f are in the original.
    original, redacted = [list("abcdef")], [list("abef")]
    assert corpus_bleu(redacted, original, 1) == pytest.approx(exp(-0.5))
    assert corpus_bleu(redacted, original, 2) == pytest.approx(exp(-0.5) * (1 * 2 / 3) ** 0.5)


def test_a_token_with_white_space_stays_one():
    assert corpus_bleu([["a b", "c"]], [["a b", "c"]], 2) == pytest.approx(1.0)
    assert corpus_bleu([["a", "b"]], [["a b"]], 1) == pytest.approx(0.0)


def test_nothing_left_is_zero():
    assert corpus_bleu([[], []], [["a"], ["b"]], 1) == 0.0
