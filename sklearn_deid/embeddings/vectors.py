"""Table of word vectors with lookup of words, spelling variants and unknown words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from .._strict_json import load_strict
from ..exceptions import BundleError, DataNotFoundError
from .subwords import SubwordTable

_MANIFEST, _WORDS, _VECTORS, _SUBWORDS = "word_vectors.json", "words.json", "vectors.npy", "subwords.npy"
_VERSION = 1

_ROWS_AT_ONCE = 65_536
# Lengths that differ less from 1 are those of unit vectors in float32, whose norms need not be stored.
_UNIT_TOLERANCE = 1e-6


class Lookup(NamedTuple):
    """Vectors of tokens, and a mask of unknown tokens.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_tokens, dim)
        Vector of each token, of unit length. The vector of an unknown token is zero.
    unknown : ndarray of bool, shape (n_tokens,)
        Whether a token is unknown: neither the word in any spelling nor its n-grams are stored.
    """

    vectors: np.ndarray
    unknown: np.ndarray


class WordVectors:
    """Word vectors of unit length that you look up by word. The array may be memory-mapped.

    The constructor does not copy a float32 array, memory-mapped or not. Rows are scaled to length 1 at lookup. A
    WordVectors object is immutable. Copies, such as those of ``sklearn.base.clone``, are therefore the object itself
    and need no memory.

    The lookup tries several spellings of a token in this order: the token itself; accents composed (NFC); lower-cased;
    capitalised; compatibility characters replaced (NFKC) and lower-cased; every digit replaced by 0; every digit
    replaced by #. The first stored spelling is used (see :func:`word_forms`). If no spelling is stored, the vector is
    computed from character n-grams. A token without stored n-grams is unknown, and its vector is zero.

    Parameters
    ----------
    words : iterable of str
        Word of each row. The words must be distinct.
    vectors : array-like of shape (n_words, dim)
        Finite vectors of any length. A row of zeros stays zero.
    subwords : SubwordTable, optional
        N-gram vectors for words that are not stored (fastText).
    is_public : bool, default=False
        Whether the vectors were trained on public text only. Vectors trained on notes contain the words of the notes.
        Do not share vectors that were trained on notes.
    n_duplicates : int, default=0
        Number of rows that a reader skipped because their word was repeated.

    Raises
    ------
    ValueError
        If words and vectors differ in number, a word occurs twice, or a value is not finite.

    Examples
    --------
    >>> vectors = WordVectors(["pain", "fever"], [[3.0, 4.0], [0.0, 2.0]])
    >>> vectors
    WordVectors(n_words=2, dim=2, private)
    >>> vectors.vectors_for(["Fever", "Pain", "Zzyx"]).tolist()
    [[0.0, 1.0], [0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    >>> vectors.lookup(["Fever", "Zzyx"]).unknown.tolist()
    [False, True]
    """

    def __init__(
        self,
        words: Iterable[str],
        vectors: Any,
        *,
        subwords: SubwordTable | None = None,
        is_public: bool = False,
        n_duplicates: int = 0,
    ) -> None:
        array = np.asanyarray(vectors, dtype=np.float32)
        self._rows = _number_words(words, array.shape)
        if subwords is not None and subwords.dim != array.shape[1]:
            raise ValueError(
                f"The 'subwords' parameter of WordVectors must have dim {array.shape[1]}. Got {subwords.dim} instead."
            )
        if not isinstance(is_public, (bool, np.bool_)):  # the string "no" would count as true
            raise TypeError(f"The 'is_public' parameter of WordVectors must be True or False. Got {is_public!r}.")
        self._vectors = array.view()
        self._vectors.flags.writeable = False
        self._norms = _row_norms(self._vectors)
        self.subwords = subwords
        self.is_public, self.n_duplicates = bool(is_public), int(n_duplicates)
        self._checksum: str | None = None

    @property
    def words(self) -> list[str]:
        """New list of the words in the order of the rows."""
        return list(self._rows)

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self._vectors.shape[1])

    @property
    def checksum(self) -> str:
        """Hash of words, unit vectors and n-gram table (32 hexadecimal digits). The hash is computed once."""
        if self._checksum is None:
            digest = blake2b(f"{len(self)} {self.dim}".encode(), digest_size=16)
            digest.update("\0".join(self._rows).encode("utf-8", "surrogatepass"))
            for block in self.blocks():
                digest.update(memoryview(block.tobytes()))
            digest.update((self.subwords.checksum if self.subwords is not None else "").encode())
            self._checksum = digest.hexdigest()
        return self._checksum

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._row(word) >= 0

    def index(self, word: str) -> int:
        """Row of a word, in the first stored spelling.

        Raises
        ------
        KeyError
            If no spelling is stored. The message does not contain the word.
        """
        row = self._row(word)
        if row < 0:
            raise KeyError("The word is not stored in any of the spellings tried.")
        return row

    def indices(self, tokens: Iterable[str]) -> np.ndarray:
        """Rows of tokens, shape (n_tokens,), int64; -1 for a token without a stored spelling."""
        distinct, inverse = _distinct(tokens)
        return self._rows_of(distinct)[inverse]

    def vectors_at(self, rows: Any) -> np.ndarray:
        """Unit vectors of rows (integers or a slice), float32. A slice of unit vectors is returned without a copy."""
        found = np.asarray(self._vectors[rows])
        return found if self._norms is None else found / self._norms[rows][..., None]

    def vectors_for(self, tokens: Iterable[str]) -> np.ndarray:
        """Unit vectors of tokens, shape (n_tokens, dim), float32; zeros for unknown tokens.

        Each distinct token is looked up once.
        """
        return self.lookup(tokens).vectors

    def lookup(self, tokens: Iterable[str]) -> Lookup:
        """Unit vectors of tokens, and which tokens are unknown."""
        distinct, inverse = _distinct(tokens)
        rows = self._rows_of(distinct)
        # shape: (n_distinct, dim); expanded to (n_tokens, dim) at the end
        vectors = np.zeros((len(distinct), self.dim), dtype=np.float32)
        unknown = rows < 0
        vectors[~unknown] = self.vectors_at(rows[~unknown])
        if self.subwords is not None and unknown.any():
            missing = np.flatnonzero(unknown)
            made = self.subwords.vectors_for([distinct[i] for i in missing], unit=True)
            # Unknown words with at least one n-gram in the table have a vector. The other words stay zero and count as
            # unknown.
            vectors[missing] = made
            unknown[missing] = ~made.any(axis=1)
        return Lookup(vectors[inverse], unknown[inverse])

    def blocks(self, n_rows: int = _ROWS_AT_ONCE) -> Iterator[np.ndarray]:
        """All unit vectors in row order, in blocks of ``n_rows``, so that memory never holds a large table twice."""
        for start in range(0, len(self), n_rows):
            yield self.vectors_at(slice(start, start + n_rows))

    def has_direction(self) -> np.ndarray:
        """Whether each row has a nonzero vector, shape (n_words,). A zero vector has no neighbours."""
        return np.concatenate([np.zeros(0, dtype=bool), *(block.any(axis=1) for block in self.blocks())])

    def matrix(self) -> np.ndarray:
        """All unit vectors, shape (n_words, dim), float32. Stored unit vectors are returned without a copy."""
        return self.vectors_at(slice(None))

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the vectors to a new folder, which `open` memory-maps.

        The folder contains ``vectors.npy`` (unit vectors, float32), ``words.json``, ``subwords.npy`` (only for vectors
        with n-grams) and ``word_vectors.json``. `open` needs ``word_vectors.json``, which is written last, so that
        `open` refuses the folder of an interrupted run.

        Parameters
        ----------
        folder : path
            Folder to write to. A missing folder is created. For vectors trained on notes, the folder then contains the
            words of the notes.

        Raises
        ------
        FileExistsError
            If the folder is not empty.
        """
        _write_folder(self, Path(folder))

    @classmethod
    def open(cls, folder: str | PathLike[str], *, verify: bool = True) -> WordVectors:
        """Open word vectors that `save` wrote. The arrays are memory-mapped.

        Parameters
        ----------
        folder : path
            Folder that `save` wrote.
        verify : bool, default=True
            Whether to compare the content with the checksum in the manifest. The comparison reads all data (0.2 s for
            400,000 x 50).

        Returns
        -------
        WordVectors
            Memory-mapped word vectors.

        Raises
        ------
        DataNotFoundError
            If the folder does not exist.
        BundleError
            If a file is missing, damaged, of another version, or disagrees with the manifest.
        """
        return _open_folder(Path(folder), verify)

    def _row(self, word: str) -> int:
        return next((self._rows[form] for form in word_forms(word) if form in self._rows), -1)

    def _rows_of(self, distinct: Sequence[str]) -> np.ndarray:
        # Most tokens have a row in their own spelling. The variants are tried only for the other tokens.
        rows = np.fromiter((self._rows.get(word, -1) for word in distinct), dtype=np.int64, count=len(distinct))
        for i in np.flatnonzero(rows < 0).tolist():
            rows[i] = self._row(distinct[i])
        return rows

    def __copy__(self) -> WordVectors:
        # The vectors are read-only, so that copies share them.
        return self

    def __deepcopy__(self, memo: dict) -> WordVectors:
        return self

    # The repr contains no words: they may be words of notes.
    def __repr__(self) -> str:
        extra = ", subwords" if self.subwords is not None else ""
        return f"WordVectors(n_words={len(self)}, dim={self.dim}{extra}, {'public' if self.is_public else 'private'})"


def _number_words(words: Iterable[str], shape: tuple[int, ...]) -> dict[str, int]:
    listed = list(words)
    if len(shape) != 2 or shape[0] != len(listed):
        raise ValueError(
            f"The 'vectors' parameter of WordVectors must have shape ({len(listed)}, dim). Got {shape} instead."
        )
    if not all(issubclass(kind, str) for kind in set(map(type, listed))):
        raise ValueError("The 'words' parameter of WordVectors must hold strings.")
    rows = dict(zip(listed, range(len(listed)), strict=True))
    if len(rows) != len(listed):
        raise ValueError(
            f"The 'words' parameter of WordVectors must be distinct. {len(listed) - len(rows)} are repeated."
        )
    return rows


def _row_norms(vectors: np.ndarray) -> np.ndarray | None:
    """Length of each row (1 for rows of zeros), or None if all rows have unit length."""
    # shape: (n_words,)
    norms = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE].astype(np.float64)
        norms[start : start + _ROWS_AT_ONCE] = np.linalg.norm(block, axis=1)
    wrong = np.flatnonzero(~np.isfinite(norms))
    if wrong.size:
        raise ValueError(f"{wrong.size} rows of 'vectors' hold NaN, infinity or too large values; first: {wrong[0]}.")
    norms[norms == 0] = 1.0
    return None if (np.abs(norms - 1.0) <= _UNIT_TOLERANCE).all() else norms


def _distinct(tokens: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """Distinct tokens in the order of their first occurrence, and the index of each token in this list."""
    if isinstance(tokens, str):
        raise TypeError("Tokens must come as a sequence of strings. Got one string; wrap it: [token].")
    listed = list(tokens)
    # Notes repeat most words. Each distinct token is looked up once.
    position = {token: i for i, token in enumerate(dict.fromkeys(listed))}
    return list(position), np.fromiter(map(position.__getitem__, listed), dtype=np.int64, count=len(listed))


def _write_folder(vectors: WordVectors, path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise FileExistsError(f"Word vectors need an empty folder. '{path}' is not empty.")
    mapped = np.lib.format.open_memmap(
        path / _VECTORS, mode="w+", dtype=np.dtype("<f4"), shape=(len(vectors), vectors.dim)
    )
    start = 0
    for block in vectors.blocks():
        mapped[start : start + len(block)] = block
        start += len(block)
    mapped.flush()
    # JSON with ASCII escapes can also represent words with line breaks or lone surrogates.
    (path / _WORDS).write_text(json.dumps(vectors.words), encoding="ascii")
    subwords = vectors.subwords
    if subwords is not None:
        np.save(path / _SUBWORDS, np.ascontiguousarray(subwords.table), allow_pickle=False)
    manifest = {
        "format": "sklearn-deid word vectors",
        "version": _VERSION,
        "n_words": len(vectors),
        "dim": vectors.dim,
        "is_public": vectors.is_public,
        "checksum": vectors.checksum,
        "subwords": None if subwords is None else _subword_settings(subwords),
    }
    (path / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="ascii")


def _open_folder(path: Path, verify: bool) -> WordVectors:
    if not path.is_dir():
        raise DataNotFoundError("There is no such folder of word vectors.", path=str(path))
    manifest = _read_json(path / _MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("version") != _VERSION:
        raise BundleError(f"Word vectors of format version {_VERSION} are needed.", path=str(path / _MANIFEST))
    if not isinstance(manifest.get("is_public"), bool):  # "no" would count as true
        raise BundleError("The file does not say whether the word vectors are public.", path=str(path / _MANIFEST))
    words = _read_json(path / _WORDS)
    if not isinstance(words, list):
        raise BundleError("The words are damaged.", path=str(path / _WORDS))
    array = _map_array(path / _VECTORS)
    table = None if manifest.get("subwords") is None else _map_array(path / _SUBWORDS)
    try:
        subwords = None if table is None else SubwordTable(table, **manifest["subwords"])
        opened = WordVectors(words, array, subwords=subwords, is_public=manifest["is_public"])
        expected = manifest["n_words"], manifest["dim"], manifest["checksum"]
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"The word vectors are damaged: {type(error).__name__}.", path=str(path)) from error
    # The checksum covers words and vectors and reads all of them, so that the check can be skipped for large tables.
    if (len(opened), opened.dim) != expected[:2] or (verify and opened.checksum != expected[2]):
        raise BundleError("The word vectors differ from the saved word vectors.", path=str(path))
    return opened


def _subword_settings(subwords: SubwordTable) -> dict[str, Any]:
    return {name: getattr(subwords, name) for name in ("min_n", "max_n", "lower", "is_public")}


def _map_array(path: Path) -> np.ndarray:
    try:
        # Unlike `load` of NumPy, this function opens neither pickles nor ZIP archives.
        return np.lib.format.open_memmap(_regular(path), mode="r")
    # MemoryError: Python's parser had no more room for a nested header.
    except (EOFError, OSError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise BundleError("The array is missing or damaged.", path=str(path)) from error


def _read_json(path: Path) -> Any:
    try:
        return load_strict(_regular(path).read_text(encoding="ascii"))
    except FileNotFoundError:
        raise BundleError("The word vectors are incomplete; was saving them interrupted?", path=str(path)) from None
    except (ValueError, RecursionError):  # also UnicodeDecodeError; the cause would quote the file
        raise BundleError("The file is damaged.", path=str(path)) from None


def _regular(path: Path) -> Path:
    """Path of a regular file. A pipe counts as missing, because reading from a pipe might never end."""
    if not path.is_file():
        raise FileNotFoundError(path)
    return path


_DIGIT = re.compile(r"\d")


def word_forms(word: str) -> Iterator[str]:
    """Spelling variants of a token, from the token itself to the coarsest variant.

    A lookup uses the first stored variant. The variants are, in this order:

    1. the token itself;
    2. accents composed (NFC: e + combining acute is é);
    3. lower-cased;
    4. capitalised, for "MADRID" if only "Madrid" is stored;
    5. compatibility characters replaced (NFKC: a full-width or ligature letter becomes the plain letter), lower-cased;
    6. every digit replaced by 0, then by #, because many public tables store rare numbers in this form.

    Parameters
    ----------
    word : str
        Token to look up.

    Yields
    ------
    str
        Next variant. The same variant may be repeated.

    Examples
    --------
    >>> list(dict.fromkeys(word_forms("MAY")))
    ['MAY', 'may', 'May']
    >>> list(dict.fromkeys(word_forms("1984")))
    ['1984', '0000', '####']
    """
    yield word
    composed = normalize("NFC", word)
    yield composed
    lowered = composed.lower()
    yield lowered
    yield composed.capitalize()
    plain = normalize("NFKC", word).lower()
    yield plain
    zeros = _DIGIT.sub("0", plain)
    if zeros != plain or "0" in plain:
        yield zeros
        yield _DIGIT.sub("#", plain)
