"""A table of word vectors: words, unit vectors, and what to do with unknown words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import BundleError, DataNotFoundError
from .subwords import SubwordTable
from .word_forms import word_forms

_MANIFEST, _WORDS, _VECTORS, _SUBWORDS = "word_vectors.json", "words.json", "vectors.npy", "subwords.npy"
_VERSION = 1

_ROWS_AT_ONCE = 65_536
_UNIT_TOLERANCE = 1e-6


class Lookup(NamedTuple):
    """Vectors of tokens, and which tokens have none.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_tokens, dim)
        Unit length, or zero where nothing is known.
    unknown : ndarray of bool, shape (n_tokens,)
        True where neither the word in any spelling nor its n-grams are known.
    """

    vectors: np.ndarray
    unknown: np.ndarray


class WordVectors:
    """Word vectors of unit length, looked up by word; the array may be memory-mapped.

    The array is kept as it comes (no copy of a float32 array, mapped or not); rows are scaled to length 1 when they are
    looked up. An object never changes, so copies of it are the object itself and ``sklearn.base.clone`` is free.

    A token is looked up by the first of these that is stored, and otherwise by its character n-grams, and otherwise it
    is unknown and gets zeros: as it is; accents composed (NFC); lower-cased; capitalised; compatibility characters
    replaced (NFKC) and lower-cased; every digit replaced by 0; by #. See :func:`word_forms`.

    Parameters
    ----------
    words : iterable of str
        One for each row, no two the same.
    vectors : array-like of shape (n_words, dim)
        Of any length; finite. A row of zeros stays zeros.
    subwords : SubwordTable, optional
        N-gram vectors for words that are not stored (fastText).
    is_public : bool, default=False
        Whether the vectors were trained on public text only. Vectors trained on notes hold the words of the notes and
        must not be shared.
    n_duplicates : int, default=0
        Rows that a reader left out because their word had come before.

    Raises
    ------
    ValueError
        If the shapes do not fit, a word occurs twice, or a value is not finite.

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
            raise ValueError(f"The 'subwords' parameter must have dim {array.shape[1]}. Got {subwords.dim} instead.")
        self._vectors = array.view()
        self._vectors.flags.writeable = False
        self._norms = _row_norms(self._vectors)
        self.subwords = subwords
        self.is_public, self.n_duplicates = bool(is_public), int(n_duplicates)
        self._checksum: str | None = None

    @property
    def words(self) -> list[str]:
        """The words in the order of the rows; a new list each time."""
        return list(self._rows)

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    @property
    def checksum(self) -> str:
        """Hash of words, unit vectors and n-gram table (32 hexadecimal digits), computed once; a cache key."""
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
        """Row of a word, in any of the spellings tried.

        Raises
        ------
        KeyError
            If it is not stored. The message does not repeat the word.
        """
        row = self._row(word)
        if row < 0:
            raise KeyError("The word is not stored in any of the spellings tried.")
        return row

    def indices(self, tokens: Iterable[str]) -> np.ndarray:
        """Rows of tokens, shape (n_tokens,), int64; -1 where a token is not stored in any of the spellings tried."""
        distinct, inverse = _distinct(tokens)
        return self._rows_of(distinct)[inverse]

    def vectors_at(self, rows: Any) -> np.ndarray:
        """Unit vectors of rows (integers or a slice), float32; a copy unless the stored array is of unit length."""
        found = np.asarray(self._vectors[rows])
        return found if self._norms is None else found / self._norms[rows][..., None]

    def vectors_for(self, tokens: Iterable[str]) -> np.ndarray:
        """Unit vectors of tokens, shape (n_tokens, dim), float32; zeros for unknown ones.

        Each distinct token is looked up once.
        """
        return self.lookup(tokens).vectors

    def lookup(self, tokens: Iterable[str]) -> Lookup:
        """Unit vectors of tokens, and which tokens are unknown."""
        distinct, inverse = _distinct(tokens)
        rows = self._rows_of(distinct)
        vectors = np.zeros((len(distinct), self.dim), dtype=np.float32)
        unknown = rows < 0
        vectors[~unknown] = self.vectors_at(rows[~unknown])
        if self.subwords is not None and unknown.any():
            missing = np.flatnonzero(unknown)
            made = self.subwords.vectors_for([distinct[i] for i in missing], unit=True)
            vectors[missing] = made
            unknown[missing] = ~made.any(axis=1)
        return Lookup(vectors[inverse], unknown[inverse])

    def blocks(self, n_rows: int = _ROWS_AT_ONCE) -> Iterator[np.ndarray]:
        """All unit vectors in row order, ``n_rows`` at a time, so that a large table is never held twice."""
        for start in range(0, len(self), n_rows):
            yield self.vectors_at(slice(start, start + n_rows))

    def matrix(self) -> np.ndarray:
        """All unit vectors, shape (n_words, dim), float32; the stored array itself if it is of unit length."""
        return self.vectors_at(slice(None))

    def save(self, folder: str | PathLike[str]) -> None:
        """Write to a new folder, from which `open` maps the vectors into memory.

        ``vectors.npy`` (unit vectors, float32), ``words.json``, ``subwords.npy`` for vectors with n-grams, and last
        ``word_vectors.json``, so that an interrupted run leaves nothing that opens.

        Parameters
        ----------
        folder : path
            Made if missing. Vectors trained on notes write the words of the notes there.

        Raises
        ------
        FileExistsError
            If the folder holds anything.
        """
        _write_folder(self, Path(folder))

    @classmethod
    def open(cls, folder: str | PathLike[str], *, verify: bool = True) -> WordVectors:
        """Open word vectors written by `save`; the arrays are mapped, not read.

        Parameters
        ----------
        folder : path
        verify : bool, default=True
            Compare the content with the checksum in the manifest, which reads it all (0.2 s for 400,000 x 50).

        Returns
        -------
        WordVectors

        Raises
        ------
        DataNotFoundError
            If there is no such folder.
        BundleError
            If a file is missing, damaged, of another version, or disagrees with the manifest.
        """
        return _open_folder(Path(folder), verify)

    def _row(self, word: str) -> int:
        return next((self._rows[form] for form in word_forms(word) if form in self._rows), -1)

    def _rows_of(self, distinct: Sequence[str]) -> np.ndarray:
        rows = np.fromiter((self._rows.get(word, -1) for word in distinct), dtype=np.int64, count=len(distinct))
        for i in np.flatnonzero(rows < 0).tolist():
            rows[i] = self._row(distinct[i])
        return rows

    def __copy__(self) -> WordVectors:
        return self

    def __deepcopy__(self, memo: dict) -> WordVectors:
        return self

    def __repr__(self) -> str:  # no words: they may be those of notes
        extra = ", subwords" if self.subwords is not None else ""
        return f"WordVectors(n_words={len(self)}, dim={self.dim}{extra}, {'public' if self.is_public else 'private'})"


