"""Encoding of a request or reply as bytes: JSON, then a message of `federated`, without pickle or classes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from ...exceptions import ExchangeError

LARGEST_FIELDS = 4096
_LENGTH = struct.Struct("<I")
_PLAIN = (str, int, float, bool, type(None))


def pack(fields: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Encode fields and body as bytes.

    Parameters
    ----------
    fields : dict of str to str, int, float, bool or None
        Fields with at most 4096 bytes as JSON.
    body : bytes
        Message of `federated.SparseUpdate`, or no bytes.

    Examples
    --------
    >>> unpack(pack({"ask": "upload", "sequence": 0}, b"abc"))
    ({'ask': 'upload', 'sequence': 0}, b'abc')
    """
    head = json.dumps(dict(fields), allow_nan=False).encode("ascii")
    if len(head) > LARGEST_FIELDS:
        raise ExchangeError(f"The fields take {len(head)} bytes; {LARGEST_FIELDS} are allowed.")
    return _LENGTH.pack(len(head)) + head + body


def unpack(data: Any) -> tuple[dict[str, Any], bytes]:
    """Decode the bytes of `pack`.

    Raises
    ------
    ExchangeError
        If `pack` could not have produced the data.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ExchangeError(f"A request must be bytes. Got {type(data).__name__} instead.")
    raw = bytes(data)
    # A message without a length counts as too long.
    length = _LENGTH.unpack_from(raw)[0] if len(raw) >= _LENGTH.size else LARGEST_FIELDS + 1
    # The length is checked before anything is parsed, because the sender may be malicious.
    if length > min(LARGEST_FIELDS, len(raw) - _LENGTH.size):
        raise ExchangeError("The request is truncated or not in this format.")
    try:
        # JSON of Python would accept NaN and Infinity.
        fields = json.loads(raw[_LENGTH.size : _LENGTH.size + length], parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ExchangeError("The fields of the request are not valid JSON.") from None
    if not isinstance(fields, dict) or not all(isinstance(value, _PLAIN) for value in fields.values()):
        raise ExchangeError("The fields of the request must be plain values with names.")
    return fields, raw[_LENGTH.size + length :]


def _refuse(name: str) -> None:
    raise ValueError(name)
