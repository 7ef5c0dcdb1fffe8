"""Ensembles of tiny taggers, and what tests ask of them."""

import math

import numpy as np

from sklearn_deid import DeidTagger, DSSGDEnsemble
from sklearn_deid.tagging import SpanSwap

from ..tagging.conftest import make_sentences

TINY = {
    "hidden_size": 8,
    "batch_size": 40,
    "lr": 0.01,
    "embeddings": None,
    "characters": "cnn",
    "device": "cpu",
    # To invent spans takes a worker longer than its epochs here.
    "span_swap": SpanSwap(invented=0),
}
INVENTING = SpanSwap(invented=20)
FEW = {"n_workers": 2, "n_epochs": 2, "random_state": 0}
ALL = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0, "clip": math.inf}


def ensemble_of(lr=0.01, span_swap=TINY["span_swap"], **parameters):
    """Selective SGD with the steps of the papers, unless the test asks for something else."""
    return DSSGDEnsemble(
        DeidTagger(**{**TINY, "lr": lr, "span_swap": span_swap}),
        **{"strategy": "dssgd", "server_step": 1.0, **FEW, **parameters},
    )


def both_prefixes(n=24):
    """Sentences in which each label begins and goes on, so that label set and tag set give the same classes."""
    X, y, groups = make_sentences(n)
    X = [[*row, "Elm", "Fir", "Northwick", "Eastham", "7", "8"] for row in X]
    y = [[*row, "B-PATIENT", "I-PATIENT", "B-CITY", "I-CITY", "B-AGE", "I-AGE"] for row in y]
    return X, y, groups


def weights(tagger):
    return np.concatenate([p.detach().numpy().ravel() for p in tagger.module_.parameters()])


def parts_of(data, n=2):
    X, y, groups = data
    cut = len(X) // n
    return [tuple(column[i * cut : (i + 1) * cut] for column in (X, y, groups)) for i in range(n)]
