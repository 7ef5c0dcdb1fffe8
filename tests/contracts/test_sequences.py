"""Ragged containers behave as a list of rows, and pass through scikit-learn and joblib as one-dimensional arrays."""

import pickle
from copy import copy, deepcopy

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, train_test_split
from sklearn.utils import indexable, resample, shuffle

from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.sequences import (
    Provenance,
    RaggedArray,
    TokenSequences,
    TokenVectors,
    check_groups,
    check_sequences,
    check_tags,
    object_rows,
)

ROWS = [["Dr", "Ada"], [], ["left"], ["at", "3", "pm"], ["Home", "."]]
VECTORS = [np.arange(2 * len(row), dtype=np.float32).reshape(-1, 2) + i for i, row in enumerate(ROWS)]
BOTH = [
    pytest.param(lambda rows: TokenSequences.from_rows([ROWS[i] for i in rows]), id="tokens"),
    pytest.param(lambda rows: TokenVectors(*flat([VECTORS[i] for i in rows])), id="vectors"),
]
token_rows = st.lists(st.lists(st.text(max_size=3), max_size=4), max_size=6)


def flat(arrays):
    return np.concatenate([np.zeros((0, 2), np.float32), *arrays]), np.cumsum([0, *map(len, arrays)])


@st.composite
def rows_and_key(draw):
    """Rows, a key, and the numbers of the rows that it chooses."""
    rows = draw(token_rows)
    n = len(rows)
    kind = draw(st.sampled_from(["slice", "numbers", "mask"]))
    if kind == "slice":
        key = draw(st.slices(n))
        return rows, key, list(range(n))[key]
    if kind == "mask":
        mask = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        return rows, draw(st.sampled_from([mask, np.array(mask, dtype=bool)])), [i for i in range(n) if mask[i]]
    numbers = draw(st.lists(st.integers(-n, n - 1), max_size=8)) if n else []
    return rows, draw(st.sampled_from([numbers, np.array(numbers, dtype=np.int32)])), numbers


# --- a list of rows -------------------------------------------------------------------------------------------------


@given(token_rows)
def test_rows_go_in_and_come_out(rows):
    X = TokenSequences.from_rows(rows)
    assert X.tolist() == list(X) == [X[i] for i in range(len(X))] == rows
    assert X.shape == (len(rows),) == (len(X),)
    assert X.lengths.tolist() == [len(row) for row in rows]
    assert check_sequences(rows) == X
    assert check_sequences(X) is X


@given(rows_and_key())
def test_indexing_is_that_of_a_list_with_and_without_ellipsis(case):
    rows, key, chosen = case
    X = TokenSequences.from_rows(rows)
    for part in (X[key], X[key, ...], X[(key,)]):
        assert type(part) is TokenSequences
        assert part.tolist() == [rows[i] for i in chosen]
        assert part == TokenSequences.from_rows([rows[i] for i in chosen])


@pytest.mark.parametrize("make", BOTH)
def test_a_number_gives_a_row(make):
    X = make(range(5))
    for number in (3, -2, np.int64(3), np.uint8(3)):
        assert len(X[number]) == len(X[number, ...]) == 3
    assert len(X[0]) == len(X[-5]) == 2
    assert isinstance(TokenSequences.from_rows(ROWS)[0], list)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("rows", [[], [1], [4, 0, 0, 3], [1, 1], range(5)])
def test_a_selection_equals_what_is_made_of_the_selected_rows(make, rows):
    assert make(range(5))[list(rows)] == make(rows)
    assert make(range(5))[np.asarray(rows, dtype=int)] == make(rows)


@pytest.mark.parametrize(
    "key",
    [5, -6, np.int64(5), [0, 5], 1.5, [0.5], "row", [True, False], (0, 1), (slice(None), 0), np.array(1), [[0]], None],
)
def test_wrong_index(key):
    with pytest.raises(IndexError, match=r"no row (5|-6) in|index|indices|one dimension"):
        TokenSequences.from_rows(ROWS)[key]


def test_vectors_keep_their_width_where_rows_are_empty():
    X = TokenVectors.from_rows(VECTORS)
    assert (X.d, X.shape, X.data.dtype) == (2, (5,), np.float32)
    assert X[[1]].data.shape == (0, 2)
    assert all(np.array_equal(a, b) for a, b in zip(X, VECTORS, strict=True))
    assert check_sequences(VECTORS) == X
    assert TokenVectors.from_rows([[], []]).data.shape == (0, 0)
    assert TokenVectors.from_rows([[], [[1, 2, 3]]]).d == 3


