"""`SelfTraining`: training of a tagger on annotated notes and on raw notes that several other taggers (teachers) have
tagged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from .._compat import BaseSearchCV, Interval, check_constraints
from .._randomness import own_generator
from ..sequences import TokenSequences, check_tags, object_rows
from .held_out import fit_on, fit_whole
from .voting_tagger import VotingTagger

# The marginals of this many raw notes are in memory at a time, for all teachers.
_NOTES_AT_A_TIME = 50


class SelfTraining(BaseEstimator):
    """Train a tagger on annotated sentences and on raw sentences.

    Several taggers, the teachers, are trained on the annotated sentences, each with another random seed. The mean
    probabilities of the teachers determine the tags of the raw sentences. The final tagger, the student, has the
    parameters of the estimator. The student is trained on the annotated sentences and on the raw sentences that the
    teachers tag with enough confidence. The student is as fast as a single tagger.

    Parameters
    ----------
    n_teachers : int, default=3
        Number of teachers. With one teacher, the method is plain self-training.
    min_confidence : float in [0, 1], default=0.6
        Smallest mean probability of a tag: a raw sentence is left out if the tag of any token has a lower probability.
        0 leaves no sentence out.
    share_vectors : bool, default=True
        Whether the word vectors of a `DeidTagger` with ``embeddings="auto"`` are trained once, on annotated and raw
        sentences, for teachers and student. In raw sentences, only words that also occur in annotated sentences are
        used.
    progress : callable, optional
        Function that is called with a line of text before each training.

    Notes
    -----
    A student also learns errors that its teachers make with high confidence. Compare the recall with and without raw
    notes on annotated notes that no training has seen.

    References
    ----------
    Yarowsky (1995), Unsupervised word sense disambiguation rivaling supervised methods, ACL, for self-training; Zhou &
    Li (2005), Tri-training, IEEE TKDE 17(11), for three teachers.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes
    >>> from sklearn_deid.tagging import SelfTraining
    >>> notes, raw = make_clinical_notes(10, random_state=0), make_clinical_notes(5, random_state=1)
    >>> small = DeidTagger(max_epochs=1, hidden_size=8, context="block", random_state=0)
    >>> deidentifier = NoteDeidentifier(small, self_training=SelfTraining(n_teachers=2)).fit(notes, unlabelled=raw)
    >>> deidentifier.raw_notes_["read"]
    5
    """

    _parameter_constraints: dict[str, list] = {
        "n_teachers": [Interval(Integral, 1, None, closed="left")],
        "min_confidence": [Interval(Real, 0, 1, closed="both")],
        "share_vectors": ["boolean"],
        "progress": [callable, None],
    }

    def __init__(
        self,
        n_teachers: int = 3,
        *,
        min_confidence: float = 0.6,
        share_vectors: bool = True,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        self.n_teachers, self.min_confidence = n_teachers, min_confidence
        self.share_vectors, self.progress = share_vectors, progress

    def fit_student(
        self, estimator: Any, X: TokenSequences, y: Any, groups: Any, raw: TokenSequences, raw_groups: Any
    ) -> tuple[Any, int]:
        """Train teachers and student.

        Parameters
        ----------
        estimator : estimator
            Tagger that is not fitted, or a pipeline that ends with a tagger. Teachers and student are clones. The seeds
            of the teachers are drawn from the ``random_state`` of the estimator.
        X : TokenSequences of n sentences
            Annotated sentences with their documents.
        y : sequence of n tag sequences
            IOB2 tags.
        groups : array-like of shape (n,)
            Patient of each annotated sentence.
        raw : TokenSequences of m sentences
            Raw sentences with their documents.
        raw_groups : array-like of shape (m,)
            Patient of each raw sentence.

        Returns
        -------
        student : estimator
            Fitted clone of the estimator.
        n_used : int
            Number of raw sentences in the training of the student.

        Raises
        ------
        ValueError
            If the estimator is tuned on held-out patients, because patients of raw notes would be held out, too: a
            `RecallTunedTagger`, a `TemperatureScaledTagger`, a search of scikit-learn, or a `DeidTagger` with
            ``validation_fraction``.
        """
        check_constraints(self)
        _check_tunes_nothing(estimator)
        estimator = self._with_vectors(clone(estimator), X, y, groups, raw)
        teachers = []
        for number, teacher in enumerate(_teachers(estimator, self.n_teachers), 1):
            self._say(f"Teacher {number} of {self.n_teachers}")
            teachers.append((f"teacher {number}", FrozenEstimator(fit_whole(teacher, X, y, groups))))
        # Teachers with different seeds make different errors, so that the mean of their probabilities is better
        # calibrated.
        vote = VotingTagger(teachers).fit(X, y)
        tagged = [vote.predict(part, return_confidence=True) for part in _parts(raw)]
        # Whole sentences: one unsure tag would teach the student that a missed name is "O".
        least = [row.min() if len(row) else -1.0 for _, rows in tagged for row in rows]
        sure = np.array(least) >= self.min_confidence
        self._say(f"Student, with {sure.sum()} of {len(sure)} raw sentences")
        tags = [row for rows, _ in tagged for row in rows]
        both = _joined(X, raw[sure])
        all_tags = object_rows([*y, *(row for row, used in zip(tags, sure, strict=True) if used)])
        patients = np.array([*groups, *np.asarray(raw_groups, dtype=object)[sure]], dtype=object)
        student = fit_on(estimator, both, all_tags, patients)
        _measure_rules(student, X, y)
        return student, int(sure.sum())

    def _say(self, line: str) -> None:
        if self.progress is not None:
            self.progress(line)

    def _with_vectors(self, estimator: Any, X: TokenSequences, y: Any, groups: Any, raw: TokenSequences) -> Any:
        """Return the estimator; if the estimator is a tagger that trains word vectors, with vectors trained on all
        sentences."""
        from .pretrained_encoder import PretrainedEncoder
        from .tagger_data import tagger_vectors

        parameters = estimator.get_params(deep=False)
        trains = isinstance(parameters.get("embeddings"), str) and parameters["embeddings"] == "auto"
        starts = parameters.get("warm_start_from") is not None
        if not (self.share_vectors and trains and not starts) or isinstance(parameters["encoder"], PretrainedEncoder):
            return estimator
        rng = own_generator(parameters["random_state"])
        vectors = tagger_vectors("auto", X, rng, check_tags(y, X), groups, raw)
        return estimator.set_params(embeddings=vectors)


def _check_tunes_nothing(estimator: Any) -> None:
    """Raise ValueError for an estimator that would tune itself on the tags of the teachers."""
    for part in (estimator, *estimator.get_params().values()):
        kind, way_out = type(part).__name__, None
        if getattr(part, "needs_gold", False) is True:
            way_out = (
                "Train its tagger with raw notes first. Then tune the fitted tagger in a FrozenEstimator on annotated "
                "notes that the tagger has not seen."
            )
        elif isinstance(part, BaseSearchCV):
            way_out = "Search on the annotated notes alone, and train the best estimator with raw notes."
        elif getattr(part, "validation_fraction", None) is not None:
            kind, way_out = f"{kind} with 'validation_fraction'", "Set 'validation_fraction' to None."
        if way_out is not None:
            raise ValueError(
                f"A {kind} cannot learn from raw notes: it measures held-out patients, and raw notes have no gold "
                f"annotation. {way_out}"
            )


def _measure_rules(student: Any, X: Any, y: Any) -> None:
    """Measure the rules of `HybridTagger` objects inside the student on the annotated sentences alone.

    The teachers have the same rules, so that on raw sentences every match of a rule would count as right.
    """
    if isinstance(student, Pipeline):
        *before, (_, student) = student.steps
        X = Pipeline(before).transform(X) if before else X
    if isinstance(student, FrozenEstimator):
        return  # was fitted without the raw sentences
    if hasattr(student, "measure_rules"):
        student.measure_rules(X, y)
    inside = [getattr(student, "tagger_", None), *getattr(student, "estimators_", ())]
    for one in inside:
        if one is not None:
            _measure_rules(one, X, y)


def _teachers(estimator: Any, n_teachers: int) -> Iterator[Any]:
    """Clones of the estimator, each with another random seed. Without a seed, trainings differ in any case."""
    given = {
        name: own_generator(value)
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is not None
    }
    for _ in range(n_teachers):
        yield clone(estimator).set_params(**{name: int(rng.integers(2**31)) for name, rng in given.items()})


def _parts(raw: TokenSequences) -> Iterator[TokenSequences]:
    """Yield the sentences of some notes at a time: probabilities of thousands of notes would not fit into memory."""
    assert raw.documents is not None
    starts = np.flatnonzero(np.diff(raw.documents, prepend=-1))
    borders = [*starts[::_NOTES_AT_A_TIME].tolist(), len(raw)]
    return (raw[first:stop] for first, stop in zip(borders[:-1], borders[1:], strict=True))


def _joined(X: TokenSequences, raw: TokenSequences) -> TokenSequences:
    """Join annotated and raw sentences, so that their document numbers differ."""
    rows = TokenSequences.from_rows([*X, *raw])
    assert X.documents is not None and raw.documents is not None
    # A raw note must never count as the continuation of an annotated one.
    behind = int(X.documents.max(initial=-1)) + 1
    return rows.with_documents(np.concatenate([X.documents, raw.documents + behind]))
