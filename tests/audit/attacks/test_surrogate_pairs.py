"""Originals of surrogates: at chance for the engine, caught for surrogates that keep something of the letters."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import AdversarialPrivacyAuditor, Document, Span, SurrogatePseudonymizer, make_clinical_notes
from sklearn_deid.audit.attacks import MissedPhiAttack, SurrogatePairAttack, spans_of_notes, spans_of_sentences
from sklearn_deid.audit.attacks.surrogate_pairs import likeness
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.surrogates import SurrogateEngine

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def notes():
    return make_clinical_notes(60, random_state=4)


@pytest.fixture(scope="module")
def halves(notes):
    """Spans of the notes of two halves of the patients."""
    engine = SurrogateEngine(key=KEY)
    return [spans_of_notes(half, [engine.rewrite_all(half)]) for half in (notes[:30], notes[30:])]


def first(spans):
    """Surrogates of the first release."""
    return [new[0] for new in spans.surrogates]


def attacked(halves, **parameters):
    known, shown = halves
    return SurrogatePairAttack(random_state=0, **parameters).fit(known).attack(shown)


def test_the_engine_is_at_chance(halves):
    result = attacked(halves)
    assert result.status == "ok", result.failures
    assert result.attack.n > 300 and result.attack.covers(0.5)
    assert sum(of["pairs"] for of in result.details["by label"].values()) == result.attack.n
    assert not {"DATE", "AGE"} & set(result.details["by label"])


@pytest.mark.parametrize(
    "leak",
    [
        lambda old, new: old[0] + new[1:],
        lambda old, new: new[: len(old)].ljust(len(old), "a"),
        lambda old, new: new[:-1] + old[-1:],
    ],
    ids=["first letter", "length", "last letter"],
)
def test_surrogates_that_keep_something_are_caught(halves, leak):
    leaky = [
        replace(spans, surrogates=[(leak(*pair),) for pair in zip(spans.originals, first(spans), strict=True)])
        for spans in halves
    ]
    result = attacked(leaky)
    assert result.status == "ok" and result.attack.low > 0.55


def test_dates_are_measured_apart_and_declared_open(halves):
    result = attacked(halves, dates=True)
    assert set(result.details["by label"]) == {"DATE"} and result.advantage == 0.0
    assert result.settings["open_by_declaration"] and "a shifted date" in result.phrase


def test_each_candidate_is_a_rival_as_often_as_an_original():
    """Frequencies tell nothing: a country that nearly all notes have is not the better guess."""
    text = "x Norge y"
    notes = [Document(f"a{i}", text, (Span(2, 7, "COUNTRY"),)) for i in range(60)]
    notes += [Document(f"b{i}", "x Italia y", (Span(2, 8, "COUNTRY"),)) for i in range(20)]
    # Every surrogate is the country that most originals are.
    spans = replace(spans_of_notes(notes, [notes]), surrogates=[("Norge",)] * 80)
    result = attacked((spans, spans))
    assert result.attack.n == 40 and result.attack.value == 0.5


def test_likeness_of_equal_texts_is_largest():
    equal, other = likeness("Quillwick 12", "Quillwick 12"), likeness("Quillwick 12", "Brambo 77")
    assert all(a >= b for a, b in zip(equal, other, strict=True))


def test_nothing_to_compare():
    note = Document("n", "Ann", (Span(0, 3, "PATIENT"),))
    spans = spans_of_notes([note], [[note]])
    with pytest.raises(ValueError, match="No two originals have the same label and written form"):
        attacked((spans, spans))
    with pytest.raises(ValueError, match="No note has two spans"):
        MissedPhiAttack().fit(spans).attack(spans)
    with pytest.raises(SequenceError, match="There is no span"):
        spans_of_notes([Document("n", "Ann")], [[Document("n", "Ann")]])
    with pytest.raises(SequenceError, match="equally many spans"):
        spans_of_notes([note], [[Document("n", "Ann")]])
    assert "Ann" not in repr(spans)
    with pytest.raises(ValueError, match="'n_releases' parameter must be at least 1"):
        SurrogatePairAttack(n_releases=0)


# ---- missed PHI


def test_a_missed_span_among_brackets_is_found_and_among_its_like_it_is_not(halves):
    known, shown = halves
    result = MissedPhiAttack(random_state=0).fit(known).attack(shown)
    assert result.status == "ok", result.failures
    assert result.positive_control.value > 0.99 and result.attack.n == len(shown)
    guess = result.details["guessing among the spans of the note"]
    assert abs(guess - np.mean([1 / np.sum(shown.notes == note) for note in shown.notes])) < 1e-12
    # Originals that are drawn as surrogates are drawn: nobody can tell which one was not replaced.
    twins = [replace(spans, originals=first(spans)) for spans in halves]
    same = MissedPhiAttack(random_state=0).fit(twins[0]).attack(twins[1])
    assert same.attack.covers(guess)


def test_words_that_no_surrogate_has_are_spotted(notes):
    """Names of another language stand out among surrogates."""
    spans = [spans_of_notes(half, [SurrogateEngine(key=KEY).rewrite_all(half)]) for half in (notes[:30], notes[30:])]
    spans = [replace(half, originals=[f"Zyxwv{i % 7}quop" for i in range(len(half))]) for half in spans]
    assert MissedPhiAttack(random_state=0).fit(spans[0]).attack(spans[1]).attack.value > 0.9


# ---- in an audit


def test_an_audit_of_surrogates(notes):
    data = notes[:20].to_sentences()
    auditor = AdversarialPrivacyAuditor("quick", n_releases=2, random_state=0)
    pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0).fit(data.X, data.y, data.groups)
    report = auditor.audit(pseudonymizer, data.X, data.y, data.groups)
    found = {result.key + (" dates" if result.name.endswith("dates") else ""): result for result in report.results}
    names = [result.name for result in report.results]
    assert names == [
        "document linkage, casing and labels seen",
        "originals of surrogates",
        "originals of surrogates, 2 releases",
        "originals of shifted dates",
        "drawn surrogates",
        "missed PHI among surrogates",
    ]
    assert all(result.status == "ok" for result in report.results), [r.failures for r in report.results]
    assert found["surrogates"].attack.covers(0.5)
    assert {"surrogates", "surrogates dates", "linkage", "missed_phi"} <= set(found)
    assert any("Declared as open" in warning for warning in report.warnings)
    assert auditor.audit(pseudonymizer, data.X, data.y, data.groups) is report
    spans = spans_of_sentences(data.X, [data.X], data.y, data.groups)
    assert not any(text in str(report.to_dict()) for text in set(spans.originals) if len(text) > 8)
    with pytest.raises(SequenceError, match="must have the lengths of the original"):
        spans_of_sentences(data.X, [data.X[:3]], data.y, data.groups)


def test_a_note_without_a_patient_is_no_note_of_the_patient_whose_id_it_has():
    notes = [Document("7", "Ann", (Span(0, 3, "PATIENT"),)), Document("8", "Eve", (Span(0, 3, "PATIENT"),), "7")]
    assert len(set(spans_of_notes(notes, [notes]).groups)) == 2
