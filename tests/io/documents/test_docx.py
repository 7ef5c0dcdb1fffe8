"""Word files: a name that is planted in any part is not in the bytes of the output, or the file is withheld."""

import copy
import io
import pickle
import re
import zipfile

import pytest

from sklearn_deid import Span
from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import open_document
from sklearn_deid.io.documents import docx_file, office_package
from sklearn_deid.io.documents.word_content import Renamed
from sklearn_deid.surrogates import Replacement

from .word_files import NAME, RELATIONS, SPACES, holds, paragraph, word_file, xml

pytest.importorskip("lxml")
MAIL = f"mailto:{NAME}@example.org"
DRAWN = (
    '<w:r><w:drawing><wp:inline><wp:extent cx="9" cy="9"/><wp:docPr id="1" name="{0}" descr="{0}" title="{0}">'
    '<a:hlinkClick r:id="rId1" tooltip="{0}"/></wp:docPr><a:graphic><a:graphicData uri="{1}">{2}</a:graphicData>'
    "</a:graphic></wp:inline></w:drawing></w:r>"
)
UNREAD = DRAWN.replace("<a:graphicData", f'<a:graphicData x="Mr. {NAME}"')
PICTURE = (
    f'<pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="{NAME}.png" descr="{NAME}"/></pic:nvPicPr><pic:blipFill>'
    f'<a:blip r:embed="rId2"><a:extLst><a:ext uri="{NAME}"/></a:extLst></a:blip></pic:blipFill></pic:pic>'
)
BOX = f"<w:txbxContent>{paragraph('Box of Zyx', 'wvutski.')}</w:txbxContent>"
SHAPE = f'<wps:wsp><wps:cNvPr id="1" name="{NAME}"/><wps:txbx>{BOX}</wps:txbx><wps:bodyPr rot="0"/></wps:wsp>'
OLD_BOX = (
    f'<w:pict><v:shape id="{NAME}" alt="{NAME}" style="width:9pt;mso-x:{NAME}"><v:textbox>{BOX}</v:textbox></v:shape>'
    "</w:pict>"
)
PNG = b"\x89PNG\r\n\x1a\n" + NAME.encode()
LIST = (
    f'<w:abstractNum w:abstractNumId="1"><w:name w:val="{NAME}"/><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/>'
    f'<w:lvlText w:val="Ward {NAME} %1."/></w:lvl></w:abstractNum>'
)
LIST_WITH_MORE = LIST.replace("<w:lvlText", f'<w:lvlText val="{NAME}"')
SETTINGS = (
    f'<w:attachedTemplate r:id="rId1"/><w:docVars><w:docVar w:name="{NAME}" w:val="{NAME}"/></w:docVars>'
    "<w:evenAndOddHeaders/>"
    '<w:compat><w:compatSetting w:name="compatibilityMode" w:val="15" w:uri="http://schemas.microsoft.com/office/word"/>'
    f'</w:compat><w:mailMerge><w:query w:val="{NAME}"/></w:mailMerge>'
)
STYLE = (
    f'<w:latentStyles><w:lsdException w:name="{NAME}"/></w:latentStyles><w:style w:type="paragraph" w:styleId="{NAME}">'
    f'<w:name w:val="{NAME}"/><w:aliases w:val="{NAME}"/><w:rPr><w:rFonts w:ascii="{NAME}"/></w:rPr></w:style>'
)
COMMENT = f'<w:comment w:author="{NAME}" w:initials="{NAME}" w:date="{NAME}">{paragraph(NAME)}</w:comment>'
CLEANED = {
    "one run": {"body": paragraph(f"Seen {NAME}.")},
    "split over runs": {"body": paragraph("Seen Zy", "xwvut", "ski.")},
    "hidden text": {"body": paragraph(NAME, properties="<w:rPr><w:vanish/></w:rPr>")},
    "table": {"body": f"<w:tbl><w:tblPr><w:tblCaption w:val='{NAME}'/></w:tblPr>"
        f"<w:tr><w:tc>{paragraph(NAME)}</w:tc></w:tr></w:tbl>"},
    "header": {"parts": [("header", "h.xml", xml("hdr", paragraph("Zyxwvu", "tski")))]},
    "footnotes": {
        "parts": [("footnotes", f"{NAME}.xml", xml("footnotes", f"<w:footnote>{paragraph(NAME)}</w:footnote>"))]
    },
    "comments": {
        "parts": [
            (
                "comments",
                "c.xml",
                xml("comments", COMMENT),
            )
        ]
    },
    "link": {
        "body": f'<w:p><w:hyperlink r:id="rId1" w:tooltip="{NAME}" w:docLocation="{NAME}" w:anchor="{NAME}">'
        "<w:r><w:t>mail</w:t></w:r></w:hyperlink></w:p>",
        "parts": [("hyperlink", MAIL, None)],
    },
    "fields": {
        "body": f'<w:p><w:fldSimple w:instr=\' HYPERLINK "{MAIL}" \'/>'
        f"<w:r><w:instrText> MERGEFIELD {NAME} </w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="{NAME}"/></w:ffData></w:fldChar></w:r></w:p>'
    },
    "bookmark": {"body": f'<w:p><w:bookmarkStart w:id="1" w:name="{NAME}"/><w:bookmarkEnd w:id="1"/></w:p>'},
    "content control": {
        "body": f'<w:sdt><w:sdtPr><w:alias w:val="{NAME}"/><w:tag w:val="{NAME}"/></w:sdtPr>'
        f"<w:sdtContent>{paragraph(NAME)}</w:sdtContent></w:sdt>"
    },
    "smart tag": {"body": f'<w:p><w:smartTag w:uri="{NAME}" w:element="{NAME}">'
        f"<w:r><w:t>{NAME}</w:t></w:r></w:smartTag></w:p>"},
    "picture": {
        "body": f"<w:p>{DRAWN.format(NAME, SPACES['pic'], PICTURE)}</w:p>",
        "parts": [("hyperlink", MAIL, None), ("image", f"media/{NAME}.png", PNG)],
    },
    "linked picture": {
        "body": f"<w:p>{DRAWN.format(NAME, SPACES['pic'], PICTURE)}</w:p>",
        "parts": [("hyperlink", MAIL, None), ("image", f"file:///C:/{NAME}.png", None)],
    },
    "text box": {
        "body": '<w:p><w:r><w:t>Out</w:t></w:r><mc:AlternateContent><mc:Choice Requires="wps">'
        f"{DRAWN.format('', SPACES['wps'], SHAPE)}</mc:Choice><mc:Fallback>{OLD_BOX}</mc:Fallback>"
        "</mc:AlternateContent><w:r><w:t>side</w:t></w:r></w:p>",
        "parts": [("hyperlink", MAIL, None)],
    },
    "old text box": {"body": f"<w:p><w:r>{OLD_BOX}</w:r></w:p>"},
    "formula": {"body": f"<w:p><m:oMath><m:r><m:t>{NAME}</m:t></m:r></m:oMath></w:p>"},
    "identifiers": {"body": f'<w:p w:rsidR="{NAME}" w14:paraId="{NAME}"><w:permStart w:id="1" w:ed="{NAME}"/>'
        f'<w:r w:rsidRPr="{NAME}"/></w:p>'},
    "settings": {"parts": [("settings", "settings.xml", xml("settings", SETTINGS))]},
    "styles": {"parts": [("styles", "styles.xml", xml("styles", STYLE))],
        "body": f'<w:p><w:pPr><w:pStyle w:val="{NAME}"/></w:pPr></w:p>'},
    "list": {"parts": [("numbering", "numbering.xml", xml("numbering", LIST))]},
    "attribute without a namespace": {
        "parts": [("numbering", "numbering.xml", xml("numbering", LIST_WITH_MORE))]
    },
    "parts that are left out": {
        "parts": [(kind, f"{kind}.xml", NAME) for kind in ("customXml", "glossaryDocument", "people", "webSettings")],
        "files": {f"docProps/{name}": NAME for name in ("core.xml", "app.xml", "custom.xml", "thumbnail.jpeg")}
        | {f"word/{NAME}.bin": "x", "lonely.txt": NAME},
        "comment": NAME.encode(),
    },
    "XML": {
        "prolog": f"<!-- {NAME} --><?{NAME} {NAME}?>",
        "root_extra": f'xmlns:{NAME}="urn:{NAME}" mc:Ignorable="{NAME}" {NAME}:x="{NAME}" xml:lang="{NAME}"',
    },
}  # fmt: skip
SYMBOLS = "".join(f'<w:sym w:font="{{0}}" w:char="{{1}}{ord(letter):02X}"/>' for letter in NAME)
HIDDEN = "<w:r><w:rPr>{}</w:rPr><w:t>{}</w:t></w:r>"