def test_equality():
    X = TokenSequences.from_rows(ROWS)
    assert X == TokenSequences.from_rows(ROWS)
    assert X != TokenSequences.from_rows([["Dr"], ["Ada"], *ROWS[2:]])  # the same items in other rows
    assert X != TokenSequences.from_rows([["Dr", "Bob"], *ROWS[1:]])
    assert X != ROWS
    assert (X == TokenVectors.from_rows(VECTORS)) is False
    assert (np.zeros(5) == X) is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(X)


def test_as_an_array_of_rows():
    for rows in (ROWS, [["a", "b"], ["c", "d"]], []):
        X = np.asarray(TokenSequences.from_rows(rows))
        assert (X.shape, X.dtype) == ((len(rows),), np.dtype(object))
        assert X.tolist() == rows
    array = object_rows([["a", "b"], ["c", "d"]])
    assert (array.shape, array[1]) == ((2,), ["c", "d"])


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, iter, lambda row: (token for token in np.array(row, dtype=str))]
)
def test_rows_of_any_kind_keep_all_their_tokens(kind):
    rows = [["Dr", "Ada"], ["left"]]
    assert check_sequences([kind(row) for row in rows]).tolist() == rows


def test_size():
    X = TokenSequences.from_rows(ROWS)
    assert (X.ndim, X.nbytes) == (1, X.data.nbytes + X.offsets.nbytes)
    assert repr(X) == "TokenSequences(n=5, items=8)"


def test_the_same_word_is_held_once():
    X = TokenSequences.from_rows([["".join(["A", "da"])], ["".join(["Ad", "a"])], [np.str_("Ada")]])
    assert X.data[0] is X.data[1] is X.data[2]
    assert type(X.data[2]) is str


# --- scikit-learn and joblib ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_splitters(make):
    X, groups = make(range(5)), np.array(["a", "b", "a", "c", "b"])
    for train, test in KFold(3).split(X):
        assert X[train] == make(train)
        assert X[test] == make(test)
    for train, test in GroupKFold(2).split(X, groups=groups):
        assert not set(groups[train]) & set(groups[test])
        assert type(X[train]) is type(X)


@pytest.mark.parametrize("make", BOTH)
def test_helpers_of_scikit_learn_keep_type_and_pairing(make):
    X, numbers = make(range(5)), np.arange(5)
    y = object_rows(ROWS)
    parts = train_test_split(X, y, numbers, test_size=2, random_state=0)
    for rows, tags, chosen in (parts[::2], parts[1::2], shuffle(X, y, numbers, random_state=1)):
        assert type(rows) is type(X)
        assert rows == make(chosen)
        assert tags.tolist() == [ROWS[i] for i in chosen]
    assert resample(X, numbers, n_samples=8, random_state=0)[0].shape == (8,)
    assert indexable(X, y)[0] is X
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        indexable(X, y[:3])


@pytest.mark.parametrize("make", BOTH)
def test_copies_are_equal_and_hash_alike(make, tmp_path):
    X = make(range(5))
    copies = [
        pickle.loads(pickle.dumps(X)),
        clone(X, safe=False),
        joblib.load(joblib.dump(X, tmp_path / "X")[0]),
        make(range(5)),
        X[:],
        X[np.arange(5)],
    ]
    for copied in copies:
        assert type(copied) is type(X)
        assert copied == X
        assert joblib.hash(copied) == joblib.hash(X)


@given(token_rows, token_rows)
def test_joblib_hash_differs_where_rows_differ(a, b):
    X, Y = TokenSequences.from_rows(a), TokenSequences.from_rows(b)
    assert (joblib.hash(X) == joblib.hash(Y)) == (a == b)


def test_joblib_hash_sees_the_borders_of_rows():
    X, Y = TokenSequences.from_rows([["a"], ["b"]]), TokenSequences.from_rows([["a", "b"], []])
    assert joblib.hash(X) != joblib.hash(Y)


def test_joblib_memory_finds_equal_rows(tmp_path):
    calls = []

    def count(X):
        calls.append(len(X))
        return X

    cached = joblib.Memory(tmp_path, verbose=0).cache(count)
    first = cached(TokenSequences.from_rows(ROWS))
    assert cached(TokenSequences.from_rows(ROWS)) == first
    assert calls == [5]


# --- where vectors come from, and files that stay mapped --------------------------------------------------------------

VALUES = {
    "fingerprint": "3f2a",
    "n_components": 2,
    "n_neighbors": 100,
    "noise": {"kind": "trainable", "std": (0.5, 1)},
    "casing": False,
    "public_embeddings": True,
    "library_version": "0.1.0",
    "settings": {"training": "bounded", 7: None},
}
ORIGIN = Provenance(**VALUES)
OTHER = Provenance(**{**VALUES, "fingerprint": "77aa"})


