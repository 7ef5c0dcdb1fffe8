"""Positions of values in the text of a JSON object, so that a value can be replaced and all other bytes are
unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..strict_json import dump_line

_DECODER = json.JSONDecoder()
# Some programs write a byte order mark in front of a file; files can be joined.
_SPACES = " \t\n\r\ufeff"
_ENDS = {"{": "}", "[": "]"}


class JsonPlace(NamedTuple):
    """Value in a JSON text, with its position.

    Parameters
    ----------
    start, end : int
        Characters of the text.
    value : object
        Decoded value.
    """

    start: int
    end: int
    value: Any


def find_values(text: str, path: Sequence[str], start: int = 0) -> list[JsonPlace]:
    """Find the values of a path of keys. Lists on the path are also searched.

    Parameters
    ----------
    text : str
        Valid JSON, in which no object has a key twice.
    path : sequence of str
        Keys. An empty path is the value at ``start`` itself. A key with a star is also searched inside of its values.
    start : int, default=0
        Where a value begins.

    Examples
    --------
    >>> text = '{"note": [{"text": "a"}, {"by": 1, "text": "b"}]}'
    >>> [(place.value, text[place.start : place.end]) for place in find_values(text, ["note", "text"])]
    [('a', '"a"'), ('b', '"b"')]
    """
    start = _after_spaces(text, start)
    if text[start] == "[":
        return [place for _, inner in find_parts(text, start) for place in find_values(text, path, inner.start)]
    if not path:
        value, end = _DECODER.raw_decode(text, start)
        return [JsonPlace(start, end, value)]
    if text[start] != "{":
        return []
    name = path[0].removesuffix("*")
    rests = [path[1:]] if name == path[0] else [path[1:], path]
    return [
        place
        for key, inner in find_parts(text, start)
        if key == name
        for rest in rests
        for place in find_values(text, rest, inner.start)
    ]


def find_member(text: str, key: str) -> JsonPlace | None:
    """Find the value of a key of an object, which may be a list; None if the object lacks the key.

    Examples
    --------
    >>> find_member('{"note*": ["a"]}', "note*")
    JsonPlace(start=10, end=15, value=['a'])
    """
    return next((place for name, place in find_parts(text) if name == key), None)


def on_path(value: Any, path: Sequence[str]) -> Iterator[tuple[Any, str | None]]:
    """Values on a path of keys, each with its key in the path; None for the values at the end of the path.

    Parameters
    ----------
    value : object
        Decoded JSON. Lists on the path are also searched.
    path : sequence of str
        Keys, as for `find_values`.

    Examples
    --------
    >>> list(on_path({"note": [{"text": "a"}]}, ["note", "text"]))
    [({'note': [{'text': 'a'}]}, 'note'), ({'text': 'a'}, 'text'), ('a', None)]
    """
    if isinstance(value, list):
        for item in value:
            yield from on_path(item, path)
        return
    name = path[0].removesuffix("*") if path else None
    yield value, name
    if path and isinstance(value, dict):
        for rest in [path[1:]] if name == path[0] else [path[1:], path]:
            yield from on_path(value.get(name), rest)


def find_marked(text: str, marks: Mapping[Any, Any], start: int = 0) -> Iterator[tuple[str, Any, JsonPlace]]:
    """Key, mark and place of the values that have a mark.

    Parameters
    ----------
    text : str
        Valid JSON, in which no object has a key twice.
    marks : mapping
        Marks by key, or by position in a list. A mapping contains the marks of the parts of a value.
    start : int, default=0
        Where a value begins.

    Examples
    --------
    >>> text = '{"a": [{"b": 1}, {"b": 2}]}'
    >>> [(key, mark, place.value) for key, mark, place in find_marked(text, {"a": {1: {"b": "x"}}})]
    [('b', 'x', 2)]
    """
    left = len(marks)
    for index, (key, place) in enumerate(find_parts(text, start)):
        name = index if key is None else key
        if name not in marks:
            continue
        mark = marks[name]
        if isinstance(mark, Mapping):
            yield from find_marked(text, mark, place.start)
        else:
            yield str(name), mark, place
        left -= 1
        if not left:
            return


def find_parts(text: str, start: int = 0) -> Iterator[tuple[str | None, JsonPlace]]:
    """Members of the object, or items of the list, at ``start``; items have no key.

    Examples
    --------
    >>> [(key, place.value) for key, place in find_parts('{"a": 1, "b": [2]}')]
    [('a', 1), ('b', [2])]
    """
    position = _after_spaces(text, start)
    if (end := _ENDS.get(text[position])) is None:
        return
    position = _after_spaces(text, position + 1)
    while text[position] != end:
        key = None
        if end == "}":
            key, position = _DECODER.raw_decode(text, position)
            position = _after_spaces(text, _after_spaces(text, position) + 1)  # behind the colon
        value, stop = _DECODER.raw_decode(text, position)
        yield key, JsonPlace(position, stop, value)
        position = _after_spaces(text, stop)
        if text[position] == ",":
            position = _after_spaces(text, position + 1)


def replace_values(text: str, values: Iterable[tuple[JsonPlace, Any]]) -> str:
    """Write other values at some positions of a JSON text.

    Examples
    --------
    >>> text = '{"n": 1.0,  "text": "Ann"}'
    >>> replace_values(text, [(find_values(text, ["text"])[0], "Eva")])
    '{"n": 1.0,  "text": "Eva"}'
    """
    parts, position = [], 0
    for place, value in sorted(values, key=lambda pair: pair[0].start):
        if place.start < position:
            continue  # two paths of a profile lead to one value
        parts += [text[position : place.start], dump_line(value)]
        position = place.end
    return "".join([*parts, text[position:]])


def _after_spaces(text: str, position: int) -> int:
    while text[position] in _SPACES:
        position += 1
    return position
