"""Secure aggregation by pairwise masks: the host learns the sum of the updates, and no single update.

Each pair of sites agrees on a key that the host does not know (X25519). For each round both sites derive the same
random numbers (HKDF-SHA256, AES-256 in counter mode). One site adds the numbers to its update, and the other site
subtracts them. Updates are whole numbers modulo 2^k, so that the masks cancel exactly in the sum of all sites.

References
----------
Bonawitz et al. (2017), Practical secure aggregation for privacy-preserving machine learning, CCS, section 4.
RFC 7748 (X25519), RFC 5869 (HKDF), NIST SP 800-38A (counter mode).
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from .._optional import import_optional
from ..exceptions import ExchangeError
from .selection import check_finite_vector
from .sparse import SparseUpdate
from .value_checks import check_parameter, is_whole, with_plain_numbers

FEWEST_SITES = 3
# Changed with the masks: a host of another version refuses a message instead of adding masks that do not cancel.
_MAGIC = b"SDM2"
# magic, digest of the terms of the round
_HEAD = struct.Struct("<4s32s")
_PURPOSE = "pairwise masks"
_PRIME = 2**255 - 19
# Points whose secret with any key is 0 (Curve25519, points of order 1, 2, 4 and 8).
_SMALL_ORDER = {
    0,
    1,
    _PRIME - 1,
    0xB8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
    0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F,
}


@dataclass(frozen=True)
class FixedPoint:
    """Encoding of updates as whole numbers modulo 2^``bits``, for masked sums: ``masks`` of `FederatedAveraging`.

    The range is divided by the number of sites, so that no sum can overflow. Values beyond ``bound`` are clipped to
    ``bound``, and `encode` returns the number of clipped values.

    Parameters
    ----------
    bound : float, default=0.25
        Largest magnitude of a value of an update, positive and finite.
    bits : {16, 32}, default=16
        Bits of each value. 16 bits take as many bytes as half precision. With three sites the step is
        ``bound / 10922``.

    Examples
    --------
    >>> import numpy as np
    >>> numbers, n_clipped = FixedPoint(bound=1.0).encode(np.array([0.5, -2.0]), n_sites=3)
    >>> FixedPoint(bound=1.0).decode(numbers, n_sites=3).round(3).tolist(), n_clipped
    ([0.5, -1.0], 1)
    """

    bound: float = 0.25
    bits: int = 16

    def __post_init__(self) -> None:
        with_plain_numbers(self)
        check_parameter("FixedPoint", "bound", self.bound, 0.0 < self.bound < math.inf, "a positive number")
        check_parameter("FixedPoint", "bits", self.bits, is_whole(self.bits) and self.bits in (16, 32), "16 or 32")

    @property
    def dtype(self) -> np.dtype:
        """Unsigned type of the numbers, in little-endian order."""
        return np.dtype("<u2" if self.bits == 16 else "<u4")

    def step(self, n_sites: int) -> float:
        """Difference of two neighbouring values."""
        most = (2 ** (self.bits - 1) - 1) // n_sites
        if most < 256:
            raise ExchangeError(
                f"{self.bits} bits are too few for {n_sites} sites: 16 bits allow 127 sites. In one process, use 32."
            )
        return self.bound / most

    def encode(self, update: np.ndarray, n_sites: int) -> tuple[np.ndarray, int]:
        """Round an update of shape (n,). Returns the numbers, shape (n,), and the number of values beyond the bound."""
        values = check_finite_vector(update).astype(np.float64)
        n_clipped = int(np.count_nonzero(np.abs(values) > self.bound))
        steps = np.rint(np.clip(values, -self.bound, self.bound) / self.step(n_sites)).astype(np.int64)
        # Negative numbers become their complement modulo 2^bits.
        return steps.astype(self.dtype), n_clipped

    def decode(self, total: np.ndarray, n_sites: int) -> np.ndarray:
        """Convert a sum of numbers of ``n_sites`` sites to values, shape (n,), float32."""
        signed = total.view(f"<i{self.bits // 8}").astype(np.float64)
        return (signed * self.step(n_sites)).astype(np.float32)


@dataclass(frozen=True)
class MaskedRound:
    """Public terms of a round. All sites and the host use the same terms.

    Parameters
    ----------
    number : int
        Number of the round, from 0. A site accepts only increasing round numbers, so that no mask is used twice.
    model : str
        Fingerprint of the model.
    size : int
        Number of parameters.
    public_keys : mapping of str to bytes
        Public key of each site. Each site must know the keys of the other sites from a channel that the host cannot
        change.
    numbers : FixedPoint
        Coding of the values.
    start : str, default=""
        Hash of the parameters from which the sites start. If the host gives different parameters to different sites,
        the masks therefore do not cancel in the sum. Otherwise, the host could choose the parameters so that all
        updates except one are known, and compute this update from the sum.
    fraction : float, default=1.0
        Fraction of the parameters whose updates are sent, above 0. The positions are computed from the public terms,
        and therefore reveal nothing about the notes. The selection equals the random selection of selective SGD without
        a threshold.

    Raises
    ------
    ExchangeError
        If there are fewer than three sites, too many sites for the ``bits`` of ``numbers``, two sites with the same
        key, or an invalid key. With two sites, each site could compute the update of the other site from the sum.
    """

    number: int
    model: str
    size: int
    public_keys: Mapping[str, bytes]
    numbers: FixedPoint
    start: str = ""
    fraction: float = 1.0

    def __post_init__(self) -> None:
        if len(self.public_keys) < FEWEST_SITES:
            raise ExchangeError(
                f"Masks need at least {FEWEST_SITES} sites. Got {len(self.public_keys)} instead: the sum of two "
                "updates reveals each update to the other site."
            )
        self.numbers.step(len(self.public_keys))  # refuses too many sites for the bits
        # X25519 reads different bytes as the same point: the masks of two sites with one point would be equal.
        points = {int.from_bytes(key, "little") % 2**255 % _PRIME for key in self.public_keys.values()}
        if len(points) != len(self.public_keys):
            raise ExchangeError("Each site needs a key of its own.")
        if points & _SMALL_ORDER:
            raise ExchangeError("A public key of the round is invalid.")
        if not is_whole(self.number, math.inf):
            raise ExchangeError("The number of a round must be a whole number from 0.")
        if not 0.0 < self.fraction <= 1.0:
            raise ExchangeError("The fraction of a round must be above 0 and at most 1.")

    @property
    def n_sent(self) -> int:
        """Number of values that each site sends."""
        return max(1, round(self.fraction * self.size))

    @property
    def positions(self) -> np.ndarray:
        """Positions of the sent values, shape (n_sent,), in increasing order, equal for all sites."""
        if self.n_sent == self.size:
            return np.arange(self.size)
        # Raw numbers of a bit generator, which do not change between versions of NumPy.
        seed = int.from_bytes(sha256(b"positions" + self.digest).digest(), "little")
        raw = np.random.PCG64(seed).random_raw(self.size)
        return np.sort(np.argsort(raw, kind="stable")[: self.n_sent])

    @property
    def digest(self) -> bytes:
        """Hash of all terms, 32 bytes. Other terms give other masks, and the host refuses messages with other terms."""
        keys = {name: key.hex() for name, key in self.public_keys.items()}
        coding = [self.numbers.bound, self.numbers.bits, self.fraction]
        terms = [self.number, self.model, self.size, keys, coding, self.start]
        return sha256(json.dumps(terms, sort_keys=True).encode("ascii")).digest()


class MaskingSite:
    """The masks of one site. The private key never leaves the object and is not pickled.

    Parameters
    ----------
    name : str
        Name of the site.
    private_key : bytes, default=None
        Private key of the site, 32 bytes. None makes a new key.
    last_round : int, default=-1
        Number of the last round that was masked with this key. A site that keeps its key must keep this number, too.

    Attributes
    ----------
    public_key : bytes
        Public key of the site, 32 bytes.

    Raises
    ------
    MissingDependencyError
        If cryptography is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> sites = [MaskingSite(name) for name in ("a", "b", "c")]
    >>> terms = MaskedRound(0, "0" * 32, 2, {site.name: site.public_key for site in sites}, FixedPoint(bound=1.0))
    >>> host = MaskedSum(terms)
    >>> for site in sites:
    ...     host.add(site.name, site.mask(np.array([0.25, -0.5]), terms))
    >>> host.mean().round(3).tolist()
    [0.25, -0.5]
    """

    def __init__(self, name: str, private_key: bytes | None = None, last_round: int = -1) -> None:
        self.name = name
        kind = _part("asymmetric.x25519").X25519PrivateKey
        self._key = kind.generate() if private_key is None else kind.from_private_bytes(private_key)
        self._last_round = last_round
        self.n_clipped = 0

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("A MaskingSite holds a private key and cannot be copied or pickled.")

    @property
    def public_key(self) -> bytes:
        """Public key of the site, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    @property
    def private_key(self) -> bytes:
        """Private key of the site, 32 bytes, for a file that only the site can read."""
        return self._key.private_bytes_raw()

    def mask(self, update: np.ndarray, terms: MaskedRound) -> bytes:
        """Encode and mask an update of shape (size,).

        Parameters
        ----------
        update : ndarray of shape (size,)
            Finite values. ``n_clipped`` counts the values beyond the bound.
        terms : MaskedRound
            Terms of the round. A round that is repeated after a drop-out has a new number.

        Raises
        ------
        ExchangeError
            If the terms do not name this site with its key, or if the number of the round is not new. With a repeated
            number, two messages would have equal masks, and their difference would reveal the difference of the
            updates.
        """
        if terms.public_keys.get(self.name) != self.public_key:
            raise ExchangeError("The round does not name this site with its own key.")
        if terms.number <= self._last_round:
            raise ExchangeError(f"Round {terms.number} is not new: this site has masked round {self._last_round}.")
        if np.shape(update) != (terms.size,):
            raise ExchangeError(f"The update must have shape ({terms.size},). Got {np.shape(update)} instead.")
        chosen = np.asarray(update)[terms.positions]  # shape: (n_sent,)
        total, self.n_clipped = terms.numbers.encode(chosen, len(terms.public_keys))
        self._last_round = terms.number
        for name, key in terms.public_keys.items():
            if name != self.name:
                stream = self._stream(key, terms)  # shape: (n_sent,)
                # Unsigned sums wrap around modulo 2^bits. Of each pair one site adds, and the other subtracts.
                total = total + stream if self.name < name else total - stream
        return _HEAD.pack(_MAGIC, terms.digest) + total.astype(terms.numbers.dtype).tobytes()

    def _stream(self, public_key: bytes, terms: MaskedRound) -> np.ndarray:
        """Random numbers that only this site and the owner of the public key can derive, shape (n_sent,)."""
        ciphers, hashes, kdf = _part("ciphers"), _part("hashes"), _part("kdf.hkdf")
        try:
            # X25519 of cryptography refuses a key that gives the same secret to everybody.
            shared = self._key.exchange(_part("asymmetric.x25519").X25519PublicKey.from_public_bytes(public_key))
        except ValueError:
            raise ExchangeError("A public key of the round is invalid.") from None
        # Both keys: X25519 gives one secret for a key and for its sum with a point of small order. The masks of two
        # pairs could otherwise be equal and cancel within one message.
        info = b"sklearn-deid pairwise masks" + terms.digest + b"".join(sorted((self.public_key, public_key)))
        key = kdf.HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(shared)
        # The key belongs to one pair and one round, so that a counter from 0 never repeats.
        encryptor = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(bytes(16))).encryptor()
        n_bytes = terms.n_sent * terms.numbers.bits // 8
        return np.frombuffer(encryptor.update(bytes(n_bytes)) + encryptor.finalize(), dtype=terms.numbers.dtype)


