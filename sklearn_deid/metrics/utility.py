"""`utility_report` measures in one call how useful notes are after redaction."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._optional import import_optional
from .._parameters import check_parameter
from ..text import Document
from .downstream import check_labels, downstream_accuracy
from .estimate import Estimate
from .redacted_notes import PLACEHOLDER, OriginalNotes, RedactedNotes, align_redacted, original_notes
from .removed_terms import find_terms, removed_terms, removed_tokens
from .topics import choose_n_topics, count_words, topic_agreement
from .utility_output import UtilityFigure, UtilityReport


@dataclass(frozen=True)
class UtilitySettings:
    """Further keyword arguments of `utility_report`.

    Parameters
    ----------
    n_grams : int, default=3
        Highest order of BLEU: the report contains BLEU-1 up to this order. 0 omits BLEU.
    n_topics : int, sequence of int or None, default=5
        Number of topics of the topic model. If you pass several numbers, the function chooses the number with the most
        coherent topics in the original notes. None omits the topic model.
    n_words : int, default=30
        Number of most probable words that represent a topic.
    n_repeats : int, default=5
        Number of topic models fitted with different random seeds. The confidence interval is over these models.
    n_splits : int, default=5
        Number of cross-validation folds of the classification.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    placeholder : str
        Regular expression that matches the placeholders of a redacted text. The default matches ``[LABEL]`` (in
        capitals), three or more asterisks, and ``[**...**]``. A placeholder is not counted as a token, unless the
        original note contains the same placeholder.

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    n_grams: int = 3
    n_topics: int | Sequence[int] | None = 5
    n_words: int = 30
    n_repeats: int = 5
    n_splits: int = 5
    confidence: float = 0.95
    placeholder: str = PLACEHOLDER

    def __post_init__(self) -> None:
        numbers = {"n_grams": 0, "n_words": 1, "n_repeats": 1, "n_splits": 2}
        for name, least in numbers.items():
            _check_integer(name, getattr(self, name), least)
        for n in self.candidates:
            _check_integer("n_topics", n, 1)
        is_share = isinstance(self.confidence, Real) and 0 < self.confidence < 1
        check_parameter("utility_report", "confidence", self.confidence, is_share, "between 0 and 1")
        try:
            re.compile(self.placeholder)
        except (re.error, TypeError):
            raise ValueError(
                "The 'placeholder' parameter of utility_report must be a regular expression as a str."
            ) from None

    @property
    def candidates(self) -> tuple[int, ...]:
        """Candidate numbers of topics; empty if the topic model is omitted."""
        if self.n_topics is None:
            return ()
        if isinstance(self.n_topics, Iterable) and not isinstance(self.n_topics, str):
            return tuple(sorted(set(self.n_topics)))
        return (self.n_topics,)


def _check_integer(name: str, value: Any, least: int) -> None:
    is_allowed = isinstance(value, Integral) and not isinstance(value, bool) and not value < least
    check_parameter("utility_report", name, value, is_allowed, f"an integer of at least {least}")


