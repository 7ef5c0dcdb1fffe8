"""Cases of the abdomen."""

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_GALLBLADDER = Case(
    "gallbladder",
    "ultrasound",
    {
        "complaint": (
            "RUQ pain",
            "abdominal pain and vomiting",
            "right upper quadrant pain after meals",
            "nausea and RUQ pain",
        ),
        "dx": ("acute cholecystitis", "choledocholithiasis", "biliary colic", "gallstone pancreatitis"),
        "also": ("cholelithiasis", "Gilbert syndrome", "Mirizzi syndrome not seen"),
        "story": (
            "The pain came on after <a fatty meal|{holiday} dinner|fried fish> and lasted {#2-9} hours.",
            "A scan at {oh} in {date.month} showed stones.",
            "{He} vomited {#2-6} times, nonbilious.",
            "No jaundice, dark urine or pale stools.",
            "{His} {rel.word} had {his} gallbladder removed by Dr. {con.last} too.",
            "Pain is {#5-9}/10, sharp, to the right shoulder blade (Kehr sign negative).",
        ),
        "findings": (
            "Murphy sign <positive|equivocal>, tender RUQ.",
            "No rebound. Rovsing and McBurney negative.",
            "Sclera anicteric.",
            "Old Kocher scar, well healed.",
        ),
        "study": ("right upper quadrant ultrasound", "US abdomen limited", "abdominal ultrasound"),
        "imaging": (
            "Multiple shadowing stones, the largest {#0.6-2.4} cm.",
            "Gallbladder wall {#3-8} mm. Sonographic Murphy sign <positive|negative>.",
            "CBD {#4-11} mm.",
            "The liver is echogenic, consistent with steatosis.",
            "Morison pouch without fluid.",
            "The right kidney measures {#9.4-11.8} cm.",
        ),
        "impression": (
            "Cholelithiasis with acute cholecystitis.",
            "Gallstones. No biliary dilatation.",
            "Gallstones; the duct is not fully seen.",
        ),
        "course": (
            "Laparoscopic cholecystectomy was done on {date.stay} by Dr. {sur.last}; EBL {#10-90} cc.",
            "A Jackson-Pratt drain was left and removed by Dr. {sur.last} on {date.stay}.",
            "ERCP with sphincterotomy was performed by Dr. {con.last}.",
            "Bilirubin fell from {#2.4-6.8} to {#0.6-1.6}.",
            "Pathology {specimen}: chronic cholecystitis.",
        ),
        "plan": (
            "NPO, IVF at {#100-150} cc/hr",
            "Unasyn 3 g IV q6h",
            "OR with Dr. {sur.last} in AM",
            "LFTs and lipase daily",
            "Dilaudid 0.5 mg IV q3h prn",
            "Will consent {him} and {his} {rel.word}",
        ),
        "drugs": (
            "Percocet 5/325 1-2 tabs q6h prn",
            "Colace 100 mg BID",
            "Zofran 4 mg PO q8h prn",
            "Cipro 500 mg PO BID x 5 d",
            "Ursodiol 300 mg PO TID",
        ),
        "nursing": ("JP drain {#15-90} cc serosang", "N/V x{#1-3}, Zofran given", "incisions x4 C/D/I, taking clears"),
        "advice": ("Low fat diet for four weeks.", "Keep the drain site dry.", "No driving while you take Percocet."),
        "clinic": ("General Surgery", "Gastroenterology", "Surgical Clinic"),
    },
)