def cut(mark, *texts):
    """Paragraph whose second text and the texts up to the last are hidden or struck."""
    first, *inner, last = texts
    runs = "".join(HIDDEN.format(mark, text) for text in inner)
    return f"<w:p><w:r><w:t>{first}</w:t></w:r>{runs}<w:r><w:t>{last}</w:t></w:r></w:p>"


VANISHING = '<w:style w:type="character" w:styleId="x"><w:name w:val="x"/><w:rPr><w:vanish/></w:rPr></w:style>'
BASED = '<w:style w:type="character" w:styleId="{0}"><w:name w:val="{0}"/><w:basedOn w:val="{1}"/></w:style>'
HIDDEN_PARAGRAPH = '<w:p><w:pPr><w:pStyle w:val="x"/></w:pPr>{}</w:p>'
SHOWN = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>{}</w:t></w:r>'
EMBEDDED = "that is not read|is not read|that this library does not know"
WITHHELD = {
    "insertion": ({"body": f'<w:p><w:ins w:author="{NAME}"><w:r><w:t>a</w:t></w:r></w:ins></w:p>'}, "tracked changes"),
    "deletion": ({"body": f"<w:p><w:del><w:r><w:delText>{NAME}</w:delText></w:r></w:del></w:p>"}, "tracked changes"),
    "format change": ({"body": "<w:p><w:pPr><w:pPrChange/></w:pPr></w:p>"}, "tracked changes"),
    "object": ({"body": "<w:p><w:r><w:object/></w:r></w:p>"}, EMBEDDED),
    "other file": ({"body": '<w:altChunk r:id="rId1"/>', "parts": [("aFChunk", "a.html", NAME)]}, EMBEDDED),
    "chart": ({"parts": [("chart", "chart.xml", NAME)]}, EMBEDDED),
    "graphic": ({"body": f"<w:p>{DRAWN.format('', 'urn:x', '')}</w:p>", "parts": [("hyperlink", "x", None)]}, EMBEDDED),
    "attribute of a graphic": (
        {"body": f"<w:p>{UNREAD.format('', SPACES['pic'], '')}</w:p>", "parts": [("hyperlink", "x", None)]},
        "does not know",
    ),
    "outside part": ({"parts": [("header", "http://example.org/h.xml", None)]}, EMBEDDED),
    "missing part": ({"body": '<w:p><w:hyperlink r:id="rId7"/></w:p>'}, "missing"),
    "element": ({"body": f"<w:{NAME}/>"}, "does not know"),
    "element of others": ({"body": f'<x:y xmlns:x="urn:x">{NAME}</x:y>'}, "does not know"),
    "attribute": ({"body": f'<w:p><w:pPr><w:jc w:val="{NAME}"/></w:pPr></w:p>'}, "does not know"),
    "text in between": ({"body": NAME}, "does not know"),
    "run without paragraph": ({"body": f"<w:r><w:t>{NAME}</w:t></w:r>"}, "outside of paragraphs"),
    "entity": ({"prolog": f'<!DOCTYPE w:document [<!ENTITY a "{NAME}">]>', "body": paragraph("&a;")}, "entit"),
    "macros": ({"content": "application/vnd.ms-word.document.macroEnabled.main+xml"}, "macros"),
    "letters as symbols": ({"body": f"<w:p><w:r>{SYMBOLS.format('Calibri', '')}</w:r></w:p>"}, "as a symbol"),
    "letters in an unknown font": ({"body": f"<w:p><w:r>{SYMBOLS.format('x', 'F0')}</w:r></w:p>"}, "as a symbol"),
    "hidden text in a word": ({"body": cut("<w:vanish/>", "Zyx", "a", "wvutski")}, "cuts a word"),
    "hidden runs in a word": ({"body": cut("<w:vanish/>", "Zyx", " ", "a ", "wvutski")}, "cuts a word"),
    "struck text in a word": ({"body": cut("<w:dstrike/>", "Zyxwvut", "w", "ski")}, "cuts a word"),
    "hidden by a style": (
        {
            "body": cut('<w:rStyle w:val="x"/>', "Zyx", "a", "wvutski"),
            "parts": [("styles", "s.xml", xml("styles", VANISHING))],
        },
        "cuts a word",
    ),
    "hidden by a style that is based on another": (
        {
            "body": cut('<w:rStyle w:val="z"/>', "Zyx", "a", "wvutski"),
            "parts": [("styles", "s.xml", xml("styles", VANISHING + BASED.format("y", "x") + BASED.format("z", "y")))],
        },
        "cuts a word",
    ),
    "mark of a paragraph that a style hides": (
        {
            "body": '<w:p><w:pPr><w:rPr><w:rStyle w:val="x"/></w:rPr></w:pPr><w:r><w:t>Zyx</w:t></w:r></w:p>'
            + paragraph("wvutski"),
            "parts": [("styles", "s.xml", xml("styles", VANISHING))],
        },
        "cuts a word",
    ),
    "shown text of a hidden paragraph": (
        {
            "body": HIDDEN_PARAGRAPH.format(
                SHOWN.format("Zyx") + "<w:r><w:t>a</w:t></w:r>" + SHOWN.format("wvutski")
            ),
            "parts": [("styles", "s.xml", xml("styles", VANISHING))],
        },
        "cuts a word",
    ),
    "hidden mark of a paragraph": (
        {"body": "<w:p><w:pPr><w:rPr><w:vanish/><w:specVanish/></w:rPr></w:pPr><w:r><w:t>Zyx</w:t></w:r></w:p>"
         + paragraph("wvutski")},
        "cuts a word",
    ),
    "text in the other direction": (
        {"body": '<w:p><w:bdo w:val="rtl"><w:r><w:t>ikstuvwxyZ</w:t></w:r></w:bdo></w:p>'}, "does not know"
    ),
    "broken XML": ({"files": {"word/document.xml": f"<w:p>{NAME}"}}, "no valid XML"),
}  # fmt: skip


