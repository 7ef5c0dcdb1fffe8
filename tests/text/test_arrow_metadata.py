"""Metadata of parquet: words stay, texts do not, in whatever JSON they are."""

import json

import pytest

from sklearn_deid.text.arrow_metadata import without_texts


@pytest.mark.parametrize("value", [{"a": ["by Birch"]}, [[{"by Birch": 1}]], "by Birch", {"a": {"b": "by\tBirch"}}])
def test_texts_at_any_depth_are_left_out(value):
    kept = {b"owner": b"ward", b"version": b"3", b"list": b'["a", "b"]', b"bytes": b"\xff"}
    for written in (json.dumps(value), json.dumps(value, indent=2)):
        assert without_texts({**kept, b"x": written.encode()}) == kept
    assert without_texts({**kept, b"by Birch": b"x"}) == kept
    assert without_texts(None) is None


@pytest.mark.parametrize("value", ["{", "[]", "null", '{"columns": 3, "creator": "Birch"}'])
def test_damaged_descriptions_of_frames_tell_nothing(value):
    assert b"Birch" not in (without_texts({b"pandas": value.encode()}) or {}).get(b"pandas", b"")


def test_names_of_columns_with_blanks_stay():
    frame = {"index_columns": ["the id"], "columns": [{"name": "the id", "numpy_type": "object", "metadata": None}]}
    assert json.loads(without_texts({b"pandas": json.dumps(frame).encode()})[b"pandas"]) == frame
