"""Texts in the extensions of FHIR fields, such as the translation of a title."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...text.word_counts import count_words
from .json_text import on_path

# Values that are texts, and keys of texts in values that are objects.
_TEXTS = ("valueString", "valueMarkdown", "valueBase64Binary")
# Values of one word or number.
_CODES = frozenset(
    f"value{kind}"
    for kind in """Boolean Canonical Code Date DateTime Decimal Id Instant Integer Integer64 Oid PositiveInt Time
    UnsignedInt Uri Url Uuid""".split()
)
# Values of extensions that are read, with the key of the text in an object.
_READ = {"valueString": None, "valueMarkdown": None, "valueAnnotation": "text", "valueCodeableConcept": "text"}
# Values that hold names, addresses or data, which are not read.
_REFUSED = frozenset(
    f"value{kind}"
    for kind in """Address Attachment Base64Binary ContactDetail ContactPoint Contributor ExtendedContactDetail
    HumanName RelatedArtifact Signature VirtualServiceDetail""".split()
)
# Addresses that are themselves the data, or the address of a person.
_ADDRESS = re.compile(r"(?:data|mailto|tel|sms|fax|sip):", re.IGNORECASE)
_NAMES = ("extension", "modifierExtension")
# Digits of a year.
_YEAR = re.compile(r"\d{4}")
_BESIDE = frozenset(("id", "extension"))
_KEYS = frozenset("text data display title family given line div".split())


def text_in_extensions(value: Any, path: Sequence[str]) -> bool:
    """Whether an extension of a field holds a text, or the value is not a list of extensions.

    Parameters
    ----------
    value : object
        Decoded JSON.
    path : sequence of str
        Keys of the field, as returned by `find_values`.

    Examples
    --------
    >>> translated = {"extension": [{"url": "lang", "valueCode": "de"}, {"url": "content", "valueString": "Titel"}]}
    >>> text_in_extensions({"title": "Title", "_title": {"extension": [translated]}}, ["title"])
    True
    >>> text_in_extensions({"title": "Title", "_subtitle": {"extension": [translated]}}, ["title"])
    False
    """
    for holder, name in on_path(value, path):
        if not isinstance(holder, dict):
            continue
        # The extensions of a text itself are beside the text, under its name with an underscore.
        keys = [key for key in holder if key.startswith("_")] if name is None else [f"_{name}"]
        if any(_is_text_beside(holder.get(key)) for key in keys) or (
            name is None and _holds_text(holder.get("extension"))
        ):
            return True
    return False


def date_in_extensions(value: Any, path: Sequence[str]) -> bool:
    """Whether an extension of a date holds a text or a date, such as the time of birth, which would not be shifted.

    Parameters
    ----------
    value, path
        As for `text_in_extensions`.

    Examples
    --------
    >>> born = {"extension": [{"url": "patient-birthTime", "valueDateTime": "1950-02-28T03:00:00Z"}]}
    >>> date_in_extensions({"birthDate": "1950-02-28", "_birthDate": born}, ["birthDate"])
    True
    """
    return text_in_extensions(value, path) or any(
        isinstance(holder, dict) and _has_year(holder.get(f"_{name}"))
        for holder, name in on_path(value, path)
        if name is not None
    )


def _has_year(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_year, value))
    if isinstance(value, dict):
        return any(_has_year(inner) for key, inner in value.items() if key != "url")
    return _YEAR.search(str(value)) is not None


def _is_text_beside(value: Any) -> bool:
    """Whether the value of a name with an underscore contains more than an id and extensions without text."""
    if isinstance(value, list):
        return any(map(_is_text_beside, value))
    if not isinstance(value, dict):
        return value is not None
    return not value.keys() <= _BESIDE or _is_compound(value.get("id")) or _holds_text(value.get("extension"))


def _holds_text(value: Any) -> bool:
    """Whether extensions contain a text, or keys that FHIR does not define for extensions, such as a misspelt key."""
    if isinstance(value, list):
        return any(map(_holds_text, value))
    if not isinstance(value, dict):
        return value is not None
    return any(_is_text(key, inner) for key, inner in value.items())


def _is_text(key: str, value: Any) -> bool:
    """Whether a value of an extension is or could be a text."""
    if key in _TEXTS:
        return bool(value)
    if key in ("url", "id") or key in _CODES:
        return _is_compound(value)
    if key == "extension":
        return _holds_text(value)
    if key.startswith("_"):
        return _is_text_beside(value)
    return not key.startswith("value") or not isinstance(value, dict) or _has_key(value)


def _is_compound(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _has_key(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_key, value))
    return isinstance(value, dict) and any(key in _KEYS or _has_key(inner) for key, inner in value.items())


def unread_in_extensions(value: Any, is_extension: bool = False) -> bool:
    """Whether an extension of any element holds a text that `free_texts` does not find.

    Pass a resource without its contained resources, which must be checked separately.

    Examples
    --------
    >>> unread_in_extensions({"extension": [{"url": "u", "valueHumanName": {"text": "Roe"}}]})
    True
    >>> unread_in_extensions({"extension": [{"url": "u", "valueString": "seen by Roe"}]})
    False
    """
    if isinstance(value, list):
        return any(unread_in_extensions(item, is_extension) for item in value)
    if not isinstance(value, dict):
        return is_extension and value is not None
    if is_extension:
        return any(_is_unread(key, inner) for key, inner in value.items())
    return any(unread_in_extensions(inner, key in _NAMES) for key, inner in value.items())


def _is_unread(key: str, value: Any) -> bool:
    if key in _READ:
        inner = _READ[key]
        text = value if inner is None else value.get(inner) if isinstance(value, dict) else 0
        return not isinstance(text, (str, type(None))) or (inner is not None and unread_in_extensions(value))
    if key in ("url", "id") or key in _CODES:
        return _is_compound(value) or (isinstance(value, str) and _is_text_or_address(value))
    if key in _NAMES:
        return unread_in_extensions(value, True)
    if key.startswith("_"):
        return _is_text_beside(value)
    return key in _REFUSED or not key.startswith("value") or not isinstance(value, dict) or unread_in_extensions(value)


def _is_text_or_address(value: str) -> bool:
    return count_words(value) > 1 or _ADDRESS.match(value.strip()) is not None
