"""`NoteLikeness`: whether a note is like the training notes of a model, judged by statistics that contain no word of a
note."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import BundleError
from ..surrogates.guessed_locale import is_of_other_locale
from ..surrogates.locale_words import LOCALES
from ..text import Document, Segmentation
from ..text.corpus import patients_of
from ..text.other_scripts import tokens_as_written
from .note_sentences import NormalizedSegmenter

FEATURES = (
    *("capitals", "words in capitals", "digits", "punctuation", "word length", "sentence length"),
    *("letters", "letter pairs", "PHI"),
)
#: Statistics that distinguish languages and do not depend on the kind of text.
LANGUAGE = ("letters", "letter pairs")
# Number of units (words, tokens or sentences) by which the statistics of a short note are shrunk to the usual values.
_PRIOR = 30.0
_WORDS_OF_A_NAME = 2
_SHORTEST = 3  # letters of a word whose casing counts
# A pair of letters that fewer patients have counts as a pair that no note has: the pair can reveal a single rare name.
_FEWEST_PATIENTS = 5
# Share of notes that are flagged, and the fewest notes with which a threshold can promise that share.
ALPHA = 0.01
FEWEST = math.ceil(1 / ALPHA) - 1
_FIT_SHARE = 0.25
# A smaller or larger share of words with a first capital is no mixed casing.
_UNIFORM = 0.15
_SPACE, _OTHER = 0, 27
# Class of each byte of Latin-1: a space, 26 letters, and all other letters.
_CLASS = np.full(256, _OTHER)
_CLASS[ord(" ")] = _SPACE
_CLASS[ord("a") : ord("z") + 1] = np.arange(1, 27)


@dataclass(frozen=True)
class Measured:
    """Sum of each statistic over the words, tokens or sentences of a note, and number of summed units; shape
    (n_features,).

    ``pairs`` of shape (28, 28) contains the number of each pair of neighbouring letters.
    """

    sums: np.ndarray
    units: np.ndarray
    pairs: np.ndarray


def measure(note: Segmentation, n_tagged: int, text: str = "") -> Measured:
    """Measure a note: the statistics by which `NoteLikeness` compares notes.

    Parameters
    ----------
    note : Segmentation
        Tokens and sentences, as the tagger reads them.
    n_tagged : int
        Number of tokens of PHI.
    text : str, default=""
        Unchanged text. Words of other scripts, which a tagger reads in Latin letters, are measured as written.
    """
    tokens = note.tokens.texts
    if not text.isascii():
        tokens = [
            part for token, a, b in zip(*note.tokens, strict=True) for part in tokens_as_written(text[a:b], token)
        ]
    n, words = len(tokens), [t for t in tokens if t.isalpha() or _has_marks(t)]
    long = [w for w in words if len(w) >= _SHORTEST]
    foreign = [w for w in words if not w.isascii()]
    # Names, such as François Béranger, do not show the language of a note, and would make short notes unlike.
    is_name = len(foreign) <= _WORDS_OF_A_NAME and all(map(str.istitle, foreign))
    n_foreign = 0 if is_name else len(foreign)
    codes = _CLASS[np.frombuffer(" ".join(["", *words, ""]).lower().encode("latin-1", "replace"), dtype=np.uint8)]
    pairs = np.bincount(28 * codes[:-1] + codes[1:], minlength=28 * 28).reshape(28, 28)
    sums = (
        sum(w[0].isupper() for w in long),
        sum(w.isupper() for w in long),
        sum(any(map(str.isdigit, t)) for t in tokens),
        sum(not any(map(str.isalnum, t)) for t in tokens),
        sum(map(len, words)),
        n,
        n_foreign,
        0,
        n_tagged,
    )
    units = (len(long), len(long), n, n, len(words), len(note.sentences), len(words), pairs.sum(), n)
    return Measured(np.array(sums, dtype=float), np.array(units, dtype=float), pairs.astype(float))


def _has_marks(token: str) -> bool:
    """Whether a token is a word with combining marks, such as the vowels of Tamil, which `str.isalpha` rejects."""
    return not token.isascii() and token[0].isalpha() and not any(map(str.isnumeric, token))


class NoteLikeness:
    """Score of the difference between a note and the training notes, with a calibrated threshold.

    The score is the largest deviation among nine statistics. Six statistics are shares: words with a first capital,
    words in capitals, words with letters outside of ASCII, tokens with digits, punctuation, and tokens of PHI. The
    other statistics are the mean length of words, the mean length of sentences, and the mean negative log probability
    of the pairs of letters. A deviation is the distance from the median, divided by the root mean square of the
    training notes' distances on the same side of the median. In short notes, every statistic is shrunk to the mean,
    because a few words are not reliable evidence. With ``any_casing``, the casing of notes in lower case, in capitals
    and in Title Case is ignored: a `DeidTagger` with a `NoteAugmenter` has learned from such notes.

    The notes of a quarter of the patients determine medians, mean squares and counts of pairs. Pairs of letters in the
    notes of fewer than five of these patients are not counted, so that a saved model reveals no rare name by its
    letters. The notes of the other patients determine the threshold: the score of rank ``ceil((n + 1) * 0.99)`` among
    the ``n`` scores of these notes. If a new note and these ``n`` notes are exchangeable, the score of the new note
    exceeds the threshold with a probability of at most 1 % (split conformal prediction). The notes are exchangeable
    only approximately: notes of one patient are alike, and a tagger does not find exactly the annotated PHI.

    Statistics of letters do not distinguish English from Spanish or German without accents. If ``language`` is set, a
    note is therefore also unlike if most of its telling function words belong to another language.

    Attributes
    ----------
    threshold : float
        A note with a higher score is unlike the training notes.
    n_notes : int
        Number of notes from which the threshold was computed.
    any_casing : bool
        Whether the casing of notes without mixed casing is ignored.
    judged : tuple of str
        Names of the statistics in use, from `FEATURES`.
    language : str or None
        Language of the training notes, from `LOCALES`, if notes in the other languages of `LOCALES` are unlike.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world, section 2.2; Papadopoulos et al. (2002) for
    the split.
    """

    language: str | None = None

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._means = np.asarray(state["means"], dtype=float)
        self._middle, self._low, self._high = (np.asarray(state[k], dtype=float) for k in ("middle", "low", "high"))
        self._surprise = np.asarray(state["surprise"], dtype=float)
        self.threshold, self.n_notes = float(state["threshold"]), int(state["n_notes"])
        self.any_casing = bool(state["any_casing"])
        self.judged = tuple(state.get("judged", FEATURES))
        self.language = state.get("language")

    def __repr__(self) -> str:
        return f"NoteLikeness(threshold={self.threshold:.3g}, n_notes={self.n_notes})"

    @classmethod
    def learn(
        cls,
        notes: Sequence[Measured],
        patients: Sequence[Hashable],
        *,
        any_casing: bool = False,
        judged: Sequence[str] = FEATURES,
        seed: int = 0,
    ) -> NoteLikeness | None:
        """Learn from the training notes; None if fewer than 99 notes remain for the threshold.

        Parameters
        ----------
        notes : sequence of Measured
            Statistics of the training notes, with the annotated PHI.
        patients : sequence of hashable
            Patient of each note. The notes are divided into two parts, and no patient is in both parts.
        any_casing : bool, default=False
            Whether the casing of notes without mixed casing is ignored.
        judged : sequence of str, default=FEATURES
            Names of the statistics in use.
        seed : int, default=0
            Random seed of the parts.
        """
        first, owners, rest = _parts(notes, patients, seed)
        if len(rest) < FEWEST:
            return None
        # Laplace's rule, so that a pair of letters that no note has is rare and not impossible. shape: (28, 28)
        counts = 1 + _shared_pairs(first, owners)
        # Rounded, so that a saved model has the same scores.
        surprise = (np.log2(counts.sum(1, keepdims=True)) - np.log2(counts)).round(3)
        sums, units = (sum(_values(note, surprise)[i] for note in first) for i in (0, 1))
        # The other numbers follow from figures, which need the means and the surprise.
        later = dict.fromkeys(("middle", "low", "high"), np.ones(len(FEATURES))) | {"threshold": 0, "n_notes": 0}
        known = {"means": sums / np.maximum(units, 1), "surprise": surprise}
        model = cls({**known, **later, "any_casing": any_casing, "judged": judged})
        # shape: (n_notes, n_features)
        figures = np.array([model._figures(note) for note in first])
        middle = np.median(figures, axis=0)
        # Root mean squares and not quantiles: one kind of rare notes, such as notes in capitals, increases root mean
        # squares.
        low, high = (np.sqrt((np.clip(sign * (figures - middle), 0, None) ** 2).mean(0)) for sign in (-1, 1))
        # A statistic that hardly varies must not make every other value unlike.
        floor = 0.02 * np.maximum(np.abs(middle), 0.1)
        model._middle, model._low, model._high = middle, np.maximum(low, floor), np.maximum(high, floor)
        scores = sorted(model.score(note)[0] for note in rest)
        model.n_notes = len(scores)
        model.threshold = scores[math.ceil((len(scores) + 1) * (1 - ALPHA)) - 1]
        return model

    def score(self, note: Measured) -> tuple[float, str]:
        """Score of a note, and the name of the statistic that determines the score."""
        distance = self._figures(note) - self._middle
        # shape: (n_features,)
        deviations = np.where(distance < 0, -distance / self._low, distance / self._high)
        deviations[[name not in self.judged for name in FEATURES]] = 0.0
        largest = int(deviations.argmax())
        return float(deviations[largest]), FEATURES[largest]

    def problem(self, note: Measured) -> str | None:
        """Reason why a note is unlike the training notes, as a sentence without note text; None for a note like the
        training notes."""
        score, name = self.score(note)
        if score <= self.threshold:
            return None
        return (
            f"The note is unlike the training notes of the model ({name}: {score:.1f}, at most {self.threshold:.1f} in "
            "99 % of them), so that PHI may be missed."
        )

    def language_problem(self, words: Sequence[str]) -> str | None:
        """Reason why a note is unlike the training notes by its words, as a sentence without note text; None for a note
        in the language of the training notes."""
        if self.language is None or not is_of_other_locale(" ".join(words), self.language):
            return None
        return (
            "The note is unlike the training notes of the model (frequent words of another language), so that PHI may "
            "be missed."
        )

    def to_state(self) -> dict[str, Any]:
        """State as numbers, for the manifest of a saved model."""
        names = {"means": self._means, "middle": self._middle, "low": self._low, "high": self._high}
        numbers = {name: array.tolist() for name, array in (*names.items(), ("surprise", self._surprise))}
        other = {"threshold": self.threshold, "n_notes": self.n_notes, "any_casing": self.any_casing}
        language = {} if self.language is None else {"language": self.language}
        return {**numbers, **other, "judged": list(self.judged), **language}

    @classmethod
    def from_state(cls, state: Any) -> NoteLikeness:
        """Build a `NoteLikeness` from the result of `to_state`.

        Raises
        ------
        BundleError
            If numbers are missing or not finite, if scales or threshold are not positive, or the language is unknown.
        """
        model = cls(state)
        vectors = (model._means, model._middle, model._low, model._high)
        fits = all(v.shape == (len(FEATURES),) for v in vectors) and model._surprise.shape == (28, 28)
        fits = fits and bool(model.judged) and set(model.judged) <= set(FEATURES)
        fits = fits and model.language in (None, *LOCALES)
        fits = fits and all(np.isfinite(v).all() for v in (*vectors, model._surprise))
        if not (fits and (model._low > 0).all() and (model._high > 0).all() and 0 < model.threshold < math.inf):
            raise BundleError("The saved figures of the training notes are damaged.")
        return model

    def _figures(self, note: Measured) -> np.ndarray:
        sums, units = _values(note, self._surprise)
        if self.any_casing and not _UNIFORM < sums[0] / max(units[0], 1) < 1 - _UNIFORM:
            sums[:2], units[:2] = 0, 0
        return (sums + _PRIOR * self._means) / (units + _PRIOR)


def _values(note: Measured, surprise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sums = note.sums.copy()
    sums[FEATURES.index("letter pairs")] = (note.pairs * surprise).sum()
    return sums, note.units.copy()


def _shared_pairs(notes: Sequence[Measured], owners: Sequence[Hashable]) -> np.ndarray:
    """Number of each pair of letters, of shape (28, 28); 0 for a pair that too few patients have."""
    total, n_owners = np.zeros((28, 28)), np.zeros((28, 28))
    seen: dict[Hashable, np.ndarray] = {}
    for note, owner in zip(notes, owners, strict=True):
        total += note.pairs
        seen[owner] = seen.get(owner, np.zeros((28, 28), dtype=bool)) | (note.pairs > 0)
    for one in seen.values():
        n_owners += one
    return np.where(n_owners >= _FEWEST_PATIENTS, total, 0.0)


def _parts(
    notes: Sequence[Measured], patients: Sequence[Hashable], seed: int
) -> tuple[list[Measured], list[Hashable], list[Measured]]:
    """Return the notes for the statistics, the patients of these notes, and the notes for the threshold."""
    distinct = list(dict.fromkeys(patients))
    order = np.random.default_rng(seed).permutation(len(distinct))
    chosen = {distinct[i] for i in order[: max(1, round(_FIT_SHARE * len(distinct)))]}
    pairs = list(zip(notes, patients, strict=True))
    first = [(n, p) for n, p in pairs if p in chosen]
    return [n for n, _ in first], [p for _, p in first], [n for n, p in pairs if p not in chosen]


def learned_likeness(
    corpus: Sequence[Document], any_casing: bool = False, segmenter: Any = None, judged: Sequence[str] = FEATURES
) -> NoteLikeness | None:
    """Learn from annotated notes, which are segmented like notes to tag; None with too few notes."""
    if len(corpus) < FEWEST:
        return None
    notes, segment = [], NormalizedSegmenter(segmenter).segment
    for document in corpus:
        cut = segment(document.text)
        starts, ends = np.asarray(cut.tokens.starts), np.asarray(cut.tokens.ends)
        tagged = np.zeros(len(starts), dtype=bool)
        for span in document.spans:
            tagged |= (starts < span.end) & (ends > span.start)
        notes.append(measure(cut, int(tagged.sum()), document.text))
    return NoteLikeness.learn(notes, patients_of(corpus), any_casing=any_casing, judged=judged)
