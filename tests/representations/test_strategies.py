"""Strategies of PrivateRepresenter: parameters of a training or of the noise as objects, and how they are saved."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import check_estimator

from sklearn_deid import DeidTagger, PrivateRepresenter, WordVectors
from sklearn_deid.exceptions import BundleError
from sklearn_deid.representations import DANN, Bounded, ThreePart, TrainableNoise
from sklearn_deid.representations.saving import parameters_of, settings_of
from sklearn_deid.sequences import TokenSequences, TokenVectors

from ..tagging.conftest import SMALL, make_sentences
from .test_private_representer import TINY, VECTORS

OLD_FILES = Path(__file__).parents[1] / "saved_before_0_2" / "files"
weak_control = pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.UnsafeToShareWarning")


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(60)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


def short(**parameters):
    return PrivateRepresenter(**{**TINY, "max_epochs": 1, **parameters})


# ---- parameters


def test_a_string_means_the_defaults_of_its_strategy(data):
    """Same weights and, as the settings are the same, the same fingerprint."""
    named, made = (short(training=training).fit(*data) for training in ("bounded", Bounded()))
    assert named.fingerprint_ == made.fingerprint_ and isinstance(named.training_, Bounded)
    assert settings_of(PrivateRepresenter(noise="trainable")) == settings_of(PrivateRepresenter(noise=TrainableNoise()))


def test_what_was_used_is_no_longer_changed_by_the_parameters(data):
    training = Bounded(max_attack_accuracy=0.52)
    representer = short(training=training).fit(*data)
    assert representer.training is training and representer.training_ is not training
    training.set_params(max_attack_accuracy=0.7)
    assert representer.training_.max_attack_accuracy == 0.52


def test_nested_parameters_are_listed_set_and_cloned():
    representer = PrivateRepresenter(training=ThreePart(patience=3), noise=TrainableNoise(floor=0.1))
    shown = representer.get_params()
    assert (shown["training__patience"], shown["noise__floor"]) == (3, 0.1)
    twin = clone(representer).set_params(training__adversary="paper", noise__lr=0.5)
    assert (twin.training.adversary, twin.training.patience, twin.noise.lr) == ("paper", 3, 0.5)
    assert representer.training.adversary == "strong" and twin.training is not representer.training
    # What is replaced and what belongs to it can be set in one call.
    twin.set_params(training=DANN(), training__patience=4)
    assert isinstance(twin.training, DANN) and twin.training.patience == 4
    assert not [name for name in PrivateRepresenter().get_params() if "__" in name]


def test_a_string_becomes_its_object_when_a_parameter_of_it_is_set():
    representer = PrivateRepresenter().set_params(training__max_attack_accuracy=0.55, noise__floor=0.1)
    assert (representer.training.max_attack_accuracy, representer.noise.floor) == (0.55, 0.1)
    assert isinstance(representer.training, Bounded) and isinstance(representer.noise, TrainableNoise)
    other = PrivateRepresenter().set_params(training="dann", training__patience=4)
    assert isinstance(other.training, DANN) and other.training.patience == 4


@pytest.mark.parametrize(("noise", "name"), [(0.5, "noise__floor"), (None, "noise__lr")])
def test_a_number_has_no_parameters_to_set(noise, name):
    with pytest.raises(ValueError, match=f"has no setting '{name.partition('__')[2]}'.* Set 'noise' to an object"):
        PrivateRepresenter(noise=noise).set_params(**{name: 1})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"training": Bounded}, "'training' parameter of PrivateRepresenter must be"),
        ({"training": TrainableNoise()}, "'training' parameter of PrivateRepresenter must be"),
        ({"noise": Bounded()}, "'noise' parameter of PrivateRepresenter must be"),
        ({"training": Bounded(max_attack_accuracy=0.5)}, "'max_attack_accuracy' parameter of Bounded must be"),
        ({"training": Bounded(quantile_attack_accuracy=1)}, "'quantile_attack_accuracy' parameter of Bounded must"),
        ({"training": Bounded(adversary_weight=0)}, "'adversary_weight' parameter of Bounded must be"),
        ({"training": ThreePart(adversary="weak")}, "'adversary' parameter of ThreePart must be"),
        ({"training": ThreePart(stopping="early")}, "'stopping' parameter of ThreePart must be"),
        ({"training": DANN(pretrain_epochs=0)}, "'pretrain_epochs' parameter of DANN must be"),
        ({"training": DANN(patience=0)}, "'patience' parameter of DANN must be"),
        ({"noise": TrainableNoise(init=-1.0)}, "'init' parameter of TrainableNoise must be"),
        ({"noise": TrainableNoise(floor=-1.0)}, "'floor' parameter of TrainableNoise must be"),
        ({"noise": TrainableNoise(lr=0)}, "'lr' parameter of TrainableNoise must be"),
    ],
)
def test_parameters_of_strategies_are_checked(data, parameters, message):
    with pytest.raises(InvalidParameterError, match=f"The {message}.*Got .* instead"):
        short(**parameters).fit(*data)


@pytest.mark.parametrize("strategy", [Bounded, ThreePart, DANN, TrainableNoise, PrivateRepresenter])
def test_unknown_parameters_are_refused_at_once(strategy):
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_atack_accuracy'"):
        strategy(max_atack_accuracy=0.6)


def test_bounded_training_needs_noise_also_as_an_object(data):
    with pytest.raises(ValueError, match="'noise' parameter of PrivateRepresenter must not be None"):
        short(training=Bounded(), noise=None).fit(*data)


def test_search_over_the_bound(data):
    X, y, groups = data
    pipe = Pipeline(
        [
            ("rep", short(training=Bounded(), validation_fraction=None, hidden_size=2, tagger_hidden_size=2)),
            ("tag", DeidTagger(**{**SMALL, "max_epochs": 1})),
        ]
    )
    grid = {"rep__training__max_attack_accuracy": [0.52, 0.6], "rep__noise": [TrainableNoise(floor=0.1), 0.5]}
    search = GridSearchCV(pipe, grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
    asked = [settings["rep__training__max_attack_accuracy"] for settings in search.cv_results_["params"]]
    assert sorted(set(asked)) == [0.52, 0.6] and len(asked) == 4
    chosen = search.best_estimator_.named_steps["rep"].training_.max_attack_accuracy
    assert chosen == search.best_params_["rep__training__max_attack_accuracy"]


# ---- what the parameters do


def test_start_and_floor_of_the_noise(data):
    fitted = short(noise=TrainableNoise(init=2.0, floor=0.25, lr=1e-9)).fit(*data)
    std = fitted.network_.output_std().detach().numpy()
    # The noise may be scaled up at the end, start and floor alike.
    np.testing.assert_allclose(std / std[0], 1.0, rtol=1e-4)
    assert std[0] >= 2.25 - 1e-4


def test_weight_of_the_bound_at_the_start(data):
    light, heavy = (short(training=Bounded(adversary_weight=weight)).fit(*data) for weight in (1.0, 3.0))
    first = [next(row for row in model.history_ if row["phase"] == "bounded") for model in (light, heavy)]
    assert [row["price_mean"] for row in first] == pytest.approx([0.05, 0.15])


@weak_control
def test_epochs_before_the_rounds(data):
    fitted = short(training=ThreePart(pretrain_epochs=3, patience=3)).fit(*data)
    assert sum(row["phase"] == "P1" for row in fitted.history_) == 3


# ---- files


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"noise": 0.5},
        {"noise": TrainableNoise(init="normal", floor=0.1, lr=0.01)},
        {"training": Bounded(max_attack_accuracy=0.6, quantile_attack_accuracy=None)},
        {"training": DANN(adversary="paper", patience=3), "noise": None},
    ],
)
def test_settings_are_plain_and_give_the_parameters_back(parameters):
    representer = PrivateRepresenter(n_components=7, **parameters)
    settings = json.loads(json.dumps(settings_of(representer)))
    again = PrivateRepresenter(**parameters_of(settings))
    assert repr(again) == repr(representer) and settings_of(again) == settings


@weak_control
def test_saved_strategies_are_those_that_were_used(data, tmp_path):
    fitted = short(training=ThreePart(adversary="paper", pretrain_epochs=1), random_state=None).fit(*data)
    fitted.save(tmp_path / "rep")
    loaded = PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS)
    assert repr(loaded.training) == repr(loaded.training_) == "ThreePart(adversary='paper', pretrain_epochs=1)"
    assert loaded.fingerprint_ == fitted.fingerprint_
    assert loaded.transform(data[0]).origin.settings == fitted.transform(data[0]).origin.settings


def test_parameters_that_change_after_fit_are_not_saved_as_those_of_the_weights(data, tmp_path):
    fitted = short().fit(*data).set_params(training=Bounded(max_attack_accuracy=0.51))
    fitted.save(tmp_path / "rep")
    assert PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS).training == "bounded"


@pytest.mark.parametrize("name", ["lstm", "dense", "three parts"])
def test_an_old_file_can_be_saved_again(name, tmp_path):
    """Its fingerprint is of the names that its parameters had then, and stays."""
    words = WordVectors.open(OLD_FILES / "words")
    old = PrivateRepresenter.load(OLD_FILES / "representers" / name, embeddings=words)
    old.save(tmp_path / "again")
    again = PrivateRepresenter.load(tmp_path / "again", embeddings=words)
    assert again.fingerprint_ == old.fingerprint_ and repr(again) == repr(old)


def test_an_old_parameter_that_had_no_effect_does_not_hinder_loading():
    """0.1.0 saved the adversary of bounded training, which has none."""
    old = json.loads((OLD_FILES / "representers" / "lstm" / "manifest.json").read_text())["state"]["parameters"]
    named = parameters_of({**old, "adversary": "paper", "patience": 3})
    assert named["training"] == "bounded" and "patience" not in named and named["encoder"] == "lstm"
    assert parameters_of({**old, "adversary_weight": 2.0})["training"].adversary_weight == 2.0
    assert parameters_of({**old, "noise_floor": 0.5})["noise"].floor == 0.5
    # The noise of a number has no start and no floor.
    assert parameters_of({**old, "noise": 0.7, "noise_floor": 0.5})["noise"] == 0.7


@pytest.mark.parametrize(
    ("name", "value"), [("max_attack_accuracy", 0.9), ("patience", 3), ("n_components", 2), ("adversary", "paper")]
)
def test_a_changed_old_parameter_is_found(name, value, tmp_path):
    """Also one without effect: the fingerprint is of all of them."""
    from sklearn_deid._storage import read_bundle, write_bundle

    manifest, arrays = read_bundle(OLD_FILES / "representers" / "lstm")
    manifest["state"]["parameters"][name] = value
    write_bundle(tmp_path / "forged", {k: v for k, v in manifest.items() if k != "arrays_sha256"}, arrays)
    with pytest.raises(BundleError, match="does not match its fingerprint|does not fit together"):
        PrivateRepresenter.load(tmp_path / "forged", embeddings=WordVectors.open(OLD_FILES / "words"))


@pytest.mark.parametrize("change", [{"training": "best"}, {"training__patience": 3}, {"nonsense": 1}])
def test_settings_of_nobody_are_refused(data, tmp_path, change):
    fitted = short().fit(*data)
    fitted._settings = {**fitted._settings, **change}
    fitted.save(tmp_path / "rep")
    with pytest.raises(BundleError, match="does not fit together"):
        PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS)
    shutil.rmtree(tmp_path / "rep")


# ---- habits of scikit-learn


def test_no_data_frame_is_made_of_sentences(data):
    X = data[0]
    representer = short()
    assert representer.set_output(transform="default") is representer and representer.set_output() is representer
    with pytest.raises(ValueError, match="PrivateRepresenter.set_output must be 'default' or None. Got 'pandas'"):
        representer.set_output(transform="pandas")
    with config_context(transform_output="pandas"):  # asked of all transformers, of which some make tables
        assert isinstance(representer.fit(*data).transform(X), TokenVectors)


def test_names_of_the_columns(data):
    fitted = short().fit(*data)
    names = fitted.get_feature_names_out()
    assert len(names) == len(set(names)) == fitted.transform(data[0]).d and names[0] == "privaterepresenter0"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # the checks for tables do not apply
def test_common_checks_that_need_no_table():
    results = check_estimator(short(), on_fail=None)
    assert results and all(result["status"] == "passed" for result in results)
