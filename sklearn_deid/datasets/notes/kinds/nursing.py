"""Nursing notes: short, dense and untidy."""

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "nursing.title": (
        "NURSING NOTE",
        "Nursing Progress Note",
        "RN NOTE",
        "Nursing Assessment",
        "CCU NPN 7A-7P",
        "NPN 1900-0700",
        "Shift note",
        "Nsg",
    ),
    "entry": (
        "{clock} {nursing}.",
        "{clock} - {nursing}, {rn.initials}",
        "{clock}: VS {#96.8-101.2}-{#60-118}-{#14-24}, {#98-162}/{#50-94}, {#90-99}% RA. {rn.initials}",
        "{date.short} {clock} {nursing}",
        "{clock} pt's {rel.word} {rel.first} in to visit. {Nursing}.",
        "{clock} Dr. {res.last} paged {res.pager}, {nursing}",
        "{clock} c/o pain {#3-9}/10, medicated w/ effect. {rn.last} RN",
        "{clock} transferred from rm {room} w/ {any.last}, report to {rn.first}",
        "{clock} {trap}",
        "{clock} {rel.first} called from {rel.phone}, updated",
        "{clock} seen by Dr. {con.last}. {trap}",
        "{clock} pt {pt.last} to x-ray w/ transport",
        "{clock} {mr} {pt.last} resting, call bell near",
        "{clock} {date.mmdd}{PT.LAST} label on spec #{specimen}, sent",
        "{clock} report from {nh}: {nursing}",
        "{clock} PT: amb {#10-200} ft, walker. {any.initials}",
        "{clock} BM x{#1-3}, brown. bath given",
        "{clock} mrn{mrn}pt ID band checked x2",
        "{clock} {weekday} plan: d/c home w/ {rel.first}",
        "{clock} chaplain in, will return",
        "{clock} FS {#88-312}, {#2-10}u reg. {rn.initials}/{res.initials}",
    ),
    "system.line": (
        "NEURO: A&O x{#2-3}, MAE, calm.",
        "CV: HR {#58-118}, no ectopy, pulses {#1-2}+.",
        "RESP: {#1-4}L NC, sat {#90-99}, lungs <clear|coarse>.",
        "GI: abd soft, BS+, bland diet, BM brown.",
        "GU: Foley {#20-120} cc/hr clear yellow.",
        "SKIN: Braden {#12-22}, heels pink, legs dry.",
        "PAIN: {#0-8}/10, sharp, Percocet x1.",
        "ID: T {#97.0-101.9}, WBC {#4.0-16.9}, cx pending.",
        "SOCIAL: {rel.word} {rel.full} called, {rel.phone}. {He} lives in {city}.",
        "SOCIAL: {work} {Rel.first} will bring glasses for reading.",
        "ACCESS: #{#18-22} R hand, PICC L.",
        "PLAN: {plan}. {trap}",
        "A: {dx}. P: {plan}.",
        "ENDO: FSBS {#90-280}.",
        "ACTIVITY: walker, assist x1. May be up in chair.",
        "DISPO: {nh} has a bed {date.next}; {any.first} from case mgmt aware.",
    ),
    "handoff": (
        "Report to {rn.first} at {time}.",
        "Will follow. {rn.full}, RN",
        "Family: {rel.full}, {rel.word}, {rel.phone}.",
        "{work}",
        "Belongings: reading glasses, cane, {pt.first}'s watch, wallet to {rel.word}.",
        "Pacer card serial {device} copied.",
        "Car ({plate}) is in the visitors' lot, keys with {rel.first}.",
        "Pt from {nh}, {nh.city}; phone {nh.phone}.",
        "Dr. {at.last} to speak w/ {rel.first} <on {date.next}|in AM>.",
        "{late}",
        "{late}",
    ),
}

KIND = Kind(
    heads=(
        "{nursing.title}\n{field.name}  {field.number}  rm {room}",
        "{date} {time} {nursing.title}\n{field.name}",
        "{nursing.title}   {date}   Room {room}\n{field.name}\n{field.birth}",
        "{pt.header} {room} {date.short} {nursing.title}",
        "{field.name} {field.number}\n{field:1-3:line}\n{nursing.title} {date}",
        "{banner}\n{nursing.title}\n{field.name}\t{room}\t{date}\nAttending {at.last}\tRN {rn.last}",
    ),
    sections=(
        Section(
            ("Situation", "S", "Background", "Pt"),
            (
                "{aged} {noun} adm {date.adm} w/ {complaint}. {nursing}.",
                "{Mr} {pt.last} is {aged}, hosp day {#2-9}, {dx}.",
                "{age}{sex} <here|admitted> w/ {dx}, PMH {problem.1}, {problem.2}. {Allergies}",
                "{pt.full} {age} {sex} under Dr. {at.last}, {dx}. {social}",
            ),
            0.8,
        ),
        Section(("Vital signs", "VS", "Flow sheet"), ("{vitals}", "{vitals.table}", "{vitals}\n{vitals}"), 0.65),
        Section(
            ("Notes", "Events", "Shift log", "Data"),
            (
                "{entry:4-7:line}",
                "{entry:3-6:line}\n{trap.line}",
                "{system.line:4-8:line}",
                "{system.line:3-5:line}\n{entry:2-4:line}",
                "{entry:5-9:line}",
            ),
        ),
        Section(
            ("Assessment", "Systems", "Focus"),
            ("{system.line:3-6:line}", "{nursing:2-3}. {trap:1-2}", "{trap.line:1-3:line}\n{system.line:1-3:line}"),
            0.7,
        ),
        Section(("Medications given", "MAR", "Meds"), ("{drugs:2-4:line}", "{drugs:1-3:comma} at {time}"), 0.35),
        Section(("Plan", "P", "To do"), ("{plan:2-4:list}", "{plan:1-3:comma}. {trap}", "{Plan}. {handoff}"), 0.6),
        Section(("Handoff", "Family", "Communication", "Other"), ("{handoff:2-3}", "{handoff:1-2:line}"), 0.7),
    ),
    feet=(
        "{rn.full}, {rn.cred}",
        "{rn.initials} {time}",
        "{rn.full} {rn.cred}  {date} {time}",
        "{rn.last}, {rn.cred} ({rn.user})",
        "{rn.user} {date} {time}",
        "{rn.full} RN x{rn.pager}",
        "",
    ),
    rules=_RULES,
    headed=0.6,
)
