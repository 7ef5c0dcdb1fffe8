"""Agreements, settings of sites, and the files of kits."""

import itertools
import json
import math
import os
from dataclasses import asdict, replace

import pytest

from sklearn_deid.exceptions import DeidError, ExchangeError
from sklearn_deid.federated import GaussianUpload, ParameterServer, SparseVectorUpload
from sklearn_deid.federated.sites import (
    FederationConfig,
    MaskKey,
    SessionRules,
    SiteSettings,
    harden_server,
    harden_site,
    read_settings,
    server_checkpoint,
    write_federation,
    write_session,
    write_settings,
)

AGREEMENT = FederationConfig("lab", ["site-1"], ["DATE", "PATIENT"], {"hidden_size": 4, "embeddings": None}, n_epochs=2)


@pytest.fixture
def kits(tmp_path):
    """What FLARE's packaging leaves: the parts of its files that matter here."""
    for name, startup in (("site", "fed_client.json"), ("server", "fed_server.json")):
        (tmp_path / name / "startup").mkdir(parents=True)
        (tmp_path / name / "local").mkdir()
        (tmp_path / name / "startup" / startup).write_text("{}")
        resources = {
            "class_allow_list": ["nvflare.anything"],
            "allow_log_streaming": True,
            "client": {"retry_timeout": 30},
            "snapshot_persistor": {"args": {"storage": {"args": {"root_dir": "/elsewhere"}}}},
            "components": [
                {"id": "job_manager", "args": {"uri_root": "/elsewhere"}},
                {"id": "site_log_streamer"},
                {"id": "log_receiver"},
            ],
        }
        (tmp_path / name / "local" / "resources.json.default").write_text(json.dumps(resources))
    return tmp_path


def load(path):
    return json.loads(path.read_text())


def test_site_allows_one_class_and_nobody_anything_else(kits):
    settings = SiteSettings("/notes", "/state", 5, clip=0.5)
    harden_site(kits / "site", AGREEMENT, settings)
    local = kits / "site" / "local"
    resources = load(local / "resources.json")
    assert resources["class_allow_list"] == ["sklearn_deid.federated.sites.flare_executor.SiteExecutor"]
    assert resources["class_list_enforcement_mode"] == "enforce"
    assert resources["allow_log_streaming"] is False
    assert resources["client"] == {"retry_timeout": 30, "allow_log_streaming": False}
    assert "site_log_streamer" not in [part["id"] for part in resources["components"]]
    permissions = load(local / "authorization.json")["permissions"]
    for rights in permissions.values():
        assert rights["byoc"] == rights["shell_commands"] == rights["operate"] == "none"
    assert [role for role, rights in permissions.items() if rights["submit_job"] != "none"] == ["lead"]
    assert read_settings(SiteSettings, local / "site.json") == settings
    assert (local / "site.json").stat().st_mode & 0o077 == 0
    assert read_settings(FederationConfig, local / "federation.json") == AGREEMENT


