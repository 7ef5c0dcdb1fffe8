"""Orders by a key of the originals, and patient numbers that were not drawn, are named; random ones are not."""

import hashlib
import random
import zlib

import numpy as np
import pytest

from sklearn_deid.audit.attacks import FileCheck, KnownNotes, SavedSentences
from sklearn_deid.audit.attacks.order_checks import number_checks, order_checks
from sklearn_deid.audit.attacks.seeded_orders import seeded_order
from sklearn_deid.sequences import TokenSequences

N, PATIENTS = 120, 30
WORDS = np.random.default_rng(1).permutation([f"{a}{b}{c}" for a in "abcdef" for b in "klmnopq" for c in "xyz"])


def sentences(seed=0):
    rng = np.random.default_rng(seed)
    return [[str(word) for word in rng.choice(WORDS, size)] for size in rng.integers(2, 9, N)]


ROWS = sentences()
IDS = np.random.default_rng(2).permutation(np.arange(N) % PATIENTS) * 17 % 101


def faults(original, numbers=None, shuffled=True):
    rng, original = np.random.default_rng(0), np.asarray(original)
    offsets = np.concatenate([[0], np.cumsum([len(ROWS[row]) for row in original])])
    vectors, phi = rng.normal(size=(offsets[-1], 6)), rng.random(offsets[-1]) < 0.2
    notes = KnownNotes(TokenSequences.from_rows(ROWS), None, IDS)
    groups = None if numbers is None else np.asarray(numbers)[np.unique(IDS, return_inverse=True)[1]][original]
    released = SavedSentences(vectors, offsets, phi, groups, shuffled, 0.5, 2.0**-6, original=original, notes=notes)
    return FileCheck().attack(released).faults


def by(key):
    return np.array(sorted(range(N), key=lambda i: key(ROWS[i])))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (lambda row: hashlib.md5(" ".join(row).encode()).digest(), "md5 digests of their words"),
        (lambda row: hashlib.sha256("".join(row).encode()).hexdigest(), "sha256 digests of their words without"),
        (lambda row: hashlib.sha3_256("\n".join(row).encode()).digest(), "sha3_256 digests of their words in lines"),
        (lambda row: hashlib.blake2b(str(row).encode()).digest(), "blake2b digests of their words as a Python list"),
        (lambda row: -zlib.crc32(" ".join(row).encode()), "crc32 digests of their words"),
        (lambda row: int(hashlib.sha1(" ".join(row).encode()).hexdigest(), 16) % 2**32, "sha1"),
        (lambda row: " ".join(row), "their words"),
        (len, "their lengths"),
        (lambda row: sum(map(len, row)), "numbers of characters"),
    ],
)
def test_orders_by_a_key_are_named(key, name):
    found = " ".join(faults(by(key)))
    assert name.split(" digests")[0] in found and "although the file says that they were shuffled" in found
    assert faults(by(key), shuffled=False) == ()


def test_an_order_by_a_key_that_rises_several_times_is_named():
    """Three blocks, each sorted by a digest."""
    order = by(lambda row: hashlib.md5(" ".join(row).encode()).digest())
    assert "md5" in " ".join(faults(np.concatenate([order[i::3] for i in range(3)])))


HALF = np.random.default_rng(4).permutation(N // 2)


@pytest.mark.parametrize(
    "order",
    [
        np.stack([HALF, HALF + N // 2], axis=1).reshape(-1),
        np.concatenate([2 * HALF, 2 * HALF + 1]),
        np.concatenate([2 * HALF, (2 * HALF + 1)[::-1]]),
        np.stack([HALF, N - 1 - HALF], axis=1).reshape(-1),
        np.stack([np.arange(N // 2), np.arange(N - 1, N // 2 - 1, -1)], axis=1).reshape(-1),
    ],
    ids=["half apart in the notes", "half apart", "mirrored", "mirrored in the notes", "from both ends"],
)
def test_pairs_at_a_regular_distance_are_named(order):
    """Neighbours of the notes lie at fixed distances in the file, or the other way round."""
    told = ("The sentences are in the order of the notes, although the file says that they were shuffled.",)
    assert faults(order) == told
    known = np.random.default_rng(5).random(N) < 0.8
    assert faults(np.where(known, order, -1)) == told


@pytest.mark.parametrize(
    "key",
    [
        lambda ids: np.unique(IDS, return_index=True)[1],
        lambda ids: -ids,
        lambda ids: [hashlib.sha1(str(one).encode()).hexdigest() for one in ids],
    ],
)
@pytest.mark.parametrize("shuffled", [True, False])
def test_patient_numbers_that_follow_the_patients_are_named(key, shuffled):
    ids, order = np.unique(IDS), np.random.default_rng(3).permutation(N)
    numbers = np.argsort(np.argsort(np.asarray(key(ids))))
    found = [fault for fault in faults(order, numbers, shuffled) if fault.startswith("The patient numbers")]
    assert found and "p = " in found[0]


def by_python(seed):
    items = list(range(N))
    random.Random(seed).shuffle(items)
    return items


@pytest.mark.parametrize(
    ("order", "name"),
    [
        (np.random.default_rng(0).permutation(N), "NumPy's default generator with seed 0"),
        (np.random.RandomState(42).permutation(N), "NumPy's RandomState with seed 42"),
        (by_python(1000), "Python's generator with seed 1000"),
    ],
)
def test_orders_of_a_small_seed_are_named(order, name):
    """They look random."""
    assert f"The order is the order of {name}" in " ".join(faults(order))
    some = np.where(np.arange(N) % 3 == 0, -1, order)  # what could not be matched is not known
    assert seeded_order(some, np.arange(N))[0] == name and seeded_order(some, np.arange(N))[1] < 1e-9


def test_the_seed_of_a_saved_release_is_named():
    """As `save_representation(random_state=7)` draws: a permutation, the first of copies, and a second permutation."""
    same_as = np.arange(N)
    same_as[100:] = same_as[:20]
    rng = np.random.default_rng(7)
    drawn = same_as[rng.permutation(N)]
    kept = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    assert seeded_order(kept[rng.permutation(len(kept))], same_as)[0] == "NumPy's default generator with seed 7"


def test_the_seed_of_a_permutation_without_copies_is_named():
    same_as = np.arange(N)
    same_as[100:] = same_as[:20]
    drawn = np.random.default_rng(9).permutation(100)
    name, p = seeded_order(drawn, same_as)  # another way with this seed has seven places in common
    assert name == "NumPy's default generator with seed 9" and p < 1e-9


def test_patient_numbers_of_a_small_seed_are_named():
    numbers = np.random.default_rng(5).permutation(PATIENTS)
    found = faults(np.random.default_rng(3).permutation(N), numbers)
    assert any("The patient numbers are those of NumPy's default generator with seed 5" in one for one in found)


def test_random_orders_and_numbers_are_not_named():
    """Of 20 intact releases, at a level of .0002 each, hardly one may be blamed."""
    rng = np.random.default_rng(2**40 + 4)  # the order of a small seed is named
    assert [fault for _ in range(20) for fault in faults(rng.permutation(N), rng.permutation(PATIENTS))] == []


def test_what_is_not_known_is_not_tested():
    """Without patients no numbers are tested; fewer than twenty sentences have no order to test."""
    few = SavedSentences(np.zeros((5, 2)), np.arange(6), np.zeros(5, bool), np.arange(5), True, 0.5, 2.0**-6)
    assert list(number_checks(few)) == [] and list(order_checks(few)) == []
