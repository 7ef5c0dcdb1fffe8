"""Where random numbers come from: seeded ones for training, keyed ones for everything that leaves the house."""

from __future__ import annotations

import math
import secrets
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
_BLOCK = 2**16


def own_generator(random_state: Any) -> np.random.Generator:
    """An own stream of numbers; the global one of NumPy is never asked.

    An integer gives the same stream at each call, None one from the operating system, and a RandomState gives another
    one each time.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


@contextmanager
def own_torch_stream(rng: np.random.Generator, device: torch.device) -> Iterator[None]:
    """PyTorch's global stream, seeded from rng for a while and then put back.

    First weights and dropout draw from that stream; without this a training would depend on what ran before it.

    Parameters
    ----------
    rng : numpy.random.Generator
        Gives one number.
    device : torch.device
        Where dropout is drawn.

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
    import torch  # not at the top: taggers by rules and readers of corpora need no torch

    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(int(rng.integers(2**31)))
        yield


def release_generator(random_state: Any = None) -> np.random.Generator:
    """The stream for one release: noise, choices and orders that nobody may be able to repeat.

    Without ``random_state`` it is ChaCha20 under a key of 256 bits that the operating system draws at every call. Use
    it for one release and drop it: kept in an object, it would be copied, pickled and forked together with that, and
    copies would share their noise.

    Parameters
    ----------
    random_state : int, RandomState or Generator, default=None
        For tests: as in `own_generator`. Who knows it can take the noise off.

    Notes
    -----
    NumPy's samplers (ziggurat for normal numbers, 53 bits a uniform one) run on the words of the cipher. randomgen's
    words are those of ChaCha20 with nonce 0 and a counter from 0.

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
    # randomgen's own way to draw a key fills 256 bits too, but from a NumPy SeedSequence, which is no key derivation.
    return np.random.Generator(ChaCha(key=secrets.randbits(256)))


def grid_step(std: Any, finest: float = FINEST_STEP) -> float:
    """Step of the public grid for noise of these standard deviations: a power of two, 32 to 64 times finer.

    Parameters
    ----------
    std : float or array-like
        The smallest positive one decides.
    finest : float, default=2^-20
        The grid is never finer than this power of two.

    Examples
    --------
    >>> grid_step([1.0, 0.3]), grid_step(0.0) == 2.0**-20
    (0.0078125, True)
    """
    positive = [value for value in np.asarray(std, dtype=np.float64).reshape(-1).tolist() if value > 0.0]
    if not positive:
        return finest
    # frexp and not log2, which may round up to the next whole number: exponent - 1 is floor(log2)
    exponent = math.frexp(min(positive))[1] - 1 - _FINER
    return max(math.ldexp(1.0, min(exponent, 96)), finest)  # 2^96 times 2^24 is still a float32


def to_grid(values: np.ndarray, step: float) -> np.ndarray:
    """Nearest multiples of a power of two, float64; beyond 2^24 - 1 steps the last one, so that float32 holds all.

    Examples
    --------
    >>> to_grid(np.array([0.3, -0.4]), 0.25).tolist()
    [0.25, -0.5]
    """
    steps = np.rint(np.asarray(values, dtype=np.float64) / step)
    return np.clip(steps, -MOST_STEPS, MOST_STEPS, out=steps) * step


def is_grid(step: Any) -> bool:
    """Whether something is the step of a grid: a power of two of the size that `grid_step` gives.

    Examples
    --------
    >>> is_grid(0.25), is_grid(0.3), is_grid("0.25")
    (True, False, False)
    """
    return isinstance(step, float) and FINEST_STEP <= step <= 2.0**96 and math.frexp(step)[0] == 0.5


def on_grid(values: np.ndarray, step: float) -> bool:
    """Whether all values are multiples of the step; looks at blocks, so that a mapped file is not read as a whole.

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