@pytest.mark.skipif(os.name != "posix", reason="Windows has other permissions")
def test_nobody_else_can_enter_a_kit(kits):
    """FLARE writes its logs there, which name files of notes, and makes the folder for all to read."""
    (kits / "server" / "deid-state").mkdir(mode=0o755)
    for name in ("site", "server"):
        (kits / name).chmod(0o755)
    harden_site(kits / "site", AGREEMENT, SiteSettings("/notes", "/state", 5))
    harden_server(kits / "server", AGREEMENT)
    for folder in (kits / "site", kits / "server", kits / "server" / "deid-state"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_server_keeps_its_jobs_in_the_kit_and_its_weights(kits):
    path = harden_server(kits / "server", AGREEMENT)
    resources = load(kits / "server" / "local" / "resources.json")
    assert "/elsewhere" not in json.dumps(resources)
    assert resources["class_allow_list"] == ["sklearn_deid.federated.sites.flare_controller.SessionController"]
    assert load(kits / "server" / "local" / "authorization.json")["permissions"]["lead"]["byoc"] == "none"
    assert server_checkpoint(kits / "server") == (AGREEMENT, path)
    server = ParameterServer.load(path)
    server.version = 7
    server.save(path)
    harden_server(kits / "server", AGREEMENT)
    assert ParameterServer.load(path).version == 7


def test_a_checkpoint_of_another_federation_is_refused(kits):
    """The kit received the new agreement, and all sites were refused in the next session."""
    harden_server(kits / "server", AGREEMENT)
    before = (kits / "server" / "local" / "federation.json").read_bytes()
    with pytest.raises(DeidError, match="checkpoint of another federation"):
        harden_server(kits / "server", replace(AGREEMENT, labels=["AGE"]))
    assert (kits / "server" / "local" / "federation.json").read_bytes() == before
    harden_server(kits / "server", replace(AGREEMENT, sites=["site-1", "site-2"]))


def test_first_weights_are_the_same_everywhere():
    first, second = AGREEMENT.new_server(), AGREEMENT.new_server()
    assert first.model == second.model
    assert first.parameters.tobytes() == second.parameters.tobytes()
    tagger = AGREEMENT.tagger_with(first.parameters, first.model)
    assert tagger.predict([["Mr", "Alder"]])[0]
    with pytest.raises(ExchangeError, match="another federation"):
        AGREEMENT.tagger_with(first.parameters, "0" * 32)


def test_parameters_that_no_tagger_takes_are_refused():
    with pytest.raises(ExchangeError, match="hidden_size"):
        FederationConfig("lab", ["a"], ["A"], {"hidden_size": -1}).tagger_to_train()


def test_wrong_kits_are_refused(kits):
    with pytest.raises(DeidError, match="not a kit of a site"):
        harden_site(kits / "server", AGREEMENT, SiteSettings("/n", "/s", 0))
    with pytest.raises(DeidError, match="not a kit of a server"):
        harden_server(kits / "site", AGREEMENT)
    (kits / "site" / "local" / "resources.json.default").write_text("{")
    with pytest.raises(DeidError, match="no readable resources"):
        harden_site(kits / "site", AGREEMENT, SiteSettings("/n", "/s", 0))


def test_a_name_of_a_file_that_is_not_utf8_comes_back(tmp_path):
    """Such bytes ended in a UnicodeEncodeError."""
    settings = SiteSettings("/notes/Pr\udce4fix", "/z\u00e4hlt", 5)
    write_settings(settings, tmp_path / "site.json")
    assert read_settings(SiteSettings, tmp_path / "site.json") == settings
    assert "z\u00e4hlt" in (tmp_path / "site.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [("site-1", "a@b.org"), ("b.org", "SITE-2"), ("b.org", "b.org")])
def test_no_participant_replaces_another(tmp_path, names):
    """The request of the server was overwritten by that of a site of the same name."""
    agreement = FederationConfig("lab", ["site-1", "site-2"], ["DATE"])
    with pytest.raises(DeidError, match="need different names"):
        write_federation(tmp_path / "new", agreement, names[0], 8002, names[1])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("names", [("../server", "a@b.org"), ("b.org", "x/a@b.org"), ("", "a@b.org"), ("b.org", "..")])
def test_participants_are_files_of_the_folder(tmp_path, names):
    """A file was written wherever the name of the server pointed."""
    with pytest.raises(DeidError, match="must be names of files"):
        write_federation(tmp_path / "lab", AGREEMENT, names[0], 8002, names[1])
    assert not list(tmp_path.iterdir())


def test_federation_and_session_are_plain_files(tmp_path):
    write_federation(tmp_path / "lab", AGREEMENT, "deid.example.org", 8002, "lead@example.org")
    write_session(tmp_path / "lab" / "session", SessionRules(n_epochs=2))
    files = sorted(str(path.relative_to(tmp_path / "lab")) for path in (tmp_path / "lab").rglob("*") if path.is_file())
    assert files == [
        "federation.json",
        "participants/deid.example.org.yml",
        "participants/lead@example.org.yml",
        "participants/site-1.yml",
        "profile.yml",
        "session/app/config/config_fed_client.json",
        "session/app/config/config_fed_server.json",
        "session/meta.json",
    ]
    assert read_settings(FederationConfig, tmp_path / "lab" / "federation.json") == AGREEMENT
    assert load(tmp_path / "lab" / "profile.yml")["connection_security"] == "mtls"
    client = load(tmp_path / "lab" / "session" / "app" / "config" / "config_fed_client.json")
    assert client["executors"][0]["executor"] == {
        "path": "sklearn_deid.federated.sites.flare_executor.SiteExecutor",
        "args": {},
    }


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"project": "a b"}, "letters"),
        ({"sites": ["a.b"]}, "letters"),
        ({"sites": []}, "needs at least one site"),
        ({"sites": ["a", "a"]}, "must be distinct"),
        ({"labels": []}, "At least one label"),
        ({"labels": ["A", "A"]}, "labels must be distinct"),
        ({"labels": ["A B"]}, "without blanks"),
        ({"tagger": {"callbacks": None}}, "cannot be a shared setting"),
        ({"tagger": {"embeddings": "/a/file"}}, "must be public"),
        ({"n_epochs": 0}, "whole number"),
        ({"n_epochs": 10**400}, "whole number from 1 to 1000000"),
        ({"step": 0.0}, "'step'"),
    ],
)
def test_agreements_that_are_refused(wrong, reason):
    with pytest.raises(ExchangeError, match=reason):
        FederationConfig(**{"project": "lab", "sites": ["a"], "labels": ["A"], **wrong})


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"epsilon": 1.0, "noise_multiplier": 1.0, "norm_bound": 1.0, "threshold": 0.0}, "either"),
        ({"noise_multiplier": 1.0}, "belong together"),
        ({"epsilon": 1.0, "error_feedback": True}, "exclude each other"),
        ({"noise_multiplier": 1.0, "norm_bound": 1.0}, "threshold=0.0"),
        ({"upload_fraction": 2.0}, "fraction"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
        ({"validation_fraction": True}, "'validation_fraction' must be a number or text or null"),
        ({"validation_fraction": "turning"}, "between 0 and 1"),
        ({"validation_fraction": []}, "'validation_fraction' must be a number or text or null"),
        ({"random_state": -1}, "whole number"),
        ({"report_f1": True}, "needs held-out patients"),
        ({"report_f1": True, "validation_fraction": None}, "needs held-out patients"),
        ({"report_f1": "false", "validation_fraction": 0.5}, "'report_f1' must be true or false"),
        ({"error_feedback": "false"}, "'error_feedback' must be true or false"),
        ({"noise_multiplier": 1e-200, "norm_bound": 1.0, "threshold": 0.0}, "'noise_multiplier'"),
        ({"epsilon": 10**400}, "'epsilon'"),
        ({"patient_epsilon": 10**400}, "'patient_epsilon'"),
        ({"patient_epsilon": 8.0, "patient_sampling_rate": 1e-320}, "'sampling_rate'"),
        ({"clip": "1"}, "not supported|must be"),
    ],
)
def test_settings_that_are_refused(wrong, reason):
    with pytest.raises(ValueError, match=reason):
        SiteSettings(**{"corpus": "/n", "state": "/s", "random_state": 0, **wrong})


