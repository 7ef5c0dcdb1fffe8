"""The report of a corpus: sums, means, HIPAA, who is missing, and the three forms."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import Corpus, Document, Span, deid_report
from sklearn_deid.exceptions import DeidError, MissingDependencyError
from sklearn_deid.metrics import RULES, infer_label_scheme, pair_documents
from sklearn_deid.text import I2B2_2014, MEDDOCAN, LabelScheme

from .official_rules import HIPAA_PAIRS, I2B2_LABELS, disjoint_spans, documents, note, official

KEYS = (*RULES, *(f"hipaa_{rule}" for rule in RULES), "merged")
MEASURES = {"precision", "recall", "f1", "support", "tp", "fp", "fn"}


def corpora(strategy=disjoint_spans):
    return st.lists(documents(strategy), min_size=1, max_size=3)


def both_sides(cases):
    gold = Corpus(note(text, spans, f"n{i}") for i, (text, spans, _) in enumerate(cases))
    predicted = Corpus(note(text, spans, f"n{i}") for i, (text, _, spans) in enumerate(cases))
    return gold, predicted


def report_of(gold, predicted, **options):
    return deid_report(gold, predicted, output="dict", **options)


@given(cases=corpora())
def test_equals_the_official_scores(cases):
    report = report_of(*both_sides(cases), label_scheme="i2b2-2014")
    for key in KEYS:
        each = [official(key, *case) for case in cases]
        tp, fp, fn = (sum(column) for column in zip(*each, strict=True))
        precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
        assert (report[key]["tp"], report[key]["fp"], report[key]["fn"]) == (tp, fp, fn)
        assert report[key]["support"] == tp + fn
        # The scripts print 0 where there is nothing to divide by.
        assert report[key]["precision"] == (pytest.approx(precision) if tp + fp else None)
        assert report[key]["recall"] == (pytest.approx(recall) if tp + fn else None)
        f1 = ratio(2 * precision * recall, precision + recall)
        assert report[key]["f1"] == (pytest.approx(f1) if tp + fp + fn else None)
        mean_p = sum(ratio(a, a + b) for a, b, _ in each) / len(each)
        mean_r = sum(ratio(a, a + c) for a, _, c in each) / len(each)
        macro = {"precision": mean_p, "recall": mean_r, "f1": ratio(2 * mean_p * mean_r, mean_p + mean_r)}
        assert report[key]["macro"] == pytest.approx(macro)


def row_of(table, name):
    """Cells of the first row of a table that holds a name."""
    return next(line for line in table.splitlines() if name in line).split()


def ratio(part, whole):
    return part / whole if whole else 0.0


@given(cases=corpora())
def test_parts_add_up(cases):
    report = report_of(*both_sides(cases), label_scheme="i2b2-2014")
    for measure in ("support", "tp", "fp", "fn"):
        for key in ("strict", "relaxed", "token", "hipaa_strict", "hipaa_relaxed", "hipaa_token"):
            for part in ("by_category", "by_label"):
                assert sum(row[measure] for row in report[key][part].values()) == report[key][measure]
        assert sum(row[measure] for row in report["by_document"].values()) == report["strict"][measure]
    for label, row in report["strict"]["by_label"].items():
        alone = [(text, with_label(a, label), with_label(b, label)) for text, a, b in cases]
        assert row == only_measures(report_of(*both_sides(alone))["strict"])
    for category, row in report["token"]["by_category"].items():
        alone = [(text, with_category(a, category), with_category(b, category)) for text, a, b in cases]
        assert row == only_measures(report_of(*both_sides(alone))["token"])


def with_label(spans, label):
    return [span for span in spans if span.label == label]


def with_category(spans, category):
    return [span for span in spans if I2B2_LABELS[span.label] == category]


def only_measures(scores):
    return {measure: scores[measure] for measure in MEASURES}


@given(cases=corpora())
def test_gold_against_itself_and_order_of_documents(cases):
    gold, predicted = both_sides(cases)
    report = report_of(gold, list(gold), label_scheme="i2b2-2014")
    for key in KEYS:
        assert report[key]["f1"] == (1.0 if report[key]["support"] else None)
    assert report_of(gold, predicted) == report_of(gold, list(predicted)[::-1])


HIPAA = "PATIENT CITY STREET ZIP ORGANIZATION DATE AGE PHONE FAX EMAIL SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE"
HIPAA += " VEHICLE DEVICE BIOID"


def test_hipaa_counts_the_official_labels_and_not_idnum():
    text = "x" * len(I2B2_2014.labels)
    gold = [Document("n", text, tuple(Span(i, i + 1, label) for i, label in enumerate(I2B2_2014.labels)))]
    report = report_of(gold, gold)
    assert set(report["hipaa_strict"]["by_label"]) == set(HIPAA.split())
    assert report["hipaa_strict"]["support"] == len(HIPAA.split())
    assert {pair[1] for pair in HIPAA_PAIRS} <= set(HIPAA.split())


def test_hipaa_wants_a_hipaa_label_on_both_sides_even_without_types():
    gold, predicted = [note("abc", [Span(0, 3, "PATIENT")])], [note("abc", [Span(0, 3, "DOCTOR")])]
    report = report_of(gold, predicted)
    assert report["binary_strict"]["f1"] == 1.0
    assert (report["hipaa_binary_strict"]["fn"], report["hipaa_binary_strict"]["fp"]) == (1, 0)
    assert report["binary_strict"]["by_label"]["PATIENT"]["recall"] == 1.0


class TestScheme:
    """Which labels are HIPAA's and what category a label has."""

    def test_known_schemes_are_recognised(self):
        def spans(*labels):
            return [note("abcdef", [Span(i, i + 1, label) for i, label in enumerate(labels)])]

        assert infer_label_scheme(None, spans("PATIENT", "IDNUM")) is I2B2_2014
        assert infer_label_scheme(None, spans("TERRITORIO", "HOSPITAL")) is MEDDOCAN
        assert infer_label_scheme(None, spans("TERRITORIO", "PATIENT")) is None
        assert infer_label_scheme("meddocan", spans("PATIENT")) is MEDDOCAN

    def test_without_a_scheme_there_are_no_hipaa_scores(self):
        gold = [note("abc", [Span(0, 1, "SECRET")])]
        report = report_of(gold, gold)
        assert [report[f"hipaa_{rule}"] for rule in RULES] == [None] * len(RULES)
        assert list(report["by_category"]) == ["(no category)"]
        assert "HIPAA scores are not available: the labels belong to no known scheme" in deid_report(gold, gold)
        assert "HIPAA" not in deid_report(gold, gold, output="frame").index.get_level_values("rule")

    def test_a_scheme_of_ones_own(self):
        own = LabelScheme("own", {"SECRET": "HIDDEN"}, frozenset({"SECRET"}))
        gold = [note("abc", [Span(0, 1, "SECRET")])]
        report = report_of(gold, gold, label_scheme=own)
        assert report["hipaa_token"]["support"] == 1
        assert list(report["by_category"]) == ["HIDDEN"]

    def test_categories_of_spans_serve_where_the_scheme_has_none(self):
        gold = [note("abc", [Span(0, 1, "SECRET", category="HIDDEN")])]
        predicted = [note("abc", [Span(0, 1, "SECRET")])]
        assert report_of(gold, predicted)["by_category"]["HIDDEN"]["f1"] == 1.0

    def test_a_prediction_of_another_category_is_right_by_its_label(self):
        gold = [note("abc", [Span(0, 1, "CITY", category="LOCATION")])]
        predicted = [note("abc", [Span(0, 1, "CITY", category="PLACE")])]
        assert report_of(gold, predicted)["strict"]["f1"] == 1.0

    def test_unknown_name(self):
        with pytest.raises(ValueError, match="label scheme must be one of"):
            deid_report([], [], label_scheme="hipaa-2030")


