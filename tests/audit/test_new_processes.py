"""Generators that a module makes with a fixed seed show in new processes alone."""

import numpy as np
import pytest

from benchmarks.planted_faults import FAULTS, Audited, Scene, audit, from_module, is_named, with_transform
from sklearn_deid import MadlibPseudonymizer, PrivateRepresenter, SurrogatePseudonymizer
from sklearn_deid.audit.attacks import DrawnWordsAttack
from sklearn_deid.audit.releases.new_processes import released_in_new_processes
from sklearn_deid.exceptions import AttackError

from ..representations.test_private_representer import TINY, VECTORS
from .audited_toys import audited_sentences, auditor

_OF_MODULE = np.random.default_rng(7**21)


class OfModule(MadlibPseudonymizer):
    """Draws from a generator of this module, which each process makes with the same seed."""

    def sample(self, X, y=None, groups=None):
        self.random_state = int(_OF_MODULE.integers(2**32))
        return super().sample(X, y, groups)


class SurrogatesOfModule(SurrogatePseudonymizer):
    """Surrogates under seeds of the generator of this module."""

    def sample(self, X, y=None, groups=None):
        self.random_state = int(_OF_MODULE.integers(2**31))
        return super().sample(X, y, groups)


@pytest.fixture(scope="module")
def two_processes(kept):
    yield
    assert len(kept.all) == 2


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


@pytest.fixture(scope="module")
def scene(data):
    representer = PrivateRepresenter(**{**TINY, "n_components": 8, "noise": 0.5}).fit(*data)
    return Scene(representer, *data)


@pytest.mark.usefixtures("two_processes", "kept_processes")
def test_noise_of_a_generator_of_a_module_is_named(scene):
    planted = FAULTS["module_generator"](scene, None)
    report, _ = audit(planted, attacks=["replay"])
    assert is_named(planted, report.blocking_issues), report.blocking_issues


@pytest.mark.usefixtures("two_processes", "kept_processes")
def test_processes_of_an_intact_representer_are_not_named(scene):
    intact = Audited(scene.representer, scene.notes, ("share noise",))
    report, _ = audit(intact, attacks=["replay"])
    assert not is_named(intact, report.blocking_issues)


@pytest.mark.usefixtures("two_processes", "kept_processes")
def test_words_of_a_generator_of_a_module_are_named(data):
    X, y, groups = data
    report = auditor([DrawnWordsAttack(random_state=0)]).audit(
        OfModule(embeddings=VECTORS, epsilon=10.0).fit(X, y), X, y, groups
    )
    assert "Two new processes draw the same surrogates." in " ".join(report.blocking_issues)


@pytest.mark.usefixtures("two_processes", "kept_processes")
@pytest.mark.parametrize("kind", [SurrogatesOfModule, SurrogatePseudonymizer])
def test_surrogates_of_a_generator_of_a_module_are_named(data, kind):
    """Both calls of one process differ, so that the release passed."""
    X, y, groups = (part[:200] for part in data)
    report = auditor(["drawn_surrogates"]).audit(kind(locale="en").fit(X, y), X, y, groups)
    named = "Two new processes draw the same surrogates." in " ".join(report.blocking_issues)
    assert named == (kind is SurrogatesOfModule)


def test_what_cannot_be_sent_to_a_process_is_an_error_with_its_class(scene):
    planted = with_transform(scene.representer, from_module)
    planted.stream = (number for number in range(3))
    with pytest.raises(AttackError, match=r"^The audit compares two processes, and PrivateRepresenter could not be "):
        released_in_new_processes([planted] * 2, "transform", scene.X)
