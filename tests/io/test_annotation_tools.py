"""Files of annotation tools: both ways with confidences, and files as the tools themselves write them."""

import json
from dataclasses import replace
from importlib.util import find_spec

import pytest
from hypothesis import given, settings

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import read_corpus, read_gold, write_corpus
from sklearn_deid.io.formats import uima
from sklearn_deid.text import Document, Span

from .corpora_for_io import CONTROL, PIECES, put, there_and_back
from .test_round_trips import by_id, corpora

quick = settings(max_examples=40, deadline=None)
needs_cassis = pytest.mark.skipif(find_spec("cassis") is None, reason="needs the extra uima")
NOTE = Document(
    "n1", "\U0001f469 Ann Roe came.", (Span(2, 9, "PATIENT", "NAME", 0.5), Span(10, 14, "DATE")), "p1", {"a": 1}
)


def everything(pieces):
    return corpora(pieces=pieces, labels=["A", "any label"], categories=[None, "N"], confidences=True)


@pytest.mark.parametrize("name", ["doccano", "prodigy"])
def test_json_lines_give_back_everything(name):
    @quick
    @given(everything(PIECES + CONTROL))
    def check(corpus):
        assert there_and_back(corpus, name) == by_id(corpus)

    check()


# Predictions beside annotations are notes that nobody has read.
@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.PartlyAnnotatedWarning")
@quick
@given(everything(PIECES + CONTROL))
def test_label_studio_gives_back_all_but_categories(corpus):
    expected = [replace(d, spans=tuple(replace(s, category=None) for s in d.spans)) for d in corpus]
    assert there_and_back(corpus, "labelstudio") == by_id(expected)


@needs_cassis
@settings(max_examples=15, deadline=None)
@given(everything(PIECES))
def test_uima_gives_back_everything(corpus):
    assert there_and_back(corpus, "uima") == by_id(corpus)


@pytest.mark.parametrize("name", ["doccano", "prodigy", pytest.param("uima", marks=needs_cassis)])
def test_spans_that_differ_in_their_details_only_come_back(name):
    """The details of one of them were lost, in formats that lose nothing."""
    note = Document("n1", "Ann", (Span(0, 3, "A"), Span(0, 3, "A", "N", 0.5), Span(0, 3, "A", "M")), patient_id="")
    assert there_and_back([note], name) == [note]


def test_a_note_without_phi_beside_annotated_ones_is_a_note_that_was_read(tmp_path):
    marked, none = Document("a", "Dr. Roe.", (Span(4, 7, "DOCTOR"),)), Document("b", "Fine.")
    write_corpus([marked, none], tmp_path / "tasks.json", "labelstudio")
    assert list(read_gold(tmp_path / "tasks.json")) == [marked, none]
    write_corpus([none], tmp_path / "new.json", "labelstudio")  # nothing is marked: tasks to annotate
    with pytest.raises(CorpusFormatError, match="Nobody has marked"):
        read_gold(tmp_path / "new.json")


# ---- as the tools write them


def test_an_export_of_label_studio(tmp_path):
    region = {"id": "x1", "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual"}
    choice = {"id": "c", "type": "choices", "value": {"choices": ["fine"]}, "from_name": "c", "to_name": "text"}
    relation = {"from_id": "x1", "to_id": "x2", "type": "relation", "direction": "right"}
    task = {
        "id": 7,
        "data": {"text": "\U0001f469 Ann came."},
        "annotations": [
            {"id": 1, "was_cancelled": True, "result": []},
            {
                "id": 2,
                "was_cancelled": False,
                "completed_by": 1,
                "result": [
                    {**region, "value": {"start": 2, "end": 5, "text": "Ann", "labels": ["PATIENT"]}},
                    choice,
                    relation,
                ],
            },
        ],
        "predictions": [{"result": [{**region, "value": {"start": 0, "end": 1, "labels": ["DATE"]}, "score": 0.2}]}],
        "meta": {},
    }
    put(tmp_path, {"export.json": json.dumps([task])})
    (found,) = read_corpus(tmp_path / "export.json")
    assert found == Document("7", "\U0001f469 Ann came.", (Span(2, 5, "PATIENT"),)), (
        "the annotation, not the prediction"
    )
    # Older versions counted UTF-16 units; the repeated text shows it.
    task["annotations"][1]["result"][0]["value"].update(start=3, end=6)
    put(tmp_path, {"export.json": json.dumps([task])})
    assert read_corpus(tmp_path / "export.json")[0] == found


