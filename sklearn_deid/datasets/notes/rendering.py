"""How a context tells what it knows: names, days, ages, telephone numbers and times, with the habits of the writer."""

from __future__ import annotations

from datetime import date

from ...surrogates import dates, identifiers, misspell_name
from .context import NoteContext
from .people import Hospital, Person

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


def phone_number(context: NoteContext, number: str) -> str:
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
    """The name in full, shortened, or, of those with staff (practices and homes have none), as initials."""
    kind = context.chance.uniform()
    if kind < 0.25:
        return hospital.short
    return hospital.abbreviation if kind < 0.45 and hospital.doctors else hospital.name


def state_name(context: NoteContext, state: tuple[str, str]) -> str:
    return state[1] if context.chance.happens(0.75) else state[0]


def written_day(context: NoteContext, day: date) -> str:
    return dates.DATE_FORMS[context.style.date_form](day)


def told_day(context: NoteContext, day: date, *, month: float = 0.0, weekday: float = 0.0) -> str:
    """A day as running text mentions it: in the style of the note, without its year, or only its month or weekday."""
    kind = context.chance.uniform()
    if kind < month:
        return dates.month_form(day, context.chance)
    if kind < month + weekday:
        return dates.weekday_name(day, context.chance)
    return written_day(context, day) if kind < 0.65 else dates.short_form(day, context.chance)


def earlier(context: NoteContext, low: int, high: int, since_age: int = 0) -> date:
    """A day ``low`` to ``high`` days before admission, in the patient's lifetime (an adult's: after ``since_age``)."""
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
    ones = f"-{_ONES[age % 10]}" if age % 10 else ""
    return _TENS[age // 10] + ones


def weight_of(context: NoteContext) -> float:
    """Weight in kg, about the same in all notes of a patient."""
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
    """Some time of the day; within a log, the time of the entry."""
    minutes = context.minutes
    if minutes is None:
        minutes = 5 * context.chance.number(0, 287) + context.chance.pick((0, 0, 2, 4))
    return dates.clock(minutes, context.style.clock_form)


def next_entry(context: NoteContext) -> str:
    """The time of the next entry of a log: times of a log go on."""
    if context.minutes is None:
        context.minutes = 60 * context.chance.pick((7, 7, 8, 15, 19, 23))
    context.minutes += context.chance.number(15, 140)
    return dates.clock(context.minutes, context.style.clock_form)
