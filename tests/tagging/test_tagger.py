"""What DeidTagger does with sentences."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.model_selection import PredefinedSplit
from skorch.callbacks import Callback, Checkpoint, LRScheduler

from sklearn_deid import DeidTagger, load, save
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import Provenance, TokenSequences, TokenVectors
from sklearn_deid.tagging import network

from .conftest import QUICK, SMALL, assert_rows_equal, make_sentences


class TestFitAndPredict:
    def test_learns_what_can_be_learned(self, fitted):
        X, y, _ = make_sentences(60, seed=1)
        assert fitted.score(X, y) > 0.95

    def test_prediction_is_an_object_array_of_lists(self, fitted):
        out = fitted.predict([["No", "pain"], ["Aged", "40"]])  # equal lengths must not become two dimensions
        assert out.shape == (2,)
        assert out.dtype == object
        assert all(isinstance(row, list) for row in out)

    def test_lists_arrays_and_containers_are_the_same(self, fitted, sentences):
        X, y, _ = sentences
        expected = fitted.predict(X)
        assert_rows_equal(fitted.predict(TokenSequences.from_rows(X)), expected)
        rows = np.empty(len(X), dtype=object)
        rows[:] = X
        assert_rows_equal(fitted.predict(rows), expected)
        one, other = (DeidTagger(**SMALL).set_params(max_epochs=1) for _ in range(2))
        one.fit(X, y)
        assert_rows_equal(other.fit(rows, TokenSequences.from_rows(y)).predict_proba(X), one.predict_proba(X))

    def test_order_and_batch_do_not_matter(self, fitted, sentences):
        X, _, _ = sentences
        whole = fitted.predict(X)
        assert_rows_equal(fitted.predict(X[::-1])[::-1], whole)
        assert_rows_equal([fitted.predict([row])[0] for row in X[:10]], whole[:10])

    def test_more_words_than_are_encoded_together_do_not_matter(self, fitted, sentences, monkeypatch):
        X, _, _ = sentences
        whole = fitted.predict_proba(X)
        monkeypatch.setattr(network, "_WORDS_AT_ONCE", 3)
        for part, expected in zip(fitted.predict_proba(X), whole, strict=True):
            np.testing.assert_allclose(part, expected, atol=1e-5)

    @pytest.mark.parametrize("length", [0, 1, 5000])
    def test_any_length(self, fitted, length):
        out = fitted.predict([["pain"] * length, ["No"]])
        assert [len(row) for row in out] == [length, 1]
        assert [p.shape for p in fitted.predict_proba([["pain"] * length])] == [(length, len(fitted.classes_))]

    def test_any_length_when_fitting(self):
        X = [[], ["Mr"], ["pain"] * 5000]
        y = [[], ["B-PATIENT"], ["O"] * 5000]
        tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(X, y)
        assert [len(row) for row in tagger.predict(X)] == [0, 1, 5000]

    def test_no_sentences_to_tag(self, fitted):
        assert fitted.predict([]).shape == (0,)
        assert fitted.predict_proba([]).shape == (0,)

    def test_only_outside_so_far(self):
        tagger = DeidTagger(**SMALL)
        for _ in range(20):
            tagger.partial_fit([["no", "pain"]], [["O", "O"]], classes=["B-CITY"])
        assert tagger.predict([["no"]])[0] == ["O"]

    def test_unknown_tokens_and_scripts_are_tagged(self, fitted):
        odd = ["\U0001f9d1\u200d\u2695\ufe0f", "\ud800", "\u0645\u0631\u064a\u0636", "\u60a3\u8005", "x" * 300, ""]
        assert len(fitted.predict([odd])[0]) == len(odd)

    def test_tags_unseen_in_training_do_not_break_scoring(self, fitted):
        assert fitted.score([["Mr", ".", "Elm"]], [["B-NEW", "O", "B-PATIENT"]]) < 1.0

    def test_predictions_are_legal_iob2(self, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(**{**SMALL, "max_epochs": 1, "head": "softmax"}).fit(X, y)
        for row in tagger.predict(X):
            for before, tag in zip(["O", *row], row, strict=False):
                assert not tag.startswith("I-") or before[2:] == tag[2:]


class TestProbabilities:
    def test_sum_to_one_and_follow_classes(self, fitted, sentences):
        X, _, _ = sentences
        for row, probabilities in zip(X, fitted.predict_proba(X), strict=True):
            assert probabilities.shape == (len(row), len(fitted.classes_))
            np.testing.assert_allclose(probabilities.sum(1), 1.0, atol=1e-4)

    def test_confidence_is_the_probability_of_the_chosen_tag(self, fitted, sentences):
        X, _, _ = sentences
        tags, confidence = fitted.predict(X, return_confidence=True)
        column = {tag: i for i, tag in enumerate(fitted.classes_)}
        for row, sure, probabilities in zip(tags, confidence, fitted.predict_proba(X), strict=True):
            expected = [probabilities[i, column[tag]] for i, tag in enumerate(row)]
            np.testing.assert_allclose(sure, expected, atol=1e-6)


class TestParameters:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"embeddings": "auto"},
            {"head": "softmax", "max_epochs": 10, "lr": 0.06},  # it learns more slowly than a CRF
            {"characters": None},
            {"n_layers": 2},
            {"span_swap": 0.0},
            {"class_weight": "balanced"},
            {"class_weight": {"O": 0.5}},
            {"weight_average": 0.0},
            {"gradient_clip": None},
            {"optimizer": torch.optim.Adam, "optimizer__weight_decay": 1e-4},
            pytest.param(
                {"mixed_precision": True},
                marks=pytest.mark.skipif(
                    not getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)(),
                    reason="this processor has no LSTM in bfloat16",
                ),
            ),
        ],
        ids=str,
    )
    def test_variants_learn(self, sentences, parameters):
        X, y, _ = sentences
        tagger = DeidTagger(**{**QUICK, "lr": 0.1, **parameters}).fit(X[:60], y[:60])
        assert tagger.score(X, y) > 0.6

    def test_bfloat16_is_refused_where_the_processor_has_none(self, sentences, monkeypatch):
        monkeypatch.setattr("torch.ops.mkldnn._is_mkldnn_bf16_supported", lambda: False, raising=False)
        X, y, _ = sentences
        with pytest.raises(ValueError, match="this processor cannot compute an LSTM in bfloat16"):
            DeidTagger(**{**SMALL, "mixed_precision": True, "device": "cpu"}).fit(X, y)

    def test_class_weight_moves_the_balance(self, sentences):
        X, y, _ = sentences
        few = {**SMALL, "max_epochs": 2, "head": "softmax"}
        recall = [
            sum(tag != "O" for row in DeidTagger(**few, class_weight=weight).fit(X, y).predict(X) for tag in row)
            for weight in ({"O": 20.0}, None, {"O": 0.05})
        ]
        assert recall[0] <= recall[1] < recall[2]

    def test_class_weight_of_a_label_warns_since_weights_are_of_tags(self, sentences):
        X, y, _ = sentences
        weighted = DeidTagger(**{**SMALL, "max_epochs": 1, "class_weight": {"PATIENT": 5.0}})
        with pytest.warns(UserWarning, match=r"weights of \['PATIENT'\], and the network has no such tags"):
            weighted.fit(X, y)

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "2"])
    def test_class_weight_is_a_finite_number_of_at_least_zero(self, sentences, weight):
        X, y, _ = sentences
        with pytest.raises(ValueError, match="finite numbers of at least 0"):
            DeidTagger(**{**SMALL, "max_epochs": 1, "class_weight": {"B-PATIENT": weight}}).fit(X, y)

    def test_weights_of_zero_alone_would_teach_nothing(self, sentences):
        X, y, _ = sentences
        nothing = dict.fromkeys({"O", *(tag for row in y for tag in row)}, 0)
        with pytest.raises(ValueError, match="and not 0 for all tags"):
            DeidTagger(**{**SMALL, "max_epochs": 1, "class_weight": nothing}).fit(X, y)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("encoder", "cnn"),
            ("head", "hmm"),
            ("tag_scheme", "iob"),
            ("hidden_size", 0),
            ("n_layers", 1.5),
            ("dropout", 1.0),
            ("span_swap", 1.1),
            ("max_epochs", 0),
            ("lr", 0.0),
            ("batch_size", -1),
            ("optimizer", "adam"),
            ("callbacks", 3),
            ("validation_fraction", 1.0),
            ("patience", 0),
            ("random_state", "seed"),
        ],
    )
    def test_bad_values_are_named(self, name, value):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of DeidTagger must be"):
            DeidTagger(**{name: value}).fit([["a"]], [["O"]])

    def test_patience_without_held_out_patients_is_refused(self, sentences):
        # Training then never stopped early, without a word.
        with pytest.raises(ValueError, match="'patience' parameter of DeidTagger needs 'validation_fraction'"):
            DeidTagger(**{**SMALL, "patience": 3}).fit(*sentences[:2])

    def test_a_device_that_torch_does_not_know_is_named(self, sentences):
        with pytest.raises(ValueError, match="'device' parameter must be .* Got 'gpu' instead"):
            DeidTagger(**{**SMALL, "device": "gpu"}).fit(*sentences[:2])

    def test_unknown_parameter(self):
        with pytest.raises(TypeError, match="no parameter 'hiden_size'. Did you mean 'hidden_size'"):
            DeidTagger(hiden_size=3)


class TestTraining:
    def test_random_state_repeats(self, sentences):
        X, y, groups = (column[:60] for column in sentences)
        first, again, other = (
            DeidTagger(**{**SMALL, "max_epochs": 3, "random_state": seed}).fit(X, y, groups=groups)
            for seed in (0, 0, 1)
        )
        for a, b in zip(first.module_.parameters(), again.module_.parameters(), strict=True):
            assert torch.equal(a, b)
        assert not torch.equal(other.module_.emit.weight, first.module_.emit.weight)

    def test_global_generators_are_left_alone(self, sentences):
        X, y, _ = sentences
        torch.manual_seed(7)
        np.random.seed(7)
        before = torch.get_rng_state(), np.random.get_state()[1].copy()
        for seed in (0, None):
            DeidTagger(**{**SMALL, "max_epochs": 1, "random_state": seed}).fit(X, y).predict(X)
        assert torch.equal(before[0], torch.get_rng_state())
        np.testing.assert_array_equal(before[1], np.random.get_state()[1])

    def test_partial_fit_goes_on(self, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(**QUICK)
        for _ in range(10):
            tagger.partial_fit(X[:60], y[:60], classes=["O", "B-PATIENT", "B-AGE", "B-CITY", "I-CITY"])
        assert len(tagger.history) == 10
        assert tagger.score(X, y) > 0.9

    def test_partial_fit_refuses_new_tags(self, fitted):
        from sklearn.base import clone

        tagger = clone(fitted).partial_fit([["a"]], [["B-AGE"]], classes=["B-AGE"])
        with pytest.raises(SequenceError, match="not among classes_"):
            tagger.partial_fit([["a"]], [["B-NEW"]])

    def test_partial_fit_refuses_labels_that_it_cannot_learn_any_more(self, fitted):
        # They were ignored, and a later call refused their tags.
        with pytest.raises(SequenceError, match="labels that the tagger does not know, such as that of 'B-NEW'"):
            pickle.loads(pickle.dumps(fitted)).partial_fit([["a"]], [["B-AGE"]], classes=["O", "B-AGE", "B-NEW"])

    def test_held_out_patients(self, sentences):
        X, y, groups = sentences
        tagger = DeidTagger(**{**QUICK, "validation_fraction": 0.25, "patience": 5, "max_epochs": 100})
        tagger.fit(X, y, groups=groups)
        f1 = [row["valid_f1"] for row in tagger.history]
        assert max(f1) > 0.9
        assert len(f1) < 100, "early stopping did not stop"

    def test_best_epoch_is_restored(self, sentences):
        X, y = (rows[:60] for rows in sentences[:2])
        valid = range(0, len(X), 4)
        split = PredefinedSplit([0 if i in valid else -1 for i in range(len(X))])

        class Spoiler(Callback):
            def on_epoch_begin(self, net, **kwargs):
                if len(net.history) > 5:
                    with torch.no_grad():
                        for parameter in net.module_.parameters():
                            parameter.zero_()

        tagger = DeidTagger(
            **{**SMALL, "validation_fraction": split, "max_epochs": 8, "weight_average": 0.0, "callbacks": [Spoiler()]}
        )
        f1 = [row["valid_f1"] for row in tagger.fit(X, y).history]
        assert f1[-1] < max(f1[:5]) == max(f1)
        assert tagger.score([X[i] for i in valid], [y[i] for i in valid]) == pytest.approx(max(f1))

    @pytest.mark.parametrize(("part", "name"), [(0, "held-out"), (-1, "other")])
    def test_parts_without_phi_are_refused(self, sentences, part, name):
        """F1 was 0 in each epoch: the weights after the first epoch came back, which find next to nothing."""
        X, y, _ = sentences
        fold = [0] * 10 + [-1] * 50
        tags = [["O"] * len(row) if at == part else row for at, row in zip(fold, y[:60], strict=True)]
        with pytest.raises(SequenceError, match=f"The {name} patients of 'validation_fraction' have no PHI"):
            DeidTagger(**{**SMALL, "validation_fraction": PredefinedSplit(fold)}).fit(X[:60], tags)

    @pytest.mark.parametrize(("patience", "n_epochs"), [(None, 3), (1, 2)])
    def test_an_f1_of_0_in_all_epochs_keeps_the_last_weights(self, sentences, patience, n_epochs):
        X, y, _ = sentences
        split, seen = PredefinedSplit([-1] * 40 + [0] * 4), []

        class Notes(Callback):
            def on_epoch_end(self, net, **kwargs):
                seen.append(net.module_.emit.weight.detach().clone())

        settings = {**SMALL, "validation_fraction": split, "max_epochs": 3, "weight_average": 0.0}
        tagger = DeidTagger(**settings, patience=patience, callbacks=[Notes()])
        tagger.fit([*X[:40], *[["Qwrtz", "Zyxw"]] * 4], [*y[:40], *[["B-NEVER", "O"]] * 4])
        assert tagger.history[:, "valid_f1"] == [0.0] * n_epochs
        assert not torch.equal(tagger.module_.emit.weight, seen[0])

    def test_a_list_of_splits_is_a_splitter(self, sentences):
        X, y, _ = sentences
        rows = np.arange(20)
        one, other = (
            DeidTagger(**{**SMALL, "max_epochs": 1, "validation_fraction": split}).fit(X[:20], y[:20])
            for split in ([(rows[:15], rows[15:])], PredefinedSplit([-1] * 15 + [0] * 5))
        )
        assert one.history[:, "valid_f1"] == other.history[:, "valid_f1"]

    @pytest.mark.parametrize(
        ("folds", "message"),
        [([], "makes no fold"), ([(range(20), range(15, 20))], "puts sentences of 5 patients into both parts")],
    )
    def test_folds_without_held_out_sentences_are_refused(self, sentences, folds, message):
        """Without groups, F1 was measured on sentences of the training; without a fold, fit raised StopIteration."""
        X, y, _ = sentences
        folds = [tuple(np.array(rows) for rows in fold) for fold in folds]
        with pytest.raises(SequenceError, match=message):
            DeidTagger(**{**SMALL, "validation_fraction": folds}).fit(X[:20], y[:20])

    def test_splitting_needs_two_patients(self):
        with pytest.raises(SequenceError, match="at least two patients"):
            DeidTagger(validation_fraction=0.5).fit([["a"], ["b"]], [["O"], ["B-AGE"]], groups=["p", "p"])

    def test_warm_start_with_other_callbacks(self, sentences):
        """The patients were held out, but the training did not stop, and the best weights did not return."""
        X, y, _ = sentences
        tagger = DeidTagger(**{**SMALL, "max_epochs": 1, "warm_start": True}).fit(X, y)
        tagger.set_params(validation_fraction=0.3, patience=1, lr=1e-9, weight_average=0.0, max_epochs=9).fit(X, y)
        assert len(tagger.history) == 1 + 2
        names = [name for name, _ in tagger.callbacks_]
        assert "early_stopping" in names and "weight_average" not in names

    def test_warm_start_with_another_optimizer(self, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(max_epochs=1, random_state=0, warm_start=True).fit(X, y)
        first = tagger.optimizer_
        assert tagger.fit(X, y).optimizer_ is first
        tagger.set_params(optimizer=torch.optim.SGD).fit(X, y)
        assert isinstance(tagger.optimizer_, torch.optim.SGD)

    def test_warm_start_continues(self, sentences):
        X, y, _ = sentences
        tagger = DeidTagger(**{**SMALL, "warm_start": True, "max_epochs": 2}).fit(X[:20], y[:20])
        assert len(tagger.fit(X[:20], y[:20]).history) == 4

    def test_warm_start_with_other_class_weights(self, sentences):
        """The weights of the first fit stayed in use, and wrong weights passed."""
        X, y, _ = sentences
        settings = {**SMALL, "warm_start": True, "max_epochs": 1}
        plain, heavy = (DeidTagger(**settings).fit(X[:20], y[:20]) for _ in range(2))
        plain.fit(X[:20], y[:20])
        heavy.set_params(class_weight={"O": 50.0}).fit(X[:20], y[:20])
        assert plain.history[-1, "train_loss"] < heavy.history[-1, "train_loss"]
        with pytest.raises(ValueError, match="'class_weight' of DeidTagger must be"):
            heavy.set_params(class_weight={"O": -1.0}).fit(X[:20], y[:20])

    def test_interrupted_training_leaves_a_usable_tagger(self, sentences):
        from skorch.callbacks import Callback

        class Interrupt(Callback):
            def on_epoch_end(self, net, **kwargs):
                if len(net.history) == 2:
                    raise KeyboardInterrupt

        X, y, _ = sentences
        tagger = DeidTagger(**SMALL, callbacks=[Interrupt()]).fit(X, y)
        assert len(tagger.history) == 2
        assert len(tagger.predict(X)) == len(X)

    def test_verbose_prints_losses_and_no_tokens(self, sentences, capsys):
        X, y, groups = sentences
        DeidTagger(**{**SMALL, "max_epochs": 2, "verbose": 2, "validation_fraction": 0.2}).fit(X, y, groups=groups)
        printed = "".join(capsys.readouterr())
        assert "valid_f1" in printed
        assert not any(token in printed for row in X for token in row if len(token) > 3)


class TestRepresentation:
    def test_vectors_instead_of_tokens(self):
        rng = np.random.default_rng(0)
        lengths = rng.integers(1, 6, 80)
        X = TokenVectors.from_rows([rng.normal(size=(n, 4)) for n in lengths])
        y = [["B-AGE" if v[0] > 0 else "O" for v in row] for row in X]
        tagger = DeidTagger(**SMALL).fit(X, y)
        assert tagger.n_features_in_ == 4
        assert tagger.score(X, y) > 0.9
        with pytest.raises(SequenceError, match="trained on vectors"):
            tagger.predict([["a"]])

    def test_vectors_of_another_representer_are_refused(self, tmp_path):
        """They have the same width, and equal numbers stand for other words: no PHI was found in them."""

        def of(name):
            origin = name and Provenance(name, 4, 100, {"kind": "trainable"}, False, True, "0.2.0", {})
            return TokenVectors(data, np.arange(0, 41, 2), origin)

        data = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
        y = [["B-AGE", "O"]] * 20
        tagger = DeidTagger(**SMALL).fit(of("3f2a"), y)
        expected = [list(row) for row in tagger.predict(of("3f2a"))]
        save(tagger, tmp_path / "model")
        for one in (tagger, load(tmp_path / "model"), pickle.loads(pickle.dumps(tagger))):
            assert [list(row) for row in one.predict(of(None))] == expected, "vectors of unknown origin"
            for call in (one.predict, one.predict_proba, lambda X, one=one: one.partial_fit(X, y)):
                with pytest.raises(SequenceError, match="another representer"):
                    call(of("0000"))
        assert len(tagger.fit(of("0000"), y).predict(of("0000"))) == 20, "a new fit"

    def test_vectors_of_another_width_are_refused(self):
        tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(np.zeros((3, 2, 4)), [["O", "B-CITY"]] * 3)
        with pytest.raises(SequenceError, match="trained on vectors of width 4; X has 5"):  # was a message of torch
            tagger.predict(np.zeros((1, 2, 5)))

    def test_lists_without_tokens(self):
        """A list without any token holds neither words nor vectors: a tagger of vectors failed."""
        rows = [["Mr", "Alder"], ["No", "pain"]] * 4
        for X in (rows, TokenVectors.from_rows([np.ones((2, 4))] * 8)):
            tagger = DeidTagger(**{**SMALL, "max_epochs": 1}).fit(X, [["O", "B-PATIENT"], ["O", "O"]] * 4)
            for empty in ([], [[], []], [np.zeros((0, 4))], TokenVectors.from_rows([[]])):
                assert [len(row) for row in tagger.predict(empty)] == [0] * len(empty)
                assert [row.shape for row in tagger.predict_proba(empty)] == [(0, 2)] * len(empty)

    def test_tokens_only_tagger_refuses_vectors(self, fitted):
        with pytest.raises(SequenceError, match="trained on tokens"):
            fitted.predict(TokenVectors.from_rows([np.ones((2, 3))]))

    @pytest.mark.parametrize("goes_on", ["fit", "partial_fit"])
    def test_a_training_goes_on_with_the_same_kind_of_input(self, goes_on):
        words, y = [["Mr", "Alder"], ["No", "pain"]] * 4, [["O", "B-PATIENT"], ["O", "O"]] * 4
        vectors, wider = (TokenVectors.from_rows([np.ones((2, d))] * 8) for d in (4, 5))
        settings = {**SMALL, "max_epochs": 1, "warm_start": True}
        for first, later, message in [
            (words, vectors, "trained on tokens; X holds vectors"),
            (vectors, words, "trained on vectors; X holds tokens"),
            (vectors, wider, "trained on vectors of width 4; X has 5"),
        ]:
            with pytest.raises(SequenceError, match=message):
                getattr(DeidTagger(**settings).fit(first, y), goes_on)(later, y)


class TestRefusals:
    def test_unfitted(self):
        from sklearn.exceptions import NotFittedError

        with pytest.raises(NotFittedError):
            DeidTagger().predict([["a"]])

    def test_what_to_do_with_an_unfitted_tagger(self, tmp_path):
        """The message of skorch advised to call `initialize`, which failed for want of a private attribute."""
        from sklearn.exceptions import NotFittedError

        for call in (lambda: DeidTagger().predict([["a"]]), lambda: save(DeidTagger(), tmp_path / "model")):
            with pytest.raises(NotFittedError, match="not fitted yet: call fit, or load a saved tagger"):
                call()
        assert not list(tmp_path.iterdir())

    def test_one_sentence_without_brackets(self):
        with pytest.raises(SequenceError, match="single sentence must be wrapped"):
            DeidTagger().fit(["No", "pain"], [["O", "O"]])

    def test_lengths(self):
        with pytest.raises(SequenceError, match="row 1: 2 tokens, 1 tags"):
            DeidTagger().fit([["a"], ["b", "c"]], [["O"], ["O"]])

    def test_no_tokens(self):
        with pytest.raises(SequenceError, match="no token"):
            DeidTagger().fit([[], []], [[], []])

    def test_missing_y(self):
        with pytest.raises(SequenceError, match="y is required"):
            DeidTagger().fit([["a"]])

    def test_malformed_tag(self):
        with pytest.raises(SequenceError):
            DeidTagger().fit([["a"]], [["PATIENT"]])


class TestCallbacks:
    def test_own_ones_can_be_switched_off(self, sentences):
        X, y, _ = sentences
        off = {"callbacks__lr_decay": None, "callbacks__weight_average": None, "callbacks__print_log": None}
        tagger = DeidTagger(**{**SMALL, "max_epochs": 2}, **off).fit(X, y)
        assert len(tagger.predict(X)) == len(X)

    def test_users_ones_run(self, sentences):
        from skorch.callbacks import EpochScoring

        X, y, _ = sentences
        scoring = EpochScoring(lambda net, *_: net.score(X, y), name="train_f1", use_caching=False, on_train=True)
        tagger = DeidTagger(**{**SMALL, "max_epochs": 2}, callbacks=[("f1", scoring)]).fit(X, y)
        assert all(0.0 <= row["train_f1"] <= 1.0 for row in tagger.history)

    def test_a_checkpoint_is_loaded_at_the_end(self, sentences, tmp_path):
        """With the default device, the training ended in an error of torch after its last epoch."""
        X, y, _ = sentences
        checkpoint = Checkpoint(monitor="train_loss_best", dirname=tmp_path, load_best=True)
        tagger = DeidTagger(**{**SMALL, "max_epochs": 2, "device": "auto"}, callbacks=[checkpoint]).fit(X, y)
        stored = torch.load(tmp_path / "params.pt", weights_only=True)
        assert all(torch.equal(p.cpu(), stored[name].cpu()) for name, p in tagger.module_.named_parameters())
        assert tagger.device == "auto"

    @pytest.mark.parametrize(("off", "rate"), [({}, 0.01), ({"callbacks__lr_decay": None}, 0.01 * 0.5**2)])
    def test_a_scheduler_of_the_learning_rate_needs_that_of_the_tagger_switched_off(self, sentences, off, rate):
        X, y, _ = sentences
        halved = LRScheduler("StepLR", step_size=1, gamma=0.5)
        tagger = DeidTagger(**{**SMALL, "max_epochs": 2, "lr": 0.01}, callbacks=[halved], **off).fit(X, y)
        assert tagger.optimizer_.param_groups[0]["lr"] == pytest.approx(rate)
