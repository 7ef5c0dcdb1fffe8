"""Tokens and sentences together, and what they do to the borders of real annotations."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.text import Segmentation, segment, split_sentences, tokenize


@given(st.text())
def test_both_steps_in_one(text):
    tokens = tokenize(text)
    assert segment(text) == Segmentation(tokens, split_sentences(text, tokens))


@given(st.text())
def test_rows_are_the_tokens_in_order(text):
    segmentation = segment(text)
    rows = segmentation.rows()
    assert [token for row in rows for token in row] == segmentation.tokens.texts
    assert all(rows)


def test_rows_by_hand():
    assert segment("Mr. Roe, 25yo.\nHome.").rows() == [["Mr", ".", "Roe", ",", "25", "yo", "."], ["Home", "."]]
    assert segment("").rows() == []


def read_brat(folder):
    for path in sorted(folder.glob("*.ann")):
        text = path.with_suffix(".txt").read_bytes().decode("utf-8")
        rows = [line.split("\t")[1].split(" ") for line in path.read_text("utf-8").split("\n") if line.startswith("T")]
        yield text, [(int(start), int(end)) for _, start, end in rows]


@pytest.mark.data
@pytest.mark.parametrize("subset", ["train", "dev"])
def test_real_spans_are_whole_tokens_of_one_sentence(subset):
    home = os.environ.get("SKLEARN_DEID_DATA")
    if not home or not (Path(home) / "meddocan").is_dir():
        pytest.skip("SKLEARN_DEID_DATA does not name a folder that holds meddocan/")
    n_spans = n_whole = 0
    for text, spans in read_brat(Path(home) / "meddocan" / subset / "brat"):
        tokens, ranges = segment(text)
        sentence = [i for i, (start, end) in enumerate(ranges) for _ in range(start, end)]
        first = {start: sentence[i] for i, start in enumerate(tokens.starts)}
        last = {end: sentence[i] for i, end in enumerate(tokens.ends)}
        n_spans += len(spans)
        n_whole += sum(first.get(start, -1) == last.get(end, -2) for start, end in spans)
    assert n_spans > 5000
    assert n_whole / n_spans >= 0.999