class TestMissingDocuments:
    """The official scripts leave them out; here they are refused, or counted and named."""

    GOLD = (note("Ana left", [Span(0, 3, "PATIENT")], "a"), note("Ben left", [Span(0, 3, "PATIENT")], "b"))

    def test_refused_by_default(self):
        with pytest.raises(DeidError, match=r"1 gold documents have no prediction.*missing='count'.*document b"):
            deid_report(self.GOLD, self.GOLD[:1])

    def test_counted_and_named(self):
        report = report_of(self.GOLD, self.GOLD[:1], missing="count")
        assert report["missing_documents"] == ("b",)
        assert [report[key]["fn"] for key in KEYS] == [1] * len(KEYS)
        assert (report["n_documents"], report["strict"]["macro"]["recall"]) == (2, 0.5)
        assert "documents without prediction, wholly missed: b" in deid_report(
            self.GOLD, self.GOLD[:1], missing="count"
        )
        frame = deid_report(self.GOLD, self.GOLD[:1], output="frame", missing="count")
        assert frame.attrs["missing_documents"] == ["b"]

    def test_a_document_that_is_not_gold_is_refused(self):
        for missing in ("raise", "count"):
            with pytest.raises(
                DeidError, match=r"1 predicted documents are not among the gold documents. \[document b\]"
            ):
                deid_report(self.GOLD[:1], self.GOLD, missing=missing)

    def test_another_text_is_refused_without_showing_it(self):
        other = (note("Ana felt", [], "a"), self.GOLD[1])
        with pytest.raises(DeidError, match=r"differ from character 4 on.*\[document a\]") as caught:
            deid_report(self.GOLD, other)
        assert "Ana" not in str(caught.value)
        with pytest.raises(DeidError, match="of 9 and 8 characters; they differ from character 8 on"):
            deid_report(self.GOLD[:1], [note("Ana left\n", [], "a")])

    def test_repeated_id_is_refused(self):
        with pytest.raises(ValueError, match="Document ids must be distinct"):
            deid_report(self.GOLD, [self.GOLD[0], *self.GOLD])

    def test_pairs_follow_the_gold_documents(self):
        pairing = pair_documents(iter(self.GOLD), iter(self.GOLD[::-1]))
        assert [(a.doc_id, b.doc_id) for a, b in pairing.pairs] == [("a", "a"), ("b", "b")]