_BLEED = Case(
    "gastrointestinal bleed",
    "body CT",
    {
        "complaint": ("black stools", "hematemesis", "BRBPR", "melena and dizziness"),
        "dx": ("upper GI bleed", "bleeding duodenal ulcer", "Mallory-Weiss tear", "diverticular bleed"),
        "also": ("Barrett's esophagus", "blood loss anemia", "Dieulafoy lesion excluded"),
        "story": (
            "{He} has taken <ibuprofen|Motrin|Naprosyn> for {his} <back|knee> since {date.recent}.",
            "Two episodes of <coffee ground emesis|frank blood> at {his} home in {city}.",
            "Colonoscopy by Dr. {con.last} on {date.prior} showed <diverticula|two polyps>.",
            "Barrett esophagus was found in {date.year} at {oh}.",
            "{He} drinks {#2-8} beers a day since leaving {employer}.",
            "{He} is a Jehovah's Witness and may refuse transfusion.",
        ),
        "findings": (
            "Rectal: guaiac <positive|pos>, <black|maroon> stool.",
            "Orthostatic: HR {#88-104} to {#118-140}.",
            "Pale conjunctivae.",
            "No spider angiomata, no Dupuytren contracture.",
        ),
        "study": ("CT abdomen and pelvis with contrast", "CT angiogram of the abdomen", "CT abd/pelvis"),
        "imaging": (
            "Sigmoid diverticulosis without diverticulitis.",
            "No active extravasation.",
            "Hiatal hernia {#2-5} cm; prior Nissen wrap intact.",
            "Liver, spleen and pancreas are unremarkable.",
            "Clips from the surgery of {date.year}.",
            "No free air.",
        ),
        "impression": (
            "No source of bleeding identified.",
            "Diverticulosis, no active bleeding.",
            "Hiatal hernia; no extravasation.",
        ),
        "course": (
            "EGD on {date.stay} by Dr. {con.last}: {#0.5-2.0} cm ulcer in the bulb, Forrest Ib, clipped.",
            "{He} received {#1-5} units of PRBCs; Hct {#19-24} to {#27-33}.",
            "H. pylori biopsy ({specimen}) is pending.",
            "PPI gtt for 72 hours, then PO.",
            "Coumadin was held and will be restarted by Dr. {pcp.last}.",
        ),
        "plan": (
            "Two large bore IVs, type and cross {#2-4} units",
            "Protonix 80 mg then 8 mg/hr",
            "GI (Dr. {con.last}) to scope {weekday}",
            "Hct q6h, transfuse {lt} 24",
            "Hold ASA and all NSAIDs",
        ),
        "drugs": (
            "Protonix 40 mg PO BID",
            "Carafate 1 g PO QID",
            "FeSO4 325 mg PO TID",
            "Amoxicillin 1 g PO BID",
            "Prilosec 20 mg PO daily",
        ),
        "nursing": (
            "melena x{#1-4}, Hct {#21-30} sent at {time}",
            "2nd unit PRBC up at {time}, no rxn",
            "NGT lavage clear",
        ),
        "advice": (
            "No aspirin, Motrin, Aleve or Advil.",
            "Stop drinking alcohol. AA meets on {weekday} nights at {employer2}.",
            "Repeat endoscopy in {#6-12} weeks.",
        ),
        "clinic": ("Gastroenterology", "GI Clinic", "Endoscopy Suite"),
    },
    ages=(25, 110),
)

_APPENDIX = Case(
    "appendicitis",
    "body CT",
    {
        "complaint": ("RLQ pain", "abdominal pain", "periumbilical pain moving to the right lower quadrant"),
        "dx": ("acute appendicitis", "perforated appendicitis", "early appendicitis"),
        "also": ("mesenteric adenitis", "Meckel diverticulum excluded", "fecalith"),
        "story": (
            "Pain began <on {weekday}|{date.recent}> around the navel and moved to the RLQ.",
            "{He} threw up {#1-4} times and has no appetite.",
            "{His} {rel.word} gave {him} Pepto-Bismol without relief.",
            "{He} was seen at {cl} by Dr. {pcp.last}, who sent {him} in.",
            "No dysuria, no diarrhea, ate pizza on {date.recent}.",
        ),
        "findings": (
            "Tender at McBurney point with guarding.",
            "Rovsing positive, psoas sign negative.",
            "T {#99.4-102.1}.",
            "Alvarado score {#5-9}.",
        ),
        "study": ("CT abdomen/pelvis", "CT abdomen with IV and oral contrast", "CT abd/pelvis with contrast"),
        "imaging": (
            "The appendix is dilated to {#9-15} mm with fat stranding.",
            "An appendicolith is <seen|absent>.",
            "No free air.",
            "Meckel diverticulum is not identified.",
            "Small amount of free fluid in the pelvis.",
            "The terminal ileum is normal.",
        ),
        "impression": (
            "Acute appendicitis.",
            "Findings of appendicitis, no abscess.",
            "Appendicitis with appendicolith.",
        ),
        "course": (
            "{He} was taken to the OR by Dr. {sur.last} for laparoscopic appendectomy on {date.stay}.",
            "Path {specimen}: acute appendicitis.",
            "Zosyn was continued for {#2-5} days.",
            "Diet was advanced on {date.stay}; flatus present.",
        ),
        "plan": (
            "OR tonight with Dr. {sur.last}",
            "Zosyn 3.375 g IV q6h",
            "NPO, LR at {#75-125}",
            "Consent signed by {rel.word} {rel.full}",
            "Morphine 2 mg IV prn",
        ),
        "drugs": (
            "Augmentin 875 mg PO BID",
            "Tylenol #3 1-2 tabs q4h prn",
            "Ibuprofen 400 mg PO q6h",
            "Colace 100 mg PO BID",
        ),
        "nursing": (
            "back from OR at {time}, 3 lap sites C/D/I",
            "tol clears, OOB to chair",
            "pain {#3-7}/10, MS 2 mg IV w/ effect",
        ),
        "advice": (
            "No gym or heavy lifting until seen by Dr. {sur.last}.",
            "Steri-strips will fall off in a week.",
            "Call for a temp over 101.",
        ),
        "clinic": ("General Surgery", "Surgery", "Pediatric Surgery"),
    },
    ages=(6, 60),
)

