"""spaCy pipelines see the tokens of this library at the same offsets."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.text import make_spacy_tokenizer, tokenize


@pytest.fixture(scope="module")
def nlp():
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("es")
    nlp.tokenizer = make_spacy_tokenizer(nlp.vocab)
    return nlp


ALPHABET = st.sampled_from([*"aBñ1.-_ \n\t", "\u0301", "\ufeff", "田", "&lt;", "&nbsp;", "  "])


@given(st.lists(ALPHABET).map("".join))
def test_same_tokens_same_offsets_same_text(nlp, text):
    doc = nlp(text)
    tokens = tokenize(text)
    assert doc.text == text
    spacy_tokens = {token.idx: token for token in doc}
    assert set(tokens.starts) <= set(spacy_tokens)
    for meaning, start, end in zip(*tokens, strict=True):
        assert spacy_tokens[start].text == text[start:end]
        assert spacy_tokens[start].norm_ == meaning or text[start] != "&"
    between = [token for token in doc if token.idx not in set(tokens.starts)]
    assert all(token.is_space or not tokenize(token.text).texts for token in between)


def test_entity_keeps_its_spelling(nlp):
    doc = nlp("PA &lt; 90")
    assert [(token.text, token.norm_) for token in doc][1] == ("&lt;", "<")
    assert doc.text == "PA &lt; 90"


def test_pipeline_can_be_copied_and_saved(nlp, tmp_path):
    copied = pickle.dumps(nlp.tokenizer)  # worker processes of nlp.pipe need this
    copy = pickle.loads(copied)
    assert [token.text for token in copy("25yo")] == ["25", "yo"]
    nlp.to_disk(tmp_path / "pipeline")
    assert nlp.tokenizer.from_bytes(nlp.tokenizer.to_bytes()) is nlp.tokenizer
