"""`HybridTagger`: combine rules with a trained tagger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, StrOptions, check_constraints, unfitted_if_failed
from ..sequences import RaggedArray, TokenSequences, check_tags, object_rows
from ..text import labels_of, split_tag
from .held_out import fit_on
from .marginals import TokenTagger, labels_in, tag_columns, token_rows
from .note_tagger import flat_tags
from .rule_tagger import RuleTagger

_TokenSpan = tuple[int, int, str]


class HybridTagger(TokenTagger, BaseEstimator):
    """Combine the spans of rules with the spans of a trained tagger.

    `predict` tags every token that the rules or the tagger tag, with every setting of ``on_conflict``. If a span of the
    rules and a span of the tagger overlap, ``on_conflict`` decides on the label and the borders.

    Parameters
    ----------
    rules : estimator, default=RuleTagger()
        Estimator that tags tokens.
    tagger : estimator, default=DeidTagger()
        Trainable tagger, or a pipeline that ends with a tagger.
    on_conflict : {"rules_first", "tagger_first", "union"}, default="rules_first"
        Span that keeps the shared tokens if a span of the rules and a span of the tagger overlap. "rules_first" is the
        span of the rules, and "tagger_first" is the span of the tagger. "union" is the longer span, or the span of the
        tagger if both spans have the same length. The remaining tokens of the other span join the adjacent span if both
        labels are equal. The remaining tokens with another label form a span of their own.

    Attributes
    ----------
    rules_, tagger_ : fitted estimators
        Fitted rules and fitted tagger.
    rules_precision_ : float
        Precision of the rules on the data of `fit` or of the last `measure_rules`: the proportion of PHI tokens (of any
        label in y) among the tokens that the rules tag. One success and one failure are added to the counts. `predict`
        returns the number ``rules_precision_`` as the confidence of tokens that only the rules tag. If `fit` of a
        `NoteDeidentifier` reads raw notes, only the annotated notes are counted.
    classes_ : ndarray of str
        IOB2 tags of all labels of the rules and of the tagger. Missing if one of both has no ``classes_``.

    See Also
    --------
    RuleTagger : Rules for identifiers with a fixed form.
    NoteDeidentifier : Finds and redacts PHI in raw notes with a tagger, such as this estimator.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, RuleTagger, HybridTagger
    >>> X = [["Mr", "Alder", ",", "a", "@", "b", ".", "org"], ["No", "pain"]] * 8
    >>> y = [["O", "B-PATIENT", "O", "O", "O", "O", "O", "O"], ["O", "O"]] * 8
    >>> tagger = DeidTagger(hidden_size=16, batch_size=20, lr=0.01, max_epochs=20, random_state=0)
    >>> HybridTagger(RuleTagger(recognizers=["email"]), tagger).fit(X, y).predict(X)[0]
    ['O', 'B-PATIENT', 'O', 'B-EMAIL', 'I-EMAIL', 'I-EMAIL', 'I-EMAIL', 'I-EMAIL']
    """

    _parameter_constraints: dict[str, list] = {
        "rules": [HasMethods(["fit", "predict"]), None],
        "tagger": [HasMethods(["fit", "predict"]), None],
        "on_conflict": [StrOptions({"rules_first", "tagger_first", "union"})],
    }

    def __init__(self, rules: Any = None, tagger: Any = None, *, on_conflict: str = "rules_first") -> None:
        self.rules = rules
        self.tagger = tagger
        self.on_conflict = on_conflict

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> HybridTagger:
        """Train the tagger. The rules use only the names of the labels in y.

        Parameters
        ----------
        X : sequence of n sentences of tokens
            Sentences as lists of tokens.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence, for a tagger with a ``groups`` parameter.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        """
        check_constraints(self)
        X = token_rows(X, "HybridTagger", "Pass the whole pipeline as 'tagger'.")
        tags = check_tags(y, X)
        with unfitted_if_failed(self):
            self.rules_ = (RuleTagger() if self.rules is None else clone(self.rules)).fit(X, tags)
            self.tagger_ = fit_on(self.tagger, X, tags, None if groups is None else np.asarray(groups))
            self.measure_rules(X, tags)
        return self

    def measure_rules(self, X: Any, y: Any) -> HybridTagger:
        """Measure the precision of the fitted rules: the confidence of the tokens that only the rules find.

        Parameters
        ----------
        X : sequence of n sentences of tokens
            Sentences that a person has annotated. `fit` measures the precision on the sentences of `fit`, which may
            include raw sentences with the tags of other taggers.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn_deid import HybridTagger, RuleTagger
        >>> X, y = [["Mail", "a@b.org"], ["Unit", "c@d.org"]], [["O", "B-EMAIL"], ["O", "O"]]
        >>> hybrid = HybridTagger(tagger=RuleTagger()).fit(X, y)
        >>> hybrid.rules_precision_, hybrid.measure_rules(X[:1], y[:1]).rules_precision_
        (0.5, 0.6666666666666666)
        """
        check_is_fitted(self)
        X = token_rows(X, "HybridTagger", "Pass the whole pipeline as 'tagger'.")
        found = check_tags(self.rules_.predict(X), X).data != "O"
        right = int((found & (check_tags(y, X).data != "O")).sum())
        # One success and one failure are added, so that rules without any match do not divide by zero.
        self.rules_precision_ = (right + 1) / (int(found.sum()) + 2)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """IOB2 tags of all labels of the rules and of the tagger."""
        return tag_columns(labels_in(self.rules_.classes_, self.tagger_.classes_))

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences of tokens
            Sentences to tag.
        return_confidence : bool, default=False
            Whether to also return the confidence of each tag. The confidence is the probability of the tagger. At
            tokens that only the rules tag, the confidence is ``rules_precision_``. At tokens that both the rules and
            the tagger tag, the confidence is the larger of the two numbers.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object, or None
            One float array for each sentence, or None if the tagger returns no probabilities. Returned only with
            ``return_confidence=True``.
        """
        check_is_fitted(self)
        check_constraints(self)
        X = token_rows(X, "HybridTagger", "Pass the whole pipeline as 'tagger'.")
        by_rules = check_tags(self.rules_.predict(X), X)
        flat, sure = flat_tags(self.tagger_, X)
        by_tagger = TokenSequences(np.array(flat, dtype=object), X.offsets) if len(X) else by_rules
        tags = object_rows(self._united(a, b) for a, b in zip(by_rules, by_tagger, strict=True))
        if not return_confidence:
            return tags
        if sure is None and len(X):
            return tags, None
        # shape of all: (n_tokens,)
        confidence, rules_tag, tagger_tags = np.asarray(sure or []), by_rules.data != "O", by_tagger.data != "O"
        both = np.where(rules_tag, np.maximum(confidence, self.rules_precision_), confidence)
        found = np.where(rules_tag & ~tagger_tags, self.rules_precision_, both)
        return tags, object_rows(RaggedArray(found, X.offsets))

    def _united(self, by_rules: list[str], by_tagger: list[str]) -> list[str]:
        """Combine the tags of one sentence."""
        rules, tagger = labels_of(by_rules), labels_of(by_tagger)
        first, second = (rules, tagger) if self.on_conflict == "rules_first" else (tagger, rules)
        if self.on_conflict == "union":
            # Longest first; the sort is stable, so that the tagger wins a tie.
            first, second = sorted([*tagger, *rules], key=lambda span: span[0] - span[1]), []
        return _painted([*first, *second], len(by_rules))


def _painted(spans: Iterable[_TokenSpan], n_tokens: int) -> list[str]:
    """IOB2 tags of overlapping spans; a token belongs to the first span in the list that contains the token.

    If a later span overlaps an earlier span with the same label, the remaining tokens of the later span join the
    earlier span.
    """
    tags = ["O"] * n_tokens
    for start, end, label in spans:
        for i in range(start, end):
            if tags[i] != "O":
                continue
            # `i > start` holds only inside the later span: a span that merely touches another one is not joined.
            if i > start and split_tag(tags[i - 1])[1] == label:
                tags[i] = f"I-{label}"
            else:
                tags[i] = f"B-{label}"
            if i + 1 < end and tags[i + 1] == f"B-{label}":
                tags[i + 1] = f"I-{label}"
    return tags
