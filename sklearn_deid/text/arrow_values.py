"""Texts inside of the values of an Arrow column of any type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._optional import import_optional

# Bytes of one length, with zeros behind shorter values.
_FIXED = "fixed_size_binary["
# As a model reads them, and as bytes.
_TEXTS = frozenset(("string", "large_string", "string_view", "binary", "large_binary", "binary_view"))


def texts_by_row(array: Any) -> Iterator[list[bytes]]:
    """Texts of each row: the value itself, or the texts in its lists, structs and maps. Nulls are left out.

    Parameters
    ----------
    array : pyarrow.Array
        Column of a batch.
    """
    if not _may_hold(array.type):
        return iter([[]] * len(array))
    if _is_text(array.type):
        return ([] if value is None else [value] for value in _values(array))
    return (list(_inside(array.slice(row, 1))) for row in range(len(array)))


def names_inside(kind: Any) -> Iterator[str]:
    """Names of the fields of the structs inside of an Arrow type."""
    for field in _fields(kind):
        if str(kind).startswith("struct<"):
            yield field.name
        # The entries of a map are structs, too, but the names of their fields are those of arrow.
        inner = field.type
        for part in (one.type for one in _fields(inner)) if _is_map(kind) else (inner,):
            yield from names_inside(part)


def _inside(array: Any) -> Iterator[bytes]:
    if _is_text(array.type):
        yield from (value for value in _values(array) if value is not None)
    elif hasattr(array, "storage"):
        yield from _inside(array.storage)
    elif _fields(array.type):
        # Maps cannot be flattened.
        plain = (
            array.cast(
                import_optional("pyarrow", extra="tables", purpose="parquet files").list_(array.type.field(0).type)
            )
            if _is_map(array.type)
            else array
        )
        children = plain.flatten()
        for child in children if isinstance(children, list) else [children]:
            yield from _inside(child)


def _may_hold(kind: Any) -> bool:
    return _is_text(kind) or hasattr(kind, "storage_type") or any(_may_hold(field.type) for field in _fields(kind))


def _is_text(kind: Any) -> bool:
    name = str(getattr(kind, "value_type", kind) if _is_category(kind) else kind)
    return name in _TEXTS or name.startswith(_FIXED)


def _is_category(kind: Any) -> bool:
    return hasattr(kind, "index_type")


def _is_map(kind: Any) -> bool:
    return str(kind).startswith("map<")


def _fields(kind: Any) -> list[Any]:
    return [kind.field(at) for at in range(kind.num_fields)] if hasattr(kind, "field") else []


def _values(array: Any) -> list[bytes | None]:
    # Bytes, because not all values need be UTF-8.
    decoded = array.dictionary_decode() if _is_category(array.type) else array
    if str(decoded.type).startswith(_FIXED):
        return [None if value is None else value.rstrip(b"\0") for value in decoded.to_pylist()]
    return decoded.cast("large_binary").to_pylist()
