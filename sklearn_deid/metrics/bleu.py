"""BLEU of redacted notes, computed by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence

from .._optional import import_optional


def corpus_bleu(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], max_order: int = 3) -> float:
    """Corpus BLEU with n-grams up to a highest order and one reference for each note.

    BLEU is the geometric mean of the n-gram precisions. If the candidates are shorter than the references, the mean is
    multiplied by the brevity penalty ``exp(1 - r / c)``, with ``r`` reference tokens and ``c`` candidate tokens. Notes
    from which tokens were only removed have a unigram precision of 1. Their BLEU-1 equals the brevity penalty and
    depends only on the number of removed tokens.

    Parameters
    ----------
    candidates, references : sequences of n token sequences
        Tokens of the redacted notes and of the reference notes. The comparison is case-sensitive.
    max_order : int, default=3
        Highest order of the n-grams: 1 for BLEU-1, 2 for BLEU-2, and so on.

    Returns
    -------
    float
        Score in [0, 1]; 0 if the candidates have no token. For an order without a match, the default smoothing of
        sacrebleu applies.

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
    # The notes are tokenized already. "force" only silences the warning of sacrebleu about tokenized input.
    scorer = sacrebleu.BLEU(max_ngram_order=max_order, tokenize="none", force=True)
    score = scorer.corpus_score([_joined(row) for row in candidates], [[_joined(row) for row in references]])
    return float(min(1.0, score.score / 100))


def _joined(tokens: Sequence[str]) -> str:
    # sacrebleu splits at white space. An unescaped HTML entity is a token that may contain white space.
    return " ".join("_".join(token.split()) for token in tokens)
