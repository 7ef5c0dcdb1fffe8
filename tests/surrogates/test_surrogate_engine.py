"""Whole notes: exact spans, one surrogate for one thing, independence of the letters, and labels without rules."""

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import unicodedata
from datetime import date
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid import Corpus, Document, Span, make_clinical_notes, read_corpus, write_corpus
from sklearn_deid.io import FORMATS
from sklearn_deid.surrogates import (
    LOCALES,
    SurrogateEngine,
    SurrogateSettings,
    label_kinds,
    note_rewriter,
    rewrite_note,
)
from sklearn_deid.surrogates.label_kinds import kinds, known_labels
from sklearn_deid.surrogates.patient_surrogates import Mention
from sklearn_deid.text import get_label_scheme

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def notes():
    return make_clinical_notes(60, n_patients=20, random_state=3)


def engine(**parameters):
    return SurrogateEngine(**{"key": KEY, **parameters})


def outside(document):
    """Text before, between and behind the spans."""
    parts, position = [], 0
    for span in document.spans:
        parts.append(document.text[position : span.start])
        position = span.end
    return [*parts, document.text[position:]]


def test_spans_of_the_new_note_are_the_surrogates(notes):
    made = engine()
    again = engine()
    for note in notes:
        new = made.rewrite(note)
        assert outside(new) == outside(note)
        texts = [one.surrogate for one in again.replacements(note)]
        assert [new.text[span.start : span.end] for span in new.spans] == texts
        assert [span.label for span in new.spans] == [span.label for span in note.spans]
        assert (new.doc_id, new.patient_id) == (note.doc_id, note.patient_id)


@given(
    st.text("aB1 .,-/\n\u00e9@\u00b2\u00bd\u00df\u0661\ufb01\u0130", max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12), st.sampled_from(sorted(known_labels()))), max_size=6),
)
@settings(deadline=None, max_examples=300)
def test_nothing_outside_of_spans_changes_in_any_text(text, drawn):
    spans = tuple(Span(start, start + length, label) for start, length, label in drawn if start + length <= len(text))
    note = Document("n", text, spans)
    for locale in ("en", "es", "de"):
        new = engine(locale=locale).rewrite(note)
        covered = np.zeros(len(text), dtype=bool)
        for span in spans:
            covered[span.start : span.end] = True
        kept = "".join(sign for sign, inside in zip(text, covered, strict=True) if not inside)
        assert "".join(outside(new)) == kept


def test_same_key_same_surrogates_in_another_process(notes):
    code = (
        "from sklearn_deid import make_clinical_notes\n"
        "from sklearn_deid.surrogates import SurrogateEngine\n"
        "notes = make_clinical_notes(60, n_patients=20, random_state=3)\n"
        "import hashlib\n"
        "texts = [new.text for new in SurrogateEngine(key=bytes(range(32))).rewrite_all(notes)]\n"
        "print(hashlib.sha256('\\0'.join(texts).encode()).hexdigest())"
    )
    # Strings have other hashes there than here.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
    ).stdout
    here = hashlib.sha256("\0".join(new.text for new in engine().rewrite_all(notes)).encode()).hexdigest()
    assert out.strip() == here


def test_each_run_without_a_key_and_each_copy_is_another(notes):
    texts = {SurrogateEngine().rewrite(notes[0]).text for _ in range(3)}
    texts |= {engine(copy=copy).rewrite(notes[0]).text for copy in range(3)}
    assert len(texts) == 6


def shifts(**parameters):
    """Days by which the dates of 40 patients move."""
    made, day = engine(locale="en", **parameters), date(2000, 1, 1)
    notes = (Document("n", day.isoformat(), (Span(0, 10, "DATE"),), f"p{i}") for i in range(40))
    return np.array([(date.fromisoformat(new.text) - day).days for new in made.rewrite_all(notes)])


def test_copies_do_not_narrow_down_dates_and_ages():
    # With shifts of their own, five copies left 1,430 of 6,572 days in the mean, and 20 copies 320.
    assert all((shifts(copy=copy) == shifts()).all() for copy in range(1, 4))
    note = Document("n", "seen at 40", (Span(8, 10, "AGE"),), "p1")
    assert len({engine(locale="en", ages="shift", copy=copy).rewrite(note).text for copy in range(8)}) == 1


