"""`ReadWords`: whether the vocabulary of a spaCy pipeline holds words of notes, which spaCy would save."""

import warnings
from typing import Any

from spacy.attrs import ORTH
from spacy.language import Language

from ..exceptions import UnsafeToShareWarning


def has_read_words(nlp: Language) -> bool:
    """Whether the vocabulary of a pipeline has words that neither its language nor its tokenizer brings.

    Such words are those of texts that the pipeline has read before a component was added, or of the patterns of another
    component.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> before = has_read_words(nlp)
    >>> _ = nlp("Zyxwvutski")
    >>> before, has_read_words(nlp)
    (False, True)
    """
    new = type(nlp)().vocab
    if len(nlp.vocab) <= len(new):
        return False
    rules = getattr(nlp.tokenizer, "rules", None) or {}
    # spaCy keeps special cases of users as they were written.
    special = {token.get(ORTH, token.get("ORTH")) for tokens in rules.values() for token in tokens}
    own = {lexeme.orth_ for lexeme in new}
    return any(lexeme.orth_ not in own and lexeme.orth_ not in special for lexeme in nlp.vocab)


class ReadWords:
    """Whether a component, or the vocabulary of its pipeline, has seen words since the component was made.

    The mark of the component alone is not enough. With ``n_process``, copies of the component in other processes read
    the docs, and only the vocabulary of this process receives the words.

    Parameters
    ----------
    vocab : spacy.vocab.Vocab, optional
        Vocabulary of the pipeline. Without a vocabulary, only the mark counts.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> read = ReadWords(nlp.vocab)
    >>> before = read.are_there
    >>> _ = nlp("Zyxwvutski")
    >>> before, read.are_there
    (False, True)
    """

    def __init__(self, vocab: Any = None) -> None:
        self._vocab, self._n_before = vocab, 0 if vocab is None else len(vocab)
        self._is_marked = False

    def __getstate__(self) -> dict[str, Any]:
        # Without the vocabulary: a pickle of the component must not hold the words.
        return {"_vocab": None, "_n_before": 0, "_is_marked": self.are_there}

    def mark(self) -> None:
        """Record that the component has read a doc."""
        self._is_marked = True

    @property
    def are_there(self) -> bool:
        """Whether the component was marked, or the vocabulary has grown since the component was made."""
        return self._is_marked or (self._vocab is not None and len(self._vocab) > self._n_before)

    def warn(self, what: str, *, stacklevel: int) -> None:
        """If there are words, issue an `UnsafeToShareWarning`. ``what`` completes "This pipeline has ..."."""
        if self.are_there:
            warnings.warn(
                f"This pipeline has {what}, and spaCy saves their words with its vocabulary. Save a pipeline that has "
                "read no notes.",
                UnsafeToShareWarning,
                stacklevel=stacklevel + 1,
            )
