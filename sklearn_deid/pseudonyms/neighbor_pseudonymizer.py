"""`NeighborPseudonymizer`: PHI tokens move to one of their N nearest neighbours."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._compat import Interval, StrOptions
from .perturber import TOKEN_CONSTRAINTS, TokenPerturber
from .phi_tokens import PhiTokens
from .policy import MOVE, WordPolicy
from .token_mechanism import ExactTokenMechanism
from .word_moves import UniformNeighbors


class NeighborPseudonymizer(TokenPerturber):
    """Move each PHI token to one of the N words that are nearest to it in an embedding, all equally likely.

    ``fit_transform(X, y)`` perturbs and ``transform(X)`` does not, so that in a Pipeline a tagger is trained on
    pseudonymised sentences and tags untouched ones.

    Parameters
    ----------
    embeddings : "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Where neighbours come from. "auto" is the installed public vectors; without them vectors are trained on X, with
        an `UnsafeToShareWarning`, since every surrogate is then a word of the notes.
    n_neighbors : int, default=100
        N of the paper. The word itself is the first of its neighbours: 1 changes nothing, and the size of the
        vocabulary is a uniform choice among all words.
    labels : collection of str or None, default=None
        Labels of the tokens that move; None is all.
    max_replacements : int or None, default=None
        Largest number of tokens, chosen at random, that move in a sentence; 1 makes the pairs of the adversarial
        training.
    exclude : str, collection of str or None, default="en"
        Words that stay: the stop words that spaCy has for a language code, or words of one's own. They stay only where
        they are written in lower case: May and Will are names and dates. Tokens without letter and digit stay always.
        With ``coherence`` a stop word moves where the same word in another casing does.
    digits : {"near", "same", "random"}, default="near"
        Where all-digit tokens go: "near", to one of the N nearest all-digit words (all of them if there are fewer);
        "same", as other tokens do (what the paper does: a year may become a month or a word); "random", to any
        all-digit word.
    unknown : {"shape", "random", "keep", "raise"}, default="shape"
        What becomes of tokens without a vector, which are mostly rare names and numbers: "shape" replaces each letter
        and digit by a random one, "random" takes any word of the vocabulary, "keep" releases the token as it is (what
        the paper does), "raise" refuses.
    coherence : {"token", "sentence", "document", "patient"}, default="token"
        Where the same word has the same surrogate: nowhere (each occurrence is drawn for), within a sentence, or within
        one of the ``groups`` of `fit`. Words that differ in case only count as the same, and so do words of four or
        more letters within one edit, so that misspelt names follow.
    keep_casing : bool, default=True
        Whether a surrogate is written in lower case, capitalised or in capitals as its token is.
    guard_substring : bool, default=False
        Never choose a word that contains the source word or is contained in it, itself included; the next nearest ones
        count instead. With n_neighbors=1 it is the nearest of the others.
    cache_dir : path or None, default=None
        Folder that keeps the neighbours found. It tells which words occur in the notes and must be guarded like them.
    n_jobs : int or None, default=None
        Threads of the search.
    verbose : int, default=0
        Above 0 the search shows its progress.
    random_state : int, RandomState or None, default=None
        None seeds NumPy's generator from the operating system at each call (128 bits; the generator is not
        cryptographic); an integer gives the same draw at each call.

    Attributes
    ----------
    mechanism_ : ExactTokenMechanism
        What `sklearn_deid.audit.bayes.bayes_reidentification` attacks. It holds the vectors and no word of X.
    statistics_ : dict
        For each label the number of ``tokens``, of those ``moved`` and ``kept`` (``kept_excluded``, ``kept_unknown``,
        ``kept_limit``), how many ``drew_itself``, and ``mean_rank``, the mean similarity rank of the surrogates.

    Notes
    -----
    **What it gives.** With ``n_neighbors=N`` and no other knowledge than the vectors, the original of a moved token is
    one of those words that have the surrogate among their N neighbours; how often an attacker who also knows how
    frequent words are names it is computed exactly by `sklearn_deid.audit.bayes.bayes_reidentification`.

    **What it does not give.** It is not differentially private, nor metric-differentially private: a word that is not
    among the N neighbours of another can be told from it with certainty. Tokens are drawn one by one, the surrounding
    text is untouched and may tell the rest, several releases of a word narrow it down, and PHI that nobody labelled
    does not move. The surrogate of a word is itself in one of N cases.

    See Also
    --------
    MadlibPseudonymizer, SanTextPseudonymizer, CusTextPseudonymizer : Mechanisms with a differential guarantee.
    DeidTagger : ``augmenter=NeighborPseudonymizer(...)`` draws anew in every epoch.

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

    _parameter_constraints: dict[str, list] = {
        **TOKEN_CONSTRAINTS,
        "digits": [StrOptions({"near", "same", "random"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "guard_substring": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

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
            moving = np.flatnonzero(actions == MOVE)
            rows = self.mechanism_.policy.actions([phi.words[i] for i in moving])[1]
            short = np.zeros(len(actions), dtype=bool)
            short[moving] = self.mechanism_.moves.n_without_enough(rows) if len(rows) else False
            if short.any():
                self._refuse(phi, short[phi.word_ids], f"have fewer than {self.n_neighbors} usable neighbours")
        return actions
