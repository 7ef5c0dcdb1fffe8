"""Label Studio's JSON: a list of tasks for a labeling configuration with one ``Text`` and one ``Labels``.

A task is ``{"data": {"text": ...}, "annotations": [...], "predictions": [...]}``. Both lists of a task hold objects
with a ``result``, and a result holds regions ``{"type": "labels", "value": {"start", "end", "labels"}, "score": ...}``.
If any span has a confidence, the writer puts the spans of a document into one prediction with scores; otherwise, into
one annotation. In a file with annotations, a document without spans has an annotation without regions. This annotation
shows that an annotator has read the document. The reader reads the annotation. Without an annotation, the reader reads
the only prediction. Without annotation and prediction, the document has no spans. A task with several annotations is an
error, because the annotators may disagree.

Label Studio keeps the scores of predicted spans in an annotation. If an annotator has worked on the annotation
(``lead_time``), the spans have no confidence, because the annotator has accepted them. The action "Create Annotations
From Predictions" makes annotations that nobody has read, without ``lead_time``.

Document id, patient id and metadata are columns of ``data``, which Label Studio keeps. The format does not store the
category of a span. Without ``doc_id``, the id of a document is the ``id`` of the task. Offsets count code points. Older
versions of Label Studio counted UTF-16 units. The reader recognises these offsets by the repeated text of a region.

Configuration: ``<View><Labels name="label" toName="text"><Label value="PATIENT"/></Labels><Text name="text"
value="$text"/></View>``.

Source: Label Studio's documentation, "Label Studio JSON format of annotated tasks" and "Import pre-annotated data";
offsets: Label Studio's pull request 1559.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...text import Document, Span
from ..checking import SourceLocation, check_covered, check_label, is_share
from ..files import decode, read_bytes
from ..format import Format, Item, document_or_error, is_cas_json
from ..json_lines import task_document, with_patient
from ..strict_json import dump_line, parse_json
from ..utf16_offsets import code_points_before

_SPAN_TYPES = ("labels", "hypertextlabels")


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken task the function yields an error and continues."""
    place = SourceLocation(str(path))
    for number, task in enumerate(_tasks(place, path, encoding), start=1):
        yield document_or_error(_document, place, task, f"Task {number}", f"{path.stem}-{number}")


def unanswered(path: Path, encoding: str | None = None) -> set[str]:
    """Ids of the tasks without an annotation: new tasks, and tasks with only a prediction."""
    place = SourceLocation(str(path))
    found = set()
    for number, task in enumerate(_tasks(place, path, encoding), start=1):
        if isinstance(task, dict) and isinstance(task.get("data"), dict) and not task.get("annotations"):
            found.add(str(_doc_id(task, f"{path.stem}-{number}")))
    return found


def _tasks(place: SourceLocation, path: Path, encoding: str | None) -> list[Any]:
    tasks = parse_json(place, decode(place, read_bytes(place, path), encoding or "utf-8"), "The file")
    if not isinstance(tasks, list):
        raise place.error("The file must hold a JSON list of tasks. Export it from Label Studio as JSON.")
    return tasks