class TestLeakScore:
    """MEDDOCAN: missed typed spans per sentence."""

    TEXT = "Seen today by Ana.\n\nSent home by Ben.\n\nNo complaints."
    GOLD = (note(TEXT, [Span(14, 17, "DOCTOR"), Span(33, 36, "DOCTOR")], "a"), note("", [], "b"))
    PREDICTED = (note(TEXT, [Span(14, 17, "DOCTOR"), Span(33, 36, "PATIENT")], "a"), note("", [], "b"))

    def test_not_available_without_sentences(self):
        report = report_of(self.GOLD, self.PREDICTED)
        assert report["leak"] is None
        assert report["by_document"]["a"]["leak"] is None
        assert "per sentence               not available" in deid_report(self.GOLD, self.PREDICTED)

    def test_sentences_given(self):
        report = report_of(self.GOLD, self.PREDICTED, sentences={"a": 4, "b": 1})
        assert report["leak"] == {"missed": 1, "sentences": 5, "per_sentence": 0.2}
        assert (report["by_document"]["a"]["leak"], report["by_document"]["b"]["leak"]) == (0.25, 0.0)

    def test_no_sentence_at_all_is_undefined(self):
        report = report_of(self.GOLD[1:], self.PREDICTED[1:], sentences="count")
        assert report["leak"] == {"missed": 0, "sentences": 0, "per_sentence": None}
        assert row_of(deid_report(self.GOLD[1:], self.PREDICTED[1:], sentences="count"), "per sentence")[-1] == "-"

    def test_sentences_counted(self):
        report = report_of(self.GOLD, self.PREDICTED, sentences="count")
        assert report["leak"] == {"missed": 1, "sentences": 3, "per_sentence": pytest.approx(1 / 3)}
        assert report["by_document"]["b"]["leak"] is None  # no sentence at all
        assert "0.3333" in deid_report(self.GOLD, self.PREDICTED, sentences="count")

    def test_a_document_without_number_is_refused(self):
        with pytest.raises(DeidError, match=r"has no number of sentences.*document b"):
            deid_report(self.GOLD, self.PREDICTED, sentences={"a": 4})
        for wrong in (-1, 0.5, None):  # a leak of -1 missed span per sentence, or of none
            with pytest.raises(DeidError, match=r"has no number of sentences.*document b"):
                deid_report(self.GOLD, self.PREDICTED, sentences={"a": 4, "b": wrong})
        with pytest.raises(ValueError, match="'sentences' parameter of deid_report must be 'count', a mapping"):
            deid_report(self.GOLD, self.PREDICTED, sentences=7)


