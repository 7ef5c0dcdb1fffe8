"""Pairwise masks: the sum is exact, and a masked update is uniform."""

import copy
import pickle
import sys

import numpy as np
import pytest
from scipy.stats import chisquare

from sklearn_deid.exceptions import ExchangeError, MissingDependencyError
from sklearn_deid.federated import FederatedAveraging, FixedPoint, MaskedRound, MaskedSum, MaskingSite
from sklearn_deid.federated.masks import _SMALL_ORDER

from ..tagging.conftest import make_sentences
from .small_ensembles import ensemble_of, parts_of, weights

pytest.importorskip("cryptography", reason="the extra 'mapping' is not installed")
MODEL = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def keys():
    return [MaskingSite(name, name.upper().encode() * 32) for name in ("a", "b", "c", "d")]


@pytest.fixture
def sites():
    # Known keys: a test of uniformity fails for some keys.
    return [MaskingSite(name, name.encode() * 32) for name in ("a", "b", "c", "d")]


def terms_of(sites, size, number=0, numbers=None):
    return MaskedRound(number, MODEL, size, {s.name: s.public_key for s in sites}, numbers or FixedPoint())


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("n", [3, 4])
def test_the_masked_sum_equals_the_plain_fixed_point_sum(sites, bits, n):
    """Bit by bit, also for values at and beyond the bound."""
    sites, rng, numbers = sites[:n], np.random.default_rng(0), FixedPoint(0.5, bits)
    updates = rng.normal(0, 0.4, (n, 1001)).astype(np.float32)
    updates[:, :3] = [0.5, -0.5, 9.0]
    terms = terms_of(sites, 1001, numbers=numbers)
    host = MaskedSum(terms)
    for site, update in zip(sites, updates, strict=True):
        host.add(site.name, site.mask(update, terms))
    # the oracle: Python's integers, which have no modulus
    most = (2 ** (bits - 1) - 1) // n
    steps = np.rint(np.clip(updates.astype(np.float64), -0.5, 0.5) / (0.5 / most)).astype(object).sum(axis=0)
    plain = (steps.astype(np.float64) * (0.5 / most)).astype(np.float32)
    np.testing.assert_array_equal(host.total(), plain)
    assert np.abs(host.total() - np.clip(updates, -0.5, 0.5).sum(axis=0)).max() <= n * 0.5 / most + 1e-6


def test_positions_of_the_public_terms(sites):
    """All sites send the same half of the positions, and the next round has another half."""
    update = np.random.default_rng(0).normal(0, 0.05, 1000).astype(np.float32)
    keys = {site.name: site.public_key for site in sites[:3]}
    rounds = [MaskedRound(n, MODEL, 1000, keys, FixedPoint(), fraction=0.5) for n in range(2)]
    host = MaskedSum(rounds[0])
    for site in sites[:3]:
        message = site.mask(update, rounds[0])
        assert len(message) == 36 + 2 * 500
        host.add(site.name, message)
    first, second = (terms.positions for terms in rounds)
    np.testing.assert_allclose(host.mean()[first], update[first], atol=FixedPoint().step(3))
    assert np.count_nonzero(host.mean()) == np.count_nonzero(host.mean()[first])
    assert 200 < len(np.intersect1d(first, second)) < 300
    with pytest.raises(ExchangeError, match="fraction of a round"):
        MaskedRound(0, MODEL, 1000, keys, FixedPoint(), fraction=0.0)


def test_a_masked_update_is_uniform(sites):
    """Chi-square of the bytes of a message, and of the sum of two of three sites; the update itself fails the test."""
    update = np.full(20_000, 0.1, dtype=np.float32)
    terms = terms_of(sites[:3], len(update))
    messages = [site.mask(update, terms)[36:] for site in sites[:3]]

    def p_value(data):
        return chisquare(np.bincount(np.frombuffer(data, np.uint8), minlength=256)).pvalue

    assert p_value(messages[0]) > 1e-4
    two = np.frombuffer(messages[0], "<u2") + np.frombuffer(messages[1], "<u2")
    assert p_value(two.tobytes()) > 1e-4
    assert p_value(FixedPoint().encode(update, 3)[0].tobytes()) < 1e-12, "the positive control"


def test_masks_of_two_rounds_are_independent(sites):
    zeros = np.zeros(5000, dtype=np.float32)
    one, other = (np.frombuffer(sites[0].mask(zeros, terms_of(sites[:3], 5000, n))[36:], "<u2") for n in (0, 1))
    assert np.mean(one == other) < 0.01


def test_masks_do_not_cancel_within_a_message(sites):
    """The key of an invented site is that of b plus the point of order 2: both share their secrets with every site."""
    victim, other = sites[1], sites[0]
    invented = pow(int.from_bytes(other.public_key, "little"), -1, 2**255 - 19).to_bytes(32, "little")
    keys = {other.name: other.public_key, victim.name: victim.public_key, "invented": invented}
    update = np.random.default_rng(0).normal(0, 0.05, 1000).astype(np.float32)
    terms = MaskedRound(0, MODEL, 1000, keys, FixedPoint())
    seen = FixedPoint().decode(np.frombuffer(victim.mask(update, terms)[36:], "<u2"), 3)
    assert abs(np.corrcoef(seen, update)[0, 1]) < 0.1


def test_a_drop_out_repeats_the_round(sites):
    update = np.full(4, 0.1, dtype=np.float32)
    first = terms_of(sites, 4)
    host = MaskedSum(first)
    for site in sites[:3]:
        host.add(site.name, site.mask(update, first))
    assert host.missing == ["d"]
    with pytest.raises(ExchangeError, match="1 sites of the round are missing, such as 'd'"):
        host.total()
    again = terms_of(sites[:3], 4, number=1)
    host = MaskedSum(again)
    for site in sites[:3]:
        host.add(site.name, site.mask(update, again))
    np.testing.assert_allclose(host.mean(), update, atol=FixedPoint().step(3))


