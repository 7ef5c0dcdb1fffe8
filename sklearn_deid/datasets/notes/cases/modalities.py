"""How imaging studies are made, and what else their reports mention."""

from __future__ import annotations

__all__ = ["MODALITIES"]

_CHEST_FILM = {
    "technique": (
        "Portable AP technique at {time}, bed {room}.",
        "Frontal and lateral views were obtained.",
        "Two views, upright.",
        "Single view, low lung volumes, patient rotated.",
        "Film cassette no. {#1-9}, {#66-120} kVp.",
    ),
    "extra": (
        "The bones are unremarkable.",
        "The tip of the Hickman catheter has been pulled since {date.prior}.",
        "Small hiatal hernia.",
        "Clips in the right upper quadrant.",
        "The chest wall is normal.",
        "Long-standing deformity of rib {#4-9}, stable since {date.year}.",
        "Mild scoliosis; Boston brace not worn.",
        "Trachea midline, hila normal.",
        "Lead II cable overlies the left base.",
        "Degenerative spurs of the spine.",
    ),
}
_BONE_FILM = {
    "technique": (
        "Standard views were obtained.",
        "AP and lateral views, {#2-4} films.",
        "Weight bearing technique.",
        "Cross-table lateral at {time}.",
    ),
    "extra": (
        "Soft tissues are swollen.",
        "Vascular calcification.",
        "No Paget change.",
        "No Looser zones.",
        "An old screw of {date.year} is in place.",
        "Small bone island, no lesion.",
        "Hand and foot films of {date.prior} are not available.",
        "Bone density looks low.",
    ),
}
_BODY_CT = {
    "technique": (
        "Axial images after {#80-130} cc of Optiray {#300-350}.",
        "Helical CT, {#1.2-5.0} mm sections, oral and IV contrast.",
        "DLP {#210-1480} mGy-cm, pitch 1.{#1-4}.",
        "Coronal and sagittal reformats.",
        "Contrast was given by hand, rate {#2-4} cc/s.",
    ),
    "extra": (
        "Wall of the aorta is calcified.",
        "Small hiatal hernia.",
        "Schmorl node at T{#9-12}.",
        "Simple cyst of the kidney, {#9-34} mm.",
        "Stone in the gallbladder, {#3-14} mm.",
        "A Foley balloon is in the bladder.",
        "Nodule of {#4-9} mm; follow by Fleischner criteria in {#6-12} months.",
        "Small fat-containing Spigelian hernia.",
        "Pars defect at L5, stable since {date.year}.",
        "Bone windows are normal.",
        "Morgagni hernia, small, incidental.",
    ),
}
_HEAD_CT = {
    "technique": (
        "Axial images without contrast, {#2-5} mm.",
        "Noncontrast CT at {time}.",
        "DLP {#810-1280} mGy-cm.",
        "Motion; some images were repeated.",
    ),
    "extra": (
        "Sinuses and mastoids are clear.",
        "White matter disease, Fazekas grade {#1-3}.",
        "Lens implants are in place.",
        "The calvarium is intact.",
        "Cavum septi and Verga.",
        "Sella is normal, no Rathke cyst.",
        "Basal ganglia calcification, seen in {date.year}.",
        "Scalp swelling on the {side}.",
    ),
}
_MRI = {
    "technique": (
        "Field strength 1.5 T; {#8-20} cc gadolinium, eGFR {#52-98}.",
        "Sagittal T1, axial T2, FLAIR, diffusion.",
        "3 T magnet, coronal {#1-3} mm sections.",
        "Scan time {#25-45} min, patient dozed.",
    ),
    "extra": (
        "Flow voids are normal.",
        "White matter signal, Fazekas grade {#1-2}.",
        "The pituitary is normal, no Rathke cyst.",
        "Mucosal thickening of the sinus.",
        "Meckel cave is normal.",
        "Dawson fingers are not seen.",
        "Compared with the scan at {oh}, no change.",
    ),
}
_ULTRASOUND = {
    "technique": (
        "Gray scale and color Doppler.",
        "Real time scan, {#3-9} MHz probe.",
        "Portable scan in room {room}.",
        "Sonographer {rn.initials}, {#12-40} images.",
    ),
    "extra": (
        "Limited by bowel gas.",
        "Body habitus limits the reading.",
        "No free fluid.",
        "Glisson capsule is smooth.",
        "Doppler flow is normal.",
        "Prior scan of {date.prior} is not at hand.",
        "Hartmann pouch is not distended.",
    ),
}
_MAMMOGRAM = {
    "technique": (
        "CC and MLO views.",
        "Digital views with tomosynthesis.",
        "Spot compression of the {side} breast.",
        "CAD was used.",
    ),
    "extra": (
        "Skin markers over old scars.",
        "The nipple is in profile.",
        "Clip of the biopsy in {date.month}.",
        "Vascular calcification.",
        "Small intramammary node.",
        "Tyrer-Cuzick score {#8-24}%.",
    ),
}
_ABDOMEN_FILM = {
    "technique": ("Supine and upright views.", "Portable film at {time}.", "Two views."),
    "extra": (
        "Bones are normal for age.",
        "No calcification.",
        "The lung bases are clear.",
        "Stomach is full.",
        "No Ladd band configuration.",
    ),
}

MODALITIES: dict[str, dict[str, tuple[str, ...]]] = {
    "chest film": _CHEST_FILM,
    "bone film": _BONE_FILM,
    "body CT": _BODY_CT,
    "head CT": _HEAD_CT,
    "MRI": _MRI,
    "ultrasound": _ULTRASOUND,
    "mammogram": _MAMMOGRAM,
    "abdomen film": _ABDOMEN_FILM,
}
"""Rules ``technique`` and ``extra`` by modality."""
