"""What is read is the ordinary form, each character at its exact place in the note; ordinary text is untouched."""

import html
import re
import time
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import make_clinical_notes
from sklearn_deid.text import Edit, NormalizedText, normalize, tokenize

PLAIN = "Mr. John Alder, 45yo, seen 3/4/2021 in Northwick; call (555) 010-0142. Jos\u00e9's pain is 5-6."
SCRIPTS = {
    "full width": lambda c: chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c,
    "mathematical": lambda c: chr(ord(c) + 0x1D7CE - 0x30) if c.isascii() and c.isdigit() else c,
    "bold": lambda c: chr(ord(c) + 0x1D400 - 0x41) if "A" <= c <= "Z" else c,
    "arabic digits": lambda c: chr(ord(c) + 0x660 - 0x30) if c.isascii() and c.isdigit() else c,
    "devanagari digits": lambda c: chr(ord(c) + 0x966 - 0x30) if c.isascii() and c.isdigit() else c,
    "circled": lambda c: chr(ord(c) + 0x24B6 - 0x41) if "A" <= c <= "Z" else c,
    "hyphens": lambda c: {"-": "\u2011", "'": "\u2019"}.get(c, c),
    "dashes": lambda c: {"-": "\u2013"}.get(c, c),
    "decimal entities": lambda c: f"&#{ord(c)};" if c.isalnum() else c,
    "hexadecimal entities": lambda c: f"&#x{ord(c):X};" if c not in " <>&\"'" else c,
    "zero-width spaces": lambda c: c + "\u200b" if c != " " else c,
    "joiners": lambda c: c + "\u200d" if c != " " else c,
    "byte order marks": lambda c: "\ufeff" + c if c.isalnum() else c,
    "soft hyphens": lambda c: c + "\u00ad" if c.isalpha() else c,
    "underlined": lambda c: c + "\u0332" if c.isalnum() else c,
    "decomposed": lambda c: unicodedata.normalize("NFD", c),
    "codes of JSON": lambda c: f"\\u{ord(c):04x}" if c.isalnum() else c,
    "codes of R": lambda c: f"<U+{ord(c):04X}>" if not c.isascii() else c,
    "bytes of Python": lambda c: "".join(f"\\x{byte:02x}" for byte in c.encode()) if not c.isascii() else c,
    "Latin-1 of Python": lambda c: f"\\x{ord(c):02x}" if not c.isascii() else c,
    "UTF-8 as Windows-1252": lambda c: c.encode().decode("cp1252"),
    "UTF-8 as Latin-1": lambda c: c.encode().decode("latin-1"),
    "UTF-8 in a code page": lambda c: c.encode().decode("cp850"),
    "directions": lambda c: f"\u202d{c}\u202c" if c != " " else c,
}
# A character as written, and as a scanner should have read it.
CONFUSED = "O0 o0 I1 l1 S5 Z2 B8 b6 lI 0O 0o 1I 1l 2Z 5S 5s 6G 6b 8B".split()


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_character_is_read_and_at_its_place(name):
    written = [SCRIPTS[name](c) for c in PLAIN]
    assert "".join(written) != PLAIN
    reading = normalize("".join(written))
    assert reading.text == PLAIN
    borders = np.concatenate([[0], np.cumsum([len(piece) for piece in written])])
    for i, piece in enumerate(written):
        start, end = reading.original(i, i + 1)
        # Characters that are not seen may belong to no character.
        assert borders[i] <= start < end <= borders[i + 1]
        assert normalize("".join(written)[start:end]).text.strip("\u202d\u202c") in (PLAIN[i], piece)


def test_words_that_go_on_in_the_next_line():
    for written, read in {
        "Mr. Al-\nder": "Mr. Alder",
        "Mr. Al-\r\n  der": "Mr. Alder",
        "Mr. Al\u00ad\nder": "Mr. Alder",
        "Mr. Al\u2010\nder": "Mr. Alder",
        "Ms. Alder-\nBirch": "Ms. Alder-Birch",
        "MS. AL-\nDER": "MS. ALDER",
        "a wait-\nress": "a waitress",
        "jo-\nalder@exam-\nple.org": "joalder@example.org",
        "call 555-\n0142": "call 555-0142",
        "on 3/4/\n2021": "on 3/4/2021",
    }.items():
        reading = normalize(written)
        assert reading.text == read
        assert reading.original(0, len(read)) == (0, len(written))