def _part(name: str) -> Any:
    """Return a module of the primitives of cryptography."""
    # The package first: an error must name the package, which the extra installs, and not its part.
    import_optional("cryptography", extra="mapping", purpose=_PURPOSE)
    return import_optional(f"cryptography.hazmat.primitives.{name}", extra="mapping", purpose=_PURPOSE)


class MaskedSum:
    """Host of a round, which adds masked updates. The masks cancel only in the sum of all sites.

    Parameters
    ----------
    terms : MaskedRound
        Terms of the round.
    """

    def __init__(self, terms: MaskedRound) -> None:
        self.terms = terms
        self._arrived: dict[str, np.ndarray] = {}

    def add(self, site: str, message: bytes) -> None:
        """Add the message of a site. The name comes from the authenticated connection. A repeated message counts once.

        Raises
        ------
        ExchangeError
            If the site is not a member of the round or has sent another message before, or if the message belongs to
            other terms or is damaged.
        """
        if site not in self.terms.public_keys:
            raise ExchangeError("This site is not a member of the round.")
        body = message[_HEAD.size :]
        if len(message) < _HEAD.size or _HEAD.unpack(message[: _HEAD.size]) != (_MAGIC, self.terms.digest):
            raise ExchangeError("The message belongs to another round or to other terms.")
        if len(body) != self.terms.n_sent * self.terms.numbers.bits // 8:
            raise ExchangeError("The masked update is truncated or too long.")
        if site in self._arrived and self._arrived[site].tobytes() != body:
            raise ExchangeError("This site has already sent its update of the round.")
        self._arrived[site] = np.frombuffer(body, dtype=self.terms.numbers.dtype)

    @property
    def missing(self) -> list[str]:
        """Sites whose update has not arrived."""
        return sorted(set(self.terms.public_keys) - set(self._arrived))

    def seen(self, site: str) -> SparseUpdate:
        """Masked values in the message of one site, for an audit. Masked values are uniformly distributed."""
        terms = self.terms
        values = terms.numbers.decode(self._arrived[site], len(terms.public_keys))
        return SparseUpdate(terms.positions, values, terms.size, terms.model)

    def total(self) -> np.ndarray:
        """Sum of the updates of all sites, shape (size,), float32, with zeros where nothing was sent.

        Raises
        ------
        ExchangeError
            If a site is missing. Repeat the round with a new number and without the missing sites.
        """
        if self.missing:
            raise ExchangeError(
                f"{len(self.missing)} sites of the round are missing, such as {self.missing[0]!r}: their masks do not "
                "cancel. Repeat the round with a new number."
            )
        numbers = self.terms.numbers
        # Sums of this type wrap around modulo 2^bits; (n_sites, n_sent) -> (n_sent,)
        total = np.sum(list(self._arrived.values()), axis=0, dtype=numbers.dtype)
        whole = np.zeros(self.terms.size, dtype=np.float32)
        whole[self.terms.positions] = numbers.decode(total.astype(numbers.dtype), len(self._arrived))
        return whole

    def mean(self) -> np.ndarray:
        """Mean of the updates of all sites, shape (size,), float32. Every site has the same weight."""
        return (self.total().astype(np.float64) / len(self._arrived)).astype(np.float32)


def masked_mean(
    updates: Mapping[str, np.ndarray], sites: Mapping[str, MaskingSite], number: int, model: str, numbers: FixedPoint
) -> tuple[np.ndarray, dict[str, bytes]]:
    """Run one round in this process. Returns the mean of the updates, and the message of each site.

    Parameters
    ----------
    updates : mapping of str to ndarray of shape (n,)
        Update of each site.
    sites : mapping of str to MaskingSite
        Keys of the sites.
    number, model, numbers
        Parameters of `MaskedRound`.
    """
    keys = {name: sites[name].public_key for name in updates}
    host = MaskedSum(MaskedRound(number, model, len(next(iter(updates.values()))), keys, numbers))
    messages = {name: sites[name].mask(update, host.terms) for name, update in updates.items()}
    for name, message in messages.items():
        host.add(name, message)
    return host.mean(), messages
