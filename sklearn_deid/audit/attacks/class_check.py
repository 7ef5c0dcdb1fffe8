"""Check of released word classes: each vector is the mean vector of a public class of at least k words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...representations.released_classes import wrong_classes
from ..protocol import AttackResult
from ..released_step import CLASS_FILE, CLASSES, PRIVATE_VECTORS
from .check_results import check_result
from .declaration import AttackPreset, timed
from .untrained import UntrainedAttack


@dataclass(frozen=True, repr=False)
class ReleasedClassVectors:
    """Released vectors, and the published word classes from which the vectors were computed.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d), dtype float32
        Vectors without casing columns.
    table, classes, centroids : ndarray
        Public word vectors, class of each word and vector of each class; see `WordClassRepresenter`.
    class_size : int
        Smallest number k of words that a class may have.
    expected : ndarray of int, shape (n_tokens,), or None
        Class of the word of each token; None if the words are not known.
    again : ndarray of shape (n_tokens, d), or None
        Vectors of a second release of the same sentences.
    kinds : ndarray of int, shape (n_words,), or None
        Kind of each public word by its casing classes, if the casing was also released.
    figures : dict
        Exact accuracies of the best attacker (`ClassPrivacy`).
    is_public : bool
        Whether the word vectors are public. Classes of other word vectors depend on private notes.
    """

    vectors: np.ndarray
    table: np.ndarray
    classes: np.ndarray
    centroids: np.ndarray
    class_size: int
    expected: np.ndarray | None = None
    again: np.ndarray | None = None
    kinds: np.ndarray | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    is_public: bool = True


class ClassCheck(UntrainedAttack):
    """Compare released word classes with the public words; the check is deterministic.

    The check finds these faults:

    - word vectors that are not public, so that the classes depend on private notes;
    - a class of fewer than k words;
    - a class whose words the released casing distinguishes;
    - a class vector that is not the mean of its words;
    - a released vector that is not a class vector;
    - a token with the vector of another class;
    - two releases of the same sentences that differ.

    If the check finds no fault, the release is a function of the class and the casing of each word, and no attacker can
    distinguish the words of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import ClassCheck, ReleasedClassVectors
    >>> table = np.array([[1.0, 0.0], [3.0, 0.0]])
    >>> centroids = np.array([[2.0, 0.0], [0.0, 0.0]], dtype=np.float32)
    >>> classes = np.array([0, 0])
    >>> ClassCheck().attack(ReleasedClassVectors(centroids, table, classes, centroids, 2)).faults
    ()
    >>> ClassCheck().attack(ReleasedClassVectors(table.astype(np.float32), table, classes, centroids, 2)).faults
    ('2 tokens have a vector of no class of at least 2 words.',)
    """

    key = "classes"
    family = "classes"
    title = "Word classes"
    order = 8
    releases = (CLASSES, CLASS_FILE)
    presets = (AttackPreset("classes", "Word classes", 100.0, 1.0, quick=True),)
    name = "word classes"
    attacker = "A recipient who holds the released vectors, the published classes and the public word vectors."
    measure = "share of tests in which the release holds more than the class of each word"
    phrase = "An attacker who compares the release with the published classes finds a fault in {} of tests"

    def run(self, release: Any) -> list[AttackResult]:
        """Check the release. Without the published classes, the check cannot run, and the release cannot pass the
        audit."""
        released = release.released_classes
        if released is None:
            return [
                replace(self.skip("This attack needs the published WordClassRepresenter (representer=)."), blocks=True)
            ]
        return [self.fit().attack(released)]

    @timed
    def attack(self, released: ReleasedClassVectors) -> AttackResult:
        """Check released vectors."""
        classes = released.classes, released.centroids, released.class_size
        wrong = wrong_classes(released.table, *classes, released.kinds)
        faults = [] if wrong is None else [wrong]
        if not released.is_public:
            faults.append(PRIVATE_VECTORS)
        vectors = np.ascontiguousarray(released.vectors, dtype=np.float32)
        named = {row.tobytes() for row in released.centroids}
        strange = sum(row.tobytes() not in named for row in vectors)
        if strange:
            faults.append(f"{strange} tokens have a vector of no class of at least {released.class_size} words.")
        if released.expected is not None:
            other = int((released.centroids[released.expected] != vectors).any(axis=1).sum())
            if other:
                faults.append(f"{other} tokens do not have the vector of the class of their word.")
        if released.again is not None and not np.array_equal(released.again, vectors):
            faults.append("Two releases of the same sentences differ.")
        return check_result(
            self,
            faults,
            5,
            details={"classes": len(released.centroids) - 1, "tokens": len(vectors), **released.figures},
        )
