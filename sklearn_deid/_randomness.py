"""Sources of random numbers: seeded generators for training, and a keyed cipher for every release."""

from __future__ import annotations

import math
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from randomgen import ChaCha

if TYPE_CHECKING:
    import torch

KEYED, SEEDED = "chacha20-256", "seeded"  # names of the two kinds of streams in files
FINEST_STEP = 2.0**-20  # of any grid; smaller noise than 2^-15 is rounded more coarsely
_FINER = 5  # the step is 2^5 to 2^6 times smaller than the noise
MOST_STEPS = 2**24 - 1  # whole numbers that float32 holds
# Numbers that are rounded at a time, so that no float64 copy of a whole release is in memory.
_BLOCK = 2**16
# PyTorch has one global generator for all threads. With two trainings at a time, each would draw numbers of the other.
_turn = threading.RLock()


def _renew_turn() -> None:
    """Make a new lock in a forked process, which has no thread that could release the lock of its parent."""
    global _turn
    _turn = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_turn)


def own_generator(random_state: Any) -> np.random.Generator:
    """Separate random generator. NumPy's global generator is never used.

    With an integer, each call returns a generator with the same numbers. With None, the operating system seeds the
    generator. With a RandomState, each call returns a different generator, seeded from the RandomState.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


@contextmanager
def own_torch_stream(rng: np.random.Generator, device: torch.device, bits: int = 31) -> Iterator[None]:
    """Seed PyTorch's global generator from ``rng`` inside the block, and restore its state afterwards.

    Initial weights and dropout use the global generator. Without this function, the result of a training would depend
    on the code that ran before the training. The block has the properties of `kept_torch_state`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Generator of the seed. The function draws a single number from ``rng``.
    device : torch.device
        Device on which dropout draws its random numbers.
    bits : int, default=31
        Size of the seed.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid._randomness import own_torch_stream
    >>> def number():
    ...     with own_torch_stream(np.random.default_rng(0), torch.device("cpu")):
    ...         return torch.rand(1).item()
    >>> number() == number()
    True
    """
    with kept_torch_state(device):
        # The import is local because rule taggers and corpus readers must work without loading torch.
        import torch

        torch.manual_seed(int(rng.integers(2**bits)))
        yield


@contextmanager
def kept_torch_state(device: torch.device) -> Iterator[None]:
    """Restore the state of PyTorch's global generators after the block.

    The block has the modes of `plain_torch`. Blocks in several threads run one after the other.

    Parameters
    ----------
    device : torch.device
        Device whose generator is restored, in addition to the generator of the CPU.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid._randomness import kept_torch_state
    >>> before = torch.get_rng_state()
    >>> with kept_torch_state(torch.device("cpu")):
    ...     _ = torch.rand(1)
    >>> torch.equal(torch.get_rng_state(), before)
    True
    """
    import torch

    from ._skorch import plain_torch

    # Without a list of devices, fork_rng would also save the state of every CUDA device.
    with _turn, plain_torch(), torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield


def release_generator(random_state: Any = None) -> np.random.Generator:
    """Random generator of a release, for noise, choices and orders that nobody must be able to reproduce.

    Without ``random_state`` the generator is ChaCha20 with a key of 256 bits. The operating system draws a new key at
    every call. Use the generator for a single release and do not store it. An object with a stored generator could be
    copied, pickled or forked, and each copy would then draw the same noise.

    Parameters
    ----------
    random_state : int, RandomState or Generator, default=None
        Random seed for tests, as in `own_generator`. An attacker with the seed can remove the noise.

    Notes
    -----
    NumPy's samplers (ziggurat for normal numbers, 53 bits for a uniform number) read the words of the cipher. The words
    of randomgen equal the words of ChaCha20 with nonce 0 and a counter from 0.

    References
    ----------
    Bernstein (2008), ChaCha, a variant of Salsa20; RFC 8439.

    Examples
    --------
    >>> one, other = release_generator(), release_generator()
    >>> bool(one.standard_normal() == other.standard_normal())
    False
    """
    if random_state is not None:
        return own_generator(random_state)
    # randomgen can draw a key of 256 bits itself, but from a NumPy SeedSequence, and a SeedSequence is not a
    # cryptographic key derivation.
    return np.random.Generator(ChaCha(key=secrets.randbits(256)))


def grid_step(std: Any, finest: float = FINEST_STEP) -> float:
    """Step of the public grid for given noise: a power of two, 32 to 64 times smaller than the standard deviation.

    Parameters
    ----------
    std : float or array-like
        Standard deviations of the noise. The smallest positive standard deviation determines the step.
    finest : float, default=2^-20
        Smallest step, a power of two.

    Examples
    --------
    >>> grid_step([1.0, 0.3]), grid_step(0.0) == 2.0**-20
    (0.0078125, True)
    """
    positive = [value for value in np.asarray(std, dtype=np.float64).reshape(-1).tolist() if value > 0.0]
    if not positive:
        return finest
    # frexp is exact: exponent - 1 equals floor(log2). log2 could round up to the next whole number.
    exponent = math.frexp(min(positive))[1] - 1 - _FINER
    return max(math.ldexp(1.0, min(exponent, 96)), finest)  # 2^96 times 2^24 is still a float32


def to_grid(values: np.ndarray, step: float) -> np.ndarray:
    """Round values to multiples of a power of two, as float64, and clip them at 2^24 - 1 steps to fit float32.

    Zeros have no sign, since the sign would reveal whether a value was rounded up or down.

    Examples
    --------
    >>> to_grid(np.array([0.3, -0.4, -0.1]), 0.25).tolist()
    [0.25, -0.5, 0.0]
    """
    # float64 represents the quotient and the product exactly, because the step is a power of two.
    steps = np.rint(np.asarray(values, dtype=np.float64) / step)
    steps += 0.0  # -0.0 + 0.0 is 0.0
    return np.clip(steps, -MOST_STEPS, MOST_STEPS, out=steps) * step


def is_grid(step: Any) -> bool:
    """Whether a value is a valid grid step: a power of two in the range of `grid_step`.

    Examples
    --------
    >>> is_grid(0.25), is_grid(0.3), is_grid("0.25")
    (True, False, False)
    """
    return isinstance(step, float) and FINEST_STEP <= step <= 2.0**96 and math.frexp(step)[0] == 0.5


def n_signed_zeros(values: np.ndarray) -> int:
    """Count zeros with a minus sign. The function reads blocks and never holds a whole mapped file.

    Examples
    --------
    >>> n_signed_zeros(np.array([0.0, -0.0, -1.0]))
    1
    """
    blocks = (values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK))
    return sum(int(np.count_nonzero(np.signbit(some) & (some == 0.0))) for some in blocks)


def on_grid(values: np.ndarray, step: float) -> bool:
    """Whether all values are multiples of the step. The function reads blocks and never holds a whole mapped file.

    Examples
    --------
    >>> on_grid(np.array([0.5, -0.25]), 0.25), on_grid(np.array([0.5, 0.3]), 0.25)
    (True, False)
    """
    for start in range(0, len(values), _BLOCK):
        steps = values[start : start + _BLOCK].astype(np.float64) / step
        if (steps != np.rint(steps)).any() or (np.abs(steps) > MOST_STEPS).any():
            return False
    return True
