"""Admission notes."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "admission.title": (
        "ADMISSION NOTE",
        "History and Physical",
        "H&P",
        "ADMIT NOTE",
        "Medicine Admission",
        "History & Physical Examination",
        "HOUSE OFFICER ADMISSION NOTE",
    ),
    "opening": (
        "{Mr} {pt.last} is {an} {aged} {noun} with {problem.1} and {problem.2} who presents with {complaint}.",
        "{pt.full} is {an} {aged} {noun} who comes to {hosp} with {complaint}.",
        "This is {an} {aged} {noun}, <referred by Dr. {pcp.last}|transferred from {oh}|brought in by {his} {rel.word} {rel.first}>, with {complaint}.",
        "{Aged} {noun} h/o {problem.1}, {problem.2}, {problem.3} p/w {complaint} x {#2-10} days.",
        "The patient is {an} {aged} <right handed |>{calling} from {city} with {complaint}.",
        "{Mr} {pt.last}, {aged}, was well until {date.recent}, when {he} developed {complaint}.",
        "Pt is {aged} {noun} known to Dr. {con.last} ({problem.1}), sent in from {nh} for {complaint}.",
        "{pt.last} is {an} {age} {sex} seen in the ED on {date.adm} for {complaint}.",
    ),
    "emergency": (
        "In the ED: {vitals} Given {drugs}.",
        "ED course: seen by Dr. {any.last}, {#1-3} L NS, {drugs}.",
        "At {oh} {he} received {drugs} and was transferred by ambulance.",
        "In triage at {time}: {vitals}",
        "Per EMS run sheet {job}: {vitals}",
        "History is from {rel.first} ({rel.word}) because the patient is <sleepy|hard of hearing|upset>.",
        "Dr. {pcp.last} ({cl.phone}) was called and agrees with admission.",
        "Sent by {cl}; their fax of {date.recent} is in the chart.",
    ),
    "admission.plan": (
        "{Aged} {noun} with {dx}. Also {also}.\n{plan:3-6:list}",
        "{Dx}; also {also}.\n{plan:3-6:list}\nFEN: {diet}  PPX: {prophylaxis}  Code: <full|DNR/DNI>",
        "Assessment: {complaint}, likely {dx}. {trap}\nPlan:\n{plan:4-6:list}",
        "{plan:3-5:list}\nDispo: pending PT; {rel.word} {rel.first} ({rel.phone}) aware.",
        "Imp: {dx}. Will discuss with Dr. {con.last}. {plan:2-4:comma}.",
    ),
    "prophylaxis": ("SQ heparin", "boots", "PPI", "heparin 5000 units"),
    "diet": ("NPO", "cardiac diet", "regular", "house", "clears, advance as tolerated"),
}

KIND = Kind(
    heads=(
        "{banner}\n{admission.title}\n\n{field.name}\n{field.number}\n{field.birth}\nDate of admission: {date.adm}\n{field:2-5:line}",
        "{admission.title}\n{field.name}   {field.number}\n{field.birth}   Admitted: {date.adm}",
        "{field.name}\n{field.number}\n{date.adm}\n{field:1-4:line}\n\n{admission.title}",
        "{admission.title} - {date.adm} {time}\n{field.name}  /  {field.number}  /  {field.birth}",
        "{banner}\n{field.name}\t{field.number}\n{field.birth}\tADM {date.adm}\n{field:2-4:line}",
        "{date.adm} {time} {admission.title}\n{field.name}\n{field:1-3:line}",
    ),
    sections=(
        Section(
            ("Chief Complaint", "CC", "Reason for admission"), ("{Complaint}.", '"{Complaint}"', "{complaint}"), 0.75
        ),
        Section(
            ("History of Present Illness", "HPI", "Present illness"),
            (
                "{opening} {story:2-4} {emergency}",
                "{opening} {story:3-5}",
                "{opening}\n\n{story:2-3} {emergency} {trap}",
                "{emergency} {opening} {story:2-4}",
            ),
        ),
        Section(
            ("Past Medical History", "PMH", "Past History", "PMHx"),
            ("{past.text}", "{past:3-5:list}", "{past:2-4:comma}."),
            0.9,
        ),
        Section(
            ("Medications", "Meds on admission", "Home Medications", "MEDS"),
            ("{home.drugs:2-4:list}", "{home.drugs:2-4:comma}.", "{Drug.1}, {drug.2}, {drug.3}."),
            0.75,
        ),
        Section(("Allergies", "ALL", "Drug allergies"), ("{allergies}",), 0.75),
        Section(("Social History", "SH", "Social Hx"), ("{social:2-3}", "{social:1-2}", "{work} {social:1-2}"), 0.85),
        Section(("Family History", "FH"), ("{family:1-2}",), 0.45),
        Section(("Review of Systems", "ROS"), ("{systems:1-3}",), 0.35),
        Section(
            ("Physical Examination", "PE", "Exam", "Physical exam"),
            (
                "{vitals}\n{exam:2-4:line}\n{findings:1-2:line}",
                "{vitals} {exam:1-3} {findings:2-3}",
                "{vitals.table}\n{exam:1-3} {findings:1-2}",
            ),
        ),
        Section(
            ("Laboratory Data", "Labs", "DATA"),
            ("{lab:1-3}", "{lab.table}\n{ecg}", "{lab:1-2} {ecg}", "{lab.table}"),
            0.75,
        ),
        Section(("Imaging", "Studies", "RADIOLOGY"), ("{result}",), 0.45),
        Section(
            ("Assessment and Plan", "A/P", "Impression/Plan", "Assessment & Plan"),
            ("{admission.plan}", "{admission.plan}\n{trap}"),
        ),
        Section(("",), ("{trap:1-2}", "{late}", "{late}\n{trap}"), 0.4),
    ),
    feet=(
        "{signature}",
        "{signature}\n{stamp}",
        "{signature}\n\n{stamp}",
        "{res.full} {res.pager}",
        "{stamp}",
        "{signature}\n{late}",
    ),
    rules=_RULES,
)
