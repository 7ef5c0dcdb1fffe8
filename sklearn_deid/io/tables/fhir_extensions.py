"""Texts in the extensions of FHIR fields, such as the translation of a title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Values that are texts, and keys of texts in values that are objects.
_TEXTS = ("valueString", "valueMarkdown", "valueBase64Binary")
_KEYS = frozenset("text data display title family given line div".split())


def text_in_extensions(value: Any, path: Sequence[str]) -> bool:
    """Whether an extension of a field holds a text.

    Parameters
    ----------
    value : object
        Decoded JSON.
    path : sequence of str
        Keys of the field, as of `find_values`.

    Examples
    --------
    >>> translated = {"extension": [{"url": "lang", "valueCode": "de"}, {"url": "content", "valueString": "Titel"}]}
    >>> text_in_extensions({"title": "Title", "_title": {"extension": [translated]}}, ["title"])
    True
    >>> text_in_extensions({"title": "Title", "_subtitle": {"extension": [translated]}}, ["title"])
    False
    """
    if isinstance(value, list):
        return any(text_in_extensions(item, path) for item in value)
    if not isinstance(value, dict):
        return False
    if not path:
        return any(_holds_text(inner) for key, inner in value.items() if key == "extension" or key.startswith("_"))
    name = path[0].removesuffix("*")
    # The extensions of a text itself stand beside the text, under its name with an underscore.
    if _holds_text(value.get(f"_{name}")):
        return True
    rests = [path[1:]] if name == path[0] else [path[1:], path]
    return any(text_in_extensions(value.get(name), rest) for rest in rests)


def _holds_text(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_holds_text, value))
    if not isinstance(value, dict):
        return False
    return any(
        (key in _TEXTS and bool(inner)) or (key.startswith("value") and _has_key(inner)) or _holds_text(inner)
        for key, inner in value.items()
    )


def _has_key(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_key, value))
    return isinstance(value, dict) and any(key in _KEYS or _has_key(inner) for key, inner in value.items())
