"""Files of word vectors: the same words and numbers as gensim reads, and errors that say where."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.embeddings import FORMATS, SubwordTable, from_gensim, read_word_vectors
from sklearn_deid.embeddings.binary_formats import FASTTEXT_MAGIC, read_word2vec_binary
from sklearn_deid.embeddings.text_format import read_text
from sklearn_deid.embeddings.vector_files import VectorFile, parse_header
from sklearn_deid.exceptions import DataNotFoundError, EmbeddingsFormatError

WORDS = ["the", ",", "Ñandú", "日本", "12", "\u00a0", "</s>"]
LINE = "the 1 2\nfever 0.5 -1e-2\n"


@pytest.fixture()
def table() -> KeyedVectors:
    keyed = KeyedVectors(5)
    keyed.add_vectors(WORDS, np.random.RandomState(0).normal(size=(len(WORDS), 5)).astype(np.float32))
    return keyed


@pytest.fixture()
def write(tmp_path):
    def _write(content: str | bytes, name: str = "vectors.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def assert_same(read, keyed):
    assert read.words == keyed.index_to_key
    np.testing.assert_array_equal(read.matrix(), from_gensim(keyed).matrix())


# gensim leaves the file open that it counts the lines of
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("header", [True, False])
def test_text_as_gensim_writes_and_reads_it(table, tmp_path, header):
    path = tmp_path / "vectors"
    table.save_word2vec_format(path, binary=False, write_header=header)
    read = read_word_vectors(path)
    assert_same(read, KeyedVectors.load_word2vec_format(path, no_header=not header))
    assert_same(read, table)
    assert not read.is_public
    assert read_word_vectors(path, is_public=True).is_public


def test_binary_as_gensim_writes_and_reads_it(table, tmp_path):
    path = tmp_path / "vectors"
    table.save_word2vec_format(path, binary=True)
    read = read_word_vectors(path)
    assert_same(read, table)
    assert read_word_vectors(path, format="word2vec-binary").checksum == read.checksum


def test_binary_with_line_breaks_as_word2vec_writes_it(write):
    numbers = struct.pack("<2f", 3.0, 4.0)
    path = write(b"2 2\nthe " + numbers + b"\nof " + numbers + b"\n", "v.bin")
    read = read_word_vectors(path)
    assert read.words == ["the", "of"]
    np.testing.assert_allclose(read.matrix(), [[0.6, 0.8]] * 2, atol=1e-6)


@pytest.mark.parametrize("binary", [True, False])
def test_compressed(table, tmp_path, binary):
    table.save_word2vec_format(tmp_path / "plain", binary=binary)
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    assert_same(read_word_vectors(path), table)


WORD = st.text(st.characters(min_codepoint=33, exclude_categories=["Z", "C"]), min_size=1, max_size=5)


@given(words=st.lists(WORD, min_size=1, max_size=6, unique=True), data=st.data())
def test_text_and_binary_bring_back_what_was_written(words, data, tmp_path_factory):
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    rows = data.draw(st.lists(st.lists(number, min_size=3, max_size=3), min_size=len(words), max_size=len(words)))
    keyed = KeyedVectors(3)
    keyed.add_vectors(words, np.array(rows, dtype=np.float32))
    path = tmp_path_factory.mktemp("vectors") / "file"
    for binary, read in ((False, read_text), (True, read_word2vec_binary)):
        keyed.save_word2vec_format(path, binary=binary)
        raw = read(VectorFile(path))
        assert raw.words == words
        np.testing.assert_array_equal(raw.vectors, np.array(rows, dtype=np.float32))


def test_lines_of_a_fasttext_vec_file(write):
    read = read_word_vectors(write("2 2\nthe 1 2 \nfever 0.5 -1e-2 \r\n\n"))
    assert read.words == ["the", "fever"]


def test_byte_order_mark_and_missing_last_line_break(write):
    assert read_word_vectors(write(b"\xef\xbb\xbf" + LINE.rstrip().encode())).words == ["the", "fever"]


def test_words_with_spaces(write):
    read = read_word_vectors(write(". . 1 2\nat name@x.org 3 4\n5 5 6\n"))
    assert read.words == [". .", "at name@x.org", "5"]


def test_the_first_of_the_same_words_is_kept(write):
    read = read_word_vectors(write("a 1 0\nb 0 1\na 0 1\na 3 4\n"))
    assert (read.words, read.n_duplicates) == (["a", "b"], 2)
    np.testing.assert_array_equal(read.matrix(), np.eye(2))


def test_encodings(write):
    path = write("señor 1 2\n".encode("latin-1"))
    assert read_word_vectors(path, encoding="latin-1").words == ["señor"]
    assert read_word_vectors(path, encoding_errors="replace").words == ["se\ufffdor"]
    with pytest.raises(EmbeddingsFormatError, match="word in line 1 is not utf-8.*file .*vectors.txt"):
        read_word_vectors(path)
    with pytest.raises(ValueError, match="superset of ASCII"):
        read_word_vectors(path, encoding="utf-16")
    with pytest.raises(ValueError, match="'encoding_errors' parameter"):
        read_word_vectors(path, encoding_errors="guess")


def test_only_the_first_words(table, tmp_path, write):
    for binary in (False, True):
        table.save_word2vec_format(tmp_path / "v", binary=binary)
        read = read_word_vectors(tmp_path / "v", max_words=3)
        assert read.words == WORDS[:3]
        np.testing.assert_array_equal(read.matrix(), from_gensim(table).matrix()[:3])
        assert len(read_word_vectors(tmp_path / "v", max_words=100)) == len(WORDS)
    assert read_word_vectors(write(LINE), max_words=1).words == ["the"]
    with pytest.raises(ValueError, match="'max_words' parameter of read_word_vectors must be at least 1"):
        read_word_vectors(tmp_path / "v", max_words=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Line 1 is neither a header nor"),
        ("the\n", "Line 1 is neither a header nor"),
        ("2 0\nthe\nof\n", "header announces vectors without numbers"),
        (LINE + "of 1\n", "Line 3 must hold a word and 2 numbers. Got 1 numbers"),
        (LINE + "of 1 2 3\n", "Line 3 must hold a word and 2 numbers. Got 3 numbers"),
        (LINE + "of  1 2\n", "Line 3 must hold a word and 2 numbers"),
        (LINE + " 1 2\n", "Line 3 must hold a word and 2 numbers"),
        (LINE + "\n\nof 1 x\n", "Number 2 in line 5 is not a finite number"),
        (LINE + "of 1 nan\n", "Number 2 in line 3 is not a finite number"),
        (LINE + "of 1e39 2\n", "Number 1 in line 3 is not a finite number"),
        (LINE + "of 1_0 2\n", "Number 1 in line 3 is not a finite number"),
        (b"the 1 2\n\n\xff 1 2\n", "word in line 3 is not utf-8"),
        ("3 2\n" + LINE, "header announces 3 words, but there are 2"),
        ("1 2\n" + LINE, "header announces 1 words, but there are 2"),
        ("2 3\n" + LINE, "Line 2 must hold a word and 3 numbers"),
        ("\ufefft\u0000h".encode("utf-16-le"), "UTF-16"),
        (b"x" * (1 << 20), "Line 1 is too long"),
    ],
)
def test_text_that_cannot_be_read(write, content, message):
    with pytest.raises(EmbeddingsFormatError, match=message) as caught:
        read_word_vectors(write(content), format="text")
    assert str(caught.value.path).endswith("vectors.txt")


def test_errors_do_not_quote_the_file(write):
    with pytest.raises(EmbeddingsFormatError) as caught:
        read_word_vectors(write(LINE + "Quillfeather 1 oops\n"))
    assert "Quillfeather" not in str(caught.value)
    assert "oops" not in str(caught.value)


def test_the_line_number_holds_across_blocks(write, monkeypatch):
    monkeypatch.setattr("sklearn_deid.embeddings.text_format._BYTES_AT_ONCE", 30)
    lines = [f"w{i} {i} 1" for i in range(40)]
    assert len(read_word_vectors(write("\n".join(lines)))) == 40
    lines[33] = "w33 1"
    with pytest.raises(EmbeddingsFormatError, match="Line 34 must hold"):
        read_word_vectors(write("\n".join(lines)))


def test_a_binary_file_that_is_cut_off_anywhere(table, tmp_path, write):
    table.save_word2vec_format(tmp_path / "v", binary=True)
    content = (tmp_path / "v").read_bytes()
    for length in range(len(content)):
        with pytest.raises(EmbeddingsFormatError):
            read_word_vectors(write(content[:length]), format="word2vec-binary")
    with pytest.raises(EmbeddingsFormatError, match="cut off at word 7 of 7"):
        read_word_vectors(write(content[:-1]), format="word2vec-binary")
    with pytest.raises(EmbeddingsFormatError, match="continues after the 7 words"):
        read_word_vectors(write(content + b"x"), format="word2vec-binary")


def test_binary_numbers_must_be_finite(write):
    with pytest.raises(EmbeddingsFormatError, match="Vector 2 holds NaN"):
        read_word_vectors(write(b"2 1\na " + struct.pack("<f", 1) + b"b " + struct.pack("<f", np.nan)))


@pytest.mark.parametrize("content", [b"the 1\n", b"1 0\na ", b"no header"])
def test_binary_without_a_header(write, content):
    with pytest.raises(EmbeddingsFormatError, match="header|first line"):
        read_word_vectors(write(content), format="word2vec-binary")


def test_header_or_not():
    assert parse_header(b"3 50\n") == (3, 50)
    assert parse_header(b"3 0.5\n") is None
    assert parse_header("٣ ٤\n".encode()) is None


@pytest.fixture(scope="module")
def fasttext_file(tmp_path_factory):
    rows = [["pain", "Ñandú", "日本"], ["fever", "pain", "of"]] * 5
    model = FastText(rows, vector_size=4, min_count=1, bucket=20, min_n=2, max_n=4, epochs=1, workers=1)
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    save_facebook_model(model, str(path))
    return path


def test_fasttext_model_as_gensim_reads_it(fasttext_file):
    read = read_word_vectors(fasttext_file, is_public=True)
    keyed = load_facebook_vectors(str(fasttext_file))
    assert read.words == keyed.index_to_key
    tokens = [*read.words, "unseen", "Paine", "日本語"]
    expected = np.stack([keyed.get_vector(token) for token in tokens])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(read.vectors_for(tokens), expected, atol=1e-6)
    assert read.subwords.is_public
    assert len(read_word_vectors(fasttext_file, max_words=2)) == 2


def test_fasttext_model_that_is_cut_off_anywhere(fasttext_file, write):
    content = fasttext_file.read_bytes()
    keyed = load_facebook_vectors(str(fasttext_file))
    n_rows = len(keyed) + keyed.bucket
    matrix_ends = content.index(struct.pack("<2q", n_rows, 4)) + 16 + 4 * 4 * n_rows
    expected = read_word_vectors(fasttext_file).checksum
    assert read_word_vectors(write(content[:matrix_ends])).checksum == expected  # the output layer is not needed
    for length in range(4, matrix_ends, 3):
        with pytest.raises(EmbeddingsFormatError):
            read_word_vectors(write(content[:length]))


@pytest.mark.parametrize(
    ("offset", "layout", "value", "message"),
    [
        (4, "<i", 99, "not a fastText model of a known version"),
        (8, "<i", 0, "settings are garbled"),
        (8 + 56 + 8, "<i", 3, "Only unsupervised"),
    ],
)
def test_fasttext_models_that_hold_something_else(fasttext_file, write, offset, layout, value, message):
    content = bytearray(fasttext_file.read_bytes())
    struct.pack_into(layout, content, offset, value)
    with pytest.raises(EmbeddingsFormatError, match=message):
        read_word_vectors(write(bytes(content)))


@pytest.mark.parametrize(
    ("start", "message"), [(b"\x01", "Quantised"), (b"\0" + struct.pack("<q", 1), "shape of the matrix differs")]
)
def test_fasttext_matrices_that_do_not_fit(fasttext_file, write, start, message):
    content = bytearray(fasttext_file.read_bytes())
    keyed = load_facebook_vectors(str(fasttext_file))
    matrix = content.index(struct.pack("<?2q", False, len(keyed) + keyed.bucket, 4))
    content[matrix : matrix + len(start)] = start
    with pytest.raises(EmbeddingsFormatError, match=message):
        read_word_vectors(write(bytes(content)))


def test_fasttext_model_without_ngrams(tmp_path, notes):
    model = FastText(notes, vector_size=4, min_count=1, bucket=20, min_n=3, max_n=2, epochs=1, workers=1)
    save_facebook_model(model, str(tmp_path / "model.bin"))
    read = read_word_vectors(tmp_path / "model.bin")
    assert read.subwords is None
    assert_same(read, model.wv)


def test_end_of_sentence_has_no_ngrams(write):
    """As in fastText itself: </s> keeps its own vector, a word gets the mean with its n-grams."""
    settings = struct.pack("<12id", 2, 5, 1, 1, 5, 1, 1, 2, 1, 3, 6, 100, 1e-4)
    words = b"".join(word + b"\0" + struct.pack("<qb", 1, 0) for word in (b"</s>", b"a"))
    sizes = struct.pack("<3i2q", 2, 2, 0, 2, -1)
    matrix = struct.pack("<?2q", False, 3, 2) + struct.pack("<6f", 0, 1, 1, 0, 0, 3)  # </s>, a, the only bucket
    path = write(FASTTEXT_MAGIC + struct.pack("<i", 12) + settings + sizes + words + matrix)
    read = read_word_vectors(path)
    expected = np.array([[0, 1], np.array([1, 3]) / np.sqrt(10)])
    np.testing.assert_allclose(read.vectors_for(["</s>", "a"]), expected, atol=1e-6)


def test_gensim_objects(notes):
    model = FastText(notes, vector_size=6, min_count=1, bucket=50, epochs=1, workers=1)
    vectors = from_gensim(model.wv)
    np.testing.assert_allclose(vectors.vectors_for(["zzz"])[0], model.wv.get_vector("zzz", norm=True), atol=1e-6)
    plain = from_gensim(Word2Vec(notes, vector_size=6, min_count=1, epochs=1, workers=1).wv, is_public=True)
    assert plain.is_public
    assert plain.subwords is None
    with pytest.raises(TypeError, match="KeyedVectors are needed"):
        from_gensim(model)


def test_subwords_are_private_unless_said(fasttext_file):
    subwords = read_word_vectors(fasttext_file).subwords
    assert isinstance(subwords, SubwordTable)
    assert not subwords.is_public


def test_places_and_formats(tmp_path):
    with pytest.raises(DataNotFoundError, match="no such file of word vectors"):
        read_word_vectors(tmp_path / "missing.txt")
    with pytest.raises(
        ValueError, match=f"'format' parameter of read_word_vectors must be one of {', '.join(FORMATS)}"
    ):
        read_word_vectors(tmp_path, format="pickle")
