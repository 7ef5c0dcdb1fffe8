"""Bytes of requests: what is packed comes back, and nothing else is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated.sites import pack, unpack

PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.text())


@given(
    st.dictionaries(st.text(max_size=10), PLAIN.filter(lambda v: v not in (float("inf"), -float("inf")))), st.binary()
)
def test_what_is_packed_comes_back(fields, body):
    try:
        data = pack(fields, body)
    except ExchangeError:
        assert len(json.dumps(fields)) > 4000
        return
    assert unpack(data) == (fields, body)


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_or_plain(data):
    try:
        fields, _ = unpack(data)
    except ExchangeError:
        return
    assert pack(fields)[:4] == data[:4] or isinstance(fields, dict)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("text", "must be bytes"),
        (b"", "truncated"),
        (b"\xff\xff\xff\xff{}", "truncated"),
        (b"\x05\x00\x00\x00{}", "truncated"),
        (b"\x02\x00\x00\x00{]", "not valid JSON"),
        (b"\x02\x00\x00\x00[]", "plain values"),
        (b'\x09\x00\x00\x00{"a":[1]}', "plain values"),
        (b'\x09\x00\x00\x00{"a":NaN}', "not valid JSON"),
    ],
)
def test_what_is_refused(data, reason):
    with pytest.raises(ExchangeError, match=reason):
        unpack(data)


def test_too_many_fields_are_not_packed():
    with pytest.raises(ExchangeError, match="4096 are allowed"):
        pack({"a": "x" * 5000})