def test_noise_of_the_settings():
    assert SiteSettings("/n", "/s", 0).privacy() is None
    assert SiteSettings("/n", "/s", 0, epsilon=1.0).privacy() == SparseVectorUpload(1.0)
    gaussian = SiteSettings("/n", "/s", 0, noise_multiplier=2.0, norm_bound=3.0, threshold=0.0)
    assert gaussian.privacy() == GaussianUpload(2.0, 3.0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "JSON object"),
        ('{"corpus": "/n", "random_state": 0}', "need a field 'state'"),
        ('{"corpus": "/n", "state": "/s", "random_state": 0, "gamma": 1}', "no field 'gamma'"),
        ('{"corpus": "/n", "state": "/s", "random_state": 0, "clip": -1}', "refused"),
    ],
)
def test_files_that_are_refused(tmp_path, content, reason):
    path = tmp_path / "site.json"
    path.write_text(content)
    with pytest.raises(DeidError, match=reason):
        read_settings(SiteSettings, path)
    with pytest.raises(DeidError, match="cannot be read"):
        read_settings(SiteSettings, tmp_path / "missing.json")


VALUES = [None, True, -1, 2**70, 10**400, 0.5, math.inf, math.nan, "x\x1b[2J", [], [1], ["a", "a"], {"a": 1}]
DATACLASSES = [AGREEMENT, SiteSettings("/n", "/s"), SessionRules(), MaskKey("0" * 64)]