def test_an_export_of_label_studio_names_its_predictions_by_number(tmp_path):
    """Label Studio exports only the ids of imported predictions: the corrected output of `tag` could not be read."""
    result = [{"id": "a", "type": "labels", "value": {"start": 0, "end": 3, "labels": ["PATIENT"]}}]
    tasks = [{"id": 7, "data": {"text": "Ann came."}, "annotations": [{"result": result}], "predictions": [286]}]
    put(tmp_path, {"export.json": json.dumps(tasks)})
    assert read_gold(tmp_path / "export.json")[0].spans == (Span(0, 3, "PATIENT"),)
    tasks[0]["annotations"] = []
    put(tmp_path, {"export.json": json.dumps(tasks)})
    with pytest.raises(CorpusFormatError, match="only the numbers of its predictions.*document 7"):
        read_corpus(tmp_path / "export.json")


def test_an_annotator_of_label_studio_may_accept_all_predictions(tmp_path):
    """Label Studio keeps the scores of accepted spans: `train` refused such an export as one that nobody has read."""
    write_corpus([NOTE], tmp_path / "tasks.json")
    (task,) = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    accepted = [{**region, "origin": "prediction"} for region in task["predictions"][0]["result"][:1]]
    exported = {**task, "annotations": [{"result": accepted, "lead_time": 12.5, "parent_prediction": 286}]}
    put(tmp_path, {"export.json": json.dumps([exported])})
    (found,) = read_gold(tmp_path / "export.json")
    assert found.spans == (Span(2, 9, "PATIENT"),) and accepted[0]["score"] == 0.5
    # The action "Create Annotations From Predictions" takes no time of an annotator.
    for seconds in (None, 0, "12.5", True):
        exported["annotations"][0]["lead_time"] = seconds
        put(tmp_path, {"export.json": json.dumps([exported])})
        with pytest.raises(CorpusFormatError, match="All spans have the confidence of a model"):
            read_gold(tmp_path / "export.json")


def test_label_studio_repeats_the_text_as_the_browser_shows_it(tmp_path):
    """Spans with a line break or two blanks were refused: their text has a written "\\n", or one blank."""
    text = "\U0001f469 Mr.  Ann\nRoe came."
    for start, end, covered in ((2, 14, "Mr. Ann\\nRoe"), (3, 15, "Mr. Ann\\nRoe"), (2, 10, "Mr. Ann")):
        value = {"start": start, "end": end, "text": covered, "labels": ["PATIENT"]}
        tasks = [{"data": {"text": text}, "annotations": [{"result": [{"type": "labels", "value": value}]}]}]
        put(tmp_path, {"export.json": json.dumps(tasks)})
        (span,) = read_corpus(tmp_path / "export.json")[0].spans
        assert text[span.start : span.end] == ("Mr.  Ann\nRoe" if "Roe" in covered else "Mr.  Ann")
    for wrong in ("Mr.nAnn", "Mr. Ann Bob", ""):
        tasks[0]["annotations"][0]["result"][0]["value"]["text"] = wrong
        put(tmp_path, {"export.json": json.dumps(tasks)})
        with pytest.raises(CorpusFormatError, match="repeated text"):
            read_corpus(tmp_path / "export.json")


