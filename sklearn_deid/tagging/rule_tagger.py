"""`RuleTagger`: rules as a tagger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._compat import StrOptions, check_constraints
from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences, check_tags, object_rows
from ..text import Span, labels_of, spans_to_tags
from .marginals import TokenTagger
from .rules import LABEL_MAPS, Rule, find_phi, infer_label_map, rebuild_sentence, rule_label_map, select_rules


class RuleTagger(TokenTagger, BaseEstimator):
    """Tag e-mail addresses, phone numbers, dates, ages and identifiers by rules.

    The rules know identifiers that have a form of their own or a telling word in front of them, in English and
    Spanish. They know no names and no places: combine them with a trained tagger (`HybridTagger`), or use them as a
    baseline.

    Rules are matched on each sentence, rebuilt from its tokens. Against `tagging.rules.find_phi` on raw text, line
    ends, runs of spaces, and the spaces after full stops and around dashes are lost, as is everything that a rule would
    need beyond the sentence. So an address at the end of a sentence may take in the next word if that is in lower case,
    and in ``12 - 3/4/2019`` the date is not found.

    Parameters
    ----------
    recognizers : sequence of str or None, default=None
        Which rules: of "email", "url", "ip", "phone" (with fax), "id", "ssn", "date", "age", "age-over-89", "zip".
        None means all but "age-over-89", which is a part of "age".
    language : {"en", "es"} or None, default=None
        Rules of one language, or of both.
    label_scheme : {"auto", "i2b2-2014", "meddocan", "binary"} or mapping, default="auto"
        Names of the labels. "auto" takes the first of these schemes that has all labels of y (i2b2 2014 without y). A
        mapping gives the label of each kind (`tagging.rules.KINDS`). A kind that is missing there, or maps to None, is
        left out.

    Attributes
    ----------
    label_map_ : dict of str to str or None
        Label of each kind.
    classes_ : ndarray of str
        All tags that can be predicted.

    See Also
    --------
    HybridTagger : Rules and a trained tagger together.
    rules.find_phi : The same rules on raw text.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> X = [["Seen", "on", "12", "/", "03", "/", "2019", "."]]
    >>> RuleTagger(recognizers=["date"]).fit(X).predict(X)[0]
    ['O', 'O', 'B-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'O']
    """

    _parameter_constraints: dict[str, list] = {
        "recognizers": ["array-like", set, None],
        "language": [StrOptions({"en", "es"}), None],
        "label_scheme": [StrOptions({"auto", *LABEL_MAPS}), Mapping],
    }

    def __init__(self, recognizers: Any = None, *, language: str | None = None, label_scheme: Any = "auto") -> None:
        self.recognizers = recognizers
        self.language = language
        self.label_scheme = label_scheme

    def fit(self, X: Any, y: Any = None) -> RuleTagger:
        """Check the parameters and choose the labels; nothing else is learned.

        Parameters
        ----------
        X : sequence of n sentences
        y : sequence of n tag sequences, optional
            Read for its labels if ``label_scheme="auto"``.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        ValueError
            If a recognizer is not known, or no scheme has the labels of y.
        """
        check_constraints(self)
        self._rules: tuple[Rule, ...] = select_rules(self.recognizers, self.language)
        labels: set[str] = set()
        if y is not None:
            labels = {label for row in check_tags(y, check_sequences(X)) for _, _, label in labels_of(row)}
        auto = isinstance(self.label_scheme, str) and self.label_scheme == "auto"
        self.label_map_ = infer_label_map(labels) if auto else rule_label_map(self.label_scheme)
        found = sorted({label for rule in self._rules if (label := self.label_map_[rule.kind]) is not None})
        tags = ["O", *(f"{prefix}-{label}" for label in found for prefix in "BI")]
        self.classes_ = np.array(tags, dtype=object)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences

        Returns
        -------
        ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.

        Raises
        ------
        SequenceError
            If X holds vectors instead of tokens.
        """
        check_is_fitted(self)
        sentences = check_sequences(X)
        if not isinstance(sentences, TokenSequences) and len(sentences.data):
            raise SequenceError(
                "RuleTagger reads tokens; X holds vectors. Put it before the step that turns tokens into vectors: "
                "HybridTagger(RuleTagger(), pipeline)."
            )
        return object_rows(self._tags(row) for row in sentences)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False  # y only chooses the names of the labels
        return tags

    def _tags(self, tokens: list[str]) -> list[str]:
        sentence = rebuild_sentence(tokens)
        spans = [
            Span(span.start, span.end, label)
            for span in find_phi(sentence.text, rules=self._rules)
            if (label := self.label_map_[span.label]) is not None
        ]
        return spans_to_tags(spans, sentence.starts, sentence.ends)[0] if spans else ["O"] * len(tokens)
