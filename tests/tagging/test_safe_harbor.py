"""What the Safe Harbor rule removes, against the text of the rule, and everything in doubt."""

from copy import copy
from dataclasses import replace

import pytest

from sklearn_deid import Corpus, DeidTagger, Document, NoteDeidentifier, RecallTunedTagger, RuleTagger, Span, load_model
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.tagging import is_safe_harbor
from sklearn_deid.tagging.safe_harbor import asked_spans, is_marked_by_rule, labels_to_rewrite, with_staying
from sklearn_deid.text import I2B2_2014, MEDDOCAN, label_map


def removed(words, label, before="", after=""):
    span = Span(len(before), len(before) + len(words), label)
    return is_safe_harbor(span, before + words + after)


@pytest.mark.parametrize(
    "words",
    [
        "34",
        "89",
        "1",
        "eighty-nine",
        "Fifty-five",
        "34 years",
        "18-65",
        "60s",
        "6 months",
        "sixties",
        "octogenarian",
        "77th",
    ],
)
def test_ages_under_90_stay(words):
    assert not removed(words, "AGE")


@pytest.mark.parametrize(
    "words",
    [
        "90",
        "104",
        "90s",
        "ninety",
        "one hundred",
        "85-95",
        "8 9",
        "\u0669\u0660",
        "elderly",
        "-",
        "nineties",
        "nonagenarian",
        "91st",
    ],
)
def test_other_ages_and_those_in_doubt_are_removed(words):
    assert removed(words, "AGE")


def test_age_inside_of_a_longer_number_is_removed():
    assert removed("10", "AGE", after="4")
    assert removed("04", "AGE", before="1")
    assert not removed("10", "AGE", before="(", after=")")


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        ("one hundred and ", "two", " years"),
        ("ninety-", "five", " years"),
        ("Ninety ", "five", ""),
        ("", "one", " hundred"),
        ("ninety\u2011", "five", " years"),
        ("one-hundred-and-", "two", " years"),
        ("nonante-", "six", " ans"),
    ],
)
def test_a_word_of_a_high_number_is_removed(before, words, after):
    """The words "five" and "two" were ages under 90, so that "ninety-five" and "one hundred and two" stayed."""
    assert removed(words, "AGE", before, after)
    assert not removed(words, "AGE", before="eighty-", after=" years")


@pytest.mark.parametrize("words", ["2019", "1999", "the 1990s", "1980's", "2010-2012", "2015/2016", "Last year"])
def test_years_stay(words):
    assert not removed(words, "DATE")


@pytest.mark.parametrize(
    "words", ["March 2019", "3/2019", "20190314", "2019-03", "Monday", "spring of 2010", "1850", "12"]
)
def test_other_dates_are_removed(words):
    assert removed(words, "DATE")


def test_only_four_labels_stay_whatever_their_text():
    staying = {label for label in I2B2_2014.labels if label not in ("AGE", "DATE") and not removed("2019", label)}
    assert staying == {"STATE", "COUNTRY", "PROFESSION", "DEPARTMENT"}


def test_labels_of_meddocan_count_as_their_nearest_i2b2_label():
    for label, nearest in label_map(MEDDOCAN, I2B2_2014).items():
        for words in ("2019", "34", "Alder", "104 años", "45 años"):
            assert removed(words, label) == removed(words, nearest)


@pytest.mark.parametrize("label", ["PHI", "NAME", "state", "NOMBRE", "STATES"])
def test_unknown_labels_are_removed(label):
    assert removed("Ohio", label)


def test_every_identifier_that_counts_as_hipaa_in_i2b2_is_removed():
    assert all(removed("x1", label) for label in I2B2_2014.hipaa)


