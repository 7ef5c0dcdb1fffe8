"""Sign-off: bounds against scipy, brute force and simulation; samples that anybody can draw again."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from sklearn_deid import Document, Span
from sklearn_deid.exceptions import DeidError
from sklearn_deid.review import LeakBound, SignOff, record_html
from sklearn_deid.review.sign_off import count_hidden


def note(number, n_leaks=0, patient=None, n_hidden=3):
    text = "Ann " * n_leaks + "[DOCTOR] " * n_hidden
    spans = tuple(Span(4 * place, 4 * place + 3, "PATIENT") for place in range(n_leaks))
    return Document(f"n{number:03}", text, spans, patient)


@pytest.mark.parametrize(("n_leaks", "n"), [(0, 1), (0, 59), (1, 20), (7, 100), (20, 20)])
def test_one_note_a_patient_gives_the_exact_bound(n_leaks, n):
    found = LeakBound.from_notes([1] * n_leaks + [0] * (n - n_leaks), [1] * n, range(n))
    # The upper end of a two-sided interval of 90 % is the one-sided bound of 95 %.
    assert found.upper == pytest.approx(binomtest(n_leaks, n).proportion_ci(0.9, method="exact").high)
    assert (found.n_effective, found.n_patients, found.share) == (n, n, n_leaks / n)


def test_copies_of_notes_of_a_patient_tell_nothing_more():
    once = LeakBound.from_notes([0] * 30, [1] * 30, range(30))
    often = LeakBound.from_notes([0] * 300, [1] * 300, [number % 30 for number in range(300)])
    assert often.upper == pytest.approx(once.upper)


def test_the_bound_holds_for_clustered_leaks():
    """Simulation with a share of leaks that depends on the patient; 95 % of the bounds must be above the truth."""
    rng = np.random.default_rng(0)
    chances = rng.beta(0.5, 4.5, size=100_000)
    above = 0
    for _ in range(400):
        patients = np.repeat(np.arange(40), 4)
        leaks = (rng.random(160) < rng.choice(chances, 40)[patients]).astype(int)
        above += LeakBound.from_notes(leaks, np.ones(160), patients).upper >= chances.mean()
    assert above / 400 > 0.93  # 0.93 is two standard errors below 0.95


@pytest.mark.parametrize("sizes", [[10] * 10, [2] * 50, [1] * 50 + [30], [1, 1, 1, 97]])
def test_a_leak_never_gives_a_lower_bound_than_no_leak(sizes):
    """A reader who marks one passage too many would otherwise pass a release that fails without it."""
    patients = np.repeat(np.arange(len(sizes)), sizes)
    without = LeakBound.from_notes([0] * len(patients), [1] * len(patients), patients).upper
    for n_leaks in (1, 2, 3):
        leaks = np.zeros(len(patients), dtype=int)
        leaks[np.unique(patients, return_index=True)[1][:n_leaks]] = 1
        assert LeakBound.from_notes(leaks, [1] * len(patients), patients).upper >= without


def test_a_leak_never_gives_a_lower_bound_than_no_leak_with_weights():
    weights = [1.0] * 50 + [1000.0] * 2
    bounds = [LeakBound.from_notes([n, *[0] * 51], [1] * 52, range(52), weights).upper for n in (0, 1)]
    assert bounds[1] >= bounds[0]


@pytest.mark.parametrize(("n_big", "n_small"), [(51, 30), (70, 0), (20, 60)])
def test_the_bound_holds_for_types_of_one_note(n_big, n_small):
    """60 types of one note make the 40 notes of the large type look like more; 95 % of the bounds must be above."""
    drawn, types = 40, {**{f"{n}": "large" for n in range(1000)}, **{f"small {n}": n for n in range(60)}}
    assert len([name for name in SignOff(100).draw(types, types) if types[name] == "large"]) == drawn
    cases, weights = [1] * 100, [1000 / drawn] * drawn + [1.0] * 60
    chance = hypergeom(1000, n_big, drawn)
    above = 0.0
    for n_found in range(min(n_big, drawn) + 1):
        leaks = [1] * n_found + [0] * (drawn - n_found) + [1] * n_small + [0] * (60 - n_small)
        bound = LeakBound.from_notes(leaks, cases, range(100), weights)
        above += chance.pmf(n_found) * (bound.upper >= (n_big + n_small) / 1060)
    assert above >= 0.95


def test_notes_needed_are_the_smallest_number():
    found = LeakBound.from_notes([0] * 20, [1] * 20, range(20))
    needed = math.ceil(found.cases_needed(0.05, more_leaks=False))
    assert needed == next(n for n in range(1, 1000) if 1 - 0.05 ** (1 / n) <= 0.05) == 59
    leaking = LeakBound.from_notes([1] + [0] * 19, [1] * 20, range(20))
    assert leaking.cases_needed(0.05, more_leaks=True) == math.inf, "the measured share is not below the bound"
    n_leaks = round(leaking.cases_needed(0.1, more_leaks=True) / 20)
    more = LeakBound.from_notes([1] * n_leaks + [0] * 19 * n_leaks, [1] * 20 * n_leaks, range(20 * n_leaks))
    assert more.upper == pytest.approx(0.1, abs=0.003)


def test_nothing_to_count_bounds_nothing():
    found = LeakBound.from_notes([0], [0], ["p"])
    assert math.isnan(found.share) and found.upper == 1.0


def test_a_sample_depends_on_the_seed_and_not_on_the_order():
    ids = [f"n{number}" for number in range(500)]
    drawn = SignOff(50, random_state=3).draw(ids)
    assert drawn == SignOff(50, random_state=3).draw(reversed(ids)) != SignOff(50, random_state=4).draw(ids)
    assert len(set(drawn)) == 50
    assert sorted(SignOff(50).draw(ids[:7])) == sorted(ids[:7])


def test_each_note_is_drawn_equally_often():
    counts = dict.fromkeys([f"n{number}" for number in range(20)], 0)
    for seed in range(600):
        for doc_id in SignOff(5, random_state=seed).draw(counts):
            counts[doc_id] += 1
    expected = 600 * 5 / 20
    # chi-squared with 19 degrees of freedom stays below 44 in 99.9 % of cases
    assert sum((n - expected) ** 2 / (expected * 0.75) for n in counts.values()) < 44


@pytest.mark.parametrize(("sizes", "n"), [((90, 9, 1), 10), ((3, 3, 3), 9), ((50, 50), 7), ((1, 1, 998), 5)])
def test_types_are_drawn_in_proportion_and_never_left_out(sizes, n):
    types = {f"{kind}-{number}": kind for kind, size in enumerate(sizes) for number in range(size)}
    drawn = [types[doc_id] for doc_id in SignOff(n).draw(types, types)]
    assert len(drawn) == n
    for kind, size in enumerate(sizes):
        assert 1 <= drawn.count(kind) <= size
        assert abs(drawn.count(kind) - n * size / sum(sizes)) <= max(1, len(sizes) - 1)


def test_assessment_counts_notes_items_and_types():
    read = [note(0, 1, "p1"), note(1, 0, "p1"), note(2, 2, "p2"), *(note(n, 0, f"p{n}") for n in range(3, 40))]
    types = {one.doc_id: "letter" if number < 10 else "report" for number, one in enumerate(read)}
    found = SignOff(40, target=0.2).assess(read, types=types)
    assert (found.notes_.n_leaks, found.notes_.n, found.notes_.n_patients) == (2, 40, 39)
    # "Ann Ann" are two passages: a space is between them.
    assert (found.items_.n_leaks, found.items_.n) == (3, 3 + 40 * 3)
    assert {name: (bound.n_leaks, bound.n) for name, bound in found.by_type_.items()} == {
        "letter": (2, 10),
        "report": (0, 30),
    }
    assert found.leaks_by_label_ == {"PATIENT": 3}
    assert found.passed_ and found.more_notes_ == {"no_more_leaks": 0, "same_share": 0}


def test_reading_every_note_gives_the_share_itself():
    found = SignOff(10).assess([note(0, 1), *(note(n) for n in range(1, 10))], n_release=10)
    assert found.notes_.upper == 0.1
    partly = SignOff(10).assess([note(n) for n in range(10)], n_release=12)
    assert partly.notes_.upper > 0.2
    assert partly.more_notes_["no_more_leaks"] == 2, "not more than there are"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda read: [*read, read[0]], "read twice"),
        (lambda read: read[:-1], "not the sample"),
        (lambda read: [*read[:-1], note(99)], "not the sample"),
    ],
)
def test_only_the_whole_sample_bounds_the_leaks(change, message):
    """40 copies of one note were 40 notes, and a reader could leave out the notes that take long."""
    sign_off = SignOff(20)
    chosen = sign_off.draw([f"n{number:03}" for number in range(99)])
    read = [note(int(doc_id[1:])) for doc_id in chosen]
    assert sign_off.assess(read, n_release=99).notes_.n == 20
    with pytest.raises(DeidError, match=message):
        sign_off.assess(change(read), n_release=99)


def test_bounds_are_rounded_up_and_the_confidence_is_not_rounded():
    """A confidence of 99.5 % was stated as 100 %, and a bound of 4.8703 % as 4.87 %."""
    sign_off = SignOff(60, target=0.0005, confidence=0.995).assess([note(number) for number in range(60)])
    page = record_html({"result": sign_off.to_dict(), "provenance": {}})
    assert 0.0845 < sign_off.notes_.upper < 0.0846
    assert "With 99.5% confidence, at most 8.46% of" in page and "The target is 0.05%." in page
    assert repr(sign_off).endswith("at most 8.5 % leak)")


@pytest.mark.parametrize(
    ("n_leaks", "leaks", "outcome"),
    [
        (0, "0 of 60 notes of a random sample leak PHI", "reached"),
        (1, "1 of 60 notes of a random sample leaks PHI", "not reached"),
    ],
)
def test_record_says_in_words_whether_the_target_is_reached(n_leaks, leaks, outcome):
    """Only the colour of a bar said so, which a print in black and white and a screen reader do not show."""
    sign_off = SignOff(60).assess([note(number, int(number < n_leaks)) for number in range(60)])
    page = record_html({"result": sign_off.to_dict(), "provenance": {}})
    assert sign_off.passed_ is (outcome == "reached")
    assert leaks in page and f"The target is {outcome}." in page


def test_no_leak_is_a_row_of_the_leaks_by_label():
    """The table was empty, so that nobody could tell whether there was no leak or whether numbers were missing."""
    page = record_html({"result": SignOff(2).assess([note(0), note(1)]).to_dict(), "provenance": {}})
    assert "<tr><td>no label</td><td>0</td></tr>" in page
    page = record_html({"result": SignOff(2).assess([note(0, 1), note(1)]).to_dict(), "provenance": {}})
    assert "no label" not in page


def test_one_leak_of_many_is_not_shown_as_none():
    """1 of 30,000 leaking items was shown as 0.00%."""
    read = [note(0, 1, n_hidden=29_999), note(1)]
    sign_off = SignOff(2).assess(read)
    assert (sign_off.items_.n_leaks, sign_off.items_.n > 29_999) == (1, True)
    assert "<td>0.01%</td>" in record_html({"result": sign_off.to_dict(), "provenance": {}})


def test_weights_follow_the_sizes_of_the_types():
    """A small type with leaks, read as often as a large one, counts by its size in the release."""
    read = [note(n, int(n < 10)) for n in range(40)]
    types = {one.doc_id: "small" if number < 20 else "large" for number, one in enumerate(read)}
    found = SignOff(40).assess(read, types=types, n_release={"small": 100, "large": 900})
    assert found.notes_.share == pytest.approx(0.1 * 0.5 + 0.9 * 0.0)


def test_surrogates_give_no_share_of_items():
    assert SignOff(2).assess([note(0, 1, n_hidden=0)]).items_ is None
    hidden = SignOff(2).assess([note(0, 1, n_hidden=0)], hidden={"n000": 9}).items_
    assert (hidden.n_leaks, hidden.n) == (1, 10)
    with pytest.raises(DeidError, match="no number in 'hidden'"):
        SignOff(2).assess([note(0, 1), note(1)], hidden={"n000": 9})


def test_boxes_and_lines_are_no_hidden_items():
    """They made the share of leaking items smaller than it was."""
    text = "[X] Ann came. [ ] No *** visit\n**********\n****\n[Y] [DOCTOR] [LOCATION-OTHER]"
    found = SignOff(1).assess([Document("n1", text, (Span(4, 7, "PATIENT"),))]).items_
    assert (found.n_leaks, found.n) == (1, 4)
    assert (count_hidden(text, "label"), count_hidden(text, "mask"), count_hidden(text)) == (2, 1, 3)


@pytest.mark.filterwarnings("error")
def test_patients_are_clusters_at_any_confidence():
    """At 50 % the correction for few patients was not a number, and the notes counted as independent."""
    leaks, patients = [1] * 10 + [0] * 30, [number // 10 for number in range(40)]
    found = {level: LeakBound.from_notes(leaks, [1] * 40, patients, confidence=level) for level in (0.4, 0.5, 0.6)}
    assert found[0.4].n_effective == found[0.5].n_effective == found[0.6].n_effective < 5
    assert found[0.4].upper < found[0.5].upper < found[0.6].upper


def test_words_in_brackets_are_no_hidden_items():
    """A note with ten editorial remarks counted as one with ten hidden items: 1 of 11 instead of 1 of 1 leaked."""
    text = "Ann [SIC] [REDACTED] [MRI] [SEE-BELOW] [ID-2] came."
    found = SignOff(1).assess([Document("n1", f"{text} [DOCTOR]", (Span(0, 3, "PATIENT"),))]).items_
    assert (found.n_leaks, found.n) == (1, 2)
    assert count_hidden(text) == 0 and count_hidden(text, "label", labels=["ID-2"]) == 1
    assert all(count_hidden(f"[{label}]") == 1 for label in ("PHI", "NOM", "DIREC_PROT_INTERNET", "NAME_DOCTOR"))


def test_the_record_holds_no_id_and_no_text():
    read = [Document("Zyxwvut-1", "Zyxwvut came.", (Span(0, 7, "PATIENT"),), "Zyxwvut")]
    found = SignOff(1).assess(read)
    record = {"result": found.to_dict(), "provenance": {"digest": "<b>"}}
    for text in (repr(found), json.dumps(record), record_html(record)):
        assert "Zyxwvut" not in text
    assert "&lt;b&gt;" in record_html(record) and "<script" not in record_html(record)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SignOff(0), "'n_notes'"),
        (lambda: SignOff(target=1.0), "'target'"),
        (lambda: SignOff(confidence=float("nan")), "'confidence'"),
        (lambda: SignOff(confidence=0.05), "'confidence' parameter of SignOff must be at least 0.5"),
        (lambda: SignOff().draw([]), "There is no note to draw"),
        (lambda: SignOff().draw(["a", "a"]), "distinct ids"),
        (lambda: SignOff().draw(["a"], {}), "has no type"),
        (lambda: SignOff(1).draw(["a", "b"], {"a": 1, "b": 2}), "2 types"),
        (lambda: SignOff(5).draw(["a", "b"], {"a": 1, "b": "1"}), "written alike"),
        (lambda: SignOff().assess([]), "No note was read"),
        (lambda: SignOff().assess([note(0), note(1)], n_release=1), "at least the notes that were read"),
        (lambda: SignOff().assess([note(0)], types={"n000": "a"}, n_release={"a": 3, "b": 4}), "for each type"),
        (lambda: LeakBound.from_notes([2], [1], ["p"]), "more leaks than cases"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises((ValueError, DeidError), match=message):
        call()


def test_an_unknown_patient_is_the_patient_of_one_note():
    """ "NULL" was one patient with many notes, and an id with blanks around was another patient."""
    notes = [Document(f"n{n}", "Seen.", patient_id="NULL") for n in range(9)]
    assert SignOff(9).assess(notes).notes_.n_patients == 9
    assert (
        SignOff(9)
        .assess(notes, patients={note.doc_id: "p1" + " " * n for n, note in enumerate(notes)})
        .notes_.n_patients
        == 1
    )


@pytest.mark.parametrize("width", [1000, 680, 420, 360])
def test_numbers_of_the_record_are_not_broken_over_lines(page, tmp_path, width):
    """Beside a long type of notes, the 100 notes that were read were written as "10" above "0"."""
    notes = [Document(f"n{i}", "Seen by [DOCTOR].") for i in range(200)]
    kind = "summary of a discharge from the ward of internal medicine " * 3 + "x" * 80
    sign_off = SignOff(200).assess(notes, types={n.doc_id: kind for n in notes})
    record = {"result": sign_off.to_dict(), "provenance": {"release": "sha256:" + "ab" * 32}}
    (tmp_path / "record.html").write_text(record_html(record), encoding="utf-8")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open(tmp_path / "record.html")
        script = """
        const lines = (cell) => { const range = document.createRange(); range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map((box) => box.top)).size; };
        return [[...document.querySelectorAll('table:first-of-type td:not(:first-child)')].map(lines),
          document.documentElement.scrollWidth];
        """
        numbers, right = page.driver.execute_script(script)
        assert set(numbers) == {1} and len(numbers) == 15
        assert right <= width
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def drawn_with_types(n_small=60, n_large=1000):
    """Sign-off, types, numbers of notes and reading: all notes of a large type leak, and no type of one note."""
    types = {**{f"n{n:04}": "large" for n in range(n_large)}, **{f"s{n}": f"small {n}" for n in range(n_small)}}
    sign_off = SignOff(n_small + 40, random_state=1)
    chosen = sign_off.draw(types, types)
    read = [Document(name, "Ann", (Span(0, 3, "PATIENT"),) if name[0] == "n" else ()) for name in chosen]
    return sign_off, types, Counter(types.values()), read


def test_a_reading_has_the_types_and_numbers_of_its_draw():
    """Without them, 40 leaking notes of the large type and 60 types of one note gave a share of 40 %, not of 94 %."""
    sign_off, types, sizes, read = drawn_with_types()
    found = sign_off.assess(read)
    assert found.notes_ == sign_off.assess(read, types=types, n_release=sizes).notes_
    assert found.notes_.share == pytest.approx(1000 / 1060) and found.notes_.upper > 1000 / 1060
    assert found.by_type_["large"].n == 40


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda types, sizes: {"types": {**types, "s1": "large"}}, "differs from its type in 'draw'"),
        (lambda types, sizes: {"types": {}}, "differs from its type in 'draw'"),
        (lambda types, sizes: {"n_release": {**sizes, "large": 40}}, "differs from the numbers"),
        (lambda types, sizes: {"n_release": {**sizes, "large": 999, "small 1": 2}}, "differs from the numbers"),
        (lambda types, sizes: {"n_release": 100}, "differs from the numbers"),
    ],
)
def test_other_types_or_numbers_than_those_of_the_draw_are_refused(changed, message):
    """With the number of the notes that were read, the bound was the share of leaks in the sample."""
    sign_off, types, sizes, read = drawn_with_types()
    sign_off.assess(read)
    with pytest.raises((ValueError, DeidError), match=message):
        sign_off.assess(read, **changed(types, sizes))
    assert not hasattr(sign_off, "notes_") and not hasattr(sign_off, "passed_")


def test_a_number_that_is_not_the_number_of_the_draw_is_refused():
    sign_off = SignOff(20)
    read = [note(int(doc_id[1:])) for doc_id in sign_off.draw([f"n{number:03}" for number in range(99)])]
    for n_release in (20, 98, {"all": 20}):
        with pytest.raises(ValueError, match="differs from the numbers of notes in 'draw'"):
            sign_off.assess(read, n_release=n_release)
    # Types that became known after the draw have unknown numbers.
    types = {one.doc_id: place % 2 for place, one in enumerate(read)}
    assert sign_off.assess(read).notes_ == sign_off.assess(read, types=types).notes_
    assert sign_off.assess(read, types=types, n_release={0: 40, 1: 59}).by_type_[0].n == 10


def test_a_new_draw_has_no_bound_of_the_earlier_sample():
    sign_off = SignOff(20).assess([note(number) for number in range(20)])
    sign_off.draw([f"n{number:03}" for number in range(99)])
    assert repr(sign_off) == "SignOff(n_notes=20, nothing read)" and not hasattr(sign_off, "passed_")


def test_all_remaining_notes_without_a_leak_can_reach_the_target():
    """10 of 60 notes leaked, and 10 of 300 are fewer than 5 %, but the record stated that no number suffices."""
    found = SignOff(60).assess([note(number, int(number < 10)) for number in range(60)], n_release=300)
    assert found.more_notes_ == {"no_more_leaks": 240, "same_share": None}
    rest = SignOff(300).assess([note(number, int(number < 10)) for number in range(300)], n_release=300)
    assert rest.passed_
    more = SignOff(60).assess([note(number, int(number < 10)) for number in range(60)], n_release=190)
    assert more.more_notes_ == {"no_more_leaks": None, "same_share": None}, "10 of 190 are more than 5 %"


def test_a_share_at_the_target_ends():
    """By a rounding error, the weighted share was 0.19999999999999993: the search for further notes never ended."""
    types = {f"n{n:03}": "report" if n < 1000 else "letter" for n in range(1300)}
    sign_off = SignOff(20, target=0.2)
    chosen = sorted(sign_off.draw(types, types), key=types.get)
    assert Counter(map(types.get, chosen)) == {"letter": 5, "report": 15}
    read = [replace(note(int(name[1:]), int(place in (0, 5, 6, 7))), doc_id=name) for place, name in enumerate(chosen)]
    assert sign_off.assess(read).notes_.share < 0.2
    assert sign_off.more_notes_["same_share"] == 1280, "all others"
    rare = LeakBound.from_notes([0], [1], "p")
    assert rare.cases_needed(1e-13, more_leaks=False) == math.inf
    assert rare.cases_needed(1e-9, more_leaks=False) == pytest.approx(-math.log(0.05) * 1e9)
