"""Few ordinary notes are unlike, notes of another kind are, and what happens then is what the user chose."""

import codecs
import json
import math
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sklearn_deid import (
    Corpus,
    Document,
    NoteDeidentifier,
    RuleTagger,
    Span,
    load,
    load_model,
    make_clinical_notes,
    save,
)
from sklearn_deid.cli import main
from sklearn_deid.exceptions import BundleError, DeidError, UnlikeNoteWarning, WithheldWarning
from sklearn_deid.tagging.note_likeness import ALPHA, FEATURES, LANGUAGE, NoteLikeness, learned_likeness, measure
from sklearn_deid.text import segment

ORDINARY = make_clinical_notes(150, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    # Generated notes hold a few in capitals, which widen the range of ordinary casing.
    deidentifier = NoteDeidentifier(RuleTagger()).fit(ORDINARY)
    assert not deidentifier.likeness_.any_casing
    deidentifier.likeness_ = learned_likeness(ORDINARY, any_casing=True)
    return deidentifier


@pytest.fixture(scope="module")
def strange():
    """Notes of another kind, which hold as many characters as ordinary ones."""
    rng = np.random.default_rng(0)
    return {
        "bytes": rng.bytes(400).hex(" "),
        "letters of a cipher": "".join(codecs.encode(document.text, "rot13") for document in ORDINARY[:3]),
        "numbers": " ".join(map(str, rng.integers(0, 1000, 500))),
        "another script": "\u0437\u0430\u043f\u0438\u0441\u044c \u0432\u0440\u0430\u0447\u0430 " * 60,
    }


def test_the_threshold_is_the_conformal_rank():
    """Against the definition: 1 % of draws of a note among the others may lie above, on average over all draws."""
    rng = np.random.default_rng(1)
    notes = []
    for _ in range(400):
        tokens = " ".join(
            "".join(chr(97 + c) for c in rng.integers(0, 26, 6)) for _ in range(int(rng.integers(30, 90)))
        )
        notes.append(measure(segment(tokens), int(rng.integers(0, 9))))
    flagged = []
    for seed in range(40):
        order = rng.permutation(len(notes))
        model = NoteLikeness.learn([notes[i] for i in order[:200]], range(200), seed=seed)
        assert model.n_notes == 150
        flagged += [model.problem(notes[i]) is not None for i in order[200:]]
    # 40 draws of 200 notes; the mean of the exact law is 1 - 150 / 151 or less, and its deviation below half of ALPHA.
    assert np.mean(flagged) < ALPHA * 1.5
    scores = sorted(model.score(note)[0] for note in notes)
    assert scores[0] < model.threshold < scores[-1] * 1.5


@pytest.mark.parametrize("kind", ["bytes", "letters of a cipher", "numbers", "another script"])
def test_notes_of_another_kind_are_unlike(fitted, strange, kind):
    with pytest.warns(UnlikeNoteWarning, match="unlike the training notes of the model") as caught:
        (spans,) = fitted.annotate([Document("n7", strange[kind])])
    assert spans is not None
    assert caught[0].message.error.doc_id == "n7"
    named = str(caught[0].message).partition("model (")[2].partition(":")[0]
    assert named in FEATURES


@pytest.mark.parametrize(
    "word", ["\u0ba8\u0bcb\u0baf\u0bbe", "\u0c30\u0c4b\u0c17\u0c3f", "\u05dc\u05b5\u05d5\u05b4\u05d9"]
)
def test_notes_whose_words_all_have_combining_marks_are_unlike(fitted, word):
    """Tamil, Telugu, and Hebrew with vowels: `str.isalpha` is false for each word."""
    (found,) = fitted.note_tagger()([f"{word} " * 60])
    assert "letters" in found.reason


def test_signs_behind_letters_do_not_make_a_note_unlike():
    assert measure(segment("24 kg/m\u00b2, 3 cm\u00b3"), 0).sums[FEATURES.index("letters")] == 0


def test_few_ordinary_notes_are_unlike(fitted):
    new = make_clinical_notes(200, random_state=5)
    found = fitted.__class__(fitted.estimator_, on_error="withhold", on_unlike="withhold")
    found.likeness_ = fitted.likeness_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WithheldWarning)
        withheld = sum(spans is None for spans in found.annotate(new))
    # 1 % of 200 is 2; a binomial count above 8 has a probability below 1 in 1,000.
    assert withheld <= 8


def test_what_happens_with_an_unlike_note(fitted, strange):
    texts = [ORDINARY[0].text, strange["bytes"], ORDINARY[1].text]
    chosen = NoteDeidentifier(fitted.estimator_, on_unlike="pass")
    chosen.likeness_ = fitted.likeness_
    plain = chosen.annotate(texts)
    assert all(spans is not None for spans in plain)
    chosen.set_params(on_unlike="withhold", on_error="withhold")
    with pytest.warns(WithheldWarning, match="number 1"):
        assert chosen.annotate(texts) == [plain[0], None, plain[2]]
    with pytest.raises(DeidError, match="number 1") as error:
        chosen.set_params(on_error="raise").redact(texts)
    assert strange["bytes"][:8] not in str(error.value)
    with pytest.raises(ValueError, match="'on_unlike' parameter of NoteDeidentifier"):
        chosen.set_params(on_unlike="stop").annotate(texts)


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_casing_is_judged_unless_the_tagger_has_learned_it(fitted, change):
    mixed = [d for d in ORDINARY if not d.text.isupper()]
    judging = learned_likeness(mixed)
    notes = [measure(segment(change(d.text)), 20) for d in mixed[:20]]
    assert sum(judging.problem(note) is not None for note in notes) >= 18
    assert all(fitted.likeness_.score(note)[1] not in FEATURES[:2] for note in notes)


