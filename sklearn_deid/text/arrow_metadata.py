"""Metadata of Arrow tables and parquet files without texts: a comment beside the rows can quote a note."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_PANDAS = b"pandas"
# What pandas needs to build the frame again. The other keys, such as attributes, are notes of users.
_FRAME = ("index_columns", "column_indexes", "columns", "creator", "pandas_version", "partition_columns")
_COLUMN = ("name", "field_name", "pandas_type", "numpy_type", "metadata")
_TYPE = ("num_categories", "ordered", "timezone", "unit", "encoding", "precision", "scale")


def without_texts(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    """Metadata of a file or a column without entries that hold several words.

    The description of a pandas frame keeps the entries that pandas needs.

    Examples
    --------
    >>> without_texts({b"owner": b"ward", b"comment": b"copied for Roe"})
    {b'owner': b'ward'}
    """
    if metadata is None:
        return None
    kept = {key: value for key, value in metadata.items() if key != _PANDAS and not _is_text(key) | _is_text(value)}
    frame = _loaded(metadata.get(_PANDAS, b""))
    if isinstance(frame, dict):
        kept[_PANDAS] = json.dumps(_of_frame(frame)).encode()
    return kept


def _of_frame(frame: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: frame[key] for key in _FRAME if key in frame}
    for key in ("columns", "column_indexes"):
        if isinstance(kept.get(key), list):
            kept[key] = [_of_column(column) for column in kept[key] if isinstance(column, dict)]
    if "creator" in kept:
        kept["creator"] = _of(kept["creator"], ("library", "version"))
    return kept


def _of_column(column: Mapping[str, Any]) -> dict[str, Any]:
    kept = _of(column, _COLUMN)
    return kept | {"metadata": _of(kept["metadata"], _TYPE)} if kept.get("metadata") else kept


def _of(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Named entries of an object; empty for other values."""
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else {}


def _is_text(value: bytes) -> bool:
    """Whether a value, or a string in its JSON, has several words."""
    loaded = _loaded(value)
    return _has_blank(value.decode("utf-8", "replace") if loaded is None else loaded)


def _has_blank(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_blank(key) or _has_blank(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(map(_has_blank, value))
    return isinstance(value, str) and len(value.split()) > 1


def _loaded(value: bytes) -> Any:
    """Value of JSON; None for other bytes."""
    try:
        return json.loads(value)
    except ValueError:
        return None