def test_doccano_writes_null_for_what_other_notes_have(tmp_path):
    """doccano exports a table of pandas: notes without metadata or without a span of the model were refused."""
    pandas = pytest.importorskip("pandas")
    notes = [Document("n1", "Ann", (Span(0, 3, "A", "NAME", 0.5),), "p1", {"a": 1}), Document("n2", "Bob")]
    write_corpus(notes, tmp_path / "in.doccano.jsonl", "doccano")
    rows = [json.loads(line) for line in (tmp_path / "in.doccano.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0].keys() == rows[1].keys()
    sparse = [{key: value for key, value in row.items() if value} | {"label": row["label"]} for row in rows]
    for name, table in (("full", rows), ("sparse", sparse)):
        exported = tmp_path / f"{name}.doccano.jsonl"
        pandas.DataFrame(table).assign(Comments=None).to_json(exported, orient="records", force_ascii=False, lines=True)
        assert list(read_corpus(exported, "doccano")) == notes


def test_settings_beside_notes_are_no_tasks(tmp_path):
    put(tmp_path, {"n1.txt": "Ann came.", "n1.ann": "T1\tPATIENT 0 3\tAnn", "settings.json": "{}"})
    assert read_corpus(tmp_path)[0].spans == (Span(0, 3, "PATIENT"),)


def test_predictions_of_label_studio_carry_scores(tmp_path):
    write_corpus([NOTE], tmp_path / "tasks.json")
    (task,) = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert task["annotations"] == []
    (prediction,) = task["predictions"]
    assert [region["type"] for region in prediction["result"]] == ["labels", "labels"]
    assert [region.get("score") for region in prediction["result"]] == [0.5, None]
    assert prediction["result"][0]["value"] == {"start": 2, "end": 9, "text": "Ann Roe", "labels": ["PATIENT"]}


def test_exports_of_doccano(tmp_path):
    text = "\U0001f469 Ann came."  # doccano counts the first character twice
    lines = [
        {"id": 3, "text": text, "label": [[3, 6, "PATIENT"]], "Comments": []},
        {
            "id": 4,
            "text": text,
            "entities": [{"id": 1, "label": "PATIENT", "start_offset": 3, "end_offset": 6}],
            "relations": [],
        },
        {"id": 5, "text": text, "label": []},
    ]
    path = put(tmp_path, {"admin.jsonl": "\n".join(map(json.dumps, lines))}) / "admin.jsonl"
    found = read_corpus(path, "doccano")
    assert [d.doc_id for d in found] == ["admin-3", "admin-4", "admin-5"]
    assert [d.spans for d in found] == [(Span(2, 5, "PATIENT"),), (Span(2, 5, "PATIENT"),), ()]


def test_a_changed_span_of_doccano_loses_its_confidence(tmp_path):
    path = tmp_path / "x.doccano.jsonl"
    write_corpus([NOTE], path, "doccano")
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["label"] == [[3, 10, "PATIENT"], [11, 15, "DATE"]]
    record["label"][0][1] = 6
    path.write_text(json.dumps(record), encoding="utf-8")
    assert read_corpus(path, "doccano")[0].spans[0] == Span(2, 5, "PATIENT")


def test_answers_of_prodigy(tmp_path):
    task = {
        "text": "Ann came.",
        "_input_hash": 1,
        "tokens": [{"text": "Ann", "start": 0, "end": 3, "id": 0}],
        "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PATIENT"}],
        "answer": "accept",
    }
    path = put(tmp_path, {"ann.jsonl": json.dumps(task)}) / "ann.jsonl"
    assert read_corpus(path, "prodigy")[0] == Document("ann-1", "Ann came.", (Span(0, 3, "PATIENT"),))
    for answer in ("reject", "ignore"):
        put(tmp_path, {"ann.jsonl": json.dumps({**task, "answer": answer})})
        with pytest.raises(CorpusFormatError, match="not 'accept'"):
            read_corpus(path, "prodigy")


XMI = """<?xml version="1.0" encoding="UTF-8"?>
<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0"
 xmlns:custom="http:///webanno/custom.ecore">
<cas:NULL xmi:id="0"/><custom:Phi xmi:id="2" sofa="1" begin="3" end="6" label="PATIENT"/>
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="&#128105; Ann came."/>
<cas:View sofa="1" members="2"/></xmi:XMI>"""
TYPES = """<?xml version="1.0" encoding="UTF-8"?><typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">
<types><typeDescription><name>webanno.custom.Phi</name><description/><supertypeName>uima.tcas.Annotation</supertypeName>
<features><featureDescription><name>{}</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>
</featureDescription></features></typeDescription></types></typeSystemDescription>"""