@pytest.mark.parametrize("other", [{"date_shift": 365}, {"whole_weeks": True}, {"keep_seasons": True}])
def test_two_releases_with_other_settings_do_not_tell_the_shift(other):
    # One draw, stretched to two ranges, told the shift of 200 of 200 patients to the day.
    ours, theirs = shifts(), shifts(**other)
    assert abs(np.corrcoef(abs(ours), abs(theirs))[0, 1]) < 0.5 and (np.sign(ours) != np.sign(theirs)).any()


def test_a_person_has_one_surrogate_in_all_notes(notes):
    made = engine()
    surnames, wrong, total = {}, 0, 0
    for note in notes:
        for one in made.replacements(note):
            original = note.text[one.span.start : one.span.end]
            if one.span.label == "PATIENT" and original.isalpha():
                total += 1
                known = surnames.setdefault((note.patient_id, original.casefold()), one.surrogate.casefold())
                wrong += known != one.surrogate.casefold()
    assert total > 40 and wrong / total < 0.02


def test_touching_spans_stay_apart_and_overlapping_ones_are_joined():
    note = Document("n", "ab12cd", (Span(0, 2, "PATIENT"), Span(2, 4, "AGE"), Span(3, 6, "DOCTOR")))
    made = engine(locale="en").replacements(note)
    assert [(one.span.start, one.span.end, one.span.label) for one in made] == [(0, 2, "PATIENT"), (2, 6, "DOCTOR")]


INVENTED = ("Zyxwvut", "Quillwyk", "brambokk", "KLOPFENZ", "Qzv")
BETWEEN = (
    " ",
    ", ",
    "-",
    "/",
    ". ",
    " 12 ",
    "'",
    "\n",
    "straße ",
    "gata 3 ",
    "@",
    "://",
    " s/n ",
    " Dr. ",
    " (",
    " de la ",
    "_",
    " _",
)


@given(
    st.lists(st.tuples(st.sampled_from(INVENTED), st.sampled_from(BETWEEN)), min_size=1, max_size=4),
    st.sampled_from(sorted(LOCALES)),
    st.sampled_from(["", "3 ", "Hospital ", "C/ ", "Mr. ", "www.", "May "]),
)
@settings(deadline=None, max_examples=150)
def test_no_word_outside_of_public_lists_survives(pairs, locale, before):
    text = (before + "".join(word + sign for word, sign in pairs)).strip()
    made = engine(locale=locale)
    for kind in kinds():
        label = next(label for label, known in known_labels().items() if known == kind)
        (one,) = made.replacements(Document("n", text, (Span(0, len(text), label),)))
        assert not [word for word in INVENTED if word.casefold() in one.surrogate.casefold()], kind


# ---- what has no rule


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("no number here", "MEDICALRECORD"),
        ("when the moon was full", "DATE"),
        ("very old", "AGE"),
        ("...", "PATIENT"),
        ("...", "HOSPITAL"),
        ("not an address", "EMAIL"),
        ("Zyxwvutski", "OTHER"),
        ("Zyxwvutski", "LABEL-OF-MINE"),
    ],
)
def test_what_has_no_rule_becomes_its_label(text, label):
    new = engine(locale="en").rewrite(Document("n", f"x {text} y", (Span(2, 2 + len(text), label),)))
    assert new.text == f"x [{label}] y"


def test_every_label_of_the_schemes_has_a_rule_but_the_open_ones():
    table = label_kinds()
    schemes = map(get_label_scheme, ("i2b2-2014", "meddocan", "hipaa-types", "grascco", "eds-pseudo"))
    assert {label for scheme in schemes for label in scheme.labels if label not in table} == {
        "OTHER",
        "OTROS_SUJETO_ASISTENCIA",
    }
    assert set(table.values()) == set(kinds())


