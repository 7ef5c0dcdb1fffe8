"""Sentences behind tables of numbers, so that scikit-learn's common checks can be run on estimators of sentences."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_deid import WordVectors
from sklearn_deid.sequences import TokenSequences, TokenVectors, object_rows

N_WORDS = 24
WORDS = WordVectors(
    [f"w{chr(97 + number)}" for number in range(N_WORDS)],
    np.random.default_rng(0).standard_normal((N_WORDS, 4)),
    is_public=True,
)
_INDEX = {word: number for number, word in enumerate(WORDS.words)}


class NearestTag(BaseEstimator):
    """The quickest tagger of vectors or words: the tag with the nearest mean."""

    def fit(self, X, y):
        tags = np.array([tag for row in y for tag in row])
        self.classes_ = np.unique(tags)
        self.means_ = np.stack([self._data(X)[tags == tag].mean(axis=0) for tag in self.classes_])
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        distances = ((self._data(X)[:, None] - self.means_) ** 2).sum(axis=2)
        sure = np.exp(-distances + distances.min(axis=1, keepdims=True))
        sure /= sure.sum(axis=1, keepdims=True)
        return object_rows([sure[a:b] for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True)])

    def predict(self, X):
        return object_rows([[str(self.classes_[i]) for i in row.argmax(axis=1)] for row in self.predict_proba(X)])

    def _data(self, X):
        return X.data if isinstance(X, TokenVectors) else WORDS.vectors_for(X.data)


class RowsAsSentences(ClassifierMixin, BaseEstimator):
    """A tagger as a classifier: a row is a sentence, the class is the tag of its first token.

    The row is the vector of that token; for taggers that read words, each number is a word, and only the first is PHI.
    """

    def __init__(self, tagger=None, words=False):
        self.tagger, self.words = tagger, words

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"There must be two classes or more; got {len(self.classes_)} class.")
        rest = ["O"] * (X.shape[1] - 1 if self.words else 0)
        self.tagger_ = clone(self.tagger).fit(self._sentences(X), [[f"B-C{code}", *rest] for code in codes])
        return self

    def predict(self, X):
        check_is_fitted(self)
        tags = self.tagger_.predict(self._sentences(validate_data(self, X, reset=False)))
        return self.classes_[[0 if row[0] == "O" else int(row[0][3:]) for row in tags]]

    def _sentences(self, X):
        return _words(X) if self.words else TokenVectors.from_rows([row[None].astype(np.float32) for row in X])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # trained for a moment
        return tags


class RowsAsWords(TransformerMixin, BaseEstimator):
    """A transformer of sentences as one of tables: a number is a word, every word is PHI, and numbers come out."""

    def __init__(self, transformer=None):
        self.transformer = transformer

    def fit(self, X, y):
        self.transformer_ = clone(self.transformer)
        self.transformer_.fit(*self._sentences(X, y))
        return self

    def fit_transform(self, X, y):
        self.transformer_ = clone(self.transformer)
        return _numbers(self.transformer_.fit_transform(*self._sentences(X, y)))

    def transform(self, X):
        check_is_fitted(self)
        return _numbers(self.transformer_.transform(_words(validate_data(self, X, reset=False))))

    def _sentences(self, X, y):
        X, y = validate_data(self, X, y, multi_output=True)
        return _words(X), [["B-NAME"] * X.shape[1]] * len(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _words(X):
    bins = np.clip((np.asarray(X, dtype=float) * 2 + N_WORDS / 2).astype(int), 0, N_WORDS - 1)
    return TokenSequences.from_rows([[WORDS.words[i] for i in row] for row in bins])


def _numbers(made):
    rows = list(made)
    if isinstance(made, TokenVectors):
        return np.stack([row.ravel() for row in rows])
    return np.array([[float(_INDEX[word]) for word in row] for row in rows])
