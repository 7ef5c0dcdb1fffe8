"""One document under each rule: the thesis' worked example, the official rules, and laws."""

import pytest
from hypothesis import given

from sklearn_deid import Span
from sklearn_deid.metrics import RULES, Counts, compare, compare_by_label, merged_counts

from .official_rules import ALPHABET, I2B2_LABELS, disjoint_spans, documents, note, official

WORKS = "She works in software engineering"
SOFTWARE, ENGINEERING, BOTH, VERB = (13, 21), (22, 33), (13, 33), (4, 9)

# Friedrich (2018), master's thesis, table 3.1: TP, FP, FN of spans and spans without type, tokens and tokens without.
TABLE_3_1 = [
    ([(*BOTH, "PROFESSION")], [(1, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0, 0)]),
    ([], [(0, 0, 1), (0, 0, 1), (0, 0, 2), (0, 0, 2)]),
    ([(*VERB, "PROFESSION")], [(0, 1, 1), (0, 1, 1), (0, 1, 2), (0, 1, 2)]),
    ([(*SOFTWARE, "ORGANIZATION")], [(0, 1, 1), (0, 1, 1), (0, 1, 2), (1, 0, 1)]),
    ([(*ENGINEERING, "PROFESSION")], [(0, 1, 1), (0, 1, 1), (1, 0, 1), (1, 0, 1)]),
    ([(*BOTH, "ORGANIZATION")], [(0, 1, 1), (1, 0, 0), (0, 2, 2), (2, 0, 0)]),
    ([(*SOFTWARE, "PROFESSION"), (*ENGINEERING, "PROFESSION")], [(0, 2, 1), (0, 2, 1), (2, 0, 0), (2, 0, 0)]),
    ([(*SOFTWARE, "ORGANIZATION"), (*ENGINEERING, "PROFESSION")], [(0, 2, 1), (0, 2, 1), (1, 1, 1), (2, 0, 0)]),
]


ALL_RULES = (*RULES, "merged")


def triple(counts):
    return counts.tp, counts.fp, counts.fn


@pytest.mark.parametrize(("predicted", "expected"), TABLE_3_1)
def test_worked_example_of_the_thesis(predicted, expected):
    gold = [Span(*BOTH, "PROFESSION")]
    spans = [Span(*span) for span in predicted]
    rules = ("strict", "binary_strict", "token", "binary_token")
    assert [triple(compare(rule, note(WORKS), gold, spans)) for rule in rules] == expected


def count(rule, text, gold, predicted):
    return (
        merged_counts(note(text), gold, predicted) if rule == "merged" else compare(rule, note(text), gold, predicted)
    )


@given(case=documents(disjoint_spans))
def test_equal_the_official_rules_on_spans_as_taggers_make_them(case):
    for rule in ALL_RULES:
        counts = count(rule, *case)
        assert triple(counts) == official(rule, *case)
        assert counts.n_predicted == counts.tp + counts.fp


@given(case=documents())
def test_equal_the_official_rules_on_any_spans(case):
    for rule in ALL_RULES:
        assert triple(count(rule, *case)) == official(rule, *case)


class FuzzyTag:
    """A tag as the official script compares it for "relaxed": in a set whose equality allows ends to differ."""

    def __init__(self, span):
        self.key, self.end = (span.label, span.start), span.end

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return self.key == other.key and abs(self.end - other.end) <= 2


@given(case=documents(disjoint_spans))
def test_relaxed_equals_sets_with_fuzzy_equality(case):
    text, gold, predicted = case
    wanted, found = {FuzzyTag(s) for s in gold}, {FuzzyTag(s) for s in predicted}
    expected = len(wanted & found), len(found - wanted), len(wanted - found)
    assert triple(compare("relaxed", note(text), gold, predicted)) == expected