@pytest.mark.parametrize("settings", DATACLASSES, ids=lambda settings: type(settings).__name__)
def test_a_field_with_any_value_is_taken_or_refused_by_name(tmp_path, settings):
    """A seed of "x", a format of 1 and a site of the name "x" for ["x"] were taken; a tagger of null was no error."""
    good, path, n_refused = asdict(settings), tmp_path / "x.json", 0
    for name, value in itertools.product(good, VALUES):
        path.write_text(json.dumps({**good, name: value}))
        try:
            read_settings(type(settings), path)
        except DeidError as error:
            n_refused += 1
            known = f"'{name}'", "'epsilon' parameter of PatientPrivacy", "The parameter 'a'"
            words = {"project": "Names of", "sites": "Names of sites|names of sites", "labels": "abel"}
            assert any(word in str(error) for word in (*known, *words.get(name, "?").split("|"))), error
    assert n_refused > len(good) * len(VALUES) / 2


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('"patient_epsilon": 8, "patient_epsilon": null', "The field 'patient_epsilon' occurs twice"),
        ('"clip": 1e400', "The number 1e400 is too large"),
        ('"clip": NaN', "'clip' must be a number"),
        ('"random_state": 4294967296', "'random_state' must be a whole number from 0 to 4294967295"),
        ('"threads": 100000', "'threads' must be a whole number from 0 to 4096"),
        ('"download_fraction": 1.5', "'download_fraction'"),
    ],
)
def test_values_that_only_files_hold(tmp_path, more, reason):
    (tmp_path / "site.json").write_text(f'{{"corpus": "/n", "state": "/s", {more}}}')
    with pytest.raises(DeidError, match=reason):
        read_settings(SiteSettings, tmp_path / "site.json")
    with pytest.raises(ExchangeError, match="'seed' must be a whole number from 0"):
        FederationConfig("lab", ["a"], ["A"], seed=-1)


def test_settings_come_back(tmp_path):
    write_settings(SiteSettings("/n", "/s", 3, upload_dtype="float16"), tmp_path / "site.json")
    assert read_settings(SiteSettings, tmp_path / "site.json") == SiteSettings("/n", "/s", 3, upload_dtype="float16")


@pytest.mark.parametrize(("half", "dtype"), [("false", "float32"), ("true", "float16")])
def test_settings_of_versions_before_0_2_are_read(tmp_path, half, dtype):
    path = tmp_path / "site.json"
    path.write_text(f'{{"corpus": "/n", "state": "/s", "half": {half}}}')
    assert read_settings(SiteSettings, path) == SiteSettings("/n", "/s", upload_dtype=dtype)


@pytest.mark.parametrize("wrong", ['"half": "yes"', '"half": 1', '"half": true, "upload_dtype": "float32"'])
def test_old_fields_that_no_version_wrote_are_refused(tmp_path, wrong):
    path = tmp_path / "site.json"
    path.write_text(f'{{"corpus": "/n", "state": "/s", {wrong}}}')
    with pytest.raises(DeidError, match="no field 'half'"):
        read_settings(SiteSettings, path)
