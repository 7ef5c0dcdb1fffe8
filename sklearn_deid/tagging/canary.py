"""Canary of a saved model: the PHI that the model found in a built-in note when the model was saved.

The digests of a bundle detect changed files. The canary detects other reasons why a loaded model finds different PHI
than the saved model. Examples are other weights with new digests, another layer under an old name, and wrong results of
a library or processor. The canary does not detect forgery by people who can run the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sequences import TokenSequences, TokenVectors
from ..text import segment
from .note_tagger import flat_tags

# Tolerances, because processors, precisions and versions of libraries add numbers in different orders. Each tag with a
# probability of at least SURE must be the same, and at least the share SAME_TAGS of all tags. No probability may differ
# by more than LARGEST_DIFFERENCE, and the mean difference must not exceed MEAN_DIFFERENCE.
SURE, SAME_TAGS, LARGEST_DIFFERENCE, MEAN_DIFFERENCE = 0.8, 0.98, 0.1, 0.02

# An invented note of `make_clinical_notes`. After a change of this note, all saved models would be refused: add a
# second note instead.
_NOTE = """\
Discharge Summary
Pt: Amy Kessford (F)   MR # 419-7796
March 3rd, 2002 - March 6th, 2002

== BRIEF HISTORY ==
Please see the admission note of March 3rd, 2002 by Dr. Chavez for details In brief, 59 year-old lady with weight gain \
and orthopnea. Her mother Michelle called the clnic because she could not lie flat. She reports 5 pillow orthopnea and \
a weight gain of 12 lbs since 2/26.

== PMH ==
high cholesterol, Bell's palsy, resolved. Followed by Dr. Ivesock-Wright at Carter Physicians.

== BRIEF HOSPITAL COURSE ==
Weight on discharge 168 lbs. TTE showed LVEF 36%, modderate MR, LA dilated. Creatinine rose to 1.5 and came back to \
baseline by March 3rd, 2002. Frank discussion of risks; a second reading was offered.

== DISCHARGE DISPOSITION ==
Rehab: Monday, Port Wexside, NY.

== F/U ==
VNA of Clearville to see her 04/13
Heart Failure Clinic, Dr. Black, 4/29 09:15, (985) 555-0117

See note of Mar 6th by Chavez.

______________________
MARK M. WARREN, MD PHD
"""
# A tagger of vectors reads four rows of 16 fixed vectors instead of the note, because the tagger reads no words.
_N_VECTORS = 64


def canary(tagger: Any, width: int | None = None) -> dict[str, Any]:
    """Tags that a tagger predicts for the built-in note.

    Parameters
    ----------
    tagger : estimator
        Fitted tagger.
    width : int, optional
        Width of the token vectors that the tagger reads. None for a tagger that reads words. A tagger of vectors reads
        fixed vectors instead of the note.

    Returns
    -------
    dict
        ``tags``: the tag of each token. ``confidence``: the probability of each tag with four digits, or None for a
        tagger without probabilities.
    """
    tags, confidence = flat_tags(tagger, _words() if width is None else _vectors(width))
    return {"tags": tags, "confidence": None if confidence is None else [round(float(c), 4) for c in confidence]}


def canary_problem(saved: Any, found: dict[str, Any]) -> str | None:
    """Describe the first difference between the results of a loaded and a saved model; None without a difference.

    Parameters
    ----------
    saved, found : dict
        Results of `canary`; the saved result is read from a file.

    Examples
    --------
    >>> at_saving = {"tags": ["O", "B-DATE"], "confidence": [0.99, 0.9]}
    >>> canary_problem(at_saving, {"tags": ["O", "B-DATE"], "confidence": [0.99, 0.92]}) is None
    True
    >>> canary_problem(at_saving, {"tags": ["O", "O"], "confidence": [0.99, 0.92]})
    'The loaded model tags the built-in note in another way than the saved one.'
    """
    if not _is_canary(saved) or len(saved["tags"]) != len(found["tags"]):
        return "The saved tags of the built-in note are damaged."
    same = np.array([a == b for a, b in zip(saved["tags"], found["tags"], strict=True)])
    # A tagger without probabilities is sure of each tag.
    before, after = (
        np.ones(len(same)) if c is None else np.array(c) for c in (saved["confidence"], found["confidence"])
    )
    difference = np.abs(before - after)
    changes_kind = (saved["confidence"] is None) != (found["confidence"] is None)
    if changes_kind or not same[before >= SURE].all() or same.mean() < SAME_TAGS:
        return "The loaded model tags the built-in note in another way than the saved one."
    # Written so that a NaN is refused.
    if not (difference.max(initial=0.0) <= LARGEST_DIFFERENCE and difference.mean() <= MEAN_DIFFERENCE):
        return "The loaded model has other probabilities for the built-in note than the saved one."
    return None


def _is_canary(saved: Any) -> bool:
    if not isinstance(saved, dict) or not isinstance(saved.get("tags"), list) or "confidence" not in saved:
        return False
    numbers = saved["confidence"]
    if numbers is None:
        return True
    are_numbers = isinstance(numbers, list) and all(type(c) in (int, float) and 0 <= c <= 1 for c in numbers)
    return are_numbers and len(numbers) == len(saved["tags"])


def _words() -> TokenSequences:
    rows = segment(_NOTE).rows()
    # One document, for taggers that read a sentence in its context.
    return TokenSequences.from_rows(rows).with_documents(np.zeros(len(rows), dtype=np.int64))


def _vectors(width: int) -> TokenVectors:
    """Fixed vectors of four sentences, computed by a formula that does not change between versions."""
    n = _N_VECTORS // 4
    # shape: (tokens, width)
    values = np.sin(1.0 + np.arange(_N_VECTORS * width, dtype=np.float64) * 0.7).reshape(_N_VECTORS, width)
    rows = [values[i : i + n].astype(np.float32) for i in range(0, _N_VECTORS, n)]
    return TokenVectors.from_rows(rows).with_documents(np.zeros(4, dtype=np.int64))
