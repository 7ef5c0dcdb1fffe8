"""Sentences of workers: split by patient, common labels, and common inputs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from ..embeddings import SubwordTable, resolve_embeddings
from ..exceptions import SequenceError
from ..sequences import TokenSequences, TokenVectors
from ..tagging.listed_vectors import ListedVectors, locale_of
from ..tagging.shipped_models import STARTERS
from ..tagging.tagger import DeidTagger
from ..text import split_tag

# Rows and width of the table of random n-gram vectors, which each site makes anew in a moment.
_BUCKET, _DIM = 32_768, 50


class WorkerData(NamedTuple):
    """Checked sentences of one worker.

    Parameters
    ----------
    X : TokenSequences or TokenVectors
        Sentences.
    tags : TokenSequences
        Tags in the tag scheme of the tagger.
    groups : ndarray of shape (n,) or None
        Patient of each sentence.
    """

    X: Any
    tags: TokenSequences
    groups: np.ndarray | None

    def rows(self, rows: np.ndarray) -> WorkerData:
        """Select sentences by their row numbers."""
        return WorkerData(self.X[rows], self.tags[rows], None if self.groups is None else self.groups[rows])


def checked_part(tagger: DeidTagger, X: Any, y: Any, groups: Any, number: int | None = None) -> WorkerData:
    """Check the sentences and tags of worker ``number``, or of all workers together if ``number`` is None.

    Raises
    ------
    SequenceError
        If X and y do not match or contain no token. The message contains the number of the worker.
    """
    try:
        return WorkerData(*tagger._checked(X, y, groups))
    except SequenceError as error:
        if number is None:
            raise
        raise SequenceError(f"Worker {number}: {error.message}") from None


def checked_parts(tagger: DeidTagger, parts: Sequence[tuple]) -> list[WorkerData]:
    """Check data that are already split over the workers, a pair (X, y) or a triple (X, y, groups) for each worker."""
    parts = list(parts)
    if not parts or not all(isinstance(part, (tuple, list)) and len(part) in (2, 3) for part in parts):
        raise SequenceError("At least one worker is needed, and each needs a pair (X, y) or a triple (X, y, groups).")
    return [
        checked_part(tagger, part[0], part[1], part[2] if len(part) == 3 else None, number)
        for number, part in enumerate(parts)
    ]


def check_alike(parts: Sequence[WorkerData], model: DeidTagger | None = None) -> None:
    """Check that all workers have tokens, or that all workers have vectors of one width.

    Parameters
    ----------
    parts : sequence of WorkerData
        Data of the workers.
    model : DeidTagger, optional
        Fitted tagger. The inputs of the model must also agree with the inputs of the workers.

    Raises
    ------
    SequenceError
        If the inputs differ. The message contains the number of the worker.
    """
    # Width 0 means tokens.
    widths = [part.X.d if isinstance(part.X, TokenVectors) else 0 for part in parts]
    wanted = widths[0] if model is None else getattr(model, "n_features_in_", 0)
    for number, width in enumerate(widths):
        if width != wanted:
            kinds = [f"vectors of width {n}" if n else "tokens" for n in (wanted, width)]
            agreed = "worker 0 has" if model is None else "the network reads"
            raise SequenceError(
                f"All workers need the same inputs: {agreed} {kinds[0]}, but worker {number} has {kinds[1]}."
            )


def agreed_labels(parts: Sequence[WorkerData], labels: Any = None) -> list[str]:
    """Return the sorted label set of all workers: ``labels``, or the union of the labels in the data.

    Raises
    ------
    SequenceError
        If the data hold labels that are not among ``labels``.
    """
    # O has the label None, which is no label.
    found = {split_tag(tag)[1] for part in parts for tag in set(part.tags.data)} - {None}
    known = {str(label) for label in (found if labels is None else labels)}
    unknown = found - known
    if unknown:
        raise SequenceError(
            f"y holds {len(unknown)} labels that the workers have not agreed on, such as {min(map(str, unknown))!r}. "
            "Name all labels in the 'labels' parameter before the first training."
        )
    return sorted(known)


def split_patients(
    groups: np.ndarray | None,
    n_rows: int,
    n_workers: int,
    rng: np.random.Generator,
    known: dict[Hashable, int] | None = None,
) -> list[np.ndarray]:
    """Split the rows over the workers. A patient stays with one worker, and workers have similar numbers of sentences.

    Patients are assigned in descending order of their numbers of sentences, in random order if the numbers are equal.
    The worker with the fewest sentences so far receives the next patient.

    Parameters
    ----------
    groups : ndarray of shape (n_rows,) or None
        Patient of each sentence. None counts each sentence as a patient.
    n_rows, n_workers : int
        Numbers of sentences and of workers.
    rng : Generator
        Generator of the random order.
    known : dict of patient to worker, optional
        Workers of known patients. The function adds the new patients.

    Raises
    ------
    SequenceError
        If there are fewer patients than workers.
    """
    patients, of_row, sizes = np.unique(
        np.arange(n_rows) if groups is None else groups, return_inverse=True, return_counts=True
    )
    known = {} if known is None or groups is None else known
    # load: shape (n_workers,), sentences of each worker; owner: shape (n_patients,), -1 for a patient without worker
    load = np.zeros(n_workers, dtype=np.int64)
    owner = np.full(len(patients), -1)
    names = patients.tolist()
    for place, patient in enumerate(names):
        if patient in known:
            owner[place] = known[patient]
            load[owner[place]] += sizes[place]
    # Patients with many sentences first: patients with few sentences at the end even out the loads. A stable sort after
    # the permutation breaks ties at random.
    order = rng.permutation(len(patients))
    for place in order[np.argsort(-sizes[order], kind="stable")]:
        if owner[place] < 0:
            owner[place] = int(load.argmin())
            load[owner[place]] += sizes[place]
            known[names[place]] = int(owner[place])
    if not load.all():
        raise SequenceError(
            f"{len(patients)} patients are too few for {n_workers} workers: {int((load == 0).sum())} workers "
            "have no data. Lower 'n_workers' or add patients."
        )
    return [np.flatnonzero(owner[of_row] == worker) for worker in range(n_workers)]


def divided(
    everything: WorkerData, n_workers: int, known: dict[Hashable, int] | None, rng: np.random.Generator
) -> list[WorkerData]:
    """Split the data over the workers of a `DSSGDEnsemble`.

    Known patients keep their worker. New patients are added to ``known``.
    """
    if known is None:
        raise ValueError(
            "The workers of the patients are unknown: the training began with fit_workers, or the ensemble was "
            "loaded from a file, which holds no patient ids. Use partial_fit_workers."
        )
    if everything.groups is None:
        warn(
            "Without 'groups' each sentence counts as a patient. Sentences of one patient then go to several "
            "workers, and scores of the workers are too high. Pass the patient of each sentence as 'groups'.",
            UserWarning,
            stacklevel=5,
        )
    rows = split_patients(everything.groups, len(everything.X), n_workers, rng, known)
    parts = [everything.rows(chosen) for chosen in rows]
    empty = [number for number, part in enumerate(parts) if not len(part.X.data)]
    if empty:
        raise SequenceError(f"The patients of worker {empty[0]} have no token: there is nothing to train on.")
    return parts


def joined(parts: Sequence[WorkerData]) -> WorkerData:
    """Join the sentences of all workers. Equal patient ids of different workers count as different patients."""
    if len(parts) == 1:
        return parts[0]
    # Numbers of workers make equal patient ids of two hospitals different.
    groups = [
        f"{number}:{patient}"
        for number, part in enumerate(parts)
        for patient in (range(len(part.X)) if part.groups is None else part.groups.tolist())
    ]
    if isinstance(parts[0].X, TokenVectors):
        X: Any = TokenVectors.concatenate([part.X for part in parts])
    else:
        X = TokenSequences.from_rows(row for part in parts for row in part.X)
    return WorkerData(X, TokenSequences.from_rows(row for part in parts for row in part.tags), np.array(groups))


# ---- word vectors that all workers may read


@cache
def random_ngram_vectors() -> SubwordTable:
    """Create a table of random vectors of hashed character n-grams.

    The table is the same at all sites and does not depend on any notes. The similarity of two words depends only on the
    overlap of their n-grams.

    References
    ----------
    Weinberger et al. (2009), Feature hashing for large scale multitask learning; Achlioptas (2003) for random
    projections.
    """
    # A fixed seed: all sites have the same table, and no site has to send it. The table is read-only, so that the
    # workers of a process share it: a tenth of a short training was spent on new tables.
    table = np.random.default_rng(0).standard_normal((_BUCKET, _DIM), dtype=np.float32)
    return SubwordTable(table, is_public=True)


def check_public_start(start: Any) -> None:
    """Raise ValueError unless the ``warm_start_from`` of a tagger is None or a model of the package.

    A model that was trained on private notes would reveal these notes to all workers.
    """
    if start is not None and not (isinstance(start, str) and start in STARTERS):
        raise ValueError(
            "The 'warm_start_from' parameter of a tagger that is trained together must be None or a model of the "
            f"package: {', '.join(STARTERS)}. Got a {type(start).__name__} instead."
        )


def listed_ngram_vectors(language: str = "") -> ListedVectors:
    """Create `random_ngram_vectors`, followed by the kinds of public lists that contain a word.

    The lists are the same as in `DeidTagger(embeddings="auto")`. All sites with one version of Faker have the same
    lists.

    Parameters
    ----------
    language : str, default=""
        One of `sklearn_deid.surrogates.LOCALES`, or "" for only the joint lists of all languages.
    """
    return ListedVectors.in_language(random_ngram_vectors(), language)


def common_language(parts: Sequence[WorkerData]) -> str:
    """Language of all workers' sentences; "" for several or unknown languages, for vectors, and without workers.

    Examples
    --------
    >>> X = TokenSequences.from_rows(["Der Patient wurde am Montag in die Klinik aufgenommen .".split()])
    >>> common_language([WorkerData(X, X, None), WorkerData(X, X, None)])
    'de'
    """
    if any(isinstance(part.X, TokenVectors) for part in parts):
        return ""
    found = {locale_of(part.X.data) for part in parts}
    return found.pop() if len(found) == 1 else ""


def public_embeddings(spec: Any, parts: Sequence[WorkerData] = ()) -> Any:
    """Return the word vectors of all workers, from the ``embeddings`` of their tagger.

    Parameters
    ----------
    spec : None, "auto", "glove-6b-50d", path, WordVectors or KeyedVectors
        Public word vectors, or None for no word vectors. "auto" means `listed_ngram_vectors`.
    parts : sequence of WorkerData, optional
        Data of the workers. With "auto", their `common_language` selects the public lists. Without data, "auto" uses
        only the joint lists of all languages.

    Raises
    ------
    ValueError
        If the vectors are not public.

    Notes
    -----
    F1 of a comparison with 120 generated notes and 8 epochs, for two random seeds:

    ======================================  ==========  ===========
    word vectors                            first seed  second seed
    ======================================  ==========  ===========
    n-gram vectors trained on all notes     0.58        0.55
    "auto" (random n-gram vectors)          0.56        0.53
    none                                    0.48        0.46
    ======================================  ==========  ===========
    """
    if spec is None:
        return None
    if isinstance(spec, str) and spec == "auto":
        return listed_ngram_vectors(common_language(parts))
    if isinstance(spec, str) and spec == "corpus":
        raise ValueError(
            "embeddings='corpus' trains word vectors on each worker's own notes: their vocabulary is private and "
            "cannot be shared. Use 'auto' (random n-gram vectors), None (characters only), 'glove-6b-50d' or other "
            "public vectors."
        )
    vectors = spec if isinstance(spec, (SubwordTable, ListedVectors)) else resolve_embeddings(spec)
    if vectors is not None and not vectors.is_public:
        raise ValueError(
            "The word vectors are not known to be public, and all workers would read them. If they were trained on "
            "public text only, mark them: read_word_vectors(path, is_public=True) or WordVectors(..., is_public=True)."
        )
    return vectors