WHOLE_TABLE = """
2 documents, 5 PHI spans

Missed
tokens, under whatever label 3 of 7 (42.86%)
of them with a HIPAA label 1 of 5 (20.00%)
spans, under whatever label 2 of 5 (40.00%)
spans, with their label 3 of 5 (60.00%)
spans with their label, per sentence 0.7500

Missed tokens by their label
DOCTOR 2 of 2 (100.00%)
PATIENT 1 of 3 (33.33%)

Scores precision recall f1 gold missed invented macro f1
spans, typed 0.6667 0.4000 0.5000 5 3 1 0.2857
spans, typed, ends within 2 characters 0.6667 0.4000 0.5000 5 3 1 0.2857
spans, any type 1.0000 0.6000 0.7500 5 2 0 0.4286
spans, any type, neighbours joined 1.0000 0.6667 0.8000 6 2 0 0.4444
tokens, typed 0.7500 0.4286 0.5455 7 4 1 0.3000
tokens, any type 1.0000 0.5714 0.7273 7 3 0 0.4000
HIPAA spans, typed 0.6667 0.5000 0.5714 4 2 1 0.3333
HIPAA spans, typed, ends within 2 characters 0.6667 0.5000 0.5714 4 2 1 0.3333
HIPAA spans, any type 1.0000 0.7500 0.8571 4 1 0 0.5000
HIPAA tokens, typed 0.7500 0.6000 0.6667 5 2 1 0.3750
HIPAA tokens, any type 1.0000 0.8000 0.8889 5 1 0 0.5000

By category (spans, typed) precision recall f1 gold missed invented
NAME 1.0000 0.3333 0.5000 3 2 0
AGE - 0.0000 0.0000 1 1 0
LOCATION 1.0000 1.0000 1.0000 1 0 0
DATE 0.0000 - 0.0000 0 0 1

By label (spans, typed) precision recall f1 gold missed invented
PATIENT 1.0000 0.5000 0.6667 2 1 0
AGE - 0.0000 0.0000 1 1 0
CITY 1.0000 1.0000 1.0000 1 0 0
DOCTOR - 0.0000 0.0000 1 1 0
DATE 0.0000 - 0.0000 0 0 1
"""


