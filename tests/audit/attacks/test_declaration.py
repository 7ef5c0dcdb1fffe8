"""Every attack says of itself what an audit, its plan and its report need, and a new one needs no other file."""

from types import SimpleNamespace

import pytest

from sklearn_deid import AdversarialPrivacyAuditor, NeighborPseudonymizer, WordVectors
from sklearn_deid.audit import THREATS, Attack, AttackResult, AuditReport, attacks
from sklearn_deid.audit import released_step as kinds
from sklearn_deid.audit.attacks.declaration import AttackSettings
from sklearn_deid.audit.registry import ATTACKS
from sklearn_deid.audit.released_step import MODEL, RELEASE_FILE, REPRESENTATION, SURROGATES, UPDATES, VECTORS, WORDS
from sklearn_deid.metrics import Estimate

CLASSES = attacks.attack_classes()
KINDS = {kinds.CLASSES, kinds.CLASS_FILE, REPRESENTATION, RELEASE_FILE, WORDS, SURROGATES, VECTORS, MODEL, UPDATES}
X, Y = [["Dr", "Alder"], ["Dr", "Birch"], ["Dr", "Maple"]] * 4, [["O", "B-DOCTOR"]] * 12

NEW = """
from sklearn_deid.audit import AttackResult
from sklearn_deid.metrics import Estimate
from sklearn_deid.audit.attacks import AttackPreset, AuditAttack


class CoinAttack(AuditAttack):
    key = family = "coin"
    title = "Coin"
    order = 5
    releases = ("words",)
    presets = (AttackPreset("coin", "Coin", 1.0, 1.0),)
    name, threat, attacker, measure = "coin", "pseudonymised text", "Anyone.", "share of heads"
    phrase = "An attacker throws heads in {} of cases"
"""


def made(name, kind):
    named = ATTACKS[name]
    release = SimpleNamespace(kind=kind, representer=None)
    settings = AttackSettings(n_epochs=2, n_candidates=7, n_releases=3, confidence=0.9, seed=1)
    return named.attack.make(named.preset, settings, release)


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_every_attack_declares_all(one):
    assert all(isinstance(getattr(one, name), str) and getattr(one, name) for name in ("key", "family", "title"))
    assert isinstance(one.order, int) and one.releases and set(one.releases) <= KINDS
    assert one.presets and all(preset.title and preset.strength > 0 < preset.seconds for preset in one.presets)
    assert all(set(preset.releases) <= set(one.releases) for preset in one.presets)
    assert one.run is not attacks.AuditAttack.run
    for preset in one.presets:
        assert ATTACKS[preset.key].preset is preset, "two presets of one key"


@pytest.mark.parametrize("name", ATTACKS)
def test_every_preset_makes_an_attack_with_a_phrase(name):
    for kind in ATTACKS[name].kinds:
        attack = made(name, kind)
        assert isinstance(attack, Attack) and attack.threat in THREATS
        assert attack.phrase.count("{}") == 1 and attack.phrase.format("1 %") and attack.n_rounds >= 1
        skipped = attack.skip("No time.")
        assert (skipped.family, skipped.phrase, skipped.reason) == (attack.family, attack.phrase, "No time.")
        assert skipped.key and getattr(attack, "n_releases", 1) == (3 if ATTACKS[name].preset.repeated else 1)


def test_attacks_are_in_their_order():
    assert list(CLASSES) == sorted(CLASSES, key=lambda one: (one.order, one.key))
    assert len({one.key for one in CLASSES}) == len(CLASSES)
    assert AdversarialPrivacyAuditor.ATTACKS == tuple(ATTACKS)


def test_every_family_has_a_score(monkeypatch):
    """Bounds have none: they are no attacks."""
    found = [made(name, named.kinds[0]) for name, named in ATTACKS.items()]
    report = AuditReport([attack.skip("Not run.") for attack in found if attack.family != "bound"])
    monkeypatch.setattr(AdversarialPrivacyAuditor, "audit", lambda self, *data: report)
    scores = AdversarialPrivacyAuditor().scores(None, X, Y)
    assert set(scores) == {"privacy", *(f"privacy_{one.family}" for one in CLASSES if one.family != "bound")}


