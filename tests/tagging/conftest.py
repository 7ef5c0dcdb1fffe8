"""Small annotated sentences, and settings of taggers that learn them in a second."""

import numpy as np

from sklearn_deid.tagging import SpanSwap

SMALL = {
    "max_epochs": 10,
    "lr": 0.03,
    "hidden_size": 12,
    "batch_size": 60,
    "random_state": 0,
    "device": "cpu",
    "embeddings": None,
    # The few names below are all that these taggers need to know.
    "span_swap": SpanSwap(invented=0),
}

# Learns from half of the sentences of the fixture what the settings above learn from all of them.
QUICK = {**SMALL, "lr": 0.06}

SURNAMES = ["Alder", "Birch", "Cedar", "Damson", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper"]
TOWNS = ["Northwick", "Eastham", "Southby", "Westerley"]


def make_sentences(n, seed=0):
    """n sentences, their IOB2 tags and the patient of each."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        name, town, age = rng.choice(SURNAMES), rng.choice(TOWNS), str(rng.integers(20, 90))
        sentence, tags = [
            (["Mr", ".", name, "was", "seen"], ["O", "O", "B-PATIENT", "O", "O"]),
            (["Lives", "in", town, town], ["O", "O", "B-CITY", "I-CITY"]),
            (["Aged", age, "years", "."], ["O", "B-AGE", "O", "O"]),
            (["No", "pain", "."], ["O", "O", "O"]),
        ][rng.integers(4)]
        X.append([str(token) for token in sentence])
        y.append(tags)
    return X, y, [f"patient-{i // 4}" for i in range(n)]


def assert_rows_equal(a, b):
    assert len(a) == len(b)
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)