def utility_report(
    original: Iterable[str | Document],
    gold: Iterable[str | Document | None],
    redacted: Iterable[str | Document | None],
    *,
    baseline: Iterable[str | Document | None] | None = None,
    labels: Sequence[Any] | None = None,
    classifier: Any = None,
    clinical_terms: Iterable[str] | None = None,
    random_state: Any = None,
    **settings: Any,
) -> UtilityReport:
    """Measure how useful the notes still are after redaction.

    The report contains four measures. Each measure is computed for the notes redacted by the gold annotation, by the
    system under test, and by a baseline. The score of the gold annotation is the highest score that a redaction without
    missed PHI can reach. A system with a higher score has left PHI readable. The report therefore also contains the
    proportion of PHI tokens that remain.

    - **BLEU-1, -2, -3** compare the redacted notes with the original notes. A second set of scores compares the
      redacted notes with the gold-redacted notes (``"bleu-1 to gold"``) and penalises both wrongly removed and wrongly
      kept tokens. BLEU needs sacrebleu (extra ``utility``).
    - **Topic agreement** is the proportion of the original notes' topic words that also occur in the topics of the
      redacted notes. The topics come from latent Dirichlet allocation (5 topics of 30 words). Each original topic is
      matched with one topic of the redacted notes.
    - **Classification** is the cross-validated accuracy of a classifier that is trained and tested on each version of
      the notes. All notes of a patient are in the same fold. Classification needs ``labels``.
    - **Tokens and clinical terms wrongly removed** are tokens and terms outside of gold PHI that the redaction removed.
      A token counts as remaining if no character is removed. `leak_list` also lists PHI of which only a part remains.

    Parameters
    ----------
    original : Corpus or sequence of Document or str
        The notes before redaction. Cross-validation and confidence intervals keep the notes of a patient together. A
        Document contains its patient id. A str counts as the only note of its patient.
    gold, redacted : Corpus or sequence of Document, str or None
        Redacted notes in one of three forms. A Document contains the original text, and the removed passages as spans;
        this form is exact and recommended. A str is a note that any other tool redacted; the function aligns its tokens
        with the original note. None is a note that was withheld. ``gold`` must not contain None.
    baseline : Corpus or sequence of Document, str or None, optional
        The same notes redacted by another system, in the same forms as ``redacted``.
    labels : sequence of n_notes labels, optional
        Class of each note. None or NaN excludes a note from the classification. Without labels the report has no
        classification part.
    classifier : estimator, optional
        Classifier that accepts lists of str. By default TF-IDF followed by logistic regression.
    clinical_terms : iterable of str, optional
        Words and phrases that redaction should keep. By default the report counts tokens outside of gold PHI and no
        terms.
    random_state : int, RandomState or None, default=None
        Random seed or generator. An int makes the results reproducible.
    **settings
        Further settings ``n_grams``, ``n_topics``, ``n_words``, ``n_repeats``, ``n_splits``, ``confidence`` and
        ``placeholder``. See `UtilitySettings`.

    Returns
    -------
    UtilityReport
        Report with all measures. ``print`` shows Markdown tables. The methods ``to_dict``, ``to_frame`` and
        ``value(part, system, measure)`` return the values.

    Raises
    ------
    SequenceError
        If the number of redacted notes or of labels differs from the number of original notes.
    DeidError
        If the text of a Document differs from the original note.
    ValueError
        If a setting is out of range, or the labels have fewer than two classes or a class with too few patients.
    TypeError
        If a note is neither a text nor a Document, ``gold`` lacks a note, or a setting is unknown.
    MissingDependencyError
        If sacrebleu is not installed and BLEU is requested. ``n_grams=0`` omits BLEU.

    References
    ----------
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10,
    section "Utility analysis", tables 3, 4 and 5a.

    Examples
    --------
    >>> from sklearn_deid import Document, Span, utility_report
    >>> gold = [Document("n", "Seen by Who for chest pain.", (Span(8, 11, "DOCTOR"),))]
    >>> report = utility_report(gold, gold, ["Seen by [DOCTOR] for [DOCTOR] pain."], n_topics=None)
    >>> round(report.value("bleu", "gold", "bleu-1"), 4)  # 6 of 7 tokens are left: exp(1 - 7 / 6)
    0.8465
    >>> report.value("tokens", "redacted", "removed outside PHI")  # one of five words
    0.2
    """
    chosen = _settings(settings)
    notes = original_notes(original, chosen.placeholder)
    given = {"gold": gold, "redacted": redacted} | ({} if baseline is None else {"baseline": baseline})
    systems = {name: align_redacted(notes, side, name) for name, side in given.items()}
    # All of a withheld note would count as PHI.
    if systems["gold"].n_withheld:
        n_lacking = systems["gold"].n_withheld
        raise TypeError(f"'gold' must hold every note. Got None for {n_lacking} of {len(notes)} notes.")
    # All seeds are drawn here, so that leaving out one part of the report does not change the random numbers of the
    # other parts: the first seed belongs to the folds, the others to the topic models.
    rng = check_random_state(random_state)
    seeds = [int(rng.randint(2**31 - 1)) for _ in range(chosen.n_repeats + 1)]
    # The original notes come first, because all comparisons refer to the first version.
    versions = {"original": notes.texts, **{name: side.texts for name, side in systems.items()}}
    figures = list(_bleu(notes, systems, chosen.n_grams))
    n_topics, topic_figures = _topics(versions, chosen, seeds[1:])
    figures += topic_figures
    if labels is not None:
        figures += _classification(versions, labels, notes.groups, classifier, chosen, seeds[0])
    figures += _tokens(notes, systems, chosen.confidence)
    by_term: dict[str, dict[str, tuple[int, int]]] = {}
    if clinical_terms is not None:
        term_figures, by_term = _terms(notes, systems, clinical_terms, chosen.confidence)
        figures += term_figures
    n_patients = len(set(notes.groups.tolist()))
    return UtilityReport(
        tuple(figures), len(notes), n_patients, systems["redacted"].n_withheld, n_topics, chosen.confidence, by_term
    )