@needs_cassis
def test_a_custom_layer_of_inception(tmp_path):
    put(tmp_path, {"n1.xmi": XMI, "TypeSystem.xml": TYPES.format("label")})
    assert read_corpus(tmp_path, "uima")[0] == Document("n1", "\U0001f469 Ann came.", (Span(2, 5, "PATIENT"),))
    (tmp_path / "TypeSystem.xml").unlink()
    with pytest.raises(CorpusFormatError, match="whose types are known"):
        read_corpus(tmp_path, "uima")
    put(tmp_path, {"n1.xmi": XMI.replace("label=", "kind="), "TypeSystem.xml": TYPES.format("kind")})
    with pytest.raises(CorpusFormatError, match="no feature 'value' or 'label'"):
        read_corpus(tmp_path, "uima")


def cas_of(folder, name, super_type="uima.tcas.Annotation", names=("label",), **values):
    """File of a CAS with the types of DKPro Core and an annotation of another type, as JSON and as XMI."""
    import cassis

    types = cassis.merge_typesystems(uima._dkpro_types(), cassis.TypeSystem())
    layer = types.get_type(name) if types.contains_type(name) else types.create_type(name, super_type)
    for feature in names:
        types.create_feature(layer, feature, "uima.cas.String")
    cas = cassis.Cas(types, sofa_string="Ann came.")
    cas.add(types.get_type("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence")(begin=0, end=9))
    cas.add(layer(begin=0, end=3, **values))
    put(folder / "json", {"n1.json": cas.to_json()})
    put(folder / "xmi", {"n1.xmi": cas.to_xmi().partition("?>")[2]})
    put(folder / "xmi", {"TypeSystem.xml": types.to_xml()})
    return folder / "json", folder / "xmi"


@needs_cassis
def test_the_layer_of_a_project_of_basic_annotation(tmp_path):
    """Its annotations were left out, and the note looked like a note without PHI."""
    for folder in cas_of(tmp_path, "custom.Span", label="PATIENT"):
        assert read_corpus(folder, "uima")[0] == Document("n1", "Ann came.", (Span(0, 3, "PATIENT"),))


@needs_cassis
def test_a_subtype_of_named_entity(tmp_path):
    """It was left out."""
    kind = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.Person"
    for folder in cas_of(tmp_path, kind, names=(), value="PATIENT"):
        assert read_corpus(folder, "uima")[0].spans == (Span(0, 3, "PATIENT"),)


@needs_cassis
def test_annotations_of_an_unknown_type_are_refused(tmp_path):
    """They were left out, and the note looked like a note without PHI."""
    for folder in cas_of(tmp_path, "hospital.Phi", label="PATIENT"):
        with pytest.raises(CorpusFormatError, match="neither of NamedEntity nor of a custom layer.*document n1"):
            read_corpus(folder, "uima")


@needs_cassis
@pytest.mark.parametrize("name", ["custom.Relation", "webanno.custom.Of"])
def test_a_relation_is_no_span(name, tmp_path):
    """Its label became the label of a span."""
    for folder in cas_of(tmp_path, name, names=("label", "Governor", "Dependent"), label="works for"):
        assert read_corpus(folder, "uima")[0].spans == ()


@needs_cassis
def test_a_second_text_of_a_cas_is_not_lost(tmp_path):
    """Only the first view was read: the other texts were missing, and the file looked read."""
    second = (
        '<cas:Sofa xmi:id="9" sofaNum="2" sofaID="b" mimeType="text" sofaString="Bob"/><cas:View sofa="9"/><cas:View '
    )
    put(tmp_path, {"n1.xmi": XMI.replace("<cas:View ", second), "TypeSystem.xml": TYPES.format("label")})
    with pytest.raises(CorpusFormatError, match="several texts"):
        read_corpus(tmp_path, "uima")


