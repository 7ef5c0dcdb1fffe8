"""What places can agree on of a tagger, and what of it stays with each of them."""

import json

import pytest

from sklearn_deid import DeidTagger
from sklearn_deid.cli import main
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated.sites import FederationConfig, read_settings
from sklearn_deid.federated.sites.federation_config import _NOT_SHARED, _SHARED
from sklearn_deid.federated.worker_data import listed_ngram_vectors, random_ngram_vectors
from sklearn_deid.tagging import Dropout
from sklearn_deid.tagging.strategies import plain_parameters

PARAMETERS = [name for name in DeidTagger().get_params() if "__" not in name]
DERNONCOURT = {
    "characters": "bilstm",
    "hidden_size": 5,
    "head": "softmax",
    "head__projection_size": 3,
    "dropout__input": 0.5,
    "dropout__output": 0.0,
    "span_swap": 0.0,
    "gradient_clip": None,
    "weight_average": 0.0,
}


def agreement(**tagger):
    return FederationConfig(
        "lab", ["site-1"], ["DATE", "PATIENT"], {"hidden_size": 4, "embeddings": None, **tagger}, n_epochs=1
    )


def test_every_parameter_is_shared_or_says_why_not():
    assert sorted((*_SHARED, *_NOT_SHARED)) == sorted(PARAMETERS)


@pytest.mark.parametrize("name", _NOT_SHARED)
def test_what_is_not_shared_is_refused_with_the_reason(name):
    with pytest.raises(ExchangeError, match=f"'{name}' cannot be a shared setting: ") as caught:
        agreement(**{name: None})
    assert _NOT_SHARED[name] in str(caught.value)


def test_what_is_no_parameter_is_refused():
    with pytest.raises(
        ExchangeError, match="'gamma' cannot be a shared setting: the shared settings are encoder, head"
    ):
        agreement(gamma=1)
    with pytest.raises(ExchangeError, match="'encoder' cannot be a pretrained encoder"):
        agreement(encoder="pretrained")


def test_the_start_is_a_model_of_the_package():
    assert agreement(warm_start_from="starter-en").tagger_to_train().warm_start_from == "starter-en"
    with pytest.raises(ExchangeError, match="must be None or a model of the package"):
        agreement(warm_start_from="/models/own")


@pytest.mark.parametrize(
    "tagger",
    [
        DERNONCOURT,
        {"encoder": "lstm-gru", "n_layers": 1, "dropout__layer": 0.0},
        {"encoder": "transformer", "encoder__n_heads": 2, "n_layers": 1},
        {"head__constrained": False, "tag_scheme": "bioes"},
        {"class_weight": {"O": 0.5}, "recall_weight": 4.0, "recall_weight__form": "batch"},
        {"context": "window", "context__size": 1},
        {"context": "document", "lr": 0.01, "batch_size": 50},
    ],
)
def test_networks_that_are_agreed_on_come_back_from_the_file_and_make_a_server(tagger):
    first = agreement(**tagger)
    second = FederationConfig(**json.loads(json.dumps(vars(first))))
    servers = [shared.new_server() for shared in (first, second)]
    assert servers[0].model == servers[1].model
    assert servers[0].parameters.tobytes() == servers[1].parameters.tobytes()
    restored = second.tagger_with(servers[0].parameters, servers[0].model)
    plain = plain_parameters(restored.get_params(deep=False))
    assert {name: plain[name] for name in tagger} == tagger


def test_plan_takes_any_shared_parameter(tmp_path, capsys):
    command = ["federate", "plan", str(tmp_path / "lab"), "--project", "lab", "--server", "deid.example.org"]
    command += ["--lead", "lead@example.org", "--site", "site-1", "--hidden-size", "5", "--embeddings", "none"]
    given = [f"{name}={json.dumps(value)}" for name, value in DERNONCOURT.items() if not isinstance(value, str)]
    given += [f"{name}={value}" for name, value in DERNONCOURT.items() if isinstance(value, str)]
    assert main([*command, *(word for one in given for word in ("--set", one))]) == 0
    written = read_settings(FederationConfig, tmp_path / "lab" / "federation.json")
    assert written.tagger == {"embeddings": None, "batch_size": 900, **DERNONCOURT}
    for wrong, reason in (
        ("device=cuda", "each site chooses its device"),
        ("head=tail", "'head' parameter of DeidTagger"),
    ):
        other = [str(tmp_path / "other") if word == str(tmp_path / "lab") else word for word in command]
        assert main([*other, "--set", wrong]) == 2
        assert reason in capsys.readouterr().err
        assert not (tmp_path / "other").exists()
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--set", "head"])


