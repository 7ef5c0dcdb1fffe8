"""Marginals of any tagger in one format, legal tags at any threshold, majority votes, and the base of all taggers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import RaggedArray, TokenSequences, check_sequences, check_tags, object_rows
from ..text import repair_tags, split_tag


class TokenTagger:
    """Base of all taggers: `score`, and the scikit-learn tags that describe the input."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # X holds sentences of tokens and is not a table of numbers.
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Micro F1 of typed spans.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.
        y : sequence of n tag sequences
            Gold IOB2 tags.
        sample_weight : None
            Not supported. The parameter exists because `Pipeline` of scikit-learn passes sample weights to its last
            step.

        Returns
        -------
        float
            F1 between 0 and 1.
        """
        if sample_weight is not None:
            name = type(self).__name__
            raise ValueError(f"{name}.score does not take sample weights: spans are counted, not averaged.")
        return float(phi_f1_score(y, self.predict(X)))  # type: ignore[attr-defined]


def token_rows(X: Any, reader: str, way_out: str) -> TokenSequences:
    """Return X as sentences of tokens. If X contains vectors, raise a SequenceError with advice for the user."""
    X = check_sequences(X)
    if isinstance(X, TokenSequences):
        return X
    if len(X.data):
        raise SequenceError(f"{reader} reads tokens. X holds vectors. {way_out}")
    # Without a single token, nothing shows whether X holds tokens or vectors.
    return TokenSequences.from_rows([[]] * len(X))


class MarginalTagger(TokenTagger):
    """Base of the taggers that compute their tags from the marginals of other taggers."""

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.
        return_confidence : bool, default=False
            Whether to also return the probability of the label at each tagged token, and of O at each other token.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence. Returned only with ``return_confidence=True``.
        """
        decoded = [self._decoded(part) for part in self._parts(X)]
        tags = object_rows([row for part, _ in decoded for row in part])
        confidence = object_rows([row for _, part in decoded for row in part])
        return (tags, confidence) if return_confidence else tags

    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginal probability of each tag at each token, without any decision bias.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.

        Returns
        -------
        ndarray of shape (n,), dtype object
            One float32 array of shape (n_tokens, n_classes) for each sentence, with columns in the order of
            ``classes_``.
        """
        return object_rows([row for part in self._parts(X) for row in part.rows()])

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        raise NotImplementedError

    def _know_labels(self, *tags: Any) -> None:
        """Set the labels and the tags of this tagger from the given tags."""
        self._labels = labels_in(*tags)
        self.classes_ = tag_columns(self._labels)

    def _decoded(self, part: PhiMarginals) -> tuple[TokenSequences, RaggedArray]:
        return part.best_tags()


def majority_tags(
    answers: Sequence[np.ndarray], confidences: Sequence[np.ndarray] | None = None
) -> tuple[list[list[str]], RaggedArray]:
    """Majority vote of several taggers at each token, repaired to legal tag sequences.

    A token is PHI if at least half of the taggers chose a PHI tag, whichever tag, so that a doubtful token is redacted.
    The token then has the PHI tag with the most votes. In a tie between PHI tags, the first tag in alphabetical order
    wins.

    Parameters
    ----------
    answers : sequence of ndarray of shape (n,)
        Predictions of each tagger: one list of IOB2 tags for each sentence.
    confidences : sequence of ndarray of shape (n,), optional
        Probabilities of the predicted tags of each tagger.

    Returns
    -------
    tags : list of list of str
        IOB2 tags of each sentence.
    confidence : RaggedArray
        Sum of the confidences of the taggers that voted for the tag, divided by the number of taggers. Without
        ``confidences``, the proportion of taggers that voted for the tag.

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
        # One weight for each token. The empty array keeps the result an array of floats if there is no sentence.
        weight = 1.0 if confidences is None else np.concatenate([np.zeros(0), *confidences[i]])
        sure[places, chosen] += weight
    if names and names[-1] == "O":
        # Votes for different PHI tags, such as B and I of one label, are votes against O.
        votes[2 * votes[:, -1] <= len(answers), -1] = 0.0
    best = votes.argmax(1)
    tags = TokenSequences(np.array([names[i] for i in best], dtype=object), offsets)
    return [repair_tags(row) for row in tags], RaggedArray(sure[places, best] / len(answers), offsets)


_TOKENS = 4096  # whose marginals are copied at a time
# Marginals are sums in single precision.
_ROUNDING = 1e-3
# Largest part of the sum of the probabilities of a token that may be missing.
_MISSING = 0.01
# Marginals can underflow to 0. With this floor their logs stay finite.
_FLOOR = 1e-12


