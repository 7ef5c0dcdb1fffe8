"""Marginals of any tagger in one form, legal tags at any threshold, votes, and the interface that taggers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import RaggedArray, TokenSequences, check_tags, object_rows
from ..text import repair_tags, split_tag


class TokenTagger:
    """The parts of scikit-learn's interface that all taggers share: `score`, and what the data look like."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # X is sentences of tokens, and not a table of numbers.
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Micro F1 of typed spans.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        y : sequence of n tag sequences
        sample_weight : None
            Not supported; here because scikit-learn's Pipeline passes it on.
        """
        if sample_weight is not None:
            name = type(self).__name__
            raise ValueError(f"{name}.score does not take sample weights: spans are counted, not averaged.")
        return float(phi_f1_score(y, self.predict(X)))  # type: ignore[attr-defined]


def majority_tags(
    answers: Sequence[np.ndarray], confidences: Sequence[np.ndarray] | None = None
) -> tuple[list[list[str]], RaggedArray]:
    """At each token the tag that most taggers chose, made legal.

    Of tags with equally many votes "O" loses, so that in doubt a token is hidden; among others the first in
    alphabetical order wins.

    Parameters
    ----------
    answers : sequence of ndarray of shape (n,)
        Of each tagger: one list of IOB2 tags for each sentence.
    confidences : sequence of ndarray of shape (n,), optional
        Of each tagger: the probabilities of its tags.

    Returns
    -------
    tags : list of list of str
    confidence : RaggedArray
        Summed confidence of those who voted for the tag, divided by the number of taggers; their share without
        ``confidences``.

    Examples
    --------
    >>> answers = [[["B-AGE", "O"]], [["O", "O"]], [["B-AGE", "B-AGE"]]]
    >>> tags, confidence = majority_tags(answers)
    >>> tags, confidence[0].round(2).tolist()
    ([['B-AGE', 'O']], [0.67, 0.67])
    """
    rows = [TokenSequences.from_rows(answer) for answer in answers]
    names = sorted(set().union(*(row.data for row in rows)), key=lambda tag: (tag == "O", tag))
    number = {tag: i for i, tag in enumerate(names)}
    offsets = rows[0].offsets
    places = np.arange(int(offsets[-1]))
    # shape: (n_tokens, n_tags)
    votes = np.zeros((len(places), max(1, len(names))))
    sure = np.zeros_like(votes)
    for i, row in enumerate(rows):
        chosen = np.array([number[tag] for tag in row.data], dtype=np.intp)
        votes[places, chosen] += 1
        # one weight a token; concatenated lists, since rows may be empty
        weight = 1.0 if confidences is None else np.concatenate([np.zeros(0), *confidences[i]])
        sure[places, chosen] += weight
    best = votes.argmax(1)
    tags = TokenSequences(np.array([names[i] for i in best], dtype=object), offsets)
    return [repair_tags(row) for row in tags], RaggedArray(sure[places, best] / len(answers), offsets)


_FLOOR = 1e-12


def label_runs(
    begins: np.ndarray, goes_on: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Legal IOB2 tags without O that have the largest product of marginals (Viterbi), for all runs at once.

    Parameters
    ----------
    begins, goes_on : ndarray of shape (n_tokens, n_labels)
        Probabilities of B and of I of each label.
    starts, lengths : ndarray of shape (n_runs,)
        Runs of tokens; they do not overlap.

    Returns
    -------
    label : ndarray of shape (n_tokens,)
        Number of the label; 0 outside of the runs.
    inside : ndarray of shape (n_tokens,), of bool
        Whether the tag is I; False outside of the runs.

    Examples
    --------
    >>> begins, goes_on = np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([[0.0, 0.0], [0.3, 0.2]])
    >>> [part.tolist() for part in label_runs(begins, goes_on, np.array([0]), np.array([2]))]
    [[0, 0], [False, True]]
    """
    label, inside = np.zeros(len(begins), dtype=np.intp), np.zeros(len(begins), dtype=bool)
    if not len(starts):
        return label, inside
    order = np.argsort(-lengths, kind="stable")  # those that are not at their end yet then come first
    starts, lengths = starts[order], lengths[order]
    log_begins, log_goes_on = np.log(begins + _FLOOR), np.log(goes_on + _FLOOR)
    # shape: (n_runs, n_labels): best score of a path that ends in B, or in I, of each label
    best_b, best_i = log_begins[starts], np.full((len(starts), begins.shape[1]), -np.inf)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for t in range(1, int(lengths[0])):
        n = int((lengths > t).sum())
        best, from_i = np.maximum(best_b[:n], best_i[:n]), best_i[:n] > best_b[:n]
        steps.append((best.argmax(axis=1), from_i))
        best_b[:n] = best.max(axis=1, keepdims=True) + log_begins[starts[:n] + t]
        best_i[:n] = best + log_goes_on[starts[:n] + t]
    here = np.arange(len(starts))
    current = np.maximum(best_b, best_i).argmax(axis=1)
    current_i = best_i[here, current] > best_b[here, current]
    for t in range(int(lengths[0]) - 1, -1, -1):
        n = int((lengths > t).sum())
        label[starts[:n] + t], inside[starts[:n] + t] = current[:n], current_i[:n]
        if t:
            before, from_i = steps[t - 1]
            current[:n] = np.where(current_i[:n], current[:n], before)
            current_i[:n] = from_i[here[:n], current[:n]]
    return label, inside


