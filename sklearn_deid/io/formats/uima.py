"""UIMA CAS, for INCEpTION, WebAnno and other UIMA tools; one file for each note.

The reader reads XMI (``.xmi``) and UIMA CAS JSON 0.4 (``.json``), which INCEpTION exports. The writer writes XMI, which
all of these tools import.

Spans are annotations of DKPro Core's type ``NamedEntity`` and of its subtypes. The feature ``value`` is the label.
INCEpTION has a layer of this type. The reader also reads annotations of the custom layers of INCEpTION
(``webanno.custom.*``, and ``custom.Span`` of a project for basic annotation) with a feature ``value`` or ``label``. The
reader ignores relations between annotations, and the other types of DKPro Core and UIMA, such as sentences. Annotations
of any other type are an error, and so is a type that is not described: a file with unknown annotations would look like
a note without PHI. Custom layers need the file ``TypeSystem.xml`` in the folder of the notes, as in INCEpTION's
exports. A JSON file usually describes its types itself, and needs ``TypeSystem.xml`` only if the description is
missing.

Patient id, metadata, categories and confidences are one ``MetaDataStringField`` with the key ``sklearn-deid``. The
details of a span are valid as long as offsets and label are unchanged. The offsets of a CAS count UTF-16 units; reader
and writer convert the offsets. XML cannot represent most control characters, so the writer refuses these characters.

The reader refuses document type declarations before `cassis` sees the file, so that no entity is expanded. The format
needs the extra ``uima`` (`dkpro-cassis`, Apache License 2.0).

Source: OASIS (2009), "Unstructured Information Management Architecture (UIMA) Version 1.0"; XMI: Apache UIMA's
reference, chapter "XMI CAS serialization"; JSON: Apache UIMA, "JSON CAS serialization for UIMA 0.4".
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..._optional import import_optional
from ...text import Document, Span
from ..checking import SourceLocation, check_covered, check_label, check_text
from ..files import decode, read_bytes, read_note
from ..format import Format, Item, has_suffix, is_cas_json
from ..note_xml import decode_xml, parse_xml, writable_xml
from ..span_details import SpanDetails, is_detail, known_details
from ..strict_json import dump_meta, parse_json

_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_FIELD = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.MetaDataStringField"
_KEY, _TYPES = "sklearn-deid", "TypeSystem.xml"
# Layers that users make, and those that INCEpTION makes for a project of basic annotation.
_CUSTOM = ("webanno.custom.", "custom.")
# Types such as tokens and sentences, which say nothing about PHI.
_STRUCTURE = ("uima.", "de.tudarmstadt.ukp.", "org.dkpro.")
# What cassis and lxml raise for XML or JSON that is no CAS; lxml's syntax error is one of Python.
_FAILURES = (
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    AssertionError,
    ArithmeticError,
)
# The warning of cassis for an offset that it keeps in UTF-16 units.
_UNMAPPED = re.compile(r"Not mapping external offset \[(\d+)\]")


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the document of a file."""
    place = SourceLocation(str(path), path.stem)
    cassis = _cassis()
    of_content = _json_loader if path.suffix.lower() == ".json" else _xmi_loader
    load = of_content(cassis, place, path, encoding)
    cas, failure = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cas = load()
        # The errors of cassis can quote the file, so only their kind is shown.
        except (*_FAILURES, cassis.typesystem.TypeNotFoundError) as error:
            failure = type(error).__name__
    if cas is None or not isinstance(cas.sofa_string, str):
        raise place.error(
            f"The file is no UIMA CAS whose types are known ({failure or 'no text'}). Is {_TYPES} beside it?"
        )
    if len(cas.sofas) > 1:
        raise place.error("The CAS has several texts. Keep the view of the note only: the others would be missing.")
    unmapped = [_UNMAPPED.match(str(warning.message)) for warning in caught]
    yield _document(place, path.stem, cas, {int(found[1]) for found in unmapped if found})


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """The note as XMI; with ``lossy``, each character that XML cannot represent is replaced by a space."""
    cassis, place = _cassis(), SourceLocation(None, document.doc_id)
    types = _dkpro_types()
    cas = cassis.Cas(types)
    cas.sofa_string, cas.sofa_mime = writable_xml(place, document.text, lossy), "text/plain"
    entity, details = types.get_type(_ENTITY), []
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"number {number}", span.label)
        writable_xml(place, span.label, annotation_id=f"number {number}")
        cas.add(entity(begin=span.start, end=span.end, value=span.label))
        details.append([span.start, span.end, span.label, span.category, span.confidence])
    dump_meta(document)  # raises if reading would change the metadata
    kept = {"patient_id": document.patient_id, "meta": dict(document.meta), "spans": known_details(details)}
    if document.patient_id is not None or document.meta or kept["spans"]:
        # In ASCII, with all other characters escaped: XML changes or refuses some of them.
        cas.add(types.get_type(_FIELD)(begin=0, end=0, key=_KEY, value=json.dumps(kept)))
    return {".xmi": cas.to_xmi()}


def _xmi_loader(cassis: Any, place: SourceLocation, path: Path, encoding: str | None) -> Callable[[], Any]:
    content = decode_xml(place, read_note(place, path), encoding)
    ids: list[str] = []
    # The parser raises on a document type declaration.
    parse_xml(place, content, lambda name, found: ids.append(found.get("xmi:id", "")))
    _check_ids(place, [xmi_id for xmi_id in ids if xmi_id])
    types = _type_system(cassis, place, path.with_name(_TYPES))
    return lambda: cassis.load_cas_from_xmi(_without_declaration(content), types)