def test_few_notes_and_short_notes_are_not_judged(fitted):
    assert learned_likeness(ORDINARY[:90]) is None
    assert learned_likeness(Corpus([])) is None
    assert fitted.likeness_.problem(measure(segment(""), 0)) is None
    assert fitted.likeness_.problem(measure(segment("ok"), 0)) is None


def test_a_name_of_few_patients_leaves_no_trace_in_the_pairs_of_letters():
    """A reader of a saved model saw that a pair occurs, or never occurs, and so which rare name a patient has."""
    rare = measure(segment("seen by Qzxvjk"), 1)
    notes = [measure(segment(note.text), 0) for note in ORDINARY]
    for n_patients, is_told in ((4, False), (len(notes), True)):
        planted = [replace(n, pairs=n.pairs + rare.pairs) if i < n_patients else n for i, n in enumerate(notes)]
        # The order of patients decides who is in the quarter whose letters are counted.
        patients = [(number * 7) % len(notes) for number in range(len(notes))]
        for seed in range(8):
            likeness = NoteLikeness.learn(planted, patients, seed=seed)
            surprise = np.array(likeness.to_state()["surprise"])
            letters = [ord(c) - ord("a") + 1 for c in "qzxvjk"]
            told = [surprise[a, b] < surprise[a].max() for a, b in pairwise(letters)]
            assert any(told) == is_told, "a rare pair looks like a pair that no note has"


def test_no_patient_is_in_both_parts():
    """Notes of one patient are in one part, so that the threshold does not come from notes like the others."""
    note = measure(segment("pain in the left arm, improved"), 1)
    assert NoteLikeness.learn([note] * 400, [i % 2 for i in range(400)]).n_notes == 200


def test_it_is_saved_with_the_model_and_checked(fitted, tmp_path, strange):
    save(fitted, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.likeness_.threshold == fitted.likeness_.threshold
    note = measure(segment(strange["numbers"]), 0)
    assert loaded.likeness_.score(note) == fitted.likeness_.score(note)
    state = fitted.likeness_.to_state()
    assert state.pop("judged") == list(FEATURES)
    assert not any(c.isalpha() for c in json.dumps(list(state.values())).replace("true", "").replace("e-", ""))
    damage = {"low": [0] * len(FEATURES), "middle": [1], "judged": ["x"], "language": "xx"}
    for name, value in (("threshold", 0), ("threshold", math.nan), *damage.items()):
        with pytest.raises(BundleError, match="figures of the training notes are damaged"):
            NoteLikeness.from_state({**state, name: value})


@pytest.mark.parametrize(("choice", "code", "written"), [("withhold", 1, 1), ("warn", 0, 2), ("pass", 0, 2)])
def test_the_command_lists_unlike_notes(fitted, tmp_path, capsys, strange, choice, code, written):
    save(fitted, tmp_path / "m")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text(ORDINARY[0].text)
    (notes / "b.txt").write_text(strange["bytes"])
    options = [] if choice == "withhold" else ["--on-unlike", choice]
    command = ["redact", str(notes), "--model", str(tmp_path / "m"), "--output", str(tmp_path / "out"), "--quiet"]
    assert main([*command, *options]) == code
    assert len(list((tmp_path / "out").glob("*.txt"))) == written
    report = capsys.readouterr().err
    assert ("unlike the training notes" in report) == (choice != "pass")
    assert strange["bytes"][:8] not in report


def test_only_judged_figures_count(strange):
    judging = learned_likeness(ORDINARY, judged=LANGUAGE)
    for kind, text in strange.items():
        unlike = judging.problem(measure(segment(text), 0))
        # Numbers have no letters, and reversed words have the letters of English in another order.
        assert (unlike is not None) == (kind in ("letters of a cipher", "another script")), kind


@pytest.mark.parametrize(
    "name", ["M\u00fcller", "Nu\u00f1ez", "Jos\u00e9", "\u00c5kesson", "Fran\u00e7ois B\u00e9ranger"]
)
def test_a_name_is_no_other_language(name):
    """Short English notes about patients with such names were withheld, and the same notes about others were not."""
    starter = load_model("starter-en")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeNoteWarning)
        starter.annotate([f"Seen by Dr. {name} today.", f"Mrs. {name} called about her results."])
    count = FEATURES.index("letters")
    texts = (
        "Seen by Smith",
        f"Seen by {name}",
        "Heute f\u00fcr",
        "\u00dcber M\u00fcller, K\u00f6hler",
        "M\u00fcller f\u00fcr",
    )
    assert [measure(segment(text), 0).sums[count] for text in texts] == [0, 0, 1, 3, 2]


def test_gold_spans_are_counted_by_token():
    note = Document("a", "Dr. Alder Oak, 3 May", (Span(4, 13, "DOCTOR"), Span(15, 20, "DATE")))
    counted = []
    original = NoteLikeness.learn
    try:
        NoteLikeness.learn = classmethod(lambda cls, notes, patients, **kw: counted.extend(notes))
        learned_likeness([note] * 99)
    finally:
        NoteLikeness.learn = original
    assert counted[0].sums[FEATURES.index("PHI")] == 4


def test_a_note_without_a_patient_is_no_note_of_the_patient_whose_id_it_has(monkeypatch):
    learned_from = []
    monkeypatch.setattr(NoteLikeness, "learn", lambda notes, patients, **kw: learned_from.extend(patients))
    learned_likeness(Corpus([Document(str(i), "No pain.", patient_id=None if i else "7") for i in range(99)]))
    assert len(set(learned_from)) == 99
