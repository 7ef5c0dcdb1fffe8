"""Texts that the starter is trained on and measured with: the grammar is whole, and what is held out stays out."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import benchmarks.starter.texts as texts
from benchmarks.starter import values, words
from benchmarks.starter.card import VISITS
from benchmarks.starter.cases import FILES, case_notes, piece
from benchmarks.starter.diagnoses import categories, diagnosis
from benchmarks.starter.lists import everyday, held_out_words, vocabulary
from benchmarks.starter.measuring import contexts, general_sentences, marked_notes, names_of, new_sentences, visit_notes
from benchmarks.starter.names import given_names, is_held_out, names, origins, word_names
from benchmarks.starter.open_words import drug_names, english_words
from benchmarks.starter.ordinary_words import TOP
from benchmarks.starter.periods import with_periods
from benchmarks.starter.report import KINDS_PHI, KINDS_PLAIN
from benchmarks.starter.scene import Scene
from benchmarks.starter.training import N_UNMIXED, STAGES
from sklearn_deid import Document, Span, load_model
from sklearn_deid.surrogates import Chance, read_data_file
from sklearn_deid.tagging import is_safe_harbor

_WITH_HOURS = ("offices", "services", "counters")
_WITH_YEARS = ("clinics", "practices", "offices", "services", "stations", "counters")
FOLDER = Path(texts.__file__).parent
READ = [block for name in texts.GRAMMAR for block in read_data_file(FOLDER / name).blocks]
BLOCKS = {block.name: block for block in READ}
FRAMES = [name for name, block in BLOCKS.items() if "frames" in block.settings]


def rules_in(entry):
    return set(re.findall(r"@([a-z]+(?:\.[a-z]+)*)", entry))


def test_every_rule_exists_once_and_none_leads_back_to_itself():
    assert len(READ) == len(BLOCKS)
    leads = {name: set().union(*(rules_in(e.text) for e in block.entries)) for name, block in BLOCKS.items()}
    assert set().union(*leads.values()) <= BLOCKS.keys()
    # In a twin, a rule may lead to the block without PHI.
    leads = {name: rules | {f"{rule}.none" for rule in rules} & BLOCKS.keys() for name, rules in leads.items()}
    assert not [name for name in leads if name in reachable(leads, name)], "a circular rule might not end"


def reachable(leads, start):
    seen, rest = set(), set(leads[start])
    while rest:
        name = rest.pop()
        seen.add(name)
        rest |= leads[name] - seen
    return seen


@pytest.mark.parametrize("name", FRAMES)
def test_a_wording_is_trained_on_or_held_out(name):
    trained, held = (set(texts.grammar(held_out)[name]) for held_out in (False, True))
    assert trained and held and not trained & held
    assert trained | held == {entry.text for entry in BLOCKS[name].entries}


def test_twins_hold_no_name():
    kinds = [kind for kind in texts.KINDS if kind.startswith("twin")]
    found = new_sentences(kinds, 300, 0)
    assert not [d.text for d in found if {"PATIENT", "DOCTOR"} & {span.label for span in d.spans}]
    assert all(kind.removeprefix("twin ") in texts.KINDS for kind in kinds)


def test_eponyms_that_set_the_bias_are_not_trained_on():
    known, held = (words_of_lists(words) for words in (vocabulary(), held_out_words()))
    written = "".join((FOLDER / name).read_text(encoding="utf-8") for name in (*texts.GRAMMAR, "texts.txt"))
    written += "\n".join(line for note in case_notes() for line in note)
    assert not [word for word in held - known if re.search(rf"\b{word}\b", written)]


def test_each_slot_of_the_cases_is_known_and_no_other_brace_is_left():
    slots = {name for note in case_notes() for line in note for name in re.findall(r"\{([a-z.]+)\}", line)}
    scene = Scene(Chance(np.random.SeedSequence(1)))
    scene.new_forms = 0.5
    filled = [values.slot(name, scene) for name in sorted(slots) for _ in range(20)]
    assert len(slots) > 40 and all(text for pieces in filled for text, _ in pieces)
    literal = re.sub(r"\{[a-z.]+\}", "", "\n".join(line for note in case_notes() for line in note))
    assert not re.findall(r"[{}]", literal)


def test_no_line_of_a_measured_note_is_in_the_cases():
    trained = {" ".join(line.lower().split()) for note in case_notes() for line in note}
    measured = [d for of in (*visit_notes().values(), *marked_notes().values()) for d in of]
    lines = {" ".join(line.lower().split()) for d in measured for line in d.text.split("\n")}
    # A row of numbers, such as the frequencies of a hearing test, can be the same.
    lines = {line for line in lines if len(re.findall(r"[a-z]{2,}", line)) > 4}
    assert len(lines) > 1000 and not lines & trained


def test_pieces_of_cases_have_spans_of_what_was_filled_in():
    made = [d for d in texts.make_texts(400, 3, mix="outside") if d.meta["kind"].startswith("case")]
    assert len(made) > 60 and {span.label for d in made for span in d.spans} >= {
        "PATIENT",
        "DOCTOR",
        "DATE",
        "HOSPITAL",
    }
    assert any(not d.spans for d in made) and any("\n" in d.text for d in made)


@pytest.mark.parametrize("kind", FILES)
def test_pieces_of_a_kind_come_from_its_files(kind):
    lines = {line for note in case_notes(FILES[kind]) for line in note}
    chance = Chance(np.random.SeedSequence(1))
    assert all(set(piece(kind, chance).split("\n")) <= lines for _ in range(20))


def test_phi_has_the_casing_of_a_line_of_capitals():
    spans = (Span(8, 14, "DOCTOR"), Span(23, 29, "PATIENT"), Span(38, 44, "DOCTOR"))
    document = Document("a", "SEEN BY Okafor\nasked a Lindgr if well\n Okafor wrote a letter", spans)
    chance = Chance(np.random.SeedSequence(3))
    assert {texts.with_casing_of_lines(document, chance).text for _ in range(20)} == {
        "SEEN BY OKAFOR\nasked a Lindgr if well\n Okafor wrote a letter",
        "SEEN BY OKAFOR\nasked a lindgr if well\n Okafor wrote a letter",
        "SEEN BY OKAFOR\nasked a Lindgr if well\n okafor wrote a letter",
        "SEEN BY OKAFOR\nasked a lindgr if well\n okafor wrote a letter",
    }


def words_of_lists(lists):
    return {word for entries in lists.values() for entry in entries for word in re.findall(r"[A-Z][a-z]{3,}", entry)}


def test_names_that_are_measured_are_not_trained_on():
    trained = {name for origin in origins() for part in names(origin) for name in part} | set(word_names())
    measured = {name for origin in origins() for part in names(origin, True) for name in part}
    assert not trained & measured
    assert not {*given_names("female"), *given_names("male")} & trained
    assert not set(given_names("female")) & set(given_names("male"))


KINDS_OF_WORDS = ("noun", "verb", "past", "adj", "adv")


def test_long_lists_are_long_and_leave_out_what_is_measured():
    lists = [*map(english_words, KINDS_OF_WORDS), drug_names()]
    assert [len(words) > 2000 for words in lists] == [True] * 6
    drawn = {word for words in lists for word in words}
    measured = {word for kind in ("nouns", "past", "verbs", "adjectives") for word in everyday(kind, True)}
    measured |= {word for entries in held_out_words().values() for word in entries}
    short = {name: entries for name, entries in vocabulary().items() if not name.startswith("everyday")}
    trained = " ".join(word for entries in short.values() for word in entries).lower()
    kinds = [name.removeprefix("everyday ") for name in vocabulary() if name.startswith("everyday")]
    trained += " ".join(word for kind in kinds for word in everyday(kind, False))
    assert "prediabetes" in measured
    assert not [word for word in measured & drawn if not re.search(rf"\b{word}\b", trained)]


def test_eponyms_of_the_training_bear_its_surnames_and_no_measured_one():
    chance = Chance(np.random.SeedSequence(1))
    found = [words.plain(part, "", Scene(chance)) for part in ("eponym", "epn") for _ in range(400)]
    assert not {w for text in found for w in re.findall(r"[a-z]+", text.lower())} & words_of_measured_eponyms()
    surnames = {name for origin in origins() for name in names(origin)[1]}
    assert sum(any(w in surnames for w in re.split(r"[ '’-]", text)) for text in found) > 300
    held = [words.plain("epn", "", Scene(chance, held_out=True)) for _ in range(100)]
    assert all(is_held_out(name) for name in held)


def words_of_measured_eponyms():
    lists = words_of_lists({"eponyms": held_out_words()["eponyms"]}) - words_of_lists(vocabulary())
    return {word.lower() for word in lists}


def test_a_surname_of_a_term_is_no_phi_and_the_doctor_beside_it_is():
    chance = Chance(np.random.SeedSequence(2))
    template = "Dr. {doc.last} <saw|noted> the {eponym}."
    for _ in range(50):
        text = texts.write(template, Scene(chance)).build("a", patient_id="")
        assert [span.label for span in text.spans] == ["DOCTOR"]
        assert text.spans[0].end < text.text.index(" the ")


def test_texts_depend_on_the_seed_alone():
    first, again, other = ([d.text for d in texts.make_texts(40, seed)] for seed in (1, 1, 2))
    assert first == again != other


def test_only_mixed_texts_draw_what_is_held_out_from_the_others(monkeypatch):
    drawn = []
    monkeypatch.setattr(texts, "Scene", lambda chance, **kinds: drawn.append(kinds["held_out"]) or Scene(chance))
    for options in ({}, {"mix": "charts"}, {"mix": "charts", "mixed": True}):
        drawn.clear()
        assert len(list(texts.make_texts(200, 1, **options))) == len(drawn) == 200
        assert any(drawn) == options.get("mixed", False)
    assert not all(drawn)
    assert [stage.mixed for stage in STAGES] == [False] * N_UNMIXED + [True] * (len(STAGES) - N_UNMIXED)


def test_abbreviations_outside_of_phi_get_periods():
    text = "Pt PO Box saw PO at 8 AM and 4:30pm, Lasix 5 mg PO BID; h/o UTI, BP 120/80, MRN BID-77 daily."
    spans = (Span(3, 9, "PATIENT"), Span(14, 16, "PATIENT"), Span(text.index("BID-77"), text.index(" daily"), "IDNUM"))
    document = Document("a", text, spans)
    each = [with_periods(document, Chance(seed)) for seed in range(60)]
    for made in each:
        assert [(made.text[s.start : s.end], s.label) for s in made.spans] == [
            ("PO Box", "PATIENT"),
            ("PO", "PATIENT"),
            ("BID-77", "IDNUM"),
        ]
        assert "120/80" in made.text and "h/o" in made.text and ".." not in made.text
        # Nothing else changes.
        assert plain(made.text) == plain(text)
    written = {word for made in each for word in made.text.split()}
    assert {"p.o.", "b.i.d.;", "U.T.I.,", "a.m.", "A.M.", "p.m.,"} <= written


def plain(text):
    """A text without the marks, casing and minutes that `with_periods` changes."""
    text = re.sub(r"(?<=\d)(?::\d\d)? ?(?=[ap]\.?m)", "", text.lower())
    return re.sub(r"daily|q\.?d", "DAILY", text).replace(".", "")


def test_training_has_abbreviations_with_periods_and_initials():
    made = list(texts.make_texts(3000, 4, mix="charts"))
    runs = [(d, m) for d in made for m in re.finditer(r"\b(?:[A-Za-z]\.){2,}", d.text)]
    inside = [any(s.start <= m.start() < s.end for s in d.spans) for d, m in runs]
    assert 20 < sum(inside) < len(inside) - 60


@pytest.mark.parametrize("kind", sorted(texts.BRIEF_KINDS.keys() - texts.KINDS.keys()))
def test_later_kinds_have_phi_or_none(kind):
    scenes = [Scene(Chance(np.random.SeedSequence(0, spawn_key=(i,)))) for i in range(100)]
    found = [texts.write(texts.pick_template(kind, scene), scene).build("a", patient_id="") for scene in scenes]
    # Ages and years are annotated, and no PHI of the Safe Harbor rule.
    found = [replace(d, spans=tuple(s for s in d.spans if is_safe_harbor(s, d.text))) for d in found]
    has_none = kind in ("visit lines", "chart sentence") or "plain" in kind
    assert any(d.spans for d in found) != has_none
    clinics = [d.text[s.start : s.end] for d in found for s in d.spans if s.label == "HOSPITAL"]
    assert kind != "clinic sentence" or any(name.split()[-1].islower() for name in clinics)


def test_notes_of_visits_hold_no_phi_and_no_wording_of_the_training():
    notes = visit_notes()
    assert notes.keys() == VISITS.keys() and all(len(of) > 5 for of in notes.values())
    written = "\n".join(note.text for of in notes.values() for note in of)
    # The notes written last have bare years, which the Safe Harbor rule keeps, and hours such as 2030.
    earlier = "\n".join(note.text for kind, of in notes.items() if kind not in _WITH_YEARS for note in of)
    assert not re.search(
        r"\b(?:Dr|Mr|Mrs|Ms)\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b(?:19|20)\d\d\b|\d{3}-\d{4}|day evening", earlier
    )
    phi = r"\b(?:Dr|Mr|Mrs|Ms)\b|\b\d{1,2}/\d{1,2}/\d{4}\b|(?<!\d)\d{3}-\d{4}|day evening"
    assert not re.search(phi, written)
    # These notes have rows such as 8/50/17/25 and 28/32/36, and doses at 08/14/20.
    assert not re.search(
        r"\b\d{1,2}/\d{1,2}/\d{2}\b|\d{3}-\d{4}",
        "\n".join(d.text for kind, of in notes.items() if kind not in _WITH_HOURS for d in of),
    )
    lines = {line for line in written.split("\n") if len(line.split()) > 4}
    entries = {entry.text for block in READ for entry in block.entries}
    assert not lines & entries


def test_general_sentences_hold_their_marks_and_no_wording_of_the_training():
    found = general_sentences()
    assert len(found) == 400 and sum(bool(d.spans) for d in found) > 250
    assert {span.label for d in found for span in d.spans} == {"PATIENT", "CITY", "ORGANIZATION", "DATE"}
    assert not [d.text for d in found if "[[" in d.text or any(d.text[s.start : s.end].strip() == "" for s in d.spans)]
    assert not {d.text for d in found} & {entry.text for block in READ for entry in block.entries}


def test_contexts_of_notes_hold_phi_and_no_wording_of_the_training():
    notes = contexts(2, 0)
    texts_of = texts.templates("contexts.txt")
    assert notes.keys() == texts_of.keys() and len(notes) > 60
    assert not [kind for kind, of in notes.items() if not kind.startswith("age") and not all(d.spans for d in of)]
    trained = {entry.text for block in READ for entry in block.entries} | {
        t for of in texts.templates().values() for t in of
    }
    assert not trained & {text for of in texts_of.values() for text in of}
    # The names of a context lie where its spans say, between lines of the ordinary notes.
    (note, _), ordinary = (
        notes["credentials before"],
        {line for d in visit_notes()["ordinary"] for line in d.text.split("\n")},
    )
    assert [line in ordinary for line in note.text.split("\n")] == [True, True, False, True, True, True]
    assert note.text.split("\n")[2].startswith("RN ") and note.text[note.spans[0].start - 3 :].startswith("RN ")


def test_new_sentences_hold_phi_or_none():
    assert sum(bool(d.spans) for d in new_sentences(KINDS_PHI, 60, 0)) > 50
    assert not [d.text for d in new_sentences(KINDS_PLAIN, 300, 0) if d.spans]


def test_contexts_are_the_same_for_every_origin_but_for_the_names():
    ours, theirs = (names_of(60, 3, origin=origin) for origin in ("japanese", "slavic"))
    assert {span.label for text in ours for span in text.spans} <= {"PATIENT", "DOCTOR"}
    assert ours[0].text != theirs[0].text


def test_diagnoses_are_trained_on_or_held_out_by_their_category():
    known, held = ({t for part in categories(held_out) for of in part for t in of} for held_out in (False, True))
    # A handful of texts stand in two categories.
    assert len(known & held) < len(held) / 1000
    chance = Chance(np.random.SeedSequence(0))
    assert all(diagnosis(chance, held_out=True, form="full") in held for _ in range(100))
    written = [diagnosis(chance, held_out=False) for _ in range(500)]
    assert all(text.strip() == text != "" for text in written)
    assert not [text for text in written if re.search(r"\bNOS\b|(initial|subsequent) encounter|, sequela$", text)]


def test_the_levels_that_ship_are_those_of_ordinary_words_and_of_no_name():
    levels = load_model().fitted_estimator().estimator_.estimator_.estimator_.word_levels_
    people = {word for origin in origins() for held in (False, True) for part in names(origin, held) for word in part}
    people |= {word for held in (False, True) for word in word_names(held)}
    found = np.array([levels[word] for name in sorted(people) for word in name.split()])
    # The sets take 0.8 % of other words for members of level 1, and few of these for more.
    assert (found > 0).mean() < 0.012
    assert (found > 1).sum() < 10
    ordinary = [levels[word] for word in ("Manual", "Puzzle", "pharmacy", "hypotension", "Ibuprofen", "yesterday")]
    assert min(ordinary) > 1
    assert max(ordinary) == len(levels.sets) == TOP
