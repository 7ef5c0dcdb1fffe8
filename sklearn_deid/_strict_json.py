"""Strict JSON: no repeated key, no NaN and no infinity."""

from __future__ import annotations

import json
import math
from typing import Any


def load_strict(content: str | bytes) -> Any:
    """Read a JSON value. A repeated key, NaN and infinity raise a ValueError.

    Python's parser keeps only the last value of a repeated key. In an annotated note, the annotations under the first
    key would be lost. In a request, an empty second list of spans would replace the first list.

    Examples
    --------
    >>> load_strict(b'{"text": "Fine."}')
    {'text': 'Fine.'}
    """
    return json.loads(content, object_pairs_hook=each_key_once, parse_constant=_refuse_constant, parse_float=_finite)


def each_key_once(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Dictionary of the pairs from a parser; a repeated key raises a ValueError."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key twice")
    return out


def _finite(written: str) -> float:
    # 1e999 is valid JSON, which Python reads as infinity and would write as Infinity, which is not.
    value = float(written)
    if math.isinf(value):
        raise ValueError("infinity")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
