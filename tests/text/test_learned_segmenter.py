"""`LearnedSegmenter`: no name is cut from its title, the model holds no word, and the time is linear."""

import json
import re
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from sklearn_deid import Corpus, Document, Span, make_clinical_notes
from sklearn_deid.tagging.note_segmenter import fitted_segmenter
from sklearn_deid.text import LearnedSegmenter, segment, tokenize
from sklearn_deid.text.learned_segmenter import _WORD as WORD
from sklearn_deid.text.learned_segmenter import _counts as counts_of
from sklearn_deid.text.sentences import line_borders

GERMAN = [
    "Prim. Dr. med. Erle sah die Patientin am 27. Mai. Die Wunde ist reizlos. Es geht ihr gut.",
    "Die Patientin kam mit Prim. Dr. med. Buche. Es war der 3. Juni. Die Wunde ist rot, die Haut ist warm.",
    "Prim. Dr. med. Linde hat es gesehen, und die Wunde ist gut. Prim. Fichte kam. Prim. Ulme kam.",
]
TURKISH = [
    "Op. Dr. Kaya hastayi gordu. Hasta iyi. Bu hasta 5. gun taburcu oldu.",
    "Dun hasta geldi. Op. Dr. Demir geldi. Hasta bu sabah iyi.",
]


def sentences(segmenter, text):
    return [" ".join(row) for row in segmenter.segment(text).rows()]


@pytest.mark.parametrize(
    ("notes", "text", "expected"),
    [
        (
            GERMAN,
            "Prim. Tanne kam am 4. August. Die Wunde heilt.",
            ["Prim . Tanne kam am 4 . August .", "Die Wunde heilt ."],
        ),
        (GERMAN, "Dr. med. A. Die kam. Es ging.", ["Dr . med . A . Die kam .", "Es ging ."]),
        (GERMAN, "DIE WUNDE IST ROT. ERLE KAM.", ["DIE WUNDE IST ROT . ERLE KAM ."]),
        (TURKISH, "Op. Dr. Yildiz geldi. Bu hasta iyi.", ["Op . Dr . Yildiz geldi .", "Bu hasta iyi ."]),
    ],
)
def test_what_other_notes_show(notes, text, expected):
    assert sentences(LearnedSegmenter().fit(notes), text) == expected


def test_a_name_that_is_also_a_word_stays_with_its_title():
    notes = ["Dr. Weiss kam. Die Haut ist weiss, und die Haut ist warm."] * 3
    assert sentences(LearnedSegmenter().fit(notes), "Gesehen: Dr. Weiss. Die Haut ist weiss.") == [
        "Gesehen : Dr . Weiss .",
        "Die Haut ist weiss .",
    ]


def test_letters_without_case_need_a_word_that_also_has_no_full_stop():
    notes = ["\u05e9\u05dc\u05d5\u05dd \u05e8\u05d1 \u05dc\u05da. \u05d3\u05e8. \u05db\u05d4\u05df."] * 2
    segmenter = LearnedSegmenter().fit(notes)
    text = "\u05d3\u05e8. \u05dc\u05d5\u05d9 \u05e9\u05dc\u05d5\u05dd. \u05e8\u05d1 \u05dc\u05da"
    assert [len(row.split()) for row in sentences(segmenter, text)] == [5, 2]


@given(st.text())
def test_tokens_are_those_of_the_tokenizer_and_ranges_cover_them(text):
    cut = LearnedSegmenter().fit([text]).segment(text)
    assert cut.tokens == tokenize(text)
    assert [i for first, stop in cut.sentences for i in range(first, stop)] == list(range(len(cut.tokens.texts)))
    assert all(first < stop for first, stop in cut.sentences)


def test_no_sentence_is_longer_than_the_bound():
    cut = LearnedSegmenter().fit([]).segment("word " * 9_000)
    assert [stop - first for first, stop in cut.sentences] == [2000, 2000, 2000, 2000, 1000]


