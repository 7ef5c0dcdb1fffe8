"""FHIR resources in NDJSON files, the form of bulk exports."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...surrogates.clock_times import without_distance
from ...text import known_id
from ...text.word_counts import count_words
from ..checking import SourceLocation
from .columns import Columns
from .fhir_elements import has_misplaced_text, has_other_spelling, has_unknown_element, is_content_type, is_defined
from .fhir_extensions import date_in_extensions, text_in_extensions, unread_in_extensions
from .fhir_free_texts import TEXT, free_texts
from .json_lines import JsonLinesTable, TextField
from .json_text import JsonPlace, find_marked, find_values, on_path
from .markup import MarkedText, marked_text, tags_tell, with_tags
from .table import Cell, TableChunk

#: Text fields of each type of resource. A path ends at a string, at an Attachment, or at a Narrative. "." is the
#: resource itself, for Binary, and "section*" are sections inside of sections to any depth.
FHIR_FIELDS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "DocumentReference": ("text", "description", "version", "content.attachment"),
        "DiagnosticReport": (
            *("text", "conclusion", "presentedForm", "note.text", "note.authorString", "media.comment"),
            *("image.comment", "conclusionCode.text", "codedDiagnosis.text"),
        ),
        "Composition": (
            *("text", "title", "name", "version", "note.text", "note.authorString", "section*.title", "section*.text"),
        ),
        "Binary": (".",),
        "Observation": (
            *("text", "note.text", "note.authorString", "comment", "valueString", "valueAttachment"),
            *("valueCodeableConcept.text", "component.valueString", "component.valueAttachment"),
            "component.valueCodeableConcept.text",
        ),
    }
)
# What an object at the end of a path may hold: a Narrative, or an Attachment.
_NARRATIVE = frozenset(("id", "extension", "status", "div"))
_STATUSES = (None, "generated", "extensions", "additional", "empty")
_ATTACHMENT = frozenset(
    "id extension contentType language data url size hash title creation height width frames duration pages".split()
)
# The name of a person, and nothing else.
_PERSON = "authorString"
# Elements of base64 and of HTML.
_CODED = ("data", "div")
# Browsers skip them in addresses.
_CONTROLS = re.compile(r"[\x00-\x20\s]")
_HTML = ("text/html", "application/xhtml+xml")
_REFERENCE = re.compile(r"(?:^|/)(?P<patient>Patient/[A-Za-z0-9.-]{1,64})(?:/_history/[^/]*)?$")
# Address of a resource. Any other address of an attachment can hold a name, such as that of a file.
_RESOURCE = re.compile(
    r"(?:https?://[^\s?#@]+/)?(?:Binary|DocumentReference|Media|ImagingStudy)/[A-Za-z0-9.-]{1,64}(?:/_history/[0-9]+)?"
    r"|urn:uuid:[0-9a-f-]{36}"
)
#: Start of a path that names a structured date.
DATE_PATH = "date:"
# date, dateTime and instant of FHIR R4
_DATE = re.compile(
    r"(?P<day>[0-9]{4}(?:-[0-9]{2}){0,2})(?P<time>(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?)"
)


class FhirLines(JsonLinesTable):
    """NDJSON file with a FHIR resource in each line. Only the values of the text fields change, byte by byte.

    Contained resources are read separately; their texts belong to the patient of the whole resource.

    Attachments and Binary resources contain ``text/plain`` or ``text/html`` in base64. The address of an attachment is
    replaced as a whole unless it is the address of a resource. The ``size`` and ``hash`` of attachments are recomputed:
    with the old hash, readers could check guesses of the old text. A line is left out and listed if it is not a valid
    resource, if ``fields`` has no entry for its type, or if one of its texts cannot be read or redacted.

    Parameters
    ----------
    path, output : Path
        Input file, and output file of `assemble`.
    fields : mapping of str to sequence of str
        Paths of the texts of each type of resource, such as `FHIR_FIELDS`. A type with an empty list is copied
        unchanged. A path that begins with ``date:`` refers to a structured date, for surrogates only. The day is
        shifted with the dates in the texts of the patient, the time of day is unchanged, and the offset from UTC
        becomes ``+00:00``.
    """

    def __init__(self, path: Path, output: Path, fields: Mapping[str, Sequence[str]]) -> None:
        super().__init__(path, output, Columns(()))
        for kind, paths in fields.items():
            ends = {path: path.rpartition(".")[2].removesuffix("*") for path in paths}
            if encoded := [path for path, end in ends.items() if end in _CODED]:
                raise self._error(
                    f"The path {encoded[0]} ends at base64 or HTML, which is no text. Name the object that holds it."
                )
            if kind != "Binary" and not all(ends.values()):
                raise self._error("The path . is for Binary only. Name the texts of the resource.")
            if both := set(paths) & {path.removeprefix(DATE_PATH) for path in paths if path.startswith(DATE_PATH)}:
                raise self._error(f"The profile names {min(both)} of {kind} as a text and as a date. Leave out one.")
        self.paths = {kind: _paths(ps, is_date=False) for kind, ps in fields.items()}
        self.dates = {kind: _paths(ps, is_date=True) for kind, ps in fields.items()}
        self._is_own = any(tuple(paths) != FHIR_FIELDS.get(kind) for kind, paths in fields.items())
        self._counts: Counter[str] = Counter()

    def fields(self, line: str, number: int, content: dict[str, Any]) -> list[TextField]:
        """Texts of a resource."""
        patient = _patient(content)
        return [
            field
            for prefix, resource, start in self._resources(line, content)
            for field in self._fields_of(line, number, prefix, resource, start, patient)
        ]

    def _resources(
        self, line: str, content: Mapping[str, Any], prefix: str = "", start: int = 0
    ) -> Iterator[tuple[str, Mapping[str, Any], int]]:
        """The resource and its contained resources: start of each, and prefix of the names of its texts."""
        kind = content.get("resourceType")
        if not isinstance(kind, str) or kind not in self.paths:
            raise self._error(
                f"The {'contained ' if prefix else ''}resource has a type without an entry in the profile. An empty "
                "list copies the type unchanged."
            )
        if (reason := self._refusal(content, kind)) is not None:
            raise self._error(reason)
        yield prefix, content, start
        for index, inner in enumerate(find_values(line, ["contained"], start)):
            if not isinstance(inner.value, dict):
                raise self._error("A contained resource is no object.")
            yield from self._resources(line, inner.value, f"{prefix}contained[{index}].", inner.start)

    def _refusal(self, content: Mapping[str, Any], kind: str) -> str | None:
        """Reason why texts of a resource would be copied unread; None without a reason."""
        texts = self.paths[kind]
        # A text in a field of another form would not be found, and would be copied unchanged. Before FHIR R4, the data
        # of a Binary were its content.
        paths = (*texts, *self.dates[kind])
        if not all(_is_readable(content, path) if path else "content" not in content for path in paths):
            return "A field that the profile names has not the form of FHIR, such as a text for an object."
        # With the original date beside it, a shifted date reveals the shift of all dates of the patient.
        if any(date_in_extensions(content, path) for path in self.dates[kind]):
            return "An extension of a date holds a text or another date, which would not be shifted."
        if not is_defined(kind) and _holds_resource(content, texts):
            return "The resource holds another resource, such as an entry of a Bundle. Write each into its own line."
        # A type without paths of texts is copied, whatever else it holds.
        if not texts:
            return None
        if has_unknown_element(content, kind) or any(has_other_spelling(content, path) for path in texts):
            return "The resource has an element that FHIR does not define there, such as one in another case."
        own = {key: inner for key, inner in content.items() if key != "contained"}
        if has_misplaced_text(own, kind):
            return "The resource has a text where FHIR has a code, a time, a number or an object."
        if any(text_in_extensions(content, path) for path in texts):
            return "An extension of a text holds a text, such as a translation, which is not read."
        if unread_in_extensions(own):
            return "An extension holds a name, an address, data or another value that is not read."
        return None

    def _fields_of(
        self, line: str, number: int, prefix: str, resource: Mapping[str, Any], start: int, patient: str | None
    ) -> list[TextField]:
        """Texts and dates of a resource that begins at ``start``."""
        found: list[TextField] = []
        seen: set[int] = set()
        kind = resource["resourceType"]
        for path in self.paths[kind]:
            before, name, n_known = len(found), f"{prefix}{'.'.join(path) or kind}", 0
            # The place in a list makes the names of texts unique.
            # Most resources lack most fields, and a search reads the whole resource.
            is_there = not path or path[0].removesuffix("*") in resource
            for index, place in enumerate(find_values(line, path, start) if is_there else ()):
                if place.start in seen:
                    n_known += 1  # another path of the profile leads here, too, such as section* and section
                    continue
                seen.add(place.start)
                found += self._texts(line, number, f"{name}[{index}]", place, patient)
            self._counts[f"{kind}: {'.'.join(path) or '.'}"] += len(found) - before + n_known
        known = kind if is_defined(kind) else None
        marks = free_texts(resource, place=known) if self.paths[kind] else {}
        for index, (key, mark, place) in enumerate(find_marked(line, marks, start)):
            if place.start not in seen:
                label = None if mark == TEXT else mark
                found.append(_field(number, f"{prefix}other {key}[{index}]", place, patient, label))
        for path in self.dates[kind]:
            places = find_values(line, path, start)
            self._counts[f"{kind}: {DATE_PATH}{'.'.join(path)}"] += len(places)
            for index, place in enumerate(place for place in places if place.start not in seen):
                seen.add(place.start)
                found.append(self._date(number, f"{prefix}{'.'.join(path)}[{index}]", place, patient))
        return found

    def _chunk(self, lines: list[bytes], before: int) -> TableChunk:
        self._counts.clear()
        chunk = super()._chunk(lines, before)
        # The fields of this library are spelt correctly: an export may lack some of these fields.
        return replace(chunk, has_whole_rows=True, field_counts=dict(self._counts) if self._is_own else {})

    def _date(self, number: int, name: str, place: JsonPlace, patient: str | None) -> TextField:
        """Date of a structured field. The replacement of a date must also be a date."""
        parts = _DATE.fullmatch(place.value) if isinstance(place.value, str) else None
        if parts is None:
            raise self._error("A field that the profile names as a date holds no date.")
        if patient is None:
            raise self._error("A date is shifted with the other dates of the patient, and the resource names none.")
        day, time = parts["day"], parts["time"]

        def written(new: str | None) -> list[tuple[JsonPlace, Any]] | None:
            right = new is not None and len(new) == len(day) and _DATE.fullmatch(new)
            return [(place, new + without_distance(time))] if right and new is not None else None

        return TextField(Cell(number, name, day, None, patient, "DATE"), written)

    def _texts(self, line: str, number: int, name: str, place: JsonPlace, patient: str | None) -> list[TextField]:
        value = place.value
        if isinstance(value, dict) and isinstance(value.get("div"), str):
            text = self._of_markup(value["div"])
            target = find_values(line, ["div"], place.start)[0]
            cell = Cell(number, name, text.text, None, patient)
            return [TextField(cell, lambda new: _changed(target, _restored(text, new)))]
        if isinstance(value, dict):
            titles, urls = (find_values(line, [key], place.start) for key in ("title", "url"))
            found = [_field(number, f"{name}.title", title, patient) for title in titles]
            found += [
                _field(number, f"{name}.url[{at}]", url, patient, "URL")
                for at, url in enumerate(urls)
                if isinstance(url.value, str) and _RESOURCE.fullmatch(url.value) is None
            ]
            data = [] if value.get("data") is None else [self._attachment(line, number, name, place, patient)]
            return found + data
        label = "DOCTOR" if name.rpartition(".")[2].startswith(_PERSON) and isinstance(value, str) else None
        return [_field(number, name, place, patient, label)]

    def _attachment(self, line: str, number: int, name: str, place: JsonPlace, patient: str | None) -> TextField:
        kind, _, charset = str(place.value.get("contentType")).lower().replace(" ", "").partition(";charset=")
        if kind != "text/plain" and kind not in _HTML:
            raise self._error("The content of the attachment is neither text/plain nor text/html.")
        text = _decoded(place.value["data"], charset or "utf-8")
        if text is None:
            raise self._error("The data of the attachment are not base64, or not in the encoding of the content type.")
        marked = self._of_markup(text) if kind in _HTML else MarkedText(text, None)
        targets = {key: find_values(line, [key], place.start) for key in ("data", "size", "hash")}

        def written(new: str | None) -> list[tuple[JsonPlace, Any]] | None:
            data = _encoded(_restored(marked, new), charset or "utf-8")
            if data is None:
                return None
            values = {"data": base64.b64encode(data).decode("ascii"), "size": len(data)}
            # FHIR defines the hash as SHA-1.
            values["hash"] = base64.b64encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode("ascii")
            return [(target, values[key]) for key, found in targets.items() for target in found]

        return TextField(Cell(number, name, marked.text, None, patient), written)

    def _of_markup(self, markup: str) -> MarkedText:
        marked = marked_text(markup)
        if marked is None:
            raise self._error("The HTML holds a script, an image, a comment or an attribute that may hold text.")
        return marked

    def _error(self, reason: str) -> Exception:
        return SourceLocation(str(self.path)).error(reason)


def _restored(marked: MarkedText, new: str | None) -> str | None:
    """New text in the form of the old text."""
    if new is None or marked.tags is None:
        return new
    return None if tags_tell(marked.text, new, marked.tags) else with_tags(new, marked.tags)


def _field(number: int, name: str, place: JsonPlace, patient: str | None, label: str | None = None) -> TextField:
    """Text that is a whole value."""
    return TextField(Cell(number, name, place.value, None, patient, label), partial(_changed, place))


def _changed(place: JsonPlace, new: str | None) -> list[tuple[JsonPlace, Any]] | None:
    return None if new is None else [(place, new)]


def _paths(written: Sequence[str], is_date: bool) -> list[tuple[str, ...]]:
    """Keys of each path of texts, or of dates."""
    chosen = [path.removeprefix(DATE_PATH) for path in written if path.startswith(DATE_PATH) == is_date]
    return [tuple(part for part in path.split(".") if part) for path in chosen]


def _holds_resource(value: Any, paths: Sequence[Sequence[str]], before: tuple[str, ...] = ()) -> bool:
    """Whether an object holds a resource that is not contained, and to which no path leads."""
    if isinstance(value, list):
        return any(_holds_resource(item, paths, before) for item in value)
    if not isinstance(value, dict):
        return False
    if before and "resourceType" in value:
        return not any(tuple(path[: len(before)]) == before for path in paths)
    return any(
        _holds_resource(inner, paths, (*before, key)) for key, inner in value.items() if before or key != "contained"
    )


def _is_readable(value: Any, path: Sequence[str]) -> bool:
    """Whether `find_values` finds all possible values of a path, and `FhirLines` can read all of them."""
    return all(
        (not isinstance(inner, dict) or _is_known(inner)) if name is None else isinstance(inner, (dict, type(None)))
        for inner, name in on_path(value, path)
    )


def _is_known(value: Mapping[str, Any]) -> bool:
    """Whether an object is a Narrative or an Attachment."""
    keys = {key.removeprefix("_") for key in value}
    is_narrative = keys <= _NARRATIVE and isinstance(value.get("div"), (str, type(None)))
    if is_narrative and value.get("status") not in _STATUSES:
        return False
    # Such an address is itself the content.
    has_content = _CONTROLS.sub("", str(value.get("url"))).lower().startswith("data:")
    # Without the data, a hash belongs to a text elsewhere, and lets readers test guesses of this text.
    has_hash = value.get("data") is None and value.get("hash") is not None
    return is_narrative or (keys <= _ATTACHMENT and not has_content and not has_hash and not _has_words(value))


def _has_words(attachment: Mapping[str, Any]) -> bool:
    """Whether a value of an attachment, except its text, has parts or words, or its content type more parameters."""
    values = {key: inner for key, inner in attachment.items() if key != "extension" and not key.startswith("_")}
    return any(isinstance(inner, (dict, list)) for inner in values.values()) or any(
        not is_content_type(inner) if key == "contentType" else count_words(inner) > 1
        for key, inner in values.items()
        if key not in ("title", "data") and isinstance(inner, str)
    )


def _patient(content: Mapping[str, Any]) -> str | None:
    """Patient of a resource: the resource itself, or its reference; None if the reference is inside of the resource."""
    if content.get("resourceType") == "Patient" and isinstance(content.get("id"), str) and known_id(content["id"]):
        return f"Patient/{content['id']}"
    for key in ("subject", "patient", "securityContext"):
        value = content.get(key)
        # The subject of a Composition is a list since R5.
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        reference = one.get("reference") if isinstance(one, dict) else None
        # A contained resource, such as #p, has the same name in the resources of all patients.
        if isinstance(reference, str) and known_id(reference.rpartition("/")[2]) and not reference.startswith("#"):
            # With the address of a server, or with a version, it is the same patient.
            found = _REFERENCE.search(reference)
            return reference if found is None else found["patient"]
    return None


def _decoded(data: Any, charset: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode(charset)
    except (binascii.Error, ValueError, TypeError, LookupError):
        return None


def _encoded(text: str | None, charset: str) -> bytes | None:
    try:
        return None if text is None else text.encode(charset)
    except UnicodeError:
        return None
