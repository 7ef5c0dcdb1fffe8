"""`NoteAugmenter`: copies of training sentences in other casings, with typing errors and errors of scanners."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, check_constraints
from .._randomness import own_generator
from ..sequences import TokenSequences
from ..sequences.sentence_transformer import SentenceTransformer

_CASINGS = (str.lower, str.upper, str.title)
_LOWER = 0
# Printed characters that scanners confuse most: one of the alternatives replaces the character.
_CONFUSIONS = {
    "0": "OoD", "O": "0Q", "o": "0ce", "Q": "O", "D": "0", "1": "lI", "l": "1Ii", "I": "l1", "i": "lj1", "j": "i",
    "5": "S", "S": "5", "s": "5", "8": "B", "B": "8", "2": "Z", "Z": "2", "z": "2", "6": "Gb", "G": "6C", "b": "6h",
    "9": "gq", "g": "9q", "q": "g9", "c": "eo", "e": "c", "a": "o", "h": "b", "n": "h", "u": "v", "v": "u", "t": "f",
    "f": "t", "E": "F", "F": "E", "P": "F", "R": "K", "M": "N", "H": "N", "U": "V", "V": "U", "Y": "V", "4": "A",
    "7": "1", "3": "8",
}  # fmt: skip
# Letters that scanners read as two letters.
_CONFUSED_PAIRS = {"m": "rn", "w": "vv", "d": "cl", "n": "ri", "h": "li"}
_ERRORS = ("typing_errors", "ocr_errors", "lost_punctuation", "line_breaks")
_SHORTEST = 3  # letters of a word that may have an error


class NoteAugmenter(SentenceTransformer):
    """Show a tagger copies of its training notes in other casings and layouts, and with writing errors.

    Use the object as ``augmenter`` of a `DeidTagger` if the notes to redact are in capitals or lower case, typed in
    haste, or scanned, and the training notes are not. The tagger reads all unchanged training sentences and, in the
    first 80 % of the epochs, altered copies of some sentences. Each epoch draws new copies. Sentences to tag are never
    changed.

    Parameters
    ----------
    copies : float in [0, 1], default=0.5
        Proportion of documents that a `DeidTagger` copies in an epoch. If X has no documents, proportion of sentences.
        A training takes longer by the proportion ``0.8 * copies``, unless ``max_epochs="auto"`` sets the length of the
        training.
    lower_case, capitals, title_case : float in [0, 1], default=0.7, 0.08, 0.05
        Probability that a copied sentence is written in lower case, in capitals, or with a capital at the start of each
        word. The sum of the three numbers is at most 1. If X holds the documents of its sentences, all copied sentences
        of a document have the same casing.
    typing_errors : float in [0, 1], default=0.02
        Probability that a letter is lost, doubled or swapped in a word of at least three letters.
    ocr_errors : float in [0, 1], default=0.15
        Probability that one or two characters of a word are replaced by characters that scanners confuse, such as 0 and
        O.
    lost_punctuation : float in [0, 1], default=0.15
        Probability that a copied sentence of a `DeidTagger` has no punctuation of the kinds ``. , ; : - / ( )``.
        `sample` ignores the parameter, because the method keeps the number of tokens.
    line_breaks : float in [0, 1], default=0.3
        Probability that the lines of a copied document end at other places, as in notes with wrapped lines. Some
        sentences are then cut, mostly inside spans, and some sentences are joined. `sample` ignores the parameter. A
        tagger with ``context="sentence"`` also ignores the parameter.
    random_state : int, RandomState or None, default=None
        Random seed. A `DeidTagger` sets the seed of its augmenter.

    Attributes
    ----------
    fitted_ : bool
        True after `fit`.

    See Also
    --------
    NeighborPseudonymizer : Augmenter that replaces words by neighbours.

    Examples
    --------
    >>> from sklearn_deid.tagging import NoteAugmenter
    >>> augmenter = NoteAugmenter(lower_case=0, capitals=1, title_case=0, typing_errors=0, ocr_errors=0)
    >>> augmenter.fit([["Mr", "Alder"]]).sample([["Mr", "Alder"]]).tolist()
    [['MR', 'ALDER']]
    """

    _needs_tags = False
    _parameter_constraints: dict[str, list] = {
        **dict.fromkeys(
            ("copies", "lower_case", "capitals", "title_case", *_ERRORS),
            [Interval(Real, 0, 1, closed="both")],
        ),
        "random_state": ["random_state", Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        copies: float = 0.5,
        lower_case: float = 0.7,
        capitals: float = 0.08,
        title_case: float = 0.05,
        typing_errors: float = 0.02,
        ocr_errors: float = 0.15,
        lost_punctuation: float = 0.15,
        line_breaks: float = 0.3,
        random_state: Any = None,
    ) -> None:
        self.copies = copies
        self.lower_case, self.capitals, self.title_case = lower_case, capitals, title_case
        self.typing_errors, self.ocr_errors = typing_errors, ocr_errors
        self.lost_punctuation, self.line_breaks = lost_punctuation, line_breaks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> NoteAugmenter:
        """Check the parameters; nothing is learned from the sentences.

        Raises
        ------
        ValueError
            If the shares of the casings add up to more than 1.
        """
        check_constraints(self)
        if sum(self._shares()) > 1:
            raise ValueError(
                "The 'lower_case', 'capitals' and 'title_case' parameters of NoteAugmenter must add up to at most 1. "
                f"Got {sum(self._shares()):g} instead."
            )
        self.fitted_ = True
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Return the sentences unchanged, so that word vectors are trained on unchanged notes."""
        return self.fit(X, y, groups).transform(X)

    def transform(self, X: Any) -> TokenSequences:
        """Return the sentences unchanged. Only training sentences are augmented, by `sample`."""
        check_is_fitted(self)
        return self._words(X)

    def sample(self, X: Any, y: Any = None, groups: Any = None) -> TokenSequences:
        """Draw an augmented copy of sentences.

        Parameters
        ----------
        X : sequence of n sentences
            Sentences as lists of tokens.
        y, groups : None
            Ignored.

        Returns
        -------
        TokenSequences
            Altered sentences, each with as many tokens as in X.

        Raises
        ------
        SequenceError
            If X contains vectors.
        """
        check_is_fitted(self)
        return self.draw(self._words(X))[0]

    def draw(self, tokens: TokenSequences) -> tuple[TokenSequences, np.ndarray]:
        """Return an augmented copy and, in an array of shape (n_sentences,), whether each sentence is in lower case."""
        rng = own_generator(self.random_state)
        changed = tokens.data.copy()
        borders = np.cumsum(self._shares())
        # shape: (n_sentences,): the sentences of a document are written alike, as in a note in capitals
        alike = np.arange(len(tokens)) if tokens.documents is None else tokens.documents
        _, unit = np.unique(alike, return_inverse=True)
        draws = np.searchsorted(borders, rng.random(len(tokens)), side="right")[unit]
        for row, drawn in enumerate(draws.tolist()):
            if drawn < len(_CASINGS):
                part = slice(int(tokens.offsets[row]), int(tokens.offsets[row + 1]))
                changed[part] = [_CASINGS[drawn](token) for token in changed[part]]
        for share, change in ((self.typing_errors, _typing_error), (self.ocr_errors, _scanning_error)):
            for i in np.flatnonzero(rng.random(len(changed)) < share).tolist():
                changed[i] = change(changed[i], rng)
        return TokenSequences(changed, tokens.offsets).with_documents(tokens.documents), draws == _LOWER

    def _shares(self) -> tuple[float, float, float]:
        return self.lower_case, self.capitals, self.title_case


