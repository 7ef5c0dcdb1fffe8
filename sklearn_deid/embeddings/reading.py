"""Read word vectors from a file of any supported format, a saved folder, or gensim."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..exceptions import DataNotFoundError
from .binary_formats import FASTTEXT_MAGIC, read_fasttext_binary, read_word2vec_binary
from .subwords import SubwordTable
from .text_format import read_text
from .vector_files import VectorFile, parse_header
from .vectors import WordVectors

FORMATS = ("auto", "text", "word2vec-binary", "fasttext-binary", "folder")


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
    writes nothing and opens no network connection. Reading 400,000 x 50 as text takes about 5 s. Save the result once;
    a saved folder opens memory-mapped in 0.5 s.

    Parameters
    ----------
    path : path
        File or folder. Text and word2vec binary files may be compressed (``.gz``).
    format : {"auto", "text", "word2vec-binary", "fasttext-binary", "folder"}, default="auto"
        Format of the file. "text" covers GloVe, word2vec text and fastText ``.vec``. "auto" guesses the format from the
        first bytes of the file, not from its name.
    is_public : bool, default=False
        Whether the vectors were trained on public text only. A file does not contain this information. A saved folder
        does, and the parameter is then ignored.
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
        If the file is invalid or ambiguous. The message names the number of the line or word.
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
    if format not in FORMATS:
        raise ValueError(
            f"The 'format' parameter of read_word_vectors must be one of {', '.join(FORMATS)}. Got {format!r} instead."
        )
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
    # No file format says whether vectors are public, so that only the caller can declare them public.
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