def _settings(given: Mapping[str, Any]) -> UtilitySettings:
    known = [f.name for f in fields(UtilitySettings)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise TypeError(f"utility_report has no setting {unknown[0]!r}; the settings are {known}.")
    return UtilitySettings(**given)


def _bleu(notes: OriginalNotes, systems: Mapping[str, RedactedNotes], n_grams: int) -> Iterator[UtilityFigure]:
    # Against the original: how much was removed at all. Against the gold redaction: how much more than necessary.
    references = {"": [tokens.texts for tokens in notes.tokens], " to gold": systems["gold"].tokens}
    for suffix, reference in references.items():
        # The gold notes compared with themselves would always score 1.
        for name, side in systems.items():
            if not (suffix and name == "gold"):
                for n in range(1, n_grams + 1):
                    value = corpus_bleu(side.tokens, reference, n)
                    yield UtilityFigure("bleu", name, f"bleu-{n}{suffix}", Estimate(value))


def _topics(
    versions: Mapping[str, Sequence[str]], chosen: UtilitySettings, seeds: Sequence[int]
) -> tuple[int | None, list[UtilityFigure]]:
    if not chosen.candidates:
        return None, []
    counts, vocabulary = count_words(versions, chosen.n_words)
    n_topics = chosen.candidates[0]
    # With a single candidate no coherence is computed, which would read all notes once more.
    if len(chosen.candidates) > 1:
        texts, words = versions["original"], counts["original"]
        n_topics = choose_n_topics(texts, words, vocabulary, chosen.candidates, chosen.n_words, seeds[0])
    figures = []
    for name, found in topic_agreement(counts, n_topics, chosen.n_words, seeds).items():
        mean = Estimate.from_repeats(found.means, chosen.confidence).within(0.0, 1.0)
        figures.append(UtilityFigure("topics", name, "mean", mean))
        for number, share in enumerate(found.per_topic, 1):
            figures.append(UtilityFigure("topics", name, f"topic {number}, first start", Estimate(share)))
    return n_topics, figures


def _classification(
    versions: Mapping[str, Sequence[str]],
    labels: Sequence[Any],
    groups: np.ndarray,
    classifier: Any,
    chosen: UtilitySettings,
    seed: int,
) -> list[UtilityFigure]:
    # Folds are over patients: notes of a patient in both parts would make every version look useful.
    rows, y = check_labels(labels, groups, chosen.n_splits)
    of_rows = {name: [texts[i] for i in rows] for name, texts in versions.items()}
    scores = downstream_accuracy(
        of_rows, y, groups[rows], classifier, n_splits=chosen.n_splits, confidence=chosen.confidence, seed=seed
    )
    figures = [UtilityFigure("classification", name, "n notes", Estimate(float(len(rows)))) for name in scores]
    figures += [UtilityFigure("classification", name, "accuracy", score.accuracy) for name, score in scores.items()]
    return figures + [
        UtilityFigure("classification", name, "accuracy minus original", score.difference)
        for name, score in scores.items()
        if name != "original"
    ]


def _tokens(notes: OriginalNotes, systems: Mapping[str, RedactedNotes], confidence: float) -> Iterator[UtilityFigure]:
    for name, side in systems.items():
        counts = removed_tokens(notes, systems["gold"].kept, side.kept)
        # Intervals over patients, since the tokens of a note are redacted well or badly together.
        removed = Estimate.from_groups(counts.other_removed, counts.other, notes.groups, confidence)
        left = Estimate.from_groups(counts.phi_left, counts.phi, notes.groups, confidence)
        yield UtilityFigure("tokens", name, "n outside PHI", Estimate(float(counts.other.sum())))
        # The gold redaction is correct by definition: it has no wrongly removed token and leaves no PHI.
        if name != "gold":
            yield UtilityFigure("tokens", name, "removed outside PHI", removed)
        yield UtilityFigure("tokens", name, "n PHI", Estimate(float(counts.phi.sum())))
        if name != "gold":
            yield UtilityFigure("tokens", name, "left of PHI", left)


def _terms(
    notes: OriginalNotes, systems: Mapping[str, RedactedNotes], clinical_terms: Iterable[str], confidence: float
) -> tuple[list[UtilityFigure], dict[str, dict[str, tuple[int, int]]]]:
    """Proportion of clinical terms that each system removed, and the counts of each term."""
    places = find_terms(notes, clinical_terms)
    figures, by_term = [], {}
    for name, side in systems.items():
        n_terms, n_removed, by_term[name] = removed_terms(places, systems["gold"].kept, side.kept)
        figures.append(UtilityFigure("terms", name, "n outside PHI", Estimate(float(n_terms.sum()))))
        if name != "gold":
            share = Estimate.from_groups(n_removed, n_terms, notes.groups, confidence)
            figures.append(UtilityFigure("terms", name, "removed", share))
    return figures, by_term


def corpus_bleu(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], max_order: int = 3) -> float:
    """Corpus BLEU with n-grams up to a highest order and one reference for each note.

    BLEU is the geometric mean of the n-gram precisions. If the candidates are shorter than the references, the mean is
    multiplied by the brevity penalty ``exp(1 - r / c)``, with ``r`` reference tokens and ``c`` candidate tokens. If a
    redaction only removes tokens, the redacted notes have a unigram precision of 1. The BLEU-1 of such notes equals the
    brevity penalty and depends only on the number of removed tokens.

    Parameters
    ----------
    candidates, references : sequences of n token sequences
        Tokens of the redacted notes and of the reference notes. The comparison is case-sensitive.
    max_order : int, default=3
        Highest order of the n-grams: 1 for BLEU-1, 2 for BLEU-2, and so on.

    Returns
    -------
    float
        Score in [0, 1]. The score is 0 if only the candidates have no tokens, and NaN if the references have no tokens
        either. For an order without a match, the default smoothing of sacrebleu applies.

    Raises
    ------
    MissingDependencyError
        If sacrebleu is not installed (extra ``utility``).

    References
    ----------
    Papineni et al. (2002), BLEU: a method for automatic evaluation of machine translation, ACL.
    Post (2018), A call for clarity in reporting BLEU scores, WMT.

    Examples
    --------
    >>> round(corpus_bleu([["a", "b", "c", "d"]], [["a", "b", "x", "c", "d"]], 1), 4)  # exp(1 - 5 / 4)
    0.7788
    """
    sacrebleu = import_optional("sacrebleu", extra="utility", purpose="BLEU scores")
    if not any(len(row) for row in candidates):
        return 0.0 if any(len(row) for row in references) else math.nan
    # The notes are tokenized already. "force" only silences the warning of sacrebleu about tokenized input.
    scorer = sacrebleu.BLEU(max_ngram_order=max_order, tokenize="none", force=True)
    score = scorer.corpus_score([_joined(row) for row in candidates], [[_joined(row) for row in references]])
    return float(min(1.0, score.score / 100))


def _joined(tokens: Sequence[str]) -> str:
    # sacrebleu splits at white space. An unescaped HTML entity is a token that may contain white space.
    return " ".join("_".join(token.split()) for token in tokens)
