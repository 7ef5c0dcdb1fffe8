"""Cases of bones, joints and accidents."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_HIP = Case(
    "hip fracture",
    "bone film",
    {
        "complaint": ("{side} hip pain after a fall", "{side} hip pain", "a fall", "a fall, unable to walk"),
        "dx": ("{side} femoral neck fracture", "{side} intertrochanteric fracture", "displaced {side} hip fracture"),
        "also": ("osteoporosis", "old Colles fracture", "fall at home"),
        "story": (
            "{He} slipped on <ice|the rug|wet leaves> at home on {street} <this morning|on {weekday}>.",
            "{He} was on the floor for {#1-9} hours until {his} {rel.word} {rel.first} came by.",
            "{He} lives alone at {nh} and walks with a cane.",
            "DEXA in {date.year} showed a T score of -{#2.5-3.9}.",
            "No head strike or LOC.",
            "Colles fracture of the wrist in {date.year}, casted by Dr. {con.last}.",
        ),
        "findings": (
            "Leg shortened and externally rotated.",
            "Pain with log roll, NV intact.",
            "Allis sign positive.",
            "No tenderness of the spine.",
            "Trendelenburg not tested.",
        ),
        "study": ("pelvis and {side} hip", "{side} hip, 2 views, and pelvis", "femur AP/lateral, {side}"),
        "imaging": (
            "Displaced femoral neck fracture, Garden type {#3-4}.",
            "Bones are demineralized. Singh index {#2-4}.",
            "No pubic ramus fracture.",
            "Shenton line is disrupted.",
            "Degenerative changes, stable since {date.year}.",
            "Healed Colles fracture is not included on these views.",
        ),
        "impression": (
            "{Side} femoral neck fracture.",
            "Displaced {side} hip fracture, no dislocation.",
            "Garden {#3-4} fracture of the {side} femoral neck.",
        ),
        "course": (
            "Hemiarthroplasty was done on {date.stay} by Dr. {sur.last}; implant serial {device.new}, head {#44-54} mm.",
            "EBL {#150-450} cc, one unit was given.",
            "{He} was confused at night (Haldol 0.5) and cleared by {date.stay}.",
            "Weight bearing as tolerated with a walker.",
            "{He} will go to {oh} for rehab on {date.dc}.",
        ),
        "plan": (
            "OR with Dr. {sur.last} on {weekday}",
            "Medicine to clear, EKG",
            "Buck traction 5 lb",
            "Lovenox 40 mg SC daily",
            "Vit D level, Fosamax as outpatient",
            "Type and screen",
        ),
        "drugs": (
            "Oxycodone 2.5 mg PO q4h prn",
            "Lovenox 40 mg SC daily x 28 d",
            "Fosamax 70 mg PO weekly",
            "Calcium 500 mg TID",
            "Tylenol 1 g TID",
        ),
        "nursing": (
            "hip dsg C/D/I, abduction pillow",
            "OOB w/ PT, {#5-40} ft w/ walker",
            "confused at HS, reoriented, {rel.word} {rel.first} at bedside",
        ),
        "advice": (
            "Do not bend the hip past 90 degrees.",
            "Staples come out on {date.next}.",
            "Lovenox until {date.next}.",
        ),
        "clinic": ("Orthopedics", "Fracture Clinic", "Bone Health Clinic"),
    },
    ages=(60, 110),
)

_KNEE = Case(
    "knee replacement",
    "bone film",
    {
        "complaint": (
            "{side} knee pain",
            "{side} knee osteoarthritis",
            "elective {side} TKR",
            "severe {side} knee pain",
        ),
        "dx": ("osteoarthritis of the {side} knee", "end stage {side} knee arthritis", "failed {side} knee prosthesis"),
        "also": ("Baker's cyst", "chondrocalcinosis", "obesity"),
        "story": (
            "Cortisone shots by Dr. {con.last} (last {date.prior}) stopped working.",
            "{He} cannot climb the stairs of {his} house in {city}.",
            "{He} worked as {a} {profession} for {#18-42} years, mostly on {his} knees.",
            "Pain is {#5-9}/10 with walking {#1-3} blocks.",
            "The other side was replaced in {date.year} at {oh}.",
            "Baker cyst drained {date.prior}.",
        ),
        "findings": (
            "ROM {#2-10}-{#95-118}, crepitus, varus.",
            "Lachman and McMurray negative.",
            "Patella ballotable.",
            "Baker cyst palpable.",
        ),
        "study": ("{side} knee, 3 views", "{side} knee AP and lateral, post-op", "{side} knee, weight bearing"),
        "imaging": (
            "Joint space is lost medially, Kellgren-Lawrence grade {#3-4}.",
            "Small effusion.",
            "Osgood-Schlatter change, old.",
            "Bone quality is fair.",
            "Alignment is in {#2-8} degrees of varus.",
            "Compared to {date.prior}, the space is narrower.",
        ),
        "impression": ("Severe osteoarthritis.", "Tricompartmental arthritis.", "Advanced medial arthritis."),
        "course": (
            "TKR was done on {date.adm} by Dr. {sur.last} under spinal, tourniquet {#58-96} min.",
            "Implant lot {device.new} (sticker in chart).",
            "CPM 0-{#60-95} by {date.stay}.",
            "Foley out POD 1, Hemovac out POD 2.",
            "Coumadin for 4 weeks, INR per {cl}.",
        ),
        "plan": (
            "WBAT, CPM",
            "Ancef 1 g x 3 doses",
            "PCA to PO on POD 1",
            "Coumadin per pharmacy",
            "Home with VNA on {date.dc}",
        ),
        "drugs": (
            "OxyContin 10 mg PO BID",
            "Celebrex 200 mg PO daily",
            "Coumadin 4 mg PO qPM",
            "Senna 2 tabs qHS",
            "Percocet prn",
        ),
        "nursing": ("CPM 0-{#50-90}, ice on", "Hemovac {#80-320} cc", "knee dsg changed by Dr. {res.last}"),
        "advice": (
            "Keep the knee straight when you rest.",
            "No bath until the staples are out on {date.next}.",
            "Antibiotics before dental work.",
        ),
        "clinic": ("Orthopedics", "Joint Center", "Physical Therapy"),
    },
    ages=(48, 92),
)

_CRASH = Case(
    "car crash",
    "body CT",
    {
        "complaint": ("MVC", "neck and chest pain after car accident", "chest pain after MVC", "a car accident"),
        "dx": ("{side} rib fractures", "splenic laceration and rib fractures", "multiple trauma after MVC"),
        "also": ("concussion", "Schatzker II plateau fracture", "burns of the hand, 2%"),
        "story": (
            "{He} was the restrained driver (plate {plate}) hit at {#25-60} mph on {street}.",
            "Air bags deployed. GCS {#13-15} at the scene.",
            "Med flight from {oh}, {city2}, {state}.",
            "License {license} was found by EMS, name confirmed with {his} {rel.word} by phone {rel.phone}.",
            "{His} boss at {employer} was told on {date.recent}.",
            "EtOH {#0-240}. Tetanus given {date.year}.",
        ),
        "findings": (
            "C-collar in place, tender C{#4-7}.",
            "Ecchymosis over the {side} chest, seat belt sign.",
            "FAST in Morison pouch <negative|equivocal>.",
            "Battle sign absent. No raccoon eyes.",
            "Pelvis stable.",
        ),
        "study": ("CT cervical spine, chest, abdomen", "trauma CT", "CT C-spine/chest/abd/pelvis"),
        "imaging": (
            "Fractures of ribs {#3-5} to {#6-9} on the {side}.",
            "No C-spine fracture, no Jefferson or hangman fracture.",
            "Grade {#1-3} splenic laceration.",
            "No free air.",
            "Le Fort fracture is excluded.",
            "Hill-Sachs defect, old.",
        ),
        "impression": (
            "{Side} rib fractures without pneumothorax.",
            "No acute C-spine injury. Rib fractures.",
            "Grade {#1-3} splenic laceration.",
        ),
        "course": (
            "ORIF was done by Dr. {sur.last} on {date.stay}.",
            "Hct was stable at {#29-38} over {#24-72} hours.",
            "C-spine was cleared by Dr. {res.last} on {date.stay}.",
            "A police report ({specimen}) was filed in {city2}.",
            "Swan-Ganz was not needed.",
        ),
        "plan": (
            "Serial Hct q6h",
            "Ortho: Dr. {sur.last} to take to OR",
            "Pain: PCA, may need epidural",
            "Incentive spirometer",
            "C-collar until clear",
        ),
        "drugs": (
            "Percocet 5/325 prn",
            "Lovenox 30 mg SC BID",
            "Flexeril 10 mg TID prn",
            "Colace 100 mg BID",
            "Silvadene to burns BID",
        ),
        "nursing": ("log roll, collar on", "PCA {#8-40} mg MS in 8h", "police officer in to see pt re plate {plate}"),
        "advice": (
            "Wear the brace when out of bed.",
            "No contact sports for {#6-12} weeks.",
            "Call if belly pain returns.",
        ),
        "clinic": ("Trauma Clinic", "Orthopedics", "Neurosurgery"),
    },
    ages=(18, 80),
)

CASES = (_HIP, _KNEE, _CRASH)