class TestRefusals:
    def test_two_sites(self, keys):
        with pytest.raises(ExchangeError, match="Masks need at least 3 sites. Got 2"):
            terms_of(keys[:2], 4)

    def test_shared_keys(self, keys):
        with pytest.raises(ExchangeError, match="key of its own"):
            MaskedRound(0, MODEL, 4, dict.fromkeys("abc", keys[0].public_key), FixedPoint())

    @pytest.mark.parametrize("number", [-1, 1.0, True])
    def test_numbers_of_rounds(self, keys, number):
        with pytest.raises(ExchangeError, match="whole number from 0"):
            terms_of(keys, 4, number)

    def test_a_round_is_masked_once(self, sites):
        terms = terms_of(sites, 4, number=2)
        sites[0].mask(np.zeros(4), terms)
        for number in (2, 1):
            with pytest.raises(ExchangeError, match="is not new"):
                sites[0].mask(np.ones(4), terms_of(sites, 4, number))

    def test_terms_that_name_another_key(self, sites):
        forged = MaskedRound(0, MODEL, 4, {s.name: MaskingSite("x").public_key for s in sites}, FixedPoint())
        with pytest.raises(ExchangeError, match="own key"):
            sites[0].mask(np.zeros(4), forged)

    @pytest.mark.parametrize("bit", [0, 2**255])
    @pytest.mark.parametrize("point", [*sorted(_SMALL_ORDER), 2**255 - 19, 2**255 - 18])
    def test_a_key_that_gives_everybody_the_same_secret(self, sites, point, bit):
        """The plan took the key, and every site failed in the first round, after an epoch of training."""
        weak = (point + bit).to_bytes(32, "little")
        keys = {**{s.name: s.public_key for s in sites[:3]}, "weak": weak}
        with pytest.raises(ExchangeError, match="public key of the round is invalid"):
            MaskedRound(0, MODEL, 4, keys, FixedPoint())
        public = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519").X25519PublicKey
        with pytest.raises(ValueError, match="shared key"):
            sites[0]._key.exchange(public.from_public_bytes(weak))

    @pytest.mark.parametrize("update", [[np.nan] * 4, [np.inf] * 4, [0.0] * 3])
    def test_updates(self, sites, update):
        with pytest.raises(ExchangeError):
            sites[0].mask(np.array(update, dtype=np.float32), terms_of(sites, 4))

    def test_messages(self, sites):
        terms = terms_of(sites, 4)
        host, message = MaskedSum(terms), sites[0].mask(np.zeros(4), terms)
        for damaged in (b"", message[:-1], message + b"0", b"X" + message[1:], message[:10] + b"?" + message[11:]):
            with pytest.raises(ExchangeError):
                host.add("a", damaged)
        with pytest.raises(ExchangeError, match="not a member"):
            host.add("stranger", message)
        host.add("a", message)
        host.add("a", message)  # a repeated request whose answer was lost
        with pytest.raises(ExchangeError, match="already sent"):
            host.add("a", message[:-1] + bytes([message[-1] ^ 1]))
        other = terms_of(sites, 4, number=1)
        with pytest.raises(ExchangeError, match="another round"):
            host.add("b", sites[1].mask(np.zeros(4), other))

    def test_private_keys_are_not_copied(self, sites):
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="private key"):
                attempt(sites[0])

    @pytest.mark.parametrize("own", [{"bound": 0.0}, {"bound": np.inf}, {"bound": np.nan}, {"bits": 8}, {"bits": 64}])
    def test_fixed_points(self, own):
        with pytest.raises(ValueError, match=f"The '{next(iter(own))}' parameter of FixedPoint must be"):
            FixedPoint(**own)

    def test_too_many_sites_for_the_bits(self):
        with pytest.raises(ExchangeError, match="16 bits are too few for 200 sites"):
            FixedPoint().step(200)

    def test_missing_library_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cryptography", None)
        with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[mapping\]"):
            MaskingSite("a")


class TestEnsemble:
    def test_averages_with_and_without_masks_agree(self):
        parts = parts_of(make_sentences(24), 3)
        masked, plain = (
            ensemble_of(strategy=FederatedAveraging(masks=masks), n_epochs=2, n_workers=3).fit_workers(parts)
            for masks in (FixedPoint(bound=0.5), None)
        )
        gap = np.abs(weights(masked.global_estimator_) - weights(plain.global_estimator_)).max()
        # one rounding of at most a step for each round; the sites have equal numbers of sentences
        assert 0 < gap < 20 * FixedPoint(bound=0.5).step(3)
        size = len(weights(plain.global_estimator_))
        assert set(masked.history_.column("bytes_up")) == {2 * size + 36}

    @pytest.mark.parametrize(
        ("own", "message"),
        [
            ({"strategy": FederatedAveraging("median", masks=FixedPoint())}, "'aggregation' must be 'mean'"),
            ({"strategy": FederatedAveraging(masks=FixedPoint()), "keep_exchange": True}, "'keep_exchange' must be"),
            ({"strategy": FederatedAveraging(masks=FixedPoint())}, "Masks need at least 3 sites"),
        ],
    )
    def test_combinations_that_hide_nothing_are_refused(self, own, message):
        with pytest.raises(ValueError, match=message):
            ensemble_of(n_epochs=1, **own).fit_workers(parts_of(make_sentences(16)))


@pytest.mark.parametrize("bits", [8, 16.0, True, "16"])
def test_numbers_have_16_or_32_bits(bits):
    with pytest.raises(ValueError, match="'bits' parameter of FixedPoint must be 16 or 32"):
        FixedPoint(bits=bits)
