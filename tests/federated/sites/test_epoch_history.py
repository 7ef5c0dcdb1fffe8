"""History of a site: one line for each epoch, whatever stood in the file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.federated.sites.epoch_history import write_epoch


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_each_epoch_has_its_last_line_and_later_ones_are_gone(tmp_path_factory, epochs):
    path, expected = tmp_path_factory.mktemp("site") / "history.jsonl", []
    for number, epoch in enumerate(epochs):
        write_epoch(path, {"epoch": epoch, "loss": number})
        expected = [line for line in expected if line["epoch"] < epoch] + [{"epoch": epoch, "loss": number}]
    assert [json.loads(line) for line in path.read_text().splitlines()] == expected


@pytest.mark.parametrize("part", [b"", b'{"epoch": 1, "vers', b"\0\xff", b"[1]\n", b'{"epoch": "1"}\n', b"[" * 100_000])
def test_parts_of_lines_are_left_out(tmp_path, part):
    path = tmp_path / "history.jsonl"
    write_epoch(path, {"epoch": 1})
    path.write_bytes(path.read_bytes() + part)
    write_epoch(path, {"epoch": 2})
    assert path.read_text() == '{"epoch": 1}\n{"epoch": 2}\n'
    assert path.stat().st_mode & 0o077 == 0
