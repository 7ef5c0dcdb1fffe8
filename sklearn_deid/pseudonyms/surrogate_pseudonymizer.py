"""`SurrogatePseudonymizer` replaces the PHI of annotated sentences by invented PHI."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints, unfitted_if_failed
from .._parameters import check_parameter
from .._randomness import release_generator
from .._storage import plain_value
from ..sequences import TokenSequences, check_groups, check_tags, object_rows
from ..sequences.sentence_transformer import SentenceTransformer
from ..surrogates import LOCALES, SurrogateEngine
from ..surrogates.token_surrogates import SpanTokens, TokenSurrogates, sentences_by_note
from ..text import labels_of
from .phi_tokens import check_some_labels, warn_of_absent_labels
from .surrogate_card import surrogate_card

# Training on fewer tokens has more epochs, so that a few copies of few notes take about as long as one copy.
_COPIED_TOKENS, _MOST_COPIES = 100_000, 5
_OF_ENGINE = frozenset("locale date_shift whole_weeks keep_seasons ages keep_gender check_digits kinds".split())


class Annotated(NamedTuple):
    """Checked sentences with their tags and groups. The repr shows counts only."""

    X: TokenSequences
    tags: TokenSequences
    groups: np.ndarray | None

    def __repr__(self) -> str:
        return f"Annotated({len(self.X)} sentences)"


class SurrogatePseudonymizer(SentenceTransformer):
    """Replace PHI by invented names, places, dates and numbers that do not depend on the letters of the originals.

    ``fit_transform(X, y)`` replaces PHI, and ``transform(X)`` returns X unchanged. In a Pipeline, a tagger is therefore
    trained on surrogates, and then tags unchanged sentences. Each span keeps its number of tokens, so the tags of X are
    also the tags of the result. No word vectors and no training notes are needed.

    Each call draws a new secret key. Within one call, equal names, places or numbers of a patient have equal
    surrogates, and all dates of a patient move by the same number of days. The shifts of two calls differ, so that a
    recipient of both results can exclude possible dates. A Pipeline with ``memory=...`` writes the result to the disk.
    When the Pipeline runs again, it reads this result from the disk and draws no new surrogates.

    Parameters
    ----------
    locale : {"auto", "en", "es", "de", "fr", "nb", "it", "nl", "pt"}, default="auto"
        Language of the surrogates. "auto" uses the language of the sentences of each patient.
    labels : collection of str or None, default=None
        Labels of the spans that are replaced. None means all labels.
    kinds : mapping of str to str or None, default=None
        Kind of surrogate of labels outside of the known schemes; see `sklearn_deid.surrogates.label_kinds`.
    date_shift : int, default=3650
        Largest shift of the dates of a patient in days. The smallest shift is a tenth of ``date_shift``.
    whole_weeks : bool, default=False
        Whether dates move by whole weeks, which may make a shift up to six days shorter.
    keep_seasons : bool, default=False
        Whether dates move by whole years, plus or minus two weeks (with ``whole_weeks``, three weeks).
    ages : {"keep", "shift"}, default="keep"
        Treatment of ages up to 89 years: unchanged, or moved by one to three years for each patient.
    keep_gender : bool, default=True
        Whether given names keep their sex.
    check_digits : {"invalid", "valid"}, default="invalid"
        Check digits of national numbers.
    avoid_originals : bool, default=False
        Whether to avoid names that are words of spans of X (see ``avoid`` of `SurrogateEngine`). The surrogates then
        reveal which words are not in X.
    random_state : int, RandomState or None, default=None
        Random seed. With None, each call draws a key of 256 bits from the operating system. With an integer, each call
        returns the same surrogates; anyone who knows the integer can repeat the draws and check guesses.

    Attributes
    ----------
    statistics_ : dict
        Counts for each label: ``spans``, ``tokens``, ``no_rule``, ``no_fit`` and ``drew_itself``. ``no_rule`` counts
        spans of unknown form, which were replaced by their label. ``no_fit`` counts spans whose tokens were drawn one
        by one, since no surrogate has as many tokens. ``drew_itself`` counts spans whose surrogate is the original, by
        chance or because ages and sexes are kept.

    Notes
    -----
    **Protected.** Spans with a label. Without the key, the surrogates are independent of the letters of the originals,
    given label and written form; see `sklearn_deid.surrogates.SurrogateEngine`.

    **Not protected.** PHI without a label remains in the sentences. These properties remain visible: the written form,
    the sex of given names, repetitions, intervals between dates and, by default, ages up to 89. All other text also
    remains visible.

    See Also
    --------
    NeighborPseudonymizer : Words from the neighbourhood of the original, for a trade-off that you set.
    sklearn_deid.surrogates.SurrogateEngine : The same surrogates for whole notes, repeatable with a key.

    Examples
    --------
    >>> from sklearn_deid import SurrogatePseudonymizer
    >>> X, y = [["Dr", "Alder", "asked"], ["pain"]], [["O", "B-DOCTOR", "O"], ["O"]]
    >>> pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0)
    >>> moved = pseudonymizer.fit_transform(X, y)
    >>> len(moved[0]), moved[0][1] != "Alder", pseudonymizer.statistics_["DOCTOR"]["spans"]
    (3, True, 1)
    """

    _releases = "surrogates"  # for audits: the result of `sample` is shared

    _parameter_constraints: dict[str, list] = {
        "locale": [StrOptions({"auto", *LOCALES})],
        "labels": ["array-like", set, frozenset, None],
        "kinds": [dict, None],
        "date_shift": [Interval(Integral, 1, 36_500, closed="both")],
        "whole_weeks": ["boolean"],
        "keep_seasons": ["boolean"],
        "ages": [StrOptions({"keep", "shift"})],
        "keep_gender": ["boolean"],
        "check_digits": [StrOptions({"invalid", "valid"})],
        "avoid_originals": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        locale: str = "auto",
        labels: Any = None,
        kinds: Any = None,
        date_shift: int = 3650,
        whole_weeks: bool = False,
        keep_seasons: bool = False,
        ages: str = "keep",
        keep_gender: bool = True,
        check_digits: str = "invalid",
        avoid_originals: bool = False,
        random_state: Any = None,
    ) -> None:
        self.locale, self.labels, self.kinds = locale, labels, kinds
        self.date_shift, self.whole_weeks, self.keep_seasons = date_shift, whole_weeks, keep_seasons
        self.ages, self.keep_gender, self.check_digits = ages, keep_gender, check_digits
        self.avoid_originals, self.random_state = avoid_originals, random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> SurrogatePseudonymizer:
        """Count the spans and their rules; `fit` learns nothing else.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens
        y : sequence of n tag sequences
            IOB2 or BIOES.
        groups : array-like of shape (n,), optional
            Patient of each sentence. Without groups, each document of X counts as a patient; without documents, each
            sentence counts as a patient.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If y is missing or does not match X, or if X contains vectors.
        """
        self.fit_transform(X, y, groups)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Fit, and return X with surrogates; ``transform`` replaces nothing.

        Parameters
        ----------
        X, y, groups
            As for `fit`.
        """
        check_constraints(self)
        data = self._checked(X, y, groups)
        warn_of_absent_labels(self.labels, data.tags, stacklevel=2)
        with unfitted_if_failed(self):
            surrogates, self.statistics_ = self._draw(data, 0)
            self._fitted_as = self._settings()  # for the card
        return surrogates

    def transform(self, X: Any) -> TokenSequences:
        """Check X and return X unchanged, since a tagger must read the original sentences.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens
        """
        check_is_fitted(self)
        return self._words(X)

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Draw again, and return X with new surrogates.

        With an integer ``random_state``, every call returns the same draw.

        Parameters
        ----------
        X, y, groups
            As for `fit`. The sentences may differ from the sentences of `fit`.
        """
        check_is_fitted(self)
        check_constraints(self)
        return self._draw(self._checked(X, y, groups), 0)[0]

    def fit_resample(self, X: Any, y: Any = None, groups: Any = None, *, n_copies: int | str = "auto") -> tuple:
        """Fit, and return copies of X with different surrogates, in random order; X is not part of the result.

        Sentences without annotated PHI are equal in X and in all copies. The dates of a patient move by the same number
        of days in all copies, since several shifts would exclude possible dates.

        Parameters
        ----------
        X, y, groups
            As for `fit`.
        n_copies : int or "auto", default="auto"
            Number of copies. "auto" makes one copy, or up to five copies if all copies together have at most 100,000
            tokens. For so few tokens, a `DeidTagger` takes nearly as long with several copies as with one copy, and
            finds more PHI.

        Returns
        -------
        X, y
            ``n_copies`` times n sentences and their tags. With ``groups``, the groups of the returned sentences are a
            third array.

        Raises
        ------
        ValueError
            If ``n_copies`` is neither "auto" nor a whole number of at least 1.
        """
        check_constraints(self)
        is_number = isinstance(n_copies, Integral) and not isinstance(n_copies, bool) and n_copies > 0
        is_allowed = is_number or n_copies == "auto"
        check_parameter("", "n_copies", n_copies, is_allowed, "'auto' or a whole number above 0")
        data = self._checked(X, y, groups)
        if n_copies == "auto":
            n_copies = min(_MOST_COPIES, max(1, _COPIED_TOKENS // max(1, len(data.X.data))))
        warn_of_absent_labels(self.labels, data.tags, stacklevel=2)
        # One key for all copies: the number of the copy enters the draws of the engine, and makes the copies differ.
        key = self._key()
        copies = []
        for copy in range(int(n_copies)):
            surrogates, self.statistics_ = self._draw(data, copy, key)
            copies.append(surrogates)
        self._fitted_as = self._settings()
        rows = [row for copy in copies for row in copy]
        # Copies one after the other would show which sentences are copies of each other.
        order = release_generator(self.random_state).permutation(len(rows))
        # Row i of copy c has the number c * n + i, so that the remainder finds its tags.
        tags = object_rows(data.tags[order % len(data.X)])
        result = (TokenSequences.from_rows([rows[i] for i in order.tolist()]), tags)
        return result if data.groups is None else (*result, data.groups[order % len(data.X)])

    def card(self) -> str:
        """Card of the sentences of the last fit, as Markdown: settings, counts, and what the surrogates still reveal.

        Returns
        -------
        str
            Card for a privacy officer, without words of the sentences; see `surrogate_card`.
        """
        check_is_fitted(self)
        return surrogate_card(self._fitted_as, self.statistics_)

    # ---- data in

    def _checked(self, X: Any, y: Any, groups: Any) -> Annotated:
        check_some_labels(self)
        X = self._words(X)
        return Annotated(X, check_tags(y, X), check_groups(groups, len(X), allow_missing=True))

    # ---- the draw

    def _settings(self) -> dict[str, Any]:
        """Parameters, with numbers of Python for numbers of numpy, which a grid may hold and the engine refuses."""
        return {name: plain_value(value) for name, value in self.get_params(deep=False).items()}

    def _key(self) -> bytes:
        return release_generator(self.random_state).bytes(32)

    def _draw(self, data: Annotated, copy: int, key: bytes | None = None) -> tuple[TokenSequences, dict]:
        spans = list(self._spans(data))
        engine = SurrogateEngine(
            key=self._key() if key is None else key,
            **{name: value for name, value in self._settings().items() if name in _OF_ENGINE},
            avoid={word for span in spans for word in data.X[span.row][span.first : span.stop]}
            if self.avoid_originals
            else None,
            copy=copy,
        )
        by_row: dict[int, list[SpanTokens]] = defaultdict(list)
        for span in spans:
            by_row[span.row].append(span)
        made = TokenSurrogates(engine, data.X)
        # Note by note, since names, initials and dates are consistent within a note and across the notes of a patient.
        for (owner, note), rows in sentences_by_note(data.X, data.groups).items():
            made.replace(owner, note, rows, by_row)
        return TokenSequences(made.data, data.X.offsets).with_documents(data.X.documents), made.statistics

    def _spans(self, data: Annotated) -> Iterator[SpanTokens]:
        wanted = None if self.labels is None else set(self.labels)
        for row in range(len(data.tags)):
            for first, stop, label in labels_of(list(data.tags[row])):
                if wanted is None or label in wanted:
                    yield SpanTokens(row, first, stop, label)