def test_saved_counts_hold_no_word_and_no_word_of_one_patient():
    notes = make_clinical_notes(30, random_state=0)
    texts = [note.text for note in notes]
    segmenter = LearnedSegmenter().fit(texts, groups=notes.groups)
    state = json.loads(json.dumps(segmenter.to_state()))
    assert set(state) == {"words", "full_stop_rate", "bare_break_limit"}
    assert not set(state["words"]) - set("0123456789abcdef")
    other = LearnedSegmenter.from_state(state)
    assert all(other.segment(text) == segmenter.segment(text) for text in texts)
    # A word of one patient leaves no trace, however often it occurs.
    more = texts[0] + "\nzyxwvu zyxwvu zyxwvu zyx. abc zyx. abc"
    again = LearnedSegmenter().fit([more, *texts[1:]], groups=notes.groups)
    assert set(again.words_[:, 0]) == set(segmenter.words_[:, 0])
    # The same patient twice is one patient; two patients are evidence.
    extra = "zyxwvu zyxwvu"
    for groups, expected in ((["p", "p"], 0), (["p", "q"], 1)):
        assert len(LearnedSegmenter().fit([extra, extra], groups=groups).words_) == expected


def test_names_are_not_kept():
    segmenter = LearnedSegmenter().fit(["seen by Birch today, as Birch said."] * 5)
    lower = LearnedSegmenter().fit(["seen by today, as said."] * 5)
    np.testing.assert_array_equal(segmenter.words_[:, 0], lower.words_[:, 0])


@pytest.mark.parametrize(
    "change",
    [
        {"words": "00"},
        {"words": "zz"},
        {"words": None},
        {"full_stop_rate": 2},
        {"full_stop_rate": float("nan")},
        {"bare_break_limit": -1},
        {"bare_break_limit": float("nan")},
        {"words": ("02000000" + "00" * 16) + ("01000000" + "00" * 16)},
    ],
)
def test_damaged_counts_are_refused(change):
    state = LearnedSegmenter().fit(GERMAN).to_state()
    with pytest.raises((ValueError, TypeError)):
        LearnedSegmenter.from_state({**state, **change})


def test_unfitted():
    with pytest.raises(NotFittedError):
        LearnedSegmenter().segment("Seen.")
    with pytest.raises(NotFittedError):
        LearnedSegmenter().to_state()


def test_corpus_is_cut_by_the_given_segmenter():
    notes = Corpus(make_clinical_notes(5, random_state=0))
    segmenter = LearnedSegmenter().fit([note.text for note in notes])
    data = notes.to_sentences(segmenter=segmenter)
    assert list(data.X) == [row for note in notes for row in segmenter.segment(note.text).rows()]
    assert list(notes.to_sentences().X) == [row for note in notes for row in segment(note.text).rows()]


WORDS = "patient seen by Birch with pain in the left knee and no fever since monday".split()


def wrapped(words, width):
    """Words in lines of a number of words."""
    return "\n".join(" ".join(words[i : i + width]) for i in range(0, len(words), width))


def test_bare_line_breaks_of_a_note_unlike_the_others_are_spaces():
    whole = [f"{' '.join(WORDS)}.\nName: Roe\nWard: {i}\n- pain\n\nSigned" for i in range(25)]
    segmenter = LearnedSegmenter().fit(whole)
    assert len(segmenter.segment(whole[0]).sentences) == 5
    head = "Name: Roe\nWard: 3\n- pain\n\n"
    note = head + wrapped(WORDS, 2) + ".\nAge: 40"
    found = [" ".join(row) for row in segmenter.segment(note).rows()]
    assert found == ["Name : Roe", "Ward : 3", "- pain", " ".join([*WORDS, "."]), "Age : 40"]
    # Where every note is written so, a line says nothing else than before.
    same = LearnedSegmenter().fit([note] * 25)
    assert len(same.segment(note).sentences) == len(segment(note).sentences) > 5
    # Nor do the breaks of a note that has lost its punctuation.
    lost = note.replace(".", "").replace(":", "")
    assert len(segmenter.segment(lost).sentences) == len(segment(lost).sentences) > 5
    # A few notes show nothing.
    few = LearnedSegmenter().fit(whole[:19])
    assert few.bare_break_limit_ == 1
    assert few.segment(note) == same.segment(note)