def represented(origin=ORIGIN):
    return TokenVectors(*flat(VECTORS), origin)


@pytest.mark.parametrize(
    "same",
    [
        lambda X: X[:],
        lambda X: X[::-1][::-1],
        lambda X: X[np.arange(5), ...],
        lambda X: X[np.ones(5, dtype=bool)],
        lambda X: pickle.loads(pickle.dumps(X)),
        copy,
        deepcopy,
        lambda X: clone(X, safe=False),
        check_sequences,
        lambda X: TokenVectors.concatenate([X[:2], X[2:]]),
    ],
)
def test_origin_is_kept(same, tmp_path):
    X = represented()
    assert same(X).origin == ORIGIN
    assert same(X) == X
    assert same(X) != TokenVectors(X.data, X.offsets)
    assert same(X) != represented(OTHER)
    assert joblib.hash(same(X)) == joblib.hash(X) != joblib.hash(represented(OTHER))
    assert joblib.load(joblib.dump(same(X), tmp_path / "X")[0]).origin == ORIGIN


def test_origin_is_dropped_where_data_are_joined():
    X, unknown = represented(), represented(None)
    for parts in ([X, represented(OTHER)], [X, unknown], [unknown, X]):
        joined = TokenVectors.concatenate(parts)
        assert joined.origin is None
        assert joined == TokenVectors.from_rows([*VECTORS, *VECTORS])
    assert TokenVectors.from_rows(list(X)).origin is None
    for wrong in ([], [X, TokenVectors.from_rows([[[1.0]]])]):
        with pytest.raises(SequenceError, match="of one dimension d can be joined"):
            TokenVectors.concatenate(wrong)


def test_origin_holds_plain_values_of_its_own():
    assert ORIGIN.settings == {"training": "bounded", "7": None}
    assert ORIGIN.noise == {"kind": "trainable", "std": [0.5, 1]}
    assert Provenance(**ORIGIN.to_dict()) == ORIGIN
    ORIGIN.to_dict()["noise"].clear()
    assert ORIGIN.noise
    assert Provenance(**{**VALUES, "n_components": np.int64(2), "casing": np.bool_(False)}) == ORIGIN


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("fingerprint", "", "'fingerprint' of an origin must be a non-empty string"),
        ("library_version", None, "'library_version' of an origin must be a non-empty string"),
        ("n_components", 0, "'n_components' of an origin must be a whole number of at least 1"),
        ("n_components", True, "'n_components' of an origin must be a whole number"),
        ("n_neighbors", 2.0, "'n_neighbors' of an origin must be a whole number"),
        ("casing", 1, "'casing' of an origin must be True or False"),
        ("public_embeddings", None, "'public_embeddings' of an origin must be True or False"),
        ("noise", 0.5, "'noise' of an origin must be a mapping"),
        ("noise", {"std": np.inf}, "'noise' must hold plain JSON"),
        ("settings", {"x": {"Ada"}}, "'settings' must hold plain JSON"),
        ("settings", [], "'settings' of an origin must be a mapping"),
    ],
)
def test_origin_of_other_values(name, value, message):
    with pytest.raises(BundleError, match=message) as caught:
        Provenance(**{**VALUES, name: value})
    assert "Ada" not in str(caught.value)


def test_another_tagger_leaves_documents_and_patients():
    X = TokenVectors.from_rows(VECTORS)
    known = X.with_documents(range(len(X)), ["p"] * len(X)).with_tagger(None)
    assert (known.documents.tolist(), known.patients.tolist()) == (list(range(len(X))), [0] * len(X))


def test_origin_must_be_one():
    with pytest.raises(SequenceError, match="must be a Provenance or None. Got dict"):
        represented(VALUES)


