"""`NeighborPseudonymizer` replaces each PHI token by one of its N nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from .perturber import NEIGHBOR_CONSTRAINTS, TokenPerturber
from .phi_tokens import PhiTokens
from .policy import MOVE, WordPolicy
from .token_mechanism import ExactTokenMechanism
from .word_moves import UniformNeighbors


class NeighborPseudonymizer(TokenPerturber):
    """Replace each PHI token by one of the N nearest words in an embedding, all with equal probability.

    ``fit_transform(X, y)`` replaces tokens, and ``transform(X)`` returns X unchanged. In a Pipeline, a tagger is
    therefore trained on pseudonymised sentences, and then tags unchanged sentences.

    Parameters
    ----------
    embeddings : "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Word vectors in which neighbours are searched. "auto" selects the installed public vectors. Without installed
        vectors, "auto" trains word vectors on X and raises an `UnsafeToShareWarning`, since every surrogate is then a
        word of the notes.
    n_neighbors : int, default=100
        N of the paper. The word itself is the first of its neighbours, so with ``n_neighbors=1`` nothing is changed. If
        ``n_neighbors`` is the size of the vocabulary, all words have equal probability.
    labels : collection of str or None, default=None
        Labels of the tokens to replace. None means all labels.
    max_replacements : int or None, default=None
        Largest number of tokens that are replaced in a sentence. The tokens are chosen at random. With 1, each sentence
        and its copy differ in one token, as in the adversarial training of `PrivateRepresenter`.
    exclude : str, collection of str or None, default="en"
        Words that are kept: your own words, or a language code for the stop words of spaCy. Excluded words are kept
        only if they are written in lower case, since May and Will may be dates and names. Tokens without a letter or
        digit are always kept. With ``coherence``, a stop word is replaced if the same word in another casing is
        replaced.
    digits : {"near", "same", "random"}, default="near"
        Replacement of all-digit tokens. "near": one of the N nearest all-digit words (one of all all-digit words if
        there are fewer). "same": one of the N nearest words, as for other tokens and in the paper; a year may be
        replaced by a month or another word. "random": any all-digit word.
    unknown : {"shape", "random", "keep", "raise"}, default="shape"
        Treatment of tokens without a vector, which are mostly rare names and numbers. "shape" replaces each letter and
        digit by a random letter or digit. "random" draws any word of the vocabulary. "keep" releases the token
        unchanged, as in the paper. "raise" raises an error.
    coherence : {"token", "sentence", "document", "patient"}, default="token"
        Range within which equal words have the same surrogate. "token" draws a surrogate for each occurrence.
        "sentence" shares surrogates within a sentence. "document" and "patient" share surrogates within each of the
        ``groups`` of `fit`. Words that differ only in case count as the same word. Words of four or more letters within
        one edit also count as the same word, so that a misspelt name has the surrogate of the name.
    keep_casing : bool, default=True
        Whether a surrogate takes the casing of its token: lower case, capitalised or capitals. If the drawn word is the
        word itself, the surrogate is also written in this casing, not in the spelling of its token.
    guard_substring : bool, default=False
        Whether to leave out words that contain the source word, words inside the source word, and the source word
        itself. The next nearest words replace the words that are left out. With n_neighbors=1, the surrogate is the
        nearest of the remaining words.
    cache_dir : path or None, default=None
        Folder in which the neighbours of words are stored. The folder reveals words of the notes: protect the folder
        like the notes.
    n_jobs : int or None, default=None
        Threads of the search.
    verbose : int, default=0
        Above 0, the progress of the neighbour search is shown.
    random_state : int, RandomState or None, default=None
        Random seed. With None, each call draws from ChaCha20 with a new key of 256 bits from the operating system. With
        an integer, each call returns the same draw; attackers who know the integer can repeat the draws.

    Attributes
    ----------
    mechanism_ : ExactTokenMechanism
        Randomised map that `sklearn_deid.audit.bayes.bayes_reidentification` attacks. The mechanism contains the word
        vectors and no word of X.
    statistics_ : dict
        Counts for each label: ``tokens``, ``moved`` (replaced tokens), and the kept tokens by reason
        (``kept_excluded``, ``kept_unknown``, ``kept_limit``). ``drew_itself`` counts the replaced tokens whose
        surrogate is their own word. ``mean_rank`` is the mean similarity rank of the surrogates.

    Notes
    -----
    **Protection.** Take an attacker who knows only the vectors and ``n_neighbors=N``. About a replaced token, this
    attacker learns that the original is a word with the surrogate among its N neighbours. An attacker who also knows
    word frequencies is more accurate; `sklearn_deid.audit.bayes.bayes_reidentification` computes exactly how often this
    attacker finds the original.

    **Limits.** The mechanism is neither differentially private nor metric-differentially private: an attacker can
    exclude with certainty every word that lacks the surrogate among its N neighbours. Tokens are drawn independently,
    and the unchanged surrounding text may reveal the original. Each further release of a word excludes candidates for
    the original. PHI without a label is not replaced. In one of N cases the surrogate of a word is the word itself.

    See Also
    --------
    MadlibPseudonymizer, SanTextPseudonymizer, CusTextPseudonymizer : Mechanisms of differential privacy.
    DeidTagger : Tagger whose ``augmenter=NeighborPseudonymizer(...)`` draws new surrogates in every epoch.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, sections 4 and 9.

    Examples
    --------
    >>> from sklearn_deid import NeighborPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "maple", "pain"], [[1, 0], [1, 0.1], [1, -0.1], [0, 1]])
    >>> X, y = [["Dr", "Alder", "asked"], ["pain"]], [["O", "B-DOCTOR", "O"], ["O"]]
    >>> pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=2, guard_substring=True, random_state=0)
    >>> pseudonymizer.fit_transform(X, y)[0] in (["Dr", "Birch", "asked"], ["Dr", "Maple", "asked"])
    True
    >>> pseudonymizer.statistics_["DOCTOR"]["moved"]
    1
    """

    _parameter_constraints: dict[str, list] = {**NEIGHBOR_CONSTRAINTS, "guard_substring": ["boolean"]}

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        n_neighbors: int = 100,
        labels: Any = None,
        max_replacements: int | None = None,
        exclude: Any = "en",
        digits: str = "near",
        unknown: str = "shape",
        coherence: str = "token",
        keep_casing: bool = True,
        guard_substring: bool = False,
        cache_dir: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.n_neighbors = embeddings, n_neighbors
        self.labels, self.max_replacements, self.exclude = labels, max_replacements, exclude
        self.digits, self.unknown, self.coherence = digits, unknown, coherence
        self.keep_casing, self.guard_substring = keep_casing, guard_substring
        self.cache_dir, self.n_jobs, self.verbose = cache_dir, n_jobs, verbose
        self.random_state = random_state

    def _make_mechanism(self, policy: WordPolicy, candidates: np.ndarray) -> ExactTokenMechanism:
        moves = self._neighbor_moves(UniformNeighbors, policy, candidates, self.guard_substring)
        return ExactTokenMechanism(moves, policy, candidates, self.keep_casing)

    def _actions(self, phi: PhiTokens) -> np.ndarray:
        actions = super()._actions(phi)
        if self.guard_substring:
            # With fewer than N words left, the choice would be less private than the parameter promises: refuse
            # instead.
            moving = np.flatnonzero(actions == MOVE)
            rows = self.mechanism_.policy.actions([phi.words[i] for i in moving])[1]
            short = np.zeros(len(actions), dtype=bool)
            short[moving] = self.mechanism_.moves.n_without_enough(rows) if len(rows) else False
            if short.any():
                self._refuse(phi, short[phi.word_ids], f"have fewer than {self.n_neighbors} usable neighbours")
        return actions
