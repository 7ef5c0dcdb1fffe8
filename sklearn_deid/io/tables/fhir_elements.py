"""Elements that FHIR defines for the resources whose texts are known; texts in other elements would not be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...text.word_counts import count_words
from .json_text import on_path


def _elements(names: str) -> frozenset[str]:
    return frozenset(names.split())


_INSIDE = "id extension modifierExtension"
_RESOURCE = f"resourceType implicitRules language meta text contained {_INSIDE}"
_VALUES = """valueAttachment valueBoolean valueCodeableConcept valueDateTime valueInteger valuePeriod valueQuantity
    valueRange valueRatio valueReference valueSampledData valueString valueTime"""
_CONCEPT = _elements("id extension coding text")
_ANNOTATION = _elements(f"{_INSIDE} authorReference authorString text time")
# If a string is in the place of such an element, its data would not be decoded.
_ATTACHMENTS = ("attachment", "presentedForm", "valueAttachment")
# Elements whose values are texts of any form, and elements whose values are codes, times or addresses, without blanks.
# All other elements are objects, numbers or truth values.
_TEXTS = _elements("authorString comment conclusion data description div name text title valueString version")
_WORDS = _elements(
    """confidentiality contentType created date docStatus effectiveDateTime effectiveInstant id implicitRules indexed
    instantiatesCanonical issued language mode orderedBy profile resourceType status time url valueDateTime valueTime"""
)
# Values of observations with parts, and the keys of numbers and times in them.
_MEASURED = _elements("valueQuantity valueRange valueRatio valuePeriod valueSampledData")
_NUMBERS = _elements("value start end data period factor lowerLimit upperLimit dimensions interval")
_SAMPLES = re.compile(r"[-+0-9.eEUL\s]*")
_TIME = re.compile(r"[-+0-9.:TZ]*")
# Another parameter, such as the name of a file, can hold any text.
_CONTENT_TYPE = re.compile(r"[^\s;]*(?:\s*;\s*charset\s*=\s*[\w.:+-]+)?\s*", re.ASCII | re.IGNORECASE)
#: Elements of FHIR STU3, R4, R4B and R5, by the place of their object.
ELEMENTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "DocumentReference": _elements(
            f"""{_RESOURCE} attester authenticator author basedOn bodySite category class content context created
            custodian date description docStatus event facilityType identifier indexed masterIdentifier modality period
            practiceSetting relatesTo securityLabel status subject type version"""
        ),
        "DocumentReference.content": _elements(f"{_INSIDE} attachment format profile"),
        "DiagnosticReport": _elements(
            f"""{_RESOURCE} basedOn category code codedDiagnosis composition conclusion conclusionCode context
            effectiveDateTime effectivePeriod encounter identifier image imagingStudy issued media note performer
            presentedForm result resultsInterpreter specimen status study subject supportingInfo"""
        ),
        "DiagnosticReport.codedDiagnosis": _CONCEPT,
        "DiagnosticReport.conclusionCode": _CONCEPT,
        "DiagnosticReport.image": _elements(f"{_INSIDE} comment link"),
        "DiagnosticReport.media": _elements(f"{_INSIDE} comment link"),
        "DiagnosticReport.note": _ANNOTATION,
        "Composition": _elements(
            f"""{_RESOURCE} attester author category class confidentiality custodian date encounter event identifier
            name note relatesTo section status subject title type url useContext version"""
        ),
        "Composition.note": _ANNOTATION,
        "Composition.section": _elements(
            f"{_INSIDE} author code emptyReason entry focus mode orderedBy section text title"
        ),
        # A Binary has no narrative.
        "Binary": _elements(f"{_RESOURCE} content contentType data securityContext") - {"text"},
        "Observation": _elements(
            f"""{_RESOURCE} {_VALUES} basedOn bodySite bodyStructure category code comment component context
            dataAbsentReason derivedFrom device effectiveDateTime effectiveInstant effectivePeriod effectiveTiming
            encounter focus hasMember identifier instantiatesCanonical instantiatesReference interpretation issued
            method note partOf performer referenceRange related specimen status subject triggeredBy"""
        ),
        "Observation.component": _elements(f"{_INSIDE} {_VALUES} code dataAbsentReason interpretation referenceRange"),
        "Observation.component.valueCodeableConcept": _CONCEPT,
        "Observation.note": _ANNOTATION,
        "Observation.valueCodeableConcept": _CONCEPT,
    }
)


def place_inside(place: str, key: str) -> str:
    """Place of an element of an object. Sections are inside of sections.

    Examples
    --------
    >>> place_inside("Observation", "note"), place_inside("Composition.section", "section")
    ('Observation.note', 'Composition.section')
    """
    return place if place == f"Composition.{key}" else f"{place}.{key}"


def is_defined(place: str) -> bool:
    """Whether the elements of the objects at a place are known, so that `has_misplaced_text` reads them.

    Examples
    --------
    >>> is_defined("Observation.note"), is_defined("Observation.identifier")
    (True, False)
    """
    return place in ELEMENTS


def is_attachment(element: str) -> bool:
    """Whether an element holds an Attachment; the texts of an Attachment are read, or the line is left out.

    Examples
    --------
    >>> is_attachment("presentedForm")
    True
    """
    return element in _ATTACHMENTS


def is_content_type(value: str) -> bool:
    """Whether the character set is the only parameter of a content type.

    Examples
    --------
    >>> is_content_type("text/plain; charset=utf-8"), is_content_type("application/pdf;name=roe.pdf")
    (True, False)
    """
    return _CONTENT_TYPE.fullmatch(value) is not None


def has_unknown_element(value: Any, place: str) -> bool:
    """Whether an object holds an element that FHIR does not define for this object, such as a misspelt element.

    Parameters
    ----------
    value : object
        Decoded JSON. Each item of a list is searched.
    place : str
        Type of the resource; for an object inside of the resource, also the names of the elements on the path to the
        object.

    Examples
    --------
    >>> has_unknown_element({"resourceType": "Observation", "note": [{"Text": "Seen by Roe."}]}, "Observation")
    True
    >>> has_unknown_element({"resourceType": "Patient", "nickname": "Roe"}, "Patient")
    False
    """
    if isinstance(value, list):
        return any(has_unknown_element(item, place) for item in value)
    if isinstance(value, str):
        return place.rpartition(".")[2] in _ATTACHMENTS
    known = ELEMENTS.get(place)
    if known is None or not isinstance(value, dict):
        return False
    # The extensions of an element are under its name with an underscore.
    return any(
        key.removeprefix("_") not in known or has_unknown_element(inner, place_inside(place, key))
        for key, inner in value.items()
    )


def has_misplaced_text(value: Any, place: str) -> bool:
    """Whether an object holds a text where FHIR defines a code, a time, a number or an object.

    In objects whose elements are not in `ELEMENTS`, keys of several words, and data outside of attachments, count as
    such texts.

    Parameters
    ----------
    value, place
        As for `has_unknown_element`. Pass a resource without its contained resources, which must be checked separately.

    Examples
    --------
    >>> has_misplaced_text({"resourceType": "Observation", "status": "as Roe said"}, "Observation")
    True
    >>> has_misplaced_text({"status": "final", "valueQuantity": {"value": 3, "unit": "mm Hg"}}, "Observation")
    False
    """
    if isinstance(value, list):
        return any(has_misplaced_text(item, place) for item in value)
    if place.partition(".")[0] not in ELEMENTS or not isinstance(value, dict):
        return False
    holder, _, element = place.rpartition(".")
    if is_attachment(element) and holder in ELEMENTS:
        return False  # read as a whole
    is_wrong = _is_misplaced if place in ELEMENTS else _is_foreign
    return any(
        is_wrong(key, inner) or has_misplaced_text(inner, place_inside(place, key)) for key, inner in value.items()
    )


def _is_foreign(key: str, value: Any) -> bool:
    return count_words(key) > 1 or (key == "data" and isinstance(value, str) and _SAMPLES.fullmatch(value) is None)


def _is_misplaced(key: str, value: Any) -> bool:
    if isinstance(value, list):
        return any(_is_misplaced(key, item) for item in value)
    if key.startswith("_"):
        return not isinstance(value, (dict, type(None))) or _is_text_id(value)
    if isinstance(value, str) and key == "contentType":
        return not is_content_type(value)
    if isinstance(value, str):
        return key not in _TEXTS and (key not in _WORDS or count_words(value) > 1)
    return _is_text_id(value) or (key in _MEASURED and _has_words(value))


def _is_text_id(value: Any) -> bool:
    """Whether the id of an element is a text."""
    return isinstance(value, dict) and isinstance(value.get("id"), str) and count_words(value["id"]) > 1


def _has_words(value: Any) -> bool:
    """Whether a number or a time in a measured value is a text."""
    if isinstance(value, list):
        return any(map(_has_words, value))
    if not isinstance(value, dict):
        return isinstance(value, str)
    return any(
        (_SAMPLES if key == "data" else _TIME).fullmatch(inner) is None
        if key in _NUMBERS and isinstance(inner, str)
        else isinstance(inner, (dict, list)) and key != "extension" and _has_words(inner)
        for key, inner in value.items()
    )


def has_other_spelling(value: Any, path: Sequence[str]) -> bool:
    """Whether an object has a key that differs from a key of a path only in case, blanks or punctuation.

    Examples
    --------
    >>> has_other_spelling({"Note": [{"text": "Seen by Roe."}]}, ["note", "text"])
    True
    """
    return any(
        key not in (name, f"_{name}") and _letters(key) == _letters(name)
        for holder, name in on_path(value, path)
        if name is not None and isinstance(holder, dict)
        for key in holder
    )


@lru_cache(maxsize=4096)
def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
