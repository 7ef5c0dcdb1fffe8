"""Telephone and portal messages."""

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "message.title": (
        "TELEPHONE ENCOUNTER",
        "Patient message",
        "Portal message",
        "PHONE NOTE",
        "Telephone call",
        "E-visit",
        "Triage call",
    ),
    "asks": (
        "{Mr} {pt.last} called about {complaint}.",
        "{rel.full} ({rel.word}) called: {pt.first} has {complaint} again since {date.recent}.",
        "Pt calls from {phone} re refill of {drug.1}.",
        "Caller: {rel.first}, {rel.phone}. Reports {complaint}.",
        'Writes: "I have {complaint} since {date.recent}. May I take {drug.2}? {pt.first}"',
        "{pt.full} wants the result of {study} of {date.stay}.",
        "{asks.work}",
        "New address: {address}. New phone {phone}.",
        "New insurance, member {plan.id}, effective {date.next}.",
    ),
    "asks.work": ("Note needed for {employer}, fax {hosp.fax}, by {date.next}.",),
    "answer": (
        "Spoke with Dr. {at.last}: {advice}",
        "Advised: {advice:1-2} Will call back.",
        "Per Dr. {pcp.last}: {advice}",
        "Told {him} the {study} showed: {impression}",
        "Left message at {phone}.",
        "Refill of {drug.1} sent to pharmacy in {city} ({cl.phone}).",
        "Appointment with {con.full} {date.next} {office.time}, {clinic}.",
        "E-mailed {email} on {date.short}.",
        "{Rel.first} will bring {him} in on {weekday}.",
        "Reading of the meter was {#140-380}. {trap.out}",
        "Form for absence: {work} Last day there {date.recent}.",
        "Faxed to {cl.fax} and to {oh}, attn {con.full}.",
    ),
    "audit": (
        "Sent by {pt.user} from {ip} on {date} {time}",
        "Login {pt.user}, {email}, {date}",
        "Via {hosp.url}; user {pt.user}; message {job}",
        "Read by {rn.user} {date} {time}; forwarded to {at.user}",
        "From: {email}\nTo: {at.email}\nDate: {date} {time}",
        "Session {job} from {ip}",
        "Reset of password for {pt.user}: last 4 of SSN {ssn.end}, license {license} checked",
        "See {cl.url} or call {cl.phone}",
        "Remote check of monitor, serial {device}, uploaded from {ip}",
    ),
    "identity": (
        "{field.name}\n{field.birth}",
        "{pt.full} DOB {dob} MRN {mrn}",
        "Pt: {pt.full}, {dob}, {phone}\nVerified by last 4 SSN {ssn.end}",
        "{field.name}   {field.number}\n{email}",
        "{field.name}\nPhone {phone}  E-mail {email}",
    ),
}

KIND = Kind(
    heads=(
        "{message.title} {date} {time}\n{identity}\n{field:1-3:line}",
        "{banner}\n{message.title}\n\n{identity}\n{audit}",
        "{message.title}\n{audit}\n{identity}",
        "{date} {time}\n{message.title} taken by {rn.full}, {rn.cred}\n{identity}",
        "{identity}\n{message.title} - {cl.name}\nPCP {pcp.full}",
    ),
    sections=(
        Section(("Message", "Reason for call", "Subject", "Call"), ("{asks}", "{asks} {story:1-2}", "{asks} {story}")),
        Section(
            ("Background", "Chart review", "Hx"),
            (
                "{Aged} {noun} with {dx}, {problem.1}, {problem.2}. {story:1-2}",
                "Seen {date.dc} by Dr. {at.last}: {course:1-2}",
                "{past:2-3:comma}. {social:1-2}",
            ),
            0.8,
        ),
        Section(
            ("Assessment", "Protocol used", "Triage"),
            ("{trap:1-2} {systems}", "{systems:1-2} {lab}", "{complaint}, pain {#2-8}/10. {trap.out}"),
            0.7,
        ),
        Section(
            ("Response", "Disposition", "Plan", "Action"),
            ("{answer:2-3}", "{answer:1-2} {advice:1-2}", "{answer:2-4:line}"),
        ),
        Section(("Medications", "Refills"), ("{drugs:1-3:line}", "{home.drugs:2-3:line}"), 0.5),
        Section(("Log", "Audit trail", "Routing"), ("{audit:1-3:line}", "{audit:2-3:line}"), 0.85),
        Section(("",), ("{late}", "{late}\n{trap.out}"), 0.4),
    ),
    feet=(
        "{rn.full}, {rn.cred}",
        "{rn.initials} {time}\n{stamp}",
        "Closed by {rn.user} {date}",
        "{at.full}, {at.cred}\n{at.phone}",
        "{stamp:1-2:line}",
    ),
    rules=_RULES,
)
