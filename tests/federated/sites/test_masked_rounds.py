"""Masked rounds between sites and a server, without a network: exact sums, lost sites, and a host that cheats."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.exceptions import DeidError, ExchangeError
from sklearn_deid.federated import ExchangeRecord, MaskingSite, ParameterServer, SparseUpdate
from sklearn_deid.federated.sites import (
    FederationConfig,
    MaskedExchangeService,
    MaskedSite,
    SessionRules,
    SiteSettings,
    SiteTraining,
    exclude_site,
    make_mask_key,
    masked_site,
    pack,
    read_mask_key,
    unpack,
)
from sklearn_deid.text import I2B2_2014

from .short_notes import write_short_notes

pytest.importorskip("cryptography", reason="the extra 'mapping' is not installed")

SITES = ["a", "b", "c"]
TAGGER = {"hidden_size": 4, "embeddings": None, "batch_size": 300}
DENSE = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0}
MODEL, SIZE = "0" * 32, 400


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    root = tmp_path_factory.mktemp("notes")
    for seed, site in enumerate(SITES, start=1):
        write_short_notes(root / site, 2, seed)
    return root


@pytest.fixture
def keys(tmp_path):
    return {site: make_mask_key(tmp_path / f"{site}.key") for site in SITES}


def settings(root, site, corpus="/notes", **own):
    own = {**DENSE, "mask_key": str(root / f"{site}.key"), **own}
    return SiteSettings(str(corpus), str(root / site), random_state=7, format="brat", **own)


class Killed(BaseException):
    """What a SIGKILL is to a process."""


class Host:
    """A host with its service, and every message that the sites have sent."""

    def __init__(self, agreement, server, n_epochs=2):
        self.events, self.seen = [], []
        self.service = MaskedExchangeService(server, agreement, SessionRules(n_epochs), self.events.append)

    def ask(self, site):
        def ask(fields, body=b""):
            self.seen.append((site, fields, body))
            return unpack(self.service.answer(site, pack(fields, body)))

        return ask


def together(tasks):
    """Run all tasks at once; returns their results, or the errors that ended them."""
    results = {}

    def run(name, task):
        try:
            results[name] = task()
        except (DeidError, Killed) as error:
            results[name] = error

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in tasks.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    return results


# ---- made-up updates


class Small:
    """Three sites with made-up updates."""

    def __init__(self, root, keys):
        self.root, self.agreement = root, FederationConfig("lab", SITES, ["DATE"], mask_keys=keys, step=1 / 3)
        rng = np.random.default_rng(0)
        self.updates = {site: rng.normal(0, 0.1, SIZE).astype(np.float32) for site in SITES}
        self.server = None
        self.start()

    def start(self):
        self.server = ParameterServer(np.ones(SIZE), MODEL, self.agreement.limits())
        self.host = Host(self.agreement, self.server)

    def site(self, name, download=None):
        site = MaskedSite(self.agreement, settings(self.root, name), name, pause=0.01)
        download = self.server.download(1.0).to_bytes("float16") if download is None else download
        # As a site that trains: an update that no sum contains is kept.
        if not site.keeps({site.key.sequence: b""}, download):
            site.begin(download, site.key.sequence + 1)
        return site

    def send(self, site, ask=None, stopped=lambda: False):
        values = self.updates[site.name]
        message = SparseUpdate(np.arange(SIZE), values, SIZE, MODEL).to_bytes()
        return site.exchange(ask or self.host.ask(site.name), message, stopped, lambda line: None)

    def plain_mean(self):
        """The oracle: the mean of the same whole numbers, without masks."""
        numbers = self.agreement.masked_round(0, MODEL, SIZE, "").numbers
        total = sum(numbers.encode(update, 3)[0].astype(np.int64) for update in self.updates.values())
        mean = ((total.astype("<u2")).view("<i2").astype(np.float64) * numbers.step(3)).astype(np.float32)
        return (mean.astype(np.float64) / 3).astype(np.float32)


@pytest.fixture
def small(tmp_path, keys):
    return Small(tmp_path, keys)


def test_the_masked_mean_equals_the_plain_mean_bit_by_bit(small):
    results = together({name: lambda name=name: small.send(small.site(name)) for name in SITES})
    assert results == dict.fromkeys(SITES, True)
    assert np.array_equal(small.server.parameters, np.float32(1) + small.plain_mean())
    sums = [event for event in small.host.events if event["event"] == "sum"]
    assert sums == [{"event": "sum", "round": 0, "how": "added", "version": 1}]


def test_a_fraction_of_the_positions(small):
    small.agreement = replace(small.agreement, mask_fraction=0.25)
    small.start()
    together({name: lambda name=name: small.send(small.site(name)) for name in SITES})
    changed = small.server.parameters != 1
    assert 80 < np.count_nonzero(changed) <= 100
    mean = np.mean([np.clip(update, -0.25, 0.25) for update in small.updates.values()], axis=0)
    np.testing.assert_allclose(small.server.parameters[changed] - 1, mean[changed], atol=1e-3)


def test_the_host_never_sees_an_update(small):
    """Neither as it is nor as fixed-point numbers; what it sees is uniform, and two sums of two sites tell nothing."""
    together({name: lambda name=name: small.send(small.site(name)) for name in SITES})
    numbers = small.agreement.masked_round(0, MODEL, SIZE, "").numbers
    sent = [body for _, fields, body in small.host.seen if fields["ask"] == "upload"]
    assert len(sent) == 3
    for update in small.updates.values():
        for form in (update.tobytes(), update.astype(np.float16).tobytes(), numbers.encode(update, 3)[0].tobytes()):
            assert all(form[k : k + 8] not in body for body in sent for k in range(0, len(form) - 8, 2))


def test_a_record_for_an_audit_holds_masked_messages(small):
    """Each message once, also a repeated one. The masks cancel in their sum, and no message tells of its update."""
    small.agreement = replace(small.agreement, keep_exchange=True)
    small.start()
    small.host.service.exchange = ExchangeRecord()

    def repeated(fields, body=b""):
        if fields["ask"] == "upload":
            small.host.ask("c")(fields, body)
        return small.host.ask("c")(fields, body)

    asks = {"c": repeated}
    together({n: lambda n=n: small.send(small.site(n), asks.get(n)) for n in SITES})
    kept = {message.worker: message.decode() for message in small.host.service.exchange}
    assert sorted(message.worker for message in small.host.service.exchange.uploads()) == SITES
    bound = 2**15 * small.agreement.masked_round(0, MODEL, SIZE, "").numbers.step(3)
    total = sum(update.dense().astype(np.float64) for update in kept.values())
    unmasked = (total + bound) % (2 * bound) - bound
    np.testing.assert_allclose(unmasked / 3, small.server.parameters - 1, atol=1e-6)
    for site, update in small.updates.items():
        assert abs(np.corrcoef(kept[site].dense(), update)[0, 1]) < 0.2


def test_a_lost_site_repeats_the_round_with_other_masks(small):
    """Site c disappears before it sends; in the next session the same updates have a new number and new masks."""
    sites = {name: small.site(name) for name in SITES}
    lost = threading.Event()

    def dying(fields, body=b""):
        if fields["ask"] == "upload":
            lost.set()
            raise Killed
        return small.host.ask("c")(fields, body)

    tasks = {name: lambda name=name: small.send(sites[name], stopped=lost.is_set) for name in "ab"}
    results = together({**tasks, "c": lambda: small.send(sites["c"], dying)})
    assert isinstance(results["c"], Killed)
    assert (results["a"], results["b"], small.server.version) == (False, False, 0)
    before = {site: body for site, fields, body in small.host.seen if fields["ask"] == "upload"}
    small.host = Host(small.agreement, small.server)
    # Each site begins anew from its file, as a process does.
    again = {name: MaskedSite(small.agreement, settings(small.root, name), name, pause=0.01) for name in SITES}
    assert together({name: lambda name=name: small.send(again[name]) for name in SITES}) == dict.fromkeys(SITES, True)
    assert [event["round"] for event in small.host.events if event["event"] == "sum"] == [1]
    assert np.array_equal(small.server.parameters, np.float32(1) + small.plain_mean())
    for site, fields, body in small.host.seen:
        if fields["ask"] == "upload" and site in before:
            old, new = (np.frombuffer(message[36:], "<u2") for message in (before[site], body))
            assert np.mean(old == new) < 0.1


def test_a_site_that_gives_a_round_up_repeats_it_for_all(small):
    """As after a lost connection: the open round ends without a sum, and the sites mask again in the same session."""
    sites = {name: small.site(name) for name in SITES}
    given_up = []

    def forgetful(fields, body=b""):
        if fields["ask"] == "upload" and not given_up:
            given_up.append(fields["round"])
            small.host.ask("c")({"ask": "ready", "next": fields["round"] + 1})
            return {"status": "ok"}, b""  # a wrong answer: the upload never arrived
        return small.host.ask("c")(fields, body)

    asks = {"c": forgetful}
    results = together({n: lambda n=n: small.send(sites[n], asks.get(n)) for n in SITES})
    assert results == dict.fromkeys(SITES, True)
    assert [event["how"] for event in small.host.events if event["event"] == "sum"] == ["repeat", "added"]
    assert np.array_equal(small.server.parameters, np.float32(1) + small.plain_mean())


class TestHost:
    """A host that breaks the protocol."""

    def cheated(self, small, change):
        """Site a talks to a host that changes its answers."""
        site = small.site("a")

        def ask(fields, body=b""):
            small.host.seen.append(("a", fields, body))
            return change(fields)

        return site, ask

    def test_an_old_number_is_refused(self, small):
        site, ask = self.cheated(small, lambda fields: ({"status": "ok", "round": 0, "sum": "repeat"}, b""))
        with pytest.raises(ExchangeError, match="Round 0 is not new"):
            small.send(site, ask)  # masks once, and not again in a repetition with the same number
        assert sum(fields["ask"] == "upload" for _, fields, _ in small.host.seen) == 1
        with pytest.raises(ExchangeError, match="Round 0 is not new"):
            small.send(small.site("a"), ask)  # nor after a restart

    def test_an_unknown_result_is_refused(self, small):
        told = "added.\nEach patient: epsilon 0.000 of 8 spent"
        site, ask = self.cheated(small, lambda fields: ({"status": "ok", "round": 0, "sum": told}, b""))
        with pytest.raises(ExchangeError, match="unknown result"):
            small.send(site, ask)

    @pytest.mark.parametrize("number", [10**7, "0", 0.0, True])
    def test_numbers_that_are_none(self, small, number):
        site, ask = self.cheated(small, lambda fields: ({"status": "ok", "round": number}, b""))
        with pytest.raises(ExchangeError, match="number of (the|a) round"):
            small.send(site, ask)

    def test_other_parameters_for_one_site_do_not_cancel(self, small):
        """The host knows what b and c do from parameters of its choice, and wants the rest of the sum."""
        own = SparseUpdate(np.arange(SIZE), np.zeros(SIZE, np.float32), SIZE, MODEL, 0, "parameters").to_bytes(
            "float16"
        )
        messages = {}
        for name in SITES:
            site = small.site(name, None if name == "a" else own)

            def ask(fields, body=b"", name=name):
                messages[name] = body or messages.get(name)
                return {"status": "ok", "round": 0, "sum": "added"}, b""

            small.send(site, ask)
        numbers = small.agreement.masked_round(0, MODEL, SIZE, "").numbers
        total = sum(np.frombuffer(body[36:], "<u2").astype(np.int64) for body in messages.values()).astype("<u2")
        of_the_others = sum(numbers.encode(small.updates[name], 3)[0].astype(np.int64) for name in "bc").astype("<u2")
        seen = numbers.decode(total - of_the_others, 3)
        assert abs(np.corrcoef(seen, small.updates["a"])[0, 1]) < 0.5

    def test_no_second_update_from_the_same_parameters(self, small):
        """A host tells a that the sum is there and b and c that it is not: two sums would differ by updates of a."""
        download = small.server.download(1.0).to_bytes("float16")
        site, ask = self.cheated(small, lambda fields: ({"status": "ok", "round": 0, "sum": "added"}, b""))
        assert small.send(site, ask)
        later = SparseUpdate.from_bytes(download, kind="parameters")
        later = replace(later, version=later.version + 1).to_bytes("float16")
        again = MaskedSite(small.agreement, settings(small.root, "a"), "a")
        for between in (download, later, download):
            if between is later:
                again.begin(later, 1)
                continue
            with pytest.raises(ExchangeError, match="not newer"):
                again.begin(between, again.key.sequence + 1)

    def test_a_download_that_ends_the_training_permits_no_second_update(self, small):
        """The host sends a the parameters of another model, which a notes, and then those of its last update again."""
        download = small.server.download(1.0).to_bytes("float16")
        site, ask = self.cheated(small, lambda fields: ({"status": "ok", "round": 0, "sum": "added"}, b""))
        assert small.send(site, ask)
        other = SparseUpdate(np.arange(2), np.zeros(2, np.float32), 2, "1" * 32, 1, "parameters").to_bytes("float16")
        site.begin(other, 1)
        again = MaskedSite(small.agreement, settings(small.root, "a"), "a")
        with pytest.raises(ExchangeError, match="not newer"):
            again.begin(download, 1)

    def test_an_update_is_not_sent_again_in_a_sum_of_other_sites(self, small, tmp_path):
        """The sums with and without an excluded site would differ by its update exactly."""
        download, key = small.server.download(1.0).to_bytes("float16"), make_mask_key(tmp_path / "d.key")
        keys = {**small.agreement.mask_keys, "d": key}
        small.agreement = replace(small.agreement, sites=[*SITES, "d"], mask_keys=keys)
        assert small.site("a").keeps({0: b""}, download)
        without = replace(small.agreement, sites=SITES, mask_keys={site: keys[site] for site in SITES})
        site = MaskedSite(without, settings(small.root, "a"), "a")
        assert not site.keeps({0: b""}, download)
        site.begin(download, 1)

    def test_an_update_of_earlier_parameters_is_not_kept(self, small):
        """A site that dies in training still holds its last update, which a sum contains already."""
        small.site("a").begin(small.server.download(1.0).to_bytes("float16"), 0)
        small.server.advance()
        download = small.server.download(1.0).to_bytes("float16")
        site = small.site("a", download)
        assert not site.keeps({0: b""}, download)
        assert site.keeps({1: b""}, download)
        site.begin(download, 1)  # trained again after the crash

    def test_a_key_of_the_host_is_never_used(self, small, tmp_path, keys):
        """The answers of a host hold no key. An agreement with a key of its own is refused, or noticed by two sites."""
        forged = FederationConfig("lab", SITES, ["DATE"], mask_keys={**keys, "a": MaskingSite("x").public_key.hex()})
        with pytest.raises(ExchangeError, match="another key for this site"):
            MaskedSite(forged, settings(tmp_path, "a"), "a")
        assert forged.mask_fingerprint() != small.agreement.mask_fingerprint()

    def test_a_part_of_the_parameters_is_refused(self, small):
        with pytest.raises(ExchangeError, match="all parameters"):
            small.site(
                "a", SparseUpdate(np.arange(3), np.zeros(3, np.float32), SIZE, MODEL, 0, "parameters").to_bytes()
            )


class TestHostileSite:
    def test_plain_updates_are_refused(self, small):
        plain = SparseUpdate(np.arange(SIZE), small.updates["a"], SIZE, MODEL).to_bytes()
        fields, _ = small.host.ask("a")({"ask": "upload", "sequence": 0}, plain)
        assert fields["status"] == "refused"
        assert small.server.version == 0

    def test_a_sum_that_is_much_longer_than_earlier_sums_is_refused(self, small):
        ordinary = dict(small.updates)
        for number in range(3):
            small.updates = {name: update * np.float32(0.1 + 0.01 * number) for name, update in ordinary.items()}
            if number == 2:
                small.updates["c"] = ordinary["c"] * np.float32(20)
            before = small.server.parameters.copy()
            results = together({n: lambda n=n: small.send(small.site(n)) for n in SITES})
            assert results == dict.fromkeys(SITES, True)
        assert [e["how"] for e in small.host.events if e["event"] == "sum"] == ["added", "added", "refused"]
        assert np.array_equal(small.server.parameters, before)
        assert small.server.version == 3  # all sites drop their updates, and none sends a second one from version 2

    def test_a_first_sum_of_random_bytes_is_refused(self, small):
        """It was added, and every later sum of random bytes was as long as it."""
        first = np.full(SIZE, 0.4)  # about the weights of a network
        small.server = ParameterServer(first, MODEL, small.agreement.limits())
        small.host = Host(small.agreement, small.server)
        before, honest = small.server.parameters.copy(), small.host.ask("c")

        def hostile(fields, body=b""):
            noise = np.random.default_rng(1).bytes(len(body[36:]))  # after the head with the digest of the round
            return honest(fields, body[:36] + noise if fields["ask"] == "upload" else body)

        for _ in range(2):
            tasks = {n: lambda n=n: small.send(small.site(n), hostile if n == "c" else None) for n in SITES}
            assert together(tasks) == dict.fromkeys(SITES, True)
        assert [e["how"] for e in small.host.events if e["event"] == "sum"] == ["refused", "refused"]
        reasons = [e["reason"] for e in small.host.events if e["event"] == "refused"]
        assert all("more than 0.2 times 'max_norm'" in reason for reason in reasons) and len(reasons) == 2
        assert np.array_equal(small.server.parameters, before)

    def test_the_last_sum_may_be_as_long_as_the_longest(self, small):
        """It brings the moving average of the weights. It was compared with the short sums before it, and lost."""
        ordinary = dict(small.updates)
        small.agreement = replace(small.agreement, n_epochs=5)
        small.start()
        for length in (1.0, 0.11, 0.1, 0.09, 0.8):
            small.updates = {name: np.float32(length) * update for name, update in ordinary.items()}
            together({n: lambda n=n: small.send(small.site(n)) for n in SITES})
            ordinary = {name: np.roll(update, 7) for name, update in ordinary.items()}
        assert [e["how"] for e in small.host.events if e["event"] == "sum"] == ["added"] * 5

    def test_a_sum_after_refusals_and_returns_is_added(self, small):
        """The version has gaps or stands for earlier sums; the sums are numbered without it."""
        together({n: lambda n=n: small.send(small.site(n)) for n in SITES})
        small.server.advance()
        small.updates = {name: -update[::-1] for name, update in small.updates.items()}
        together({n: lambda n=n: small.send(small.site(n)) for n in SITES})
        assert small.server.delivered("sum of all sites") == [(0, 1)]
        assert small.server.version == 3

    @pytest.mark.parametrize("number", [-1, 2**60, "1", None])
    def test_numbers_that_are_none(self, small, number):
        assert small.host.ask("a")({"ask": "ready", "next": number})[0]["status"] == "refused"

    def test_a_second_update_of_a_round_is_refused(self, small):
        for name in SITES:
            small.host.ask(name)({"ask": "ready", "next": 0})
        terms = small.agreement.masked_round(0, MODEL, SIZE, small.host.service._round.terms.start)
        masked = read_mask_key(small.root / "a.key").masking_site("a").mask(small.updates["a"], terms)
        ask = small.host.ask("a")
        assert ask({"ask": "upload", "round": 0}, masked)[0]["status"] == "ok"
        assert ask({"ask": "upload", "round": 0}, masked)[0]["status"] == "ok"  # its answer was lost
        # `status` counts the applied ones, which the officer compares with the log of the site
        assert [e["applied"] for e in small.host.events if e["event"] == "upload"] == [True, False]
        assert "already sent" in ask({"ask": "upload", "round": 0}, masked[:-1] + bytes([masked[-1] ^ 1]))[0]["reason"]
        assert "not open" in ask({"ask": "upload", "round": 1}, masked)[0]["reason"]


# ---- keys, agreements, settings


class TestKeys:
    def test_only_the_owner_can_read_a_key(self, tmp_path, keys):
        path = tmp_path / "a.key"
        assert path.stat().st_mode & 0o077 == 0
        assert read_mask_key(path).private_key not in repr(read_mask_key(path))
        path.chmod(0o644)
        with pytest.raises(DeidError, match="Other users can read"):
            read_mask_key(path)

    def test_two_processes_with_one_key(self, small):
        """With two state folders, the lock of the folder does not help."""
        site = small.site("a")
        MaskedSite(small.agreement, settings(small.root, "a"), "a")._save(last_round=0)
        with pytest.raises(ExchangeError, match="Another process uses the key"):
            small.send(site, lambda fields, body=b"": ({"status": "ok", "round": 0}, b""))

    def test_a_link_to_a_key_stays_a_link(self, small):
        link = small.root / "link.key"
        link.symlink_to(small.root / "a.key")
        site = MaskedSite(small.agreement, settings(small.root, "a", mask_key=str(link)), "a")
        site._save(last_round=7)
        assert read_mask_key(small.root / "a.key").last_round == 7

    def test_a_killed_process_leaves_no_copy_of_the_key_for_good(self, small):
        """Deleting the key at the end of the training left the private key in a hidden file."""
        path, kept = small.root / "a.key", small.root / f".b.key-{'0' * 32}"
        copy = path.with_name(f".a.key-{'0' * 32}")
        for left in (copy, kept):
            left.write_bytes(path.read_bytes())
        MaskedSite(small.agreement, settings(small.root, "a"), "a")
        assert kept.exists() and not copy.exists()
        path.rename(copy)
        make_mask_key(path)
        assert not copy.exists()

    @pytest.mark.parametrize("content", ["", "[]", '{"private_key": "00"}', '{"private_key": 1}'])
    def test_files_that_are_none(self, tmp_path, content):
        (tmp_path / "x.key").write_text(content)
        with pytest.raises(DeidError):
            read_mask_key(tmp_path / "x.key")

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (lambda keys: {"a": keys["a"]}, "for each site"),
            (lambda keys: {**keys, "d": keys["a"]}, "for each site"),
            (lambda keys: {**keys, "b": "00"}, "64 hexadecimal"),
            (lambda keys: {**keys, "b": keys["a"]}, "key of its own"),
            (lambda keys: [1], "'mask_keys' must be an object"),
            (lambda keys: {**keys, "b": f"{keys['a'][:62]}{int(keys['a'][62:], 16) | 128:02x}"}, "key of its own"),
        ],
    )
    def test_agreements_that_are_refused(self, keys, change, reason):
        with pytest.raises(ExchangeError, match=reason):
            FederationConfig("lab", SITES, ["DATE"], mask_keys=change(keys))

    def test_two_sites_are_too_few(self, keys):
        with pytest.raises(ExchangeError, match="at least 3 sites"):
            FederationConfig("lab", ["a", "b"], ["DATE"], mask_keys={name: keys[name] for name in "ab"})

    def test_128_sites_are_too_many(self):
        """The plan passed, and the first round failed at every site after an epoch of training."""
        keys = {f"s{n}": MaskingSite(f"s{n}").public_key.hex() for n in range(128)}
        with pytest.raises(ExchangeError, match="16 bits are too few for 128 sites: 16 bits allow 127 sites"):
            FederationConfig("lab", list(keys), ["DATE"], mask_keys=keys)
        keys.pop("s0")
        FederationConfig("lab", list(keys), ["DATE"], mask_keys=keys)

    @pytest.mark.parametrize(
        ("own", "reason"),
        [
            ({"mask_key": None}, "asks for masks"),
            ({"upload_fraction": 0.5}, "sends and fetches all"),
            ({"download_fraction": 0.5}, "sends and fetches all"),
            ({"error_feedback": True, "selection": "largest"}, "sends and fetches all"),
            ({"noise_multiplier": 1.0, "norm_bound": 1.0}, "--patient-epsilon"),
        ],
    )
    def test_settings_that_are_refused(self, small, own, reason):
        with pytest.raises(ExchangeError, match=reason):
            MaskedSite(small.agreement, settings(small.root, "a", **own), "a")


# ---- sites that train


def run_session(root, notes, agreement, server, n_epochs=2, dying=None):
    """One session of new sites, as processes are. ``dying`` names a site and the request at which it dies."""
    host = Host(agreement, server, n_epochs)
    trainings = {}
    for site in SITES:
        trainings[site] = SiteTraining(agreement, settings(root, site, notes / site), site)
        trainings[site].masks._pause = 0.01
    lost = threading.Event()

    def ask_of(site):
        def ask(fields, body=b""):
            dies = dying == (site, fields["ask"])
            # Who dies when it asks for the sum has sent: it goes on asking until the others have sent, too.
            answer = host.ask(site)(fields, body) if not dies or dying[1] == "sum" else None
            if dies and (answer is None or answer[0].get("sum") is not None):
                lost.set()
                raise Killed
            return answer

        return ask

    lines = []
    results = together({s: lambda s=s: trainings[s].run_session(ask_of(s), lost.is_set, lines.append) for s in SITES})
    return host, results, lines


@pytest.mark.parametrize("moment", [None, "ready", "upload", "sum"])
def test_a_site_that_dies_anywhere_is_counted_once_in_every_sum(tmp_path, notes, keys, moment):
    """After any death and one more session, all sites have trained and sent every epoch exactly once."""
    agreement = FederationConfig("lab", SITES, list(I2B2_2014.labels), TAGGER, n_epochs=2, mask_keys=keys, step=0.5)
    server = agreement.new_server()
    if moment is not None:
        _, results, _ = run_session(tmp_path, notes, agreement, server, dying=("c", moment))
        assert isinstance(results["c"], Killed)
        assert server.version == (1 if moment == "sum" else 0)
    host, results, lines = run_session(tmp_path, notes, agreement, server, n_epochs=3)
    assert not [error for error in results.values() if isinstance(error, BaseException)]
    assert server.version == 2
    assert [e["how"] for e in host.events if e["event"] == "sum"] == ["added"] * (1 if moment == "sum" else 2)
    for site in SITES:
        assert len((tmp_path / site / "history.jsonl").read_text().splitlines()) == 2
        # Everything that a site keeps is its user's alone.
        assert (tmp_path / site).stat().st_mode & 0o077 == 0
        private = [path for path in (tmp_path / site).iterdir() if path.is_file()]
        assert not [path.name for path in private if path.stat().st_mode & 0o077]
    assert any("in a sum of 3 sites" in line and "no epsilon is promised" in line for line in lines)
    sent = [body for _, fields, body in host.seen if fields["ask"] == "upload"]
    assert {len(body) for body in sent} == {2 * server.size + 36}


def test_two_state_folders_with_one_key_never_note_the_same_round(small, monkeypatch):
    """Both would hide different updates with the same masks. The second one compares while the first one writes."""
    first, second = small.site("a"), small.site("a")
    write, others, failures = masked_site.write_settings, [], []

    def note():
        try:
            second._save(last_round=3)
        except ExchangeError as error:
            failures.append(str(error))

    def slow(*arguments, **options):
        if not others:
            others.append(threading.Thread(target=note))
            others[0].start()
            others[0].join(timeout=0.3)
        write(*arguments, **options)

    monkeypatch.setattr(masked_site, "write_settings", slow)
    first._save(last_round=3)
    others[0].join(timeout=300)
    assert len(failures) == 1 and "Another process uses the key" in failures[0]


def test_a_state_that_is_older_than_its_key_is_refused(tmp_path, notes, keys):
    """The key knows of more updates than a restored state folder, whose ledger does not know of all steps."""
    agreement = FederationConfig("lab", SITES, list(I2B2_2014.labels), TAGGER, n_epochs=2, mask_keys=keys, step=0.5)
    training = SiteTraining(agreement, settings(tmp_path, "a", notes / "a"), "a")
    training.masks._save(sequence=1)
    host = Host(agreement, agreement.new_server())
    with pytest.raises(ExchangeError, match="sent more updates than its state folder knows"):
        training.run_session(host.ask("a"))


def test_a_state_without_the_last_masked_update_is_refused(tmp_path, notes, keys):
    """A new, copied or restored folder sent a second update from the same parameters, and forgot its privacy steps."""
    agreement = FederationConfig("lab", SITES, list(I2B2_2014.labels), TAGGER, n_epochs=2, mask_keys=keys, step=0.5)
    server, own = agreement.new_server(), settings(tmp_path, "a", notes / "a")
    site = MaskedSite(agreement, own, "a", pause=0.01)
    site.begin(server.download(1.0).to_bytes("float16"), 0)
    update = SparseUpdate(np.arange(server.size), np.zeros(server.size, np.float32), server.size, server.model)
    replies = {"ready": {"round": 0}, "upload": {}, "sum": {"sum": "added"}}
    site.exchange(
        lambda fields, body=b"": ({"status": "ok", **replies[fields["ask"]]}, b""), update.to_bytes(), bool, str
    )
    training = SiteTraining(agreement, own, "a")
    with pytest.raises(ExchangeError, match="sent more updates than its state folder knows"):
        training.run_session(Host(agreement, server).ask("a"), lambda: True)


def test_a_process_that_waits_for_the_lock_reads_the_last_round_afterwards(tmp_path, notes, keys):
    """A site that was suspended masks a round while the next process of this site is starting."""
    agreement = FederationConfig("lab", SITES, list(I2B2_2014.labels), TAGGER, n_epochs=2, mask_keys=keys, step=0.5)
    own = settings(tmp_path, "a", notes / "a")
    first, started = SiteTraining(agreement, own, "a"), threading.Event()

    def start():
        started.set()
        return SiteTraining(agreement, own, "a")

    def end():
        started.wait()
        first.masks._save(last_round=5)
        first._lock.release()

    assert together({"next": start, "first": end})["next"].masks.key.last_round == 5


def test_an_excluded_site_leaves_a_sum_of_the_others(tmp_path, keys):
    from sklearn_deid.federated.sites import write_settings
    from sklearn_deid.federated.sites.flare_kits import AGREEMENT_FILE

    (tmp_path / "startup").mkdir()
    (tmp_path / "local").mkdir()
    (tmp_path / "startup" / "fed_server.json").write_text("{}")
    write_settings(FederationConfig("lab", SITES, ["DATE"], mask_keys=keys), tmp_path / "local" / AGREEMENT_FILE)
    with pytest.raises(ExchangeError, match="at least 3 sites"):
        exclude_site(tmp_path, "a")
