"""Classes of similar words with at least k words each: balanced bisecting k-means of word vectors."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

_ITERATIONS = 20  # of each 2-means; more iterations move the border of two halves hardly any more


def balanced_classes(vectors: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Divide vectors into classes of at least k and fewer than 2 k similar vectors.

    A set of 2 k or more vectors is divided by 2-means. If one side has fewer than k vectors, the nearest vectors of the
    other side are moved to this side.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors, at least k.
    k : int
        Size of the smallest class.
    rng : numpy.random.Generator
        Random stream of the initial centres.

    Returns
    -------
    ndarray of shape (n,), dtype int32
        Class of each vector, from 0 upwards.

    Raises
    ------
    ValueError
        If there are fewer than k vectors.

    Notes
    -----
    Plain k-means of word vectors leaves many classes of one or two rare words and a few very large classes. If the
    small classes were joined afterwards, dissimilar words would be in one class.

    Examples
    --------
    >>> points = np.array([[0.0, 1.0], [0.1, 1.0], [5.0, 0.0], [5.1, 0.0]])
    >>> classes = balanced_classes(points, 2, np.random.default_rng(0))
    >>> bool(classes[0] == classes[1] != classes[2] == classes[3])
    True
    """
    if len(vectors) < k:
        raise ValueError(f"A class needs {k} words, and there are {len(vectors)} words with a vector.")
    classes, n_classes = np.empty(len(vectors), dtype=np.int32), 0
    # A stack instead of recursion: the depth of unbalanced halves can reach n / k.
    left = [np.arange(len(vectors))]
    while left:
        rows = left.pop()
        if len(rows) < 2 * k:
            classes[rows] = n_classes
            n_classes += 1
        else:
            left += _halves(vectors, rows, k, rng)
    return classes


def classes_by_kind(vectors: np.ndarray, kinds: np.ndarray | None, k: int, rng: np.random.Generator) -> np.ndarray:
    """Divide the vectors of each kind with `balanced_classes`; -1 for the vectors of a kind with fewer than k vectors.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors.
    kinds : ndarray of int, shape (n,), or None
        Kind of each vector. With None, all vectors are of one kind.
    k : int
        Size of the smallest class.
    rng : numpy.random.Generator
        Random stream of the initial centres.

    Returns
    -------
    ndarray of shape (n,), dtype int32
        Class of each vector, from 0 upwards, or -1.

    Raises
    ------
    ValueError
        If no kind has k vectors.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> classes_by_kind(points, np.array([0, 0, 1, 2, 2]), 2, np.random.default_rng(0)).tolist()
    [0, 0, -1, 1, 1]
    """
    kinds = np.zeros(len(vectors), dtype=np.int64) if kinds is None else kinds
    classes, n_classes = np.full(len(vectors), -1, dtype=np.int32), 0
    sizes = dict(zip(*np.unique(kinds, return_counts=True), strict=True))
    for kind in (kind for kind, size in sizes.items() if size >= k):
        rows = np.flatnonzero(kinds == kind)
        classes[rows] = n_classes + balanced_classes(vectors[rows], k, rng)
        n_classes = int(classes[rows].max()) + 1
    if not n_classes:
        raise ValueError(
            f"A class needs {k} words of one kind, and there are at most {max(sizes.values(), default=0)}."
        )
    return classes


def _halves(vectors: np.ndarray, rows: np.ndarray, k: int, rng: np.random.Generator) -> list[np.ndarray]:
    # 2-means, then a cut at a rank instead of at the border of the clusters: only a rank guarantees k words on each
    # side.
    points = vectors[rows]
    means = KMeans(2, n_init=1, max_iter=_ITERATIONS, random_state=int(rng.integers(2**31)))
    means.set_output(transform="default").fit(points)
    distances = means.transform(points)  # shape: (n, 2)
    nearness = distances[:, 0] - distances[:, 1]
    # Sorted from vectors nearest to the first centre to vectors nearest to the second; ties stay in their order.
    order = np.argsort(nearness, kind="stable")
    cut = min(max(int((nearness < 0).sum()), k), len(rows) - k)
    return [np.sort(rows[order[:cut]]), np.sort(rows[order[cut:]])]


def class_means(vectors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the mean of the vectors of each class, shape (n_classes, d), float32.

    Examples
    --------
    >>> class_means(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).tolist()
    [[2.0], [5.0]]
    """
    # A product with a sparse matrix adds up the same numbers in the same order as np.add.at, much faster.
    members = csr_array((np.ones(len(classes)), (classes, np.arange(len(classes)))))
    return ((members @ vectors) / np.bincount(classes)[:, None]).astype(np.float32)