@pytest.fixture
def opened(tmp_path):
    def opened(data):
        path = tmp_path / "letter.docx"
        path.write_bytes(data)
        return open_document(path)

    return opened


def name_spans(text):
    return [Span(found.start(), found.end(), "NAME") for found in re.finditer(NAME, text)]


@pytest.mark.parametrize("place", CLEANED)
def test_planted_name_is_in_no_byte_of_the_output(opened, place):
    data = word_file(**CLEANED[place])
    letter = opened(data)
    assert holds(data) or NAME in letter.text
    redacted = letter.redacted(name_spans(letter.text))
    assert holds(redacted) == []
    assert opened(redacted).text == letter.text.replace(NAME, "[NAME]")


@pytest.mark.parametrize("place", WITHHELD)
def test_what_is_not_read_withholds_the_file(opened, place):
    settings, reason = WITHHELD[place]
    with pytest.raises(CorpusFormatError, match=reason) as caught:
        opened(word_file(**settings))
    assert NAME not in str(caught.value)


def test_files_that_are_no_word_files(opened, monkeypatch):
    data = word_file()
    doubled = io.BytesIO(data)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(doubled, "a") as archive:
        archive.writestr("word/document.xml", NAME)
    damaged = data.replace(b"PK\x01\x02", b"PK\x01\x03")
    for wrong, reason in (
        (b"", "damaged"),
        (b"%PDF-1.4", "damaged"),
        (data[:-30], "damaged"),
        (damaged, "damaged"),
        (data[9:], "damaged"),
        (data[:30] + data[50:], "damaged"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "encrypted"),
        (doubled.getvalue(), "two parts"),
    ):
        with pytest.raises(CorpusFormatError, match=reason):
            opened(wrong)
    monkeypatch.setattr(office_package, "_MOST_BYTES", 100)
    with pytest.raises(CorpusFormatError, match="too large"):
        opened(data)