@given(case=documents())
def test_gold_against_itself_is_perfect(case):
    text, gold, _ = case
    perfect = 1.0 if gold else 0.0
    for rule in ALL_RULES:
        counts = count(rule, text, gold, gold)
        assert (counts.fp, counts.fn, counts.f1, counts.precision, counts.recall) == (0, 0, perfect, perfect, perfect)


@given(case=documents())
def test_swapping_the_sides_swaps_precision_and_recall(case):
    text, gold, predicted = case
    for rule in ALL_RULES:
        there, back = count(rule, text, gold, predicted), count(rule, text, predicted, gold)
        assert (there.fp, there.fn) == (back.fn, back.fp)
        assert (there.precision, there.recall, there.f1) == pytest.approx((back.recall, back.precision, back.f1))


@given(case=documents(disjoint_spans))
def test_the_kinder_rule_gives_no_less(case):
    for kinder, stricter in (("relaxed", "strict"), ("binary_strict", "strict"), ("binary_token", "token")):
        kind, strict = count(kinder, *case), count(stricter, *case)
        assert kind.recall >= strict.recall
        assert kind.precision >= strict.precision
        assert kind.tp >= strict.tp


@given(case=documents())
def test_order_and_repetition_change_nothing(case):
    text, gold, predicted = case
    for rule in ALL_RULES:
        assert count(rule, text, gold[::-1] * 2, predicted * 3) == count(rule, text, gold, predicted)


@given(case=documents())
def test_labels_add_up_to_the_whole_under_typed_rules(case):
    text, gold, predicted = case
    for rule in ("strict", "relaxed", "token"):
        parts = compare_by_label(rule, note(text), gold, predicted)
        assert sum(parts.values(), start=Counts()) == count(rule, *case)
        for label, counts in parts.items():
            assert counts == count(rule, text, with_label(gold, label), with_label(predicted, label))


@given(case=documents())
def test_binary_by_label_asks_whether_it_is_hidden_at_all(case):
    text, gold, predicted = case
    for rule in ("binary_strict", "binary_token"):
        for label, counts in compare_by_label(rule, note(text), gold, predicted).items():
            found = count(rule, text, with_label(gold, label), predicted)
            right = count(rule, text, gold, with_label(predicted, label))
            assert (counts.tp, counts.fn) == (found.tp, found.fn)
            assert (counts.fp, counts.n_predicted) == (right.fp, right.n_predicted)


def with_label(spans, label):
    return [span for span in spans if span.label == label]


class TestTokens:
    """Runs of ASCII letters and digits, each at its own place."""

    def counts(self, text, *predicted, gold=None, rule="token"):
        whole = [Span(0, len(text), "DOCTOR")] if gold is None else gold
        return triple(compare(rule, note(text), whole, [Span(*p, "DOCTOR") for p in predicted]))

    def test_white_space_and_punctuation_play_no_part(self):
        assert self.counts("a. b-c", (0, 1), (3, 4), (5, 6)) == (3, 0, 0)

    def test_an_accented_letter_separates(self):
        assert self.counts("Muñoz", (0, 2)) == (1, 0, 1)
        assert self.counts("Muñoz", (0, 3)) == (1, 0, 1)

    def test_underscore_separates(self):
        assert self.counts("a_b", (0, 1)) == (1, 0, 1)

    def test_a_run_cut_in_two_is_neither(self):
        assert self.counts("abcd", (0, 2), (2, 4)) == (0, 2, 1)

    def test_a_span_without_run_is_one_item_at_its_end(self):
        assert self.counts("éé", (1, 2)) == (1, 0, 0)
        assert self.counts("éé", (0, 1)) == (0, 1, 1)

    def test_overlapping_spans_share_a_token(self):
        gold = [Span(0, 3, "DOCTOR"), Span(2, 3, "DOCTOR")]
        assert self.counts("a b", (2, 3), gold=gold) == (1, 0, 1)