def test_brat_divides_spans_at_line_breaks(tmp_path):
    """brat writes fragments, which were refused, and does not show a span whose text holds a line break."""
    text = "Mr. Ann \r\n\tde\nRoe came."
    note = Document("n1", text, (Span(4, 17, "PATIENT", None, 0.5), Span(7, 16, "DATE"), Span(14, 17, "DOCTOR")))
    write_corpus([note], tmp_path, "brat")
    annotations = (tmp_path / "n1.ann").read_text(encoding="utf-8")
    assert annotations.splitlines()[0] == "T1\tPATIENT 4 7;11 13;14 17\tAnn de Roe"
    assert annotations.splitlines()[1] == "T2\tDATE 7 16\t    de Ro", "with fragments, it would begin later"
    assert read_corpus(tmp_path, "brat")[0] == note
    # brat writes the same fragments, whatever the text between them.
    for written, found in (("0 3;4 7\tMr. Ann", (0, 7)), ("14 17;18 22\tRoe came", (14, 22))):
        put(tmp_path, {"n1.ann": f"T1\tPATIENT {written}\n"})
        assert read_corpus(tmp_path, "brat")[0].spans == (Span(*found, "PATIENT"),)
    for written in ("0 3;11 13\tMr. de", "4 7;0 3\tAnn Mr.", "0 3;4 7\tMr. Bob", "0 3;4\tMr.", "0 3;4 99\tMr. Ann"):
        put(tmp_path, {"n1.ann": f"T1\tPATIENT {written}\n"})
        with pytest.raises(CorpusFormatError):
            read_corpus(tmp_path, "brat")


def test_a_changed_span_of_brat_loses_its_confidence(tmp_path):
    """All spans had lost theirs."""
    write_corpus([NOTE], tmp_path, "brat")
    lines = (tmp_path / "n1.ann").read_text("utf-8").splitlines(keepends=True)
    assert lines[-1] == "#3\tConfidence T1\t0.5 (PATIENT 2 9)\n"
    assert read_corpus(tmp_path, "brat")[0].spans[0] == Span(2, 9, "PATIENT", None, 0.5)
    put(tmp_path, {"n1.ann": "".join(reversed(lines)).replace("\n", "\r\n")})
    assert read_corpus(tmp_path, "brat")[0].spans[0] == Span(2, 9, "PATIENT", None, 0.5)
    for changed in ("T1\tPATIENT 2 5\tAnn\n", "T1\tDOCTOR 2 9\tAnn Roe\n"):
        put(tmp_path, {"n1.ann": "".join([changed, *lines[1:]])})
        assert read_corpus(tmp_path, "brat")[0].spans[0].confidence is None


@pytest.mark.parametrize(
    "note",
    [
        "AnnotatorNotes T1\t0.5 (A 0 3)",
        "AnnotatorNotes T1\tConfidence T1\t0.5",
        *(f"Confidence T1\t{value}" for value in ("high", "0.5", "2 (A 0 3)", "nan (A 0 3)", "-0.5 (A 0 3)", "")),
        "Confidence T2\t0.5 (A 0 3)",
        "Confidence R1\t0.5 (A 0 3)",
    ],
)
def test_a_note_of_an_annotator_is_no_confidence(note, tmp_path):
    put(tmp_path, {"n1.txt": "Ann", "n1.ann": f"T1\tA 0 3\tAnn\n#1\t{note}\n#2\tMeta DOCUMENT\t{{}}\n"})
    assert read_corpus(tmp_path, "brat")[0] == Document("n1", "Ann", (Span(0, 3, "A"),))


# As INCEpTION writes it; the first character of the text counts twice.
CAS = {
    "%TYPES": {
        "webanno.custom.Phi": {
            "%NAME": "webanno.custom.Phi",
            "%SUPER_TYPE": "uima.tcas.Annotation",
            "label": {"%NAME": "label", "%RANGE": "uima.cas.String"},
        }
    },
    "%FEATURE_STRUCTURES": [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text"},
        {"%ID": 2, "%TYPE": "uima.tcas.DocumentAnnotation", "@sofa": 1, "begin": 0, "end": 12, "language": "x"},
        {"%ID": 3, "%TYPE": "webanno.custom.Phi", "@sofa": 1, "begin": 3, "end": 6, "label": "PATIENT"},
    ],
    "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3]}},
}
CAS["%FEATURE_STRUCTURES"][0]["sofaString"] = "\U0001f469 Ann came."


