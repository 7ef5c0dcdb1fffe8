"""Cases of infection, kidneys, glands and blood."""

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_URINE = Case(
    "urinary infection",
    "ultrasound",
    {
        "complaint": ("dysuria and fever", "{side} flank pain", "fever and confusion", "urinary frequency and chills"),
        "dx": ("urosepsis", "pyelonephritis", "E. coli UTI", "obstructing stone with UTI"),
        "also": ("acute kidney injury", "nephrolithiasis", "Fournier gangrene excluded"),
        "story": (
            "{He} was treated with Macrobid by Dr. {pcp.last} on {date.recent}.",
            "{He} passed a stone in {date.year} in {city2}.",
            "The Foley was last changed on {date.recent} by the VNA.",
            "{His} {rel.word} found {him} confused and hot.",
            "Shaking chills at {time}, T {#101.2-104.1}.",
            "Pain is sharp, {#4-9}/10, from the flank to the groin.",
        ),
        "findings": (
            "{Side} CVA tenderness.",
            "Suprapubic tenderness.",
            "BP {#78-98}/{#40-58} after 2 L.",
            "Foley with cloudy urine.",
        ),
        "study": ("renal ultrasound", "US kidneys and bladder", "retroperitoneal ultrasound"),
        "imaging": (
            "{#3-9} mm stone at the {side} UVJ with hydronephrosis.",
            "The kidneys measure {#9.1-12.4} and {#9.0-12.2} cm.",
            "No abscess. Gerota fascia is not thickened.",
            "Bladder wall is trabeculated.",
            "Simple cyst, {#1.1-4.0} cm.",
            "Bladder jets are symmetric.",
        ),
        "impression": ("{Side} stone with hydronephrosis.", "Mild hydronephrosis.", "No hydronephrosis."),
        "course": (
            "Urine grew E. coli over 100000 CFU sensitive to Cipro.",
            "A stent was placed by Dr. {sur.last} on {date.stay}.",
            "Lactate fell from {#2.8-6.4} to {#0.9-1.8}.",
            "Cr went from {#1.8-4.2} to {#0.9-1.6} with fluids.",
            "Gram negative rods in {#1-2}/4 bottles on {date.adm}.",
        ),
        "plan": (
            "Zosyn, narrow by cx",
            "IVF bolus 30 cc/kg",
            "Renal US",
            "Urology (Dr. {sur.last})",
            "Change Foley",
            "Hold metformin",
        ),
        "drugs": (
            "Cipro 500 mg PO BID x {#7-14} d",
            "Bactrim DS 1 tab PO BID",
            "Flomax 0.4 mg PO qHS",
            "Pyridium 100 mg TID",
            "Macrobid 100 mg BID",
        ),
        "nursing": (
            "Foley changed, 16 Fr, {#200-600} cc cloudy",
            "T {#100.1-103.0} at {time}, cx x2 sent",
            "urine strained, no stone",
        ),
        "advice": (
            "Drink {#2-3} liters a day.",
            "Strain your urine.",
            "The stent must come out: see Dr. {sur.last} on {date.next}.",
        ),
        "clinic": ("Urology", "Nephrology", "Stone Clinic"),
    },
    ages=(20, 110),
)

_SKIN = Case(
    "cellulitis",
    "bone film",
    {
        "complaint": ("{side} leg redness", "a {side} foot ulcer", "{side} leg swelling and redness"),
        "dx": (
            "cellulitis of the {side} leg",
            "diabetic foot ulcer, Wagner grade {#2-3}",
            "osteomyelitis of the {side} foot",
            "MRSA abscess of the leg",
        ),
        "also": ("venous stasis", "Charcot foot", "Ludwig angina in the past"),
        "story": (
            "Redness began after <a bug bite|a blister|gardening> on {date.recent}.",
            "Keflex from {cl} did not help.",
            "{He} steps barefoot on farms; worked as {a} {profession} in {country}.",
            "Dr. {con.last} removed a toe in {date.year}.",
            "{He} had MRSA at {oh} in {date.month}.",
            "No crepitus. Not a brown recluse bite as far as {he} knows.",
        ),
        "findings": (
            "Erythema {#8-24} x {#5-14} cm, marked with pen.",
            "Ulcer {#1.0-4.0} x {#0.8-3.0} cm, probes to bone.",
            "DP pulse by Doppler only, ABI 0.{#48-89}.",
            "No Charcot deformity.",
        ),
        "study": ("{side} foot, 3 views", "{side} tibia and fibula", "foot films, {side}"),
        "imaging": (
            "Erosion of the <1st|2nd|4th|5th> metatarsal head.",
            "No gas in the soft tissue.",
            "Vascular calcification.",
            "Charcot change of the midfoot.",
            "No foreign body.",
            "Compared with {date.prior}, the erosion is <new|larger>.",
        ),
        "impression": (
            "Possible osteomyelitis of the {#4-5}th toe.",
            "No radiographic osteomyelitis.",
            "Soft tissue swelling.",
        ),
        "course": (
            "Vancomycin trough was {#8.2-21.4}; changed to doxycycline on {date.stay}.",
            "Debridement by Dr. {sur.last} on {date.stay}, culture {specimen}: MRSA.",
            "A PICC was placed for {#4-6} weeks of therapy at {oh}.",
            "The redness receded within the pen line by {date.stay}.",
        ),
        "plan": (
            "Vanc 1 g IV q12h, trough before 4th dose",
            "Podiatry consult",
            "Foot films, ESR/CRP",
            "Wound care, leg up",
            "FSBS QID, sliding scale",
        ),
        "drugs": (
            "Doxycycline 100 mg PO BID",
            "Vancomycin 1 g IV q12h",
            "Keflex 500 mg PO QID",
            "Lantus 20 units qHS",
            "Santyl to wound daily",
        ),
        "nursing": (
            "ulcer {#1.2-3.8} cm, wet to dry",
            "redness inside the marked line",
            "Vanc hung at {time}, trough {#8-20}",
        ),
        "advice": ("Look at your feet every day.", "Keep the leg up.", "PICC care by VNA {cl.phone}."),
        "clinic": ("Wound Clinic", "Podiatry", "Infectious Disease"),
    },
    ages=(25, 110),
)

