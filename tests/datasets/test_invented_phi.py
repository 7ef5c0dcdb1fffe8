"""What the PHI looks like: consistent within a patient, never anybody's, and never a matter of the word alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import date

import pytest

from sklearn_deid.datasets import make_clinical_notes
from sklearn_deid.surrogates import Chance, dates, identifiers, names, places
from sklearn_deid.text import Corpus, Document, tokenize

SEEDS = range(200)


def values(document: Document, *labels: str) -> list[str]:
    return [" ".join(document.text[s.start : s.end].split()) for s in document.spans if s.label in labels]


def without_phi(document: Document) -> str:
    kept, start = [], 0
    for span in document.spans:
        kept.append(document.text[start : span.start])
        start = span.end
    return "\0".join([*kept, document.text[start:]])


def by_patient(notes: Corpus) -> dict[str, list[Document]]:
    patients = defaultdict(list)
    for document in notes:
        patients[document.patient_id].append(document)
    return patients


@pytest.mark.parametrize("label", ["MEDICALRECORD", "HEALTHPLAN", "VEHICLE"])
def test_numbers_of_a_patient_stay_the_same(notes, label):
    found = [{v for d in documents for v in values(d, label)} for documents in by_patient(notes).values()]

    assert max(map(len, found)) == 1
    numbers = [next(iter(some)) for some in found if some]
    assert len(set(numbers)) == len(numbers)  # and are nobody else's


def test_social_security_numbers_of_a_patient_agree(notes):
    for documents in by_patient(notes).values():
        ends = {v[-4:] for d in documents for v in values(d, "SSN")}
        assert len(ends) <= 1


def test_every_note_of_a_patient_names_the_patient(notes):
    for documents in by_patient(notes).values():
        tokens = [{t for v in values(d, "PATIENT") for t in re.split(r"[ ,]+", v.upper())} for d in documents]
        assert set.intersection(*tokens)


def days_in(document: Document) -> list[tuple[date, bool]]:
    """Days written as 03/14/2011 or 2011-03-14, and whether each is given as a date of birth."""
    found = []
    for span in document.spans:
        value = document.text[span.start : span.end]
        match = re.fullmatch(r"(\d\d)/(\d\d)/(\d{4})|(\d{4})-(\d\d)-(\d\d)", value)
        if match:
            month, day, year, iso_year, iso_month, iso_day = match.groups()
            before = document.text[max(0, span.start - 15) : span.start].upper()
            is_birth = bool(re.search(r"(DOB|DOB/AGE|D\.O\.B\.|BIRTH|BIRTH ?DATE|BORN):? $", before))
            found.append((date(int(iso_year or year), int(iso_month or month), int(iso_day or day)), is_birth))
    return found


def test_ages_agree_with_birth_dates():
    checked = 0
    for documents in by_patient(make_clinical_notes(900, random_state=1)).values():
        births = {day for d in documents for day, is_birth in days_in(d) if is_birth}
        assert len(births) <= 1
        for document in documents:
            days = [day for day, is_birth in days_in(document) if not is_birth]
            ages = Counter(v for v in values(document, "AGE") if v.isdigit())
            if not births or not days or not ages or document.meta["kind"] in ("letter", "message"):
                continue
            possible = {str(dates.years_between(min(births), day)) for day in days}
            assert ages.most_common(1)[0][0] in possible
            checked += 1
    assert checked > 30


def test_ages_of_children_and_of_people_over_89_occur(notes):
    ages = [int(v) for d in notes for v in values(d, "AGE") if v.isdigit()]

    assert sum(age < 18 for age in ages) > 10
    assert sum(age > 89 for age in ages) > 10
    assert any("-" in v or v.isalpha() for d in notes for v in values(d, "AGE"))  # and some are written in words


def test_identifiers_stand_nowhere_outside_of_their_spans(notes):
    unmistakable = ("MEDICALRECORD", "SSN", "EMAIL", "ACCOUNT", "HEALTHPLAN", "LICENSE", "IPADDR", "URL")
    for document in notes:
        plain = without_phi(document)
        assert not [v for v in values(document, *unmistakable) if len(v) > 5 and v in plain]


def test_only_reserved_names_and_numbers(notes):
    for document in notes:
        text = document.text.lower().replace("\r", "").replace("\n", " ")
        hosts = re.findall(r"@([\w.-]+\w)", text)
        assert all(re.search(r"(^|\.)example\.(org|com|net)$", host) for host in hosts)
        for url in values(document, "URL"):
            assert re.search(r"\.example\.(org|com|net)(/\w+)?$", url.lower())
        for number in values(document, "SSN"):
            digits = number.replace("-", "")
            assert len(digits) == 4 or re.match("000|666|9", digits)
        for number in values(document, "PHONE", "FAX"):
            digits = re.sub(r"\D", "", number)
            assert len(digits) < 6 or re.search("55501..$", digits)
        assert all(v.startswith(("192.0.2.", "198.51.100.", "203.0.113.")) for v in values(document, "IPADDR"))


def test_some_phi_touches_letters_or_digits(notes):
    touching = Counter(
        s.label
        for d in notes
        for s in d.spans
        if d.text[s.start - 1 : s.start].isalnum() or d.text[s.end : s.end + 1].isalnum()
    )

    assert {"PATIENT", "DATE", "AGE", "MEDICALRECORD"} <= set(touching)


def test_dates_come_in_many_forms(notes):
    shapes = {
        re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"\d", "9", v))) for d in notes for v in values(d, "DATE")
    }

    assert len(shapes) > 40
    assert {"99/99/9999", "9/9/99", "9999-99-99", "99AAA99".replace("AAA", "A"), "99999999", "9999", "9/99"} <= shapes


def test_words_are_phi_here_and_not_there(notes):
    inside, outside = Counter(), Counter()
    for document in notes:
        inside.update(t for span in document.spans for t in tokenize(document.text[span.start : span.end]).texts)
        outside.update(tokenize(without_phi(document).replace("\0", "\n")).texts)
    both = {t for t in inside if outside[t] and len(t) > 2 and t.isalpha() and t[0].isupper()}

    assert {"Parkinson", "Graves", "Hodgkin", "Wilson", "Brown", "May", "Hope", "Reading"} <= both
    assert len(both) > 100


def test_names_are_too_many_to_list():
    chance = Chance(0)
    for draw in (names.surname, places.town, places.hospital_name, places.street, places.employer):
        drawn = Counter(draw(chance) for _ in range(3000))
        assert sum(n == 1 for n in drawn.values()) > 600


@pytest.mark.parametrize("draw", [identifiers.mrn, identifiers.account, identifiers.study_number])
def test_numbers_have_no_leading_zero(draw):
    assert not any(draw(Chance(seed)).startswith("0") for seed in SEEDS)


def test_misspelt_names_differ_by_one_letter():
    for seed in SEEDS:
        spoilt = names.misspell_name("Parkinson", Chance(seed))
        assert spoilt[0] == "P"
        assert abs(len(spoilt) - 9) <= 1
        assert sum((Counter("Parkinson") - Counter(spoilt)).values()) <= 1
    assert names.misspell_name("May", Chance(0)) == "May"


def test_every_date_form_writes_its_example():
    assert {form: write(date(2011, 3, 14)) for form, write in dates.DATE_FORMS.items()} == {
        form: form for form in dates.DATE_FORMS
    }


def test_age_on_and_before_the_birthday():
    assert dates.years_between(date(1950, 3, 14), date(2011, 3, 14)) == 61
    assert dates.years_between(date(1950, 3, 15), date(2011, 3, 14)) == 60
    assert dates.years_between(date(1952, 2, 29), date(2011, 2, 28)) == 58
