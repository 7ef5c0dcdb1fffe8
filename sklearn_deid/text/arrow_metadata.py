"""Metadata of Arrow tables and parquet files without texts, since a comment in the metadata can quote a note."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .word_counts import count_words

_PANDAS = b"pandas"
# Polars lists all values of an enumeration, also those that no row has. Without the list, it reads categories.
_ENUMERATION = b"_PL_ENUM_VALUES"
_LISTS = ("list_", "large_list", "list_view", "large_list_view")
# Keys that pandas needs to build the frame again. The other keys, such as attributes, are notes of users.
_FRAME = ("index_columns", "column_indexes", "columns", "creator", "pandas_version", "partition_columns")
_COLUMN = ("name", "field_name", "pandas_type", "numpy_type", "metadata")
_TYPE = ("num_categories", "ordered", "timezone", "unit", "encoding", "precision", "scale")


def without_texts(metadata: Mapping[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    """Metadata of a file or a column, without entries of several words.

    Of the description of a pandas frame, the entries that pandas needs are kept.

    Examples
    --------
    >>> without_texts({b"owner": b"ward", b"comment": b"copied for Roe"})
    {b'owner': b'ward'}
    """
    if metadata is None:
        return None
    left_out = {key for key in metadata if key == _PANDAS or key.startswith(_ENUMERATION)}
    kept = {
        key: value for key, value in metadata.items() if key not in left_out and not _is_text(key) | _is_text(value)
    }
    frame = _loaded(metadata.get(_PANDAS, b""))
    if isinstance(frame, dict):
        kept[_PANDAS] = json.dumps(_of_frame(frame)).encode()
    return kept


def schema_without_texts(pa: Any, schema: Any) -> Any:
    """Schema of pyarrow without metadata of several words, including the fields of lists and structures.

    Categories inside of lists, structures and maps become plain values, because the list of categories can also hold
    values that no row contains.

    Examples
    --------
    >>> import pyarrow as pa
    >>> inner = pa.field("item", pa.string(), metadata={"comment": "copied for Roe"})
    >>> plain = schema_without_texts(pa, pa.schema([pa.field("codes", pa.list_(inner))]))
    >>> plain.field("codes").type.value_field.metadata
    {}
    """
    fields = [_field_without_texts(pa, field) for field in schema]
    return pa.schema(fields, metadata=without_texts(schema.metadata))


def _field_without_texts(pa: Any, field: Any) -> Any:
    return field.with_type(_type_without_texts(pa, field.type)).with_metadata(without_texts(field.metadata))


def _inner_without_texts(pa: Any, field: Any) -> Any:
    plain = _field_without_texts(pa, field)
    return plain.with_type(plain.type.value_type) if pa.types.is_dictionary(plain.type) else plain


def _type_without_texts(pa: Any, kind: Any) -> Any:
    """Type whose inner fields have no metadata of several words and no categories."""
    types = pa.types
    if not types.is_nested(kind):
        return kind
    if types.is_map(kind):
        key, item = (_inner_without_texts(pa, field) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    inner = [_inner_without_texts(pa, kind.field(n)) for n in range(kind.num_fields)]
    if types.is_struct(kind):
        return pa.struct(inner)
    if types.is_fixed_size_list(kind):
        return pa.list_(inner[0], kind.list_size)
    # Older versions of pyarrow have no views of lists.
    lists = (name for name in _LISTS if getattr(types, f"is_{name.strip('_')}", lambda _: False)(kind))
    made = next((getattr(pa, name) for name in lists), None)
    # Unions, which parquet files cannot hold.
    return kind if made is None else made(inner[0])


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
    return isinstance(value, str) and count_words(value) > 1


def _loaded(value: bytes) -> Any:
    """Value of JSON; None for other bytes."""
    try:
        return json.loads(value)
    except ValueError:
        return None
