"""Which topics of the original notes a topic model finds again in the redacted ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

# Three letters or more; digits make no topic. Words of more than half of the notes (function words of any language)
# and of a single note are left out.
_WORD = r"(?u)\b[^\W\d_]{3,}\b"


class TopicAgreement(NamedTuple):
    """Share of the original topics' words that are found again.

    Attributes
    ----------
    per_topic : tuple of float
        In the first repetition, the most frequent topic first.
    means : tuple of float
        Mean over the topics, one for each repetition.
    """

    per_topic: tuple[float, ...]
    means: tuple[float, ...]


def count_words(versions: Mapping[str, Sequence[str]], n_words: int) -> tuple[dict[str, csr_array], np.ndarray]:
    """Count the words of the first version's vocabulary in each version.

    One vocabulary for all, so that the same seed starts the same model and differences come from the texts.

    Parameters
    ----------
    versions : mapping of str to texts
        The first is the original.
    n_words : int
        Words of a topic; the vocabulary must have as many.

    Returns
    -------
    counts : dict of str to csr_array of shape (n_notes, n_vocabulary)
    vocabulary : ndarray of shape (n_vocabulary,)

    Raises
    ------
    ValueError
        If the notes have too few words that are in several but not in most of them.
    """
    first, *_ = versions.values()
    vectorizer = CountVectorizer(token_pattern=_WORD, min_df=min(2, len(first)), max_df=0.5 if len(first) > 3 else 1.0)
    try:
        vectorizer.fit(first)
    except ValueError:  # no word is left
        found = 0
    else:
        found = len(vectorizer.vocabulary_)
    if found < n_words:
        raise ValueError(
            f"The notes have {found} words that occur in at least two and in at most half of them; a topic of "
            f"{n_words} words needs as many. Give more notes, set a smaller 'n_words', or leave topics out with "
            "n_topics=None."
        )
    return {name: vectorizer.transform(texts) for name, texts in versions.items()}, vectorizer.get_feature_names_out()


def top_words(counts: csr_array, n_topics: int, n_words: int, seed: int) -> np.ndarray:
    """Columns of the most probable words of each topic, the most frequent topic first; (n_topics, n_words)."""
    model = LatentDirichletAllocation(n_components=n_topics, learning_method="batch", random_state=seed)
    shares = model.fit_transform(counts)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    order = np.argsort(-(shares * lengths[:, None]).sum(axis=0), kind="stable")
    return np.argsort(-model.components_[order], axis=1, kind="stable")[:, :n_words]


def topic_matches(topics: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Share of each topic's words that its partner has; partners one to one, so that the sum is largest.

    Parameters
    ----------
    topics, others : ndarray of int, shape (n_topics, n_words)

    Returns
    -------
    ndarray of shape (n_topics,)

    Examples
    --------
    >>> topic_matches(np.array([[0, 1], [2, 3]]), np.array([[3, 4], [1, 0]])).tolist()
    [1.0, 0.5]
    """
    overlap = np.array([[len(set(a) & set(b)) for b in others.tolist()] for a in topics.tolist()])
    rows, columns = linear_sum_assignment(-overlap)
    return overlap[rows, columns] / topics.shape[1]


def topic_agreement(
    counts: Mapping[str, csr_array], n_topics: int = 5, n_words: int = 30, seeds: Sequence[int] = (0,)
) -> dict[str, TopicAgreement]:
    """Topics of each version against those of the first.

    Parameters
    ----------
    counts : mapping of str to csr_array of shape (n_notes, n_vocabulary)
        Of `count_words`; the first is the original.
    n_topics, n_words : int, default=5, 30
        As in the paper.
    seeds : sequence of int
        One repetition each: a topic model depends on its start.

    Returns
    -------
    dict of str to TopicAgreement
        For all but the first; ``"original, another seed"`` is the original with itself from another start: what the
        topic model loses by itself.

    References
    ----------
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10,
    table 4. How topics were matched there is not said.
    """
    original, *others = counts
    found = {name: [top_words(counts[name], n_topics, n_words, seed) for seed in seeds] for name in counts}
    again = [top_words(counts[original], n_topics, n_words, seed + 1) for seed in seeds]
    rows = {f"{original}, another seed": again, **{name: found[name] for name in others}}
    agreement = {}
    for name, topics in rows.items():
        shares = [topic_matches(a, b) for a, b in zip(found[original], topics, strict=True)]
        agreement[name] = TopicAgreement(tuple(shares[0].tolist()), tuple(float(s.mean()) for s in shares))
    return agreement


def choose_n_topics(
    texts: Sequence[str],
    counts: csr_array,
    vocabulary: np.ndarray,
    candidates: Sequence[int],
    n_words: int = 30,
    seed: int = 0,
) -> int:
    """The number of topics whose words are most coherent (C_v, by gensim), the smallest of equal ones.

    Parameters
    ----------
    texts : sequence of n_notes texts
        In which words are looked for near each other.
    counts : csr_array of shape (n_notes, n_vocabulary)
    vocabulary : ndarray of shape (n_vocabulary,)
    candidates : sequence of int
    n_words : int, default=30
    seed : int, default=0

    Returns
    -------
    int

    References
    ----------
    Roeder et al. (2015), Exploring the space of topic coherence measures, WSDM.
    """
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    rows = [re.findall(_WORD, text.lower()) for text in texts]
    dictionary = Dictionary(rows)
    scores = []
    for n_topics in candidates:
        topics = vocabulary[top_words(counts, n_topics, n_words, seed)].tolist()
        # One process: the others would be forked under torch's threads.
        model = CoherenceModel(
            topics=topics, texts=rows, dictionary=dictionary, coherence="c_v", topn=n_words, processes=1
        )
        scores.append((-float(np.nan_to_num(model.get_coherence(), nan=-1.0)), n_topics))
    return min(scores)[1]