def label_runs(
    begins: np.ndarray, goes_on: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Legal IOB2 tags without O with the largest product of marginals (Viterbi), for all runs of tokens at once.

    Parameters
    ----------
    begins, goes_on : ndarray of shape (n_tokens, n_labels)
        Probabilities of B and of I of each label.
    starts, lengths : ndarray of shape (n_runs,)
        First token and number of tokens of each run. Runs do not overlap.

    Returns
    -------
    label : ndarray of shape (n_tokens,)
        Number of the label of each token. 0 outside of the runs.
    inside : ndarray of shape (n_tokens,), of bool
        Whether the tag of each token is I. False outside of the runs.

    Examples
    --------
    >>> begins, goes_on = np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([[0.0, 0.0], [0.3, 0.2]])
    >>> [part.tolist() for part in label_runs(begins, goes_on, np.array([0]), np.array([2]))]
    [[0, 0], [False, True]]
    """
    label, inside = np.zeros(len(begins), dtype=np.intp), np.zeros(len(begins), dtype=bool)
    if not len(starts):
        return label, inside
    # Longest runs first: at step t, the runs that have not ended are the first n rows.
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    # shape: (n_runs, n_labels): best score of a path that ends in B, or in I, of each label
    best_b, best_i = np.log(begins[starts] + _FLOOR), np.full((len(starts), begins.shape[1]), -np.inf)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for t in range(1, int(lengths[0])):
        n = int((lengths > t).sum())
        # B may follow any tag, I of a label only B or I of the same label.
        best, from_i = np.maximum(best_b[:n], best_i[:n]), best_i[:n] > best_b[:n]
        steps.append((best.argmax(axis=1), from_i))
        # Logs of the tokens of the runs alone: most tokens of a note are in no run.
        best_b[:n] = best.max(axis=1, keepdims=True) + np.log(begins[starts[:n] + t] + _FLOOR)
        best_i[:n] = best + np.log(goes_on[starts[:n] + t] + _FLOOR)
    here = np.arange(len(starts))
    current = np.maximum(best_b, best_i).argmax(axis=1)
    current_i = best_i[here, current] > best_b[here, current]
    # Back-tracing: the tag before an I has the same label, the tag before a B is the best tag of the step before.
    for t in range(int(lengths[0]) - 1, -1, -1):
        n = int((lengths > t).sum())
        label[starts[:n] + t], inside[starts[:n] + t] = current[:n], current_i[:n]
        if t:
            before, from_i = steps[t - 1]
            current[:n] = np.where(current_i[:n], current[:n], before)
            current_i[:n] = from_i[here[:n], current[:n]]
    return label, inside


class PhiMarginals:
    """Marginal probabilities of IOB2 tags at all tokens of a list of sentences.

    Parameters
    ----------
    labels : sequence of str
        Names of the L labels.
    data : ndarray of shape (n_tokens, 1 + 2 L)
        Probability of O, of B of each label, and of I of each label.
    offsets : ndarray of shape (n + 1,)
        First token of each sentence, and the number of all tokens, as in `RaggedArray`.

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
        # The sum over the PHI tags, not 1 - P(O): the difference loses all digits if P(O) is close to 1.
        self.phi = data[:, 1:].sum(axis=1)

    @property
    def classes(self) -> np.ndarray:
        """Tags in the order of the columns."""
        return tag_columns(self.labels)

    def rows(self) -> np.ndarray:
        """Result of ``predict_proba``: one float32 array of shape (n_tokens, 1 + 2 L) for each sentence."""
        return object_rows(RaggedArray(self.data.astype(np.float32), self.offsets))

    def of_tags(self, tags: TokenSequences) -> RaggedArray:
        """Probability of the label of each tag (sum of B and I), or of O."""
        n_labels = len(self.labels)
        # shape: (n_tokens,)
        column = columns_of(tags.data, self.labels)
        here, label = np.arange(len(column)), (column - 1) % max(n_labels, 1)
        found = self.data[here, column]
        tagged = column > 0
        # The columns 1 + label and label - n_labels hold B and I of the label.
        found[tagged] = self.data[here, 1 + label][tagged] + self.data[here, label - n_labels][tagged]
        return RaggedArray(found, self.offsets)

    def decode(self, threshold: float) -> tuple[TokenSequences, RaggedArray]:
        """Tag all tokens with a probability of PHI of at least ``threshold``.

        A token is a sure token if its probability of PHI is at least 0.5. A run of sure tokens has the legal tag
        sequence with the largest product of marginals. A tagged token with a probability below 0.5 has its most
        probable label. The token continues the span of the previous token if both tokens have probabilities below 0.5,
        both labels are equal, and I is at least as probable as B.

        These rules have three consequences. All tag sequences are legal. The label of a token does not depend on the
        threshold, and with a lower threshold, all tagged tokens stay tagged. Sure tokens and other tokens never share a
        span, so that a lower threshold does not change the spans of sure tokens.

        Parameters
        ----------
        threshold : float
            Smallest probability of PHI of a tagged token.

        Returns
        -------
        tags : TokenSequences
            Legal IOB2 tags.
        confidence : RaggedArray
            Probability of the label at each tagged token, and of O at each other token.
        """
        n, n_labels = len(self.data), len(self.labels)
        if not n_labels:
            tags = TokenSequences(np.full(n, "O", dtype=object), self.offsets)
            return tags, RaggedArray(self.data[:, 0], self.offsets)
        begins, goes_on = self.data[:, 1 : 1 + n_labels], self.data[:, 1 + n_labels :]
        here, first = np.arange(n), np.zeros(n, dtype=bool)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        sure, tagged = self.phi >= 0.5, self.phi >= threshold
        # Sure tokens first, as one best path: the threshold of a caller must not change what the tagger is sure of.
        label, inside = label_runs(begins, goes_on, *_runs(sure, first))
        # Each doubtful token has a label of its own: on a joint best path, O would be likelier than any label.
        doubtful = np.flatnonzero(tagged & ~sure)
        label[doubtful] = (begins[doubtful] + goes_on[doubtful]).argmax(axis=1)
        inside[doubtful] = goes_on[doubtful, label[doubtful]] >= begins[doubtful, label[doubtful]]
        # A token may continue a span only behind a tagged token of the same kind (sure or not) and the same label.
        joined = np.zeros(n, dtype=bool)
        joined[1:] = tagged[:-1] & (sure[1:] == sure[:-1]) & (label[1:] == label[:-1])
        inside &= joined & ~first
        # Columns: O, then B of each label, then I of each label.
        column = np.where(tagged, 1 + label + n_labels * inside, 0)
        confidence = np.where(tagged, begins[here, label] + goes_on[here, label], self.data[:, 0])
        return TokenSequences(self.classes[column], self.offsets), RaggedArray(confidence, self.offsets)

    def best_tags(self) -> tuple[TokenSequences, RaggedArray]:
        """Legal tags with the largest product of marginals, and their probabilities.

        Returns
        -------
        tags : TokenSequences
            Legal IOB2 tags.
        confidence : RaggedArray
            Probability of the label at each tagged token, and of O at each other token.
        """
        n_labels = len(self.labels)
        outside = self.data[:, :1]
        # O becomes an additional label 0, for which I has probability 0.
        # shape: (n_tokens, 1 + n_labels)
        begins = np.hstack([outside, self.data[:, 1 : 1 + n_labels]])
        goes_on = np.hstack([np.zeros_like(outside), self.data[:, 1 + n_labels :]])
        lengths = np.diff(self.offsets)
        label, inside = label_runs(begins, goes_on, self.offsets[:-1][lengths > 0], lengths[lengths > 0])
        column = np.where(label > 0, label + n_labels * inside, 0)
        tags = TokenSequences(self.classes[column], self.offsets)
        return tags, self.of_tags(tags)


def _runs(member: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of runs of members. A run never crosses the border of a sentence."""
    # A run starts where the token before is no member or belongs to another sentence.
    starts = member & (first | ~np.concatenate(([False], member[:-1])))
    number = np.cumsum(starts)[member] - 1
    return np.flatnonzero(starts), np.bincount(number, minlength=int(starts.sum()))


def labels_in(*tags: Any) -> list[str]:
    """Distinct labels of all tags, sorted.

    Examples
    --------
    >>> labels_in(["O", "B-DATE", "I-DATE"], ["B-AGE"])
    ['AGE', 'DATE']
    """
    return sorted({label for some in tags for tag in set(some) if (label := split_tag(tag)[1]) is not None})


def in_columns(probabilities: np.ndarray, classes: Any, labels: Sequence[str]) -> np.ndarray:
    """Probabilities of tags in the columns of labels (`tag_columns`), of shape (n_tokens, 1 + 2 * n_labels)."""
    out = np.zeros((len(probabilities), 1 + 2 * len(labels)))
    # A sum and not an assignment: with BIOES, two columns of a tagger (B and S) belong to one column here.
    for column, place in enumerate(columns_of(classes, labels)):
        out[:, place] += probabilities[:, column]
    return out


def tag_columns(labels: Sequence[str]) -> np.ndarray:
    """Tags in the order of the columns: O, then B of each label, then I of each label."""
    return np.array(["O", *(f"{prefix}-{label}" for prefix in "BI" for label in labels)], dtype=object)


def read_marginals(estimator: Any, X: RaggedArray, labels: Sequence[str]) -> PhiMarginals:
    """Marginals of a fitted tagger, with the columns of the given labels.

    Parameters
    ----------
    estimator : fitted estimator
        Tagger with ``classes_`` and ``predict_proba``, for IOB2 or BIOES tags. S counts as B, and E counts as I. The
        predicted tags of a tagger without ``predict_proba`` have probability 1.
    X : RaggedArray of n sentences
        Sentences to tag.
    labels : sequence of str
        All labels of the estimator. Further labels are allowed.

    Returns
    -------
    PhiMarginals

    Raises
    ------
    SequenceError
        If the result of the estimator has a wrong number of rows, tokens or columns, or contains numbers that are not
        probabilities. Also if a label is missing in ``labels``.
    """
    # shape: (n_tokens, 1 + 2 * n_labels)
    out = np.zeros((len(X.data), 1 + 2 * len(labels)))
    start = 0
    for part in marginal_parts(estimator, X, labels):
        out[start : start + len(part.data)] = part.data
        start += len(part.data)
    return PhiMarginals(labels, out, X.offsets)


def marginal_parts(estimator: Any, X: RaggedArray, labels: Sequence[str]) -> Iterator[PhiMarginals]:
    """Yield the marginals of `read_marginals` in the order of the sentences, some thousand tokens at a time.

    In double precision, the marginals of a note of one megabyte would need more memory than all other data of the note.
    """
    if not len(X):
        return
    has_probabilities = hasattr(estimator, "predict_proba")
    if has_probabilities:
        # Rows that were read are released: the caller may keep as much memory of each part as the rows took.
        rows = deque(estimator.predict_proba(X))
        _check_rows(estimator, rows, X.lengths, len(estimator.classes_))
    else:
        tags = check_tags(estimator.predict(X), X)
    # Parts end at borders of sentences: no part holds half of a sentence.
    cuts = np.searchsorted(X.offsets, np.arange(0, len(X.data), _TOKENS))
    for first, last in pairwise(np.unique([0, *cuts, len(X)])):
        start, stop = X.offsets[first], X.offsets[last]
        # shape of out: (n_tokens of the part, 1 + 2 * n_labels)
        if not has_probabilities:
            out = np.eye(1 + 2 * len(labels))[columns_of(tags.data[start:stop], labels)]
        else:
            part = np.concatenate([np.asarray(rows.popleft(), dtype=float) for _ in range(first, last)])
            # With a NaN probability, the best tag of every token of the sentence would be "O"; so it would be without
            # the probability of any tag.
            is_between = ((part > -_ROUNDING) & (part < 1 + _ROUNDING)).all()
            if not (is_between and (part.sum(axis=1) > 1 - _MISSING).all()):
                raise SequenceError(
                    f"{type(estimator).__name__}.predict_proba must give probabilities, from 0 to 1, which add up to "
                    "1 at each token."
                )
            out = in_columns(part, estimator.classes_, labels)
        yield PhiMarginals(labels, out, X.offsets[first : last + 1] - start)


def _check_rows(estimator: Any, rows: Any, lengths: np.ndarray, n_classes: int) -> None:
    """Check that each sentence has an array with a row for each token and a column for each class."""
    if len(rows) != len(lengths) or any(np.shape(row) != (n, n_classes) for row, n in zip(rows, lengths, strict=True)):
        raise SequenceError(
            f"{type(estimator).__name__}.predict_proba must give one array of shape (n_tokens, {n_classes}) for "
            "each sentence."
        )


def columns_of(tags: Any, labels: Sequence[str]) -> np.ndarray:
    """Column number of each IOB2 or BIOES tag.

    Raises
    ------
    SequenceError
        If the label of a tag is not among ``labels``.

    Examples
    --------
    >>> columns_of(["O", "S-AGE", "E-AGE"], ["AGE"]).tolist()
    [0, 1, 2]
    """
    columns = {tag: i for i, tag in enumerate(tag_columns(labels))}
    places = {tag: columns.get(_outer(tag)) for tag in set(tags)}
    unknown = sorted(tag for tag, place in places.items() if place is None)
    if unknown:
        raise SequenceError(f"{len(unknown)} tags have unknown labels, such as {unknown[0]!r}.")
    return np.array([places[tag] for tag in tags], dtype=np.intp)


def _outer(tag: str) -> str:
    prefix, label = split_tag(tag)
    return tag if label is None else f"{'B' if prefix in 'BS' else 'I'}-{label}"
