"""The tokenizer against hand-cut texts, a character-by-character oracle, and the laws of offsets."""

import html
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sklearn_deid.text import Tokens, tokenize

CUT_BY_HAND = [
    ("25yo", ["25", "yo"]),
    ("81-year-old", ["81", "-", "year", "-", "old"]),
    ("555-2394-72-01", ["555", "-", "2394", "-", "72", "-", "01"]),
    ("a_b__c", ["a", "_", "b", "_", "_", "c"]),
    ("T12L1", ["T", "12", "L", "1"]),
    ("SmithMD McCoy iPhone DRPerez", ["Smith", "MD", "Mc", "Coy", "i", "Phone", "DRPerez"]),
    ("PerezNºCol 28", ["Perez", "Nº", "Col", "28"]),
    ("3ºA 2ªB mª", ["3", "º", "A", "2", "ª", "B", "mª"]),
    ("37ºC 37°C", ["37", "º", "C", "37", "°", "C"]),
    ("¿Qué? ¡Sí!", ["¿", "Qué", "?", "¡", "Sí", "!"]),
    ("a@b.org/x?y=1", ["a", "@", "b", ".", "org", "/", "x", "?", "y", "=", "1"]),
    ("m² ½ Ⅷ", ["m²", "½", "Ⅷ"]),
    ("one\r\ntwo\tthree\u00a0four\u2028five", ["one", "two", "three", "four", "five"]),
    ("...---", list("...---")),
    ("", []),
    (" \r\n\t", []),
]

SCRIPTS = [
    ("Garci\u0301aLo\u0301pez", ["Garci\u0301a", "Lo\u0301pez"]),  # decomposed accents, cut at lower to upper
    ("MU\u0308LLER", ["MU\u0308LLER"]),
    ("שלום עולם", ["שלום", "עולם"]),
    ("د.أحمد123", ["د", ".", "أحمد", "123"]),
    ("الرَّحْمٰن", ["الرَّحْمٰن"]),  # vowel signs are marks
    ("١٢٣أ", ["١٢٣", "أ"]),
    ("हिन्दी", ["हिन्दी"]),
    ("Иванов25лет", ["Иванов", "25", "лет"]),
    ("田中さん25歳", ["田", "中", "さ", "ん", "25", "歳"]),
    ("カルテNo", ["カ", "ル", "テ", "No"]),
    ("김철수는", ["김", "철", "수", "는"]),
    ("\U00020000\U00020001", ["\U00020000", "\U00020001"]),  # ideographs outside the basic plane
    ("ผู้ป่วย", ["ผู้", "ป่", "ว", "ย"]),
    ("ភ្នំ", ["ភ្នំ"]),  # a stacked consonant
    ("\u1019\u1039\u1018", ["\u1019\u1039\u1018"]),
    ("abcไทยdef", ["abc", "ไ", "ท", "ย", "def"]),
]

INVISIBLE = [
    ("\ufeffNombre", ["Nombre"]),
    ("zero\u200bwidth", ["zero", "width"]),
    ("a\u200e\u202bb\u202c", ["a", "b"]),
    ("a\x00b\x07", ["a", "b"]),
    ("Gar\u00adcia", ["Gar\u00adcia"]),
    ("می\u200cخواهم", ["می\u200cخواهم"]),
]

EMOJI = [
    ("ok👍🏽!", ["ok", "👍🏽", "!"]),
    ("👩🏽\u200d⚕\ufe0f👩", ["👩🏽\u200d⚕\ufe0f", "👩"]),
    ("🇪🇸🇫🇷", ["🇪🇸", "🇫🇷"]),
    ("🏴\U000e0067\U000e0062\U000e0065\U000e007f", ["🏴\U000e0067\U000e0062\U000e0065\U000e007f"]),
    ("1\ufe0f\u20e3x", ["1\ufe0f\u20e3", "x"]),
    ("❤️❤️", ["❤️", "❤️"]),
]

