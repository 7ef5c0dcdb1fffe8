"""Screen of updates that point against most others: cosines, what it tolerates, and who cannot be accused."""

import json

import numpy as np
import pytest

from sklearn_deid.federated import AgreementScreen

N = 4000


def round_of(rng, n_honest, common=0.3, hostile=()):
    """Honest updates with cosines of about ``common`` to each other, and hostile multiples of updates alike."""
    goal = rng.normal(size=N)

    def honest():
        return np.sqrt(common) * goal + np.sqrt(1 - common) * rng.normal(size=N)

    updates = [honest() for _ in range(n_honest)] + [factor * honest() for factor in hostile]
    return {name: values.astype(np.float32) for name, values in zip("abcdefg", updates, strict=False)}


def test_cosines_are_those_of_numpy():
    updates = round_of(np.random.default_rng(0), 3)
    told = AgreementScreen().with_round(updates).rounds[0]
    for one, row in told.items():
        assert set(row) == set(updates) - {one}
        for other, cosine in row.items():
            a, b = updates[one].astype(float), updates[other].astype(float)
            assert cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-4)


@pytest.mark.parametrize("n_honest", [2, 3, 6])
@pytest.mark.parametrize("factor", [-20, -3, -1, -0.5, -1e-3])
def test_who_points_against_the_others_is_opposed_at_once(n_honest, factor):
    screen = AgreementScreen().with_round(round_of(np.random.default_rng(1), n_honest, hostile=[factor]))
    assert screen.opposed == ("abcdefg"[n_honest],)


@pytest.mark.parametrize("common", [0.9, 0.3, 0.05, 0.0])
@pytest.mark.parametrize("n_honest", [1, 2, 3, 5])
def test_honest_workers_are_never_opposed(common, n_honest):
    """Also at the end of a training, when their updates are noise."""
    rng, screen = np.random.default_rng(2), AgreementScreen()
    for _ in range(50):
        screen = screen.with_round(round_of(rng, n_honest, common))
        assert screen.opposed == ()


def test_a_worker_with_unusual_notes_is_not_opposed():
    """At the end of a training, cosines of a Spanish site with three English ones were -.03 to -.11."""
    rng, screen = np.random.default_rng(9), AgreementScreen()
    for common in (*np.linspace(0.9, 0.1, 10), *[0.05] * 20):
        updates = round_of(rng, 3, common, hostile=[1 if common > 0.05 else -1])
        screen = screen.with_round(updates)
        assert screen.opposed == ()


def test_what_is_short_of_the_bound_is_noticed_after_three_rounds():
    rng, screen, found = np.random.default_rng(3), AgreementScreen(), []
    for _ in range(6):
        screen = screen.with_round(round_of(rng, 3, common=0.15, hostile=[-1]))
        found.append(screen.opposed)
    assert found == [(), (), *[("d",)] * 4]


@pytest.mark.parametrize(("n_honest", "n_hostile"), [(2, 1), (3, 1), (3, 2), (4, 3)])
def test_a_minority_cannot_have_an_honest_worker_opposed(n_honest, n_hostile):
    """Hostile workers that all send the opposite of one honest worker's update."""
    rng, screen = np.random.default_rng(4), AgreementScreen()
    for _ in range(8):
        updates = round_of(rng, n_honest, common=0.1)
        updates |= {name: -3 * updates["a"] for name in "tuvw"[:n_hostile]}
        screen = screen.with_round(updates)
        assert not set(screen.opposed) & set("abcd")


def test_half_of_the_workers_are_no_majority():
    rng = np.random.default_rng(5)
    assert AgreementScreen().with_round(round_of(rng, 2, hostile=[-3, -3])).opposed == ()
    assert AgreementScreen().with_round(round_of(rng, 1, hostile=[-3])).opposed == ()