def test_other_compression_withholds_the_file(opened):
    """Damaged content raised an error of the module lzma, which ended the run."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word_file())) as letter, zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        for name in letter.namelist():
            archive.writestr(name, letter.read(name))
    data = packed.getvalue()
    for wrong in (data, data[:60] + bytes([data[60] ^ 255]) + data[61:]):
        with pytest.raises(CorpusFormatError, match="compressed in a way"):
            opened(wrong)


def test_long_chain_of_parts_withholds_the_file(opened):
    """Python's limit of recursions ended the run."""
    header = xml("hdr", paragraph("Seen."))
    link = '<Relationships xmlns="{}"><Relationship Id="rId1" Type="{}/header" Target="h{}.xml"/></Relationships>'
    files = {f"word/h{i}.xml": header for i in range(1, 990)}
    files |= {f"word/_rels/h{i}.xml.rels": link.format(RELATIONS, SPACES["r"], i + 1) for i in range(989)}
    with pytest.raises(CorpusFormatError, match="long chain"):
        opened(word_file(parts=[("header", "h0.xml", header)], files=files))


def test_hidden_paragraphs_cut_no_word(opened):
    body = paragraph("Seen") + HIDDEN_PARAGRAPH.format("<w:r><w:t>by</w:t></w:r>") + paragraph(NAME)
    parts = [("styles", "s.xml", xml("styles", VANISHING))]
    assert opened(word_file(body, parts=parts)).text.endswith(f"Seen\nby\n{NAME}\n")


