"""The stream behind everything that leaves, and the grid of its noise."""

import math
import os
import secrets
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from randomgen import ChaCha

from sklearn_deid._randomness import (
    FINEST_STEP,
    grid_step,
    is_grid,
    on_grid,
    own_generator,
    own_torch_stream,
    release_generator,
    to_grid,
)


@pytest.mark.parametrize("key", [0, 1, 2**255 + 7, 0x123456789ABCDEF << 190])
def test_the_stream_is_chacha20(key):
    """Word for word that of another implementation."""
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    algorithm = ciphers.algorithms.ChaCha20(key.to_bytes(32, "little"), bytes(16))
    stream = ciphers.Cipher(algorithm, None).encryptor().update(bytes(8 * 10_000))
    words = ChaCha(key=key).random_raw(10_000)
    assert words.astype("<u8").tobytes() == stream
    # and NumPy's samplers run on these very words: a uniform number is the upper 53 bits of one
    uniform = np.random.Generator(ChaCha(key=key)).random(10_000)
    np.testing.assert_array_equal(uniform, (np.frombuffer(stream, "<u8") >> np.uint64(11)) * 2.0**-53)


def test_each_call_takes_a_key_of_256_bits_from_the_operating_system(monkeypatch):
    asked, system = [], secrets.randbits
    monkeypatch.setattr("secrets.randbits", lambda n: asked.append((n, system(n))) or asked[-1][1])
    words = [release_generator().bit_generator.random_raw(4).tolist() for _ in range(20)]
    assert [n for n, _ in asked] == [256] * 20 and len({key for _, key in asked}) == 20
    assert words == [ChaCha(key=key).random_raw(4).tolist() for _, key in asked]


@pytest.mark.parametrize("seed", [0, 7, 2**62])
def test_a_seed_gives_the_stream_of_training(seed):
    assert release_generator(seed).random(5).tolist() == own_generator(seed).random(5).tolist()
    given = np.random.default_rng(seed)
    assert release_generator(given) is given
    legacy = [np.random.RandomState(3) for _ in range(2)]
    assert release_generator(legacy[0]).random(5).tolist() == own_generator(legacy[1]).random(5).tolist()


def test_another_thread_draws_no_number_of_a_training():
    inside, goes_on, found = threading.Event(), threading.Event(), []

    def drawn(seed, between=lambda: None):
        with own_torch_stream(own_generator(seed), torch.device("cpu")):
            first = torch.rand(1).item()
            between()
            return [first, torch.rand(1).item()]

    def meet():
        inside.set()
        goes_on.wait()

    other = threading.Thread(target=lambda: found.append(drawn(1, meet)))

    def begin():
        other.start()
        inside.wait(0.5)  # set if the other thread does not wait for its turn

    alone, before = [drawn(seed) for seed in (0, 1)], torch.get_rng_state()
    assert drawn(0, begin) == alone[0]
    goes_on.set()
    other.join()
    assert found == [alone[1]]
    assert torch.equal(torch.get_rng_state(), before)


@given(st.lists(st.floats(1e-30, 1e20), min_size=1, max_size=5))
def test_the_step_follows_from_the_smallest_noise(stds):
    step = grid_step([0.0, *stds])
    assert is_grid(step) and step == grid_step(min(stds))
    if min(stds) >= 2.0**-15:
        assert 32 <= min(stds) / step < 64
    else:
        assert step == FINEST_STEP
    assert grid_step(stds, finest=2.0**-10) == max(step, 2.0**-10)


@given(st.floats(-(2.0**30), 2.0**30), st.integers(-20, 20))
def test_numbers_on_the_grid(value, exponent):
    step = 2.0**exponent
    rounded = to_grid(np.array([value]), step)
    assert on_grid(rounded, step) and float(rounded[0]) == float(rounded.astype(np.float32)[0])
    if abs(value) < (2**24 - 1) * step:
        assert abs(rounded[0] - value) <= step / 2
    else:
        assert abs(rounded[0]) == (2**24 - 1) * step
    assert not on_grid(rounded + step / 2, step) or abs(value) / step > 2**23


@pytest.mark.parametrize("step", [0.0, -0.5, 0.3, math.inf, math.nan, 2.0**-21, 2.0**97, 1, "0.5", None, [0.5]])
def test_what_is_no_grid(step):
    assert not is_grid(step)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_trains_while_another_thread_of_its_parent_trains():
    """Neither the lock nor the threads of OpenMP, which the parent has used, exist in the forked process."""
    code = """
import os, signal, threading
import numpy as np
import torch
from sklearn_deid._randomness import own_torch_stream

torch.set_num_threads(2)

def stream():
    return own_torch_stream(np.random.default_rng(0), torch.device("cpu"))

has_begun, may_end = threading.Event(), threading.Event()

def compute():
    torch.ones(10**6).exp().sum()  # enough for two threads

def train():
    with stream():
        has_begun.set()
        may_end.wait()

with stream():
    compute()
threading.Thread(target=train).start()
has_begun.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    with stream():
        compute()
        os._exit(0)
status = os.waitpid(child, 0)[1]
may_end.set()
raise SystemExit(os.waitstatus_to_exitcode(status) != 0 or torch.get_num_threads() != 2)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