def test_a_worker_without_an_update_is_against_nobody():
    updates = round_of(np.random.default_rng(6), 2) | {"c": np.zeros(N, np.float32)}
    screen = AgreementScreen().with_round(updates)
    assert screen.opposed == () and screen.rounds[0]["c"] == {"a": 0.0, "b": 0.0}
    huge = {name: np.full(N, 3e38 * sign, np.float32) for name, sign in (("a", 1), ("b", 1), ("c", -1))}
    assert AgreementScreen().with_round(huge).opposed == ("c",)


def test_it_remembers_five_rounds_and_outlives_a_file():
    rng, screen = np.random.default_rng(7), AgreementScreen()
    assert screen.opposed == ()
    for _ in range(8):
        screen = screen.with_round(round_of(rng, 3, common=0.15, hostile=[-1]))
    again = AgreementScreen(*(json.loads(json.dumps(part)) for part in (screen.rounds, screen.opposed)))
    assert len(again.rounds) == 5 and again.opposed == ("d",)
    following = round_of(rng, 3, common=0.1, hostile=[-4])
    for name in ("rounds", "opposed", "longest"):
        assert getattr(again.with_round(following), name) == getattr(screen.with_round(following), name)


@pytest.mark.parametrize("present", ["abc", "ab", "ad"])
def test_a_missed_or_small_round_forgives_nobody(present):
    """A hostile worker missed one round, and all its later updates passed."""
    rng, screen = np.random.default_rng(10), AgreementScreen()
    for _ in range(3):
        screen = screen.with_round(round_of(rng, 3, hostile=[-1]))
    missed = round_of(rng, 3, common=0.03, hostile=[-1])
    screen = screen.with_round({name: update for name, update in missed.items() if name in present})
    assert screen.opposed == ("d",)
    for _ in range(8):
        screen = screen.with_round(round_of(rng, 3, common=0.03, hostile=[-1]))
        assert screen.opposed == ("d",)


def test_who_was_opposed_comes_back_by_agreeing():
    """Not by updates that are mere noise, which are usual for others at the end of a training."""
    rng, screen = np.random.default_rng(8), AgreementScreen()
    for _ in range(3):
        screen = screen.with_round(round_of(rng, 3, hostile=[-1]))
    quiet, agreeing = screen, screen
    for _ in range(6):
        quiet = quiet.with_round(round_of(rng, 3, common=0.03, hostile=[-1]))
        assert quiet.opposed == ("d",)
    found = []
    for _ in range(5):
        agreeing = agreeing.with_round(round_of(rng, 4))
        found.append(agreeing.opposed)
    assert (found[0], found[-1]) == (("d",), ())


def bounds_of(screen, *lengths, noisy=()):
    """Bounds after a round of updates with these norms, as multiples of the upper median norm."""
    rng, updates = np.random.default_rng(9), {}
    for name, length in zip("abcdefg", lengths, strict=False):
        values = rng.normal(size=N)
        updates[name] = (length / np.linalg.norm(values) * values).astype(np.float32)
    screen = screen.with_round(updates, noisy)
    return screen, [round(bound / sorted(lengths)[len(lengths) // 2], 2) for bound in screen.longest.values()]


def test_long_updates_never_become_usual():
    """Neither from the first round on, nor those of every third round."""
    screen = AgreementScreen()
    for number in range(12):
        screen, bounds = bounds_of(screen, 1, 1, 1, 1 if number % 3 == 0 else 4.9)
        assert bounds == [1.5] * 4
        assert bounds_of(screen, 10, 10, 10, 49, noisy="d")[1] == [1.5, 1.5, 1.5, 1.0]


def test_workers_without_updates_set_no_bound():
    screen = bounds_of(AgreementScreen(), 1, 1, 1)[0]
    nothing = screen.with_round({"a": np.zeros(3), "b": np.zeros(3), "c": np.ones(3)})
    assert nothing.longest["c"] == np.inf
    pair = screen.with_round({"a": np.ones(3), "c": np.full(3, 9)})
    assert pair.longest == {"a": np.inf, "c": np.inf}, "one of two cannot be told from the other"
    assert bounds_of(bounds_of(screen, 0, 1, 1)[0], 1, 1, 1)[1] == [1.5] * 3, "who learned nothing comes back"
