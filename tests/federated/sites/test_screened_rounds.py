"""Screened rounds between sites and a server, without a network: equal to one process, a site that points against the
others, sites that are missing, and a checkpoint a round."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.cli import main
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    ParameterServer,
    ServerLimits,
    SparseUpdate,
    StrategyPlan,
    make_learner,
    run_strategy,
)
from sklearn_deid.federated.sites import (
    FederationConfig,
    RobustSite,
    SiteTraining,
    keep_round,
    list_checkpoints,
    make_mask_key,
    make_service,
    pack,
    read_settings,
    read_site_corpus,
    roll_back,
    server_checkpoint,
    unpack,
    write_settings,
)

from .test_checkpoints import kit  # noqa: F401
from .test_robust_rounds import (
    FOUR,
    MODEL,
    RULES,
    SITES,
    SIZE,
    Desk,
    agreement_of,
    notes,  # noqa: F401
    run_session,
    settings,
)


class Screened(Desk):
    """Sites whose updates point in similar directions."""

    def __init__(self, sites=SITES, **agreed):
        super().__init__(sites, **{"aggregation": "mean", "screened": True, **agreed})
        self.goal, self.common = self.values(), 1.0

    def honest(self):
        return self.common * self.goal + self.values()

    def one_round(self, number, factors=()):
        """Honest updates of all sites, multiplied by ``factors`` at the last ones; returns the honest ones."""
        sent = {site: self.honest() for site in self.agreement.sites}
        for site, factor in zip(reversed(sent), factors, strict=False):
            sent[site] = np.float32(factor) * sent[site]
        for site, values in sent.items():
            self.download(site)
            self.send(site, values, number)
        return list(sent.values())[: len(sent) - len(factors)]


@pytest.mark.parametrize("factor", [-4.9, -3, -1, -0.5])
@pytest.mark.parametrize("how", ["mean", "median", "trimmed_mean"])
def test_a_site_that_points_against_the_others_moves_nothing(how, factor):
    desk = Screened(FOUR, aggregation=how)
    for number in range(10):
        before = desk.server.parameters.copy()
        honest = np.stack(desk.one_round(number, [factor])).astype(np.float64)
        expected = honest.mean(axis=0) if how == "mean" else np.median(honest, axis=0)
        np.testing.assert_allclose(desk.server.parameters, before + expected.astype(np.float32), atol=1e-6)
    refused = [event for event in desk.events if event["event"] == "refused"]
    assert [event["site"] for event in refused] == ["d"] * 10
    assert "points against the updates of most other workers" in refused[0]["reason"]
    assert [desk.server.delivered(site) for site in "ad"] == [[(0, 9)], []]
    assert desk.fate("d", 9) == "left out"


def test_a_refused_message_does_not_bring_a_hostile_site_back():
    """After one message that the server refused, the updates of a site that had been left out passed."""
    desk = Screened(FOUR)
    for number in range(8):
        desk.common = 1.0 if number < 3 else 0.3  # cosines of about .5, and .08 as at the end of a training
        desk.one_round(number, [-1])
    desk.one_round(8, [1e6])
    for number in range(9, 15):
        before = desk.server.parameters.copy()
        honest = np.stack(desk.one_round(number, [-4.5])).astype(np.float64)
        np.testing.assert_allclose(desk.server.parameters, before + honest.mean(axis=0).astype(np.float32), atol=1e-6)
    assert desk.server.delivered("d") == []


def test_a_round_of_two_is_not_screened_although_one_site_was_left_out_before():
    desk = Screened()
    desk.one_round(0, [-1])
    desk.one_round(1, [-1])
    desk.agreement = replace(desk.agreement, sites=["a", "c"], step=0.5)
    desk.restart()
    desk.one_round(2)
    assert [event["how"] for event in desk.events if event["event"] == "sum"] == ["added"] * 3
    assert desk.server.delivered("c") == [(2, 2)]


@pytest.mark.parametrize("factor", [4.5, -4.5])
def test_a_site_that_alternates_moves_a_round_by_at_most_twice_an_honest_update(factor):
    """Two honest updates, and one of several times the usual length, when honest updates are mostly noise.

    Their cosines are then too small for the screen. The mean moves by the share of the hostile site at most.
    """
    desk = Screened(FOUR)
    desk.common = 0.3  # cosines of about .08
    for number in range(9):
        before = desk.server.parameters.astype(np.float64)
        honest = np.stack(desk.one_round(number, [factor if number % 3 == 2 else 1])).astype(np.float64)
        usual = np.median(np.linalg.norm(honest, axis=1))
        moved = np.linalg.norm(desk.server.parameters - before - honest.mean(axis=0) * 3 / 4)
        assert moved <= 2 * usual / 4
    assert desk.server.n_refused == 0, "the screen says nothing against this site"


def test_without_a_screen_the_same_site_moves_everything():
    desk = Screened(aggregation="median", screened=False)
    honest = np.stack(desk.one_round(0, [-3])).astype(np.float64)
    assert not np.allclose(desk.server.parameters - 1, honest.mean(axis=0), atol=1e-3)
    assert not [event for event in desk.events if event["event"] == "refused"]


@pytest.mark.parametrize("common", [1.0, 0.0])
def test_honest_sites_are_added_as_without_a_screen(common):
    desk = Screened()
    desk.common = common
    for number in range(10):
        before = desk.server.parameters.copy()
        mean = np.stack(desk.one_round(number)).astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(desk.server.parameters, before + mean.astype(np.float32), atol=1e-6)
    assert desk.server.n_refused == 0


@pytest.mark.parametrize(("length", "added"), [(1.45, 1.45), (2.2, 1.5), (4, 1.5)])
def test_a_large_site_is_added_up_to_one_and_a_half_times_the_usual_norm(length, added):
    """However long it has sent longer ones: a hostile site can always have done so."""
    desk = Screened(FOUR)
    for number in range(6):
        before = desk.server.parameters.copy()
        sent = {site: desk.honest() for site in FOUR}
        norms = [float(np.linalg.norm(values.astype(np.float64))) for values in sent.values()]
        sent["d"] *= np.float32(length * max(norms[:3]) / norms[3])
        for site, values in sent.items():
            desk.send(site, values, number)
        sent["d"] *= np.float32(added / length)
        mean = np.stack(list(sent.values())).astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(desk.server.parameters, before + mean.astype(np.float32), atol=2e-6)
    assert desk.server.n_refused == 0


@pytest.mark.parametrize("screened", [True, False])
def test_the_last_round_of_an_agreement_is_added(screened):
    """Its updates are as long as those of the first rounds, and a hundred times those of the round before."""
    desk = Screened(FOUR, screened=screened, n_epochs=3, aggregation="median")
    for number, length in enumerate([1.0, 0.01, 1.0]):
        desk.goal = np.float32(length) * desk.values()
        sent = {site: np.float32(length) * desk.values() + desk.goal for site in FOUR}
        for site, values in sent.items():
            desk.download(site)
            desk.send(site, values, number)
    assert desk.sums() == [(0, "added"), (1, "added"), (2, "added")] and desk.server.n_refused == 0


def test_cosines_of_earlier_rounds_outlive_a_server(tmp_path):
    """A site whose updates are short of the bound of one round is left out from the third round on."""
    desk, left_out = Screened(FOUR), []
    desk.common = 0.42  # cosines of about .15
    for number in range(5):
        desk.one_round(number, [-1])
        desk.server.save(tmp_path / "server.state")
        desk.server = ParameterServer.load(tmp_path / "server.state")
        desk.restart()
        left_out.append(desk.server.n_refused)
    assert left_out == [0, 0, 1, 2, 3]


def test_rounds_in_which_nobody_agrees_are_void():
    desk = Screened()
    corners = np.array([[1, 0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
    for site, corner in zip(SITES, corners, strict=True):
        desk.send(site, np.tile(corner, SIZE // 2).astype(np.float32), 0)
    assert (desk.server.parameters == 1).all() and desk.server.version == 1
    assert [event["site"] for event in desk.events if event["event"] == "refused"] == SITES


def test_an_innocent_site_of_a_void_round_is_not_told_that_its_update_is_long():
    desk = Screened()
    desk.one_round(0, [-1, 6])
    reasons = {event["site"]: event["reason"] for event in desk.events if event["event"] == "refused"}
    assert sorted(reasons) == SITES and (desk.server.parameters == 1).all()
    assert "points against" in reasons["c"] and "Fewer than two updates" in reasons["a"]


def test_missing_sites_stop_nobody_and_shorten_the_step():
    """Three of four go on, with a step of the square root of three; two of three end the session."""
    for sites, is_added in ((FOUR, True), (SITES, False)):
        desk = Screened(sites, step=len(sites) ** -0.5)
        for site in sites:
            desk.download(site)
        sent = {site: desk.honest() for site in sites[:-1]}
        for site, values in sent.items():
            desk.send(site, values, 0)
        assert desk.server.version == 0
        desk.clock.now = 21.0
        for site in sent:
            desk.ask(site, ask="ping")
        assert desk.fate("a", 0) == ("added" if is_added else None)
        assert desk.service.is_over() != is_added
        mean = is_added * np.stack(list(sent.values())).mean(axis=0)
        np.testing.assert_allclose(desk.server.parameters - 1, 3**0.5 * mean, atol=1e-6)


def test_an_agreement_of_two_goes_on_without_a_screen():
    desk = Screened(SITES[:2])
    desk.one_round(0, [-3])
    assert desk.server.version == 1 and desk.server.n_refused == 0
    assert [event["screened"] for event in desk.events if event["event"] == "sum"] == [False]


def test_sessions_equal_one_process_bit_by_bit(tmp_path, notes):  # noqa: F811
    """Sites, files, messages and two sessions change no bit of what `FederatedAveraging` computes."""
    agreement = replace(agreement_of(FOUR, "mean"), screened=True)
    server = agreement.new_server()
    first = server.parameters.copy()
    for _ in range(2):
        events, results = run_session(tmp_path, notes, agreement, server, n_epochs=1)
        assert results == dict.fromkeys(FOUR, 1)
        assert [event["screened"] for event in events if event["event"] == "sum"] == [True]
    learners = {}
    for site in FOUR:
        data = read_site_corpus(settings(tmp_path, notes, site)).to_sentences()
        tagger = agreement.tagger_to_train().set_params(random_state=7)
        learners[site] = make_learner(tagger, data.X, data.y, data.groups, agreement.labels, n_epochs=2)
    limits = ServerLimits(step=2.0, max_norm=np.inf)
    plan = StrategyPlan("fedavg", n_epochs=2, screened=True, max_ratio=5.0, limits=limits)
    alone = run_strategy(plan, learners, first, server.model, random_state=0)
    assert np.array_equal(server.parameters, alone.parameters)
    assert not np.array_equal(server.parameters, first)


# ---- sites with noise beside sites without


def of_length(values, length):
    return np.float32(length / np.linalg.norm(values.astype(np.float64))) * values


@pytest.mark.parametrize(
    ("sites", "noisy", "lengths", "bound"),
    [
        (SITES, "ab", {"c": 5.3}, 1.5),  # measured: the update of 60 notes beside two sites with epsilon 8
        (SITES, "ab", {"c": 15}, 1.5),
        (FOUR, "d", {"d": 12}, 1),
        (FOUR, "cd", {"c": 12, "d": 12}, 12),  # half of the sites: nobody is usual
        (FOUR, "d", {"d": 0.2}, 1),
    ],
)
def test_honest_sites_with_noise_and_without_take_part_together(sites, noisy, lengths, bound):
    """With default settings, and from the first round on, however much their updates differ in length."""
    desk = Screened(sites)
    for number in range(4):
        before = desk.server.parameters.astype(np.float64)
        sent = {
            site: of_length(desk.values() if site in noisy else desk.honest(), lengths.get(site, 1)) for site in sites
        }
        for site, values in sent.items():
            assert desk.send(site, values, number, noise=site in noisy)["status"] == "ok"
        usual = [values.astype(np.float64) for site, values in sent.items() if site not in lengths]
        moved = np.linalg.norm(desk.server.parameters - before - np.sum(usual, axis=0) / len(sites))
        assert 0 < moved <= len(lengths) * bound / len(sites) * (1 + 1e-5)
    assert desk.server.n_refused == 0


@pytest.mark.parametrize(("patient_epsilon", "told"), [(8.0, {"noise": True}), (None, {})])
def test_a_site_tells_that_its_updates_have_noise(tmp_path, notes, patient_epsilon, told):  # noqa: F811
    own, asked = replace(settings(tmp_path, notes, "a"), patient_epsilon=patient_epsilon), []

    def ask(fields, body=b""):
        asked.append(fields)
        return ({"status": "refused"} if fields["ask"] == "upload" else {"status": "ok", "sum": "late"}), b""

    message = SparseUpdate(np.arange(SIZE), np.ones(SIZE, np.float32), SIZE, MODEL, 4).to_bytes()
    assert RobustSite(own).exchange(ask, message, lambda: False, lambda line: None)
    assert asked == [{"ask": "upload", "sequence": 0, **told}, {"ask": "sum", "round": 4, "sequence": 0}]


def test_a_server_that_restarts_in_an_open_round_hears_of_the_noise_again(tmp_path, notes):  # noqa: F811
    """It forgets the open round as a whole: sites send their update again, and tell of its noise with it."""
    plain, runs = settings(tmp_path, notes, "a"), []
    for restarts, epsilon in ((False, 8.0), (True, 8.0), (False, None)):
        desk = Screened(FOUR)
        # The update with noise is shrunk to the median norm, another one to 1.5 times that.
        sent = {site: of_length(desk.honest(), 12 if site == "d" else 1) for site in FOUR}
        noisy = RobustSite(replace(plain, patient_epsilon=epsilon))

        def send(site, desk=desk, sent=sent, noisy=noisy):
            robust = noisy if site == "d" else RobustSite(plain)
            message = SparseUpdate(np.arange(SIZE), sent[site], SIZE, MODEL, 0).to_bytes()
            robust.exchange(lambda fields, body=b"": desk.ask(site, body, **fields), message, lambda: True, print)

        send("d")
        send("a")
        if restarts:
            desk.server.save(tmp_path / "server.state")
            desk.server = ParameterServer.load(tmp_path / "server.state")
            desk.restart()
            send("d")
            send("a")
        send("b")
        assert desk.server.version == 0
        send("c")
        assert desk.server.version == 1
        runs.append(desk.server.parameters)
    assert np.array_equal(runs[0], runs[1])
    assert not np.allclose(runs[0], runs[2], atol=1e-4), "the claim changes the sum"


@pytest.mark.parametrize("factor", [-20, -6.5])
@pytest.mark.parametrize("claims", [["d"], FOUR, SITES])
def test_claims_of_noise_let_no_multiplied_update_pass(claims, factor):
    """Neither of the hostile site nor of others."""
    desk = Screened(FOUR)
    for number in range(6):
        before = desk.server.parameters.copy()
        sent = {site: of_length(desk.honest(), factor if site == "d" else 1) for site in FOUR}
        for site, values in sent.items():
            desk.download(site)
            desk.send(site, values, number, noise=site in claims)
        mean = np.stack([sent[site] for site in SITES]).astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(desk.server.parameters, before + mean.astype(np.float32), atol=1e-6)
    assert desk.server.delivered("d") == []


@pytest.mark.parametrize(
    "agreed", [{"sites": FOUR, "aggregation": "median", "screened": False}, {"sites": SITES[:2]}, {"sites": FOUR}]
)
@pytest.mark.parametrize("noise", [True, None, 1, "yes"])
def test_only_a_claim_in_a_screened_round_of_three_changes_the_limit(agreed, noise):
    desk = Screened(**agreed)
    last, allowed = desk.agreement.sites[-1], noise is True and agreed == {"sites": FOUR}
    for number in range(2):
        for site in desk.agreement.sites:
            desk.send(site, of_length(desk.honest(), 9 if site == last else 1), number, noise=site == last and noise)
    left_out = {event["site"] for event in desk.events if event["event"] == "refused"}
    assert left_out == (set() if allowed or len(desk.agreement.sites) == 2 else {last})


# ---- agreements and commands


def test_a_server_without_the_screen_is_refused(tmp_path, notes):  # noqa: F811
    plain = agreement_of(SITES, "mean")
    screened = replace(plain, screened=True)
    for theirs, own in ((screened, plain), (plain, screened)):
        service = make_service(plain.new_server(), theirs, RULES, lambda event: None)
        training = SiteTraining(own, settings(tmp_path, notes, "a"), "a")
        with pytest.raises(ExchangeError, match="combines updates in another way"):
            training.run_session(lambda f, body=b"", service=service: unpack(service.answer("a", pack(f, body))))


def test_agreements_that_are_refused(tmp_path):
    with pytest.raises(ExchangeError, match="'screened' must be true or false"):
        FederationConfig("lab", SITES, ["DATE"], screened=1)
    pytest.importorskip("cryptography", reason="the extra 'mapping' is not installed")
    keys = {site: make_mask_key(tmp_path / f"{site}.key") for site in SITES}
    with pytest.raises(ExchangeError, match="'screened' need the update of each site"):
        FederationConfig("lab", SITES, ["DATE"], screened=True, mask_keys=keys)


@pytest.mark.parametrize(
    ("sites", "more", "screened"), [(SITES, [], True), (SITES[:2], [], False), (SITES, ["--no-screen"], False)]
)
def test_plans_are_screened_if_three_sites_take_part(tmp_path, sites, more, screened):
    named = [word for site in sites for word in ("--site", site)]
    words = ["federate", "plan", str(tmp_path / "lab"), "--project", "lab", "--server", "h", "--lead", "l@example.org"]
    assert main([*words, *named, *more]) == 0
    assert read_settings(FederationConfig, tmp_path / "lab" / "federation.json").screened is screened


def test_masks_end_the_screen(tmp_path):
    pytest.importorskip("cryptography", reason="the extra 'mapping' is not installed")
    file = tmp_path / "federation.json"
    write_settings(FederationConfig("lab", SITES, ["DATE"], screened=True), file)
    keys = [word for site in SITES for word in ("--key", f"{site}={make_mask_key(tmp_path / site)}")]
    assert main(["federate", "masks", str(file), *keys]) == 0
    assert read_settings(FederationConfig, file).screened is False


# ---- a checkpoint a round


def test_every_round_can_be_returned_to(kit, capsys):  # noqa: F811
    agreement = FederationConfig("lab", SITES, ["DATE"], screened=True, step=1 / 3)
    checkpoint = server_checkpoint(kit)[1]
    write_settings(agreement, kit / "local" / "federation.json")
    desk = Screened()
    desk.server.checkpoint = checkpoint
    desk.server.save(checkpoint)
    desk.service.after_round = lambda: keep_round(checkpoint)
    after = {}
    for number in range(1, 8):
        desk.one_round(number - 1)
        after[number] = desk.server.parameters.copy()
    assert list(list_checkpoints(kit)) == list(range(8))
    assert roll_back(kit, 3) == 7
    server = ParameterServer.load(checkpoint)
    np.testing.assert_array_equal(server.parameters, after[3])
    assert (server.version, server.delivered("a")) == (8, [(0, 6)]), "sites send no second update from a version"
    assert main(["federate", "exclude", str(kit), "--site", "c"]) == 0
    assert "no longer screened" in capsys.readouterr().out


def test_a_return_gives_no_epsilon_back(kit, tmp_path, notes, monkeypatch):  # noqa: F811
    """The ledger is at the site: after a return to the first round, the spent epsilon goes on growing to its end."""
    module = "sklearn_deid.federated.patient_ledger.epsilon_of_steps"
    monkeypatch.setattr(module, lambda noise, rate, n, delta: 0.5 * n)
    agreement, told = replace(agreement_of(SITES[:1], "mean", n_epochs=3), screened=True), []
    write_settings(agreement, kit / "local" / "federation.json")
    checkpoint, own = server_checkpoint(kit)[1], {"patient_epsilon": 1.5, "patient_sampling_rate": 1.0}
    list_checkpoints(kit)[0].unlink()
    agreement.new_server().save(checkpoint)
    keep_round(checkpoint)
    for _ in range(4):
        server = ParameterServer.load(checkpoint, keep=True)
        service = make_service(server, agreement, replace(RULES, n_epochs=1), lambda event: None)
        training = SiteTraining(agreement, replace(settings(tmp_path, notes, "a"), **own), "a")
        training.robust._pause = 0.0
        ask = lambda f, body=b"", service=service: unpack(service.answer("a", pack(f, body)))  # noqa: E731
        training.run_session(ask, report=told.append)
        assert roll_back(kit, 0) == server.version
    spent = [line.split("epsilon ")[1].split(" ")[0] for line in told if line.startswith(("before", "after"))]
    assert spent == ["0.000", "0.500", "0.500", "1.000", "1.000", "1.500"], "and the fourth session trains nothing"


def test_old_rounds_go_and_sessions_stay(kit, monkeypatch):  # noqa: F811
    monkeypatch.setattr("sklearn_deid.federated.sites.checkpoints._N_ROUNDS", 3)
    checkpoint = server_checkpoint(kit)[1]
    desk = Screened()
    desk.server.checkpoint = checkpoint
    desk.service.after_round = lambda: keep_round(checkpoint)
    for number in range(6):
        desk.one_round(number)
    assert list(list_checkpoints(kit)) == [0, 4, 5, 6]  # 0: before the session


def test_status_shortens_long_lists(kit, capsys):  # noqa: F811
    folder = kit / "deid-state" / "checkpoints"
    for number in range(1, 40):
        (folder / f"round-{number:06d}.state").write_bytes(b"")
    assert main(["federate", "status", str(kit)]) == 0
    assert "kept checkpoints: 0, 1, 2, 3, ..., 34, 35, 36, 37, 38, 39." in capsys.readouterr().out