ENTITIES = [
    ("&lt;90", ["<", "90"], [0, 4], [4, 6]),
    ("it&#39;s", ["it", "'", "s"], [0, 2, 7], [2, 7, 8]),
    ("&#x41;&#65;", ["A", "A"], [0, 6], [6, 11]),
    ("a&nbsp;b&#10;c", ["a", "b", "c"], [0, 7, 13], [1, 8, 14]),
    ("&amp;lt;", ["&", "lt", ";"], [0, 5, 7], [5, 7, 8]),  # unescaped once, not twice
    ("&nosuch;", ["&", "nosuch", ";"], [0, 1, 7], [1, 7, 8]),
    ("&#1;", ["&", "#", "1", ";"], [0, 1, 2, 3], [1, 2, 3, 4]),  # stands for nothing: ordinary characters
    ("A&E &lt", ["A", "&", "E", "&", "lt"], [0, 1, 2, 4, 5], [1, 2, 3, 5, 7]),
    ("&#8203;x", ["x"], [7], [8]),
]


@pytest.mark.parametrize(("text", "expected"), CUT_BY_HAND + SCRIPTS + INVISIBLE + EMOJI)
def test_texts_cut_by_hand(text, expected):
    tokens = tokenize(text)
    assert tokens.texts == expected
    assert [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)] == expected


@pytest.mark.parametrize(("text", "texts", "starts", "ends"), ENTITIES)
def test_html_entities(text, texts, starts, ends):
    assert tokenize(text) == Tokens(texts, starts, ends)


# Characters that meet each other in every way the rules speak of, next to arbitrary Unicode.
PIECES = [
    *"aeñßºªAÉǅ19٣_-.&;# \n\r\t田さ김ไทក្နא²½Ⅷ𝒜",
    *("\u00a0", "\u0085", "\u0301", "\u0903", "\ufe0f", "\u200d", "\u200c", "\u00ad", "\u200b", "\ufeff", "\x00"),
    *("👩", "🏽", "⚕", "❤", "🇪", "🇸", "\U000e0067", "\ud800", "\U0010ffff"),
    *("&lt;", "&nbsp;", "&#39;", "&#8203;", "&x;"),
]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join) | st.text()
PLAIN = TEXTS.filter(lambda text: "&" not in text)

JOINERS = {0xAD, 0x200C, 0x200D, *range(0xE0020, 0xE0080)}
# Format characters that are visible signs (Arabic number signs and the like) are tokens.
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
UNSPACED = (
    *("CJK", "IDEOGRAPHIC", "HANGZHOU", "HANGUL", "HIRAGANA", "KATAKANA", "VERTICAL KANA", "VERTICAL IDEO", "BOPOMOFO"),
    *("THAI ", "LAO ", "KHMER", "MYANMAR"),
)


def is_ignored(character):
    code = ord(character)
    if character.isspace():
        return True
    if unicodedata.category(character) == "Cc":
        return True
    return (
        unicodedata.category(character) == "Cf"
        and code < 0x10000
        and code not in JOINERS
        and code not in VISIBLE_FORMAT
    ) or 0x2060 <= code <= 0x206F


def kind(character):
    """Upper, letter, digit, mark or the character itself (never joined with others), from the Unicode database."""
    category = unicodedata.category(character)
    if category[0] == "M" or ord(character) in JOINERS:
        return "mark"
    if category == "Nd":
        return "digit"
    unspaced = unicodedata.name(character, "").replace("HALFWIDTH ", "").startswith(UNSPACED)
    unspaced |= 0x3200 <= ord(character) <= 0x33FF  # enclosed and squared East Asian characters
    if not unspaced and category in ("Lu", "Lt"):
        return "upper"
    if not unspaced and (category[0] == "L" or category in ("Nl", "No")):
        return "letter"
    return "alone"


