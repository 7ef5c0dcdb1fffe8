"""HTML files: a planted name is in no byte of the output, and everything else is the same byte for byte."""

import re
import time

import pytest

from sklearn_deid import Span
from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import open_document
from sklearn_deid.io.documents import html_file, opening
from sklearn_deid.io.documents.html_names import is_form
from sklearn_deid.surrogates import Replacement

NAME = "Zyxwvutski"
PLAIN = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<HTML lang="en"><head><meta charset=utf-8><title>A &amp; B</title>
<style>p.note { color: red; font-family: "Times New Roman", serif }</style>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body BGCOLOR='#ffffff'><p class="note" style="margin-left: 3em">Dose &lt; 5&nbsp;mg, K < 3,  &#233;t&eacute;
&notit;<br/>
<a href="#end">down</a><table border=1 width="50%"><tr><td colspan=2 nowrap>x<td align="CENTER">y</table>
<pre>a
  b</pre><input type=checkbox checked><textarea rows=2>1 < 2 <b></textarea><h2 id="end">End</h2></body></HTML>
"""
PLANTED = {
    "<p>Seen Zyx<b>wvut</b><i>ski</i>.</p>": "<p>Seen [N]<b></b><i></i>.</p>",
    "<p>Zyx<script>a</script>wvu<style>a {}</style>t<output>s</output><meta itemprop=x>ki.</p>": (
        "<p>[N]<style>a {}</style><output></output><meta >.</p>"
    ),
    "<p>Z&#121;xwvuts&#x6b;i &amp; Eva</p>": "<p>[N] &amp; Eva</p>",
    "<title>Zyxwvutski</title>": "<title>[N]</title>",
    "<img alt='Zyxwvutski' width=9 src=/zyxwvutski.png>": "<img alt='[N]' width=9 src=\"\">",
    "<a href='mailto:Zyxwvutski@example.org' title=Zyxwvutski>x</a>": "<a href='' title=\"[N]\">x</a>",
    '<a href="tel:+4930Zyxwvutski">x</a>': '<a href="">x</a>',
    '<input placeholder="Zyxwvutski" value="Zyxwvutski" name="Zyxwvutski">': '<input placeholder="[N]" value="[N]" >',
    "<!-- Zyxwvutski --><![if Zyxwvutski]>a<?Zyxwvutski?>": "a",
    "<script>let a = '</p>Zyxwvutski'</script>b": "b",
    "<p onclick='Zyxwvutski()' data-x=Zyxwvutski Zyxwvutski align=Zyxwvutski>c</p>": "<p    >c</p>",
    "<style>a { content: 'Zyxwvutski' } /* Zyxwvutski */ b { background: url(Zyxwvutski) }</style>": (
        "<style>a { content: '' }  b { background: none }</style>"
    ),
    "<p style='background:url(Zyxwvutski)'>d</p>": "<p style='background:none'>d</p>",
    "<p style='Zyxwvutski'>d</p>": "<p style=''>d</p>",
    "<p style='--zyx: Zyxwvutski;top: 1px'>d</p>": "<p style='top: 1px'>d</p>",
    "<p style='mso-comment-author:Zyxwvutski;mso-comment-date:20200101T1010;top: 1px;MSO-BOOKMARK:Zyxwvutski'>d</p>": (
        "<p style='top: 1px;'>d</p>"
    ),
    "<style>@font-face{mso-font-alt:Zyxwvutski;color:red} a {mso-x:Zyxwvutski}</style>": (
        "<style>@font-face{color:red} a {}</style>"
    ),
    "<style>\n<!-- /* Zyxwvutski */ a {top: 1px; mso-style-name:Zyxwvutski} -->\n</style>": (
        "<style>\n  a {top: 1px; } \n</style>"
    ),
    "<!--[if gte mso 9]><xml><o:Author>Zyxwvutski</o:Author></xml><![endif]-->"
    "<link rel=File-List href='Zyxwvutski_files/filelist.xml'><p class=MsoNormal>d<o:p></o:p></p>": (
        "<link  href=''><p >d<o:p></o:p></p>"
    ),
    "<p lang='lee'>d</p>": "<p >d</p>",
    "<p style='font: &quot;Zyxwvutski&quot;'>e</p>": "<p style=''>e</p>",
    '<meta name="author" content="Zyxwvutski"><meta charset="utf-8">': '<meta  content=""><meta charset="utf-8">',
    "<meta name=viewport content='width=zyxwvutski'>": "<meta name=viewport content=''>",
    "<meta name=viewport content='zyxwvutski=1'>": "<meta name=viewport content=''>",
    "<meta http-equiv=refresh content='0;url=Zyxwvutski'>": "<meta http-equiv=refresh content=''>",
    "<textarea><Zyxwvutski></textarea>": "<textarea><[N]></textarea>",
    "<a name=Zyxwvutski><p id=Zyxwvutski class='a Zyxwvutski'>h</p></a>": "<a ><p  >h</p></a>",
    "<font face='Zyxwvutski' xmlns='Zyxwvutski' lang='Zyxwvutski'>f</font>": "<font   >f</font>",
    "<a href='#Zyxwvutski'>x</a><h3 id=Zyxwvutski>y</h3><a name='Zyxwvutski'></a>": (
        "<a href='#n1'>x</a><h3 id=n1>y</h3><a name='n1'></a>"
    ),
    "<style>.Zyxwvutski b, p#a-Zyxwvutski:hover{color:#fff} @media print{.Zyxwvutski{margin:.5em}}</style>"
    "<p class='Zyxwvutski other' id=a-Zyxwvutski>z</p>": (
        "<style>.n1 b, p#n2:hover{color:#fff} @media print{.n1{margin:.5em}}</style><p class='n1' id=n2>z</p>"
    ),
    "<style>zyxwvutski {} p { --zyxwvutski: 1; font: 1px Zyxwvutski; color: var(--zyxwvutski) }</style>": (
        "<style>n1 {} p { --n1: 1; font: 1px n2; color: var(--n1) }</style>"
    ),
    "<style>@font-face { font: Zyxwvutski } @keyframes zyxwvutski { to { top: 0 } } [x=Zyxwvutski] {}</style>": (
        "<style>@font-face { font: n2 } @keyframes n1 { to { top: 0 } } [x=n2] {}</style>"
    ),
    "<style>p { z-index: 4711081542; width: 33.3333333333%; color: #abc; fill: #Zyxwvutski }</style>": (
        "<style>p { z-index: 99999; width: 33.33333%; color: #abc; fill: #n1 }</style>"
    ),
    "<style>.4Zyxwvutski, .2024-Zyxwvutski { width: 12Zyxwvutski; height: 1e3px; top: 50dvh }</style>": (
        "<style>.4n1, .2024-n1 { width: 12n1; height: 1e3px; top: 50dvh }</style>"
    ),
    "<p style='width: 3px 4zyxwvutski'>x": "<p style='width: 3px 4n1'>x",
    "<p style='font-family: Zyxwvutski; grid-area: zyxwvutski'>": "<p style='font-family: n1; grid-area: n2'>",
    "<script src='Zyxwvutski.js' type=module>Zyxwvutski</script>b": "b",
    "<script src='Zyxwvutski.js'/>\n</script>b": "b",
    "Zyx<input type=hidden value=a>wvut<base href=b>ski": '[N]<input type=hidden value=a><base href="">',
    "<ul><li style='display: inline'>Zyx</li><li style='display:inline'>wvutski</li></ul>": (
        "<ul><li style='display: inline'>[N]</li><li style='display:inline'></li></ul>"
    ),
    "<p>a <span hidden>Zyxwvutski</span>, <del>Zyxwvutski</del> b": "<p>a <span hidden>[N]</span>, <del>[N]</del> b",
    "<option label='A &quot;Zyxwvutski&quot; &amp; B'>g": "<option label='A &quot;[N]&quot; &amp; B'>g",
}
REFUSED = [
    "<svg><text>Zyxwvutski</text></svg>",
    "<iframe srcdoc='Zyxwvutski'></iframe>",
    "<object data=x></object>",
    "<zyxwvutski>x</zyxwvutski>",
    "<p title='Zyxwvutski>x</p>",
    "<p title=a title='Zyxwvutski'>x</p>",
    "<!-- Zyxwvutski",
    "<!--> Zyxwvutski -->",
    "<![CDATA[ Zyxwvutski ]]>",
    "<!ENTITY a 'Zyxwvutski'>",
    "<!DOCTYPE html SYSTEM 'Zyxwvutski'>",
    "<style>p:after { content: '\\5a yxwvutski' }</style>",
    "<script>let a = 'Zyxwvutski'",
    "<title>a</title x><img src=Zyxwvutski></title>",
    "<textarea>a</textarea/><!-- Zyxwvutski --></textarea>",
    "<style>p { } /* Zyxwvutski </style>",
    "<style><!-- p { } --> <Zyxwvutski> <!-- --></style>",
    "<style>p { } <!-- Zyxwvutski --></style>",
    "<style><!-- p { } /* Zyxwvutski --></style>",
    "<style><!-- p { } --> Zyxwvutski { } --></style>",
    "<style>p { content: 'Zyxwvutski\n} q { content: 'a' }</style>",
    "<style>p { background: url(Zyxwvutski</style>",
    '<p style="content: \'Zyxwvutski">x',
    "<p>&#00000090;yxwvutski</p>",
    "<p title='&#x000005a;yxwvutski'>x</p>",
    f"<p title='&#{'9' * 5000};'>Zyxwvutski</p>",
    "<p Zyxwvutski",
    "<meta charset=utf-7>Zyxwvutski",
    "<!-- <meta charset=latin1> --><meta charset=utf-8>Zyxwvutskié",
    # Readers see Zyxwvutski, and the file holds another word, or the other way round.
    "Zyx<span hidden>wvut</span>ski",
    "Zyx<i hidden>a</i>wvutski",
    "Zyxwvut<b style='DISPLAY:/**/none'>a</b>ski",
    "Zyxwvut<b style='display&#58;none'>a</b>ski",
    "<style>p .a, .b:hover i.a {visibility: hidden}</style>Zyx<u class='b A'>wv</u>utski",
    "<style>@media print { u { display: none } }</style>Zyx<u>a</u>wvutski",
    "<style>p :nth-child(1), a { display: none }</style><p>Zyx<u>a</u>wvutski",
    "<style>p [align = 'left'] { display: none }</style><p>Zyx<u align=left>a</u>wvutski",
    "<style>u:not(.b, .c) { display: none }</style>Zyx<u>a</u>wvutski",
    "<style>:not(.b) { display: none }</style>Zyx<u>a</u>wvutski",
    "Zyx<div hidden>a</div>wvutski",
    "Zyx<template>a</template>wvutski",
    "Zyx<noscript><p>a</p></noscript>wvutski",
    "Zyx<span hidden><b>a</b> b</span>wvutski",
    "Zyx<i hidden>a<b hidden>b</b></i>wvutski",
    "Zyx<del>v</del>wvutski",
    "<del>Zyx</del>wvutski",
    "Zyx<ruby>wvut<rp>(</rp><rt>a</rt><rp>)</rp></ruby>ski",
    "4711<s>0</s>8154",
    "<bdo dir=rtl>ikstuvwxyZ</bdo>",
    # Text of an XHTML page, and in HTML a part of the script or of the field.
    "<script src='a.js'/><p>Zyxwvutski</p><script>a</script>",
    "<textarea/><img class=Zyxwvutski><textarea>a</textarea>",
    "<p style='unicode-bidi: bidi-override; direction: rtl'>ikstuvwxyZ",
    f"{' ' * 5000}<meta charset=utf-8><meta charset=latin1>Zyxwvutskié",
]  # fmt: skip


@pytest.fixture
def opened(tmp_path):
    def opened(source, name="page.html"):
        path = tmp_path / name
        path.write_bytes(source if isinstance(source, bytes) else source.encode("utf-8"))
        return open_document(path)

    return opened


def name_spans(text, name=NAME):
    return [Span(found.start(), found.end(), "N") for found in re.finditer(name, text)]


def test_page_without_phi_stays_byte_for_byte(opened):
    for source in (PLAIN, PLAIN.replace("\n", "\r\n")):
        page = opened(source)
        assert page.redacted([]) == source.encode("utf-8")
    assert "Dose < 5\xa0mg, K < 3,  été" in page.text and "\nA & B\n" in page.text and "1 < 2 <b>" in page.text


@pytest.mark.parametrize("source", PLANTED)
def test_planted_name_is_in_no_byte_of_the_output(opened, source):
    page = opened(source)
    redacted = page.redacted(name_spans(page.text)).decode("utf-8")
    assert redacted == PLANTED[source]
    whole = opened(PLAIN.replace("</body>", f"{source}</body>"))
    changed = whole.redacted(name_spans(whole.text)).decode("utf-8")
    assert changed == PLAIN.replace("</body>", f"{PLANTED[source]}</body>")


@pytest.mark.parametrize("source", REFUSED)
def test_pages_that_are_not_read_are_refused(opened, source):
    with pytest.raises(CorpusFormatError) as caught:
        opened(source)
    assert NAME.lower() not in str(caught.value).lower()


@pytest.mark.parametrize(
    "source",
    ["<style>p { color: violet }</style>", "<style>p { font-family: Georgia }</style>", "<p style='color: Salmon'>"],
)
def test_name_in_the_form_of_the_page_withholds_the_page(opened, source):
    page = opened(f"{source}<p>Seen by Violet Georgia Salmon</p>")
    with pytest.raises(CorpusFormatError, match="holds a word that is PHI"):
        page.redacted([Span(page.text.index("Violet"), len(page.text), "N")])


@pytest.mark.parametrize(
    "source",
    [
        "<a href='#Lee'>a</a><h2 id='Lee'>b</h2>",
        "<style>.Lee{} p#Lee-Ann{}</style><p class=Lee id=Lee-Ann>",
        "<a href='#Lee'>",
    ],
)
def test_short_names_and_names_that_are_not_in_the_text_are_in_no_link(opened, source):
    """Only words of four letters were compared with what is replaced in the text."""
    page = opened(f"{source}<p>Seen by Dr.Lee</p>")
    for spans in (name_spans(page.text, "Lee"), []):
        redacted = page.redacted(spans)
        assert redacted.count(b"Lee") == (not spans)
        assert opened(redacted).redacted([]) == redacted


@pytest.mark.parametrize("attribute", ["width=448213", "bgcolor='#448213'", "start=448213"])
def test_number_of_an_attribute_that_is_phi_withholds_the_page(opened, attribute):
    page = opened(f"<table><td {attribute}>MRN 448213 and 99</table>")
    assert page.redacted(name_spans(page.text, "99")).count(b"448213") == 2
    with pytest.raises(CorpusFormatError, match="holds a word that is PHI"):
        page.redacted(name_spans(page.text, "448213"))


@pytest.mark.parametrize(
    "source",
    [
        "<b>Name:</b><span hidden>a </span>Eva",
        "<p>Seen<div hidden>a</div><p>Eva",
        "Seen <del>Ann</del> <ins>Eva</ins>",
        "Seen<i hidden></i>Eva",
        "<span hidden>Ann</span> <span hidden>Eva</span>",
        "<title>A</title>Eva",
    ],
)
def test_hidden_text_beside_words_is_read(opened, source):
    assert "Eva" in opened(f"{source} Eva").text
    assert opened(source).redacted([]) == source.encode()


def test_many_hidden_elements_take_linear_time(opened):
    seconds = []
    for n in (4_000, 16_000):
        source = "<style>" + ".a{display:none}" * n + "</style>" + "<i class=a>" * n + "b</i> " * n
        started = time.process_time()
        opened(source)
        seconds.append(time.process_time() - started)
    assert seconds[1] < 16 * seconds[0]


def test_text_is_that_of_a_parser(opened):
    """The oracle is lxml."""
    lxml_html = pytest.importorskip("lxml.html")
    tree = lxml_html.fromstring(PLAIN.split("?>", 1)[1])
    for style in tree.iter("style"):
        style.text = ""
    expected = "".join(tree.itertext())
    assert "".join(opened(PLAIN).text.split()) == "".join(expected.split())


def test_encodings(opened):
    source = "<meta charset='iso-8859-1'><p>Müller – Zyxwvutski</p>".encode("cp1252")
    page = opened(source)
    assert page.text.strip() == "Müller – Zyxwvutski"
    spans = name_spans(page.text)
    assert page.redacted(spans) == source.replace(NAME.encode(), b"[N]")
    # A surrogate may have letters that the encoding lacks.
    spans = [Span(span.start, span.end, "Ł") for span in spans]
    assert b"[&#321;]" in page.redacted(spans)
    with pytest.raises(CorpusFormatError, match="not in its encoding"):
        opened("<p>Müller</p>".encode("latin-1"))
    assert opened("\ufeff<p>a</p>").redacted([]) == "\ufeff<p>a</p>".encode()


def test_encoding_of_an_xml_declaration(opened):
    """Surrogates were written in UTF-8 into a page that declares another encoding."""
    source = f"<?xml version='1.0' encoding='ISO-8859-1'?><p>{NAME} é</p>".encode("latin-1")
    page = opened(source)
    assert page.text.strip() == f"{NAME} é"
    new = page.redacted([Span(span.start, span.end, "Ü") for span in name_spans(page.text)])
    assert new == source.replace(NAME.encode(), "[Ü]".encode("latin-1"))
    for other in ("<?xml version='1.0' encoding='UTF-16'?>", "<?xml encoding='latin1'?><meta charset='utf-8'>"):
        with pytest.raises(CorpusFormatError, match="in several encodings, or in one that is not read"):
            opened(f"{other}<p>a</p>")


def test_span_inside_of_a_reference_keeps_the_rest(opened):
    page = opened("<p>a&notit;b</p>")
    assert page.text.strip() == "a¬it;b"
    start = page.text.index("¬") + 1
    assert page.redacted([Span(start, start + 2, "N")]) == "<p>a¬[N];b</p>".encode()


def test_large_files_are_refused(opened, monkeypatch):
    monkeypatch.setattr(html_file, "_MOST_BYTES", 10)
    monkeypatch.setattr(opening, "MOST_BYTES", 20)
    for source in ("<p>Seen</p>", "<p>Seen today, and well</p>"):
        with pytest.raises(CorpusFormatError, match="is larger than"):
            opened(source)


@pytest.mark.parametrize(
    ("source", "old", "new", "expected"),
    [
        ("<p>Seen 3/4/<br>2019.</p>", "3/4/\n2019", "9/6/\n2014", "<p>Seen 9/6/<br>2014.</p>"),
        ("<p><b>Mar</b>ch<br><i>20</i>19</p>", "March\n2019", "May\n2014", "<p><b>May</b><br><i>2014</i></p>"),
        ("<td>Ann<td>Roe<td>x", "Ann\nRoe\nx", "Eva\nDoe\ny", "<td>Eva<td>Doe<td>y"),
        # With other lines than the old text, the new text is in the first line.
        ("<p>Seen Ann<br>Roe.</p>", "Ann\nRoe", "Eva\nDoe\ny", "<p>Seen Eva Doe y<br>.</p>"),
        ("<p>Seen Ann<br>Roe.</p>", "Ann\nRoe", "[N]", "<p>Seen [N]<br>.</p>"),
        ("<pre>Seen Ann\nRoe.</pre>", "Ann\nRoe", "Eva\nDoe", "<pre>Seen Eva\nDoe.</pre>"),
    ],
)
def test_each_line_of_a_surrogate_is_in_its_line(opened, source, old, new, expected):
    """The surrogate of a date or a name on two lines had a line feed of its own, and the page was withheld."""
    page = opened(source)
    start = page.text.index(old)
    assert page.replaced([Replacement(Span(start, start + len(old), "N"), new, True)]) == expected.encode()


def test_other_kinds_of_files(opened, tmp_path):
    assert opened("Seen Zyxwvutski.\r\n", "note.txt").redacted([Span(5, 15, "N")]) == b"Seen [N].\r\n"
    with pytest.raises(CorpusFormatError, match=r"not in UTF-8\. Save it in UTF-8 first\."):
        opened("Señora Zyxwvutski.".encode("latin-1"), "note.txt")
    for name, reason in (("a.pdf", "cannot be replaced in"), ("a.doc", "not read"), ("a.xyz", "must end in")):
        with pytest.raises(CorpusFormatError, match=reason):
            opened("x", name)
    with pytest.raises(CorpusFormatError, match="cannot be read|no regular file"):
        open_document(tmp_path / "missing.html")


@pytest.mark.parametrize("name", ["align", "width", "color", "face", "lang", "xmlns", "type", "name", "rel", "title"])
@pytest.mark.parametrize("value", [NAME, "1234567890", "12 Elm Street", "roe@example.org", "3/5/2019"])
def test_no_value_that_could_be_phi_counts_as_form(name, value):
    assert not is_form(name, value)
