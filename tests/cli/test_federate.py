"""``sklearn-deid federate``: what it writes, what it says, what it refuses."""

import json
import re

import pytest

from sklearn_deid import load, make_clinical_notes, write_corpus
from sklearn_deid.cli import main
from sklearn_deid.federated import PrivacyLedger, write_state
from sklearn_deid.federated.sites import FederationConfig, SiteSettings, read_settings

PLAN = ["federate", "plan", "--project", "lab", "--server", "deid.example.org", "--lead", "lead@example.org"]
SMALL = ["--hidden-size", "4", "--embeddings", "none", "--epochs", "7", "--session-epochs", "3"]


@pytest.fixture
def federation(tmp_path, monkeypatch, capsys):
    """A planned federation and the parts of kits that matter here."""
    monkeypatch.chdir(tmp_path)
    assert main([*PLAN, "lab", "--site", "site-1", "--site", "site-2", *SMALL]) == 0
    assert "7 local epochs in 3 sessions; 31 labels." in capsys.readouterr().out
    for name, startup in (("site-1", "fed_client.json"), ("server", "fed_server.json")):
        (tmp_path / name / "startup").mkdir(parents=True)
        (tmp_path / name / "local").mkdir()
        (tmp_path / name / "startup" / startup).write_text("{}")
        storage = {"args": {"storage": {"args": {}}}}
        resources = {"components": [{"id": "job_manager", "args": {}}], "snapshot_persistor": storage}
        (tmp_path / name / "local" / "resources.json.default").write_text(json.dumps(resources))
    write_corpus(make_clinical_notes(2, random_state=0), tmp_path / "notes", "brat")
    return tmp_path


def site(*options):
    return main(["federate", "site", "site-1", "--agreement", "lab/federation.json", "--corpus", "notes", *options])


def test_plan_writes_what_was_asked_for(federation):
    agreement = read_settings(FederationConfig, federation / "lab" / "federation.json")
    assert agreement.sites == ["site-1", "site-2"]
    assert agreement.tagger == {"embeddings": None, "hidden_size": 4, "batch_size": 450}
    assert agreement.step == pytest.approx(2**-0.5)
    rules = json.loads((federation / "lab/session/app/config/config_fed_server.json").read_text())["workflows"][0][
        "args"
    ]
    assert rules["n_epochs"] == 3
    assert main([*PLAN, "lab", "--site", "site-1"]) == 2


def test_the_number_of_notes_decides_on_epochs_and_parts(federation):
    assert main([*PLAN, "large", "--site", "site-1", "--site", "site-2", "--notes", "300"]) == 0
    agreement = read_settings(FederationConfig, federation / "large" / "federation.json")
    assert (agreement.n_parts, agreement.n_epochs) == (5, 150)


def test_plans_derive_the_learning_rate_and_the_first_weights(federation, capsys):
    """From the sites, unless an option says otherwise; another network has random weights."""
    named = [word for site in ("site-1", "site-2", "site-3", "site-4") for word in ("--site", site)]

    def planned(folder, *options):
        assert main([*PLAN, folder, *named, *options]) == 0
        agreement = read_settings(FederationConfig, federation / folder / "federation.json")
        return agreement.tagger.get("lr"), agreement.tagger.get("warm_start_from")

    assert planned("default") == (0.006, "starter-en")
    assert "Learning rate 0.006; first weights: starter-en." in capsys.readouterr().out
    assert planned("random", "--start", "none", "--lr", "0.001") == (0.001, None)
    assert "Learning rate 0.001; first weights: random." in capsys.readouterr().out
    assert planned("small", *SMALL) == (0.006, None)
    assert planned("softmax", "--set", "head=softmax") == (0.006, None)
    assert planned("arrival", "--no-screen") == (None, "starter-en"), "each update is added on arrival: not measured"
    assert planned("median", "--aggregation", "median", "--no-screen")[0] == 0.006
    assert main(["federate", "server", "server", "--agreement", "default/federation.json"]) == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--hidden-size", "32"], "network has the same shape"),
        (["--set", "head=softmax"], "network has the same shape"),
        (["--embeddings", "none"], "reads its own vectors"),
        (["--set", "embeddings=null"], "reads its own vectors"),
    ],
)
def test_a_start_from_another_network_is_refused_before_the_server_is_set_up(federation, capsys, options, reason):
    """The server ended with a traceback, and no vectors of words meant those of the starter."""
    named = [word for site in ("site-1", "site-2", "site-3") for word in ("--site", site)]
    assert main([*PLAN, "wrong", *named, "--start", "starter-en", *options]) == 2
    assert reason in capsys.readouterr().err
    assert not (federation / "wrong").exists()


