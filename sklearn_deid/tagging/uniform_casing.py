"""Notes with uninformative casing are read in lower case, and their words are marked."""

from __future__ import annotations

import numpy as np

from ..sequences import TokenSequences

# Share of words with a first capital above which capitals are uninformative. Generated notes and MEDDOCAN have at most
# .68 apart from notes in capitals; both in Title Case have at least .94 (benchmarks/robustness.py writes such notes).
_SHARE = 0.85
# Share of words with a first capital below which a note counts as lower case. Notes of four corpora and generated notes
# have at least .05.
_LEAST_SHARE = 0.03
_FEWEST_WORDS = 20
_SHORTEST = 3  # letters of a word that counts: units and initials are in capitals in every note

#: First character of a word whose casing is uninformative. For the network, a sentence from a note in lower case then
#: differs from a sentence without a name in an ordinary note.
NO_CASING = "\ue000"


def lower_uniform_casing(X: TokenSequences, mark: bool = False) -> TokenSequences:
    """Lower-case the tokens of documents in which nearly every word begins with a capital.

    With lower-casing, the tagger must learn one kind of note with uninformative casing instead of three (capitals,
    Title Case, lower case). The documents are lower-cased in training and in tagging.

    Parameters
    ----------
    X : TokenSequences
        Sentences. Sentences without documents do not change. Documents with fewer than 20 words of at least three
        letters do not change, because a few words are not enough to judge the casing.
    mark : bool, default=False
        Whether to put `NO_CASING` before each token of these documents and of documents with hardly any capitals.

    Returns
    -------
    TokenSequences
        The sentences, each with as many tokens as in X.

    Examples
    --------
    >>> from sklearn_deid import TokenSequences
    >>> X = TokenSequences.from_rows([["SEEN", "FOR", "PAIN"]] * 10 + [["Seen", "for", "pain"]] * 10)
    >>> lower_uniform_casing(X.with_documents([0] * 10 + [1] * 10))[[0, 10]].tolist()
    [['seen', 'for', 'pain'], ['Seen', 'for', 'pain']]
    """
    if X.documents is None or not len(X.data):
        return X
    _, numbers = np.unique(X.documents, return_inverse=True)
    # shape: (n_tokens,)
    document = np.repeat(numbers, np.diff(X.offsets))
    # 0: does not count, 1: word, 2: word with a first capital.
    table = {
        token: 1 + token[0].isupper() if len(token) >= _SHORTEST and token.isalpha() else 0 for token in set(X.data)
    }
    kinds = np.fromiter(map(table.__getitem__, X.data), dtype=np.int8, count=len(X.data))
    words, capitals = kinds > 0, kinds == 2
    # shape: (n_documents,)
    n_words, n_capitals = np.bincount(document, words), np.bincount(document, capitals)
    tells_nothing = n_capitals >= _SHARE * n_words
    if mark:
        tells_nothing |= n_capitals <= _LEAST_SHARE * n_words
    uniform = (n_words >= _FEWEST_WORDS) & tells_nothing
    if not uniform.any():
        return X
    lowered = X.data.copy()
    for i in np.flatnonzero(uniform[document]).tolist():
        # A few letters, such as a dotted capital I, become two characters: the token stays one token.
        lowered[i] = (NO_CASING if mark else "") + lowered[i].lower()
    return TokenSequences(lowered, X.offsets).with_documents(X.documents)
