"""Checks of weights and classes. Without the checks, a broken model would find no PHI and raise no error.

With a single NaN weight, all scores of tags are NaN, and every tag is "O".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from ..exceptions import BundleError

# Trained weights are below 100. Far larger weights overflow in a layer, and the scores become NaN.
LARGEST_WEIGHT = 1e6
MOST_CLASSES = 1000
_TAG = re.compile(r"[BIES]-(?P<label>\S(?:.*\S)?)")
_MARKUP = re.compile("[<>&\"'`]")


def weight_problem(weights: Mapping[str, np.ndarray]) -> str | None:
    """Describe the first fault of weights in a sentence; None without a fault.

    Parameters
    ----------
    weights : mapping of str to ndarray
        Arrays by name. Integer arrays, such as positions, are not checked.

    Returns
    -------
    str or None
        Sentence with the name of the array. Faults are a number that is not finite or larger than 1e6, and a table of
        weights (two or more dimensions) with zeros only.

    Examples
    --------
    >>> weight_problem({"crf.transitions": np.array([[0.1, np.nan]])})
    "The weights 'crf.transitions' hold a number that is not finite."
    >>> weight_problem({"crf.transitions": np.array([[0.1, -0.2]])}) is None
    True
    """
    for name, array in weights.items():
        if array.dtype.kind != "f" or not array.size:
            continue
        # The extremes show NaN and infinity too, and need no copy of the array.
        low, high = float(array.min()), float(array.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            return f"The weights {name!r} hold a number that is not finite."
        if max(-low, high) > LARGEST_WEIGHT:
            return f"The weights {name!r} hold a number above {LARGEST_WEIGHT:.0e}."
        if array.ndim > 1 and low == high == 0.0:
            return f"The weights {name!r} are all zero."
    return None


def class_problem(classes: Iterable[object]) -> str | None:
    """Describe the first fault of the tags of a tagger in a sentence; None without a fault.

    Parameters
    ----------
    classes : iterable of str
        All tags of a tagger.

    Returns
    -------
    str or None
        Sentence that describes the fault without the text of a tag. Faults are: no tag of PHI, more than 1,000 tags, a
        duplicate tag, a tag with a wrong form (neither "O" nor like "B-DATE"), and a label with control characters or
        markup.

    Examples
    --------
    >>> class_problem(["O"])
    'No class is a tag of PHI, so that the tagger finds nothing.'
    >>> class_problem(["O", "B-DATE", "I-DATE"]) is None
    True
    """
    tags = list(classes)
    if len(tags) > MOST_CLASSES:
        return f"There are more than {MOST_CLASSES} classes."
    if len(set(map(str, tags))) != len(tags):
        return "A class is there twice."
    named = [_TAG.fullmatch(tag) if isinstance(tag, str) else None for tag in tags if tag != "O"]
    if not all(named):
        return "A class is neither 'O' nor a tag such as 'B-DATE'."
    if not named:
        return "No class is a tag of PHI, so that the tagger finds nothing."
    labels = [found["label"] for found in named if found is not None]
    if any(not label.isprintable() or _MARKUP.search(label) for label in labels):
        return "A label holds control characters or markup, which could act in a terminal or a web page."
    return None


def misfit(kind: str, error: Exception) -> BundleError:
    """Error for a saved state whose entries contradict each other."""
    if isinstance(error, BundleError):
        return error
    # Messages of torch continue with a list of C++ functions.
    return BundleError(f"The saved {kind} does not fit together: {str(error).partition(chr(10))[0]}")