def test_a_mapped_file_stays_mapped(tmp_path):
    flat(VECTORS)[0].tofile(tmp_path / "vectors")
    data = np.memmap(tmp_path / "vectors", dtype=np.float32, mode="r", shape=flat(VECTORS)[0].shape)
    X, plain = TokenVectors(data, flat(VECTORS)[1], ORIGIN), represented()
    assert X == plain
    for key in (slice(None), slice(1, 4), [2, 3], np.array([0, 0, 1, 0, 0], dtype=bool)):
        assert isinstance(X[key].data, np.memmap)
        assert np.shares_memory(X[key].data, data)
        assert X[key] == plain[key]
    for key in ([3, 2], slice(None, None, 2), [1, 1], [], slice(5, 9)):
        assert X[key] == plain[key]
    assert not np.shares_memory(plain[:].data, plain.data)  # what may be written to is copied
    assert pickle.loads(pickle.dumps(X)) == X


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("Ada left", "must be a sequence of sentences. Got str instead"),
        (b"Ada", "must be a sequence of sentences. Got bytes instead"),
        (3, "must be a sequence of sentences. Got int instead"),
        (None, "must be a sequence of sentences. Got NoneType instead"),
        (["Ada", "left"], r"Row 0 is a str. A single sentence must be wrapped: \[tokens\]"),
        ([["Ada"], "left"], "Row 1 is a str"),
        ([["Ada"], b"left"], "Row 1 is a bytes"),
        ([["Ada"], None], "Row 1 is a NoneType"),
        ([{"Ada": 1}, ["left"]], "Row 0 is a dict"),
        ([["left"], {"Ada"}], "Row 1 is a set"),
        ([["Ada"], [3]], "must hold strings. Row 1 holds a int"),
        ([["Ada", None]], "Row 0 holds a NoneType"),
        ([[b"Ada"]], "Row 0 holds a bytes"),
        ([[["Ada"]]], r"Row 0 of 'X' must be an array of numbers, shape \(n_tokens, d\)"),
        ([[[1.0]], [["Ada"]]], "Row 1 of 'X' must be an array of numbers"),
        ([[[1.0]], ["Ada"]], "Row 1 of 'X' must be an array of numbers"),
        ([[[1.0], [1.0, 2.0]]], "Row 0 of 'X' must be an array of numbers"),
        ([[[1.0]], [[1.0, 2.0]]], r"Every row of 'X' must have shape \(n_tokens, d\) with one d"),
        ([[[[1.0]]], [[1.0]]], "'X' must hold strings. Row 0 holds a list"),
        ([[[np.nan]]], "'X' holds NaN or infinity"),
        ([[[1.0]], [[np.inf]]], "'X' holds NaN or infinity"),
        ([[[1.0]], [[1e300]]], "'X' holds NaN or infinity"),
        ([[[1.0 + 1j]]], r"Row 0 of 'X' must be an array of numbers, shape \(n_tokens, d\)"),
    ],
)
def test_what_is_no_sequence_of_sentences(X, message):
    with pytest.raises(SequenceError, match=message) as caught:
        check_sequences(X)
    behind = None if caught.value.__suppress_context__ else caught.value.__context__
    assert "Ada" not in f"{caught.value!r} {behind!r}"  # what a traceback prints


def test_vectors_of_more_dimensions():
    for rows in ([np.zeros((2, 3, 1))], [np.zeros(2)], [np.zeros((1, 2)), np.zeros((1, 3))]):
        with pytest.raises(SequenceError, match=r"Every row of 'X' must have shape \(n_tokens, d\) with one d"):
            TokenVectors.from_rows(rows)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is required"),
        ([["O"]], "X has 5 sentences, y has 1"),
        ([["O", "O"], [], [], ["O"] * 3, ["O"]], "2 rows of y .* the first is row 2: 1 tokens, 0 tags"),
        (["O"] * 5, "'y' must be a sequence of sentences, each a sequence of tokens. Row 0 is a str"),
    ],
)
def test_tags_that_do_not_fit(y, message):
    with pytest.raises(SequenceError, match=message):
        check_tags(y, TokenSequences.from_rows(ROWS))


def test_tags_that_fit():
    X = TokenSequences.from_rows(ROWS)
    y = [["O"] * len(row) for row in ROWS]
    assert check_tags(y, X) == check_tags(object_rows(y), X) == check_tags(check_tags(y, X), X)
    assert check_tags(y, TokenVectors.from_rows(VECTORS)).tolist() == y


def test_groups():
    assert check_groups(None, 3) is None
    assert check_groups(["a", "b", "a"], 3).tolist() == ["a", "b", "a"]
    for wrong in (["a"], "abc", [["a"], ["b"], ["c"]]):
        with pytest.raises(SequenceError, match="one patient id for each of 3 sentences. Got shape"):
            check_groups(wrong, 3)


@pytest.mark.parametrize("offsets", [[], [1, 3], [[0, 3]], 0])
def test_offsets_that_do_not_start(offsets):
    with pytest.raises(SequenceError, match="must be one-dimensional and start at 0"):
        RaggedArray(np.zeros(3), np.asarray(offsets))


