"""How a scene tells what it knows: names, days, ages, telephone numbers and times, with the habits of the writer."""

from __future__ import annotations

from datetime import date

from ...surrogates import dates, identifiers, misspell_name
from .people import Hospital, Person
from .scene import Scene

__all__ = [
    "age_in_words",
    "age_of",
    "during_stay",
    "earlier",
    "full_name",
    "header_name",
    "hospital_name",
    "last_name",
    "later",
    "next_entry",
    "noun_of",
    "phone_number",
    "state_name",
    "time_of_day",
    "title_of",
    "told_day",
    "weight_of",
    "written_day",
]

_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ONES = "zero one two three four five six seven eight nine".split()


def phone_number(scene: Scene, number: str) -> str:
    forms = identifiers.phone_forms(number)
    return forms[scene.style.phone_form] if scene.chance.happens(0.8) else scene.chance.pick(forms)


def full_name(scene: Scene, person: Person) -> str:
    middle = f" {person.middle}." if person.middle and scene.chance.happens(0.4) else ""
    return f"{person.given}{middle} {person.family}"


def last_name(scene: Scene, person: Person) -> str:
    return misspell_name(person.family, scene.chance) if scene.chance.happens(0.025) else person.family


def header_name(scene: Scene, person: Person) -> str:
    middle = f" {person.middle}" if person.middle else ""
    form = scene.chance.pick(("{last}, {first}{middle}", "{last},{first}", "{first}{middle} {last}", "{last}, {first}"))
    return form.format(last=person.family, first=person.given, middle=middle)


def hospital_name(scene: Scene, hospital: Hospital) -> str:
    """The name in full, shortened, or, of those with staff (practices and homes have none), as initials."""
    kind = scene.chance.uniform()
    if kind < 0.25:
        return hospital.short
    return hospital.abbreviation if kind < 0.45 and hospital.doctors else hospital.name


def state_name(scene: Scene, state: tuple[str, ...]) -> str:
    return state[1] if scene.chance.happens(0.75) else state[0]


def written_day(scene: Scene, day: date) -> str:
    return dates.DATE_FORMS[scene.style.date_form](day)


def told_day(scene: Scene, day: date, *, month: float = 0.0, weekday: float = 0.0) -> str:
    """A day as running text mentions it: in the style of the note, without its year, or only its month or weekday."""
    kind = scene.chance.uniform()
    if kind < month:
        return dates.month_form(day, scene.chance)
    if kind < month + weekday:
        return dates.weekday_name(day, scene.chance)
    return written_day(scene, day) if kind < 0.65 else dates.short_form(day, scene.chance)


def earlier(scene: Scene, low: int, high: int, since_age: int = 0) -> date:
    """A day ``low`` to ``high`` days before admission, in the patient's lifetime (an adult's: after ``since_age``)."""
    life = (scene.stay.admitted - scene.patient.birth).days
    if age_of(scene) > 17:
        life -= 365 * since_age
    return dates.shift(scene.stay.admitted, -scene.chance.number(low, max(low, min(high, life - 200))))


def later(scene: Scene, low: int, high: int) -> date:
    return dates.shift(max(scene.day, scene.stay.discharged), scene.chance.number(low, high))


def during_stay(scene: Scene) -> date:
    last = min(max(scene.day, scene.stay.admitted), scene.stay.discharged)
    return dates.shift(scene.stay.admitted, scene.chance.number(0, (last - scene.stay.admitted).days))


def age_of(scene: Scene) -> int:
    return dates.years_between(scene.patient.birth, scene.day)


def age_in_words(scene: Scene) -> str:
    age = age_of(scene)
    if age < 20 or age > 99:
        return str(age)
    ones = f"-{_ONES[age % 10]}" if age % 10 else ""
    return _TENS[age // 10] + ones


def weight_of(scene: Scene) -> float:
    """Weight in kg, about the same in all notes of a patient."""
    age, build = age_of(scene), scene.patient.allergy % 100 / 100
    adult = 52 + 55 * build
    grown = adult if age > 17 else min(adult, (8 + 2.6 * age) * (0.85 + 0.4 * build))
    return grown * (0.97 + 0.06 * scene.chance.uniform())


def noun_of(scene: Scene) -> str:
    female = scene.patient.person.sex == "F"
    if age_of(scene) < 18:
        return "girl" if female else "boy"
    return scene.chance.pick(("woman", "female", "lady", "F") if female else ("man", "male", "gentleman", "M"))


def title_of(scene: Scene) -> str:
    if age_of(scene) < 18:
        return "patient"
    if scene.patient.person.sex == "M":
        return "Mr."
    return "Mrs." if scene.patient.relation == "husband" else "Ms."


def time_of_day(scene: Scene) -> str:
    """Some time of the day; within a log, the time of the entry."""
    minutes = scene.minutes
    if minutes is None:
        minutes = 5 * scene.chance.number(0, 287) + scene.chance.pick((0, 0, 2, 4))
    return dates.clock(minutes, scene.style.clock_form)


def next_entry(scene: Scene) -> str:
    """The time of the next entry of a log: times of a log go on."""
    if scene.minutes is None:
        scene.minutes = 60 * scene.chance.pick((7, 7, 8, 15, 19, 23))
    scene.minutes += scene.chance.number(15, 140)
    return dates.clock(scene.minutes, scene.style.clock_form)