def cas_with(place=None, /, **values):
    """JSON of a CAS with other values in one of its feature structures."""
    rows = [{**row, **values} if number == place else row for number, row in enumerate(CAS["%FEATURE_STRUCTURES"])]
    return {**CAS, "%FEATURE_STRUCTURES": rows}


@needs_cassis
@pytest.mark.parametrize("name", ["uima", None])
def test_a_cas_as_json(name, tmp_path):
    """It was not well-formed XML, in a folder no .xmi, and without a format a broken file of Label Studio."""
    expected = Document("n1", "\U0001f469 Ann came.", (Span(2, 5, "PATIENT"),))
    path = put(tmp_path, {"n1.json": json.dumps(CAS, indent=2)}) / "n1.json"
    assert read_corpus(path, name)[0] == read_corpus(tmp_path, name)[0] == expected
    by_id = {str(row["%ID"]): row for row in CAS["%FEATURE_STRUCTURES"]}
    put(tmp_path, {"n1.json": json.dumps({**CAS, "%FEATURE_STRUCTURES": by_id})})
    assert read_corpus(path, name)[0] == expected
    put(tmp_path, {"n1.json": json.dumps({**CAS, "%TYPES": {}}), "TypeSystem.xml": TYPES.format("label")})
    assert read_corpus(path, name)[0] == expected
    put(tmp_path, {"n2.xmi": XMI})
    assert [note.doc_id for note in read_corpus(tmp_path, name)] == ["n1", "n2"]
    put(tmp_path, {"n1.xmi": XMI})
    with pytest.raises(CorpusFormatError, match="id occurs twice"):
        read_corpus(tmp_path, name)


@needs_cassis
@pytest.mark.parametrize("mode", ["FULL", "MINIMAL"])
def test_json_that_cassis_writes(mode, tmp_path):
    """With the types of DKPro Core merged in, cassis refused its own file."""
    import cassis

    write_corpus([NOTE], tmp_path, "uima")
    xmi = (tmp_path / "n1.xmi").read_text("utf-8")
    cas = cassis.load_cas_from_xmi(xmi.partition("?>")[2], uima._dkpro_types())
    put(tmp_path / "json", {"n1.json": cas.to_json(type_system_mode=cassis.typesystem.TypeSystemMode[mode])})
    assert list(read_corpus(tmp_path / "json")) == [NOTE]