def test_kinds_can_be_given_and_taken_away():
    assert label_kinds({"MINE": "date", "DATE": None}).get("DATE") is None
    note = Document("n", "seen 3/5/2011", (Span(5, 13, "MINE"),))
    assert engine(locale="en", kinds={"MINE": "date"}).rewrite(note).text != note.text
    assert engine(locale="en").rewrite(note).text == "seen [MINE]"
    with pytest.raises(ValueError, match="The 'kinds' parameter must map labels to kinds.* Got the kind 'dat' instead"):
        engine(kinds={"MINE": "dat"})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"locale": "xx"}, "The 'locale' parameter of SurrogateEngine must be .* Got 'xx' instead"),
        ({"date_shift": 0}, "The 'date_shift' parameter of SurrogateEngine must be .* from 1 .* Got 0 instead"),
        ({"date_shift": 3, "whole_weeks": True}, "from 7 "),
        ({"date_shift": 300, "keep_seasons": True}, "from 380 "),
        ({"ages": "x"}, "The 'ages' parameter"),
        ({"check_digits": "x"}, "The 'check_digits' parameter"),
        ({"keep_gender": 1}, "The 'keep_gender' parameter"),
        ({"key": b"short"}, "The 'key' parameter of SurrogateEngine must be at least 16 bytes or None. Got 5 instead"),
        ({"key": "text"}, "The 'key' parameter of SurrogateEngine must be .* Got str instead"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SurrogateEngine(**parameters)


def test_words_to_avoid_are_a_collection():
    with pytest.raises(TypeError, match="The 'avoid' parameter must be a collection of words"):
        SurrogateSettings(avoid="Alder")


def test_a_key_is_neither_shown_nor_copied():
    made = engine()
    assert KEY.hex() not in repr(made) and repr(KEY) not in repr(made)
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied: it holds a secret key"):
            leak(made)


def test_reprs_hold_no_text():
    note = Document("n", "Zyxwvutski left", (Span(0, 10, "PATIENT"),))
    made = engine()
    assert "yxwv" not in repr(made.replacements(note)) + repr(made) + repr(Mention("Zyxwvutski", "person"))


def test_a_string_is_a_patient_of_its_own():
    made = engine(locale="en")
    new = [rewrite_note(text, [Span(0, 5, "PATIENT")], made.rewrite) for text in ("Alder a", "Alder a", "Alder b")]
    assert new[0] == new[1] and new[0].text[:-1] != new[2].text[:-1]
    # The digest of the note would let readers check guesses of the original.
    assert {(one.doc_id, one.patient_id) for one in new} == {("note", None)}
    assert rewrite_note("Alder a", [], made.rewrite, name="x", patient_id="p").patient_id == "p"


def test_memory_of_a_stream_is_limited():
    made = engine(locale="en")
    for i in range(1100):
        made.rewrite(Document(str(i), "Ann", (Span(0, 3, "PATIENT"),), f"p{i}"))
    assert len(made._patients) == 1000


def test_notes_without_a_patient_displace_no_patient():
    """After 1,000 such notes a person had other initials, but not after a resumed run, which leaves them out."""
    found = set()
    for n in (0, 1100):
        made = engine(locale="en")
        made.rewrite(Document("a", "Ann Alder", (Span(0, 9, "PATIENT"),), "p1"))
        for i in range(n):
            made.rewrite(Document(str(i), "Ann", (Span(0, 3, "PATIENT"),)))
        found.add(made.rewrite(Document("b", "A. Alder", (Span(0, 8, "PATIENT"),), "p1")).text)
    assert len(found) == 1


@pytest.mark.parametrize("mode", ["label", "mask", "remove", "surrogate"])
def test_modes(mode):
    note = Document("n", "Seen by Who.", (Span(8, 11, "DOCTOR", "NAME", 0.9731),), "p", {"name": "Who"})
    new = note_rewriter(mode)(note)
    assert new.text.startswith("Seen by ") and new.meta == {} and new.patient_id == "p"
    assert len(new.spans) == (mode in ("label", "surrogate"))
    # The confidence depends on the letters of the original.
    assert {(span.category, span.confidence) for span in new.spans} <= {("NAME", None)}


def test_settings_of_other_modes_are_refused():
    with pytest.raises(ValueError, match="The 'mode' parameter must be one of"):
        note_rewriter("x")
    with pytest.raises(ValueError, match="need mode='surrogate'"):
        note_rewriter("label", key=KEY)
    with pytest.raises(ValueError, match="has its own settings"):
        note_rewriter(engine(), key=KEY)


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.annotated and name != "mimic"])
def test_formats_round_trip(name, notes, tmp_path):
    new = Corpus(engine().rewrite_all(notes[:6]))
    path = tmp_path / ("out" + ("" if FORMATS[name].one_document else FORMATS[name].suffixes[0]))
    write_corpus(new, path, format=name, lossy=True)
    back = read_corpus(path, format=name)
    assert sorted(n.text.split() for n in back) == sorted(n.text.split() for n in new)
    covered = {}
    for corpus in (new, back):
        for note in corpus:
            found = [(span.label, note.text[span.start : span.end].split()) for span in note.spans]
            covered.setdefault(note.doc_id, []).append(sorted(found))
    assert all(len(both) == 2 and both[0] == both[1] for both in covered.values())