@pytest.mark.parametrize(
    "text",
    [
        "to be followed\nup",
        "A\n\u4e2d",
        "BP 120/80.\n2. Home",
        "1-2\n3",
        "- a\n- b",
        "Plan:-\nHome",
        "A-\n1",
        "12 -\nx",
        "well-known",
    ],
)
def test_other_line_breaks_stay(text):
    assert normalize(text).text == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a ninety-\nfour year old man", "a ninety-four year old man"),
        ("NINETY-\r\n  FOUR YEARS", "NINETY-FOUR YEARS"),
        ("Soixante-\ndix ans, quatre-\nvingt-dix ans", "Soixante-dix ans, quatre-vingt-dix ans"),
        ("Ander-\nson, twen-\nty, ninety\u00ad\nfold", "Anderson, twenty, ninetyfold"),
    ],
)
def test_a_number_in_words_keeps_its_hyphen_at_the_end_of_a_line(text, read):
    assert normalize(text).text == read


def test_a_soft_hyphen_at_the_end_of_a_line_joins_no_two_lines():
    reading = normalize("Mr. Al\u00adder\u00ad\nMRN 7")
    assert reading.text == "Mr. Alder\nMRN 7"


BLANKS = ["\u00a0", "\u2002", "\u2009", "\u202f", "\u205f", "\u3000"]


@pytest.mark.parametrize("blank", BLANKS)
def test_letters_with_other_blanks_between(blank):
    """UTF-16 whose NULs became no-break spaces was read letter by letter, and all PHI stayed."""
    text = f"{PLAIN}\n\nMs. Birch (985) 555-0117\nNo pain."
    for written in (blank.join(text), blank.join(text.replace(" ", blank)), text.encode("utf-16-be").decode("latin-1")):
        reading = normalize(written.replace("\0", blank))
        assert [line.split() for line in reading.text.split("\n")] == [line.split() for line in text.split("\n")]
    name = f"Seen by Dr. {blank.join('Alder')} and Dr. Birch at 5{blank}%, 10{blank}000 and a{blank}b."
    assert normalize(name).text == f"Seen by Dr. Alder and Dr. Birch at 5{blank}%, 10{blank}000 and a{blank}b."


def test_letters_with_spaces_between():
    written = "M r .  J o h n   A l d e r ,  t e l  5 5 5 - 0 1 4 2"
    reading = normalize(written)
    assert reading.text == "Mr.  John   Alder,  tel  555-0142"
    start = reading.text.index("Alder")
    assert reading.original(start, start + 5) == (written.index("A l d"), written.index(" ,"))


def test_a_whole_note_with_spaces_between_its_letters():
    text = f"{PLAIN}\n\nMs. Birch (985) 555-0117\nNo pain."
    reading = normalize(" ".join(text))
    assert [line.split() for line in reading.text.split("\n")] == [line.split() for line in text.split("\n")]
    assert [reading.original(i, i + 1) for i in range(3)] == [(0, 1), (2, 3), (4, 5)]


@pytest.mark.parametrize("sign", ["-", " - ", "\u2013", ".", "*", "/", "\u00b7"])
def test_letters_with_signs_between(sign):
    written = f"Seen: {sign.join('ALDER')}, {sign.join('Ann')}; {sign.join('Birch')}."
    reading = normalize(written)
    assert reading.text == "Seen: ALDER, Ann; Birch."
    assert reading.original(6, 16) == (6, written.index(";"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ROE^ANN^M, MD", "ROE,ANN M, MD"),
        ("O'ROE^MARY-JO^^DR", "O'ROE,MARY-JO  DR"),
        ("VAN ROE^ANN MARIE^J", "VAN ROE,ANN MARIE J"),
        ("1234^ROE^ANN^M^^^MD", "1234 ROE,ANN M   MD"),
        ("^ROE^ANN", " ROE,ANN"),
        ("mR. bIRCH, aNN", "Mr. Birch, Ann"),
        ("rOE, aNN", "Roe, Ann"),
        ("bEN o'NEIL", "Ben O'Neil"),
        ("o'nEIL, bEN", "O'Neil, Ben"),
        ("bEN o'NEIL-mCdONALD", "Ben O'Neil-McDonald"),
        ("tRNA, mRNA; aVR, aVL; cAMP, cGMP; tPA, aPTT", "tRNA, mRNA; aVR, aVL; cAMP, cGMP; tPA, aPTT"),
        ("Vo\u0455s, \u0420aul", "Voss, Paul"),
        ("\u0391nn Li\u0578den", "Ann Linden"),
        ("IFN\u03b3 and \u0418\u0432\u0430\u043d", "IFN\u03b3 and \u0418\u0432\u0430\u043d"),
        ("\u00e9MILE aLDER", "\u00c9mile Alder"),
    ],
)
def test_names_of_messages_and_names_typed_with_caps_lock_or_look_alikes(written, read):
    reading = normalize(f"Seen {written} today")
    assert reading.text == f"Seen {read} today"
    assert [reading.original(i, i + 1) for i in range(len(reading.text))] == [
        (i, i + 1) for i in range(len(reading.text))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "hepatitis A B C",
        "10^3, x^2 and ^ROE",
        "eGFR, mRNA and aPTT iNO",
        "A-B-C and L-R, a-e-m",
        "P.A.A.F. in the U.S.A. at 5 l.p.m.",
        "panels a, c, d, e, f",
        "code 4-A-B-C-7",
        "scores 1 2 0 1 3",
        "0 1   2 3   1 1   0 2",
        "a  b  c  d  e",
        "S T segment",
        "a b c",
        "\u4e2d \u6587 \u75c5 \u5386 \u60a3 \u8005",
        "R & D &lt; 5 &amp; &quot;x&quot; &#39; &unknown; & co;",
        "Jos\u00e9 Mu\u00f1oz N\u00ba 3\u00aa \u00bfS\u00ed?",
        "\u6708\u65e5\uff0c\u4f53\u6e29\uff1a\u9ad8\u3002",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # the joiner is spelling in Persian
        "\u0915\u094d\u200d\u0937 \u05d1\u05b0\u05bc",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
        "m\u00b2 10\u00b3 \u00bd \u00b0C \u20ac",
        "\ufeff \u200b ",
    ],
)
def test_ordinary_text_is_read_as_it_stands(text):
    reading = normalize(text)
    assert reading.text is text or reading.text == text
    assert reading.original(0, len(text)) == (0, len(text))