def test_deidentifier_hides_and_scores_what_is_asked():
    text = "Age 34, in 2019 and on 3 May 2019, mail roe@example.org"
    spans = Span(4, 6, "AGE"), Span(11, 15, "DATE"), Span(23, 33, "DATE"), Span(40, 55, "EMAIL")
    everything = NoteDeidentifier(RuleTagger(["email", "date", "age"]).fit([]))
    asked = NoteDeidentifier(everything.estimator, labels="hipaa")
    note = Document("n", text, spans)
    (found,) = everything.annotate([note])
    (kept,) = asked.annotate([note])
    assert kept == tuple(span for span in found if is_safe_harbor(span, text))
    assert asked.redact([text]) == ["Age 34, in 2019 and on [DATE], mail [EMAIL]"]
    # The age and the year of the gold annotation do not count.
    assert asked.score([note]) == asked.score([Document("n", text, spans[2:])])


def test_surrogates_replace_what_they_must_fit():
    """Oracle: all dates. A year that stays beside shifted dates would tell the shift."""
    texts = ["Operated in 2012 and seen on 3 May 2019 and 4 May 2019.", "In 1999, and never again."]
    everything = NoteDeidentifier(RuleTagger(["date"]).fit([]))
    asked = NoteDeidentifier(everything.estimator, labels="hipaa")
    engine = {"key": b"k" * 16, "locale": "en"}
    assert asked.redact(texts, "surrogate", **engine) == everything.redact(texts, "surrogate", **engine)
    by_engine = [d.redact(texts, SurrogateEngine(**engine)) for d in (asked, everything)]
    assert by_engine[0] == by_engine[1] != texts
    assert asked.redact(texts) == ["Operated in 2012 and seen on [DATE] and [DATE].", texts[1]]


def test_wide_hides_states_and_titles_but_no_years_and_ages():
    text = "Mrs. Alder, 54, of Ohio, seen by Dr. Birch in 2019 on 3 May"
    found = [
        Span(text.index(word), text.index(word) + len(word), label)
        for word, label in (
            *(("Alder", "PATIENT"), ("54", "AGE"), ("Ohio", "STATE"), ("Birch", "DOCTOR"), ("2019", "DATE")),
            ("3 May", "DATE"),
        )
    ]
    asked = [text[span.start : span.end] for span in asked_spans(found, text, "hipaa-wide")]
    assert asked == ["Mrs. Alder", "Ohio", "Dr. Birch", "3 May"]
    assert labels_to_rewrite("hipaa-wide", "label") == "hipaa-wide"
    assert labels_to_rewrite("hipaa-wide", "surrogate") == "hipaa-surrogate"


@pytest.mark.parametrize("label", ["STATE", "TERRITORIO", "DATE", "COUNTRY", "PROFESSION", "DEPARTMENT", "AGE"])
def test_labels_for_surrogates_are_hipaa_with_years_and_states(label):
    text = "2012"
    span = Span(0, 4, label)
    fits = label in ("STATE", "DATE") or is_safe_harbor(span, text)
    assert asked_spans([span], text, "hipaa-surrogate") == ((span,) if fits else ())
    assert asked_spans([span], text, "hipaa") == ((span,) if is_safe_harbor(span, text) else ())


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match="labels"):
        NoteDeidentifier(RuleTagger().fit([]), labels="safe").annotate(["a"])


class Finder:
    """Finds the same spans in each note."""

    def __init__(self, *spans):
        self.spans = spans

    def annotate(self, texts):
        return [self.spans for _ in texts]


def test_what_stays_is_added_where_nothing_is_annotated():
    note = Document("n", "45, seen by Alder on 3 May 2019, in 2018, Ohio", (Span(12, 17, "DOCTOR"),), "p1", {"a": 1})
    age, date, year, state = Span(0, 2, "AGE"), Span(21, 31, "DATE"), Span(36, 40, "DATE"), Span(42, 46, "STATE")
    found = Finder(Span(0, 2, "AGE", confidence=0.9), Span(12, 17, "PROFESSION"), date, year, state)
    # The rule removes the full date, and the notes say who is a doctor.
    (new,) = with_staying([note], found)
    assert new == replace(note, spans=(age, note.spans[0], year, state))
    assert with_staying([note], Finder(date)) == [note]

    # A withheld note has no spans.
    class Withholding:
        def annotate(self, texts):
            return [None for _ in texts]

    assert with_staying([note], Withholding()) == [note]


