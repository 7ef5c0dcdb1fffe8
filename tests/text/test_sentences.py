"""The sentence splitter against notes split by hand, and its laws."""

import random
import re
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.text import split_sentences, tokenize
from sklearn_deid.text.sentences import is_caseless, word_before


def sentences(text):
    tokens = tokenize(text)
    return [text[tokens.starts[i] : tokens.ends[j - 1]] for i, j in split_sentences(text, tokens)]


SPLIT_BY_HAND = [
    # English: ends
    "Afebrile overnight. | Home today.",
    'He said "no." | Then he left.',
    "Pain gone (at last.) | Sleeps well.",
    "Any pain? | None! | 3 tablets left.",
    "Hb 12.5 g. | Stable... | Then worse.",
    "Seen 3/4. | Élan noted.",
    # English: no ends
    "Seen by Dr. Roe and Mrs. Doe at St. Ann",
    "J. Q. Roe, M.D. Roe, i.e. The father, e.g. Roe vs. Doe",
    "Room No. 5, admitted Jan. 5, at 12 Elm St. 02114",
    "temp 37. 5 was read",
    "was in bed. then out of bed",
    "12 Elm St. Apt. B",
    # Spanish
    "No fuma. | ¿Bebe? | ¡No! | Vive solo.",
    "Sr. Roe, Sra. Doe, Dra. Roe, D. Doe, Dña. Roe",
    "C/. Mayor 3, Avda. Norte, Ctra. Sur, km. 9, Gral. Roe",
    "Mayor 3, 2. B y Mayor 4. Bajo A, EE. UU.",
    "Calle Mayor. Nº 3",
    "Tratado en 4. | Después mejor.",
    # other scripts
    "田中さんは元気。|次の人。",
    "أحمد هنا. | ذهب الآن؟ | نعم",
    "वह ठीक है। | वह गया।",
]


@pytest.mark.parametrize("marked", SPLIT_BY_HAND)
def test_split_by_hand(marked):
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


def test_one_statement_a_line():
    lines = [
        "Name: Jane Roe",
        "Age: 40 years",
        "Allergies: none known to the patient or to her family",
        "Medications:",
        "- aspirin 81 mg",
        "* metformin",
        "• lisinopril",
        "o insulin",
        "1. Home",
        "2) Return",
        "a) if worse",
        "----------",
        "Signed",
    ]
    assert sentences("\n".join(lines)) == lines
    assert sentences("\r\n".join(lines)) == lines


def test_line_that_breaks_off_runs_on_in_any_note():
    text = "The patient was admitted for pain in the lower\nabdomen and vomiting.\nDischarged"
    assert sentences(text) == [text[: text.index("\nD")], "Discharged"]


HARD_WRAPPED = """\
DISCHARGE SUMMARY
-----------------------------------------------------------------
HISTORY: The patient is a woman of 40 years who was admitted from
home by Dr.
Roe with pain in the left side of the chest. She lives at 12 Elm
Street and works there as a gardener. The pain began in the early
morning and did not go away.

MEDICATIONS ON ADMISSION: The patient took no medication that her
1. aspirin
2. metformin, which she says she has not taken since the month of
   May because of nausea
- insulin
Allergies: none that she could remember when asked by Nurse Jane
Doe, who knows her
"""


def test_hard_wrapped_note():
    found = [" ".join(sentence.split()) for sentence in sentences(HARD_WRAPPED)]
    assert found == [
        "DISCHARGE SUMMARY",
        "-" * 65,
        "HISTORY: The patient is a woman of 40 years who was admitted from home by Dr.",
        "Roe with pain in the left side of the chest.",  # a short line ends, wrapped or not
        "She lives at 12 Elm Street and works there as a gardener.",
        "The pain began in the early morning and did not go away.",
        "MEDICATIONS ON ADMISSION: The patient took no medication that her",
        "1. aspirin",
        "2. metformin, which she says she has not taken since the month of May because of nausea",
        "- insulin",
        "Allergies: none that she could remember when asked by Nurse Jane Doe, who knows her",
    ]


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("write", [str, str.upper])
def test_lines_of_a_word_or_two_are_parts_of_sentences(words, write):
    whole = write(HARD_WRAPPED.split("\n\n")[0].split("-\n")[1].replace("\n", " "))
    parts = whole.split()
    cut = "\n".join(" ".join(parts[i : i + words]) for i in range(0, len(parts), words))
    assert [s.split() for s in sentences(cut)] == [s.split() for s in sentences(whole)]


def test_short_lines_of_a_form_stay_apart():
    form = ["Name", "Roe", "Date of birth", "3/4/1951", "Ward", "3B", "Sodium", "140", "Next of kin", "Doe"] * 3
    assert sentences("\n".join(form)) == form