# ---- independence

ALPHABET = "ABCDEFGH"
# label -> an original of one written form, from one letter and a number; the letter is the secret
ORIGINALS = {
    "PATIENT": lambda a, n: f"{a}quwick",
    "DOCTOR": lambda a, n: f"{a}. Quwick",
    "USERNAME": lambda a, n: f"{a.lower()}qz12",
    "PROFESSION": lambda a, n: f"{a}qwerter",
    "HOSPITAL": lambda a, n: f"{a}quwick Hospital",
    "ORGANIZATION": lambda a, n: f"{a}quwick",
    "DEPARTMENT": lambda a, n: f"{a}quology",
    "STREET": lambda a, n: f"12 {a}quwick Street",
    "CITY": lambda a, n: f"{a}quwick",
    "STATE": lambda a, n: f"{a}quana",
    "COUNTRY": lambda a, n: f"{a}quistan",
    "ZIP": lambda a, n: f"{n}2345",
    "PHONE": lambda a, n: f"617-23{n}-5678",
    "EMAIL": lambda a, n: f"{a.lower()}quwick@clinic.edu",
    "URL": lambda a, n: f"www.{a.lower()}quwick.edu",
    "IPADDR": lambda a, n: f"10.0.0.{n}",
    "SSN": lambda a, n: f"{n}23-45-6789",
    "MEDICALRECORD": lambda a, n: f"{n}234567",
    "LICENSE": lambda a, n: f"{a}123456",
    "VEHICLE": lambda a, n: f"{a}QX-1234",
}


def information(secret, seen):
    """Mutual information of two arrays of classes in nats."""
    width = seen.max() + 1
    joint = np.bincount(secret * width + seen, minlength=(secret.max() + 1) * width).reshape(-1, width) / len(secret)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    positive = joint > 0
    return float((joint[positive] * np.log(joint[positive] / independent[positive])).sum())


def first_class(text):
    """What an attacker looks at: the first letter or digit that differs between originals."""
    return next((ord(sign) % 16 for sign in text[::-1] if sign.isalnum()), 0)


@cache
def drawn_pairs(label):
    """Numbers of 1600 originals of a label, and their surrogates; drawn once for all tests."""
    secret = np.random.default_rng(len(label)).integers(0, 8, 1600)
    secret.flags.writeable = False
    made = engine(locale="en")
    seen = []
    for i, s in enumerate(secret.tolist()):
        text = ORIGINALS[label](ALPHABET[s], s + 1)
        (one,) = made.replacements(Document(f"{label}{i}", text, (Span(0, len(text), label),)))
        assert one.has_rule
        seen.append(one.surrogate)
    return secret, tuple(seen)


@pytest.mark.parametrize("label", ORIGINALS)
def test_letters_and_surrogates_share_no_information(label):
    secret, texts = (drawn[:1500] for drawn in drawn_pairs(label))
    rng = np.random.default_rng(1)
    others = [rng.permutation(secret) for _ in range(199)]
    for look in (lambda t: ord(t[0]) % 16, first_class, lambda t: sum(map(ord, t)) % 8, len):
        seen = np.array([look(text) for text in texts])
        observed = information(secret, seen)
        permuted = [information(other, seen) for other in others]
        assert observed <= max(permuted)


def test_the_test_of_information_finds_originals():
    secret = np.random.default_rng(0).integers(0, 8, 1500)
    seen = np.array([ord(ALPHABET[s]) % 16 for s in secret])
    permuted = [information(np.random.default_rng(i).permutation(secret), seen) for i in range(199)]
    assert information(secret, seen) > max(permuted)


@pytest.mark.parametrize("label", ORIGINALS)
def test_exact_attacker_is_at_chance(label):
    """They know the map of other keys, and name the most likely original of each surrogate."""
    secret, texts = drawn_pairs(label)
    half = len(texts) // 2
    table = {}
    for s, text in zip(secret[:half].tolist(), texts[:half], strict=True):
        table.setdefault(text, np.zeros(8))[s] += 1
    prior = np.bincount(secret[:half], minlength=8)
    guesses = np.array([int(np.argmax(table.get(text, prior))) for text in texts[half:]])
    right = (guesses == secret[half:]).mean()
    chance, n = 1 / 8, half
    assert abs(right - chance) < 4 * np.sqrt(chance * (1 - chance) / n)


