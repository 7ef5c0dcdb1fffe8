"""Scores of tag sequences against a count by hand and seen from several sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import phi_f1_score, phi_precision_score, phi_recall_score
from sklearn_deid.sequences import TokenSequences, object_rows
from sklearn_deid.text import convert_tags

SCORES = {"precision": phi_precision_score, "recall": phi_recall_score, "f1": phi_f1_score}
TAGS = ["O", "O", *(f"{p}-{label}" for p in "BIES" for label in ("AGE", "CITY", "A-B"))]

GOLD = [["B-AGE", "I-AGE", "O", "B-CITY"], ["O"], [], ["B-AGE", "B-AGE", "I-AGE"]]
PRED = [["B-AGE", "I-AGE", "O", "B-AGE"], ["B-CITY"], [], ["B-AGE", "I-AGE", "I-AGE"]]


def scores(y_true=GOLD, y_pred=PRED, **options):
    return [round(float(function(y_true, y_pred, **options)), 4) for function in SCORES.values()]


@st.composite
def pairs(draw, tags=tuple(TAGS)):
    lengths = draw(st.lists(st.integers(0, 6), max_size=4))
    rows = [[draw(st.lists(st.sampled_from(tags), min_size=n, max_size=n)) for n in lengths] for _ in range(2)]
    return rows[0], rows[1]


def chunks(tags):
    """Spans by asking of each token whether it goes on what stands before it."""
    spans = []
    for i, tag in enumerate(tags):
        if tag == "O":
            continue
        before = tags[i - 1] if i else "O"
        goes_on = tag[:2] in ("I-", "E-") and before[:2] in ("B-", "I-") and before[2:] == tag[2:]
        if goes_on:
            spans[-1] = (spans[-1][0], i, tag[2:])
        else:
            spans.append((i, i, tag[2:]))
    return spans


def by_hand(y_true, y_pred, level="span", binary=False, labels=None):
    """Sets of (row, from, to, label) over all rows at once."""

    def items(y):
        out = set()
        for row, tags in enumerate(y):
            found = chunks(tags) if level == "span" else [(i, i, t[2:]) for i, t in enumerate(tags) if t != "O"]
            out |= {(row, a, b, "" if binary else c) for a, b, c in found if labels is None or c in labels}
        return out

    wanted, given = items(y_true), items(y_pred)
    tp = len(wanted & given)
    precision, recall = tp / len(given) if given else 0.0, tp / len(wanted) if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if tp else 0.0


def test_worked_by_hand():
    # gold: AGE 0-2, CITY 3 | - | - | AGE 0, AGE 1-3;  predicted: AGE 0-2, AGE 3 | CITY 0 | - | AGE 0-3
    assert scores() == [0.25, 0.25, 0.25]
    assert scores(binary=True) == [0.5, 0.5, 0.5]
    assert scores(level="token") == [round(5 / 7, 4), round(5 / 6, 4), round(10 / 13, 4)]
    assert scores(level="token", binary=True) == [round(6 / 7, 4), 1.0, round(12 / 13, 4)]
    assert scores(labels=["AGE"]) == [0.3333, 0.3333, 0.3333]
    assert phi_recall_score(GOLD, PRED, average=None) == {"AGE": pytest.approx(1 / 3), "CITY": 0.0}
    assert scores(average="macro") == [0.1667, 0.1667, 0.1667]


@given(pair=pairs())
def test_equals_sets_over_the_whole_corpus(pair):
    for level in ("span", "token"):
        for binary in (False, True):
            for labels in (None, ["AGE", "A-B"]):
                options = {"level": level, "binary": binary, "labels": labels}
                got = [function(*pair, **options) for function in SCORES.values()]
                assert got == pytest.approx(by_hand(*pair, **options))


@given(pair=pairs())
def test_labels_one_by_one_and_their_mean(pair):
    for function in SCORES.values():
        by_label = function(*pair, average=None)
        assert by_label == {label: function(*pair, labels=[label]) for label in by_label}
        mean = sum(by_label.values()) / len(by_label) if by_label else 0.0
        assert function(*pair, average="macro") == pytest.approx(mean)


@given(pair=pairs())
def test_laws(pair):
    y_true, y_pred = pair
    for options in ({}, {"level": "token"}, {"binary": True}, {"level": "token", "binary": True}):
        tagged = any(tag != "O" for row in y_true for tag in row)
        assert phi_f1_score(y_true, y_true, **options) == (1.0 if tagged else 0.0)
        assert phi_precision_score(y_true, y_pred, **options) == phi_recall_score(y_pred, y_true, **options)
        assert phi_f1_score(y_true, y_pred, **options) == pytest.approx(phi_f1_score(y_pred, y_true, **options))
        backwards = phi_f1_score(y_true[::-1], y_pred[::-1], **options)
        assert backwards == phi_f1_score(y_true, y_pred, **options)
    # Tokens and binary spans of other borders can be fewer, but what is right with labels is right without.
    assert phi_recall_score(*pair, level="token", binary=True) >= phi_recall_score(*pair, level="token")
    assert phi_recall_score(*pair, binary=True) >= phi_recall_score(*pair)


@given(pair=pairs(tags=("O", "B-AGE", "I-AGE", "B-CITY", "I-CITY")))
def test_scheme_does_not_matter(pair):
    bioes = [[convert_tags(row, "iob2", "bioes") for row in y] for y in pair]
    for options in ({}, {"level": "token"}, {"average": "macro"}):
        assert phi_f1_score(*bioes, **options) == phi_f1_score(*pair, **options)
        assert phi_f1_score(pair[0], bioes[1], **options) == phi_f1_score(*pair, **options)


@pytest.mark.parametrize(
    "convert",
    [
        tuple,
        object_rows,
        TokenSequences.from_rows,
        lambda y: [np.array(row, dtype=str) for row in y],
        lambda y: (row for row in y),
    ],
    ids=["tuple", "object array", "TokenSequences", "arrays", "generator"],
)
def test_containers(convert):
    for level in ("span", "token"):
        assert phi_recall_score(convert(GOLD), PRED, level=level) == phi_recall_score(GOLD, PRED, level=level)
        assert phi_f1_score(convert(GOLD), convert(PRED), level=level) == phi_f1_score(GOLD, PRED, level=level)


def test_rows_of_one_length_in_a_two_dimensional_array():
    y = np.array([["B-AGE", "O"], ["O", "B-AGE"]])
    assert phi_f1_score(y, y) == 1.0


def test_labels_that_only_one_side_knows():
    assert phi_f1_score([["B-NEVER", "O"]], [["O", "B-SEEN"]]) == 0.0
    assert phi_f1_score([["B-NEVER", "O"]], [["O", "B-SEEN"]], average=None) == {"NEVER": 0.0, "SEEN": 0.0}


@given(pair=pairs(tags=("O", "B-AGE", "I-AGE", "B-CITY", "I-CITY", "I-A-B")))
def test_equals_seqeval(pair):
    seqeval = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    if not any(tag != "O" for y in pair for row in y for tag in row):
        return  # it warns where there is nothing
    for y_true, y_pred in (pair, pair[::-1]):
        assert phi_f1_score(y_true, y_pred) == pytest.approx(seqeval.f1_score(y_true, y_pred, zero_division=0))
        expected = seqeval.recall_score(y_true, y_pred, zero_division=0)
        assert phi_recall_score(y_true, y_pred) == pytest.approx(expected)


def test_labels_come_in_order():
    assert list(phi_f1_score([["B-B", "B-A"]], [["B-C", "B-A"]], average=None)) == ["A", "B", "C"]


def test_nothing_scores_zero():
    for y in ([], [[]], [["O", "O"]]):
        assert scores(y, y) == [0.0, 0.0, 0.0]
        assert scores(y, y, average="macro") == [0.0, 0.0, 0.0]
        assert phi_f1_score(y, y, average=None) == {}


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        (GOLD, PRED[:2], "y_true has 4 sentences, y_pred has 2"),
        (GOLD, [*PRED[:3], ["O"]], "1 rows of y_pred .* the first is row 3: 1 instead of 3 tags"),
        ([["O"], ["O", "O"]], [["O", "O"], ["O"]], "2 rows of y_pred .* row 0: 2 instead of 1"),
        (None, PRED, "'y_true' must be a sequence of sentences. Got NoneType"),
        (GOLD, "B-AGE", "'y_pred' must be a sequence of sentences. Got str"),
        (["B-AGE", "O"], ["B-AGE", "O"], "Row 0 is a str. A single sentence must be wrapped"),
        ([[1, 0]], [[1, 0]], "'y_true' must hold strings. Row 0 holds a int"),
        ([np.zeros((2, 3))], [["O", "O"]], "'y_true' must hold tag sequences. Got vectors"),
        ([["B-AGE"]], [["AGE"]], "A tag must be 'O'.* B, I, E or S with a .*label"),
    ],
)
def test_what_is_no_pair_of_tag_sequences(y_true, y_pred, message):
    with pytest.raises(SequenceError, match=message):
        phi_f1_score(y_true, y_pred)


@pytest.mark.parametrize("function", SCORES.values())
def test_wrong_options(function):
    with pytest.raises(ValueError, match="'level' parameter must be 'span' or 'token'. Got 'document'"):
        function(GOLD, PRED, level="document")
    with pytest.raises(ValueError, match="'average' parameter must be 'micro', 'macro' or None. Got 'weighted'"):
        function(GOLD, PRED, average="weighted")
    with pytest.raises(ValueError, match="'labels' parameter must be a collection of labels. Got the string 'AGE'"):
        function(GOLD, PRED, labels="AGE")


def test_an_unknown_tag_is_not_shown():
    with pytest.raises(SequenceError) as caught:
        phi_f1_score([["Parker", "O"]], [["O", "O"]])
    assert "Parker" not in str(caught.value)