def test_a_bound_has_no_score_of_its_own(monkeypatch):
    settings = {"bound": True, "n_releases": 1, "pairwise": True}
    bound = AttackResult("bound", "representation", "Anyone.", "share", Estimate.exact(0.9), 0.5, settings=settings)
    report = AuditReport([bound, AttackResult("pairs", "representation", "A.", "share", Estimate.exact(0.5), 0.5)])
    monkeypatch.setattr(AdversarialPrivacyAuditor, "audit", lambda self, *data: report)
    assert AdversarialPrivacyAuditor().scores(None, X, Y) == {"privacy": 1.0}


def test_a_file_more_is_an_attack_more(tmp_path, monkeypatch):
    (tmp_path / "coin.py").write_text(NEW)
    monkeypatch.setattr(attacks, "__path__", [*attacks.__path__, str(tmp_path)])
    attacks.attack_classes.cache_clear()
    try:
        found = attacks.attack_classes()
        assert [one.__name__ for one in found if one not in CLASSES] == ["CoinAttack"]
        assert [one.order for one in found][0] == 5 and attacks.CoinAttack is found[0]
    finally:
        attacks.attack_classes.cache_clear()
    with pytest.raises(AttributeError, match="no attribute 'StampAttack'"):
        _ = attacks.StampAttack


class Given:
    """An attack of a user, which declares nothing."""

    name, threat, attacker, measure = "given", "pseudonymised text", "A recipient.", "share of words read"

    def run(self, release):
        right = Estimate.from_hits([word == "Dr" for word in release.released.data])
        return [AttackResult(self.name, self.threat, self.attacker, self.measure, right, 0.5)]

    def skip(self, reason):
        return AttackResult.skipped(self.name, self.threat, self.attacker, self.measure, reason)


def test_attacks_of_users_are_run():
    report = AdversarialPrivacyAuditor([Given()], random_state=0).audit(X, X, Y)
    assert [(r.name, r.attack.value, r.family) for r in report.results] == [("given", 0.5, "")]
    assert report.verdicts["pseudonymised text"].startswith("A recipient. Share of words read: 50 %")
    with pytest.raises(TypeError, match="must have 'run'.* object has none"):
        AdversarialPrivacyAuditor([object()], random_state=0).audit(X, X, Y)
    with pytest.raises(ValueError, match="A PairAttack cannot attack words"):
        AdversarialPrivacyAuditor([attacks.PairAttack()], random_state=0).audit(X, X, Y)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("overlap", "mechanism that made the text is not known"),
        ("reidentification", "mechanism that made the text is not known"),
        ("linkage", "The patients of the sentences are not known"),
    ],
)
def test_an_attack_that_lacks_something_says_so(name, reason):
    (found,) = AdversarialPrivacyAuditor([name], random_state=0).audit(X, X, Y).results
    assert found.status == "skipped" and reason in found.reason


@pytest.mark.parametrize("preset", ["quick", "default"])
def test_the_notes_as_they_are_never_pass(preset):
    """Nobody knows what made the words, so that only linkage can run, and it finds little in short sentences."""
    rows = [[f"w{17 * n % 29}", "Alder", f"w{n % 7}"] for n in range(240)]
    tags, patients = [["O", "B-PATIENT", "O"]] * 240, [n % 24 for n in range(240)]
    report = AdversarialPrivacyAuditor(preset, random_state=0).audit(rows, rows, tags, patients)
    assert {r.name.partition(",")[0] for r in report.with_status("ok")} == {"document linkage"}
    assert (report.passed(0.1), report.score) == (False, 0.0)
    assert any("mechanism that made the text is not known" in issue for issue in report.blocking_issues)


def edited_attack(n_right):
    """Attack of a class that is defined again under the same name, as after an edit of a cell in a notebook."""

    def run(self, release):
        own = (self.name, self.threat, self.attacker, self.measure)
        return [AttackResult(*own, Estimate.from_counts(n_right, 100), 0.0, family="edited")]

    said = {"threat": "pseudonymised text", "attacker": "Anyone.", "measure": "share", "releases": (WORDS,)}
    kind = type("EditedAttack", (attacks.AuditAttack,), {**said, "name": "edited", "run": run})
    attack = kind()
    attack.rule = lambda words: words  # an attack of your own need not be picklable
    return attack


def test_no_earlier_report_is_returned_for_an_attack_whose_code_changed():
    vectors = WordVectors(["alder", "birch", "maple"], [[1, 0], [1, 0.1], [1, -0.1]])
    pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=2, random_state=0).fit(X, Y)
    for n_right in (10, 90):
        audited = AdversarialPrivacyAuditor([edited_attack(n_right)], random_state=0).audit(pseudonymizer, X, Y)
        assert audited.results[0].attack.value == n_right / 100
