"""Texts and names that people type in addition to the codes, references and extensions of a FHIR resource."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...text.word_counts import count_words
from .fhir_elements import is_attachment, is_defined, place_inside

#: Mark of a text that a model reads. All other marks are the label of the whole value.
TEXT = "text"
_NAMES_OF_EXTENSIONS = ("extension", "modifierExtension")
_TEXTS_OF_EXTENSIONS = ("valueString", "valueMarkdown")
_REFERENCE = re.compile(r"(?:^|/)(?P<kind>[A-Za-z]+)(?:/[A-Za-z0-9.-]{1,64}(?:/_history/[^/]*)?)?$")
_PATIENT, _DOCTOR, _HOSPITAL = "PATIENT", "DOCTOR", "HOSPITAL"
# Label of the display of a reference, by the type of its target, or else by the element that holds it. The display of
# any other reference, such as an order or a device, is a text.
_OF_TARGET = {
    **dict.fromkeys(("Patient", "RelatedPerson"), _PATIENT),
    **dict.fromkeys(("Practitioner", "PractitionerRole"), _DOCTOR),
    **dict.fromkeys(("Organization", "Location", "HealthcareService", "CareTeam"), _HOSPITAL),
}
_OF_ELEMENT = {
    **dict.fromkeys(("subject", "patient", "sourcePatientInfo"), _PATIENT),
    **dict.fromkeys(
        """author authenticator authorReference actor asserter attester dispenser orderedBy participant party performer
        practitioner primarySource prescriber recorder requester resultsInterpreter""".split(),
        _DOCTOR,
    ),
    **dict.fromkeys("assigner custodian location managingOrganization organization serviceProvider".split(), _HOSPITAL),
}

# Code systems whose displays the publisher of a terminology has written. People type the displays of all other codes.
_TERMINOLOGY = re.compile(
    r"https?://(?:"
    r"snomed\.info|loinc\.org|unitsofmeasure\.org|(?:(?:terminology|www)\.)?hl7\.org"
    r"|www\.nlm\.nih\.gov/research/umls|fdasis\.nlm\.nih\.gov|ncithesaurus\.nci\.nih\.gov|ncimeta\.nci\.nih\.gov"
    r"|www\.cms\.gov|www\.ama-assn\.org|www\.ada\.org|id\.who\.int|www\.who\.int|www\.whocc\.no|fhir\.de"
    r"|dicom\.nema\.org|varnomen\.hgvs\.org|www\.genenames\.org|human-phenotype-ontology\.org|www\.orpha\.net"
    r")(?:[/|][^\s?#@]*)?"
    # Code systems of HL7 and those that it has registered; tables of version 2; standards of ISO and IETF.
    r"|urn:oid:2\.16\.840\.1\.113883\.(?:5|6|12)(?:\.[0-9]+)+|urn:(?:iso:std:iso|ietf:bcp):[0-9:-]+"
)
# A word of a text. Identifiers, times and samples are made of digits and single letters.
_WORD = re.compile(r"[^\W\d_]{3,}")
# Words of units, such as "mm Hg" and "beats per minute".
_UNIT = re.compile(r"[^\W\d_A-Z]+|[A-Z]{1,3}|Hg|[^\w\s]{1,3}|\S*[/*\d\[\]]\S*")
_MOST_UNIT_WORDS = 7


def free_texts(value: Any, element: str = "", is_extension: bool = False, place: str | None = None) -> dict[Any, Any]:
    """Marks of the texts and names of a resource, in the form that `find_marked` takes.

    The marked values are: the ``text`` of a concept or annotation, unless it repeats the display of one of its codes;
    the ``display`` of a reference; the ``display`` of a coding without a code of a standard terminology; the
    ``authorString`` of an annotation; strings of extensions; and codes of extensions that no standard defines. With
    ``place``, texts of several words are also marked where FHIR defines codes, numbers and identifiers, or defines no
    element. Contained resources are left out, because each contained resource is read separately.

    Parameters
    ----------
    value : object
        Decoded resource, or a part of it.
    element : str, default=""
        Name of the element that holds the part.
    is_extension : bool, default=False
        Whether the part is an extension.
    place : str, optional
        Type of the resource, and the names of the elements on the path to the part, as in `has_unknown_element`. None
        if the elements of the type are not known.

    Examples
    --------
    >>> free_texts({"subject": {"reference": "Patient/1", "display": "Ann Roe"}, "code": {"text": "seen by Roe"}})
    {'subject': {'display': 'PATIENT'}, 'code': {'text': 'text'}}
    """
    marks: dict[Any, Any] = {}
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)) and (inner := free_texts(item, element, is_extension, place)):
                marks[index] = inner
            elif isinstance(item, str) and _is_unread(element, item, element, place):
                marks[index] = TEXT
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                mark: Any = _mark(value, key, item, element, is_extension)
                if mark is None and key not in ("text", "display") and _is_unread(key, item, element, place):
                    mark = TEXT
            elif isinstance(item, (dict, list)) and (key != "contained" or element):
                mark = free_texts(item, key, key in _NAMES_OF_EXTENSIONS, place and place_inside(place, key))
            else:
                mark = None
            if mark:
                marks[key] = mark
    return marks


def _mark(holder: Mapping[str, Any], key: str, value: str, element: str, is_extension: bool) -> str | None:
    if not value:
        return None
    if key == "text":
        return None if value.casefold() in _displays(holder) else TEXT
    if key == "display":
        return _of_display(holder, element)
    if key == "authorString":
        return _DOCTOR
    is_local = key == "valueCode" and not _is_standard(holder.get("url"))
    return TEXT if is_extension and (key in _TEXTS_OF_EXTENSIONS or is_local) else None


def _is_unread(key: str, value: str, element: str, place: str | None) -> bool:
    """Whether a value is a text at a place that is not searched for texts."""
    if place is None or is_defined(place) or _is_read_elsewhere(key, element, place):
        return False
    n_words = count_words(value)
    if n_words < 2 or _WORD.search(value) is None:
        return False
    return key != "unit" or n_words > _MOST_UNIT_WORDS or not all(map(_UNIT.fullmatch, value.split()))


def _is_read_elsewhere(key: str, element: str, place: str) -> bool:
    """Whether a value is a part of a narrative or an attachment that FHIR defines; such objects are read as a whole."""
    is_part = is_attachment(element) or (element == "text" and key == "div")
    return is_part and is_defined(place.rpartition(".")[0])


def _displays(concept: Mapping[str, Any]) -> Iterator[str]:
    """Displays of the codes of a concept, which a terminology defines."""
    codings = concept.get("coding")
    for coding in codings if isinstance(codings, list) else ():
        if isinstance(coding, dict) and _has_code(coding) and isinstance(coding.get("display"), str):
            yield coding["display"].casefold()


def _has_code(coding: Mapping[str, Any]) -> bool:
    """Whether a coding has a code of a standard terminology."""
    return isinstance(coding.get("code"), str) and _is_standard(coding.get("system"))


def _is_standard(address: Any) -> bool:
    return isinstance(address, str) and _TERMINOLOGY.fullmatch(address) is not None


def _of_display(holder: Mapping[str, Any], element: str) -> str | None:
    if "reference" not in holder and ("code" in holder or "system" in holder):
        return None if _has_code(holder) else TEXT
    target = holder.get("reference") or holder.get("type")
    found = _REFERENCE.search(target) if isinstance(target, str) else None
    return _OF_TARGET.get(found["kind"] if found else "") or _OF_ELEMENT.get(element) or TEXT