_SUGAR = Case(
    "diabetes",
    "chest film",
    {
        "complaint": ("high blood sugar", "vomiting and polyuria", "nausea and a sugar of {#400-600}"),
        "dx": ("diabetic ketoacidosis", "hyperosmolar state", "uncontrolled diabetes mellitus"),
        "also": ("gastroparesis", "Somogyi effect", "Kimmelstiel-Wilson disease"),
        "story": (
            "{He} ran out of <Lantus|insulin> on {date.recent}; the pharmacy in {city} was closed for {holiday}.",
            "Last A1c {#8.2-13.9}% on {date.prior}.",
            "{His} pump (serial {device}) alarmed at {time}.",
            "{He} follows with Dr. {con.last} at {oh}.",
            "Polyuria, thirst, {#8-20} lb weight loss.",
            "No Cushing features. Addison disease was excluded in {date.year}.",
        ),
        "findings": (
            "Kussmaul breathing, fruity odor.",
            "Dry mucosa, HR {#104-132}.",
            "Abdomen soft, diffusely tender.",
            "Monofilament absent to the ankles.",
        ),
        "study": ("chest, portable", "CXR", "chest, PA and lateral"),
        "imaging": (
            "No infiltrate.",
            "Normal heart size.",
            "No free air under the diaphragm.",
            "Vascular calcifications.",
            "Unchanged since {date.prior}.",
        ),
        "impression": ("Normal chest.", "No acute process.", "No pneumonia."),
        "course": (
            "The gap closed within {#8-30} hours on insulin {#3-10} units/hr.",
            "Bicarb {#6-14} to {#21-26}.",
            "{He} was taught the new pump by {rn.full}.",
            "Endocrine (Dr. {con.last}) set Lantus to {#18-46} units.",
        ),
        "plan": (
            "Insulin gtt, FSBS q1h",
            "NS 1 L/hr then D5 1/2 NS",
            "K with each liter",
            "BMP q4h until gap {lt} 12",
            "Diabetes teaching, {rn.full}",
        ),
        "drugs": (
            "Lantus 28 units SC qHS",
            "Humalog sliding scale",
            "Metformin 1000 mg PO BID",
            "Reglan 10 mg QID",
            "Glucagon kit",
        ),
        "nursing": (
            "FSBS {#188-412}, {#4-12} units given at {time}",
            "insulin gtt at {#3-9} u/hr, K {#3.1-5.4}",
            "pump site changed",
        ),
        "advice": ("Check your sugar {#3-4} times a day.", "Never stop the Lantus.", "Sick day rules are at {cl.url}."),
        "clinic": ("Endocrinology", "Diabetes Center", "Nutrition"),
    },
    ages=(18, 90),
)

