"""BLEU of redacted notes, counted by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence

from .._optional import import_optional


def corpus_bleu(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], max_order: int = 3) -> float:
    """BLEU with n-grams up to an order, over all notes together, one reference each.

    The geometric mean of the n-gram precisions, times the brevity penalty ``exp(1 - r / c)`` where the candidates are
    shorter than the references. A note from which tokens were only removed has a unigram precision of 1, so that its
    BLEU-1 is the brevity penalty: a count of what is gone.

    Parameters
    ----------
    candidates, references : sequences of n token sequences
        Compared as they are, casing included.
    max_order : int, default=3
        1 for BLEU-1, and so on.

    Returns
    -------
    float
        In [0, 1]; 0 if there is no token among the candidates. An order without a match is smoothed as sacrebleu does
        by default.

    Raises
    ------
    MissingDependencyError
        If sacrebleu is not installed (extra ``utility``).

    References
    ----------
    Papineni et al. (2002), BLEU: a method for automatic evaluation of machine translation, ACL.
    Post (2018), A call for clarity in reporting BLEU scores, WMT.

    Examples
    --------
    >>> round(corpus_bleu([["a", "b", "c", "d"]], [["a", "b", "x", "c", "d"]], 1), 4)  # exp(1 - 5 / 4)
    0.7788
    """
    sacrebleu = import_optional("sacrebleu", extra="utility", purpose="BLEU scores")
    if not any(len(row) for row in candidates):
        return 0.0
    # Tokens are cut already; "force" only silences its warning that they look like it.
    scorer = sacrebleu.BLEU(max_ngram_order=max_order, tokenize="none", force=True)
    score = scorer.corpus_score([_joined(row) for row in candidates], [[_joined(row) for row in references]])
    return float(min(1.0, score.score / 100))


def _joined(tokens: Sequence[str]) -> str:
    # sacrebleu splits at white space, which a token (an unescaped HTML entity) must not bring in.
    return " ".join("_".join(token.split()) for token in tokens)