class TestRelaxed:
    """The end may be off by two characters, the start by none."""

    @pytest.mark.parametrize(
        ("end", "found"), [(3, False), (4, True), (5, True), (6, True), (7, True), (8, True), (9, False)]
    )
    def test_end(self, end, found):
        counts = compare("relaxed", note("x" * 10), [Span(1, 6, "AGE")], [Span(1, end, "AGE")])
        assert triple(counts) == ((1, 0, 0) if found else (0, 1, 1))

    def test_start_and_label_must_agree(self):
        for other in (Span(2, 6, "AGE"), Span(1, 6, "DATE")):
            assert triple(compare("relaxed", note("x" * 10), [Span(1, 6, "AGE")], [other])) == (0, 1, 1)

    def test_several_matches_of_one_span(self):
        gold, predicted = [Span(0, 5, "AGE")], [Span(0, 3, "AGE"), Span(0, 7, "AGE")]
        counts = compare("relaxed", note("x" * 10), gold, predicted)
        assert (counts.precision, counts.recall, counts.support) == (1.0, 1.0, 1)


class TestMerged:
    """Worked by hand. The text's words stand at 0-3, 4-7, 8-11 and 13-16, a comma at 11."""

    TEXT = "Ana Mar Gil, Sol"

    def counts(self, gold, predicted):
        sides = [[Span(*pair, "NAME") for pair in side] for side in (gold, predicted)]
        return triple(merged_counts(note(self.TEXT), *sides))

    def test_one_for_two(self):
        assert self.counts([(0, 7)], [(0, 3), (4, 7)]) == (1, 0, 0)
        assert self.counts([(0, 3), (4, 7)], [(0, 7)]) == (1, 0, 0)

    def test_strict_matches_count_beside_the_joined_one(self):
        assert self.counts([(0, 3), (4, 7)], [(0, 3), (4, 7)]) == (3, 0, 0)

    def test_strict_match_stays_right_where_joining_differs(self):
        # Joined, gold is 0-7 and predicted 0-11; only the strict match 0-3 is right and forgives nothing else.
        assert self.counts([(0, 3), (4, 7)], [(0, 3), (4, 11)]) == (1, 1, 1)

    def test_a_letter_in_the_gap_keeps_apart(self):
        assert self.counts([(0, 3), (8, 11)], [(0, 11)]) == (0, 1, 2)

    def test_punctuation_in_the_gap_joins(self):
        assert self.counts([(0, 11), (13, 16)], [(0, 16)]) == (1, 0, 0)

    def test_a_piece_of_something_right_is_forgiven(self):
        # Ana Mar and its piece Mar were predicted: the piece lies within a match.
        assert self.counts([(0, 7), (13, 16)], [(0, 7), (4, 7)]) == (1, 0, 1)

    def test_labels_play_no_part(self):
        gold, predicted = [Span(0, 3, "NAME")], [Span(0, 3, "CITY")]
        assert triple(merged_counts(note(self.TEXT), gold, predicted)) == (1, 0, 0)

    def test_nested_spans_end_where_the_later_one_ends(self):
        # As the official script has it: 0-11 and 4-7 join to 0-7, which equals the gold span; 0-11 is not forgiven.
        assert self.counts([(0, 7)], [(0, 11), (4, 7)]) == (1, 1, 0)


def test_scores_without_anything_are_zero():
    empty = Counts()
    assert (empty.precision, empty.recall, empty.f1, empty.support) == (0.0, 0.0, 0.0, 0)
    assert Counts(fn=2).precision == 0.0
    assert Counts(fp=2, n_predicted=2).recall == 0.0


def test_unknown_rule():
    for function in (compare, compare_by_label):
        with pytest.raises(ValueError, match="'rule' parameter must be one of .* Got 'exact'"):
            function("exact", note("x"), [], [])


def test_oracle_covers_what_the_alphabet_is_for():
    assert {c.isalnum() and not c.isascii() for c in ALPHABET} == {True, False}
    assert len(set(I2B2_LABELS.values())) > 4