def test_few_notes_like_those_of_fit_have_their_lines_joined():
    notes = [note.text for note in make_clinical_notes(60, random_state=3)]
    segmenter = LearnedSegmenter().fit(notes)
    assert all(segmenter.segment(text).sentences for text in notes)
    others = [note.text for note in make_clinical_notes(100, random_state=4)]
    # At most one in 61 in the mean; the limit is that of the notes of `fit`.
    assert sum(line_borders(text).bare_share > segmenter.bare_break_limit_ for text in others) <= 5


def test_a_segmenter_without_limit_joins_nothing():
    state = LearnedSegmenter().fit([" ".join(WORDS)] * 30).to_state()
    del state["bare_break_limit"]
    note = wrapped(WORDS, 2)
    assert len(LearnedSegmenter.from_state(state).segment(note).sentences) == len(segment(note).sentences)


def kept(segmenter, words):
    """The attack: which of these words does a reader of the saved counts confirm?"""
    hashes = {row[0] for row in np.frombuffer(bytes.fromhex(segmenter.to_state()["words"]), "<u4").reshape(-1, 5)}
    return {
        word for word in words if int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little") in hashes
    }


def test_a_list_of_names_tells_nothing_about_annotated_phi():
    """User names in lower case and short names before full stops were confirmed by their hashes."""
    notes = ["Seen by Dr. Li. The user bcrohn wrote the note. Ask Dr. Li. The pain is less."] * 3
    spans = [[Span(m.start(), m.end(), "DOCTOR") for m in re.finditer("Li|bcrohn", note)] for note in notes]
    guesses = {"bcrohn", "li", "pain", "kumar"}
    assert kept(LearnedSegmenter().fit(notes), guesses) == {"bcrohn", "li", "pain"}
    assert kept(LearnedSegmenter().fit(notes, spans), guesses) == {"pain"}
    # A raw note cannot show that a word is harmless; a word that annotated notes write outside of PHI is.
    assert kept(LearnedSegmenter().fit([*notes, *notes], [*spans, None, None, None]), guesses) == {"pain"}
    assert kept(LearnedSegmenter().fit([*notes, *notes], [*spans, (), (), ()]), guesses) == {"bcrohn", "li", "pain"}


def test_a_saved_model_confirms_no_word_of_phi_alone():
    notes = ["Seen by bcr&#111;hn, the pain is less.", "Call bcrohn, the pain is less."]
    spans = [(8, 18, "USERNAME"), (5, 11, "USERNAME")]
    corpus = Corpus(Document(f"n{i}", note, (Span(*spans[i]),), f"p{i}") for i, note in enumerate(notes))
    assert kept(fitted_segmenter("learned", corpus), {"bcrohn", "pain"}) == {"pain"}


@given(st.text(st.sampled_from("aB\u00e9_., 1")), st.lists(st.sampled_from(["Ab", "ab", "b"]), max_size=4))
def test_counts_of_a_note_and_of_the_training_notes_add_up(text, trained):
    segmenter = LearnedSegmenter().fit([" ".join(trained) + ". x, Ab y"] * 2)
    own = counts_of(text)
    inner = {found.end() for found in re.finditer(r"[\w,] (?=\w)", text)}
    for word, (*_, capital) in own.items():
        starts = [found.start() for found in WORD.finditer(text) if found[1].lower() == word != found[1]]
        assert capital == len(inner.intersection(starts))
    rows = {row[0]: row[1:] for row in segmenter.words_.tolist()}
    for word, counts in segmenter._known(["ab", "b", "", *own], own).items():
        number = int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little")
        pairs = zip(own.get(word, [0] * 4), rows.get(number, [0] * 4), strict=True)
        assert counts == [here + there for here, there in pairs]