@pytest.mark.parametrize("mark", ["<w:vanish/>", '<w:vanish w:val="0"/>', "<w:strike/>"])
def test_hidden_words_are_read(opened, mark):
    """Word splits a hidden passage into several runs."""
    letter = opened(word_file(cut(mark, "Seen ", "Zyxwvut", "ski,", " today")))
    redacted = letter.redacted(name_spans(letter.text))
    assert "Seen [NAME], today" in opened(redacted).text and holds(redacted) == []
    assert NAME in opened(word_file(cut('<w:vanish w:val="false"/>', "Zyx", "wvut", "ski"))).text


def test_symbols_of_pictures_stay(opened):
    box = '<w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Wingdings" w:char="F041"/>'
    dash = '<w:sym w:font="Calibri" w:char="2013"/>'
    redacted = opened(word_file(f"<w:p><w:r>{box}{dash}</w:r></w:p>")).redacted([])
    with zipfile.ZipFile(io.BytesIO(redacted)) as archive:
        assert archive.read("word/document.xml").count(b"<w:sym ") == 3


def test_copies_are_redacted_as_the_file(opened):
    """Workers of joblib got a TypeError, and deep copies were refused: their elements were those of the file."""
    letter = opened(word_file(body=paragraph(f"Seen by {NAME}.")))
    for one in (pickle.loads(pickle.dumps(letter)), copy.deepcopy(letter), copy.copy(letter)):
        assert NAME not in opened(one.redacted(name_spans(one.text))).text
    assert opened(letter.redacted(name_spans(letter.text))).text == letter.text.replace(NAME, "[NAME]")


def test_runs_and_paragraphs_stay(opened):
    """The oracle is python-docx, which reads the output by itself."""
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading(f"Letter about {NAME}", 1)
    seen = document.add_paragraph("Seen Zyx", style="List Bullet")
    seen.add_run("wvut").bold = True
    seen.add_run("ski today.").italic = True
    table = document.add_table(1, 2, style="Light Shading Accent 1")
    table.cell(0, 1).text = NAME
    document.sections[0].footer.paragraphs[0].text = NAME
    document.core_properties.author = document.core_properties.title = NAME
    document.add_comment(seen.runs, text=NAME, author=NAME, initials="Z")
    stream = io.BytesIO()
    document.save(stream)
    letter = opened(stream.getvalue())
    redacted = letter.redacted(name_spans(letter.text))
    assert holds(redacted) == [] and redacted == letter.redacted(name_spans(letter.text))
    again = docx.Document(io.BytesIO(redacted))
    found = [(p.style.name, [(run.text, run.bold, run.italic) for run in p.runs if run.text]) for p in again.paragraphs]
    assert found == [
        ("Heading 1", [("Letter about [NAME]", None, None)]),
        ("List Bullet", [("Seen [NAME]", None, None), (" today.", None, True)]),
    ]
    assert again.tables[0].style.name == "Light Shading Accent 1" and again.tables[0].cell(0, 1).text == "[NAME]"
    assert again.sections[0].footer.paragraphs[0].text == "[NAME]"
    assert [(c.text, c.author, c.initials) for c in again.comments] == [("[NAME]", "Author", None)]
    with zipfile.ZipFile(io.BytesIO(redacted)) as archive:
        assert not [name for name in archive.namelist() if "docProps" in name]


