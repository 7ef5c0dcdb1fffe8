"""How often each token occurs: what an attacker knows before he sees a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences, check_tags
from ..text import split_tag


def phi_word_prior(X: Any, y: Any, *, punctuation: bool = False, by_category: bool = True) -> dict[str, Any]:
    """How often each PHI token occurs, by label: what an attacker who knows the frequencies knows at most.

    The result holds words of the notes and must not be shared.

    Parameters
    ----------
    X : sequence of n sentences
    y : sequence of n tag sequences
        IOB2 or BIOES.
    punctuation : bool, default=False
        Whether tokens without letter and digit count. They identify nobody, stay as they are, and would make every
        mechanism look worse than it is.
    by_category : bool, default=True
        Whether tokens are counted for each label. False makes an attacker who does not know the label.

    Returns
    -------
    dict of str to dict of str to int
        Label, token, number of occurrences; without categories dict of str to int.

    Raises
    ------
    SequenceError
        If y does not fit X, or X holds vectors.

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
        raise SequenceError("X must hold words; it holds vectors.")
    label_of = {tag: split_tag(tag)[1] for tag in set(tags.data)}
    out: dict[str, dict[str, int]] = {}
    for token, tag in zip(X.data, tags.data, strict=True):
        label = label_of[tag]
        if label is not None and (punctuation or any(map(str.isalnum, token))):
            counts = out.setdefault(label, {})
            counts[token] = counts.get(token, 0) + 1
    if by_category:
        return dict(sorted(out.items()))
    total: Counter[str] = Counter()
    for counts in out.values():
        total.update(counts)
    return dict(total)


def normalised_prior(prior: Any) -> dict[str, tuple[list[str], np.ndarray, float]]:
    """Tokens, probabilities and share of each category; one category "all" for a prior without categories.

    Raises
    ------
    ValueError
        If the weights are none. Tokens are never named.

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
        raise ValueError("The 'prior' parameter mixes weights and mappings.")
    weights = {name: _weights(group) for name, group in (prior if all(nested) else {"all": prior}).items()}
    # Relative to the largest, so that sums of huge weights are finite.
    largest = max(values.max() for _, values in weights.values())
    total = sum((values / largest).sum() for _, values in weights.values())
    out = {}
    for name, (tokens, values) in weights.items():
        own = values / values.max()
        out[name] = (tokens, own / own.sum(), float((values / largest).sum() / total))
    return out


def _weights(group: Mapping[str, Any]) -> tuple[list[str], np.ndarray]:
    """Tokens of positive weight, and their weights."""
    # The type is looked at first: an error of numpy would show a value, which may be a word.
    numbers = all(isinstance(value, Real) for value in group.values())
    values = np.array(list(group.values()) if numbers else [], dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError("Weights of the 'prior' must be finite numbers, at least 0, and not all 0 in a category.")
    tokens = [token for token, keep in zip(group, (values > 0).tolist(), strict=True) if keep]
    return tokens, values[values > 0]