class TestForms:
    """Table, dict and frame say the same."""

    TEXT = "Ana Mar, 44, of Leeds; Dr. Sol"
    SPANS = (Span(0, 7, "PATIENT"), Span(9, 11, "AGE"), Span(16, 21, "CITY"), Span(27, 30, "DOCTOR"))
    GOLD = Corpus([note(TEXT, SPANS, "a"), note("Ben", [Span(0, 3, "PATIENT")], "b")])
    PREDICTED = Corpus([note(TEXT, SPANS[:3], "a"), note("Ben", [], "b")])

    def test_dict_has_every_key_and_is_plain(self):
        report = report_of(self.GOLD, self.PREDICTED)
        others = {"by_category", "by_label", "by_document", "leak", "n_documents", "missing_documents", "other_letters"}
        assert {*KEYS, *others} == set(report)
        for key in KEYS:
            parts = {"macro"} if key == "merged" else {"macro", "by_label", "by_category"}
            assert set(report[key]) == MEASURES | parts
        json.dumps(report)

    def test_table_says_first_what_was_missed(self):
        lines = deid_report(self.GOLD, self.PREDICTED).splitlines()
        assert lines[:2] == ["2 documents, 5 PHI spans", ""]
        assert lines[2] == "Missed"
        assert lines[3].split() == "tokens, under whatever label 2 of 6 (33.33%)".split()
        assert lines[4].split() == "of them with a HIPAA label 1 of 5 (20.00%)".split()
        assert lines.index("Missed tokens by their label") < next(i for i, s in enumerate(lines) if s[:6] == "Scores")
        typed = next(line for line in lines if line.startswith("  spans, typed "))
        assert typed.split()[2:] == ["1.0000", "0.6000", "0.7500", "5", "2", "0", "0.4286"]  # macro: P 1/2, R 3/8

    def test_whole_table_worked_by_hand(self):
        """The doctor and the second patient are missed, the age is found as a date."""
        gold = [note(self.TEXT, [*self.SPANS[:3], Span(23, 30, "DOCTOR")], "a"), self.GOLD[1]]
        predicted = [note(self.TEXT, [self.SPANS[0], Span(9, 11, "DATE"), self.SPANS[2]], "a"), note("Ben", [], "b")]
        lines = deid_report(gold, predicted, sentences={"a": 3, "b": 1}).splitlines()
        assert [" ".join(line.split()) for line in lines] == WHOLE_TABLE.strip().splitlines()
        first, last = lines.index(next(line for line in lines if line.startswith("Scores"))), lines.index("", 18)
        assert len({len(line) for line in lines[first:last]}) == 1  # columns stand under their headings

    def test_table_shows_no_text(self):
        table = deid_report(self.GOLD, self.PREDICTED)
        assert not [word for word in ("Ana", "Mar", "Leeds", "Sol", "Ben") if word in table]

    def test_frame_holds_what_the_dict_holds(self):
        report = report_of(self.GOLD, self.PREDICTED)
        frame = deid_report(self.GOLD, self.PREDICTED, output="frame")
        for key in KEYS:
            row = frame.loc[(key, "micro", "")]
            assert {name: row[name] for name in MEASURES} == only_measures(report[key])
            assert frame.loc[(key, "macro", "")]["f1"] == report[key]["macro"]["f1"]
        assert frame.loc[("token", "label", "PATIENT")]["fn"] == 1
        assert frame.loc[("hipaa_strict", "category", "NAME")]["recall"] == 0.5
        assert frame.loc[("strict", "document", "b")]["recall"] == 0.0
        assert frame["fn"].dtype == "Int64"

    def test_frame_without_pandas_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingDependencyError, match=r"'pandas' is needed.*sklearn-deid\[frames\]"):
            deid_report(self.GOLD, self.PREDICTED, output="frame")

    def test_scores_of_nothing_at_all_are_undefined(self):
        """0 of 0 tokens missed was shown as 0.00 %, and 0 / 0 as a score of 0."""
        scores = ("precision", "recall", "f1")
        report = report_of([note("abc")], [note("abc")])
        for key in KEYS:
            assert only_measures(report[key]) == dict.fromkeys(MEASURES, 0) | dict.fromkeys(scores)
            assert report[key]["macro"] == dict.fromkeys(scores, 0.0)  # one document, as in the scripts
        assert json.loads(json.dumps(report, allow_nan=False))["strict"]["recall"] is None
        table = deid_report([note("abc")], [note("abc")])
        assert row_of(table, "tokens, under whatever label")[-4:] == ["0", "of", "0", "(-)"]
        assert row_of(table, "spans, typed")[2:] == ["-", "-", "-", "0", "0", "0", "0.0000"]
        assert deid_report([note("abc")], [note("abc")], output="frame")["recall"].isna().sum() == len(KEYS) + 1
        nothing = report_of([], [])
        assert (nothing["n_documents"], nothing["strict"]["macro"]) == (0, dict.fromkeys(scores))
        assert "  none" in deid_report([], []).splitlines()
        assert len(deid_report([], [], output="frame")) == 2 * len(KEYS)

    def test_a_label_that_is_only_found_under_another_has_no_f1(self):
        gold, predicted = [note("Ana", [Span(0, 3, "PATIENT")])], [note("Ana", [Span(0, 3, "DOCTOR")])]
        by_label = report_of(gold, predicted)["binary_token"]["by_label"]
        assert [by_label["PATIENT"][name] for name in ("precision", "recall", "f1")] == [None, 1.0, None]
        assert [by_label["DOCTOR"][name] for name in ("precision", "recall", "f1")] == [1.0, None, None]

    def test_rounding_hides_no_missed_span(self):
        """One missed span of 21,000 was shown as a recall of 1.0000, with 0.00 % missed."""
        text = "a " * 21_000
        spans = [Span(2 * i, 2 * i + 1, "PATIENT") for i in range(21_000)]
        table = deid_report([note(text, spans)], [note(text, spans[1:])])
        assert row_of(table, "spans, typed")[2:6] == ["1.0000", "0.9999", "0.9999", "21000"]
        assert row_of(table, "spans, with their label")[-4:] == ["1", "of", "21000", "(0.01%)"]

    def test_wrong_parameters(self):
        with pytest.raises(
            ValueError, match="'output' parameter of deid_report must be 'table', 'dict' or 'frame'. Got 'html'"
        ):
            deid_report(self.GOLD, self.PREDICTED, output="html")
        with pytest.raises(ValueError, match="'missing' parameter must be 'raise' or 'count'. Got 'skip'"):
            deid_report(self.GOLD, self.PREDICTED, missing="skip")
        with pytest.raises(TypeError, match="A Corpus holds Document objects. Got str"):
            deid_report(self.GOLD, ["a", "b"])


