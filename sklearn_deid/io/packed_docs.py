"""Reader for the bytes of a spaCy ``DocBin`` that is safe for files from untrusted sources.

A DocBin is a zlib stream with a single msgpack map of arrays, strings and groups of spans. Even spaCy's own reader
executes no code, because msgpack contains data and no pickles. However, spaCy's reader does not check offsets,
decompresses data of any size, decodes user data, and loads documents into compiled structures. This module reads the
map with plain types only, checks sizes before it uses them, and never reads user data.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from .._strict_json import each_key_once
from .checking import SourceLocation

# Compression makes notes 2 to 30 times smaller. A decompression bomb is 1,000 times smaller than its content.
_LARGEST_RATIO, _ALWAYS_ALLOWED = 250, 64 * 2**20
_MOST_VALUES = 2**22
_SPAN = struct.Struct(">QQQllll")  # id, knowledge base id, label, first token, token past the last, two offsets
_ARRAYS = {"tokens": np.dtype("<u8"), "spaces": np.dtype("?"), "lengths": np.dtype("<i4")}


class PackedDocs(NamedTuple):
    """Content of a DocBin, document by document.

    Parameters
    ----------
    columns : dict of int to int
        Column of each spaCy attribute in ``tokens``.
    tokens : list of ndarray of shape (n_tokens, n_columns), dtype uint64
        Attribute values of the tokens of each document.
    spaces : list of ndarray of shape (n_tokens,), dtype bool
        Whether a space follows each token.
    groups : list of bytes
        Packed groups of spans of each document. `parse_groups` unpacks the groups.
    strings : dict of int to str
        String of each hash.
    """

    columns: dict[int, int]
    tokens: list[np.ndarray]
    spaces: list[np.ndarray]
    groups: list[bytes]
    strings: dict[int, str]

    def __repr__(self) -> str:
        return f"PackedDocs({len(self.tokens)} documents)"


class PackedGroup(NamedTuple):
    """Group of spans with its attributes.

    Parameters
    ----------
    attrs : dict
        Attributes of the group as plain values. The values are not checked.
    spans : list of tuple of int
        (label, first token, token past the last, start, end) of each span. The label is a hash.
    """

    attrs: dict[str, Any]
    spans: list[tuple[int, int, int, int, int]]

    def __repr__(self) -> str:
        return f"PackedGroup({len(self.spans)} spans)"


def unpack_docs(place: SourceLocation, data: bytes) -> PackedDocs:
    """Read the bytes of a DocBin.

    Raises
    ------
    CorpusFormatError
        If the bytes are damaged, truncated or inconsistent, or decompress to far more data than notes usually have.
    """
    content = _unpack(place, _inflate(place, data))
    if not isinstance(content, dict):
        raise place.error("The file is not a DocBin: there is no map.")
    arrays = {name: _array(place, content.get(name), name) for name in _ARRAYS}
    columns, strings = content.get("attrs"), content.get("strings")
    if not _is_list_of(columns, int) or not columns or len(set(columns)) != len(columns):
        raise place.error("The file is not a DocBin: 'attrs' must list distinct attributes.")
    if not _is_list_of(strings, str):
        raise place.error("The file is not a DocBin: 'strings' must list strings.")
    lengths = arrays["lengths"].astype(np.int64)
    total = int(lengths.sum())
    if (lengths < 0).any() or len(arrays["spaces"]) != total or len(arrays["tokens"]) != total * len(columns):
        raise place.error("The file is damaged: the numbers of tokens do not agree.")
    groups = content.get("span_groups", [b""] * len(lengths))
    if not _is_list_of(groups, bytes) or len(groups) != len(lengths):
        raise place.error("The file is damaged: 'span_groups' must hold bytes for each document.")
    cuts = np.cumsum(lengths)[:-1]
    return PackedDocs(
        {attribute: column for column, attribute in enumerate(columns)},
        np.split(arrays["tokens"].reshape(total, len(columns)), cuts) if len(lengths) else [],
        np.split(arrays["spaces"], cuts) if len(lengths) else [],
        groups,
        _by_hash(strings),
    )


def parse_groups(place: SourceLocation, packed: bytes) -> dict[str, PackedGroup]:
    """Groups of spans of one document, by key.

    Raises
    ------
    CorpusFormatError
        If the groups are damaged.
    """
    content = _unpack(place, packed) if packed else []
    named: list[tuple[Any, Any]]
    # Versions of spaCy before 3.2 wrote a list of groups, whose names are the keys.
    if isinstance(content, list):
        named = [([], value) for value in content]
    elif isinstance(content, dict):
        named = [(keys, value) for value, keys in content.items()]
    else:
        raise place.error("The groups of spans are damaged.")
    groups: dict[str, PackedGroup] = {}
    for keys, value in named:
        name, group = _parse_group(place, value)
        if not _is_list_of(keys, str):
            raise place.error("The groups of spans are damaged.")
        for key in keys or [name]:
            if key in groups:
                raise place.error("Two groups of spans have the same key.")
            groups[key] = group
    return groups


def _parse_group(place: SourceLocation, value: Any) -> tuple[str, PackedGroup]:
    content = _unpack(place, value) if isinstance(value, bytes) else None
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        raise place.error("A group of spans is damaged.")
    attrs, packed = content.get("attrs"), content.get("spans")
    if not isinstance(attrs, dict) or not _is_list_of(packed, bytes) or any(len(s) != _SPAN.size for s in packed):
        raise place.error("A group of spans is damaged.")
    return content["name"], PackedGroup(attrs, [_SPAN.unpack(span)[2:] for span in packed])


def _inflate(place: SourceLocation, data: bytes) -> bytes:
    stream = zlib.decompressobj()
    # The limit stops a decompression bomb before its content fills the memory.
    limit = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * len(data))
    try:
        content = stream.decompress(data, limit)
        if stream.eof and not stream.unused_data:
            return content
        # Data after the end of the stream could hide documents, so such a file is refused.
        problem = "is too large when expanded" if len(content) >= limit else "is cut off or continues after its end"
    except zlib.error:
        problem = "is not compressed like a DocBin"
    raise place.error(f"The file {problem}.")


def _unpack(place: SourceLocation, data: bytes) -> Any:
    """Read a msgpack value of plain types without spaCy's decoders of arrays and extensions."""
    from srsly import msgpack

    n_values = 0

    def counted(values: list[Any]) -> list[Any]:
        # A few compressed bytes can represent millions of empty lists, which take gigabytes as objects.
        nonlocal n_values
        n_values += 1 + len(values)
        if n_values > _MOST_VALUES:
            raise ValueError("too many values")
        return values

    try:
        return msgpack.unpackb(
            data,
            raw=False,
            list_hook=counted,
            object_pairs_hook=lambda pairs: each_key_once(counted(pairs)),
            ext_hook=_no_extension,
            max_array_len=_MOST_VALUES,
            max_map_len=_MOST_VALUES,
        )
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError, msgpack.UnpackException):
        # The original error could contain strings of the notes, so a new error is raised below.
        pass
    raise place.error("The file is damaged: its msgpack content cannot be read.")


def _no_extension(code: int, data: bytes) -> None:
    raise ValueError("an extension type")


def _array(place: SourceLocation, data: Any, name: str) -> np.ndarray:
    dtype = _ARRAYS[name]
    if not isinstance(data, bytes) or len(data) % dtype.itemsize:
        raise place.error(f"The file is not a DocBin: '{name}' must be the bytes of an array.")
    # numpy must not interpret a byte other than 0 and 1 as a bool, so the bytes are compared with 0.
    if dtype.kind == "b":
        return np.frombuffer(data, dtype=np.uint8) != 0
    return np.frombuffer(data, dtype=dtype)


def _is_list_of(value: Any, kind: type) -> TypeGuard[list]:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _by_hash(strings: list[str]) -> dict[int, str]:
    from spacy.strings import StringStore

    store = StringStore()
    return {0: "", **{store.add(string): string for string in strings}}
