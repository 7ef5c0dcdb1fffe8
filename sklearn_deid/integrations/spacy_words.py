"""`ReadWords`: whether the vocabulary of a spaCy pipeline holds words of notes, which spaCy would save."""

import warnings
from typing import Any

from ..exceptions import UnsafeToShareWarning


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
