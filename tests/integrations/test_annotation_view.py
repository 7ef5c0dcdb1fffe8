"""Views of annotations: nothing of the text unasked, everything escaped, nothing lost when it is asked for."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy import displacy

from sklearn_deid.integrations import AnnotationView, displacy_input
from sklearn_deid.text import Document, Span

WORD = "Zyxwvut"
NOTE = Document(
    "n1", f"Seen by {WORD} Roe,\n\n{WORD}MD in Ely.", (Span(8, 19, "DOCTOR", None, 0.871), Span(34, 37, "CITY"))
)
NAMES = (("Zyxwvu", 0.72), ("Ely", 0.91))


class Reader(HTMLParser):
    """Tags and text of a page, as a browser reads them."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.inside = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_data(self, data):
        if "pre" in self.inside and "b" not in self.inside:
            self.text.append(data)


def test_nothing_of_the_text_is_shown_unasked():
    html = AnnotationView(NOTE).to_html(page=True)
    for word in (WORD, "Seen", "Roe", "Ely", "MD"):
        assert word not in html
    assert [tag for tag, _ in Reader(html).tags].count("mark") == 2
    assert ">DOCTOR<" in html
    assert 'title="confidence 0.87"' in html
    assert WORD not in f"{AnnotationView(NOTE)!r} {vars(AnnotationView(NOTE))!r}"
    assert AnnotationView(NOTE)._repr_html_() == AnnotationView(NOTE).to_html()


@pytest.mark.parametrize("show_text", [False, "redacted", True])
def test_the_id_is_shown_as_the_docstrings_say(show_text):
    html = AnnotationView(Document("roe-ann", "Seen."), show_text=show_text).to_html()
    assert "<header>roe-ann " in html
    assert "shows the ids of the documents" in " ".join(AnnotationView.__doc__.split())
    assert displacy_input(Document("roe-ann", "Seen."))["title"] == "roe-ann"


def test_the_length_of_words_is_hidden_and_lines_stay():
    one, other = (Document("n", text) for text in ("Ann  is\twell\n\nBob", "Theodora is x\n \nB"))
    assert (
        displacy_input(one)["text"]
        == displacy_input(other)["text"]
        == "\u00b7\u00b7\u00b7 " * 2 + ("\u00b7\u00b7\u00b7\n\n\u00b7\u00b7\u00b7")
    )


def test_views_without_the_text_of_spans_do_not_depend_on_it():
    """The number of characters of the note gave the length of a hidden name, and the confidence a check of guesses."""
    notes = [Document("n", f"By {name}.", (Span(3, 3 + len(name), "DOCTOR", None, sure),)) for name, sure in NAMES]
    assert len({AnnotationView(note, show_text="redacted").to_html(page=True) for note in notes}) == 1
    assert len({AnnotationView(note).to_html().replace("0.91", "0.72") for note in notes}) == 1
    assert "10 characters" in AnnotationView(notes[0], show_text=True).to_html()


def test_redacted_shows_what_is_not_marked():
    html = AnnotationView([NOTE], show_text="redacted").to_html()
    assert "Seen by" in html
    assert "Roe" not in html
    assert "Ely" not in html


texts = st.text(alphabet="aB <>&\"'/\n\t=;()\u202e\x00\ud800\u0639", max_size=25)


@st.composite
def documents(draw):
    text = draw(texts)
    offsets = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] < pair[1])
    pairs = draw(st.lists(offsets, max_size=3)) if text else []
    return Document(draw(texts), text, tuple(Span(a, b, draw(st.sampled_from(["A", "<b>", '"']))) for a, b in pairs))


@settings(max_examples=60, deadline=None)
@given(documents(), st.sampled_from([False, "redacted", True]))
def test_a_browser_reads_the_text_and_no_markup_of_it(document, show_text):
    html = AnnotationView(document, show_text=show_text).to_html(page=True)
    html.encode()  # no lone surrogate
    page = Reader(html)
    assert {tag for tag, _ in page.tags} <= {
        "html",
        "head",
        "meta",
        "title",
        "body",
        "style",
        "div",
        "header",
        "pre",
        "mark",
        "b",
    }
    assert all(
        set(attrs) <= {"charset", "http-equiv", "content", "class", "dir", "style", "title"} for _, attrs in page.tags
    )
    assert page.inside == []
    if show_text is True:
        shown = re.sub("[\x00\u202e\ud800]", "\ufffd", document.text)
        # A space stands between the text of a mark and its label.
        assert "".join(page.text).replace(" ", "") == shown.replace(" ", "")


def test_each_label_has_its_color_and_those_asked_for():
    view = AnnotationView(NOTE, colors={"CITY": "#123abc"})
    styles = [attrs["style"] for tag, attrs in Reader(view.to_html()).tags if tag == "mark"]
    assert styles[1] == "background:#123abc"
    assert styles[0] != styles[1]


@pytest.mark.parametrize("color", ["red;} body{display:none", "red", 7, "#12345", "#123456\n"])
def test_colors_cannot_carry_styles(color):
    with pytest.raises(ValueError, match="written as #rrggbb"):
        AnnotationView(NOTE, colors={"CITY": color})


@pytest.mark.parametrize("degree", ["all", 1, None, "True"])
def test_how_much_is_shown_is_not_guessed(degree):
    with pytest.raises(ValueError, match="'show_text' parameter of AnnotationView must be False, 'redacted' or True"):
        AnnotationView(NOTE, show_text=degree)


def test_overlapping_spans_are_one_mark_with_both_labels():
    note = Document("n", "in Ely Street 3 now", (Span(3, 6, "CITY"), Span(3, 15, "STREET"), Span(15, 19, "DATE")))
    html = AnnotationView(note).to_html()
    assert [unescape(found) for found in re.findall("<b>(.*?)</b>", html)] == ["CITY + STREET", "DATE"]
    assert [(e["start"], e["end"], e["label"]) for e in displacy_input(note, show_text=True)["ents"]] == [
        (3, 15, "CITY + STREET"),
        (15, 19, "DATE"),
    ]


@pytest.mark.parametrize("show_text", [False, True])
def test_displacy_draws_it(show_text):
    html = displacy.render([displacy_input(NOTE, show_text=show_text)], style="ent", manual=True, jupyter=False)
    assert html.count("<mark") == 2
    assert (WORD in html) is show_text
    assert "DOCTOR" in html


def test_several_notes_and_none():
    assert repr(AnnotationView([NOTE, Document("n2", "")])) == "AnnotationView(2 documents, 2 spans)"
    assert AnnotationView([NOTE, Document("n2", "")]).to_html().count('<div class="deid-note">') == 2
    assert AnnotationView([]).to_html().count("<div") == 0


def test_a_long_id_stays_in_its_frame():
    """Only the text of the note was broken inside of words."""
    html = AnnotationView(Document("n" * 200, "Fine.")).to_html()
    frame = html[html.index(".deid-note{") : html.index("}")]
    assert "overflow-wrap:anywhere" in frame