def test_name_over_two_paragraphs_leaves_the_paragraphs(opened):
    letter = opened(word_file(paragraph("Ward Zyxwvut") + paragraph("ski left.")))
    start = letter.text.index("Zyx")
    redacted = letter.redacted([Span(start, letter.text.index(" left"), "NAME")])
    assert opened(redacted).text == "Seen today.\nWard [NAME]\n left.\n"


def test_new_text_that_word_cannot_hold_withholds_the_file(opened):
    letter = opened(word_file())
    with pytest.raises(CorpusFormatError, match="cannot hold"):
        letter.replaced([Replacement(Span(0, 4, "NAME"), "a\x00", True)])


def planted(value, other):
    """The same settings with another name."""
    if isinstance(value, str):
        return value.replace(NAME, other)
    if isinstance(value, bytes):
        return value.replace(NAME.encode(), other.encode())
    if isinstance(value, dict):
        return {planted(key, other): planted(inner, other) for key, inner in value.items()}
    return None if value is None else type(value)(planted(inner, other) for inner in value)


@pytest.mark.parametrize("other", [NAME.lower(), "4711081542", "roe@example.org"])
def test_names_without_capitals_and_numbers_are_in_no_byte_either(opened, other):
    # An XML name is no number and no address.
    for place in sorted({*CLEANED} - {"XML", "parts that are left out"}):
        letter = opened(word_file(**planted(CLEANED[place], other)))
        spans = [Span(found.start(), found.end(), "NAME") for found in re.finditer(re.escape(other), letter.text)]
        assert holds(letter.redacted(spans), other) == [], place


@pytest.mark.parametrize("value", ["zyxwvutski", "617555014", "lee"])
@pytest.mark.parametrize("form", ['<w:pPr><w:jc w:val="{}"/></w:pPr>', '<w:pPr><w:spacing w:foo="{}"/></w:pPr>'])
def test_a_form_that_holds_phi_withholds_the_file(opened, form, value):
    """A name in small letters, and a number, look like words and measures of the form."""
    letter = opened(word_file(f"<w:p>{form.format(value)}<w:r><w:t>Seen by {value.title()}.</w:t></w:r></w:p>"))
    at = letter.text.index(value.title())
    with pytest.raises(CorpusFormatError, match="word or number that is PHI") as error:
        letter.redacted([Span(at, at + len(value), "DOCTOR")])
    assert value not in str(error.value)


@pytest.mark.parametrize(("value", "phi"), [("center", "Boston Medical Center"), ("off", "Boston Off Max Dot Center")])
def test_words_of_the_form_are_no_phi(opened, value, phi):
    body = f'<w:p><w:pPr><w:jc w:val="{value}"/></w:pPr><w:r><w:t>{phi}</w:t></w:r></w:p>'
    letter = opened(word_file(body))
    at = letter.text.index("Boston")
    assert b"Boston" not in letter.redacted([Span(at, at + len(phi), "HOSPITAL")])


def test_numbers_in_the_numbers_of_a_list_are_text(opened):
    content = LIST.replace(f"Ward {NAME} %1.", "MRN-4711.%1%2")
    letter = opened(word_file(parts=[("numbering", "n.xml", xml("numbering", content))]))
    assert letter.text.endswith("MRN-4711.%1%2\n")
    assert "MRN" not in opened(word_file(parts=[("numbering", "n.xml", xml("numbering", LIST))])).text


def test_names_of_users_become_numbers():
    names = Renamed("Style")
    assert [names[name] for name in (NAME, "Letter", NAME)] == ["Style1", "Style2", "Style1"]


def test_a_file_is_parsed_once_to_be_opened_and_once_to_check_its_copy(tmp_path, monkeypatch):
    """It was parsed three times. Two copies of one file are equal although the first copy changes what was parsed."""
    path = tmp_path / "a.docx"
    path.write_bytes(word_file(paragraph(f"Seen {NAME}.")))
    read, parsed = docx_file.read_package, []
    monkeypatch.setattr(docx_file, "read_package", lambda place, data: parsed.append(data) or read(place, data))
    opened = open_document(path)
    spans = [Span(5, 5 + len(NAME), "DOCTOR")]
    first = opened.redacted(spans)
    assert len(parsed) == 2
    assert opened.redacted(spans) == first == open_document(path).redacted(spans)
    assert opened.redacted([]) == open_document(path).redacted([]) != first
