"""`WordClassRepresenter` releases the class of each word, without noise; a class has k or more indistinguishable
words.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._compat import Interval, check_constraints, unfitted_if_failed
from .._parameters import check_parameter
from .._randomness import own_generator
from .._storage import write_bundle
from ..embeddings import WordVectors
from ..embeddings.resolving import required_embeddings
from ..exceptions import BundleError, SequenceError
from ..pseudonyms.neighbor_pseudonymizer import NeighborPseudonymizer
from ..pseudonyms.phi_tokens import find_phi_tokens
from ..sequences import CLASS_LAW, Provenance, TokenVectors, check_tags
from ..sequences.sentence_transformer import SentenceTransformer
from ..tagging.tagger_data import distinct_words, inner_tags
from ..text import CASING_CLASSES, casing_ids
from .casing_kinds import casing_kinds
from .class_privacy import ClassPrivacy
from .released_classes import centroid_digests, wrong_classes
from .saving import is_glove, named_vectors, same_vectors, saved_state
from .word_classes import class_means, classes_by_kind

_CLASS = "WordClassRepresenter"


class WordClassRepresenter(SentenceTransformer):
    """Replace each word by the mean vector of a public class of at least k similar words.

    The classes depend only on public word vectors and a random seed. Nothing is learned from notes, and the release is
    not random. All words of a class have the same vector. No attacker can distinguish the words of a class, for any
    number of tokens and releases and any computing power. The class itself is public: a release shows that the token is
    one of these k or more words.

    Parameters
    ----------
    embeddings : "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Public word vectors, as for `PrivateRepresenter`.
    class_size : int, default=100
        k, number of words of the smallest class. The largest class has fewer than 2 k words.
    casing : bool, default=True
        Whether the casing class of each token in the note is appended (7 columns, one-hot). With ``casing=True``, all
        words of a class can be written in the same casing classes, so that numbers and words are in separate classes.
    random_state : int, RandomState or None, default=0
        Random seed of the clustering. The seed need not be secret. Vectors of different hospitals can be pooled only if
        the word vectors, ``class_size`` and ``random_state`` are equal.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes + 1, d), dtype float32
        Vector of each class. The last row is zero, for the last class. The last class holds the words without a vector,
        and the words whose casing classes too few other words share.
    classes_of_words_ : ndarray of shape (n_words,), dtype int32
        Class of each word of the word vectors.
    class_sizes_ : ndarray of shape (n_classes,)
        Number of words of each class.
    fingerprint_ : str
        Hash of the centroids, the word vectors and the settings. Vectors with equal fingerprints may be pooled.
    n_features_out_ : int
        Width of the vectors that `transform` returns.

    Notes
    -----
    A token is looked up as in `WordVectors`: first as written, then in lower case, then with other digits in place of
    its digits. "SMITH" and "Smith" therefore have the class of "smith". Numbers that are words of the word vectors,
    such as "2019", have classes of numbers. Tokens without a vector form a further class, with the zero vector.

    **Not hidden.** The release shows the class of a word, the casing, the tags and the number of tokens. A class often
    has a meaning (surnames, towns, drugs). Suppose that an attacker knows that a release concerns one of two patients.
    The attacker can distinguish the two patients if the class of one of their tokens differs. `certify` computes how
    often an attacker can distinguish such patients.

    Here, **k-anonymity** applies to words, not to patients.

    See Also
    --------
    PrivateRepresenter : Noisy vectors with a bound; hides the class of a word as well, and needs training.
    save_representation : Writes vectors and tags for others.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, IJUFKS 10(5).

    Examples
    --------
    >>> from sklearn_deid import WordVectors
    >>> from sklearn_deid.representations import WordClassRepresenter
    >>> vectors = WordVectors(["alder", "birch", "pain", "ache"], [[1, 0.1], [1, 0], [0, 1], [0.1, 1]], is_public=True)
    >>> representer = WordClassRepresenter(embeddings=vectors, class_size=2, casing=False).fit([])
    >>> R = representer.transform([["alder", "pain"], ["Birch", "ache"]])
    >>> bool((R[0] == R[1]).all())
    True
    """

    _needs_tags = False
    _releases = "classes"  # for audits: the result of `transform` is shared
    _vectors: WordVectors
    _parameter_constraints: dict[str, list] = {
        "class_size": [Interval(Integral, 2, None, closed="left")],
        "casing": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self, *, embeddings: Any = "auto", class_size: int = 100, casing: bool = True, random_state: Any = 0
    ) -> None:
        self.embeddings, self.class_size = embeddings, class_size
        self.casing, self.random_state = casing, random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> WordClassRepresenter:
        """Divide the words of the word vectors into classes; X is only read if ``embeddings`` is "corpus".

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens
        y, groups : ignored
            These parameters are part of the scikit-learn interface.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, or if fewer than ``class_size`` words have a vector.
        """
        check_constraints(self)
        X, rng = self._words(X), own_generator(self.random_state)
        with unfitted_if_failed(self):
            self._vectors = required_embeddings(self, X, rng.integers(2**31))
            self._learn_classes(rng)
            return self._finished()

    def _learn_classes(self, rng: np.random.Generator) -> None:
        """Divide the words of the word vectors into classes."""
        table = self._table
        # Words without a vector have no neighbours to share a class with; all such words share the last class.
        known = np.flatnonzero(table.any(axis=1))
        kinds = None if self._kinds is None else self._kinds[known]
        classes = classes_by_kind(table[known], kinds, self.class_size, rng)
        sure = classes >= 0
        # shape: (n_classes, dim); a row of zeros follows for words without a class
        means = class_means(table[known][sure], classes[sure])
        self.centroids_ = np.concatenate([means, np.zeros((1, self._vectors.dim), np.float32)])
        self.classes_of_words_ = np.full(len(self._vectors), len(means), dtype=np.int32)
        self.classes_of_words_[known[sure]] = classes[sure]

    @property
    def _kinds(self) -> np.ndarray | None:
        """Kind of each word if the casing is also released; shape (n_words,)."""
        return casing_kinds(self._vectors) if self.casing else None

    @property
    def _table(self) -> np.ndarray:
        """Word vectors as numbers of about size 1, as in `PrivateRepresenter`; shape (n_words, d)."""
        vectors = self._vectors
        return vectors.vectors_at(np.arange(len(vectors))) * np.float32(np.sqrt(vectors.dim))

    def transform(self, X: Any) -> TokenVectors:
        """Return the vector of the class of each token.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens

        Returns
        -------
        TokenVectors of n sentences
            Arrays of shape (n_tokens, d), with 7 more columns if ``casing`` is True.

        Raises
        ------
        SequenceError
            If X contains vectors or is not a sequence of sentences.
        """
        check_is_fitted(self)
        self._check_unchanged()
        X = self._words(X)
        words, distinct = distinct_words(X)
        dim = self._vectors.dim
        data = np.zeros((len(words), self.n_features_out_), dtype=np.float32)
        data[:, :dim] = self.centroids_[self._classes(distinct)[words]]
        if self.casing:
            data[np.arange(len(data)), dim + casing_ids(X.data.tolist())] = 1.0
        return TokenVectors(data, X.offsets, self._origin()).with_documents(X.documents)

    def certify(self, X: Any, y: Any, *, n_neighbors: int = 100) -> ClassPrivacy:
        """Compute the exact information that an attacker gains about the PHI tokens of X.

        Parameters
        ----------
        X, y
            Sentences and IOB2 tags.
        n_neighbors : int, default=100
            Number of nearest words that are paired with each PHI token, at most the number of words with a vector.

        Raises
        ------
        SequenceError
            If X has no PHI token with a vector.
        ValueError
            If ``n_neighbors`` is larger than the number of words.
        """
        check_is_fitted(self)
        n_words = len(self._vectors)
        is_allowed = isinstance(n_neighbors, Integral) and 1 <= n_neighbors <= n_words
        wanted = f"an int between 1 and the number of words with a vector, {n_words}"
        check_parameter(f"{_CLASS}.certify", "n_neighbors", n_neighbors, is_allowed, wanted)
        X = self._words(X)
        phi = find_phi_tokens(X, inner_tags(check_tags(y, X), "iob2"), None)
        rows = self._vectors.indices(phi.words)
        classes = self._classes(phi.words)
        able = classes < len(self.class_sizes_)
        if not able.any():
            raise SequenceError("No PHI token of X has a word vector.")
        # Every mean below is over tokens, not over distinct words: an attacker meets frequent names more often.
        counts = np.bincount(phi.word_ids, minlength=len(phi.words))  # tokens of each distinct word
        sizes = self.class_sizes_[classes[able]]
        # An empty fit suffices: neighbours depend on the word vectors alone.
        mover: Any = NeighborPseudonymizer(embeddings=self._vectors, n_neighbors=n_neighbors, exclude=None).fit([], [])
        near, _ = mover.mechanism_.moves.support(rows[able])
        # The pairs are those of `PrivateRepresenter`, so that the figures of both can be compared.
        other = (near >= 0) & (near != rows[able][:, None])  # shape: (n_words, N)
        same = other & (self.classes_of_words_[near] == classes[able][:, None])
        n_other = np.maximum(other.sum(axis=1), 1)
        return ClassPrivacy(
            class_size=int(self.class_sizes_.min()),
            n_tokens=int(counts.sum()),
            share_without_vector=float(counts[~able].sum() / counts.sum()),
            mean_class_size=float(np.average(sizes, weights=counts[able])),
            # Within a class every word has the same release, so that a guess is right in one of class-size cases.
            top_accuracy=float(np.average(1.0 / sizes, weights=counts[able])),
            n_neighbors=n_neighbors,
            # A pair in one class is a coin toss, a pair in two classes is distinguished with certainty: 1 - P(same
            # class) / 2.
            pair_accuracy=float(np.average(1.0 - 0.5 * same.sum(axis=1) / n_other, weights=counts[able])),
        )

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Save the classes as a folder of JSON and safetensors. The folder identifies the word vectors by a checksum.

        Parameters
        ----------
        path : path
            Folder to make.
        overwrite : bool, default=False
            Whether a saved representer at ``path`` may be replaced.

        Raises
        ------
        BundleError
            If the word vectors are not public, or ``path`` exists.
        """
        check_is_fitted(self)
        self._check_unchanged()
        if not self._vectors.is_public:
            raise BundleError("These classes were made of word vectors of private notes and cannot be saved.")
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        state = {
            "parameters": {
                "class_size": int(self.class_size),
                "casing": bool(self.casing),
                "random_state": None if seed is None else int(seed),
            },
            "embeddings": "glove-6b-50d" if is_glove(self.embeddings) else None,
            "embeddings_checksum": self._vectors.checksum,
            "fingerprint": self.fingerprint_,
        }
        arrays = {"centroids": self.centroids_, "classes_of_words": self.classes_of_words_}
        write_bundle(
            path, {"class": _CLASS, "library_version": __version__, "state": state}, arrays, overwrite=overwrite
        )

    @classmethod
    def load(cls, path: Any, *, embeddings: Any = None) -> WordClassRepresenter:
        """Load classes that `save` wrote. Each class must hold at least k words, with their mean as vector.

        Parameters
        ----------
        path : path
            Folder that `save` wrote.
        embeddings : as in the constructor, optional
            Public word vectors of `fit`. Required unless the word vectors are "glove-6b-50d".

        Raises
        ------
        BundleError
            If the folder is damaged, of another kind, or made with other word vectors, or if a class has fewer than k
            words or a vector that is not the mean of its words.
        """
        state, arrays = saved_state(path, _CLASS)
        if not arrays.keys() <= {"centroids", "classes_of_words"}:
            raise BundleError("Nothing uses one of the arrays. The classes are not as saved.", path=str(path))
        try:
            found = cls(**state["parameters"])
            check_constraints(found)
            found.embeddings = named_vectors(embeddings, state["embeddings"])
            found._vectors = same_vectors(found.embeddings, state["embeddings_checksum"])
            found.centroids_, found.classes_of_words_ = arrays["centroids"], arrays["classes_of_words"]
            classes = found.classes_of_words_, found.centroids_, found.class_size
            wrong = wrong_classes(found._table, *classes, found._kinds)
            name = state["fingerprint"]
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, BundleError):
                raise
            raise BundleError(f"The saved classes do not fit together: {error}", path=str(path)) from error
        if wrong is not None:
            raise BundleError(wrong, path=str(path))
        # The fingerprint is computed anew from the arrays: a forged file could name any.
        if found._finished().fingerprint_ != name:
            raise BundleError("The saved classes do not match their fingerprint.", path=str(path))
        return found

    def _column_names(self) -> list[str]:
        check_is_fitted(self)
        return self._vector_names(self._vectors.dim, CASING_CLASSES if self.casing else ())

    def _finished(self) -> WordClassRepresenter:
        """Set the attributes that follow from the classes."""
        counts = np.bincount(self.classes_of_words_, minlength=len(self.centroids_))
        self.class_sizes_ = counts[:-1]
        self.n_features_out_ = self._vectors.dim + len(CASING_CLASSES) * self.casing
        self.fingerprint_ = self._fingerprint()
        return self

    def _classes(self, words: list[str]) -> np.ndarray:
        """Return the class of each word; words without a vector have the last class."""
        rows = self._vectors.indices(words)
        return np.where(rows >= 0, self.classes_of_words_[rows], len(self.class_sizes_))

    def _check_unchanged(self) -> None:
        if self._fingerprint() != self.fingerprint_:
            raise ValueError("'class_size' or 'casing' was changed after the fit. Fit again.")

    def _fingerprint(self) -> str:
        settings = {"class_size": int(self.class_size), "casing": bool(self.casing), "vectors": self._vectors.checksum}
        digest = blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
        # The centroids follow from the classes of all words, and are released: the centroids identify the release.
        digest.update(self.centroids_.tobytes())
        return digest.hexdigest()

    def _origin(self) -> Provenance:
        return Provenance(
            fingerprint=self.fingerprint_,
            n_components=self._vectors.dim,
            n_neighbors=self.class_size,
            noise={
                "kind": "classes",
                "law": CLASS_LAW,
                "seeded": False,
                "class_size": int(self.class_sizes_.min()),
                "centroids": centroid_digests(self.centroids_),
            },
            casing=bool(self.casing),
            public_embeddings=self._vectors.is_public,
            library_version=__version__,
            settings={"class_size": self.class_size},
        )
