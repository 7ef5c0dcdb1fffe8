"""Only the named fields of FHIR resources change: everything else is the same byte for byte."""

import base64
import hashlib
import json

import numpy as np
import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io.tables import FHIR_FIELDS, open_table
from sklearn_deid.io.tables.fhir_extensions import text_in_extensions
from sklearn_deid.io.tables.json_text import find_values, replace_values
from sklearn_deid.io.tables.markup import marked_text, tags_tell, with_tags
from sklearn_deid.text.normalization import normalize

NAME = "Zyxwvutski"


def encoded(text, charset="utf-8"):
    return base64.b64encode(text.encode(charset)).decode()


TRANSLATED = {
    "extension": [{"extension": [{"url": "lang", "valueCode": "de"}, {"url": "content", "valueString": NAME}]}]
}


def extended(kind, field, key):
    """A resource with an extension of a text."""
    extension = {"extension": [{"url": "rendered-value", key: NAME}]}
    value = {"div": "<p>a</p>", **extension} if field == "text" else "a"
    return json.dumps({"resourceType": kind, field: value, f"_{field}": {} if field == "text" else extension})


def resource(rng, number):
    """A resource with the name in all of its texts, and with structure that is to stay."""
    div = f'<div xmlns="http://www.w3.org/1999/xhtml"><p>Seen {NAME} &amp; <b>well</b></p></div>'
    text = {"status": "generated", "div": div}
    attachment = {"contentType": "text/plain; charset=iso-8859-1", "data": encoded(f"{NAME} é", "latin-1")}
    attachment |= {"size": 12, "hash": "aaaa", "title": f"For {NAME}", "creation": "2020-01-01"}
    page = {"contentType": "text/html", "data": encoded(f"<html><body><p>{NAME}<br/>well</p></body></html>")}
    kinds = {
        "DocumentReference": {
            "text": text,
            "description": NAME,
            "content": [{"attachment": attachment}, {"format": {"code": "x"}}],
        },
        "DiagnosticReport": {
            **{"conclusion": NAME, "presentedForm": [attachment, page], "code": {"text": "CT"}},
            **{"note": [{"text": NAME}], "media": [{"comment": NAME, "link": {"reference": "Media/1"}}]},
        },
        "Composition": {
            **{"title": NAME, "note": [{"text": NAME}]},
            "section": [{"title": NAME, "text": text, "section": [{"text": text, "section": [{"title": NAME}]}]}],
        },
        "Binary": {"contentType": "text/plain", "data": encoded(NAME)},
        "Observation": {
            "note": [{"text": NAME, "time": "2020"}, {"text": f"{NAME} again"}],
            **{"valueString": NAME, "valueAttachment": attachment, "comment": NAME},
            "component": [
                {"valueString": f"{NAME} again"},
                {"valueAttachment": page},
                {"valueQuantity": {"value": 1.50}},
            ],
        },
    }
    kind = str(rng.choice(list(kinds)))
    subject = "securityContext" if kind == "Binary" else "subject"
    whole = {"resourceType": kind, "id": f"r{number}", subject: {"reference": f"Patient/{number % 7}"}, **kinds[kind]}
    spaces = [None, (", ", ": "), (",", ":")][rng.integers(3)]
    return json.dumps(whole, separators=spaces, ensure_ascii=bool(rng.integers(2)))


