"""`utility_report`: figures by hand, forms, errors."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from sklearn_deid import Document, Span, utility_report
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics.downstream import check_labels, downstream_accuracy

# tokens:      0    1  2   3   4     5    6 7     8   9
TEXT = "Seen by Ana for chest pain and a Parkinson tremor"
GOLD = Document("n1", TEXT, (Span(8, 11, "DOCTOR"),), "p1")
# Removes the name and, wrongly, "pain" and "Parkinson".
WRONG = Document("n1", TEXT, (Span(8, 11, "DOCTOR"), Span(22, 26, "DATE"), Span(33, 42, "PATIENT")), "p1")
MISSED = Document("n1", TEXT, (), "p1")
SMALL = {"n_topics": None, "random_state": 0}


SECOND = Document("n2", "No Ana pain .", (Span(3, 6, "PATIENT"),), "p2")


def pair(first):
    return [first, SECOND]


class TestByHand:
    def test_tokens(self):
        report = utility_report(pair(GOLD), pair(GOLD), pair(WRONG), baseline=pair(MISSED), **SMALL)
        # Words outside PHI: 9 of the first note, "No" and "pain" of the second; two were removed. PHI: 2.
        assert report.value("tokens", "redacted", "n outside PHI") == 11
        assert report.value("tokens", "redacted", "removed outside PHI") == pytest.approx(2 / 11)
        assert report.value("tokens", "redacted", "left of PHI") == 0.0
        assert report.value("tokens", "baseline", "removed outside PHI") == 0.0
        assert report.value("tokens", "baseline", "left of PHI") == 0.5

    def test_terms(self):
        terms = ["chest pain", "PAIN", "Ana", "tremor", "absent"]
        report = utility_report(pair(GOLD), pair(GOLD), pair(WRONG), clinical_terms=terms, **SMALL)
        # "chest pain" (the longest at its place) is gone, "tremor" and the second "pain" stand; "Ana" is PHI.
        assert report.by_term["redacted"] == {"chest pain": (1, 1), "tremor": (1, 0), "PAIN": (1, 0)}
        assert report.value("terms", "redacted", "removed") == pytest.approx(1 / 3)
        assert report.value("terms", "gold", "n outside PHI") == 3

    def test_a_term_half_in_phi_does_not_count(self):
        report = utility_report(pair(GOLD), pair(GOLD), pair(WRONG), clinical_terms=["for chest", "by Ana"], **SMALL)
        assert report.by_term["redacted"] == {"for chest": (1, 0)}

    def test_bleu(self):
        report = utility_report(pair(GOLD), pair(GOLD), pair(WRONG), **SMALL)
        # 12 of 14 tokens are left by gold, 10 by the system; all in the original.
        assert report.value("bleu", "gold", "bleu-1") == pytest.approx(np.exp(1 - 14 / 12))
        assert report.value("bleu", "redacted", "bleu-1") == pytest.approx(np.exp(1 - 14 / 10))
        assert report.value("bleu", "redacted", "bleu-1 to gold") == pytest.approx(np.exp(1 - 12 / 10))

    def test_gold_must_hold_every_note(self):
        """All 13 words of a note without gold annotation counted as PHI."""
        with pytest.raises(TypeError, match="'gold' must hold every note. Got None for 1 of 2 notes"):
            utility_report(pair(GOLD), pair(None), pair(GOLD), **SMALL)

    def test_figures_of_empty_notes_are_undefined(self):
        report = utility_report(["", ""], ["", ""], ["", ""], **SMALL).to_dict()
        assert report["bleu"]["redacted"]["bleu-1"]["value"] is None
        assert report["tokens"]["redacted"]["left of PHI"]["value"] is None

    def test_the_gold_redaction_itself(self):
        report = utility_report(pair(GOLD), pair(GOLD), pair(GOLD), **SMALL)
        assert report.value("bleu", "redacted", "bleu-3 to gold") == pytest.approx(1.0)
        assert report.value("bleu", "redacted", "bleu-3") == report.value("bleu", "gold", "bleu-3")


def many(n=48):
    """Notes of two classes that a word tells apart, two notes for each patient."""
    rng = np.random.default_rng(0)
    fill = [f"{c}{d}{c}{d}" for c in "abcdefg" for d in "xyz"]
    notes, labels = [], []
    for i in range(n):
        label = ["heart", "lung"][i // 2 % 2]
        words = [str(w) for w in rng.choice(fill, 12)]
        text = f"Ana {label} {label} " + " ".join(words)
        notes.append(Document(f"n{i}", text, (Span(0, 3, "PATIENT"),), f"p{i // 2}"))
        labels.append(label)
    return notes, labels


class TestClassification:
    def test_what_redaction_takes_away_shows(self):
        notes, labels = many()
        blind = [
            Document(d.doc_id, d.text, (Span(0, 5 + 2 * len(t), "PATIENT"),), d.patient_id)
            for d, t in zip(notes, labels, strict=True)
        ]
        report = utility_report(notes, notes, blind, labels=labels, n_grams=0, **SMALL)
        assert report.value("classification", "original", "accuracy") == 1.0
        assert report.value("classification", "gold", "accuracy") == 1.0
        assert report.value("classification", "redacted", "accuracy") < 0.75
        figure = next(f for f in report.figures if f[1:3] == ("redacted", "accuracy minus original"))
        assert figure.estimate.high < 0

    def test_equals_scikit_learns_cross_validation(self):
        notes, labels = many()
        texts, y = [d.text for d in notes], np.array(labels)
        groups = np.array([d.patient_id for d in notes], dtype=object)
        rng = np.random.default_rng(1)
        y = np.where(rng.random(len(y)) < 0.3, "lung", y)
        model = make_pipeline(CountVectorizer(), MultinomialNB())
        ours = downstream_accuracy({"original": texts}, y, groups, model, n_splits=3, seed=7)["original"]
        folds = StratifiedGroupKFold(3, shuffle=True, random_state=7)
        theirs = cross_val_predict(model, texts, y, cv=folds, groups=groups.astype(str))
        assert ours.accuracy.value == pytest.approx(np.mean(theirs == y))
        assert ours.difference.value == 0.0

    def test_any_classifier_and_unlabelled_notes(self):
        notes, labels = many()
        labels = [None if i < 8 else label for i, label in enumerate(labels)]
        model = make_pipeline(CountVectorizer(), LogisticRegression())
        report = utility_report(notes, notes, notes, labels=labels, classifier=model, n_grams=0, n_splits=3, **SMALL)
        assert report.value("classification", "redacted", "accuracy minus original") == 0.0

    def test_a_missing_label_of_pandas_is_no_class(self):
        rows, y = check_labels(["a", float("nan"), "b"], np.array(["p", "q", "r"]), 1)
        assert (rows.tolist(), y.tolist()) == ([0, 2], ["a", "b"])

    def test_number_of_labelled_notes(self):
        notes, labels = many()
        report = utility_report(notes, notes, notes, labels=[None, *labels[1:]], n_grams=0, **SMALL)
        assert report.value("classification", "redacted", "n notes") == 47

    def test_a_version_without_a_word_is_named(self):
        notes, labels = many()
        with pytest.raises(ValueError, match="No note of 'baseline' has a word"):
            utility_report(notes, notes, notes, baseline=[None] * 48, labels=labels, n_grams=0, **SMALL)

    def test_errors(self):
        groups = np.array(["p", "q", "r"])
        with pytest.raises(SequenceError, match="one class for each of 3 notes. Got 2"):
            check_labels(["a", "b"], groups, 2)
        with pytest.raises(ValueError, match="at least two classes"):
            check_labels(["a", "a", "a"], groups, 2)
        with pytest.raises(ValueError, match="at least n_splits=2 patients; 1 of 2 classes have fewer, the smallest 1"):
            check_labels(["a", "a", "b"], groups, 2)


@pytest.fixture(scope="module")
def report():
    notes, labels = many(40)
    texts = [d.text.replace("Ana", "[PATIENT]") for d in notes]
    texts[3] = None
    options = {"n_topics": (2, 3), "n_words": 5, "n_repeats": 2, "n_splits": 2, "random_state": 3}
    arguments = {"labels": labels, "clinical_terms": ["heart"], **options}
    return utility_report(notes, notes, texts, **arguments), utility_report(notes, notes, texts, **arguments)


class TestForms:
    def test_same_seed_same_figures(self, report):
        assert report[0] == report[1]

    def test_dict_is_json(self, report):
        nested = json.loads(json.dumps(report[0].to_dict()))
        assert nested["n_withheld"] == 1
        assert nested["n_topics"] in (2, 3)
        assert set(nested["topics"]) == {"original, another seed", "gold", "redacted"}
        assert nested["bleu"]["gold"]["bleu-1"]["low"] is None

    def test_frame(self, report):
        frame = report[0].to_frame()
        assert len(frame) == len(report[0].figures)
        assert frame.loc[("bleu", "gold", "bleu-1"), "value"] == report[0].value("bleu", "gold", "bleu-1")

    def test_markdown(self, report):
        text = str(report[0])
        assert text.startswith("40 notes of 20 patients, 1 withheld; 95% intervals.")
        tables = [block.splitlines() for block in text.split("\n\n")[1:]]
        assert len(tables) == 5
        assert all(len({line.count("|") for line in table}) == 1 for table in tables)

    def test_repr_and_tables_show_no_word(self, report):
        assert repr(report[0]) == f"UtilityReport(40 notes of 20 patients, {len(report[0].figures)} figures)"
        assert "heart" not in str(report[0]) + repr(report[0]) + json.dumps(report[0].to_dict())

    def test_unknown_figure(self, report):
        with pytest.raises(KeyError, match="There is no figure"):
            report[0].value("bleu", "gold", "bleu-9")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_word": 3}, TypeError, "no setting 'n_word'; the settings are"),
        ({"n_words": 0}, ValueError, "'n_words' parameter of utility_report must be an integer of at least 1"),
        ({"n_grams": -1}, ValueError, "'n_grams' parameter of utility_report must be an integer of at least 0"),
        ({"n_topics": "auto"}, ValueError, "'n_topics' parameter of utility_report must be an integer of at least 1"),
        ({"n_topics": (2, 0)}, ValueError, "'n_topics' parameter"),
        ({"n_splits": 1}, ValueError, "'n_splits' parameter of utility_report must be an integer of at least 2"),
        ({"confidence": 1}, ValueError, "'confidence' parameter of utility_report must be between 0 and 1"),
        ({"placeholder": "["}, ValueError, "'placeholder' parameter of utility_report must be a regular expression"),
        ({"clinical_terms": "pain"}, TypeError, "'clinical_terms' must be a sequence of texts. Got str"),
        ({"clinical_terms": []}, ValueError, "'clinical_terms' is empty"),
        ({"clinical_terms": [" "]}, ValueError, "Number 0 of 'clinical_terms' has no token"),
        ({"clinical_terms": ["a", 3]}, TypeError, "Number 1 is a int"),
    ],
)
def test_settings_are_checked(settings, error, message):
    with pytest.raises(error, match=message):
        utility_report(pair(GOLD), pair(GOLD), pair(WRONG), **({"n_topics": None} | settings))


def test_without_sacrebleu_the_extra_is_named(monkeypatch):
    import sys

    from sklearn_deid.exceptions import MissingDependencyError

    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises((MissingDependencyError, ModuleNotFoundError), match="sacrebleu"):
        utility_report(pair(GOLD), pair(GOLD), pair(WRONG), **SMALL)
    utility_report(pair(GOLD), pair(GOLD), pair(WRONG), n_grams=0, **SMALL)