def test_a_parameter_with_two_values_is_refused(federation, capsys):
    """The last value was agreed on without a word."""
    options = ["--set", "hidden_size=8", "--set", "hidden_size=16"]
    assert main([*PLAN, "wrong", "--site", "site-1", "--site", "site-2", *options]) == 2
    assert "--set names a value of 'hidden_size' twice" in capsys.readouterr().err
    assert not (federation / "wrong").exists()


def test_masks_are_agreed_by_keys_that_sites_make(federation, capsys):
    """The site of the kit refuses an agreement with another key, and says the fingerprint of all keys."""
    named = [word for site in ("site-1", "site-2", "site-3") for word in ("--site", site)]
    assert main([*PLAN, "masked", *named, *SMALL]) == 0
    capsys.readouterr()
    keys = []
    for name in ("site-1", "site-2", "site-3"):
        for part in ("local", "startup"):
            (federation / name / part).mkdir(parents=True, exist_ok=True)
        (federation / name / "startup" / "fed_client.json").write_text("{}")
        assert main(["federate", "key", name]) == 0
        keys.append(capsys.readouterr().out.strip())
    options = [word for n, key in enumerate(keys, 1) for word in ("--key", f"site-{n}={key}")]
    assert main(["federate", "masks", "masked/federation.json", *options[:4]]) == 2
    capsys.readouterr()
    # The last key counted without a word.
    assert main(["federate", "masks", "masked/federation.json", *options[:2], *options]) == 2
    assert "--key names a site twice" in capsys.readouterr().err
    assert main(["federate", "masks", "masked/federation.json", *options, "--fraction", "0.5"]) == 0
    agreement = read_settings(FederationConfig, federation / "masked" / "federation.json")
    assert (list(agreement.mask_keys.values()), agreement.mask_fraction) == (keys, 0.5)
    assert agreement.mask_fingerprint() in capsys.readouterr().out
    whole = ["federate", "site", "site-1", "--agreement", "masked/federation.json", "--corpus", "notes"]
    assert main(whole) == 0
    assert agreement.mask_fingerprint() in capsys.readouterr().out
    assert main([*whole, "--upload-fraction", "0.5"]) == 2
    (federation / "site-1" / "local" / "mask.key").unlink()
    assert main(["federate", "key", "site-1"]) == 0
    assert main(whole) == 2
    assert "another key for this site" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["server", "lab", "nowhere"])
def test_a_key_is_made_in_the_kit_of_a_site_only(federation, capsys, folder):
    """The private key of a site was left at the server, from which the masks hide the updates."""
    assert main(["federate", "key", folder]) == 2
    assert "The folder is not a kit of a site" in capsys.readouterr().err
    assert not list(federation.rglob("mask.key"))


def test_a_median_is_agreed_on_by_three_sites(federation, capsys):
    named = [word for site in ("site-1", "site-2", "site-3") for word in ("--site", site)]
    assert main([*PLAN, "two", *named[:4], *SMALL, "--aggregation", "median"]) == 2
    assert "at least 3 sites" in capsys.readouterr().err
    assert main([*PLAN, "trimmed", *named, *SMALL, "--aggregation", "trimmed_mean", "--n-trim", "2"]) == 2
    assert main([*PLAN, "voting", *named, *SMALL, "--aggregation", "median"]) == 0
    agreement = read_settings(FederationConfig, federation / "voting" / "federation.json")
    assert (agreement.aggregation, agreement.n_trim) == ("median", 1)
    assert agreement.limits().step == pytest.approx(3**0.5)
    whole = ["federate", "site", "site-1", "--agreement", "voting/federation.json", "--corpus", "notes"]
    assert main(whole) == 0
    assert main([*whole, "--upload-fraction", "0.5"]) == 2
    assert "sends and fetches all parameters" in capsys.readouterr().err


def test_small_shares_are_not_rounded_to_none(federation, capsys):
    assert site("--upload-fraction", "0.001") == 0
    assert "at most 0.1% of" in capsys.readouterr().out
    assert site("--upload-fraction", "0.12349") == 0
    assert "at most 12.349% of" in capsys.readouterr().out, "12.3 % would be less than the sent part"


