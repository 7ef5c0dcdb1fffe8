"""Topic agreement on planted topics."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from sklearn_deid.metrics.topics import choose_n_topics, count_words, top_words, topic_agreement, topic_matches

WORDS = [[f"{first}{second}{third}" for second in "aeiou" for third in "bd"] for first in "fgk"]  # 3 topics of 10


def planted(rng, n=90, hidden=()):
    """Notes of one topic each; hidden words are left out."""
    return [" ".join(w for w in rng.choice(WORDS[i % 3], 40) if w not in hidden) for i in range(n)]


@pytest.fixture(scope="module")
def texts():
    return planted(np.random.default_rng(0))


def test_planted_topics_are_found(texts):
    counts, vocabulary = count_words({"original": texts}, 10)
    found = {frozenset(vocabulary[row]) for row in top_words(counts["original"], 3, 10, 0)}
    assert found == {frozenset(words) for words in WORDS}


def test_agreement_is_the_share_of_words_left():
    """Four words of the first topic are hidden everywhere: 6 of its 10 words can be found again, all of the others."""
    texts = planted(np.random.default_rng(0))
    hidden = planted(np.random.default_rng(0), hidden=WORDS[0][:4])
    counts, _ = count_words({"original": texts, "same": texts, "hidden": hidden}, 10)
    agreement = topic_agreement(counts, 3, 10, seeds=(0, 2))
    assert agreement["same"].per_topic == (1.0, 1.0, 1.0)
    assert agreement["original, another seed"].means == (1.0, 1.0)
    assert sorted(agreement["hidden"].per_topic) == [0.6, 1.0, 1.0]
    assert agreement["hidden"].means == pytest.approx((2.6 / 3, 2.6 / 3))


def test_words_that_are_gone_are_no_words_of_a_topic(texts):
    """Notes without a word agreed with the original notes by chance, in the words that the prior put first."""
    counts, _ = count_words({"original": texts, "withheld": [""] * len(texts)}, 10)
    assert topic_agreement(counts, 3, 10, seeds=(0, 1))["withheld"].means == (0.0, 0.0)
    few = planted(np.random.default_rng(0), hidden=[word for words in WORDS for word in words[1:]])
    counts, _ = count_words({"original": texts, "few": few}, 10)
    assert max(topic_agreement(counts, 3, 10)["few"].per_topic) <= 0.1


def test_order_of_topics_does_not_matter():
    topics = np.arange(12).reshape(3, 4)
    assert topic_matches(topics, topics[[2, 0, 1]][:, ::-1]).tolist() == [1.0, 1.0, 1.0]


def test_partners_are_one_to_one():
    # Both are nearest to the first; only one of them may have it.
    assert topic_matches(np.array([[0, 1], [0, 2]]), np.array([[0, 1], [5, 6]])).tolist() == [1.0, 0.0]


def test_more_frequent_topics_come_first():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS[1 if i % 3 else 0], 30)) for i in range(60)]
    counts = csr_array(CountVectorizer().fit_transform(texts))
    found = top_words(counts, 2, 10, 0)
    assert counts[:, found[0]].sum() > counts[:, found[1]].sum()


def test_coherence_prefers_the_planted_number(texts):
    counts, vocabulary = count_words({"original": texts}, 10)
    assert choose_n_topics(texts, counts["original"], vocabulary, (1, 2, 3), 10) == 3


def test_words_of_most_notes_and_of_one_note_do_not_count():
    texts = ["always rare", "always some", "always some", "always other", "always other", "always 12 of"]
    _, vocabulary = count_words({"original": texts}, 1)
    assert vocabulary.tolist() == ["other", "some"]


def test_too_few_words():
    with pytest.raises(ValueError, match="The notes have 0 words .* smaller 'n_words'"):
        count_words({"original": ["a", "b"]}, 30)
    with pytest.raises(ValueError, match="The notes have 2 words"):
        count_words({"original": ["abc def", "abc def"]}, 3)