def test_ids_and_labels_do_not_forge_lines_of_the_table():
    gold = [Document("a\n  spans, with their label 0 of 0", "Ana", (Span(0, 3, "NAME\x1b[2J"),))]
    table = deid_report(gold, [], missing="count")
    assert "\x1b" not in table
    assert "wholly missed: a   spans, with their label 0 of 0\n" in table


@pytest.mark.parametrize("text", ["Иван Петров", "Ωμέγα Ψι", "王小明 李四", "Élée Ñandú"])
def test_missed_letters_outside_of_ascii_are_in_the_table(text):
    end = text.index(" ")
    gold = [Document("n", text, (Span(0, len(text), "PATIENT"),))]
    half = [Document("n", text, (Span(end + 1, len(text), "CITY"),))]
    hidden = [Document("n", text, (Span(0, len(text), "CITY"),))]
    letters = [c for c in text if c.isalpha() and not c.isascii()]
    n_missed = sum(not c.isascii() for c in text[:end])
    report = report_of(gold, half)
    assert report["other_letters"] == {"support": len(letters), "tp": len(letters) - n_missed, "fn": n_missed}
    row = next(line for line in deid_report(gold, half).splitlines() if "outside of ASCII" in line)
    assert row.split()[-4:-1] == [str(n_missed), "of", str(len(letters))]
    assert report_of(gold, hidden)["other_letters"]["fn"] == 0
    assert "outside of ASCII" not in deid_report(*[[Document("n", "Roe", (Span(0, 3, "PATIENT"),))]] * 2)