def test_site_keeps_its_settings(federation, capsys):
    assert site("--upload-fraction", "0.25", "--clip", "0.5") == 0
    out = capsys.readouterr().out
    assert "2 notes of 1 patient," in out
    assert "at most 25%" in out
    assert "without noise" in out
    settings = read_settings(SiteSettings, federation / "site-1" / "local" / "site.json")
    assert (settings.upload_fraction, settings.clip) == (0.25, 0.5)
    assert (settings.download_fraction, settings.threshold, settings.upload_dtype) == (1.0, 0.0, "float16")
    assert settings.corpus == str(federation / "notes")
    assert site("--clip", "0.01", "--epsilon", "1") == 0
    assert "without noise" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("written", "kept"),
    [((), "rotating"), (("rotating",), "rotating"), (("none",), None), (("0.5",), 0.5), (("1.5",), "refused")],
)
def test_a_site_chooses_the_patients_who_test_downloads(federation, written, kept):
    write_corpus(make_clinical_notes(8, random_state=0), federation / "two-patients", "brat")
    options = ("--corpus", "two-patients", *(("--validation-fraction", *written) if written else ()))
    if kept == "refused":
        with pytest.raises(SystemExit):
            site(*options)
        return
    assert site(*options) == 0
    assert read_settings(SiteSettings, federation / "site-1" / "local" / "site.json").validation_fraction == kept


def test_test_patients_who_leave_nobody_to_train_on_are_refused(federation, capsys):
    """The site was prepared, and every session then failed."""
    write_corpus(make_clinical_notes(8, random_state=0), federation / "two-patients", "brat")
    for corpus, fraction, n_patients in (("two-patients", "0.9", 2), ("notes", "0.2", 1)):
        assert site("--corpus", corpus, "--validation-fraction", fraction) == 2
        assert f"no patient of {n_patients} would be left for the training" in capsys.readouterr().err
        assert not (federation / "site-1" / "local" / "site.json").exists()


def test_noise_has_a_total_of_the_whole_training(federation, capsys):
    """The option is the total of all epochs, whatever their number; each upload has its part of it."""
    for n_epochs in (5, 40):
        folder = f"epochs-{n_epochs}"
        assert main([*PLAN, folder, "--site", "site-1", "--site", "site-2", *SMALL, "--epochs", str(n_epochs)]) == 0
        whole = ["federate", "site", "site-1", "--agreement", f"{folder}/federation.json", "--corpus", "notes"]
        assert main([*whole, "--clip", "0.01", "--epsilon", "2"]) == 0
        assert f"epsilon 2.000 at delta 1e-05 for the uploads of all {n_epochs}" in capsys.readouterr().out
        settings = read_settings(SiteSettings, federation / "site-1" / "local" / "site.json")
        assert n_epochs * settings.privacy().exact_epsilon() == pytest.approx(2)


@pytest.mark.parametrize(
    ("noise", "limit"),
    [
        (["--epsilon", "70"], "max_norm"),
        (["--epsilon", "70", "--clip", "11"], "max_abs"),
        (["--noise-multiplier", "20", "--norm-bound", "1"], "max_abs"),
        (["--noise-multiplier", "20", "--norm-bound", "0.1"], "max_norm"),
    ],
)
def test_noise_beyond_the_limits_of_the_server_is_refused(federation, capsys, monkeypatch, noise, limit):
    """The site spent its epsilon, and the server refused each of its updates: also with the default of --clip."""
    monkeypatch.setattr("sklearn_deid.federated.privacy_ledger.spent_epsilon", lambda *_: 1.0)
    assert site(*noise) == 2
    error = capsys.readouterr().err
    assert "The server would refuse updates with this noise" in error and limit in error
    assert not (federation / "site-1" / "local" / "site.json").exists()
    assert site(*noise, "--clip" if "--epsilon" in noise else "--norm-bound", "0.001") == 0


def test_noise_that_promises_nothing_is_refused_with_its_epsilon(federation, capsys):
    assert site("--noise-multiplier", "0.001", "--norm-bound", "1000", "--threshold", "0") == 2
    assert re.search(r"means epsilon \d.*e\+0\d at delta 1e-05 .* promises nothing", capsys.readouterr().err)
    assert site("--epsilon", "1e6") == 2
    assert not (federation / "site-1" / "local" / "site.json").exists()
    pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
    assert site("--noise-multiplier", "8", "--norm-bound", "0.01", "--threshold", "0") == 0
    assert "This site as a whole, and so each of its patients: epsilon" in capsys.readouterr().out


