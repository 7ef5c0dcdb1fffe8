"""Words of a context: names in templates that are replaced by exactly one text.

The labels follow the guidelines of the i2b2 2014 challenge. Titles and credentials ("Dr.", "MD") are outside of the
span. Relatives are PATIENT. Nursing homes and practices are HOSPITAL. Every age is AGE, also under 90, and "yo" is
outside of the span. Years, months, seasons, weekdays and holidays are DATE, and times of day are not PHI. Pagers and
extensions are PHONE. Accession, specimen and dictation numbers are IDNUM.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from ...surrogates import dates, identifiers, misspell_name
from .case import STAY_FACTS
from .context import NoteContext, Word
from .people import Clinician, Hospital, Person
from .stays import other_side

_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ONES = "zero one two three four five six seven eight nine".split()


def phone_number(context: NoteContext, number: str) -> str:
    # Mostly the form of the writer, sometimes another form, as in copied text.
    forms = identifiers.phone_forms(number)
    return forms[context.style.phone_form] if context.chance.happens(0.8) else context.chance.pick(forms)


def full_name(context: NoteContext, person: Person) -> str:
    middle = f" {person.middle}." if person.middle and context.chance.happens(0.4) else ""
    return f"{person.given}{middle} {person.family}"


def last_name(context: NoteContext, person: Person) -> str:
    return misspell_name(person.family, context.chance) if context.chance.happens(0.025) else person.family


def header_name(context: NoteContext, person: Person) -> str:
    middle = f" {person.middle}" if person.middle else ""
    form = context.chance.pick(
        ("{last}, {first}{middle}", "{last},{first}", "{first}{middle} {last}", "{last}, {first}")
    )
    return form.format(last=person.family, first=person.given, middle=middle)


def hospital_name(context: NoteContext, hospital: Hospital) -> str:
    """Return the name of a hospital: in full, shortened, or as initials; practices and homes have no initials."""
    kind = context.chance.uniform()
    if kind < 0.25:
        return hospital.short
    return hospital.abbreviation if kind < 0.45 and hospital.doctors else hospital.name


def state_name(context: NoteContext, state: tuple[str, str]) -> str:
    return state[1] if context.chance.happens(0.75) else state[0]


def written_day(context: NoteContext, day: date) -> str:
    return dates.DATE_FORMS[context.style.date_form](day)


def told_day(context: NoteContext, day: date, *, month: float = 0.0, weekday: float = 0.0) -> str:
    """Return a day for running text: in the style of the note, without its year, or as a month or weekday only."""
    kind = context.chance.uniform()
    if kind < month:
        return dates.month_form(day, context.chance)
    if kind < month + weekday:
        return dates.weekday_name(day, context.chance)
    return written_day(context, day) if kind < 0.65 else dates.short_form(day, context.chance)


def earlier(context: NoteContext, low: int, high: int, since_age: int = 0) -> date:
    """Return a day ``low`` to ``high`` days before admission, in the patient's life (adults: after ``since_age``)."""
    life = (context.stay.admitted - context.patient.birth).days
    if age_of(context) > 17:
        life -= 365 * since_age
    return dates.shift(context.stay.admitted, -context.chance.number(low, max(low, min(high, life - 200))))


def later(context: NoteContext, low: int, high: int) -> date:
    return dates.shift(max(context.day, context.stay.discharged), context.chance.number(low, high))


def during_stay(context: NoteContext) -> date:
    last = min(max(context.day, context.stay.admitted), context.stay.discharged)
    return dates.shift(context.stay.admitted, context.chance.number(0, (last - context.stay.admitted).days))


def age_of(context: NoteContext) -> int:
    return dates.years_between(context.patient.birth, context.day)


