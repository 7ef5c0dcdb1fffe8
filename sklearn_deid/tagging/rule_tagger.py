"""`RuleTagger`: tag identifiers that have a fixed form with rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._compat import StrOptions, check_constraints
from ..exceptions import SequenceError
from ..sequences import check_sequences, check_tags, object_rows
from ..text import Span, labels_of, normalize, spans_to_tags
from .label_lines import below_label, labels_before
from .marginals import TokenTagger, token_rows
from .rules import (
    LABEL_MAPS,
    LANGUAGES,
    Rule,
    find_phi,
    infer_label_map,
    note_languages,
    rule_label_map,
    select_rules,
    sentence_readings,
)
from .weight_checks import class_problem


class RuleTagger(TokenTagger, BaseEstimator):
    """Tag e-mail addresses, phone numbers, dates, ages and identifiers with rules.

    The rules find identifiers that have a fixed form or follow a keyword such as "MRN". The rules find no names and no
    places. Combine the rules with a trained tagger (`HybridTagger`), or use the rules as a baseline.

    The estimator rebuilds the text of each sentence from its tokens and matches the rules on the rebuilt text. The
    rebuilt text has no line ends, no runs of spaces, and no spaces after full stops and around dashes. The rules also
    read texts with such spaces (`tagging.rules.sentence_readings`), and the matches count where earlier readings have
    no match. A rule reads only the text of the sentence, and a short line before it: "Age:" above "94". The rules know
    this line if X has the documents of the sentences. Results can therefore differ from `tagging.rules.find_phi` on
    raw text. For example, an address at the end of a sentence may include the next word if the next word is in lower
    case, and in ``12 - 3/4/2019``, the 12 is hidden, too.

    Parameters
    ----------
    recognizers : sequence of str or None, default=None
        Names of the rule groups to use: "email", "url", "ip", "phone" (includes fax), "id", "ssn", "date", "age",
        "age-over-89", "zip". None means all groups except "age-over-89", which is a part of "age".
    language : {"en", "es", "de", "fr", "nb", "it", "pt", "nl", "auto"} or None, default=None
        Language of the rules. None means English and Spanish. "auto" is the language of each note
        (`tagging.rules.note_languages`), and needs the document of each sentence: `Corpus.to_sentences` and
        `NoteDeidentifier` provide the documents.
    label_scheme : {"auto", "i2b2-2014", "meddocan", "binary"} or mapping, default="auto"
        Names of the labels. "auto" means the first of the known schemes that contains all labels of y, or i2b2 2014 if
        y is None. A mapping gives the label of each kind of identifier (`tagging.rules.KINDS`). Kinds that are missing
        in the mapping or map to None are not tagged.

    Attributes
    ----------
    label_map_ : dict of str to str or None
        Label of each kind of identifier.
    classes_ : ndarray of str
        All possible tags of `predict`.

    See Also
    --------
    HybridTagger : Combines rules with a trained tagger.
    rules.find_phi : Finds PHI in raw text with the same rules.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> X = [["Seen", "on", "12", "/", "03", "/", "2019", "."]]
    >>> RuleTagger(recognizers=["date"]).fit(X).predict(X)[0]
    ['O', 'O', 'B-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'I-DATE', 'O']
    """

    _parameter_constraints: dict[str, list] = {
        "recognizers": ["array-like", set, None],
        "language": [StrOptions({*LANGUAGES, "auto"}), None],
        "label_scheme": [StrOptions({"auto", *LABEL_MAPS}), Mapping],
    }

    def __init__(self, recognizers: Any = None, *, language: str | None = None, label_scheme: Any = "auto") -> None:
        self.recognizers = recognizers
        self.language = language
        self.label_scheme = label_scheme

    def fit(self, X: Any, y: Any = None) -> RuleTagger:
        """Check the parameters and choose the names of the labels. The rules learn nothing else from the data.

        Parameters
        ----------
        X : sequence of n sentences
            Sentences as lists of tokens.
        y : sequence of n tag sequences, optional
            IOB2 tags. With ``label_scheme="auto"``, the labels in y decide the label scheme.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        ValueError
            If a name in ``recognizers`` is unknown, no scheme contains all labels of y, no rule remains, or a label
            holds control characters or markup.
        """
        check_constraints(self)
        labels: set[str] = set()
        if y is not None:
            labels = {label for row in check_tags(y, check_sequences(X)) for _, _, label in labels_of(row)}
        auto = isinstance(self.label_scheme, str) and self.label_scheme == "auto"
        self.label_map_ = infer_label_map(labels) if auto else rule_label_map(self.label_scheme)
        # Rules without a label would match, and their matches would take the place of PHI that overlaps them.
        self._by_note = self.language == "auto"
        selected = select_rules(self.recognizers, LANGUAGES if self._by_note else self.language)
        self._rules = tuple(rule for rule in selected if self.label_map_[rule.kind] is not None)
        found = sorted({str(self.label_map_[rule.kind]) for rule in self._rules})
        if not found:
            # Notes would be returned unchanged.
            raise ValueError("The rules find nothing: 'recognizers' is empty, or 'label_scheme' has none of its kinds.")
        tags = ["O", *(f"{prefix}-{label}" for label in found for prefix in "BI")]
        # The labels appear in redacted notes, like the labels of a trained tagger.
        problem = class_problem(tags)
        if problem is not None:
            raise ValueError(f"The 'label_scheme' parameter of RuleTagger cannot be used. {problem}")
        self.classes_ = np.array(tags, dtype=object)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences
            Sentences as lists of tokens.

        Returns
        -------
        ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.

        Raises
        ------
        SequenceError
            If X contains vectors instead of tokens, or if ``language="auto"`` and X has no documents.
        """
        check_is_fitted(self)
        way_out = "Place the rules before the step that makes vectors of tokens: HybridTagger(RuleTagger(), pipeline)."
        sentences = token_rows(X, "RuleTagger", way_out)
        rules = self._rules_of(sentences) if self._by_note else repeat(self._rules, len(sentences))
        labels = labels_before(sentences)
        return object_rows(self._tags(*row) for row in zip(sentences, rules, labels, strict=True))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # y only chooses the names of the labels.
        tags.target_tags.required = False
        return tags

    def _rules_of(self, sentences: Any) -> Iterator[tuple[Rule, ...]]:
        """Rules of the language of the document of each sentence."""
        if sentences.documents is None:
            raise SequenceError(
                "RuleTagger(language='auto') needs the document of each sentence. Take X from Corpus.to_sentences(), "
                "or name the language."
            )
        words: dict[Any, list[str]] = {}
        for document, row in zip(sentences.documents, sentences, strict=True):
            words.setdefault(document, []).extend(row)
        languages = {d: note_languages(" ".join(row)) for d, row in words.items()}
        rules = {
            chosen: tuple(rule for rule in self._rules if not set(chosen).isdisjoint(rule.languages))
            for chosen in set(languages.values())
        }
        return (rules[languages[document]] for document in sentences.documents)

    def _tags(self, tokens: list[str], rules: tuple[Rule, ...], label: list[str]) -> list[str]:
        """Tags of a sentence behind a line with a label, or behind an empty list."""
        usual, before = _usual(tokens), _usual(label)
        # The rules are patterns over characters, so that the tokens are joined to a text first.
        tags = ["O"] * len(tokens)
        for sentence in (*sentence_readings(usual), *([below_label(before, usual)] if label else ())):
            spans = [
                Span(span.start, span.end, str(self.label_map_[span.label]))
                for span in find_phi(sentence.text, rules=rules)
                # "May" above "2. Aspirin" is no date.
                if span.start >= sentence.starts[0]
            ]
            found = spans_to_tags(spans, sentence.starts, sentence.ends)[0] if spans else []
            for start, end, _ in labels_of(found):
                if all(tag == "O" for tag in tags[start:end]):
                    tags[start:end] = found[start:end]
        return tags


def _usual(tokens: list[str]) -> list[str]:
    """Tokens with usual characters: a dash of any length joins the tokens beside it, as a hyphen does."""
    return [token if token.isascii() else normalize(token, layout=False).text or token for token in tokens]
