"""Letters between clinicians and to patients."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "to": (
        "{pcp.full}, {pcp.cred}\n{cl.name}\n{cl.street}\n{cl.city}, {cl.state} {cl.zip}",
        "Dr. {pcp.full}\n{cl.name}\n{cl.city}, {cl.state}",
        "{con.full}, {con.cred}\n{oh.name}\n{oh.street}\n{oh.city}, {oh.state} {oh.zip}",
        "{pcp.full}, {pcp.cred}\nFax {cl.fax}",
    ),
    "about": (
        "RE: {pt.full}\nDOB: {dob}\nMRN: {mrn}",
        "Re: {pt.full}, DOB {dob}",
        "Regarding: {pt.header} ({mrn})",
        "RE:  {PT.FULL}\n     {street}\n     {city}, {state} {zip}",
        "Patient: {pt.full}, {age} {sex}, {phone}",
        "RE: {pt.header}\nPolicy {plan.id}  SSN {ssn}",
    ),
    "dear": (
        "Dear Dr. {pcp.last}:",
        "Dear Dr. {pcp.last},",
        "Dear {pcp.first},",
        "Dear Doctor {pcp.last}:",
        "Dear {pcp.first} and colleagues,",
        "Dear Dr.,",
    ),
    "thanks": (
        "Thank you for sending {mr} {pt.last} to the {clinic}.",
        "I had the pleasure of seeing {pt.full} on {date.dc}.",
        "I saw your patient {pt.full}, {an} {aged} {noun}, in our {clinic} at {hosp}.",
        "It was good to see {mr} {pt.last} again on {date.dc} with {his} {rel.word} {rel.first}.",
        "As you know, {pt.first} is {an} {aged} {calling} with {problem.1} and {problem.2}.",
        "Your patient was under my care at {hosp} from {date.adm} to {date.dc} for {dx}.",
        "Just a note on {pt.full}, whom you sent us on {date.adm}.",
    ),
    "closing": (
        "Thank you for letting me share in {his} care. Please call me at {at.phone}.",
        "I hope this is of help. With best wishes,",
        "I will see {him} again on {date.next}. If you have questions, write to {at.email}.",
        "May I ask you to repeat the labs in {#2-6} weeks?",
        "I remain grateful for the referral; {Mr} {pt.last} is a delight.",
        "{return.to.work}",
        "We will keep you informed. My direct line is {at.phone}, fax {hosp.fax}.",
        "The bill goes to {plan.id}; the account is {account}.",
    ),
    "bye": ("Sincerely,", "Yours truly,", "Best regards,", "With kind regards,", "Sincerely yours,", "Cordially,"),
    "letter.plan": (
        "My recommendations are as follows:\n{advice:2-3:list}\nMedications:\n{drugs:1-2:list}",
        "I have started {drugs:1-2:and}. {advice}",
        "In summary, this is {dx}. We agreed on the following. {advice:1-2}",
        "For now I would continue {drug.1} and {drug.2} and add {drugs}.",
        "{Mr} {pt.last} will have {study} on {date.next} at {oh}.",
    ),
    "letter.exam": (
        "On examination: {vitals} {findings:1-3}",
        "Today {he} looked well. {findings:1-2} {exam:1-2}",
        "{vitals} {exam:2-3} {findings}",
        "Laboratory: {lab:1-2}",
        "{result} {lab}",
    ),
    "return.to.work": (
        "{He} may return to work at {employer} on {date.next}.",
        "{He} can be back at {employer} on {date.next}.",
    ),
    "work.letter": (
        "To whom it may concern: {pt.full} was treated at {hosp} from {date.adm} to {date.dc} and may return to {employer} on {date.next}.",
        "To Whom It May Concern:\n{pt.full} (DOB {dob}) is under my care. {work} {He} must not lift over {#5-25} lbs until {date.next}.",
    ),
}

KIND = Kind(
    heads=(
        "{letterhead}\n\n{date}\n\n{to}\n\n{about}\n\n{dear}",
        "{letterhead}\n{date}\n\n{about}\n\n{dear}",
        "{date}\n\n{to}\n\n{about}\n\n{dear}",
        "{letterhead}\n\n{about}\nSeen: {date.dc}\n\n{dear}",
        "{hosp.name}\n{date}\n\n{about}\n\n{work.letter}",
    ),
    sections=(
        Section(("",), ("{thanks} {story:2-3}", "{thanks} {summary.short} {story:1-2}", "{thanks}\n{story:2-4}")),
        Section(
            ("Past history", "PMH"),
            ("{He} also has {problem.1}, {problem.2} and {problem.3}. {surgery.sentence}", "{past.text}"),
            0.6,
        ),
        Section(("Social history",), ("{social:1-3}", "{work} {social:1-2}"), 0.7),
        Section(
            ("Medications",),
            (
                "{home.drugs:2-4:comma}.",
                "{home.drugs:2-4:list}",
                "{He} takes {drug.1} and {drug.2}. Allergies: {allergy}.",
            ),
            0.5,
        ),
        Section(("Examination",), ("{letter.exam}", "{letter.exam} {trap.out}")),
        Section(("Course",), ("{course:2-4}", "{course:1-3} {trap.out}"), 0.6),
        Section(("Impression", "Plan", "Assessment"), ("{letter.plan}", "{letter.plan} {trap.out}")),
        Section(("",), ("{closing}", "{closing:1-2}", "{closing}\n{late}")),
    ),
    feet=(
        "{bye}\n\n{at.full}, {at.cred}\n{clinic}\n{hosp.name}",
        "{bye}\n\n\n{at.full}, {at.cred}\n{stamp}",
        "{bye}\n{at.first}\n\n{at.full}, {at.cred}\n{at.email}",
        "{bye}\n\n{res.full}, {res.cred}\n{at.full}, {at.cred}\n\n{stamp:1-2:line}",
        "{bye}\n\n{at.full} {at.cred}\n{at.initials}/{res.user}\ncc: {pt.full}, {address}",
    ),
    rules={
        **_RULES,
        "summary.short": (
            "{He} presented with {complaint}.",
            "{He} is {an} {aged} {noun} with {dx}.",
            "{His} main problem is {complaint}, since {date.recent}.",
        ),
    },
    headed=0.25,
)