def age_in_words(context: NoteContext) -> str:
    age = age_of(context)
    if age < 20 or age > 99:
        return str(age)
    # Ages such as thirty have no second part.
    ones = f"-{_ONES[age % 10]}" if age % 10 else ""
    return _TENS[age // 10] + ones


def weight_of(context: NoteContext) -> float:
    """Weight in kg; the weights in the notes of a patient differ little."""
    age, build = age_of(context), context.patient.allergy % 100 / 100
    adult = 52 + 55 * build
    grown = adult if age > 17 else min(adult, (8 + 2.6 * age) * (0.85 + 0.4 * build))
    return grown * (0.97 + 0.06 * context.chance.uniform())


def noun_of(context: NoteContext) -> str:
    female = context.patient.person.sex == "F"
    if age_of(context) < 18:
        return "girl" if female else "boy"
    return context.chance.pick(("woman", "female", "lady", "F") if female else ("man", "male", "gentleman", "M"))


def title_of(context: NoteContext) -> str:
    if age_of(context) < 18:
        return "patient"
    if context.patient.person.sex == "M":
        return "Mr."
    return "Mrs." if context.patient.relation == "husband" else "Ms."


def time_of_day(context: NoteContext) -> str:
    """Draw a time of day; in an entry of a log, return the time of the entry."""
    minutes = context.minutes
    if minutes is None:
        minutes = 5 * context.chance.number(0, 287) + context.chance.pick((0, 0, 2, 4))
    return dates.clock(minutes, context.style.clock_form)


def next_entry(context: NoteContext) -> str:
    """Draw the time of the next entry of a log. The times of a log increase."""
    if context.minutes is None:
        context.minutes = 60 * context.chance.pick((7, 7, 8, 15, 19, 23))
    context.minutes += context.chance.number(15, 140)
    return dates.clock(context.minutes, context.style.clock_form)


def _person_words(prefix: str, find: Callable[[NoteContext], Person], label: str = "PATIENT") -> dict[str, Word]:
    return {
        f"{prefix}.first": (label, lambda s: find(s).given),
        f"{prefix}.last": (label, lambda s: last_name(s, find(s))),
        f"{prefix}.full": (label, lambda s: full_name(s, find(s))),
        f"{prefix}.header": (label, lambda s: header_name(s, find(s))),
        f"{prefix}.initials": (label, lambda s: find(s).initials),
    }


def _clinician_words(prefix: str, find: Callable[[NoteContext], Clinician]) -> dict[str, Word]:
    return {
        **_person_words(prefix, lambda s: find(s).person, "DOCTOR"),
        f"{prefix}.cred": (None, lambda s: find(s).credential),
        f"{prefix}.user": ("USERNAME", lambda s: find(s).user),
        f"{prefix}.pager": ("PHONE", lambda s: find(s).pager),
        f"{prefix}.phone": ("PHONE", lambda s: phone_number(s, find(s).phone)),
        f"{prefix}.email": ("EMAIL", lambda s: find(s).email),
        f"{prefix}.license": ("LICENSE", lambda s: find(s).license),
    }


def _hospital_words(prefix: str, find: Callable[[NoteContext], Hospital]) -> dict[str, Word]:
    return {
        prefix: ("HOSPITAL", lambda s: hospital_name(s, find(s))),
        f"{prefix}.name": ("HOSPITAL", lambda s: find(s).name),
        f"{prefix}.short": ("HOSPITAL", lambda s: find(s).short),
        f"{prefix}.street": ("STREET", lambda s: find(s).street),
        f"{prefix}.city": ("CITY", lambda s: find(s).city),
        f"{prefix}.state": ("STATE", lambda s: state_name(s, find(s).state)),
        f"{prefix}.zip": ("ZIP", lambda s: find(s).zip),
        f"{prefix}.phone": ("PHONE", lambda s: phone_number(s, find(s).phone)),
        f"{prefix}.fax": ("FAX", lambda s: phone_number(s, find(s).fax)),
        f"{prefix}.url": ("URL", lambda s: find(s).url),
    }


def _fact(name: str) -> Word:
    return (None, lambda s: s.stay.facts[name])


def _problem(number: int, part: int) -> Word:
    """Return a problem (part 0) of the patient, or the drug for the problem (part 1).

    In all notes of a patient, each number gives the same problem.
    """

    def find(context: NoteContext) -> str:
        known = context.library.child_problems if age_of(context) < 18 else context.library.problems
        start, step = context.patient.problems
        return known[(start + number * (1 + 2 * (step % 3))) % len(known)][part]

    return (None, find)


def _allergy(context: NoteContext) -> tuple[str, str]:
    known = context.library.allergies
    return known[context.patient.allergy % len(known)]


def _by_sex(female: str, male: str) -> Word:
    return (None, lambda s: female if s.patient.person.sex == "F" else male)


_PLAIN: dict[str, Word] = {
    "he": _by_sex("she", "he"),
    "his": _by_sex("her", "his"),
    "him": _by_sex("her", "him"),
    "sex": _by_sex("F", "M"),
    "noun": (None, noun_of),
    "mr": (None, title_of),
    "a": (None, lambda s: "an" if s.patient.profession[0] in "aeiou" else "a"),
    "rel.word": (None, lambda s: s.patient.relation),
    "time": (None, time_of_day),
    "clock": (None, next_entry),
    "office.time": (None, lambda s: dates.clock(15 * s.chance.number(32, 67), s.style.clock_form)),
    "an": (
        None,
        lambda s: "an" if str(age_of(s)).startswith("8") or age_of(s) in (11, 18) else "a",
    ),
    "pt.title": (None, lambda s: "" if age_of(s) < 18 else f"{title_of(s)} "),
    "side": (None, lambda s: s.stay.side),
    "other.side": (None, lambda s: other_side(s.stay.side)),
    "kg": (None, lambda s: f"{weight_of(s):.1f}"),
    "lb": (None, lambda s: f"{2.2 * weight_of(s):.0f}"),
    "allergy": (None, lambda s: _allergy(s)[0]),
    "reaction": (None, lambda s: _allergy(s)[1]),
    **{name: _fact(name) for name in STAY_FACTS},
    "lt": (None, lambda s: "&lt;" if s.style.crlf else "<"),
    "gt": (None, lambda s: "&gt;" if s.style.crlf else ">"),
    "bar": (None, lambda s: "|"),
    **{f"problem.{n}": _problem(n, 0) for n in (1, 2, 3)},
    **{f"drug.{n}": _problem(n, 1) for n in (1, 2, 3)},
}
_PATIENT: dict[str, Word] = {
    "age": ("AGE", lambda s: str(age_of(s))),
    "age.words": ("AGE", age_in_words),
    "kin.age": ("AGE", lambda s: str(s.chance.number(38, 94))),
    "dob": ("DATE", lambda s: written_day(s, s.patient.birth)),
    "mrn": ("MEDICALRECORD", lambda s: s.patient.mrn),
    "ssn": ("SSN", lambda s: s.patient.ssn if s.chance.happens(0.8) else s.patient.ssn.replace("-", "")),
    "ssn.end": ("SSN", lambda s: s.patient.ssn[-4:]),
    "plan.id": ("HEALTHPLAN", lambda s: s.patient.plan),
    "license": ("LICENSE", lambda s: s.patient.license),
    "device": ("DEVICE", lambda s: s.patient.device),
    "plate": ("VEHICLE", lambda s: s.patient.plate),
    "street": ("STREET", lambda s: s.patient.street),
    "city": ("CITY", lambda s: s.patient.city),
    "state": ("STATE", lambda s: state_name(s, s.patient.state)),
    "zip": ("ZIP", lambda s: s.patient.zip),
    "country": ("COUNTRY", lambda s: s.patient.country),
    "phone": ("PHONE", lambda s: phone_number(s, s.patient.phone)),
    "phone.work": ("PHONE", lambda s: phone_number(s, s.patient.work_phone)),
    "rel.phone": ("PHONE", lambda s: phone_number(s, s.patient.relative_phone)),
    "email": ("EMAIL", lambda s: s.patient.email),
    "pt.user": ("USERNAME", lambda s: s.patient.user),
    "profession": ("PROFESSION", lambda s: s.patient.profession),
    "employer": ("ORGANIZATION", lambda s: s.patient.school if age_of(s) < 18 else s.patient.employer),
    "baby": ("PATIENT", lambda s: s.patient.baby),
}
_STAY: dict[str, Word] = {
    "account": ("ACCOUNT", lambda s: s.stay.account),
    "room": ("ROOM", lambda s: s.stay.room),
    "specimen": ("IDNUM", lambda s: s.stay.specimen),
    "accession": ("IDNUM", lambda s: s.stay.accession),
    "job": ("IDNUM", lambda s: identifiers.study_number(s.chance)),
    "device.new": ("DEVICE", lambda s: identifiers.device(s.chance)),
    "ip": ("IPADDR", lambda s: identifiers.ip_address(s.chance)),
    "city2": ("CITY", lambda s: s.stay.other.city),
    "employer2": ("ORGANIZATION", lambda s: s.patient.supplier),
}
_DATES: dict[str, Word] = {
    "date": ("DATE", lambda s: written_day(s, s.day)),
    "date.adm": ("DATE", lambda s: written_day(s, s.stay.admitted)),
    "date.dc": ("DATE", lambda s: written_day(s, s.stay.discharged)),
    "date.stay": ("DATE", lambda s: told_day(s, during_stay(s), weekday=0.1)),
    "date.recent": ("DATE", lambda s: told_day(s, earlier(s, 1, 14), weekday=0.15)),
    "date.prior": ("DATE", lambda s: told_day(s, earlier(s, 30, 900), month=0.2)),
    "date.month": ("DATE", lambda s: dates.month_form(earlier(s, 40, 2000), s.chance)),
    "date.year": ("DATE", lambda s: str(earlier(s, 400, 9000, since_age=15).year)),
    "date.next": ("DATE", lambda s: told_day(s, later(s, 3, 60), weekday=0.1)),
    "date.short": ("DATE", lambda s: dates.short_form(s.day, s.chance)),
    "date.mmdd": ("DATE", lambda s: f"{s.day.month:02d}{s.day.day:02d}"),
    "date.yymmdd": ("DATE", lambda s: f"{s.day.year % 100:02d}{s.day.month:02d}{s.day.day:02d}"),
    "weekday": ("DATE", lambda s: dates.weekday_name(earlier(s, 1, 7), s.chance)),
    "holiday": ("DATE", lambda s: dates.holiday(s.chance)),
    "season": ("DATE", lambda s: dates.season_form(earlier(s, 60, 500), s.chance)),
}

WORDS: dict[str, Word] = {
    **_PLAIN,
    **_PATIENT,
    **_STAY,
    **_DATES,
    **_person_words("pt", lambda s: s.patient.person),
    **_person_words("rel", lambda s: s.patient.relative),
    **_person_words("kin", lambda s: s.patient.partner),
    **_clinician_words("at", lambda s: s.stay.attending),
    **_clinician_words("res", lambda s: s.stay.resident),
    **_clinician_words("sur", lambda s: s.stay.surgeon),
    **_clinician_words("con", lambda s: s.stay.consultant),
    **_clinician_words("con2", lambda s: s.stay.second_consultant),
    **_clinician_words("any", lambda s: s.chance.pick(s.stay.hospital.doctors)),
    **_clinician_words("rad", lambda s: s.stay.radiologist),
    **_clinician_words("rn", lambda s: s.stay.nurse),
    **_clinician_words("pcp", lambda s: s.patient.doctor),
    **_hospital_words("hosp", lambda s: s.stay.hospital),
    **_hospital_words("oh", lambda s: s.stay.other),
    **_hospital_words("cl", lambda s: s.patient.clinic),
    **_hospital_words("nh", lambda s: s.patient.home),
}
"""All words by name: the label of the PHI (None for plain text) and how to find it."""
