"""Every encoder, character network and head of DeidTagger: learns, saves, loads, and does not mind its neighbours."""

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger, load, save
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.tagging import CRFHead, RecallWeight
from sklearn_deid.tagging.network import legal_tags
from sklearn_deid.text import is_allowed

from .conftest import QUICK, SMALL, assert_rows_equal

FAMILY = {
    "gru": {"encoder": "gru"},
    "gru-gru": {"encoder": "gru-gru"},
    "lstm-gru": {"encoder": "lstm-gru"},
    "transformer": {"encoder": "transformer", "encoder__n_heads": 2, "n_layers": 1},
    "bigru": {"characters": "bigru"},
    "bilstm": {"characters": "bilstm"},
    "bioes": {"tag_scheme": "bioes"},
    # Without a CRF, it takes longer.
    "dernoncourt": {"characters": "bilstm", "head": "softmax", "head__projection_size": 8, "max_epochs": 10},
}


@pytest.mark.parametrize("settings", FAMILY.values(), ids=FAMILY)
def test_learns_saves_and_loads(settings, sentences, tmp_path):
    X, y, _ = sentences
    tagger = DeidTagger(**QUICK).set_params(augmenter=None, **settings).fit(X[:60], y[:60])
    assert tagger.score(X, y) > 0.9
    # A sentence is tagged alike alone and among others.
    proba = tagger.predict_proba(X[:8])
    for row, alone in zip(proba, (tagger.predict_proba([s])[0] for s in X[:8]), strict=True):
        np.testing.assert_allclose(row, alone, atol=1e-5)
    save(tagger, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_rows_equal(again.predict_proba(X), tagger.predict_proba(X))
    assert repr(again) == repr(tagger)


@pytest.mark.parametrize("encoder", ["transformer", "lstm-gru"])
def test_auto_layers(encoder, sentences):
    X, y, _ = sentences
    tagger = DeidTagger(**SMALL).set_params(encoder=encoder, max_epochs=1).fit(X[:5], y[:5])
    layers = tagger.module_.encoder.layers if encoder == "transformer" else tagger.module_.encoder.ahead
    assert len(layers) == {"transformer": 4, "lstm-gru": 2}[encoder]


def test_projection_is_a_tanh_layer(sentences):
    X, y, _ = sentences
    tagger = DeidTagger(**SMALL).set_params(head__projection_size=5, head="softmax", max_epochs=1).fit(X[:5], y[:5])
    module = tagger.module_
    assert tuple(module.projection.weight.shape) == (5, module.encoder.output_size)
    assert module.emit.in_features == 5
    seen = []
    module.projection.register_forward_hook(lambda layer, args, out: seen.append(out))
    module.emit.register_forward_pre_hook(lambda layer, args: seen.append(args[0]))
    tagger.predict(X[:3])
    assert torch.equal(seen[1], torch.tanh(seen[0]))
    assert DeidTagger(**SMALL).set_params(max_epochs=1).fit(X[:5], y[:5]).module_.projection is None
    with pytest.raises(ValueError, match="The 'projection_size' parameter of CRFHead"):
        DeidTagger(head=CRFHead(projection_size=0)).fit(X[:5], y[:5])


def test_width_that_does_not_fit_the_heads(sentences):
    X, y, _ = sentences
    with pytest.raises(ValueError, match="multiple of 2"):
        DeidTagger(**SMALL).set_params(encoder="transformer", encoder__n_heads=5).fit(X, y)


class TestConstrained:
    @pytest.mark.parametrize("tag_scheme", ["iob2", "bioes"])
    def test_legal_tags_are_those_of_the_grammar(self, tag_scheme):
        prefixes = {"iob2": "BI", "bioes": "BIES"}[tag_scheme]
        classes = np.array(["O", *(f"{p}-{label}" for label in ("AGE", "CITY") for p in prefixes)], dtype=object)
        legal = legal_tags(classes, tag_scheme)
        for i, before in enumerate(classes):
            assert legal.start[i] == is_allowed(None, before, tag_scheme)
            assert legal.end[i] == is_allowed(before, None, tag_scheme)
            for j, after in enumerate(classes):
                assert legal.follow[i, j] == is_allowed(before, after, tag_scheme)
        continued = legal_tags(classes, tag_scheme, continues_spans=True)
        assert continued.start.all() and continued.end.all()
        assert torch.equal(continued.follow, legal.follow)

    def test_untrained_tagger_decodes_legal_sequences_only(self, sentences):
        X, y, _ = sentences
        settings = {**SMALL, "tag_scheme": "bioes", "max_epochs": 1, "lr": 1e-6}
        for constrained in (True, False):
            tagger = DeidTagger(**settings, head=CRFHead(constrained=constrained)).fit(X, y)
            with torch.no_grad():
                tagger.module_.emit.bias[torch.from_numpy(tagger.classes_ != "I-CITY")] -= 5.0
            dataset, table = tagger._tagging_data(X)
            legal = True
            for _, batch, emissions in tagger._outputs(dataset, table):
                for path in tagger.module_.decode(emissions, batch.mask):
                    tags = [None, *tagger.classes_[path], None]
                    legal &= all(is_allowed(a, b, "bioes") for a, b in zip(tags, tags[1:], strict=False))
            assert legal is constrained


class TestRecallWeight:
    def test_weight_1_repaired_is_the_plain_loss(self, sentences):
        X, y, _ = sentences
        settings = {**SMALL, "max_epochs": 2}
        plain = DeidTagger(**settings).fit(X[:30], y[:30])
        for form in ("repaired", "batch"):
            weighted = DeidTagger(**settings, recall_weight=RecallWeight(1.0, form)).fit(X[:30], y[:30])
            assert_rows_equal(weighted.predict_proba(X[:30]), plain.predict_proba(X[:30]))

    @pytest.mark.parametrize("form", ["repaired", "batch"])
    def test_learns(self, form, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(**QUICK).set_params(recall_weight=10, recall_weight__form=form).fit(X[:60], y[:60])
        assert tagger.score(X, y) > 0.9

    def test_printed_form_does_not_learn_without_misses(self, sentences):
        X, y, _ = sentences
        nothing = [["O"] * len(row) for row in y]
        settings = {**SMALL, "max_epochs": 1, "weight_average": 0.0, "recall_weight": RecallWeight(5, "printed")}
        tagger = DeidTagger(**settings).partial_fit(X, nothing, classes=["B-CITY"])
        before = [p.clone() for p in tagger.module_.parameters()]
        tagger.partial_fit(X, nothing)
        for old, new in zip(before, tagger.module_.parameters(), strict=True):
            torch.testing.assert_close(old, new)

    def test_refusals(self, sentences):
        X, y, _ = sentences
        with pytest.raises(ValueError, match="'recall_weight'"):
            DeidTagger(recall_weight=0.5).fit(X, y)
        with pytest.raises(ValueError, match="The 'form' parameter of RecallWeight"):
            DeidTagger(recall_weight=RecallWeight(2, "exact")).fit(X, y)


def test_unknown_tags_are_refused_as_before(sentences):
    X, y, _ = sentences
    tagger = DeidTagger(**SMALL).set_params(max_epochs=1).partial_fit(X[:3], y[:3])
    with pytest.raises(SequenceError, match="not among classes_"):
        tagger.partial_fit([["a"]], [["B-NEW"]])