def test_settings_are_plain_values():
    with pytest.raises(
        ExchangeError, match="'dropout' must be a plain value. Write the settings of an object as 'dropout__"
    ):
        agreement(dropout=Dropout())
    with pytest.raises(ExchangeError, match="'encoder' cannot be a pretrained encoder"):
        agreement(encoder="pretrained", pretrained={"pooling": "mean"})
    with pytest.raises(ExchangeError, match="has no setting 'n_heads'"):
        agreement(encoder__n_heads=2).tagger_to_train()


def test_an_agreement_of_0_1_0_means_the_same():
    old = agreement(scheme="bioes", constrained=False, projection_size=3, context="window", context_size=1)
    new = agreement(
        tag_scheme="bioes",
        head__constrained=False,
        head__projection_size=3,
        context="window",
        context__size=1,
    )
    assert old.tagger == new.tagger
    assert old.new_server().model == new.new_server().model


# ---- lists of words


def listed(**changes):
    return FederationConfig("lab", ["site-1"], ["DATE", "PATIENT"], {"hidden_size": 4}, n_epochs=1, **changes)


def test_agreements_of_earlier_versions_have_no_lists_and_no_invented_spans():
    tagger = listed().tagger_to_train()
    assert tagger.embeddings.checksum == random_ngram_vectors().checksum
    assert (tagger.span_swap.share, tagger.span_swap.invented) == (0.5, 0)
    assert listed(lists="any").tagger_to_train().span_swap == 0.5
    chosen = FederationConfig("lab", ["site-1"], ["DATE"], {"span_swap__invented": 9}).tagger_to_train()
    assert chosen.span_swap.invented == 9


def test_members_with_other_lists_are_refused():
    lists = listed(lists="de").tagger_to_train().embeddings
    assert lists.checksum == listed_ngram_vectors("de").checksum
    same = listed(lists="de", lists_checksum=lists.lists_checksum)
    models = {shared.new_server().model for shared in (same, listed(lists="any"), listed())}
    assert len(models) == 3
    with pytest.raises(ExchangeError, match="another version of Faker is installed. Install the version of the coord"):
        listed(lists="any", lists_checksum=lists.lists_checksum).new_server()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lists": "xx"}, "'lists' must be any, en, .* or null"),
        ({"lists": ["en"]}, "'lists' must be text or null"),
        ({"lists": "en", "lists_checksum": "0" * 31}, "'lists_checksum' must have 32 hexadecimal digits"),
        ({"lists": "en", "lists_checksum": 5}, "'lists_checksum' must be text or null"),
    ],
)
def test_lists_that_do_not_exist_are_refused(changes, reason):
    with pytest.raises(ExchangeError, match=reason):
        listed(**changes)


def test_lists_follow_vectors_of_n_grams_only():
    with pytest.raises(ExchangeError, match="'lists' need the embeddings 'auto'"):
        FederationConfig("lab", ["site-1"], ["DATE"], {"embeddings": None}, lists="en")


@pytest.mark.parametrize(
    ("options", "lists"),
    [
        ((), "any"),
        (("--lists", "de"), "de"),
        (("--lists", "none"), None),
        (("--embeddings", "none"), None),
        (("--set", "embeddings=null"), None),
    ],
)
def test_plan_writes_the_lists(tmp_path, capsys, options, lists):
    command = ["federate", "plan", str(tmp_path / "lab"), "--project", "lab", "--server", "deid.example.org"]
    assert main([*command, "--lead", "lead@example.org", "--site", "site-1", "--hidden-size", "5", *options]) == 0
    written = read_settings(FederationConfig, tmp_path / "lab" / "federation.json")
    assert written.lists == lists
    assert (written.lists_checksum is None) == (lists is None)
    assert written.new_server().model
