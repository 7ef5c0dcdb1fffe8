"""`LearnedSegmenter` ends a sentence only if the notes themselves show that a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from math import ceil, exp, log
from typing import Any, NamedTuple

import numpy as np

from .documents import Span
from .segmentation import Segmentation, bounded
from .sentences import (
    AFTER_FINAL,
    FINALS,
    final_mark,
    is_caseless,
    line_borders,
    sentence_ranges,
    starts_sentence,
    word_before,
)
from .tokens import tokenize

# A word between spaces and punctuation, with the full stop that follows it. Parts of addresses of the net and of codes
# are no words.
_WORD = re.compile(r"(?<![\w@./\\-])([^\W\d_]+)(?![\w@/\\-])(?!\.\w)(\.?)")
_LETTERS = re.compile(r"[^\W\d_]+")
# Ordinals, days, items of a list, house numbers: "27. März", "2. Home", "Mayor 3. B".
_ORDINAL = re.compile(r"\d{1,3}|[ivxIVX]{2,4}")
_LONGEST_WORD = 40
# Smallest weighted log likelihood ratio of an abbreviation (Kiss & Strunk 2006, section 4.1). The authors take 0.99 as
# the probability of a full stop after an abbreviation. Clinicians also write "Dr" and "Dr." in one note.
_THRESHOLD, _P_ABBREVIATION = 0.3, 0.5
_FEWEST_PATIENTS = 2
# Share of the notes of `fit` that may have more bare line breaks than the limit, and a limit that no note exceeds.
_FAR_MORE, _NO_LIMIT = 0.01, 1.0
_FEWEST_FULL_STOPS = 0.25
_FEWEST_NOTES = 20  # a few notes do not show how lines end


class LearnedSegmenter:
    """Split notes into tokens and sentences, with full stops that were learned from unannotated notes.

    A full stop ends a sentence only if two conditions hold. First, the word before the full stop is not an
    abbreviation, which is a word that a full stop follows far more often than other words (Kiss & Strunk 2006). Second,
    the notes contain the word after the full stop more often in lower case than with a capital inside a sentence. The
    second condition does not hold for names, German nouns, and the months after ordinal numbers. A full stop after an
    initial or after a number of up to three digits never ends a sentence. In scripts without case and in notes in
    capitals, a capital is no evidence for the start of a sentence. In these scripts and notes, the second condition is
    that the word before the full stop also occurs without a full stop. Question marks and exclamation marks end
    sentences as in `split_sentences`.

    Line ends also end sentences as in `split_sentences`, unless a note has far more bare line breaks than the notes of
    `fit`. A line break is bare if no final punctuation, colon or blank line precedes the break, and no list item or
    field name follows the break. A note with far more bare line breaks was wrapped by a program, and each bare line
    break is read as a space. A note in which the full stops are missing is never read as wrapped.

    The segmenter has no rules for a language and no list of abbreviations. In doubt, the segmenter does not end a
    sentence. A sentence of more than 2,000 tokens is divided into parts of 2,000 tokens.

    Attributes
    ----------
    words_ : ndarray of shape (n_words, 5), dtype uint32
        One row for each kept word. The first column is a hash of the word in lower case. The other columns count how
        often the word is written with a full stop, without a full stop, in lower case, and with a capital inside a
        sentence. A word is kept under two conditions: it occurs in notes of at least two patients, and it is an
        abbreviation or is also written in lower case. The array contains no word. With a saved model, anyone can test
        whether a given word is kept. If `fit` is called with the annotations, words that occur only in PHI are not
        kept. Without annotations, a name is kept if the notes also contain the name in lower case, as in user names, or
        if the name looks like an abbreviation.
    full_stop_rate_ : float
        Proportion of words with a full stop.
    bare_break_limit_ : float
        Highest proportion of bare line breaks in a note of which each line end is read as the end of a sentence. A
        further note like the notes of `fit` has a higher proportion with a probability of at most 1 % (split conformal
        prediction). With 20 to 98 notes, this probability is at most 1 / (n + 1). With fewer notes, the value is 1,
        which no note can exceed.

    References
    ----------
    Kiss & Strunk (2006), Unsupervised multilingual sentence boundary detection, Computational Linguistics 32(4).
    Papadopoulos et al. (2002), Inductive confidence machines for regression, ECML.

    Examples
    --------
    >>> from sklearn_deid.text import LearnedSegmenter
    >>> notes = ["Gesehen von Dr. Erle. Die Wunde ist reizlos. Dr. Buche sah die Wunde am 3. Mai."] * 3
    >>> segmenter = LearnedSegmenter().fit(notes)
    >>> [" ".join(row) for row in segmenter.segment("Dr. Linde kam am 4. Mai. Die Wunde heilt.").rows()]
    ['Dr . Linde kam am 4 . Mai .', 'Die Wunde heilt .']
    """

    def fit(
        self,
        texts: Iterable[str],
        y: Iterable[Sequence[Span] | None] | None = None,
        *,
        groups: Iterable[Any] | None = None,
    ) -> LearnedSegmenter:
        """Count words and full stops.

        Parameters
        ----------
        texts : iterable of str
            Notes. Annotations are not needed.
        y : iterable of sequences of Span or None, optional
            Annotated PHI of each note, None for a raw note. Words that annotated notes contain only in PHI have no row.
        groups : iterable, optional
            Patient of each note. By default, each note belongs to a patient of its own.

        Returns
        -------
        self
        """
        listed = list(texts)
        patients = range(len(listed)) if groups is None else list(groups)
        phi: Iterable[Sequence[Span] | None] = [None] * len(listed) if y is None else y
        total: dict[str, np.ndarray] = {}
        owners: dict[str, set[Any]] = {}
        inside: set[str] = set()
        outside: set[str] = set()
        for text, patient, spans in zip(listed, patients, phi, strict=True):
            for word, counts in _counts(text).items():
                total[word] = total.get(word, 0) + np.array(counts)
            in_phi, others = _words_by_place(text, spans or ())
            for word in others:
                owners.setdefault(word, set()).add(patient)
            inside |= in_phi
            outside |= set() if spans is None else others
        # A reader of a saved model could test a list of names against the hashes.
        for word in inside - outside:
            owners.pop(word, None)
        shares = sorted(line_borders(text).bare_share for text in listed)
        # The rank of split conformal prediction: a new note of the same kind exceeds this value with at most the given
        # probability, whatever the distribution.
        rank = min(len(shares), ceil((len(shares) + 1) * (1 - _FAR_MORE)))
        self.bare_break_limit_ = shares[rank - 1] if len(shares) >= _FEWEST_NOTES else _NO_LIMIT
        # shape: (4,): totals of the counts of `_counts`
        # One more of each (Laplace), so that no rate is 0 or 1 and no logarithm infinite.
        stopped, plain, *_ = sum(total.values(), np.zeros(4, dtype=np.int64)).tolist()
        self.full_stop_rate_ = (stopped + 1) / (stopped + plain + 2)
        rows = sorted(
            (_hash(word), *counts.tolist())
            for word, counts in total.items()
            if len(owners.get(word, ())) >= _FEWEST_PATIENTS
            and (counts[_LOWER] or self._is_abbreviation(word, counts.tolist()))
        )
        # shape: (n_words, 5)
        self.words_ = np.array(rows, dtype=np.uint32).reshape(-1, 5)
        return self

    def segment(self, text: str) -> Segmentation:
        """Split a note into tokens and sentences.

        Parameters
        ----------
        text : str
            Unchanged text of the note.

        Returns
        -------
        Segmentation
            Tokens and sentences of the note. No sentence has more than 2,000 tokens.
        """
        self._check_fitted()
        own, caseless = _counts(text), is_caseless(text)
        ends, stops = _final_marks(text)
        known = self._known((word.lower() for stop in stops for word in (stop.before, stop.after)), own)
        ends += [stop.end for stop in stops if self._ends_sentence(stop, known, caseless)]
        tokens, lines = tokenize(text), line_borders(text, caseless)
        wrapped = lines.bare_share > self.bare_break_limit_ and self._has_full_stops(own)
        starts = {*lines.starts}.difference(lines.bare if wrapped else ())
        return bounded(Segmentation(tokens, sentence_ranges(text, tokens, {*starts, *ends})))

    def to_state(self) -> dict[str, Any]:
        """Counts as JSON values, for a saved model."""
        self._check_fitted()
        words = self.words_.astype("<u4").tobytes().hex()
        return {"words": words, "full_stop_rate": self.full_stop_rate_, "bare_break_limit": self.bare_break_limit_}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LearnedSegmenter:
        """Build a fitted segmenter from the result of `to_state`.

        Raises
        ------
        ValueError, TypeError, KeyError
            If an entry is missing or out of range.
        """
        # shape: (n_words, 5)
        words = np.frombuffer(bytes.fromhex(state["words"]), dtype="<u4").reshape(-1, 5).astype(np.uint32)
        rate = float(state["full_stop_rate"])
        # Models that were saved before the limit existed have no limit.
        limit = float(state.get("bare_break_limit", _NO_LIMIT))
        if not 0 < rate < 1 or not 0 <= limit <= _NO_LIMIT or (words[1:, 0] < words[:-1, 0]).any():
            raise ValueError("The counts of the saved segmenter are out of range, or not in order.")
        segmenter = cls()
        segmenter.words_, segmenter.full_stop_rate_, segmenter.bare_break_limit_ = words, rate, limit
        return segmenter

    def _ends_sentence(self, stop: _FullStop, known: dict[str, list[int]], caseless: bool) -> bool:
        """Whether a full stop ends a sentence; ``known`` holds the counts of the words around the full stop."""
        _, before, after = stop
        counts = known[before.lower()]
        if self._is_abbreviation(before, counts):
            return False
        if caseless or after[:1].lower() == after[:1].upper():
            # A capital proves nothing here: the word before must show that it needs no full stop.
            return bool(counts[_PLAIN]) or not before
        counts = known[after.lower()]
        return counts[_LOWER] > counts[_CAPITAL]

    def _has_full_stops(self, own: dict[str, list[int]]) -> bool:
        """Whether a note has at least a quarter of the usual full stops; without full stops, all breaks look bare."""
        stopped, plain = (sum(counts[kind] for counts in own.values()) for kind in (_STOPPED, _PLAIN))
        return stopped >= _FEWEST_FULL_STOPS * self.full_stop_rate_ * (stopped + plain)

    def _known(self, words: Iterable[str], own: dict[str, list[int]]) -> dict[str, list[int]]:
        """Four counts of each word in the notes of `fit` and in the note."""
        known = {word: own.get(word, [0, 0, 0, 0]) for word in words}
        # The rows are in the order of their hashes, so that no dictionary has to be built when a model is loaded.
        hashes = np.array([_hash(word) for word in known], dtype=np.uint32)
        first, stop = (np.searchsorted(self.words_[:, 0], hashes, side).tolist() for side in ("left", "right"))
        for (word, here), row, end in zip([*known.items()], first, stop, strict=True):
            if row < end:
                known[word] = [a + b for a, b in zip(here, self.words_[row, 1:].tolist(), strict=True)]
        return known

    def _is_abbreviation(self, word: str, counts: Sequence[int]) -> bool:
        """Whether a word almost always has a full stop (Kiss & Strunk 2006, section 4.1)."""
        stopped, plain, rate = counts[_STOPPED], counts[_PLAIN], self.full_stop_rate_
        if not stopped or not _LETTERS.fullmatch(word):
            return False
        # Binomial log likelihoods of the word as an abbreviation and as a word like any other; binomial coefficients
        # cancel.
        ratio = stopped * log(_P_ABBREVIATION / rate) + plain * log((1 - _P_ABBREVIATION) / (1 - rate))
        # Abbreviations are short.
        return 2 * ratio * exp(-len(word)) >= _THRESHOLD

    def _check_fitted(self) -> None:
        if not hasattr(self, "words_"):
            # Splitting notes must not load scikit-learn, and so must importing this file.
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This LearnedSegmenter is not fitted: call fit with notes.")


# Columns of the counts of a word: with a full stop, without a full stop, in lower case, and with a capital in
# mid-sentence.
_STOPPED, _PLAIN, _LOWER, _CAPITAL = range(4)


def _counts(text: str) -> dict[str, list[int]]:
    """Counts of each word of a note: with and without a full stop, in lower case, and with an inner capital."""
    counts: dict[str, list[int]] = {}
    for match in _WORD.finditer(text):
        written, stop = match.groups()
        word = written.lower()
        if (row := counts.get(word)) is None:
            if len(word) > _LONGEST_WORD:
                continue
            row = counts[word] = [0, 0, 0, 0]
        row[_STOPPED if stop else _PLAIN] += 1
        if written == word:
            row[_LOWER] += 1
        elif _is_inner(text, match.start()):
            row[_CAPITAL] += 1
    return counts


def _is_inner(text: str, start: int) -> bool:
    """Whether a word is inside a sentence: after a word or a comma, and one space."""
    if start < 2 or text[start - 1] != " ":
        return False
    before = text[start - 2]
    return before in ",_" or before.isalnum()


class _FullStop(NamedTuple):
    """Full stop that may end a sentence: end of the white space after it, and the words around it."""

    end: int
    before: str
    after: str


def _final_marks(text: str) -> tuple[list[int], list[_FullStop]]:
    """Ends of the white space after marks that always end a sentence, and full stops that may end a sentence."""
    ends: list[int] = []
    stops: list[_FullStop] = []
    for gap in AFTER_FINAL.finditer(text):
        start, end = gap.span()
        final = final_mark(text, start)
        if text[final] not in FINALS or not starts_sentence(text, end, text[final] == "."):
            continue
        if text[final] != ".":
            ends.append(end)
            continue
        before = word_before(text, final, _LONGEST_WORD)
        # "C/. Mayor", initials, ordinals, and the last letter of "e.g."
        if _ORDINAL.fullmatch(before) or text[final - 1 : final] == "/" or (len(before) == 1 and before.isupper()):
            continue
        begin = final - len(before)
        if before and text[begin - 1 : begin] == ".":
            continue
        following = _LETTERS.search(text, end)
        stops.append(_FullStop(end, before, "" if following is None else following[0]))
    return ends, stops


def _words_by_place(text: str, spans: Sequence[Span]) -> tuple[set[str], set[str]]:
    """Words in lower case that a note contains inside of the spans, and outside of them."""
    covered = np.zeros(len(text), dtype=bool)
    for span in spans:
        covered[span.start : span.end] = True
    places: tuple[set[str], set[str]] = set(), set()
    for found in _WORD.finditer(text):
        places[not covered[found.start(1) : found.end(1)].any()].add(found[1].lower())
    return places


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")