@pytest.mark.parametrize("term", [("--proximal", "0.1"), ("--set", "class_weight=balanced")])
def test_an_epsilon_that_no_session_keeps_is_not_promised(federation, capsys, term):
    """The site was prepared with an epsilon, and every session then refused to train."""
    assert main([*PLAN, "other", "--site", "site-1", "--site", "site-2", *SMALL, *term]) == 0
    whole = ["federate", "site", "site-1", "--agreement", "other/federation.json", "--corpus", "notes"]
    assert main([*whole, "--patient-epsilon", "8"]) == 2
    assert f"planned with {'class_weight' if '--set' in term else term[0]}" in capsys.readouterr().err
    assert not (federation / "site-1" / "local" / "site.json").exists()
    assert main(whole) == 0


def test_a_site_that_is_set_up_again_reads_what_it_has_spent(federation, capsys):
    """The command said that nothing was spent, and accepted a second budget until the next session."""
    pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
    private = ("--patient-epsilon", "8", "--patient-delta")
    assert site(*private, "1e-5") == 0
    assert "epsilon 8 at delta 1e-05 for all 7 local epochs of 4 steps; nothing is spent yet" in capsys.readouterr().out
    settings = read_settings(SiteSettings, federation / "site-1" / "local" / "site.json")
    (federation / "site-1" / "deid-state").mkdir()
    settings.patient_privacy().open_ledger(1, 7).charge(4)
    assert site(*private, "1e-5") == 0
    out = capsys.readouterr().out
    assert re.search(r"Each patient: epsilon [1-9]\.\d+ of 8 spent at delta 1e-05, 4 of 28 steps", out)
    assert "nothing is spent" not in out
    before = (federation / "site-1" / "local" / "site.json").read_bytes()
    assert site(*private, "1e-6") == 2
    assert "a second budget" in capsys.readouterr().err
    assert (federation / "site-1" / "local" / "site.json").read_bytes() == before


@pytest.mark.parametrize("n_spent", [0, 4])
def test_a_ledger_that_is_older_than_the_training_is_not_told(federation, capsys, n_spent):
    """A session that refuses to start without its ledger leaves a new one, and the officer read an epsilon of 0."""
    pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
    private = ("--patient-epsilon", "8", "--patient-delta", "1e-5")
    assert site(*private) == 0
    settings = read_settings(SiteSettings, federation / "site-1" / "local" / "site.json")
    state = federation / "site-1" / "deid-state"
    state.mkdir()
    ledger = settings.patient_privacy().open_ledger(1, 7)
    if n_spent:
        ledger.charge(n_spent)
    write_state(state / "worker.state", "worker", {"n_epochs": 2}, {})
    write_state(state / "learner-2.state", "learner", {"n_epochs": 2, "spent": 8}, {})
    assert site(*private) == 2
    told = capsys.readouterr()
    assert f"counts {n_spent} steps, but the saved training has charged 8" in told.err
    ledger.charge(8 - n_spent)
    assert site(*private) == 0
    assert "8 of 28 steps" in capsys.readouterr().out


def test_a_training_without_a_ledger_is_not_told_as_unspent(federation, capsys):
    """The officer read that nothing was spent, although the ledger had been deleted or there had been no noise."""
    (federation / "site-1" / "deid-state").mkdir()
    (federation / "site-1" / "deid-state" / "worker.state").touch()
    assert site("--patient-epsilon", "8") == 2
    told = capsys.readouterr()
    assert "holds a training, but no privacy ledger" in told.err and "nothing is spent" not in told.out
    assert not (federation / "site-1" / "local" / "site.json").exists()
    assert site() == 0


@pytest.mark.parametrize("name", ["worker.state", "patient-privacy.json"])
def test_a_training_in_another_state_folder_is_not_told_as_unspent(federation, capsys, name):
    """Set up again without --state, the site began in a new folder, and nothing was spent."""
    assert site("--state", "own") == 0
    (federation / "own").mkdir()
    (federation / "own" / name).touch()
    before = (federation / "site-1" / "local" / "site.json").read_bytes()
    assert site() == 2
    assert "has begun in another state folder" in capsys.readouterr().err
    assert (federation / "site-1" / "local" / "site.json").read_bytes() == before
    assert site("--state", "own") == 0
    (federation / "own").rename(federation / "site-1" / "deid-state")
    assert site() == 0