@pytest.mark.parametrize("offsets", [[0, 2], [0, 4], [0, 2, 1, 3]])
def test_offsets_that_do_not_fit_the_data(offsets):
    with pytest.raises(SequenceError, match=r"must not decrease and must end at len\(data\)"):
        RaggedArray(np.zeros(3), np.asarray(offsets))


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        ([None, "a", None], "NoneType, str"),
        (np.array([None, None, None]), "NoneType"),
        ([float("nan"), 1.0, 2.0], "NaN"),
        (np.array([1, "a", 2], dtype=object), "int, str"),
        (["a", float("nan"), float("nan")], "float, str"),  # NumPy makes texts of both: "nan"
        ([1, "1", "a"], "int, str"),
    ],
)
def test_missing_and_mixed_ids_of_patients_are_refused(groups, found):
    # They ended in a message of NumPy on "<", or made one patient of all sentences without an id.
    with pytest.raises(SequenceError, match=f"no id may be missing. Got {found} instead"):
        check_groups(groups, 3)
    assert check_groups(np.array([np.str_("a"), "b", "a"], dtype=object), 3).tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("name", ["X", "y"])
def test_a_table_instead_of_a_column_is_named(name):
    # Its items are names of columns: the message asked for a single sentence to be wrapped.
    table = pytest.importorskip("pandas").DataFrame({"tokens": ROWS})
    for given_table in (table, {"tokens": ROWS}):
        with pytest.raises(SequenceError, match=rf"Pass the column of the sentences, such as {name}\['tokens'\]"):
            check_sequences(given_table) if name == "X" else check_tags(given_table, check_sequences(ROWS))


@pytest.mark.parametrize("form", ["csr_matrix", "coo_array"])
def test_sparse_matrices_are_refused(form):
    """The message was that of SciPy: sparse array length is ambiguous."""
    X = getattr(pytest.importorskip("scipy.sparse"), form)(np.eye(3))
    with pytest.raises(
        SequenceError, match=f"'X' must be a sequence of sentences. Got {form} instead. A sparse matrix"
    ):
        check_sequences(X)
    with pytest.raises(SequenceError, match="'y' must be a sequence of sentences"):
        check_tags(X, check_sequences(ROWS))


def test_sets_of_sentences_are_refused():
    """Their order differs from process to process, so that tags belonged to other sentences."""
    rows = {("a", "b"), ("c",)}
    for refused in (rows, frozenset(rows), dict.fromkeys(rows).keys()):
        with pytest.raises(SequenceError, match=f"'X' must be a sequence of sentences. Got {type(refused).__name__}"):
            check_sequences(refused)
        with pytest.raises(SequenceError, match="'y' must be a sequence of sentences"):
            check_tags(refused, check_sequences(list(rows)))


@pytest.mark.parametrize("container", [TokenSequences, TokenVectors])
def test_sentences_given_to_the_constructor_are_sent_to_from_rows(container):
    with pytest.raises(SequenceError, match=f"Sentences are given to {container.__name__}.from_rows"):
        container(ROWS)


@pytest.mark.parametrize("name", ["X", "y"])
def test_arrays_of_arrow_are_named(name):
    """NumPy reads a string of Arrow as an array of bytes, so that tokens of one length became vectors."""
    array = pytest.importorskip("pyarrow").array([["ab", "cd"], ["ef"]])
    X, y = (array if name == kind else array.to_pylist() for kind in ("X", "y"))
    with pytest.raises(SequenceError, match=rf"Got ListArray instead. Pass {name}.to_pylist\(\)"):
        check_tags(y, check_sequences(X))


NAN, NAT = float("nan"), np.array(["NaT", "NaT"], "datetime64[D]")


@pytest.mark.parametrize(
    "ids", [[None, "a"], [None, None], [NAN, NAN], ["a", NAN], np.array(["a", NAN], dtype=object), NAT]
)
def test_missing_ids_of_documents_are_refused(ids):
    """They made one document of all sentences without an id, or ended in a message of NumPy on "<"."""
    X = TokenSequences.from_rows([["a"], ["b"]])
    for given_ids in ((ids, None), ([0, 0], ids)):
        name = "documents" if given_ids[1] is None else "patients"
        with pytest.raises(SequenceError, match=f"'{name}' must hold ids of one type, and no id may be missing"):
            X.with_documents(*given_ids)


def test_missing_ids_of_pandas_are_refused():
    pd = pytest.importorskip("pandas")
    for missing in (pd.NA, pd.NaT):
        with pytest.raises(SequenceError, match="no id may be missing. Got Na|Got NA"):
            check_groups([missing, missing], 2)
        with pytest.raises(SequenceError, match="'documents' must hold ids of one type, and no id may be missing"):
            TokenSequences.from_rows([["a"], ["b"]]).with_documents([missing, missing])
