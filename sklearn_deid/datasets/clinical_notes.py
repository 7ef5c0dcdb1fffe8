"""Generated clinical notes with gold spans. All text is invented."""

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

    Use generated notes for tutorials, tests and benchmarks that cannot use real notes. Templates produce admission
    notes, discharge summaries, nursing notes, radiology reports, letters and messages about invented patients.

    Three properties make PHI in the notes hard to find. First, the same word can be PHI in one sentence and an ordinary
    word in the next sentence (Parkinson, Hope, May, Reading, OR, 12/3). Second, names are assembled from syllables, so
    that the names of other patients differ. Third, some PHI touches other text (``MRN88213pt``). A tagger that only
    looks words up in a list of the training PHI therefore has a token F1 below 0.75 on the notes of other patients.

    Do not use generated notes for claims about real notes. The templates repeat, and a tagger learns the templates from
    enough notes. Scores on generated notes are therefore higher than on the notes of a hospital.

    Parameters
    ----------
    n_notes : int, default=200
        Number of notes, at least 1.
    n_patients : int, default=None
        Number of patients, from 1 to ``n_notes``. With None, the number is ``max(1, n_notes // 3)``. The notes of a
        patient are consecutive and agree in names, birth date, record number, address, doctors and ages.
    random_state : int, numpy.random.Generator or None, default=None
        Random seed. With an int, the notes are equal on every machine. With a generator, the seed is drawn as one
        number from the generator. With None, each call returns new notes. The first notes of a larger corpus differ
        from the notes of a smaller corpus.

    Returns
    -------
    Corpus
        Notes with the document ids ``"note-00001"`` and so on, and the patient ids ``"patient-0001"`` and so on. The
        ``meta`` of a note holds its ``"kind"`` and the clinical ``"case"``.

    Raises
    ------
    ValueError
        If a number is out of range.

    See Also
    --------
    iter_clinical_notes : Generates the same notes one by one, for corpora that are too large for memory.

    Notes
    -----
    Labels follow the annotation guidelines of the i2b2 2014 challenge (Stubbs and Uzuner, 2015). Titles ("Dr.") and
    credentials ("MD") are outside of the span. Relatives are PATIENT. Every age is AGE. Weekdays, months, seasons,
    holidays and years are DATE. Times of day are not PHI.

    Identifiers come from ranges that are assigned to nobody. Social security numbers have area numbers that are not
    issued, and telephone numbers are 555-01xx. Domains are example.org, example.com, example.net and their subdomains,
    and IP addresses come from the blocks for documentation.

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

    The generator holds one number for each patient in memory, and no notes. Parameters are checked when you call the
    function, not when the first note is generated.

    Parameters
    ----------
    n_notes, n_patients, random_state
        Parameters of `make_clinical_notes`. Equal parameters give equal notes.

    Returns
    -------
    iterator of Document
        Notes in the order of `make_clinical_notes`.

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
    # bool is a subclass of int, so that True needs its own test.
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= value <= highest:
        raise ValueError(f"The '{name}' parameter of make_clinical_notes must be {allowed}. Got {value!r} instead.")
    return int(value)


def _entropy(random_state: int | np.random.Generator | None) -> int:
    # All kinds of seeds become one integer, so that the notes depend on a single number.
    if random_state is None:
        # Without a seed, the entropy comes from the operating system.
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