LISTS = [
    ["NAME: ROE", "DOB: 3/4/1951", "SEX: F", "MRN: 1234567", "CITY: BOSTON", "PCP: ADAMS", "STREET: ELM ST."],
    ["NAME", "JANE ROE", "WARD", "3B", "NEXT KIN", "JOHN DOE", "CITY", "BOSTON", "PHYSICIAN", "DR ADAMS"],
    ["aspirin", "metoprolol tartrate", "lisinopril", "insulin", "warfarin"],
    ["bp", "120/80", "hr", "80", "temp", "37.1"],
    ["\u60a3\u8005\u56e0\u80f8\u75db\u5165\u9662", "\u8840\u538b\u6b63\u5e38", "\u4e3b\u6cbb\u533b\u5e08"],
]


@pytest.mark.parametrize("lines", LISTS)
def test_short_lines_of_lists_and_of_forms_in_capitals_stay_apart(lines):
    """They were read as one sentence: nothing in them tells whether a break is inside of a sentence."""
    lines = lines * 8
    assert sentences("\n".join(lines)) == lines


def prose(rng, n_paragraphs=4):
    """Paragraphs of made-up sentences of 4 to 20 words."""
    words = ["".join(rng.choices("abcdefgilmnorstu", k=rng.randint(1, 11))) for _ in range(300)]
    paragraphs = []
    for _ in range(n_paragraphs):
        parts = [" ".join(rng.choices(words, k=rng.randint(4, 20))).capitalize() + ".." for _ in range(8)]
        paragraphs.append(" ".join(parts))
    return paragraphs


@pytest.mark.parametrize("width", [45, 60, 72, 80, 100, 132])
@pytest.mark.parametrize("upper", [False, True])
def test_wrapping_prose_changes_no_sentence(width, upper):
    rng = random.Random(width)
    for _ in range(5):
        paragraphs = [p.upper() if upper else p for p in prose(rng)]
        wrapped = "\n".join(textwrap.fill(p, width, break_on_hyphens=False) for p in paragraphs)
        plain = "\n\n".join(paragraphs)
        tokens = tokenize(wrapped)
        assert tokens.texts == tokenize(plain).texts
        assert split_sentences(wrapped, tokens) == split_sentences(plain, tokenize(plain))


PIECES = [
    "a",
    "B",
    "Roe",
    "dr",
    "Dr",
    "1",
    ".",
    "!",
    ")",
    '"',
    "-",
    "&lt;",
    "。",
    "¿",
    " ",
    "  ",
    "\t",
    "\n",
    "word " * 9,
]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)


@given(TEXTS | st.text())
def test_sentences_partition_the_tokens(text):
    tokens = tokenize(text)
    ranges = split_sentences(text, tokens)
    assert all(start < end for start, end in ranges)
    assert [token for start, end in ranges for token in range(start, end)] == list(range(len(tokens.texts)))


@given(TEXTS, TEXTS)
def test_blank_line_always_ends_a_sentence(first, second):
    text = first + "\n\n" + second
    tokens = tokenize(text)
    n_first = len(tokenize(first).texts)
    assert all(end <= n_first or start >= n_first for start, end in split_sentences(text, tokens))


@given(TEXTS, st.sampled_from(["\r\n", "\r\r\n", "\r", "\u2028"]))
def test_kind_of_line_break_does_not_matter(text, newline):
    other = text.replace("\n", newline)
    assert split_sentences(other, tokenize(other)) == split_sentences(text, tokenize(text))


def test_long_sentences_stay_whole():
    text = "word " * 20_000
    assert split_sentences(text, tokenize(text)) == [(0, 20_000)]


@pytest.mark.parametrize("unit", [" ", "\r", "\n", ".", '."', ".) ", "a b c ", "&", "&lt", "\u200d", "\u1780\u17d2"])
def test_time_grows_linearly_with_monotonous_text(unit):
    text, start = unit * 50_000, time.process_time()
    tokens = tokenize(text)
    split_sentences(text, tokens)
    assert time.process_time() - start < 2
    assert (len(tokens.texts) == 0) == text.isspace()


@given(st.text(alphabet=st.sampled_from("aAßéÉıʰ\ud800中\n.") | st.characters(), max_size=40), st.integers(0, 800))
def test_a_note_is_caseless_if_at_most_a_twentieth_of_its_characters_is_in_lower_case(text, n_capitals):
    text += "A" * n_capitals
    assert is_caseless(text) == (sum(map(str.islower, text)) <= 0.05 * len(text))


@given(st.text(st.sampled_from("aB1\u00e9\u00b2_. -"), max_size=12), st.integers(0, 12), st.integers(1, 12))
def test_word_before_equals_a_search_for_the_first_run_that_ends_there(text, end, longest):
    end = min(end, len(text))
    found = re.compile(r"[^\W_]+\Z").search(text, max(0, end - longest), end)
    assert word_before(text, end, longest) == ("" if found is None else found[0])