@needs_cassis
@pytest.mark.parametrize(
    ("cas", "message"),
    [
        ([], "no UIMA CAS JSON 0.4"),
        ({"_context": {}, "_views": {}}, "no UIMA CAS JSON 0.4"),
        ({**CAS, "%FEATURE_STRUCTURES": []}, "no UIMA CAS"),
        ({**CAS, "%TYPES": {}}, "whose types are known .TypeNotFoundError"),
        ({**CAS, "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4]}}}, "KeyError"),
        (cas_with(0, sofaID="other"), "no text"),
        (cas_with(0, sofaString=None, sofaURI="file:///etc/passwd"), "no text"),
        (cas_with(1, **{"%TYPE": "uima.cas.Sofa", "sofaID": "b", "sofaNum": 2, "sofaString": "Bob"}), "several texts"),
        (cas_with(1, **{"%ID": 3}), "same id"),
        (cas_with(2, label=None), "no label.*number 1"),
        (cas_with(2, label=""), "no label.*number 1"),
        (cas_with(2, begin=1), "inside of a character.*number 1"),
        (cas_with(2, end=99), "outside the text of 11 characters.*number 1"),
        (cas_with(2, end=3), "empty.*number 1"),
        (cas_with(2, begin="3"), "whole numbers.*number 1"),
        (cas_with(2, begin=None), "whole numbers.*number 1"),
        (cas_with(2, **{"%TYPE": "webanno.custom.Other"}), "TypeNotFoundError"),
        (cas_with(2, **{"@sofa": 9}), "AttributeError"),
    ],
)
def test_a_damaged_cas_as_json_is_refused(cas, message, tmp_path):
    put(tmp_path, {"n1.json": json.dumps(cas)})
    with pytest.raises(CorpusFormatError, match=message) as caught:
        read_corpus(tmp_path, "uima")
    assert caught.value.doc_id == "n1" and "Ann" not in str(caught.value) and caught.value.__context__ is None


@needs_cassis
@pytest.mark.parametrize("content", ["", '{"%TYPES": {}', '{"%TYPES": {}, "%TYPES": {}}', '{"%TYPES":' * 9999])
def test_json_that_is_damaged_is_refused(content, tmp_path):
    put(tmp_path, {"n1.json": content})
    with pytest.raises(CorpusFormatError, match="The file (is not valid JSON|holds a repeated key).*document n1"):
        read_corpus(tmp_path, "uima")


@needs_cassis
def test_offsets_of_xmi_inside_of_a_character_are_refused(tmp_path):
    """The span began a character late, and a warning said so."""
    put(tmp_path, {"n1.xmi": XMI.replace('begin="3"', 'begin="1"'), "TypeSystem.xml": TYPES.format("label")})
    with pytest.raises(CorpusFormatError, match="inside of a character"):
        read_corpus(tmp_path, "uima")
    second = '<custom:Phi xmi:id="2" sofa="1" begin="3" end="6" label="B"/><cas:Sofa '
    put(tmp_path, {"n1.xmi": XMI.replace("<cas:Sofa ", second)})
    with pytest.raises(CorpusFormatError, match="same id"):
        read_corpus(tmp_path, "uima")


@needs_cassis
def test_xmi_expands_no_entity(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    put(tmp_path, {"n1.xmi": XMI.replace("?>", "?>" + bomb, 1).replace("Ann", "&a;")})
    with pytest.raises(CorpusFormatError, match="document type declaration"):
        read_corpus(tmp_path, "uima")
    put(tmp_path, {"n1.xmi": XMI, "TypeSystem.xml": TYPES.format("label").replace("?>", "?>" + bomb, 1)})
    with pytest.raises(CorpusFormatError, match="document type declaration"):
        read_corpus(tmp_path, "uima")


@needs_cassis
def test_characters_that_xml_lacks_are_refused():
    note = Document("n1", "Ann\x0bRoe", (Span(0, 3, "A"),))
    with pytest.raises(CorpusFormatError, match="control character.*characters 3-4"):
        there_and_back([note], "uima")
    assert there_and_back([note], "uima", lossy=True)[0].text == "Ann Roe"


WORD = "Zyxwvut"


def task(**lists):
    return json.dumps([{"data": {"text": WORD}, **lists}])


def other(type, **value):
    """A region without labels, beside one with labels."""
    labels = {"id": "r", "type": "labels", "value": {"start": 0, "end": 3, "labels": ["A"]}}
    return [{"result": [labels, {"id": "s", "type": type, "value": value}]}]


@pytest.mark.parametrize("id", ["r", "s"])
def test_what_label_studio_says_of_a_span_or_a_note_is_no_span(id, tmp_path):
    (annotation,) = other("choices", start=0, end=3, choices=["sure"])
    annotation["result"][1]["id"] = id
    annotation["result"] += [{"type": "relation", "from_id": "r", "to_id": "r"}]
    annotation["result"] += [{"id": "t", "type": "textarea", "value": {"text": ["fine"]}}]
    path = put(tmp_path, {"x.json": task(annotations=[annotation])}) / "x.json"
    if id == "r":
        assert read_corpus(path)[0].spans == (Span(0, 3, "A"),)
    else:
        with pytest.raises(CorpusFormatError, match="needs a 'value'.*number 2"):
            read_corpus(path)


def region(score=None, **value):
    return [{"result": [{"type": "labels", "score": score, "value": value}]}]


BROKEN = {
    "labelstudio": [
        "{}",
        json.dumps([{"data": {"txt": WORD}}]),
        task(annotations=3),
        task(annotations=[{"result": []}, {"result": []}]),
        task(annotations=[{"was_cancelled": True, "result": []}]),
        task(annotations=[{"result": 3}]),
        task(annotations=region()),
        task(annotations=region(start=0, end=99, labels=["A"])),
        task(annotations=region(start=0, end=3, labels=[])),
        task(annotations=region(start=0, end=3, labels=["A"], text="abc")),
        task(predictions=region(score=2, start=0, end=3, labels=["A"])),
        # spans of another kind were left out, and the note looked like one without PHI
        task(annotations=other("paragraphlabels", start="0", startOffset=0, endOffset=3, paragraphlabels=["A"])),
        task(annotations=other(None, start=0, end=3, entity=["A"])),
    ],
    "doccano": [
        f'{{"text": "{WORD}"}}',
        f'{{"text": "{WORD}", "label": [], "labels": []}}',
        f'{{"text": "{WORD}", "label": [[0, 99, "A"]]}}',
        f'{{"text": "\U0001f469{WORD}", "label": [[1, 3, "A"]]}}',
        f'{{"text": "{WORD}", "label": [["0", 3, "A"]]}}',
        f'{{"text": "{WORD}", "label": [[0, 3, ""]]}}',
        f'{{"text": "{WORD}", "label": [], "details": ["{WORD}"]}}',
        f'{{"text": "{WORD}", "label": [], "doc_id": 3}}',
    ],
    "prodigy": [
        f'{{"txt": "{WORD}"}}',
        f'{{"text": "{WORD}", "spans": {{}}}}',
        f'{{"text": "{WORD}", "spans": [{{"start": true, "end": 3, "label": "A"}}]}}',
        f'{{"text": "{WORD}", "spans": [{{"start": 3, "end": 3, "label": "A"}}]}}',
        f'{{"text": "{WORD}", "spans": [{{"start": 0, "end": 3}}]}}',
        f'{{"text": "{WORD}", "spans": [{{"start": 0, "end": 3, "label": "A", "score": -1}}]}}',
    ],
}


@pytest.mark.parametrize(("name", "content"), [(name, content) for name, rows in BROKEN.items() for content in rows])
def test_a_broken_file_is_an_error_without_text(name, content, tmp_path):
    path = put(tmp_path, {"x.json": content}) / "x.json"
    with pytest.raises(CorpusFormatError) as caught:
        read_corpus(path, name)
    assert WORD not in str(caught.value) and caught.value.__context__ is None


def test_two_answers_to_one_text_of_prodigy_are_refused(tmp_path):
    """They became two notes, and the spans of one annotator were missing from the other's."""
    answers = [{"text": "Ann", "answer": "accept", "_input_hash": n, "spans": []} for n in (1, 2, 1)]
    (tmp_path / "x.prodigy.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    corpus, errors = read_corpus(tmp_path / "x.prodigy.jsonl", "prodigy", on_error="collect")
    assert len(corpus) == 2 and [error.message[:32] for error in errors] == ["Line 3: this text has several an"]
    answers = [{**answer, "doc_id": f"n{number}"} for number, answer in enumerate(answers)]
    (tmp_path / "x.prodigy.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    assert len(read_corpus(tmp_path / "x.prodigy.jsonl", "prodigy")) == 3, "notes with ids may have one text"


@pytest.mark.parametrize("task", [{"label": "URGENT"}, {"options": [], "accept": ["URGENT"]}])
def test_a_classification_of_prodigy_is_no_note_without_phi(task, tmp_path):
    (tmp_path / "x.prodigy.jsonl").write_text(json.dumps({"text": "Ann", "answer": "accept", **task}) + "\n")
    with pytest.raises(CorpusFormatError, match="task of classification"):
        read_corpus(tmp_path / "x.prodigy.jsonl", "prodigy")


def test_spans_of_two_texts_of_a_task_are_refused(tmp_path):
    """Without the repeated text, those of the title marked other characters of the note."""
    regions = [
        {"type": "labels", "to_name": name, "value": {"start": 0, "end": 3, "labels": ["A"]}}
        for name in ("text", "title")
    ]
    tasks = [{"id": 1, "data": {"text": "Ann", "title": "Roe"}, "annotations": [{"result": regions}]}]
    (tmp_path / "x.json").write_text(json.dumps(tasks))
    with pytest.raises(CorpusFormatError, match="several texts"):
        read_corpus(tmp_path / "x.json", "labelstudio")