_THYROID = Case(
    "thyroid",
    "ultrasound",
    {
        "complaint": ("palpitations and weight loss", "neck swelling", "heat intolerance and tremor"),
        "dx": ("Graves disease", "hyperthyroidism, Graves", "thyrotoxicosis"),
        "also": ("Graves' ophthalmopathy", "Hashimoto thyroiditis in the family", "Plummer disease excluded"),
        "story": (
            "{He} lost {#9-30} lbs since {season}.",
            "{His} {rel.word} {rel.first} has Graves disease, too.",
            "TSH was {lt} 0.01 at {cl} on {date.prior}.",
            "PTU was started by Dr. {con.last}.",
            "No Hashimoto or Addison disease known.",
            "Trouble reading because of double vision.",
        ),
        "findings": (
            "Thyroid {#30-80} g, bruit.",
            "Lid lag (von Graefe sign), proptosis {#20-26} mm Hertel.",
            "Fine tremor.",
            "Pemberton sign negative.",
        ),
        "study": ("thyroid ultrasound", "US neck", "ultrasound of the thyroid with Doppler"),
        "imaging": (
            "Diffuse increased vascularity.",
            "{#0.8-3.2} cm nodule, TI-RADS {#3-4}.",
            "Hurthle cell change on prior FNA {specimen}.",
            "The isthmus measures {#4-9} mm.",
            "No enlarged nodes.",
            "Both lobes are enlarged, {#5.1-7.2} cm.",
        ),
        "impression": ("Findings of Graves disease.", "Nodule; FNA advised.", "Enlarged vascular gland."),
        "course": (
            "Propranolol {#20-60} mg q6h slowed the heart to {#72-92}.",
            "Methimazole {#10-40} mg was begun on {date.stay}.",
            "{He} was given {#10-25} mCi I-131 on {date.stay} by Dr. {con.last}.",
            "Thyroidectomy with Dr. {sur.last} was discussed.",
        ),
        "plan": (
            "Methimazole 20 mg",
            "Propranolol 40 mg QID",
            "TSI, free T4",
            "Eye clinic, Dr. {con2.last}",
            "No iodine contrast",
        ),
        "drugs": ("Tapazole 20 mg PO daily", "Inderal 40 mg PO QID", "Synthroid 112 mcg PO daily", "PTU 100 mg TID"),
        "nursing": ("HR {#96-128}, Inderal given", "eyes dry, drops q4h", "anxious, room kept cool"),
        "advice": ("Sore throat or fever: stop Tapazole and call.", "Labs in {#4-6} weeks.", "Use the eye drops."),
        "clinic": ("Endocrinology", "Thyroid Clinic", "Eye Clinic"),
    },
    ages=(20, 80),
)

_LYMPHOMA = Case(
    "lymphoma",
    "body CT",
    {
        "complaint": ("a neck mass", "fever and neutropenia", "night sweats", "fever after chemotherapy"),
        "dx": (
            "Hodgkin's lymphoma, stage {#2-3}B",
            "Hodgkin lymphoma, nodular sclerosis",
            "Hodgkin disease with febrile neutropenia",
        ),
        "also": ("febrile neutropenia", "Burkitt lymphoma excluded", "Ann Arbor stage III"),
        "story": (
            "Biopsy {specimen} at {oh} on {date.prior} showed Reed-Sternberg cells.",
            "Cycle {#2-6} of <ABVD|R-CHOP> was given {date.recent} by Dr. {con.last}.",
            "T {#100.6-103.4} at home, ANC {#0-480}.",
            "A Hickman was placed by Dr. {sur.last} in {date.month}.",
            "{He} is off work from {employer}.",
            "No Bell's palsy or other cranial nerve deficit.",
        ),
        "findings": (
            "{#1.0-4.5} cm node in the {side} neck.",
            "Hickman site clean.",
            "No thrush.",
            "Spleen tip {#1-4} cm below the margin.",
        ),
        "study": ("CT chest, abdomen, pelvis", "PET/CT skull base to thigh", "CT neck and chest"),
        "imaging": (
            "Nodes in the neck, up to {#1.2-4.8} cm.",
            "Deauville score {#2-5} on the last PET.",
            "No lung nodule.",
            "Port-A-Cath tip in the SVC.",
            "Waldeyer ring is normal.",
            "Compared with {date.prior}, the mass is smaller.",
        ),
        "impression": (
            "Good response, residual nodes.",
            "Hodgkin lymphoma, improved.",
            "No infection seen. Stable nodes.",
        ),
        "course": (
            "Cefepime was given until ANC was over 500 on {date.stay}.",
            "Port cultures from {date.adm} were negative.",
            "ABVD cycle {#2-6} was given on {date.stay}.",
            "Neupogen was given for {#3-8} days.",
            "Ommaya reservoir was not needed.",
        ),
        "plan": (
            "Cefepime 2 g IV q8h",
            "Cx from Hickman and periphery",
            "Neupogen 480 mcg daily",
            "Neutropenic precautions",
            "Onc: Dr. {con.last} will follow",
        ),
        "drugs": (
            "Zofran 8 mg PO prn",
            "Allopurinol 300 mg daily",
            "Bactrim SS daily",
            "Acyclovir 400 mg BID",
            "Compazine 10 mg prn",
        ),
        "nursing": (
            "ANC {#80-900}, masks at door",
            "Hickman dsg changed, no redness",
            "chemo via port, no extravasation",
        ),
        "advice": ("Call for any fever over 100.4.", "Avoid crowds and raw food.", "Next chemotherapy on {date.next}."),
        "clinic": ("Hematology/Oncology", "Cancer Center", "Infusion Suite"),
    },
    ages=(18, 85),
)

CASES = (_URINE, _SKIN, _SUGAR, _THYROID, _LYMPHOMA)
