"""The provider's tagger as an estimator that is published with the representer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..tagging.network import TaggerModule
from ..tagging.strategies import Dropout
from ..tagging.tagger import DeidTagger

#: Dropout of the tagger that is trained together with the network: the noise of the vectors is a regulariser already.
INPUT_DROPOUT, OUTPUT_DROPOUT = 0.1, 0.5


def public_tagger(module: TaggerModule, classes: np.ndarray, width: int, **parameters: Any) -> DeidTagger:
    """Make a fitted `DeidTagger` of token vectors from a trained network.

    The tagger decodes legal tag sequences only, although the network was trained without this constraint.

    Parameters
    ----------
    module : TaggerModule
        Trained network with a bidirectional LSTM of one layer and a CRF. The tagger has a copy of its weights.
    classes : ndarray of shape (n_classes,)
        Tags of the network; the first is "O".
    width : int
        Width of the token vectors.
    **parameters
        Parameters of `DeidTagger`, such as ``hidden_size`` and ``device``.
    """
    tagger = DeidTagger(embeddings=None, dropout=Dropout(input=INPUT_DROPOUT, output=OUTPUT_DROPOUT), **parameters)
    tagger.classes_, tagger.n_features_in_, tagger._reads_words = classes, width, False
    tagger._vectors = tagger._tag_weights = tagger.augmenter_ = None
    tagger._rng = np.random.default_rng(0)
    with torch.random.fork_rng(devices=[]):
        tagger.initialize()
    tagger.module_.load_state_dict(module.state_dict())
    tagger.module_.eval()
    return tagger
