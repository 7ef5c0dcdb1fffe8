"""Rules that replace others where the patient has reached the age of retirement."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

__all__ = ["RULES"]

RULES: dict[str, tuple[str, ...]] = {
    "calling": ("retired {profession}", "{noun}", "former {profession}"),
    "work": (
        "Retired {profession}.",
        "{He} was {a} {profession} for {#15-45} years, last at {employer}.",
        "Former {profession} for {employer} in {city2}.",
        "Retired from {employer} in {date.year}.",
        "Occupation: {profession}, retired.",
        "{He} used to be {a} {profession}.",
    ),
    "field.work": ("Occupation: {profession} (retired)", "Former employer: {employer}", "Retired: {profession}"),
    "return.to.work": ("{He} may drive again from {date.next}.", "{He} may travel to {city2} on {date.next}."),
    "work.letter": (
        "To whom it may concern: {pt.full} was treated at {hosp} from {date.adm} to {date.dc} and is excused from jury duty.",
        "To Whom It May Concern:\n{pt.full} (DOB {dob}) is under my care and needs a walker and a ground floor flat.",
    ),
    "asks.work": ("Letter for {nh} needed, fax {hosp.fax}, by {date.next}.",),
}
