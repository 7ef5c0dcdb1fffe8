"""`HybridTagger`: rules and a trained tagger together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, StrOptions, check_constraints
from ..exceptions import SequenceError
from ..sequences import RaggedArray, TokenSequences, check_sequences, check_tags, object_rows
from ..text import labels_of, split_tag
from .marginals import TokenTagger
from .note_deidentifier import default_tagger, flat_tags, group_parameters
from .rule_tagger import RuleTagger

_TokenSpan = tuple[int, int, str]


class HybridTagger(TokenTagger, BaseEstimator):
    """Unite the spans of rules with those of a tagger.

    Whatever ``on_conflict`` says, every token that either of them tags is tagged: the setting decides which label and
    which borders count where the two disagree.

    Parameters
    ----------
    rules : estimator, default=RuleTagger()
        Anything that tags tokens.
    tagger : estimator, default=DeidTagger()
        Tagger or pipeline that ends with one.
    on_conflict : {"rules_first", "tagger_first", "union"}, default="rules_first"
        Where a span of the rules and one of the tagger share tokens, those of the rules, of the tagger, or of the
        longer one (of equally long ones the tagger's) keep them. What is left of the other goes to its neighbour if
        that has the same label, and is a span of its own if not.

    Attributes
    ----------
    rules_, tagger_ : fitted estimators
    rules_precision_ : float
        Share of the tokens tagged by the rules that y tags too, under whatever label, in the data of `fit`, with one
        success and one failure added; the confidence of tokens that only the rules tag.

    See Also
    --------
    RuleTagger : The rules.
    NoteDeidentifier : Takes this as it takes any tagger.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, RuleTagger, HybridTagger
    >>> X = [["Mr", "Alder", ",", "a", "@", "b", ".", "org"], ["No", "pain"]] * 8
    >>> y = [["O", "B-PATIENT", "O", "O", "O", "O", "O", "O"], ["O", "O"]] * 8
    >>> tagger = DeidTagger(hidden_size=16, batch_size=20, lr=0.01, random_state=0)
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
        """Train the tagger; the rules see y for its labels only.

        Parameters
        ----------
        X : sequence of n sentences of tokens
        y : sequence of n tag sequences
        groups : array-like of shape (n,), optional
            Patient of each sentence, for a tagger that takes it.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        """
        check_constraints(self)
        X = self._tokens(X)
        tags = check_tags(y, X)
        self.rules_ = (RuleTagger() if self.rules is None else clone(self.rules)).fit(X, tags)
        tagger = default_tagger() if self.tagger is None else clone(self.tagger)
        known = {} if groups is None else group_parameters(tagger, np.asarray(groups))
        self.tagger_ = tagger.fit(X, tags, **known)
        found = check_tags(self.rules_.predict(X), X).data != "O"
        right = int((found & (tags.data != "O")).sum())
        self.rules_precision_ = (right + 1) / (int(found.sum()) + 2)
        return self

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences of tokens
        return_confidence : bool, default=False
            Also return a probability of each tag: the tagger's, and ``rules_precision_`` at tokens that only the rules
            tag. Where both tag a token, the larger of the two.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object, or None
            Only with ``return_confidence``; None if the tagger gives none.
        """
        check_is_fitted(self)
        check_constraints(self)
        X = self._tokens(X)
        by_rules = check_tags(self.rules_.predict(X), X)
        flat, sure = flat_tags(self.tagger_, X)
        by_tagger = TokenSequences(np.array(flat, dtype=object), X.offsets) if len(X) else by_rules
        tags = object_rows(self._united(a, b) for a, b in zip(by_rules, by_tagger, strict=True))
        if not return_confidence:
            return tags
        if sure is None and len(X):
            return tags, None
        flat_confidence = self._confidence(by_rules.data != "O", by_tagger.data != "O", np.asarray(sure or []))
        return tags, object_rows(RaggedArray(flat_confidence, X.offsets))

    def _united(self, by_rules: list[str], by_tagger: list[str]) -> list[str]:
        rules, tagger = labels_of(by_rules), labels_of(by_tagger)
        first, second = (rules, tagger) if self.on_conflict == "rules_first" else (tagger, rules)
        if self.on_conflict == "union":
            first, second = sorted([*tagger, *rules], key=lambda span: span[0] - span[1]), []
        return _painted([*first, *second], len(by_rules))

    def _confidence(self, by_rules: np.ndarray, by_tagger: np.ndarray, sure: np.ndarray) -> np.ndarray:
        alone = by_rules & ~by_tagger
        both = by_rules & by_tagger
        return np.where(alone, self.rules_precision_, np.where(both, np.maximum(sure, self.rules_precision_), sure))

    @staticmethod
    def _tokens(X: Any) -> TokenSequences:
        X = check_sequences(X)
        if isinstance(X, TokenSequences):
            return X
        if len(X.data):
            raise SequenceError(
                "HybridTagger reads tokens; X holds vectors. Give it the whole pipeline as its 'tagger'."
            )
        return TokenSequences.from_rows([[]] * len(X))


def _painted(spans: Iterable[_TokenSpan], n_tokens: int) -> list[str]:
    """Tags of spans of which the earlier in the list keep their tokens.

    What is left of a later one continues the span before it, or is continued by the span behind it, where the two
    overlapped and have the same label.
    """
    tags = ["O"] * n_tokens
    for start, end, label in spans:
        for i in range(start, end):
            if tags[i] != "O":
                continue
            if i > start and split_tag(tags[i - 1])[1] == label:
                tags[i] = f"I-{label}"
            else:
                tags[i] = f"B-{label}"
            if i + 1 < end and tags[i + 1] == f"B-{label}":
                tags[i + 1] = f"I-{label}"
    return tags
