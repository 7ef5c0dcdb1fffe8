"""Audit reports: what decides the score, what is never a pass, and what the pages say."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sklearn_deid.audit import CONTROL_CONFIDENCE, AttackResult, AuditReport
from sklearn_deid.audit.attacks import LookupAttack
from sklearn_deid.metrics import Estimate

counts = Estimate.from_counts


def result(n_right=62, n=100, name="pairs", threat="representation", baseline=0.5, **more):
    return AttackResult(name, threat, "A recipient.", "share of pairs", counts(n_right, n), baseline, **more)


def pairs(n_right, n=1000, adversary="strong", control=950, **settings):
    return result(
        n_right,
        n,
        f"pair discrimination, {adversary} T2, fresh",
        positive_control=counts(control, 1000),
        min_positive_control=0.9,
        negative_control=counts(500, 1000, CONTROL_CONFIDENCE),
        settings={"adversary": adversary, "pairwise": True, "n_releases": 1, **settings},
    )


def bound(high, n_releases=1):
    settings = {"bound": True, "n_releases": n_releases, "pairwise": True}
    value = Estimate(high - 0.01, high - 0.02, high, 500)
    return AttackResult("certified bound", "representation", "Anyone.", "mean accuracy", value, 0.5, settings=settings)


SKIPPED = AttackResult.skipped("document linkage", "representation", "A recipient.", "share", "One patient only.")


# ---- score


def test_score_is_one_minus_the_upper_end_of_the_largest_advantage():
    lookup = result(340, 1000, "lookup", baseline=0.01)
    report = AuditReport([pairs(550), lookup])
    found = counts(340, 1000)
    assert report.score == pytest.approx(1 - (found.high - 0.01) / 0.99)
    assert report.score_interval == (report.score, pytest.approx(1 - (found.low - 0.01) / 0.99))
    assert report.worst is lookup and not report.blocking_issues


def test_few_trials_do_not_pass_and_more_do():
    few, many = AuditReport([pairs(5, 10)]), AuditReport([pairs(50_000, 100_000)])
    assert few.score < 0.5 < 0.99 < many.score < 1.0
    assert not few.passed(0.9) and many.passed(0.9)
    assert "but 10 trials" in few.verdicts["representation"] and "too few" in few.verdicts["representation"]
    assert "The result of this attack cannot be distinguished from guessing." in many.verdicts["representation"]


def test_an_attacker_who_is_always_wrong_has_learnt_all():
    right, wrong = AuditReport([pairs(950)]), AuditReport([pairs(50)])
    assert wrong.worst.advantage == 0.0
    assert wrong.score == pytest.approx(right.score)
    assert "below chance: inverting the answers works" in wrong.verdicts["representation"]


@pytest.mark.parametrize(("n_right", "n"), [(1, 7), (2, 10), (3, 12), (490, 1000)])
def test_few_wrong_answers_do_not_pass_for_guesses(n_right, n):
    """2 right answers of 10 passed with a score of 0.98: an attacker who inverts the answers has 8 of 10."""
    wrong, right = AuditReport([pairs(n_right, n)]), AuditReport([pairs(n - n_right, n)])
    assert wrong.score == pytest.approx(right.score) and wrong.worst.advantage == 0.0
    assert n > 100 or "too few" in wrong.verdicts["representation"]


def test_a_page_and_the_numbers_state_the_same_advantage_of_inverted_answers():
    """The page said 0.90, and the .json file and the data frame 0."""
    report = AuditReport([pairs(50)])
    (written,), (row,) = report.to_dict()["results"], report.to_rows()
    assert written["advantage"] == row["advantage"] == pytest.approx(0.9)
    assert 1 - written["advantage_high"] == 1 - row["advantage_high"] == report.to_dict()["score"]
    assert f"{written['advantage']:.2f} ({written['advantage_low']:.2f} to" in report.to_html()


def test_a_score_below_a_threshold_is_shown_below_it():
    """0.896 was shown as 0.90, and did not pass 0.9."""
    report = next(r for n in range(900, 1000) if 0.895 < (r := AuditReport([pairs(n, 1800)])).score < 0.9)
    assert not report.passed(0.9)
    assert "Score: 0.89," in report.to_html() and "score=0.89," in repr(report)


def test_wrong_answers_among_many_candidates_tell_nothing():
    assert AuditReport([result(0, 1000, baseline=0.1)]).score == 1.0


INVALID = {
    "positive control": result(50, positive_control=counts(80, 100), min_positive_control=0.9),
    "negative control": result(50, negative_control=counts(80, 100)),
    "error": result(50).with_error("The data do not fit."),
}


@pytest.mark.parametrize("why", INVALID)
def test_an_invalid_result_is_never_a_pass(why):
    report = AuditReport([pairs(50_000, 100_000), INVALID[why]])
    assert report.score == 0.0 and report.score_interval == (0.0, 0.0)
    assert not report.passed(1e-9)
    assert report.worst.status == "ok" and "never a pass" in report.verdicts["representation"]
    assert INVALID[why].failures[0] in report.blocking_issues[0]


def test_nothing_attacked_is_no_pass():
    for rows in ([SKIPPED], [bound(0.51)], [bound(0.51), SKIPPED]):
        report = AuditReport(rows)
        assert report.score == 0.0 and report.worst is None and not report.passed(1e-9)
    assert report.verdicts["representation"].startswith("The risk is unknown")


def test_skipped_attacks_and_bounds_do_not_change_the_score():
    assert AuditReport([pairs(600), SKIPPED, bound(0.9)]).score == AuditReport([pairs(600)]).score


def test_threats_that_must_have_been_attacked():
    report = AuditReport([pairs(50_000, 100_000), SKIPPED])
    assert report.passed(threats=["representation"])
    assert not report.passed(threats=["representation", "model"])


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.01, math.nan])
def test_thresholds_that_everything_or_nothing_passes_are_refused(threshold):
    with pytest.raises(ValueError, match="'threshold'"):
        AuditReport([pairs(500)]).passed(threshold)


# ---- the paper's adversary


@pytest.mark.parametrize("control", [620, 950])
def test_the_papers_adversary_alone_proves_nothing(control):
    paper = pairs(50_000, 100_000, "paper", control)
    report = AuditReport([paper])
    assert report.score == 0.0 and not report.passed(1e-9)
    assert "Only the paper's own adversary" in report.blocking_issues[0]
    assert "No conclusion is possible" in report.verdicts["representation"]


def test_a_weak_paper_adversary_is_a_finding_and_no_error():
    strong = pairs(50_000, 100_000)
    report = AuditReport([pairs(500, 1000, "paper", 620), strong])
    assert not report.blocking_issues and report.with_status("weak")[0].name.startswith("pair discrimination, paper")
    assert 0.9 < report.score < AuditReport([strong]).score  # weak ones can only lower it
    assert "Adversaries too weak for a conclusion" in report.to_markdown()
    broken = AttackResult(**{**vars(pairs(500, 1000, "paper", 620)), "negative_control": counts(90, 100)})
    assert AuditReport([broken, strong]).score == 0.0


def test_the_paper_beside_a_stronger_attacker():
    report = AuditReport([pairs(500, 1000, "paper", 620), pairs(940)])
    said = report.verdicts["representation"]
    assert "paper's adversary is right in 50 % of pairs, and in only 62 % where nothing is hidden." in said
    assert "A stronger attacker is right in 94 %." in said
    assert "does not hold" in said
    # Who sees ten releases is compared with nobody who sees one.
    ten = AuditReport([pairs(500, 1000, "paper", 620), pairs(940), pairs(999, n_releases=10)])
    assert "A stronger attacker is right in 94 %." in ten.verdicts["representation"]
    learns = AttackResult(**{**vars(pairs(500, 1000, "paper", 620)), "min_positive_control": 0.55})
    assert "in only 62 % where nothing is hidden" in AuditReport([learns, pairs(940)]).verdicts["representation"]
    assert "does not hold" not in AuditReport([pairs(500, 1000, "paper"), pairs(505)]).verdicts["representation"]


# ---- bounds


def test_an_attack_above_a_bound_is_an_error():
    for report in (
        AuditReport([pairs(700), bound(0.6)]),
        AuditReport([pairs(700)], bounds={"one token": {"mean_accuracy_high": 0.6, "n_releases": 1}}),
    ):
        assert report.score == 0.0 and "exceeds the certified bound" in report.blocking_issues[0]
        assert report.results[0].status == "invalid"
        again = AuditReport(report.results, report.bounds)
        assert again.results == report.results  # the error is said once


def test_bounds_leave_alone_what_they_do_not_cover():
    covered = (bound(0.6), bound(0.9, n_releases=10))
    for row in (pairs(620), pairs(700, n_releases=2), pairs(700, casing=True), result(990, 1000)):
        assert AuditReport([row, *covered]).results[0].status == "ok"


# ---- verdicts


def test_verdict_of_a_lookup_in_plain_words():
    name = "lookup among sentences that differ by one token by likelihood, noise-free template, 1 release"
    settings, said = {"measure": "top1", "n_releases": 1}, LookupAttack().declared
    told = AuditReport([result(340, 1000, name, baseline=0.0099, settings=settings, **said)]).verdicts["representation"]
    assert told.startswith(
        "An attacker holding the published representer and a list of candidate names picks the right candidate in 34 % "
        "of cases (95 % interval 31 % to 37 %); guessing: 1 %."
    )
    ten = result(940, 1000, name, baseline=0.0099, settings={**settings, "n_releases": 10, "casing": True}, **said)
    one = result(340, 1000, name, baseline=0.0099, settings=settings, **said)
    told = AuditReport([one, ten]).verdicts["representation"]
    assert "in 94 % of cases, with 10 releases of the same text and the casing (95 %" in told
    assert (
        "Further attack: An attacker holding the published representer and a list of candidate names picks the right"
        in told
    )
    assert "in 34 % of cases (95 %" in told


def test_an_attack_without_a_phrase_is_described_by_its_own_sentences():
    verdict = AuditReport([result(name="something new")]).verdicts["representation"]
    assert verdict.startswith("A recipient. Share of pairs: 62 % (95 % interval 52 % to 71 %); guessing: 50 %.")


@pytest.mark.parametrize(("confidence", "stated"), [(0.995, "99.5 %"), (0.999, "99.9 %"), (0.57, "57 %")])
def test_a_verdict_states_the_confidence_of_its_interval(confidence, stated):
    """A confidence of .995 was shown as 100 %."""
    found = AttackResult("x", "representation", "A recipient.", "share", counts(340, 1000, confidence), 0.5)
    report = AuditReport([found])
    assert f"({stated} interval " in next(iter(report.verdicts.values()))
    assert "a 95 % interval contains" in report.to_markdown()


def test_one_verdict_for_each_threat_in_order():
    report = AuditReport([result(threat="updates"), result(threat="model"), SKIPPED, pairs(500)])
    assert list(report.verdicts) == ["representation", "model", "updates"]
    assert "One attack is skipped." in report.verdicts["representation"]


# ---- forms


def full_report():
    evil = result(55, name="<script>alert(1)</script> | `x`", threat="model")
    rows = [pairs(500, 1000, "paper", 620), pairs(700), bound(0.8), SKIPPED, evil, INVALID["negative control"]]
    return AuditReport(
        rows,
        bounds={"one token": {"mean_accuracy": 0.79, "mean_accuracy_high": 0.8, "n_releases": 1}},
        settings={"random_state": 0, "attacks": ("pairs", "lookup"), "max_seconds": None},
        versions={"numpy": "1.26"},
        n_sentences=2000,
        n_patients=80,
        seconds=12.5,
    )


def test_json_holds_everything_and_no_nan(tmp_path):
    report = full_report()
    report.save(tmp_path / "audit.json")
    read = json.loads((tmp_path / "audit.json").read_text(), parse_constant=lambda text: pytest.fail(text))
    assert read == report.to_dict()
    assert [row["status"] for row in read["results"]] == ["invalid", "ok", "ok", "skipped", "ok", "invalid"]
    assert read["settings"]["attacks"] == ["pairs", "lookup"] and read["score"] == 0.0


def test_the_upper_end_of_an_advantage_fits_the_score_next_to_it():
    """An upper end of 0.2347 was shown as 0.23 next to a score of 0.76, and "up to 23 %" was not ruled out."""
    report = AuditReport([pairs(110, 200)])
    assert 0.234 < report.results[0].advantage_interval[1] < 0.235
    for said in ("Score: 0.76", "advantage 0.10 (0.00 to 0.24)", "An advantage of up to 24 % is not ruled out."):
        assert said in report.to_markdown()


def test_markdown_says_what_was_found_skipped_and_invalid(tmp_path):
    report = full_report()
    report.save(tmp_path / "audit.md")
    text = (tmp_path / "audit.md").read_text()
    assert text == report.to_markdown()
    for said in ("cannot be passed", "One patient only.", "INVALID", "random_state", "2,000 sentences of 80 patients"):
        assert said in text
    assert "<script" not in text and "\\| \\`x\\`" in text
    lengths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| pair")}
    assert lengths == {10}


class Page(HTMLParser):
    """Tags and attributes of a page; fails on tags that are not closed in order."""

    VOID = {"meta", "circle", "path"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_well_formed_loads_nothing_and_runs_nothing(tmp_path):
    report = full_report()
    report.save(tmp_path / "audit.html")
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    names = [tag for tag, _ in page.seen]
    assert not {"script", "img", "link", "iframe", "object", "a"} & set(names)
    attributes = [(key, value) for _, attrs in page.seen for key, value in attrs.items()]
    assert not [key for key, _ in attributes if key in ("src", "href", "srcset") or key.startswith("on")]
    assert "url(" not in text and "@import" not in text
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    policy = [attrs["content"] for _, attrs in page.seen if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert names.count("svg") == 2 and names.count("caption") == names.count("table") == 4
    ids = [value for key, value in attributes if key == "id"]
    assert len(ids) == len(set(ids)) == 4
    scopes = [attrs.get("scope") for tag, attrs in page.seen if tag == "th"]
    assert set(scopes) == {"row", "col"}


def test_drawing_stays_in_its_frame():
    text = full_report().to_html()
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', drawing).groups())
        points = re.findall(r'd="M([\d.]+) ([\d.]+)', drawing) + re.findall(r'x="([\d.]+)" y="([\d.]+)"', drawing)
        assert points and all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points)


def test_frame_and_rows_hold_each_result():
    pandas = pytest.importorskip("pandas")
    report = full_report()
    frame = report.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(report.results)
    assert frame["status"].tolist() == [row.status for row in report.results]
    assert frame["attack"].iloc[1] == 0.7 and math.isnan(frame["attack"].iloc[3])
    assert frame["why"].iloc[3] == "One patient only." and frame["weak"].tolist().count(True) == 1


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\.json, \.md, \.html"):
        full_report().save(tmp_path / "audit.pdf")
    assert list(tmp_path.iterdir()) == []


def test_repr_is_short_and_reports_can_be_sent_to_other_processes():
    report = full_report()
    assert repr(report) == "AuditReport(score=0.00, 2 valid, 1 too weak, 1 invalid, 1 skipped)"
    again = pickle.loads(pickle.dumps(report))
    assert again.to_dict() == report.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"results": []}, "at least one AttackResult"),
        ({"results": ["pairs"]}, "at least one AttackResult"),
        ({"settings": {"X": object()}}, r"settings\['X'\] must be a number, a short name or None. Got a object"),
        ({"settings": {"deep": {"note": "x" * 500}}}, r"settings\['deep'\]\['note'\]"),
        ({"versions": ["1.0"]}, "'versions' parameter must be a mapping"),
    ],
)
def test_what_is_not_plain_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AuditReport(**{"results": [pairs(500)], **options})


# ---- cautions


def on_patients(n, threat="representation"):
    hits, groups = [i % 2 for i in range(400)], [i // 2 % n for i in range(400)]
    return AttackResult("pairs", threat, "A recipient.", "share", Estimate.from_hits(hits, groups), 0.5)


def test_few_patients_are_said_and_many_are_not():
    few = AuditReport([on_patients(7), on_patients(19, "updates"), SKIPPED], n_sentences=400, n_patients=7)
    assert [one[:75] for one in few.warnings] == [
        "Attacks on the representation were measured on only 7 patients: intervals a",
        "Attacks on the updates were measured on only 19 updates (or pairs of them):",
    ]
    for text in (few.to_markdown(), few.to_html(), json.dumps(few.to_dict())):
        assert "measured on only 7 patients" in text
    many = AuditReport([on_patients(20)], n_sentences=400, n_patients=20)
    assert many.warnings == () and "measured on only" not in many.to_markdown()


def test_few_patients_of_a_model_are_all_measured():
    """Attacks on models measure all given patients; attacks on the representation measure three tenths."""
    (model,) = AuditReport([on_patients(7, "model")]).warnings
    (vectors,) = AuditReport([on_patients(7)]).warnings
    assert "all given patients are measured" in model and "three tenths" not in model
    assert "three tenths of the given patients are measured" in vectors


@pytest.mark.parametrize(("n_right", "stated"), [(4, "0.4 %"), (997, "99.7 %")])
def test_open_properties_are_not_rounded_to_never_or_always(n_right, stated):
    told = AuditReport([result(n_right, 1000, settings={"open_by_declaration": True}, phrase="Found in {}")]).warnings
    assert f"Found in {stated}." in told[-1]


def test_attacks_on_open_properties_neither_pass_nor_lower_the_score():
    """Such an attack is compared with its own success: alone, it passed, and with few trials, it lowered the score."""
    as_open = {"open_by_declaration": True}
    told = replace(result(20, 40, "casing", settings=as_open, phrase="Found in {}"), baseline=0.5)
    alone, both, without = AuditReport([told]), AuditReport([told, pairs(520)]), AuditReport([pairs(520)])
    assert not alone.passed(1e-9) and "risk is unknown" in alone.verdicts[told.threat]
    assert both.score == without.score > 0.0 and both.worst.name == without.worst.name
    assert "not part of the score: Found in 50 %." in both.warnings[-1] == alone.warnings[-1]


def test_unknown_patients_are_said():
    unknown = AuditReport([on_patients(100)], n_sentences=400)
    assert (
        "The patients of the sentences were not given" in unknown.warnings[0]
        and unknown.warnings[0] in unknown.to_markdown()
    )
    assert AuditReport([on_patients(100, "updates")], n_sentences=400).warnings == ()


def test_what_was_not_attacked_is_named_with_the_way_to_do_it():
    text = AuditReport([on_patients(20)]).to_markdown()
    left = text.split("## What was not attacked at all")[1].split("## ")[0]
    assert "keep_exchange=True" in left and "attacks='all'" in left and "**representation**" not in left


def test_further_figures_are_told():
    seen = {"value": 0.59, "low": 0.55, "high": 0.63, "n": 700}
    read = result(47, name="inversion", details={"seen": seen, "unseen": None, "n_words": 25575, "by": {"a": 2}})
    told = bound(0.6)
    figures = {"quantile": 0.95, "quantile_accuracy": 0.69, "largest_accuracy": 0.83}
    proved = AttackResult(**{**vars(told), "details": figures})
    text = AuditReport([read, proved]).to_markdown()
    above = AttackResult(**{**vars(told), "attack": Estimate(0.5441, 0.5368, 0.5512, 100)})
    assert AuditReport([read, above]).to_markdown().count("54.5 % (53.6 % to 55.2 %)") == 2, "a bound is rounded up"
    close = AttackResult(
        **{**vars(told), "details": {**figures, "quantile_accuracy": 0.6921, "largest_accuracy": 0.834}}
    )
    assert "at most 69.3 %. The largest accuracy is 83.4 %." in AuditReport([read, close]).to_markdown()
    assert "| inversion | seen 59 % (55 % to 63 %); n words 25575; by, a 2 |" in text
    assert "For 95 % of the pairs, the accuracy is at most 69 %. The largest accuracy is 83 %." in text


def test_a_guess_that_is_always_right_leaves_nothing_to_measure():
    """The ten most frequent of ten words, or a single word: the audit had score 1 for the only attack of a threat."""
    without = result(900, 1000, "lookup", baseline=1.0)
    report = AuditReport([without])
    assert (report.score, report.passed(), report.worst) == (0.0, False, None)
    assert "The risk is unknown" in report.verdicts["representation"]
    assert report.warnings[0].startswith("Not part of the score: lookup. The guess")
    other = AuditReport([without, result(10, 1000, "updates", "updates", 0.01)])
    assert other.passed() and not other.passed(threats=["representation", "updates"])


@pytest.mark.parametrize(
    ("low", "high", "stated"),
    [
        (0.55, 0.6142, "55 % to 62 %"),
        (0.5574, 0.57, "55 % to 57 %"),
        (0.0093, 0.0094, "0.9 % to 1.0 %"),
        (0.0, 0.0004, "0 % to under 0.1 %"),
        (0.9995, 1.0, "over 99.9 % to 100 %"),
    ],
)
def test_the_ends_of_an_interval_are_rounded_outwards(low, high, stated):
    """An attacker who may be right in 61.4 % of the cases was stated as right in at most 61 %."""
    found = replace(result(), attack=Estimate((low + high) / 2, low, high, 100))
    report = AuditReport([found])
    assert f"interval {stated})" in report.verdicts["representation"]
    assert f"({stated})" in report.to_markdown()