def _doc_id(task: dict[str, Any], name: str) -> Any:
    return task["data"].get("doc_id", str(task.get("id", name)))


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Document as one task on a line of JSON; `pack` makes the list of all tasks."""
    place = SourceLocation(None, document.doc_id)
    result = []
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"number {number}", span.label)
        value = {"start": span.start, "end": span.end, "text": document.text[span.start : span.end]}
        region: dict[str, Any] = {"id": f"r{number}", "from_name": "label", "to_name": "text", "type": "labels"}
        region["value"] = {**value, "labels": [span.label]}
        if span.confidence is not None:
            region["score"] = span.confidence
        result.append(region)
    data = with_patient(document, {"text": document.text, "doc_id": document.doc_id}, "meta")
    task: dict[str, Any] = {"data": data, "annotations": [], "predictions": []}
    scores = [span.confidence for span in document.spans if span.confidence is not None]
    if scores:
        task["predictions"] = [{"model_version": "sklearn-deid", "score": min(scores), "result": result}]
    elif result:
        task["annotations"] = [{"result": result}]
    return {".json": dump_line(task) + "\n"}


def pack(lines: Path) -> bytes:
    """The list of all tasks.

    In a file with annotated tasks, a task without spans is a task that an annotator has read.
    """
    with lines.open(encoding="utf-8", newline="\n") as stream:
        tasks = [json.loads(line) for line in stream]
    if any(task["annotations"] for task in tasks):
        for task in tasks:
            if not task["predictions"]:
                task["annotations"] = task["annotations"] or [{"result": []}]
    return ("[\n" + ",\n".join(map(dump_line, tasks)) + "\n]\n").encode("utf-8")


def _document(place: SourceLocation, task: Any, what: str, name: str) -> Document:
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise place.error(f"{what} needs 'data' with a 'text'.")
    document = task_document(place, data, what, _doc_id(task, name), "meta")
    place = place._replace(doc_id=document.doc_id)
    regions, is_read = _regions(place, task)
    of_spans = [region for region in regions if isinstance(region, dict) and _is_labelled(region)]
    if len({str(region["to_name"]) for region in of_spans if "to_name" in region}) > 1:
        raise place.error("The regions belong to several texts of the task, such as a title. Keep those of one text.")
    labelled = [region.get("id") for region in of_spans]
    spans = [
        span
        for number, region in enumerate(regions, start=1)
        if not _says_more(region, labelled)
        for span in _spans(place, document.text, region, f"number {number}")
    ]
    return replace(document, spans=tuple(replace(span, confidence=None) if is_read else span for span in spans))


def _regions(place: SourceLocation, task: dict[str, Any]) -> tuple[list[Any], bool]:
    """Regions of the annotation or, without an annotation, of the prediction; and whether an annotator took time."""
    rows, predictions = (task.get(name, []) for name in ("annotations", "predictions"))
    if not _are_objects(rows) or not isinstance(predictions, list):
        raise place.error("'annotations' and 'predictions' must be lists of objects, as in the export \"JSON\".")
    skipped = [row for row in rows if row.get("was_cancelled")]
    annotations = [row for row in rows if not row.get("was_cancelled")]
    if skipped and not annotations:
        # Nobody has annotated this note, and its prediction may be what the annotator refused.
        raise place.error("The annotator has skipped this task.")
    # The export "JSON" holds the numbers of the predictions instead of the predictions.
    if not annotations and not _are_objects(predictions):
        raise place.error("The task has no annotation, and the export holds only the numbers of its predictions.")
    chosen = annotations or predictions
    if len(chosen) > 1:
        raise place.error("The task has several annotations or predictions. Keep one of them.")
    result = chosen[0].get("result") if chosen else []
    if not isinstance(result, list):
        raise place.error("A 'result' must be a list of regions.")
    seconds = chosen[0].get("lead_time") if annotations else None
    return result, isinstance(seconds, int | float) and seconds is not True and seconds > 0


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def _is_labelled(region: dict[str, Any]) -> bool:
    return isinstance(region.get("value"), dict) and "labels" in region["value"]


def _says_more(region: Any, labelled: list[Any]) -> bool:
    """Whether a region is not a span: a choice, relation or text, for the whole note or for a region with labels.

    A region with its own offsets is a span of another kind, such as a paragraph label, and would be lost.
    """
    if not isinstance(region, dict) or _is_labelled(region) or region.get("type") in (None, *_SPAN_TYPES):
        return False
    value = region.get("value")
    has_offsets = isinstance(value, dict) and not {"start", "startOffset"}.isdisjoint(value)
    return not has_offsets or (region.get("id") is not None and region["id"] in labelled)


def _spans(place: SourceLocation, text: str, region: Any, annotation_id: str) -> list[Span]:
    value = region.get("value") if isinstance(region, dict) else None
    if not isinstance(value, dict) or "labels" not in value:
        raise place.error("A region needs a 'value' with 'start', 'end' and 'labels'.", annotation_id)
    labels, covered, score = value["labels"], value.get("text"), region.get("score")
    if type(value.get("start")) is not int or type(value.get("end")) is not int or not isinstance(covered, str | None):
        raise place.error("A region of a Text needs whole numbers as 'start' and 'end'.", annotation_id)
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise place.error("'labels' must be a list of strings.", annotation_id)
    if not is_share(score):
        raise place.error("A 'score' must be a number in [0, 1].", annotation_id)
    start, end, repeated = _offsets(text, value["start"], value["end"], covered)
    check_covered(place, annotation_id, text, start, end, repeated)
    for label in labels:
        check_label(place, annotation_id, label)
    return [Span(start, end, label, None, score) for label in labels]


def _offsets(text: str, start: int, end: int, covered: str | None) -> tuple[int, int, str | None]:
    """Offsets in code points, and the repeated text if it has to be checked.

    If the repeated text fits only offsets in UTF-16 units, the offsets are converted from these units.
    """
    if covered is None or text[start:end] == covered:
        return start, end, covered
    places = [(start, end)]
    first, last = code_points_before(text, start), code_points_before(text, end)
    if first is not None and last is not None:
        places.append((first, last))
    for form in (str, _without_spaces):
        for place in places:
            if 0 <= place[0] < place[1] <= len(text) and form(text[slice(*place)]) == form(covered):
                return *place, None
    return start, end, covered


def _without_spaces(text: str) -> str:
    # Label Studio repeats the text as the browser shows it: several blanks are one, and a line break is "\\n".
    return "".join(text.replace("\\n", " ").split())


def _only_json(files: Sequence[Path]) -> bool:
    """Whether all files end in ``.json``. Other formats may have a file of settings next to their notes."""
    return bool(files) and all(file.suffix.lower() == ".json" for file in files) and not is_cas_json(files)


FORMAT = Format(
    "labelstudio",
    (".json",),
    read,
    write,
    one_document=False,
    resumable=False,
    pack=pack,
    recognise=_only_json,
    unanswered=unanswered,
)
