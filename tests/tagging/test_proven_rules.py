"""`ProvenRules`: rules that found nothing but PHI in annotated notes are used where a tagger finds nothing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_deid import DeidTagger, Document, NoteDeidentifier, Span, load, make_clinical_notes, save
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError
from sklearn_deid.tagging.proven_rules import ProvenRules
from sklearn_deid.tagging.rules import find_phi, select_rules


def dated(day, label="DATE"):
    text = f"Seen on {day}/05/2011 with pain."
    return Document(f"n{day}", text, (Span(8, 18, label, "TIME"),))


DATES = [dated(day) for day in range(10, 29)]
NO_DATE = Document("plain", "Seen on 11/05/2011 with pain.")


class FindsNothing(BaseEstimator):
    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.array([["O"] * len(row) for row in X] + [None], dtype=object)[:-1]


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "is_proven"), [(17, 0, False), (18, 0, True), (36, 1, False), (37, 1, True)]
)
def test_a_rule_is_proven_by_18_finds_and_by_19_more_for_each_wrong_one(n_right, n_wrong, is_proven):
    notes = [dated(10 + n % 19) for n in range(n_right)] + [NO_DATE] * n_wrong
    rules = ProvenRules.learn(notes)
    assert ("date-numeric" in rules.labels) == is_proven
    if is_proven:
        label, precision = rules.labels["date-numeric"]
        assert label == "DATE"
        assert 0 <= (n_right + 1) / (n_right + n_wrong + 2) - precision < 0.01


def test_a_rule_with_finds_of_two_labels_or_of_other_borders_is_not_proven():
    mixed = [dated(day, "DATE" if day % 2 else "BIRTH") for day in range(10, 29)]
    part = [Document(n.doc_id, n.text, (Span(8, 13, "DATE"),)) for n in DATES]
    assert not ProvenRules.learn(mixed).labels
    assert not ProvenRules.learn(part).labels
    assert not ProvenRules.learn([]).labels


def test_finds_are_added_where_no_span_touches_them():
    rules = ProvenRules.learn(DATES)
    text = "Seen 11/05/2011, and on \uff11\uff12/05/2011."  # full-width digits
    added = rules.with_missed(text, (), {"DATE": "TIME"})
    assert [(text[s.start : s.end], s.label, s.category, s.confidence) for s in added] == [
        ("11/05/2011", "DATE", "TIME", 0.95),
        ("\uff11\uff12/05/2011", "DATE", "TIME", 0.95),
    ]
    for touching in (Span(5, 7, "AGE"), Span(0, 6, "NAME"), Span(14, 16, "NAME")):
        assert rules.with_missed(text, (touching,)) == [touching, Span(24, 34, "DATE", None, 0.95)]


def test_the_quick_way_finds_what_all_proven_rules_find():
    """Rules without a character of theirs outside of the spans are skipped."""
    notes = make_clinical_notes(60, random_state=0)
    rules = ProvenRules.learn(notes)
    assert len(rules.labels) > 3
    chosen = tuple(rule for rule in select_rules() if rule.name in rules.labels)
    rng = np.random.default_rng(0)
    n_added = 0
    for note in notes:
        spans = tuple(span for span in note.spans if rng.random() < 0.7)
        inside = {i for span in spans for i in range(span.start, span.end)}
        expected = {
            (find.start, find.end, rules.labels[find.rule][0])
            for find in find_phi(note.text, rules=chosen)
            if inside.isdisjoint(range(find.start, find.end))
        }
        found = rules.with_missed(note.text, spans)
        assert {(s.start, s.end, s.label) for s in found if s not in spans} == expected
        assert set(spans) <= set(found)
        assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
        n_added += len(expected)
    assert n_added > 50


def test_a_date_that_the_tagger_misses_is_found_and_redacted():
    fitted = NoteDeidentifier(FindsNothing(), on_unlike="pass").fit(DATES)
    assert fitted.redact(["Removed 24/09/10."]) == ["Removed [DATE]."]
    (span,) = fitted.annotate(["Removed 24/09/10."])[0]
    assert (span.category, span.confidence) == ("TIME", None)  # as all spans of this tagger
    without = NoteDeidentifier(FindsNothing(), rules=None, on_unlike="pass").fit(DATES)
    assert without.redact(["Removed 24/09/10."]) == ["Removed 24/09/10."]
    unfitted = NoteDeidentifier(FindsNothing().fit([]))
    assert unfitted.redact(["Removed 24/09/10."]) == ["Removed 24/09/10."]


def test_saved_models_have_their_rules_and_no_other(tmp_path):
    tagger = DeidTagger(max_epochs=1, hidden_size=4, random_state=0)
    fitted = NoteDeidentifier(tagger, on_unlike="pass").fit(DATES)
    fitted.rules_ = ProvenRules({"date-numeric": ("DATE", 0.95)})
    save(fitted, tmp_path / "model")
    assert load(tmp_path / "model").rules_.labels == {"date-numeric": ("DATE", 0.95)}
    for rules in (
        {"date-of-tomorrow": ["DATE", 0.95]},
        {"date-numeric": ["DATE", 1.5]},
        {"date-numeric": ["DATE"]},
        {"date-numeric": ["<script>", 0.95]},
        {"date-numeric": ["DATE\x1b[2J", 0.95]},
        {"date-numeric": ["", 0.95]},
        ["date-numeric"],
    ):
        # With right digests: a changed file is refused whatever it holds.
        manifest, arrays = read_bundle(tmp_path / "model")
        manifest = {k: v for k, v in manifest.items() if k not in ("format", "arrays_sha256", "manifest_sha256")}
        manifest["state"]["rules"] = rules
        write_bundle(tmp_path / "changed", manifest, arrays, overwrite=True)
        with pytest.raises(BundleError) as refused:
            load(tmp_path / "changed")
        assert "has changed" not in str(refused.value)