def test_notes_of_one_name_are_not_one_patient():
    """Two folders may both hold a note 0001. Without a patient id, each text is a patient."""
    engine = SurrogateEngine(key=bytes(32), locale="en")
    texts = [f"{n}: seen 03/05/2011" for n in range(3)]
    new = [engine.rewrite(Document("0001", text, (Span(8, 18, "DATE"),))).text for text in texts]
    again = SurrogateEngine(key=bytes(32), locale="en").rewrite(Document("0001", texts[2], (Span(8, 18, "DATE"),)))
    assert len({text[3:] for text in new}) == 3 and again.text == new[2]


def test_a_date_without_words_does_not_decide_the_language_of_a_patient():
    """A FHIR export begins with the dates of birth; German notes after them had English names and towns."""
    birth = Document("p", "1950-03-04", (Span(0, 10, "DATE"),), "p1")
    text = "Der Patient Karl Vogel wurde am 3. Mai 2011 aufgenommen und hat Schmerzen in der Hüfte."
    note = Document("n", text, (Span(12, 22, "PATIENT"), Span(32, 43, "DATE")), "p1")
    key = bytes(32)
    alone = SurrogateEngine(key=key).rewrite(note).text
    after, before = SurrogateEngine(key=key), SurrogateEngine(key=key)
    date = after.rewrite(birth).text
    assert after.rewrite(note).text == alone
    assert before.rewrite(note).text == alone and before.rewrite(birth).text == date


def test_a_patient_keeps_the_language_after_many_other_patients(monkeypatch):
    """A short note was mistaken for English after 1,000 other patients: other names, and day and month exchanged."""
    monkeypatch.setattr("sklearn_deid.surrogates.surrogate_engine._MOST_PATIENTS", 1)
    first = Document("1", "La paciente fue vista por la Dra. Zyxeda el 03/04/2019, no tiene fiebre.", (), "p")
    short, spans = "Dra. Zyxeda 07/04/2019", (Span(5, 11, "DOCTOR"), Span(12, 22, "DATE"))
    made = []
    for n_others in (0, 2):
        one = engine()
        one.rewrite(first)
        for i in range(n_others):
            one.rewrite(Document(f"other {i}", "No pain.", (), f"other {i}"))
        made.append(one.rewrite(Document("2", short, spans, "p")).text)
    assert made[0] == made[1]


@pytest.mark.parametrize("label", ["PATIENT", "HOSPITAL", "STREET", "CITY", "MEDICALRECORD", "USERNAME"])
@pytest.mark.parametrize("text", ["Mu\u0308ller", "Rene\u0301", "\u0938\u0941\u0928\u0940\u0924\u093e", "A\u0308B-12"])
def test_no_accent_of_its_own_stays(label, text):
    """The letters around an accent were replaced, and the accent stayed: it told the place of an umlaut."""
    made = SurrogateEngine(key=bytes(range(32)), locale="de").rewrite(Document("n", text, (Span(0, len(text), label),)))
    assert not any(unicodedata.combining(sign) or unicodedata.category(sign)[0] == "M" for sign in made.text)


def test_an_accent_of_its_own_makes_no_other_name():
    engine = SurrogateEngine(key=bytes(range(32)), locale="de")
    one, other = (
        engine.rewrite(Document(name, text, (Span(0, len(text), "PATIENT"),), "p")).text
        for name, text in (("a", "Frau M\u00fcller"), ("b", "Frau Mu\u0308ller"))
    )
    assert one == other


@pytest.mark.parametrize("label", ["PATIENT", "HOSPITAL", "STREET", "CITY", "DATE", "EMAIL", "RELATIVE"])
@pytest.mark.parametrize("piece", ["a-", "A. ", "1 ", "x1"])
def test_long_spans_are_replaced_by_their_label(label, piece):
    """The time for a span grew with the square of its length: coded text that is tagged as a name took hours."""
    text = piece * 50_000
    assert engine(locale="en").rewrite(Document("n", text, (Span(0, len(text), label),), "p")).text == f"[{label}]"
    assert "[" not in engine(locale="en").rewrite(Document("n", "Ann " * 250, (Span(0, 999, "PATIENT"),), "p")).text