def test_what_stays_has_the_names_of_the_notes():
    note = Document("n", "Alder, 45, Ohio", (Span(0, 5, "NOMBRE_PERSONAL_SANITARIO"),))
    (new,) = with_staying([note], Finder(Span(7, 9, "AGE"), Span(11, 15, "COUNTRY")))
    assert [span.label for span in new.spans[1:]] == ["EDAD_SUJETO_ASISTENCIA", "PAIS"]
    # Under the name of this scheme, the rule would remove a profession.
    (new,) = with_staying([replace(note, spans=(Span(0, 5, "NOM"),))], Finder(Span(7, 9, "AGE")))
    assert new.spans[1].label == "AGE"


def test_training_by_the_rule_from_the_starter_learns_no_exceptions():
    texts = ["Mr. Alder, 45 years old, came in 2019.", "Ms. Birch, 62 years old, came in 2018."]
    notes = [Document(f"n{i}", texts[i % 2], (Span(4, 9, "PATIENT"),)) for i in range(6)]
    tagger = DeidTagger(warm_start_from="starter-en", context="block", max_epochs=3, random_state=0, device="cpu")
    by_rule, plain = (NoteDeidentifier(tagger, labels=labels).fit(notes) for labels in ("hipaa", "all"))
    assert {"B-AGE", "B-DATE"} <= set(by_rule.estimator_.classes_)
    assert not {"B-AGE", "B-DATE"} & set(plain.estimator_.classes_)
    found = by_rule.annotate(["Mr. Cedar, 103 years old, came in 2017."])[0]
    assert [(span.start, span.label) for span in found] == [(4, "PATIENT"), (11, "AGE")]
    # The notes themselves are as they were.
    assert all(len(note.spans) == 1 for note in notes)


def test_notes_that_mark_only_what_the_rule_removes():
    text = "45, 46, 47, 48, 49, seen by Alder on 3 May 2019"
    ages = [Span(4 * i, 4 * i + 2, "AGE") for i in range(5)]
    note = Document("n", text, (Span(28, 33, "DOCTOR"),))
    finder = Finder(*ages, Span(28, 33, "DOCTOR"), Span(37, 47, "DATE"))
    assert is_marked_by_rule([note], finder)
    # With one of five marked, or with too few that could be.
    assert not is_marked_by_rule([replace(note, spans=(ages[0], *note.spans))], finder)
    assert not is_marked_by_rule([note], Finder(*ages[:4]))
    # One of ten may be beside or below another one, such as a state in an address.
    assert is_marked_by_rule([note, replace(note, doc_id="m", spans=(ages[0], *note.spans))], finder)


def test_a_tuned_recall_does_not_count_what_stays():
    tagger = RecallTunedTagger(DeidTagger(warm_start_from="starter-en"))
    note = Document("n", "Mr. Alder, 45 years old.", (Span(4, 9, "PATIENT"),))
    asked = NoteDeidentifier(labels="hipaa")
    assert list(asked._with_staying(Corpus([note]), tagger)) == [note]
    assert list(asked._with_staying(Corpus([note]), tagger.estimator)) != [note]


@pytest.mark.parametrize("start", [None, "whole"])
def test_other_starts_add_nothing(start):
    """A model that hides all that it finds says nothing about the rule."""
    model = None
    if start is not None:
        model = copy(load_model("starter-en"))
        model.labels = "all"
    tagger = DeidTagger(warm_start_from=model, max_epochs=1, random_state=0, device="cpu", embeddings=None)
    note = Document("n", "Mr. Alder, 45 years old.", (Span(4, 9, "PATIENT"),))
    deidentifier = NoteDeidentifier(tagger, labels="hipaa")
    assert list(deidentifier._with_staying(Corpus([note]), tagger)) == [note]