class PhiMarginals:
    """Probabilities of IOB2 tags at all tokens of some sentences.

    Parameters
    ----------
    labels : sequence of str
        L labels.
    data : ndarray of shape (n_tokens, 1 + 2 L)
        Probability of O, of B of each label, and of I of each label.
    offsets : ndarray of shape (n + 1,)
        Where sentences start, as in `RaggedArray`.

    Examples
    --------
    >>> found = PhiMarginals(["AGE"], np.array([[0.9, 0.1, 0.0], [0.6, 0.1, 0.3]]), np.array([0, 2]))
    >>> [found.decode(threshold)[0][0] for threshold in (0.5, 0.4, 0.1)]
    [['O', 'O'], ['O', 'B-AGE'], ['B-AGE', 'I-AGE']]
    """

    def __init__(self, labels: Sequence[str], data: np.ndarray, offsets: np.ndarray) -> None:
        self.labels = list(labels)
        self.data = data
        self.offsets = offsets
        # Of the tags, not 1 - P(O): that has no digits left where a tagger is all but sure.
        self.phi = data[:, 1:].sum(axis=1)

    @property
    def classes(self) -> np.ndarray:
        """Names of the columns."""
        return tag_columns(self.labels)

    def rows(self) -> np.ndarray:
        """One array of shape (n_tokens, 1 + 2 L) for each sentence, as ``predict_proba`` gives them."""
        return object_rows(RaggedArray(self.data.astype(np.float32), self.offsets))

    def of_tags(self, tags: TokenSequences) -> RaggedArray:
        """Probability of the label of each tag (of B and I together), and of O."""
        n_labels = len(self.labels)
        column = columns_of(tags.data, self.labels)
        here, label = np.arange(len(column)), (column - 1) % max(n_labels, 1)
        found = self.data[here, column]
        tagged = column > 0
        found[tagged] = self.data[here, 1 + label][tagged] + self.data[here, label - n_labels][tagged]
        return RaggedArray(found, self.offsets)

    def decode(self, threshold: float) -> tuple[TokenSequences, RaggedArray]:
        """Tags where the probability of PHI is not below the threshold, and how probable they are.

        Runs of tokens that are more probably PHI than not get the legal tags with the largest product of marginals. A
        token that is tagged all the same takes the most probable label, and goes on with the span of such a token
        before it if that has the same label, unless B is more probable than I. So the tags are legal, labels do not
        depend on the threshold, and a lower threshold never loses a token. The two kinds never share a span: what a low
        threshold adds leaves the spans as they are, and can be told from them by its confidence.

        Returns
        -------
        tags : TokenSequences
        confidence : RaggedArray
            Probability of the label at a tagged token, of O at another.
        """
        n, n_labels = len(self.data), len(self.labels)
        if not n_labels:
            tags = TokenSequences(np.full(n, "O", dtype=object), self.offsets)
            return tags, RaggedArray(self.data[:, 0], self.offsets)
        begins, goes_on = self.data[:, 1 : 1 + n_labels], self.data[:, 1 + n_labels :]
        # shape: (n_tokens, n_labels)
        mass = begins + goes_on
        here, first = np.arange(n), np.zeros(n, dtype=bool)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        sure, tagged = self.phi >= 0.5, self.phi >= threshold
        label, inside = label_runs(begins, goes_on, *_runs(sure, first))
        label = np.where(sure, label, mass.argmax(axis=1))
        inside |= ~sure & (goes_on[here, label] >= begins[here, label])
        joined = np.zeros(n, dtype=bool)
        joined[1:] = tagged[:-1] & (sure[1:] == sure[:-1]) & (label[1:] == label[:-1])
        inside &= joined & ~first
        column = np.where(tagged, 1 + label + n_labels * inside, 0)
        confidence = np.where(tagged, mass[here, label], self.data[:, 0])
        return TokenSequences(self.classes[column], self.offsets), RaggedArray(confidence, self.offsets)

    def best_tags(self) -> tuple[TokenSequences, RaggedArray]:
        """The legal tags with the largest product of marginals, and how probable they are.

        Returns
        -------
        tags : TokenSequences
        confidence : RaggedArray
            Probability of the label at a tagged token, of O at another.
        """
        n_labels = len(self.labels)
        outside = self.data[:, :1]
        begins = np.hstack([outside, self.data[:, 1 : 1 + n_labels]])  # O is a label that never goes on
        goes_on = np.hstack([np.zeros_like(outside), self.data[:, 1 + n_labels :]])
        lengths = np.diff(self.offsets)
        label, inside = label_runs(begins, goes_on, self.offsets[:-1][lengths > 0], lengths[lengths > 0])
        column = np.where(label > 0, label + n_labels * inside, 0)
        tags = TokenSequences(self.classes[column], self.offsets)
        return tags, self.of_tags(tags)


