"""Small learners of which everything can be computed by hand."""

import numpy as np

MODEL = "0123456789abcdef" * 2


class Quadratic:
    """One step per epoch towards a goal: ``vector += rate * (goal - vector)``."""

    def __init__(self, goal, rate=0.5):
        self.goal = np.asarray(goal, dtype=np.float32)
        self.rate = np.float32(rate)
        self.vector = np.zeros_like(self.goal)
        self.calls = 0

    def get_flat(self):
        return self.vector.copy()

    def set_flat(self, vector):
        self.vector = np.array(vector, dtype=np.float32)

    def train_epoch(self):
        self.calls += 1
        self.vector = self.vector + self.rate * (self.goal - self.vector)
        return {"loss": float(np.square(self.goal - self.vector).sum())}


class LogisticSGD:
    """Logistic regression, one example an update, in an order of its own."""

    def __init__(self, X, y, rate=0.1, seed=0):
        self.X, self.y, self.rate = X.astype(np.float32), y.astype(np.float32), np.float32(rate)
        self.rng = np.random.default_rng(seed)
        self.vector = np.zeros(X.shape[1], dtype=np.float32)

    def get_flat(self):
        return self.vector.copy()

    def set_flat(self, vector):
        self.vector = np.array(vector, dtype=np.float32)

    def train_epoch(self):
        for i in self.rng.permutation(len(self.y)):
            error = self.y[i] - 1 / (1 + np.exp(-self.X[i] @ self.vector))
            self.vector = self.vector + self.rate * np.float32(error) * self.X[i]


class Scripted:
    """Adds the next of some given updates in every epoch; an exception in the list is raised."""

    def __init__(self, size, updates):
        self.vector = np.zeros(size, dtype=np.float32)
        self.updates = list(updates)

    def get_flat(self):
        return self.vector.copy()

    def set_flat(self, vector):
        self.vector = np.array(vector, dtype=np.float32)

    def train_epoch(self):
        update = self.updates.pop(0)
        if isinstance(update, BaseException):
            self.vector = self.vector + 99
            raise update
        self.vector = self.vector + np.asarray(update, dtype=np.float32)


def blobs(n, d, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, d)) + (2 * y - 1)[:, None] * np.linspace(1, 0, d), y