_BOWEL = Case(
    "bowel disease",
    "body CT",
    {
        "complaint": ("bloody diarrhea", "crampy abdominal pain", "abdominal pain and diarrhea"),
        "dx": ("Crohn's disease flare", "Crohn disease of the terminal ileum", "active Crohn's disease"),
        "also": ("perianal disease, quiet", "C. difficile excluded", "erythema nodosum"),
        "story": (
            "Crohn disease was diagnosed in {date.year} by Dr. {con.last}.",
            "{He} has {#5-14} loose stools a day since {date.recent}.",
            "Last Remicade infusion was on {date.prior} at {oh}.",
            "{He} missed {#2-9} days of work at {employer}.",
            "No travel since {country} in {date.year}.",
            "Antibiotics in {date.month} for a tooth (Dr. {con2.last}).",
            "No fever; the pain is in the right lower belly, sharp.",
        ),
        "findings": (
            "Abd soft, tender RLQ, no rebound.",
            "Perianal skin tag, no fistula.",
            "Mucous membranes dry.",
            "Hyperactive bowel sounds.",
        ),
        "study": ("CT enterography", "CT abd/pelvis with contrast", "CT of the abdomen"),
        "imaging": (
            "Wall thickening of the terminal ileum over {#8-30} cm.",
            "No abscess or fistula.",
            "Comb sign present.",
            "Mild stranding of the mesentery.",
            "Small nodes, up to {#6-11} mm.",
            "Unchanged stricture since {date.prior}.",
        ),
        "impression": ("Active Crohn ileitis.", "Ileitis without abscess.", "Active Crohn disease, worse than before."),
        "course": (
            "IV Solu-Medrol was changed to prednisone on {date.stay}.",
            "C. diff toxin was negative x{#2-3}, Flagyl was stopped.",
            "Colonoscopy ({con.full}) on {date.stay}: linear ulcers, biopsies {specimen}.",
            "A PICC was placed for TPN.",
        ),
        "plan": (
            "Cipro 400 mg IV and Flagyl 500 mg IV",
            "Stool for C. diff, O&P, culture",
            "GI consult, Dr. {con.last}",
            "Clear liquids, IVF",
            "CRP and ESR",
        ),
        "drugs": (
            "Prednisone 40 mg PO daily, taper",
            "Asacol 800 mg PO TID",
            "Flagyl 500 mg PO TID",
            "Imuran 100 mg PO daily",
            "Humira 40 mg SC q2wk",
        ),
        "nursing": ("loose BM x{#3-8}, contact precautions", "PICC flushed, dsg changed", "tol low residue diet"),
        "advice": (
            "Low residue diet until your visit.",
            "Do not stop prednisone on your own.",
            "Labs at {cl} in one week.",
        ),
        "clinic": ("Gastroenterology", "IBD Center", "GI"),
    },
    ages=(18, 80),
)

CASES = (_GALLBLADDER, _BLEED, _APPENDIX, _BOWEL)