def test_no_generated_note_is_read_in_another_way():
    assert [d.doc_id for d in make_clinical_notes(300, random_state=4) if normalize(d.text).text != d.text] == []


@given(st.text(max_size=80) | st.text(alphabet="Aa1-\n\r \u00ad\u200b\u0301\uff21\ufb01\u2019&#;x5 .", max_size=80))
def test_places_are_exact_for_any_text(text):
    # Only what was typed with caps lock is read in the other casing: a small letter, and behind it a capital.
    may_be_inverted = re.search(
        "x.*X", "".join("X" if c.isupper() else "x" for c in html.unescape(text) if c.isalpha())
    )
    for layout in (True, False):
        reading = normalize(text, layout=layout)
        places = [reading.original(i, i + 1) for i in range(len(reading.text))]
        assert all(0 <= start < end <= len(text) for start, end in places)
        assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(places[:-1], places[1:], strict=True))
        # What is one character in both is that character, its usual form, or what was meant, never another place.
        for c, (start, end) in zip(reading.text, places, strict=True):
            if text[start:end].isascii() and end - start == 1:
                is_other_case = c == text[start].swapcase() and may_be_inverted
                assert text[start] == c or is_other_case or text[start] + c in (*CONFUSED, "_ ", "^,", "^ ")
        starts, ends = reading.originals(range(len(places)), range(1, len(places) + 1))
        assert list(zip(starts, ends, strict=True)) == places


@given(st.text(max_size=60))
def test_tokens_of_what_is_read_do_not_overlap_in_the_note(text):
    reading = normalize(text)
    tokens = tokenize(reading.text)
    starts, ends = reading.originals(tokens.starts, tokens.ends)
    assert all(a < b for a, b in zip(starts, ends, strict=True))
    assert all(end <= start for end, start in zip(ends[:-1], starts[1:], strict=True))


@given(st.text(max_size=60), st.data())
def test_edits_are_as_replacing_by_hand(text, data):
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    edits = [Edit(a, b, data.draw(st.text(max_size=3))) for a, b in zip(borders[::2], borders[1::2], strict=False)]
    expected, position = "", 0
    for edit in edits:
        expected += text[position : edit.start] + edit.replacement
        position = edit.end
    reading = NormalizedText(text).edited(edits)
    assert reading.text == expected + text[position:]
    assert NormalizedText(text).edited([]).text is text


def test_entities_of_any_form():
    assert normalize(html.escape("Jos\u00e9") + " Jos&eacute; &#74;&#x6f;s&#233; O&rsquo;B &ndash; 5&#45;6").text == (
        "Jos\u00e9 Jos\u00e9 Jos\u00e9 O'B - 5-6"
    )