def test_uploads_of_earlier_sessions_belong_to_the_printed_epsilon(federation, capsys):
    """The command printed the epsilon of all epochs with the new noise, which only the rest of them has."""
    assert site("--clip", "0.01", "--epsilon", "70") == 0
    assert (
        "epsilon 70.000 at delta 1e-05 for the uploads of all 7 local epochs; nothing is spent"
        in capsys.readouterr().out
    )
    settings = read_settings(SiteSettings, federation / "site-1" / "local" / "site.json")
    ledger = PrivacyLedger()
    ledger.add(settings.privacy().event(), 4)
    state = {"ledger": ledger.to_list(), "n_epochs": 4, "sequence": 4}
    (federation / "site-1" / "deid-state").mkdir()
    write_state(federation / "site-1" / "deid-state" / "worker.state", "worker", state, {})
    assert site("--clip", "0.01", "--epsilon", "7") == 0
    assert "epsilon 43.000 at delta 1e-05 for the uploads of all 7 local epochs; officer.log" in capsys.readouterr().out
    write_state(federation / "site-1" / "deid-state" / "worker.state", "worker", {**state, "ledger": []}, {})
    assert site("--epsilon", "7") == 2
    assert "Earlier updates of this site had no noise" in capsys.readouterr().err


def test_a_site_that_is_set_up_again_keeps_its_seed(federation):
    """With another one it would hold out other patients, and refuse to go on; the first seed was lost."""
    seeds = []
    for options in ((), ("--threads", "2"), ("--clip", "0.5")):
        assert site(*options) == 0
        settings = federation / "site-1" / "local" / "site.json"
        seeds.append(read_settings(SiteSettings, settings).random_state)
    assert len(set(seeds)) == 1
    settings.write_text("{")
    assert site() == 0
    assert read_settings(SiteSettings, settings).random_state != seeds[0]


def test_server_and_model(federation, capsys):
    assert main(["federate", "server", "server", "--agreement", "lab/federation.json"]) == 0
    assert main(["federate", "model", "server", "--output", "global"]) == 0
    assert "Model saved in global: version 0 of the server." in capsys.readouterr().out
    assert load(federation / "global").predict([["Mr", "Alder"]])[0]
    assert main(["federate", "model", "server", "--output", "global"]) == 2


def test_labels_that_are_not_agreed_on_are_refused(federation, capsys):
    assert main([*PLAN, "other", "--site", "site-1", "--labels", "DATE,AGE"]) == 0
    options = ["--agreement", "other/federation.json", "--corpus", "notes"]
    assert main(["federate", "site", "site-1", *options]) == 2
    assert "labels that the agreement does not name" in capsys.readouterr().err


@pytest.mark.parametrize("names", ["i2b2", "I2B2-2014", "hipaa", "i2b2-2014,PHI", ""])
def test_a_misspelt_name_of_a_label_set_is_no_label(federation, capsys, names):
    assert main([*PLAN, "other", "--site", "site-1", "--labels", names]) == 2
    assert "a single label with a comma behind it" in capsys.readouterr().err
    assert not (federation / "other").exists()


def test_a_single_label_ends_in_a_comma(federation):
    assert main([*PLAN, "other", "--site", "site-1", "--labels", "NAME,"]) == 0
    assert json.loads((federation / "other" / "federation.json").read_text())["labels"] == ["NAME"]


def test_a_site_that_no_session_could_train_is_refused(federation, capsys, monkeypatch):
    """With another version of Faker, or without the device, the site was prepared, and every session failed."""
    monkeypatch.setattr("sklearn_deid.cli.options._n_cuda_devices", lambda: 0)
    assert site("--device", "cuda") == 2
    assert "There is no device cuda on this computer" in capsys.readouterr().err
    path = federation / "lab" / "federation.json"
    agreement = json.loads(path.read_text())
    agreement |= {"tagger": {"hidden_size": 4}, "lists": "any", "lists_checksum": "0" * 32}
    path.write_text(json.dumps(agreement))
    assert site() == 2
    assert "another version of Faker is installed" in capsys.readouterr().err
    assert not (federation / "site-1" / "local" / "site.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--noise-multiplier", "1"], "belong together"),
        (["--epsilon", "1", "--selection", "largest"], "selection='random'"),
        (["--format", "conll"], "no file"),
    ],
)
def test_site_is_told_what_does_not_fit(federation, capsys, options, message):
    assert site(*options) == 2
    assert message in capsys.readouterr().err
    assert not (federation / "site-1" / "local" / "site.json").exists()


@pytest.mark.parametrize(
    "wrong",
    [["--clip", "0"], ["--clip", "x"], ["--upload-fraction", "1.5"], ["--threshold", "-1"], ["--selection", "best"]],
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(SystemExit, match="2"):
        site(*wrong)


def test_an_epsilon_that_no_noise_keeps_is_refused_at_once(federation, capsys):
    """The command promised the epsilon, and every session failed."""
    pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
    assert site("--patient-epsilon", "0.0001") == 2
    assert "No noise keeps 28 steps within epsilon 0.0001" in capsys.readouterr().err
    assert not (federation / "site-1" / "local" / "site.json").exists()
