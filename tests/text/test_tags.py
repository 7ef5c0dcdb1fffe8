"""The tag grammar against a token-by-token oracle, its own transition rule, and laws."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sklearn_deid.exceptions import SequenceError
from sklearn_deid.text import SCHEMES, check_tag_scheme, convert_tags, is_allowed, labels_of, repair_tags, split_tag
from sklearn_deid.text.tags import tags_of

LABELS = ("AGE", "ID-NUMBER", "O")  # a label with a hyphen, and one that looks like the tag outside of spans
TAGS = {
    "iob2": ["O", *(f"{prefix}-{label}" for prefix in "BI" for label in LABELS)],
    "bioes": ["O", *(f"{prefix}-{label}" for prefix in "BIES" for label in LABELS)],
}
any_tags = st.lists(st.sampled_from(TAGS["bioes"]), max_size=12)
schemes = st.sampled_from(SCHEMES)


@st.composite
def token_spans(draw):
    """Number of tokens, and disjoint labelled ranges of them, touching ones too."""
    n_tokens = draw(st.integers(0, 12))
    spans, position = [], 0
    while position < n_tokens:
        end = draw(st.integers(position + 1, n_tokens))
        if draw(st.booleans()):
            spans.append((position, end, draw(st.sampled_from(LABELS))))
        position = end
    return n_tokens, spans


def runs_of(tags):
    """Oracle: decide between each two neighbours whether a span goes on, then collect the runs."""
    pairs = [(tag[0], tag[2:]) for tag in tags]
    runs = []
    for i, (prefix, label) in enumerate(pairs):
        if prefix == "O":
            continue
        before, other = pairs[i - 1] if i else ("O", "")
        goes_on = before in ("B", "I") and prefix in ("I", "E") and other == label
        if goes_on:
            runs[-1] = (runs[-1][0], i + 1, label)
        else:
            runs.append((i, i + 1, label))
    return runs


def is_legal(tags, tag_scheme):
    return all(is_allowed(a, b, tag_scheme) for a, b in zip([None, *tags], [*tags, None], strict=True))


@given(any_tags)
@example(["I-AGE", "E-AGE", "I-AGE", "S-AGE", "I-AGE", "B-AGE", "E-AGE", "E-AGE"])
def test_labels_of_equals_the_oracle(tags):
    assert labels_of(tags) == runs_of(tags)


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        (["B-AGE", "I-AGE", "O", "B-AGE"], [(0, 2, "AGE"), (3, 4, "AGE")]),
        (["B-AGE", "B-AGE"], [(0, 1, "AGE"), (1, 2, "AGE")]),
        (["O", "I-AGE", "I-AGE"], [(1, 3, "AGE")]),
        (["B-AGE", "I-O"], [(0, 1, "AGE"), (1, 2, "O")]),
        (["B-AGE", "I-AGE", "E-AGE", "I-AGE"], [(0, 3, "AGE"), (3, 4, "AGE")]),
        (["S-AGE", "E-AGE", "B-AGE", "O"], [(0, 1, "AGE"), (1, 2, "AGE"), (2, 3, "AGE")]),
        ([], []),
    ],
)
def test_labels_of_by_hand(tags, spans):
    assert labels_of(tags) == spans


@pytest.mark.parametrize("tag_scheme", SCHEMES)
@given(case=token_spans())
def test_spans_to_tags_and_back(tag_scheme, case):
    n_tokens, spans = case
    tags = tags_of(spans, n_tokens, tag_scheme)
    assert len(tags) == n_tokens
    assert is_legal(tags, tag_scheme)
    assert labels_of(tags) == spans


@given(any_tags, schemes)
def test_repair_is_legal_and_changes_no_label(tags, tag_scheme):
    repaired = repair_tags(tags, tag_scheme)
    assert is_legal(repaired, tag_scheme)
    assert [split_tag(tag)[1] for tag in repaired] == [split_tag(tag)[1] for tag in tags]
    assert labels_of(repaired) == labels_of(tags)
    assert repair_tags(repaired, tag_scheme) == repaired


@pytest.mark.parametrize("tag_scheme", SCHEMES)
@given(data=st.data())
def test_repair_changes_a_sequence_if_and_only_if_it_is_illegal(tag_scheme, data):
    tags = data.draw(st.lists(st.sampled_from(TAGS[tag_scheme]), max_size=6))
    assert (repair_tags(tags, tag_scheme) == tags) == is_legal(tags, tag_scheme)


@given(st.lists(st.sampled_from(TAGS["iob2"]), max_size=12))
def test_repair_of_iob2_turns_only_stray_i_into_b(tags):
    for before, after in zip(tags, repair_tags(tags), strict=True):
        assert after == before or (before[0], after[0], before[1:]) == ("I", "B", after[1:])


@given(case=token_spans(), there=schemes, back=schemes)
def test_conversion_there_and_back_is_the_identity(case, there, back):
    n_tokens, spans = case
    tags = tags_of(spans, n_tokens, there)
    other = convert_tags(tags, there, back)
    assert is_legal(other, back)
    assert convert_tags(other, back, there) == tags


def test_conversion_by_hand():
    iob2 = ["B-AGE", "I-AGE", "I-AGE", "B-AGE", "O", "B-O", "I-O"]
    bioes = ["B-AGE", "I-AGE", "E-AGE", "S-AGE", "O", "B-O", "E-O"]
    assert convert_tags(iob2, "iob2", "bioes") == bioes
    assert convert_tags(bioes, "bioes", "iob2") == iob2


ALLOWED_BY_HAND = {
    # Rows: the tag before; columns: O, B-X, I-X, I-Y, E-X, E-Y, S-X, end.
    "iob2": {None: "yynn...y", "O": "yynn...y", "B-X": "yyyn...y", "I-X": "yyyn...y"},
    "bioes": {
        None: "yynnnnyy",
        "O": "yynnnnyy",
        "B-X": "nnynynnn",
        "I-X": "nnynynnn",
        "E-X": "yynnnnyy",
        "S-X": "yynnnnyy",
    },
}


@pytest.mark.parametrize("tag_scheme", SCHEMES)
def test_transitions_by_hand(tag_scheme):
    following = ["O", "B-X", "I-X", "I-Y", "E-X", "E-Y", "S-X", None]
    for before, row in ALLOWED_BY_HAND[tag_scheme].items():
        for after, mark in zip(following, row, strict=True):
            assert is_allowed(before, after, tag_scheme) == (mark == "y"), (before, after)


def test_prefixes_of_the_other_scheme_are_allowed_nowhere():
    for tag in ("E-X", "S-X"):
        for other in (None, "O", "B-X", "I-X", tag):
            assert not is_allowed(other, tag, "iob2")
            assert not is_allowed(tag, other, "iob2")


@pytest.mark.parametrize(
    ("tag", "parts"),
    [("O", ("O", None)), ("B-AGE", ("B", "AGE")), ("S-ID-NUMBER", ("S", "ID-NUMBER")), ("I-O", ("I", "O"))],
)
def test_split_tag(tag, parts):
    assert split_tag(tag) == parts


@pytest.mark.parametrize("tag", ["", "B", "B-", "-AGE", "AGE", "b-AGE", "BI-AGE", "L-AGE", "o", " O", 0, None])
def test_what_is_no_tag_is_refused_in_a_sequence(tag):
    for call in (split_tag, lambda t: labels_of(["O", t]), lambda t: repair_tags([t])):
        with pytest.raises(SequenceError, match="A tag must be 'O', or B, I, E or S with a hyphen"):
            call(tag)


@pytest.mark.parametrize("tag", ["", "B", "AGE", 0])
def test_what_is_no_tag_is_refused_in_a_step(tag):
    for call in (lambda t: is_allowed("O", t), lambda t: is_allowed(t, None)):
        with pytest.raises(SequenceError, match="A tag must be 'O', or B, I, E or S with a hyphen"):
            call(tag)


def test_refusal_shows_no_word():
    with pytest.raises(SequenceError) as caught:
        repair_tags(["Rosamund"])
    assert "Rosamund" not in str(caught.value)
    assert "Rosamund" not in repr(caught.value)
    assert "Rosamund" not in pickle.dumps(caught.value).decode("latin-1")


@pytest.mark.parametrize("tag_scheme", ["iob", "IOB2", "bilou", "", None])
def test_unknown_scheme(tag_scheme):
    calls = [
        lambda: check_tag_scheme(tag_scheme),
        lambda: is_allowed("O", "O", tag_scheme),
        lambda: repair_tags(["O"], tag_scheme),
        lambda: convert_tags(["O"], tag_scheme, "iob2"),
        lambda: convert_tags(["O"], "iob2", tag_scheme),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="'tag_scheme' parameter must be one of .*iob2.*bioes.* Got"):
            call()


def test_inputs_stay_as_they_are():
    tags = ("I-AGE", "I-AGE")
    assert repair_tags(tags) == ["B-AGE", "I-AGE"]
    assert tags == ("I-AGE", "I-AGE")