def _number_words(words: Iterable[str], shape: tuple[int, ...]) -> dict[str, int]:
    listed = list(words)
    if len(shape) != 2 or shape[0] != len(listed):
        raise ValueError(f"The 'vectors' parameter must have shape ({len(listed)}, dim). Got {shape} instead.")
    if not all(isinstance(word, str) for word in listed):
        raise ValueError("The 'words' parameter must hold strings.")
    rows = {word: row for row, word in enumerate(listed)}
    if len(rows) != len(listed):
        raise ValueError(f"The 'words' parameter holds {len(listed) - len(rows)} words that came before.")
    return rows


def _row_norms(vectors: np.ndarray) -> np.ndarray | None:
    """Length of each row (1 for rows of zeros), or None if all rows are of unit length already."""
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
    """Distinct tokens in the order of their first occurrence, and where each token is among them."""
    if isinstance(tokens, str):
        raise TypeError("Tokens must come as a sequence of strings. Got one string; wrap it: [token].")
    listed = list(tokens)
    position = {token: i for i, token in enumerate(dict.fromkeys(listed))}
    return list(position), np.fromiter(map(position.__getitem__, listed), dtype=np.int64, count=len(listed))


def _write_folder(vectors: WordVectors, path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if any(path.iterdir()):
        raise FileExistsError(f"Word vectors are written to an empty folder. '{path}' is not empty.")
    mapped = np.lib.format.open_memmap(
        path / _VECTORS, mode="w+", dtype=np.dtype("<f4"), shape=(len(vectors), vectors.dim)
    )
    start = 0
    for block in vectors.blocks():
        mapped[start : start + len(block)] = block
        start += len(block)
    mapped.flush()
    # ASCII escapes, so that a word with a line break or a lone surrogate is written like any other.
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
    if (len(opened), opened.dim) != expected[:2] or (verify and opened.checksum != expected[2]):
        raise BundleError("The word vectors are not those that were saved.", path=str(path))
    return opened


def _subword_settings(subwords: SubwordTable) -> dict[str, Any]:
    return {name: getattr(subwords, name) for name in ("min_n", "max_n", "lower", "is_public")}


def _map_array(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, OSError, ValueError) as error:
        raise BundleError("The array is missing or damaged.", path=str(path)) from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        raise BundleError("The word vectors are incomplete; was saving them interrupted?", path=str(path)) from None
    except ValueError:  # also UnicodeDecodeError; the cause would quote the file
        raise BundleError("The file is damaged.", path=str(path)) from None