@pytest.mark.parametrize(
    "blank", ["&nbsp;", "&#160;", "&ensp;", "&#x2003;", "&Tab;", "&#10;", "&NewLine;", "&#13;&#10;"]
)
def test_entities_of_blanks_are_blanks(blank):
    reading = normalize(f"Alder{blank}&lt; 5")
    assert reading.text == f"Alder{html.unescape(blank)}&lt; 5"
    assert reading.original(0, 5) == (0, 5)
    assert reading.original(6, len(reading.text))[1] == len(f"Alder{blank}&lt; 5")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Alder<br>Birch<BR />Elm</p><p>Oak", "Alder\nBirch\nElm\n\nOak"),
        ("<b>Alder</b> H<sub>2</sub>O", " Alder  H 2 O"),
        ("<given>Ann</given><family>Alder</family>", " Ann  Alder "),
        ("Ann%20Alder%2c ann%2Ealder%40mail.example", "Ann Alder%2c ann.alder@mail.example"),
        ("by %22Alder%22 %28Ann%29%0Aon", 'by "Alder" (Ann)%0Aon'),
    ],
)
def test_remains_of_web_pages(written, read):
    reading = normalize(written)
    assert reading.text == read
    first = read.index("Alder")
    assert written[slice(*reading.original(first, first + 5))] == "Alder"


@pytest.mark.parametrize(
    "text", ["K <b 3 and p<.05", '<span title="Ann Alder">', "5%20 ml of 10%40", "<Alder> <brand>", "100%2C", "a%20"]
)
def test_what_only_looks_like_remains_of_web_pages(text):
    assert normalize(text).text == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("__Alder__ and _Ann Roe_", "  Alder   and  Ann Roe "),
        ("by Alder_Ann's_son, Ann_Roe.", "by Alder Ann's son, Ann Roe."),
        ("Name:____Alder____ born __3/5/1960__", "Name:    Alder     born   3/5/1960  "),
    ],
)
def test_underscores_between_words_are_blanks(written, read):
    """Most names with underscores around them were missed."""
    reading = normalize(written)
    assert reading.text == read
    first = read.index("Alder")
    assert reading.original(first, first + 5) == (first, first + 5)


@pytest.mark.parametrize(
    "text",
    [
        "a_b@x.example",
        "www.a_b.example/c__d",
        "scan_2011.pdf a_b.pdf",
        "ID AB_123",
        "C:\\a_b",
        "______",
        "_x000D_",
        "a/b_c",
    ],
)
def test_underscores_of_addresses_and_identifiers_stay(text):
    assert normalize(text).text == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("by Alder_x000D_ and", "by Alder  and"),
        ("_x000D__x000a_Alder_x000D_\nElm", " Alder \nElm"),
        ("Ann Alder,_x0009_1960_x000D_", "Ann Alder, 1960 "),
    ],
)
def test_line_breaks_of_spreadsheets_are_blanks(written, read):
    """Names directly before "_x000D_" were missed."""
    reading = normalize(written)
    assert reading.text == read
    first = read.index("Alder")
    assert written[slice(*reading.original(first, first + 5))] == "Alder"


def test_no_text_in_the_repr():
    assert repr(normalize("Alder")) == "NormalizedText(5 characters)"


@pytest.mark.parametrize(
    "piece",
    [
        "a ",
        "\u200b",
        "A\u0301",
        "A-",
        "A-\n",
        "&#",
        "&#65;",
        "\ufb01",
        "a\u200b",
        "1-\n",
        "\uff0e",
        "\u0301",
        " a",
        "_",
        "_a",
        "_x000D_",
        "\\u00fc",
        "\\x",
        "\ufffd",
        "a\ufffd",
        "\u00c3\u00a9",
        "a-",
        "a.b",
        "a-^",
        "^a",
        "^",
        "a b^",
        "aB ",
        "\u043e",
    ],
)
def test_the_time_is_linear(piece):
    """For a time that grows with the square, 2 seconds for 200,000 characters are 8 seconds for 400,000."""
    text = piece * (200_000 // len(piece))
    normalize("\uff21")  # builds the table of characters
    assert any(seconds_of(text) < 2 for _ in range(3)), "not even in one of three attempts on a busy machine"


def seconds_of(text):
    start = time.process_time()
    normalize(text)
    return time.process_time() - start


def test_entities_that_were_escaped_twice_are_letters():
    """A family name behind such a letter stayed in the redacted note."""
    text = "Jos&amp;eacute; &amp;amp;Aacute;lvarez &amp; R&amp;D &amp;lt; &amp;unknown;"
    reading = normalize(text)
    assert reading.text == "Jos\u00e9 \u00c1lvarez &amp; R&amp;D &amp;lt; &amp;unknown;"
    assert [text[slice(*reading.original(start, end))] for start, end in ((0, 4), (5, 12))] == [
        "Jos&amp;eacute;",
        "&amp;amp;Aacute;lvarez",
    ]


@given(st.text(st.characters(max_codepoint=0xFF)))
def test_a_character_outside_of_latin_1_changes_no_other(text):
    # Ordinary characters of Latin-1 skip the rules for unusual ones.
    assert normalize(f"{text} \u20ac").text == normalize(text).text + " \u20ac"
