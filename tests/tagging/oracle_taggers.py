"""Taggers whose probabilities stand in the tokens: "0.25" is PHI with a probability of 0.25."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_deid.sequences import check_sequences, object_rows


class Oracle(BaseEstimator):
    """Reads the probability of B-NAME from the token; learns nothing but that it was fitted."""

    def __init__(self, offset=0.0):
        self.offset = offset

    def fit(self, X, y, *, groups=None):
        self.classes_ = np.array(["O", "B-NAME", "I-NAME"], dtype=object)
        self.n_seen_ = len(X)
        self.groups_ = None if groups is None else set(groups)
        return self

    def predict_proba(self, X):
        rows = []
        for row in check_sequences(X):
            p = np.clip(np.array([float(token) for token in row]) + self.offset, 0.0, 1.0)
            rows.append(np.stack([1 - p, p, np.zeros(len(p))], axis=1))
        return object_rows(rows)

    def predict(self, X):
        return object_rows([["B-NAME" if row[1] >= 0.5 else "O" for row in p] for p in self.predict_proba(X)])


def make_patients(n_patients, rng, n_tokens=20, spread=1.0):
    """One sentence a patient; some tokens are PHI, with probabilities that differ between patients."""
    X, y = [], []
    for _ in range(n_patients):
        gold = rng.random(n_tokens) < 0.4
        ease = spread * rng.normal() + 2.0
        log_odds = np.where(gold, ease, -3.0) + rng.normal(size=n_tokens)
        X.append([f"{p:.12f}" for p in 1 / (1 + np.exp(-log_odds))])
        y.append(["B-NAME" if g else "O" for g in gold])
    return X, y, [f"patient-{i}" for i in range(n_patients)]
