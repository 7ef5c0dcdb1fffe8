"""Radiology reports."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .layout import Kind, Section

__all__ = ["KIND"]

_RULES: dict[str, tuple[str, ...]] = {
    "radiology.title": (
        "RADIOLOGY REPORT",
        "Department of Radiology",
        "DIAGNOSTIC IMAGING",
        "Final Report",
        "IMAGING REPORT",
        "X-RAY REPORT",
        "Radiology",
    ),
    "indication": (
        "{age} year old {noun} with {complaint}.",
        "{aged} {noun}, {complaint}, r/o {dx}",
        "{Complaint}. History of {problem.1}.",
        "{mr} {pt.last} has {dx}.",
        "{age}{sex} {complaint}",
        "{Dx}, question of progression since {date.prior}.",
        "{Complaint}; please call {res.last} at {res.pager} with results.",
        "{Aged} {calling} with {complaint}",
    ),
    "comparison": (
        "{date.prior}.",
        "None.",
        "{Study} of {date.prior}.",
        "{oh}, {date.prior} (outside films).",
        "Multiple, most recent {date.recent}.",
        "{Study} {date.month}, accession {job}.",
    ),
    "radiology.note": (
        "The reading may change after review.",
        "Case shown to the head of the section.",
        "CPT 7{#1000-6999}.",
        "Page 2 of 2 follows.",
        "Best seen on the long axis view.",
        "Small field of view; normal variants apply.",
        "Bone window not sent. Call for more series.",
        "Will be compared when old films arrive.",
        "Hand-carried films were scanned.",
    ),
    "unchanged": (
        "Otherwise unchanged.",
        "Correlate clinically.",
        "Follow-up in {#4-12} weeks.",
        "No other change since {date.prior}.",
        "Comparison with films from {oh} would help.",
    ),
    "called": (
        "Findings were discussed with Dr. {res.last} by phone at {time} on {date}.",
        "Wet read by {any.initials} {weekday} {time}.",
        "Results paged to {res.full} ({res.pager}) at {time}.",
        "Report faxed to {cl}, {cl.fax}.",
        "Preliminary report by {res.full}; agree. {rad.last}",
        "Results sent to {pcp.email}.",
        "Images: {hosp.url} (station {ip}).",
        "Referring: {pcp.full}, {cl}, {cl.city}",
    ),
}

KIND = Kind(
    heads=(
        "{banner}\n{radiology.title}\n\n{field.name}\n{field.number}\n{field.birth}\nExam date: {date}\nAccession: {accession}\n{field:1-3:line}",
        "{date} {time}\n{STUDY}   Clip # {accession}\nReason: {complaint}\n{field.name}\n{field:1-2:line}",
        "{field.name}\t{field.number}\nACC# {accession}\tDATE {date}\nORDERING {res.header}\tATT {at.last}",
        "{radiology.title} - {hosp.name}\n{field.name}  {field.birth}\nRef: {pcp.full}, {pcp.cred}\nExam: {study}, {date}, #{accession}",
        "EXAM: {STUDY}\nDATE: {date}\nPATIENT: {pt.header}\nMRN: {mrn}\n{field:1-3:line}",
        "{letterhead}\n\n{field.name}\n{field.number}   {field.birth}\n{Study}, {date}",
    ),
    sections=(
        Section(("Examination", "Exam", "STUDY"), ("{Study}.", "{study} {date}", "{STUDY} ({accession})"), 0.5),
        Section(
            ("Indication", "Clinical history", "HISTORY", "Reason for exam", "Underlying medical condition"),
            ("{Indication}", "{indication}\nAllergy: {allergy}", "{Indication} {story}"),
        ),
        Section(("Comparison", "Compared to", "COMPARISON STUDY"), ("{Comparison}",), 0.7),
        Section(("Technique", "Procedure", "TECHNIQUE"), ("{technique:1-2}", "{technique}"), 0.65),
        Section(
            ("Findings", "FINDINGS", "Report", "Description"),
            (
                "{imaging:3-5} {extra:1-2}",
                "{imaging:2-4}\n\n{extra:1-3}",
                "{extra:1-2} {imaging:3-5}",
                "{imaging:4-6:list}",
            ),
        ),
        Section(
            ("Recommendation", "Comment", "NOTE"), ("{radiology.note}", "{called}", "{extra} {called}", "{late}"), 0.5
        ),
        Section(
            ("Impression", "IMPRESSION", "Conclusion", "Opinion"),
            ("{Impression}", "1. {Impression}\n2. {extra}", "{Impression}\n{called}", "{Impression} {unchanged}"),
        ),
        Section(("",), ("{called:1-2}", "{called}"), 0.6),
    ),
    feet=(
        "{rad.full}, {rad.cred}",
        "Read by: {rad.full}, {rad.cred}\nTranscribed {date} by {rn.user}",
        "Dictated by {res.full}, {res.cred}; approved by {rad.header} on {date} at {time}",
        "DR. {RAD.FULL}\n{stamp}",
        "Interpreting radiologist: {rad.full}   {date} {time}\n{stamp}",
        "{rad.initials}/{rad.user}\n{stamp}",
        "Electronically signed by {rad.header} ({rad.user}) {date}",
    ),
    rules=_RULES,
)
