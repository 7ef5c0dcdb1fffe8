"""Use the tokenizer of this library inside spaCy pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tokens import tokenize

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab


class SpacyTokenizer:
    """Tokenizer for ``nlp.tokenizer``; see `make_spacy_tokenizer`.

    The tokenizer has no settings except for the vocabulary, so its serialization methods write and read nothing.
    """

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab

    def __call__(self, text: str) -> Doc:
        """Tokenize a text. The result satisfies ``doc.text == text``."""
        from spacy.tokens import Doc

        words: list[str] = []
        spaces: list[bool] = []
        norms: dict[int, str] = {}
        tokens = tokenize(text)
        position = 0
        for token, start, end in zip(*tokens, strict=True):
            _append_gap(text, position, start, words, spaces)
            # Entities such as &amp; keep their characters in the text of the doc. The decoded form becomes the norm of
            # the token.
            if token != text[start:end]:
                norms[len(words)] = token
            words.append(text[start:end])
            spaces.append(False)
            position = end
        _append_gap(text, position, len(text), words, spaces)
        doc = Doc(self.vocab, words=words, spaces=spaces)
        for index, norm in norms.items():
            doc[index].norm_ = norm
        return doc

    # The tokenizer has no state, so that its serialised form is empty. spaCy calls these methods for each tokenizer.
    def to_bytes(self, **kwargs: Any) -> bytes:
        return b""

    def from_bytes(self, data: bytes, **kwargs: Any) -> SpacyTokenizer:
        return self

    def to_disk(self, path: Any, **kwargs: Any) -> None:
        return None

    def from_disk(self, path: Any, **kwargs: Any) -> SpacyTokenizer:
        return self


def _append_gap(text: str, start: int, end: int, words: list[str], spaces: list[bool]) -> None:
    """Append the text between two tokens: a first space belongs to the preceding token, the rest becomes a token."""
    if start < end and words and text[start] == " ":
        spaces[-1] = True
        start += 1
    if start < end:
        words.append(text[start:end])
        spaces.append(False)


def make_spacy_tokenizer(vocab: Vocab) -> SpacyTokenizer:
    r"""Make a spaCy tokenizer that produces the tokens of `tokenize`.

    Tokens of spaCy's own tokenizers often contain borders of PHI in the middle of a token. On the MEDDOCAN corpus, no
    tagger on top of spaCy's Spanish tokenizer can reach more than 91.4 F1.

    Parameters
    ----------
    vocab : spacy.vocab.Vocab
        Vocabulary ``nlp.vocab`` of the pipeline.

    Returns
    -------
    SpacyTokenizer
        Callable from a text to a ``spacy.tokens.Doc`` with the tokens of `tokenize` at the same offsets
        (``token.idx``). ``doc.text`` equals the unchanged text. Therefore the Doc has an additional token wherever two
        tokens are not separated by exactly one space; ``is_space`` marks white space. An HTML entity keeps its
        spelling, and ``norm_`` holds its unescaped form.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> nlp.tokenizer = make_spacy_tokenizer(nlp.vocab)
    >>> [token.text for token in nlp("Mr. Roe,\n25yo")]
    ['Mr', '.', 'Roe', ',', '\n', '25', 'yo']
    """
    return SpacyTokenizer(vocab)