def leaves(value, path=()):
    """All values without parts, by their path."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, inner in items for k, v in leaves(inner, (*path, key)).items()}
    return {path: value}


def redacted(tmp_path, lines, function, fields=FHIR_FIELDS):
    """Lines of the output, and what was listed."""
    path, output = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    table = open_table(path, output, fhir=fields)
    chunks = list(table.chunks())
    done = b"".join(chunk.render([function(cell.text) for cell in chunk.cells]) for chunk in chunks)
    return done.decode().splitlines(), [problem for chunk in chunks for problem in chunk.problems], chunks


def test_only_the_named_fields_change(tmp_path):
    rng = np.random.default_rng(0)
    lines = [resource(rng, n) for n in range(1000)]
    found, problems, chunks = redacted(tmp_path, lines, lambda text: text.replace(NAME, "[X]"))
    assert (len(found), problems) == (1000, [])
    changed = set()
    for before, after in zip(map(json.loads, lines), map(json.loads, found), strict=True):
        old, new = leaves(before), leaves(after)
        assert list(old) == list(new)
        changed |= {tuple(k for k in path if isinstance(k, str)) for path in old if old[path] != new[path]}
        texts = [base64.b64decode(v).decode("latin-1") if p[-1] == "data" else str(v) for p, v in new.items()]
        assert not any(NAME in text for text in texts)
    assert {path[-1] for path in changed} == {
        "div",
        "description",
        "conclusion",
        "title",
        "data",
        "size",
        "hash",
        "text",
        "comment",
        "valueString",
    }
    assert not any("code" in path for path in changed)
    places = [cell.place for chunk in chunks for cell in chunk.cells]
    assert len(set(places)) == len(places)
    assert {cell.patient_id for chunk in chunks for cell in chunk.cells} == {f"Patient/{n}" for n in range(7)}


def test_paths_of_a_profile_that_lead_to_one_text(tmp_path):
    """The text was written twice, one behind the other: the line was no JSON."""
    section = {"title": f"about {NAME}", "section": [{"title": f"more of {NAME}"}]}
    line = json.dumps({"resourceType": "Composition", "title": NAME, "section": [section]})
    paths = ["title", "title", "section*.title", "section.title"]
    found, problems, _ = redacted(tmp_path, [line], lambda text: text.replace(NAME, "[X]"), {"Composition": paths})
    assert (found, problems) == ([line.replace(NAME, "[X]")], [])


@pytest.mark.parametrize("path", ["content.attachment.data", "data", "text.div", "text.div*"])
def test_a_path_to_base64_or_html_is_refused(tmp_path, path):
    """The base64 was taken for a text without PHI, and copied; tags of the HTML were replaced with the names."""
    with pytest.raises(CorpusFormatError, match="Name the object that holds it"):
        redacted(tmp_path, ["{}"], str, {"DocumentReference": [path]})


def test_the_path_of_a_whole_resource_is_for_binary_only(tmp_path):
    """Of any other resource, the title was read, and the narrative and all sections were copied."""
    with pytest.raises(CorpusFormatError, match="for Binary only"):
        redacted(tmp_path, ["{}"], str, {"Binary": ["."], "Composition": ["."]})


def test_resources_inside_of_a_copied_resource_leave_the_line_out(tmp_path):
    """The entries of a Bundle were copied, although the profile names the texts of their types."""
    entries = [{"resource": {"resourceType": "Observation", "note": [{"text": NAME}]}}]
    line = json.dumps({"resourceType": "Bundle", "entry": entries})
    profile = {"Bundle": [], "Observation": ["note.text"]}
    found, problems, _ = redacted(tmp_path, [line], str, profile)
    assert found == [] and "holds another resource" in problems[0][1]
    profile["Bundle"] = ["entry.resource.note.text"]
    found, problems, _ = redacted(tmp_path, [line], lambda text: text.replace(NAME, "[X]"), profile)
    assert (found, problems) == ([line.replace(NAME, "[X]")], [])


def test_texts_of_contained_resources_are_texts(tmp_path):
    """They were copied: the data of a contained Binary is the whole note."""
    rng = np.random.default_rng(2)
    inner = [json.loads(resource(rng, n)) for n in range(30)]
    inner[3]["contained"] = [inner[4] | {next(k for k in inner[4] if k[0] == "s"): {"reference": "Patient/9"}}]
    whole = {"resourceType": "Observation", "contained": inner, "subject": {"reference": "Patient/5"}}
    (found,), problems, chunks = redacted(tmp_path, [json.dumps(whole)], lambda text: text.replace(NAME, "[X]"))
    assert problems == [] and NAME not in found
    assert all(
        NAME not in base64.b64decode(v).decode("latin-1")
        for p, v in leaves(json.loads(found)).items()
        if p[-1] == "data"
    )
    cells = [cell for chunk in chunks for cell in chunk.cells]
    assert len({cell.place for cell in cells}) == len(cells)
    assert {cell.patient_id for cell in cells} == {"Patient/5"}
    # Alone, each of them has the same texts.
    alone = redacted(tmp_path, [json.dumps(one) for one in [*inner[:3], *inner[4:], inner[4]]], str)[2]
    alone += redacted(tmp_path, [json.dumps({k: v for k, v in inner[3].items() if k != "contained"})], str)[2]
    assert sorted(cell.text for chunk in alone for cell in chunk.cells) == sorted(cell.text for cell in cells)


def test_unchanged_texts_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(1)
    lines = [line for line in (resource(rng, n) for n in range(40)) if '"Observation"' in line and "\\" not in line]
    assert len(lines) > 3
    lines += [
        '{"resourceType":"Observation",  "note":[ {"text":"a"} ], "valueQuantity":{"value":1.50E2}}',
        '{"resourceType":"Location"}',
    ]
    found, problems, _ = redacted(tmp_path, lines, str, {"Observation": ["note.text"], "Location": []})
    assert (found, problems) == (lines, [])


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("Observation", {"noteText": NAME}),
        ("Observation", {"Text": {"div": f"<p>{NAME}</p>"}}),
        ("Observation", {"note": [{"Text": NAME}]}),
        ("Observation", {"note": [{"_txt": {"extension": [{"valueString": NAME}]}, "text": "a"}]}),
        ("Observation", {"component": [{"code": {}}, {"ValueString": NAME}]}),
        ("DiagnosticReport", {"conclusions": NAME}),
        ("DocumentReference", {"content": [{"attachments": {"data": encoded(NAME)}}]}),
        ("Composition", {"section": [{"section": [{"section": [{"heading": NAME}]}]}]}),
        ("Binary", {"contentType": "text/plain", "Data": encoded(NAME)}),
        ("Binary", {"contentType": "text/plain", "_data": encoded(NAME)}),
        ("Composition", {"text": {"status": "generated", "_div": NAME}}),
        ("DocumentReference", {"content": [{"attachment": json.dumps({"data": encoded(NAME)})}]}),
        ("Composition", {"text": {"status": NAME, "div": "<p>a</p>"}}),
        ("Procedure", {"Note": [{"text": NAME}]}),
        ("Procedure", {"note": [{"text": "a"}, {"te-xt": NAME}]}),
    ],
)
def test_a_misspelt_element_is_not_copied(tmp_path, kind, content):
    """Its text stayed as it was, at exit code 0."""
    line = json.dumps({"resourceType": kind, "status": "final", **content})
    fields = {**FHIR_FIELDS, "Procedure": ["note.text"]}
    found, problems, _ = redacted(tmp_path, [line], str, fields)
    assert (found, len(problems)) == ([], 1) and NAME not in problems[0][1]
    # A contained resource is read like one of its own.
    inside = json.dumps({"resourceType": "Observation", "contained": [json.loads(line)]})
    assert redacted(tmp_path, [inside], str, fields)[0] == []


def test_a_binary_has_no_narrative(tmp_path):
    """FHIR defines none, and it was copied at exit code 0."""
    line = {"resourceType": "Binary", "contentType": "text/plain", "data": encoded("a")}
    written = json.dumps(line | {"text": {"status": "generated", "div": f"<div>{NAME}</div>"}})
    found, problems, _ = redacted(tmp_path, [written, json.dumps(line)], str)
    assert ([place for place, _ in problems], found) == (["row 1"], [json.dumps(line)])


def test_names_and_versions_of_documents_are_texts(tmp_path):
    """FHIR defines any string there, and it was copied at exit code 0."""
    for kind, names in (("Composition", ("name", "version")), ("DocumentReference", ("version",))):
        line = json.dumps({"resourceType": kind, "status": "final", **dict.fromkeys(names, f"draft of {NAME}")})
        (found,), problems, _ = redacted(tmp_path, [line], lambda text: text.replace(NAME, "[X]"))
        assert (problems, found) == ([], line.replace(NAME, "[X]"))


@pytest.mark.parametrize(
    "content",
    [
        {"identifier": [{"value": "1", "note": f"of {NAME}"}]},
        {"subject": {"reference": "Patient/1", "comment": f"of {NAME}"}},
        {"valueQuantity": {"value": 1, "unit": f"mm, said {NAME}"}},
        {"extension": [{"url": "u", "valueExpression": {"description": f"by {NAME}"}}]},
        {"effectiveTiming": {"event": [f"after {NAME}"]}},
    ],
)
def test_texts_inside_of_data_types_are_redacted(tmp_path, content):
    """FHIR defines no text there, and it was copied at exit code 0."""
    line = json.dumps({"resourceType": "Observation", "status": "final", **content})
    (found,), problems, _ = redacted(tmp_path, [line], lambda text: text.replace(NAME, "[X]"))
    assert (problems, found) == ([], line.replace(NAME, "[X]"))


def test_size_and_hash_are_those_of_the_new_data(tmp_path):
    data = {"contentType": "text/plain", "data": encoded(NAME), "hash": "old", "size": 1}
    line = json.dumps({"resourceType": "DocumentReference", "content": [{"attachment": data}]})
    (found,), _, _ = redacted(tmp_path, [line], lambda text: "[X]")
    new = json.loads(found)["content"][0]["attachment"]
    expected = base64.b64encode(hashlib.sha1(b"[X]").digest()).decode()
    assert (new["data"], new["size"], new["hash"]) == (encoded("[X]"), 3, expected)


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        '{"resourceType": "Patient", "name": [{"family": "Zyxwvutski"}]}',
        '{"id": "1"}',
        '{"resourceType": "Observation", "contained": [{"resourceType": "Patient", "name": [{"text": "Zyxwvutski"}]}]}',
        '{"resourceType": "Observation", "contained": ["Zyxwvutski"]}',
        '{"resourceType": "Observation", "contained": [{"resourceType": "Observation", "note": "Zyxwvutski"}]}',
        '{"resourceType": ["Binary"]}',
        '{"resourceType": "Binary", "contentType": "application/pdf", "data": "QQ=="}',
        '{"resourceType": "Binary", "data": "QQ=="}',
        '{"resourceType": "Binary", "contentType": "application/pdf;name=Zyxwvutski.pdf"}',
        '{"resourceType": "Binary", "contentType": "text/plain", "data": "Zyxwvutski!"}',
        '{"resourceType": "Binary", "contentType": "text/plain; charset=none", "data": "QQ=="}',
        '{"resourceType": "Binary", "contentType": "text/plain", "data": 5}',
        json.dumps({"resourceType": "Binary", "contentType": "text/html", "data": encoded("<script>x</script>")}),
        json.dumps({"resourceType": "Observation", "text": {"div": "<p title='Zyxwvutski'>x</p>"}}),
        '{"resourceType": "Observation", "text": {"div": ["<p>Zyxwvutski</p>"]}}',
        '{"resourceType": "Observation", "text": {"DIV": "<p>Zyxwvutski</p>"}}',
        '{"resourceType": "Observation", "text": {"div": "<p>a</p>", "title": "Zyxwvutski"}}',
        '{"resourceType": "Observation", "note": "Zyxwvutski"}',
        '{"resourceType": "Observation", "note": [{"text": {"value": "Zyxwvutski"}}]}',
        '{"resourceType": "DocumentReference", "content": ["Zyxwvutski"]}',
        '{"resourceType": "Composition", "section": [{"section": [{"section": "Zyxwvutski"}]}]}',
        json.dumps({"resourceType": "Binary", "contentType": "text/plain", "content": encoded(NAME)}),
        '{"resourceType": "DocumentReference", "content": [{"attachment": {"url": "Data:,Zyxwvutski"}}]}',
        extended("Composition", "title", "valueString"),
        extended("DiagnosticReport", "conclusion", "valueMarkdown"),
        extended("Composition", "text", "valueString"),
        json.dumps({"resourceType": "Observation", "note": [{"text": "a", "_text": TRANSLATED}]}),
        json.dumps({"resourceType": "Observation", "text": {"div": "<p>a</p>", "_div": TRANSLATED}}),
        json.dumps({"resourceType": "Binary", "contentType": "text/plain", "data": "QQ==", "_data": TRANSLATED}),
        json.dumps({"resourceType": "Composition", "_title": {"extension": [{"valueAnnotation": {"text": NAME}}]}}),
    ],
)
def test_lines_that_cannot_be_read_are_left_out_and_listed(tmp_path, line):
    good = '{"resourceType": "Observation", "note": [{"text": "a"}]}'
    found, problems, _ = redacted(tmp_path, [line, good], str)
    assert found == [good]
    assert [place for place, _ in problems] == ["row 1"]
    assert NAME not in str(problems)


@pytest.mark.parametrize(
    ("path", "place"),
    [(["title"], []), (["section*", "title"], ["section", 0]), (["section*", "title"], ["section", 0, "section", 0])],
)
def test_extensions_are_found_where_the_path_leads(path, place):
    value = {"title": "a", "section": [{"title": "b", "section": [{"title": "c"}]}]}
    assert not text_in_extensions(value, path)
    inner = value
    for key in place:
        inner = inner[key]
    inner["_title"] = TRANSLATED
    assert text_in_extensions(value, path)
    assert not text_in_extensions(value, ["subtitle"])


def test_extensions_without_text_stay(tmp_path):
    code = {"extension": [{"url": "absent", "valueCode": "unknown"}, {"url": "n", "valueQuantity": {"value": 1}}]}
    line = json.dumps(
        {"resourceType": "Composition", "title": "a", "_title": code, "extension": [{"valueString": "b"}]}
    )
    assert redacted(tmp_path, [line], str)[:2] == ([line], [])


def test_line_with_one_text_that_fails_is_left_out(tmp_path):
    lines = [
        '{"resourceType": "Observation", "note": [{"text": "a"}, {"text": "b"}]}',
        '{"resourceType": "Observation"}',
    ]
    found, _, _ = redacted(tmp_path, lines, lambda text: None if text == "a" else text)
    assert found == lines[1:]


@pytest.mark.parametrize(
    "markup",
    [
        "<p>K < 3</p>",
        "<!-- Ann -->",
        '<img alt="Ann">',
        '<a href="mailto:ann@x.org">x</a>',
        "a\u2064b",
        "&#x2064;",
        f"&#{'9' * 5000};",
        "Seen <Alder> today",
        "<p",
        '<p lang="Alder">a</p>',
        '<p dir="Alder">a</p>',
        '<div xmlns="urn:alder">a</div>',
        '<td width="6175551234">a</td>',
        "<p style=\"content: 'seen by Alder'\">a</p>",
        '<p style="content: &quot;seen by Alder&quot;">a</p>',
        '<p style="background: url(https://example.org/alder.jpg)">a</p>',
        '<p style="/* seen by Alder */">a</p>',
        '<p style="top: \\41 lder">a</p>',
        '<p style="--x: Alder">a</p>',
        '<p style="&#65;lder">a</p>',
    ],
)
def test_markup_that_may_hide_text_is_refused(markup):
    assert marked_text(markup) is None


@pytest.mark.parametrize(
    "markup",
    [
        *("", "a", "<p>a</p>b<br>c", "<b>a</b>\n\n<p>\nb\n</p>", "&lt;b&gt; &amp;amp;"),
        "<p style=\"margin: 0 auto; font-family: 'Times New Roman', serif;\">a</p>",
        "<p style='font-family: &quot;Arial&quot;'>a</p>",
    ],
)
def test_markup_comes_back(markup):
    marked = marked_text(markup)
    assert with_tags(marked.text, marked.tags) == markup
    assert with_tags(marked.text + "\u2064", marked.tags) is None


@pytest.mark.parametrize("name", ["Zyxwvutski", "Li"])
@pytest.mark.parametrize("attribute", ['class="of-{}"', "class='{}'", 'style="color: {}"'])
def test_name_in_a_class_or_style_leaves_the_line_out(tmp_path, name, attribute):
    """The value was copied."""
    div = f"<div><p {attribute.format(name.upper())}>Seen by {name}</p></div>"
    lines = [
        json.dumps({"resourceType": "Observation", "text": {"div": markup}}) for markup in (div, "<p class='a'>x</p>")
    ]
    path = tmp_path / "in.ndjson"
    path.write_text("".join(line + "\n" for line in lines))
    (chunk,) = open_table(path, tmp_path / "out.ndjson", fhir=FHIR_FIELDS).chunks()
    texts = [cell.text.replace(name, "[X]") for cell in chunk.cells]
    assert [number for number, _ in chunk.check(texts)] == [0]
    assert chunk.render(texts).decode() == lines[1] + "\n"
    assert chunk.check([cell.text for cell in chunk.cells]) == []
    assert tags_tell("Seen by Alder", "Seen by [X]", ("<p class='&#65;lder'>",))


def test_the_namespace_and_the_language_of_a_narrative_leave_no_line_out(tmp_path):
    """Each narrative of FHIR has this namespace, so that each year 1999 and each address with ".org" cost the line."""
    div = '<div xmlns="http://www.w3.org/1999/xhtml" lang="de">De Vries, http://a.org, 1999</div>'
    path = tmp_path / "in.ndjson"
    path.write_text(json.dumps({"resourceType": "Observation", "text": {"div": div}}) + "\n")
    (chunk,) = open_table(path, tmp_path / "out.ndjson", fhir=FHIR_FIELDS).chunks()
    texts = [cell.text.replace("De Vries, http://a.org, 1999", "[X]") for cell in chunk.cells]
    assert chunk.check(texts) == []
    assert json.loads(chunk.render(texts))["text"]["div"] == div.replace("De Vries, http://a.org, 1999", "[X]")


def test_tagger_reads_the_words_of_markup_without_the_tags():
    marked = marked_text("<p>Seen by <b>A</b>lder<br/>today</p>")
    lines = normalize(marked.text).text.split("\n")
    assert [line for line in lines if line.isascii()] == ["", "Seen by Alder", "today", ""]


@pytest.mark.parametrize("name", ["del", "ins", "mark", "label", "time", "cite", "tt", "wbr"])
def test_a_word_goes_on_behind_a_tag_that_breaks_no_line(name):
    """Half of a name stood in a line of its own, where a model does not find it."""
    marked = marked_text(f"<p>Seen by Al<{name}>der</p>")
    assert "Seen by Alder" in normalize(marked.text).text


def test_values_are_replaced_where_they_are_written():
    text = '[{"a": [{"b": "x"}, {"b": [1, "y"]}], "b": "z", "c\\u0041": {}}, {}, [], "b"]'
    found = find_values(text, ["a", "b"])
    assert [place.value for place in found] == ["x", 1, "y"]
    assert json.loads(replace_values(text, [(place, None) for place in found]))[0]["a"] == [
        {"b": None},
        {"b": [None, None]},
    ]
    assert [place.value for place in find_values(text, ["cA"])] == [{}]
    nested = '{"s": [{"t": 1, "s": [{"s": [{"t": 3}], "t": 2}]}]}'
    assert sorted(place.value for place in find_values(nested, ["s*", "t"])) == [1, 2, 3]


def test_text_that_cannot_be_written_is_listed(tmp_path):
    """A name over a tag leaves the line out, and the account of the run must say so."""
    path = tmp_path / "in.ndjson"
    div = {"resourceType": "Observation", "text": {"div": "<p>Seen Zyx</p><p>wvutski</p>"}, "note": [{"text": "a"}]}
    path.write_text(json.dumps(div), encoding="utf-8")
    (chunk,) = open_table(path, tmp_path / "out.ndjson", fhir=FHIR_FIELDS).chunks()
    assert chunk.check([cell.text for cell in chunk.cells]) == [] and chunk.check([None, None]) == []
    ((number, reason),) = chunk.check(["Seen [X]", "a"])
    assert number == 0 and "reaches over a tag" in reason
    assert chunk.render(["Seen [X]", "a"]) == b""


@pytest.mark.parametrize("reference", ["", "#p", "Patient/", "Patient/null", "https://example.org/Patient/undefined"])
def test_reference_that_names_nobody_is_no_patient(tmp_path, reference):
    line = {"resourceType": "Observation", "subject": {"reference": reference}, "note": [{"text": NAME}]}
    _, _, (chunk,) = redacted(tmp_path, [json.dumps(line)], str)
    assert [cell.patient_id for cell in chunk.cells] == [None]


def test_subject_of_a_composition_is_a_list_since_r5(tmp_path):
    """Its texts shared no surrogates and no shift of dates with the other notes of the patient."""
    subjects = [[{"reference": f"Patient/{name}"} for name in names] for names in ("7", "78", "")]
    lines = [{"resourceType": "Composition", "subject": subject, "title": NAME} for subject in subjects]
    _, _, (chunk,) = redacted(tmp_path, map(json.dumps, lines), str)
    assert [cell.patient_id for cell in chunk.cells] == ["Patient/7", None, None]


SAID = f"{NAME} said so"
MISPLACED = [
    {"status": SAID},
    {"issued": SAID},
    {"encounter": NAME},
    {"code": NAME},
    {"category": [SAID]},
    {"valueDateTime": SAID},
    {"valueBoolean": NAME},
    {"valueQuantity": {"value": NAME}},
    {"valueRange": {"low": {"value": NAME}}},
    {"valuePeriod": {"start": NAME}},
    {"valueSampledData": {"data": NAME}},
    {"component": [{"valueTime": SAID}]},
    {"_status": NAME},
    {"_status": {"id": SAID}},
    {"subject": {"id": SAID}},
    {"subject": {SAID: 1}},
    {"performer": [{"identifier": {"period": {SAID: "a"}}}]},
    {"performer": [{"photo": {"contentType": "text/plain", "data": encoded(NAME)}}]},
    {"performer": [{"attachment": {"contentType": "text/plain", "data": encoded(NAME)}}]},
    {"component": [{"valueAttachment": {"resourceType": "Basic", "remark": NAME}}]},
]


@pytest.mark.parametrize("content", MISPLACED, ids=str)
def test_text_in_the_place_of_a_code_or_an_object_is_left_out(tmp_path, content):
    """Words in the place of numbers were read in HL7, and copied here."""
    line = json.dumps({"resourceType": "Observation", **content})
    found, problems, _ = redacted(tmp_path, [line], str)
    assert (found, len(problems), NAME in str(problems)) == ([], 1, False)


def test_numbers_codes_and_texts_are_not_misplaced(tmp_path):
    content = {"status": "final", "issued": "2020-01-01T10:00:00.000+01:00", "effectivePeriod": {"start": "2020"}}
    content |= {"valueSampledData": {"data": "1 2 E -3.5", "period": 1.0}, "code": {"text": "Heart rate"}, "id": "a"}
    content |= {"component": [{"valueQuantity": {"value": 3, "unit": "mm Hg"}}], "_status": {"id": "a"}, "note": []}
    line = json.dumps({"resourceType": "Observation", **content})
    assert redacted(tmp_path, [line], str)[:2] == ([line], [])


def test_texts_of_coded_results_and_authors_are_redacted(tmp_path):
    note = {"note": [{"text": NAME, "authorString": NAME}]}
    coded = {"coding": [{"code": "x"}], "text": NAME}
    lines = [
        {"resourceType": "Observation", "valueCodeableConcept": coded, "component": [{"valueCodeableConcept": coded}]},
        {"resourceType": "DiagnosticReport", "conclusionCode": [coded], "codedDiagnosis": [coded], **note},
        {"resourceType": "Composition", **note},
        {"resourceType": "Observation", **note},
    ]
    found, problems, chunks = redacted(tmp_path, map(json.dumps, lines), lambda text: "[X]")
    assert (problems, NAME in str(found), str(found).count("[X]")) == ([], False, 10)
    # The name of an author alone says too little to a model.
    cells = [cell for chunk in chunks for cell in chunk.cells]
    assert all((cell.label == "DOCTOR") == ("authorString" in cell.column) for cell in cells)
    assert sum(cell.label is not None for cell in cells) == 3


def test_names_and_texts_beside_codes_are_redacted(tmp_path):
    """Displays of references and texts of all other codes were copied."""
    code = {"coding": [{"system": "http://loinc.org", "code": "8867-4", "display": "Heart rate"}], "text": "Heart Rate"}
    whole = {
        "resourceType": "Observation",
        "code": code,
        "category": [{"text": f"asked by {NAME}"}],
        "subject": {"reference": "http://x/Patient/1/_history/2", "display": NAME},
        "performer": [{"reference": "Practitioner/1", "display": NAME}, {"display": NAME}],
        "basedOn": [{"reference": "ServiceRequest/1", "display": f"order of {NAME}"}],
        "identifier": [{"value": "3", "assigner": {"display": NAME}}],
        "interpretation": [{"coding": [{"display": f"said {NAME}"}]}],
        "note": [{"text": f"a {NAME}"}],
        "extension": [{"url": "u", "valueReference": {"type": "Practitioner", "display": NAME}}],
    }
    whole["contained"] = [dict(whole)]
    found, problems, chunks = redacted(tmp_path, [json.dumps(whole)], lambda text: text.replace(NAME, "[X]"))
    assert (found, problems) == ([json.dumps(whole).replace(NAME, "[X]")], [])
    cells = [cell for chunk in chunks for cell in chunk.cells]
    assert len({cell.place for cell in cells}) == len(cells) == 2 * 9
    labels = [cell.label for cell in cells if "display" in cell.column][:6]
    assert labels == ["PATIENT", "DOCTOR", "DOCTOR", None, "HOSPITAL", None]
    assert not any("code" in cell.text for cell in cells)


EXTENSIONS = [
    {"valueString": NAME},
    {"valueMarkdown": f"**{NAME}**"},
    {"valueAnnotation": {"text": NAME}},
    {"valueCodeableConcept": {"coding": [{"code": "x"}], "text": NAME}},
    {"extension": [{"url": "v", "valueString": NAME}, {"url": "w", "valueInteger": 3}]},
]
HOLDERS = [
    lambda extension: {"extension": [extension]},
    lambda extension: {"modifierExtension": [extension]},
    lambda extension: {"note": [{"text": "a", "extension": [extension]}]},
    lambda extension: {"subject": {"reference": "Patient/1", "extension": [extension]}},
    lambda extension: {"_status": {"extension": [extension]}},
    lambda extension: {"component": [{"code": {"coding": [{"extension": [extension]}]}}]},
    lambda extension: {"valueQuantity": {"value": 3, "_unit": {"extension": [extension]}}},
]


@pytest.mark.parametrize("holder", HOLDERS)
def test_texts_in_extensions_of_all_elements_are_redacted(tmp_path, holder):
    """Only those of texts were looked at."""
    whole = [{"resourceType": "Observation", **holder({"url": "u", **extension})} for extension in EXTENSIONS]
    whole.append({"resourceType": "Observation", "contained": [whole[0]], "extension": whole[0].get("extension", [])})
    found, problems, chunks = redacted(tmp_path, map(json.dumps, whole), lambda text: text.replace(NAME, "[X]"))
    assert problems == []
    assert found == [json.dumps(one).replace(NAME, "[X]") for one in whole]
    places = [cell.place for chunk in chunks for cell in chunk.cells]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    "value",
    [
        {"valueHumanName": {"text": NAME}},
        {"valueAddress": {"line": [NAME]}},
        {"valueBase64Binary": encoded(NAME)},
        {"valueAttachment": {"data": encoded(NAME)}},
        {"valueRelatedArtifact": {"type": "documentation", "document": {"data": encoded(NAME)}}},
        {"valueContributor": {"type": "author", "name": NAME}},
        {"valueExtendedContactDetail": {"telecom": [{"system": "email", "value": f"{NAME}@example.org"}]}},
        {"valueVirtualServiceDetail": {"addressString": NAME}},
        {"valueUrl": f"mailto:{NAME}@example.org"},
        {"valueUri": f"data:text/plain,{NAME}"},
        {"valueStrin": NAME},
        {"valueString": [NAME]},
        {"valueAnnotation": NAME},
        {"valueCode": SAID},
        {"_valueCode": NAME},
        {"extension": NAME},
    ],
    ids=str,
)
@pytest.mark.parametrize("holder", HOLDERS[:3])
def test_extensions_that_are_not_read_are_left_out(tmp_path, value, holder):
    line = json.dumps({"resourceType": "Observation", **holder({"url": "u", **value})})
    found, problems, _ = redacted(
        tmp_path, [line, line.replace('"Observation"', '"Basic"')], str, FHIR_FIELDS | {"Basic": []}
    )
    assert (len(problems), found) == (1, [line.replace('"Observation"', '"Basic"')]), "a type without texts is copied"


@pytest.mark.parametrize(
    "attachment",
    [
        {"url": "da\tta:text/plain,Zyxwvutski"},
        {"url": "Binary/1", "hash": "aGFzaA=="},
        {"url": "Binary/1", "creation": SAID},
        {"contentType": "text/plain", "data": encoded("a"), "language": SAID},
        {"contentType": "text/plain", "data": encoded("a"), "language": {"text": NAME}},
        {"contentType": "text/plain", "data": encoded("a"), "url": [{"value": NAME}]},
        {"contentType": "application/pdf; name=" + SAID, "url": "Binary/1"},
        {"contentType": f"application/pdf;name={NAME}.pdf", "url": "Binary/1"},
        {"contentType": f"text/plain;charset=utf-8;name={NAME}.txt", "url": "Binary/1"},
    ],
    ids=str,
)
def test_attachments_with_texts_in_other_places_are_left_out(tmp_path, attachment):
    """The hash of a text that stands in another resource let readers test guesses about that text."""
    good = {"contentType": "text/plain; charset=utf-8", "url": "Binary/1", "size": 3, "creation": "2020-01-01"}
    lines = [{"resourceType": "DocumentReference", "content": [{"attachment": one}]} for one in (attachment, good)]
    found, problems, _ = redacted(tmp_path, map(json.dumps, lines), str)
    assert ([place for place, _ in problems], found) == (["row 1"], [json.dumps(lines[1])])


def test_end_tags_have_no_attributes():
    assert marked_text("<div>x</div class='Zyxwvutski'>") is None
    assert marked_text("<div>x</div >").tags == ("<div>", "</div >")


@pytest.mark.parametrize(
    ("url", "is_copied"),
    [
        ("Binary/b-1", True),
        ("https://fhir.example.org/r4/Binary/b-1/_history/2", True),
        ("urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0", True),
        (f"urn:uuid:{NAME}", False),
        (f"https://files.example.org/{NAME}.pdf", False),
        (f"https://files.example.org/{NAME}/ann.txt", False),
        (f"file:///{NAME}", False),
        (f"Binary/1?of={NAME}", False),
    ],
)
def test_addresses_of_attachments_are_replaced(tmp_path, url, is_copied):
    """They were copied, and can hold the name of a file."""
    whole = {"resourceType": "DocumentReference", "content": [{"attachment": {"title": NAME, "url": url}}]}
    found, problems, chunks = redacted(tmp_path, [json.dumps(whole)], lambda text: "[X]")
    whole["content"][0]["attachment"] = {"title": "[X]", "url": url if is_copied else "[X]"}
    assert (found, problems) == ([json.dumps(whole)], [])
    labels = [cell.label for chunk in chunks for cell in chunk.cells]
    assert labels == [None] if is_copied else [None, "URL"]
