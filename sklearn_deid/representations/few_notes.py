"""Loss of F1 that is expected if few notes must keep a bound, and a warning before the training."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..exceptions import FewNotesWarning

# Points of strict typed F1 that a recipient loses to a tagger of the same word vectors without noise: number of PHI
# tokens that can be replaced, and loss. Measured by ``python -m benchmarks.private_representation --no-attacks`` on 40,
# 100, 500 and 2,000 generated notes with N = 100 and the bounds .54 and .60: without public notes (arm bounded-100,
# seed 0; recipients of 100 and more notes from random weights), and from the shipped weights (arm public-100; 40 notes
# seed 0, otherwise seeds 0 to 2). The recipients of ALONE are older than `mean_limit`; the taggers without noise are
# not. The shipped weights were learned from generated notes, so that recipients of 40 and 100 notes gain (here 0), and
# notes of another style lose more than the second table says: 263 queries of ASQ-PHI 4.0 and 3.0.
ALONE = ((1_500, 29.1), (3_800, 22.0), (19_000, 19.8), (76_000, 2.8))
FROM_PUBLIC = ((1_500, 0.0), (3_900, 0.0), (19_000, 0.2), (76_000, 0.6))
_ASKED, _WORTH_A_WARNING = (0.54, 0.60), 4.0


def expected_loss(n_movable: int, from_public: bool) -> float:
    """Interpolate the measured loss on the logarithm of the number of PHI tokens; constant beyond the measured numbers.

    Parameters
    ----------
    n_movable : int
        Number of PHI tokens of the training notes that can be replaced.
    from_public : bool
        Whether the training starts from public notes.

    Returns
    -------
    float
        Points of strict typed F1.

    Examples
    --------
    >>> expected_loss(1_000_000, True) == FROM_PUBLIC[-1][1]
    True
    """
    tokens, losses = zip(*(FROM_PUBLIC if from_public else ALONE), strict=True)
    return float(np.interp(np.log(max(n_movable, 1)), np.log(tokens), losses))


def warn_of_few_notes(n_movable: int, training: Any, from_public: bool) -> None:
    """Warn before a bounded training if the expected loss of the recipients is more than 4 points.

    Parameters
    ----------
    n_movable : int
        Number of PHI tokens of the training notes that can be replaced.
    training : Bounded
        Training with the requested bounds.
    from_public : bool
        Whether the training starts from public notes.

    Warns
    -----
    FewNotesWarning
        If the expected loss is large, and the bounds are at least as strict as in the measurements.
    """
    loss, tail = expected_loss(n_movable, False), training.quantile_attack_accuracy
    as_strict = training.max_attack_accuracy <= _ASKED[0] and (tail is None or tail <= _ASKED[1])
    if loss <= _WORTH_A_WARNING or not as_strict:
        return
    expected = f"about {loss:.0f} points"
    if from_public:
        expected = f"{expected_loss(n_movable, True):.0f} (notes like the public ones) to {loss:.0f} points"
    warnings.warn(
        f"X has {n_movable:,} PHI tokens that can move, which is few for a bound of {training.max_attack_accuracy}. "
        f"Expect a recipient's strict F1 {expected} below the F1 on vectors without noise (measured on generated "
        "notes). Take more notes, public notes like yours, or a looser bound, such as "
        "training=Bounded(max_attack_accuracy=0.6).",
        FewNotesWarning,
        stacklevel=4,
    )
