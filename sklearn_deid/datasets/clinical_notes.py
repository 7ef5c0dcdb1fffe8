"""Generated clinical notes with gold spans: invented from the first letter to the last."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

import numpy as np

from ..text import Corpus, Document
from .notes import write_notes


def make_clinical_notes(
    n_notes: int = 200, n_patients: int | None = None, random_state: int | np.random.Generator | None = None
) -> Corpus:
    """Generate English clinical notes with gold spans in the i2b2 2014 scheme.

    For tutorials, tests and benchmarks that need notes and may not have real ones. Admission notes, discharge
    summaries, nursing notes, radiology reports, letters and messages are written from templates about invented
    patients. Words that are PHI in one place are something else in another (Parkinson, Hope, May, Reading, OR, 12/3),
    names are assembled from syllables so that other patients have other names, and some PHI touches other text
    (``MRN88213pt``): a list of words that were PHI in training stays below a token F1 of 0.75 on the notes of other
    patients.

    Not for: claims about real notes. The templates repeat, so that a tagger that sees enough of them learns them;
    scores here are higher than on the notes of a hospital.

    Parameters
    ----------
    n_notes : int, default=200
        Number of notes, at least 1.
    n_patients : int, default=None
        Number of patients, from 1 to ``n_notes``; None means ``max(1, n_notes // 3)``. The notes of a patient stand
        together and agree in names, birth date, record number, address, doctors and ages.
    random_state : int, numpy.random.Generator or None, default=None
        An int gives the same notes on every machine; a generator is asked for one number; None takes new notes each
        time. The first notes of a larger corpus are not those of a smaller one.

    Returns
    -------
    Corpus
        Document ids ``"note-00001"`` and so on, patient ids ``"patient-0001"`` and so on; ``meta`` holds the
        ``"kind"`` of the note and the clinical ``"case"``.

    Raises
    ------
    ValueError
        If a number is out of range.

    See Also
    --------
    iter_clinical_notes : The same notes one by one, for corpora that shall not be held in memory.

    Notes
    -----
    Labels follow the annotation guidelines of the i2b2 2014 challenge (Stubbs and Uzuner, 2015): titles ("Dr.") and
    credentials ("MD") lie outside of the span, relatives are PATIENT, every age is AGE, weekdays, months, seasons,
    holidays and years are DATE, times of day are no PHI. Identifiers come from ranges that nobody holds: social
    security numbers of areas that are not issued, telephone numbers 555-01xx, domains below example.org, example.com
    and example.net, IP addresses of the documentation blocks.

    Examples
    --------
    >>> from sklearn_deid.datasets import make_clinical_notes
    >>> corpus = make_clinical_notes(n_notes=6, n_patients=2, random_state=0)
    >>> len(corpus), sorted(set(corpus.groups))
    (6, ['patient-0001', 'patient-0002'])
    >>> corpus[0].doc_id
    'note-00001'
    """
    return Corpus(list(iter_clinical_notes(n_notes, n_patients, random_state)))


def iter_clinical_notes(
    n_notes: int = 200, n_patients: int | None = None, random_state: int | np.random.Generator | None = None
) -> Iterator[Document]:
    """Generate the notes of `make_clinical_notes` one by one.

    Memory does not grow with ``n_notes``, but for one number a patient. Parameters are checked at the call, not at
    the first note.

    Parameters
    ----------
    n_notes, n_patients, random_state
        As in `make_clinical_notes`; equal parameters give equal notes.

    Returns
    -------
    iterator of Document

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from itertools import islice
    >>> notes = iter_clinical_notes(10_000, random_state=0)
    >>> [note.doc_id for note in islice(notes, 2)]
    ['note-00001', 'note-00002']
    """
    n_notes = _check_count("n_notes", n_notes, n_notes)
    n_patients = max(1, n_notes // 3) if n_patients is None else _check_count("n_patients", n_patients, n_notes)
    return write_notes(n_notes, n_patients, _entropy(random_state))


def _check_count(name: str, value: int, highest: int) -> int:
    allowed = "an int of at least 1" if name == "n_notes" else f"an int from 1 to n_notes={highest}, or None"
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= value <= highest:
        raise ValueError(f"The '{name}' parameter of make_clinical_notes must be {allowed}. Got {value!r} instead.")
    return int(value)


def _entropy(random_state: int | np.random.Generator | None) -> int:
    if random_state is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        "The 'random_state' parameter of make_clinical_notes must be an int of at least 0, a numpy Generator or None. "
        f"Got {random_state!r} instead."
    )