def oracle(text):
    """Grow tokens one character at a time; no emoji sequences, stacked consonants or entities."""
    tokens, state = [], None
    for character in text:
        if is_ignored(character):
            state = None
            continue
        now = kind(character)
        joins = {
            None: False,
            "mark": now in ("mark", "letter"),  # marks without a base start a word
            "upper": now in ("upper", "letter", "mark"),
            "letter": now in ("letter", "mark"),
            "digit": now in ("digit", "mark"),
            "alone": now == "mark",
        }[state]
        if not joins:
            tokens.append("")
            state = now
        elif now != "mark":
            state = now
        tokens[-1] += character
    return tokens


LETTERS_AND_SIGNS = st.characters(
    exclude_characters="&\u1039\u17d2", exclude_categories=("So", "Sk", "Cn", "Co", "Cs"), max_codepoint=0x16FFF
)


@given(st.text(LETTERS_AND_SIGNS) | st.text(st.sampled_from("aAñÉº1٣_.\u0301\u200d\u00ad \u200b\ufeff田ก김אǅ½")))
@example("A\u0301\u0301bC1\u03012\u0301.\u0301")
def test_equals_the_oracle(text):
    assert tokenize(text).texts == oracle(text)


@given(TEXTS)
def test_offsets_increase_and_map_back(text):
    tokens = tokenize(text)
    flat = [offset for pair in zip(tokens.starts, tokens.ends, strict=True) for offset in pair]
    assert flat == sorted(flat)
    assert all(start < end for start, end in zip(tokens.starts, tokens.ends, strict=True))
    assert len(tokens.texts) == len(tokens.starts)
    for token, start, end in zip(*tokens, strict=True):
        assert token == text[start:end] or (text[start] == "&" and text[end - 1] == ";")
    assert tokenize(text) == tokens


@given(PLAIN)
def test_every_visible_character_is_in_a_token(text):
    tokens = tokenize(text)
    covered = set()
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        covered.update(range(start, end))
    for position, character in enumerate(text):
        assert not (character.isspace() and position in covered)
        assert position in covered or is_ignored(character)


def test_neighbours_of_every_letter():
    letters = [chr(code) for code in range(0x17000) if unicodedata.category(chr(code))[0] in "LMN"]
    for pattern in ("A%sa", "a%sA", "1%s"):
        text = "\n".join([pattern % letter for letter in letters])
        assert tokenize(text).texts == oracle(text)


def test_every_character_of_unicode_alone():
    characters = [chr(code) for code in (*range(0x1, 0x20000), *range(0xE0000, 0xE0200), 0x20000, 0x10FFFF)]
    characters.remove("&")
    tokens = tokenize("\n".join(characters))
    visible = [character for character in characters if not is_ignored(character)]
    assert tokens.texts == visible


@given(TEXTS, TEXTS, st.sampled_from(["\n\n", " ", "\r\n", "\u2028"]))
def test_white_space_separates(first, second, gap):
    left, right, both = tokenize(first), tokenize(second), tokenize(first + gap + second)
    shift = len(first) + len(gap)
    assert both.texts == left.texts + right.texts
    assert both.starts == left.starts + [start + shift for start in right.starts]
    assert both.ends == left.ends + [end + shift for end in right.ends]


LATIN = st.text(st.sampled_from("abñçéüößÁÉÑÖŠžABC 12.,-"))


@given(LATIN)
def test_decomposed_accents_cut_alike(text):
    composed = tokenize(unicodedata.normalize("NFC", text)).texts
    decomposed = tokenize(unicodedata.normalize("NFD", text)).texts
    assert composed == [unicodedata.normalize("NFC", token) for token in decomposed]


@given(st.text(st.sampled_from("aB1 <>'\"&;.")))
def test_escaping_changes_the_spelling_only(text):
    assert tokenize(html.escape(text)).texts == tokenize(text).texts


@given(st.text(st.characters(max_codepoint=0xFF)) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_a_character_outside_of_latin_1_changes_no_other_token(text):
    # Texts of Latin-1 have a pattern of their own.
    texts, starts, ends = tokenize(text)
    at = len(text) + 1
    assert tokenize(f"{text} \u20ac") == Tokens([*texts, "\u20ac"], [*starts, at], [*ends, at + 1])