def _json_loader(cassis: Any, place: SourceLocation, path: Path, encoding: str | None) -> Callable[[], Any]:
    content = decode(place, read_note(place, path), encoding or "utf-8")
    data = parse_json(place, content, "The file")
    structures = data.get("%FEATURE_STRUCTURES") if isinstance(data, dict) else None
    if not isinstance(structures, list | dict):
        raise place.error("The file is no UIMA CAS JSON 0.4. Export it from INCEpTION in this format, or as XMI.")
    if isinstance(structures, list):
        _check_ids(place, [str(found.get("%ID")) for found in structures if isinstance(found, dict)])
    if data.get("%TYPES"):
        # Not merged with those of DKPro Core: versions of one type would exclude each other.
        return lambda: cassis.load_cas_from_json(content)
    types = _type_system(cassis, place, path.with_name(_TYPES))
    return lambda: cassis.load_cas_from_json(content, types, merge_typesystem=False)


def _check_ids(place: SourceLocation, ids: Sequence[str]) -> None:
    """Refuse a repeated id, since cassis keeps only the last annotation with this id."""
    if len(set(ids)) != len(ids):
        raise place.error("Two parts of the CAS have the same id.")


def _without_declaration(content: str) -> str:
    """The XML without the declaration of its former encoding, since cassis encodes the text in UTF-8."""
    return content.partition("?>")[2] if content.startswith("<?xml") else content


def _cassis() -> Any:
    return import_optional("cassis", extra="uima", purpose="UIMA CAS files")


@lru_cache(maxsize=1)
def _dkpro_types() -> Any:
    """Types of DKPro Core.

    The function with which cassis reads its own file shows a warning in newer versions of Python.
    """
    cassis = _cassis()
    return cassis.load_typesystem(files("cassis.resources").joinpath("dkpro-core-types.xml").read_text("utf-8"))


def _type_system(cassis: Any, place: SourceLocation, path: Path) -> Any:
    """Types of DKPro Core, together with the types of the file in the folder of the notes."""
    types = _dkpro_types()
    if not path.exists():
        return types
    place = place._replace(path=str(path))
    content = decode_xml(place, read_bytes(place, path), None)
    parse_xml(place, content)
    merged = None
    try:
        merged = cassis.merge_typesystems(types, cassis.load_typesystem(_without_declaration(content)))
    except (*_FAILURES, cassis.typesystem.TypeNotFoundError):
        pass
    if merged is None:
        raise place.error("The file describes no types that fit those of DKPro Core.")
    return merged


def _document(place: SourceLocation, doc_id: str, cas: Any, unmapped: set[int]) -> Document:
    text = cas.sofa_string
    check_text(place, text)
    kept = _kept(place, cas)
    known, spans = SpanDetails(kept.get("spans", [])), []
    for number, (found, label) in enumerate(_annotations(place, cas), start=1):
        annotation_id, start, end = f"number {number}", found.begin, found.end
        if not isinstance(label, str):
            raise place.error("The annotation has no label.", annotation_id)
        if type(start) is not int or type(end) is not int:
            raise place.error("The annotation needs whole numbers as 'begin' and 'end'.", annotation_id)
        check_covered(place, annotation_id, text, start, end)
        if not unmapped.isdisjoint((start, end)):
            raise place.error("The annotation begins or ends inside of a character (in UTF-16 units).", annotation_id)
        check_label(place, annotation_id, label)
        spans.append(Span(start, end, label, *known.take(start, end, label)))
    return Document(doc_id, text, tuple(spans), kept.get("patient_id"), kept.get("meta") or {})


def _annotations(place: SourceLocation, cas: Any) -> list[tuple[Any, Any]]:
    """Annotations of NamedEntity and of custom layers, with their labels."""
    found = []
    for annotation in cas.select("uima.tcas.Annotation"):
        features = {feature.name for feature in annotation.type.all_features}
        if {"Governor", "Dependent"} <= features:
            continue  # a relation between two annotations
        if _is_entity(annotation.type) or annotation.type.name.startswith(_CUSTOM):
            names = [name for name in ("value", "label") if name in features]
            if not names:
                message = "A custom layer has no feature 'value' or 'label'. Rename the feature, or remove the layer."
                raise place.error(message)
            found.append((annotation, annotation[names[0]]))
        elif not annotation.type.name.startswith(_STRUCTURE):
            raise place.error(
                "The CAS has annotations that are neither of NamedEntity nor of a custom layer of INCEpTION. Convert "
                "them to NamedEntity, or remove them: the note could look like a note without PHI."
            )
    return found


def _is_entity(kind: Any) -> bool:
    """Whether a type is NamedEntity or one of its subtypes."""
    while kind is not None and kind.name != _ENTITY:
        kind = kind.supertype
    return kind is not None


def _kept(place: SourceLocation, cas: Any) -> dict[str, Any]:
    """Patient id, metadata and details of spans that `write` has stored in the file."""
    fields = cas.select(_FIELD) if cas.typesystem.contains_type(_FIELD) else []
    lines = [field.value for field in fields if field.key == _KEY]
    kept = parse_json(place, lines[0] or "", "The field of this library") if lines else {}
    is_form = (
        isinstance(kept, dict)
        and isinstance(kept.get("patient_id"), str | None)
        and isinstance(kept.get("meta", {}), dict)
        and isinstance(kept.get("spans", []), list)
        and all(map(is_detail, kept.get("spans", [])))
    )
    if not is_form:
        raise place.error("The field of this library has another form than the writer gives it.")
    return kept


FORMAT = Format(
    "uima",
    (".xmi",),
    read,
    write,
    also_read=(".json",),
    recognise=lambda files: has_suffix(".xmi")(files) or is_cas_json(files),
)
