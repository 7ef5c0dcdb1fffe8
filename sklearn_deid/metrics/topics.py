"""Compare the topics of the original notes with the topics of the redacted notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

# Words of three letters or more. Digits carry no topic. The vocabulary excludes words in more than half of the notes
# (function words of any language) and words in a single note.
_WORD = r"(?u)\b[^\W\d_]{3,}\b"


class TopicAgreement(NamedTuple):
    """Proportion of the original topics' words that occur in the matched topics.

    Attributes
    ----------
    per_topic : tuple of float
        Proportion for each topic in the first repetition, the most frequent topic first.
    means : tuple of float
        Mean over the topics for each repetition.
    """

    per_topic: tuple[float, ...]
    means: tuple[float, ...]


def count_words(versions: Mapping[str, Sequence[str]], n_words: int) -> tuple[dict[str, csr_array], np.ndarray]:
    """Count the words of the first version's vocabulary in each version.

    All versions share one vocabulary. Models with the same random seed then start from the same values, and differences
    between the models come from the texts.

    Parameters
    ----------
    versions : mapping of str to texts
        Texts of each version. The first version is the original.
    n_words : int
        Number of words of a topic. The vocabulary must have at least ``n_words`` words.

    Returns
    -------
    counts : dict of str to csr_array of shape (n_notes, n_vocabulary)
        Word counts of each version.
    vocabulary : ndarray of shape (n_vocabulary,)
        Word of each column.

    Raises
    ------
    ValueError
        If too few words occur in at least two and in at most half of the notes.
    """
    first, *_ = versions.values()
    few = len(first) <= 3
    vectorizer = CountVectorizer(token_pattern=_WORD, min_df=min(2, len(first)), max_df=1.0 if few else 0.5)
    try:
        vectorizer.fit(first)
    except ValueError:  # no word is left
        found = 0
    else:
        found = len(vectorizer.vocabulary_)
    if found < n_words:
        raise ValueError(
            f"The notes have {found} words that occur in at least {min(2, len(first))} and in at most "
            f"{'all' if few else 'half'} of them; a topic of {n_words} words needs as many. Give more notes, set a "
            "smaller 'n_words', or leave topics out with n_topics=None."
        )
    return {name: vectorizer.transform(texts) for name, texts in versions.items()}, vectorizer.get_feature_names_out()


def top_words(counts: csr_array, n_topics: int, n_words: int, seed: int) -> np.ndarray:
    """Columns of the most probable words of each topic, the most frequent topic first; shape (n_topics, n_words).

    A word that does not occur in the counts does not count as a word of a topic; -1 replaces its column.
    """
    # shape: (n_vocabulary,)
    occurs = np.asarray(counts.sum(axis=0)).ravel() > 0
    if not occurs.any():
        return np.full((n_topics, n_words), -1)
    model = LatentDirichletAllocation(n_components=n_topics, learning_method="batch", random_state=seed)
    shares = model.fit_transform(counts)
    # Expected number of words of each topic: topic proportions of the notes, weighted by the length of the notes.
    # shape: (n_notes, n_topics) -> (n_topics,)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    order = np.argsort(-(shares * lengths[:, None]).sum(axis=0), kind="stable")
    best = np.argsort(-model.components_[order], axis=1, kind="stable")[:, :n_words]
    # The prior gives words that never occur some probability, and small topics may have few other words.
    return np.where(occurs[best], best, -1)


def topic_matches(topics: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Proportion of each topic's words that occur in the matched topic.

    The function matches topics one to one such that the number of shared words is maximal.

    Parameters
    ----------
    topics, others : ndarray of int, shape (n_topics, n_words)
        Words of each topic as columns of the vocabulary.

    Returns
    -------
    ndarray of shape (n_topics,)
        Proportion for each topic of ``topics``.

    Examples
    --------
    >>> topic_matches(np.array([[0, 1], [2, 3]]), np.array([[3, 4], [1, 0]])).tolist()
    [1.0, 0.5]
    """
    # shape: (n_topics, n_topics)
    # Topics have no fixed order, so that each original topic is matched with one other topic (assignment problem).
    # Number of common words of each pair of topics.
    overlap = np.array([[len(set(a) & set(b)) for b in others.tolist()] for a in topics.tolist()])
    rows, columns = linear_sum_assignment(-overlap)
    return overlap[rows, columns] / topics.shape[1]


def topic_agreement(
    counts: Mapping[str, csr_array], n_topics: int = 5, n_words: int = 30, seeds: Sequence[int] = (0,)
) -> dict[str, TopicAgreement]:
    """Compare the topics of each version with the topics of the first version.

    Parameters
    ----------
    counts : mapping of str to csr_array of shape (n_notes, n_vocabulary)
        Word counts from `count_words`. The first version is the original.
    n_topics, n_words : int, default=5, 30
        Number of topics, and number of words of a topic. The defaults are the values of the paper.
    seeds : sequence of int
        Random seed of each repetition. The function repeats the comparison because a topic model depends on its random
        start.

    Returns
    -------
    dict of str to TopicAgreement
        Agreement for all versions except the first. The entry ``"original, another seed"`` compares two models of the
        original notes with different random seeds. The entry shows the loss that the topic model causes without any
        redaction.

    References
    ----------
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10,
    table 4. The paper does not state how topics were matched.
    """
    original, *others = counts
    found = {name: [top_words(counts[name], n_topics, n_words, seed) for seed in seeds] for name in counts}
    # The same notes with another seed: the agreement that chance alone allows.
    # shape of each: (n_topics, n_words)
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
    """Choose the number of topics with the highest topic coherence (C_v, computed by gensim).

    If several numbers have the same coherence, the function chooses the smallest number.

    Parameters
    ----------
    texts : sequence of n_notes texts
        Texts for the co-occurrence counts of the coherence.
    counts : csr_array of shape (n_notes, n_vocabulary)
        Word counts of the same texts.
    vocabulary : ndarray of shape (n_vocabulary,)
        Word of each column of ``counts``.
    candidates : sequence of int
        Numbers of topics to compare.
    n_words : int, default=30
        Number of words of a topic.
    seed : int, default=0
        Random seed of the topic models.

    Returns
    -------
    int
        Chosen number of topics.

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
        # A single process: forking a process with running torch threads is not safe.
        model = CoherenceModel(
            topics=topics, texts=rows, dictionary=dictionary, coherence="c_v", topn=n_words, processes=1
        )
        scores.append((-float(np.nan_to_num(model.get_coherence(), nan=-1.0)), n_topics))
    return min(scores)[1]
