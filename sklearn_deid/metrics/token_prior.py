"""Token frequencies: the prior knowledge of an attacker before they see a release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences, check_tags
from ..text import split_tag


def phi_word_prior(X: Any, y: Any, *, punctuation: bool = False, by_category: bool = True) -> dict[str, Any]:
    """Count the occurrences of each PHI token by label.

    The counts represent an attacker with complete knowledge of the token frequencies. The result contains words of the
    notes. Do not share the result.

    Parameters
    ----------
    X : sequence of n sentences
        Words of each sentence.
    y : sequence of n tag sequences
        IOB2 or BIOES tags of each sentence.
    punctuation : bool, default=False
        Whether to count tokens without a letter or digit. Tokens without a letter or digit identify no person, and
        mechanisms leave them unchanged. If these tokens were counted, every mechanism would appear less private.
    by_category : bool, default=True
        Whether to count tokens for each label. False represents an attacker without knowledge of the label.

    Returns
    -------
    dict of str to dict of str to int
        Number of occurrences by label and token. With ``by_category=False`` a dict of str to int.

    Raises
    ------
    SequenceError
        If X and y differ in shape, or X contains vectors.

    Examples
    --------
    >>> phi_word_prior([["Dr", "Alder", "saw", "Alder"]], [["O", "B-DOCTOR", "O", "B-PATIENT"]])
    {'DOCTOR': {'Alder': 1}, 'PATIENT': {'Alder': 1}}
    >>> phi_word_prior([["Dr", "Alder", "saw", "Alder"]], [["O", "B-DOCTOR", "O", "B-PATIENT"]], by_category=False)
    {'Alder': 2}
    """
    X = check_sequences(X)
    tags = check_tags(y, X)
    if not isinstance(X, TokenSequences) and len(X.data):
        raise SequenceError("X must hold words. Got vectors instead.")
    label_of = {tag: split_tag(tag)[1] for tag in set(tags.data)}
    out: dict[str, Counter[str]] = defaultdict(Counter)
    for token, tag in zip(X.data, tags.data, strict=True):
        label = label_of[tag]
        # Punctuation occurs in every note and identifies nobody.
        if label is not None and (punctuation or any(map(str.isalnum, token))):
            out[label][token] += 1
    if by_category:
        return {label: dict(counts) for label, counts in sorted(out.items())}
    return dict(sum(out.values(), Counter()))


def normalised_prior(prior: Any) -> dict[str, tuple[list[str], np.ndarray, float]]:
    """Normalise the weights of a prior to probabilities.

    The result maps each category to its tokens, their probabilities within the category, and the proportion of the
    category in the total weight. A prior without categories has the single category ``"all"``.

    Raises
    ------
    ValueError
        If the prior is not a mapping, or a weight is not a finite number of at least 0, or all weights of a category
        are 0. The message never contains a token.

    Examples
    --------
    >>> tokens, probabilities, share = normalised_prior({"CITY": {"oak": 3, "elm": 1}, "NAME": {"alder": 4}})["CITY"]
    >>> tokens, probabilities.tolist(), share
    (['oak', 'elm'], [0.75, 0.25], 0.5)
    """
    if not isinstance(prior, Mapping) or not prior:
        raise ValueError("The 'prior' parameter must map tokens to weights, or categories to such mappings.")
    nested = [isinstance(value, Mapping) for value in prior.values()]
    if any(nested) and not all(nested):
        raise ValueError("The 'prior' parameter must hold only weights or only mappings. Got both.")
    weights = {name: _weights(group) for name, group in (prior if all(nested) else {"all": prior}).items()}
    # Weights are divided by the largest weight first, so that sums of huge weights stay finite.
    largest = max(values.max() for _, values in weights.values())
    total = sum((values / largest).sum() for _, values in weights.values())
    out = {}
    for name, (tokens, values) in weights.items():
        # Probabilities within the category, and the proportion of the category among all tokens.
        own = values / values.max()
        out[name] = (tokens, own / own.sum(), float((values / largest).sum() / total))
    return out


def _weights(group: Mapping[str, Any]) -> tuple[list[str], np.ndarray]:
    """Tokens of positive weight, and their weights."""
    # The types are checked first: an error message of numpy would contain the value, and the value may be a word of a
    # note.
    numbers = all(isinstance(value, Real) for value in group.values())
    values = np.array(list(group.values()) if numbers else [], dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError("Weights of the 'prior' must be finite numbers, at least 0, and not all 0 in a category.")
    tokens = [token for token, keep in zip(group, (values > 0).tolist(), strict=True) if keep]
    return tokens, values[values > 0]