def _runs(member: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of runs of members, which end with a sentence."""
    starts = member & (first | ~np.concatenate(([False], member[:-1])))
    number = np.cumsum(starts)[member] - 1
    return np.flatnonzero(starts), np.bincount(number, minlength=int(starts.sum()))


def tag_columns(labels: Sequence[str]) -> np.ndarray:
    """O, then B of each label, then I of each label."""
    return np.array(["O", *(f"{prefix}-{label}" for prefix in "BI" for label in labels)], dtype=object)


def read_marginals(estimator: Any, X: Any, sentences: RaggedArray, labels: Sequence[str]) -> PhiMarginals:
    """Marginals of a fitted tagger, in columns of these labels.

    Parameters
    ----------
    estimator : fitted estimator
        With ``classes_`` and ``predict_proba``; IOB2 or BIOES, where S counts as B and E as I. Of one
        without ``predict_proba``, each predicted tag has probability 1.
    X : sequence of n sentences
        Input of the estimator.
    sentences : RaggedArray
        X as a container.
    labels : sequence of str
        All labels of the estimator, and maybe more.

    Raises
    ------
    SequenceError
        If the estimator gives another number of rows, tokens or columns, or a label that is not among ``labels``.
    """
    out = np.zeros((len(sentences.data), 1 + 2 * len(labels)))
    if not len(sentences):
        return PhiMarginals(labels, out, sentences.offsets)
    if not hasattr(estimator, "predict_proba"):
        tags = check_tags(estimator.predict(X), sentences)
        out[np.arange(len(out)), columns_of(tags.data, labels)] = 1.0
        return PhiMarginals(labels, out, sentences.offsets)
    rows = estimator.predict_proba(X)
    places = columns_of(estimator.classes_, labels)
    right = len(rows) == len(sentences) and all(
        np.shape(row) == (n, len(places)) for row, n in zip(rows, sentences.lengths, strict=True)
    )
    if not right:
        raise SequenceError(
            f"{type(estimator).__name__}.predict_proba must give one array of shape (n_tokens, {len(places)}) for "
            "each sentence."
        )
    flat = np.concatenate([np.asarray(row, dtype=float) for row in rows])
    for column, place in enumerate(places):
        out[:, place] += flat[:, column]
    return PhiMarginals(labels, out, sentences.offsets)


def columns_of(tags: Any, labels: Sequence[str]) -> np.ndarray:
    """Column of each tag, in IOB2 or BIOES.

    Raises
    ------
    SequenceError
        If a tag has another label.

    Examples
    --------
    >>> columns_of(["O", "S-AGE", "E-AGE"], ["AGE"]).tolist()
    [0, 1, 2]
    """
    columns = {tag: i for i, tag in enumerate(tag_columns(labels))}
    places = {tag: columns.get(_outer(tag)) for tag in set(tags)}
    unknown = sorted(tag for tag, place in places.items() if place is None)
    if unknown:
        raise SequenceError(f"There are {len(unknown)} tags of labels that are not known, such as {unknown[0]!r}.")
    return np.array([places[tag] for tag in tags], dtype=np.intp)


def _outer(tag: str) -> str:
    prefix, label = split_tag(tag)
    return tag if label is None else f"{'B' if prefix in 'BS' else 'I'}-{label}"
