"""Draws depend on the key and on all parts of what they are drawn for, and on nothing else."""

import hashlib
import hmac
import subprocess
import sys

import numpy as np

from sklearn_deid.surrogates.keyed_chance import KeyedChance, new_key
from sklearn_deid.surrogates.patient_chance import PatientChance

KEY = bytes(range(32))


def test_first_numbers_are_those_of_hmac():
    message = (4).to_bytes(4, "big") + b"town" + (6).to_bytes(4, "big") + b"boston"
    block = hmac.new(KEY, bytes(4) + message, hashlib.sha256).digest()
    expected = [(int.from_bytes(block[i : i + 8], "big") >> 11) / 2**53 for i in range(0, 32, 8)]
    chance = KeyedChance(KEY, "town", "boston")
    assert [chance.uniform() for _ in range(4)] == expected


def test_borders_of_parts_matter():
    drawn = {KeyedChance(KEY, *parts).uniform() for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""))}
    assert len(drawn) == 4


def test_another_process_draws_the_same():
    code = (
        "from sklearn_deid.surrogates.patient_chance import PatientChance;"
        "print(PatientChance(bytes(range(32)), 'p\\u00e9', 3).of('town', 'x').uniform())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(out.stdout) == PatientChance(KEY, "p\u00e9", 3).of("town", "x").uniform()


def test_numbers_are_uniform():
    numbers = np.array([KeyedChance(KEY, str(i)).uniform() for i in range(20_000)])
    counts = np.bincount((numbers * 20).astype(int), minlength=20)
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8  # 99.9 % of chi-squared with 19 degrees of freedom


def test_keys_are_drawn_and_not_shown():
    assert len({new_key() for _ in range(100)}) == 100
    assert "p1" not in repr(PatientChance(KEY, "p1"))
