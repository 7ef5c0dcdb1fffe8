"""Discharge summaries."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "discharge.title": (
        "DISCHARGE SUMMARY",
        "Discharge Summary",
        "DISCHARGE NOTE",
        "Hospital Discharge Summary",
        "D/C SUMMARY",
        "SHORT STAY SUMMARY",
    ),
    "dates.line": (
        "Admission Date: {date.adm}     Discharge Date: {date.dc}",
        "Admission Date:  [{date.adm}]   Discharge Date:  [{date.dc}]",
        "Admitted: {date.adm}\nDischarged: {date.dc}",
        "ADMIT {date.adm}\tDISCH {date.dc}",
        "DATE OF ADMISSION: {date.adm}\nDATE OF DISCHARGE: {date.dc}",
        "{date.adm} - {date.dc}",
    ),
    "summary.opening": (
        "{Mr} {pt.last} is {an} {aged} {noun} admitted on {date.adm} with {complaint}.",
        "{pt.full} was admitted to the service of Dr. {at.last} on {date.adm} for {complaint}.",
        "This {aged} {noun} from {city} was admitted with {complaint}.",
        "The patient, {an} {aged} {calling}, came in with {complaint}.",
        "{Aged} {noun} with {problem.1} and {problem.2}, admitted with {complaint}.",
        "Please see the admission note of {date.adm} by Dr. {res.last} for details. In brief, {aged} {noun} with {complaint}.",
    ),
    "course.text": (
        "{course:2-4} {trap}",
        "{summary.opening} {course:2-4}",
        "1. {Dx}: {course:1-2}\n2. {Problem.1}: {drug.1} was continued. {trap}\n3. {Problem.2}: stable. {lab}",
        "{course:3-5} {lab} {late}",
        "{course:2-3}\n\n{result} {trap}",
    ),
    "condition": (
        "Good.",
        "Stable",
        "Improved. May go up stairs.",
        "Stable. {Vitals}",
        "Good. Discharge weight {lb} lbs.",
    ),
    "disposition": (
        "Home with {rel.word} {rel.first}.",
        "Home, {address}.",
        "{nh}, {nh.city}. Tel {nh.phone}",
        "Rehab: {oh}, {oh.city}, {oh.state}.",
        "Home with VNA of {city}.",
        "Home; visits are covered by plan {plan.id}.",
        "Home. Ride by {rel.full} ({rel.phone}).",
        "{nh} (report called to {rn.full}, {nh.phone}).",
    ),
    "appointment": (
        "Dr. {pcp.last} on {date.next} at {office.time}",
        "{clinic}, Dr. {con.last}, {date.next} {office.time}, {hosp.phone}",
        "Dr. {sur.last} in {#1-6} weeks",
        "{pcp.full} at {cl}, {cl.street}, {cl.city}, {cl.phone}",
        "{clinic} ({con.full}) {date.next}",
        "Lab draw at {cl} on {date.next}; fax to {hosp.fax}",
        "VNA of {city} to see {him} {date.next}",
        "Call {con.phone} to book {clinic}",
        "Suite {#100-990}, {hosp.street}: {clinic}, {date.next}",
    ),
    "instruction": (
        "{advice:2-3} Call {hosp.phone} with questions.",
        "{advice:2-3}",
        "{advice:1-3:list}\nResults are at {hosp.url}, login {pt.user}.",
        "Activity as tolerated. {advice:1-2} Call Dr. {at.last} at {at.phone}.",
        "Dear {mr} {pt.last}, you were here for {complaint}. {advice:2-3}",
        "{advice:2-3} {trap.out}",
    ),
}

KIND = Kind(
    heads=(
        "{banner}\n{discharge.title}\n\n{field.name}\n{field.number}\n{field.birth}\n{dates.line}\n{field:1-4:line}",
        "{dates.line}\n\n{field.name}\n{field.birth}\n\n{field:1-3:line}",
        "{discharge.title}\n{field.name}   {field.number}\n{dates.line}",
        "{field.name}\n{field.number}\n{hosp.name}\n{dates.line}\n{field:2-4:line}",
        "{accession} {bar} {hosp.short} {bar} {mrn} {bar} {date.adm} {bar} {discharge.title}\n{field.name}\n{dates.line}",
        "{discharge.title}\n\nPATIENT:\t{pt.header}\nMR#:\t{mrn}\nADM:\t{date.adm}\nDIS:\t{date.dc}\nMD:\t{at.header}\n{field:1-3:line}",
    ),
    sections=(
        Section(
            ("Discharge Diagnosis", "Diagnoses", "Principal Diagnosis", "DIAGNOSIS"),
            ("{Dx}\n{Also}", "{Dx}. {Problem.1}. {Problem.2}.", "1. {Dx}\n2. {Also}\n3. {Problem.1}"),
            0.9,
        ),
        Section(
            ("Procedures", "Operations", "Major procedures"),
            ("{result}", "None.", "{course}", "See operative note of {date.stay} by Dr. {sur.last}."),
            0.35,
        ),
        Section(
            ("History of Present Illness", "HPI", "Brief History", "History"),
            ("{summary.opening} {story:2-3}", "{summary.opening} {story:1-3} {trap}", "{summary.opening}"),
            0.9,
        ),
        Section(("Past Medical History", "PMH"), ("{past.text}", "{past:2-4:list}"), 0.6),
        Section(("Social History", "Social"), ("{social:1-2}", "{work} {social}"), 0.5),
        Section(
            ("Physical Exam", "Exam at discharge", "PE"),
            ("{vitals} {findings:1-2}", "{exam:2-4:line}", "{vitals}\n{exam:1-3} {findings}"),
            0.5,
        ),
        Section(("Pertinent Results", "Laboratory", "Labs"), ("{lab:1-3}", "{lab.table}", "{lab:1-2} {result}"), 0.55),
        Section(
            ("Hospital Course", "Brief Hospital Course", "Course in hospital", "HOSPITAL COURSE BY PROBLEM"),
            ("{course.text}",),
        ),
        Section(
            ("Discharge Medications", "Medications at discharge", "Meds"),
            ("{drugs:2-4:list}\n{Drug.1}", "{drugs:2-3:comma}, {drug.1}, {drug.2}.", "{drugs:2-4:list}"),
            0.85,
        ),
        Section(("Condition at discharge", "Discharge Condition", "Condition"), ("{condition}",), 0.5),
        Section(("Disposition", "Discharge Disposition", "DISPO"), ("{disposition}",), 0.7),
        Section(
            ("Follow-up", "Followup Instructions", "F/U", "Appointments"),
            ("{appointment:1-3:list}", "{Appointment}.", "{appointment:2-3:line}"),
            0.85,
        ),
        Section(("Discharge Instructions", "Instructions", "PATIENT INSTRUCTIONS"), ("{instruction}",), 0.5),
        Section(("",), ("{late}", "{trap:1-2}", "{late}\n{trap.line}"), 0.3),
    ),
    feet=(
        "{signature}\n{stamp}",
        "{signature}",
        "{signature}\n\n{stamp:1-2:line}",
        "{stamp:2-3:line}",
        "{signature}\n{stamp}\n{stamp}",
    ),
    rules=_RULES,
)