# Batches of copies in an epoch: with 200 notes of MEDDOCAN, 15 were as good as 30, and an epoch is shorter. At most a
# third of the documents are copied, because with half of them an epoch took too long.
_COPIED_BATCHES, _FEWEST_COPIES, _MOST_COPIES = 15, 0.1, 1 / 3
# Number of these batches without punctuation: with 15 % of few batches, a tagger learned too little about such notes.
_WITHOUT_PUNCTUATION, _LEAST_LOST, _MOST_LOST = 4.5, 0.15, 0.3


def default_augmenter(n_tokens: int, batch_size: int) -> NoteAugmenter:
    """Return the augmenter of ``augmenter="auto"``: with more notes, the share of copies is smaller, to save time.

    With fewer copies, a larger share of the copies has no punctuation.

    Examples
    --------
    >>> some = [default_augmenter(n, 900) for n in (20_000, 67_500, 135_000, 270_000)]
    >>> [(round(augmenter.copies, 2), round(augmenter.lost_punctuation, 2)) for augmenter in some]
    [(0.33, 0.3), (0.2, 0.3), (0.1, 0.3), (0.1, 0.15)]
    """
    share = min(max(_COPIED_BATCHES * batch_size / n_tokens, _FEWEST_COPIES), _MOST_COPIES)
    lost = round(_WITHOUT_PUNCTUATION * batch_size / (share * n_tokens), 2)
    return NoteAugmenter(copies=share, lost_punctuation=min(max(lost, _LEAST_LOST), _MOST_LOST))


def _typing_error(word: str, rng: np.random.Generator) -> str:
    """Return a word in which a letter after the first letter is lost, doubled or swapped."""
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    i = int(rng.integers(1, len(word)))
    kind = int(rng.integers(3))
    if kind == 2:
        return word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]
    return word[:i] + word[i + 1 :] if kind else word[:i] + word[i] + word[i:]


def _scanning_error(word: str, rng: np.random.Generator) -> str:
    """Return a word with one or two confused characters, or the unchanged word if scanners confuse none of its
    characters."""
    places = [i for i, c in enumerate(word) if c in _CONFUSIONS or c in _CONFUSED_PAIRS]
    for _ in range(int(rng.integers(1, 3)) if places else 0):
        i = places[int(rng.integers(len(places)))]
        single, pair = _CONFUSIONS.get(word[i], ""), _CONFUSED_PAIRS.get(word[i])
        if pair and (not single or rng.random() < 0.5):
            return word[:i] + pair + word[i + 1 :]
        word = word[:i] + (single[int(rng.integers(len(single)))] if single else word[i]) + word[i + 1 :]
    return word
